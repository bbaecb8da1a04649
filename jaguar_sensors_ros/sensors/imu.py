"""Inertial measurement unit."""

from __future__ import annotations

from dataclasses import dataclass

from jaguar_sensors_ros.errors.ahead import Ahead
from jaguar_sensors_ros.errors.attitude import AttitudeTerms
from jaguar_sensors_ros.errors.stochastic import GaussMarkov
from jaguar_sensors_ros.errors.triad import Ambience, Triad, TriadReading
from jaguar_sensors_ros.errors.vibration import Vibration
from jaguar_sensors_ros.faults.base import Channels, Signal
from jaguar_sensors_ros.nav.kinematics import Segment, attitude_at, inertial_rates
from jaguar_sensors_ros.nav.rotation import (
    add,
    cross,
    quat_conjugate,
    quat_multiply,
    rotate_back,
    rotvec_between,
    scale,
    subtract,
)
from jaguar_sensors_ros.sensors.base import Sensor
from jaguar_sensors_ros.sensors.covariance import covariance
from jaguar_sensors_ros.sensors.imu_frames import Frames
from jaguar_sensors_ros.sensors.imu_input import InertialInput
from jaguar_sensors_ros.sensors.imu_settings import ImuSettings
from jaguar_sensors_ros.types import (
    IDENTITY_QUAT,
    NS_PER_S,
    ZERO3,
    ChannelError,
    Fidelity,
    ImuSample,
    ImuSubSample,
    Quat,
    Vec3,
    new,
)

EULER_STEP_NS = 1_000_000
#: what a sample without faults is to them
_UNTOUCHED = Signal({}, {})


@dataclass(frozen=True)
class ImuCovariances:
    """Row-major 3x3 covariances to publish; orientation None: there is no orientation."""

    orientation: tuple[float, ...] | None
    angular_velocity: tuple[float, ...]
    linear_acceleration: tuple[float, ...]


#: What a perfect sensor would have said, in its own axes: mean rate and force; rate and force at
#: the stamp, None where the means are put out; q_ns.
Ideal = tuple[Vec3, Vec3, Vec3 | None, Vec3 | None, Quat]


