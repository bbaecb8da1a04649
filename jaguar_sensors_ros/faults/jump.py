"""Outliers."""

from __future__ import annotations

from jaguar_sensors_ros.faults.base import ActiveFault, Draw, FaultMode, Signal
from jaguar_sensors_ros.faults.chance import happens

PROBABILITY = 0.1


class Jump(FaultMode):
    """Moves one sample in ten by the magnitude, each axis with a sign of its own."""

    name = 'jump'
    default_magnitude = None
    in_channel_unit = True
    magnitude_text = 'the size of the outliers in the unit of the channel, not 0'

    def act(
        self, signal: Signal, fault: ActiveFault, elapsed_s: float, axes: str, draw: Draw
    ) -> float:
        """Add the outlier, if this sample is one."""
        size = fault.magnitude * fault.strength(elapsed_s)
        for channel in fault.channels:
            if not happens(PROBABILITY, draw(f'fault.jump.{channel}', '')):
                continue
            for axis in fault.axes:
                sign = 1.0 if draw(f'fault.jump_sign.{channel}', axes[axis]) >= 0.0 else -1.0
                signal.values[channel][axis] += sign * size
        return size
