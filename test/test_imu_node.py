"""imu_node over real DDS."""

from __future__ import annotations

import pytest

pytest.importorskip('rclpy')

from ros_helpers import rest
from sensor_msgs.msg import Imu

from jaguar_sensors_ros.ros.imu_node import ImuNode

pytestmark = pytest.mark.ros


def test_rest(graph):
    graph.start(ImuNode, fidelity='transparent')
    data = graph.collect(Imu, '/imu/data')
    graph.feed(rest(0.0, 60.0, 50))
    data.until_stamp(60.0)
    assert data.stamps == [k * 5_000_000 for k in range(1, 12001)]