class ImuSensor(Sensor[ImuSettings, ImuSample]):
    """Gyroscope and accelerometer triads on one sample grid; see :class:`Sensor`."""

    type_name = 'imu'
    channels = Channels(
        names=('gyro', 'accel'),
        axes='xyz',
        units={'gyro': 'rad/s', 'accel': 'm/s2'},
        modes=('bias', 'drift', 'noise', 'stuck', 'intermittent', 'jump', 'total'),
        offset_target='gyro',
    )

    # ------------------------------------------------------------------ set-up

    def _rate_hz(self, settings: ImuSettings) -> float:
        return settings.sample_rate_hz

    def _power_up(self) -> None:
        self.gyro = Triad('gyro', self.streams)
        self.accel = Triad('accel', self.streams)
        processes = [GaussMarkov(stream) for stream in self.streams.triad('orientation', 'enu')]
        self.attitude = AttitudeTerms(processes)
        gyro, accel, turn = self.gyro.additive, self.accel.additive, self.attitude
        self._ahead = Ahead(
            gyro.block,
            gyro.processes,
            (accel.block, accel.processes),
            (turn.block, turn.processes),
        )
        self._frames = Frames()
        self._input = InertialInput()
        self._vibration = Vibration(self.settings.vibration, self.streams)
        self._gap()

    def _mount(self) -> None:
        super()._mount()
        self._input.mount(self.arm, self.q_bs)
        self._is_turned = self.q_bs != IDENTITY_QUAT

    def _configured(self) -> None:
        s = self.settings
        self._ahead.settle()
        self.gyro.configure(s.gyro, s.gyro_bias, s.gyro_lsb, s.gyro.g_sensitivity_matrix())
        self.accel.configure(s.accel, s.accel_bias, s.accel_lsb, None)
        self.attitude.tau_s = s.orientation.correlation_time_s
        tilt_std = s.orientation.roll_pitch_std
        self.attitude.sigmas = (tilt_std, tilt_std, s.orientation.yaw_std)
        if s.vibration != self._vibration.settings:
            self._vibration = Vibration(s.vibration, self.streams)
        self._input.vibration = self._vibration
        self._input.configure(s)
        self._is_transparent = self.fidelity is Fidelity.TRANSPARENT
        self._frame_length = s.increments.samples
        self._is_instant = s.rate_output == 'instant'
        self._has_orientation = s.orientation.output != 'none'
        self._has_attitude_error = s.orientation.output == 'ahrs' and not self._is_transparent
        self._feels_ambience = self.gyro.feels_ambience or self.accel.feels_ambience
        self.covariances = self._covariances()

    def prepare(self) -> None:
        """Make random errors ahead."""
        self._ahead.prepare(self.grid)

    def _covariances(self) -> ImuCovariances:
        s = self.settings
        transparent = self.fidelity is Fidelity.TRANSPARENT
        dt_s = 1.0 / s.sample_rate_hz
        tilt, yaw = s.orientation.roll_pitch_std**2, s.orientation.yaw_std**2
        exact = transparent or s.orientation.output == 'truth'
        attitude = ZERO3 if exact else (tilt, tilt, yaw)
        rate = ZERO3 if transparent else self.gyro.variance(dt_s)
        force = ZERO3 if transparent else self.accel.variance(dt_s)
        orientation = None
        if s.orientation.output != 'none':
            orientation = covariance(s.covariance.orientation, attitude)
        return ImuCovariances(
            orientation,
            covariance(s.covariance.angular_velocity, rate),
            covariance(s.covariance.linear_acceleration, force),
        )

    # ------------------------------------------------------------------ ideal reading

    def first_tick(self, t_ns: int) -> int:
        return self.grid.first_at(t_ns) + 1

    def _gap(self) -> None:
        self._from_ns: int | None = None
        self._input.forget()
        self._input.shaken = ZERO3
        self._frames.break_off()
        self.gyro.low_pass.break_off()
        self.accel.low_pass.break_off()

    def _leave(self, segment: Segment) -> None:
        if self._from_ns != segment.end_ns:
            self._integrate(segment, segment.end_ns)

    def _integrate(self, segment: Segment, to_ns: int) -> None:
        """Collect the ideal increments up to ``to_ns``."""
        now_ns = self._tick_ns if self._from_ns is None else self._from_ns
        if now_ns < to_ns:
            self._input.power_on_ns = self._power_on_ns or 0
            self._input.integrate(segment, now_ns, to_ns)
            self._from_ns = to_ns

    def _ideal(
        self, segment: Segment, t_ns: int, dt_s: float, theta: Vec3, velocity: Vec3
    ) -> Ideal:
        """Return the reading for the increments of a sample."""
        (theta_x, theta_y, theta_z), (velocity_x, velocity_y, velocity_z) = theta, velocity
        rate = (theta_x / dt_s, theta_y / dt_s, theta_z / dt_s)
        force = (velocity_x / dt_s, velocity_y / dt_s, velocity_z / dt_s)
        instant_rate, instant_force = None, None
        if self._is_instant:
            instant_rate, instant_force = self._at_stamp(segment, t_ns)
        q_ns = attitude_at(segment, t_ns)
        if self._is_turned:
            q_ns = quat_multiply(q_ns, self.q_bs)
        return rate, force, instant_rate, instant_force, q_ns

    def _at_stamp(self, segment: Segment, t_ns: int) -> tuple[Vec3, Vec3]:
        """Return rate and specific force at the stamp."""
        state = segment.at(t_ns)
        omega, specific = inertial_rates(state, self.settings.felt_earth, self.arm)
        if self.arm != ZERO3:
            before_ns = max(segment.start_ns, t_ns - EULER_STEP_NS)
            slope = subtract(state.omega_nb_b, segment.at(before_ns).omega_nb_b)
            alpha = scale(slope, NS_PER_S / (t_ns - before_ns))
            specific = add(specific, cross(alpha, self.arm))
        rate, force = rotate_back(self.q_bs, omega), rotate_back(self.q_bs, specific)
        if self._vibration.active:
            force = add(force, self._vibration.rate(t_ns - (self._power_on_ns or 0)))
        return rate, force

    # ------------------------------------------------------------------ the chain

    def _sample(self, segment: Segment, t_ns: int, number: int, k: int) -> ImuSample | None:
        """Ideal reading, error terms, faults, sample."""
        self._integrate(segment, t_ns)
        span_ns = t_ns - self._tick_ns
        dt_s = span_ns / NS_PER_S
        theta, velocity, theta_ran, velocity_ran = self._input.take()
        ideal = self._ideal(segment, t_ns, dt_s, theta, velocity)
        rate, force, instant_rate, instant_force, _ = ideal
        ambience = self._ambience(t_ns, dt_s, force)
        terms = self._ahead.take(number, k, span_ns, self.grid)
        gyro = self.gyro.step(rate, theta_ran, instant_rate, terms[:6], dt_s, ambience)
        accel = self.accel.step(force, velocity_ran, instant_force, terms[6:12], dt_s, ambience)
        if self._is_transparent:
            gyro = _exact(rate, theta, instant_rate)
            accel = _exact(force, velocity, instant_force)
        elif self._is_corrected:
            gyro = _corrected(gyro, self._corrections['gyro'], dt_s)
            accel = _corrected(accel, self._corrections['accel'], dt_s)
        sample, lost = self._finish(ideal, gyro, accel, terms[12:], t_ns, number, k, dt_s)
        if self.calibration is not None:
            errors = {'gyro': sample.gyro_error.total, 'accel': sample.accel_error.total}
            self._observe(t_ns, segment.at(t_ns), **errors)
        released = self._released(sample, t_ns, lost)
        if released is not None and sample.frame:
            self._frames.published = sample.frame
        return released

    def _ambience(self, t_ns: int, dt_s: float, force: Vec3) -> Ambience:
        """Let the sensor feel the motion, and sum up the vibration where it has an effect."""
        shaken, unshaken = self._input.shaken, force
        if shaken is not ZERO3:
            self._input.shaken = ZERO3
            unshaken = subtract(force, scale(shaken, 1.0 / dt_s))
        self._expose(t_ns, unshaken)
        if not self._feels_ambience:
            return new(Ambience, (force, self.exposure.temperature_c, ZERO3))
        level = self._added_vibration()
        x, y, z = self.exposure.mean_square
        return Ambience(force, self.exposure.temperature_c, (level + x, level + y, level + z))

    def _added_vibration(self) -> float:
        return self.settings.vibration_grms**2 + self._vibration.mean_square

    def _finish(
        self,
        ideal: Ideal,
        gyro: TriadReading,
        accel: TriadReading,
        turn: list[float],
        t_ns: int,
        number: int,
        k: int,
        dt_s: float,
    ) -> tuple[ImuSample, bool]:
        """Apply the faults and put the sample together; tell whether it is lost by a fault."""
        _, theta, rate, _, _ = gyro
        _, velocity, force, _, _ = accel
        ideal_rate, ideal_force, instant_rate, instant_force, q_ns = ideal
        signal, q, turned = _UNTOUCHED, q_ns, ZERO3
        if self._has_attitude_error:
            w, x, y, z, east, north, up = turn
            q, turned = quat_multiply((w, x, y, z), q), (east, north, up)
        if not self.board.is_bare:
            signal = self._faults(rate, force, t_ns, number, dt_s)
            held = self._last_published
            rate = self._frozen(signal, 'gyro', held.angular_velocity if held else None)
            force = self._frozen(signal, 'accel', held.specific_force if held else None)
            if held is not None and held.orientation is not None and _is_stuck(signal):
                q = held.orientation
                turned = _resolved_in_n(q_ns, rotvec_between(q_ns, q))
            theta = _faulted(theta, gyro[2], rate, dt_s)
            velocity = _faulted(velocity, accel[2], force, dt_s)
        elif self.effective_faults:
            self._apply_faults(_UNTOUCHED, t_ns, number)
        sub = new(ImuSubSample, (theta, velocity, dt_s))
        sample = new(ImuSample, (
            self.clock.stamp_ns(self.clock_settings, t_ns, self._power_on_ns or 0, number),
            number,
            rate,
            force,
            q if self._has_orientation else None,
            self._frames.push(sub, k, self._frame_length, signal.frozen),
            _error(gyro, rate, instant_rate or ideal_rate),
            _error(accel, force, instant_force or ideal_force),
            turned,
            self.exposure.temperature_c,
            tuple(signal.labels),
        ))
        return sample, signal.lost

    def _faults(
        self, rate: Vec3, force: Vec3, t_ns: int, number: int, dt_s: float
    ) -> Signal:
        """Return what the faults make of a sample."""
        signal = Signal(
            {'gyro': list(rate), 'accel': list(force)},
            {'gyro': self.gyro.white_sigma(dt_s), 'accel': self.accel.white_sigma(dt_s)},
        )
        self._apply_faults(signal, t_ns, number)
        return signal

    @staticmethod
    def _frozen(signal: Signal, channel: str, held: Vec3 | None) -> Vec3:
        values = signal.values[channel]
        if held is not None:
            for axis in signal.frozen.get(channel, ()):
                values[axis] = held[axis]
        return (values[0], values[1], values[2])

    def _quality(self) -> float:
        return min(1.0, 1.0 / self._noise_factor)


