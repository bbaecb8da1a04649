"""What flows through the package: truth samples, sensor samples, states.

Vectors are tuples of three floats, quaternions tuples of four floats in the order
w, x, y, z (scalar first, as in transforms3d); ROS messages carry x, y, z, w and are converted
at the boundary.  Time is integer nanoseconds.  Everything is SI.  What is made at every sample
is a NamedTuple, which costs a quarter of a frozen dataclass.  Frame letters are explained
on the conventions page (:mod:`jaguar_sensors_ros`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple, Protocol

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]
Mat3 = tuple[Vec3, Vec3, Vec3]

ZERO3: Vec3 = (0.0, 0.0, 0.0)
IDENTITY_QUAT: Quat = (1.0, 0.0, 0.0, 0.0)
NS_PER_S = 1_000_000_000


class JaguarError(ValueError):
    """Bad input; the text names what was wrong and what is allowed."""


class Fidelity(Enum):
    """How much of reality a sensor shows (document 001, section 5)."""

    TRANSPARENT = 'transparent'
    REALISTIC = 'realistic'
    FAULT = 'fault'


class SensorState(IntEnum):
    """Operational state of a sensor (document 000); values as in SensorState.msg."""

    OFF = 0
    INITIALIZING = 1
    READY = 2
    DEGRADED = 3
    FAILED = 4


class FixType(IntEnum):
    """Kind of a GNSS fix; values as in GnssSolution.msg."""

    NONE = 0
    SINGLE = 1
    SBAS = 2
    RTK_FLOAT = 3
    RTK_FIXED = 4


#: ``new(ImuSample, (t_ns, ...))`` is ``ImuSample(t_ns, ...)`` in half the time, without a look at
#: the number of fields: for what is made at every sample
new = tuple.__new__


class TruthSample(NamedTuple):
    """The true motion of the body at one instant.

    Parameters
    ----------
    t_ns : int
        Time [ns] in the time base of the truth.
    p_n : Vec3
        Position of the body origin in n (local tangent ENU frame at the origin) [m].
    q_nb : Quat
        Unit quaternion w, x, y, z that takes b (body, FLU) to n.
    v_nb_b : Vec3
        Velocity of the body origin over n, resolved in b [m/s].
    omega_nb_b : Vec3
        Angular velocity of b over n, resolved in b [rad/s].
    a_nb_b : Vec3 or None
        Kinematic acceleration of the body origin over n, resolved in b, gravity excluded
        [m/s2]: dv_b/dt + omega x v_b.  None where only the other fields are known.
    """

    t_ns: int
    p_n: Vec3
    q_nb: Quat
    v_nb_b: Vec3
    omega_nb_b: Vec3
    a_nb_b: Vec3 | None = None


class TruthSource(Protocol):
    """A motion known at any instant of a time span, such as a built-in trajectory."""

    @property
    def start_ns(self) -> int:
        """First instant [ns] at which the motion is known."""
        ...

    @property
    def end_ns(self) -> int | None:
        """Last instant [ns] at which the motion is known; None if it never ends."""
        ...

    def at(self, t_ns: int) -> TruthSample:
        """Return the motion at ``t_ns``, with its acceleration."""
        ...


@dataclass(frozen=True, slots=True)
class FaultLabel:
    """One fault in effect at a sample: mode, target and the magnitude applied just now."""

    mode: str
    target: str
    magnitude: float


class ChannelError(NamedTuple):
    """What was added to the ideal value of one channel, per axis, in the channel's unit.

    ``total`` is published minus ideal exactly; the other three name the stochastic part and
    the fault part of it.  What is left are deterministic errors (scale factor, quantisation).
    """

    bias: Vec3
    noise: Vec3
    fault: Vec3
    total: Vec3


class ImuSubSample(NamedTuple):
    """Increments over one sample interval in the sensor frame: [rad], [m/s], [s]."""

    delta_theta: Vec3
    delta_v: Vec3
    dt_s: float


class ImuSample(NamedTuple):
    """One IMU sample as published; rates are interval means unless ``rate_output`` is instant.

    ``angular_velocity`` [rad/s] and ``specific_force`` [m/s2] are resolved in the sensor frame,
    ``orientation`` is the reported q_ns at ``t_ns`` or None.  ``frame`` holds the sub-samples
    of the increments frame that ends here; it is empty where none ends.
    """

    t_ns: int
    tick: int
    angular_velocity: Vec3
    specific_force: Vec3
    orientation: Quat | None
    frame: tuple[ImuSubSample, ...]
    gyro_error: ChannelError
    accel_error: ChannelError
    orientation_error: Vec3
    temperature_c: float
    faults: tuple[FaultLabel, ...] = ()

    @property
    def has_frame(self) -> bool:
        """True where an increments frame ends."""
        return bool(self.frame)


class MagSample(NamedTuple):
    """One magnetometer sample as published: flux density [T] and its covariance [T^2], in s."""

    t_ns: int
    tick: int
    field: Vec3
    covariance: tuple[float, ...]
    error: ChannelError
    faults: tuple[FaultLabel, ...] = ()


class BaroSample(NamedTuple):
    """One barometer sample as published [Pa], its variance [Pa^2], and its errors [Pa].

    The errors are those of :class:`ChannelError`.
    """

    t_ns: int
    tick: int
    pressure: float
    variance: float
    bias: float
    noise: float
    fault: float
    total: float
    faults: tuple[FaultLabel, ...] = ()


@dataclass(frozen=True, slots=True)
class GpsSample:
    """One GNSS epoch as published.

    Without a fix the geodetic and ECEF positions and the velocities are NaN.  Covariances are
    row-major 3x3 tuples along east, north, up at the antenna; ``C_le`` takes ECEF to these
    axes, ``q_ns`` the antenna's axes to n.  Errors are along the same axes.  GPS week and time of
    week [s] are those of the stamp.
    """

    t_ns: int
    tick: int
    fix_type: FixType
    satellites: int
    latitude_deg: float
    longitude_deg: float
    height_m: float
    p_e: Vec3
    v_enu: Vec3
    v_e: Vec3
    v_s: Vec3
    position_covariance: tuple[float, ...]
    velocity_covariance: tuple[float, ...]
    C_le: Mat3
    q_ns: Quat
    hdop: float
    vdop: float
    pdop: float
    position_error: ChannelError
    velocity_error: ChannelError
    faults: tuple[FaultLabel, ...] = ()
    gps_week: int = 0
    time_of_week_s: float = 0.0

    @property
    def has_fix(self) -> bool:
        """True where position and velocity are usable."""
        return self.fix_type is not FixType.NONE
