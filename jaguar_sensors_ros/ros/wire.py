"""Samples into ROS messages and their bytes; see :mod:`jaguar_sensors_ros.messages`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from rclpy.logging import get_logger
from rclpy.serialization import serialize_message

from jaguar_sensors_ros.messages.encoders import Encoders
from jaguar_sensors_ros.messages.writer import Writer


class RosTypes:
    """The message classes as they are installed; see :class:`messages.types.MessageTypes`."""

    def of(self, name: str) -> Any:
        """Return the class of a type such as sensor_msgs/msg/Imu."""
        package, _, message = name.split('/')
        return getattr(import_module(f'{package}.msg'), message)

    def serialize(self, message: Any) -> bytes:
        """Return a message as CDR."""
        data: bytes = serialize_message(message)
        return data

    def warn(self, text: str) -> None:
        """Log a warning."""
        get_logger('jaguar_sensors.codec').warning(text)


writer = Writer(RosTypes())
encoders = Encoders(writer)
