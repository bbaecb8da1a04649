"""Readers of trajectory files: EuRoC ground truth, TUM, and ROS 2 bags with odometry.

The format is told by content: a ROS 2 bag by its first bytes or its ``metadata.yaml``, a EuRoC
file by its ``#timestamp`` header, a TUM file by eight numbers in its first row.  The frames are
those of the file: its fixed frame is taken as n and its moving frame as b.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TypeVar

from jaguar_sensors_ros.truth.bag import OdometryRecording, is_bag, read_odometry_bag
from jaguar_sensors_ros.truth.curve import TrajectoryCurve
from jaguar_sensors_ros.types import NS_PER_S, JaguarError, Quat, Vec3

NumberT = TypeVar('NumberT')

ACCEPTED = (
    'accepted are EuRoC ground truth (CSV with a header that starts with #timestamp), TUM '
    '(t x y z qx qy qz qw, separated by blanks) and ROS 2 bags (mcap or sqlite3, a file or '
    'a folder with metadata.yaml)'
)
#: seconds in a ROS time stamp are a signed 32-bit number
LAST_NS = (2**31 - 1) * NS_PER_S

_TUM_COLUMNS = ('t', 'x', 'y', 'z', 'qx', 'qy', 'qz', 'qw')
_POSE = ('p_rs_r_x', 'p_rs_r_y', 'p_rs_r_z', 'q_rs_w', 'q_rs_x', 'q_rs_y', 'q_rs_z')
_VELOCITY = ('v_rs_r_x', 'v_rs_r_y', 'v_rs_r_z')


@dataclass
class PoseTable:
    """The rows of a trajectory file.

    ``positions`` and ``velocities`` [m, m/s] are resolved in the file's fixed frame,
    ``quaternions`` are w, x, y, z as written, ``lines`` the numbers of the rows' lines.
    ``velocities`` is empty where the file has none.
    """

    path: Path
    lines: list[int] = field(default_factory=list)
    times_ns: list[int] = field(default_factory=list)
    positions: list[Vec3] = field(default_factory=list)
    quaternions: list[Quat] = field(default_factory=list)
    velocities: list[Vec3] = field(default_factory=list)

    def curve(self) -> TrajectoryCurve:
        """Return the smooth motion through the poses.

        Raises
        ------
        JaguarError
            naming file and line, for whatever :class:`TrajectoryCurve` refuses.
        """
        if not self.lines:
            raise JaguarError(f'{self.path}: has no rows')
        if len(self.lines) < 2:
            raise JaguarError(f'{self.path}: has a single row; a trajectory needs two')
        return TrajectoryCurve(self.times_ns, self.positions, self.quaternions, self._where)

    def _where(self, row: int) -> str:
        return f'{self.path}: line {self.lines[row]}'


def open_truth(spec: str | Path, topic: str = '') -> TrajectoryCurve | OdometryRecording:
    """Open a trajectory file or an odometry bag, whichever the content is.

    Parameters
    ----------
    spec : str or Path
        File, or folder of a bag; ``~`` is expanded.
    topic : str
        Topic of the odometry in a bag; empty takes the only one.

    Returns
    -------
    TrajectoryCurve or OdometryRecording
        A curve through the poses of a file, or the odometry messages of a bag.

    Raises
    ------
    JaguarError
        if it is missing, of no accepted format, or broken; names file, line and column.
    """
    path = Path(spec).expanduser()
    if not path.exists():
        raise JaguarError(f'{path}: no such file; {ACCEPTED}')
    if is_bag(path):
        return read_odometry_bag(path, topic)
    if topic:
        raise JaguarError(f'topic = {topic!r}: only a bag has topics, {path} is none')
    if path.is_dir():
        raise JaguarError(f'{path}: a folder without metadata.yaml; {ACCEPTED}')
    return read_poses(path).curve()


def read_poses(path: Path) -> PoseTable:
    """Read the rows of a EuRoC or a TUM file.

    Raises
    ------
    JaguarError
        if the file is neither, or a row is broken.
    """
    for _, line in _lines(path):
        if line.lower().startswith('#timestamp'):
            return read_euroc(path)
        if not line.startswith('#'):
            if len(line.split()) == len(_TUM_COLUMNS) and ',' not in line:
                return read_tum(path)
            break
    raise JaguarError(f'{path}: not a trajectory; {ACCEPTED}')


def read_euroc(path: Path) -> PoseTable:
    """Read EuRoC ground truth (``state_groundtruth_estimate0/data.csv``).

    Columns are found by the names in the header: whole nanoseconds, position, quaternion
    w x y z and, if there, velocity, all in the file's fixed frame R.  Biases are ignored.

    Source: M. Burri et al., "The EuRoC micro aerial vehicle datasets", IJRR 2016.
    """
    rows = ((number, [item.strip() for item in line.split(',')]) for number, line in _lines(path))
    number, header = next(rows, (1, ['']))
    names = [name.lstrip('#').partition('[')[0].strip().lower() for name in header]
    missing = [name for name in _POSE if name not in names]
    if names[0] != 'timestamp' or missing:
        what = f'lacks {", ".join(missing)}' if missing else 'does not start with #timestamp'
        raise JaguarError(f'{path}: line {number}: the header {what}')
    wanted = [*_POSE, *(_VELOCITY if all(name in names for name in _VELOCITY) else ())]
    columns = [names.index(name) for name in wanted]
    table = PoseTable(path)
    for number, row in rows:
        if row[0].startswith('#'):
            continue
        _check_width(path, number, len(row), len(header), 'the header has')
        table.lines.append(number)
        table.times_ns.append(_whole_ns(path, number, row[0]))
        v = [_number(path, number, row, column, header) for column in columns]
        table.positions.append((v[0], v[1], v[2]))
        table.quaternions.append((v[3], v[4], v[5], v[6]))
        if len(v) > len(_POSE):
            table.velocities.append((v[7], v[8], v[9]))
    return table


def read_tum(path: Path) -> PoseTable:
    """Read a TUM trajectory: ``t x y z qx qy qz qw``, seconds and metres, # for comments.

    The decimal seconds become nanoseconds exactly; digits beyond them are rounded.

    Source: J. Sturm et al., "A benchmark for the evaluation of RGB-D SLAM systems", IROS 2012.
    """
    table = PoseTable(path)
    for number, line in _lines(path):
        if line.startswith('#'):
            continue
        row = line.split()
        _check_width(path, number, len(row), len(_TUM_COLUMNS), 'TUM has')
        table.lines.append(number)
        table.times_ns.append(_seconds(path, number, row[0]))
        v = [_number(path, number, row, column, _TUM_COLUMNS) for column in range(1, 8)]
        table.positions.append((v[0], v[1], v[2]))
        table.quaternions.append((v[6], v[3], v[4], v[5]))
    return table


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield number and stripped text of the lines that are not blank."""
    number = 0
    try:
        with path.open(encoding='utf-8-sig') as file:
            for line in file:
                number += 1
                text = line.strip()
                if text:
                    yield number, text
    except UnicodeDecodeError:
        raise JaguarError(f'{path}: not text after line {number}; {ACCEPTED}') from None
    except OSError as error:
        raise JaguarError(f'{path}: cannot be read: {error.strerror}') from None


