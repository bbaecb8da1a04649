"""Many sensors under one roof."""

from __future__ import annotations

from typing import Any

from jaguar_sensors_ros import catalogue
from jaguar_sensors_ros.api.sensor import Sensor
from jaguar_sensors_ros.api.timebase import TimeBase
from jaguar_sensors_ros.faults.base import FaultError
from jaguar_sensors_ros.types import JaguarError, SensorState

AnySensor = Sensor[Any, Any]


class SensorManager:
    """Holds sensors and does with all of them what one can do with each.

    Sensors that are off are passed over: they take no time, no failure and are not enabled.
    """

    def __init__(self) -> None:
        self._sensors: list[AnySensor] = []

    def _by_name(self) -> dict[str, AnySensor]:
        """Return the sensors by their present names, which initialize() may have changed."""
        found: dict[str, AnySensor] = {}
        for sensor in self._sensors:
            if sensor.get_name() in found:
                raise JaguarError(f'two sensors are called {sensor.get_name()}')
            found[sensor.get_name()] = sensor
        return found

    def _running(self) -> list[AnySensor]:
        return [sensor for sensor in self._by_name().values() if sensor.is_on()]

    def add_sensor(self, sensor: AnySensor) -> None:
        """Take a sensor.

        Raises
        ------
        JaguarError
            if it is none, or there is one of its name.
        """
        if not isinstance(sensor, Sensor):
            raise JaguarError(f'{sensor!r} is not a sensor')
        name = sensor.get_name()
        if name in self._by_name():
            raise JaguarError(f'there is a sensor {name} already')
        self._sensors.append(sensor)

    def names(self) -> list[str]:
        """Return the names of the sensors in the order in which they were added."""
        return list(self._by_name())

    def get_sensor(self, name: str) -> AnySensor:
        """Return the sensor of a name.

        Raises
        ------
        JaguarError
            if there is none; the text lists those that exist.
        """
        sensors = self._by_name()
        if name not in sensors:
            present = ', '.join(sensors) or 'none'
            raise JaguarError(f'there is no sensor {name!r}; there are: {present}')
        return sensors[name]

    def get_sensors_by_type(self, sensor_type: str) -> list[AnySensor]:
        """Return the sensors of a type.

        Raises
        ------
        JaguarError
            for a type that is not modelled; the text says what is.
        """
        wanted = catalogue.require_type(_word(sensor_type))
        return [sensor for sensor in self._by_name().values() if sensor.get_type() == wanted]

    def update_all(self, dt: float) -> None:
        """Let the time of all sensors go on by ``dt`` [s] (see :meth:`Sensor.update`)."""
        TimeBase.check(dt)
        for sensor in self._running():
            sensor.update(dt)

    def enable_all(self) -> None:
        """Let all sensors give output."""
        for sensor in self._running():
            sensor.set_enabled(True)

    def disable_all(self) -> None:
        """Let no sensor give output."""
        for sensor in self._running():
            sensor.set_enabled(False)

    def get_all_states(self) -> dict[str, SensorState]:
        """Return the states by name."""
        return {name: sensor.get_state() for name, sensor in self._by_name().items()}

    def inject_failure_all(
        self,
        mode: str,
        magnitude: float | None = None,
        sensor_type: str | None = None,
        **options: Any,
    ) -> None:
        """Inject a fault into all sensors, or into those of a type: into each or into none.

        Raises
        ------
        FaultError
            naming the sensor that does not take it; nothing changed then.
        JaguarError
            for a type that is not modelled.
        """
        hit = self._running()
        if sensor_type is not None:
            chosen = self.get_sensors_by_type(sensor_type)
            hit = [sensor for sensor in hit if sensor in chosen]
        for sensor in hit:
            _check(sensor, mode, magnitude, options)
        for sensor in hit:
            sensor.inject_failure(mode, magnitude, **options)

    def clear_all_failures(self) -> None:
        """Clear all faults of all sensors."""
        for sensor in self._running():
            sensor.clear_failure()


def _check(
    sensor: AnySensor, mode: str, magnitude: float | None, options: dict[str, Any]
) -> None:
    try:
        sensor.check_failure(mode, magnitude, **options)
    except FaultError as error:
        raise FaultError(f'{sensor.get_name()}: {error}') from None


def _word(name: object) -> object:
    return str(name) if isinstance(name, str) else name
