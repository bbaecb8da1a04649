"""Records serialised messages in a bag: MCAP, metadata version 8, readable from Humble on."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from ament_index_python.packages import PackageNotFoundError, get_package_share_directory

from jaguar_sensors_ros.types import JaguarError

#: the newest layout of metadata.yaml that Humble reads too
_METADATA_VERSION: Literal[8] = 8
_NOTE = 'recording a bag needs the Python package rosbags: pip install jaguar_sensors_ros[bags]'


class BagWriter:
    """Writes a bag under a temporary name; it gets its own name once it is complete.

    Parameters
    ----------
    path : Path
        Folder of the bag.  What is there already is replaced by :meth:`finish`.
    topics : mapping of str to str
        Message type ('sensor_msgs/msg/Imu') by topic.
    latched : collection of str
        Topics to play back with transient local durability.

    Raises
    ------
    JaguarError
        if rosbags is missing or a message type has no definition.
    """

    def __init__(
        self, path: Path, topics: Mapping[str, str], latched: frozenset[str] = frozenset()
    ) -> None:
        try:
            from rosbags.rosbag2 import StoragePlugin, Writer
        except ImportError:
            raise JaguarError(_NOTE) from None
        self.path = path
        self.counts = dict.fromkeys(topics, 0)
        self._partial = path.with_name(f'.{path.name}.partial')
        shutil.rmtree(self._partial, ignore_errors=True)
        store = _type_store(topics.values())
        plugin = StoragePlugin.MCAP
        self._writer: Any = Writer(
            self._partial, version=_METADATA_VERSION, storage_plugin=plugin
        )
        self._writer.open()
        self._connections = {
            topic: self._writer.add_connection(
                topic, kind, typestore=store, offered_qos_profiles=[_qos(topic in latched)]
            )
            for topic, kind in topics.items()
        }

    def write(self, topic: str, received_ns: int, data: bytes) -> None:
        """Add a message as it came from the wire, with the time it was received [ns]."""
        self._writer.write(self._connections[topic], received_ns, data)
        self.counts[topic] += 1

    def finish(self) -> None:
        """Close the bag and give it its name.

        The file inside is named after the folder, as ``ros2 bag record`` does.
        """
        self._writer.close()
        self._writer = None
        old, new = f'{self._partial.name}.mcap', f'{self.path.name}.mcap'
        (self._partial / old).rename(self._partial / new)
        metadata = self._partial / 'metadata.yaml'
        metadata.write_text(metadata.read_text('utf8').replace(old, new), 'utf8')
        if self.path.exists():
            shutil.rmtree(self.path)
        self._partial.rename(self.path)

    def discard(self) -> None:
        """Remove what was not finished."""
        if self._writer is not None:
            self._writer.abort()
            self._writer = None
        shutil.rmtree(self._partial, ignore_errors=True)


def _type_store(kinds: Any) -> Any:
    """Return a rosbags type store with the types as they are installed here."""
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    types: dict[str, Any] = {}
    waiting = list(kinds)
    while waiting:
        kind = waiting.pop()
        if kind in types:
            continue
        text = _definition(kind)
        types.update(get_types_from_msg(text, kind))
        waiting += _used(types[kind])
    store = get_typestore(Stores.EMPTY)
    store.register(types)
    return store


def _definition(kind: str) -> str:
    """Return the text of a message definition as installed."""
    package, _, name = kind.split('/')
    try:
        share = Path(get_package_share_directory(package))
        return (share / 'msg' / f'{name}.msg').read_text('utf8')
    except (PackageNotFoundError, OSError) as error:
        raise JaguarError(f'{kind}: its definition is not installed ({error})') from None


def _used(definition: Any) -> list[str]:
    """Return the message types that a definition refers to."""
    found: list[str] = []

    def look(part: Any) -> None:
        if isinstance(part, str) and part.count('/') == 2:
            found.append(part)
        elif isinstance(part, tuple | list):
            for inner in part:
                look(inner)

    _constants, fields = definition
    for _, kind in fields:
        look(kind)
    return found


def _qos(latched: bool) -> Any:
    """Return the quality of service to offer at playback."""
    from rosbags.interfaces import (
        Qos,
        QosDurability,
        QosHistory,
        QosLiveliness,
        QosReliability,
        QosTime,
    )

    endless = QosTime(9223372036, 854775807)
    return Qos(
        QosHistory.KEEP_LAST,
        1 if latched else 50,
        QosReliability.RELIABLE,
        QosDurability.TRANSIENT_LOCAL if latched else QosDurability.VOLATILE,
        endless,
        endless,
        QosLiveliness.AUTOMATIC,
        endless,
        False,
    )
