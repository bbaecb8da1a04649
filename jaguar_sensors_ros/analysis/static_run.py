"""A record of an IMU at rest, whole arrays at a time.

The numbers are those of :class:`sensors.imu.ImuSensor` fed with one piece of rest that begins at
time zero, bit for bit, at a small part of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from jaguar_sensors_ros.component import StreamFactory
from jaguar_sensors_ros.errors.triad import Ambience
from jaguar_sensors_ros.errors.triad_array import Still, TriadArray
from jaguar_sensors_ros.nav.grid import SampleGrid
from jaguar_sensors_ros.nav.kinematics import increments_of_parts, inertial_rates
from jaguar_sensors_ros.nav.rotation import add, quat_from_rpy, rotate_back
from jaguar_sensors_ros.sensors.imu_settings import ImuSettings
from jaguar_sensors_ros.truth.segment import TwistSegment
from jaguar_sensors_ros.types import (
    IDENTITY_QUAT,
    NS_PER_S,
    ZERO3,
    JaguarError,
    TruthSample,
    Vec3,
)

Array = NDArray[np.float64]

#: samples in a block: the working memory stays at some tens of megabytes
BLOCK = 1 << 18
_LONGEST = 1 << 33


class StaticRun:
    """An IMU at rest at the origin, level and facing the x axis of n, from time zero.

    Parameters
    ----------
    settings : ImuSettings
        Its parameters.  Failures are left out.
    seed : int
        Seed of all random numbers, >= 0.
    name : str
        Name of the sensor, part of the names of its random streams.

    Raises
    ------
    JaguarError
        in fidelity transparent, with a failure in fidelity fault, or with added vibration.
    """

    def __init__(self, settings: ImuSettings, seed: int, name: str = 'imu') -> None:
        if settings.fidelity == 'transparent':
            raise JaguarError("fidelity = 'transparent': has no errors to simulate")
        failure = settings.failure
        if settings.fidelity == 'fault' and (failure.request() or failure.timeline):
            raise JaguarError(
                f'failure.mode = {failure.mode!r}, failure.mtbf_hours = {failure.mtbf_hours:g}, '
                f'failure.timeline = {failure.timeline!r}: a static run has no failures; allowed '
                "are 'none', 0 and ''"
            )
        if settings.vibration.lines or settings.vibration.psd:
            raise JaguarError('vibration.lines, vibration.psd: must be 0 in a static run')
        self.settings = settings
        self._grid = SampleGrid(settings.sample_rate_hz)
        self._q_bs = quat_from_rpy(settings.mount.rpy)
        s, streams = settings, StreamFactory(seed, name, 0)
        self._gyro = TriadArray(
            'gyro', streams, s.gyro, s.gyro_bias, s.gyro_lsb, s.gyro.g_sensitivity_matrix()
        )
        self._accel = TriadArray('accel', streams, s.accel, s.accel_bias, s.accel_lsb, None)
        self._still: dict[int, tuple[Still, Still]] = {}

    def samples(self, duration_s: float) -> int:
        """Return how many samples a run of ``duration_s`` [s] has."""
        return self._grid.first_at(round(duration_s * NS_PER_S) + 1) - 1

    def blocks(self, count: int) -> Iterator[Array]:
        """Yield the first ``count`` samples in blocks of shape (6, k), gyro before accel.

        Rows are in the order of :data:`analysis.allan_theory.AXES`, [rad/s] and [m/s2].
        """
        for start in range(0, count, BLOCK):
            size = min(BLOCK, count - start)
            yield self._block(start, size)

    def record(self, count: int, progress: Callable[[float], None] | None = None) -> Array:
        """Return ``count`` samples at once, shape (count, 6), each column contiguous."""
        if not 0 < count < _LONGEST:
            raise JaguarError(f'{count} samples: must be from 1 to {_LONGEST}')
        data = np.empty((6, count))
        done = 0
        for block in self.blocks(count):
            data[:, done : done + block.shape[1]] = block
            done += block.shape[1]
            if progress is not None:
                progress(done / count)
        return data.T

    def _block(self, start: int, count: int) -> Array:
        kinds, which = self._spans(start, count)
        still = [self._reading(span_ns) for span_ns in kinds]
        gyro = self._gyro.block(start, [pair[0] for pair in still], which)
        accel = self._accel.block(start, [pair[1] for pair in still], which)
        return np.concatenate([gyro, accel])

    def _spans(self, start: int, count: int) -> tuple[list[int], NDArray[np.intp]]:
        """Return the lengths [ns] that occur and which of them each sample has.

        Sample number k ends at tick k + 1 of the grid.
        """
        period = self._grid.time_ns(1)
        if self._grid.time_ns(NS_PER_S) == period * NS_PER_S:
            # the period is a whole number of nanoseconds
            return [period], np.zeros(count, dtype=np.intp)
        ticks = range(start, start + count + 1)
        times = np.fromiter(map(self._grid.time_ns, ticks), np.int64, count + 1)
        kinds, which = np.unique(np.diff(times), return_inverse=True)
        return kinds.tolist(), which

    def _reading(self, span_ns: int) -> tuple[Still, Still]:
        if span_ns not in self._still:
            self._still[span_ns] = self._ideal(span_ns)
        return self._still[span_ns]

    def _ideal(self, span_ns: int) -> tuple[Still, Still]:
        """Return what perfect triads read in an interval, in the steps of ImuSensor."""
        s, dt_s = self.settings, span_ns / NS_PER_S
        segment = TwistSegment(
            TruthSample(0, ZERO3, IDENTITY_QUAT, ZERO3, ZERO3),
            TruthSample(span_ns, ZERO3, IDENTITY_QUAT, ZERO3, ZERO3),
        )
        count = min(span_ns, max(self._gyro.substeps(dt_s), self._accel.substeps(dt_s)))
        edges = [span_ns * i // count for i in range(count + 1)]
        gyro, accel, velocity = [], [], ZERO3
        durations_s = [(b - a) / NS_PER_S for a, b in pairwise(edges)]
        parts = increments_of_parts(segment, edges, s.felt_earth, s.mount.position)
        for increments in parts:
            theta, delta_v = (rotate_back(self._q_bs, add(ZERO3, part)) for part in increments)
            gyro.append(theta)
            accel.append(delta_v)
            velocity = add(velocity, delta_v)
        force = (velocity[0] / dt_s, velocity[1] / dt_s, velocity[2] / dt_s)
        rate, specific = self._at_stamp(segment)
        level = s.vibration_grms**2
        felt = Ambience(force, s.temperature_c, (level, level, level))
        return (
            Still(dt_s, gyro, durations_s, felt, rate),
            Still(dt_s, accel, durations_s, felt, specific),
        )

    def _at_stamp(self, segment: TwistSegment) -> tuple[Vec3 | None, Vec3 | None]:
        s = self.settings
        if s.rate_output != 'instant':
            return None, None
        state = segment.at(segment.end_ns)
        omega, specific = inertial_rates(state, s.felt_earth, s.mount.position)
        return rotate_back(self._q_bs, omega), rotate_back(self._q_bs, specific)
