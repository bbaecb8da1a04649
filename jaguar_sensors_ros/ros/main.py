"""The executables; what they need is imported only when its absence can be explained."""

from __future__ import annotations

from jaguar_sensors_ros.ros import compat


def imu_node() -> int:
    """Run imu_node."""
    compat.require_interfaces()
    from jaguar_sensors_ros.ros.imu_node import ImuNode

    return compat.run(ImuNode)


def gps_node() -> int:
    """Run gps_node."""
    compat.require_interfaces()
    from jaguar_sensors_ros.ros.gps_node import GpsNode

    return compat.run(GpsNode)


def truth_node() -> int:
    """Run truth_node."""
    compat.require_interfaces()
    from jaguar_sensors_ros.ros.truth_node import TruthNode

    return compat.run(TruthNode)
