"""Stochastic terms of one axis.

Each term consumes one unit normal a sample, addressed by the sample's number since power-on;
sigma, correlation time and interval act when it is consumed.  So a parameter takes effect with
the next sample and disturbs no stream.  Formulas: IEEE Std 952-1997 annex C; P. Maybeck,
"Stochastic Models, Estimation and Control", vol. 1 (1979), section 4.11, for the exactly
discretised Gauss-Markov process.
"""

from __future__ import annotations

import math
from functools import lru_cache

from jaguar_sensors_ros.component import NormalStream, StreamFactory

#: Allan deviation of the flat floor of flicker noise over its coefficient B:
#: sqrt(2 ln 2 / pi) (IEEE Std 952-1997)
FLICKER_FLOOR = math.sqrt(2.0 * math.log(2.0) / math.pi)
#: ratio of neighbouring correlation times in the flicker sum; the ripple is below 2 %
_FLICKER_RATIO = 4.0


class GaussMarkov:
    """First-order Gauss-Markov process of unit variance, stationary from its first sample.

    x' = phi x + sqrt(1 - phi^2) w, phi = exp(-dt/tau).  Over samples that were left out (a gap
    in the truth) it takes one step of their whole length.
    """

    __slots__ = ('_dt_s', '_phi', '_root', '_steps', '_stream', '_tau_s', '_tick', '_value')

    def __init__(self, stream: NormalStream) -> None:
        self._stream = stream
        self._value: float | None = None
        self._tick = 0
        # phi and the root belong to so many steps of this interval and to this correlation time
        self._steps, self._dt_s, self._tau_s = 0, 0.0, 0.0
        self._phi, self._root = 1.0, 0.0

    def step(self, tick: int, dt_s: float, tau_s: float) -> float:
        """Advance by ``dt_s`` [s] to sample ``tick``; return the value in units of sigma.

        ``tau_s`` [s] is the correlation time; 0 makes the process white.
        """
        normal = self._stream(tick)
        steps = tick - self._tick
        self._tick = tick
        if self._value is None:
            self._value = normal
            return normal
        if steps != self._steps or dt_s != self._dt_s or tau_s != self._tau_s:
            self._steps, self._dt_s, self._tau_s = steps, dt_s, tau_s
            self._phi, self._root = _decay(dt_s * steps, tau_s)
        value = self._value = self._phi * self._value + self._root * normal
        return value


@lru_cache(maxsize=4096)
def _decay(elapsed_s: float, tau_s: float) -> tuple[float, float]:
    """Return phi and sqrt(1 - phi^2) of a step; the same for all axes and from tick to tick."""
    ratio = elapsed_s / tau_s if tau_s > 0.0 else math.inf
    return math.exp(-ratio), math.sqrt(-math.expm1(-2.0 * ratio))


class BiasInstability:
    """Slowly varying bias: one Gauss-Markov process, or flicker as a sum of several.

    The flicker model takes equal processes with correlation times tau, tau/4, tau/16 ... down
    to a second, scaled so that the Allan deviation in the middle of their range is the floor
    0.664 B of true flicker noise with coefficient B.
    """

    def __init__(self, streams: StreamFactory, term: str, axis: str) -> None:
        self._streams = streams
        self._term = term
        self._axis = axis
        self._processes: list[GaussMarkov] = []
        self._flicker_of: float | None = None
        self._flicker: tuple[tuple[float, ...], float] = ((), 0.0)

    def step(self, tick: int, dt_s: float, sigma: float, tau_s: float, model: str) -> float:
        """Advance to sample ``tick`` and return the bias in the unit of ``sigma``."""
        processes = self._processes
        if model == 'gauss_markov':
            if not processes:
                self._make(1)
            return sigma * processes[0].step(tick, dt_s, tau_s)
        if self._flicker_of != tau_s:
            self._flicker, self._flicker_of = flicker_components(tau_s), tau_s
            self._make(len(self._flicker[0]))
        taus, gain = self._flicker
        total = 0.0
        for process, tau in zip(processes, taus, strict=False):
            total += process.step(tick, dt_s, tau)
        return sigma * gain * total

    def _make(self, count: int) -> None:
        """Make the first ``count`` processes that are not there yet."""
        for index in range(len(self._processes), count):
            suffix = f'.{index}' if index else ''
            stream = self._streams.stream(self._term + suffix, self._axis)
            self._processes.append(GaussMarkov(stream))


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


class RandomWalk:
    """Rate random walk: a sum of independent steps of variance K^2 dt.

    The sum is kept for K = 1, so that a coefficient that is changed and restored leaves no
    trace.  It starts with the first sample that has a coefficient.
    """

    __slots__ = ('_stream', '_tick', '_value')

    def __init__(self, stream: NormalStream) -> None:
        self._stream = stream
        self._tick: int | None = None
        self._value = 0.0

    def step(self, tick: int, dt_s: float, coefficient: float) -> float:
        """Advance to sample ``tick``; ``coefficient`` K in unit/sqrt(s)."""
        if self._tick is None:
            if coefficient == 0.0:
                return 0.0
            self._tick = tick - 1
        self._value += math.sqrt(dt_s * (tick - self._tick)) * self._stream(tick)
        self._tick = tick
        return coefficient * self._value


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
