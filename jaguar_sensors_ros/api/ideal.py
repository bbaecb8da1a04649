"""The reading of a perfect sensor, beside the one that is simulated."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jaguar_sensors_ros import catalogue
from jaguar_sensors_ros.nav.kinematics import Segment

#: a perfect sensor is on, warm and sound
_PERFECT: dict[str, object] = {
    'fidelity': 'transparent',
    'enabled': True,
    'warm_up_s': 0.0,
    'failure.mode': 'none',
    'failure.mtbf_hours': 0.0,
    'failure.timeline': '',
}
#: and a perfect receiver has a fix
_WITH_FIX: dict[str, object] = {
    'fix_type': 'single',
    'satellites': 10,
    'geometry.enabled': False,
}


class Ideal:
    """A transparent sensor that is fed only with what is asked for.

    It takes the first piece of truth after power-on, and later the pieces of one sample
    interval, when a reading is wanted; the gaps between are passed over.  So it costs nothing
    where nobody asks, and what depends on the time since power-on is that of the sensor.

    Parameters
    ----------
    core : Sensor
        The simulated sensor.
    values : mapping of str to value
        The parameters that it was made from.
    """

    def __init__(self, core: Any, values: Mapping[str, Any]) -> None:
        self._type = core.type_name
        settings = self._settings(values)
        self._core = catalogue.make_sensor(self._type, core.name, settings, core.seed)
        self._begin()

    def _settings(self, values: Mapping[str, Any]) -> Any:
        perfect = {**values, **_PERFECT, **(_WITH_FIX if self._type == 'gps' else {})}
        return catalogue.make_settings(self._type, perfect)

    def _begin(self) -> None:
        self._newest: Any = None
        self._interval: list[Segment] = []
        self._unfinished: list[Segment] = []

    def configure(self, values: Mapping[str, Any], seed: int) -> None:
        """Take the parameters of the simulated sensor."""
        self._core.configure(self._settings(values))
        self._core.seed = seed

    def power_cycle(self) -> None:
        """Switch off and on, as the simulated sensor."""
        self._core.power_cycle()
        self._begin()

    def note(self, piece: Segment, at_tick: bool) -> None:
        """Take a piece of truth; ``at_tick`` tells that a sample interval ends with it."""
        if self._core.time_ns is None:
            self._feed([piece])
        elif self._type == 'gps':
            self._unfinished = [piece]  # a fix depends on the instant alone
        else:
            self._unfinished.append(piece)
        if at_tick and self._unfinished:
            self._interval, self._unfinished = self._unfinished, []

    def sample(self) -> Any:
        """Return what a perfect sensor said at the end of the newest sample interval.

        None where no whole interval has passed.
        """
        if self._interval:
            self._feed(self._interval)
            self._interval = []
        return self._newest

    def status(self) -> Any:
        """Return the state of the perfect sensor."""
        return self._core.status()

    def _feed(self, pieces: list[Segment]) -> None:
        samples = [sample for piece in pieces for sample in self._core.feed(piece)]
        self._newest = samples[-1] if samples else None
