"""param: get, set and list the parameters of a node."""

from __future__ import annotations

import argparse
import ast
import math
import re
from typing import Any

from jaguar_sensors_ros.cli import completers
from jaguar_sensors_ros.cli.graph import DONE, add_command, add_node, open_client

Value = bool | int | float | str | list[bool] | list[int] | list[float] | list[str]

_WORDS = {'true': True, 'false': False}
_SET = '''
VALUE is true, false, a number, a text, or a list such as [0.1, 0, 0.3].

examples:
  jaguar_sensors param set imu grade industrial
  jaguar_sensors param set gps mount.position '[0.1, 0, 0.3]\''''


def add(commands: Any) -> None:
    """Add the subcommand to the tool."""
    text = 'get, set or list the parameters of a node'
    parser = commands.add_parser('param', help=text, description=f'{text.capitalize()}.')
    actions = parser.add_subparsers(metavar='ACTION', required=True, dest='action')
    getter = add_command(actions, 'get', _get, 'print the value of a parameter')
    add_node(getter)
    _add_name(getter)
    setter = add_command(actions, 'set', _set, 'set a parameter', _SET)
    add_node(setter)
    _add_name(setter)
    value = setter.add_argument('value', metavar='VALUE', type=_argument, help='its new value')
    completers.complete_with(value, completers.values)
    add_node(add_command(actions, 'list', _list, 'print the names and values of all parameters'))


def _add_name(parser: argparse.ArgumentParser) -> None:
    name = parser.add_argument('name', metavar='NAME', help='name of the parameter')
    completers.complete_with(name, completers.parameters)


def _get(options: argparse.Namespace) -> int:
    with open_client(options.timeout) as client:
        node = client.find_node(options.node)
        print(show(client.get_parameters(node, [options.name])[options.name]))
    return DONE


def _set(options: argparse.Namespace) -> int:
    with open_client(options.timeout) as client:
        node = client.find_node(options.node)
        client.set_parameter(node, options.name, options.value)
        print(f'{node}: {options.name} = {show(options.value)}')
    return DONE


def _list(options: argparse.Namespace) -> int:
    with open_client(options.timeout) as client:
        node = client.find_node(options.node)
        values = client.get_parameters(node, client.parameter_names(node))
        for name, value in values.items():
            print(f'{name}: {show(value)}')
    return DONE


# ---------------------------------------------------------------------- values


def _argument(text: str) -> Value:
    try:
        return parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def parse(text: str) -> Value:
    """Read a value as YAML would: bool, whole number, number, text, or a list of one of them.

    Raises
    ------
    ValueError
        for a list that is empty, nested, or mixes what cannot be mixed.

    Examples
    --------
    >>> parse('true'), parse('3'), parse('1e-3'), parse('tactical'), parse('[0.1, 0, 0.3]')
    (True, 3, 0.001, 'tactical', [0.1, 0.0, 0.3])
    """
    text = text.strip()
    if not text.startswith('['):
        return _scalar(text)
    if not text.endswith(']'):
        raise ValueError(f'{text!r}: the list has no end')
    inner = text[1:-1].strip()
    if '[' in inner or ']' in inner:
        raise ValueError(f'{text!r}: a list of lists is no parameter value')
    if not inner:
        raise ValueError(f'{text!r}: an empty list has no type')
    items = [_scalar(item.strip()) for item in inner.removesuffix(',').split(',')]
    return _of_one_type(items, text)


def _scalar(text: str) -> bool | int | float | str:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if re.fullmatch(r'[-+]?\d+', text):
        return int(text)
    special = re.fullmatch(r'([-+]?)\.(inf|nan)', text.lower())
    try:
        return float(''.join(special.groups()) if special else text)
    except ValueError:
        pass
    if len(text) > 1 and text[0] in '\'"' and text[-1] == text[0]:
        try:
            return str(ast.literal_eval(text))
        except (ValueError, SyntaxError):
            return text[1:-1]
    return text


def _of_one_type(items: list[Any], text: str) -> Value:
    kinds = {type(item) for item in items}
    if kinds == {int, float}:
        return [float(item) for item in items]
    if len(kinds) > 1:
        raise ValueError(f'{text!r}: a list must be all numbers, all texts or all true or false')
    return items


def show(value: Any) -> str:
    """Return a value as :func:`parse` reads it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        text = repr(value)
        return text if math.isfinite(value) else re.sub('(inf|nan)', r'.\1', text)
    if isinstance(value, str):
        return value if isinstance(_scalar(value), str) and value[:1] != '[' else repr(value)
    if isinstance(value, int) or value is None:
        return str(value)
    return '[' + ', '.join(show(item) for item in value) + ']'
