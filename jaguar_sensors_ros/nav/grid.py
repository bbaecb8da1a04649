"""The sample grid of a sensor."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from jaguar_sensors_ros.types import NS_PER_S

#: beyond this an intermediate result may not fit into 64 bits
_LARGEST = 1 << 62


class SampleGrid:
    """Instants t_k = round(k 1e9 / rate) ns with absolute k, in the time base of the truth.

    The rate is taken as the exact fraction that its decimal notation says, so the grid neither
    drifts nor depends on when it is entered, and two sensors of one rate coincide.
    """

    def __init__(self, rate_hz: float) -> None:
        period = NS_PER_S / Fraction(str(rate_hz))
        self._numerator = period.numerator
        self._denominator = period.denominator

    @property
    def is_even(self) -> bool:
        """Whether the period is a whole number of nanoseconds."""
        return self._denominator == 1

    def time_ns(self, k: int) -> int:
        """Return t_k [ns], halves rounded to even."""
        if self._denominator == 1:
            return k * self._numerator
        quotient, rest = divmod(k * self._numerator, self._denominator)
        twice = 2 * rest
        if twice > self._denominator or (twice == self._denominator and quotient & 1):
            return quotient + 1
        return quotient

    def times_ns(self, k: int, count: int) -> NDArray[np.int64]:
        """Return the ``count`` instants from t_k on [ns], all below 2^63."""
        whole, part = divmod(self._numerator, self._denominator)
        first, rest = divmod(k * self._numerator, self._denominator)
        if self._denominator * (count + 1) >= _LARGEST:
            return np.array([self.time_ns(j) for j in range(k, k + count)], dtype=np.int64)
        steps = np.arange(count, dtype=np.int64)
        carried, rests = np.divmod(rest + steps * part, self._denominator)
        times = first + steps * whole + carried
        twice = 2 * rests
        odd = (times & 1).astype(bool)
        up = (twice > self._denominator) | ((twice == self._denominator) & odd)
        return np.asarray(times + up)

    def first_at(self, t_ns: int) -> int:
        """Return the smallest k with t_k >= t_ns."""
        k = t_ns * self._denominator // self._numerator
        while self.time_ns(k) >= t_ns:
            k -= 1
        while self.time_ns(k) < t_ns:
            k += 1
        return k
