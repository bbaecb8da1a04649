"""Sizes of noise terms from the spectrum of a record (Whittle's likelihood).

The cosine transform (DCT-II) of the record, c_j with frequencies omega_j = pi j / n, has
independent components of variance f(omega_j), the spectral density: exactly for white noise
and for a random walk of the rate, whose ends would leak into an ordinary periodogram.  The
density is linear in the squares of the sizes, f = sum_i s_i f_i, so weighted least squares

    s = F^-1 sum_j f_i(omega_j) c_j^2 / (2 f^2),   F_ik = sum_j f_i f_k / (2 f^2),

has no bias and reaches the Cramer-Rao bound F^-1 where f is the true density.

Sources: P. Whittle, "Estimation and information in stationary time series", Arkiv foer Matematik
2 (1953); J. Makhoul, "A fast cosine transform in one and two dimensions", IEEE ASSP 28 (1980).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from jaguar_sensors_ros.analysis.allan import Array
from jaguar_sensors_ros.analysis.allan_theory import AxisTheory, NoiseTerm
from jaguar_sensors_ros.analysis.phase_noise import Pulses, Term, Walk, White

#: so many lowest frequencies are kept one by one, the others in bins of equal width in log omega
_SINGLE = 64
_BINS = 400
#: where pulses are correlated, frequencies are used at which they matter less than this
_PULSE_SHARE = 1e-3


@dataclass(frozen=True)
class Spectrum:
    """The squares of the cosine transform, averaged in bins.

    ``omega`` [rad/sample] are the bins' centres, ``power`` their means, ``count`` how many.
    """

    omega: Array
    power: Array
    count: Array

    def below(self, omega: float) -> Spectrum:
        """Return the bins up to a frequency [rad/sample]."""
        keep = self.omega <= omega
        return Spectrum(self.omega[keep], self.power[keep], self.count[keep])


@dataclass(frozen=True)
class Size:
    """An estimated size (N, sigma, K ...) with its standard error (Cramer-Rao)."""

    value: float
    error: float


def spectrum_of(rate: Array) -> Spectrum:
    """Return the binned squares of the orthonormal DCT-II of a record, shape (n,)."""
    n = len(rate)
    centred = rate - np.mean(rate)
    folded = np.concatenate([centred[::2], centred[1::2][::-1]])
    half = np.fft.rfft(folded)
    j = np.arange(len(half))
    turned = half * np.exp(-0.5j * math.pi * j / n)
    c = np.empty(n)
    c[: len(half)] = turned.real
    # the imaginary part of component j is minus the component n - j
    c[n - np.arange(1, n - len(half) + 1)] = -turned.imag[1 : n - len(half) + 1]
    bins = expected_bins(n)
    # the last bin ends where the array does, as reduceat has it
    power = np.add.reduceat(c**2 * (2.0 / n), _edges(n)[:-1])
    return Spectrum(bins.omega, np.asarray(power / bins.count), bins.count)


def expected_bins(n: int) -> Spectrum:
    """Return the bins of a record of n samples without data."""
    edges = _edges(n)
    centre: Array = math.pi / n * 0.5 * (edges[:-1] + edges[1:] - 1).astype(np.float64)
    count = np.diff(edges).astype(np.float64)
    return Spectrum(centre, np.full(len(count), math.nan), count)


def _edges(n: int) -> NDArray[np.int64]:
    single = np.arange(1, min(_SINGLE, n))
    spaced = np.geomspace(min(_SINGLE, n), n, _BINS).round().astype(np.int64)
    return np.asarray(np.unique(np.concatenate([single, spaced, [n]])), dtype=np.int64)


def usable(theory: AxisTheory) -> float:
    """Return the highest frequency [rad/sample] at which the theory's spectrum holds."""
    if theory.holds_from <= 1.0:
        return math.pi
    q = theory.pulse / math.sqrt(12.0)
    noise = theory.white_density**2 * theory.dt_s
    # errors of pulses are correlated over 1 / a samples, a = 2 pi^2 noise / lsb^2
    forgets = 2.0 * math.pi**2 * noise / theory.pulse**2
    return math.sqrt(_PULSE_SHARE * noise / q**2 * min(1.0, forgets))


