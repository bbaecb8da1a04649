"""The output stage of a triad: saturation, then rounding or pulses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from jaguar_sensors_ros.errors.intervals import Array
from jaguar_sensors_ros.errors.quantisation import PulseQuantiser, round_to
from jaguar_sensors_ros.types import ZERO3, Vec3


class Output:
    """Rates and increments as they are put out, sample by sample or a block at a time."""

    def __init__(self) -> None:
        self._quantisers = [PulseQuantiser() for _ in range(3)]
        self.configure(ZERO3, ZERO3, ZERO3)

    def configure(self, limits: Vec3, steps: Vec3, lsb: Vec3) -> None:
        """Take the range, the resolution and the pulse size; 0 is off.  Residues carry on."""
        self._limits, self._steps, self.lsb = limits, steps, lsb
        highest = x, y, z = [limit if limit else math.inf for limit in limits]
        self._bounds = (-x, -y, -z), tuple(highest)
        self._has_steps, self._has_pulses = any(steps), any(lsb)

    def step(self, rate: Vec3, dt_s: float) -> tuple[Vec3, Vec3]:
        """Return (rate, increment) of a sample of ``dt_s`` [s]."""
        x, y, z = rate
        (low_x, low_y, low_z), (high_x, high_y, high_z) = self._bounds
        if self._has_steps or not (
            low_x <= x <= high_x and low_y <= y <= high_y and low_z <= z <= high_z
        ):
            rate = x, y, z = self.at_stamp(rate)
        increment = (x * dt_s, y * dt_s, z * dt_s)
        return self._pulses(rate, increment, dt_s) if self._has_pulses else (rate, increment)

    def _pulses(self, rate: Vec3, increment: Vec3, dt_s: float) -> tuple[Vec3, Vec3]:
        """Return rate and increment in whole pulses, on the axes that have them."""
        rates, increments = list(rate), list(increment)
        for i, (lsb, quantiser) in enumerate(zip(self.lsb, self._quantisers, strict=True)):
            if lsb:
                increments[i] = quantiser.step(increments[i], lsb)
                rates[i] = increments[i] / dt_s
        return (rates[0], rates[1], rates[2]), (increments[0], increments[1], increments[2])

    def at_stamp(self, rate: Vec3) -> Vec3:
        """Return the rate at the stamp: saturated and rounded, without pulses."""
        (x, y, z), ((a, b, c), (d, e, f)) = rate, self._bounds
        x, y, z = min(max(x, a), d), min(max(y, b), e), min(max(z, c), f)
        if not self._has_steps:
            return (x, y, z)
        a, b, c = self._steps
        return (
            round_to(x, a) if a else x, round_to(y, b) if b else y, round_to(z, c) if c else z
        )

    def block(self, i: int, values: Array, dt_s: Any, pulses: bool) -> None:
        """Turn consecutive rates of one axis into those that are put out.

        ``dt_s`` is a number or an array [s]; without ``pulses`` they are rates at the stamp.
        """
        self.limit(i, values)
        if pulses and self.lsb[i] > 0.0:
            self.increments(i, values, dt_s)

    def limit(self, i: int, values: Array) -> None:
        """Saturate and round rates of one axis in place, as :meth:`at_stamp`."""
        limit, step = self._limits[i], self._steps[i]
        if limit != 0.0:
            np.clip(values, -limit, limit, out=values)
        if step > 0.0:
            values /= step
            np.rint(values, out=values)
            values *= step

    def increments(self, i: int, rates: Array, dt_s: Any) -> Array:
        """Return the increments of consecutive rates, which become those of whole pulses."""
        increments = rates * dt_s
        if self.lsb[i] > 0.0:
            increments = self._quantisers[i].block(increments, self.lsb[i])
            np.divide(increments, dt_s, out=rates)
        return np.asarray(increments)
