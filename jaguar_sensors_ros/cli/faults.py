"""inject, clear, reset, enable, disable: the services of sensor nodes."""

from __future__ import annotations

import argparse
import functools
import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jaguar_sensors_ros.catalogue import FAULTS, SENSORS
from jaguar_sensors_ros.cli import completers, timeline
from jaguar_sensors_ros.cli.completers import complete_with, modes_of, split
from jaguar_sensors_ros.cli.graph import (
    NODE_HELP,
    add_command,
    number,
    open_client,
    seconds,
    whole,
)
from jaguar_sensors_ros.cli.parser import check
from jaguar_sensors_ros.cli.selection import (
    add_groups,
    add_sensors,
    call_each,
    chosen,
    for_each,
    is_group,
    node_names,
)
from jaguar_sensors_ros.faults.base import NONE, FaultRequest

if TYPE_CHECKING:
    from jaguar_sensors_ros.ros.client import SensorClient

_USAGE = '''\
jaguar_sensors inject [OPTION...] NODE... MODE [MAGNITUDE]
       jaguar_sensors inject [OPTION...] (--all | --type TYPE) MODE [MAGNITUDE]
       jaguar_sensors inject [--timeout SECONDS] --timeline FILE'''
_INJECT = '''
Several sensors take a fault together: it is checked for each before it is sent to any.
A timeline goes to all sensors that it names: they must be there, or nothing is sent. If one of
them refuses it, it is taken back from the others.

MODE, and its MAGNITUDE:
{modes}
The unit of a channel is {units}.

examples:
  jaguar_sensors inject imu bias 0.01
  jaguar_sensors inject gps drift 0.5 --axis e --duration 10
  jaguar_sensors inject /robot1/imu /robot2/imu stuck --target accel
  jaguar_sensors inject --type gps satellite_loss 3
  jaguar_sensors inject --timeline faults.yaml'''
_FIELDS = ('target', 'axis', 'delay', 'duration', 'ramp', 'repeat', 'period')


def add(commands: Any) -> None:
    """Add the subcommands to the tool."""
    _add_inject(commands)
    simple: tuple[tuple[str, str, Callable[[SensorClient, str], str]], ...] = (
        ('clear', 'clear all faults of sensors', lambda client, node: client.clear(node)),
        (
            'reset',
            'switch sensors off and on again; injected faults stay',
            lambda client, node: client.reset(node),
        ),
        (
            'enable',
            'switch the output of sensors on',
            lambda client, node: client.enable(node, True),
        ),
        (
            'disable',
            'switch the output of sensors off',
            lambda client, node: client.enable(node, False),
        ),
    )
    for name, text, act in simple:
        add_sensors(add_command(commands, name, functools.partial(call_each, act), text))


def _add_inject(commands: Any) -> None:
    units = {name: unit for s, _ in SENSORS.values() for name, unit in s.channels.units.items()}
    details = _INJECT.format(
        modes='\n'.join(_mode_lines()),
        units=', '.join(f'{unit} ({name})' for name, unit in units.items()),
    )
    parser = add_command(commands, 'inject', _inject, 'start faults on sensors', details)
    parser.usage = _USAGE
    words = parser.add_argument(
        'words', metavar='NODE... MODE [MAGNITUDE]', nargs='*', help=NODE_HELP
    )
    complete_with(words, completers.inject_words)
    add_groups(parser)
    file = parser.add_argument(
        '--timeline',
        metavar='FILE',
        help='YAML file that says which fault comes when on which sensor; - reads stdin',
    )
    complete_with(file, completers.files)
    _add_fields(parser)
    parser.set_defaults(finish=functools.partial(_finish, parser))


def _mode_lines() -> list[str]:
    """Return the modes with their magnitudes, as the catalogue says."""
    lines = [f'  {NONE:<16} clears the target']
    for name, mode in FAULTS.items():
        kinds = [kind for kind in SENSORS if name in modes_of(kind)]
        only = f' ({", ".join(kinds)} only)' if len(kinds) < len(SENSORS) else ''
        text = f'{mode.magnitude_text}{only}'
        lines += textwrap.wrap(f'  {name:<16} {text}', 95, subsequent_indent=' ' * 19)
    return lines


def _add_fields(parser: argparse.ArgumentParser) -> None:
    channels = {kind: s.channels for kind, (s, _) in SENSORS.items()}
    named = '; '.join(f'{", ".join(c.names)} ({kind})' for kind, c in channels.items())
    axes = '; '.join(f'any of {c.axes} ({kind})' for kind, c in channels.items())
    target = parser.add_argument(
        '--target', default='', help=f'channel that fails: {named}; or all'
    )
    complete_with(target, completers.targets)
    axis = parser.add_argument(
        '--axis', default='', help=f'axes that fail: {axes}; without it all'
    )
    complete_with(axis, completers.axes)
    for name, text in (
        ('delay', 'time from now to the start'),
        ('duration', 'time it lasts; 0: until cleared'),
        ('ramp', 'time of growth to the full size'),
        ('period', 'time from one start to the next when repeated'),
    ):
        parser.add_argument(
            f'--{name}', type=seconds, default=0.0, metavar='SECONDS', help=f'{text} (default: 0)'
        )
    parser.add_argument(
        '--repeat',
        type=whole,
        default=0,
        metavar='TIMES',
        help='how often it comes back; needs --duration and --period (default: 0)',
    )


# ---------------------------------------------------------------------- what was typed


def _finish(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    if options.timeline is not None:
        options.run = timeline.run
        extra = [*options.words, *(['--all'] if options.all else [])]
        extra += ['--type'] if options.type else []
        extra += [f'--{name}' for name in _FIELDS if getattr(options, name)]
        if extra:
            parser.error(f'argument --timeline: the file says it all; without {" ".join(extra)}')
        return
    group = is_group(options)
    names, options.mode, rest = split(options.words, group)
    if not options.mode:
        _refuse_mode(parser, options.words, group)
    options.node = node_names(parser, options, names)
    if len(rest) > 1:
        parser.error(f'unrecognized arguments: {" ".join(rest[1:])}')
    options.magnitude = check(parser, 'MAGNITUDE', number, rest[0]) if rest else 0.0


def _refuse_mode(parser: argparse.ArgumentParser, words: list[str], group: bool) -> None:
    """Say what is wrong with words of which none can be the mode."""
    named = [word for word in (words if group else words[1:]) if not _is_number(word)]
    if named:
        parser.error(f"argument MODE: invalid choice: '{named[-1]}'; {_modes()}")
    begins_with_mode = bool(words) and words[0] in (NONE, *FAULTS)
    missing = [] if group or (words and not begins_with_mode) else ['NODE']
    missing += [] if begins_with_mode else ['MODE']
    parser.error(f'the following arguments are required: {", ".join(missing)}; {_modes()}')


def _is_number(word: str) -> bool:
    try:
        number(word)
    except argparse.ArgumentTypeError:
        return False
    return True


def _modes() -> str:
    return '; '.join(f'modes of {kind}: {", ".join(modes_of(kind))}' for kind in SENSORS)


# ---------------------------------------------------------------------- in the graph


def _inject(options: argparse.Namespace) -> int:
    fields = {name: getattr(options, name) for name in ('mode', 'magnitude', *_FIELDS)}
    with open_client(options.timeout) as client:
        nodes = chosen(client, options)
        if len(nodes) > 1:
            timeline.check(client.types(nodes), lambda node: [('', FaultRequest(**fields))])
        return for_each(nodes, lambda node: client.inject(node, **fields))
