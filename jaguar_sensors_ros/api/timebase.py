"""Measurement time that goes on by floating-point steps and does not drift."""

from __future__ import annotations

from fractions import Fraction

from jaguar_sensors_ros.api.values import positive
from jaguar_sensors_ros.types import NS_PER_S, JaguarError

_LONGEST_S = 1e9


class TimeBase:
    """Whole nanoseconds, rounded from the exact sum of the steps.

    Parameters
    ----------
    start_ns : int
        Where it begins [ns], >= 0.
    """

    def __init__(self, start_ns: int) -> None:
        if isinstance(start_ns, bool) or not isinstance(start_ns, int) or start_ns < 0:
            raise JaguarError(f'start_ns = {start_ns!r}: must be a whole number >= 0 ns')
        self._start_ns = start_ns
        self._elapsed_s = Fraction(0)

    @staticmethod
    def check(dt: float) -> float:
        """Return a step [s].

        Raises
        ------
        JaguarError
            if it is not a finite number above 0: time does not stand or run backwards.
        """
        step = positive('dt', dt, 's; time cannot stand still or run backwards')
        if step > _LONGEST_S:
            raise JaguarError(f'dt = {dt!r}: must be at most {_LONGEST_S:g} s')
        return step

    def advance(self, dt: float) -> int:
        """Go on by a step [s]; return the new time [ns]."""
        self._elapsed_s += Fraction(self.check(dt))
        return self._start_ns + round(self._elapsed_s * NS_PER_S)
