"""Pieces of truth made of values that hold until they are set again.

Both are :class:`nav.kinematics.Segment`; they are the bridge from set_true_state and update to
the sensors.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaguar_sensors_ros.nav.kinematics import Environment, increments_of_curve
from jaguar_sensors_ros.nav.rotation import (
    add,
    cross,
    quat_from_rotvec,
    quat_multiply,
    rotate_back,
    scale,
    subtract,
)
from jaguar_sensors_ros.types import NS_PER_S, ZERO3, Quat, TruthSample, Vec3


def turned(q: Quat, omega: Vec3, duration_ns: int) -> Quat:
    """Return an attitude after a turn at a constant angular velocity [rad/s]."""
    return quat_multiply(q, quat_from_rotvec(scale(omega, duration_ns / NS_PER_S)))


def moved(p: Vec3, v: Vec3, a: Vec3, duration_ns: int) -> tuple[Vec3, Vec3]:
    """Return position and velocity after a time at a constant acceleration."""
    t = duration_ns / NS_PER_S
    return add(p, add(scale(v, t), scale(a, 0.5 * t * t))), add(v, scale(a, t))


@dataclass(frozen=True)
class HeldForce:
    """What a perfect IMU at the origin of the body feels, constant over the piece.

    Parameters
    ----------
    start_ns, end_ns : int
        Times [ns] at which the piece begins and ends.
    force : Vec3
        Specific force f_ib_b [m/s2].
    omega : Vec3
        Angular velocity omega_ib_b [rad/s].
    omega_before : Vec3
        The one before the piece began.  Where it differs, it changed at once: the lever arm
        turns that into the change of velocity (omega - omega_before) x arm at the start.
    q_nb : Quat
        Attitude at the start; it turns with ``omega``.
    """

    start_ns: int
    end_ns: int
    force: Vec3
    omega: Vec3
    omega_before: Vec3
    q_nb: Quat
    environment: Environment

    @property
    def is_smooth(self) -> bool:
        """False: it may begin with a jump."""
        return False

    def at(self, t_ns: int) -> TruthSample:
        """Return a motion that feels like this, at rest; given rates are inertial already.

        ``environment`` is without the rotation of the Earth.
        """
        q_nb = turned(self.q_nb, self.omega, t_ns - self.start_ns)
        gravity = self.environment.local.gravity_n(ZERO3, self.environment.gravity)
        acceleration = add(self.force, rotate_back(q_nb, gravity))
        return TruthSample(t_ns, ZERO3, q_nb, ZERO3, self.omega, acceleration)

    def increments(
        self, from_ns: int, to_ns: int, environment: Environment, arm: Vec3
    ) -> tuple[Vec3, Vec3]:
        """Return the ideal increments; see :class:`nav.kinematics.Segment`."""
        duration_s = (to_ns - from_ns) / NS_PER_S
        velocity = scale(self.force, duration_s)
        if arm != ZERO3:
            centripetal = cross(self.omega, cross(self.omega, arm))
            velocity = add(velocity, scale(centripetal, duration_s))
            if from_ns == self.start_ns:
                jump = subtract(self.omega, self.omega_before)
                velocity = add(velocity, cross(jump, arm))
        return scale(self.omega, duration_s), velocity


@dataclass(frozen=True)
class HeldMotion:
    """A body that goes on with the acceleration and the angular velocity it was given.

    Parameters
    ----------
    start_ns, end_ns : int
        Times [ns] at which the piece begins and ends.
    p_n, v_n : Vec3
        Position [m] and velocity [m/s] in n at the start.
    a_n : Vec3
        Acceleration in n [m/s2], constant.
    q_nb : Quat
        Attitude at the start.
    omega_nb_b : Vec3
        Angular velocity over n in b [rad/s], constant.
    """

    start_ns: int
    end_ns: int
    p_n: Vec3
    v_n: Vec3
    a_n: Vec3
    q_nb: Quat
    omega_nb_b: Vec3

    @property
    def is_smooth(self) -> bool:
        """True: nothing jumps within the piece."""
        return True

    def at(self, t_ns: int) -> TruthSample:
        """Return the motion at ``t_ns``."""
        since_ns = t_ns - self.start_ns
        q_nb = turned(self.q_nb, self.omega_nb_b, since_ns)
        p_n, v_n = moved(self.p_n, self.v_n, self.a_n, since_ns)
        v_b, a_b = rotate_back(q_nb, v_n), rotate_back(q_nb, self.a_n)
        return TruthSample(t_ns, p_n, q_nb, v_b, self.omega_nb_b, a_b)

    def increments(
        self, from_ns: int, to_ns: int, environment: Environment, arm: Vec3
    ) -> tuple[Vec3, Vec3]:
        """Return the ideal increments; see :class:`nav.kinematics.Segment`."""
        return increments_of_curve(self.at, from_ns, to_ns, environment, arm)
