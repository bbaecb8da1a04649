"""jaguar_sensors record: live topics become a scenario that replays to the same numbers."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip('rclpy')

import cli_helpers
from geometry_msgs.msg import TwistWithCovarianceStamped
from ros_helpers import SECOND, circle, stamp_ns
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import FluidPressure, Imu, MagneticField, NavSatFix, Temperature

from jaguar_sensors_ros.ros.gps_node import GpsNode
from jaguar_sensors_ros.ros.imu_node import ImuNode

pytestmark = pytest.mark.ros

TOPICS = {
    '/imu/data': Imu,
    '/imu/temperature': Temperature,
    '/gps/fix': NavSatFix,
    '/gps/vel': TwistWithCovarianceStamped,
}
FIELD, PRESSURE = '/imu/mag', '/baro/pressure'
BASE_NS = 1000 * SECOND


class Recording:
    """The tool in a process of its own, once it listens to all topics."""

    def __init__(self, graph, path, topics, *words):
        self._before = {topic: graph.node.count_subscribers(topic) for topic in topics}
        self.process = subprocess.Popen(
            [sys.executable, '-c', cli_helpers.CODE, 'record', '-o', str(path), *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ,
        )
        graph.until(
            lambda: all(
                graph.node.count_subscribers(topic) > count
                for topic, count in self._before.items()
            ),
            'the recorder',
        )
        end = time.monotonic() + 1.0  # the publishers see it as late as we do, and a little more
        graph.until(lambda: time.monotonic() > end, 'a second')

    def end(self, number=signal.SIGINT):
        """Send a signal; return exit status, stdout and stderr."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=30.0)
        return self.process.returncode, out, err


@pytest.fixture
def recorder(graph):
    """Return what starts recordings, which end with the test."""
    made = []

    def start(*arguments):
        made.append(Recording(graph, *arguments))
        return made[-1]

    yield start
    for one in made:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


def numbers(message):
    """Return all numbers of a message as text, which tells -0.0 from 0.0, but for the stamp."""
    slots = {name: getattr(message, name) for name in message.get_fields_and_field_types()}
    slots.pop('header')
    return repr(slots)


def test_a_recording_replays_to_the_same_numbers(graph, recorder, tmp_path):
    graph.start(ImuNode, random_seed=7, grade='tactical', sample_rate_hz=300)
    graph.start(GpsNode, random_seed=8, update_hz=10)
    field = graph.node.create_publisher(MagneticField, FIELD, 10)
    pressure = graph.node.create_publisher(FluidPressure, PRESSURE, 10)
    live = {topic: graph.collect(kind, topic) for topic, kind in TOPICS.items()}
    path = tmp_path / 'out.csv'
    recording = recorder(path, [*TOPICS, FIELD, PRESSURE])
    graph.feed(circle(0.0, 2.0, 50), readers=2)
    for k in range(1, 20):
        b, p = MagneticField(), FluidPressure(fluid_pressure=1e5 / k, variance=0.1)
        b.magnetic_field.x = 1e-5 / k
        for message in (b, p):
            message.header.stamp.sec, message.header.stamp.nanosec = divmod(k * 10**8 + k, SECOND)
        field.publish(b)
        pressure.publish(p)
    live['/gps/fix'].until_count(20)
    live['/imu/data'].until_count(600)
    live['/imu/temperature'].until_count(600)
    end = time.monotonic() + 0.5
    graph.until(lambda: time.monotonic() > end, 'the recorder')
    status, out, err = recording.end()
    assert (status, [p.name for p in tmp_path.iterdir()]) == (0, ['out.csv']), err
    rows = 2 * 600 + 2 * 20 + 2 * 19
    assert out == f'{path}: {rows} rows\n'
    originals = {topic: [(stamp_ns(m), numbers(m)) for m in live[topic]] for topic in live}
    first_ns = min(stamps[0][0] for stamps in originals.values())
    while graph._started:
        graph._started.pop().end()

    program = graph.program(
        'scenario_node', '-p', f'scenario_file:={path}', '-p', 'loop:=stop',
        '-p', 'use_sim_time:=true',
    )  # fmt: skip
    kinds = {**TOPICS, FIELD: MagneticField, PRESSURE: FluidPressure}
    again = {topic: graph.collect(kind, topic) for topic, kind in kinds.items() if topic in TOPICS}
    fields = graph.collect(MagneticField, FIELD, writers=2)
    pressures = graph.collect(FluidPressure, PRESSURE, writers=2)
    clock = graph.publisher(Clock, '/clock', readers=5)

    def played(t_ns, done):
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(t_ns, SECOND)
        clock.publish(message)
        return done()

    graph.until(lambda: played(BASE_NS, lambda: len(again['/imu/data']) >= 1), 'the first row')
    graph.until(
        lambda: played(
            BASE_NS + 3 * SECOND,
            lambda: all(len(again[t]) == len(originals[t]) for t in again)
            and len(fields) == len(pressures) == 19,
        ),
        lambda: f'all rows, not {again}, {fields}',
    )
    assert program.process.poll() is None
    for topic, messages in again.items():
        replayed = [(stamp_ns(m) - BASE_NS + first_ns, numbers(m)) for m in messages]
        assert replayed == originals[topic], topic
    assert [m.magnetic_field.x for m in fields] == [1e-5 / k for k in range(1, 20)]
    assert [m.fluid_pressure for m in pressures] == [1e5 / k for k in range(1, 20)]


