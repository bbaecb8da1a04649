"""Messages of played sensors, and back: what live messages say as rows of a scenario."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, cast

from geometry_msgs.msg import TwistWithCovarianceStamped
from jaguar_sensors_msgs.msg import ImuIncrements
from sensor_msgs.msg import (
    FluidPressure,
    Imu,
    MagneticField,
    NavSatFix,
    NavSatStatus,
    Temperature,
)

from jaguar_sensors_ros.messages.writer import twist_covariance
from jaguar_sensors_ros.ros.wire import writer
from jaguar_sensors_ros.scenario.fields import POSITION, Values, lacks_fix
from jaguar_sensors_ros.sensors.imu import ImuCovariances
from jaguar_sensors_ros.types import (
    ZERO3,
    ChannelError,
    ImuSample,
    ImuSubSample,
    Quat,
    Vec3,
)

_UNKNOWN = (0.0,) * 9
_NO_ERROR = ChannelError(ZERO3, ZERO3, ZERO3, ZERO3)


def _imu_sample(t_ns: int, values: Values, frame: tuple[ImuSubSample, ...]) -> ImuSample:
    return ImuSample(
        t_ns,
        0,
        cast(Vec3, values.get('gyro', ZERO3)),
        cast(Vec3, values.get('accel', ZERO3)),
        cast('Quat | None', values.get('orientation')),
        frame,
        _NO_ERROR,
        _NO_ERROR,
        ZERO3,
        values.get('temperature', (0.0,))[0],
    )


def imu(t_ns: int, values: Values, frame_id: str, oriented: bool) -> Imu:
    """Return sensor_msgs/Imu; a covariance that is not given is zero, which means unknown."""
    turn = values.get('orientation_covariance', _UNKNOWN) if 'orientation' in values else None
    covariances = ImuCovariances(
        turn,
        values.get('gyro_covariance', _UNKNOWN),
        values.get('accel_covariance', _UNKNOWN),
    )
    return writer.imu(_imu_sample(t_ns, values, ()), covariances, frame_id, oriented)


def increments(t_ns: int, sub: ImuSubSample, frame_id: str) -> ImuIncrements:
    """Return the increments of one interval."""
    return writer.increments(_imu_sample(t_ns, {}, (sub,)), frame_id)


def temperature(t_ns: int, values: Values, frame_id: str) -> Temperature:
    """Return sensor_msgs/Temperature."""
    message = writer.temperature(_imu_sample(t_ns, values, ()), frame_id)
    message.variance = values.get('temperature_variance', (0.0,))[0]
    return message


def fix(t_ns: int, values: Values, frame_id: str) -> NavSatFix:
    """Return sensor_msgs/NavSatFix; without a fix the position is NaN."""
    message, kind = NavSatFix(), NavSatStatus
    message.header = writer.header(t_ns, frame_id)
    message.status.status = int(values.get('status', (kind.STATUS_FIX,))[0])
    message.status.service = int(values.get('service', (kind.SERVICE_GPS,))[0])
    for name in POSITION:
        setattr(message, name, values.get(name, (math.nan,))[0])
    covariance = values.get('position_covariance')
    known = NavSatFix.COVARIANCE_TYPE_UNKNOWN
    if covariance is not None:
        known = NavSatFix.COVARIANCE_TYPE_KNOWN
        message.position_covariance = covariance
    message.position_covariance_type = int(values.get('position_covariance_type', (known,))[0])
    return message


def velocity(t_ns: int, values: Values, frame_id: str) -> TwistWithCovarianceStamped:
    """Return the velocity along east, north, up."""
    message = TwistWithCovarianceStamped()
    message.header = writer.header(t_ns, frame_id)
    message.twist.twist.linear = writer.vector(cast(Vec3, values['velocity']))
    covariance = values.get('velocity_covariance', _UNKNOWN)
    message.twist.covariance = twist_covariance(covariance)
    return message


def pressure(t_ns: int, values: Values, frame_id: str) -> FluidPressure:
    """Return sensor_msgs/FluidPressure; a variance that is not given is zero: unknown."""
    return FluidPressure(
        header=writer.header(t_ns, frame_id),
        fluid_pressure=values['pressure'][0],
        variance=values.get('pressure_variance', (0.0,))[0],
    )


def field(t_ns: int, values: Values, frame_id: str) -> MagneticField:
    """Return sensor_msgs/MagneticField; a covariance that is not given is zero: unknown."""
    return MagneticField(
        header=writer.header(t_ns, frame_id),
        magnetic_field=writer.vector(cast(Vec3, values['mag'])),
        magnetic_field_covariance=values.get('mag_covariance', _UNKNOWN),
    )


# ---------------------------------------------------------------------- and back


def _xyz(vector: Any) -> tuple[float, ...]:
    return (vector.x, vector.y, vector.z)


def _matrix(covariance: Any) -> tuple[float, ...]:
    return tuple(map(float, covariance))


def _of_imu(message: Any) -> Values:
    values = {
        'gyro': _xyz(message.angular_velocity),
        'accel': _xyz(message.linear_acceleration),
        'gyro_covariance': _matrix(message.angular_velocity_covariance),
        'accel_covariance': _matrix(message.linear_acceleration_covariance),
    }
    if message.orientation_covariance[0] != -1.0:
        q = message.orientation
        values['orientation'] = (q.w, q.x, q.y, q.z)
        values['orientation_covariance'] = _matrix(message.orientation_covariance)
    return values


def _of_temperature(message: Any) -> Values:
    return {
        'temperature': (message.temperature,),
        'temperature_variance': (message.variance,),
    }


def _of_fix(message: Any) -> Values:
    values: Values = {
        'status': (float(message.status.status),),
        'service': (float(message.status.service),),
        'position_covariance': _matrix(message.position_covariance),
        'position_covariance_type': (float(message.position_covariance_type),),
    }
    if not lacks_fix(values):
        values.update({name: (getattr(message, name),) for name in POSITION})
    return values


def _of_velocity(message: Any) -> Values:
    full = message.twist.covariance
    return {
        'velocity': _xyz(message.twist.twist.linear),
        'velocity_covariance': _matrix([full[6 * i + j] for i in range(3) for j in range(3)]),
    }


def _of_pressure(message: Any) -> Values:
    return {'pressure': (message.fluid_pressure,), 'pressure_variance': (message.variance,)}


def _of_field(message: Any) -> Values:
    return {
        'mag': _xyz(message.magnetic_field),
        'mag_covariance': _matrix(message.magnetic_field_covariance),
    }


class Recorded(NamedTuple):
    """A message type that can be recorded: what it becomes, and where a live node has it.

    ``topic`` is put behind the name of the node of the sensor.
    """

    kind: Any
    sensor: str
    output: str
    topic: str
    read: Callable[[Any], Values]


RECORDED: tuple[Recorded, ...] = (
    Recorded(Imu, 'imu_sim', 'data', 'imu/data', _of_imu),
    Recorded(Temperature, 'imu_sim', 'temperature', 'imu/temperature', _of_temperature),
    Recorded(NavSatFix, 'gps_sim', 'fix', 'gps/fix', _of_fix),
    Recorded(TwistWithCovarianceStamped, 'gps_sim', 'velocity', 'gps/vel', _of_velocity),
    Recorded(FluidPressure, 'baro_sim', 'pressure', 'baro/pressure', _of_pressure),
    Recorded(MagneticField, 'mag_sim', 'field', 'imu/mag', _of_field),
)
