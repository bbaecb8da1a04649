"""What the tab key offers: words of the catalogue, names from the live ROS graph, files.

A completer takes the beginning of the word, what was parsed before it, and more that argcomplete
gives; it returns words.  It never raises and prints nothing: a graph that cannot be seen offers
nothing.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jaguar_sensors_ros.catalogue import FAULTS, SENSORS
from jaguar_sensors_ros.component import AUTO, Declaration, declarations
from jaguar_sensors_ros.faults.base import NONE
from jaguar_sensors_ros.truth.player_settings import PlayerSettings

if TYPE_CHECKING:
    from jaguar_sensors_ros.ros.client import SensorClient

Completer = Callable[..., Iterable[str]]

#: longest time to look at the graph (a first announcement that is lost comes again within 3 s),
#: and time without a new node after which it is complete [s]
_GRAPH_S, _SETTLED_S = 3.2, 0.3
#: longest wait for the state of a sensor [s]
_STATE_S = 1.0


def complete_files(parser: argparse.ArgumentParser) -> None:
    """Let the tab key offer files for all arguments of type Path that have no completer."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name in action.choices:
                complete_files(action.choices[name])
        elif action.type is Path and not hasattr(action, 'completer'):
            complete_with(action, files)


def complete_with(argument: argparse.Action, completer: Completer) -> None:
    """Let the tab key offer what a completer returns for an argument."""
    vars(argument)['completer'] = completer


def modes_of(sensor_type: str) -> tuple[str, ...]:
    """Return the failure modes that a type of sensor takes."""
    return (NONE, *SENSORS[sensor_type][0].channels.modes)


def split(words: list[str], group: bool) -> tuple[list[str], str, list[str]]:
    """Split NODE... MODE [MAGNITUDE] at the mode; a mode of '' where there is none.

    ``group`` tells that the sensors are named by an option, so the first word may be the mode.

    Examples
    --------
    >>> split(['imu', 'gps', 'bias', '0.1'], False)
    (['imu', 'gps'], 'bias', ['0.1'])
    >>> split(['bias', 'bias'], False), split(['total'], True)
    ((['bias'], 'bias', []), ([], 'total', []))
    """
    for place in range(0 if group else 1, len(words)):
        if words[place] in (NONE, *FAULTS):
            return words[:place], words[place], words[place + 1 :]
    return words, '', []


def _quiet(completer: Completer) -> Completer:
    """Offer nothing where a completer fails."""

    @functools.wraps(completer)
    def run(prefix: str = '', parsed_args: Any = None, **more: Any) -> list[str]:
        try:
            return list(completer(prefix, parsed_args or argparse.Namespace()))
        except (Exception, SystemExit):
            return []

    return run


# ---------------------------------------------------------------------- the graph


@contextlib.contextmanager
def _graph() -> Iterator[SensorClient]:
    from jaguar_sensors_ros.ros.client import SensorClient

    with SensorClient(_GRAPH_S) as client:
        yield client


def _written(names: Iterable[str], prefix: str) -> list[str]:
    """Return full names as they are being written, with or without the first slash."""
    return [name if prefix.startswith('/') else name[1:] for name in names]


def _others(names: Iterable[str], written: Iterable[str]) -> list[str]:
    """Leave out the names that are on the command line already."""
    known = {name.lstrip('/') for name in written}
    return [name for name in names if name.lstrip('/') not in known]


@_quiet
def sensors(prefix: str, options: Any) -> Iterable[str]:
    """Offer the sensors that are not on the command line yet."""
    with _graph() as client:
        found = client.all_sensors(_SETTLED_S)
    return _others(_written(found, prefix), getattr(options, 'words', None) or [])


@_quiet
def nodes(prefix: str, options: Any) -> Iterable[str]:
    """Offer the nodes with parameters."""
    with _graph() as client:
        return _written(client.all_nodes(_SETTLED_S), prefix)


