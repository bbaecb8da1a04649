"""The streams that the demo watches, each compared with a sensor of its own without noise.

The reference sensors run in the demo's process on the odometry that it receives itself; nothing
that a node says of its errors is used.  The reference of the IMU is the same unit (the same draw
of scale factors, the same low-pass), so what is left is what the covariance speaks of.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from typing import Any

from jaguar_sensors_ros import catalogue
from jaguar_sensors_ros.analysis.acceptance import ChannelCheck, GridCheck, Trace
from jaguar_sensors_ros.analysis.fault_window import FaultWindow, Side
from jaguar_sensors_ros.nav import earth
from jaguar_sensors_ros.nav.kinematics import Segment
from jaguar_sensors_ros.nav.rotation import (
    matrix_from_quat,
    matrix_times,
    quat_conjugate,
    quat_multiply,
    rotvec_from_quat,
    subtract,
)
from jaguar_sensors_ros.ros.reader import vector
from jaguar_sensors_ros.types import GpsSample, ImuSample, Quat, Vec3

#: samples that wait for their counterpart at most, before the oldest is given up
_WAITING = 4000
_RATE_WINDOW_S = 2.0
Judged = dict[str, tuple[Vec3, Vec3, Vec3]]
#: what takes the randomness out of a sensor and leaves the rest as it is
_QUIET: dict[str, dict[str, object]] = {
    'imu': {
        'orientation.output': 'truth',
        'bias_g_init_std': 0.0,
        'bias_a_init_std': 0.0,
        **{
            f'{triad}.{name}': 0.0
            for triad in ('gyro', 'accel')
            for name in ('white_noise_density', 'turn_on_bias_std', 'random_walk', 'resolution')
        },
    },
    'gps': {'fidelity': 'transparent'},
}


class RateMeter:
    """Messages in a second, over the last two seconds of the wall clock."""

    def __init__(self) -> None:
        self._first: float | None = None
        self._times: deque[float] = deque()

    def tick(self) -> None:
        """Count a message."""
        now = time.monotonic()
        self._first = self._first or now
        self._times.append(now)
        while now - self._times[0] > _RATE_WINDOW_S:
            self._times.popleft()

    def rate_hz(self) -> float:
        """Return the rate, 0 where there is none."""
        now = time.monotonic()
        if self._first is None or now - self._first < 0.1:
            return 0.0
        recent = sum(now - t <= _RATE_WINDOW_S for t in self._times)
        return recent / min(_RATE_WINDOW_S, now - self._first)


class Stream(ABC):
    """A topic against its reference.

    Parameters
    ----------
    sensor_type : str
        Type in the catalogue.
    parameters : mapping
        Those of the node; the reference has no noise besides.
    """

    def __init__(self, sensor_type: str, parameters: Mapping[str, object], rate_hz: float) -> None:
        self.name = sensor_type
        self.settings: Any = catalogue.make_settings(sensor_type, dict(parameters))
        quiet = catalogue.make_settings(sensor_type, {**parameters, **_QUIET[sensor_type]})
        seed = self.settings.random_seed
        self._reference = catalogue.make_sensor(sensor_type, sensor_type, quiet, seed)
        self.grid = GridCheck(rate_hz)
        self.meter = RateMeter()
        self.trace = Trace()
        self.channels = {check.name: check for check in self._checks()}
        self.latest: Judged = {}
        self.newest_ns = 0
        self._ideal: dict[int, Any] = {}
        self._received: dict[int, Any] = {}

    def feed(self, segment: Segment) -> None:
        """Take a piece of the truth."""
        for sample in self._reference.feed(segment):
            self.grid.expect(sample.t_ns)
            message = self._received.pop(sample.t_ns, None)
            if message is not None:
                self._compare(sample, message)
            else:
                self._keep(self._ideal, sample.t_ns, sample)

    def receive(self, t_ns: int, message: Any) -> None:
        """Take a message."""
        self.meter.tick()
        self.newest_ns = max(self.newest_ns, t_ns)
        if not self.grid.arrive(t_ns):
            return
        sample = self._ideal.pop(t_ns, None)
        if sample is not None:
            self._compare(sample, message)
        else:
            self._keep(self._received, t_ns, message)

    @staticmethod
    def _keep(waiting: dict[int, Any], t_ns: int, what: Any) -> None:
        waiting[t_ns] = what
        if len(waiting) > _WAITING:
            del waiting[next(iter(waiting))]

    def _compare(self, sample: Any, message: Any) -> None:
        self.latest = self._judge(sample, message)
        row: list[float] = []
        for name, (value, error, sigma) in self.latest.items():
            self._check(name, sample.t_ns).add(sample.t_ns, error, sigma)
            row += [*value, *(e / s for e, s in zip(error, sigma, strict=True))]
        self.trace.add(sample.t_ns, row)

    def _check(self, channel: str, t_ns: int) -> ChannelCheck:
        return self.channels[channel]

    def objections(self, end_ns: int, late_s: float, is_cut: bool) -> list[str]:
        """Return what speaks against the stream; empty where nothing does."""
        found = self.grid.objections(self.name, end_ns, late_s, is_cut)
        if self.grid.received:
            for check in self.channels.values():
                found += check.objections()
        return found

    @property
    def rms(self) -> float:
        """Root mean square error of all channels in standard deviations."""
        values = [c.rms**2 for c in self.channels.values()]
        return math.sqrt(sum(values) / len(values))

    @abstractmethod
    def _checks(self) -> list[ChannelCheck]:
        """Return the channels to watch."""

    @abstractmethod
    def _judge(self, sample: Any, message: Any) -> Judged:
        """Return value, error and standard deviation of each channel."""


class ImuStream(Stream):
    """imu/data; while a fault is on the gyro its samples are kept apart."""

    def __init__(self, parameters: Mapping[str, object], window: FaultWindow) -> None:
        super().__init__('imu', parameters, float(str(parameters['sample_rate_hz'])))
        self.window = window
        self.faulty = self._gyro_check()
        self._edge = self._gyro_check()

    def _gyro_check(self) -> ChannelCheck:
        s = self.settings
        return ChannelCheck('imu gyro', 'rad/s', s.bias_g_init_std, s.tau_bias_g_s[0])

    def _checks(self) -> list[ChannelCheck]:
        s = self.settings
        return [
            self._gyro_check(),
            ChannelCheck('imu accel', 'm/s2', s.bias_a_init_std, s.tau_bias_a_s[0]),
            ChannelCheck('imu attitude', 'rad', axes='enu'),
        ]

    def _check(self, channel: str, t_ns: int) -> ChannelCheck:
        if channel == 'imu gyro':
            side = self.window.side(t_ns)
            if side is not Side.CLEAN:
                return self.faulty if side is Side.FAULTY else self._edge
        return self.channels[channel]

    def _judge(self, sample: ImuSample, message: Any) -> Judged:
        rate, force = vector(message.angular_velocity), vector(message.linear_acceleration)
        q = message.orientation
        q_true = quat_conjugate(sample.orientation or (1.0, 0.0, 0.0, 0.0))
        turn = rotvec_from_quat(quat_multiply((q.w, q.x, q.y, q.z), q_true))
        return {
            'imu gyro': (
                rate,
                subtract(rate, sample.angular_velocity),
                deviations(message.angular_velocity_covariance),
            ),
            'imu accel': (
                force,
                subtract(force, sample.specific_force),
                deviations(message.linear_acceleration_covariance),
            ),
            'imu attitude': (
                roll_pitch_yaw((q.w, q.x, q.y, q.z)),
                turn,
                deviations(message.orientation_covariance),
            ),
        }


class GpsStream(Stream):
    """gps/fix; the value is the position in the local frame [m], the error along ENU."""

    def __init__(self, parameters: Mapping[str, object]) -> None:
        super().__init__('gps', parameters, float(str(parameters['update_hz'])))

    def _checks(self) -> list[ChannelCheck]:
        return [ChannelCheck('gps position', 'm', axes='enu')]

    def _judge(self, sample: GpsSample, message: Any) -> Judged:
        p_e = earth.ecef_from_geodetic(
            math.radians(message.latitude), math.radians(message.longitude), message.altitude
        )
        position = self.settings.local_frame.local_from_ecef(p_e)
        error = matrix_times(sample.C_le, subtract(p_e, sample.p_e))
        return {'gps position': (position, error, deviations(message.position_covariance))}


def roll_pitch_yaw(q: Quat) -> Vec3:
    """Return the angles [rad] about fixed axes (REP-103) of a quaternion w, x, y, z."""
    m = matrix_from_quat(q)
    pitch = math.asin(max(-1.0, min(1.0, -m[2][0])))
    return (math.atan2(m[2][1], m[2][2]), pitch, math.atan2(m[1][0], m[0][0]))


def deviations(covariance: Any) -> Vec3:
    """Return the standard deviations on the diagonal; tiny where it is not positive."""
    x, y, z = (math.sqrt(max(float(covariance[4 * i]), 1e-18)) for i in range(3))
    return (x, y, z)
