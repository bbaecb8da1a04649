"""ROS messages into plain numbers."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from jaguar_sensors_ros.faults.base import FaultRequest
from jaguar_sensors_ros.truth.intake import RawOdometry
from jaguar_sensors_ros.types import NS_PER_S, Vec3


def stamp_ns(stamp: Any) -> int:
    """Return builtin_interfaces/Time in nanoseconds."""
    return int(stamp.sec) * NS_PER_S + int(stamp.nanosec)


def vector(message: Any) -> Vec3:
    """Return Vector3 or Point as a tuple."""
    return (message.x, message.y, message.z)


def read_odometry(message: Any) -> RawOdometry:
    """Return nav_msgs/Odometry as plain numbers; covariances are not read."""
    pose, twist = message.pose.pose, message.twist.twist
    q = pose.orientation
    return RawOdometry(
        stamp_ns(message.header.stamp),
        vector(pose.position),
        (q.w, q.x, q.y, q.z),
        vector(twist.linear),
        vector(twist.angular),
        message.child_frame_id,
    )


def read_fault(request: Any) -> FaultRequest:
    """Return the failure in a request of InjectFailure or InjectFailures."""
    return FaultRequest(*(getattr(request, field.name) for field in fields(FaultRequest)))
