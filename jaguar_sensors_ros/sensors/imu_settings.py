"""Parameters of an IMU and the grade table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from jaguar_sensors_ros.component import (
    ParameterError,
    group,
    parameter,
    vector,
)
from jaguar_sensors_ros.errors.triad_settings import BiasSettings, TriadSettings
from jaguar_sensors_ros.errors.vibration import VibrationSettings
from jaguar_sensors_ros.sensors.covariance import check_override, override
from jaguar_sensors_ros.sensors.profiles import DEG, DEVICES, Value, grade_values
from jaguar_sensors_ros.sensors.settings import SensorSettings
from jaguar_sensors_ros.types import Mat3, Vec3

#: parameter values of each grade and of each device; custom sets none
GRADES: dict[str, dict[str, Value]] = {**grade_values(), **DEVICES, 'custom': {}}
#: errors that a datasheet gives for a population of units
POPULATION = ('scale_factor_ppm', 'misalignment', 'cross_axis')
_EARTH_RATE_GRADES = ('navigation', 'strategic')


@dataclass(frozen=True)
class GyroSettings(TriadSettings):
    """Error parameters of the gyroscope triad."""

    g_sensitivity: tuple[float, ...] = parameter(
        0.0,
        'Rate per true specific force in the sensor frame, gravity included: one number or one '
        'per axis along the axis, or a whole matrix row by row.',
        kind='vector',
        sizes=(1, 3, 9),
        unit='(rad/s)/g',
        source='document 000',
    )

    def g_sensitivity_matrix(self) -> Mat3 | None:
        """Return the matrix, or None where it is zero."""
        g = self.g_sensitivity
        if not any(g):
            return None
        if len(g) == 9:
            return ((g[0], g[1], g[2]), (g[3], g[4], g[5]), (g[6], g[7], g[8]))
        x, y, z = g if len(g) == 3 else g * 3
        return ((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z))


@dataclass(frozen=True)
class OrientationSettings:
    """The orientation of imu/data, as an attitude reference of its own would give it."""

    output: str = parameter(
        'ahrs',
        'none: imu/data says that it has no orientation; truth: the true one; ahrs: with '
        'errors about east, north and up.',
        kind='string',
        choices=('none', 'truth', 'ahrs'),
    )
    roll_pitch_std: float = parameter(
        0.5 * DEG, 'Standard deviation of the tilt error.', unit='rad', minimum=0.0
    )
    yaw_std: float = parameter(
        2.0 * DEG, 'Standard deviation of the heading error.', unit='rad', minimum=0.0
    )
    correlation_time_s: float = parameter(
        0.0, 'Correlation time of the attitude errors; 0: white.', unit='s', minimum=0.0
    )


@dataclass(frozen=True)
class IncrementSettings:
    """The increments topic."""

    samples: int = parameter(
        1,
        'Sub-samples in one message: with 2 the topic has half the sample rate and carries both.',
        kind='integer',
        minimum=1,
        maximum=2,
    )


@dataclass(frozen=True)
class ImuCovarianceSettings:
    """Overrides of published covariances."""

    orientation: tuple[float, ...] | str = override('the orientation', 'rad^2')
    angular_velocity: tuple[float, ...] | str = override('the angular velocity', '(rad/s)^2')
    linear_acceleration: tuple[float, ...] | str = override('the acceleration', '(m/s2)^2')

    def __post_init__(self) -> None:
        for name in ('orientation', 'angular_velocity', 'linear_acceleration'):
            check_override(name, getattr(self, name))


@dataclass(frozen=True)
class ImuSettings(SensorSettings):
    """Parameters of the IMU."""

    preset = ('grade', GRADES)

    grade: str = parameter(
        'tactical',
        'Sets the error parameters: a grade of document 000, a device (docs/devices.md), or '
        'custom: all off. A parameter that is given explicitly wins.',
        kind='string',
        choices=tuple(GRADES),
        source='document 000',
    )
    frame_id: str = parameter('imu_link', 'Frame of the sensor.', kind='string')
    sample_rate_hz: float = parameter(
        200.0, 'Sample rate.', unit='Hz', minimum=0.01, maximum=100000.0
    )
    rate_output: str = parameter(
        'mean',
        'mean: rates are increments / dt, the mean over the interval that ends at the stamp; '
        'instant: rates at the stamp.',
        kind='string',
        choices=('mean', 'instant'),
    )
    gyro_lsb: Vec3 = vector(
        0.0, 'Angle pulse; 0: no pulse quantisation.', unit='rad/pulse', minimum=0.0
    )
    accel_lsb: Vec3 = vector(
        0.0, 'Velocity pulse; 0: no pulse quantisation.', unit='(m/s)/pulse', minimum=0.0
    )
    bias_g_init_std: Vec3 = vector(
        0.0,
        'Gyro bias instability: stationary standard deviation of the Gauss-Markov process, or '
        'coefficient B of flicker noise.',
        unit='rad/s',
        minimum=0.0,
        source='document 001',
    )
    bias_a_init_std: Vec3 = vector(
        0.0,
        'Accelerometer bias instability: stationary standard deviation of the Gauss-Markov '
        'process, or coefficient B of flicker noise.',
        unit='m/s2',
        minimum=0.0,
        source='document 001',
    )
    tau_bias_g_s: Vec3 = vector(
        3600.0,
        'Correlation time of the gyro bias instability.',
        unit='s',
        above=0.0,
        source='document 001',
    )
    tau_bias_a_s: Vec3 = vector(
        3600.0,
        'Correlation time of the accelerometer bias instability.',
        unit='s',
        above=0.0,
        source='document 001',
    )
    vibration_grms: float = parameter(
        0.0,
        'Level of vibration that is rectified but not otherwise felt, on each axis.',
        unit='g',
        minimum=0.0,
        maximum=1000.0,
    )
    vibration: VibrationSettings = group(VibrationSettings)
    gyro: GyroSettings = group(GyroSettings, unit='rad/s')
    accel: TriadSettings = group(TriadSettings, unit='m/s2')
    orientation: OrientationSettings = group(OrientationSettings)
    increments: IncrementSettings = group(IncrementSettings)
    covariance: ImuCovarianceSettings = group(ImuCovarianceSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        for triad, lsb in (('gyro', self.gyro_lsb), ('accel', self.accel_lsb)):
            resolution = getattr(self, triad).resolution
            if any(a and b for a, b in zip(lsb, resolution, strict=True)):
                raise ParameterError(
                    f'{triad}.resolution', resolution, f'must be 0 where {triad}_lsb is set'
                )

    @classmethod
    def completed(cls, explicit: Mapping[str, object]) -> dict[str, object]:
        """Return explicit parameter values completed by those of the grade."""
        graded = dict(GRADES.get(str(explicit.get('grade', 'tactical')), {}))
        for triad in ('gyro', 'accel'):
            if np.any(cast(Any, explicit.get(f'{triad}.white_noise_psd', 0.0))):
                # the noise is given as a spectral density: the grade's is not meant
                graded[f'{triad}.white_noise_density'] = 0.0
            if not np.all(cast(Any, explicit.get(f'{triad}.range', 1.0))):
                # no full scale, no quadratic error
                graded.pop(f'{triad}.nonlinearity_ppm', None)
            if np.any(cast(Any, explicit.get(f'{triad}_lsb', 0.0))):
                # pulses, not rounding
                graded.pop(f'{triad}.resolution', None)
            if any(f'{triad}.{name}' in explicit for name in POPULATION):
                # a number of this very unit, not of a population
                graded.pop(f'{triad}.draw_unit', None)
        return {**graded, **explicit}

    def _senses_rotation(self) -> bool:
        return self.grade in _EARTH_RATE_GRADES

    @property
    def gyro_bias(self) -> BiasSettings:
        """Bias instability of the gyroscopes."""
        return BiasSettings(self.bias_g_init_std, self.tau_bias_g_s)

    @property
    def accel_bias(self) -> BiasSettings:
        """Bias instability of the accelerometers."""
        return BiasSettings(self.bias_a_init_std, self.tau_bias_a_s)
