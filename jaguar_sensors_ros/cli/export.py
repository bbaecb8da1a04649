"""export: a bag in the layouts that other tools read, without ROS."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from jaguar_sensors_ros.bags.export import to_csv, to_euroc, to_tum
from jaguar_sensors_ros.cli.graph import DONE
from jaguar_sensors_ros.cli.parser import add_plain
from jaguar_sensors_ros.cli.progress import progress
from jaguar_sensors_ros.types import JaguarError

_DETAILS = '''
csv writes a table for each topic into the folder OUT; tum the trajectory of one topic with
odometry or poses into the file OUT; euroc mav0/imu0/data.csv and, where there is odometry,
mav0/state_groundtruth_estimate0/data.csv into the folder OUT. Needs no ROS. docs/bags.md
explains columns and units.

examples:
  jaguar_sensors export drive out/tables --format csv --topics imu/* gps/fix
  jaguar_sensors export drive out/truth.txt --format tum --topics /odom
  jaguar_sensors export drive out/euroc --format euroc

exit status: 0 done; 1 interrupted; 2 bad input. OUT appears when it is complete.'''


def add(commands: Any) -> None:
    """Add the subcommand to the tool."""
    text = 'write a bag as CSV, TUM or EuRoC files'
    parser = add_plain(commands, 'export', run, text, _DETAILS)
    parser.add_argument('bag', type=Path, metavar='BAG', help='folder, or mcap or sqlite3 file')
    parser.add_argument('output', type=Path, metavar='OUT', help='what to write; not replaced')
    parser.add_argument('--format', required=True, choices=('csv', 'tum', 'euroc'))
    parser.add_argument(
        '--topics', nargs='+', default=[], metavar='TOPIC', help='names or patterns; all without'
    )


def run(options: argparse.Namespace) -> int:
    """Do it; return the exit status.

    Raises
    ------
    JaguarError
        for bad input.
    """
    bag, output, topics = options.bag, options.output, options.topics
    if options.format == 'tum' and len(topics) > 1:
        raise JaguarError('--topics: a TUM file has the trajectory of one topic')
    with progress('export') as report:
        if options.format == 'csv':
            written = to_csv(bag, output, topics, report)
        elif options.format == 'tum':
            written = to_tum(bag, output, topics[0] if topics else '', report)
        else:
            written = to_euroc(bag, output, topics, report)
    for name, count in written.items():
        print(f'{name}: {count} rows')
    return DONE
