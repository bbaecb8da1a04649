"""Samples wait here until their latency is over."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
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
        self._waiting: deque[tuple[int, Callable[[], None]]] = deque()

    def use_timer(self, timer: Any) -> None:
        """Set the timer that calls :meth:`deliver`."""
        self._timer = timer
        timer.cancel()

    def __len__(self) -> int:
        """Return how many samples wait."""
        return len(self._waiting)

    def put(
        self, stamp_ns: int, latency_ns: int, publish: Callable[..., None], *arguments: Any
    ) -> None:
        """Call ``publish`` with the arguments, now or when the latency is over."""
        if latency_ns == 0 and not self._waiting:
            publish(*arguments)
            return
        now_ns = self._now_ns()
        release_ns = stamp_ns + latency_ns
        if abs(now_ns - stamp_ns) > _FOREIGN_NS:
            release_ns = now_ns + latency_ns
        if self._waiting:
            release_ns = max(release_ns, self._waiting[-1][0])
        self._waiting.append((release_ns, partial(publish, *arguments)))
        if len(self._waiting) == 1:
            self._arm()

    def deliver(self) -> None:
        """Publish all that is due, and set the timer for the next."""
        self._timer.cancel()
        now_ns = self._now_ns()
        while self._waiting and self._waiting[0][0] <= now_ns:
            self._waiting.popleft()[1]()
        self._arm()

    def drop(self) -> int:
        """Forget all that waits (the time line was reset); return how many they were."""
        dropped = len(self._waiting)
        self._waiting.clear()
        return dropped

    def _arm(self) -> None:
        if not self._waiting:
            return
        wait_ns = self._waiting[0][0] - self._now_ns()
        if wait_ns <= 0:
            self.deliver()
            return
        self._timer.timer_period_ns = wait_ns
        self._timer.reset()
