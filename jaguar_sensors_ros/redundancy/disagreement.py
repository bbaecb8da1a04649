"""Which of several redundant readings disagree with the others: a residual test.

An input i is suspect if on an axis its distance from the median m of all n exceeds

  c_i = k sqrt(var_i + var_q) + slack_i,

where var_q is the floor(n/2)-th smallest variance of the others.  If x_i lies above m + c_i, at
least h = ceil(n/2) others lie below x_i - c_i, and of any h others one is among the
q = floor(n/2) with the smallest variances.  So without a failure

  P(i suspect on an axis) <= q P(|N(0, 1)| > k),

and k is chosen for the sum over n inputs and both triads' axes to be the false-alarm
probability.  Of two, the median is their mean, half of the distance: there k is halved.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from statistics import NormalDist

from jaguar_sensors_ros.types import Vec3

#: axes of both triads
_TESTS = 6


@lru_cache(maxsize=64)
def threshold(count: int, false_alarm: float) -> float:
    """Return k for so many inputs; see the module."""
    pairs = count // 2
    tail = false_alarm / (2.0 * _TESTS * count * pairs)
    k = -NormalDist().inv_cdf(tail)
    return 0.5 * k if count == 2 else k


def median(vectors: Sequence[Vec3]) -> Vec3:
    """Return the median of each axis; of an even number the mean of the two middle ones."""
    half = len(vectors) // 2
    x, y, z = (
        ordered[half] if len(ordered) % 2 else 0.5 * (ordered[half - 1] + ordered[half])
        for ordered in map(sorted, zip(*vectors, strict=True))
    )
    return (x, y, z)


def suspects(
    values: Sequence[Vec3],
    variances: Sequence[Vec3],
    slacks: Sequence[float],
    false_alarm: float,
) -> list[bool]:
    """Tell which inputs disagree; one alone never does.

    Parameters
    ----------
    values, variances : sequence of Vec3
        Per input, in common axes, and the variances of what may be without a failure.
    slacks : sequence of float
        Per input, what is added to its threshold.
    false_alarm : float
        Bound of the probability that at a sample any input is suspect without a failure.
    """
    count = len(values)
    if count < 2:
        return [False] * count
    centre = median(values)
    k = threshold(count, false_alarm)
    quantile = count // 2 - 1
    found = [False] * count
    for axis in range(3):
        column = [variance[axis] for variance in variances]
        ordered = sorted(column)
        for i, value in enumerate(values):
            # the quantile among the others: one further where i itself is before it
            place = quantile + (column[i] <= ordered[quantile])
            limit = k * math.sqrt(column[i] + ordered[place]) + slacks[i]
            if abs(value[axis] - centre[axis]) > limit:
                found[i] = True
    return found
