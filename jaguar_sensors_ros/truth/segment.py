"""Pieces of truth between two odometry messages, one class for each authority."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

from jaguar_sensors_ros.nav.kinematics import Environment, increments_of_curve
from jaguar_sensors_ros.nav.rotation import (
    add,
    cross,
    dot,
    integral_of_rotated_back,
    mix,
    norm,
    right_jacobian_inverse_times,
    right_jacobian_times,
    rotate,
    rotate_back,
    rotvec_between,
    scale,
    slerp,
    subtract,
)
from jaguar_sensors_ros.types import NS_PER_S, ZERO3, Quat, TruthSample, Vec3


@dataclass(frozen=True)
class TwistSegment:
    """v_b and omega_b linear in the body frame, attitude along the turn between the poses.

    Exact in a steady turn, where interpolating the velocity in the world frame would make an
    acceleration sawtooth of a omega h / 2.  Where both ends carry an acceleration, it is
    interpolated instead of being derived from the velocity.
    """

    first: TruthSample
    last: TruthSample
    _duration_s: float = field(init=False, repr=False, compare=False)
    _phi: Vec3 = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # both are always used, and a cached property costs more than either
        duration_s = (self.last.t_ns - self.first.t_ns) / NS_PER_S
        object.__setattr__(self, '_duration_s', duration_s)
        object.__setattr__(self, '_phi', self._rotation_vector())

    @property
    def start_ns(self) -> int:
        """Time [ns] at which the piece begins."""
        return self.first.t_ns

    @property
    def end_ns(self) -> int:
        """Time [ns] at which it ends."""
        return self.last.t_ns

    def _rotation_vector(self) -> Vec3:
        """Return the rotation vector over the piece: the shortest, or by whole turns longer.

        The angular velocity tells the number of turns, which the two attitudes do not.
        """
        phi = rotvec_between(self.first.q_nb, self.last.q_nb)
        angle = norm(phi)
        mean = mix(self.first.omega_nb_b, self.last.omega_nb_b, 0.5)
        if angle == 0.0 or norm(mean) * self._duration_s < 0.5 * math.pi:
            return phi
        turned = dot(mean, phi) / angle * self._duration_s
        turns = round((turned - angle) / (2.0 * math.pi))
        return scale(phi, 1.0 + 2.0 * math.pi * turns / angle)

    @property
    def is_smooth(self) -> bool:
        """True: two messages tell of no faster motion."""
        return True

    def at(self, t_ns: int) -> TruthSample:
        """Return the motion at ``t_ns``; the position is the cubic through both ends."""
        a, b = self.first, self.last
        u = (t_ns - a.t_ns) / (b.t_ns - a.t_ns)
        v = mix(a.v_nb_b, b.v_nb_b, u)
        omega = mix(a.omega_nb_b, b.omega_nb_b, u)
        if a.a_nb_b is not None and b.a_nb_b is not None:
            acceleration = mix(a.a_nb_b, b.a_nb_b, u)
        else:
            slope = scale(subtract(b.v_nb_b, a.v_nb_b), 1.0 / self._duration_s)
            acceleration = add(slope, cross(omega, v))
        (x0, y0, z0), (x1, y1, z1) = a.p_n, b.p_n
        dx0, dy0, dz0 = rotate(a.q_nb, a.v_nb_b)
        dx1, dy1, dz1 = rotate(b.q_nb, b.v_nb_b)
        duration_s = self._duration_s
        position = (
            _cubic(x0, x1, dx0, dx1, duration_s, u),
            _cubic(y0, y1, dy0, dy1, duration_s, u),
            _cubic(z0, z1, dz0, dz1, duration_s, u),
        )
        return TruthSample(t_ns, position, slerp(a.q_nb, self._phi, u), v, omega, acceleration)

    def attitude(self, t_ns: int) -> Quat:
        """Return q_nb at ``t_ns`` alone."""
        a = self.first
        return slerp(a.q_nb, self._phi, (t_ns - a.t_ns) / (self.last.t_ns - a.t_ns))

    def increments(
        self, from_ns: int, to_ns: int, environment: Environment, arm: Vec3
    ) -> tuple[Vec3, Vec3]:
        """Return the ideal increments in closed form; see :class:`nav.kinematics.Segment`.

        Simpson's rule is exact for omega x v and omega x (omega x arm), which are quadratic;
        the turn of gravity and of the Earth rate is integrated in closed form.
        """
        a, b = self.first, self.last
        span = b.t_ns - a.t_ns
        u0, u1 = (from_ns - a.t_ns) / span, (to_ns - a.t_ns) / span
        dt = (to_ns - from_ns) / NS_PER_S
        middle = 0.5 * (u0 + u1)
        omega = _at_nodes(a.omega_nb_b, b.omega_nb_b, u0, middle, u1)
        v = _at_nodes(a.v_nb_b, b.v_nb_b, u0, middle, u1)
        theta = scale(omega[1], dt)
        if a.a_nb_b is not None and b.a_nb_b is not None:
            velocity = scale(mix(a.a_nb_b, b.a_nb_b, middle), dt)
        else:
            velocity = add(subtract(v[2], v[0]), _simpson_of_cross(omega, v, dt))

        phi = self._phi
        turn = scale(phi, u1 - u0)
        q0 = slerp(a.q_nb, phi, u0)
        position = a.p_n
        if environment.gravity != 'constant':
            position = self.at((from_ns + to_ns) // 2).p_n
        gravity = rotate_back(q0, environment.local.gravity_n(position, environment.gravity))
        velocity = subtract(velocity, integral_of_rotated_back(turn, gravity, dt))
        if environment.rotation:
            omega_ie_n = environment.local.omega_ie_n
            earth = (
                rotate_back(q0, omega_ie_n),
                rotate_back(slerp(q0, turn, 0.5), omega_ie_n),
                rotate_back(slerp(q0, turn, 1.0), omega_ie_n),
            )
            theta = add(theta, integral_of_rotated_back(turn, earth[0], dt))
            velocity = add(velocity, scale(_simpson_of_cross(earth, v, dt), 2.0))
            omega = (
                add(omega[0], earth[0]),
                add(omega[1], earth[1]),
                add(omega[2], earth[2]),
            )
        if arm != ZERO3:
            velocity = add(velocity, cross(subtract(omega[2], omega[0]), arm))
            swing = (cross(omega[0], arm), cross(omega[1], arm), cross(omega[2], arm))
            velocity = add(velocity, _simpson_of_cross(omega, swing, dt))
        return theta, velocity


def _at_nodes(a: Vec3, b: Vec3, u0: float, u1: float, u2: float) -> tuple[Vec3, Vec3, Vec3]:
    """Return the linear interpolation between a and b at three places."""
    x, y, z = a
    dx, dy, dz = b[0] - x, b[1] - y, b[2] - z
    return (
        (x + u0 * dx, y + u0 * dy, z + u0 * dz),
        (x + u1 * dx, y + u1 * dy, z + u1 * dz),
        (x + u2 * dx, y + u2 * dy, z + u2 * dz),
    )


def _simpson_of_cross(
    a: tuple[Vec3, Vec3, Vec3], b: tuple[Vec3, Vec3, Vec3], duration_s: float
) -> Vec3:
    """Integrate a x b by Simpson's rule from the values at start, middle and end."""
    (ax, ay, az), (bx, by, bz), (cx, cy, cz) = a
    (px, py, pz), (qx, qy, qz), (rx, ry, rz) = b
    sixth = duration_s / 6.0
    return (
        sixth * (ay * pz - az * py + 4.0 * (by * qz - bz * qy) + (cy * rz - cz * ry)),
        sixth * (az * px - ax * pz + 4.0 * (bz * qx - bx * qz) + (cz * rx - cx * rz)),
        sixth * (ax * py - ay * px + 4.0 * (bx * qy - by * qx) + (cx * ry - cy * rx)),
    )


