"""Sums of all steps so far, the same bits however the steps are cut into blocks."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from jaguar_sensors_ros.errors.intervals import Array

#: A of the last step but one and of the last; see :func:`running_sum`
Carry = tuple[float, float]
#: sums of so many steps are worth a compiled loop; errors.fast puts one of the same bits here
_LONG = 1024
compiled: Callable[[Array, Array], object] | None = None


def running_sum(steps: Array, before: Carry, out: Array) -> Carry:
    """Put S_j = S_(j-1) + x_j into ``out`` for steps x_j; return what carries over.

    Two sums of every other step run side by side, A_j = A_(j-2) + x_j, and S_j = A_j + A_(j-1):
    an addition waits for the one before, so two take the time of one.

    Parameters
    ----------
    steps : ndarray
        Two places for what carries over, then x_j, shape (2 + count,); overwritten with A_j.
    before : tuple of float
        A of the last two steps before, of which S is the sum.
    out : ndarray
        Takes S_j, shape (count,).
    """
    steps[0], steps[1] = before
    if compiled is not None and len(out) >= _LONG:
        compiled(steps, out)
    else:
        by_numpy(steps, out)
    return float(steps[-2]), float(steps[-1])


def by_numpy(steps: Array, out: Array) -> None:
    """Make the sums of :func:`running_sum`, with what carries over in its places."""
    pairs = steps[: len(steps) & ~1].view(np.complex128)
    np.add.accumulate(pairs, out=pairs)
    if len(steps) & 1:
        steps[-1] += steps[-3]
    np.add(steps[2:], steps[1:-1], out=out)
