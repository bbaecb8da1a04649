"""What the sensors say where there is no file: a body at rest, level, its x axis to the east.

The place is the default origin of all sensors, 47.3764 deg north, 8.5476 deg east, 460 m.
"""

from __future__ import annotations

import math

from jaguar_sensors_ros.nav.earth import STANDARD_GRAVITY
from jaguar_sensors_ros.scenario.fields import Values
from jaguar_sensors_ros.sensors.settings import SensorSettings

#: International Standard Atmosphere (ISO 2533): pressure [Pa] and temperature [K] at sea level,
#: lapse rate [K/m], gas constant of air [J/(kg K)]
_P0, _T0, _LAPSE, _R = 101_325.0, 288.15, 0.0065, 287.052_87
#: World Magnetic Model 2025, at the place, in the middle of 2026: north, east, down [T]
_NORTH, _EAST, _DOWN = 21.54e-6, 1.36e-6, 43.30e-6


def standard_pressure(height_m: float) -> float:
    """Return the pressure [Pa] of the standard atmosphere below 11 km.

    p = p0 (1 - L h / T0)^(g / (R L)), h the geopotential height [m]; source: ISO 2533.
    """
    exponent = STANDARD_GRAVITY / (_R * _LAPSE)
    return _P0 * math.pow(1.0 - _LAPSE * height_m / _T0, exponent)


def at_rest() -> dict[str, dict[str, Values]]:
    """Return what each output of each sensor says at rest, without noise."""
    latitude, longitude, height = SensorSettings().origin
    return {
        'imu_sim': {
            'data': {
                'gyro': (0.0, 0.0, 0.0),
                'accel': (0.0, 0.0, STANDARD_GRAVITY),
                'orientation': (1.0, 0.0, 0.0, 0.0),
            },
            'temperature': {'temperature': (25.0,)},
        },
        'gps_sim': {
            'fix': {'latitude': (latitude,), 'longitude': (longitude,), 'altitude': (height,)},
            'velocity': {'velocity': (0.0, 0.0, 0.0)},
        },
        'baro_sim': {'pressure': {'pressure': (standard_pressure(height),)}},
        'mag_sim': {'field': {'mag': (_EAST, _NORTH, -_DOWN)}},
    }
