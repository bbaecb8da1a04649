"""How a first-order process forgets, and the scales in which it is a plain sum.

The recursion x_j = phi_j x_(j-1) + root_j w_j, divided by P_j = phi_1 ... phi_j, is the sum

    S_j = S_(j-1) + w_j root_j / P_j,   x_j = P_j S_j,

exact whatever the phi_j are, and made by arrays.  P must not underflow, so the sum begins anew,
with P_0 = 1 and S_0 = x_0, after ``LONGEST`` steps or where P has fallen below ``SMALLEST``.  The
rounding of S is relative to its last value, as that of the recursion is: no digits are lost.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from jaguar_sensors_ros.errors.intervals import Array, Intervals

#: most steps of a sum
LONGEST = 8192
#: a sum goes on while P is at least this
SMALLEST = 1e-250
#: steps of so many correlation times forget all, exp(-40) = 4e-18; so P stays above 1e-268
_ALL_FORGOTTEN = 40.0


@lru_cache(maxsize=4096)
def decay(elapsed_s: float, tau_s: float) -> tuple[float, float]:
    """Return phi = exp(-dt/tau) and root = sqrt(1 - phi^2) of a step; 0 and 1 where tau is 0."""
    ratio = elapsed_s / tau_s if tau_s > 0.0 else math.inf
    if ratio > _ALL_FORGOTTEN:
        return 0.0, 1.0
    return math.exp(-ratio), math.sqrt(-math.expm1(-2.0 * ratio))


class Scales:
    """The scales of consecutive samples.

    Parameters
    ----------
    intervals : Intervals
        Their lengths.
    tau_s : float
        Correlation time [s], the same for all.
    gain : float
        What x is multiplied with.
    """

    __slots__ = ('_gain', '_steps', '_which', 'are_white')

    def __init__(self, intervals: Intervals, tau_s: float, gain: float) -> None:
        self._steps = [decay(dt_s, tau_s) for dt_s in intervals.lengths_s]
        self._which, self._gain = intervals.which, gain
        #: whether each sample forgets all before it
        self.are_white = all(phi == 0.0 for phi, _ in self._steps)

    def forget(self, index: int) -> bool:
        """Tell whether a sample forgets all before it, where not all do."""
        return len(self._steps) > 1 and self._steps[int(self._which[index])][0] == 0.0

    def of(self, index: int, steps: int, product: float) -> tuple[Array, Array, float]:
        """Return root / P and gain P of the samples from ``index`` on, and the last P.

        As many as the sum may have; ``steps`` and ``product`` are their number and P so far.
        """
        count = min(len(self._which) - index, LONGEST - steps)
        if len(self._steps) == 1:
            phi, root = self._steps[0]
            products, weights, gained = _table(phi, root, self._gain)
            if steps == 0 or products[min(steps, len(products)) - 1] == product:
                part = slice(steps, steps + count)
                return weights[part], gained[part], float(products[part][-1])
        phis, roots = np.array(self._steps)[self._which[index : index + count]].T
        return self._made(phis, roots, product)

    def _made(self, phis: Array, roots: Array, product: float) -> tuple[Array, Array, float]:
        """Return what :meth:`of` returns, of these steps."""
        phis[0] *= product
        products: Array = np.multiply.accumulate(phis)
        products = products[: _allowed(products)]
        weights: Array = roots[: len(products)] / products
        return weights, self._gain * products, float(products[-1])


def _allowed(products: Array) -> int:
    """Return how many of falling products a sum may have: one that is small, none that is 0."""
    above = len(products) - int(np.searchsorted(products[::-1], SMALLEST))
    return min(above + 1, int(np.count_nonzero(products)))


@lru_cache(maxsize=256)
def _table(phi: float, root: float, gain: float) -> tuple[Array, Array, Array]:
    """Return P, root / P and gain P of a whole sum of equal steps, for all axes and blocks."""
    if gain != 1.0:
        plain, over, _ = _table(phi, root, 1.0)
        return plain, over, gain * plain
    products: Array = np.multiply.accumulate(np.full(LONGEST, phi))
    products = products[: _allowed(products)]
    weights: Array = root / products
    return products, weights, products
