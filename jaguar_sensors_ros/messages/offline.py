"""Message classes and bytes without ROS, by the library rosbags."""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from jaguar_sensors_ros.types import JaguarError

NOTE = 'bags need the Python package rosbags: pip install jaguar_sensors_ros[bags]'
#: our own interfaces: a link to those of jaguar_sensors_msgs, a copy where this is installed
_OWN = Path(__file__).parent / 'interfaces'
#: names of basic types in rosbags and in rclpy, where they differ
_BASIC = {'float32': 'float', 'float64': 'double', 'bool': 'boolean', 'byte': 'octet'}


@cache
def type_store() -> Any:
    """Return the rosbags store of all types: those of Humble, as in later releases, and ours.

    Raises
    ------
    JaguarError
        if rosbags is missing.
    """
    try:
        from rosbags.typesys import Stores, get_types_from_msg, get_typestore
    except ImportError:
        raise JaguarError(NOTE) from None
    store = get_typestore(Stores.ROS2_HUMBLE)
    types: dict[str, Any] = {}
    for path in sorted(_OWN.glob('*.msg')):
        name = f'jaguar_sensors_msgs/msg/{path.stem}'
        types.update(get_types_from_msg(path.read_text('utf-8'), name))
    store.register(types)
    return store


class Message:
    """A message that looks like one of rclpy; each type has a class derived from this."""

    #: such as sensor_msgs/msg/Imu
    type_name: str
    #: rosbags' definitions of the fields
    definitions: tuple[tuple[str, Any], ...]

    def __init__(self, **fields: Any) -> None:
        for name, definition in self.definitions:
            setattr(self, name, fields.pop(name) if name in fields else _empty(definition))
        if fields:
            raise AttributeError(f'{self.type_name} has no {", ".join(fields)}')

    @classmethod
    def get_fields_and_field_types(cls) -> dict[str, str]:
        """Return the types of the fields as rclpy writes them."""
        return {name: _written(definition) for name, definition in cls.definitions}


class OfflineTypes:
    """Message classes without ROS; see :class:`messages.types.MessageTypes`.

    Raises
    ------
    JaguarError
        if rosbags is missing.
    """

    def __init__(self) -> None:
        self.store = type_store()

    def of(self, name: str) -> Any:
        """Return the class of a type such as sensor_msgs/msg/Imu."""
        return _class_of(name)

    def serialize(self, message: Any) -> bytes:
        """Return a message as little-endian CDR."""
        return bytes(self.store.serialize_cdr(_of_rosbags(message), message.type_name))

    def warn(self, text: str) -> None:
        """Write to stderr."""
        print(text, file=sys.stderr)


@cache
def _class_of(name: str) -> Any:
    constants, fields = type_store().fielddefs[name]
    body: dict[str, Any] = {constant: value for constant, _, value in constants}
    return type(name, (Message,), {**body, 'type_name': name, 'definitions': tuple(fields)})


def _empty(definition: Any) -> Any:
    """Return zero, an empty string or list, or an empty message."""
    node, detail = definition
    if node.name == 'BASE':
        kind = detail[0]
        return '' if kind == 'string' else False if kind == 'bool' else _zero(kind)
    if node.name == 'NAME':
        return _class_of(detail)()
    inner, length = detail
    return [_empty(inner) for _ in range(length)] if node.name == 'ARRAY' else []


def _zero(kind: str) -> float:
    return 0.0 if kind.startswith('float') else 0


def _written(definition: Any) -> str:
    """Return a type as rclpy writes it."""
    node, detail = definition
    if node.name == 'BASE':
        return _BASIC.get(detail[0], str(detail[0]))
    if node.name == 'NAME':
        return str(detail).replace('/msg/', '/')
    inner, length = detail
    if node.name == 'ARRAY':
        return f'{_written(inner)}[{length}]'
    return f'sequence<{_written(inner)}>'


def _of_rosbags(value: Any) -> Any:
    """Return a message of rosbags, whose lists of numbers are arrays."""
    if not isinstance(value, Message):
        return value
    made = {}
    for name, (node, detail) in value.definitions:
        field = getattr(value, name)
        if node.name in ('ARRAY', 'SEQUENCE'):
            (inner, kind), _ = detail
            if inner.name == 'NAME' or kind[0] == 'string':
                field = [_of_rosbags(one) for one in field]
            else:
                field = np.array(field, dtype=kind[0])
        made[name] = _of_rosbags(field)
    return type_store().types[value.type_name](**made)
