"""What changes from message to message on each topic; see :class:`messages.encoder.Encoder`.

For each writer three functions of the same arguments: the shape, which is all that stays, the
paths of the numbers that change, in the order of the message, and their values.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import chain
from typing import Any

from jaguar_sensors_ros.messages.encoder import Encoder
from jaguar_sensors_ros.messages.writer import (
    ERROR_PARTS,
    Writer,
    covariance_in_body,
    total,
    transposed,
    twist_covariance,
)
from jaguar_sensors_ros.sensors.covariance import rotated
from jaguar_sensors_ros.sensors.imu import ImuCovariances
from jaguar_sensors_ros.types import (
    NS_PER_S,
    BaroSample,
    FaultLabel,
    GpsSample,
    ImuSample,
    MagSample,
    Vec3,
)

_STAMP = ['header.stamp.sec', 'header.stamp.nanosec']


def _vector(*paths: str) -> list[str]:
    return [f'{path}.{axis}' for path in paths for axis in 'xyz']


def _array(path: str, count: int) -> list[str]:
    return [f'{path}.{i}' for i in range(count)]


def _labels(faults: tuple[FaultLabel, ...]) -> Hashable:
    return tuple((fault.mode, fault.target) for fault in faults) if faults else ()


def _frame_alone(sample: GpsSample, frame_id: str) -> Hashable:
    return frame_id


def _twist_paths(sample: GpsSample, frame_id: str) -> list[str]:
    return [*_STAMP, *_vector('twist.twist.linear'), *_array('twist.covariance', 36)]


def _twist(t_ns: int, velocity: Vec3, covariance: tuple[float, ...]) -> tuple[float, ...]:
    return (*divmod(t_ns, NS_PER_S), *velocity, *twist_covariance(covariance))


class Encoders:
    """Makes an encoder for a topic.

    Parameters
    ----------
    writer : Writer
        Makes the ordinary messages.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def _encoder(self, write: Any, shape: Any, paths: Any, values: Any) -> Encoder:
        return Encoder(self._writer.types, write, shape, paths, values)

    def _error(self, write: Any, parts: list[str], values: Any) -> Encoder:
        """Return an encoder of errors, given by their paths, with the labels of the faults."""

        def shape(sample: Any, frame_id: str) -> Hashable:
            return frame_id, _labels(sample.faults)

        def paths(sample: Any, frame_id: str) -> list[str]:
            return [*_STAMP, *parts, *_array('fault_magnitudes', len(sample.faults))]

        return self._encoder(write, shape, paths, values)

    # ---------------------------------------------------------------------- IMU

    def imu(self) -> Encoder:
        """Return an encoder of sensor_msgs/Imu."""

        def shape(
            sample: ImuSample, covariances: ImuCovariances, frame_id: str, oriented: bool
        ) -> Hashable:
            return frame_id, covariances, oriented and sample.orientation is not None

        def paths(
            sample: ImuSample, covariances: ImuCovariances, frame_id: str, oriented: bool
        ) -> list[str]:
            turn = []
            if oriented and sample.orientation is not None and covariances.orientation is not None:
                turn = [*_vector('orientation'), 'orientation.w']
            return [*_STAMP, *turn, *_vector('angular_velocity', 'linear_acceleration')]

        def values(
            sample: ImuSample, covariances: ImuCovariances, frame_id: str, oriented: bool
        ) -> tuple[float, ...]:
            stamp, q = divmod(sample.t_ns, NS_PER_S), sample.orientation
            rate, force = sample.angular_velocity, sample.specific_force
            if not oriented or q is None or covariances.orientation is None:
                return (*stamp, *rate, *force)
            w, x, y, z = q
            return (*stamp, x, y, z, w, *rate, *force)

        return self._encoder(self._writer.imu, shape, paths, values)

    def increments(self) -> Encoder:
        """Return an encoder of ImuIncrements."""

        def shape(sample: ImuSample, frame_id: str) -> Hashable:
            return frame_id, len(sample.frame)

        def paths(sample: ImuSample, frame_id: str) -> list[str]:
            parts = range(len(sample.frame))
            return [
                *_STAMP,
                'dt',
                *_vector('delta_theta', 'delta_v'),
                *_vector(*(f'delta_theta_samples.{i}' for i in parts)),
                *_vector(*(f'delta_v_samples.{i}' for i in parts)),
                *_array('dt_samples', len(parts)),
            ]

        def values(sample: ImuSample, frame_id: str) -> tuple[float, ...]:
            stamp = divmod(sample.t_ns, NS_PER_S)
            if len(sample.frame) == 1:
                ((theta, velocity, dt_s),) = sample.frame
                return (*stamp, dt_s, *theta, *velocity, *theta, *velocity, dt_s)
            thetas = [part.delta_theta for part in sample.frame]
            velocities = [part.delta_v for part in sample.frame]
            durations = [part.dt_s for part in sample.frame]
            return (
                *stamp,
                sum(durations),
                *total(thetas),
                *total(velocities),
                *(x for theta in thetas for x in theta),
                *(x for velocity in velocities for x in velocity),
                *durations,
            )

        return self._encoder(self._writer.increments, shape, paths, values)

    def temperature(self) -> Encoder:
        """Return an encoder of sensor_msgs/Temperature."""
        return self._encoder(
            self._writer.temperature,
            lambda sample, frame_id: frame_id,
            lambda sample, frame_id: [*_STAMP, 'temperature'],
            lambda sample, frame_id: (*divmod(sample.t_ns, NS_PER_S), sample.temperature_c),
        )

    def imu_error(self) -> Encoder:
        """Return an encoder of ImuError."""
        parts = [f'{name}_{part}' for name in ('gyro', 'accel') for part in ERROR_PARTS]

        def values(sample: ImuSample, frame_id: str) -> tuple[float, ...]:
            return (
                *divmod(sample.t_ns, NS_PER_S),
                *chain(*sample.gyro_error, *sample.accel_error, sample.orientation_error),
                *[fault.magnitude for fault in sample.faults],
            )

        return self._error(
            self._writer.imu_error, _vector(*parts, 'orientation_total'), values
        )

    # ---------------------------------------------------------------------- GNSS

    def fix(self) -> Encoder:
        """Return an encoder of sensor_msgs/NavSatFix."""

        def values(sample: GpsSample, frame_id: str) -> tuple[float, ...]:
            return (
                *divmod(sample.t_ns, NS_PER_S),
                sample.latitude_deg,
                sample.longitude_deg,
                sample.height_m,
                *sample.position_covariance,
            )

        place = ['latitude', 'longitude', 'altitude']
        return self._encoder(
            self._writer.fix,
            lambda sample, frame_id: (frame_id, sample.fix_type),
            lambda sample, frame_id: [*_STAMP, *place, *_array('position_covariance', 9)],
            values,
        )

    def velocity_enu(self) -> Encoder:
        """Return an encoder of the velocity along east, north, up."""

        def values(sample: GpsSample, frame_id: str) -> tuple[float, ...]:
            return _twist(sample.t_ns, sample.v_enu, sample.velocity_covariance)

        return self._encoder(self._writer.velocity_enu, _frame_alone, _twist_paths, values)

    def velocity_body(self) -> Encoder:
        """Return an encoder of the velocity in the axes of the antenna."""

        def values(sample: GpsSample, frame_id: str) -> tuple[float, ...]:
            return _twist(sample.t_ns, sample.v_s, covariance_in_body(sample))

        return self._encoder(self._writer.velocity_body, _frame_alone, _twist_paths, values)

    def solution(self) -> Encoder:
        """Return an encoder of GnssSolution."""
        paths = [
            *_STAMP,
            'gps_week',
            'time_of_week',
            'fix_type',
            'satellites',
            *_vector('position', 'velocity'),
            *_array('position_covariance', 9),
            *_array('velocity_covariance', 9),
            'hdop',
            'vdop',
            'pdop',
        ]

        def values(sample: GpsSample, frame_id: str) -> tuple[float, ...]:
            C_el = transposed(sample.C_le)
            return (
                *divmod(sample.t_ns, NS_PER_S),
                sample.gps_week,
                sample.time_of_week_s,
                sample.fix_type,
                sample.satellites,
                *sample.p_e,
                *sample.v_e,
                *rotated(sample.position_covariance, C_el),
                *rotated(sample.velocity_covariance, C_el),
                sample.hdop,
                sample.vdop,
                sample.pdop,
            )

        return self._encoder(
            self._writer.solution, _frame_alone, lambda sample, frame_id: paths, values
        )

    def gnss_error(self) -> Encoder:
        """Return an encoder of GnssError."""
        # in the order of the message
        parts = ['position_noise', 'position_bias', 'position_fault', 'position_total',
                 'velocity_noise', 'velocity_fault', 'velocity_total']

        def values(sample: GpsSample, frame_id: str) -> tuple[float, ...]:
            position, velocity = sample.position_error, sample.velocity_error
            return (
                *divmod(sample.t_ns, NS_PER_S),
                *position.noise,
                *position.bias,
                *position.fault,
                *position.total,
                *velocity.noise,
                *velocity.fault,
                *velocity.total,
                *[fault.magnitude for fault in sample.faults],
            )

        return self._error(self._writer.gnss_error, _vector(*parts), values)

    # ------------------------------------------------------------ magnetometer, barometer

    def magnetic_field(self) -> Encoder:
        """Return an encoder of sensor_msgs/MagneticField."""
        return self._encoder(
            self._writer.magnetic_field,
            lambda sample, frame_id: (frame_id, sample.covariance),
            lambda sample, frame_id: [*_STAMP, *_vector('magnetic_field')],
            lambda sample, frame_id: (*divmod(sample.t_ns, NS_PER_S), *sample.field),
        )

    def mag_error(self) -> Encoder:
        """Return an encoder of MagError."""
        parts = [f'mag_{part}' for part in ERROR_PARTS]

        def values(sample: MagSample, frame_id: str) -> tuple[float, ...]:
            return (
                *divmod(sample.t_ns, NS_PER_S),
                *chain(*sample.error),
                *[fault.magnitude for fault in sample.faults],
            )

        return self._error(self._writer.mag_error, _vector(*parts), values)

    def pressure(self) -> Encoder:
        """Return an encoder of sensor_msgs/FluidPressure."""
        return self._encoder(
            self._writer.pressure,
            lambda sample, frame_id: frame_id,
            lambda sample, frame_id: [*_STAMP, 'fluid_pressure', 'variance'],
            lambda sample, frame_id: (
                *divmod(sample.t_ns, NS_PER_S), sample.pressure, sample.variance
            ),
        )

    def baro_error(self) -> Encoder:
        """Return an encoder of BaroError."""
        parts = [f'pressure_{part}' for part in ERROR_PARTS]

        def values(sample: BaroSample, frame_id: str) -> tuple[float, ...]:
            return (
                *divmod(sample.t_ns, NS_PER_S),
                sample.bias,
                sample.noise,
                sample.fault,
                sample.total,
                *[fault.magnitude for fault in sample.faults],
            )

        return self._error(self._writer.baro_error, parts, values)
