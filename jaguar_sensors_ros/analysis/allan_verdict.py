"""Does a static record agree with the parameters it is said to have?

1. The whole measured curve against the theoretical total, at octave averaging times with
   10 <= m <= n/10.  Each point has the exact distribution of its estimate under the expectation
   (:mod:`jaguar_sensors_ros.analysis.quadratic_form`), so the mixture of noise kinds and the few
   degrees of freedom of long averaging times are right.  Points are correlated; the bound of
   Bonferroni over axes and times holds all the same.
2. N within 4 standard errors.
3. The other sizes (sigma or B, K), where the record can show them: where the Cramer-Rao bound of
   the size, correlation times taken as given, is at most 5 %, so that a change by 30 % is found.

A record that does agree is refused with a probability below 1e-3: 5e-4 for all points of the
curve, 6.3e-5 for each N of six axes, 1e-4 for all other sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from jaguar_sensors_ros.analysis.allan import AllanCurve, octaves
from jaguar_sensors_ros.analysis.allan_theory import AxisTheory
from jaguar_sensors_ros.analysis.phase_noise import avar
from jaguar_sensors_ros.analysis.quadratic_form import estimate_distribution, normal_limit
from jaguar_sensors_ros.analysis.spectral_fit import Size, Spectrum, compare
from jaguar_sensors_ros.types import JaguarError

CURVE_LEVEL = 5e-4
N_LIMIT = 4.0
SIZES_LEVEL = 1e-4
#: largest relative standard error of a size that the record shows
OBSERVABLE = 0.05
SHORTEST_M, SHARE_OF_RECORD = 10, 10


@dataclass(frozen=True)
class Point:
    """One averaging time [s] of the curve: measured and expected deviation, and how likely.

    ``probability`` is that of a ratio at least this far off, two-sided, if the expectation holds.
    """

    tau: float
    measured: float
    expected: float
    edf: float
    probability: float
    agrees: bool


@dataclass(frozen=True)
class SizeCheck:
    """One size: expected, estimated, and whether they agree; None where it is not observable."""

    symbol: str
    unit: str
    expected: float
    estimate: Size
    agrees: bool | None

    @property
    def z(self) -> float:
        """Difference in standard errors."""
        return (self.estimate.value - self.expected) / self.estimate.error

    def text(self) -> str:
        """Say it in words."""
        if self.agrees is None:
            return f'{self.symbol} not observable in this record'
        return (
            f'{self.symbol} {self.estimate.value:.4g} {self.unit} '
            f'(expected {self.expected:.4g}, {self.z:+.1f} standard errors)'
        )


@dataclass(frozen=True)
class AxisVerdict:
    """The verdict on one axis."""

    axis: str
    points: tuple[Point, ...]
    sizes: tuple[SizeCheck, ...]

    @property
    def agrees(self) -> bool:
        """True where nothing speaks against the expectation."""
        return not self.objections()

    def worst(self) -> Point:
        """Return the least likely point of the curve."""
        return min(self.points, key=lambda point: point.probability)

    def objections(self) -> tuple[str, ...]:
        """Say what does not agree."""
        found = []
        worst = self.worst()
        if not worst.agrees:
            found.append(
                f'curve {worst.measured / worst.expected:.3g} times the expectation at '
                f'tau {worst.tau:.4g} s (p {worst.probability:.1g})'
            )
        found += [size.text() for size in self.sizes if size.agrees is False]
        return tuple(found)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a record."""

    axes: tuple[AxisVerdict, ...]

    @property
    def agrees(self) -> bool:
        """True where all axes agree."""
        return all(axis.agrees for axis in self.axes)

    def line(self) -> str:
        """Return the verdict in one line."""
        count = len(self.axes)
        if self.agrees:
            return f'agreement on {_axes_in_words(count)}'
        wrong = [axis for axis in self.axes if not axis.agrees]
        reasons = '; '.join(f'{a.axis}: {", ".join(a.objections())}' for a in wrong)
        return f'no agreement on {len(wrong)} of {count} axes: {reasons}'


def _axes_in_words(count: int) -> str:
    if count == 1:
        return 'the only axis'
    words = {2: 'both', 3: 'all three', 4: 'all four', 5: 'all five', 6: 'all six'}
    return f'{words.get(count, f"all {count}")} axes'


def judged_octaves(n: int, theories: Sequence[AxisTheory]) -> list[int]:
    """Return the averaging factors at which the curve is compared.

    Raises
    ------
    JaguarError
        where there are none: the record is too short for the expectation.
    """
    first = max(SHORTEST_M, *(theory.holds_from for theory in theories))
    factors = [int(m) for m in octaves(n, SHORTEST_M, n / SHARE_OF_RECORD) if m >= first]
    if not factors:
        raise JaguarError(
            f'{n} samples are too few for a verdict: the first averaging time is '
            f'{first:.0f} samples, and the record must hold ten of the octave above'
        )
    return factors


def judge(
    curve: AllanCurve, spectra: Sequence[Spectrum], theories: Sequence[AxisTheory]
) -> Verdict:
    """Compare a record with an expectation.

    Parameters
    ----------
    curve : AllanCurve
        Measured, all of :func:`judged_octaves` among its averaging factors.
    spectra : sequence of Spectrum
        One for each axis of the curve.
    theories : sequence of AxisTheory
        The expectation, one for each axis.
    """
    factors = judged_octaves(curve.n, theories)
    level = CURVE_LEVEL / (len(theories) * len(factors))
    others = sum(term.symbol not in ('', 'N') for theory in theories for term in theory.noise)
    limit = normal_limit(SIZES_LEVEL / max(1, others))
    axes = []
    for i, theory in enumerate(theories):
        points = tuple(_point(curve, i, theory, m, level) for m in factors)
        sizes = _sizes(spectra[i], theory, limit)
        axes.append(AxisVerdict(theory.axis, points, sizes))
    return Verdict(tuple(axes))


def _point(curve: AllanCurve, axis: int, theory: AxisTheory, m: int, level: float) -> Point:
    row = int((curve.m == m).argmax())
    measured = float(curve.adev[row, axis])
    expected = float(avar(theory.terms, m, theory.dt_s)) ** 0.5
    form = estimate_distribution(theory.terms, m, curve.n, theory.dt_s)
    probability = form.two_sided((measured / expected) ** 2)
    tau = m * theory.dt_s
    return Point(tau, measured, expected, form.edf, probability, probability >= level)


def _sizes(spectrum: Spectrum, theory: AxisTheory, limit: float) -> tuple[SizeCheck, ...]:
    estimates = compare(spectrum, theory)
    checks = []
    for term in theory.noise:
        if term.symbol:
            estimate = estimates[term.symbol]
            agrees = None
            if estimate.error <= OBSERVABLE * term.value:
                off = abs(estimate.value - term.value) / estimate.error
                agrees = off <= (N_LIMIT if term.symbol == 'N' else limit)
            checks.append(SizeCheck(term.symbol, term.unit, term.value, estimate, agrees))
    return tuple(checks)
