"""The magnetic field of the Earth: World Magnetic Model, linear between points of a lattice."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Protocol

from jaguar_sensors_ros.nav import earth
from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.nav.rotation import add, matrix_times, scale, subtract, transposed_times
from jaguar_sensors_ros.types import NS_PER_S, JaguarError, Vec3

#: years from the first to the end of the last model of the library; each is valid for five
FIRST_YEAR, END_YEAR, VALID_YEARS = 2010.0, 2030.0, 5
#: what stands for a stamp outside of these years, such as simulated time from zero
DEFAULT_YEAR = 2025.0
#: spacing of the lattice [m] and [ns]
STEP_M, STEP_NS = 5000.0, 6 * 3600 * NS_PER_S
#: half the baseline of the derivatives [m]
_BASE_M = 500.0
_NT = 1e-9
#: points of the lattice that are kept
_MOST_CELLS = 64
_AXES: tuple[Vec3, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

#: the field at a point and its derivatives along x, y, z
_Cell = tuple[Vec3, Vec3, Vec3, Vec3]


class Field(Protocol):
    """A magnetic field."""

    def at(self, p_n: Vec3, t_ns: int) -> Vec3:
        """Return the flux density [T] resolved in n, at a position in n [m] and a time [ns]."""
        ...


class ConstantField:
    """The same field everywhere and always.

    Parameters
    ----------
    field_n : Vec3
        Flux density along east, north, up of the origin [T].
    """

    def __init__(self, field_n: Vec3) -> None:
        self._field_n = field_n

    def at(self, p_n: Vec3, t_ns: int) -> Vec3:
        """Return the flux density [T]."""
        return self._field_n


class EarthField:
    """The main field of the Earth by the World Magnetic Model (degree 12, NOAA NCEI and BGS).

    B(p) = B(c) + dB/dp (p - c), c the nearest point of a lattice of 5 km in n and of 6 h in time,
    where B and its derivatives are computed; so it depends on nothing but place and time, and a
    reading is cheap.  Within 100 km of the origin the result is within 0.3 nT of the model.

    Parameters
    ----------
    local : LocalFrame
        The frame n.
    year : float or None
        Date as a decimal year; None: that of the time asked for, see :func:`decimal_year`.

    Raises
    ------
    JaguarError
        if the library pygeomag is missing.
    """

    def __init__(self, local: LocalFrame, year: float | None) -> None:
        require_library()
        self._local, self._year = local, year
        self._cells: dict[tuple[int, ...], _Cell] = {}

    def at(self, p_n: Vec3, t_ns: int) -> Vec3:
        """Return the flux density [T] resolved in n, at a position in n [m] and a time [ns]."""
        i, j, k = (round(x / STEP_M) for x in p_n)
        step = t_ns // STEP_NS if self._year is None else 0
        cell = self._cells.get((i, j, k, step))
        centre = (i * STEP_M, j * STEP_M, k * STEP_M)
        if cell is None:
            cell = self._keep((i, j, k, step), centre)
        value, along_x, along_y, along_z = cell
        x, y, z = subtract(p_n, centre)
        return (
            value[0] + along_x[0] * x + along_y[0] * y + along_z[0] * z,
            value[1] + along_x[1] * x + along_y[1] * y + along_z[1] * z,
            value[2] + along_x[2] * x + along_y[2] * y + along_z[2] * z,
        )

    def _keep(self, key: tuple[int, ...], centre: Vec3) -> _Cell:
        """Compute the field and its derivatives at a point of the lattice."""
        year = self._year
        if year is None:
            year = decimal_year(key[3] * STEP_NS + STEP_NS // 2)
        slopes = []
        for axis in _AXES:
            ahead = self._model(add(centre, scale(axis, _BASE_M)), year)
            behind = self._model(subtract(centre, scale(axis, _BASE_M)), year)
            slopes.append(scale(subtract(ahead, behind), 0.5 / _BASE_M))
        if len(self._cells) >= _MOST_CELLS:
            self._cells.clear()
        cell = (self._model(centre, year), slopes[0], slopes[1], slopes[2])
        self._cells[key] = cell
        return cell

    def _model(self, p_n: Vec3, year: float) -> Vec3:
        """Return the flux density of the model [T] resolved in n."""
        latitude, longitude, height = earth.geodetic_from_ecef(self._local.ecef_from_local(p_n))
        C_le = earth.enu_from_ecef_matrix(latitude, longitude)
        field_e = transposed_times(C_le, model_enu(latitude, longitude, height, year))
        return matrix_times(self._local.C_ne, field_e)


def model_enu(latitude: float, longitude: float, height_m: float, year: float) -> Vec3:
    """Return the flux density of the model along east, north, up [T].

    Parameters
    ----------
    latitude, longitude : float
        Geodetic coordinates [rad].
    height_m : float
        Height over the ellipsoid [m]; the model is specified from -1 to 850 km.
    year : float
        Date as a decimal year.

    Raises
    ------
    JaguarError
        if the library pygeomag is missing.
    """
    epoch = int(FIRST_YEAR + VALID_YEARS * ((year - FIRST_YEAR) // VALID_YEARS))
    result = _geomag(min(epoch, int(END_YEAR) - VALID_YEARS)).calculate(
        glat=math.degrees(latitude),
        glon=math.degrees(longitude),
        alt=height_m * 1e-3,
        time=year,
        allow_date_outside_lifespan=True,
    )
    return (result.y * _NT, result.x * _NT, -result.z * _NT)


def decimal_year(t_ns: int) -> float:
    """Return the date of a stamp (Unix time [ns]) as a decimal year.

    A stamp outside of the models of the library gives 2025.0.
    """
    from datetime import datetime, timedelta, timezone  # no start-up of another sensor needs it

    try:
        date = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(seconds=t_ns // NS_PER_S)
        start = datetime(date.year, 1, 1, tzinfo=timezone.utc)
        end = datetime(date.year + 1, 1, 1, tzinfo=timezone.utc)
    except (OverflowError, ValueError):
        return DEFAULT_YEAR
    year = date.year + (date - start) / (end - start)
    return year if FIRST_YEAR <= year < END_YEAR else DEFAULT_YEAR


def require_library() -> None:
    """Raise JaguarError if the library of the model is missing."""
    _geomag(int(DEFAULT_YEAR))


@lru_cache(maxsize=8)
def _geomag(epoch: int) -> Any:
    """Return the model of an epoch."""
    try:
        from pygeomag import GeoMag
    except ImportError:
        raise JaguarError(
            'the magnetic field of the Earth needs the Python package pygeomag: '
            'pip install jaguar_sensors_ros[mag]'
        ) from None
    return GeoMag(base_year=epoch)
