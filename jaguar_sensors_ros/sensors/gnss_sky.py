"""The satellites that a receiver sees, and what their geometry makes of its errors.

Two skies with one interface: a nominal one, where only the number of satellites counts, and one
of a constellation with mask and obstructions.  The factor L that turns the errors, the covariance
L L^T, the DOPs, the number of satellites and whether there is a fix come from the same object, so
they agree.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from jaguar_sensors_ros.nav import dop
from jaguar_sensors_ros.nav.constellation import satellite_positions
from jaguar_sensors_ros.nav.rotation import dot, matrix_times, scale, subtract
from jaguar_sensors_ros.sensors.gps_settings import (
    LEAST_SATELLITES,
    LIMIT_PDOP,
    NOMINAL_HDOP,
    NOMINAL_SATELLITES,
    NOMINAL_VDOP,
    GeometrySettings,
)
from jaguar_sensors_ros.types import Mat3, Vec3

_SINGULAR: Mat3 = ((math.inf, 0.0, 0.0), (0.0, math.inf, 0.0), (0.0, 0.0, math.inf))
NOMINAL_PDOP = math.hypot(NOMINAL_HDOP, NOMINAL_VDOP)
#: nominal dilution along east, north, up
NOMINAL_AXES: Vec3 = (NOMINAL_HDOP / math.sqrt(2.0), NOMINAL_HDOP / math.sqrt(2.0), NOMINAL_VDOP)


class Sky(Protocol):
    """What a receiver sees, and its consequences."""

    @property
    def satellites(self) -> int:
        """Number of satellites in use."""
        ...

    @property
    def usable(self) -> bool:
        """Whether they give a position."""
        ...

    @property
    def dops(self) -> tuple[float, float, float]:
        """HDOP, VDOP, PDOP."""
        ...

    @property
    def quality(self) -> float:
        """Nominal over present standard deviation."""
        ...

    def shaped(self, errors: Vec3) -> Vec3:
        """Return the ENU errors that come of independent errors along the axes."""
        ...

    def sigmas(self, sigma: Vec3, share: float) -> Vec3:
        """Return the ENU standard deviations of :meth:`shaped` errors of ``share`` sigma."""
        ...

    def covariance(self, sigma: Vec3) -> tuple[float, ...]:
        """Return the ENU covariance, row by row, of :meth:`shaped` errors of ``sigma``."""
        ...


@dataclass(frozen=True)
class NominalSky:
    """So many satellites in a nominal geometry: the covariance is scaled by 10 / satellites."""

    satellites: int

    @property
    def usable(self) -> bool:
        """Four satellites or more."""
        return self.satellites >= LEAST_SATELLITES

    @property
    def _ratio(self) -> float:
        return NOMINAL_SATELLITES / max(self.satellites, 1)

    @property
    def dops(self) -> tuple[float, float, float]:
        """HDOP, VDOP, PDOP."""
        dilution = math.sqrt(self._ratio)
        hdop, vdop = NOMINAL_HDOP * dilution, NOMINAL_VDOP * dilution
        return hdop, vdop, math.hypot(hdop, vdop)

    @property
    def quality(self) -> float:
        """Nominal over present standard deviation."""
        return math.sqrt(self.satellites / NOMINAL_SATELLITES)

    def shaped(self, errors: Vec3) -> Vec3:
        """Return sqrt(10 / n) times the errors."""
        return scale(errors, math.sqrt(self._ratio))

    def sigmas(self, sigma: Vec3, share: float) -> Vec3:
        """Return sqrt(10 / n) times the share of sigma."""
        return scale(sigma, math.sqrt(self._ratio) * share)

    def covariance(self, sigma: Vec3) -> tuple[float, ...]:
        """Return 10 / n times the squares of sigma, on the diagonal."""
        east, north, up = (self._ratio * x * x for x in sigma)
        return (east, 0.0, 0.0, 0.0, north, 0.0, 0.0, 0.0, up)


@dataclass(frozen=True)
class SeenSky:
    """Satellites of the constellation in use.

    Range errors of one standard deviation s make the position error s L z, with L L^T = Q (see
    :mod:`jaguar_sensors_ros.nav.dop`) and z unit normals.

    Parameters
    ----------
    satellites : int
        Their number.
    q : Mat3
        Q along east, north, up; infinite where it does not exist.
    """

    satellites: int
    q: Mat3
    dops: tuple[float, float, float]
    factor: Mat3

    @classmethod
    def of(cls, directions: list[Vec3]) -> SeenSky:
        """Return the sky of some directions (unit vectors along east, north, up)."""
        q = dop.cofactor(directions)
        if q is None:
            return cls(len(directions), _SINGULAR, (math.inf,) * 3, _SINGULAR)
        return cls(len(directions), q, dop.dilutions(q), dop.cholesky(q))

    @property
    def usable(self) -> bool:
        """Four satellites or more whose PDOP is at most 20."""
        return self.satellites >= LEAST_SATELLITES and self.dops[2] <= LIMIT_PDOP

    @property
    def quality(self) -> float:
        """Nominal over present PDOP."""
        return NOMINAL_PDOP / self.dops[2]

    def shaped(self, errors: Vec3) -> Vec3:
        """Return L times the errors."""
        x, y, z = errors
        (a, _, _), (b, d, _), (c, e, f) = self.factor
        return (a * x, b * x + d * y, c * x + e * y + f * z)

    def sigmas(self, sigma: Vec3, share: float) -> Vec3:
        """Return the share of the roots of the diagonal of the covariance."""
        sigma, q = scale(sigma, share), self.q
        return (
            sigma[0] * math.sqrt(q[0][0]),
            sigma[1] * math.sqrt(q[1][1]),
            sigma[2] * math.sqrt(q[2][2]),
        )

    def covariance(self, sigma: Vec3) -> tuple[float, ...]:
        """Return sigma^2 Q; sigma is one number three times, that of the ranges."""
        square = sigma[0] * sigma[0]
        return tuple(square * element for row in self.q for element in row)


def directions_in_view(
    p_e: Vec3, C_le: Mat3, gps_time_s: float, settings: GeometrySettings
) -> list[Vec3]:
    """Return the unit vectors to the satellites in view, highest first, along east, north, up.

    A pure function of place and time: nothing is carried from fix to fix.

    Parameters
    ----------
    p_e : Vec3
        Antenna in ECEF [m].
    C_le : Mat3
        From ECEF to east, north, up at the antenna.
    gps_time_s : float
        Seconds since the GPS epoch.
    settings : GeometrySettings
        Elevation mask and blocked sectors.
    """
    lowest = math.sin(math.radians(settings.mask_deg))
    found = []
    for satellite in satellite_positions(gps_time_s):
        line = subtract(satellite, p_e)
        distance = math.sqrt(dot(line, line))
        if dot(C_le[2], line) < lowest * distance:
            continue
        direction = scale(matrix_times(C_le, line), 1.0 / distance)
        if not any(_hides(sector, direction) for sector in settings.sectors):
            found.append(direction)
    found.sort(key=_height, reverse=True)
    return found


def _height(direction: Vec3) -> float:
    return direction[2]


def _hides(sector: Vec3, direction: Vec3) -> bool:
    """Tell whether a direction is in a sector: start [rad], width [rad], sine of elevation."""
    start, width, top = sector
    if direction[2] >= top:
        return False
    azimuth = math.atan2(direction[0], direction[1])
    return (azimuth - start) % math.tau <= width
