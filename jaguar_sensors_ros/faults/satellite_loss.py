"""Fewer satellites in view."""

from __future__ import annotations

from jaguar_sensors_ros.faults.base import ActiveFault, Draw, FaultMode, Signal


class SatelliteLoss(FaultMode):
    """Takes satellites away: larger DOP and covariance, no fix under four."""

    name = 'satellite_loss'
    default_magnitude = None
    whole_sensor = True
    magnitude_text = 'how many satellites are lost, a whole number >= 1'

    def accepts(self, magnitude: float) -> bool:
        """A whole number of satellites."""
        return magnitude >= 1.0 and float(magnitude).is_integer()

    def act(
        self, signal: Signal, fault: ActiveFault, elapsed_s: float, axes: str, draw: Draw
    ) -> float:
        """Count the satellites lost; the receiver draws the consequences."""
        lost = round(fault.magnitude * fault.strength(elapsed_s))
        signal.satellites_lost += lost
        return float(lost)
