"""Blocks of random errors computed ahead, taken sample by sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

from jaguar_sensors_ros.errors.intervals import Array, Intervals
from jaguar_sensors_ros.nav.grid import SampleGrid

#: samples in the first block and in the longest; each block is twice as long as the one before
_FEWEST, _MOST = 16, 256


class Process(Protocol):
    """What carries over from one sample to the next."""

    state: Any


class Ahead:
    """Lets a live sensor take, one by one, what an array computation makes in blocks.

    Random errors do not depend on the truth, so they can be made before their time.  Whatever
    makes a block stale (a parameter, a gap, another interval) has it made again from the present
    sample on: the states go back to the beginning of the block and run once more over the
    samples that were taken, which gives the same bits.

    Parameters
    ----------
    block : callable
        Takes the number of a sample since power-on and Intervals, returns an array with a column
        for each sample.
    processes : callable
        Returns the processes that ``block`` advances.
    """

    __slots__ = ('_block', '_first', '_intervals', '_kept', '_processes', '_rows', '_spans_ns',
                 '_taken')

    def __init__(
        self,
        block: Callable[[int, Intervals], Array],
        processes: Callable[[], Iterable[Process]],
    ) -> None:
        self._block, self._processes = block, processes
        self._first, self._taken = 0, 0
        self._rows: list[list[float]] = []
        self._spans_ns: list[int] = []

    def take(self, number: int, k: int, span_ns: int, grid: SampleGrid) -> list[float]:
        """Return the column of a sample.

        Parameters
        ----------
        number, k : int
            Number of the sample since power-on, and of the tick at its end in the grid.
        span_ns : int
            Its length [ns].
        grid : SampleGrid
            Tells the lengths of those that follow.
        """
        index = self._taken
        if (
            index >= len(self._rows)
            or number != self._first + index
            or span_ns != self._spans_ns[index]
        ):
            self._make(number, k, span_ns, grid)
            index = 0
        self._taken = index + 1
        return self._rows[index]

    def settle(self) -> None:
        """Bring the processes to the last sample that was taken; what lies ahead is dropped.

        To be called before a parameter changes.
        """
        if self._taken < len(self._rows):
            for process, state in self._kept:
                process.state = state
            if self._taken:
                self._block(self._first, self._intervals.first(self._taken))
        self._rows, self._taken = [], 0

    def _make(self, number: int, k: int, span_ns: int, grid: SampleGrid) -> None:
        used_up = self._taken == len(self._rows)
        count = min(2 * self._taken, _MOST) if used_up and self._taken else _FEWEST
        self.settle()
        intervals = Intervals.of_grid(grid, k - 1, count).begun_with(span_ns)
        self._kept = [(process, process.state) for process in self._processes()]
        self._rows = self._block(number, intervals).T.tolist()
        self._spans_ns = [intervals.lengths_ns[i] for i in intervals.which.tolist()]
        self._first, self._intervals = number, intervals
