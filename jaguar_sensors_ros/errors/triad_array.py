"""The error chain of a triad for whole arrays of samples.

Made for records of many hours and for trajectories: the parts of :class:`errors.triad.Triad` put
together for arrays, the same numbers bit for bit.  At rest what is taken in is the same again and
again, and only the rates are put out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from jaguar_sensors_ros.errors.intervals import Array, Intervals
from jaguar_sensors_ros.errors.low_pass import Piece, Ran
from jaguar_sensors_ros.errors.triad import Ambience, Triad
from jaguar_sensors_ros.types import ZERO3, Vec3


@dataclass(frozen=True)
class Still:
    """What a triad at rest takes in during an interval of one length.

    ``mean`` and ``pieces`` are as in :meth:`errors.low_pass.LowPass.mean`, ``ambience`` is what
    it feels besides, the same for all lengths but for the force, ``instant`` the ideal rate at
    the stamp or None.
    """

    dt_s: float
    mean: Vec3
    pieces: tuple[Piece, ...]
    ambience: Ambience
    instant: Vec3 | None


class Moving(NamedTuple):
    """What a triad takes in during consecutive samples.

    ``means`` are the ideal mean rates in the sensor frame, shape (3, n); ``ran`` tells how they
    ran, None without a low-pass; ``instants`` are the ideal rates at the stamps, or None.
    """

    means: Array
    ran: Ran | None
    instants: Array | None


class TriadColumns(NamedTuple):
    """What the chain made of consecutive samples, shape (3, n) each; see TriadReading."""

    rate: Array
    increment: Array
    instant: Array
    bias: Array
    noise: Array


class TriadArray:
    """Error chain of a triad that begins at power-on.

    Parameters
    ----------
    triad : Triad
        Its parts, configured; nobody else may use it.
    """

    def __init__(self, triad: Triad) -> None:
        self._triad = triad

    def block(
        self, start: int, kinds: Sequence[Still], intervals: Intervals, out: Array
    ) -> None:
        """Put the rates of the samples from ``start`` on into ``out``, shape (3, count).

        ``kinds`` are what is taken in during each of the lengths of ``intervals``.  One axis after
        the other, so that what is worked on stays in the cache.
        """
        triad, dt_s, pulses = self._triad, intervals.dt_s, kinds[0].instant is None
        ideal = self._ideal(kinds, intervals)
        ambient = triad.ambient_bias(kinds[0].ambience)
        felt = _spread([triad.felt(kind.ambience.force) for kind in kinds], intervals)
        for i, rates in enumerate(out):
            triad.additive.noise(i, start, intervals, rates)
            rates += self._bias(i, start, intervals, ambient)
            if triad.g_sensitivity is not None:
                rates += felt[i]
            rates += ideal[i]
            triad.output.block(i, rates, dt_s, pulses)

    def moving(
        self, start: int, taken: Moving, ambience: Ambience, intervals: Intervals
    ) -> TriadColumns:
        """Return the readings of the samples from ``start`` on, one axis after the other.

        ``ambience`` has columns in the place of numbers.
        """
        triad, dt_s, shape = self._triad, intervals.dt_s, taken.means.shape
        means, instants = self._sensed(taken, ambience.temperature_c, dt_s)
        ambient = triad.ambient_bias(ambience) if triad.feels_ambience else ZERO3
        felt = triad.felt(ambience.force)
        rate, increment, bias, noise = np.empty((4, *shape))
        at_stamp = rate if instants is None else np.empty(shape)
        for i in range(3):
            triad.additive.noise(i, start, intervals, noise[i])
            bias[i] = self._bias(i, start, intervals, ambient)
            added = bias[i] + noise[i]
            if triad.g_sensitivity is not None:
                added += felt[i]
            np.add(means[i], added, out=rate[i])
            triad.output.limit(i, rate[i])
            increment[i] = triad.output.increments(i, rate[i], dt_s)
            if instants is not None:
                np.add(instants[i], added, out=at_stamp[i])
                triad.output.limit(i, at_stamp[i])
        return TriadColumns(rate, increment, at_stamp, bias, noise)

    def break_off(self) -> None:
        """Start anew: what came before a gap in the truth is over."""
        self._triad.low_pass.break_off()

    @property
    def feels_vibration(self) -> bool:
        """Whether vibration is rectified."""
        return any(self._triad.settings.vibration_rectification)

    def _bias(self, i: int, start: int, intervals: Intervals, ambient: Any) -> Any:
        """Return the biases of one axis, a number where they are constant."""
        bias = self._triad.additive.bias(i, start, intervals)
        return bias + ambient[i] if self._triad.feels_ambience else bias

    def _sensed(self, taken: Moving, temperature_c: float, dt_s: Any) -> tuple[Any, Any]:
        """Return means and instants after low-pass and sensing; instants may be None."""
        triad, (means, ran, instants) = self._triad, taken
        if ran is not None:
            means, instants = triad.low_pass.block(means, ran, instants, dt_s)
        sensed: list[Any] = [
            None if rates is None else triad.sensing(rates, temperature_c)  # type: ignore[arg-type]
            for rates in (means, instants)
        ]
        return sensed[0], sensed[1]

    def _ideal(self, kinds: Sequence[Still], intervals: Intervals) -> Array:
        """Return the ideal rates after low-pass and sensing, shape (3, count) or (3, 1).

        Without a low-pass they depend on the interval's length alone.  With one, its state at
        rest is the same again after a few samples, from where on all repeats itself.
        """
        if not self._triad.low_pass.is_on:
            return _spread([self._rate(kind) for kind in kinds], intervals)
        if len(kinds) > 1:
            return np.array([self._rate(kinds[k]) for k in intervals.which.tolist()]).T
        seen: dict[Vec3 | None, int] = {}
        rates: list[Vec3] = []
        while self._triad.low_pass.state not in seen and len(rates) < len(intervals):
            seen[self._triad.low_pass.state] = len(rates)
            rates.append(self._rate(kinds[0]))
        return self._repeated(rates, seen, len(intervals))

    def _rate(self, kind: Still) -> Vec3:
        """Advance the low-pass by one sample; return the rate of a perfect source after it."""
        triad = self._triad
        mean = triad.low_pass.mean(kind.mean, kind.pieces, kind.dt_s)
        if kind.instant is not None:
            mean = triad.low_pass.at_stamp(kind.instant)
        return triad.sensing(mean, kind.ambience.temperature_c)

    def _repeated(
        self, rates: list[Vec3], seen: dict[Vec3 | None, int], count: int
    ) -> Array:
        """Return ``count`` samples, of which the last ones known come again and again.

        ``seen`` are the states of the low-pass before each of the samples known.
        """
        table, n = np.array(rates).T, len(rates)
        if n == count:
            return table
        low_pass = self._triad.low_pass
        first = seen[low_pass.state]
        period = n - first
        low_pass.state = list(seen)[first + (count - first) % period]
        if n == 1:
            return table
        which = np.arange(count)
        which[n:] = first + (which[n:] - first) % period
        return table[:, which]


def _spread(vectors: Sequence[Vec3], intervals: Intervals) -> Array:
    """Return one vector for each sample from one for each length, shape (3, count) or (3, 1)."""
    table = np.array(vectors).T
    return table if len(vectors) == 1 else table[:, intervals.which]
