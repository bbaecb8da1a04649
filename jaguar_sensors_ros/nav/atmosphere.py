"""The standard atmosphere: pressure from height."""

from __future__ import annotations

import math

#: radius of the Earth that goes with the geopotential height [m]
EARTH_RADIUS = 6_356_766.0
STANDARD_PRESSURE = 101_325.0
#: g0 M / R* [K/m]: 9.80665 m/s2, 28.9644 kg/kmol, 8314.32 J/(kmol K)
HYDROSTATIC = 9.80665 * 28.9644 / 8314.32
#: geopotential height at which a layer begins [m], temperature there [K], gradient [K/m]
LAYERS = (
    (0.0, 288.15, -0.0065),
    (11_000.0, 216.65, 0.0),
    (20_000.0, 216.65, 0.001),
    (32_000.0, 228.65, 0.0028),
    (47_000.0, 270.65, 0.0),
    (51_000.0, 270.65, -0.0028),
    (71_000.0, 214.65, -0.002),
)
#: geopotential heights [m] between which the atmosphere is defined here
LOWEST, HIGHEST = -5000.0, 84_852.0


def geopotential_height(height_m: float) -> float:
    """Return the geopotential height [m'] of a height over mean sea level [m].

    H = r z / (r + z), r = 6356766 m (U.S. Standard Atmosphere, 1976, equation 18).
    """
    return EARTH_RADIUS * height_m / (EARTH_RADIUS + height_m)


def pressure(
    height_m: float, sea_level_pressure: float = STANDARD_PRESSURE, offset_k: float = 0.0
) -> float:
    """Return the pressure [Pa] at a height over mean sea level [m].

    From layer to layer p = p_b (T_b / (T_b + L (H - H_b)))^(g0 M / (R* L)), or
    p = p_b exp(-g0 M (H - H_b) / (R* T_b)) where L = 0 (U.S. Standard Atmosphere, 1976,
    equations 33a and 33b; to 32 km also ICAO Doc 7488).

    Parameters
    ----------
    height_m : float
        Height over mean sea level [m]; it counts as -5 or 84.852 km where it is beyond.
    sea_level_pressure : float
        Pressure at mean sea level [Pa].
    offset_k : float
        By how much the air is warmer than the standard, at all heights [K].
    """
    target = min(max(geopotential_height(height_m), LOWEST), HIGHEST)
    value = sea_level_pressure
    for (bottom, temperature, gradient), top in zip(LAYERS, _TOPS, strict=True):
        base = temperature + offset_k
        rise = min(target, top) - bottom
        if gradient:
            value *= (base / (base + gradient * rise)) ** (HYDROSTATIC / gradient)
        else:
            value *= math.exp(-HYDROSTATIC * rise / base)
        if target <= top:
            break
    return value


_TOPS = (*(bottom for bottom, _, _ in LAYERS[1:]), HIGHEST)
