"""record: writes live topics as a scenario file."""

from __future__ import annotations

import argparse
import functools
import re
import signal
import sys
from pathlib import Path
from typing import Any

from jaguar_sensors_ros.cli.completers import complete_with, sensors
from jaguar_sensors_ros.cli.graph import DONE, FAILED, add_command, require_ros, seconds
from jaguar_sensors_ros.cli.parser import check

_DETAILS = '''
A file that scenario_node replays to the same numbers. It ends after --duration, or with Ctrl-C;
the file gets its name when it is complete. SENSOR is the name of a node (imu, gps, baro, mag,
/robot1/imu) or of a topic of type Imu, Temperature, NavSatFix, TwistWithCovarianceStamped,
FluidPressure or MagneticField. Without: all sensors there are, not those in namespaces.'''


def add(commands: Any) -> None:
    """Add the subcommand to the tool."""
    parser = add_command(commands, 'record', _record, 'record sensors as a scenario', _DETAILS)
    words = parser.add_argument(
        'words', metavar='SENSOR', nargs='*', help='nodes or topics to record'
    )
    complete_with(words, sensors)
    parser.add_argument(
        '--output', '-o', type=Path, required=True, metavar='FILE', help='file to write (CSV)'
    )
    parser.add_argument(
        '--duration',
        type=seconds,
        default=0.0,
        metavar='SECONDS',
        help='wall time to record, from the first message (default: until Ctrl-C)',
    )
    parser.set_defaults(finish=functools.partial(_finish, parser))


def _finish(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    options.sensors = [check(parser, 'SENSOR', _name, word) for word in options.words]


def _name(text: str) -> str:
    if not re.fullmatch(r'/?[A-Za-z_]\w*(/[A-Za-z_]\w*)*', text, re.ASCII):
        raise argparse.ArgumentTypeError(
            f'{text!r} is no name of a node or topic; valid: such as imu or /imu/data'
        )
    return text


class _Stop:
    """Remembers SIGINT and SIGTERM; puts back in the end what there was before."""

    def __enter__(self) -> _Stop:
        self._asked = False
        numbers = (signal.SIGINT, signal.SIGTERM)
        self._before = [(number, signal.signal(number, self._ask)) for number in numbers]
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before:
            signal.signal(number, handler)

    def _ask(self, number: int, frame: object) -> None:
        self._asked = True

    def asked(self) -> bool:
        return self._asked


def _record(options: argparse.Namespace) -> int:
    require_ros()
    from jaguar_sensors_ros.ros.recorder import Recorder

    with Recorder(options.sensors, options.timeout) as recorder:
        topics = recorder.find()
        print(f'recording {", ".join(topics)}', file=sys.stderr, flush=True)
        with _Stop() as stop:
            count = recorder.record(topics, options.output, options.duration, stop.asked)
    print(f'{options.output}: {count} rows')
    for reason, number in recorder.refused.items():
        print(f'jaguar_sensors: {number} messages left out: {reason}', file=sys.stderr)
    return FAILED if recorder.refused else DONE
