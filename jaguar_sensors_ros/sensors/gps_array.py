"""A GNSS receiver along a trajectory, whole arrays at a time.

The numbers are those of :class:`sensors.gps.GpsSensor` fed with the pieces of the trajectory one
after the other, bit for bit, at a small part of the time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from jaguar_sensors_ros.errors.intervals import Array
from jaguar_sensors_ros.nav import columns, gps_time
from jaguar_sensors_ros.nav.columns import Columns
from jaguar_sensors_ros.nav.rotation import (
    add,
    cross,
    matrix_times,
    quat_multiply,
    rotate,
    rotate_back,
    subtract,
    transposed_times,
)
from jaguar_sensors_ros.sensors.columns import ErrorColumns, GpsColumns, chosen
from jaguar_sensors_ros.sensors.covariance import covariance
from jaguar_sensors_ros.sensors.gnss_errors import total_sigma
from jaguar_sensors_ros.sensors.gnss_sky import NominalSky
from jaguar_sensors_ros.sensors.gps import UNKNOWN_VARIANCE, GpsSensor
from jaguar_sensors_ros.sensors.schedule import Block, Schedule
from jaguar_sensors_ros.truth.columns import TruthColumns
from jaguar_sensors_ros.truth.twist_columns import TwistColumns
from jaguar_sensors_ros.types import (
    IDENTITY_QUAT,
    NS_PER_S,
    ZERO3,
    Fidelity,
    FixType,
    Mat3,
)

#: epochs in a block
BLOCK = 1 << 12


class _Antenna(NamedTuple):
    """Position and velocity of the antenna, and the axes at its place; columns."""

    p_e: Columns
    v_e: Columns
    C_le: Columns
    q_ns: Columns


class GpsArray:
    """A GNSS receiver along a trajectory, under a nominal sky.

    Parameters
    ----------
    sensor : GpsSensor
        A sensor that has just been made, which nobody else uses: its settings, mount and random
        streams count.  Faults and pose authority are left out.
    truth : TruthColumns
        The trajectory.
    """

    def __init__(self, sensor: GpsSensor, truth: TruthColumns) -> None:
        self._sensor, self._truth = sensor, truth
        self._settings = sensor.settings
        self._sky = NominalSky(sensor.settings.satellites)
        self._is_transparent = sensor.fidelity is Fidelity.TRANSPARENT
        self._schedule = Schedule(sensor, truth)

    def blocks(self) -> Iterator[GpsColumns]:
        """Yield the epochs that are put out, at most ``BLOCK`` at a time."""
        for block in self._schedule.blocks(BLOCK):
            samples, released = self._samples(block), self._schedule.released(block)
            yield samples if released is None else chosen(samples, released)

    def _samples(self, block: Block) -> GpsColumns:
        """Antenna truth, error terms, samples."""
        antenna, stamps_ns = self._antenna(block), self._schedule.stamps_ns(block)
        white, slow, noise = self._drawn(block)
        v_enu: Columns = matrix_times(antenna.C_le, antenna.v_e)
        error: Columns = add(white, slow)
        v_measured: Columns = add(v_enu, noise)
        p_e = add(antenna.p_e, transposed_times(antenna.C_le, error))
        latitude, longitude, height, *_ = columns.geodetic_from_ecef(p_e)
        v_e: Columns = transposed_times(antenna.C_le, v_measured)
        v_s = rotate_back(antenna.q_ns, matrix_times(self._settings.local_frame.C_ne, v_e))
        fix, n, degrees = self._fixes(block), len(block), 180.0 / math.pi
        place = _known((latitude * degrees, longitude * degrees, height), fix)
        dops = _known(np.repeat(np.array(self._sky.dops)[:, None], n, axis=1), fix)
        position, velocity = self._covariances(fix)
        weeks, times_s = gps_time.weeks_and_times(stamps_ns, self._settings.leap_seconds)
        zero = np.zeros((3, n))
        labels = slow, white, zero, error
        v_labels = zero, noise, zero, subtract(v_measured, v_enu)
        return GpsColumns(
            stamps_ns,
            np.arange(block.number, block.number + n),
            np.where(fix, FixType[self._settings.fix_type.upper()], FixType.NONE),
            np.where(fix, self._sky.satellites, 0 if self._sky.usable else self._sky.satellites),
            place[:, 0],
            place[:, 1],
            place[:, 2],
            _known(p_e, fix),
            _known(v_measured, fix),
            _known(v_e, fix),
            _known(v_s, fix),
            position,
            velocity,
            _axes(antenna.C_le, fix, self._settings.local_frame.C_ne),
            _kept(antenna.q_ns, fix, IDENTITY_QUAT),
            dops[:, 0],
            dops[:, 1],
            dops[:, 2],
            ErrorColumns(*[_known(label, fix) for label in labels]),
            ErrorColumns(*[_known(label, fix) for label in v_labels]),
            [()] * n,
            weeks,
            times_s,
        )

    def _antenna(self, block: Block) -> _Antenna:
        """Return the antenna; :class:`sensors.gps.Antenna`."""
        start, end = block.rows
        times_ns: Any = block.times_ns[1:]
        rows = start + np.searchsorted(self._truth.t_ns[start:end], times_ns, 'left') - 1
        state: Columns = TwistColumns.at_rows(self._truth, rows).at(times_ns)
        local, arm = self._settings.local_frame, self._sensor.arm
        p_n = add(state.p_n, rotate(state.q_nb, arm))
        v_b = add(state.v_nb_b, cross(state.omega_nb_b, arm))
        p_e: Columns = local.ecef_from_local(p_n)
        v_e = transposed_times(local.C_ne, rotate(state.q_nb, v_b))
        _, longitude, _, sin_lat, cos_lat = columns.geodetic_from_ecef(p_e)
        axes = columns.enu_from_ecef_matrix(sin_lat, cos_lat, longitude)
        return _Antenna(p_e, v_e, axes, quat_multiply(state.q_nb, self._sensor.q_bs))

    def _drawn(self, block: Block) -> list[Columns]:
        """Return white and slow errors of the position [m] and that of the velocity [m/s]."""
        if self._is_transparent:
            return [np.zeros((3, len(block)))] * 3
        drawn = self._sensor.errors.block(
            block.number, block.k, block.intervals, self._sensor.sigma, self._settings
        )
        return [np.array(self._sky.shaped(errors)) for errors in drawn]  # type: ignore[arg-type]

    def _fixes(self, block: Block) -> Any:
        """Return which epochs have a fix."""
        s = self._settings
        if s.fix_type == 'none' or not self._sky.usable:
            return np.zeros(len(block), dtype=bool)
        cold_ns = 0 if self._is_transparent else round(s.cold_start_s * NS_PER_S)
        times_ns = block.times_ns[1:]
        return (times_ns > self._schedule.power_on_ns + cold_ns) | (cold_ns == 0)

    def _covariances(self, fix: Any) -> list[Array]:
        """Return the covariances of position and velocity, shape (n, 9)."""
        override, (position, velocity) = self._settings.covariance, self._sensor.sigma
        of = self._sensor.published_covariance
        both = (
            of(override.position, total_sigma(position, self._settings)),
            of(override.velocity, velocity),
        )
        unknown = covariance((UNKNOWN_VARIANCE,), ZERO3)
        return [np.where(fix[:, None], np.array(c), np.array(unknown)) for c in both]


def _known(vectors: Columns, fix: Any) -> Array:
    """Return vectors in rows, NaN where there is no fix."""
    return _kept(vectors, fix, (math.nan,))


def _kept(vectors: Columns, fix: Any, otherwise: tuple[float, ...]) -> Array:
    """Return columns in rows, ``otherwise`` where there is no fix."""
    rows = np.asarray(vectors).T
    return rows if fix.all() else np.where(fix[:, None], rows, np.array(otherwise))


def _axes(C_le: Columns, fix: Any, otherwise: Mat3) -> Array:
    """Return the matrices, shape (n, 3, 3); without a fix the other one."""
    matrices = np.moveaxis(np.array(C_le), 2, 0)
    return np.where(fix[:, None, None], matrices, np.array(otherwise))
