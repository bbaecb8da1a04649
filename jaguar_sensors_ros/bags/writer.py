"""Records serialised messages in a bag: metadata version 8, readable from Humble on."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from jaguar_sensors_ros.messages.offline import NOTE, type_store
from jaguar_sensors_ros.types import JaguarError

#: the newest layout of metadata.yaml that Humble reads too
_METADATA_VERSION: Literal[8] = 8
#: storages, and how the names of their files end
STORAGES = {'mcap': 'mcap', 'sqlite3': 'db3'}


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
    storage : str
        One of ``STORAGES``.

    Raises
    ------
    JaguarError
        if rosbags is missing, a message type has no definition, or the folder cannot be made.
    """

    def __init__(
        self,
        path: Path,
        topics: Mapping[str, str],
        latched: frozenset[str] = frozenset(),
        storage: str = 'mcap',
    ) -> None:
        try:
            from rosbags.rosbag2 import StoragePlugin, Writer
        except ImportError:
            raise JaguarError(NOTE) from None
        self.path = path
        self.counts: dict[str, int] = {}
        self._ending = STORAGES[storage]
        self._partial = path.with_name(f'.{path.name}.partial')
        shutil.rmtree(self._partial, ignore_errors=True)
        self._writer: Any = Writer(
            self._partial, version=_METADATA_VERSION, storage_plugin=StoragePlugin[storage.upper()]
        )
        with self._telling():
            self._writer.open()
        self._connections: dict[str, Any] = {}
        try:
            for topic, kind in topics.items():
                self.add(topic, kind, [_qos(topic in latched)])
        except JaguarError:
            self.discard()
            raise

    def add(self, topic: str, kind: str, profiles: list[Any], store: Any = None) -> None:
        """Add a topic.

        Parameters
        ----------
        topic, kind : str
            Its name, and the type of its messages.
        profiles : list of Qos
            The qualities of service to offer at playback.
        store : Typestore or None
            Where the definition of the type is, by default among those we know.

        Raises
        ------
        JaguarError
            if there is no definition.
        """
        store = type_store() if store is None else store
        if kind not in store.fielddefs:
            raise JaguarError(f'{topic}: the type {kind} has no definition')
        self._connections[topic] = self._writer.add_connection(
            topic, kind, typestore=store, offered_qos_profiles=profiles
        )
        self.counts[topic] = 0

    def write(self, topic: str, received_ns: int, data: bytes) -> None:
        """Add a message as it came from the wire, with the time it was received [ns].

        Raises
        ------
        JaguarError
            if it cannot be written, as on a full disk.
        """
        try:
            self._writer.write(self._connections[topic], received_ns, data)
        except (OSError, sqlite3.Error) as error:
            raise self._error(error) from None
        self.counts[topic] += 1

    def finish(self) -> None:
        """Close the bag and give it its name.

        The file inside is named after the folder, as ``ros2 bag record`` does.

        Raises
        ------
        JaguarError
            if it cannot be written.
        """
        with self._telling():
            self._writer.close()
            self._writer = None
            old, new = (f'{name}.{self._ending}' for name in (self._partial.name, self.path.name))
            (self._partial / old).rename(self._partial / new)
            metadata = self._partial / 'metadata.yaml'
            metadata.write_text(metadata.read_text('utf8').replace(old, new), 'utf8')
            if self.path.exists():
                shutil.rmtree(self.path)
            self._partial.rename(self.path)

    @contextmanager
    def _telling(self) -> Iterator[None]:
        """Turn errors of the file system into one that names the bag."""
        try:
            yield
        except (OSError, sqlite3.Error) as error:
            raise self._error(error) from None

    def _error(self, error: Exception) -> JaguarError:
        reason = getattr(error, 'strerror', None) or error
        return JaguarError(f'{self.path}: cannot be written: {reason}')

    def discard(self) -> None:
        """Remove what was not finished."""
        if self._writer is not None:
            with suppress(OSError, sqlite3.Error):
                self._writer.abort()
            self._writer = None
        shutil.rmtree(self._partial, ignore_errors=True)


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
