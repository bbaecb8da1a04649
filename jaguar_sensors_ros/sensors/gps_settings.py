"""Parameters of a GNSS receiver."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from jaguar_sensors_ros.component import ParameterError, group, parameter
from jaguar_sensors_ros.nav.gps_time import LEAP_SECONDS
from jaguar_sensors_ros.sensors.covariance import check_override, override
from jaguar_sensors_ros.sensors.settings import SensorSettings
from jaguar_sensors_ros.types import FixType, Vec3

#: satellites at which the given standard deviations and the nominal DOPs hold
NOMINAL_SATELLITES = 10
#: fewest satellites that give a position
LEAST_SATELLITES = 4
#: nominal horizontal and vertical dilution of precision
NOMINAL_HDOP, NOMINAL_VDOP = 0.9, 1.5
#: a larger PDOP is no fix
LIMIT_PDOP = 20.0

#: what a kind of fix sets where nobody did: standard deviations of the position per axis
#: (horizontal, vertical) and of the ranges [m].  Horizontal RMS 0.6 m with SBAS and 0.01 m with
#: RTK (NovAtel SMART7 user manual, table 22), 0.2 m for a float solution (NovAtel OEMV user
#: manual, table 17): sqrt(2) times that of one axis, and the range error at HDOP 1.  Vertical
#: twice the horizontal RMS (Trimble 5700 user guide, table 9.2).
FIX_ACCURACY: dict[str, dict[str, Any]] = {
    'sbas': {'pos_std_dev': [0.42, 1.2], 'uere_m': 0.6},
    'rtk_float': {'pos_std_dev': [0.14, 0.4], 'uere_m': 0.2},
    'rtk_fixed': {'pos_std_dev': [0.007, 0.02], 'uere_m': 0.01},
}


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


@dataclass(frozen=True)
class GpsCovarianceSettings:
    """Overrides of published covariances."""

    position: tuple[float, ...] | str = override('the position', 'm^2', 'ENU covariance')
    velocity: tuple[float, ...] | str = override('the velocity', '(m/s)^2', 'ENU covariance')

    def __post_init__(self) -> None:
        for name in ('position', 'velocity'):
            check_override(name, getattr(self, name))


@dataclass(frozen=True)
class GeometrySettings:
    """The sky over the receiver."""

    enabled: bool = parameter(
        False,
        'Take satellites, DOPs and the shape of the covariance from the nominal 24-slot GPS '
        'constellation; without it the number is that of the parameter satellites.',
        kind='boolean',
    )
    mask_deg: float = parameter(
        5.0,
        'Elevation below which no satellite is used. With 5 deg there is always a fix, with '
        '15 deg none for up to 2 percent of a day at latitude 60.',
        unit='deg',
        minimum=0.0,
        maximum=90.0,
        source='GPS SPS Performance Standard (2001), annex A-2: 5 deg',
    )
    blocked: tuple[float, ...] = parameter(
        0.0,
        'Blocked sectors of the sky, three numbers each: azimuth from, azimuth to (clockwise '
        'from north), and the elevation below which all is blocked; 0: none. [0.0, 360.0, 30.0] '
        'is a ring of houses, [350.0, 10.0, 60.0] a wall in the north.',
        kind='table',
        sizes=(3,),
        unit='deg',
    )

    def __post_init__(self) -> None:
        for i in range(0, len(self.blocked), 3):
            start, end, top = self.blocked[i : i + 3]
            if max(abs(start), abs(end)) > 360.0 or not 0.0 <= top <= 90.0:
                raise ParameterError(
                    'blocked',
                    self.blocked,
                    'must be groups of azimuth from and to, each -360 to 360 deg, and an '
                    'elevation 0 to 90 deg',
                )

    @cached_property
    def sectors(self) -> tuple[Vec3, ...]:
        """The blocked sectors: start [rad], width [rad], sine of the elevation."""
        found = []
        for i in range(0, len(self.blocked), 3):
            start, end, top = self.blocked[i : i + 3]
            width = 360.0 if abs(end - start) >= 360.0 else (end - start) % 360.0
            # looking straight up is blocked by an elevation of 90 degrees too
            height = math.inf if top == 90.0 else math.sin(math.radians(top))
            if top > 0.0 and width > 0.0:
                found.append((math.radians(start), math.radians(width), height))
        return tuple(found)


@dataclass(frozen=True)
class MultipathSettings:
    """Large errors that come at times, by signals that were reflected."""

    probability: float = parameter(
        0.0,
        'Probability that a fix suffers multipath; 0: off. Its error has the heavy tails of a '
        'Student distribution with four degrees of freedom, one chi-square for the three axes.',
        minimum=0.0,
        maximum=1.0,
    )
    scale_m: float = parameter(
        10.0,
        'Scale of that distribution, per axis; its standard deviation is sqrt(2) times as '
        'large. With geometry.enabled a range error, multiplied by the DOP.',
        unit='m',
        minimum=0.0,
    )
    in_covariance: bool = parameter(
        True,
        'Whether the published covariance contains its variance 2 probability scale^2; false '
        'for a receiver that does not know of it.',
        kind='boolean',
    )


@dataclass(frozen=True)
class GpsSettings(SensorSettings):
    """Parameters of the GNSS receiver."""

    preset = ('fix_type', FIX_ACCURACY)

    frame_id: str = parameter('gps_link', 'Frame of the antenna.', kind='string')
    vel_frame_id: str = parameter(
        'map', 'Frame named in gps/vel; its axes are taken for east, north, up.', kind='string'
    )
    update_hz: float = parameter(
        1.0, 'Rate of fixes.', unit='Hz', minimum=0.001, maximum=1000.0, source='document 001'
    )
    pos_std_dev: tuple[float, float] = _horizontal_vertical(
        5.0,
        'Total standard deviation of the position, per axis; the default depends on fix_type. '
        'With geometry.enabled uere_m takes its place.',
        'm',
    )
    uere_m: float = parameter(
        5.0,
        'With geometry.enabled: standard deviation of the ranges (user equivalent range error), '
        'multiplied by the DOP of each axis; the default depends on fix_type.',
        unit='m',
        minimum=0.0,
    )
    vel_std_dev: tuple[float, float] = _horizontal_vertical(
        0.1,
        'Standard deviation of the velocity, per axis. With geometry.enabled it is that of the '
        'range rates (one number), multiplied by the DOP of each axis.',
        'm/s',
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
    common_error_stream: str = parameter(
        '',
        'Name of a stream that several receivers share: those with the same name, random_seed, '
        'update_hz and correlation time have the same correlated error, whenever they were '
        'switched on. Empty: an error of its own.',
        kind='string',
    )
    satellites: int = parameter(
        NOMINAL_SATELLITES,
        'Satellites in view without geometry.enabled; the covariance is scaled by '
        '10 / satellites, under 4 there is no fix.',
        kind='integer',
        minimum=0,
        maximum=64,
    )
    fix_type: str = parameter(
        'single',
        'Kind of fix: the status is FIX for single, SBAS for sbas, GBAS for both RTK kinds, '
        'NO_FIX for none. Sets pos_std_dev and uere_m where nobody did.',
        kind='string',
        choices=tuple(kind.name.lower() for kind in FixType),
    )
    cold_start_s: float = parameter(
        0.0, 'Time after power-on with NO_FIX.', unit='s', minimum=0.0
    )
    leap_seconds: int = parameter(
        LEAP_SECONDS,
        'GPS time minus UTC, for the week and the time of week.',
        kind='integer',
        unit='s',
        minimum=0,
        maximum=100,
        source='IERS Bulletin C: 18 since 2017-01-01',
    )
    geometry: GeometrySettings = group(GeometrySettings)
    multipath: MultipathSettings = group(MultipathSettings)
    covariance: GpsCovarianceSettings = group(GpsCovarianceSettings)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.geometry.enabled and self.vel_std_dev[0] != self.vel_std_dev[1]:
            raise ParameterError(
                'vel_std_dev',
                self.vel_std_dev,
                'must be one number with geometry.enabled: the error of the range rates',
            )
