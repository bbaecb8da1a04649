"""Samples into ROS messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import (
    Point,
    Quaternion,
    TransformStamped,
    TwistWithCovarianceStamped,
    Vector3,
)
from jaguar_sensors_msgs.msg import (
    BaroError,
    GnssError,
    GnssSolution,
    ImuError,
    ImuIncrements,
    MagError,
    RedundancyStatus,
)
from jaguar_sensors_msgs.msg import SensorState as SensorStateMsg
from sensor_msgs.msg import FluidPressure, Imu, MagneticField, NavSatFix, Temperature
from std_msgs.msg import Header

from jaguar_sensors_ros.nav.rotation import add, matrix_from_quat, quat_conjugate
from jaguar_sensors_ros.redundancy.reading import Reading
from jaguar_sensors_ros.redundancy.voting import Vote
from jaguar_sensors_ros.ros import compat
from jaguar_sensors_ros.sensors.base import Status
from jaguar_sensors_ros.sensors.covariance import VARIANCE_FLOOR, rotated
from jaguar_sensors_ros.sensors.imu import ImuCovariances
from jaguar_sensors_ros.types import (
    NS_PER_S,
    BaroSample,
    FaultLabel,
    FixType,
    GpsSample,
    ImuSample,
    MagSample,
    Mat3,
    Quat,
    Vec3,
)

_NAV_SAT_STATUS = {
    FixType.NONE: compat.STATUS_NO_FIX,
    FixType.SINGLE: compat.STATUS_FIX,
    FixType.SBAS: compat.STATUS_SBAS,
    FixType.RTK_FLOAT: compat.STATUS_GBAS,
    FixType.RTK_FIXED: compat.STATUS_GBAS,
}
#: covariance of the rotation that a receiver does not measure, for TwistWithCovariance
_ROTATION_VARIANCE = 1e6
_NO_ORIENTATION = (-1.0, *(0.0,) * 8)
#: parts of the error of a channel that messages carry
ERROR_PARTS = ('bias', 'noise', 'fault', 'total')


def time(t_ns: int) -> Time:
    """Return nanoseconds as builtin_interfaces/Time."""
    sec, nanosec = divmod(t_ns, NS_PER_S)
    return Time(sec=sec, nanosec=nanosec)


def header(t_ns: int, frame_id: str) -> Header:
    """Return a header."""
    return Header(stamp=time(t_ns), frame_id=frame_id)


def vector(a: Vec3) -> Vector3:
    """Return a Vector3."""
    return Vector3(x=a[0], y=a[1], z=a[2])


def quaternion(q: Quat) -> Quaternion:
    """Return a Quaternion, whose order is x, y, z, w."""
    return Quaternion(w=q[0], x=q[1], y=q[2], z=q[3])


# ---------------------------------------------------------------------- IMU


def imu(
    sample: ImuSample | Reading, covariances: ImuCovariances, frame_id: str, oriented: bool
) -> Imu:
    """Return sensor_msgs/Imu; without orientation its covariance starts with -1."""
    message = Imu()
    message.header = header(sample.t_ns, frame_id)
    message.angular_velocity = vector(sample.angular_velocity)
    message.linear_acceleration = vector(sample.specific_force)
    message.angular_velocity_covariance = covariances.angular_velocity
    message.linear_acceleration_covariance = covariances.linear_acceleration
    if oriented and sample.orientation is not None and covariances.orientation is not None:
        message.orientation = quaternion(sample.orientation)
        message.orientation_covariance = covariances.orientation
    else:
        message.orientation_covariance = _NO_ORIENTATION
    return message


def redundancy(
    vote: Vote, names: Iterable[str], t_ns: int, frame_id: str, method: str
) -> RedundancyStatus:
    """Return what a voter made of its inputs."""
    message = RedundancyStatus()
    message.header = header(t_ns, frame_id)
    message.method = method
    message.valid = vote.fused is not None
    message.inputs = list(names)
    message.used = list(vote.used)
    message.reasons = list(vote.reasons)
    message.gyro_residual = list(vote.gyro_residual)
    message.accel_residual = list(vote.accel_residual)
    return message


def increments(sample: ImuSample, frame_id: str) -> ImuIncrements:
    """Return the increments frame that ends with the sample."""
    message = ImuIncrements()
    message.header = header(sample.t_ns, frame_id)
    subs = sample.frame
    message.dt = sum(sub.dt_s for sub in subs)
    message.delta_theta = vector(total([sub.delta_theta for sub in subs]))
    message.delta_v = vector(total([sub.delta_v for sub in subs]))
    message.delta_theta_samples = [vector(sub.delta_theta) for sub in subs]
    message.delta_v_samples = [vector(sub.delta_v) for sub in subs]
    message.dt_samples = [sub.dt_s for sub in subs]
    return message


def temperature(sample: ImuSample, frame_id: str) -> Temperature:
    """Return the temperature of the sensor, which is known exactly."""
    return Temperature(
        header=header(sample.t_ns, frame_id),
        temperature=sample.temperature_c,
        variance=VARIANCE_FLOOR,
    )


def imu_error(sample: ImuSample, frame_id: str) -> ImuError:
    """Return what was added to the ideal sample."""
    message = ImuError()
    message.header = header(sample.t_ns, frame_id)
    for name, error in (('gyro', sample.gyro_error), ('accel', sample.accel_error)):
        for part in ERROR_PARTS:
            setattr(message, f'{name}_{part}', vector(getattr(error, part)))
    message.orientation_total = vector(sample.orientation_error)
    _label(message, sample.faults)
    return message


def total(vectors: list[Vec3]) -> Vec3:
    """Return the sum of increments."""
    first, *others = vectors
    for other in others:
        first = add(first, other)
    return first


def _label(message: Any, faults: Iterable[FaultLabel]) -> None:
    faults = list(faults)
    message.fault_modes = [fault.mode for fault in faults]
    message.fault_targets = [fault.target for fault in faults]
    message.fault_magnitudes = [fault.magnitude for fault in faults]


# ---------------------------------------------------------------------- GNSS


def fix(sample: GpsSample, frame_id: str) -> NavSatFix:
    """Return sensor_msgs/NavSatFix; without a fix NaN, NO_FIX and covariance type unknown."""
    message = NavSatFix()
    message.header = header(sample.t_ns, frame_id)
    message.status.status = _NAV_SAT_STATUS[sample.fix_type]
    message.status.service = compat.SERVICE_GPS
    message.latitude = sample.latitude_deg
    message.longitude = sample.longitude_deg
    message.altitude = sample.height_m
    message.position_covariance = sample.position_covariance
    message.position_covariance_type = (
        NavSatFix.COVARIANCE_TYPE_KNOWN if sample.has_fix else NavSatFix.COVARIANCE_TYPE_UNKNOWN
    )
    return message


def velocity_enu(sample: GpsSample, frame_id: str) -> TwistWithCovarianceStamped:
    """Return the velocity along east, north, up."""
    return _twist(sample.t_ns, frame_id, sample.v_enu, sample.velocity_covariance)


def velocity_body(sample: GpsSample, frame_id: str) -> TwistWithCovarianceStamped:
    """Return the velocity of the antenna in its own axes."""
    return _twist(sample.t_ns, frame_id, sample.v_s, covariance_in_body(sample))


def covariance_in_body(sample: GpsSample) -> tuple[float, ...]:
    """Return the covariance of the velocity in the axes of the antenna."""
    C_sn = matrix_from_quat(quat_conjugate(sample.q_ns))
    return rotated(sample.velocity_covariance, C_sn)


def _twist(
    t_ns: int, frame_id: str, velocity: Vec3, covariance: tuple[float, ...]
) -> TwistWithCovarianceStamped:
    message = TwistWithCovarianceStamped()
    message.header = header(t_ns, frame_id)
    message.twist.twist.linear = vector(velocity)
    message.twist.covariance = twist_covariance(covariance)
    return message


def twist_covariance(covariance: tuple[float, ...]) -> list[float]:
    """Return the 6x6 covariance of a twist of which the velocity alone is measured."""
    full = [0.0] * 36
    for i in range(3):
        full[6 * i : 6 * i + 3] = covariance[3 * i : 3 * i + 3]
        full[7 * (i + 3)] = _ROTATION_VARIANCE
    return full


def solution(sample: GpsSample, frame_id: str) -> GnssSolution:
    """Return the solution in ECEF."""
    message = GnssSolution()
    message.header = header(sample.t_ns, frame_id)
    message.gps_week = sample.gps_week
    message.time_of_week = sample.time_of_week_s
    message.fix_type = int(sample.fix_type)
    message.satellites = sample.satellites
    x, y, z = sample.p_e
    message.position = Point(x=x, y=y, z=z)
    message.velocity = vector(sample.v_e)
    C_el = transposed(sample.C_le)
    message.position_covariance = rotated(sample.position_covariance, C_el)
    message.velocity_covariance = rotated(sample.velocity_covariance, C_el)
    message.hdop, message.vdop, message.pdop = sample.hdop, sample.vdop, sample.pdop
    return message


def gnss_error(sample: GpsSample, frame_id: str) -> GnssError:
    """Return what was added to the ideal fix."""
    message = GnssError()
    message.header = header(sample.t_ns, frame_id)
    position, velocity = sample.position_error, sample.velocity_error
    for part in ERROR_PARTS:
        setattr(message, f'position_{part}', vector(getattr(position, part)))
    for part in ('noise', 'fault', 'total'):
        setattr(message, f'velocity_{part}', vector(getattr(velocity, part)))
    _label(message, sample.faults)
    return message


def transposed(m: Mat3) -> Mat3:
    """Return a matrix with rows and columns exchanged."""
    (a, b, c), (d, e, f), (g, h, i) = m
    return ((a, d, g), (b, e, h), (c, f, i))


# ---------------------------------------------------------------------- magnetometer, barometer


def magnetic_field(sample: MagSample, frame_id: str) -> MagneticField:
    """Return sensor_msgs/MagneticField."""
    message = MagneticField()
    message.header = header(sample.t_ns, frame_id)
    message.magnetic_field = vector(sample.field)
    message.magnetic_field_covariance = sample.covariance
    return message


def mag_error(sample: MagSample, frame_id: str) -> MagError:
    """Return what was added to the ideal sample."""
    message = MagError()
    message.header = header(sample.t_ns, frame_id)
    for part in ERROR_PARTS:
        setattr(message, f'mag_{part}', vector(getattr(sample.error, part)))
    _label(message, sample.faults)
    return message


def pressure(sample: BaroSample, frame_id: str) -> FluidPressure:
    """Return sensor_msgs/FluidPressure."""
    return FluidPressure(
        header=header(sample.t_ns, frame_id),
        fluid_pressure=sample.pressure,
        variance=sample.variance,
    )


def baro_error(sample: BaroSample, frame_id: str) -> BaroError:
    """Return what was added to the ideal sample."""
    message = BaroError()
    message.header = header(sample.t_ns, frame_id)
    for part in ERROR_PARTS:
        setattr(message, f'pressure_{part}', getattr(sample, part))
    _label(message, sample.faults)
    return message


# ---------------------------------------------------------------------- all


def state(
    name: str, type_name: str, status: Status, frame_id: str, now_ns: int
) -> SensorStateMsg:
    """Return what a sensor says of itself; stamped ``now_ns`` while nothing was measured."""
    message = SensorStateMsg()
    message.header = header(now_ns if status.t_ns is None else status.t_ns, frame_id)
    message.name = name
    message.type = type_name
    message.state = int(status.state)
    message.state_name = status.state.name.capitalize()
    message.causes = list(status.causes)
    message.fidelity = status.fidelity.value
    message.faults = list(status.faults)
    message.uptime = status.uptime_s
    message.sample_count = status.sample_count
    message.valid = status.valid
    message.confidence = status.confidence
    return message


def transform(
    t_ns: int, parent: str, child: str, position: Vec3, q: Quat
) -> TransformStamped:
    """Return the pose of ``child`` in ``parent``."""
    message = TransformStamped()
    message.header = header(t_ns, parent)
    message.child_frame_id = child
    message.transform.translation = vector(position)
    message.transform.rotation = quaternion(q)
    return message
