"""Noise larger than specified."""

from __future__ import annotations

import math

from jaguar_sensors_ros.faults.base import ActiveFault, Draw, FaultMode, Signal


class Noise(FaultMode):
    """Multiplies the standard deviation of the white noise, from a stream of its own."""

    name = 'noise'
    default_magnitude = 10.0
    magnitude_text = 'the factor on the noise standard deviation, >= 1 (0: 10)'

    def accepts(self, magnitude: float) -> bool:
        """A factor below one would need noise to be taken away."""
        return magnitude >= 1.0

    def act(
        self, signal: Signal, fault: ActiveFault, elapsed_s: float, axes: str, draw: Draw
    ) -> float:
        """Add noise of sigma sqrt(f^2 - 1)."""
        factor = 1.0 + (fault.magnitude - 1.0) * fault.strength(elapsed_s)
        extra = math.sqrt(factor * factor - 1.0)
        signal.noise_factor = max(signal.noise_factor, factor)
        for channel in fault.channels:
            sigma = signal.noise_sigma[channel]
            for axis in fault.axes:
                normal = draw(f'fault.noise.{channel}', axes[axis])
                signal.values[channel][axis] += extra * sigma[axis] * normal
        return factor
