"""The sample grid of a sensor."""

from __future__ import annotations

from fractions import Fraction

from jaguar_sensors_ros.types import NS_PER_S


class SampleGrid:
    """Instants t_k = round(k 1e9 / rate) ns with absolute k, in the time base of the truth.

    The rate is taken as the exact fraction that its decimal notation says, so the grid neither
    drifts nor depends on when it is entered, and two sensors of one rate coincide.
    """

    def __init__(self, rate_hz: float) -> None:
        rate = Fraction(str(rate_hz))
        self._numerator = NS_PER_S * rate.denominator
        self._denominator = rate.numerator

    def time_ns(self, k: int) -> int:
        """Return t_k [ns], halves rounded to even."""
        quotient, rest = divmod(k * self._numerator, self._denominator)
        twice = 2 * rest
        if twice > self._denominator or (twice == self._denominator and quotient & 1):
            return quotient + 1
        return quotient

    def first_at(self, t_ns: int) -> int:
        """Return the smallest k with t_k >= t_ns."""
        k = t_ns * self._denominator // self._numerator
        while self.time_ns(k) >= t_ns:
            k -= 1
        while self.time_ns(k) < t_ns:
            k += 1
        return k
