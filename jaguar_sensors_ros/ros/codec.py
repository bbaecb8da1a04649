"""Messages straight to and from their bytes on the wire.

Making a message object and letting rclpy serialise it costs tens of microseconds, filling in a
few numbers of a byte string that is ready costs one or two.  So an encoder keeps a template for
each topic, the serialised message itself, and fills in what changes; odometry is read by walking
its two strings.

Nothing here is taken on trust.  Reading is compared with ``deserialize_message`` before it is
used, and the first messages of each template are compared with those of the ordinary writer byte
by byte (padding excepted, which the middleware leaves as it finds it); where anything differs,
ordinary messages are used.  ``JAGUAR_SENSORS_CODEC=off`` in the environment uses them from the
start.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Hashable, Iterable
from functools import cache
from typing import Any

from nav_msgs.msg import Odometry
from rclpy.logging import get_logger
from rclpy.serialization import deserialize_message, serialize_message

from jaguar_sensors_ros.ros.cdr import CodecError, Template, decode_odometry, is_plain
from jaguar_sensors_ros.ros.reader import read_odometry
from jaguar_sensors_ros.truth.intake import RawOdometry

SWITCH = 'JAGUAR_SENSORS_CODEC'
#: templates kept for one topic
_MOST_TEMPLATES = 16


def is_on() -> bool:
    """Tell whether the environment lets bytes be used."""
    return os.environ.get(SWITCH, 'on').lower() not in ('off', '0', 'false')


class Encoder:
    """Does the work of a writer of messages, with bytes where that is possible.

    It is called with what the writer is called with and returns what a publisher takes: the
    serialised message, or the ordinary one.

    Parameters
    ----------
    write : callable
        The ordinary writer.
    shape : callable
        Returns all that the message contains besides the numbers of ``values``.
    paths : callable
        Returns the paths of those numbers (see :class:`Template`).
    values : callable
        Returns the numbers.
    """

    def __init__(
        self,
        write: Callable[..., Any],
        shape: Callable[..., Hashable],
        paths: Callable[..., Iterable[str]],
        values: Callable[..., tuple[float, ...]],
    ) -> None:
        self._write, self._shape, self._paths, self._values = write, shape, paths, values
        self._templates: dict[Hashable, Template | None] = {}
        self._latest: Hashable = None
        #: that of the latest shape, once it has been compared with ordinary messages
        self._trusted: Template | None = None
        self._on = is_on()

    def __call__(self, *arguments: Any) -> Any:
        """Return the message for the arguments of the writer."""
        trusted = self._trusted
        if trusted is None or self._shape(*arguments) != self._latest:
            return self._carefully(arguments)
        try:
            values = self._values(*arguments)
            return trusted.pack(*trusted.pick(values + trusted.constants))
        except (struct.error, TypeError, OverflowError):
            return self._write(*arguments)  # says what is wrong with a number

    def _carefully(self, arguments: tuple[Any, ...]) -> Any:
        """Return the message where the shape is another one, or not yet trusted."""
        if not self._on:
            return self._write(*arguments)
        self._latest = self._shape(*arguments)
        template = self._template(arguments)
        self._trusted = None if template is None or template.unchecked else template
        if self._trusted is not None:
            return self(*arguments)
        return self._write(*arguments) if template is None else self._checked(template, arguments)

    def _template(self, arguments: tuple[Any, ...]) -> Template | None:
        """Return the template of the latest shape; make it if there is none."""
        shape = self._latest
        if shape not in self._templates:
            if len(self._templates) >= _MOST_TEMPLATES:
                self._templates.clear()
            message = self._write(*arguments)
            try:
                self._templates[shape] = Template(message, self._paths(*arguments))
            except Exception as error:  # whatever another middleware does differently
                self._give_up(str(error))
        return self._templates[shape]

    def _checked(self, template: Template, arguments: tuple[Any, ...]) -> Any:
        """Return the ordinary message; see whether the bytes are the same."""
        message = self._write(*arguments)
        template.unchecked -= 1
        try:
            same = template.agrees(self._values(*arguments), message)
        except (struct.error, IndexError):
            same = False
        if not same:
            self._give_up('the bytes differ from those of the message')
        return message

    def _give_up(self, reason: str) -> None:
        self._templates[self._latest] = None
        name = getattr(self._write, '__name__', 'message')
        get_logger('jaguar_sensors.codec').warning(
            f'{name} is published as ordinary messages, which takes longer: {reason}'
        )


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
