"""The cheapest ways that rclpy has to receive and send, for the floor and for what measures it.

Nothing of the package under test is used here but the types of its messages.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import rclpy
from jaguar_sensors_msgs.msg import ImuError, ImuIncrements
from nav_msgs.msg import Odometry
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import serialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import Imu, Temperature

NS_PER_S = 1_000_000_000
#: depth of the queues of what is measured, as in the package
DEPTH = 50
#: of the queue of the sink, which is not to lose what came
SINK_DEPTH = 5000

TYPES: dict[str, Any] = {
    'data': Imu,
    'data_raw': Imu,
    'increments': ImuIncrements,
    'temperature': Temperature,
    'error': ImuError,
}
TOPICS = tuple(TYPES)

#: seconds and nanoseconds of the stamp, which come first in every message with a header
STAMP = struct.Struct('<iI')
STAMP_AT = 4
_MARK = 1234.5678


def reliable(depth: int = DEPTH) -> QoSProfile:
    """Return the profile of samples."""
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.RELIABLE)


def best_effort(depth: int = DEPTH) -> QoSProfile:
    """Return the profile of the truth."""
    return QoSProfile(depth=depth, reliability=ReliabilityPolicy.BEST_EFFORT)


def make_node(name: str) -> Node:
    """Initialise rclpy and return a node without services and without a log topic."""
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    return rclpy.create_node(name, start_parameter_services=False, enable_rosout=False)


class WaitSet:
    """A wait set of one's own over raw subscriptions."""

    def __init__(self, node: Node, subscriptions: list[Any]) -> None:
        self._handles = [subscription.handle for subscription in subscriptions]
        self._types = [subscription.msg_type for subscription in subscriptions]
        count = len(subscriptions)
        with node.context.handle:
            self._set = _rclpy.WaitSet(count, 0, 0, 0, 0, 0, node.context.handle)

    def take(self, timeout_ns: int, deliver: Callable[[int, bytes], None]) -> bool:
        """Wait, hand over all that is there as (which, bytes), tell whether there was any."""
        wait_set, handles = self._set, self._handles
        wait_set.clear_entities()
        for handle in handles:
            wait_set.add_subscription(handle)
        wait_set.wait(timeout_ns)
        ready = set(wait_set.get_ready_entities('subscription'))
        for which, handle in enumerate(handles):
            if handle.pointer not in ready:
                continue
            while (taken := handle.take_message(self._types[which], True)) is not None:
                deliver(which, taken[0])
        return bool(ready)


class Patch:
    """A serialised message in which the stamp and some numbers are filled in.

    Parameters
    ----------
    message : message
        Its fields that are to be filled in hold the mark that :func:`sample` sets.
    """

    def __init__(self, message: Any) -> None:
        data = bytes(serialize_message(message))
        self.size = len(data)
        self._bytes = bytearray(data)
        self._runs = []
        mark = struct.pack('<d', _MARK)
        place = data.find(mark)
        while place >= 0:
            count = 1
            while data[place + 8 * count : place + 8 * count + 8] == mark:
                count += 1
            self._runs.append((struct.Struct(f'<{count}d').pack_into, place, count))
            place = data.find(mark, place + 8 * count)

    def fill(self, sec: int, nanosec: int, numbers: tuple[float, ...]) -> bytes:
        """Return the message."""
        filled = self._bytes
        STAMP.pack_into(filled, STAMP_AT, sec, nanosec)
        first = 0
        for pack_into, place, count in self._runs:
            pack_into(filled, place, *numbers[first : first + count])
            first += count
        return bytes(filled)


def _mark(*parts: Any) -> None:
    for part in parts:
        for name in part.get_fields_and_field_types():
            setattr(part, name, _MARK)


def sample(topic: str) -> Any:
    """Return a message of the kind and size of a topic, marked where numbers are filled in."""
    message = TYPES[topic]()
    message.header.frame_id = 'imu_link'
    if topic in ('data', 'data_raw'):
        _mark(message.angular_velocity, message.linear_acceleration)
        if topic == 'data':
            _mark(message.orientation)
    elif topic == 'increments':
        _mark(message.delta_theta, message.delta_v)
        vector = type(message.delta_theta)
        message.delta_theta_samples, message.delta_v_samples = [vector()], [vector()]
        message.dt_samples = [0.0]
    elif topic == 'temperature':
        message.temperature = _MARK
    else:
        _mark(message.gyro_total, message.accel_total)
    return message


class Odometer:
    """Serialised odometry of a body on a level circle."""

    def __init__(self) -> None:
        message = Odometry()
        message.header.frame_id, message.child_frame_id = 'map', 'base_link'
        pose, twist = message.pose.pose, message.twist.twist
        _mark(pose.position, pose.orientation, twist.linear, twist.angular)
        self._patch = Patch(message)

    def at(self, t_ns: int, speed: float = 2.0, turn: float = 0.5) -> bytes:
        """Return the message for an instant."""
        angle = math.fmod(turn * t_ns / NS_PER_S, 4.0 * math.pi)
        radius, half = speed / turn, 0.5 * angle
        numbers = (
            radius * math.sin(angle), radius * (1.0 - math.cos(angle)), 0.0,
            0.0, 0.0, math.sin(half), math.cos(half),
            speed, 0.0, 0.0,
            0.0, 0.0, turn,
        )  # fmt: skip
        return self._patch.fill(*divmod(t_ns, NS_PER_S), numbers)
