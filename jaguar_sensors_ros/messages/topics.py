"""What a sensor publishes: its topics, and which samples go out on each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from jaguar_sensors_ros.messages.encoder import Encoder
from jaguar_sensors_ros.messages.encoders import Encoders

EARTH_FRAME = 'earth'


@dataclass(frozen=True)
class Circumstances:
    """What belongs to the samples of a sensor besides their numbers.

    ``covariances`` are those of an IMU.  Frames carry their prefix.
    """

    frame_id: str
    velocity_frame_id: str = ''
    earth_frame_id: str = EARTH_FRAME
    covariances: Any = None


@dataclass(frozen=True)
class Topic:
    """A topic of a sensor.

    Parameters
    ----------
    name : str
        Below the name of the sensor.
    type_name : str
        Such as sensor_msgs/msg/Imu.
    encoder : callable
        Makes its encoder.
    arguments : callable
        Returns the arguments of the writer for a sample, or for columns.
    chosen : str
        Property of a sample, and of columns, that tells which samples go out; empty: all.
    beside : str
        Parameter with the name of the node that the topic lies below; empty: the sensor itself.
    """

    name: str
    type_name: str
    encoder: Callable[[Encoders], Encoder]
    arguments: Callable[[Any, Circumstances], tuple[Any, ...]]
    chosen: str = ''
    beside: str = ''

    def full_name(self, sensor: str, settings: Any) -> str:
        """Return its name for a sensor, given by name with namespace and no leading slash."""
        if self.beside:
            namespace, slash, _ = sensor.rpartition('/')
            sensor = f'{namespace}{slash}{getattr(settings, self.beside)}'
        return f'/{sensor}/{self.name}'


def _framed(sample: Any, c: Circumstances) -> tuple[Any, ...]:
    return sample, c.frame_id


_OWN = 'jaguar_sensors_msgs/msg/'
_TWIST = 'geometry_msgs/msg/TwistWithCovarianceStamped'

#: the topics of each type of sensor
TOPICS: dict[str, tuple[Topic, ...]] = {
    'imu': (
        Topic(
            'data',
            'sensor_msgs/msg/Imu',
            Encoders.imu,
            lambda sample, c: (sample, c.covariances, c.frame_id, True),
        ),
        Topic(
            'data_raw',
            'sensor_msgs/msg/Imu',
            Encoders.imu,
            lambda sample, c: (sample, c.covariances, c.frame_id, False),
        ),
        Topic('increments', f'{_OWN}ImuIncrements', Encoders.increments, _framed, 'has_frame'),
        Topic('temperature', 'sensor_msgs/msg/Temperature', Encoders.temperature, _framed),
        Topic('error', f'{_OWN}ImuError', Encoders.imu_error, _framed),
    ),
    'gps': (
        Topic('fix', 'sensor_msgs/msg/NavSatFix', Encoders.fix, _framed),
        # a twist cannot say that it is missing, and NaN harms filters
        Topic(
            'vel',
            _TWIST,
            Encoders.velocity_enu,
            lambda sample, c: (sample, c.velocity_frame_id),
            'has_fix',
        ),
        Topic('vel_body', _TWIST, Encoders.velocity_body, _framed, 'has_fix'),
        Topic(
            'solution',
            f'{_OWN}GnssSolution',
            Encoders.solution,
            lambda sample, c: (sample, c.earth_frame_id),
        ),
        Topic('error', f'{_OWN}GnssError', Encoders.gnss_error, _framed),
    ),
    'mag': (
        Topic(
            'mag',
            'sensor_msgs/msg/MagneticField',
            Encoders.magnetic_field,
            _framed,
            beside='imu_name',
        ),
        Topic('error', f'{_OWN}MagError', Encoders.mag_error, _framed),
    ),
    'baro': (
        Topic('pressure', 'sensor_msgs/msg/FluidPressure', Encoders.pressure, _framed),
        Topic('error', f'{_OWN}BaroError', Encoders.baro_error, _framed),
    ),
}
