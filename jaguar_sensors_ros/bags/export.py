"""Bags in the layouts that other tools read: CSV, TUM, EuRoC."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from jaguar_sensors_ros.bags import source
from jaguar_sensors_ros.bags.source import Report
from jaguar_sensors_ros.messages.offline import type_store
from jaguar_sensors_ros.nav.rotation import rotate
from jaguar_sensors_ros.truth.bag import ODOMETRY, is_bag, open_bag
from jaguar_sensors_ros.types import NS_PER_S, JaguarError

IMU = 'sensor_msgs/msg/Imu'
_ERROR = 'jaguar_sensors_msgs/msg/ImuError'
_IMU_HEADER = (
    '#timestamp [ns]',
    *(f'w_RS_S_{axis} [rad s^-1]' for axis in 'xyz'),
    *(f'a_RS_S_{axis} [m s^-2]' for axis in 'xyz'),
)
_STATE_HEADER = (
    '#timestamp',
    *(f' p_RS_R_{axis} [m]' for axis in 'xyz'),
    *(f' q_RS_{axis} []' for axis in 'wxyz'),
    *(f' v_RS_R_{axis} [m s^-1]' for axis in 'xyz'),
)
_BIAS_HEADER = (
    *(f' b_w_RS_S_{axis} [rad s^-1]' for axis in 'xyz'),
    *(f' b_a_RS_S_{axis} [m s^-2]' for axis in 'xyz'),
)

#: what became of a bag: file and rows
Written = dict[str, int]
#: takes a value out of a message
Getter = Callable[[Any], Any]


@contextmanager
def _complete(path: Path) -> Iterator[Path]:
    """Yield where to write; it gets its name when all is there, and goes where that fails."""
    if path.exists():
        raise JaguarError(f'{path}: exists; it is not replaced')
    partial = path.with_name(f'.{path.name}.partial')
    _remove(partial)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        partial.rename(path)
    except OSError as error:
        raise JaguarError(f'{path}: cannot be written: {error.strerror}') from None
    finally:
        _remove(partial)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _require_bag(path: Path) -> None:
    if not path.exists() or not is_bag(path):
        raise JaguarError(f'{path}: no ROS 2 bag; must be a folder, or an mcap or sqlite3 file')


def _chosen(path: Path, connections: Iterable[Any], topics: Sequence[str]) -> list[Any]:
    """Return the connections whose topics are asked for by name or pattern, all for none."""
    every = sorted(connections, key=lambda c: str(c.topic))
    for pattern in topics:
        if not any(_fits(c.topic, pattern) for c in every):
            there = ', '.join(f'{c.topic} ({c.msgtype})' for c in every) or 'none'
            raise JaguarError(f'{path}: has no topic {pattern}; it has {there}')
    return [c for c in every if not topics or any(_fits(c.topic, one) for one in topics)]


def _fits(topic: str, pattern: str) -> bool:
    return fnmatchcase(topic.strip('/'), pattern.strip('/'))


# ---------------------------------------------------------------------- CSV


def to_csv(path: Path, output: Path, topics: Sequence[str], report: Report) -> Written:
    """Write a CSV file for each topic into a folder.

    Columns are the time in the bag [ns], the stamp [ns] where there is one, and the fields by
    dotted names with the units of the message; what is in a sequence is one column, joined by
    semicolons.  Topics with sequences in sequences are left out.

    Raises
    ------
    JaguarError
        naming file and topic, and what is wrong.
    """
    _require_bag(path)
    with open_bag(path, type_store()) as reader, _complete(output) as folder:
        store = reader.typestore
        asked = _chosen(path, reader.connections, topics)
        for c in asked:
            if c.msgtype not in store.fielddefs:
                raise JaguarError(
                    f'{path}: topic {c.topic}: the type {c.msgtype} has no definition in the bag; '
                    'leave it out with --topics'
                )
        chosen = [c for c in asked if _is_flat(store, c.msgtype)]
        if not chosen:
            raise JaguarError(f'{path}: has no topic that fits into a table')
        names = {c.topic: f'{c.topic.strip("/").replace("/", "_")}.csv' for c in chosen}
        if len(set(names.values())) < len(names):
            raise JaguarError(f'{path}: topics that differ only in / and _; choose with --topics')
        folder.mkdir()
        with ExitStack() as stack:
            tables = {
                c.topic: _Table(stack, folder / names[c.topic], list(_columns(store, c.msgtype)))
                for c in chosen
            }
            total = sum(c.msgcount for c in chosen)
            for number, (c, t_ns, data) in enumerate(reader.messages(chosen), 1):
                tables[c.topic].add(t_ns, reader.deserialize(data, c.msgtype))
                if number % 4096 == 0:
                    report(min(1.0, number / max(1, total)))
    report(1.0)
    return {names[topic]: table.count for topic, table in tables.items()}


class _Table:
    """The CSV file of a topic."""

    def __init__(self, stack: ExitStack, path: Path, columns: list[tuple[str, Getter]]) -> None:
        self.count = 0
        self._is_stamped = any(name == 'header.stamp.sec' for name, _ in columns)
        kept = [one for one in columns if not one[0].startswith('header.stamp.')]
        self._getters = [getter for _, getter in kept]
        file = stack.enter_context(path.open('w', newline='', encoding='utf-8'))
        self._writer = csv.writer(file, lineterminator='\n')
        stamp = ['t_ns'] * self._is_stamped
        self._writer.writerow(['bag_t_ns', *stamp, *(name for name, _ in kept)])

    def add(self, t_ns: int, message: Any) -> None:
        """Add a row."""
        stamp = [_stamp_ns(message)] if self._is_stamped else []
        self._writer.writerow([t_ns, *stamp, *(get(message) for get in self._getters)])
        self.count += 1


def _is_flat(store: Any, kind: str, within: bool = False) -> bool:
    """Tell whether no sequence of a message has others in it."""
    for _, (node, detail) in store.fielddefs[kind][1]:
        if node.name == 'NAME':
            if not _is_flat(store, detail, within):
                return False
        elif node.name in ('ARRAY', 'SEQUENCE'):
            (inner, name), _ = detail
            if within or (inner.name == 'NAME' and not _is_flat(store, name, True)):
                return False
    return True


def _columns(store: Any, kind: str, prefix: str = '') -> Iterator[tuple[str, Getter]]:
    """Yield name and getter of each column of a message."""
    for name, (node, detail) in store.fielddefs[kind][1]:
        path = prefix + name
        if node.name == 'NAME':
            yield from _columns(store, detail, f'{path}.')
        elif node.name != 'BASE' and detail[0][0].name == 'NAME':
            for inner, getter in _columns(store, detail[0][1]):
                yield f'{path}.{inner}', partial(_sequence, path, getter)
        elif node.name == 'ARRAY':
            for i in range(detail[1]):
                yield f'{path}.{i}', partial(_element, path, i)
        else:
            is_one = node.name == 'BASE'
            yield path, partial(_value, path) if is_one else partial(_sequence, path, _plain)


def _value(path: str, message: Any) -> Any:
    return _plain(source.at(message, path))


def _element(path: str, i: int, message: Any) -> Any:
    return _plain(source.at(message, path)[i])


def _sequence(path: str, getter: Getter, message: Any) -> str:
    return ';'.join(str(getter(value)) for value in source.at(message, path))


def _plain(value: Any) -> Any:
    """Return a number that is written in the fewest digits that say it exactly."""
    return value.item() if hasattr(value, 'item') else value


def _stamp_ns(message: Any) -> int:
    stamp = message.header.stamp
    return int(stamp.sec) * NS_PER_S + int(stamp.nanosec)


# ---------------------------------------------------------------------- TUM


def to_tum(path: Path, output: Path, topic: str, report: Report) -> Written:
    """Write a trajectory, ``t x y z qx qy qz qw``, from odometry or poses.

    Raises
    ------
    JaguarError
        naming file and topic, and what is wrong.

    Source: J. Sturm et al., "A benchmark for the evaluation of RGB-D SLAM systems", IROS 2012.
    """
    _require_bag(path)
    chosen = source.choose(path, topic)
    count = 0
    with _complete(output) as partial, partial.open('w', encoding='utf-8') as file:
        file.write('# timestamp tx ty tz qx qy qz qw\n')
        for _, raw in source.read(chosen, report):
            seconds, rest = divmod(raw.t_ns, NS_PER_S)
            w, x, y, z = raw.q
            numbers = ' '.join(map(repr, (*raw.position, x, y, z, w)))
            file.write(f'{seconds}.{rest:09d} {numbers}\n')
            count += 1
    report(1.0)
    return {output.name: count}


# ---------------------------------------------------------------------- EuRoC


def to_euroc(path: Path, output: Path, topics: Sequence[str], report: Report) -> Written:
    """Write ``mav0/imu0/data.csv`` ... for each IMU, and the state where there is odometry.

    The state is that of the frame of the odometry, with the biases of the first IMU where its
    errors are in the bag.

    Raises
    ------
    JaguarError
        naming file and topic, and what is wrong.

    Source: M. Burri et al., "The EuRoC micro aerial vehicle datasets", IJRR 2016.
    """
    _require_bag(path)
    written: Written = {}
    with open_bag(path, type_store()) as reader, _complete(output) as folder:
        imus = _imus(path, reader.connections, topics)
        for i, c in enumerate(imus):
            name = f'mav0/imu{i}/data.csv'
            count = _table(folder / name, _IMU_HEADER, _imu_rows(reader, c))
            written[f'{name} ({c.topic})'] = count
            report((i + 1) / (len(imus) + 1))
        if any(c.msgtype == ODOMETRY for c in reader.connections):
            biases = _biases(reader, imus[0].topic)
            name = 'mav0/state_groundtruth_estimate0/data.csv'
            header = _STATE_HEADER if biases is None else (*_STATE_HEADER, *_BIAS_HEADER)
            asked = [t for t in topics if any(_is_odometry(c, t) for c in reader.connections)]
            chosen = source.choose(path, asked[0] if asked else '')
            written[name] = _table(folder / name, header, _states(chosen, biases))
    report(1.0)
    return written


def _is_odometry(connection: Any, pattern: str) -> bool:
    return bool(connection.msgtype == ODOMETRY and connection.topic == pattern)


def _imus(path: Path, connections: Sequence[Any], topics: Sequence[str]) -> list[Any]:
    """Return the IMU topics; of one sensor's data and data_raw the first, unless asked for."""
    chosen = [c for c in _chosen(path, connections, topics) if c.msgtype == IMU]
    names = {c.topic for c in chosen}
    if not topics:
        chosen = [
            c for c in chosen
            if not (c.topic.endswith('/data_raw') and c.topic.removesuffix('_raw') in names)
        ]
    if not chosen:
        raise JaguarError(f'{path}: has no topic of type sensor_msgs/Imu among those asked for')
    return chosen


