"""Rotations and the Earth for many samples at once, bit for bit the functions of floats.

A vector or quaternion is a row of columns: a tuple of arrays, or an array of shape (3, n), (4, n).
What has no branch in :mod:`nav.rotation` (add, cross, rotate_back, quat_multiply ...) takes
columns as it takes floats; here is the rest, in the same order of operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaguar_sensors_ros.nav import earth, rotation
from jaguar_sensors_ros.nav.elementary import atan2, cos, cube, hypot, sin, square
from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.nav.rotation import matrix_times, quat_multiply, scale

Array = NDArray[np.float64]
#: a vector, a quaternion or a matrix of columns, which the functions of floats take too
Columns = Any


def norm(a: Columns) -> Array:
    """Return the lengths; :func:`nav.rotation.norm`."""
    return np.asarray(np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]))


def quat_from_rotvec(phi: Columns) -> Columns:
    """Return the quaternions of rotation vectors [rad]; :func:`nav.rotation.quat_from_rotvec`."""
    x, y, z = phi
    angle = norm(phi)
    half = 0.5 * angle
    is_small = angle < 1e-8
    if not is_small.any():
        s = sin(half) / angle
        return (cos(half), s * x, s * y, s * z)
    s = sin(half) / np.where(is_small, 1.0, angle)
    hx, hy, hz = 0.5 * x, 0.5 * y, 0.5 * z
    n = np.sqrt(1.0 + hx * hx + hy * hy + hz * hz)
    return (
        np.where(is_small, 1.0 / n, cos(half)),
        np.where(is_small, hx / n, s * x),
        np.where(is_small, hy / n, s * y),
        np.where(is_small, hz / n, s * z),
    )


def rotvec_from_quat(q: Columns) -> Columns:
    """Return the rotation vectors [rad] of unit quaternions; see :mod:`nav.rotation`."""
    w, x, y, z = q
    is_flipped = ~(w >= 0.0)
    if is_flipped.any():
        w, x, y, z = (np.where(is_flipped, -part, part) for part in (w, x, y, z))
    s = np.sqrt(x * x + y * y + z * z)
    turns = s > 1e-12
    if turns.all():
        factor = 2.0 * atan2(s, w) / s
    else:
        safe_s, safe_w = np.where(turns, s, 1.0), np.where(turns, 1.0, w)
        factor = np.where(turns, 2.0 * atan2(s, w) / safe_s, 2.0 / safe_w)
    return (factor * x, factor * y, factor * z)


def rotvec_between(q_a: Columns, q_b: Columns) -> Columns:
    """Return the rotation vectors [rad] that take attitudes a to b, in the axes of a."""
    between: Columns = rotation.rotvec_between(q_a, q_b, rotvec_from_quat)
    return between


def slerp(q_a: Columns, phi: Columns, u: Any) -> Columns:
    """Return the attitudes fractions u along rotation vectors from q_a; u is not 0."""
    return quat_multiply(q_a, quat_from_rotvec(scale(phi, u)))


def right_jacobian_factors(phi: Columns) -> tuple[Array, Array]:
    """Return a and b of :func:`nav.rotation.right_jacobian_times`."""
    angle = norm(phi)
    sq = angle * angle
    a = 0.5 - sq / 24.0 + sq * sq / 720.0
    b = 1.0 / 6.0 - sq / 120.0 + sq * sq / 5040.0
    is_large = ~(angle < 1e-2)
    if is_large.any():
        angle, sq = angle[is_large], sq[is_large]
        a[is_large] = 2.0 * square(sin(0.5 * angle)) / sq
        b[is_large] = (angle - sin(angle)) / (sq * angle)
    return a, b


def geodetic_from_ecef(p_e: Columns) -> tuple[Array, Array, Array, Array, Array]:
    """Return latitudes, longitudes [rad], heights [m], and sine and cosine of the latitudes.

    :func:`nav.earth.geodetic_from_ecef` for points p_e [m].
    """
    x, y, z = p_e
    rho = hypot(x, y)
    latitude, sin_lat, cos_lat = _latitude(rho, z)
    height = rho * cos_lat + z * sin_lat - earth.SEMI_MAJOR_M * np.sqrt(
        1.0 - earth.ECCENTRICITY_SQ * sin_lat * sin_lat
    )
    return latitude, atan2(y, x), height, sin_lat, cos_lat


def _latitude(rho: Array, z: Array) -> tuple[Array, Array, Array]:
    """Return the latitudes, their sines and cosines; points that are done take no more steps."""
    semi_minor = earth.SEMI_MAJOR_M * (1.0 - earth.FLATTENING)
    second = earth.ECCENTRICITY_SQ / (1.0 - earth.ECCENTRICITY_SQ)
    beta = atan2(z, (1.0 - earth.FLATTENING) * rho)
    found = np.empty((3, len(rho)))
    left: Any = slice(None)
    for _ in range(8):
        latitude = atan2(
            z + second * semi_minor * cube(sin(beta)),
            rho - earth.ECCENTRICITY_SQ * earth.SEMI_MAJOR_M * cube(cos(beta)),
        )
        sin_lat, cos_lat = sin(latitude), cos(latitude)
        found[:, left] = latitude, sin_lat, cos_lat
        following = atan2((1.0 - earth.FLATTENING) * sin_lat, cos_lat)
        goes_on = ~(np.abs(following - beta) < 1e-15)
        if goes_on.all():
            beta = following
        else:
            left = np.arange(len(found[0]))[left][goes_on]
            rho, z, beta = rho[goes_on], z[goes_on], following[goes_on]
        if not len(beta):
            break
    return found[0], found[1], found[2]


def enu_from_ecef_matrix(sin_lat: Array, cos_lat: Array, longitude: Array) -> Columns:
    """Return C_ne, whose rows are east, north and up; :func:`nav.earth.enu_from_ecef_matrix`."""
    sin_lon, cos_lon = sin(longitude), cos(longitude)
    return (
        (-sin_lon, cos_lon, np.zeros_like(sin_lon)),
        (-sin_lat * cos_lon, -sin_lat * sin_lon, cos_lat),
        (cos_lat * cos_lon, cos_lat * sin_lon, sin_lat),
    )


class LocalColumns(LocalFrame):
    """The frame n, whose gravity is that of columns."""

    @classmethod
    def of(cls, local: LocalFrame) -> LocalColumns:
        """Return the same frame for columns."""
        return cls(local.latitude_deg, local.longitude_deg, local.height_m, local.heading)

    def gravity_n(self, p_n: Columns, model: str) -> Columns:
        """Return gravity [m/s2] at p_n resolved in n; :meth:`LocalFrame.gravity_n`."""
        if model == 'constant':
            return super().gravity_n(p_n, model)
        p_e: Columns = self.ecef_from_local(p_n)
        return matrix_times(self.C_ne, earth.gravity_e(p_e, np.sqrt))


def matrix_from_quat(q: Columns) -> Any:
    """Return the rotation matrices C(q), rows of columns; :func:`nav.rotation.matrix_from_quat`.

    The quaternions are not zero.  The order of operations is that of transforms3d.
    """
    w, x, y, z = q
    s = 2.0 / (w * w + x * x + y * y + z * z)
    xs, ys, zs = x * s, y * s, z * s
    wx, wy, wz = w * xs, w * ys, w * zs
    xx, xy, xz = x * xs, x * ys, x * zs
    yy, yz, zz = y * ys, y * zs, z * zs
    return (
        (1.0 - (yy + zz), xy - wz, xz + wy),
        (xy + wz, 1.0 - (xx + zz), yz - wx),
        (xz - wy, yz + wx, 1.0 - (xx + yy)),
    )
