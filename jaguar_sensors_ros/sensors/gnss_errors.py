"""The random errors of a GNSS receiver, along independent axes, before its geometry turns them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaguar_sensors_ros.component import StreamFactory
from jaguar_sensors_ros.errors.additive import CorrelatedTerms
from jaguar_sensors_ros.errors.ahead import Ahead
from jaguar_sensors_ros.errors.common import CommonGaussMarkov
from jaguar_sensors_ros.errors.intervals import Array, Intervals
from jaguar_sensors_ros.errors.stochastic import GaussMarkov
from jaguar_sensors_ros.faults.chance import happens
from jaguar_sensors_ros.nav.grid import SampleGrid
from jaguar_sensors_ros.sensors.gps_settings import GpsSettings
from jaguar_sensors_ros.types import ZERO3, Vec3

AXES = 'enu'
#: degrees of freedom of the multipath's Student distribution; its variance is nu / (nu - 2)
MULTIPATH_FREEDOM = 4
MULTIPATH_VARIANCE = MULTIPATH_FREEDOM / (MULTIPATH_FREEDOM - 2)
_CORRELATED = 'position.correlated'


@dataclass(frozen=True, slots=True)
class Draw:
    """The errors of one epoch: white and correlated position [m], velocity [m/s]."""

    white: Vec3
    slow: Vec3
    velocity: Vec3


NO_ERROR = Draw(ZERO3, ZERO3, ZERO3)


class GnssErrors:
    """White noise, a Gauss-Markov process, and multipath.

    Parameters
    ----------
    streams : StreamFactory
        Streams of the receiver in this power cycle.
    """

    def __init__(self, streams: StreamFactory) -> None:
        self._streams = streams
        self._white_position = streams.triad('position.white_noise', AXES)
        self._white_velocity = streams.triad('velocity.white_noise', AXES)
        own = [GaussMarkov(stream) for stream in streams.triad(_CORRELATED, AXES)]
        self._own = CorrelatedTerms(own)
        self._ahead = Ahead(self._own.block, self._own.processes)
        self._common: tuple[str, list[CommonGaussMarkov]] = ('', [])
        self._multipath = [
            streams.stream('position.multipath', axis)
            for axis in ('occurrence', *AXES, *map(str, range(MULTIPATH_FREEDOM)))
        ]

    def draw(
        self,
        number: int,
        k: int,
        span_ns: int,
        grid: SampleGrid,
        sigma: tuple[Vec3, Vec3],
        settings: GpsSettings,
    ) -> Draw:
        """Return the errors of the epoch.

        Parameters
        ----------
        number, k : int
            Number of the epoch since power-on, and in the sample grid.
        span_ns : int
            Time since the epoch before [ns].
        grid : SampleGrid
            The sample grid.
        sigma : two Vec3
            Standard deviations of position [m] and velocity [m/s] along the axes.
        settings : GpsSettings
            Parameters of the receiver.
        """
        fraction = settings.pos_correlated_fraction
        states = self._correlated(number, k, span_ns, grid, settings)
        white, slow, velocity = [], [], []
        for i in range(3):
            noise = self._white_position[i](number)
            white.append(sigma[0][i] * math.sqrt(1.0 - fraction) * noise)
            slow.append(sigma[0][i] * math.sqrt(fraction) * states[i])
            velocity.append(sigma[1][i] * self._white_velocity[i](number))
        if settings.multipath.probability > 0.0:
            for i, reflected in enumerate(self._reflected(number, settings)):
                white[i] += reflected
        return Draw(_three(white), _three(slow), _three(velocity))

    def block(
        self,
        start: int,
        k: int,
        intervals: Intervals,
        sigma: tuple[Vec3, Vec3],
        settings: GpsSettings,
    ) -> tuple[Array, Array, Array]:
        """Return white, slow and velocity errors of consecutive epochs, shape (3, n) each.

        :meth:`draw` for a block; ``start`` is the number of the first epoch since power-on and
        ``k`` its number in the sample grid, ``intervals`` are the times since the epochs before.
        """
        fraction, n = settings.pos_correlated_fraction, len(intervals)
        self._own.tau_s = settings.pos_correlation_time_s
        states: Any = self._own.block(start, intervals)
        if settings.common_error_stream:
            states = [
                [process.at(k + i, 1.0 / settings.update_hz, self._own.tau_s) for i in range(n)]
                for process in self._shared(settings.common_error_stream)
            ]
        white, slow, velocity = np.empty((3, 3, n))
        for i in range(3):
            noise = self._white_position[i].array(start, n)
            white[i] = sigma[0][i] * math.sqrt(1.0 - fraction) * noise
            slow[i] = sigma[0][i] * math.sqrt(fraction) * np.asarray(states[i])
            velocity[i] = sigma[1][i] * self._white_velocity[i].array(start, n)
        if settings.multipath.probability > 0.0:
            numbers = range(start, start + n)
            white += np.array([self._reflected(number, settings) for number in numbers]).T
        return white, slow, velocity

    def _correlated(
        self, number: int, k: int, span_ns: int, grid: SampleGrid, settings: GpsSettings
    ) -> list[float]:
        """Return the Gauss-Markov states in units of sigma."""
        tau_s = settings.pos_correlation_time_s
        if tau_s != self._own.tau_s:
            self._ahead.settle()
            self._own.tau_s = tau_s
        own = self._ahead.take(number, k, span_ns, grid)
        name = settings.common_error_stream
        if not name:
            return own
        period_s = 1.0 / settings.update_hz
        return [process.at(k, period_s, tau_s) for process in self._shared(name)]

    def _shared(self, name: str) -> list[CommonGaussMarkov]:
        """Return the processes of a stream that several receivers share."""
        if self._common[0] != name:
            shared = StreamFactory(self._streams.seed, name, 0)
            processes = [CommonGaussMarkov(s) for s in shared.triad(_CORRELATED, AXES)]
            self._common = (name, processes)
        return self._common[1]

    def _reflected(self, number: int, settings: GpsSettings) -> Vec3:
        """Return the multipath of the epoch [m].

        With the given probability a Student variate of four degrees of freedom along each axis,
        t = z / sqrt(chi^2 / 4), of one common chi^2; otherwise zero.
        """
        chance, *normals = (stream(number) for stream in self._multipath)
        if not happens(settings.multipath.probability, chance):
            return ZERO3
        chi_squared = sum(z * z for z in normals[3:])
        factor = settings.multipath.scale_m / math.sqrt(chi_squared / MULTIPATH_FREEDOM)
        return (factor * normals[0], factor * normals[1], factor * normals[2])


def total_sigma(sigma: Vec3, settings: GpsSettings) -> Vec3:
    """Return the standard deviation of the position [m] along the axes, with the multipath.

    sqrt(sigma^2 + 2 p s^2), with the probability p and the scale s of the multipath; just sigma
    where the receiver does not know of it.
    """
    multipath = settings.multipath
    if multipath.probability == 0.0 or not multipath.in_covariance:
        return sigma
    added = multipath.probability * MULTIPATH_VARIANCE * multipath.scale_m**2
    return _three([math.sqrt(x * x + added) for x in sigma])


def _three(values: list[float]) -> Vec3:
    return (values[0], values[1], values[2])
