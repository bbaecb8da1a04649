"""The error chain of a triad at rest for whole arrays of samples.

Made for records of many hours: the parts of :class:`errors.triad.Triad` put together for arrays,
the same numbers bit for bit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from jaguar_sensors_ros.component import StreamFactory
from jaguar_sensors_ros.errors.intervals import Array, Intervals
from jaguar_sensors_ros.errors.low_pass import Piece
from jaguar_sensors_ros.errors.triad import Ambience, Triad
from jaguar_sensors_ros.errors.triad_settings import BiasSettings, TriadSettings
from jaguar_sensors_ros.types import Mat3, Vec3


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


class TriadArray:
    """Error chain of a triad at rest; parameters as :meth:`errors.triad.Triad.configure`."""

    def __init__(
        self,
        term: str,
        streams: StreamFactory,
        settings: TriadSettings,
        bias: BiasSettings,
        lsb: Vec3,
        g_sensitivity: Mat3 | None,
    ) -> None:
        self._triad = Triad(term, streams)
        self._triad.configure(settings, bias, lsb, g_sensitivity)

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
            bias = triad.additive.bias(i, start, intervals)
            if triad.feels_ambience:
                bias = bias + ambient[i]
            triad.additive.noise(i, start, intervals, rates)
            rates += bias
            if triad.g_sensitivity is not None:
                rates += felt[i]
            rates += ideal[i]
            triad.output.block(i, rates, dt_s, pulses)

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
