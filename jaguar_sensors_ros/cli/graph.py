"""What the subcommands share that talk to nodes."""

from __future__ import annotations

import argparse
import importlib
import math
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from jaguar_sensors_ros.cli.completers import complete_with, nodes
from jaguar_sensors_ros.cli.parser import add_plain, take_numbers
from jaguar_sensors_ros.types import JaguarError

if TYPE_CHECKING:
    from jaguar_sensors_ros.ros.client import SensorClient

#: exit statuses: done; asked, but it did not happen; what was typed cannot be right
DONE, FAILED, BAD_INPUT = 0, 1, 2

NODE_HELP = (
    'name of a node, such as imu or /robot1/imu; a relative name also stands for a node in a '
    'namespace if there is only one'
)
_NO_ROS = '''\
this subcommand talks to ROS nodes, but ROS 2 cannot be loaded ({error}).
Source a ROS 2 installation and the workspace, or start it with scripts/ros in the repository.'''


class MissingRosError(JaguarError):
    """There is no ROS 2 in this environment."""


def status_of(error: JaguarError) -> int:
    """Return the exit status that an error stands for."""
    return int(getattr(error, 'exit_status', BAD_INPUT))


def require_ros() -> None:
    """Look whether there is ROS 2 and the interfaces.

    Raises
    ------
    MissingRosError
        where there is no ROS 2.
    """
    try:
        importlib.import_module('rclpy')
        compat = importlib.import_module('jaguar_sensors_ros.ros.compat')
    except ImportError as error:
        raise MissingRosError(_NO_ROS.format(error=error)) from None
    compat.require_interfaces()


def open_client(timeout_s: float) -> SensorClient:
    """Return a client of sensor nodes, to be used in a ``with`` block.

    Raises
    ------
    MissingRosError
        where there is no ROS 2.
    """
    require_ros()
    from jaguar_sensors_ros.ros.client import SensorClient

    return SensorClient(timeout_s)


def number(text: str) -> float:
    """Read a finite number from the command line."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f'{text!r} must be a finite number')
    return value


def seconds(text: str) -> float:
    """Read a time >= 0 [s] from the command line."""
    value = number(text)
    if value < 0.0:
        raise argparse.ArgumentTypeError(f'{text!r} must be seconds >= 0')
    return value


def whole(text: str) -> int:
    """Read a whole number from 0 to 2^32 - 1 from the command line."""
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f'{text!r} must be a whole number >= 0')
    return int(text)


def timeout(text: str) -> float:
    """Read a time > 0 [s] from the command line."""
    value = number(text)
    if value <= 0.0:
        raise argparse.ArgumentTypeError(f'{text!r} must be seconds > 0')
    return value


def node_name(text: str) -> str:
    """Read the name of a node from the command line."""
    if not re.fullmatch(r'/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*', text, re.ASCII):
        raise argparse.ArgumentTypeError(
            f'{text!r} is no name of a node; valid: such as imu or /robot1/imu'
        )
    return text


def add_command(
    commands: Any,
    name: str,
    run: Callable[[argparse.Namespace], int],
    text: str,
    details: str = '',
) -> argparse.ArgumentParser:
    """Add a subcommand that talks to nodes."""
    parser = add_plain(commands, name, run, text, details)
    take_numbers(parser)
    parser.add_argument(
        '--timeout',
        type=timeout,
        default=5.0,
        metavar='SECONDS',
        help='longest time to look for a node and to wait for its answer (default: 5)',
    )
    return parser


def add_node(parser: argparse.ArgumentParser) -> None:
    """Add the argument NODE, any node with parameters."""
    argument = parser.add_argument('node', metavar='NODE', type=node_name, help=NODE_HELP)
    complete_with(argument, nodes)