@_quiet
def parameters(prefix: str, options: Any) -> Iterable[str]:
    """Offer the parameters of the node."""
    with _graph() as client:
        return client.parameter_names(client.find_node(options.node))


def _types(options: Any, names: list[str]) -> list[str]:
    """Return the types of the sensors meant; all where it cannot be known."""
    if getattr(options, 'type', None):
        return [options.type]
    found: set[str] = set()
    if names:
        with contextlib.suppress(Exception, SystemExit), _graph() as client:
            full = [client.find_sensor(name) for name in names]
            found = {state.type for state in client.states(full, _STATE_S)}
    return [name for name in SENSORS if name in found] or list(SENSORS)


# ---------------------------------------------------------------------- faults


def _inject_words(options: Any) -> tuple[bool, list[str], str]:
    """Return whether --all or --type was given, the nodes, and the mode."""
    group = bool(getattr(options, 'all', False) or getattr(options, 'type', None))
    names, mode, _ = split(getattr(options, 'words', None) or [], group)
    return group, names, mode


@_quiet
def inject_words(prefix: str, options: Any) -> Iterable[str]:
    """Offer what comes next of NODE... MODE [MAGNITUDE]."""
    group, names, mode = _inject_words(options)
    if mode:
        return []
    if not names and not group:
        return sensors(prefix, options)
    found = dict.fromkeys(m for kind in _types(options, names) for m in modes_of(kind))
    more = [] if group or not prefix else sensors(prefix, options)
    return [*found, *more]


@_quiet
def targets(prefix: str, options: Any) -> Iterable[str]:
    """Offer the channels of the sensors meant."""
    kinds = _types(options, _inject_words(options)[1])
    return dict.fromkeys([*(n for k in kinds for n in SENSORS[k][0].channels.names), 'all'])


@_quiet
def axes(prefix: str, options: Any) -> Iterable[str]:
    """Offer the axes of the sensors meant, alone and together."""
    kinds = _types(options, _inject_words(options)[1])
    return dict.fromkeys(
        ''.join(letters)
        for kind in kinds
        for size in (1, 2, 3)
        for letters in itertools.combinations(SENSORS[kind][0].channels.axes, size)
    )


@_quiet
def sensor_types(prefix: str, options: Any) -> Iterable[str]:
    """Offer the types of sensors that are modelled."""
    return SENSORS


# ---------------------------------------------------------------------- parameters


def _declared() -> dict[str, Declaration]:
    parts = [*(settings for _, settings in SENSORS.values()), PlayerSettings]
    return {d.name: d for part in parts for d in declarations(part)}


def _values_of(name: str) -> list[str]:
    known = _declared().get(name)
    if known is None:
        return []
    words = ['true', 'false'] if known.kind == 'boolean' else list(known.choices)
    return [*words, AUTO] if known.auto and AUTO not in words else words


@_quiet
def values(prefix: str, options: Any) -> Iterable[str]:
    """Offer what a parameter can be set to, where that is a choice."""
    return _values_of(options.name)


def _assignments(prefix: str) -> list[str]:
    name, equals, _ = prefix.partition('=')
    if equals:
        return [f'{name}={value}' for value in _values_of(name)]
    return [f'{d.name}=' for d in declarations(SENSORS['imu'][1])]


@_quiet
def assignments(prefix: str, options: Any) -> Iterable[str]:
    """Offer NAME=VALUE of the parameters of an IMU."""
    return _assignments(prefix)


@_quiet
def expectations(prefix: str, options: Any) -> Iterable[str]:
    """Offer the grades, and NAME=VALUE of the parameters of an IMU."""
    return [*_values_of('grade'), *_assignments(prefix)]


@_quiet
def files(prefix: str, options: Any) -> Iterable[str]:
    """Offer files and folders."""
    from argcomplete.completers import FilesCompleter

    found: list[str] = FilesCompleter()(prefix)
    return found