def compare(spectrum: Spectrum, theory: AxisTheory) -> dict[str, Size]:
    """Estimate the size of every term that the theory names, by its symbol.

    Parameters
    ----------
    spectrum : Spectrum
        Of the record.
    theory : AxisTheory
        What is expected; its density is the weight, so errors are those under the expectation.
        Correlation times, pulses and rounding are taken as given.
    """
    used = spectrum.below(usable(theory))
    named = [term for term in theory.noise if term.symbol]
    fixed = [term for term in theory.noise if not term.symbol]
    shapes = [_density([term], used, theory.dt_s) for term in named]
    rest = _density(fixed, used, theory.dt_s)
    weight = used.count / (2.0 * _density(theory.noise, used, theory.dt_s) ** 2)
    squares, errors = _solve(shapes, used.power - rest, weight)
    sizes = {}
    for term, square, error in zip(named, squares, errors, strict=True):
        size = math.sqrt(max(square, 0.0))
        sizes[term.symbol] = Size(term.value * size, float(term.value * 0.5 * error))
    return sizes


def fit(spectrum: Spectrum, dt_s: float) -> dict[str, Size]:
    """Estimate N, K and the pulse noise Q of a record of which nothing is known.

    Iterated least squares with weights from the last fit, the first from a smoothed spectrum;
    of all combinations without a negative size the best is taken.  Flicker and Gauss-Markov parts
    go into K, so K is a description, not a parameter.
    """
    units: dict[str, Term] = {'N': White(1.0), 'K': Walk(1.0), 'Q': Pulses(math.sqrt(12.0))}
    shapes = {name: unit.spectrum(spectrum.omega, dt_s) for name, unit in units.items()}
    density = _smoothed(spectrum.power)
    best: dict[str, tuple[float, float]] = {}
    for _ in range(60):
        best = _best_combination(shapes, spectrum.power, spectrum.count / (2.0 * density**2))
        total = sum((square * shapes[x] for x, (square, _) in best.items()), 0.0 * density)
        converged = np.allclose(total, density, rtol=1e-9, atol=0.0)
        density = np.maximum(total, 1e-300)
        if converged:
            break
    return {
        name: Size(math.sqrt(square), 0.5 * error / math.sqrt(square))
        for name, (square, error) in best.items()
    }


def _best_combination(
    shapes: dict[str, Array], power: Array, weight: Array
) -> dict[str, tuple[float, float]]:
    """Return squares and errors of the combination that fits best without a negative square."""
    best: dict[str, tuple[float, float]] = {}
    least = math.inf
    for count in range(1, len(shapes) + 1):
        for names in combinations(shapes, count):
            chosen = [shapes[name] for name in names]
            squares, errors = _solve(chosen, power, weight)
            if min(squares) <= 0.0:
                continue
            rest = float(weight @ (power - squares @ np.array(chosen)) ** 2)
            if rest < least:
                pairs = zip(squares.tolist(), errors.tolist(), strict=True)
                least, best = rest, dict(zip(names, pairs, strict=True))
    return best


def _smoothed(power: Array, reach: int = 8) -> Array:
    """Return the mean of each bin and its neighbours on both sides."""
    padded = np.concatenate([power[:1].repeat(reach), power, power[-1:].repeat(reach)])
    window = np.full(2 * reach + 1, 1.0 / (2 * reach + 1))
    return np.maximum(np.convolve(padded, window, mode='valid'), 1e-300)


def _solve(shapes: Sequence[Array], power: Array, weight: Array) -> tuple[Array, Array]:
    """Return the factors of the shapes and their standard errors by weighted least squares."""
    matrix = np.array(shapes)
    norms = np.sqrt((matrix**2 * weight).sum(axis=1))
    scaled = matrix / norms[:, np.newaxis]
    information = (scaled * weight) @ scaled.T
    inverse = np.linalg.pinv(information, rcond=1e-12, hermitian=True)
    factors = inverse @ ((scaled * weight) @ power) / norms
    # a shape that others imitate fully is not determined: the pseudo-inverse hides it
    determined = np.linalg.cond(information) < 1e11
    errors = np.sqrt(np.diag(inverse)) / norms if determined else np.full(len(norms), math.inf)
    return factors, errors


def _density(noise: Sequence[NoiseTerm], spectrum: Spectrum, dt_s: float) -> Array:
    """Return the sum of the spectral densities of terms in the bins of a spectrum."""
    total = np.zeros_like(spectrum.omega)
    for term in noise:
        for part in term.parts:
            total = total + part.spectrum(spectrum.omega, dt_s)
    return total
