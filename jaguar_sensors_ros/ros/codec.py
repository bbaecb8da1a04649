"""Odometry straight from its bytes on the wire, by walking its two strings.

It is compared with ``deserialize_message`` before it is used; where anything differs, ordinary
messages are used.  See also :mod:`jaguar_sensors_ros.messages.encoder`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message

from jaguar_sensors_ros.messages.cdr import CodecError, decode_odometry, is_plain
from jaguar_sensors_ros.messages.encoder import is_on
from jaguar_sensors_ros.ros.reader import read_odometry
from jaguar_sensors_ros.truth.intake import RawOdometry


def read_bytes(data: bytes) -> RawOdometry:
    """Return a serialised Odometry, by way of an ordinary message where it must be.

    Raises
    ------
    CodecError
        if the bytes are no Odometry.
    """
    try:
        return decode_odometry(data)
    except CodecError:
        if is_plain(data):
            raise
    try:
        return read_odometry(deserialize_message(data, Odometry))
    except Exception as error:
        raise CodecError(str(error)) from None


def odometry_reader() -> tuple[bool, Callable[[Any], RawOdometry]]:
    """Return whether odometry should be taken as bytes, and what reads it."""
    if is_on() and _decodes_as_ros_does():
        return True, read_bytes
    return False, read_odometry


@cache
def _decodes_as_ros_does() -> bool:
    """Tell whether what is read from bytes is what the message says, for strings of any length."""
    try:
        for length in range(9):
            message = _sentinel_odometry('p' * (8 - length), 'c' * length)
            data = serialize_message(message)
            if decode_odometry(data) != read_odometry(deserialize_message(data, Odometry)):
                return False
    except (CodecError, RuntimeError):
        return False
    return True


def _sentinel_odometry(frame_id: str, child_frame_id: str) -> Odometry:
    message = Odometry()
    message.header.frame_id, message.child_frame_id = frame_id, child_frame_id
    message.header.stamp.sec, message.header.stamp.nanosec = 123456789, 987654321
    pose, twist = message.pose.pose, message.twist.twist
    numbers = iter(range(1, 14))
    for part, names in (
        (pose.position, 'xyz'),
        (pose.orientation, 'xyzw'),
        (twist.linear, 'xyz'),
        (twist.angular, 'xyz'),
    ):
        for name in names:
            setattr(part, name, float(next(numbers)))
    return message
