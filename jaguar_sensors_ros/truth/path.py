"""Attitude and angular velocity of a body that points along its path."""

from __future__ import annotations

import math

from jaguar_sensors_ros.nav.rotation import quat_from_rpy, rotate_back
from jaguar_sensors_ros.types import JaguarError, TruthSample, Vec3

#: standard gravity [m/s2], for the bank angle of a coordinated turn
G0 = 9.80665


def moving_sample(
    t_ns: int, p_n: Vec3, v_n: Vec3, a_n: Vec3, j_n: Vec3, heading: float, flies: bool
) -> TruthSample:
    """Return the state of a body that points along its path.

    Yaw is the direction of the horizontal velocity, pitch the negative of the flight path
    angle (nose up is negative in x forward, y left, z up).  A body that flies rolls so that
    its lateral specific force is zero (coordinated turn): with f = a + g0 up in the axes of
    yaw and pitch, roll = -atan2(f_y, f_z).  Otherwise roll is zero.  With roll r, pitch p,
    yaw y and their rates, omega_nb_b = R_x(r)^T (-y' sin p, p', y' cos p) + (r', 0, 0).

    Parameters
    ----------
    p_n, v_n, a_n, j_n : Vec3
        Position [m], velocity, acceleration and jerk in n; v_n must have a horizontal part.
    heading : float
        Angle [rad]; the yaw returned is the one within half a turn of it, which keeps the sign
        of the quaternion continuous.
    flies : bool
        Whether the body rolls.

    Raises
    ------
    JaguarError
        if the horizontal velocity is zero.

    Source: the axes of REP-103; B. Etkin, "Dynamics of Atmospheric Flight", section 4.5 for
    the angular velocity from Euler angle rates.
    """
    (vx, vy, vz), (ax, ay, az) = v_n, a_n
    square = vx * vx + vy * vy
    if square == 0.0:
        raise JaguarError(f'the heading at {t_ns} ns is undefined: no horizontal velocity')
    level, speed = math.sqrt(square), math.sqrt(square + vz * vz)
    yaw_rate = (vx * ay - vy * ax) / square
    pitch = -math.atan2(vz, level)
    pitch_rate = -(az * level - vz * (vx * ax + vy * ay) / level) / (speed * speed)
    sine, cosine = math.sin(heading), math.cos(heading)
    yaw = heading + math.atan2(cosine * vy - sine * vx, cosine * vx + sine * vy)
    omega = (vz / speed * yaw_rate, pitch_rate, level / speed * yaw_rate)
    roll = roll_rate = 0.0
    if flies:
        roll, roll_rate = _coordinated_roll((0.0, pitch, yaw), omega, a_n, j_n)
        c, s = math.cos(roll), math.sin(roll)
        _, wy, wz = omega
        omega = (omega[0] + roll_rate, c * wy + s * wz, c * wz - s * wy)
    q_nb = quat_from_rpy((roll, pitch, yaw))
    return TruthSample(t_ns, p_n, q_nb, (speed, 0.0, 0.0), omega, rotate_back(q_nb, a_n))


def _coordinated_roll(rpy: Vec3, omega: Vec3, a_n: Vec3, j_n: Vec3) -> tuple[float, float]:
    """Return roll [rad] and its rate for zero lateral specific force.

    ``rpy`` and ``omega`` are attitude and angular velocity of the unrolled axes.
    """
    q = quat_from_rpy(rpy)
    fx, fy, fz = rotate_back(q, (a_n[0], a_n[1], a_n[2] + G0))
    _, jy, jz = rotate_back(q, j_n)
    wx, wy, wz = omega
    fy_rate = jy - (wz * fx - wx * fz)
    fz_rate = jz - (wx * fy - wy * fx)
    return -math.atan2(fy, fz), -(fy_rate * fz - fy * fz_rate) / (fy * fy + fz * fz)
