"""Theory of the phase: what noise terms do to second differences of the integrated rate.

Every term is described by the variance of the growth of the phase over k samples,
S(k) = Var(x_(i+k) - x_i).  Second differences D_i = x_(i+2m) - 2 x_(i+m) + x_i are stationary
for all terms, and from c = (1, -2, 1)

    R(k) = Cov(D_i, D_(i+k)) = -1/2 [6 S(k) - 4 S(|k-m|) - 4 S(k+m) + S(|k-2m|) + S(k+2m)],
    AVAR(m dt) = R(0) / (2 m^2 dt^2).

Terms a + b k^2 cancel in R; S is given without them, so that what is left is well conditioned
and also exists for a random walk of the rate.  All formulas are those of the sampled process,
not of its continuous limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaguar_sensors_ros.analysis.allan import Array

#: from this dt / T on a Gauss-Markov process is white
_WHITE_FROM = 40.0
_SERIES_BELOW = 0.2


@dataclass(frozen=True)
class White:
    """White noise of density N [unit/sqrt(Hz)]: S = N^2 dt k, AVAR = N^2 / tau."""

    density: float

    def growth(self, k: Array, dt_s: float) -> Array:
        """Return S(k) [unit^2 s^2]."""
        return self.density**2 * dt_s * k

    def spectrum(self, omega: Array, dt_s: float) -> Array:
        """Return the spectral density of the samples at ``omega`` [rad/sample]."""
        return np.full_like(omega, self.density**2 / dt_s)


@dataclass(frozen=True)
class GaussMarkov:
    """First-order Gauss-Markov process of standard deviation sigma, correlation time T [s].

    With a = dt/T:  S = sigma^2 dt^2 [k sinh a - 1 + exp(-k a)] / (2 sinh(a/2)^2).
    """

    sigma: float
    correlation_s: float

    def growth(self, k: Array, dt_s: float) -> Array:
        """Return S(k) [unit^2 s^2] without its term in k^2."""
        a = dt_s / self.correlation_s
        if a > _WHITE_FROM:
            return self.sigma**2 * dt_s**2 * k
        scale = (self.sigma * dt_s) ** 2 / (2.0 * math.sinh(0.5 * a) ** 2)
        return scale * (k * _sinh_rest(a) + _exp_rest(k * a))

    def spectrum(self, omega: Array, dt_s: float) -> Array:
        """Return sigma^2 sinh a / (cosh a - cos omega)."""
        a = dt_s / self.correlation_s
        if a > _WHITE_FROM:
            return np.full_like(omega, self.sigma**2)
        half = 2.0 * (math.sinh(0.5 * a) ** 2 + np.sin(0.5 * omega) ** 2)
        return np.asarray(self.sigma**2 * math.sinh(a) / half)


@dataclass(frozen=True)
class Walk:
    """Rate random walk of coefficient K [unit/sqrt(s)]: S = -K^2 dt^3 (k^3 - k) / 6."""

    coefficient: float

    def growth(self, k: Array, dt_s: float) -> Array:
        """Return S(k) [unit^2 s^2] without its term in k^2."""
        return -(self.coefficient**2) * dt_s**3 * (k**3 - k) / 6.0

    def spectrum(self, omega: Array, dt_s: float) -> Array:
        """Return K^2 dt / (4 sin(omega/2)^2)."""
        return np.asarray(self.coefficient**2 * dt_s / (4.0 * np.sin(0.5 * omega) ** 2))


@dataclass(frozen=True)
class Pulses:
    """Pulse quantisation with the residue carried: an error of the phase, Q = lsb / sqrt(12).

    S = 2 Q^2 for k > 0, AVAR = 3 Q^2 / tau^2, once the phase has strayed by a good part of a
    pulse, so that the errors of two samples are independent.
    """

    lsb: float

    @property
    def q(self) -> float:
        """Standard deviation Q of the phase error [unit s]."""
        return self.lsb / math.sqrt(12.0)

    def growth(self, k: Array, dt_s: float) -> Array:
        """Return S(k) [unit^2 s^2]."""
        return np.where(k > 0.0, 2.0 * self.q**2, 0.0)

    def spectrum(self, omega: Array, dt_s: float) -> Array:
        """Return 4 Q^2 sin(omega/2)^2 / dt^2."""
        return np.asarray(4.0 * (self.q / dt_s * np.sin(0.5 * omega)) ** 2)


Term = White | GaussMarkov | Walk | Pulses


def growth(terms: tuple[Term, ...], k: Array, dt_s: float) -> Array:
    """Return the sum of S(k) of independent terms [unit^2 s^2]."""
    total = np.zeros_like(k)
    for term in terms:
        total = total + term.growth(k, dt_s)
    return total


def avar(terms: tuple[Term, ...], m: Any, dt_s: float) -> Array:
    """Return the exact Allan variance at averaging factors ``m``: (4 S(m) - S(2m)) / (2 tau^2)."""
    k = np.asarray(m, dtype=np.float64)
    second = 4.0 * growth(terms, k, dt_s) - growth(terms, 2.0 * k, dt_s)
    return np.asarray(second / (2.0 * (k * dt_s) ** 2))


def covariance(terms: tuple[Term, ...], m: int, lags: int, step: float, dt_s: float) -> Array:
    """Return R(j step), j = 0 ... lags - 1, of the second differences over m samples.

    ``step`` [samples] must divide m.
    """
    shift = round(m / step)
    s = growth(terms, step * np.arange(lags + 2 * shift, dtype=np.float64), dt_s)
    j = np.arange(lags)
    inner = 6.0 * s[j] - 4.0 * (s[abs(j - shift)] + s[j + shift])
    return np.asarray(-0.5 * (inner + s[abs(j - 2 * shift)] + s[j + 2 * shift]))


def _sinh_rest(a: float) -> float:
    """Return sinh(a) - a without loss of digits."""
    if a > _SERIES_BELOW:
        return math.sinh(a) - a
    return a**3 / 6.0 * (1.0 + a * a / 20.0 * (1.0 + a * a / 42.0 * (1.0 + a * a / 72.0)))


def _exp_rest(x: Array) -> Array:
    """Return exp(-x) - 1 + x - x^2/2 without loss of digits."""
    series = np.zeros_like(x)
    small = np.minimum(x, _SERIES_BELOW)
    for order in range(13, 3, -1):
        series = (1.0 + series) * (-small / order)
    near = -(small**3) / 6.0 * (1.0 + series)
    return np.where(x > _SERIES_BELOW, np.expm1(-x) + x - 0.5 * x * x, near)
