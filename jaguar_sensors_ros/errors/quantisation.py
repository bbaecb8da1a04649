"""Pulse quantisation with the residue carried to the next sample."""

from __future__ import annotations

import math

import numpy as np

from jaguar_sensors_ros.errors.intervals import Array

#: the residue is kept in units of lsb / 2^32, as an integer
_FRACTION_BITS = 32
_ONE = 1 << _FRACTION_BITS


class PulseQuantiser:
    """Turns increments into whole pulses; what is cut off is kept for the next sample.

    out = floor((D + residue) / lsb) lsb.  The sum of the outputs never strays from the sum of
    the inputs by more than one lsb, whatever the signs (document 001, section 3.1; its code
    floors without the old residue, which drifts).  Integer arithmetic makes a vectorised run
    and a run sample by sample agree bit for bit.
    """

    __slots__ = ('_residue',)

    def __init__(self) -> None:
        self._residue = 0

    def step(self, increment: float, lsb: float) -> float:
        """Return the quantised increment; ``lsb`` > 0 in the unit of the increment."""
        scaled = increment / lsb
        whole = math.floor(scaled)
        fraction = round((scaled - whole) * _ONE)
        total = self._residue + fraction
        pulses = whole + (total >> _FRACTION_BITS)
        self._residue = total & (_ONE - 1)
        return pulses * lsb

    def block(self, increments: Array, lsb: float) -> Array:
        """Return the quantised increments of consecutive samples, the same bit for bit."""
        scaled = increments / lsb
        whole = np.floor(scaled)
        scaled -= whole
        scaled *= _ONE
        fractions = np.rint(scaled, out=scaled).astype(np.int64)
        fractions[0] += self._residue
        sums = np.cumsum(fractions, out=fractions)
        self._residue = int(sums[-1]) & (_ONE - 1)
        sums >>= _FRACTION_BITS
        whole[0] += sums[0]
        whole[1:] += np.diff(sums)
        whole *= lsb
        return whole


def round_to(value: float, resolution: float) -> float:
    """Return ``value`` rounded to the nearest multiple of ``resolution`` > 0, half to even."""
    return round(value / resolution) * resolution
