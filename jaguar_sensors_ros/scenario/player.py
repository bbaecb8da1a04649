"""Plays a scenario in time: a thread reads ahead into a bounded queue, nobody waits for it."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Generator, Iterator

from jaguar_sensors_ros.scenario.stream import Item
from jaguar_sensors_ros.types import JaguarError

#: how often the thread looks whether it is to stop while the queue is full [s]
_LOOK_S = 0.1
#: longest wait for the end of the thread, which may be held up by the disk [s]
_LEAVE_S = 1.0


class Player:
    """Hands out the items of a stream as they become due.

    A thread of its own takes them from the stream, so that a slow disk holds up nothing but the
    items themselves: what comes late is handed out at once.

    Parameters
    ----------
    items : iterator of Item
        The stream, in the order of time; closed in the end.
    capacity : int
        Most items that are read ahead.
    name : str
        Name of the thread.
    """

    def __init__(self, items: Iterator[Item], capacity: int, name: str) -> None:
        self._items = items
        self._queue: queue.Queue[Item | None] = queue.Queue(capacity)
        self._stop = threading.Event()
        self._next: Item | None = None
        self._failure: Exception | None = None
        #: whether everything was handed out, or the stream has failed
        self.finished = False
        self._thread = threading.Thread(target=self._fill, name=name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; what was not handed out is lost."""
        self._stop.set()
        self._thread.join(_LEAVE_S)

    @property
    def failure(self) -> Exception | None:
        """What ended the stream too early, once all items before it were handed out."""
        return self._failure if self.finished else None

    def due(self, now_ns: int, limit: int) -> list[Item]:
        """Return the items due at scenario time ``now_ns``, at most ``limit``, oldest first."""
        found: list[Item] = []
        while len(found) < limit and self._look():
            assert self._next is not None
            if self._next.t_ns > now_ns:
                break
            found.append(self._next)
            self._next = None
        return found

    def next_ns(self) -> int | None:
        """Return the scenario time [ns] of the next item, None where it is not known yet."""
        return self._next.t_ns if self._look() and self._next is not None else None

    def _look(self) -> bool:
        """Take the next item if there is one; tell whether there is."""
        if self._next is None and not self.finished:
            try:
                self._next = self._queue.get_nowait()
            except queue.Empty:
                return False
            self.finished = self._next is None
        return self._next is not None

    # ------------------------------------------------------------------ the thread

    def _fill(self) -> None:
        try:
            for item in self._items:
                if not self._put(item):
                    break
        except JaguarError as error:
            self._failure = error
        except Exception as error:  # whatever it is, the node stays up and says so
            self._failure = RuntimeError(f'internal error: {type(error).__name__}: {error}')
        finally:
            if isinstance(self._items, Generator):
                self._items.close()
            self._put(None)

    def _put(self, item: Item | None) -> bool:
        """Put an item into the queue; tell whether it was, or the thread is to stop."""
        while not self._stop.is_set():
            with contextlib.suppress(queue.Full):
                self._queue.put(item, timeout=_LOOK_S)
                return True
        return False
