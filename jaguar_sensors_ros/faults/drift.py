"""Offset that grows with time."""

from __future__ import annotations

from jaguar_sensors_ros.faults.base import ActiveFault, Draw, FaultMode, Signal


class Drift(FaultMode):
    """Adds an offset that grows linearly; a drifting position carries its velocity."""

    name = 'drift'
    default_magnitude = None
    in_channel_unit = True
    unit_suffix = '/s'
    magnitude_text = 'the rate in the unit of the channel per second, not 0'

    def act(
        self, signal: Signal, fault: ActiveFault, elapsed_s: float, axes: str, draw: Draw
    ) -> float:
        """Add the offset, and the rate to the derivative channel of a coherent fault."""
        offset = fault.magnitude * fault.ramped_integral_s(elapsed_s)
        rate = fault.magnitude * fault.strength(elapsed_s)
        for channel in fault.channels:
            derivative = fault.rate_of.get(channel)
            for axis in fault.axes:
                signal.values[channel][axis] += offset
                if derivative is not None:
                    signal.values[derivative][axis] += rate
        return offset
