"""The inner loop of the Allan deviation of long records, compiled by numba where it is there.

The second differences have the bits of NumPy, rounded operation by operation; only the order in
which their squares are added differs, some 1e-15 of the sum.  What is compiled is compared with
NumPy before it is used.  Nothing is kept on the disk, and no node imports numba: only who calls
:func:`use`.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from jaguar_sensors_ros.analysis import second_differences
from jaguar_sensors_ros.analysis.second_differences import PIECE, Adder

#: largest relative difference to NumPy
_CLOSE = 1e-13
#: lags below, at and above the length of a piece, and odd ones
_CHECKED = (1, 2, 37, PIECE - 1, PIECE, PIECE + 5)


@lru_cache(maxsize=1)
def use() -> bool:
    """Let second differences be added by a compiled loop from now on; False without numba.

    The first call in a process takes about a second.
    """
    try:
        add = _adder()
    except ImportError:
        return False
    if not _agrees(add):
        return False
    second_differences.compiled = add
    return True


def _agrees(add: Adder) -> bool:
    """Tell whether the compiled loop gives the sums of NumPy, under a large offset too."""
    x = 1e6 + np.random.default_rng(1).standard_normal(3 * PIECE + 100).cumsum()
    plain = second_differences.adder()
    places = [(start, PIECE - m % 3, m) for m in _CHECKED for start in (0, 77)]
    return all(math.isclose(add(x, *at), plain(x, *at), rel_tol=_CLOSE) for at in places)


def _adder() -> Adder:
    """Compile what :func:`second_differences.adder` does."""
    from numba import njit

    @njit(nogil=True)
    def second(low: float, middle: float, high: float) -> float:
        """Keep this apart: its operations may not be taken in another order."""
        return (high - middle) - (middle - low)

    # the squares may: several sums at once, in the lanes of a vector register
    @njit(
        'float64(float64[::1], int64, int64, int64)',
        nogil=True,
        fastmath={'reassoc', 'contract'},
    )
    def add(x: second_differences.Array, start: int, count: int, m: int) -> float:
        low = x[start : start + count]
        middle, high = x[start + m :], x[start + 2 * m :]
        total = 0.0
        for i in range(len(low)):
            d = second(low[i], middle[i], high[i])
            total += d * d
        return total

    compiled: Adder = add
    return compiled