def _imu_rows(reader: Any, connection: Any) -> Iterator[tuple[Any, ...]]:
    for _, _, data in reader.messages([connection]):
        message = reader.deserialize(data, IMU)
        w, a = message.angular_velocity, message.linear_acceleration
        yield _stamp_ns(message), w.x, w.y, w.z, a.x, a.y, a.z


def _biases(reader: Any, imu: str) -> tuple[Any, Any] | None:
    """Return times [ns] and biases of an IMU; None where its errors are not in the bag."""
    topic = f'{imu.rpartition("/")[0]}/error'
    chosen = [c for c in reader.connections if c.topic == topic and c.msgtype == _ERROR]
    times, rows = [], []
    for _, _, data in reader.messages(chosen) if chosen else ():
        message = reader.deserialize(data, _ERROR)
        times.append(_stamp_ns(message))
        g, a = message.gyro_bias, message.accel_bias
        rows.append((g.x, g.y, g.z, a.x, a.y, a.z))
    return (np.array(times), rows) if rows else None


def _states(chosen: source.Chosen, biases: tuple[Any, Any] | None) -> Iterator[tuple[Any, ...]]:
    for _, raw in source.read(chosen):
        row = (raw.t_ns, *raw.position, *raw.q, *rotate(raw.q, raw.linear))
        if biases is not None:
            times, values = biases
            # the error of a sample is that of the interval that ends with it
            at = min(int(np.searchsorted(times, raw.t_ns)), len(times) - 1)
            row = (*row, *values[at])
        yield row


def _table(path: Path, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> int:
    """Write rows of numbers; return how many."""
    path.parent.mkdir(parents=True)
    count = 0
    with path.open('w', encoding='utf-8') as file:
        file.write(','.join(header) + '\n')
        for row in rows:
            file.write(','.join(repr(number) for number in row) + '\n')
            count += 1
    return count
