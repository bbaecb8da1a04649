"""The lengths of consecutive samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaguar_sensors_ros.nav.grid import SampleGrid
from jaguar_sensors_ros.types import NS_PER_S

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Intervals:
    """The lengths of consecutive samples: which of a few ``lengths_ns`` [ns] each one has.

    A period that is a whole number of nanoseconds has one length, others have two or three.
    """

    lengths_ns: tuple[int, ...]
    which: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.which)

    @classmethod
    def of_grid(cls, grid: SampleGrid, k: int, count: int) -> Intervals:
        """Return the lengths of ``count`` samples; the first begins at tick ``k`` of the grid."""
        if grid.is_even:
            return cls((grid.time_ns(1),), _alike(count))
        kinds, which = np.unique(np.diff(grid.times_ns(k, count + 1)), return_inverse=True)
        return cls(tuple(kinds.tolist()), which)

    def begun_with(self, length_ns: int) -> Intervals:
        """Return the same with a first sample of ``length_ns`` [ns]."""
        if self.lengths_ns[self.which[0]] == length_ns:
            return self
        which = self.which.copy()
        which[0] = len(self.lengths_ns)
        return Intervals((*self.lengths_ns, length_ns), which)

    def first(self, count: int) -> Intervals:
        """Return the first ``count`` of them."""
        return Intervals(self.lengths_ns, self.which[:count])

    @cached_property
    def lengths_s(self) -> tuple[float, ...]:
        """The lengths that occur [s]."""
        return tuple(length / NS_PER_S for length in self.lengths_ns)

    def spread(self, values: Sequence[float]) -> Any:
        """Return one value for each sample from one for each length; a number if it is one."""
        return values[0] if len(values) == 1 else np.array(values)[self.which]

    @property
    def dt_s(self) -> Any:
        """Length of each sample [s]."""
        return self.spread(self.lengths_s)


@lru_cache(maxsize=64)
def _alike(count: int) -> NDArray[np.intp]:
    """Return which lengths samples have that have all the first one, to be read only."""
    which = np.zeros(count, dtype=np.intp)
    which.flags.writeable = False
    return which
