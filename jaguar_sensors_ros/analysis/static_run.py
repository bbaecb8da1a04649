"""A record of an IMU at rest, whole arrays at a time.

The numbers are those of :class:`sensors.imu.ImuSensor` fed with one piece of rest that begins at
time zero, bit for bit, at a small part of the time.  :func:`errors.fast.use` makes them faster
still where numba is there; a record of more than a few hours calls it by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from jaguar_sensors_ros.component import StreamFactory
from jaguar_sensors_ros.errors import fast
from jaguar_sensors_ros.errors.intervals import Intervals
from jaguar_sensors_ros.errors.triad import Ambience, Triad
from jaguar_sensors_ros.errors.triad_array import Still, TriadArray
from jaguar_sensors_ros.nav.grid import SampleGrid
from jaguar_sensors_ros.nav.kinematics import inertial_rates
from jaguar_sensors_ros.nav.rotation import quat_from_rpy, rotate_back
from jaguar_sensors_ros.sensors.imu_input import InertialInput
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

#: samples in a block: long enough that calls cost little, a few rows still fit a cache
BLOCK = 1 << 16
#: from so many samples on a compiler, where there is one, makes up for its own time
_WORTH_COMPILING = 10_000_000
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
        self._streams = StreamFactory(seed, name, 0)
        self._still: dict[int, tuple[Still, Still]] = {}

    def _power_up(self) -> None:
        s, streams = self.settings, self._streams
        gyro, accel = Triad('gyro', streams), Triad('accel', streams)
        gyro.configure(s.gyro, s.gyro_bias, s.gyro_lsb, s.gyro.g_sensitivity_matrix())
        accel.configure(s.accel, s.accel_bias, s.accel_lsb, None)
        self._gyro, self._accel = TriadArray(gyro), TriadArray(accel)

    def samples(self, duration_s: float) -> int:
        """Return how many samples a run of ``duration_s`` [s] has."""
        return self._grid.first_at(round(duration_s * NS_PER_S) + 1) - 1

    def blocks(self, count: int) -> Iterator[Array]:
        """Yield the first ``count`` samples in blocks of shape (6, k), gyro before accel.

        Rows are in the order of :data:`analysis.allan_theory.AXES`, [rad/s] and [m/s2].
        """
        self._power_up()
        for start in range(0, count, BLOCK):
            block = np.empty((6, min(BLOCK, count - start)))
            self._fill(start, block)
            yield block

    def record(self, count: int, progress: Callable[[float], None] | None = None) -> Array:
        """Return ``count`` samples at once, shape (count, 6), each column contiguous."""
        if not 0 < count < _LONGEST:
            raise JaguarError(f'{count} samples: must be from 1 to {_LONGEST}')
        if count >= _WORTH_COMPILING:
            fast.use()
        data = np.empty((6, count))
        self._power_up()
        for start in range(0, count, BLOCK):
            end = min(start + BLOCK, count)
            self._fill(start, data[:, start:end])
            if progress is not None:
                progress(end / count)
        return data.T

    def _fill(self, start: int, block: Array) -> None:
        """Put the samples from ``start`` on into an array of shape (6, k)."""
        # sample number k ends at tick k + 1 of the grid
        intervals = Intervals.of_grid(self._grid, start, block.shape[1])
        still = [self._reading(span_ns) for span_ns in intervals.lengths_ns]
        gyro, accel = zip(*still, strict=True)
        self._gyro.block(start, gyro, intervals, block[:3])
        self._accel.block(start, accel, intervals, block[3:])

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
        source = InertialInput()
        source.configure(s)
        source.mount(s.mount.position, self._q_bs)
        source.integrate(segment, 0, span_ns)
        theta, velocity, gyro, accel = source.take()
        omega = (theta[0] / dt_s, theta[1] / dt_s, theta[2] / dt_s)
        force = (velocity[0] / dt_s, velocity[1] / dt_s, velocity[2] / dt_s)
        rate, specific = self._at_stamp(segment)
        level = s.vibration_grms**2
        felt = Ambience(force, s.temperature_c, (level, level, level))
        return (
            Still(dt_s, omega, tuple(gyro), felt, rate),
            Still(dt_s, force, tuple(accel), felt, specific),
        )

    def _at_stamp(self, segment: TwistSegment) -> tuple[Vec3 | None, Vec3 | None]:
        s = self.settings
        if s.rate_output != 'instant':
            return None, None
        state = segment.at(segment.end_ns)
        omega, specific = inertial_rates(state, s.felt_earth, s.mount.position)
        return rotate_back(self._q_bs, omega), rotate_back(self._q_bs, specific)