def test_a_killed_recorder_leaves_nothing_under_the_name(graph, recorder, tmp_path):
    field = graph.node.create_publisher(MagneticField, FIELD, 10)
    path = tmp_path / 'out.csv'
    recording = recorder(path, [FIELD], FIELD)
    message = MagneticField()
    message.header.stamp.sec = 5
    field.publish(message)
    graph.until(lambda: list(tmp_path.iterdir()) != [], 'the hidden file')
    recording.end(signal.SIGKILL)
    assert not path.exists()
    assert all(p.name.startswith('.') for p in tmp_path.iterdir())


def test_nothing_came_leaves_no_file(graph, recorder, tmp_path):
    graph.node.create_publisher(MagneticField, FIELD, 10)
    status, _, err = recorder(tmp_path / 'out.csv', [FIELD], 'mag').end()
    assert status == 1
    assert f'nothing came on {FIELD}' in err
    assert list(tmp_path.iterdir()) == []


def test_a_duration_ends_the_recording(graph, tmp_path):
    graph.start(ImuNode, truth__source='static', random_seed=1)
    path = tmp_path / 'out.csv'
    status, out, err = cli_helpers.run('record', '--duration', '0.5', '-o', str(path), 'imu')
    assert status == 0, err
    assert out.startswith(f'{path}: ')
    assert path.read_text().startswith('sensor,timestamp,gyro_x,gyro_y,gyro_z,accel_x,')


def test_what_cannot_be_recorded_is_refused(graph, tmp_path):
    path = tmp_path / 'out.csv'
    words = ('record', '--timeout', '2', '-o', str(path))
    status, _, err = cli_helpers.run(*words, 'imu')
    assert status == 1 and 'no topic to record for imu; there are: none' in err
    graph.node.create_publisher(Clock, '/clock', 10)
    status, _, err = cli_helpers.run(*words, '/clock')
    assert status == 2 and '/clock: type rosgraph_msgs/msg/Clock is not recorded' in err
    graph.node.create_publisher(Imu, '/a', 10)
    graph.node.create_publisher(Imu, '/b', 10)
    status, _, err = cli_helpers.run(*words, '/a', '/b')
    assert status == 2 and 'are both data of imu_sim' in err
    path.write_text('precious')
    status, _, err = cli_helpers.run(*words, '/a')
    assert status == 2 and 'exists already' in err
    status, _, err = cli_helpers.run('record', 'imu')
    assert status == 2 and '--output' in err
