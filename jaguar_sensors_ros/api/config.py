"""Configurations: the parameters of a sensor by their names, checked when they are set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache, reduce
from typing import Any, ClassVar, TypeVar

from jaguar_sensors_ros import catalogue
from jaguar_sensors_ros.component import Declaration, ParameterError, declarations, nearest
from jaguar_sensors_ros.sensors.settings import SensorSettings
from jaguar_sensors_ros.types import JaguarError

ConfigT = TypeVar('ConfigT', bound='SensorConfig')


@cache
def _declared(sensor_type: str) -> dict[str, Declaration]:
    settings_class = catalogue.SENSORS[sensor_type][1]
    return {declared.name: declared for declared in declarations(settings_class)}


class SensorConfig:
    """The name of a sensor and its parameters, by the names that the ROS parameters have.

    ``config[name]`` is the value in effect: the one that was set, else that of the grade, the
    device or the kind of fix, else the default.  ``del config[name]`` goes back to it.  A value is
    checked when it is set, together with all others, so a configuration is valid at any time;
    values that are valid only together are set by :meth:`update`.

    Parameters
    ----------
    name : str
        Name of the sensor; part of the names of its random streams.
    values : mapping of str to value, optional
        Parameters to set.
    seed : int
        The parameter ``random_seed``; -1 draws one when a sensor is initialized, which then
        stands in the configuration of the sensor.

    Raises
    ------
    ParameterError
        for an unknown name or a value that is not allowed; nothing changed then.
    JaguarError
        for a name that is no string, or empty.
    """

    sensor_type: ClassVar[str]
    rate_parameter: ClassVar[str]

    def __init__(
        self, name: str = '', values: Mapping[str, Any] | None = None, *, seed: int = -1
    ) -> None:
        self._explicit: dict[str, Any] = {}
        self._settings = catalogue.make_settings(self.sensor_type, {})
        self.name = name or self.sensor_type
        self.update({'random_seed': seed, **(values or {})})

    @property
    def name(self) -> str:
        """Name of the sensor."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        if not isinstance(name, str) or not name:
            raise JaguarError(f'name = {name!r}: must be a string that is not empty')
        self._name = name

    @property
    def explicit(self) -> dict[str, Any]:
        """The parameters that were set."""
        return dict(self._explicit)

    @property
    def settings(self) -> SensorSettings:
        """What the core sensor takes."""
        return self._settings

    @property
    def sample_rate_hz(self) -> float:
        """Rate of the samples [Hz]."""
        return float(self[self.rate_parameter])

    def update(self, values: Mapping[str, Any]) -> None:
        """Set several parameters at once, all or none.

        Raises
        ------
        ParameterError
            as for a single one; nothing changed then.
        """
        declared = _declared(self.sensor_type)
        checked = {
            name: declared[name].check(value) if name in declared else value
            for name, value in values.items()
        }
        self._take({**self._explicit, **checked})

    def _take(self, explicit: dict[str, Any]) -> None:
        self._settings = catalogue.make_settings(self.sensor_type, explicit)
        self._explicit = explicit

    def copy(self: ConfigT) -> ConfigT:
        """Return a configuration of its own with the same name and parameters."""
        other = type(self).__new__(type(self))
        other._name, other._settings = self._name, self._settings
        other._explicit = dict(self._explicit)
        return other

    def __setitem__(self, name: str, value: Any) -> None:
        self.update({name: value})

    def __getitem__(self, name: str) -> Any:
        if name not in _declared(self.sensor_type):
            remark = nearest(str(name), _declared(self.sensor_type))
            raise ParameterError(name, None, f'no such parameter; {remark}')
        return reduce(getattr, name.split('.'), self._settings)

    def __delitem__(self, name: str) -> None:
        self[name]  # refuses what is no parameter
        self._take({key: value for key, value in self._explicit.items() if key != name})

    def __iter__(self) -> Iterator[str]:
        return iter(_declared(self.sensor_type))

    def __contains__(self, name: object) -> bool:
        return name in _declared(self.sensor_type)

    def __repr__(self) -> str:
        return f'{type(self).__name__}({self.name!r}, {self._explicit!r})'


class ImuConfig(SensorConfig):
    """Configuration of an inertial measurement unit; see :class:`SensorConfig`.

    Examples
    --------
    >>> config = ImuConfig.from_grade('tactical', name='main')
    >>> config['accel.white_noise_psd'] = [1e-6, 0, 0]
    >>> config['accel.white_noise_psd'], config['gyro.scale_factor_ppm'][0]
    ((1e-06, 0.0, 0.0), 600.0)
    >>> config['gyro.range'] = -1  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    jaguar_sensors_ros.component.ParameterError: gyro.range = -1: must be one number or ...
    """

    sensor_type = 'imu'
    rate_parameter = 'sample_rate_hz'

    @classmethod
    def from_grade(cls, grade: str, name: str = '', *, seed: int = -1) -> ImuConfig:
        """Return the configuration of a grade of document 000, or of a device.

        Raises
        ------
        ParameterError
            for a grade that is not known; the text lists them.
        """
        return cls(name, {'grade': str(grade)}, seed=seed)


class GpsConfig(SensorConfig):
    """Configuration of a GNSS receiver; see :class:`SensorConfig`."""

    sensor_type = 'gps'
    rate_parameter = 'update_hz'
