"""Samples of a sensor as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from jaguar_sensors_ros.types import (
    ChannelError,
    FaultLabel,
    FixType,
    GpsSample,
    ImuSample,
    ImuSubSample,
)

Array = NDArray[np.float64]
Whole = NDArray[np.int64]
#: the faults in effect at each sample
Faults = list[tuple[FaultLabel, ...]]
ColumnsT = TypeVar('ColumnsT', bound=tuple[Any, ...])


class ErrorColumns(NamedTuple):
    """What was added to the ideal values of a channel, shape (n, 3); see ChannelError."""

    bias: Array
    noise: Array
    fault: Array
    total: Array

    @classmethod
    def of(cls, errors: Sequence[ChannelError]) -> ErrorColumns:
        """Return the arrays of the labels of samples."""
        return cls(*np.array(errors, dtype=float).reshape(-1, 4, 3).transpose(1, 0, 2))

    def sample(self, which: int | slice) -> ChannelError:
        """Return one label, or some as one whose fields are columns."""
        return ChannelError(*[_taken(part, which) for part in self])


class ImuColumns(NamedTuple):
    """Samples of an IMU; see :class:`types.ImuSample`.

    Parameters
    ----------
    t_ns, tick : array of int64, shape (n,)
        Stamps [ns], and the numbers of the samples since power-on.
    angular_velocity, specific_force : array, shape (n, 3)
        In the sensor frame [rad/s, m/s2].
    orientation : array, shape (n, 4), or None
        q_ns as w, x, y, z; None where the sensor puts out none.
    delta_theta, delta_v : array, shape (n, m, 3)
        The m = ``increments.samples`` sub-samples of the increments frame that ends at the
        sample, in the sensor frame [rad, m/s]; NaN where none ends.
    delta_t_s : array, shape (n, m)
        Their lengths [s]; NaN where no frame ends.
    gyro_error, accel_error : ErrorColumns
        Labels in the units of the channels.
    orientation_error : array, shape (n, 3)
        Rotation vectors about east, north, up [rad].
    temperature_c : array, shape (n,)
        Temperature of the sensor [degC].
    faults : list of tuple of FaultLabel
        The faults in effect at each sample.
    """

    t_ns: Whole
    tick: Whole
    angular_velocity: Array
    specific_force: Array
    orientation: Array | None
    delta_theta: Array
    delta_v: Array
    delta_t_s: Array
    gyro_error: ErrorColumns
    accel_error: ErrorColumns
    orientation_error: Array
    temperature_c: Array
    faults: Faults

    @classmethod
    def of(cls, samples: Sequence[ImuSample], frame_length: int, oriented: bool) -> ImuColumns:
        """Return the arrays of samples.

        ``frame_length`` is the number of sub-samples of an increments frame, ``oriented`` tells
        whether the sensor puts out an orientation.
        """
        n = len(samples)
        increments = np.full((n, frame_length, 7), np.nan)
        for i, sample in enumerate(samples):
            for j, sub in enumerate(sample.frame):
                increments[i, j] = (*sub.delta_theta, *sub.delta_v, sub.dt_s)
        return cls(
            _whole(s.t_ns for s in samples),
            _whole(s.tick for s in samples),
            _rows((s.angular_velocity for s in samples), 3),
            _rows((s.specific_force for s in samples), 3),
            _rows((s.orientation for s in samples), 4) if oriented else None,
            increments[:, :, :3],
            increments[:, :, 3:6],
            increments[:, :, 6],
            ErrorColumns.of([s.gyro_error for s in samples]),
            ErrorColumns.of([s.accel_error for s in samples]),
            _rows((s.orientation_error for s in samples), 3),
            _rows((s.temperature_c for s in samples), 1)[:, 0],
            [s.faults for s in samples],
        )

    @property
    def has_frame(self) -> NDArray[np.bool_]:
        """Which samples end an increments frame."""
        return ~np.isnan(self.delta_t_s[:, 0])

    def sample(self, which: int | slice) -> ImuSample:
        """Return one sample, or some in a row as one whose fields are columns.

        Those in a row have the same faults, and all of them or none an increments frame.
        """
        first = which if isinstance(which, int) else which.start
        subs = range(self.delta_t_s.shape[1]) if self.has_frame[first] else ()
        return ImuSample(
            _taken(self.t_ns, which),
            _taken(self.tick, which),
            _taken(self.angular_velocity, which),
            _taken(self.specific_force, which),
            None if self.orientation is None else _taken(self.orientation, which),
            tuple(
                ImuSubSample(
                    *[
                        _taken(part[:, i], which)
                        for part in (self.delta_theta, self.delta_v, self.delta_t_s)
                    ]
                )
                for i in subs
            ),
            self.gyro_error.sample(which),
            self.accel_error.sample(which),
            _taken(self.orientation_error, which),
            _taken(self.temperature_c, which),
            _labels(self.faults, which),
        )


class GpsColumns(NamedTuple):
    """Epochs of a GNSS receiver; see :class:`types.GpsSample`, whose fields these are.

    ``t_ns``, ``tick``, ``fix_type`` (values of FixType), ``satellites`` and ``gps_week`` are
    arrays of int64; numbers have shape (n,), vectors (n, 3), covariances (n, 9), ``C_le``
    (n, 3, 3) and ``q_ns`` (n, 4).  Without a fix positions, velocities and errors are NaN.
    """

    t_ns: Whole
    tick: Whole
    fix_type: Whole
    satellites: Whole
    latitude_deg: Array
    longitude_deg: Array
    height_m: Array
    p_e: Array
    v_enu: Array
    v_e: Array
    v_s: Array
    position_covariance: Array
    velocity_covariance: Array
    C_le: Array
    q_ns: Array
    hdop: Array
    vdop: Array
    pdop: Array
    position_error: ErrorColumns
    velocity_error: ErrorColumns
    faults: Faults
    gps_week: Whole
    time_of_week_s: Array

    @classmethod
    def of(cls, samples: Sequence[GpsSample]) -> GpsColumns:
        """Return the arrays of samples."""
        whole = ('t_ns', 'tick', 'fix_type', 'satellites', 'gps_week')
        shapes = {'p_e': (3,), 'v_enu': (3,), 'v_e': (3,), 'v_s': (3,), 'C_le': (3, 3)}
        shapes |= {'q_ns': (4,), 'position_covariance': (9,), 'velocity_covariance': (9,)}
        values: dict[str, Any] = {}
        for name in cls._fields:
            column = [getattr(sample, name) for sample in samples]
            if name.endswith('_error'):
                values[name] = ErrorColumns.of(column)
            elif name != 'faults':
                kind = np.int64 if name in whole else np.float64
                values[name] = np.array(column, kind).reshape(-1, *shapes.get(name, ()))
            else:
                values[name] = column
        return cls(**values)

    @property
    def has_fix(self) -> NDArray[np.bool_]:
        """Which epochs have a fix."""
        return np.asarray(self.fix_type != FixType.NONE)

    def sample(self, which: int | slice) -> GpsSample:
        """Return one epoch, or some in a row as one whose fields are columns.

        Those in a row have the same kind of fix and the same faults.
        """
        values: dict[str, Any] = {}
        for name in self._fields:
            part: Any = getattr(self, name)
            if name.endswith('_error'):
                values[name] = part.sample(which)
            elif name == 'faults':
                values[name] = _labels(part, which)
            else:
                values[name] = _taken(part, which)
        first = which if isinstance(which, int) else which.start
        values['fix_type'] = FixType(int(self.fix_type[first]))
        return GpsSample(**values)


def joined(blocks: Sequence[ColumnsT]) -> ColumnsT:
    """Return consecutive blocks of samples, one at least, as one."""
    if len(blocks) == 1:
        return blocks[0]
    joint = [_joined(parts) for parts in zip(*blocks, strict=True)]
    return type(blocks[0])(*joint)


def chosen(columns: ColumnsT, which: NDArray[np.bool_]) -> ColumnsT:
    """Return some of the samples."""
    return type(columns)(*[_chosen(part, which) for part in columns])


def _taken(part: Any, which: int | slice) -> Any:
    """Return a row in tuples, or rows as columns."""
    if isinstance(which, int):
        return _tuples(part[which].tolist())
    return np.moveaxis(part[which], 0, -1)


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _labels(faults: Faults, which: int | slice) -> tuple[FaultLabel, ...]:
    if isinstance(which, int):
        return faults[which]
    magnitudes = np.array([[label.magnitude for label in row] for row in faults[which]]).T
    return tuple(
        FaultLabel(label.mode, label.target, column)
        for label, column in zip(faults[which.start], magnitudes, strict=True)
    )


def _joined(parts: Sequence[Any]) -> Any:
    if parts[0] is None:
        return None
    if isinstance(parts[0], ErrorColumns):
        return joined(parts)
    if isinstance(parts[0], list):
        return [item for part in parts for item in part]
    if all(part.strides == (0,) * part.ndim for part in parts):
        # one number everywhere, such as no fault: it stays one
        first, shape = parts[0], (sum(map(len, parts)), *parts[0].shape[1:])
        if all(len(part) and part.flat[0] == first.flat[0] for part in parts):
            return np.broadcast_to(first.flat[0], shape)
    return np.concatenate(parts)


def _chosen(part: Any, which: NDArray[np.bool_]) -> Any:
    if part is None:
        return None
    if isinstance(part, ErrorColumns):
        return chosen(part, which)
    if isinstance(part, list):
        return [part[i] for i in np.flatnonzero(which)]
    return part[which]


def _whole(values: Any) -> Whole:
    return np.array(list(values), dtype=np.int64)


def _rows(values: Any, size: int) -> Array:
    return np.array(list(values), dtype=np.float64).reshape(-1, size)
