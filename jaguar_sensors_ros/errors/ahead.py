"""Blocks of random errors computed ahead, taken sample by sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from jaguar_sensors_ros.errors.intervals import Array, Intervals
from jaguar_sensors_ros.nav.grid import SampleGrid

#: samples in the first block, in the longest that is made at once, and in the longest that is
#: prepared; each block is twice as long as the one before
_FEWEST, _MOST, _MOST_PREPARED = 16, 256, 1024
#: so many columns of a block become lists of floats at a time
_CHUNK = 64


class Process(Protocol):
    """What carries over from one sample to the next."""

    state: Any


#: makes rows of a block; takes the number of a sample since power-on and Intervals
Rows = Callable[[int, Intervals], Array]
Processes = Callable[[], Iterable[Process]]


class _Block:
    """Consecutive samples from number ``first`` on; made part by part.

    ``k`` is the tick at the end of the first in the grid.
    """

    __slots__ = ('_parts', '_whole', 'count', 'first', 'intervals', 'k', 'kept', 'made',
                 'spans_ns')

    def __init__(
        self, parts: Sequence[tuple[Rows, Processes]], first: int, k: int, intervals: Intervals
    ) -> None:
        self._parts = parts
        self.first, self.k, self.intervals, self.count = first, k, intervals, len(intervals)
        self.spans_ns = [intervals.lengths_ns[i] for i in intervals.which.tolist()]
        #: the states at its beginning of the processes that were advanced
        self.kept: list[tuple[Process, Any]] = []
        self.made: list[Array] = []
        self._whole: Array | None = None

    def go_on(self) -> None:
        """Make the next part."""
        if len(self.made) < len(self._parts):
            rows, processes = self._parts[len(self.made)]
            self.kept += [(process, process.state) for process in processes()]
            self.made.append(rows(self.first, self.intervals))

    def columns(self, index: int) -> list[list[float]]:
        """Return the columns from ``index`` on, a chunk of them; make what is not made yet."""
        if self._whole is None:
            while len(self.made) < len(self._parts):
                self.go_on()
            self._whole = np.concatenate(self.made)
        columns: list[list[float]] = self._whole[:, index : index + _CHUNK].T.tolist()
        return columns

    def undo(self) -> None:
        """Bring the processes back to the beginning."""
        for process, state in self.kept:
            process.state = state

    def redo(self, count: int) -> None:
        """Run the processes over the first samples once more."""
        for rows, _ in self._parts:
            rows(self.first, self.intervals.first(count))


class Ahead:
    """Lets a live sensor take, one by one, what an array computation makes in blocks.

    Random errors do not depend on the truth, so they can be made before their time; with
    :meth:`prepare` while nobody waits.  Whatever makes a block stale (a parameter, a gap, another
    interval) has it made again from the present sample on: the states go back to the beginning of
    the block and run once more over the samples that were taken, which gives the same bits.

    Parameters
    ----------
    rows : callable
        Takes the number of a sample since power-on and Intervals, returns an array with a column
        for each sample.
    processes : callable
        Returns the processes that ``rows`` advances.
    more : tuple of both
        Further parts, whose rows follow; each is made at a time of its own.
    """

    __slots__ = ('_block', '_columns', '_next', '_parts', '_taken')

    def __init__(
        self, rows: Rows, processes: Processes, *more: tuple[Rows, Processes]
    ) -> None:
        self._parts = ((rows, processes), *more)
        self._block: _Block | None = None
        self._next: _Block | None = None
        self._taken = 0
        #: the columns of the chunk that the next sample is in
        self._columns: list[list[float]] = []

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
        block, index = self._block, self._taken
        if (
            block is None
            or index >= block.count
            or number != block.first + index
            or span_ns != block.spans_ns[index]
        ):
            block, index = self._begin(number, k, span_ns, grid), 0
        self._taken = index + 1
        place = index % _CHUNK
        if place == 0:
            self._columns = block.columns(index)
        return self._columns[place]

    def prepare(self, grid: SampleGrid) -> None:
        """Make a part of the next block, once half of the present one is used up."""
        block = self._block
        if block is None or 2 * self._taken < block.count:
            return
        if self._next is None:
            count, k = block.count, block.k + block.count
            intervals = Intervals.of_grid(grid, k - 1, min(2 * count, _MOST_PREPARED))
            self._next = _Block(self._parts, block.first + count, k, intervals)
        self._next.go_on()

    def settle(self) -> None:
        """Bring the processes to the last sample that was taken; what lies ahead is dropped.

        To be called before a parameter changes.
        """
        if self._next is not None:
            self._next.undo()
        block = self._block
        if block is not None and self._taken < block.count:
            block.undo()
            if self._taken:
                block.redo(self._taken)
        self._block, self._next, self._taken = None, None, 0

    def _begin(self, number: int, k: int, span_ns: int, grid: SampleGrid) -> _Block:
        """Go over to the block that begins with a sample."""
        block, following = self._block, self._next
        used_up = block is not None and self._taken == block.count
        if (
            not used_up
            or following is None
            or (number, k, span_ns) != (following.first, following.k, following.spans_ns[0])
        ):
            count = min(2 * block.count, _MOST) if used_up and block is not None else _FEWEST
            self.settle()
            intervals = Intervals.of_grid(grid, k - 1, count).begun_with(span_ns)
            following = _Block(self._parts, number, k, intervals)
        self._block, self._next, self._taken = following, None, 0
        return following
