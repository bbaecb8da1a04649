"""A poorer kind of fix."""

from __future__ import annotations

from jaguar_sensors_ros.faults.base import ActiveFault, Draw, FaultMode, Signal


class RtkDegradation(FaultMode):
    """Takes steps down from the configured kind of fix: fixed, float, single, none."""

    name = 'rtk_degradation'
    default_magnitude = 1.0
    whole_sensor = True
    magnitude_text = (
        'how many steps down from fix_type (rtk_fixed, rtk_float, single, none; sbas, single, '
        'none), a whole number >= 1 (0: 1)'
    )

    def accepts(self, magnitude: float) -> bool:
        """A whole number of steps."""
        return magnitude >= 1.0 and float(magnitude).is_integer()

    def act(
        self, signal: Signal, fault: ActiveFault, elapsed_s: float, axes: str, draw: Draw
    ) -> float:
        """Count the steps; the receiver draws the consequences."""
        steps = int(fault.magnitude * fault.strength(elapsed_s))
        signal.fix_steps_lost += steps
        return float(steps)
