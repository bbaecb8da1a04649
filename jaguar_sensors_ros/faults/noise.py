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
        """Ask for more noise: its variance is f^2 - 1 times that of the noise."""
        factor = 1.0 + (fault.magnitude - 1.0) * fault.strength(elapsed_s)
        for channel in fault.channels:
            extra = signal.extra_noise.setdefault(channel, [0.0, 0.0, 0.0])
            for axis in fault.axes:
                extra[axis] += factor * factor - 1.0
        return factor


def add_extra(signal: Signal, axes: str, draw: Draw) -> None:
    """Add the noise that all noise faults together ask for: their variances add up."""
    for channel, extra in signal.extra_noise.items():
        sigma, values = signal.noise_sigma[channel], signal.values[channel]
        for axis, variance in enumerate(extra):
            if variance > 0.0:
                normal = draw(f'fault.noise.{channel}', axes[axis])
                values[axis] += math.sqrt(variance) * sigma[axis] * normal


def total_factor(signal: Signal) -> float:
    """Return by how much the noise of the worst axis is larger than specified."""
    worst = max((max(extra) for extra in signal.extra_noise.values()), default=0.0)
    return math.sqrt(1.0 + worst)
