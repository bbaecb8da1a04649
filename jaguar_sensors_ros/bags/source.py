"""The truth in a bag or a trajectory file, as the odometry that a node would get."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaguar_sensors_ros.messages.cdr import CodecError, decode_odometry
from jaguar_sensors_ros.truth.bag import ODOMETRY, is_bag, open_bag
from jaguar_sensors_ros.truth.curve import TrajectoryCurve
from jaguar_sensors_ros.truth.files import ACCEPTED, read_poses
from jaguar_sensors_ros.truth.intake import RawOdometry
from jaguar_sensors_ros.types import NS_PER_S, JaguarError, Quat, Vec3

#: messages with a pose, and where it is: path of the position and of the attitude
POSES = {
    'geometry_msgs/msg/PoseStamped': ('pose.position', 'pose.orientation'),
    'geometry_msgs/msg/PoseWithCovarianceStamped': ('pose.pose.position', 'pose.pose.orientation'),
    'geometry_msgs/msg/TransformStamped': ('transform.translation', 'transform.rotation'),
}
#: the topic of the nodes, taken where there are several
_USUAL = 'ground_truth/odom'
BODY_FRAME = 'base_link'

#: reports the share that is done
Report = Callable[[float], None]
Pose = tuple[int, int, Vec3, Quat]


@dataclass(frozen=True)
class Chosen:
    """Where the truth comes from: a topic of a bag, or (empty) a trajectory file."""

    path: Path
    topic: str = ''
    kind: str = ''


def choose(path: Path, topic: str) -> Chosen:
    """Find the truth.

    Parameters
    ----------
    path : Path
        A bag (a folder, or an mcap or sqlite3 file) or a trajectory file.
    topic : str
        The topic to read; empty takes the only one with odometry, or ground_truth/odom, or, where
        there is no odometry, the only one with poses.

    Raises
    ------
    JaguarError
        naming file and topic, and what there is.
    """
    if not path.exists():
        raise JaguarError(f'{path}: no such file; {ACCEPTED}')
    if not is_bag(path):
        if path.is_dir():
            raise JaguarError(f'{path}: a folder without metadata.yaml; {ACCEPTED}')
        if topic:
            raise JaguarError(f'--odom-topic {topic}: only a bag has topics, {path} is none')
        return Chosen(path)
    with open_bag(path) as reader:
        kinds = {c.topic: c.msgtype for c in reader.connections}
    return Chosen(path, *_choose(path, topic, kinds))


def _choose(path: Path, topic: str, kinds: dict[str, str]) -> tuple[str, str]:
    there = ', '.join(f'{name} ({kind})' for name, kind in sorted(kinds.items())) or 'none'
    readable = (ODOMETRY, *POSES)
    if topic:
        if topic not in kinds:
            raise JaguarError(f'{path}: has no topic {topic}; it has {there}')
        if kinds[topic] not in readable:
            allowed = ', '.join(readable)
            raise JaguarError(f'{path}: topic {topic} is a {kinds[topic]}; must be {allowed}')
        return topic, kinds[topic]
    for wanted in ((ODOMETRY,), tuple(POSES)):
        found = sorted(name for name, kind in kinds.items() if kind in wanted)
        usual = [name for name in found if name.strip('/') == _USUAL]
        if len(found) > 1 and len(usual) != 1:
            raise JaguarError(
                f'{path}: several topics would do, set --odom-topic to one of {", ".join(found)}'
            )
        if found:
            name = usual[0] if usual else found[0]
            return name, kinds[name]
    raise JaguarError(f'{path}: has no topic with odometry or poses; it has {there}')


def read(chosen: Chosen, report: Report = lambda share: None) -> Iterator[tuple[int, RawOdometry]]:
    """Yield when each message was recorded [ns], and the message.

    Velocities of poses are those of a smooth curve through them, see
    :class:`truth.curve.TrajectoryCurve`.  A file has the times of its rows.

    Raises
    ------
    JaguarError
        naming file and topic or line, for what cannot be read.
    """
    if not chosen.topic:
        curve = read_poses(chosen.path).curve()
        yield from _along(curve, curve.knots_ns, curve.knots_ns, BODY_FRAME)
    elif chosen.kind == ODOMETRY:
        yield from _messages(chosen, report, lambda store, data: decode_odometry(data))
    else:
        yield from _poses(chosen, report)


def _messages(
    chosen: Chosen, report: Report, decode: Callable[[Any, bytes], Any]
) -> Iterator[tuple[int, Any]]:
    where = f'{chosen.path}: topic {chosen.topic}'
    with open_bag(chosen.path) as reader:
        connections = [c for c in reader.connections if c.topic == chosen.topic]
        count = sum(c.msgcount for c in connections)
        number = 0
        for number, (_, received_ns, data) in enumerate(reader.messages(connections), 1):
            try:
                message = decode(reader, data)
            except CodecError as error:
                raise JaguarError(f'{where}: message {number} cannot be read: {error}') from None
            yield received_ns, message
            if number % 4096 == 0:
                report(number / max(count, number))
        if number == 0:
            raise JaguarError(f'{where} has no messages')
        if number < count:
            raise JaguarError(f'{where} has {number} messages where the bag says {count}')


def _poses(chosen: Chosen, report: Report) -> Iterator[tuple[int, RawOdometry]]:
    where = f'{chosen.path}: topic {chosen.topic}'
    paths = POSES[chosen.kind]
    frame = BODY_FRAME
    received, times, positions, quaternions = [], [], [], []

    def decode(reader: Any, data: bytes) -> Any:
        try:
            return reader.deserialize(data, chosen.kind)
        except Exception as error:  # whatever the parser runs into
            raise CodecError(str(error)) from None

    for received_ns, message in _messages(chosen, report, decode):
        stamp = message.header.stamp
        p, q = (at(message, path) for path in paths)
        frame = getattr(message, 'child_frame_id', frame) or frame
        received.append(received_ns)
        times.append(stamp.sec * NS_PER_S + stamp.nanosec)
        positions.append((p.x, p.y, p.z))
        quaternions.append((q.w, q.x, q.y, q.z))
    if len(times) < 2:
        raise JaguarError(f'{where}: has a single pose; a trajectory needs two')
    curve = TrajectoryCurve(times, positions, quaternions, lambda i: f'{where}: message {i + 1}')
    yield from _along(curve, times, received, frame)


def at(message: Any, path: str) -> Any:
    """Return a field of a message by its dotted path."""
    for name in path.split('.'):
        message = getattr(message, name)
    return message


def _along(
    curve: TrajectoryCurve, times_ns: Any, received_ns: Any, frame: str
) -> Iterator[tuple[int, RawOdometry]]:
    for recorded_ns, t_ns in zip(received_ns, times_ns, strict=True):
        s = curve.at(t_ns)
        yield recorded_ns, RawOdometry(t_ns, s.p_n, s.q_nb, s.v_nb_b, s.omega_nb_b, frame)
