"""Messages from and to bytes: the same as by ordinary messages, whatever the values."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest

pytest.importorskip('rclpy')

from jaguar_sensors_msgs.msg import ImuError, ImuIncrements
from message_helpers import covariances, gps_sample, imu_sample, numbers
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from ros_helpers import RELIABLE, Graph, circle
from sensor_msgs.msg import Imu, NavSatFix, Temperature

from jaguar_sensors_ros.messages import cdr
from jaguar_sensors_ros.messages.encoder import SWITCH, Encoder
from jaguar_sensors_ros.ros import codec
from jaguar_sensors_ros.ros.gps_node import GpsNode
from jaguar_sensors_ros.ros.imu_node import ImuNode
from jaguar_sensors_ros.ros.reader import read_odometry
from jaguar_sensors_ros.ros.wire import encoders, writer
from jaguar_sensors_ros.types import FixType


@pytest.fixture(autouse=True)
def switched_on(monkeypatch):
    """Let the tests say themselves where the codec is off."""
    monkeypatch.setenv(SWITCH, 'on')


def imu_arguments(chance, oriented):
    kept = covariances(chance)
    return lambda frame: (imu_sample(chance), kept, frame, oriented)


CASES = {
    'imu': (encoders.imu, writer.imu, lambda c: imu_arguments(c, True)),
    'imu without': (encoders.imu, writer.imu, lambda c: imu_arguments(c, False)),
    'imu none': (encoders.imu, writer.imu, lambda c: (
        lambda frame: (imu_sample(c, oriented=False), NO_ORIENTATION, frame, True))),
    'temperature': (encoders.temperature, writer.temperature,
                    lambda c: lambda frame: (imu_sample(c), frame)),
    **{
        f'increments {n}': (encoders.increments, writer.increments,
                            lambda c, n=n: lambda frame: (imu_sample(c, n), frame))
        for n in (1, 2)
    },
    **{
        f'imu error {n}': (encoders.imu_error, writer.imu_error,
                           lambda c, n=n: lambda frame: (imu_sample(c, faults=n), frame))
        for n in (0, 1, 4)
    },
    **{
        f'fix {kind.name}': (encoders.fix, writer.fix,
                             lambda c, kind=kind: lambda frame: (gps_sample(c, kind), frame))
        for kind in FixType
    },
    **{
        f'gnss error {n}': (encoders.gnss_error, writer.gnss_error,
                            lambda c, n=n: lambda frame: (gps_sample(c, faults=n), frame))
        for n in (0, 2)
    },
    **{
        name: (getattr(encoders, name), getattr(writer, name),
               lambda c: lambda frame: (gps_sample(c), frame))
        for name in ('velocity_enu', 'velocity_body', 'solution')
    },
}
NO_ORIENTATION = covariances(random.Random(0), oriented=False)


def content(message):
    """Return all that a message says, bit for bit; its bytes alone also have padding."""
    if isinstance(message, float | np.floating):
        return struct.pack('<d', message)
    if isinstance(message, str | bytes | int | np.integer):
        return message
    if hasattr(message, 'get_fields_and_field_types'):
        return [content(getattr(message, name)) for name in message.get_fields_and_field_types()]
    return [content(part) for part in message]


def said(message, kind):
    """Return the content of a message or of its bytes."""
    data = message if isinstance(message, bytes) else bytes(serialize_message(message))
    return content(deserialize_message(data, kind))


@pytest.mark.parametrize('name', CASES)
def test_bytes_say_what_the_message_says_for_any_values_and_frame(name):
    make, write, arguments_of = CASES[name]
    chance = random.Random(name)
    encode, arguments = make(), arguments_of(chance)
    for length in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 40, 300):
        frame, kinds = 'ü' * (length % 2) + 'f' * length, []
        for _ in range(8):
            given = arguments(frame)
            got = encode(*given)
            kinds.append(isinstance(got, bytes))
            ordinary = write(*given)
            assert said(got, type(ordinary)) == said(ordinary, type(ordinary))
        assert kinds == [False] * 3 + [True] * 5  # the first are compared with ordinary ones


def test_a_shape_that_comes_again_is_not_checked_again():
    chance = random.Random(1)
    encode = encoders.imu_error()
    for faults in (0, 1, 0, 1):
        for _ in range(5):
            encode(imu_sample(chance, faults=faults), 'f')
    assert isinstance(encode(imu_sample(chance), 'f'), bytes)
    assert isinstance(encode(imu_sample(chance, faults=1), 'f'), bytes)


def test_new_covariances_act_at_once():
    chance = random.Random(2)
    encode = encoders.imu()
    for _ in range(3):
        kept = covariances(chance)
        for _ in range(5):
            given = (imu_sample(chance), kept, 'f', True)
            assert said(encode(*given), Imu) == said(writer.imu(*given), Imu)


def test_many_shapes_do_not_pile_up():
    chance = random.Random(3)
    encode = encoders.temperature()
    for i in range(100):
        encode(imu_sample(chance), f'frame{i}')
    assert len(encode._templates) <= 16


@pytest.mark.parametrize('paths', [
    ['header.stamp.sec', 'header.stamp.nanosec'],  # forgets what changes
    ['header.stamp.sec', 'header.stamp.nanosec', 'variance'],  # the wrong number
    ['header.stamp.sec', 'header.stamp.nanosec', 'temperatures'],  # none
    ['header.stamp.sec', 'header.stamp.nanosec', 'temperature', 'variance'],  # one too many
])
def test_a_template_that_is_wrong_is_not_used(paths, capfd):
    def values(sample, frame_id):
        return (*divmod(sample.t_ns, 10**9), sample.temperature_c)[:len(paths)]

    chance = random.Random(4)
    encode = Encoder(
        writer.types, writer.temperature, lambda sample, frame_id: frame_id,
        lambda sample, frame_id: paths, values,
    )
    for _ in range(8):
        given = (imu_sample(chance), 'f')
        got = encode(*given)
        assert isinstance(got, Temperature)
        assert got == writer.temperature(*given)
    assert capfd.readouterr().err.count('as ordinary messages') == 1


def test_a_number_that_does_not_fit_is_left_to_the_ordinary_message():
    chance = random.Random(5)
    encode = encoders.temperature()
    for _ in range(5):
        encode(imu_sample(chance), 'f')
    late = imu_sample(chance)._replace(t_ns=2**31 * 10**9)
    with pytest.raises((AssertionError, OverflowError, SystemError)):
        serialize_message(encode(late, 'f'))


# ---------------------------------------------------------------------- odometry


def any_odometry(chance, frame='map', child='base_link'):
    message = Odometry()
    message.header.frame_id, message.child_frame_id = frame, child
    message.header.stamp.sec = chance.randrange(-(2**31), 2**31)
    message.header.stamp.nanosec = chance.randrange(10**9)
    pose, twist = message.pose.pose, message.twist.twist
    for part, names in ((pose.position, 'xyz'), (pose.orientation, 'xyzw'),
                        (twist.linear, 'xyz'), (twist.angular, 'xyz')):
        for name, value in zip(names, numbers(chance, len(names)), strict=True):
            setattr(part, name, value)
    message.pose.covariance = [chance.random() for _ in range(36)]
    message.twist.covariance = [chance.random() for _ in range(36)]
    return message


def big_endian(data):
    """Return the same message in the other byte order."""
    sec, nanosec, n = struct.unpack_from('<iII', data, 4)
    at = 16 + n
    pad = -at % 4
    (m,) = struct.unpack_from('<I', data, at + pad)
    end = at + pad + 4 + m
    start = end + (4 - end) % 8
    count = (len(data) - start) // 8
    return b''.join((
        b'\x00\x00\x00\x00', struct.pack('>iII', sec, nanosec, n), data[16:at], b'\0' * pad,
        struct.pack('>I', m), data[at + pad + 4:end], b'\0' * (start - end),
        struct.pack(f'>{count}d', *struct.unpack_from(f'<{count}d', data, start)),
    ))


@pytest.mark.parametrize('turn', [bytes, big_endian])
def test_odometry_from_bytes_is_that_of_the_message(turn):
    chance = random.Random(6)
    for frame in range(10):
        for child in range(10):
            message = any_odometry(chance, 'p' * frame, 'ä' * (child % 2) + 'c' * child)
            data = bytes(serialize_message(message))
            assert repr(cdr.decode_odometry(turn(data))) == repr(read_odometry(message))


def is_refused(data):
    try:
        codec.read_bytes(data)
    except cdr.CodecError:
        return True
    return False


def test_hostile_bytes_are_refused_and_nothing_else_happens():
    chance = random.Random(7)
    data = bytes(serialize_message(any_odometry(chance)))
    for length in range(len(data)):
        with pytest.raises(cdr.CodecError):
            cdr.decode_odometry(data[:length])
    refused = 0
    for _ in range(3000):
        broken = bytearray(data)
        for _ in range(chance.randrange(1, 6)):
            broken[chance.randrange(60)] = chance.randrange(256)
        refused += is_refused(bytes(broken))
    assert refused > 1000
    assert all(is_refused(chance.randbytes(chance.randrange(700))) for _ in range(1000))
    for length in (2**32 - 1, 2**31, len(data), 0):
        broken = bytearray(data)
        struct.pack_into('<I', broken, 12, length)
        with pytest.raises(cdr.CodecError):
            codec.read_bytes(bytes(broken))


def test_the_check_at_start_up_finds_a_reader_that_differs(monkeypatch):
    codec._decodes_as_ros_does.cache_clear()
    assert codec.odometry_reader()[0]
    codec._decodes_as_ros_does.cache_clear()
    monkeypatch.setattr(cdr, '_TAIL', 10_000)
    assert codec.odometry_reader() == (False, read_odometry)
    codec._decodes_as_ros_does.cache_clear()


@pytest.mark.parametrize('text', ['off', 'OFF', '0', 'false'])
def test_the_environment_switches_to_ordinary_messages(monkeypatch, text):
    monkeypatch.setenv(SWITCH, text)
    assert codec.odometry_reader() == (False, read_odometry)
    chance = random.Random(8)
    encode = encoders.temperature()
    assert all(
        isinstance(encode(imu_sample(chance), 'f'), Temperature) for _ in range(10)
    )


# ---------------------------------------------------------------------- nodes


def published(graph, monkeypatch, state, node, topics, **values):
    """Start a node; return it and the types of what it publishes, by topic."""
    monkeypatch.setenv(SWITCH, state)
    running = graph.start(node, **values)
    kinds = {}
    for name in topics:
        publisher = getattr(running.node, f'_{name}')
        kinds[name] = set()
        publish = publisher.publish

        def note(message, publish=publish, seen=kinds[name]):
            seen.add(type(message))
            publish(message)

        monkeypatch.setattr(publisher, 'publish', note, raising=False)
    return running, kinds


NODES = {
    'imu': (ImuNode, {'data': Imu, 'raw': Imu, 'increments': ImuIncrements, 'error': ImuError},
            {'raw': 'data_raw'}, {'random_seed': 3}),
    'gps': (GpsNode, {'fix': NavSatFix}, {}, {'random_seed': 3, 'update_hz': 10.0}),
}


@pytest.mark.ros
@pytest.mark.parametrize('kind', NODES)
def test_both_paths_publish_the_same(ros, monkeypatch, kind):
    make, topics, names, values = NODES[kind]
    sayings = {}
    for state in ('on', 'off'):
        with Graph() as graph:
            _, kinds = published(graph, monkeypatch, state, make, topics, **values)
            collectors = {
                name: graph.collect(message, f'/{kind}/{names.get(name, name)}')
                for name, message in topics.items()
            }
            sent = {name: [] for name in topics}
            for name, message in topics.items():
                graph.node.create_subscription(
                    message, f'/{kind}/{names.get(name, name)}', sent[name].append, RELIABLE,
                    raw=True,
                )
            graph.until(
                lambda: all(
                    graph.node.count_subscribers(f'/{kind}/{names.get(name, name)}') == 2
                    for name in topics
                ),
                'the raw subscriptions',
            )
            graph.feed(circle(0.0, 2.0, 100))
            for name, collector in collectors.items():
                collector.until_stamp(2.0)
                graph.until(lambda s=sent[name], c=collector: len(s) == len(c), 'all bytes')
            sayings[state] = {
                name: [
                    (content(m), len(data)) for m, data in zip(collector, sent[name], strict=True)
                ]
                for name, collector in collectors.items()
            }
            for name, seen in kinds.items():
                assert (bytes in seen) == (state == 'on'), name
    assert sayings['on'] == sayings['off']
    assert all(len(stream) > 10 for stream in sayings['on'].values())


@pytest.mark.ros
@pytest.mark.parametrize('state', ['on', 'off'])
def test_nothing_is_made_for_a_topic_without_subscribers(graph, monkeypatch, state):
    running, kinds = published(
        graph, monkeypatch, state, ImuNode, ['data', 'raw', 'increments', 'temperature', 'error']
    )
    node, made = running.node, []
    for name in ('data', 'raw', 'increments', 'temperature', 'error'):
        outlet = getattr(node, f'_{name}')
        monkeypatch.setattr(
            outlet, 'encode', lambda *a, n=name, e=outlet.encode: made.append(n) or e(*a)
        )
    raw = graph.collect(Imu, '/imu/data_raw')
    graph.feed(circle(0.0, 1.0, 50))
    raw.until_stamp(1.0)
    assert made == ['raw'] * 200
    assert [name for name, seen in kinds.items() if seen] == ['raw']


@pytest.mark.ros
def test_a_node_counts_what_it_cannot_read(graph):
    channel = graph.start(ImuNode).node._odometry
    data = bytes(serialize_message(circle(0.0, 0.1, 10)[0]))
    channel._take(data[:100])
    channel._take(b'')
    assert channel.unreadable == 2
