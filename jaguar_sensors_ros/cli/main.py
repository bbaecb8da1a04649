"""The tool ``jaguar_sensors``.

A subcommand is a module of this package with a function ``add`` that takes the action of
argparse's subparsers; :data:`COMMANDS` lists them.  Exit status: 0 done; 1 it was asked for and
did not happen (no such node, no answer); 2 bad input, whether found here or refused by the node,
or there is no ROS 2 to talk to nodes.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from typing import Any

from jaguar_sensors_ros import __version__
from jaguar_sensors_ros.cli import (
    allan,
    completion,
    export,
    faults,
    param,
    record,
    simulate,
    state,
)
from jaguar_sensors_ros.cli.graph import FAILED, status_of
from jaguar_sensors_ros.cli.parser import Parser
from jaguar_sensors_ros.types import JaguarError

#: what adds the subcommands, in the order of the help
COMMANDS: tuple[Callable[[Any], None], ...] = (
    faults.add,
    state.add,
    param.add,
    record.add,
    allan.add,
    simulate.add,
    export.add,
    completion.add,
)

_EPILOG = '''\
exit status: 0 done; 1 asked for, but it did not happen (no such node, no answer); 2 bad input
(found here or refused by the node), or no ROS 2 where it is needed.  ROS_DOMAIN_ID says which
nodes are seen.'''


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the whole tool."""
    parser = Parser(
        prog='jaguar_sensors',
        description='Works with simulated sensors, as ros2 service call and ros2 param do.',
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument('--version', action='version', version=__version__)
    commands = parser.add_subparsers(metavar='COMMAND', required=True, dest='command')
    for add in COMMANDS:
        add(commands)
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run the tool and return the exit status."""
    parser = make_parser()
    completion.complete(parser)
    options = parser.parse_args(arguments)
    try:
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except JaguarError as error:
        print(f'jaguar_sensors: {error}', file=sys.stderr)
        return status_of(error)
    except BrokenPipeError:
        # whoever read our output has enough; keep the interpreter from complaining at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except KeyboardInterrupt:
        return FAILED


if __name__ == '__main__':
    sys.exit(main())
