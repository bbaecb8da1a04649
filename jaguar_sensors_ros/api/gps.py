"""The GNSS receiver of the Python interface."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from jaguar_sensors_ros.api.config import GpsConfig
from jaguar_sensors_ros.api.held import HeldMotion, moved, turned
from jaguar_sensors_ros.api.measurements import GpsMeasurement
from jaguar_sensors_ros.api.sensor import Sensor
from jaguar_sensors_ros.api.values import quaternion, vector
from jaguar_sensors_ros.nav import earth
from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.nav.kinematics import Segment
from jaguar_sensors_ros.nav.rotation import matrix_times
from jaguar_sensors_ros.sensors.base import Status
from jaguar_sensors_ros.types import IDENTITY_QUAT, ZERO3, GpsSample, Quat, Vec3


class GpsSensor(Sensor[GpsConfig, GpsMeasurement]):
    """A GNSS receiver; see :class:`Sensor`.

    The true state is that of the origin of the body at the present measurement time.  The body
    goes on with its velocity, acceleration and angular velocity until the state is set again, and
    stands still where none was given.  Positions and velocities are along east, north, up of the
    tangent plane at ``origin`` (``origin_heading`` does not act).  Until a state is set the body
    is at rest at the origin, level and facing east.
    """

    config_class = GpsConfig

    def __init__(self) -> None:
        self._position: Vec3 = ZERO3
        self._velocity: Vec3 = ZERO3
        self._acceleration: Vec3 = ZERO3
        self._q: Quat = IDENTITY_QUAT
        self._omega: Vec3 = ZERO3
        super().__init__()

    def set_true_state(
        self,
        position: ArrayLike,
        velocity: ArrayLike = ZERO3,
        acceleration: ArrayLike = ZERO3,
        orientation: ArrayLike = IDENTITY_QUAT,
        angular_velocity: ArrayLike = ZERO3,
    ) -> None:
        """Set the true motion of the origin of the body at the present measurement time.

        Parameters
        ----------
        position : array_like, shape (3,)
            East, north, up from the origin [m]; see :meth:`local_position`.
        velocity : array_like, shape (3,)
            Velocity over the Earth along the same axes [m/s].
        acceleration : array_like, shape (3,)
            Its derivative [m/s2].
        orientation : array_like, shape (4,)
            Quaternion w, x, y, z from the body's axes to east, north, up.  It and the angular
            velocity matter where the antenna has a lever arm.
        angular_velocity : array_like, shape (3,)
            Angular velocity over the Earth, in the axes of the body [rad/s].

        Raises
        ------
        JaguarError
            for numbers that are missing or not finite, or a zero quaternion; nothing changed
            then.
        """
        state = (
            vector('position', position, 'm'),
            vector('velocity', velocity, 'm/s'),
            vector('acceleration', acceleration, 'm/s2'),
            quaternion('orientation', orientation),
            vector('angular velocity', angular_velocity, 'rad/s'),
        )
        self._position, self._velocity, self._acceleration, self._q, self._omega = state

    def local_position(self, latitude_deg: float, longitude_deg: float, height_m: float) -> Vec3:
        """Return geodetic coordinates (WGS-84) as east, north, up from the origin [m]."""
        place = vector('geodetic position', (latitude_deg, longitude_deg, height_m), 'deg, deg, m')
        latitude, longitude = math.radians(place[0]), math.radians(place[1])
        p_e = earth.ecef_from_geodetic(latitude, longitude, place[2])
        return self._local.local_from_ecef(p_e)

    @property
    def _local(self) -> LocalFrame:
        local: LocalFrame = self._core.settings.local_frame
        return local

    def _piece(self, start_ns: int, end_ns: int) -> Segment:
        return HeldMotion(
            start_ns,
            end_ns,
            self._position,
            self._velocity,
            self._acceleration,
            self._q,
            self._omega,
        )

    def _passed(self, start_ns: int, end_ns: int) -> None:
        p, v, a = self._position, self._velocity, self._acceleration
        self._position, self._velocity = moved(p, v, a, end_ns - start_ns)
        self._q = turned(self._q, self._omega, end_ns - start_ns)

    def _measured(self, sample: GpsSample, status: Status) -> GpsMeasurement:
        local = self._local
        return GpsMeasurement(
            timestamp_ns=sample.t_ns,
            valid=status.valid,
            confidence=status.confidence,
            state=status.state,
            position=local.local_from_ecef(sample.p_e),
            velocity=matrix_times(local.C_ne, sample.v_e),
            latitude_deg=sample.latitude_deg,
            longitude_deg=sample.longitude_deg,
            height_m=sample.height_m,
            fix_type=sample.fix_type,
            satellites=sample.satellites,
            position_covariance=sample.position_covariance,
            velocity_covariance=sample.velocity_covariance,
            sample=sample,
        )

    def _missing(self, timestamp_ns: int) -> GpsMeasurement:
        return GpsMeasurement(timestamp_ns=timestamp_ns)
