"""The list of parts: a line each.  A new part is a file and a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaguar_sensors_ros.component import build
from jaguar_sensors_ros.faults.base import FaultMode
from jaguar_sensors_ros.faults.bias import Bias
from jaguar_sensors_ros.faults.cold_restart import ColdRestart
from jaguar_sensors_ros.faults.drift import Drift
from jaguar_sensors_ros.faults.intermittent import Intermittent
from jaguar_sensors_ros.faults.jump import Jump
from jaguar_sensors_ros.faults.noise import Noise
from jaguar_sensors_ros.faults.rtk_degradation import RtkDegradation
from jaguar_sensors_ros.faults.satellite_loss import SatelliteLoss
from jaguar_sensors_ros.faults.stuck import Stuck
from jaguar_sensors_ros.faults.total import Total
from jaguar_sensors_ros.sensors.baro import BaroSensor
from jaguar_sensors_ros.sensors.baro_settings import BaroSettings
from jaguar_sensors_ros.sensors.base import Sensor
from jaguar_sensors_ros.sensors.gps import GpsSensor
from jaguar_sensors_ros.sensors.gps_settings import GpsSettings
from jaguar_sensors_ros.sensors.imu import ImuSensor
from jaguar_sensors_ros.sensors.imu_settings import ImuSettings
from jaguar_sensors_ros.sensors.mag import MagSensor
from jaguar_sensors_ros.sensors.mag_settings import MagSettings
from jaguar_sensors_ros.sensors.settings import SensorSettings
from jaguar_sensors_ros.truth.trajectory import Circle, FigureEight, Racetrack, Static
from jaguar_sensors_ros.types import JaguarError, TruthSource

#: failure modes by their name in the contract
FAULTS: dict[str, FaultMode] = {
    mode.name: mode
    for mode in (
        Bias(),
        Drift(),
        Noise(),
        Stuck(),
        Intermittent(),
        Jump(),
        Total(),
        SatelliteLoss(),
        RtkDegradation(),
        ColdRestart(),
    )
}

#: sensors by type: class and settings
SENSORS: dict[str, tuple[type[Sensor[Any, Any]], type[SensorSettings]]] = {
    'imu': (ImuSensor, ImuSettings),
    'gps': (GpsSensor, GpsSettings),
    'mag': (MagSensor, MagSettings),
    'baro': (BaroSensor, BaroSettings),
}

#: types of sensors by name in document 000; those that are no key of SENSORS are not modelled
SENSOR_TYPES: tuple[str, ...] = (
    'imu',
    'gps',
    'radar',
    'lidar',
    'camera',
    'altimeter',
    'airspeed',
    'magnetic_compass',
    'star_tracker',
    'sonar',
    'flir',
    'rwr',
    'custom',
)

#: built-in truth by name; made without arguments or with start_ns
TRUTH: dict[str, Callable[..., TruthSource]] = {
    'static': Static,
    'circle': Circle,
    'figure_eight': FigureEight,
    'racetrack': Racetrack,
}


def require_type(name: object) -> str:
    """Return the name of a type of sensor that is modelled.

    Raises
    ------
    JaguarError
        for another one; the text says what is modelled.
    """
    if isinstance(name, str) and name in SENSORS:
        return name
    modelled = ', '.join(SENSORS)
    if name in SENSOR_TYPES:
        raise JaguarError(f'type {name} is known, but not modelled; modelled: {modelled}')
    raise JaguarError(f'type {name!r} is unknown; modelled: {modelled}')


def effective_values(sensor_type: str, explicit: dict[str, object]) -> dict[str, object]:
    """Return explicit parameter values completed by those that others set.

    See :meth:`SensorSettings.completed`.
    """
    return SENSORS[sensor_type][1].completed(explicit)


def make_settings(sensor_type: str, explicit: dict[str, object]) -> SensorSettings:
    """Build the settings of a sensor from the parameters that were given.

    Raises
    ------
    ParameterError
        for an unknown name or a value that is not allowed.
    """
    return build(SENSORS[require_type(sensor_type)][1], effective_values(sensor_type, explicit))


def make_sensor(sensor_type: str, name: str, settings: SensorSettings, seed: int) -> Any:
    """Make a sensor of a type of the catalogue."""
    return SENSORS[sensor_type][0](name, settings, seed, FAULTS)


__all__ = [
    'FAULTS',
    'SENSORS',
    'SENSOR_TYPES',
    'TRUTH',
    'effective_values',
    'make_sensor',
    'make_settings',
    'require_type',
]