@dataclass(frozen=True)
class PoseSegment:
    """A C1 curve through two poses; velocity, rate and acceleration are its derivatives.

    ``v_n`` [m/s] in n and ``omega_b`` [rad/s] in b are the derivatives at the two ends; the
    twist of the messages is not used.  Position and rotation vector are cubics.
    """

    first: TruthSample
    last: TruthSample
    v_n: tuple[Vec3, Vec3]
    omega_b: tuple[Vec3, Vec3]

    @property
    def start_ns(self) -> int:
        """Time [ns] at which the piece begins."""
        return self.first.t_ns

    @property
    def end_ns(self) -> int:
        """Time [ns] at which it ends."""
        return self.last.t_ns

    @cached_property
    def _phi(self) -> tuple[Vec3, Vec3, Vec3]:
        """Rotation vector over the piece and its rates at the two ends."""
        phi = rotvec_between(self.first.q_nb, self.last.q_nb)
        return phi, self.omega_b[0], right_jacobian_inverse_times(phi, self.omega_b[1])

    @property
    def is_smooth(self) -> bool:
        """True: two messages tell of no faster motion."""
        return True

    def at(self, t_ns: int) -> TruthSample:
        """Return the motion at ``t_ns``."""
        a, b = self.first, self.last
        duration_s = (b.t_ns - a.t_ns) / NS_PER_S
        u = (t_ns - a.t_ns) / (b.t_ns - a.t_ns)
        p, v, acceleration = hermite(a.p_n, b.p_n, self.v_n[0], self.v_n[1], duration_s, u)
        end, rate0, rate1 = self._phi
        phi, phi_rate, _ = hermite(ZERO3, end, rate0, rate1, duration_s, u)
        q = slerp(a.q_nb, phi, 1.0)
        omega = right_jacobian_times(phi, phi_rate)
        return TruthSample(
            t_ns, p, q, rotate_back(q, v), omega, rotate_back(q, acceleration)
        )

    def increments(
        self, from_ns: int, to_ns: int, environment: Environment, arm: Vec3
    ) -> tuple[Vec3, Vec3]:
        """Return the ideal increments by quadrature; see :class:`nav.kinematics.Segment`."""
        return increments_of_curve(self.at, from_ns, to_ns, environment, arm)


