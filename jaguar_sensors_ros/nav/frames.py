"""The local frame at the origin, and motion given in other frames brought into it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

from jaguar_sensors_ros.nav import earth
from jaguar_sensors_ros.nav.rotation import (
    add,
    cross,
    matrix_times,
    quat_conjugate,
    quat_from_matrix,
    quat_multiply,
    rotate,
    rotate_back,
    scale,
    subtract,
    transposed_times,
)
from jaguar_sensors_ros.types import NS_PER_S, Mat3, Quat, TruthSample, Vec3

#: FLU body to FRD body and ENU to NED are half turns: the product of the two is constant
_Q_ENU_NED: Quat = (0.0, math.sqrt(0.5), math.sqrt(0.5), 0.0)
_Q_FRD_FLU: Quat = (0.0, 1.0, 0.0, 0.0)
#: launch-inertial body axes: x forward, y up, z right
_Q_FUR_FLU: Quat = (math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0)


@dataclass(frozen=True)
class LocalFrame:
    """The tangent frame n: east, north, up at the origin, fixed to the Earth.

    Parameters
    ----------
    latitude_deg, longitude_deg : float
        Geodetic coordinates of the origin [deg].
    height_m : float
        Ellipsoidal height of the origin [m].
    heading : float
        Angle [rad] from east to the x axis of the truth's world frame, counter-clockwise; for
        launch-inertial truth the launch azimuth, from north, clockwise.
    """

    latitude_deg: float
    longitude_deg: float
    height_m: float
    heading: float = 0.0

    @cached_property
    def latitude(self) -> float:
        """Latitude of the origin [rad]."""
        return math.radians(self.latitude_deg)

    @cached_property
    def longitude(self) -> float:
        """Longitude of the origin [rad]."""
        return math.radians(self.longitude_deg)

    @cached_property
    def p_e(self) -> Vec3:
        """ECEF position of the origin [m]."""
        return earth.ecef_from_geodetic(self.latitude, self.longitude, self.height_m)

    @cached_property
    def C_ne(self) -> Mat3:
        """Rotation from ECEF to n."""
        return earth.enu_from_ecef_matrix(self.latitude, self.longitude)

    @cached_property
    def q_ne(self) -> Quat:
        """Quaternion of :attr:`C_ne`."""
        return quat_from_matrix(self.C_ne)

    @cached_property
    def omega_ie_n(self) -> Vec3:
        """Rotation of the Earth resolved in n [rad/s]."""
        return (
            0.0,
            earth.OMEGA_IE * math.cos(self.latitude),
            earth.OMEGA_IE * math.sin(self.latitude),
        )

    def ecef_from_local(self, p_n: Vec3) -> Vec3:
        """Return p_e [m] of a position in n [m]; a rigid transform, exact at any distance."""
        return add(self.p_e, transposed_times(self.C_ne, p_n))

    def local_from_ecef(self, p_e: Vec3) -> Vec3:
        """Return the position in n [m] of p_e [m]."""
        return matrix_times(self.C_ne, subtract(p_e, self.p_e))

    def gravity_n(self, p_n: Vec3, model: str) -> Vec3:
        """Return gravity [m/s2] at p_n resolved in n.

        ``constant`` is standard gravity along -z of the origin; ``wgs84`` is normal gravity
        along the plumb line of the ellipsoid at the position.
        """
        if model == 'constant':
            return (0.0, 0.0, -earth.STANDARD_GRAVITY)
        return matrix_times(self.C_ne, earth.gravity_e(self.ecef_from_local(p_n)))


def sample_from_enu(sample: TruthSample, local: LocalFrame) -> TruthSample:
    """Turn a sample of a world frame with x at ``heading`` from east into n."""
    if local.heading == 0.0:
        return sample
    half = 0.5 * local.heading
    q_nw: Quat = (math.cos(half), 0.0, 0.0, math.sin(half))
    return TruthSample(
        sample.t_ns,
        rotate(q_nw, sample.p_n),
        quat_multiply(q_nw, sample.q_nb),
        sample.v_nb_b,
        sample.omega_nb_b,
        sample.a_nb_b,
    )


def sample_from_ned(sample: TruthSample, local: LocalFrame) -> TruthSample:
    """Turn a sample given in north-east-down with an FRD body into n with an FLU body."""
    turned = TruthSample(
        sample.t_ns,
        rotate(_Q_ENU_NED, sample.p_n),
        quat_multiply(quat_multiply(_Q_ENU_NED, sample.q_nb), _Q_FRD_FLU),
        _flip_yz(sample.v_nb_b),
        _flip_yz(sample.omega_nb_b),
        None if sample.a_nb_b is None else _flip_yz(sample.a_nb_b),
    )
    return sample_from_enu(turned, local)


def _flip_yz(a: Vec3) -> Vec3:
    return (a[0], -a[1], -a[2])


def sample_from_ecef(sample: TruthSample, local: LocalFrame) -> TruthSample:
    """Turn a sample whose pose is given in ECEF into n; the body is FLU in both.

    Velocity and angular velocity are relative to the rotating Earth and resolved in b, so they
    stay as they are.
    """
    return TruthSample(
        sample.t_ns,
        local.local_from_ecef(sample.p_n),
        quat_multiply(local.q_ne, sample.q_nb),
        sample.v_nb_b,
        sample.omega_nb_b,
        sample.a_nb_b,
    )


def sample_from_lic(sample: TruthSample, local: LocalFrame, epoch_ns: int) -> TruthSample:
    """Turn a launch-inertial sample (document 001) into n with an FLU body.

    The launch-inertial frame is x downrange at azimuth ``local.heading``, y up, z right at
    the launch point (the origin), frozen at ``epoch_ns``; the body is x forward, y up, z right.
    Position, velocity, angular velocity and acceleration are inertial, the last three resolved
    in the body.

    p_e = R3 (r0_e + C_el p_l), v_e = R3 C_el v_l - omega_ie x p_e, R3 the turn of the Earth
    since the epoch; a over the Earth = a_i - 2 omega x v - omega x (omega x p).
    """
    turn = earth.OMEGA_IE * (sample.t_ns - epoch_ns) / NS_PER_S
    q_r3: Quat = (math.cos(0.5 * turn), 0.0, 0.0, -math.sin(0.5 * turn))
    q_el = quat_multiply(quat_conjugate(local.q_ne), _q_nl(local.heading))
    p_e = rotate(q_r3, add(local.p_e, rotate(q_el, sample.p_n)))
    q_eb = quat_multiply(quat_multiply(quat_multiply(q_r3, q_el), sample.q_nb), _Q_FUR_FLU)
    omega_ie_b = rotate_back(q_eb, (0.0, 0.0, earth.OMEGA_IE))
    p_b = rotate_back(q_eb, p_e)
    v_ib_b = rotate_back(_Q_FUR_FLU, sample.v_nb_b)
    omega_ib_b = rotate_back(_Q_FUR_FLU, sample.omega_nb_b)
    v_eb_b = subtract(v_ib_b, cross(omega_ie_b, p_b))
    a_eb_b = None
    if sample.a_nb_b is not None:
        a_ib_b = rotate_back(_Q_FUR_FLU, sample.a_nb_b)
        coriolis = scale(cross(omega_ie_b, v_eb_b), 2.0)
        centrifugal = cross(omega_ie_b, cross(omega_ie_b, p_b))
        a_eb_b = subtract(subtract(a_ib_b, coriolis), centrifugal)
    return TruthSample(
        sample.t_ns,
        local.local_from_ecef(p_e),
        quat_multiply(local.q_ne, q_eb),
        v_eb_b,
        subtract(omega_ib_b, omega_ie_b),
        a_eb_b,
    )


def _q_nl(azimuth: float) -> Quat:
    """Return the quaternion from launch axes (downrange, up, right) to east, north, up."""
    sin_a, cos_a = math.sin(azimuth), math.cos(azimuth)
    return quat_from_matrix(((sin_a, 0.0, cos_a), (cos_a, 0.0, -sin_a), (0.0, 1.0, 0.0)))
