"""Which sensors a subcommand is for: by name, by type, or all."""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from jaguar_sensors_ros.catalogue import SENSORS, require_type
from jaguar_sensors_ros.cli.completers import complete_with, sensor_types, sensors
from jaguar_sensors_ros.cli.graph import DONE, NODE_HELP, node_name, open_client, status_of
from jaguar_sensors_ros.cli.parser import check
from jaguar_sensors_ros.types import JaguarError

if TYPE_CHECKING:
    from jaguar_sensors_ros.ros.client import SensorClient


def add_sensors(parser: argparse.ArgumentParser) -> None:
    """Add NODE..., --all and --type; the names end up in ``options.node``."""
    argument = parser.add_argument(
        'words', metavar='NODE', nargs='*', help=f'{NODE_HELP}; several may be given'
    )
    complete_with(argument, sensors)
    add_groups(parser)
    parser.set_defaults(finish=functools.partial(_finish, parser))


def add_groups(parser: argparse.ArgumentParser) -> None:
    """Add --all and --type."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument('--all', action='store_true', help='all sensors there are')
    group_type = group.add_argument(
        '--type',
        type=_sensor_type,
        metavar='TYPE',
        help=f'all sensors of a type: {", ".join(SENSORS)}',
    )
    complete_with(group_type, sensor_types)


def _sensor_type(text: str) -> str:
    try:
        return require_type(text)
    except JaguarError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _finish(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    options.node = node_names(parser, options, options.words)
    if not options.node and not is_group(options):
        parser.error('the following arguments are required: NODE, or --all or --type')


def is_group(options: argparse.Namespace) -> bool:
    """Tell whether the sensors are named by --all or --type."""
    return bool(options.all or options.type)


def node_names(
    parser: argparse.ArgumentParser, options: argparse.Namespace, words: list[str]
) -> list[str]:
    """Return words as names of nodes; exit if they are none, or beside --all or --type."""
    if words and is_group(options):
        parser.error(f'argument NODE: {words[0]}: not allowed with --all or --type')
    return [check(parser, 'NODE', node_name, word) for word in words]


# ---------------------------------------------------------------------- in the graph


def chosen(client: SensorClient, options: argparse.Namespace) -> list[str]:
    """Return the full names of the sensors meant, each once.

    Raises
    ------
    JaguarError
        if one is not there, or none at all; the text lists what is.
    """
    if options.all:
        return client.every_sensor()
    if options.type:
        return client.sensors_of_type(options.type)
    return list(dict.fromkeys(client.find_sensor(name) for name in options.node))


def for_each(nodes: list[str], act: Callable[[str], str]) -> int:
    """Do something to each sensor and print a line; return the worst status.

    It goes on after a sensor that refuses or does not answer.
    """
    return max([DONE, *(_try(node, act) for node in nodes)])


def _try(node: str, act: Callable[[str], str]) -> int:
    try:
        print(f'{node}: {act(node)}', flush=True)
    except JaguarError as error:
        print(f'jaguar_sensors: {error}', file=sys.stderr)
        return status_of(error)
    return DONE


def call_each(act: Callable[[SensorClient, str], str], options: argparse.Namespace) -> int:
    """Find the sensors meant, then do something to each."""
    with open_client(options.timeout) as client:
        return for_each(chosen(client, options), functools.partial(act, client))
