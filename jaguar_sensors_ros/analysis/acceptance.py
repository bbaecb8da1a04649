"""Whether samples agree with their model: complete on their grid, errors as large as stated.

Errors are counted in standard deviations, as the messages give them.  Where the model holds,
each axis consists of a part that is new in every sample and of a part that is common to all of
them (a bias).  The scatter about the mean then follows a chi-square law with the number of
samples, and only the mean tells of the common part.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from jaguar_sensors_ros.types import NS_PER_S, ZERO3, Vec3

#: standard deviations that no single error may exceed
PEAK_SIGMAS = 6.0
#: how improbable a failure of a right model is: as a normal value beyond this
_Z = 5.0


def mean_square_bounds(degrees: int, z: float = _Z) -> tuple[float, float]:
    """Return the bounds of chi-square / degrees of freedom that hold but for |normal| > z.

    Wilson-Hilferty: (chi2 / k)^(1/3) is nearly normal, mean 1 - 2 / (9 k), variance 2 / (9 k).

    Examples
    --------
    >>> low, high = mean_square_bounds(10_000)
    >>> round(low, 2), round(high, 2)
    (0.93, 1.07)
    """
    if degrees < 1:
        return 0.0, math.inf
    part = 2.0 / (9.0 * degrees)
    low, high = (1.0 - part + sign * z * math.sqrt(part) for sign in (-1.0, 1.0))
    return max(low, 0.0) ** 3, high**3


@dataclass
class ChannelCheck:
    """Errors of one channel, axis by axis; takes them one by one and keeps sums only.

    Parameters
    ----------
    name, unit : str
        For the reports.
    slow_std : Vec3
        Stationary standard deviation of the part that samples have in common, in ``unit``.
    slow_tau_s : float
        Its correlation time [s].
    axes : str
        Letters of the axes.
    """

    name: str
    unit: str
    slow_std: Vec3 = ZERO3
    slow_tau_s: float = 3600.0
    axes: str = 'xyz'
    count: int = 0
    peak: float = 0.0
    sums: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    squares: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    sigma: Vec3 = (1.0, 1.0, 1.0)
    first_ns: int = 0
    last_ns: int = 0

    def add(self, t_ns: int, error: Vec3, sigma: Vec3) -> None:
        """Take an error and its stated standard deviation, both in the unit of the channel."""
        self.first_ns = self.first_ns or t_ns
        self.last_ns, self.sigma = t_ns, sigma
        self.count += 1
        for i in range(3):
            x = error[i] / sigma[i]
            self.sums[i] += x
            self.squares[i] += x * x
            # written so that an error that is not a number counts as endless
            self.peak = self.peak if abs(x) <= self.peak else abs(x)
        if not all(math.isfinite(e) for e in error):
            self.peak = math.inf

    @property
    def rms(self) -> float:
        """Root mean square of all axes, in standard deviations."""
        return math.sqrt(sum(self.squares) / (3 * self.count)) if self.count else math.nan

    def mean(self, axis: int) -> float:
        """Mean error of an axis, in the unit of the channel."""
        return self.sums[axis] / self.count * self.sigma[axis] if self.count else math.nan

    def objections(self) -> list[str]:
        """Return what speaks against the model; empty where nothing does."""
        if self.count == 0:
            return [f'{self.name}: no errors to judge']
        found = []
        if not math.isfinite(self.peak):
            return [f'{self.name}: values that are no numbers']
        if not self.peak <= PEAK_SIGMAS:
            found.append(
                f'{self.name}: an error of {self.peak:.1f} sigma (limit {PEAK_SIGMAS:g})'
            )
        scatter, low, high = 0.0, 0.0, 0.0
        pooled_low, pooled_high = mean_square_bounds(3 * (self.count - 1))
        axis_low, axis_high = mean_square_bounds(self.count - 1)
        for i, letter in enumerate(self.axes):
            mean = self.sums[i] / self.count
            spread = self._spread(i)
            common = min(1.0, (self.slow_std[i] / self.sigma[i]) ** 2)
            new, wander = 1.0 - common, 9.0 * common * self._wander()
            if not new * axis_low <= spread <= new * axis_high + wander:
                found.append(
                    f'{self.name} {letter}: scatter of {math.sqrt(spread):.2f} sigma, '
                    f'expected {math.sqrt(new * axis_low):.2f} to '
                    f'{math.sqrt(new * axis_high + wander):.2f}'
                )
            limit = _Z * math.sqrt(common + new / self.count)
            if not abs(mean) <= limit:
                found.append(
                    f'{self.name} {letter}: mean error of {mean:.2f} sigma '
                    f'(limit {limit:.2f})'
                )
            scatter += spread
            low += new * pooled_low
            high += new * pooled_high + wander
        if not low <= scatter <= high:
            found.append(
                f'{self.name}: scatter of {math.sqrt(scatter / 3.0):.3f} sigma, expected '
                f'{math.sqrt(low / 3.0):.3f} to {math.sqrt(high / 3.0):.3f}'
            )
        return found

    def _spread(self, axis: int) -> float:
        """Return the sample variance of an axis in squared standard deviations."""
        if self.count < 2:
            return 1.0
        mean = self.sums[axis] / self.count
        return max(0.0, self.squares[axis] - self.count * mean * mean) / (self.count - 1)

    def _wander(self) -> float:
        """Return the share of the slow variance that appears as scatter within the run."""
        span_s = (self.last_ns - self.first_ns) / NS_PER_S
        return min(1.0, 2.0 * span_s / self.slow_tau_s)


class GridCheck:
    """Whether the stamps of a stream are those of its grid, each of them once and in order.

    Which grid points there are is told by :meth:`expect`: all that lie in the truth.

    Parameters
    ----------
    rate_hz : float
        The grid is t_k = round(k 1e9 / rate) ns.
    """

    def __init__(self, rate_hz: float) -> None:
        self.rate_hz = rate_hz
        self._rate = Fraction(str(rate_hz))
        self._expected: dict[int, None] = {}
        self._early: dict[int, None] = {}
        self.received = 0
        self.matched = 0
        self.repeated = 0
        self.off_grid = 0
        self.first_ns: int | None = None
        self.last_ns = 0

    def expect(self, t_ns: int) -> None:
        """Take note of a grid point within the truth."""
        if t_ns in self._early:
            del self._early[t_ns]
            self.matched += 1
        else:
            self._expected[t_ns] = None

    def arrive(self, t_ns: int) -> bool:
        """Take note of a stamp that came; return False for one that is out of order."""
        self.received += 1
        if self.first_ns is None:
            self.first_ns = t_ns
        elif t_ns <= self.last_ns:
            self.repeated += 1
            return False
        self.last_ns = t_ns
        k = round(Fraction(t_ns) * self._rate / NS_PER_S)
        if round(Fraction(k * NS_PER_S) / self._rate) != t_ns:
            self.off_grid += 1
        if t_ns in self._expected:
            del self._expected[t_ns]
            self.matched += 1
        else:
            self._early[t_ns] = None
        return True

    def missing(self, last_ns: int) -> int:
        """Return how many grid points from the first stamp to ``last_ns`` brought no sample."""
        first_ns = self.first_ns if self.first_ns is not None else 0
        return sum(first_ns <= t_ns <= last_ns for t_ns in self._expected)

    def late_s(self) -> float:
        """Return how long the truth had been running when the first sample came [s]."""
        if self.first_ns is None or not self._expected:
            return 0.0
        return max(0.0, (self.first_ns - next(iter(self._expected))) / NS_PER_S)

    def objections(
        self, name: str, end_ns: int, late_s: float, is_cut: bool = False
    ) -> list[str]:
        """Return what is wrong with the stamps up to ``end_ns``; empty where nothing is.

        ``late_s`` is the time at the start that discovery may take.  Where the truth was cut off
        at some time after ``end_ns``, its last messages may be unknown here that a sensor has
        had: later samples are then no objection.
        """
        if self.received == 0:
            return [f'{name}: nothing received']
        found = []
        missing = self.missing(end_ns)
        if missing:
            found.append(f'{name}: {missing} samples missing at {self.rate_hz:g} Hz')
        if self.late_s() > late_s:
            found.append(f'{name}: the first sample came {self.late_s():.1f} s late')
        outside = sum(not is_cut or t_ns <= end_ns for t_ns in self._early)
        if outside:
            found.append(f'{name}: {outside} samples at times outside of the truth')
        if self.off_grid:
            found.append(f'{name}: {self.off_grid} stamps are not on the grid')
        if self.repeated:
            found.append(f'{name}: {self.repeated} stamps repeated or going back')
        return found


class Trace:
    """A signal over time for a picture; thins itself out where it grows too long.

    Rows beyond ``most`` make every other row go, so an endless run needs bounded memory.
    """

    def __init__(self, most: int = 40_000) -> None:
        self._most = most
        self._stride = 1
        self._seen = 0
        self.t_ns: list[int] = []
        self.rows: list[Sequence[float]] = []

    def add(self, t_ns: int, row: Sequence[float]) -> None:
        """Take a row of numbers."""
        if self._seen % self._stride == 0:
            self.t_ns.append(t_ns)
            self.rows.append(row)
            if len(self.rows) > self._most:
                self.t_ns, self.rows = self.t_ns[::2], self.rows[::2]
                self._stride *= 2
        self._seen += 1
