"""Complete failure."""

from __future__ import annotations

from jaguar_sensors_ros.faults.base import ActiveFault, Draw, FaultMode, Signal


class Total(FaultMode):
    """No output at all; the sensor is in the state Failed."""

    name = 'total'
    whole_sensor = True

    def act(
        self, signal: Signal, fault: ActiveFault, elapsed_s: float, axes: str, draw: Draw
    ) -> float:
        """Lose every sample."""
        signal.lost = True
        signal.failed = True
        return 0.0
