"""state: what sensors say of themselves, once or live."""

from __future__ import annotations

import argparse
import functools
import importlib.util
import sys
import time
from typing import TYPE_CHECKING, Any

from jaguar_sensors_ros.cli.completers import complete_with, sensors
from jaguar_sensors_ros.cli.graph import DONE, NODE_HELP, add_command, node_name, open_client
from jaguar_sensors_ros.cli.parser import check
from jaguar_sensors_ros.cli.state_board import StateBoard
from jaguar_sensors_ros.cli.state_view import Lines, Table, describe

if TYPE_CHECKING:
    from jaguar_sensors_ros.ros.client import SensorClient

#: how often the live table is drawn [s]
_REFRESH_S = 0.25
_DETAILS = '''
On a terminal a live table, until Ctrl-C; otherwise, or with --once, a line for each sensor.
Without NODE: of all there are, and of those that come later. A sensor that leaves is shown as
gone. The rate is in samples per second of measurement time.'''


def add(commands: Any) -> None:
    """Add the subcommand to the tool."""
    parser = add_command(commands, 'state', _state, 'show the state of sensors', _DETAILS)
    words = parser.add_argument('words', metavar='NODE', nargs='*', help=NODE_HELP)
    complete_with(words, sensors)
    parser.add_argument('--once', action='store_true', help='print a line each and end')
    parser.set_defaults(finish=functools.partial(_finish, parser))


def _finish(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    options.node = [check(parser, 'NODE', node_name, word) for word in options.words]


def _state(options: argparse.Namespace) -> int:
    live = sys.stdout.isatty() and not options.once
    try:
        with open_client(options.timeout) as client:
            named = [client.find_sensor(name) for name in options.node]
            if live:
                _watch(client, named)
            else:
                _print(client, named or client.all_sensors())
    except KeyboardInterrupt:
        if not live:
            raise
    return DONE


def _print(client: SensorClient, nodes: list[str]) -> None:
    for node, state in zip(nodes, client.states(nodes), strict=True):
        print(describe(node, state))


def _watch(client: SensorClient, named: list[str]) -> None:
    """Show the sensors live, the named or all, until Ctrl-C."""
    board = StateBoard()
    with _view() as view:
        while True:
            there = [n for n in client.sensors() if not named or n in named]
            for node in board.look(there, time.monotonic()):
                client.follow(node, functools.partial(_hear, board, node))
            client.serve(_REFRESH_S)
            view.show(board.rows, time.monotonic())


def _hear(board: StateBoard, node: str, message: Any) -> None:
    board.hear(node, message, time.monotonic())


def _view() -> Table | Lines:
    if importlib.util.find_spec('rich') is None:
        return Lines()
    from jaguar_sensors_ros.ros.client import domain

    return Table(f'sensors in {domain()}; Ctrl-C ends')
