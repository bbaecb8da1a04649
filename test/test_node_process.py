"""The executables as processes: start-up errors, signals, exit status."""

from __future__ import annotations

import signal
import time

import pytest

pytest.importorskip('rclpy')

from jaguar_sensors_msgs.msg import SensorState
from nav_msgs.msg import Odometry
from ros_helpers import LATCHED, circle, on_circle, stamps
from sensor_msgs.msg import Imu, NavSatFix

pytestmark = pytest.mark.ros

NAMES = ('imu_node', 'gps_node')


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize(
    ('arguments', 'told'),
    [
        (['-p', 'latency_s:=-1'], 'latency_s = -1: must be a finite number >= 0 s'),
        (['-p', 'fidelty:=fault'], 'did you mean fidelity?'),
        (['-p', 'origin:=[0, 0, 0.5]'], 'decimal point'),
        (['--params-file', '/no/such/file.yaml'], '/no/such/file.yaml'),
        (['-p', 'use_sim_time:=7'], 'use_sim_time'),
        (['--nonsense'], 'nonsense'),
    ],
)
def test_bad_input_is_one_clear_line_and_status_2(graph, name, arguments, told):
    program = graph.program(name, *arguments)
    assert program.wait() == 2
    ours = [line for line in program.output.splitlines() if '[rcl]' not in line]
    assert len(ours) == 1 and told in ours[0], program.output


def test_a_bad_qos_override_is_one_clear_line_and_status_2(graph):
    override = 'qos_overrides./imu/data.publisher.reliability:=maybe'
    program = graph.program('imu_node', '-p', override)
    assert program.wait() == 2
    assert len(program.output.splitlines()) == 1 and 'maybe' in program.output


def running(graph, name):
    """Start a program and wait until it is in the graph and its services answer."""
    program = graph.program(name, '-p', 'random_seed:=1')
    kind = name.removesuffix('_node')
    graph.collect(SensorState, f'/{kind}/state', LATCHED).until_count(1)
    return program


@pytest.mark.parametrize('name', NAMES)
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize('times', [1, 2])
def test_a_signal_ends_it_cleanly(graph, name, number, times):
    program = running(graph, name)
    # busy with data when the signal comes
    graph.feed(map(on_circle, stamps(0.0, 1.0, 1000)))
    start = time.monotonic()
    for _ in range(times):
        program.signal(number)
    assert program.wait() == 0, program.output
    assert time.monotonic() - start < 5.0  # a second, on a busy machine
    assert 'Traceback' not in program.output and 'rror' not in program.output, program.output


def test_a_second_signal_a_little_later(graph):
    for wait_s in (0.05, 0.15, 0.25):
        program = running(graph, 'imu_node')
        program.signal()
        time.sleep(wait_s)
        program.signal()
        assert program.wait() == 0, program.output
        assert 'Traceback' not in program.output, program.output


def test_without_the_interface_package(graph, tmp_path):
    shim = tmp_path / 'jaguar_sensors_msgs'
    shim.mkdir()
    (shim / '__init__.py').write_text("raise ImportError('not built')\n")
    import os

    path = f'{tmp_path}{os.pathsep}{os.environ.get("PYTHONPATH", "")}'
    for name in (*NAMES, 'truth_node'):
        program = graph.program(name, env={'PYTHONPATH': path})
        assert program.wait() == 2
        assert '--base-paths src src/jaguar_sensors_ros/jaguar_sensors_msgs' in program.output
        assert 'Traceback' not in program.output


def test_both_nodes_between_processes(graph):
    """Truth over the transport of two processes: exact counts with reliable QoS."""
    topic = '/ground_truth/odom'
    prefix = f'qos_overrides.{topic}.subscription'
    options = ['-p', f'{prefix}.reliability:=reliable', '-p', f'{prefix}.depth:=10000']
    deep = 'qos_overrides./imu/data.publisher.depth:=10000'
    imu = graph.program('imu_node', *options, '-p', deep)
    gps = graph.program('gps_node', *options, '-p', 'update_hz:=5')
    data = graph.collect(Imu, '/imu/data')
    fix = graph.collect(NavSatFix, '/gps/fix')
    graph.publisher(Odometry, topic, readers=2)
    graph.feed(circle(0.0, 10.0, 50), readers=2)
    data.until_stamp(10.0)
    fix.until_stamp(10.0)
    assert data.stamps == [k * 5_000_000 for k in range(1, 2001)]
    assert fix.stamps == [k * 200_000_000 for k in range(1, 51)]
    for program in (imu, gps):
        program.signal()
        assert program.wait() == 0
