"""YAML from a user: refused where a plain loader would guess."""

from __future__ import annotations

import re
from collections.abc import Hashable
from functools import lru_cache
from pathlib import Path
from typing import Any

from jaguar_sensors_ros.types import JaguarError

#: longest text that is read [characters]
LONGEST = 1_000_000
#: deepest nesting that is read
_DEEPEST = 50


def read_file(path: str | Path) -> str:
    """Return the text of a file.

    Raises
    ------
    JaguarError
        if it cannot be read, is no UTF-8 text, or is longer than ``LONGEST``.
    """
    try:
        with open(path, encoding='utf-8') as file:
            text = file.read(LONGEST + 1)
    except (OSError, UnicodeDecodeError, ValueError) as error:
        reason = getattr(error, 'strerror', None) or str(error)
        raise JaguarError(f'{path}: cannot be read: {reason}') from None
    if len(text) > LONGEST:
        raise JaguarError(f'{path}: longer than {LONGEST} characters')
    return text


def load(text: str, name: str) -> object:
    """Return what a YAML text says, with safe types only.

    Parameters
    ----------
    text : str
        One YAML document.
    name : str
        What the text is called in messages, such as the path of its file.

    Raises
    ------
    JaguarError
        for a syntax error, a key that is given twice, an anchor or alias, more than one document,
        a text that is too long or nested too deeply; the message names the line.
    """
    import yaml

    if len(text) > LONGEST:
        raise JaguarError(f'{name}: longer than {LONGEST} characters')
    try:
        loader = _loader()(text)
        node = loader.get_single_node()
        _check(node, name)
        return None if node is None else loader.construct_document(node)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, JaguarError):
            raise
        mark = getattr(error, 'problem_mark', None)
        line = f', line {mark.line + 1}' if mark is not None else ''
        reason = getattr(error, 'problem', None) or str(error).splitlines()[0]
        raise JaguarError(f'{name}{line}: not valid YAML: {reason}') from None


@lru_cache(maxsize=1)
def _loader() -> Any:
    """Return a safe loader that takes 1e-3 for a number, as YAML 1.2 and ROS do."""
    import yaml

    class Loader(yaml.SafeLoader):
        """Numbers with an exponent need no decimal point."""

    number = re.compile(r'^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)[eE][-+]?[0-9]+$')
    Loader.add_implicit_resolver('tag:yaml.org,2002:float', number, list('-+.0123456789'))
    return Loader


def _check(node: Any, name: str) -> None:
    """Refuse keys given twice, aliases and deep nesting."""
    import yaml

    seen: set[int] = set()
    stack = [(node, 0)]
    while stack:
        here, depth = stack.pop()
        if not isinstance(here, yaml.CollectionNode):
            continue
        line = here.start_mark.line + 1
        if id(here) in seen:
            raise JaguarError(f'{name}, line {line}: anchors and aliases are not allowed')
        seen.add(id(here))
        if depth > _DEEPEST:
            raise JaguarError(f'{name}, line {line}: nested deeper than {_DEEPEST}')
        children = here.value
        if isinstance(here, yaml.MappingNode):
            _check_keys(here, name)
            children = [child for pair in here.value for child in pair]
        stack += [(child, depth + 1) for child in children]


def _check_keys(node: Any, name: str) -> None:
    keys: set[Hashable] = set()
    for key, _ in node.value:
        line = key.start_mark.line + 1
        if key.tag == 'tag:yaml.org,2002:merge':
            raise JaguarError(f'{name}, line {line}: merge keys are not allowed')
        if key.value.__hash__ is not None:
            if key.value in keys:
                raise JaguarError(f'{name}, line {line}: {key.value} is given twice')
            keys.add(key.value)


def mapping(value: object, where: str) -> dict[str, object]:
    """Return a mapping whose keys are names.

    Raises
    ------
    JaguarError
        naming ``where``, if it is something else.
    """
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise JaguarError(f'{where}: must be names with values, not {value!r:.60}')
    return value


def sequence(value: object, where: str) -> list[object]:
    """Return a list.

    Raises
    ------
    JaguarError
        naming ``where``, if it is something else.
    """
    if not isinstance(value, list):
        raise JaguarError(f'{where}: must be a list, not {value!r:.60}')
    return value
