"""Pieces of truth between two odometry messages, one class for each authority."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

from jaguar_sensors_ros.nav.earth import STANDARD_GRAVITY
from jaguar_sensors_ros.nav.frames import LocalFrame
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

#: what the gravity model 'constant' says, in n [m/s2]
_GRAVITY: Vec3 = (0.0, 0.0, -STANDARD_GRAVITY)


#: Integrals over an interval, in b: of omega, and of the acceleration less gravity; then by how
#: much omega and the specific force change from its start to its end.
Moved = tuple[Vec3, Vec3, tuple[Vec3, Vec3]]


@dataclass(slots=True, init=False)
class TwistSegment:
    """v_b and omega_b linear in the body frame, attitude along the turn between the poses.

    Exact in a steady turn, where interpolating the velocity in the world frame would make an
    acceleration sawtooth of a omega h / 2.  Where both ends carry an acceleration, it is
    interpolated instead of being derived from the velocity.  A segment is not changed once it
    is made.
    """

    first: TruthSample
    last: TruthSample
    #: times [ns] at which the piece begins and ends
    start_ns: int = field(repr=False, compare=False)
    end_ns: int = field(repr=False, compare=False)
    _span_ns: int = field(repr=False, compare=False)
    _phi: Vec3 = field(repr=False, compare=False)
    #: velocities at both ends in n, once somebody asked for a position
    _slopes: tuple[Vec3, Vec3] | None = field(repr=False, compare=False)
    #: what the sensors of a suite, which ask for the same interval, have in common
    _interval: tuple[int, int, LocalFrame | None] = field(repr=False, compare=False)
    _common: Moved = field(repr=False, compare=False)

    #: two messages tell of no faster motion
    is_smooth: ClassVar[bool] = True

    def __init__(self, first: TruthSample, last: TruthSample) -> None:
        self.first, self.last = first, last
        self.start_ns, self.end_ns = start_ns, end_ns = first.t_ns, last.t_ns
        self._span_ns = end_ns - start_ns
        self._phi = self._rotation_vector()
        self._interval = (0, 0, None)
        self._slopes = None

    def _rotation_vector(self) -> Vec3:
        """Return the rotation vector over the piece: the shortest, or by whole turns longer.

        The angular velocity tells the number of turns, which the two attitudes do not.
        """
        _, _, q_start, _, (ax, ay, az), _ = self.first
        _, _, q_end, _, (bx, by, bz), _ = self.last
        phi = rotvec_between(q_start, q_end)
        duration_s = self._span_ns / NS_PER_S
        x, y, z = ax + bx, ay + by, az + bz
        # twice the mean rate: below a quarter of a turn there is nothing to add
        if (x * x + y * y + z * z) * duration_s * duration_s < math.pi * math.pi:
            return phi
        angle = norm(phi)
        if angle == 0.0:
            return phi
        turned = 0.5 * dot((x, y, z), phi) / angle * duration_s
        turns = round((turned - angle) / (2.0 * math.pi))
        return scale(phi, 1.0 + 2.0 * math.pi * turns / angle)

    def at(self, t_ns: int) -> TruthSample:
        """Return the motion at ``t_ns``; the position is the cubic through both ends."""
        a, b = self.first, self.last
        u = (t_ns - a.t_ns) / self._span_ns
        duration_s = self._span_ns / NS_PER_S
        v = mix(a.v_nb_b, b.v_nb_b, u)
        omega = mix(a.omega_nb_b, b.omega_nb_b, u)
        if a.a_nb_b is not None and b.a_nb_b is not None:
            acceleration = mix(a.a_nb_b, b.a_nb_b, u)
        else:
            slope = scale(subtract(b.v_nb_b, a.v_nb_b), 1.0 / duration_s)
            acceleration = add(slope, cross(omega, v))
        position = self._position(u, duration_s)
        return TruthSample(t_ns, position, self.attitude(t_ns), v, omega, acceleration)

    def _position(self, u: float, duration_s: float) -> Vec3:
        """Return p_n a share ``u`` of the way through the piece of ``duration_s``."""
        a, b = self.first, self.last
        if self._slopes is None:
            self._slopes = rotate(a.q_nb, a.v_nb_b), rotate(b.q_nb, b.v_nb_b)
        (x0, y0, z0), (x1, y1, z1) = a.p_n, b.p_n
        (dx0, dy0, dz0), (dx1, dy1, dz1) = self._slopes
        return (
            _cubic(x0, x1, dx0, dx1, duration_s, u),
            _cubic(y0, y1, dy0, dy1, duration_s, u),
            _cubic(z0, z1, dz0, dz1, duration_s, u),
        )

    def attitude(self, t_ns: int) -> Quat:
        """Return q_nb at ``t_ns`` alone."""
        if t_ns == self.end_ns:
            return self.last.q_nb
        return slerp(self.first.q_nb, self._phi, (t_ns - self.start_ns) / self._span_ns)

    def increments(
        self, from_ns: int, to_ns: int, environment: Environment, arm: Vec3
    ) -> tuple[Vec3, Vec3]:
        """Return the ideal increments in closed form; see :class:`nav.kinematics.Segment`."""
        theta, velocity, _ = self._known(from_ns, to_ns, environment)
        if not environment.rotation and arm == ZERO3:
            return theta, velocity
        return self._over_earth(theta, velocity, from_ns, to_ns, environment, arm)

    def changes(
        self, from_ns: int, to_ns: int, environment: Environment, arm: Vec3
    ) -> tuple[Vec3, Vec3]:
        """Return by how much rate and specific force change; see :func:`changes_of`.

        Rate, Coriolis and centripetal acceleration from end to end; the Euler acceleration of the
        arm is even, as omega is linear in time.  Gravity is even in n: at 25 m/s it changes by
        4e-7 m/s2 in 10 ms, of which a low-pass takes an eighth at most.
        """
        _, _, (rate, force) = self._known(from_ns, to_ns, environment)
        if not environment.rotation and arm == ZERO3:
            return rate, force
        a, b, (x, z) = self.first, self.last, (ZERO3, ZERO3)
        u0, u2 = [(t_ns - self.start_ns) / self._span_ns for t_ns in (from_ns, to_ns)]
        if environment.rotation:
            rate_n = environment.local.omega_ie_n
            x, z = [rotate_back(self.attitude(t_ns), rate_n) for t_ns in (from_ns, to_ns)]
            early, late = mix(a.v_nb_b, b.v_nb_b, u0), mix(a.v_nb_b, b.v_nb_b, u2)
            rate = add(rate, subtract(z, x))
            force = add(force, scale(subtract(cross(z, late), cross(x, early)), 2.0))
        if arm != ZERO3:
            early = add(mix(a.omega_nb_b, b.omega_nb_b, u0), x)
            late = add(mix(a.omega_nb_b, b.omega_nb_b, u2), z)
            swung = subtract(cross(late, cross(late, arm)), cross(early, cross(early, arm)))
            force = add(force, swung)
        return rate, force

    def _known(self, from_ns: int, to_ns: int, environment: Environment) -> Moved:
        """Return what happens in an interval; it is kept until another one is asked for."""
        local = None if environment.gravity == 'constant' else environment.local
        asked = (from_ns, to_ns, local)
        if self._interval != asked:
            self._common = self._moved(from_ns, to_ns, local)
            self._interval = asked
        return self._common

    def _moved(self, from_ns: int, to_ns: int, local: LocalFrame | None) -> Moved:
        """Return what happens in an interval over an Earth that does not turn.

        With w and v linear in time, w and v their values in the middle of an interval of length
        h and dw, dv their changes, the integral of w x v is h (w x v + dw x dv / 12), and its
        slope in the middle makes a change of dw x v + w x dv.  Gravity is that of the place in
        the middle, or with ``local`` None that of the model 'constant'.
        """
        _, _, _, (vx, vy, vz), (wx, wy, wz), a = self.first
        _, _, _, (dx, dy, dz), (ex, ey, ez), b = self.last
        length_ns, span_ns = to_ns - from_ns, self._span_ns
        dt, share = length_ns / NS_PER_S, length_ns / span_ns
        middle = (from_ns + to_ns - 2 * self.start_ns) / (2 * span_ns)
        ex, ey, ez = ex - wx, ey - wy, ez - wz
        wx, wy, wz = wx + middle * ex, wy + middle * ey, wz + middle * ez
        ex, ey, ez = share * ex, share * ey, share * ez
        if a is not None and b is not None:
            gained_x, gained_y, gained_z = scale(mix(a, b, middle), dt)
            fx, fy, fz = scale(subtract(b, a), share)
        else:
            dx, dy, dz = dx - vx, dy - vy, dz - vz
            vx, vy, vz = vx + middle * dx, vy + middle * dy, vz + middle * dz
            dx, dy, dz = share * dx, share * dy, share * dz
            gained_x = dx + dt * (wy * vz - wz * vy + (ey * dz - ez * dy) / 12.0)
            gained_y = dy + dt * (wz * vx - wx * vz + (ez * dx - ex * dz) / 12.0)
            gained_z = dz + dt * (wx * vy - wy * vx + (ex * dy - ey * dx) / 12.0)
            fx = ey * vz - ez * vy + wy * dz - wz * dy
            fy = ez * vx - ex * vz + wz * dx - wx * dz
            fz = ex * vy - ey * vx + wx * dy - wy * dx
        gravity_n = _GRAVITY
        if local is not None:
            u = ((from_ns + to_ns) // 2 - self.start_ns) / span_ns
            gravity_n = local.gravity_n(self._position(u, span_ns / NS_PER_S), 'wgs84')
        gx, gy, gz = self._turned_back(gravity_n, from_ns, to_ns)
        # gravity turns by -phi x g, g its mean
        px, py, pz = self._phi
        rate = share / dt
        px, py, pz = px * rate, py * rate, pz * rate
        fx, fy, fz = fx + py * gz - pz * gy, fy + pz * gx - px * gz, fz + px * gy - py * gx
        return (
            (wx * dt, wy * dt, wz * dt),
            (gained_x - gx, gained_y - gy, gained_z - gz),
            ((ex, ey, ez), (fx, fy, fz)),
        )

    def _turned_back(self, vector_n: Vec3, from_ns: int, to_ns: int) -> Vec3:
        """Integrate a vector that is fixed in n, resolved in b."""
        length_ns = to_ns - from_ns
        q = self.first.q_nb if from_ns == self.start_ns else self.attitude(from_ns)
        is_whole = length_ns == self._span_ns
        turn = self._phi if is_whole else scale(self._phi, length_ns / self._span_ns)
        return integral_of_rotated_back(turn, rotate_back(q, vector_n), length_ns / NS_PER_S)

    def _over_earth(
        self,
        theta: Vec3,
        velocity: Vec3,
        from_ns: int,
        to_ns: int,
        environment: Environment,
        arm: Vec3,
    ) -> tuple[Vec3, Vec3]:
        """Add what the rotation of the Earth and the lever arm add.

        Simpson's rule is exact for omega x (omega x arm), which is quadratic; the turn of the
        Earth rate is integrated in closed form.
        """
        a, b, dt = self.first, self.last, (to_ns - from_ns) / NS_PER_S
        times_ns = (from_ns, (from_ns + to_ns) // 2, to_ns)
        u0, u1, u2 = [(t_ns - self.start_ns) / self._span_ns for t_ns in times_ns]
        if environment.rotation:
            rate_n = environment.local.omega_ie_n
            theta = add(theta, self._turned_back(rate_n, from_ns, to_ns))
            x, y, z = [rotate_back(self.attitude(t_ns), rate_n) for t_ns in times_ns]
            v = _at_nodes(a.v_nb_b, b.v_nb_b, u0, u1, u2)
            velocity = add(velocity, scale(_simpson_of_cross((x, y, z), v, dt), 2.0))
        if arm != ZERO3:
            omega = _at_nodes(a.omega_nb_b, b.omega_nb_b, u0, 0.5 * (u0 + u2), u2)
            if environment.rotation:
                omega = add(omega[0], x), add(omega[1], y), add(omega[2], z)
            velocity = add(velocity, cross(subtract(omega[2], omega[0]), arm))
            swing = (cross(omega[0], arm), cross(omega[1], arm), cross(omega[2], arm))
            velocity = add(velocity, _simpson_of_cross(omega, swing, dt))
        return theta, velocity


def _at_nodes(a: Vec3, b: Vec3, u0: float, u1: float, u2: float) -> tuple[Vec3, Vec3, Vec3]:
    """Return the linear interpolation between a and b at three places."""
    return mix(a, b, u0), mix(a, b, u1), mix(a, b, u2)


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
