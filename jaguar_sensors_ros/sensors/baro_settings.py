"""Parameters of a barometer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from jaguar_sensors_ros.component import AUTO, ParameterError, group, parameter
from jaguar_sensors_ros.errors.triad_settings import BiasSettings, TriadSettings
from jaguar_sensors_ros.nav.atmosphere import STANDARD_PRESSURE
from jaguar_sensors_ros.sensors.settings import SensorSettings
from jaguar_sensors_ros.types import Vec3

_BMP388 = 'BMP388 data sheet, typical'


@dataclass(frozen=True)
class PressureSettings:
    """Error parameters of the pressure, as those of a triad (errors/triad_settings.py)."""

    white_noise_density: float = parameter(
        0.24,
        'White noise N; standard deviation N / sqrt(dt): 1.2 Pa at 25 Hz by default.',
        unit='Pa/sqrt(Hz)',
        minimum=0.0,
        source=_BMP388,
    )
    bias_model: str = parameter(
        'gauss_markov',
        'Model of the bias instability: one Gauss-Markov process of the given standard '
        'deviation, or flicker noise whose Allan floor is 0.664 times the given coefficient.',
        kind='string',
        choices=('gauss_markov', 'flicker'),
    )
    turn_on_bias_std: float = parameter(
        0.0, 'Standard deviation of the bias drawn at each power-on.', unit='Pa', minimum=0.0
    )
    bias: float = parameter(0.0, 'Constant offset of the unit.', unit='Pa')
    bias_init_std: float = parameter(
        0.0,
        'Bias instability: stationary standard deviation of the Gauss-Markov process, or '
        'coefficient B of flicker noise.',
        unit='Pa',
        minimum=0.0,
    )
    tau_bias_s: float = parameter(
        3600.0, 'Correlation time of the bias instability.', unit='s', above=0.0
    )
    random_walk: float = parameter(
        0.0, 'Random walk K; the variance grows as K^2 t.', unit='Pa/sqrt(s)', minimum=0.0
    )
    scale_factor_ppm: float = parameter(0.0, 'Scale factor error.', unit='ppm')
    temp_bias_coeff: float = parameter(0.0, 'Bias per degree from 25 degC.', unit='Pa/degC')
    range: tuple[float, ...] = parameter(
        (30_000.0, 125_000.0),
        'Least and largest output; the least 0 and the largest 0: no limit.',
        kind='vector',
        sizes=(2,),
        unit='Pa',
        minimum=0.0,
        source=_BMP388,
    )
    resolution: float = parameter(
        0.016,
        'Outputs are rounded to multiples of this; 0: off.',
        unit='Pa',
        minimum=0.0,
        source=_BMP388,
    )

    def __post_init__(self) -> None:
        least, largest = self.range
        if any(self.range) and least >= largest:
            raise ParameterError('range', self.range, 'the least must be below the largest')

    @cached_property
    def terms(self) -> TriadSettings:
        """The random terms in the form of a triad, alike on all axes."""
        return TriadSettings(
            white_noise_density=_three(self.white_noise_density),
            bias_model=self.bias_model,
            turn_on_bias_std=_three(self.turn_on_bias_std),
            random_walk=_three(self.random_walk),
        )

    @cached_property
    def instability(self) -> BiasSettings:
        """The bias instability in the form of a triad."""
        return BiasSettings(_three(self.bias_init_std), _three(self.tau_bias_s))


def _three(value: float) -> Vec3:
    return (value, value, value)


@dataclass(frozen=True)
class BaroVarianceSettings:
    """Override of the published variance."""

    pressure: float | str = parameter(
        AUTO,
        'Variance of the pressure to publish instead of the simulated one.',
        unit='Pa^2',
        minimum=0.0,
        auto=True,
    )


@dataclass(frozen=True)
class AtmosphereSettings:
    """The air of the day."""

    sea_level_pressure: float = parameter(
        STANDARD_PRESSURE,
        'Pressure at mean sea level (QNH).',
        unit='Pa',
        minimum=50_000.0,
        maximum=150_000.0,
        source='ICAO Doc 7488',
    )
    temperature_offset_k: float = parameter(
        0.0,
        'By how much the air is warmer than the standard atmosphere, at all heights.',
        unit='K',
        minimum=-100.0,
        maximum=100.0,
    )
    geoid_height_m: float = parameter(
        0.0,
        'Height of the geoid over the ellipsoid, which is subtracted from the ellipsoidal '
        'height; 0 takes the ellipsoid for mean sea level.',
        unit='m',
        minimum=-200.0,
        maximum=200.0,
    )


@dataclass(frozen=True)
class BaroSettings(SensorSettings):
    """Parameters of the barometer."""

    frame_id: str = parameter('baro_link', 'Frame of the sensor.', kind='string')
    sample_rate_hz: float = parameter(
        25.0, 'Sample rate.', unit='Hz', minimum=0.01, maximum=100000.0
    )
    atmosphere: AtmosphereSettings = group(AtmosphereSettings)
    pressure: PressureSettings = group(PressureSettings)
    covariance: BaroVarianceSettings = group(BaroVarianceSettings)
