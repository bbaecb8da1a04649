"""The serialised form of messages, plain CDR: where its parts lie, numbers in and out."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaguar_sensors_ros.messages.types import MessageTypes
from jaguar_sensors_ros.truth.intake import RawOdometry
from jaguar_sensors_ros.types import NS_PER_S, new

#: bytes of the encapsulation header; alignment counts from behind it
_HEADER = 4
#: byte order by the second byte of the header, plain CDR
_ORDERS = {b'\x00\x00': '>', b'\x00\x01': '<'}
#: struct codes of the basic types of interfaces
_CODES = {
    'boolean': '?',
    'octet': 'B',
    'uint8': 'B',
    'int8': 'b',
    'uint16': 'H',
    'int16': 'h',
    'uint32': 'I',
    'int32': 'i',
    'uint64': 'Q',
    'int64': 'q',
    'float': 'f',
    'double': 'd',
}
#: messages of a template that are compared with ordinary ones
CHECKED = 3

_STAMP_AND_LENGTH = {order: struct.Struct(f'{order}iII') for order in '<>'}
_LENGTH = {order: struct.Struct(f'{order}I') for order in '<>'}
#: pose, its covariance left out, and twist
_NUMBERS = {order: struct.Struct(f'{order}7d288x6d') for order in '<>'}
#: bytes of the covariance of the twist, which comes last
_TAIL = 288


class CodecError(ValueError):
    """Bytes that are no message of the type, or a message without the shape that was expected."""


class Layout:
    """Where the parts of a message lie when it is serialised as plain CDR.

    ``numbers`` holds place and struct code of each number by its dotted path, list indices as
    numbers; ``used`` the ranges of bytes that mean something.  What lies between is padding.

    Parameters
    ----------
    message : message
        Its strings and sequences have the lengths that count.
    """

    def __init__(self, message: Any) -> None:
        self.numbers: dict[str, tuple[int, str]] = {}
        self.used = [slice(0, _HEADER)]
        self._place = 0
        self._walk(message, '')

    @property
    def size(self) -> int:
        """Bytes of the message, as they are sent."""
        return _HEADER + self._place

    def _walk(self, message: Any, path: str) -> None:
        for name, kind in message.get_fields_and_field_types().items():
            self._value(getattr(message, name), kind, path + name)

    def _value(self, value: Any, kind: str, path: str) -> None:
        if kind in _CODES:
            code = _CODES[kind]
            size = struct.calcsize(f'<{code}')
            self.numbers[path] = (self._take(size, size), code)
        elif kind.startswith('string'):
            self._take(4, 4)
            self._take(len(value.encode()) + 1, 1)
        elif kind.startswith('sequence<'):
            self._take(4, 4)
            self._elements(value, kind[len('sequence<') : -1].split(',')[0], path)
        elif kind.endswith(']'):
            self._elements(value, kind[: kind.index('[')], path)
        else:
            self._walk(value, f'{path}.')

    def _elements(self, values: Any, kind: str, path: str) -> None:
        for i, value in enumerate(values):
            self._value(value, kind, f'{path}.{i}')

    def _take(self, size: int, alignment: int) -> int:
        """Return the place of the next so many bytes, aligned from behind the header."""
        self._place += -self._place % alignment
        start = _HEADER + self._place
        self._place += size
        self.used.append(slice(start, start + size))
        return start


class Template:
    """A serialised message whose numbers at given places are filled in.

    ``pack`` takes the numbers and the bytes between them in the order of the message, ``pick``
    brings numbers in the order of the paths, followed by ``constants``, into that order.

    Parameters
    ----------
    types : MessageTypes
        What serialises it.
    message : message
        An ordinary message with all that stays as it is.
    paths : iterable of str
        The numbers that are filled in (see :class:`Layout`).

    Raises
    ------
    CodecError
        if the middleware does not serialise to plain CDR.
    """

    def __init__(self, types: MessageTypes, message: Any, paths: Iterable[str]) -> None:
        data = types.serialize(message)
        order = _ORDERS.get(bytes(data[:2]))
        if order is None:
            raise CodecError('the encapsulation is not plain CDR')
        layout = Layout(message)
        self._used = layout.used
        whole = bytearray(layout.size)  # padding stays 0
        for part in self._used:
            whole[part] = data[part]
        numbers = [layout.numbers[path] for path in paths]
        codes, self.constants, order_of = _interleaved(bytes(whole), numbers)
        self._whole, self._order, self._numbers = bytes(whole), order, numbers
        self.pack = struct.Struct(order + codes).pack
        self.pick = itemgetter(*order_of)
        self.unchecked = CHECKED

    def fill(self, values: tuple[float, ...]) -> bytes:
        """Return the message with these numbers, in the order of the paths."""
        return self.pack(*self.pick(values + self.constants))

    def rows(self, values: Iterable[Any], count: int) -> NDArray[np.uint8]:
        """Return many messages, shape (count, size), from columns in the order of the paths.

        What is a column's and what is one number for all may be mixed.
        """
        places = [place for place, _ in self._numbers]
        kind = np.dtype({
            'names': [str(place) for place in places],
            'formats': [self._order + code for _, code in self._numbers],
            'offsets': places,
            'itemsize': len(self._whole),
        })
        made = np.empty((count, len(self._whole)), dtype=np.uint8)
        made[:] = np.frombuffer(self._whole, dtype=np.uint8)
        filled = made.view(kind)[:, 0]
        for place, column in zip(places, values, strict=True):
            filled[str(place)] = column
        return made

    def agrees(self, values: tuple[float, ...], its: bytes) -> bool:
        """Tell whether the bytes are those of an ordinary message, padding excepted."""
        ours = self.fill(values)
        room = len(its) - len(ours)  # rclpy leaves room for what might be aligned
        return 0 <= room < 8 and all(ours[part] == its[part] for part in self._used)


def _interleaved(
    data: bytes, numbers: list[tuple[int, str]]
) -> tuple[str, tuple[bytes, ...], list[int]]:
    """Put a message together from numbers, by place and struct code, and what lies between.

    Returned are the struct codes of all, the bytes that stay, and the order in which numbers and
    bytes follow each other: their indices in the one tuple after the other.
    """
    codes, place = '', 0
    order: list[int] = []
    constants: list[bytes] = []
    for index, (start, code) in sorted(enumerate(numbers), key=itemgetter(1)):
        if start > place:
            codes += f'{start - place}s'
            order.append(len(numbers) + len(constants))
            constants.append(data[place:start])
        codes += code
        order.append(index)
        place = start + struct.calcsize(f'<{code}')
    codes += f'{len(data) - place}s'
    order.append(len(numbers) + len(constants))
    constants.append(data[place:])
    return codes, tuple(constants), order


def is_plain(data: bytes) -> bool:
    """Tell whether a serialised message is plain CDR, in either byte order."""
    return data[:2] in _ORDERS


def decode_odometry(data: bytes) -> RawOdometry:
    """Return a serialised nav_msgs/Odometry as plain numbers.

    Raises
    ------
    CodecError
        if the bytes are too few, or in another encoding.
    """
    order = _ORDERS.get(data[:2])
    if order is None:
        raise CodecError('not plain CDR')
    try:
        sec, nanosec, length = _STAMP_AND_LENGTH[order].unpack_from(data, _HEADER)
        place = (_HEADER + 12 + length + 3) & ~3
        (length,) = _LENGTH[order].unpack_from(data, place)
        start = place + 4
        place = start + length
        child = data[start : place - 1].decode() if length > 1 else ''
        place += (_HEADER - place) % 8  # numbers of 8 bytes are aligned, from behind the header
        numbers = _NUMBERS[order].unpack_from(data, place)
    except (struct.error, UnicodeDecodeError) as error:
        raise CodecError(str(error)) from None
    if len(data) < place + _NUMBERS[order].size + _TAIL:
        raise CodecError('too few bytes')
    x, y, z, qx, qy, qz, qw, vx, vy, vz, wx, wy, wz = numbers
    t_ns = sec * NS_PER_S + nanosec
    return new(
        RawOdometry, (t_ns, (x, y, z), (qw, qx, qy, qz), (vx, vy, vz), (wx, wy, wz), child)
    )