def _cubic(
    start: float, end: float, slope0: float, slope1: float, duration_s: float, u: float
) -> float:
    """Return the value alone of :func:`hermite` for one axis."""
    rise = end - start
    c2 = 3.0 * rise - duration_s * (2.0 * slope0 + slope1)
    c3 = duration_s * (slope0 + slope1) - 2.0 * rise
    return start + u * (duration_s * slope0 + u * (c2 + u * c3))


def hermite(
    p0: Vec3, p1: Vec3, v0: Vec3, v1: Vec3, duration_s: float, u: float
) -> tuple[Vec3, Vec3, Vec3]:
    """Return value, first and second derivative of the cubic with given ends and slopes."""
    value, first, second = [], [], []
    h = duration_s
    for start, end, slope0, slope1 in zip(p0, p1, v0, v1, strict=True):
        rise = end - start
        c2 = 3.0 * rise - h * (2.0 * slope0 + slope1)
        c3 = h * (slope0 + slope1) - 2.0 * rise
        value.append(start + u * (h * slope0 + u * (c2 + u * c3)))
        first.append(slope0 + u * (2.0 * c2 + 3.0 * u * c3) / h)
        second.append((2.0 * c2 + 6.0 * u * c3) / (h * h))
    return (
        (value[0], value[1], value[2]),
        (first[0], first[1], first[2]),
        (second[0], second[1], second[2]),
    )
