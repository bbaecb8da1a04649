"""Parameters of a GNSS receiver."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jaguar_sensors_ros.component import AUTO, group, parameter
from jaguar_sensors_ros.sensors.covariance import check_override
from jaguar_sensors_ros.sensors.settings import SensorSettings
from jaguar_sensors_ros.types import FixType

#: satellites at which the given standard deviations and the nominal DOPs hold
NOMINAL_SATELLITES = 10
#: fewest satellites that give a position
LEAST_SATELLITES = 4
#: nominal horizontal and vertical dilution of precision
NOMINAL_HDOP, NOMINAL_VDOP = 0.9, 1.5


def _horizontal_vertical(default: float, doc: str, unit: str) -> Any:
    return parameter(
        default,
        f'{doc} One number, or [horizontal, vertical].',
        kind='vector',
        sizes=(1, 2),
        unit=unit,
        minimum=0.0,
        source='document 001',
    )


def _override(what: str, unit: str) -> Any:
    return parameter(
        AUTO,
        f'ENU covariance of the {what} to publish instead of the simulated one: a variance, '
        'three variances, or the whole matrix row by row.',
        kind='vector',
        sizes=(1, 3, 9),
        unit=unit,
        auto=True,
    )


@dataclass(frozen=True)
class GpsCovarianceSettings:
    """Overrides of published covariances."""

    position: tuple[float, ...] | str = _override('position', 'm^2')
    velocity: tuple[float, ...] | str = _override('velocity', '(m/s)^2')

    def __post_init__(self) -> None:
        for name in ('position', 'velocity'):
            check_override(name, getattr(self, name))


@dataclass(frozen=True)
class GpsSettings(SensorSettings):
    """Parameters of the GNSS receiver."""

    frame_id: str = parameter('gps_link', 'Frame of the antenna.', kind='string')
    vel_frame_id: str = parameter(
        'map', 'Frame named in gps/vel; its axes are taken for east, north, up.', kind='string'
    )
    update_hz: float = parameter(
        1.0, 'Rate of fixes.', unit='Hz', minimum=0.001, maximum=1000.0, source='document 001'
    )
    pos_std_dev: tuple[float, float] = _horizontal_vertical(
        5.0, 'Total standard deviation of the position, per axis.', 'm'
    )
    vel_std_dev: tuple[float, float] = _horizontal_vertical(
        0.1, 'Standard deviation of the velocity, per axis.', 'm/s'
    )
    pos_correlated_fraction: float = parameter(
        0.0,
        'Share of the position variance that is a Gauss-Markov process; the rest is white.',
        minimum=0.0,
        maximum=1.0,
    )
    pos_correlation_time_s: float = parameter(
        300.0, 'Correlation time of that share.', unit='s', above=0.0
    )
    satellites: int = parameter(
        NOMINAL_SATELLITES,
        'Satellites in view; the covariance is scaled by 10 / satellites, under 4 there is no '
        'fix.',
        kind='integer',
        minimum=0,
        maximum=64,
    )
    fix_type: str = parameter(
        'single',
        'Kind of fix: the status is FIX for single, SBAS for sbas, GBAS for both RTK kinds, '
        'NO_FIX for none.',
        kind='string',
        choices=tuple(kind.name.lower() for kind in FixType),
    )
    cold_start_s: float = parameter(
        0.0, 'Time after power-on with NO_FIX.', unit='s', minimum=0.0
    )
    covariance: GpsCovarianceSettings = group(GpsCovarianceSettings)
