"""A reading of a redundant IMU at the place and in the axes of the fused output."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from jaguar_sensors_ros.nav.rotation import (
    add,
    cross,
    matrix_from_quat,
    quat_conjugate,
    quat_multiply,
    rotate,
    rotate_back,
    subtract,
)
from jaguar_sensors_ros.redundancy.reading import Reading, Systematic
from jaguar_sensors_ros.sensors.covariance import rotated
from jaguar_sensors_ros.types import ZERO3, Quat, Vec3

Matrix = tuple[float, ...]  # 3x3, row by row

#: mounts and matrices that are kept
_KEPT = 1024


@dataclass(frozen=True, slots=True)
class Placed:
    """A reading in the axes f; ``arm`` is its place from that of f [m].

    ``white`` is the white part of the variance of the rate, per axis [(rad/s)^2].
    """

    rate: Vec3
    force: Vec3
    arm: Vec3
    rate_covariance: Matrix
    force_covariance: Matrix
    white: Vec3
    orientation: Quat | None
    orientation_covariance: Matrix | None
    orientation_variance: float
    systematic: Systematic


@dataclass(frozen=True, slots=True)
class Turn:
    """The fused angular velocity [rad/s] with its covariance, of which ``white`` is white.

    ``alpha`` is its backward difference over ``dt_s`` [rad/s2], None where it is not known;
    ``change`` that of alpha since the sample before, ``white_before`` the white variance then.
    """

    omega: Vec3
    covariance: Matrix
    white: Vec3
    alpha: Vec3 | None = None
    change: Vec3 = ZERO3
    white_before: Vec3 = ZERO3
    dt_s: float = 1.0

    @property
    def alpha_variance(self) -> float:
        """Largest variance of the noise of alpha on an axis [(rad/s2)^2]."""
        if self.alpha is None:
            return 0.0
        sums = map(math.fsum, zip(self.white, self.white_before, strict=True))
        return max(sums) / self.dt_s**2


def placed(reading: Reading, position: Vec3, q_bf: Quat) -> Placed:
    """Return a reading in the axes f, which stand at ``position`` [m] in the body."""
    arm, q_fs = _geometry(reading.position, reading.q_bs, position, q_bf)
    known = reading.covariances
    rate_covariance = _in_f(known.angular_velocity, q_fs)
    white, attitude = reading.systematic.gyro_white, known.orientation
    oriented = reading.orientation is not None and attitude is not None
    return Placed(
        rotate(q_fs, reading.angular_velocity),
        rotate(q_fs, reading.specific_force),
        arm,
        rate_covariance,
        _in_f(known.linear_acceleration, q_fs),
        diagonal(rate_covariance if white is None else _in_f(matrix(white), q_fs)),
        quat_multiply(reading.orientation, quat_conjugate(q_fs)) if reading.orientation else None,
        attitude,
        math.fsum(diagonal(attitude)) if oriented and attitude else math.inf,
        reading.systematic,
    )


@lru_cache(maxsize=_KEPT)
def _geometry(position: Vec3, q_bs: Quat, of_f: Vec3, q_bf: Quat) -> tuple[Vec3, Quat]:
    arm = rotate_back(q_bf, subtract(position, of_f))
    return arm, quat_multiply(quat_conjugate(q_bf), q_bs)


@lru_cache(maxsize=_KEPT)
def _in_f(covariance: Matrix, q_fs: Quat) -> Matrix:
    if len(set(diagonal(covariance))) == 1 and not any(_off_diagonal(covariance)):
        return covariance
    return rotated(covariance, matrix_from_quat(q_fs))


def moved(item: Placed, turn: Turn) -> Vec3:
    """Return the specific force at the place of f [m/s2]; without alpha only the centripetal."""
    if item.arm == ZERO3:
        return item.force
    omega = turn.omega
    felt = cross(omega, cross(omega, item.arm))
    if turn.alpha is not None:
        felt = add(felt, cross(turn.alpha, item.arm))
    return subtract(item.force, felt)


def diagonal(c: Matrix) -> Vec3:
    """Return the diagonal."""
    return (c[0], c[4], c[8])


def _off_diagonal(c: Matrix) -> tuple[float, ...]:
    return (c[1], c[2], c[3], c[5], c[6], c[7])


def matrix(d: Vec3) -> Matrix:
    """Return a diagonal matrix."""
    return (d[0], 0.0, 0.0, 0.0, d[1], 0.0, 0.0, 0.0, d[2])
