"""Odometry messages recorded in a ROS 2 bag (mcap or sqlite3), read without ROS.

They are kept as they were recorded: pose, twist, covariances, frames and stamps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaguar_sensors_ros.nav.rotation import quat_normalise
from jaguar_sensors_ros.truth.curve import SHORTEST_QUATERNION, TrajectoryCurve
from jaguar_sensors_ros.types import NS_PER_S, JaguarError, Quat, TruthSample, Vec3

ODOMETRY = 'nav_msgs/msg/Odometry'
MAGIC = (b'\x89MCAP0\r\n', b'SQLite format 3\x00')

Covariance = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class OdometryRow:
    """One nav_msgs/Odometry as recorded.

    ``position`` [m] and ``orientation`` (w, x, y, z here) are in the frame ``frame_id``,
    ``linear`` [m/s] and ``angular`` [rad/s] in ``child_frame_id``; the covariances are
    row-major 6x6.
    """

    t_ns: int
    frame_id: str
    child_frame_id: str
    position: Vec3
    orientation: Quat
    linear: Vec3
    angular: Vec3
    pose_covariance: Covariance
    twist_covariance: Covariance

    def sample(self) -> TruthSample:
        """Return pose and twist as a truth sample; the acceleration is not known."""
        q = quat_normalise(self.orientation)
        return TruthSample(self.t_ns, self.position, q, self.linear, self.angular)


@dataclass(frozen=True)
class OdometryRecording:
    """All messages of one odometry topic of a bag, stamps strictly increasing."""

    path: Path
    topic: str
    rows: tuple[OdometryRow, ...]

    @property
    def start_ns(self) -> int:
        """Stamp of the first message [ns]."""
        return self.rows[0].t_ns

    @property
    def end_ns(self) -> int:
        """Stamp of the last message [ns]."""
        return self.rows[-1].t_ns

    def curve(self) -> TrajectoryCurve:
        """Return a smooth motion through the recorded poses; the twists are ignored.

        Raises
        ------
        JaguarError
            for a single message, or whatever :class:`TrajectoryCurve` refuses.
        """
        return TrajectoryCurve(
            [row.t_ns for row in self.rows],
            [row.position for row in self.rows],
            [row.orientation for row in self.rows],
            lambda i: f'{self.path}: message {i + 1} of {self.topic}',
        )


def is_bag(path: Path) -> bool:
    """Tell by content whether ``path`` is a ROS 2 bag: a folder with metadata, or a storage."""
    if path.is_dir():
        return (path / 'metadata.yaml').is_file()
    try:
        with path.open('rb') as file:
            start = file.read(16)
    except OSError as error:
        raise JaguarError(f'{path}: cannot be read: {error.strerror}') from None
    return start.startswith(MAGIC)


@contextmanager
def open_bag(path: Path, store: Any = None) -> Iterator[Any]:
    """Open a ROS 2 bag (mcap or sqlite3) for reading, without ROS.

    Parameters
    ----------
    path : Path
        The folder of a bag, or one file.
    store : Typestore or None
        The types for a bag without definitions, as Humble writes sqlite3; None: those of ROS.

    Raises
    ------
    JaguarError
        if the library rosbags is missing, or the bag is broken, now or while it is read.
    """
    try:
        from rosbags.highlevel import AnyReader, AnyReaderError
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise JaguarError(
            f'{path}: reading a bag needs the Python package rosbags: '
            'pip install jaguar_sensors_ros[bags]'
        ) from None
    store = get_typestore(Stores.ROS2_HUMBLE) if store is None else store
    for file in path.glob('*.db3') if path.is_dir() else [path]:
        _check_whole(file)
    try:
        with AnyReader([path], default_typestore=store) as reader:
            yield reader
    except JaguarError:
        raise
    except AnyReaderError as error:
        raise JaguarError(f'{path}: the bag cannot be read: {error}') from None
    except Exception as error:
        # a damaged file makes the library raise whatever its parser runs into
        raise JaguarError(
            f'{path}: the bag is damaged: {type(error).__name__}: {error}'
        ) from error


def _check_whole(path: Path) -> None:
    """Raise JaguarError for an sqlite3 file that is cut off, which sqlite may not notice.

    Source: "Database File Format", sqlite.org/fileformat.html, sections 1.3.2 and 1.3.7.
    """
    with path.open('rb') as file:
        header = file.read(100)
    if not header.startswith(MAGIC[1]) or len(header) < 100:
        return
    page, pages = int.from_bytes(header[16:18], 'big'), int.from_bytes(header[28:32], 'big')
    needed, size = (page if page > 1 else 65536) * pages, path.stat().st_size
    if size < needed:
        raise JaguarError(f'{path}: the bag is damaged: {size} bytes of {needed}')


def choose_topic(path: Path, topic: str, connections: list[Any], kind: str) -> str:
    """Return the topic to read: the one that is asked for, or the only one of the type ``kind``.

    Raises
    ------
    JaguarError
        listing what the bag has.
    """
    candidates = sorted({c.topic for c in connections if c.msgtype == kind})
    listed, plain = ', '.join(candidates), kind.replace('/msg/', '/')
    if not candidates:
        others = ', '.join(sorted({f'{c.topic} ({c.msgtype})' for c in connections})) or 'none'
        raise JaguarError(f'{path}: has no topic of type {plain}; it has {others}')
    if topic and topic not in candidates:
        raise JaguarError(f'{path}: topic {topic}: must be one of {listed}')
    if not topic and len(candidates) > 1:
        raise JaguarError(
            f'{path}: has several topics of type {plain}, set topic to one of {listed}'
        )
    return topic or candidates[0]


def read_odometry_bag(path: Path, topic: str = '') -> OdometryRecording:
    """Read the messages of one odometry topic of a bag.

    Parameters
    ----------
    path : Path
        The folder of a bag, or one mcap or sqlite3 file.
    topic : str
        The topic; empty takes the only one with nav_msgs/Odometry.

    Raises
    ------
    JaguarError
        if the library rosbags is missing, the bag is broken or has no such topic, more than
        one topic would do, or a message cannot be used: stamp zero or not later than the one
        before, a value that is not finite, or a zero quaternion.
    """
    with open_bag(path) as reader:
        topic = choose_topic(path, topic, reader.connections, ODOMETRY)
        chosen = [c for c in reader.connections if c.topic == topic]
        messages = (reader.deserialize(raw, c.msgtype) for c, _, raw in reader.messages(chosen))
        rows = tuple(_rows(f'{path}: topic {topic}', messages))
    if not rows:
        raise JaguarError(f'{path}: topic {topic} has no messages')
    return OdometryRecording(path, topic, rows)


def _rows(where: str, messages: Iterator[Any]) -> Iterator[OdometryRow]:
    """Convert and check messages; equal covariances are stored once."""
    shared: dict[Covariance, Covariance] = {}
    before = 0
    for number, message in enumerate(messages, 1):
        row = _row(message, shared)
        problem = _problem(row, before)
        if problem:
            raise JaguarError(f'{where}: message {number} {problem}')
        before = row.t_ns
        yield row


def _row(message: Any, shared: dict[Covariance, Covariance]) -> OdometryRow:
    stamp = message.header.stamp
    pose, twist = message.pose.pose, message.twist.twist
    covariances = [
        tuple(float(value) for value in block.covariance)
        for block in (message.pose, message.twist)
    ]
    if len(shared) > 64:
        shared.clear()
    return OdometryRow(
        stamp.sec * NS_PER_S + stamp.nanosec,
        message.header.frame_id,
        message.child_frame_id,
        _vector(pose.position),
        (pose.orientation.w, pose.orientation.x, pose.orientation.y, pose.orientation.z),
        _vector(twist.linear),
        _vector(twist.angular),
        shared.setdefault(covariances[0], covariances[0]),
        shared.setdefault(covariances[1], covariances[1]),
    )


def _vector(message: Any) -> Vec3:
    return message.x, message.y, message.z


def _problem(row: OdometryRow, before: int) -> str:
    """Say why a message cannot be used as truth; empty if it can."""
    if row.t_ns <= 0:
        return f'has the stamp {row.t_ns} ns; stamps must be above zero'
    if row.t_ns <= before:
        return f'has the stamp {row.t_ns} ns, not later than the {before} ns before it'
    values = (*row.position, *row.orientation, *row.linear, *row.angular)
    if not all(math.isfinite(value) for value in values):
        return 'has a value that is not finite'
    if math.hypot(*row.orientation) < SHORTEST_QUATERNION:
        return 'has a zero quaternion'
    return ''
