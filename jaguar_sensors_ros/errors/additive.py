"""The additive terms of a triad that do not depend on the truth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from jaguar_sensors_ros.component import StreamFactory
from jaguar_sensors_ros.errors.ahead import Process
from jaguar_sensors_ros.errors.intervals import Array, Intervals
from jaguar_sensors_ros.errors.stochastic import (
    BiasInstability,
    GaussMarkov,
    RandomWalk,
    white_sigma,
)
from jaguar_sensors_ros.errors.triad_settings import AXES, BiasSettings, TriadSettings


class AdditiveTerms:
    """Turn-on bias, bias instability, rate random walk and white noise of some axes.

    Parameters
    ----------
    term : str
        Such as 'gyro', part of the names of the random streams.
    streams : StreamFactory
        The random streams of this power cycle.
    axes : str
        A letter for each axis.
    """

    def __init__(self, term: str, streams: StreamFactory, axes: str = AXES) -> None:
        self._white = [streams.stream(f'{term}.white_noise', axis) for axis in axes]
        self._turn_on = [streams.stream(f'{term}.turn_on_bias', axis) for axis in axes]
        self._instability = [
            BiasInstability(streams, f'{term}.bias_instability', axis) for axis in axes
        ]
        self._walk = [RandomWalk(streams.stream(f'{term}.random_walk', axis)) for axis in axes]

    def configure(self, settings: TriadSettings, bias: BiasSettings) -> None:
        """Take new parameters, in effect from the next block; states carry on."""
        self._settings = settings
        stds = settings.turn_on_bias_std
        draws = zip(stds, self._turn_on, strict=False)
        self._offset = [std * stream(0) if std else 0.0 for std, stream in draws]
        for i, instability in enumerate(self._instability):
            instability.configure(bias.sigma[i], bias.tau_s[i], settings.bias_model)

    def processes(self) -> Iterator[Process]:
        """Yield what carries over from one block to the next."""
        yield from self._walk
        for instability in self._instability:
            yield from instability.processes

    def block(self, start: int, intervals: Intervals) -> Array:
        """Return biases and white noise of the samples from ``start`` on.

        Two rows an axis: the biases of all axes, then the noise.
        """
        axes = len(self._white)
        terms = np.empty((2 * axes, len(intervals)))
        for i in range(axes):
            terms[i] = self.bias(i, start, intervals)
            self.noise(i, start, intervals, terms[axes + i])
        return terms

    def bias(self, i: int, start: int, intervals: Intervals) -> Any:
        """Return the biases of one axis, a number where they are constant."""
        bias = self._instability[i].block(start, intervals)
        walk = self._walk[i].block(start, intervals, self._settings.random_walk[i])
        if bias is None:
            return self._offset[i] if walk is None else np.add(walk, self._offset[i], out=walk)
        if self._offset[i]:
            bias += self._offset[i]
        if walk is not None:
            bias += walk
        return bias

    def noise(self, i: int, start: int, intervals: Intervals, out: Array) -> None:
        """Put the white noise of one axis into ``out``, shape (count,)."""
        sigmas = [white_sigma_of(self._settings, i, dt_s) for dt_s in intervals.lengths_s]
        if any(sigmas):
            self._white[i].fill(start, out)
            out *= intervals.spread(sigmas)
        else:
            out[:] = 0.0


class CorrelatedTerms:
    """Gauss-Markov processes of unit variance with one correlation time, such as of an attitude.

    Parameters
    ----------
    processes : list of GaussMarkov
        One for each row of a block.
    """

    def __init__(self, processes: list[GaussMarkov]) -> None:
        self._processes = processes
        self.tau_s = 0.0

    def processes(self) -> list[GaussMarkov]:
        """Return what carries over from one block to the next."""
        return self._processes

    def block(self, start: int, intervals: Intervals) -> Array:
        """Return the values of the samples from ``start`` on, one row for each process."""
        return np.array([
            process.block(start, intervals, self.tau_s) for process in self._processes
        ])


def white_sigma_of(settings: TriadSettings, i: int, dt_s: float) -> float:
    """Return the standard deviation of the white noise of one axis on the mean over ``dt_s``."""
    return white_sigma(
        settings.white_noise_density[i],
        settings.white_noise_psd[i],
        settings.white_noise_bandwidth[i],
        dt_s,
    )