def _check_width(path: Path, number: int, width: int, right: int, who: str) -> None:
    if width != right:
        cut = '; the line is cut off' if width < right else ''
        raise JaguarError(f'{path}: line {number}: {width} columns where {who} {right}{cut}')


def _number(path: Path, number: int, row: Sequence[str], i: int, names: Sequence[str]) -> float:
    """Return column ``i`` of a row as a finite float."""
    try:
        value = _plain(row[i], float)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise JaguarError(
            f'{path}: line {number}, column {i + 1} ({names[i]}): {row[i]!r} is not a finite '
            'number'
        )
    return value


def _whole_ns(path: Path, number: int, text: str) -> int:
    """Return a time written as whole nanoseconds."""
    try:
        time_ns = _plain(text, int)
    except ValueError:
        raise JaguarError(
            f'{path}: line {number}, column 1 (timestamp): {text!r} is not a whole number of '
            'nanoseconds'
        ) from None
    return _in_range(path, number, text, time_ns)


def _seconds(path: Path, number: int, text: str) -> int:
    """Return a time written as decimal seconds in nanoseconds, without a detour over float."""
    try:
        seconds = _plain(text, Decimal)
        if not seconds.is_finite():
            raise InvalidOperation
    except (InvalidOperation, ValueError):
        raise JaguarError(
            f'{path}: line {number}, column 1 (t): {text!r} is not a time in seconds'
        ) from None
    too_large = seconds.adjusted() > 10
    time_ns = LAST_NS + 1 if too_large else round(seconds * NS_PER_S)
    return _in_range(path, number, text, time_ns)


def _in_range(path: Path, number: int, text: str, time_ns: int) -> int:
    if not 0 <= time_ns <= LAST_NS:
        raise JaguarError(
            f'{path}: line {number}, column 1: time {text} is outside of 0 to 2147483647 s'
        )
    return time_ns


def _plain(text: str, convert: Callable[[str], NumberT]) -> NumberT:
    """Convert a number; underscores, which Python would take, are not part of one."""
    if '_' in text:
        raise ValueError
    return convert(text)
