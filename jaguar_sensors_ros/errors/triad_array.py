"""The error chain of a triad at rest for whole arrays of samples.

Made for records of many hours: the same numbers as :class:`errors.triad.Triad` sample by sample,
bit for bit.  A term that is added there is added here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaguar_sensors_ros.component import StreamFactory
from jaguar_sensors_ros.errors.batch import (
    Array,
    GaussMarkovArray,
    Intervals,
    PulseQuantiserArray,
    WalkArray,
)
from jaguar_sensors_ros.errors.stochastic import flicker_components, white_sigma
from jaguar_sensors_ros.errors.triad import (
    AXES,
    REFERENCE_C,
    Ambience,
    BiasSettings,
    Triad,
    TriadSettings,
)
from jaguar_sensors_ros.nav.earth import STANDARD_GRAVITY
from jaguar_sensors_ros.nav.rotation import add, matrix_times
from jaguar_sensors_ros.types import ZERO3, Mat3, Vec3


class AxisArray:
    """Additive terms and output stage of one axis of a triad.

    Parameters
    ----------
    term : str
        'gyro' or 'accel', part of the names of the random streams.
    i : int
        Axis, 0 to 2.
    streams : StreamFactory
        The random streams of this power cycle.
    settings, bias, lsb
        As in :meth:`errors.triad.Triad.configure`.
    """

    def __init__(
        self,
        term: str,
        i: int,
        streams: StreamFactory,
        settings: TriadSettings,
        bias: BiasSettings,
        lsb: Vec3,
    ) -> None:
        self._i, self._settings, self._bias, self._lsb = i, settings, bias, lsb[i]
        axis = AXES[i]
        self._white = streams.stream(f'{term}.white_noise', axis)
        self._turn_on = streams.stream(f'{term}.turn_on_bias', axis)(0)
        self._gain = bias.sigma[i]
        self._taus: tuple[float, ...] = (bias.tau_s[i],)
        self._flicker = settings.bias_model != 'gauss_markov'
        if self._flicker:
            self._taus, gain = flicker_components(bias.tau_s[i])
            self._gain = bias.sigma[i] * gain
        name = f'{term}.bias_instability'
        names = chain([name], (f'{name}.{k}' for k in range(1, len(self._taus))))
        self._processes = [GaussMarkovArray(streams.stream(n, axis)) for n in names]
        self._walk = WalkArray(streams.stream(f'{term}.random_walk', axis))
        self._quantiser = PulseQuantiserArray()

    def additive(self, start: int, intervals: Intervals, felt: Any, ambient: float) -> Array:
        """Return the sum of the additive terms of the samples from ``start`` on.

        ``felt`` is what the g-sensitivity adds, None where there is none; ``ambient`` is the
        bias by temperature and vibration.
        """
        s, i = self._settings, self._i
        total = self._instability(start, intervals)
        total += s.turn_on_bias_std[i] * self._turn_on
        if s.random_walk[i] != 0.0:
            total += self._walk.block(start, intervals, s.random_walk[i])
        total += ambient
        density, psd = s.white_noise_density[i], s.white_noise_psd[i]
        bandwidth = s.white_noise_bandwidth[i]
        sigma = [white_sigma(density, psd, bandwidth, dt_s) for dt_s in intervals.lengths_s]
        white = self._white.array(start, len(intervals))
        white *= intervals.spread(sigma)
        total += white
        if felt is not None:
            total += felt
        return total

    def _instability(self, start: int, intervals: Intervals) -> Array:
        total = np.zeros(len(intervals))
        if self._bias.sigma[self._i] == 0.0:
            return total
        for process, tau_s in zip(self._processes, self._taus, strict=True):
            total += process.block(start, intervals, tau_s)
        total *= self._gain
        return total

    def output(self, values: Array, dt_s: Any, pulses: bool = True) -> Array:
        """Saturate and quantise; return rates.  ``pulses`` False: at the stamp, without them."""
        limit, step = self._settings.range[self._i], self._settings.resolution[self._i]
        if limit != 0.0:
            values = np.clip(values, -limit, limit)
        if self._lsb > 0.0:
            if not pulses:
                return values
            return np.asarray(self._quantiser.block(values * dt_s, self._lsb) / dt_s)
        return np.rint(values / step) * step if step > 0.0 else values


@dataclass(frozen=True)
class Still:
    """What a triad at rest is given in an interval of one length.

    ``parts`` are the ideal increments of the substeps and ``durations_s`` their lengths [s],
    ``ambience`` is what it feels besides, the same for all lengths but for the force,
    ``instant`` the ideal rate at the stamp or None (see :meth:`errors.triad.Triad.step`).
    """

    dt_s: float
    parts: list[Vec3]
    durations_s: list[float]
    ambience: Ambience
    instant: Vec3 | None


class TriadArray:
    """Error chain of a triad at rest; parameters as :class:`errors.triad.Triad`."""

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
        self._g_sensitivity = g_sensitivity
        self._axes = [AxisArray(term, i, streams, settings, bias, lsb) for i in range(3)]

    def substeps(self, dt_s: float) -> int:
        """Return into how many parts an interval is cut; see :meth:`errors.triad.Triad`."""
        return self._triad.substeps(dt_s)

    def block(self, start: int, kinds: Sequence[Still], which: NDArray[np.intp]) -> Array:
        """Return the rates of the samples from ``start`` on, shape (3, count).

        ``kinds`` are the lengths of interval that occur, ``which`` (count,) says which is whose.
        """
        intervals = Intervals(tuple(kind.dt_s for kind in kinds), which)
        ideal = self._ideal(kinds, which)
        at_stamp = kinds[0].instant is not None
        rates = np.empty((3, len(which)))
        for i, axis in enumerate(self._axes):
            ambient = self._triad.ambient_bias(i, kinds[0].ambience)
            felt = self._felt(i, kinds, intervals)
            values = axis.additive(start, intervals, felt, ambient)
            values += ideal[:, i]
            rates[i] = axis.output(values, intervals.dt_s, pulses=not at_stamp)
        return rates

    def _felt(self, i: int, kinds: Sequence[Still], intervals: Intervals) -> Any:
        if self._g_sensitivity is None:
            return None
        felt = [matrix_times(self._g_sensitivity, kind.ambience.force)[i] for kind in kinds]
        return intervals.spread([rate / STANDARD_GRAVITY for rate in felt])

    def _ideal(self, kinds: Sequence[Still], which: NDArray[np.intp]) -> Array:
        """Return the ideal rates after low-pass, projection and scale factor.

        Shape (count, 3), or (1, 3) where they are all the same.

        Without a low-pass they depend on the interval's length alone.  With one, its state at
        rest is the same again after a few samples, from where on all repeats itself.
        """
        if self._triad.settings.bandwidth_hz == ZERO3:
            table = np.array([self._rate(kind) for kind in kinds])
            return table if len(kinds) == 1 else table[which]
        rates = np.empty((len(which), 3))
        seen: dict[Vec3 | None, int] = {}
        for n, k in enumerate(which.tolist()):
            state = self._triad._filtered
            if len(kinds) == 1 and state in seen:
                self._repeat(rates, list(seen), seen[state], n)
                break
            seen[state] = n
            rates[n] = self._rate(kinds[k])
        return rates

    def _rate(self, kind: Still) -> list[float]:
        """Advance the low-pass by one sample; return the rate of a perfect source after it."""
        triad = self._triad
        whole = ZERO3
        for increment in kind.parts:
            whole = add(whole, increment)
        mean = triad._low_pass(kind.parts, kind.durations_s, whole, kind.dt_s)
        if kind.instant is not None:
            mean = triad._passed(kind.instant)
        seen = triad._projected(mean)
        warmth = kind.ambience.temperature_c - REFERENCE_C
        return [triad._scaled(i, seen[i], warmth) for i in range(3)]

    def _repeat(
        self, rates: Array, states: list[Vec3 | None], first: int, n: int
    ) -> None:
        """Fill in the samples from n on, where samples first ... n - 1 come again and again.

        ``states`` are those of the low-pass before each of the samples so far.
        """
        period = n - first
        rates[n:] = rates[first + np.arange(len(rates) - n) % period]
        self._triad._filtered = states[first + (len(rates) - n) % period]
