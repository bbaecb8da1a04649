"""Messages made without ROS: the bytes are those of the live nodes, one by one and in columns."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rosbags')

from message_helpers import baro_sample, covariances, gps_sample, imu_sample, mag_sample

from jaguar_sensors_ros.messages.encoders import Encoders
from jaguar_sensors_ros.messages.offline import OfflineTypes, type_store
from jaguar_sensors_ros.messages.topics import TOPICS, Circumstances
from jaguar_sensors_ros.messages.writer import Writer
from jaguar_sensors_ros.nav import columns, rotation
from jaguar_sensors_ros.sensors.columns import GpsColumns, ImuColumns
from jaguar_sensors_ros.simulation import RUNS
from jaguar_sensors_ros.types import FaultLabel, FixType

OFFLINE = Writer(OfflineTypes())
KEPT = covariances(random.Random(0))
TOPIC_NAMES = [(kind, topic.name) for kind, topics in TOPICS.items() for topic in topics]
topics = pytest.mark.parametrize(('kind', 'name'), TOPIC_NAMES)
array_topics = pytest.mark.parametrize(
    ('kind', 'name'), [(kind, name) for kind, name in TOPIC_NAMES if kind in RUNS]
)


def topic_of(kind, name):
    return next(topic for topic in TOPICS[kind] if topic.name == name)


def circumstances(frame):
    return Circumstances(frame, 'map', 'earth', KEPT)


def with_labels(sample, number):
    """Return a sample with faults, as long a list at each."""
    faults = tuple(FaultLabel('é' * i, 'gyro', float(number + i)) for i in range(3))
    kind = type(sample)
    if hasattr(sample, '_replace'):
        return sample._replace(faults=faults)
    values = {name: getattr(sample, name) for name in kind.__dataclass_fields__}
    # products of what is infinite are not a number, of either sign
    values['C_le'] = rotation.matrix_from_quat((math.cos(number), 0.0, math.sin(number), 0.0))
    return kind(**{**values, 'faults': faults})


def samples(kind, parts=1, count=7, fix_type=FixType.SINGLE):
    chance = random.Random(f'{kind} {parts}')
    if kind == 'mag':
        made = [mag_sample(chance) for _ in range(count)]
    elif kind == 'baro':
        made = [baro_sample(chance) for _ in range(count)]
    elif kind == 'gps':
        made = [gps_sample(chance, fix_type) for _ in range(count)]
    else:
        made = [imu_sample(chance, parts) for _ in range(count)]
    return [with_labels(sample, i) for i, sample in enumerate(made)]


def columns_of(kind, made, parts=1):
    return GpsColumns.of(made) if kind == 'gps' else ImuColumns.of(made, parts, True)


@array_topics
@pytest.mark.parametrize('parts', [1, 2])
def test_columns_have_the_bytes_of_samples_one_by_one(kind, name, parts):
    topic, made = topic_of(kind, name), samples(kind, parts)
    block, encode = columns_of(kind, made, parts), topic.encoder(Encoders(OFFLINE))
    for frame in ('', 'f', 'a_longer_frame', 'ü'):
        c = circumstances(frame)
        rows = encode.rows(
            topic.arguments(made[0], c), topic.arguments(block.sample(slice(0, 7)), c), 7
        )
        one_by_one = [encode(*topic.arguments(sample, c)) for sample in made]
        assert [type(one) for one in one_by_one[3:]] == [bytes] * 4
        assert [row.tobytes() for row in rows[3:]] == one_by_one[3:]
        for row, message in zip(rows[:3], one_by_one[:3], strict=True):
            data = message if isinstance(message, bytes) else OFFLINE.types.serialize(message)
            assert row.tobytes() == data


@pytest.mark.parametrize('kind', ['imu', 'gps'])
def test_a_sample_comes_back_from_columns(kind):
    made = samples(kind)
    block = columns_of(kind, made)
    assert [repr(block.sample(i)) for i in range(7)] == [
        repr(sample if kind == 'gps' else sample._replace(tick=5)) for sample in made
    ]


@topics
def test_bytes_without_ros_are_those_of_the_live_node(kind, name):
    pytest.importorskip('rclpy')
    from jaguar_sensors_ros.ros.wire import encoders, writer

    topic, made = topic_of(kind, name), samples(kind)
    c = circumstances('a_frame')
    live, offline = topic.encoder(encoders), topic.encoder(Encoders(OFFLINE))
    assert writer.types is not OFFLINE.types
    got = [(live(*topic.arguments(s, c)), offline(*topic.arguments(s, c))) for s in made]
    for ours, theirs in got[3:]:  # the live ones were compared with rclpy's before
        assert isinstance(ours, bytes)
        assert ours == theirs
    # rclpy itself reads what was made without it
    from rclpy.serialization import deserialize_message

    for sample, (ordinary, _) in zip(made[:3], got[:3], strict=True):
        read = deserialize_message(offline.data(*topic.arguments(sample, c)), type(ordinary))
        assert repr(read) == repr(ordinary)


def test_the_fields_of_all_our_interfaces_are_those_that_ros_has():
    pytest.importorskip('rclpy')
    from jaguar_sensors_ros.ros.wire import RosTypes

    names = [name for name in type_store().types if name.startswith('jaguar_sensors_msgs/')]
    folder = Path(__file__).resolve().parent.parent / 'jaguar_sensors_msgs' / 'msg'
    assert sorted(names) == [
        f'jaguar_sensors_msgs/msg/{path.stem}' for path in sorted(folder.glob('*.msg'))
    ]
    used = [topic.type_name for kind in TOPICS.values() for topic in kind]
    for name in {*names, *used, 'nav_msgs/msg/Odometry', 'tf2_msgs/msg/TFMessage'}:
        offline, live = OfflineTypes().of(name), RosTypes().of(name)
        assert offline.get_fields_and_field_types() == live.get_fields_and_field_types()


def test_an_unknown_field_is_refused():
    with pytest.raises(AttributeError, match='sensor_msgs/msg/Imu has no yaw'):
        OFFLINE.types.of('sensor_msgs/msg/Imu')(yaw=1.0)


def test_rotation_matrices_of_columns_are_those_of_floats():
    chance = np.random.default_rng(1)
    q = chance.normal(size=(4, 500))
    q /= np.sqrt((q**2).sum(axis=0))
    many = np.array(columns.matrix_from_quat(tuple(q)))
    for i in range(500):
        assert tuple(map(tuple, many[:, :, i])) == rotation.matrix_from_quat(tuple(q[:, i]))
