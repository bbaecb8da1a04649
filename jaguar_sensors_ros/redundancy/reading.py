"""What a voter knows of one redundant IMU: its sample, its place, what else sets it apart."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jaguar_sensors_ros.errors.triad_settings import TriadSettings
from jaguar_sensors_ros.nav.earth import STANDARD_GRAVITY
from jaguar_sensors_ros.sensors.imu import ImuCovariances, ImuSensor
from jaguar_sensors_ros.sensors.imu_settings import ImuSettings
from jaguar_sensors_ros.types import IDENTITY_QUAT, ZERO3, Fidelity, ImuSample, Quat, Vec3

_PPM = 1e-6
#: temperature [degC] at which the temperature terms are zero
_REFERENCE_C = 25.0


@dataclass(frozen=True, slots=True)
class Systematic:
    """Errors that the covariance does not hold and that are no failure, as one sigma.

    ``*_relative`` [1] times the length of the reading (scale factor, misalignment, cross-axis,
    nonlinearity), ``*_offset`` in the unit of the reading (temperature), ``gyro_per_force``
    [(rad/s)/(m/s2)] times the length of the specific force.  ``gyro_white`` is the part of the
    variance of the angular rate [(rad/s)^2] that is white; None: all of it.
    """

    gyro_relative: float = 0.0
    accel_relative: float = 0.0
    gyro_offset: float = 0.0
    accel_offset: float = 0.0
    gyro_per_force: float = 0.0
    gyro_white: Vec3 | None = None


EXACT = Systematic()


@dataclass(frozen=True, slots=True)
class Reading:
    """One IMU sample with all that fusing it needs.

    Parameters
    ----------
    t_ns : int
        Stamp [ns].
    angular_velocity, specific_force : Vec3
        [rad/s] and [m/s2], in the axes of the sensor.
    orientation : Quat or None
        q_ns (w, x, y, z), which takes the axes of the sensor to n.
    covariances : ImuCovariances
        Those published with the sample, in the same axes; that of the orientation about the axes
        of n.
    position : Vec3
        Of the sensor in the body frame [m].
    q_bs : Quat
        Takes the axes of the sensor to those of the body.
    systematic : Systematic
        What else may set it apart from others.
    """

    t_ns: int
    angular_velocity: Vec3
    specific_force: Vec3
    orientation: Quat | None
    covariances: ImuCovariances
    position: Vec3 = ZERO3
    q_bs: Quat = IDENTITY_QUAT
    systematic: Systematic = EXACT


class Reader:
    """Makes readings of the samples of one IMU.

    Parameters
    ----------
    sensor : ImuSensor
        The IMU; its mount and covariances are those at the time of the call.
    """

    def __init__(self, sensor: ImuSensor) -> None:
        self._sensor = sensor
        self._settings: ImuSettings | None = None
        self._systematic = EXACT

    def __call__(self, sample: ImuSample) -> Reading:
        """Return a sample that the sensor has just given as a reading."""
        sensor = self._sensor
        if sensor.settings is not self._settings:
            self._settings = sensor.settings
            self._systematic = _systematic(sensor)
        return Reading(
            sample.t_ns,
            sample.angular_velocity,
            sample.specific_force,
            sample.orientation,
            sensor.covariances,
            sensor.arm,
            sensor.q_bs,
            self._systematic,
        )


def _systematic(sensor: ImuSensor) -> Systematic:
    s = sensor.settings
    if sensor.fidelity is Fidelity.TRANSPARENT:
        return EXACT
    matrix = s.gyro.g_sensitivity_matrix()
    per_g = 0.0 if matrix is None else max(math.sqrt(sum(x * x for x in r)) for r in matrix)
    x, y, z = sensor.gyro.white_sigma(1.0 / s.sample_rate_hz)
    warmth = abs(s.temperature_c - _REFERENCE_C)
    return Systematic(
        _relative(s.gyro, warmth),
        _relative(s.accel, warmth),
        warmth * max(map(abs, s.gyro.temp_bias_coeff)),
        warmth * max(map(abs, s.accel.temp_bias_coeff)),
        per_g / STANDARD_GRAVITY,
        (x * x, y * y, z * z),
    )


def _relative(triad: TriadSettings, warmth: float) -> float:
    """Return the errors that grow with the reading, as one number."""
    matrix = triad.cross_axis_matrix
    cross = max(abs(matrix[i][j] - (i == j)) for i in range(3) for j in range(3))
    parts = (
        _PPM * max(map(abs, triad.scale_factor_ppm)),
        _PPM * max(map(abs, triad.nonlinearity_ppm)),
        _PPM * warmth * max(map(abs, triad.temp_scale_coeff_ppm)),
        max(map(abs, triad.misalignment)),
        cross,
    )
    return math.sqrt(sum(x * x for x in parts))
