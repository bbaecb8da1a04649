"""Vectors and unit quaternions as plain floats, for the path that runs at every sample.

Conversions off that path are those of transforms3d.  Quaternions are (w, x, y, z); ``q_nb``
takes vectors from b to n.  Formulas: J. Sola, "Quaternion kinematics for the error-state Kalman
filter", arXiv 1711.02508, sections 1, 2 and 4.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from transforms3d.euler import euler2quat
from transforms3d.quaternions import mat2quat, quat2mat

from jaguar_sensors_ros.types import Mat3, Quat, Vec3


def add(a: Vec3, b: Vec3) -> Vec3:
    """Return a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


def subtract(a: Vec3, b: Vec3) -> Vec3:
    """Return a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


def scale(a: Vec3, factor: float) -> Vec3:
    """Return a multiplied by a number."""
    return (a[0] * factor, a[1] * factor, a[2] * factor)


def dot(a: Vec3, b: Vec3) -> float:
    """Return the scalar product."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def norm(a: Vec3) -> float:
    """Return the Euclidean length."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


def cross(a: Vec3, b: Vec3) -> Vec3:
    """Return the vector product a x b."""
    return (
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    )


def mix(a: Vec3, b: Vec3, u: float) -> Vec3:
    """Return the linear interpolation a + u (b - a)."""
    return (a[0] + u * (b[0] - a[0]), a[1] + u * (b[1] - a[1]), a[2] + u * (b[2] - a[2]))


def matrix_times(m: Mat3, a: Vec3) -> Vec3:
    """Return the product of a 3x3 matrix and a vector."""
    return (dot(m[0], a), dot(m[1], a), dot(m[2], a))


def transposed_times(m: Mat3, a: Vec3) -> Vec3:
    """Return the product of a transposed 3x3 matrix and a vector."""
    return (
        m[0][0] * a[0] + m[1][0] * a[1] + m[2][0] * a[2],
        m[0][1] * a[0] + m[1][1] * a[1] + m[2][1] * a[2],
        m[0][2] * a[0] + m[1][2] * a[1] + m[2][2] * a[2],
    )


def quat_multiply(p: Quat, q: Quat) -> Quat:
    """Return the Hamilton product p q; q_ac = q_ab q_bc."""
    pw, px, py, pz = p
    qw, qx, qy, qz = q
    return (
        pw * qw - px * qx - py * qy - pz * qz,
        pw * qx + px * qw + py * qz - pz * qy,
        pw * qy - px * qz + py * qw + pz * qx,
        pw * qz + px * qy - py * qx + pz * qw,
    )


def quat_conjugate(q: Quat) -> Quat:
    """Return the inverse of a unit quaternion."""
    return (q[0], -q[1], -q[2], -q[3])


def quat_norm(q: Quat) -> float:
    """Return the Euclidean length of a quaternion."""
    return math.sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])


def quat_normalise(q: Quat) -> Quat:
    """Return q scaled to unit length; q must not be zero."""
    n = quat_norm(q)
    return (q[0] / n, q[1] / n, q[2] / n, q[3] / n)


def rotate(q: Quat, a: Vec3) -> Vec3:
    """Return C(q) a; with q_nb the vector a given in b comes out in n."""
    w, x, y, z = q
    ax, ay, az = a
    tx = 2.0 * (y * az - z * ay)
    ty = 2.0 * (z * ax - x * az)
    tz = 2.0 * (x * ay - y * ax)
    return (
        ax + w * tx + y * tz - z * ty,
        ay + w * ty + z * tx - x * tz,
        az + w * tz + x * ty - y * tx,
    )


def rotate_back(q: Quat, a: Vec3) -> Vec3:
    """Return C(q)^T a; with q_nb the vector a given in n comes out in b."""
    w, x, y, z = q
    ax, ay, az = a
    tx = 2.0 * (z * ay - y * az)
    ty = 2.0 * (x * az - z * ax)
    tz = 2.0 * (y * ax - x * ay)
    return (
        ax + w * tx - y * tz + z * ty,
        ay + w * ty - z * tx + x * tz,
        az + w * tz - x * ty + y * tx,
    )


def quat_from_rotvec(phi: Vec3) -> Quat:
    """Return the quaternion of a rotation vector [rad]."""
    x, y, z = phi
    angle = math.sqrt(x * x + y * y + z * z)
    if angle < 1e-8:
        return quat_normalise((1.0, 0.5 * x, 0.5 * y, 0.5 * z))
    half = 0.5 * angle
    s = math.sin(half) / angle
    return (math.cos(half), s * x, s * y, s * z)


def rotvec_from_quat(q: Quat) -> Vec3:
    """Return the rotation vector [rad] of a unit quaternion, of length at most pi."""
    w, x, y, z = q if q[0] >= 0.0 else (-q[0], -q[1], -q[2], -q[3])
    s = math.sqrt(x * x + y * y + z * z)
    factor = 2.0 * math.atan2(s, w) / s if s > 1e-12 else 2.0 / w
    return (factor * x, factor * y, factor * z)


def quat_from_rpy(rpy: Vec3) -> Quat:
    """Return the quaternion of roll, pitch, yaw [rad] about fixed axes x, y, z (REP-103)."""
    w, x, y, z = euler2quat(*rpy, axes='sxyz')
    return (float(w), float(x), float(y), float(z))


def quat_from_matrix(m: Mat3) -> Quat:
    """Return the quaternion of a rotation matrix, w >= 0."""
    w, x, y, z = mat2quat(np.array(m))
    return quat_normalise((float(w), float(x), float(y), float(z)))


def matrix_from_quat(q: Quat) -> Mat3:
    """Return the rotation matrix C(q)."""
    x, y, z = quat2mat(q).tolist()
    return ((x[0], x[1], x[2]), (y[0], y[1], y[2]), (z[0], z[1], z[2]))


def rotvec_between(
    q_a: Quat, q_b: Quat, from_quat: Callable[[Quat], Vec3] = rotvec_from_quat
) -> Vec3:
    """Return the rotation vector [rad] that takes attitude a to b, in the axes of a.

    The shorter way is taken, so q and -q give the same.  For columns ``from_quat`` is that of
    :mod:`nav.columns`.
    """
    w, x, y, z = q_a
    bw, bx, by, bz = q_b
    return from_quat((
        w * bw + x * bx + y * by + z * bz,
        w * bx - x * bw - y * bz + z * by,
        w * by + x * bz - y * bw - z * bx,
        w * bz - x * by + y * bx - z * bw,
    ))


def right_jacobian_inverse_times(phi: Vec3, omega: Vec3) -> Vec3:
    """Return the rate of a rotation vector from the angular velocity in the moving axes.

    phi' = omega + phi x omega / 2 + k phi x (phi x omega), with
    k = (1 - (angle/2) cot(angle/2)) / angle^2 (Bortz equation).
    """
    angle = norm(phi)
    if angle < 1e-4:
        k = 1.0 / 12.0
    else:
        half = 0.5 * angle
        k = (1.0 - half / math.tan(half)) / (angle * angle)
    first = cross(phi, omega)
    second = cross(phi, first)
    return (
        omega[0] + 0.5 * first[0] + k * second[0],
        omega[1] + 0.5 * first[1] + k * second[1],
        omega[2] + 0.5 * first[2] + k * second[2],
    )


def right_jacobian_times(
    phi: Vec3, rate: Vec3, factors: tuple[float, float] | None = None
) -> Vec3:
    """Return the angular velocity in the moving axes from the rate of a rotation vector.

    omega = phi' - a phi x phi' + b phi x (phi x phi'), with a = (1 - cos)/angle^2 and
    b = (angle - sin)/angle^3, the ``factors`` where they are known, as they are for columns.
    """
    x, y, z = phi
    rx, ry, rz = rate
    if factors is None:
        angle = math.sqrt(x * x + y * y + z * z)
        square = angle * angle
        if angle < 1e-2:
            a = 0.5 - square / 24.0 + square * square / 720.0
            b = 1.0 / 6.0 - square / 120.0 + square * square / 5040.0
        else:
            a = 2.0 * math.sin(0.5 * angle) ** 2 / square
            b = (angle - math.sin(angle)) / (square * angle)
    else:
        a, b = factors
    # phi x rate, and phi x (phi x rate)
    cx, cy, cz = y * rz - z * ry, z * rx - x * rz, x * ry - y * rx
    return (
        rx - a * cx + b * (y * cz - z * cy),
        ry - a * cy + b * (z * cx - x * cz),
        rz - a * cz + b * (x * cy - y * cx),
    )


def slerp(q_a: Quat, phi: Vec3, u: float) -> Quat:
    """Return the attitude a fraction u along the rotation vector phi from q_a."""
    if u == 0.0:
        return q_a
    return quat_multiply(q_a, quat_from_rotvec(scale(phi, u)))


def integral_of_rotated_back(phi: Vec3, a: Vec3, duration: float) -> Vec3:
    """Integrate C(t)^T a over ``duration`` [s] for a rotation that grows evenly to phi [rad].

    The body turns, so a fixed vector turns backwards in its axes; the integral of
    exp(-u [phi x]) over u from 0 to 1 is the right Jacobian (Sola, section 4.3.3).
    """
    x, y, z = right_jacobian_times(phi, a)
    return (x * duration, y * duration, z * duration)
