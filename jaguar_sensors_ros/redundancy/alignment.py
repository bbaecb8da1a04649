"""Samples of several inputs at common instants, without waiting for those that cannot come."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, TypeVar

from jaguar_sensors_ros.nav.grid import SampleGrid
from jaguar_sensors_ros.types import NS_PER_S

ItemT = TypeVar('ItemT')
#: restarts of an input so far, and k of an instant: instants in the order in which they happen
Key = tuple[int, int]

_NEVER: Key = (0, -(2**62))


class Aligner(Generic[ItemT]):
    """Collects one item an input and instant of a sample grid.

    An instant is complete as soon as every input has given its item, or can no longer give it:
    it gave a later one, or was told to have :meth:`passed`.  A stamp belongs to the nearest
    instant of the grid.

    Parameters
    ----------
    count : int
        Number of inputs.
    rate_hz : float
        Their sample rate.
    """

    def __init__(self, count: int, rate_hz: float) -> None:
        self._grid = SampleGrid(rate_hz)
        self._rate_hz = rate_hz
        self._half_ns = round(0.5 * NS_PER_S / rate_hz)
        self._epoch = [0] * count
        self._reached = [_NEVER] * count
        self._waiting: dict[Key, list[ItemT | None]] = {}
        self._last = _NEVER
        #: inputs that nothing waits for
        self.absent: set[int] = set()
        #: items that came after their instant was over, by input
        self.late = [0] * count

    def put(self, index: int, t_ns: int, item: ItemT) -> None:
        """Take an item of an input with its stamp [ns]."""
        key = (self._epoch[index], self._grid.first_at(t_ns - self._half_ns + 1))
        if key <= self._last:
            self.late[index] += 1
            return
        slot = self._waiting.setdefault(key, [None] * len(self._epoch))
        slot[index] = item
        self._reach(index, key)

    def passed(self, index: int, t_ns: int) -> None:
        """Note that an input will give nothing more up to a time [ns]."""
        self._reach(index, (self._epoch[index], self._grid.first_at(t_ns + 1) - 1))

    def restart(self, index: int) -> None:
        """Note that the time of an input begins anew; what waits of it is forgotten."""
        self._epoch[index] += 1
        for slot in self._waiting.values():
            slot[index] = None

    def _reach(self, index: int, key: Key) -> None:
        if key > self._reached[index]:
            self._reached[index] = key

    def complete(self, patience_s: float) -> Iterator[tuple[int, list[ItemT | None]]]:
        """Yield (time [ns], item or None of each input) of the complete instants, in order.

        An input that is behind the foremost by more than ``patience_s`` is waited for no longer.
        """
        patience = round(patience_s * self._rate_hz)
        while self._waiting:
            key = min(self._waiting)
            epoch, k = max(self._reached)
            over = epoch == key[0] and k - key[1] > patience
            awaited = (r for i, r in enumerate(self._reached) if i not in self.absent)
            if not over and min(awaited, default=key) < key:
                return
            items = self._waiting.pop(key)
            self._last = key
            if any(item is not None for item in items):
                yield self._grid.time_ns(key[1]), items
