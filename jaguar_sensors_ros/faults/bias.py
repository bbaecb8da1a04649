"""Constant offset."""

from __future__ import annotations

from jaguar_sensors_ros.faults.base import ActiveFault, Draw, FaultMode, Signal


class Bias(FaultMode):
    """Adds the magnitude, in the unit of the channel."""

    name = 'bias'
    default_magnitude = None
    in_channel_unit = True
    magnitude_text = 'the offset in the unit of the channel, not 0'

    def act(
        self, signal: Signal, fault: ActiveFault, elapsed_s: float, axes: str, draw: Draw
    ) -> float:
        """Add the offset to the named axes."""
        offset = fault.magnitude * fault.strength(elapsed_s)
        for channel in fault.channels:
            for axis in fault.axes:
                signal.values[channel][axis] += offset
        return offset
