"""Sums of squared second differences, for many lags in one walk over the data.

The sum over i of (x_(i+2m) - 2 x_(i+m) + x_i)^2 is bound by memory, not by arithmetic: at each lag
the record would pass through the processor three times.  So a piece of i stays in the cache while
all lags are done.  A second difference is the difference of two first differences, which are
exact where neighbours are within a factor of two (P. Sterbenz, 1974): a large offset costs no
digits.  The sums of the pieces are added without rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
#: (x, start, count, m): the sum over i in [start, start + count)
Adder = Callable[[Array, int, int, int], float]

#: second differences at a time: few calls, but what they need stays in the cache
PIECE = 65536
#: products at a time: OpenBLAS begins to start threads at 10000, which here only cost
_PRODUCTS = 8192

#: set by :func:`analysis.allan_fast.use`
compiled: Adder | None = None


def mean_squares(
    x: Array, factors: NDArray[np.int64], progress: Callable[[float], None] | None = None
) -> Array:
    """Return the mean of (x_(i+2m) - 2 x_(i+m) + x_i)^2 over all i, for each lag m.

    Parameters
    ----------
    x : array, shape (n,)
        Contiguous and finite, in any unit.
    factors : array of int, shape (k,)
        Lags in any order, 1 <= m < n / 2.
    progress : callable, optional
        Is told the share that is done, 0 to 1.

    Returns
    -------
    array, shape (k,)
        In the square of the unit of x.
    """
    add = compiled or adder()
    lags = factors.tolist()
    counts = [len(x) - 2 * m for m in lags]
    starts = range(0, max(counts), PIECE)
    sums = np.zeros((len(lags), len(starts)))
    for piece, start in enumerate(starts):
        for i, m in enumerate(lags):
            if start < counts[i]:
                sums[i, piece] = add(x, start, min(PIECE, counts[i] - start), m)
        if progress is not None:
            progress((piece + 1) / len(starts))
    return np.array([math.fsum(row) / count for row, count in zip(sums, counts, strict=True)])


def adder() -> Adder:
    """Return an adder in NumPy, which has its own work space and takes up to PIECE terms."""
    first, second = np.empty(2 * PIECE), np.empty(PIECE)

    def add(x: Array, start: int, count: int, m: int) -> float:
        end, d2 = start + count, second[:count]
        if m < count:  # the first differences from i and from i + m overlap
            d1 = first[: count + m]
            np.subtract(x[start + m : end + 2 * m], x[start : end + m], out=d1)
            np.subtract(d1[m:], d1[:count], out=d2)
        else:
            d1, middle = first[:count], x[start + m : end + m]
            np.subtract(middle, x[start:end], out=d1)
            np.subtract(x[start + 2 * m : end + 2 * m], middle, out=d2)
            np.subtract(d2, d1, out=d2)
        parts = (d2[i : i + _PRODUCTS] for i in range(0, count, _PRODUCTS))
        return sum(float(part.dot(part)) for part in parts)

    return add