def _is_stuck(signal: Signal) -> bool:
    """Whether all axes of both channels are frozen."""
    return len(signal.frozen) == 2 and all(len(axes) == 3 for axes in signal.frozen.values())


def _faulted(increment: Vec3, before: Vec3, after: Vec3, dt_s: float) -> Vec3:
    """Return the increment that belongs to a rate changed by faults."""
    if before == after:
        return increment
    return add(increment, scale(subtract(after, before), dt_s))


def _corrected(reading: TriadReading, correction: Vec3, dt_s: float) -> TriadReading:
    """Return a reading with the correction of a calibration added."""
    if correction == ZERO3:
        return reading
    rate, increment, instant, bias, noise = reading
    increment = add(increment, scale(correction, dt_s))
    return add(rate, correction), increment, add(instant, correction), bias, noise


def _exact(rate: Vec3, increment: Vec3, instant: Vec3 | None) -> TriadReading:
    return rate, increment, instant or rate, ZERO3, ZERO3


def _error(reading: TriadReading, after: Vec3, ideal: Vec3) -> ChannelError:
    """Return the labels of a channel; ``after`` is its value with the faults."""
    _, _, before, bias, noise = reading
    (x, y, z), (ideal_x, ideal_y, ideal_z) = after, ideal
    fault = ZERO3 if after is before else subtract(after, before)
    total = (x - ideal_x, y - ideal_y, z - ideal_z)
    return new(ChannelError, (bias, noise, fault, total))


def _resolved_in_n(q_ns: Quat, phi: Vec3) -> Vec3:
    """Return a rotation vector given in s resolved in n."""
    return rotate_back(quat_conjugate(q_ns), phi)
