"""The executables; what they need is imported only when its absence can be explained."""

from __future__ import annotations

from rclpy.node import Node

from jaguar_sensors_ros.ros import compat


def imu_node() -> int:
    """Run imu_node."""

    def make() -> Node:
        compat.require_interfaces()
        from jaguar_sensors_ros.ros.imu_node import ImuNode

        return ImuNode()

    return compat.run(make)


def gps_node() -> int:
    """Run gps_node."""

    def make() -> Node:
        compat.require_interfaces()
        from jaguar_sensors_ros.ros.gps_node import GpsNode

        return GpsNode()

    return compat.run(make)


def truth_node() -> int:
    """Run truth_node."""

    def make() -> Node:
        compat.require_interfaces()
        from jaguar_sensors_ros.ros.truth_node import TruthNode

        return TruthNode()

    return compat.run(make)


def sensor_suite() -> int:
    """Run sensor_suite."""

    def make() -> Node:
        compat.require_interfaces()
        from jaguar_sensors_ros.ros.suite_node import SuiteNode

        return SuiteNode()

    return compat.run(make)
