"""Records for the subcommand allan: from a ROS 2 bag, from a CSV file, simulated."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from jaguar_sensors_ros.analysis.allan import Array
from jaguar_sensors_ros.analysis.allan_theory import AXES
from jaguar_sensors_ros.analysis.static_run import StaticRun
from jaguar_sensors_ros.cli.progress import Report
from jaguar_sensors_ros.sensors.imu_settings import ImuSettings
from jaguar_sensors_ros.truth.bag import choose_topic, is_bag, open_bag
from jaguar_sensors_ros.types import NS_PER_S, JaguarError

IMU = 'sensor_msgs/msg/Imu'
#: a longer step than this many sample intervals is a gap
_GAP = 1.5
#: the longest part without a gap must be this share of a record
_SHARE = 0.5


@dataclass(frozen=True)
class Record:
    """Uniform samples: ``data`` (n, axes) [rad/s, m/s2], what they are, and a note on them."""

    title: str
    axes: tuple[str, ...]
    data: Array
    rate_hz: float
    note: str = ''

    def first(self, duration_s: float | None) -> Record:
        """Return the first ``duration_s`` seconds; None: all."""
        if duration_s is None:
            return self
        count = round(duration_s * self.rate_hz)
        if count > len(self.data):
            has = len(self.data) / self.rate_hz
            raise JaguarError(
                f'{self.title}: --duration {duration_s:g}: must be up to {has:g} s, its length'
            )
        return Record(self.title, self.axes, self.data[:count], self.rate_hz, self.note)


def simulate(settings: ImuSettings, seed: int, duration_s: float, report: Report) -> Record:
    """Simulate an IMU at rest."""
    run = StaticRun(settings, seed)
    data = run.record(run.samples(duration_s), report)
    title = f'simulated IMU at rest, grade {settings.grade}, seed {seed}'
    return Record(title, AXES, data, settings.sample_rate_hz)


# ---------------------------------------------------------------------- CSV


def read_csv(path: Path, rate_hz: float) -> Record:
    """Read a CSV file with a header row that names the columns.

    Raises
    ------
    JaguarError
        naming file, line and column of what is wrong.
    """
    allowed = f'the columns are {", ".join(AXES)}, one or more, in any order; others are ignored'
    try:
        with path.open(newline='', encoding='utf-8-sig') as file:
            header = [name.strip() for name in next(csv.reader(file), [])]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise JaguarError(f'{path}: cannot be read: {error}') from None
    axes = tuple(name for name in AXES if name in header)
    if not axes:
        raise JaguarError(f'{path}: line 1: names no axis; {allowed}')
    twice = [name for name in axes if header.count(name) > 1]
    if twice:
        raise JaguarError(f'{path}: line 1: column {twice[0]} is there more than once')
    columns = [header.index(name) for name in axes]
    try:
        data = np.loadtxt(
            path, delimiter=',', skiprows=1, usecols=columns, ndmin=2, encoding='utf-8-sig',
            comments=None,
        )
    except ValueError:
        raise JaguarError(_what_is_wrong(path, header, columns)) from None
    if not np.all(np.isfinite(data)):
        raise JaguarError(_what_is_wrong(path, header, columns))
    return Record(str(path), axes, data, rate_hz)


def _what_is_wrong(path: Path, header: list[str], columns: list[int]) -> str:
    """Find the first cell that is not a finite number."""
    with path.open(newline='', encoding='utf-8-sig') as file:
        reader = csv.reader(file)
        next(reader)
        for row in reader:
            if not row:
                continue
            for column in columns:
                where = f'{path}: line {reader.line_num}: column {header[column]}'
                if column >= len(row):
                    return f'{where}: is missing; a row has {len(header)} cells'
                try:
                    value = float(row[column])
                except ValueError:
                    value = math.nan
                if not math.isfinite(value):
                    return f'{where}: {row[column]!r} must be a finite number'
    return f'{path}: cannot be read as numbers separated by commas'


# ---------------------------------------------------------------------- bag


def read_bag(path: Path, topic: str, report: Report) -> Record:
    """Read the sensor_msgs/Imu messages of a topic of a bag (mcap or sqlite3), without ROS.

    Raises
    ------
    JaguarError
        naming file and topic, and what is wrong.
    """
    if not path.exists():
        raise JaguarError(f'{path}: no such file')
    if not is_bag(path):
        raise JaguarError(f'{path}: not a ROS 2 bag; allowed are mcap and sqlite3')
    with open_bag(path) as reader:
        topic = choose_topic(path, topic, reader.connections, IMU)
        times, rows = _read(reader, topic, report)
    return _uniform(f'{path}: topic {topic}', times, rows)


def _read(reader: Any, topic: str, report: Report) -> tuple[Array, Array]:
    chosen = [c for c in reader.connections if c.topic == topic]
    count = sum(c.msgcount for c in chosen)
    times = np.empty(count, dtype=np.int64)
    rows = np.empty((count, len(AXES)))
    number = 0
    for connection, _, raw in reader.messages(chosen):
        times[number], rows[number] = _row(reader.deserialize(raw, connection.msgtype))
        number += 1
        if number % 4096 == 0 or number == count:
            report(number / count)
    return times[:number], rows[:number]


def _row(message: Any) -> tuple[int, list[float]]:
    stamp = message.header.stamp
    values = [
        getattr(vector, letter)
        for vector in (message.angular_velocity, message.linear_acceleration)
        for letter in 'xyz'
    ]
    return stamp.sec * NS_PER_S + stamp.nanosec, values


def _uniform(where: str, times: Array, rows: Array) -> Record:
    """Return the longest part without a gap, in which the stamps give the rate."""
    if len(times) < 2:
        raise JaguarError(f'{where}: {len(times)} messages are no record')
    steps = np.diff(times)
    if steps.min() <= 0:
        number = int(np.argmax(steps <= 0)) + 2
        raise JaguarError(f'{where}: message {number}: stamp not later than the one before')
    wrong = ~np.isfinite(rows).all(axis=1)
    if wrong.any():
        raise JaguarError(f'{where}: message {int(np.argmax(wrong)) + 1}: not all finite')
    start, stop = max(_parts(steps), key=lambda part: part[1] - part[0])
    note = ''
    if stop - start < len(times):
        note = (
            f'{where}: has gaps; used are messages {start + 1} to {stop} of {len(times)}, '
            'the longest part without'
        )
    if stop - start < max(2, _SHARE * len(times)):
        raise JaguarError(f'{note}; that is less than {_SHARE:.0%} of the record')
    rate_hz = (stop - start - 1) * NS_PER_S / int(times[stop - 1] - times[start])
    return Record(where, AXES, rows[start:stop], float(f'{rate_hz:.9g}'), note)


def _parts(steps: Array) -> Iterator[tuple[int, int]]:
    """Yield the parts without a gap as (first message, one past the last)."""
    start = 0
    for gap in np.flatnonzero(steps > _GAP * np.median(steps)).tolist():
        yield start, gap + 1
        start = gap + 1
    yield start, len(steps) + 1
