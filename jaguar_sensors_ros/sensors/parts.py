"""What the samples of an IMU are made of: intervals cut at the stamps of the truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from jaguar_sensors_ros.errors.intervals import Array
from jaguar_sensors_ros.nav.columns import Columns
from jaguar_sensors_ros.sensors.schedule import Block
from jaguar_sensors_ros.truth.columns import Times, TruthColumns
from jaguar_sensors_ros.truth.twist_columns import TwistColumns


@dataclass(frozen=True)
class Parts:
    """The parts of consecutive samples, each in one piece of the truth.

    ``pieces`` are those in which the m parts lie, ``from_ns`` and ``to_ns`` where they begin and
    end, ``starts`` and ``ends`` the first and the last part of each of the n samples.
    """

    pieces: TwistColumns
    from_ns: Times
    to_ns: Times
    starts: Any
    ends: Any

    @classmethod
    def of(cls, truth: TruthColumns, block: Block) -> Parts:
        """Cut the samples of a block."""
        (start, end), times_ns = block.rows, block.times_ns
        stamps_ns = truth.t_ns[start:end]
        first = int(np.searchsorted(stamps_ns, times_ns[0], 'right'))
        last = int(np.searchsorted(stamps_ns, times_ns[-1], 'left'))
        # the pieces from that in which the first part begins to that in which the last ends
        whole = TwistColumns.between(truth, start + first - 1, start + last + 1)
        inner_ns = stamps_ns[first:last]
        if np.array_equal(inner_ns, times_ns[1:-1]):
            every = np.arange(len(block))
            return cls(whole, times_ns[:-1], times_ns[1:], every, every)
        cuts_ns = np.union1d(times_ns, inner_ns)
        which = np.searchsorted(inner_ns, cuts_ns[:-1], 'right')
        at = np.searchsorted(cuts_ns, times_ns)
        return cls(whole.spread(which), cuts_ns[:-1], cuts_ns[1:], at[:-1], at[1:] - 1)

    @property
    def is_one_each(self) -> bool:
        """Whether each sample has one part."""
        return len(self.starts) == len(self.from_ns)

    def summed(self, integrals: Columns) -> Array:
        """Return the sums over samples, in the order of the parts, shape (3, n)."""
        values = np.asarray(integrals)
        if self.is_one_each:
            return values
        sums = values[:, self.starts]
        counts = self.ends - self.starts
        for step in range(1, int(counts.max()) + 1):
            more = np.flatnonzero(counts >= step)
            sums[:, more] += values[:, self.starts[more] + step]
        return np.asarray(sums)

    def last(self, values: Columns) -> Columns:
        """Return the columns of the last parts of the samples."""
        return values if self.is_one_each else np.take(np.asarray(values), self.ends, axis=1)

    def at_stamps(self) -> TwistColumns:
        """Return the pieces in which the samples end."""
        return self.pieces if self.is_one_each else self.pieces.spread(self.ends)
