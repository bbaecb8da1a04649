"""An IMU along a trajectory, whole arrays at a time.

The numbers are those of :class:`sensors.imu.ImuSensor` fed with the pieces of the trajectory one
after the other, bit for bit, at a small part of the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from jaguar_sensors_ros.errors.intervals import Array
from jaguar_sensors_ros.errors.low_pass import Ran
from jaguar_sensors_ros.errors.triad import Ambience
from jaguar_sensors_ros.errors.triad_array import Moving, TriadArray, TriadColumns
from jaguar_sensors_ros.errors.vibration import AlternatingPart
from jaguar_sensors_ros.nav.columns import Columns, LocalColumns
from jaguar_sensors_ros.nav.kinematics import inertial_rates
from jaguar_sensors_ros.nav.rotation import (
    add,
    cross,
    quat_multiply,
    rotate_back,
    scale,
    subtract,
)
from jaguar_sensors_ros.sensors.columns import ErrorColumns, ImuColumns, chosen
from jaguar_sensors_ros.sensors.imu import EULER_STEP_NS, ImuSensor
from jaguar_sensors_ros.sensors.parts import Parts
from jaguar_sensors_ros.sensors.schedule import Block, Schedule
from jaguar_sensors_ros.truth.columns import TruthColumns
from jaguar_sensors_ros.types import IDENTITY_QUAT, NS_PER_S, ZERO3, Fidelity

#: samples in a block: what is worked on stays in the cache of a core
BLOCK = 1 << 13


class _Ideal(NamedTuple):
    """Ideal increments and rates, shape (3, n) each; see :class:`sensors.imu.Ideal`."""

    increments: tuple[Array, Array]
    gyro: Moving
    accel: Moving


class ImuArray:
    """An IMU along a trajectory.

    Parameters
    ----------
    sensor : ImuSensor
        A sensor that has just been made, which nobody else uses: its settings, mount and random
        streams count.  Faults, added vibration and pose authority are left out.
    truth : TruthColumns
        The trajectory.
    """

    def __init__(self, sensor: ImuSensor, truth: TruthColumns) -> None:
        self._sensor, self._truth = sensor, truth
        self._settings = sensor.settings
        earth = sensor.settings.felt_earth
        self._earth = replace(earth, local=LocalColumns.of(earth.local))
        self._gyro, self._accel = TriadArray(sensor.gyro), TriadArray(sensor.accel)
        self._alternating = AlternatingPart()
        self._is_transparent = sensor.fidelity is Fidelity.TRANSPARENT
        self._is_turned = sensor.q_bs != IDENTITY_QUAT
        self._schedule = Schedule(sensor, truth)
        self._half: Array | None = None

    def blocks(self) -> Iterator[ImuColumns]:
        """Yield the samples that are put out, at most ``BLOCK`` at a time."""
        for block in self._schedule.blocks(BLOCK):
            if block.begins:
                self._break_off()
            samples, released = self._samples(block), self._schedule.released(block)
            yield samples if released is None else chosen(samples, released)

    def _break_off(self) -> None:
        self._gyro.break_off()
        self._accel.break_off()
        self._alternating = AlternatingPart()
        self._half = None

    def _samples(self, block: Block) -> ImuColumns:
        """Ideal reading, error terms, samples."""
        parts = Parts.of(self._truth, block)
        ideal, q = self._ideal(parts, block), self._true_attitude(parts)
        gyro, accel = self._readings(ideal, block)
        orientation, turned = self._oriented(q, block)
        theta, velocity, lengths_s = self._frames(gyro.increment, accel.increment, block)
        n, s = len(block), self._settings
        return ImuColumns(
            self._schedule.stamps_ns(block),
            np.arange(block.number, block.number + n),
            gyro.instant.T,
            accel.instant.T,
            None if s.orientation.output == 'none' else orientation.T,
            theta,
            velocity,
            lengths_s,
            _errors(gyro, ideal.gyro),
            _errors(accel, ideal.accel),
            turned.T,
            np.broadcast_to(s.temperature_c, n),
            [()] * n,
        )

    # ------------------------------------------------------------------ ideal reading

    def _ideal(self, parts: Parts, block: Block) -> _Ideal:
        """Return what perfect triads take in; :class:`sensors.imu_input.InertialInput`."""
        asked: Any = (parts.from_ns, parts.to_ns, self._earth, self._sensor.arm)
        theta, velocity = self._resolved(parts.pieces.increments(*asked))
        ran: list[Ran | None] = [None, None]
        filtered = [t.bandwidth_hz != ZERO3 for t in (self._settings.gyro, self._settings.accel)]
        if any(filtered):
            changes = self._resolved(parts.pieces.changes(*asked))
            lengths_s = (parts.to_ns - parts.from_ns) / NS_PER_S
            both = zip(filtered, (theta, velocity), changes, strict=True)
            ran = [
                Ran(lengths_s, np.array(integral), np.array(change), parts.ends) if is_on else None
                for is_on, integral, change in both
            ]
        theta, velocity = parts.summed(theta), parts.summed(velocity)
        rate, force = self._at_stamps(parts, block)
        dt_s = block.intervals.dt_s
        return _Ideal(
            (theta, velocity),
            Moving(theta / dt_s, ran[0], rate),
            Moving(velocity / dt_s, ran[1], force),
        )

    def _resolved(self, two: tuple[Columns, Columns]) -> tuple[Columns, Columns]:
        """Return two vectors given in b in the axes of the sensor."""
        if not self._is_turned:
            return two
        q = self._sensor.q_bs
        return rotate_back(q, two[0]), rotate_back(q, two[1])

    def _at_stamps(self, parts: Parts, block: Block) -> tuple[Array | None, Array | None]:
        """Return rates and specific forces at the stamps where they are put out."""
        if self._settings.rate_output != 'instant':
            return None, None
        pieces, arm = parts.at_stamps(), self._sensor.arm
        t_ns: Any = block.times_ns[1:]
        state = pieces.at(t_ns)
        omega, specific = inertial_rates(state, self._earth, arm)
        if arm != ZERO3:
            before_ns: Any = np.maximum(pieces.start_ns, t_ns - EULER_STEP_NS)
            slope = subtract(state.omega_nb_b, pieces.at(before_ns).omega_nb_b)
            alpha = scale(slope, NS_PER_S / (t_ns - before_ns))
            specific = add(specific, cross(alpha, arm))
        # the mount turns them in any case, as live
        q = self._sensor.q_bs
        return np.array(rotate_back(q, omega)), np.array(rotate_back(q, specific))

    def _true_attitude(self, parts: Parts) -> Columns:
        """Return q_ns at the stamps."""
        if self._settings.orientation.output == 'none':
            return IDENTITY_QUAT
        q: Columns = parts.last(parts.pieces.attitude(parts.to_ns))
        return quat_multiply(q, self._sensor.q_bs) if self._is_turned else q

    # ------------------------------------------------------------------ error terms

    def _readings(self, ideal: _Ideal, block: Block) -> tuple[TriadColumns, TriadColumns]:
        if self._is_transparent:
            theta, velocity = ideal.increments
            return _exact(theta, ideal.gyro), _exact(velocity, ideal.accel)
        ambience = self._ambience(ideal.accel.means, block)
        intervals = block.intervals
        return (
            self._gyro.moving(block.number, ideal.gyro, ambience, intervals),
            self._accel.moving(block.number, ideal.accel, ambience, intervals),
        )

    def _ambience(self, force: Array, block: Block) -> Ambience:
        """Return what the triads feel besides, with columns in the place of numbers."""
        s, columns = self._settings, tuple(force)
        level = s.vibration_grms**2
        vibration: Any = (level, level, level)
        if self._gyro.feels_vibration or self._accel.feels_vibration:
            part, squares = self._alternating, []
            for t_ns, *felt in zip(block.times_ns[1:].tolist(), *force.tolist(), strict=True):
                part.push(t_ns, (felt[0], felt[1], felt[2]))
                squares.append(part.mean_square)
            vibration = level + np.array(squares).T
        return Ambience(columns, s.temperature_c, vibration)

    def _oriented(self, q: Columns, block: Block) -> tuple[Array, Array]:
        """Return the reported attitudes, shape (4, n), and their errors, shape (3, n)."""
        if self._settings.orientation.output != 'ahrs' or self._is_transparent:
            return np.asarray(q), np.zeros((3, len(block)))
        terms = self._sensor.attitude.block(block.number, block.intervals)
        turn: Columns = terms[:4]
        return np.array(quat_multiply(turn, q)), terms[4:]

    def _frames(
        self, theta: Array, velocity: Array, block: Block
    ) -> tuple[Array, Array, Array]:
        """Return increments frames, shapes (n, m, 3), (n, m, 3) and (n, m); see ImuColumns."""
        n, dt_s = len(block), np.broadcast_to(block.intervals.dt_s, len(block))
        if self._settings.increments.samples == 1:
            return theta.T[:, None], velocity.T[:, None], dt_s[:, None]
        late = np.vstack([theta, velocity, dt_s])
        early = np.empty_like(late)
        early[:, 1:] = late[:, :-1]
        # a frame whose first half is missing is left out
        early[:, 0] = np.nan if self._half is None else self._half
        self._half = late[:, -1]
        frames = np.stack([early, late], axis=1)
        frames[:, :, (block.k + np.arange(n)) % 2 == 1] = np.nan
        if block.begins:
            frames[:, :, 0] = np.nan
        return frames[:3].T, frames[3:6].T, frames[6].T


def _exact(increment: Array, taken: Moving) -> TriadColumns:
    """Return the reading of a perfect triad."""
    means, nothing = np.asarray(taken.means), np.zeros_like(taken.means)
    instant = means if taken.instants is None else taken.instants
    return TriadColumns(means, np.asarray(increment), instant, nothing, nothing)


def _errors(reading: TriadColumns, taken: Moving) -> ErrorColumns:
    """Return the labels of a channel."""
    ideal = taken.means if taken.instants is None else taken.instants
    total = reading.instant - ideal
    nothing = np.broadcast_to(0.0, total.T.shape)
    return ErrorColumns(reading.bias.T, reading.noise.T, nothing, total.T)
