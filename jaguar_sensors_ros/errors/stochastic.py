"""Stochastic terms of one axis, a block of consecutive samples at a time.

Each term consumes one unit normal a sample, addressed by the sample's number since power-on;
sigma, correlation time and interval act when it is consumed.  What carries over from sample to
sample is ``state``; sums run in the order of the samples, so where a block ends and the next one
begins changes no bit.  :class:`errors.ahead.Ahead` hands a live sensor one sample at a time.

Formulas: IEEE Std 952-1997 annex C; P. Maybeck, "Stochastic Models, Estimation and Control",
vol. 1 (1979), section 4.11, for the exactly discretised Gauss-Markov process.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from jaguar_sensors_ros.component import NormalStream, StreamFactory
from jaguar_sensors_ros.errors.intervals import Array, Intervals
from jaguar_sensors_ros.errors.recursion import first_order

#: Allan deviation of the flat floor of flicker noise over its coefficient B:
#: sqrt(2 ln 2 / pi) (IEEE Std 952-1997)
FLICKER_FLOOR = math.sqrt(2.0 * math.log(2.0) / math.pi)
#: ratio of neighbouring correlation times in the flicker sum; the ripple is below 2 %
_FLICKER_RATIO = 4.0


class GaussMarkov:
    """First-order Gauss-Markov process of unit variance, stationary from its first sample.

    x' = phi x + sqrt(1 - phi^2) w, phi = exp(-dt/tau).  Over samples that were left out (a gap
    in the truth) it takes one step of their whole length.  ``state`` is the number of the last
    sample and its value, None before the first.
    """

    __slots__ = ('_stream', 'state')

    def __init__(self, stream: NormalStream) -> None:
        self._stream = stream
        self.state: tuple[int, float] | None = None

    def block(self, start: int, intervals: Intervals, tau_s: float) -> Array:
        """Return the values of the samples from ``start`` on, in units of sigma.

        ``tau_s`` [s] is the correlation time; 0 makes the process white.
        """
        decays = [_decay(dt_s, tau_s) for dt_s in intervals.lengths_s]
        driven = self._stream.array(start, len(intervals))
        first = float(driven[0])
        if self.state is not None:
            tick, value = self.state
            dt_s = intervals.lengths_s[intervals.which[0]]
            phi, root = _decay(dt_s * (start - tick), tau_s)
            first = phi * value + root * first
        driven *= intervals.spread([root for _, root in decays])
        driven[0] = first
        values = first_order(driven, intervals.spread([phi for phi, _ in decays]))
        self.state = (start + len(values) - 1, float(values[-1]))
        return values


@lru_cache(maxsize=4096)
def _decay(elapsed_s: float, tau_s: float) -> tuple[float, float]:
    """Return phi and sqrt(1 - phi^2) of a step; the same for all axes and from block to block."""
    ratio = elapsed_s / tau_s if tau_s > 0.0 else math.inf
    return math.exp(-ratio), math.sqrt(-math.expm1(-2.0 * ratio))


class BiasInstability:
    """Slowly varying bias: one Gauss-Markov process, or flicker as a sum of several.

    The flicker model takes equal processes with correlation times tau, tau/4, tau/16 ... down
    to a second, scaled so that the Allan deviation in the middle of their range is the floor
    0.664 B of true flicker noise with coefficient B.

    It begins with the first sample that has a sigma and runs on from there, in units of sigma,
    so that a sigma that is changed and restored leaves no trace.
    """

    def __init__(self, streams: StreamFactory, term: str, axis: str) -> None:
        self._streams = streams
        self._term = term
        self._axis = axis
        #: those that were ever needed, the slowest first
        self.processes: list[GaussMarkov] = []
        self.configure(0.0, 1.0, 'gauss_markov')

    def configure(self, sigma: float, tau_s: float, model: str) -> None:
        """Take parameters; ``sigma`` in the unit of the bias, ``tau_s`` in seconds."""
        self._taus: tuple[float, ...] = (tau_s,)
        self._gain = sigma
        if model != 'gauss_markov':
            self._taus, gain = flicker_components(tau_s)
            self._gain = sigma * gain
        if sigma == 0.0:
            return
        for index in range(len(self.processes), len(self._taus)):
            suffix = f'.{index}' if index else ''
            stream = self._streams.stream(self._term + suffix, self._axis)
            self.processes.append(GaussMarkov(stream))

    def block(self, start: int, intervals: Intervals) -> Array | None:
        """Return the bias of the samples from ``start`` on, None where there never was one."""
        total = None
        for process, tau_s in zip(self.processes, self._taus, strict=False):
            values = process.block(start, intervals, tau_s)
            if total is None:
                total = values
            else:
                total += values
        if total is not None:
            total *= self._gain
        return total


class RandomWalk:
    """Rate random walk: a sum of independent steps of variance K^2 dt.

    The sum is kept for K = 1, so that a coefficient that is changed and restored leaves no
    trace.  It starts with the first sample that has a coefficient.  ``state`` is the number of
    the last sample and the sum, None before.
    """

    __slots__ = ('_stream', 'state')

    def __init__(self, stream: NormalStream) -> None:
        self._stream = stream
        self.state: tuple[int, float] | None = None

    def block(self, start: int, intervals: Intervals, coefficient: float) -> Array | None:
        """Return the walk of the samples from ``start`` on, None before it starts.

        ``coefficient`` is K in unit/sqrt(s).
        """
        if self.state is None and coefficient == 0.0:
            return None
        tick, value = self.state or (start - 1, 0.0)
        walk = self._stream.array(start, len(intervals))
        dt_s = intervals.lengths_s[intervals.which[0]]
        first = value + math.sqrt(dt_s * (start - tick)) * float(walk[0])
        walk *= intervals.spread([math.sqrt(dt_s) for dt_s in intervals.lengths_s])
        walk[0] = first
        np.cumsum(walk, out=walk)
        self.state = (start + len(walk) - 1, float(walk[-1]))
        walk *= coefficient
        return walk


def flicker_components(tau_s: float) -> tuple[tuple[float, ...], float]:
    """Return the correlation times [s] and the common sigma per unit of B of the flicker sum."""
    taus = [tau_s]
    while taus[-1] / _FLICKER_RATIO >= 1.0:
        taus.append(taus[-1] / _FLICKER_RATIO)
    middle = 1.89 * math.sqrt(taus[0] * taus[-1])
    variance = sum(gauss_markov_avar(middle, tau) for tau in taus)
    return tuple(taus), FLICKER_FLOOR / math.sqrt(variance)


def gauss_markov_avar(tau: float, correlation_s: float) -> float:
    """Return the Allan variance of a unit-variance Gauss-Markov process at ``tau`` [s].

    (2 T/tau) [1 - (T/(2 tau)) (3 - 4 exp(-tau/T) + exp(-2 tau/T))], T the correlation time.
    """
    ratio = correlation_s / tau
    inner = 3.0 - 4.0 * math.exp(-1.0 / ratio) + math.exp(-2.0 / ratio)
    return 2.0 * ratio * (1.0 - 0.5 * ratio * inner)


def stationary_sigma(sigma: float, tau_s: float, model: str) -> float:
    """Return the standard deviation of the whole bias-instability term."""
    if model == 'gauss_markov':
        return sigma
    taus, gain = flicker_components(tau_s)
    return sigma * gain * math.sqrt(len(taus))


def white_sigma(density: float, psd: float, bandwidth_hz: float, dt_s: float) -> float:
    """Return the standard deviation of white noise on the mean rate over ``dt_s``.

    A density N [unit/sqrt(Hz)] gives N / sqrt(dt).  A one-sided PSD [unit^2/Hz] with a noise
    bandwidth gives sqrt(PSD x bandwidth) (document 000), without one N = sqrt(PSD / 2).
    """
    if psd > 0.0:
        if bandwidth_hz > 0.0:
            return math.sqrt(psd * bandwidth_hz)
        return math.sqrt(0.5 * psd / dt_s)
    return density / math.sqrt(dt_s)
