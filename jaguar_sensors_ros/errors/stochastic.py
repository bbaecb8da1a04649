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

import numpy as np

from jaguar_sensors_ros.component import NormalStream, StreamFactory
from jaguar_sensors_ros.errors.decay import LONGEST, SMALLEST, Scales, decay
from jaguar_sensors_ros.errors.intervals import Array, Intervals
from jaguar_sensors_ros.errors.running_sum import Carry, running_sum

#: Allan deviation of the flat floor of flicker noise over its coefficient B:
#: sqrt(2 ln 2 / pi) (IEEE Std 952-1997)
FLICKER_FLOOR = math.sqrt(2.0 * math.log(2.0) / math.pi)
#: ratio of neighbouring correlation times in the flicker sum; the ripple is below 2 %
_FLICKER_RATIO = 4.0


class GaussMarkov:
    """First-order Gauss-Markov process of unit variance, stationary from its first sample.

    x' = phi x + sqrt(1 - phi^2) w, phi = exp(-dt/tau), computed as a scaled sum
    (:mod:`errors.decay`).  Over samples that were left out (a gap in the truth) it takes one step
    of their whole length.  ``state`` is the number of the last sample, how many steps the sum
    has, its scale P and what it carries over, None before the first sample.
    """

    __slots__ = ('_stream', 'state')

    def __init__(self, stream: NormalStream) -> None:
        self._stream = stream
        self.state: tuple[int, int, float, Carry] | None = None

    def block(self, start: int, intervals: Intervals, tau_s: float, gain: float = 1.0) -> Array:
        """Return the values of the samples from ``start`` on, times ``gain``.

        ``tau_s`` [s] is the correlation time; 0 makes the process white.
        """
        values, scales = self._stream.array(start, len(intervals)), Scales(intervals, tau_s, gain)
        if scales.are_white:
            self.state = (start + len(values) - 1, 0, 1.0, (0.0, float(values[-1])))
            values *= gain
            return values
        done = 0
        while done < len(values):
            tick = start + done
            if self.state is None or self.state[0] != tick - 1 or scales.forget(done):
                dt_s = intervals.lengths_s[intervals.which[done]]
                values[done] = gain * self._leap(float(values[done]), tick, dt_s, tau_s)
                done += 1
            else:
                done += self._sum(values, scales, done)
        return values

    def _leap(self, normal: float, tick: int, dt_s: float, tau_s: float) -> float:
        """Return a value of which the one before is none, long ago, or forgotten."""
        value = normal
        if self.state is not None:
            before, _, product, carry = self.state
            phi, root = decay(dt_s * (tick - before), tau_s)
            value = phi * (product * sum(carry)) + root * normal
        self.state = (tick, 0, 1.0, (0.0, value))
        return value

    def _sum(self, values: Array, scales: Scales, index: int) -> int:
        """Turn normals from ``index`` on into values, as many as the sum has; return how many."""
        assert self.state is not None
        tick, steps, product, carry = self.state
        if steps == LONGEST or product < SMALLEST:
            steps, product, carry = 0, 1.0, (0.0, product * sum(carry))
        weights, gained, product = scales.of(index, steps, product)
        count = len(weights)
        part, sums = values[index : index + count], np.empty(2 + count)
        np.multiply(part, weights, out=sums[2:])
        carry = running_sum(sums, carry, part)
        part *= gained
        self.state = (tick + count, steps + count, product, carry)
        return count


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
            values = process.block(start, intervals, tau_s, self._gain)
            if total is None:
                total = values
            else:
                total += values
        return total


class RandomWalk:
    """Rate random walk: a sum of independent steps of variance K^2 dt.

    The sum is kept for K = 1 and, so that equal intervals need no factor, in units of the root of
    the first one; a coefficient that is changed and restored leaves no trace.  It starts with
    the first sample that has a coefficient.  ``state`` is the number of the last sample, the
    unit [sqrt(s)] and what the sum carries over, None before.
    """

    __slots__ = ('_stream', 'state')

    def __init__(self, stream: NormalStream) -> None:
        self._stream = stream
        self.state: tuple[int, float, Carry] | None = None

    def block(self, start: int, intervals: Intervals, coefficient: float) -> Array | None:
        """Return the walk of the samples from ``start`` on, None before it starts.

        ``coefficient`` is K in unit/sqrt(s).
        """
        if self.state is None and coefficient == 0.0:
            return None
        roots = [math.sqrt(dt_s) for dt_s in intervals.lengths_s]
        tick, unit, carry = self.state or (start - 1, roots[intervals.which[0]], (0.0, 0.0))
        sums, walk = np.empty(2 + len(intervals)), np.empty(len(intervals))
        steps = sums[2:]
        self._stream.fill(start, steps)
        first = float(steps[0])
        if len(roots) > 1 or roots[0] != unit:
            steps *= intervals.spread([root / unit for root in roots])
        if start - tick > 1:
            gap_s = intervals.lengths_s[intervals.which[0]] * (start - tick)
            steps[0] = first * (math.sqrt(gap_s) / unit)
        self.state = (start + len(walk) - 1, unit, running_sum(sums, carry, walk))
        walk *= coefficient * unit
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
