"""inject, clear, reset, enable, disable: the services of a sensor node."""

from __future__ import annotations

import argparse
import functools
from typing import Any

from jaguar_sensors_ros.catalogue import FAULTS, SENSORS
from jaguar_sensors_ros.cli.graph import (
    DONE,
    add_command,
    add_node,
    number,
    open_client,
    seconds,
    whole,
)

_MODES = ('none', *FAULTS)
_INJECT = '''
MODE is one of {modes}; none clears the target.
MAGNITUDE is in the unit of the mode: rad/s, m/s2, m or m/s for bias and jump, the same per second
for drift, a factor for noise, a probability for intermittent, satellites for satellite_loss.

examples:
  jaguar_sensors inject imu bias 0.01
  jaguar_sensors inject gps drift 0.5 --axis e --duration 10
  jaguar_sensors inject /robot1/imu stuck --target accel'''


def add(commands: Any) -> None:
    """Add the subcommands to the tool."""
    details = _INJECT.format(modes=', '.join(_MODES))
    parser = add_command(commands, 'inject', _inject, 'start a fault on a sensor', details)
    add_node(parser)
    parser.add_argument('mode', metavar='MODE', choices=_MODES, help='what fails, see above')
    parser.add_argument(
        'magnitude',
        metavar='MAGNITUDE',
        type=number,
        nargs='?',
        default=0.0,
        help="size in the unit of the mode; without it the mode's default, where it has one",
    )
    _add_fields(parser)
    for name, method, text in (
        ('clear', 'clear', 'clear all faults of a sensor'),
        ('reset', 'reset', 'switch a sensor off and on again; injected faults stay'),
    ):
        add_node(add_command(commands, name, functools.partial(_call, method), text))
    for name, on in (('enable', True), ('disable', False)):
        text = f'switch the output of a sensor {"on" if on else "off"}'
        add_node(add_command(commands, name, functools.partial(_enable, on), text))


def _add_fields(parser: argparse.ArgumentParser) -> None:
    targets = [f'{", ".join(s.channels.names)} ({n})' for n, (s, _) in SENSORS.items()]
    axes = [f'any of {s.channels.axes} ({n})' for n, (s, _) in SENSORS.items()]
    parser.add_argument(
        '--target', default='', help=f'channel that fails: {", ".join(targets)}, or all'
    )
    parser.add_argument(
        '--axis', default='', help=f'axes that fail: {", ".join(axes)}; without it all'
    )
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


_FIELDS = ('mode', 'magnitude', 'target', 'axis', 'delay', 'duration', 'ramp', 'repeat', 'period')


def _inject(options: argparse.Namespace) -> int:
    fields = {name: getattr(options, name) for name in _FIELDS}
    with open_client(options.timeout) as client:
        node = client.find_sensor(options.node)
        print(f'{node}: {client.inject(node, **fields)}')
    return DONE


def _call(method: str, options: argparse.Namespace) -> int:
    with open_client(options.timeout) as client:
        node = client.find_sensor(options.node)
        print(f'{node}: {getattr(client, method)(node)}')
    return DONE


def _enable(on: bool, options: argparse.Namespace) -> int:
    with open_client(options.timeout) as client:
        node = client.find_sensor(options.node)
        print(f'{node}: {client.enable(node, on)}')
    return DONE
