"""Mean or median of placed readings, and its covariance."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from jaguar_sensors_ros.nav.rotation import add, cross, scale
from jaguar_sensors_ros.redundancy.disagreement import median
from jaguar_sensors_ros.redundancy.median import correlated_median_variance, median_variance
from jaguar_sensors_ros.redundancy.placed import Matrix, Placed, Turn, diagonal, matrix
from jaguar_sensors_ros.types import ZERO3, Vec3

_BASIS: tuple[Vec3, Vec3, Vec3] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
#: weights and matrices that are kept
_KEPT = 1024


@lru_cache(maxsize=_KEPT)
def _weights(covariances: tuple[Matrix, ...], method: str) -> tuple[Vec3, ...]:
    """Return the weights of the inputs on each axis; for the median how often each is it."""
    if method == 'median':
        share = 1.0 / len(covariances)
        return ((share, share, share),) * len(covariances)
    inverse = [tuple(1.0 / variance for variance in diagonal(c)) for c in covariances]
    sums = [math.fsum(column) for column in zip(*inverse, strict=True)]
    return tuple((v[0] / sums[0], v[1] / sums[1], v[2] / sums[2]) for v in inverse)


@lru_cache(maxsize=_KEPT)
def _covariance(covariances: tuple[Matrix, ...], method: str) -> Matrix:
    if method == 'median':
        x, y, z = (
            median_variance(tuple(math.sqrt(variance) for variance in column))
            for column in zip(*map(diagonal, covariances), strict=True)
        )
        return matrix((x, y, z))
    weights = _weights(covariances, method)
    return tuple(
        math.fsum(w[i] * c[3 * i + j] * w[j] for w, c in zip(weights, covariances, strict=True))
        for i in range(3)
        for j in range(3)
    )


def combined(
    values: Sequence[Vec3], covariances: tuple[Matrix, ...], method: str
) -> tuple[Vec3, Matrix]:
    """Return the weighted mean or the median of each axis, and its covariance."""
    covariance = _covariance(covariances, method)
    if method == 'median':
        return median(values), covariance
    weights = _weights(covariances, method)
    x, y, z = (
        math.fsum(w[axis] * v[axis] for w, v in zip(weights, values, strict=True))
        for axis in range(3)
    )
    return (x, y, z), covariance


def white_part(items: Sequence[Placed], method: str) -> Vec3:
    """Return the white part of the variance of the fused rate [(rad/s)^2]."""
    covariances = tuple(item.rate_covariance for item in items)
    return _white(covariances, tuple(item.white for item in items), method)


@lru_cache(maxsize=_KEPT)
def _white(covariances: tuple[Matrix, ...], white: tuple[Vec3, ...], method: str) -> Vec3:
    total = diagonal(_covariance(covariances, method))
    weights = _weights(covariances, method)
    shares = []
    for axis in range(3):
        parts = [(w[axis] ** 2, c[4 * axis], v[axis])
                 for w, c, v in zip(weights, covariances, white, strict=True)]
        shares.append(
            math.fsum(square * part for square, _, part in parts)
            / math.fsum(square * whole for square, whole, _ in parts)
        )
    return (total[0] * shares[0], total[1] * shares[1], total[2] * shares[2])


# ---------------------------------------------------------------------- noise through the arm


def force_covariance(items: Sequence[Placed], turn: Turn, method: str) -> Matrix:
    """Return the covariance of the fused force [(m/s2)^2], with the noise of omega and alpha.

    Weighted, that acts on the mean arm, which is the same for all axes where the weights are.
    """
    covariances = tuple(item.force_covariance for item in items)
    own = _covariance(covariances, method)
    if all(item.arm == ZERO3 for item in items):
        return own
    if method == 'median':
        return _median_with_arms(covariances, tuple(item.arm for item in items), turn)
    weights = _weights(covariances, method)
    x, y, z = (
        _sum([scale(item.arm, w[axis]) for w, item in zip(weights, items, strict=True)])
        for axis in range(3)
    )
    more = _arm_noise((x, y, z), turn)
    return tuple(a + b for a, b in zip(own, more, strict=True))


def _median_with_arms(
    covariances: tuple[Matrix, ...], arms: tuple[Vec3, ...], turn: Turn
) -> Matrix:
    """Return the covariance of the median where the noise of alpha comes to all inputs.

    What omega does through the centripetal term is left out: it is smaller by 2 omega dt.
    """
    if turn.alpha is None:
        return _covariance(covariances, 'median')
    x, y, z = map(math.fsum, zip(turn.white, turn.white_before, strict=True))
    return _correlated(covariances, arms, scale((x, y, z), turn.dt_s**-2))


@lru_cache(maxsize=_KEPT)
def _correlated(covariances: tuple[Matrix, ...], arms: tuple[Vec3, ...], alpha: Vec3) -> Matrix:
    """Return the covariance of the median of inputs with arms, and noise of alpha per axis."""
    found = []
    for axis in range(3):
        levers = [[cross(e, arm)[axis] for e in _BASIS] for arm in arms]
        joint = tuple(
            tuple(
                math.fsum(p * q * v for p, q, v in zip(one, other, alpha, strict=True))
                + (covariances[i][4 * axis] if i == j else 0.0)
                for j, other in enumerate(levers)
            )
            for i, one in enumerate(levers)
        )
        found.append(correlated_median_variance(joint))
    return matrix((found[0], found[1], found[2]))


def _sum(vectors: Sequence[Vec3]) -> Vec3:
    x, y, z = map(math.fsum, zip(*vectors, strict=True))
    return (x, y, z)


def _arm_noise(arms: tuple[Vec3, Vec3, Vec3], turn: Turn) -> Matrix:
    """Return what the noise of omega does to the force on each axis through its arm.

    -omega x (omega x r) - (n - n_before) x r / dt, linear in the noise n of this sample and
    n_before of the last; the slow part of the covariance is the same in both.
    """
    omega = turn.omega
    rate = 0.0 if turn.alpha is None else 1.0 / turn.dt_s
    now, past, slow = [], [], []
    for axis, arm in enumerate(arms):
        whirl = [-_whirl(e, omega, arm)[axis] for e in _BASIS]
        lever = [cross(e, arm)[axis] * rate for e in _BASIS]
        now.append([w - x for w, x in zip(whirl, lever, strict=True)])
        past.append(lever)
        slow.append(whirl)
    rest = [max(0.0, p - w) for p, w in zip(diagonal(turn.covariance), turn.white, strict=True)]
    parts = ((now, turn.white), (past, turn.white_before), (slow, rest))
    return tuple(
        sum(row[i][k] * row[j][k] * variance[k] for row, variance in parts for k in range(3))
        for i in range(3)
        for j in range(3)
    )


def _whirl(e: Vec3, omega: Vec3, arm: Vec3) -> Vec3:
    """Return the derivative of omega x (omega x r) along ``e``."""
    return add(cross(e, cross(omega, arm)), cross(omega, cross(e, arm)))
