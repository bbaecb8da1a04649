"""allan: Allan deviation of a record at rest, and whether it is what it should be."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from jaguar_sensors_ros.analysis.allan import MIN_SAMPLES, log_spaced, octaves, overlapping_adev
from jaguar_sensors_ros.analysis.allan_theory import AXES, imu_theory
from jaguar_sensors_ros.analysis.allan_verdict import judge, judged_octaves
from jaguar_sensors_ros.analysis.spectral_fit import spectrum_of
from jaguar_sensors_ros.catalogue import make_settings
from jaguar_sensors_ros.cli import completers
from jaguar_sensors_ros.cli.allan_input import Record, read_bag, read_csv, simulate
from jaguar_sensors_ros.cli.allan_report import print_axes, print_table, write
from jaguar_sensors_ros.cli.graph import DONE, FAILED, timeout, whole
from jaguar_sensors_ros.cli.param import parse
from jaguar_sensors_ros.cli.parser import add_plain
from jaguar_sensors_ros.cli.progress import progress
from jaguar_sensors_ros.component import declarations
from jaguar_sensors_ros.sensors.imu_settings import ImuSettings
from jaguar_sensors_ros.types import JaguarError

_DETAILS = '''
The record is simulated (an IMU at rest), or read from a ROS 2 bag or a CSV file. Its curve is
compared with the theory of what is expected: the parameters of the simulation, or those given
with --expect. The verdict is the last line.

examples:
  jaguar_sensors allan --grade tactical --duration 3600 --rate 100
  jaguar_sensors allan --grade industrial --set tau_bias_g_s=100 gyro.random_walk=1e-6
  jaguar_sensors allan --bag night.mcap --topic /imu/data --expect tactical
  jaguar_sensors allan --csv night.csv --rate 400 --expect custom gyro.white_noise_density=3e-6

exit status: 0 agreement, or nothing was expected; 1 no agreement; 2 bad input.'''
_RATE, _DURATION, _SEED = 100.0, 3600.0, 1
#: averaging factors of the curve, besides the octaves
_CURVE_POINTS = 48
_GRADES = next(d.choices for d in declarations(ImuSettings) if d.name == 'grade')
_DECIDED_ELSEWHERE = {'sample_rate_hz': '--rate', 'random_seed': '--seed'}


def add(commands: Any) -> None:
    """Add the subcommand to the tool."""
    text = 'Allan deviation of an IMU at rest, with a verdict'
    parser = add_plain(commands, 'allan', run, text, _DETAILS)
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        '--grade', choices=_GRADES, help='simulate this grade (default: tactical)'
    )
    source.add_argument('--bag', type=Path, metavar='FILE', help='read a ROS 2 bag')
    source.add_argument(
        '--csv', type=Path, metavar='FILE', help=f'read a CSV file with columns {", ".join(AXES)}'
    )
    parser.add_argument('--topic', metavar='TOPIC', help='sensor_msgs/Imu in the bag')
    parser.add_argument(
        '--duration',
        type=timeout,
        metavar='SECONDS',
        help=f'length of the simulation (default: {_DURATION:g}), or how much of a record is used',
    )
    parser.add_argument(
        '--rate', type=timeout, metavar='HZ', help=f'sample rate (simulation: {_RATE:g})'
    )
    parser.add_argument(
        '--seed', type=whole, metavar='N', help=f'of the simulation (default: {_SEED})'
    )
    for option, completer, help_text in (
        ('--set', completers.assignments, 'parameters of the simulated IMU, as of imu_node'),
        (
            '--expect',
            completers.expectations,
            'what to compare with: a grade, parameters, or a grade and parameters',
        ),
    ):
        argument = parser.add_argument(
            option, nargs='+', action='extend', default=[], metavar='NAME=VALUE', help=help_text
        )
        completers.complete_with(argument, completer)
    parser.add_argument(
        '--output',
        type=Path,
        default=Path('out/allan'),
        metavar='DIR',
        help='where allan.csv and allan.png go (default: out/allan)',
    )


def run(options: argparse.Namespace) -> int:
    """Do it; return the exit status.

    Raises
    ------
    JaguarError
        for bad input.
    """
    record, settings = _record(options)
    theories = None if settings is None else imu_theory(settings, record.axes)
    n = len(record.data)
    if n < MIN_SAMPLES:
        raise JaguarError(f'{record.title}: {n} samples; at least {MIN_SAMPLES} are needed')
    judged = judged_octaves(n, theories) if theories else []
    factors = np.union1d(log_spaced(n, _CURVE_POINTS), [*octaves(n, 1, n / 3), *judged])
    with progress('Allan deviation') as report:
        curve = overlapping_adev(record.data, record.rate_hz, factors, report)
    spectra = [spectrum_of(column) for column in record.data.T]
    if record.note:
        print(record.note)
    print_table(record, curve, theories)
    verdict = judge(curve, spectra, theories) if theories else None
    print_axes(record, spectra, verdict)
    last = verdict.line() if verdict else 'no verdict: nothing was expected (--expect)'
    write(options.output, record, curve, theories, last if verdict else '')
    print(last)
    return DONE if verdict is None or verdict.agrees else FAILED


# ---------------------------------------------------------------------- input


def _record(options: argparse.Namespace) -> tuple[Record, ImuSettings | None]:
    """Return the record and the parameters that are expected, None where nothing is."""
    expected = _values(options.expect, '--expect', grade_allowed=True)
    if options.bag is None and options.csv is None:
        return _simulated(options, expected)
    for name in ('set', 'seed'):
        if getattr(options, name):
            raise JaguarError(f'--{name}: only a simulation takes it, not a record')
    if options.csv is not None:
        if options.topic:
            raise JaguarError('--topic: only a bag has topics')
        if options.rate is None:
            raise JaguarError('--csv needs --rate, the sample rate [Hz]')
        record = read_csv(options.csv, options.rate)
    else:
        if options.rate is not None:
            raise JaguarError('--rate: the stamps in the bag tell the rate; leave it out')
        with progress('reading') as report:
            record = read_bag(options.bag, options.topic or '', report)
    record = record.first(options.duration)
    if not expected:
        return record, None
    return record, _settings({'grade': 'custom', **expected}, record.rate_hz)


def _simulated(
    options: argparse.Namespace, expected: dict[str, object]
) -> tuple[Record, ImuSettings]:
    if options.topic:
        raise JaguarError('--topic: only a bag has topics')
    given = {'grade': options.grade or 'tactical', **_values(options.set, '--set')}
    rate_hz = _RATE if options.rate is None else options.rate
    settings = _settings(given, rate_hz)
    base = {} if 'grade' in expected else given
    expectation = _settings({**base, **expected}, rate_hz)
    imu_theory(expectation)
    seed = _SEED if options.seed is None else options.seed
    duration_s = _DURATION if options.duration is None else options.duration
    with progress('simulation') as report:
        record = simulate(settings, seed, duration_s, report)
    return record, expectation


def _settings(values: dict[str, object], rate_hz: float) -> ImuSettings:
    return cast(ImuSettings, make_settings('imu', {**values, 'sample_rate_hz': rate_hz}))


def _values(items: Sequence[str], option: str, grade_allowed: bool = False) -> dict[str, object]:
    """Read NAME=VALUE arguments; a bare word is a grade where that is allowed."""
    values: dict[str, object] = {}
    for item in items:
        name, equals, text = item.partition('=')
        if not equals:
            if not grade_allowed or item not in _GRADES:
                allowed = f'a grade ({", ".join(_GRADES)}) or ' if grade_allowed else ''
                raise JaguarError(f'{option} {item!r}: must be {allowed}NAME=VALUE')
            name, text = 'grade', item
        if name in _DECIDED_ELSEWHERE:
            raise JaguarError(f'{option} {item!r}: set it with {_DECIDED_ELSEWHERE[name]}')
        if name in values:
            raise JaguarError(f'{option} {item!r}: {name} is given twice')
        try:
            values[name] = parse(text)
        except ValueError as error:
            raise JaguarError(f'{option} {item!r}: {error}') from None
    return values
