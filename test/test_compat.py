"""What differs between ROS 2 releases: older ones, simulated."""

from __future__ import annotations

import sys

import pytest

rclpy = pytest.importorskip('rclpy')

from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.node import Node  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from ros_helpers import circle, rest  # noqa: E402
from sensor_msgs.msg import Imu  # noqa: E402

from jaguar_sensors_ros.ros import compat  # noqa: E402
from jaguar_sensors_ros.ros.imu_node import ImuNode  # noqa: E402
from jaguar_sensors_ros.sensors.imu_settings import GRADES  # noqa: E402

pytestmark = pytest.mark.ros


@pytest.fixture(params=['as it is', 'as in Humble'])
def release(request, monkeypatch):
    """Run a test as it is and without what Humble does not have."""
    if request.param == 'as in Humble':
        monkeypatch.delattr(Node, 'add_post_set_parameters_callback', raising=False)
        monkeypatch.setitem(sys.modules, 'rclpy.experimental', None)
    return request.param


def test_the_executor(ros, release):
    executor = compat.make_executor()
    if release == 'as in Humble':
        assert isinstance(executor, SingleThreadedExecutor)
    executor.shutdown()


def test_parameters_act_in_any_release(graph, release):
    graph.start(ImuNode, fidelity='transparent')
    data = graph.collect(Imu, '/imu/data')
    graph.feed(circle(0.0, 0.1, 50))
    data.until_stamp(0.1)
    assert graph.set('/imu', mount__rpy=[3.141592653589793, 0.0, 0.0])[0].successful
    graph.feed(circle(0.12, 0.2, 50))
    data.until_stamp(0.2)
    assert [round(m.angular_velocity.z, 6) for m in data] == [1.0] * 20 + [-1.0] * 20
    assert not graph.set('/imu', sample_rate_hz=0)[0].successful
    assert not graph.set('/imu', gyro_lsb=1e-6, gyro__resolution=1e-6)[1].successful


def test_a_grade_rewrites_what_nobody_set_in_any_release(graph, release):
    graph.start(ImuNode)
    for grade in ('consumer', 'navigation'):
        assert graph.set('/imu', grade=grade)[0].successful
        shown = graph.get('/imu', 'gyro.white_noise_density')
        assert shown == GRADES[grade]['gyro.white_noise_density']


def test_a_driven_clock_in_any_release(graph, release):
    from rosgraph_msgs.msg import Clock

    graph.start(ImuNode, latency_s=0.3, use_sim_time=True)
    data = graph.collect(Imu, '/imu/data')
    clock = graph.publisher(Clock, '/clock')
    graph.feed(rest(1.0, 1.1, 50))
    for tenth in range(10, 20):
        message = Clock()
        message.clock.sec, message.clock.nanosec = divmod(tenth * 100_000_000, 1_000_000_000)
        clock.publish(message)
        graph.get('/imu', 'latency_s')
    data.until_count(20)


def test_applied_is_called_after_success_only(ros, release):
    node = Node('tested')
    try:
        node.declare_parameter('a', 1)
        node.declare_parameter('b', 1)
        applied = []

        def applying(parameters):
            # the values are in effect already
            applied.append({p.name: node.get_parameter(p.name).value for p in parameters})

        compat.on_parameters_applied(node, applying)

        def refuse(parameters):
            from rcl_interfaces.msg import SetParametersResult

            fine = all(p.value < 10 for p in parameters)
            return SetParametersResult(successful=fine, reason='' if fine else 'too large')

        node.add_on_set_parameters_callback(refuse)
        results = node.set_parameters(
            [Parameter('a', value=2), Parameter('a', value=10), Parameter('b', value=3)]
        )
        assert [r.successful for r in results] == [True, False, True]
        assert applied == [{'a': 2}, {'b': 3}]
        together = [Parameter('a', value=4), Parameter('b', value=5)]
        assert node.set_parameters_atomically(together).successful
        assert applied[2:] == [{'a': 4, 'b': 5}]
        assert not node.set_parameters_atomically([Parameter('a', value=11)]).successful
        assert len(applied) == 3
    finally:
        node.destroy_node()


def test_overrides_are_those_given_declared_or_not(ros):
    given = [Parameter('declared', value=1), Parameter('other.list', value=[1.0, 2.0])]
    node = Node('tested', parameter_overrides=given)
    try:
        found = compat.overrides(node)
        assert found['declared'] == 1 and list(found['other.list']) == [1.0, 2.0]
    finally:
        node.destroy_node()
