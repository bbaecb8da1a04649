"""Samples missing at random."""

from __future__ import annotations

from jaguar_sensors_ros.faults.base import ActiveFault, Draw, FaultMode, Signal
from jaguar_sensors_ros.faults.chance import happens


class Intermittent(FaultMode):
    """Loses samples with the probability given as magnitude."""

    name = 'intermittent'
    default_magnitude = 0.5
    whole_sensor = True
    magnitude_text = 'the loss probability, above 0 and up to 1 (0: 0.5)'

    def accepts(self, magnitude: float) -> bool:
        """A probability."""
        return 0.0 < magnitude <= 1.0

    def act(
        self, signal: Signal, fault: ActiveFault, elapsed_s: float, axes: str, draw: Draw
    ) -> float:
        """Lose this sample, perhaps."""
        probability = fault.magnitude * fault.strength(elapsed_s)
        signal.loss_probability = max(signal.loss_probability, probability)
        if happens(probability, draw('fault.intermittent', '')):
            signal.lost = True
        return probability
