"""Sensors switched on and off, and their parameters."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, ClassVar, Generic, TypeVar

from jaguar_sensors_ros import catalogue
from jaguar_sensors_ros.api.config import SensorConfig
from jaguar_sensors_ros.api.ideal import Ideal
from jaguar_sensors_ros.api.names import SensorType
from jaguar_sensors_ros.api.timebase import TimeBase
from jaguar_sensors_ros.component import ParameterError
from jaguar_sensors_ros.faults.base import FaultRequest
from jaguar_sensors_ros.types import Fidelity, JaguarError

ConfigT = TypeVar('ConfigT', bound=SensorConfig)

#: parameters that make up the failure given by parameters
_REQUEST = frozenset(f'failure.{field.name}' for field in fields(FaultRequest))


class Powered(ABC, Generic[ConfigT]):
    """A core sensor that is made by :meth:`initialize` and gone after :meth:`shutdown`."""

    config_class: ClassVar[type[SensorConfig]]

    def __init__(self) -> None:
        self._on: Any = None
        self._config: ConfigT | None = None
        self._now_ns = 0
        self._clear_output()

    # ------------------------------------------------------------------ to be told by a sensor

    @abstractmethod
    def _clear_output(self) -> None:
        """Forget what was measured."""

    @abstractmethod
    def _passed(self, start_ns: int, end_ns: int) -> None:
        """Take note that the truth went on between two times [ns]."""

    def _made(self, core: Any) -> None:
        """Take note of the core sensor that was made."""
        return

    def _own_values(self) -> dict[str, Any]:
        """Return parameters that the interface sets, whatever the configuration says."""
        return {}

    # ------------------------------------------------------------------ life

    def initialize(self, config: ConfigT | None = None, *, start_ns: int = 0) -> None:
        """Switch on.

        Parameters
        ----------
        config : ImuConfig or GpsConfig, optional
            Is copied; without one that of the last time is taken, at first the default.
        start_ns : int
            Measurement time [ns] at which the sensor begins, such as that of others.  A GNSS
            receiver takes GPS week, time of week and satellites from it, as UTC since 1970.

        Raises
        ------
        JaguarError
            for a configuration of another sensor, or one that is not possible; the sensor is
            as before then.
        """
        chosen = self._config if config is None else config
        fresh: Any = self.config_class() if chosen is None else chosen
        if not isinstance(fresh, self.config_class):
            wanted = self.config_class.__name__
            raise JaguarError(f'config = {config!r}: must be an {wanted}')
        fresh = _seeded(fresh.copy())
        clock = TimeBase(start_ns)
        values = self._core_values(fresh)
        kind = fresh.sensor_type
        seed = fresh['random_seed']
        core = catalogue.make_sensor(kind, fresh.name, catalogue.make_settings(kind, values), seed)
        core.check(core.settings)
        self._ideal = Ideal(core, values)
        self._made(core)
        self._on, self._config, self._clock = core, fresh, clock
        self._passed(self._now_ns, self._now_ns)
        self._now_ns = start_ns
        self._clear_output()

    def _core_values(self, config: SensorConfig) -> dict[str, Any]:
        if config['mount.source'] != 'parameters':
            raise ParameterError(
                'mount.source', config['mount.source'], 'must be parameters: there is no tf here'
            )
        return {**config.explicit, **self._own_values()}

    def shutdown(self) -> None:
        """Switch off; what was measured and injected is gone.  initialize() starts it anew."""
        self._on = None
        self._clear_output()

    def reset(self) -> None:
        """Switch off and on: new turn-on values, counters at zero; injected faults stay."""
        self._core.power_cycle()
        self._ideal.power_cycle()
        self._clear_output()

    @property
    def _core(self) -> Any:
        if self._on is None:
            raise JaguarError(f'{self.get_name()} is off: call initialize() first')
        return self._on

    @property
    def config(self) -> ConfigT:
        """A copy of the configuration in effect; it shows the seed that was drawn.

        Raises
        ------
        JaguarError
            before the first initialize().
        """
        if self._config is None:
            raise JaguarError(f'{self.get_name()} has no configuration: call initialize() first')
        return self._config.copy()

    @property
    def time_ns(self) -> int:
        """Measurement time [ns], to which the last update went."""
        return self._now_ns

    def is_on(self) -> bool:
        """Return whether the sensor is initialized and not shut down; enabled or not."""
        return self._on is not None

    def get_name(self) -> str:
        """Return the name; before the first initialize() it is that of the type."""
        return self._config.name if self._config else self.config_class.sensor_type

    def get_type(self) -> Any:
        """Return the SensorType."""
        return SensorType(self.config_class.sensor_type)

    # ------------------------------------------------------------------ parameters

    def set_parameter(self, name: str, value: Any) -> None:
        """Set a parameter, in effect from the next sample (see :meth:`set_parameters`)."""
        self.set_parameters({name: value})

    def set_parameters(self, values: Mapping[str, Any]) -> None:
        """Set several parameters at once, in effect from the next sample.

        A new ``random_seed`` acts from the next reset on.

        Raises
        ------
        ParameterError
            for an unknown name or a value that is not allowed; nothing changed then.
        """
        core, config = self._core, self.config
        config.update(values)
        self._take(_seeded(config))
        if _REQUEST & values.keys():  # set again, perhaps to the same: it starts anew
            core.board.arm_configured()

    def _take(self, config: ConfigT) -> None:
        core, values = self._core, self._core_values(config)
        settings = catalogue.make_settings(config.sensor_type, values)
        core.check(settings)
        core.configure(settings)
        core.seed = config['random_seed']
        self._ideal.configure(values, core.seed)
        self._config = config

    def set_enabled(self, enabled: bool) -> None:
        """Let the sensor give output or not; while disabled its state is Off."""
        self.set_parameter('enabled', enabled)

    def is_enabled(self) -> bool:
        """Return whether the sensor is on and gives output."""
        return self._on is not None and bool(self._on.settings.enabled)

    def set_fidelity(self, fidelity: Fidelity | str) -> None:
        """Set the fidelity: transparent, realistic, or fault."""
        name = fidelity.value if isinstance(fidelity, Fidelity) else fidelity
        self.set_parameter('fidelity', name)

    def get_fidelity(self) -> Fidelity:
        """Return the fidelity in effect."""
        fidelity: Fidelity = self._core.fidelity
        return fidelity

    def get_sample_rate(self) -> float:
        """Return the rate of the samples [Hz]."""
        return self.config.sample_rate_hz

    def set_sample_rate(self, rate_hz: float) -> None:
        """Set the rate of the samples [Hz]."""
        self.set_parameter(self.config_class.rate_parameter, rate_hz)


def _seeded(config: Any) -> Any:
    """Draw the seed where none was given."""
    if config['random_seed'] < 0:
        config['random_seed'] = secrets.randbits(31)
    return config
