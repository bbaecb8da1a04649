"""Frozen output."""

from __future__ import annotations

from jaguar_sensors_ros.faults.base import ActiveFault, Draw, FaultMode, Signal


class Stuck(FaultMode):
    """Holds the last published sample while the stamps go on."""

    name = 'stuck'

    def act(
        self, signal: Signal, fault: ActiveFault, elapsed_s: float, axes: str, draw: Draw
    ) -> float:
        """Name the channels to freeze; the sensor knows its last sample."""
        for channel in fault.channels:
            signal.frozen.setdefault(channel, set()).update(fault.axes)
        return 0.0
