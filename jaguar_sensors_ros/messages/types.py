"""What the making of messages needs of a message system; ROS offers it, and so does rosbags."""

from __future__ import annotations

from typing import Any, Protocol


class MessageTypes(Protocol):
    """Message classes, and their bytes.

    The classes are those of rclpy or look like them: made from fields by name, the others at
    zero or empty, with ``get_fields_and_field_types``.
    """

    def of(self, name: str) -> Any:
        """Return the class of a type such as sensor_msgs/msg/Imu."""
        ...

    def serialize(self, message: Any) -> bytes:
        """Return a message as CDR, with the header of the encapsulation."""
        ...

    def warn(self, text: str) -> None:
        """Tell the user."""
        ...
