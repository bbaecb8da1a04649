"""Samples into ROS messages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jaguar_sensors_ros.messages.types import MessageTypes
from jaguar_sensors_ros.nav.columns import matrix_from_quat as matrices_from_quats
from jaguar_sensors_ros.nav.rotation import add, matrix_from_quat, quat_conjugate
from jaguar_sensors_ros.redundancy.reading import Reading
from jaguar_sensors_ros.redundancy.voting import Vote
from jaguar_sensors_ros.sensors.base import Status
from jaguar_sensors_ros.sensors.covariance import VARIANCE_FLOOR, rotated
from jaguar_sensors_ros.sensors.imu import ImuCovariances
from jaguar_sensors_ros.types import (
    IDENTITY_QUAT,
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

#: NavSatStatus.status, the same in all releases; UNKNOWN, which some have, is not used
_NAV_SAT_STATUS = {
    FixType.NONE: 'STATUS_NO_FIX',
    FixType.SINGLE: 'STATUS_FIX',
    FixType.SBAS: 'STATUS_SBAS_FIX',
    FixType.RTK_FLOAT: 'STATUS_GBAS_FIX',
    FixType.RTK_FIXED: 'STATUS_GBAS_FIX',
}
#: covariance of the rotation that a receiver does not measure, for TwistWithCovariance
_ROTATION_VARIANCE = 1e6
_NO_ORIENTATION = (-1.0, *(0.0,) * 8)
#: parts of the error of a channel that messages carry
ERROR_PARTS = ('bias', 'noise', 'fault', 'total')


class Writer:
    """Makes messages of samples.

    Parameters
    ----------
    types : MessageTypes
        Where the classes of messages come from.
    """

    def __init__(self, types: MessageTypes) -> None:
        self.types = types
        of = types.of
        self.Time = of('builtin_interfaces/msg/Time')
        self.Header = of('std_msgs/msg/Header')
        self.Point = of('geometry_msgs/msg/Point')
        self.Quaternion = of('geometry_msgs/msg/Quaternion')
        self.TransformStamped = of('geometry_msgs/msg/TransformStamped')
        self.TwistWithCovarianceStamped = of('geometry_msgs/msg/TwistWithCovarianceStamped')
        self.Vector3 = of('geometry_msgs/msg/Vector3')
        self.FluidPressure = of('sensor_msgs/msg/FluidPressure')
        self.Imu = of('sensor_msgs/msg/Imu')
        self.MagneticField = of('sensor_msgs/msg/MagneticField')
        self.NavSatFix = of('sensor_msgs/msg/NavSatFix')
        self.NavSatStatus = of('sensor_msgs/msg/NavSatStatus')
        self.Temperature = of('sensor_msgs/msg/Temperature')
        self.BaroError = of('jaguar_sensors_msgs/msg/BaroError')
        self.GnssError = of('jaguar_sensors_msgs/msg/GnssError')
        self.GnssSolution = of('jaguar_sensors_msgs/msg/GnssSolution')
        self.ImuError = of('jaguar_sensors_msgs/msg/ImuError')
        self.ImuIncrements = of('jaguar_sensors_msgs/msg/ImuIncrements')
        self.MagError = of('jaguar_sensors_msgs/msg/MagError')
        self.RedundancyStatus = of('jaguar_sensors_msgs/msg/RedundancyStatus')
        self.SensorState = of('jaguar_sensors_msgs/msg/SensorState')

    def time(self, t_ns: int) -> Any:
        """Return nanoseconds as builtin_interfaces/Time."""
        sec, nanosec = divmod(t_ns, NS_PER_S)
        return self.Time(sec=sec, nanosec=nanosec)

    def header(self, t_ns: int, frame_id: str) -> Any:
        """Return a header."""
        return self.Header(stamp=self.time(t_ns), frame_id=frame_id)

    def vector(self, a: Vec3) -> Any:
        """Return a Vector3."""
        return self.Vector3(x=a[0], y=a[1], z=a[2])

    def quaternion(self, q: Quat) -> Any:
        """Return a Quaternion, whose order is x, y, z, w."""
        return self.Quaternion(w=q[0], x=q[1], y=q[2], z=q[3])

    # ---------------------------------------------------------------------- IMU

    def imu(
        self,
        sample: ImuSample | Reading,
        covariances: ImuCovariances,
        frame_id: str,
        oriented: bool,
    ) -> Any:
        """Return sensor_msgs/Imu; without orientation its covariance starts with -1."""
        message = self.Imu()
        message.header = self.header(sample.t_ns, frame_id)
        message.angular_velocity = self.vector(sample.angular_velocity)
        message.linear_acceleration = self.vector(sample.specific_force)
        message.angular_velocity_covariance = covariances.angular_velocity
        message.linear_acceleration_covariance = covariances.linear_acceleration
        if oriented and sample.orientation is not None and covariances.orientation is not None:
            message.orientation = self.quaternion(sample.orientation)
            message.orientation_covariance = covariances.orientation
        else:
            message.orientation = self.quaternion(IDENTITY_QUAT)
            message.orientation_covariance = _NO_ORIENTATION
        return message

    def redundancy(
        self, vote: Vote, names: Iterable[str], t_ns: int, frame_id: str, method: str
    ) -> Any:
        """Return what a voter made of its inputs."""
        message = self.RedundancyStatus()
        message.header = self.header(t_ns, frame_id)
        message.method = method
        message.valid = vote.fused is not None
        message.inputs = list(names)
        message.used = list(vote.used)
        message.reasons = list(vote.reasons)
        message.gyro_residual = list(vote.gyro_residual)
        message.accel_residual = list(vote.accel_residual)
        return message

    def increments(self, sample: ImuSample, frame_id: str) -> Any:
        """Return the increments frame that ends with the sample."""
        message = self.ImuIncrements()
        message.header = self.header(sample.t_ns, frame_id)
        subs = sample.frame
        message.dt = sum(sub.dt_s for sub in subs)
        message.delta_theta = self.vector(total([sub.delta_theta for sub in subs]))
        message.delta_v = self.vector(total([sub.delta_v for sub in subs]))
        message.delta_theta_samples = [self.vector(sub.delta_theta) for sub in subs]
        message.delta_v_samples = [self.vector(sub.delta_v) for sub in subs]
        message.dt_samples = [sub.dt_s for sub in subs]
        return message

    def temperature(self, sample: ImuSample, frame_id: str) -> Any:
        """Return the temperature of the sensor, which is known exactly."""
        return self.Temperature(
            header=self.header(sample.t_ns, frame_id),
            temperature=sample.temperature_c,
            variance=VARIANCE_FLOOR,
        )

    def imu_error(self, sample: ImuSample, frame_id: str) -> Any:
        """Return what was added to the ideal sample."""
        message = self.ImuError()
        message.header = self.header(sample.t_ns, frame_id)
        for name, error in (('gyro', sample.gyro_error), ('accel', sample.accel_error)):
            for part in ERROR_PARTS:
                setattr(message, f'{name}_{part}', self.vector(getattr(error, part)))
        message.orientation_total = self.vector(sample.orientation_error)
        self._label(message, sample.faults)
        return message

    def _label(self, message: Any, faults: Iterable[FaultLabel]) -> None:
        faults = list(faults)
        message.fault_modes = [fault.mode for fault in faults]
        message.fault_targets = [fault.target for fault in faults]
        message.fault_magnitudes = [fault.magnitude for fault in faults]

    # ---------------------------------------------------------------------- GNSS

    def fix(self, sample: GpsSample, frame_id: str) -> Any:
        """Return sensor_msgs/NavSatFix; without a fix NaN, NO_FIX and covariance type unknown."""
        message = self.NavSatFix()
        message.header = self.header(sample.t_ns, frame_id)
        message.status.status = getattr(self.NavSatStatus, _NAV_SAT_STATUS[sample.fix_type])
        message.status.service = self.NavSatStatus.SERVICE_GPS
        message.latitude = sample.latitude_deg
        message.longitude = sample.longitude_deg
        message.altitude = sample.height_m
        message.position_covariance = sample.position_covariance
        kind = self.NavSatFix
        message.position_covariance_type = (
            kind.COVARIANCE_TYPE_KNOWN if sample.has_fix else kind.COVARIANCE_TYPE_UNKNOWN
        )
        return message

    def velocity_enu(self, sample: GpsSample, frame_id: str) -> Any:
        """Return the velocity along east, north, up."""
        return self._twist(sample.t_ns, frame_id, sample.v_enu, sample.velocity_covariance)

    def velocity_body(self, sample: GpsSample, frame_id: str) -> Any:
        """Return the velocity of the antenna in its own axes."""
        return self._twist(sample.t_ns, frame_id, sample.v_s, covariance_in_body(sample))

    def _twist(
        self, t_ns: int, frame_id: str, velocity: Vec3, covariance: tuple[float, ...]
    ) -> Any:
        message = self.TwistWithCovarianceStamped()
        message.header = self.header(t_ns, frame_id)
        message.twist.twist.linear = self.vector(velocity)
        message.twist.covariance = twist_covariance(covariance)
        return message

    def solution(self, sample: GpsSample, frame_id: str) -> Any:
        """Return the solution in ECEF."""
        message = self.GnssSolution()
        message.header = self.header(sample.t_ns, frame_id)
        message.gps_week = sample.gps_week
        message.time_of_week = sample.time_of_week_s
        message.fix_type = int(sample.fix_type)
        message.satellites = sample.satellites
        x, y, z = sample.p_e
        message.position = self.Point(x=x, y=y, z=z)
        message.velocity = self.vector(sample.v_e)
        C_el = transposed(sample.C_le)
        message.position_covariance = rotated(sample.position_covariance, C_el)
        message.velocity_covariance = rotated(sample.velocity_covariance, C_el)
        message.hdop, message.vdop, message.pdop = sample.hdop, sample.vdop, sample.pdop
        return message

    def gnss_error(self, sample: GpsSample, frame_id: str) -> Any:
        """Return what was added to the ideal fix."""
        message = self.GnssError()
        message.header = self.header(sample.t_ns, frame_id)
        position, velocity = sample.position_error, sample.velocity_error
        for part in ERROR_PARTS:
            setattr(message, f'position_{part}', self.vector(getattr(position, part)))
        for part in ('noise', 'fault', 'total'):
            setattr(message, f'velocity_{part}', self.vector(getattr(velocity, part)))
        self._label(message, sample.faults)
        return message

    # ------------------------------------------------------------ magnetometer, barometer

    def magnetic_field(self, sample: MagSample, frame_id: str) -> Any:
        """Return sensor_msgs/MagneticField."""
        message = self.MagneticField()
        message.header = self.header(sample.t_ns, frame_id)
        message.magnetic_field = self.vector(sample.field)
        message.magnetic_field_covariance = sample.covariance
        return message

    def mag_error(self, sample: MagSample, frame_id: str) -> Any:
        """Return what was added to the ideal sample."""
        message = self.MagError()
        message.header = self.header(sample.t_ns, frame_id)
        for part in ERROR_PARTS:
            setattr(message, f'mag_{part}', self.vector(getattr(sample.error, part)))
        self._label(message, sample.faults)
        return message

    def pressure(self, sample: BaroSample, frame_id: str) -> Any:
        """Return sensor_msgs/FluidPressure."""
        return self.FluidPressure(
            header=self.header(sample.t_ns, frame_id),
            fluid_pressure=sample.pressure,
            variance=sample.variance,
        )

    def baro_error(self, sample: BaroSample, frame_id: str) -> Any:
        """Return what was added to the ideal sample."""
        message = self.BaroError()
        message.header = self.header(sample.t_ns, frame_id)
        for part in ERROR_PARTS:
            setattr(message, f'pressure_{part}', getattr(sample, part))
        self._label(message, sample.faults)
        return message

    # ---------------------------------------------------------------------- all

    def state(
        self, name: str, type_name: str, status: Status, frame_id: str, now_ns: int
    ) -> Any:
        """Return what a sensor says of itself; stamped ``now_ns`` while nothing was measured."""
        message = self.SensorState()
        message.header = self.header(now_ns if status.t_ns is None else status.t_ns, frame_id)
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
        self, t_ns: int, parent: str, child: str, position: Vec3, q: Quat
    ) -> Any:
        """Return the pose of ``child`` in ``parent``."""
        message = self.TransformStamped()
        message.header = self.header(t_ns, parent)
        message.child_frame_id = child
        message.transform.translation = self.vector(position)
        message.transform.rotation = self.quaternion(q)
        return message


def total(vectors: list[Vec3]) -> Vec3:
    """Return the sum of increments."""
    first, *others = vectors
    for other in others:
        first = add(first, other)
    return first


def covariance_in_body(sample: GpsSample) -> tuple[float, ...]:
    """Return the covariance of the velocity in the axes of the antenna; of columns, columns."""
    q_sn = quat_conjugate(sample.q_ns)
    C_sn: Mat3 = (matrix_from_quat if isinstance(q_sn[0], float) else matrices_from_quats)(q_sn)
    return rotated(sample.velocity_covariance, C_sn)


def twist_covariance(covariance: tuple[float, ...]) -> list[float]:
    """Return the 6x6 covariance of a twist of which the velocity alone is measured."""
    full = [0.0] * 36
    for i in range(3):
        full[6 * i : 6 * i + 3] = covariance[3 * i : 3 * i + 3]
        full[7 * (i + 3)] = _ROTATION_VARIANCE
    return full


def transposed(m: Mat3) -> Mat3:
    """Return a matrix with rows and columns exchanged."""
    (a, b, c), (d, e, f), (g, h, i) = m
    return ((a, d, g), (b, e, h), (c, f, i))
