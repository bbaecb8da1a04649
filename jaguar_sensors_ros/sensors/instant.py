"""Sensors that measure at the stamp, and not over the interval that ends there."""

from __future__ import annotations

from jaguar_sensors_ros.nav.kinematics import Segment, inertial_rates
from jaguar_sensors_ros.sensors.base import SampleT, Sensor, SettingsT


class InstantSensor(Sensor[SettingsT, SampleT]):
    """What they have in common; see :class:`Sensor`."""

    def first_tick(self, t_ns: int) -> int:
        return self.grid.first_at(t_ns + 1)

    def _leave(self, segment: Segment) -> None:
        """Feel the specific force at the end of the piece."""
        state = segment.at(segment.end_ns)
        _, force = inertial_rates(state, self.settings.felt_earth, self.arm)
        self._expose(segment.end_ns, force)
