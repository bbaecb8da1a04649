"""WGS-84: ellipsoid, ECEF, normal gravity, rotation of the Earth.

Sources: NGA.STND.0036 (WGS 84, 2014) for the constants and Somigliana's formula; B. Bowring,
"Transformation from spatial to geographical coordinates", Survey Review 181 (1976), for ECEF
to geodetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from jaguar_sensors_ros.types import Mat3, Vec3

SEMI_MAJOR_M = 6378137.0
FLATTENING = 1.0 / 298.257223563
ECCENTRICITY_SQ = FLATTENING * (2.0 - FLATTENING)
OMEGA_IE = 7.292115e-5
STANDARD_GRAVITY = 9.80665
EQUATOR_GRAVITY = 9.7803253359
SOMIGLIANA_K = 1.93185265241e-3

#: e'^2 B and e^2 A of Bowring's formula [m]
_SECOND_POLAR = ECCENTRICITY_SQ / (1.0 - ECCENTRICITY_SQ) * SEMI_MAJOR_M * (1.0 - FLATTENING)
_FIRST_EQUATORIAL = ECCENTRICITY_SQ * SEMI_MAJOR_M


def ecef_from_geodetic(latitude: float, longitude: float, height: float) -> Vec3:
    """Return p_e [m] of latitude and longitude [rad] and ellipsoidal height [m]."""
    sin_lat, cos_lat = math.sin(latitude), math.cos(latitude)
    normal = SEMI_MAJOR_M / math.sqrt(1.0 - ECCENTRICITY_SQ * sin_lat * sin_lat)
    horizontal = (normal + height) * cos_lat
    return (
        horizontal * math.cos(longitude),
        horizontal * math.sin(longitude),
        (normal * (1.0 - ECCENTRICITY_SQ) + height) * sin_lat,
    )


def geodetic_from_ecef(p_e: Vec3) -> Vec3:
    """Return latitude, longitude [rad] and ellipsoidal height [m] of p_e [m].

    Bowring's parametric-latitude formula, iterated until the height is good to a nanometre;
    valid from the centre's vicinity (beyond 50 km from it) to far above any orbit.
    """
    x, y, z = p_e
    rho = math.hypot(x, y)
    longitude = math.atan2(y, x)
    semi_minor = SEMI_MAJOR_M * (1.0 - FLATTENING)
    second = ECCENTRICITY_SQ / (1.0 - ECCENTRICITY_SQ)
    beta = math.atan2(z, (1.0 - FLATTENING) * rho)
    latitude = 0.0
    for _ in range(8):
        sin_b, cos_b = math.sin(beta), math.cos(beta)
        latitude = math.atan2(
            z + second * semi_minor * sin_b**3,
            rho - ECCENTRICITY_SQ * SEMI_MAJOR_M * cos_b**3,
        )
        following = math.atan2((1.0 - FLATTENING) * math.sin(latitude), math.cos(latitude))
        if abs(following - beta) < 1e-15:
            break
        beta = following
    sin_lat, cos_lat = math.sin(latitude), math.cos(latitude)
    # distance along the normal: exact at the equator and at the poles alike
    height = rho * cos_lat + z * sin_lat - SEMI_MAJOR_M * math.sqrt(
        1.0 - ECCENTRICITY_SQ * sin_lat * sin_lat
    )
    return (latitude, longitude, height)


def enu_from_ecef_matrix(latitude: float, longitude: float) -> Mat3:
    """Return C_ne, whose rows are east, north and up in ECEF; angles in rad."""
    sin_lat, cos_lat = math.sin(latitude), math.cos(latitude)
    sin_lon, cos_lon = math.sin(longitude), math.cos(longitude)
    return (
        (-sin_lon, cos_lon, 0.0),
        (-sin_lat * cos_lon, -sin_lat * sin_lon, cos_lat),
        (cos_lat * cos_lon, cos_lat * sin_lon, sin_lat),
    )


def gravity_e(p_e: Vec3, sqrt: Callable[[Any], Any] = math.sqrt) -> Vec3:
    """Return WGS-84 normal gravity [m/s2] at p_e [m], along the plumb line, in ECEF.

    :func:`normal_gravity` at the place that :func:`geodetic_from_ecef` finds, without angles: with
    tan b = z / ((1 - f) rho), Bowring's tan(latitude) = (z + e'^2 B sin^3 b) / (rho - e^2 A
    cos^3 b), twice, by roots alone, which are the same in arrays.  The direction is good to 1e-15
    from 100 km below the ellipsoid to 400 km above it, and to 1e-14 to 40000 km.

    ``sqrt`` is that of NumPy for columns.
    """
    x, y, z = p_e
    rho_sq = x * x + y * y
    # rise over run of b and of the latitude, the run as a share of rho: no pole to divide by
    rise, run = z, 1.0 - FLATTENING
    for flatter in (1.0 - FLATTENING, 1.0):
        length = sqrt(rise * rise + run * run * rho_sq)
        sine, share = rise / length, run / length
        rise = flatter * (z + _SECOND_POLAR * (sine * sine * sine))
        run = 1.0 - _FIRST_EQUATORIAL * rho_sq * (share * share * share)
    length = sqrt(rise * rise + run * run * rho_sq)
    sine, share = rise / length, run / length
    sin_sq = sine * sine
    flattened = sqrt(1.0 - ECCENTRICITY_SQ * sin_sq)
    height = share * rho_sq + z * sine - SEMI_MAJOR_M * flattened
    gravity = EQUATOR_GRAVITY * (1.0 + SOMIGLIANA_K * sin_sq) / flattened
    gravity = gravity * (2.0 * height / SEMI_MAJOR_M - 1.0)
    return (gravity * share * x, gravity * share * y, gravity * sine)


def normal_gravity(latitude: float, height: float) -> float:
    """Return WGS-84 normal gravity [m/s2] at latitude [rad] and ellipsoidal height [m].

    Somigliana at the ellipsoid, times (1 - 2 h / a) with height.
    """
    sin_sq = math.sin(latitude) ** 2
    surface = EQUATOR_GRAVITY * (1.0 + SOMIGLIANA_K * sin_sq)
    surface /= math.sqrt(1.0 - ECCENTRICITY_SQ * sin_sq)
    return surface * (1.0 - 2.0 * height / SEMI_MAJOR_M)
