"""Distribution of an Allan variance estimate.

The estimate is a mean of squares of correlated Gaussian second differences, a quadratic form:
it is distributed as sum_j lambda_j z_j^2 with the eigenvalues lambda of their covariance and
independent unit normals z.  Its first two moments give Greenhall's equivalent degrees of freedom

    edf = 2 E^2 / Var = (sum lambda)^2 / sum lambda^2,

its tails, which a chi-square of that many degrees of freedom underrates where few second
differences fit into the record, come from the saddlepoint approximation.

Sources: C. Greenhall and W. Riley, "Uncertainty of stability variances based on finite
differences", PTTI 2003 (edf by sums over the covariance); D. Kuonen, "Saddlepoint approximations
for distributions of quadratic forms in normal variables", Biometrika 86 (1999).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np

from jaguar_sensors_ros.analysis.allan import Array
from jaguar_sensors_ros.analysis.phase_noise import Pulses, Term, avar, covariance

_NORMAL = NormalDist()
#: second differences are looked at so many times in an averaging time
_PER_TAU = 16
#: up to so many points the eigenvalues are exact, beyond they are those of a circulant matrix
_DENSE = 600
_CIRCULANT = 2048
#: where pulses make up more of the variance than this, every sample counts
_PULSES_COUNT = 1e-3
_PULSES_FINEST = 2048


@dataclass(frozen=True)
class QuadraticForm:
    """sum over j of w_j lambda_j z^2, scaled to mean 1; w are multiplicities."""

    eigenvalues: Array
    weights: Array

    @property
    def edf(self) -> float:
        """Equivalent degrees of freedom."""
        second = float(self.weights @ self.eigenvalues**2)
        return float(self.weights @ self.eigenvalues) ** 2 / second

    def two_sided(self, ratio: float) -> float:
        """Return the probability of a ratio estimate / expectation this far off, or farther."""
        upper = self.upper_tail(ratio)
        return min(1.0, 2.0 * min(upper, 1.0 - upper))

    def upper_tail(self, ratio: float) -> float:
        """Return P(form > ratio) by the saddlepoint approximation."""
        if ratio <= 0.0:
            return 1.0
        if not math.isfinite(ratio):
            return 0.0
        if abs(ratio - 1.0) < 1e-3 * math.sqrt(2.0 / self.edf):
            # the formula is 0 / 0 at the mean; there the tail is smooth
            step = 2e-3 * math.sqrt(2.0 / self.edf)
            return 0.5 * (self.upper_tail(1.0 - step) + self.upper_tail(1.0 + step))
        z = self._saddlepoint(ratio)
        left = 1.0 - 2.0 * z * self.eigenvalues
        cumulant = -0.5 * float(self.weights @ np.log(left))
        curvature = 2.0 * float(self.weights @ (self.eigenvalues / left) ** 2)
        w = math.copysign(math.sqrt(max(2.0 * (z * ratio - cumulant), 1e-300)), z)
        v = z * math.sqrt(curvature)
        return _normal_tail(w + math.log(v / w) / w)

    def _saddlepoint(self, ratio: float) -> float:
        """Solve K'(z) = ratio; K' grows from 0 at -infinity to infinity at 1 / (2 lambda_max)."""
        high = 0.5 / float(self.eigenvalues.max())
        if ratio > 1.0:
            low = 0.0
        else:
            low, high = -0.5 * float(self.weights.sum()) / ratio, 0.0
        for _ in range(200):
            z = 0.5 * (low + high)
            slope = float(
                self.weights @ (self.eigenvalues / (1.0 - 2.0 * z * self.eigenvalues))
            )
            if slope > ratio:
                high = z
            else:
                low = z
            if high - low <= 1e-12 * max(abs(low), abs(high)):
                break
        return 0.5 * (low + high)


def _normal_tail(x: float) -> float:
    return 0.5 * math.erfc(x / math.sqrt(2.0))


@lru_cache(maxsize=4096)
def estimate_distribution(
    terms: tuple[Term, ...], m: int, n: int, dt_s: float
) -> QuadraticForm:
    """Return the distribution of the overlapping Allan variance over its expectation.

    Parameters
    ----------
    terms : tuple of Term
        The noise terms of the rate.
    m, n : int
        Averaging factor and number of samples, 2 m <= n.
    dt_s : float
        Sample interval [s].
    """
    points, step = _points(terms, m, n, dt_s)
    if points <= _DENSE:
        r = covariance(terms, m, points, step, dt_s)
        return _scaled(_toeplitz_eigenvalues(r), 1.0)
    size = min(points, _reach(m, step))
    r = covariance(terms, m, size, step, dt_s)
    share = np.arange(size) / size
    wrapped = (1.0 - share) * r
    wrapped[1:] += share[1:] * r[:0:-1]
    return _scaled(np.fft.fft(wrapped).real, points / size)


def equivalent_dof(terms: tuple[Term, ...], m: int, n: int, dt_s: float) -> float:
    """Return Greenhall's edf = M^2 R(0)^2 / sum over i, k of R(i - k)^2 of M differences.

    Parameters as :func:`estimate_distribution`; for one kind of noise the values of the tables.

    >>> from jaguar_sensors_ros.analysis.phase_noise import White
    >>> round(equivalent_dof((White(1.0),), 10, 36000, 0.01))
    5331
    """
    points, step = _points(terms, m, n, dt_s)
    size = min(points, _reach(m, step))
    squares = covariance(terms, m, size, step, dt_s) ** 2
    k = np.arange(1, size)
    total = points * squares[0] + 2.0 * float((points - k) @ squares[1:])
    return float(points**2 * squares[0] / total)


def _points(terms: tuple[Term, ...], m: int, n: int, dt_s: float) -> tuple[int, float]:
    """Return how many second differences to look at, and their distance [samples]."""
    step = 1.0 if m < _PER_TAU or _needs_every_sample(terms, m, dt_s) else m / _PER_TAU
    return max(1, round((n + 1 - 2 * m) / step)), step


def _reach(m: int, step: float) -> int:
    """Return a number of lags that holds 128 averaging times: there the covariance is over."""
    return round(_CIRCULANT * max(1.0, m / (step * _PER_TAU)))


def _toeplitz_eigenvalues(r: Array) -> Array:
    """Return the eigenvalues of the symmetric Toeplitz matrix with the first row ``r``.

    Eigenvectors are even or odd about the middle, so two matrices of half the size do.
    """
    n, half = len(r), len(r) // 2
    index = np.arange(n)
    matrix = r[abs(index[:, np.newaxis] - index)]
    near = matrix[:half, :half]
    far = matrix[:half, ::-1][:, :half]
    even, odd = near + far, near - far
    if n % 2:
        middle = math.sqrt(2.0) * matrix[:half, half : half + 1]
        even = np.block([[even, middle], [middle.T, matrix[half : half + 1, half : half + 1]]])
    parts = [np.linalg.eigvalsh(part) for part in (even, odd) if part.size]
    return np.concatenate(parts)


def _needs_every_sample(terms: tuple[Term, ...], m: int, dt_s: float) -> bool:
    pulses = tuple(term for term in terms if isinstance(term, Pulses))
    if not pulses or m > _PULSES_FINEST:
        return False
    return float(avar(pulses, m, dt_s)) > _PULSES_COUNT * float(avar(terms, m, dt_s))


def _scaled(values: Array, weight: float) -> QuadraticForm:
    kept = np.maximum(values, 0.0)
    kept = kept[kept > 1e-12 * kept.max()]
    weights = np.full(len(kept), weight)
    return QuadraticForm(kept / float(weights @ kept), weights)


def chi_square_ratio(edf: Any, probability: float) -> Array:
    """Return the quantile of a chi-square over its degrees of freedom (Wilson and Hilferty).

    Good to a few per cent from two degrees of freedom on: for pictures, not for verdicts.
    """
    spread = 2.0 / (9.0 * np.asarray(edf, dtype=np.float64))
    root = 1.0 - spread + _NORMAL.inv_cdf(probability) * np.sqrt(spread)
    return np.asarray(np.maximum(root, 0.0) ** 3)


def normal_limit(probability: float) -> float:
    """Return z with P(|normal| > z) = ``probability``."""
    return -_NORMAL.inv_cdf(0.5 * probability)
