"""Which samples a trajectory gives: the ticks of a sensor's grid in blocks, and their stamps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaguar_sensors_ros.errors.intervals import Intervals
from jaguar_sensors_ros.nav.grid import SampleGrid
from jaguar_sensors_ros.sensors.base import Sensor
from jaguar_sensors_ros.truth.columns import Times, TruthColumns
from jaguar_sensors_ros.types import NS_PER_S


@dataclass(frozen=True)
class Block:
    """Consecutive samples.

    ``rows`` are the first row and the end of the truth without a gap in which they lie, ``k`` and
    ``number`` those of the first sample in the grid and since power-on, ``times_ns`` where it
    begins and where each one ends, shape (n + 1,).  ``begins`` tells that the truth begins here,
    at power-on or after a gap.
    """

    grid: SampleGrid
    rows: tuple[int, int]
    k: int
    number: int
    times_ns: Times
    begins: bool

    def __len__(self) -> int:
        return len(self.times_ns) - 1

    @cached_property
    def intervals(self) -> Intervals:
        """Their lengths."""
        return Intervals.of_grid(self.grid, self.k - 1, len(self))


class Schedule:
    """The samples of a sensor along a trajectory.

    In a pause of the truth longer than ``truth.max_gap_s`` there are none, but the ticks count.

    Parameters
    ----------
    sensor : Sensor
        A sensor that has just been made.
    truth : TruthColumns
        The trajectory.
    """

    def __init__(self, sensor: Sensor[Any, Any], truth: TruthColumns) -> None:
        settings = sensor.settings
        self._sensor, self._grid, self._truth = sensor, sensor.grid, truth
        self._stretches = truth.stretches(round(settings.truth.max_gap_s * NS_PER_S))
        self._enabled = settings.enabled
        if self._stretches:
            start_ns = int(truth.t_ns[self._stretches[0][0]])
            self._zero = sensor.first_tick(start_ns)
            self.power_on_ns = max(self._grid.time_ns(self._zero - 1), start_ns)
            self._warm_ns = round(settings.warm_up_s * NS_PER_S)

    def blocks(self, size: int) -> Iterator[Block]:
        """Yield the samples, at most ``size`` at a time."""
        for start, end in self._stretches:
            k = first = self._sensor.first_tick(int(self._truth.t_ns[start]))
            last = self._grid.first_at(int(self._truth.t_ns[end - 1]) + 1)
            while k < last:
                count = min(size, last - k)
                times_ns = self._grid.times_ns(k - 1, count + 1)
                number = k - self._zero
                yield Block(self._grid, (start, end), k, number, times_ns, k == first)
                k += count

    def stamps_ns(self, block: Block) -> Times:
        """Return what the sensor's own clock says; blocks come in their order."""
        times: Times = self._sensor.clock.block(
            self._sensor.clock_settings, block.times_ns[1:], self.power_on_ns, block.number
        )
        return times

    def released(self, block: Block) -> NDArray[np.bool_] | None:
        """Return which samples are put out, None for all of them."""
        if not self._enabled:
            return np.zeros(len(block), dtype=bool)
        times_ns = block.times_ns[1:]
        warm = times_ns > self.power_on_ns + self._warm_ns
        return None if self._warm_ns == 0 or warm.all() else warm
