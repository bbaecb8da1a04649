"""Samples wait here until their latency is over."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from jaguar_sensors_ros.types import NS_PER_S

#: clocks that differ by more than this do not tell the same time
_FOREIGN_NS = 10 * NS_PER_S


class Outbox:
    """Publishes at max(now, stamp + latency) on the clock of the node, in order.

    Where stamp and clock differ by more than 10 s (a recording played without its clock) the
    latency counts from the arrival.

    Parameters
    ----------
    now_ns : callable
        Time of the node's clock [ns].
    """

    def __init__(self, now_ns: Callable[[], int]) -> None:
        self._now_ns = now_ns
        self._timer: Any = None
        #: release times [ns], and what publishes
        self.waiting: deque[tuple[int, Callable[[], None]]] = deque()

    def use_timer(self, timer: Any) -> None:
        """Set the timer that calls :meth:`deliver`."""
        self._timer = timer
        timer.cancel()

    def __len__(self) -> int:
        """Return how many samples wait."""
        return len(self.waiting)

    def put(self, stamp_ns: int, latency_ns: int, publish: Callable[[], None]) -> None:
        """Call ``publish`` now or when the latency is over."""
        if latency_ns == 0 and not self.waiting:
            publish()
            return
        now_ns = self._now_ns()
        release_ns = stamp_ns + latency_ns
        if abs(now_ns - stamp_ns) > _FOREIGN_NS:
            release_ns = now_ns + latency_ns
        if self.waiting:
            release_ns = max(release_ns, self.waiting[-1][0])
        self.waiting.append((release_ns, publish))
        if len(self.waiting) == 1:
            self._arm()

    def deliver(self) -> None:
        """Publish all that is due, and set the timer for the next."""
        self._timer.cancel()
        now_ns = self._now_ns()
        while self.waiting and self.waiting[0][0] <= now_ns:
            self.waiting.popleft()[1]()
        self._arm()

    def drop(self) -> int:
        """Forget all that waits (the time line was reset); return how many they were."""
        dropped = len(self.waiting)
        self.waiting.clear()
        return dropped

    def _arm(self) -> None:
        if not self.waiting:
            return
        wait_ns = self.waiting[0][0] - self._now_ns()
        if wait_ns <= 0:
            self.deliver()
            return
        self._timer.timer_period_ns = wait_ns
        self._timer.reset()
