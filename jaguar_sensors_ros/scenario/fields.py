"""What a row of a scenario can say: per sensor its outputs, and their columns with units.

An output is what one message carries.  Its columns come in groups, such as the three axes of a
vector; a group is given whole or not at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

#: what a row says: the numbers of each group that is given
Values = dict[str, tuple[float, ...]]

#: largest deviation of the norm of a quaternion from one
_NORM_TOLERANCE = 1e-3


@dataclass(frozen=True)
class Group:
    """Columns that belong together.

    ``kind`` is number, whole (a whole number that is not interpolated) or quaternion (w x y z).
    """

    name: str
    columns: tuple[str, ...]
    unit: str
    doc: str
    required: bool = False
    kind: str = 'number'
    minimum: float = -math.inf
    maximum: float = math.inf

    @cached_property
    def is_limited(self) -> bool:
        """Whether not all finite values are right."""
        limits = (self.minimum, self.maximum)
        return self.kind != 'number' or limits != (-math.inf, math.inf)

    def fault_of(self, values: tuple[float, ...]) -> tuple[int, str] | None:
        """Return which of the finite values is wrong and what it must be; None: all are right."""
        for i, value in enumerate(values):
            if not self.minimum <= value <= self.maximum:
                return i, f'must be {self.allowed()}'
            if self.kind == 'whole' and not value.is_integer():
                return i, f'must be {self.allowed()}'
        if self.kind == 'quaternion':
            norm = math.sqrt(sum(value * value for value in values))
            if abs(norm - 1.0) > _NORM_TOLERANCE:
                return 0, f'must begin a unit quaternion; its norm is {norm:.6g}'
        return None

    def allowed(self) -> str:
        """Say in words which values are accepted."""
        number = 'a whole number' if self.kind == 'whole' else 'a finite number'
        if self.kind == 'quaternion':
            number = 'a unit quaternion'
        if math.isfinite(self.maximum):
            return f'{number} from {self.minimum:g} to {self.maximum:g}'
        return f'{number} >= {self.minimum:g}' if math.isfinite(self.minimum) else number


@dataclass(frozen=True)
class Output:
    """What one message carries."""

    name: str
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class SensorFields:
    """A simulated sensor: its name in a file, its flag there, the node it is, its outputs."""

    name: str
    flag: int
    node: str
    outputs: tuple[Output, ...]

    def groups(self) -> Iterator[tuple[Output, Group]]:
        """Yield the groups in the order of the columns fld1, fld2, ..."""
        for output in self.outputs:
            for group in output.groups:
                yield output, group


def _axes(stem: str, axes: tuple[str, ...] = ('x', 'y', 'z')) -> tuple[str, ...]:
    return tuple(f'{stem}_{axis}' for axis in axes)


def _covariance(name: str, unit: str, doc: str) -> Group:
    columns = tuple(f'{name}_{i}' for i in range(9))
    return Group(name, columns, unit, f'Covariance of {doc}, row by row.')


_IMU = SensorFields(
    'imu_sim',
    9,
    'imu',
    (
        Output(
            'data',
            (
                Group('gyro', _axes('gyro'), 'rad/s', 'Angular velocity.', True),
                Group('accel', _axes('accel'), 'm/s2', 'Specific force.', True),
                Group(
                    'orientation',
                    _axes('orientation', ('w', 'x', 'y', 'z')),
                    '1',
                    'Orientation, takes the axes of the sensor to east north up.',
                    kind='quaternion',
                ),
                _covariance('gyro_covariance', '(rad/s)^2', 'the angular velocity'),
                _covariance('accel_covariance', '(m/s2)^2', 'the specific force'),
                _covariance('orientation_covariance', 'rad^2', 'the orientation'),
            ),
        ),
        Output(
            'temperature',
            (
                Group(
                    'temperature',
                    ('temperature',),
                    'degC',
                    'Temperature of the sensor.',
                    True,
                    minimum=-273.15,
                ),
                Group(
                    'temperature_variance',
                    ('temperature_variance',),
                    'degC^2',
                    'Variance of the temperature.',
                    minimum=0.0,
                ),
            ),
        ),
    ),
)

_GPS = SensorFields(
    'gps_sim',
    4,
    'gps',
    (
        Output(
            'fix',
            (
                Group('latitude', ('latitude',), 'deg', 'Latitude.', True, 'number', -90.0, 90.0),
                Group(
                    'longitude', ('longitude',), 'deg', 'Longitude.', True, 'number', -180.0, 180.0
                ),
                Group('altitude', ('altitude',), 'm', 'Height above the ellipsoid.', True),
                Group(
                    'status',
                    ('status',),
                    '1',
                    'Kind of fix as in NavSatStatus; -1: no fix, the position is left empty.',
                    kind='whole',
                    minimum=-2,
                    maximum=2,
                ),
                Group(
                    'service',
                    ('service',),
                    '1',
                    'Systems in use as in NavSatStatus.',
                    kind='whole',
                    minimum=0,
                    maximum=65535,
                ),
                _covariance('position_covariance', 'm^2', 'the position, east north up'),
                Group(
                    'position_covariance_type',
                    ('position_covariance_type',),
                    '1',
                    'Where the covariance comes from, as in NavSatFix.',
                    kind='whole',
                    minimum=0,
                    maximum=3,
                ),
            ),
        ),
        Output(
            'velocity',
            (
                Group(
                    'velocity',
                    _axes('velocity', ('east', 'north', 'up')),
                    'm/s',
                    'Velocity.',
                    True,
                ),
                _covariance('velocity_covariance', '(m/s)^2', 'the velocity'),
            ),
        ),
    ),
)

_BARO = SensorFields(
    'baro_sim',
    2,
    'baro',
    (
        Output(
            'pressure',
            (
                Group(
                    'pressure', ('pressure',), 'Pa', 'Static pressure.', True, minimum=0.0
                ),
                Group(
                    'pressure_variance',
                    ('pressure_variance',),
                    'Pa^2',
                    'Variance of the pressure.',
                    minimum=0.0,
                ),
            ),
        ),
    ),
)

_MAG = SensorFields(
    'mag_sim',
    16,
    'mag',
    (
        Output(
            'field',
            (
                Group('mag', _axes('mag'), 'T', 'Magnetic field.', True),
                _covariance('mag_covariance', 'T^2', 'the magnetic field'),
            ),
        ),
    ),
)

#: sensors by their name in a file; the flags are those of libsensors of Phoenix-RTOS (document
#: 004): accelerometer 1, barometer 2, GPS 4, gyroscope 8, magnetometer 16
SENSORS: dict[str, SensorFields] = {one.name: one for one in (_IMU, _GPS, _BARO, _MAG)}
#: the same by the name of the node
NODES: dict[str, SensorFields] = {one.node: one for one in SENSORS.values()}

#: groups that may be empty in a fix whose status says that there is none
POSITION = ('latitude', 'longitude', 'altitude')


def lacks_fix(values: Values) -> bool:
    """Tell whether the values say that there is no fix."""
    return values.get('status', (0.0,))[0] < 0.0
