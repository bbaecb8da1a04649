"""simulate: the topics of simulated sensors for a recorded motion, without ROS."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from jaguar_sensors_ros.bags import config
from jaguar_sensors_ros.bags.simulate import Job, Outcome, Simulation
from jaguar_sensors_ros.bags.source import choose
from jaguar_sensors_ros.bags.writer import STORAGES
from jaguar_sensors_ros.cli.graph import DONE, seconds, timeout, whole
from jaguar_sensors_ros.cli.parser import add_plain
from jaguar_sensors_ros.cli.progress import progress
from jaguar_sensors_ros.types import Fidelity, JaguarError

_DETAILS = '''
Reads odometry (or poses) from a ROS 2 bag or a trajectory file (EuRoC, TUM) and writes a bag with
what the sensors say: the numbers of the live nodes with the same seeds and parameters. Needs no
ROS. docs/bags.md explains it.

examples:
  jaguar_sensors simulate drive.mcap drive_with_imu
  jaguar_sensors simulate drive.mcap both --with-input --seed 7 --topics imu/data gps/fix
  jaguar_sensors simulate flight.csv flight --config suite.yaml --timeline faults.yaml

exit status: 0 done; 1 interrupted; 2 bad input. The bag appears when it is complete.'''


def add(commands: Any) -> None:
    """Add the subcommand to the tool."""
    text = 'simulate sensors along a recorded motion, into a bag'
    parser = add_plain(commands, 'simulate', run, text, _DETAILS)
    parser.add_argument('input', type=Path, metavar='IN', help='bag or trajectory file')
    parser.add_argument('output', type=Path, metavar='OUT', help='folder of the bag to write')
    parser.add_argument(
        '--config',
        type=Path,
        metavar='FILE',
        help='suite file, or parameter file of nodes (default: an imu and a gps)',
    )
    parser.add_argument(
        '--odom-topic', default='', metavar='TOPIC', help='odometry or poses in the bag'
    )
    parser.add_argument('--seed', type=whole, metavar='N', help='random_seed of all sensors')
    parser.add_argument(
        '--fidelity', choices=[level.value for level in Fidelity], help='of all sensors'
    )
    parser.add_argument('--timeline', default='', metavar='FILE', help='faults to inject')
    parser.add_argument(
        '--topics', nargs='+', default=[], metavar='TOPIC', help='what to write, such as gps/*'
    )
    parser.add_argument(
        '--start', type=seconds, default=0.0, metavar='SECONDS', help='of the motion to leave out'
    )
    parser.add_argument(
        '--duration', type=timeout, metavar='SECONDS', help='of the motion to simulate'
    )
    parser.add_argument(
        '--with-input', action='store_true', help='also write the topics of the input bag'
    )
    parser.add_argument('--storage', choices=sorted(STORAGES), default='mcap')
    parser.add_argument('--overwrite', action='store_true', help='replace OUT if it is a bag')


def run(options: argparse.Namespace) -> int:
    """Do it; return the exit status.

    Raises
    ------
    JaguarError
        for bad input.
    """
    check_target(options.output, options.overwrite, options.input)
    truth = choose(options.input, options.odom_topic)
    if options.with_input and not truth.topic:
        raise JaguarError(f'--with-input: {options.input} is no bag')
    job = Job(
        truth,
        options.output,
        config.default() if options.config is None else config.read(options.config),
        options.seed,
        options.fidelity,
        options.timeline,
        options.topics,
        options.start,
        options.duration,
        options.with_input,
        options.storage,
    )
    began_s = time.monotonic()
    simulation = Simulation(job)
    with progress('reading') as report:
        simulation.read(report)
    with progress('simulation') as report:
        outcome = simulation.write(report)
    _tell(outcome, options.output, time.monotonic() - began_s)
    return DONE


def check_target(path: Path, overwrite: bool, source: Path) -> None:
    """Raise JaguarError where a bag cannot be put."""
    if not path.exists():
        return
    if not (path / 'metadata.yaml').is_file():
        raise JaguarError(f'{path}: exists and is no bag; it stays')
    if path.resolve() in (source.resolve(), *source.resolve().parents):
        raise JaguarError(f'{path}: is the input')
    if not overwrite:
        raise JaguarError(f'{path}: exists; --overwrite replaces it')


def _tell(outcome: Outcome, path: Path, took_s: float) -> None:
    for remark in outcome.remarks:
        print(f'note: {remark}', file=sys.stderr)
    for topic, count in outcome.messages.items():
        print(f'{topic}: {count}')
    seeds = ', '.join(f'{name} {seed}' for name, seed in outcome.seeds.items())
    print(f'random_seed: {seeds}')
    factor = outcome.span_s / max(took_s, 1e-9)
    print(f'{path}: {outcome.span_s:.1f} s in {took_s:.1f} s, {factor:.0f} times real time')
