"""Dilution of precision: what the directions to the satellites make of range errors.

Ranges to n satellites with independent errors of standard deviation UERE, solved by least
squares for position and receiver clock, give the position covariance UERE^2 Q, where Q is the
position part of (H^T H)^-1 and the rows of H are (-e, 1), e the unit vector to a satellite.
With the clock eliminated,

    Q = [sum e e^T - n m m^T]^-1,    m = (1/n) sum e.

HDOP^2 = Q_ee + Q_nn, VDOP^2 = Q_uu, PDOP^2 = HDOP^2 + VDOP^2.  Source: E. Kaplan and
C. Hegarty (eds.), "Understanding GPS", 2nd ed. (2006), section 7.3.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from jaguar_sensors_ros.types import Mat3, Vec3

#: a determinant below this share of that of the best geometry counts as singular
_SINGULAR = 1e-12


def cofactor(directions: Iterable[Vec3]) -> Mat3 | None:
    """Return Q, symmetric and positive definite, or None where it does not exist.

    Parameters
    ----------
    directions : iterable of Vec3
        Unit vectors from the receiver to the satellites, in the axes that Q is wanted in.

    Returns
    -------
    Mat3 or None
        None for less than four satellites, or satellites that lie on one cone.
    """
    n, sx, sy, sz = 0, 0.0, 0.0, 0.0
    xx = xy = xz = yy = yz = zz = 0.0
    for x, y, z in directions:
        n += 1
        sx, sy, sz = sx + x, sy + y, sz + z
        xx, xy, xz = xx + x * x, xy + x * y, xz + x * z
        yy, yz, zz = yy + y * y, yz + y * z, zz + z * z
    if n < 4:
        return None
    xx, xy, xz = xx - sx * sx / n, xy - sx * sy / n, xz - sx * sz / n
    yy, yz, zz = yy - sy * sy / n, yz - sy * sz / n, zz - sz * sz / n
    return _inverse(xx, xy, xz, yy, yz, zz)


def _inverse(xx: float, xy: float, xz: float, yy: float, yz: float, zz: float) -> Mat3 | None:
    """Return the inverse of a symmetric matrix of order 3, None where it is singular."""
    a, b, c = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    determinant = xx * a + xy * b + xz * c
    if determinant <= _SINGULAR:
        return None
    d, e, f = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    a, b, c = a / determinant, b / determinant, c / determinant
    d, e, f = d / determinant, e / determinant, f / determinant
    return ((a, b, c), (b, d, e), (c, e, f))


def cholesky(q: Mat3) -> Mat3:
    """Return the lower triangular L with L L^T = q, a positive definite matrix."""
    a = math.sqrt(q[0][0])
    b, c = q[1][0] / a, q[2][0] / a
    d = math.sqrt(q[1][1] - b * b)
    e = (q[2][1] - b * c) / d
    return ((a, 0.0, 0.0), (b, d, 0.0), (c, e, math.sqrt(q[2][2] - c * c - e * e)))


def dilutions(q: Mat3) -> tuple[float, float, float]:
    """Return HDOP, VDOP and PDOP of Q along east, north, up."""
    horizontal, vertical = q[0][0] + q[1][1], q[2][2]
    return math.sqrt(horizontal), math.sqrt(vertical), math.sqrt(horizontal + vertical)
