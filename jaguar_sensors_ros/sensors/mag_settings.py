"""Parameters of a magnetometer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from jaguar_sensors_ros.component import AUTO, ParameterError, group, parameter, vector
from jaguar_sensors_ros.errors.triad_settings import BiasSettings, TriadSettings
from jaguar_sensors_ros.nav.magnetic import END_YEAR, FIRST_YEAR
from jaguar_sensors_ros.sensors.covariance import check_override, override
from jaguar_sensors_ros.sensors.settings import SensorSettings
from jaguar_sensors_ros.types import Mat3, Vec3

_LIS3MDL = 'LIS3MDL data sheet, typical'
#: what ROS takes as a relative name
_NAME = re.compile(r'[A-Za-z_]\w*(/[A-Za-z_]\w*)*', re.ASCII)


@dataclass(frozen=True)
class MagTriadSettings(TriadSettings):
    """Error parameters of the magnetometer triad; all others are off by default."""

    white_noise_density: Vec3 = vector(
        3.2e-8,
        'White noise N; standard deviation N / sqrt(dt): 320 nT at 100 Hz by default.',
        unit='{unit}/sqrt(Hz)',
        minimum=0.0,
        source=_LIS3MDL,
    )
    range: Vec3 = vector(
        4e-4,
        'Saturation at plus and minus this value; 0: off.',
        unit='{unit}',
        minimum=0.0,
        source=_LIS3MDL,
    )
    resolution: Vec3 = vector(
        1.4616e-8,
        'Outputs are rounded to multiples of this, without a residue; 0: off.',
        unit='{unit}',
        minimum=0.0,
        source=_LIS3MDL,
    )


@dataclass(frozen=True)
class MagCovarianceSettings:
    """Override of the published covariance."""

    magnetic_field: tuple[float, ...] | str = override('the magnetic field', 'T^2')

    def __post_init__(self) -> None:
        check_override('magnetic_field', self.magnetic_field)


@dataclass(frozen=True)
class MagSettings(SensorSettings):
    """Parameters of the magnetometer."""

    frame_id: str = parameter('imu_link', 'Frame of the sensor.', kind='string')
    imu_name: str = parameter(
        'imu',
        'Name of the IMU that the magnetometer is part of: its topic is <imu_name>/mag, relative '
        'to the namespace of the node (REP-145). Read at start only.',
        kind='string',
    )
    sample_rate_hz: float = parameter(
        100.0, 'Sample rate.', unit='Hz', minimum=0.01, maximum=100000.0
    )
    field: tuple[float, ...] | str = parameter(
        AUTO,
        'Flux density of the magnetic field: auto is the World Magnetic Model at the position; '
        'three numbers are a constant field along east, north, up of the origin.',
        kind='vector',
        sizes=(3,),
        unit='T',
        auto=True,
        source='World Magnetic Model, NOAA NCEI and BGS',
    )
    year: float | str = parameter(
        AUTO,
        'Date for the World Magnetic Model as a decimal year; auto: that of the stamp, where it '
        'is within these years, else 2025.0.',
        minimum=FIRST_YEAR,
        maximum=END_YEAR,
        auto=True,
    )
    hard_iron: Vec3 = vector(
        0.0, 'Field of what is magnetised around the sensor, in sensor axes.', unit='T'
    )
    soft_iron: tuple[float, ...] = parameter(
        (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0),
        'What iron around the sensor makes of the field: a matrix in sensor axes, row by row.',
        kind='vector',
        sizes=(9,),
    )
    bias_m_init_std: Vec3 = vector(
        0.0,
        'Bias instability: stationary standard deviation of the Gauss-Markov process, or '
        'coefficient B of flicker noise.',
        unit='T',
        minimum=0.0,
    )
    tau_bias_m_s: Vec3 = vector(
        3600.0, 'Correlation time of the bias instability.', unit='s', above=0.0
    )
    mag: MagTriadSettings = group(MagTriadSettings, unit='T')
    covariance: MagCovarianceSettings = group(MagCovarianceSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not _NAME.fullmatch(self.imu_name):
            raise ParameterError(
                'imu_name', self.imu_name, 'must be a relative ROS name: names joined by /'
            )

    @property
    def bias(self) -> BiasSettings:
        """Bias instability."""
        return BiasSettings(self.bias_m_init_std, self.tau_bias_m_s)

    @cached_property
    def soft_iron_matrix(self) -> Mat3:
        """The matrix of the soft iron."""
        a = self.soft_iron
        return ((a[0], a[1], a[2]), (a[3], a[4], a[5]), (a[6], a[7], a[8]))
