"""Inertial measurement unit."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from jaguar_sensors_ros.errors.stochastic import GaussMarkov
from jaguar_sensors_ros.errors.triad import Ambience, Triad, TriadReading
from jaguar_sensors_ros.errors.vibration import Vibration
from jaguar_sensors_ros.faults.base import Channels, FaultMode, Signal
from jaguar_sensors_ros.nav.kinematics import (
    Segment,
    attitude_at,
    increments_of_parts,
    inertial_rates,
)
from jaguar_sensors_ros.nav.rotation import (
    add,
    cross,
    quat_from_rotvec,
    quat_multiply,
    rotate,
    rotate_back,
    rotvec_between,
    scale,
    subtract,
)
from jaguar_sensors_ros.sensors.base import Sensor
from jaguar_sensors_ros.sensors.covariance import covariance
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
)

_EULER_STEP_NS = 1_000_000
#: spans between ticks whose cuts are kept
_MOST_SPANS = 64
#: what a sample without faults is to them
_UNTOUCHED = Signal({}, {})


@dataclass(frozen=True)
class ImuCovariances:
    """Row-major 3x3 covariances to publish; orientation None: there is no orientation."""

    orientation: tuple[float, ...] | None
    angular_velocity: tuple[float, ...]
    linear_acceleration: tuple[float, ...]


@dataclass(slots=True)
class Ideal:
    """What a perfect sensor would have said, in its own axes.

    Rate and force at the stamp are None where the mean over the interval is put out.
    """

    delta_theta: Vec3
    delta_v: Vec3
    rate: Vec3
    force: Vec3
    instant_rate: Vec3 | None
    instant_force: Vec3 | None
    q_ns: Quat


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

    def __init__(
        self, name: str, settings: ImuSettings, seed: int, fault_modes: Mapping[str, FaultMode]
    ) -> None:
        self._from_ns: int | None = None
        self._edges: list[int] = []
        self._plan_of = (0.0, ZERO3, ZERO3)
        self._offsets: dict[int, list[int]] = {}
        self._parts: list[tuple[Vec3, Vec3]] = []
        self._durations_s: list[float] = []
        super().__init__(name, settings, seed, fault_modes)

    # ------------------------------------------------------------------ set-up

    def _rate_hz(self, settings: ImuSettings) -> float:
        return settings.sample_rate_hz

    def _power_up(self) -> None:
        self.gyro = Triad('gyro', self.streams)
        self.accel = Triad('accel', self.streams)
        self._attitude = [GaussMarkov(s) for s in self.streams.triad('orientation', 'enu')]
        self._held_frame: tuple[ImuSubSample, ...] = ()
        self._vibration = Vibration(self.settings.vibration, self.streams)
        self._gap()

    def _configured(self) -> None:
        s = self.settings
        self.gyro.configure(s.gyro, s.gyro_bias, s.gyro_lsb, s.gyro.g_sensitivity_matrix())
        self.accel.configure(s.accel, s.accel_bias, s.accel_lsb, None)
        if s.vibration != self._vibration.settings:
            self._vibration = Vibration(s.vibration, self.streams)
        plan = (s.sample_rate_hz, s.gyro.bandwidth_hz, s.accel.bandwidth_hz)
        if plan != self._plan_of:
            self._edges, self._plan_of = [], plan
            self._offsets = {}
        self.covariances = self._covariances()

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

    def _first_tick(self, t_ns: int) -> int:
        return self.grid.first_at(t_ns) + 1

    def _gap(self) -> None:
        self._from_ns = None
        self._edges = []
        self._theta, self._velocity = ZERO3, ZERO3
        self._part_ns = 0
        self._parts, self._durations_s = [], []
        self._shaken = ZERO3
        self._pending: tuple[ImuSubSample, ...] | None = None
        self.gyro.break_off()
        self.accel.break_off()

    def _leave(self, segment: Segment) -> None:
        self._integrate(segment, segment.end_ns)

    def _integrate(self, segment: Segment, to_ns: int) -> None:
        """Collect the ideal increments up to ``to_ns``, cut into the parts of the low-pass."""
        now = self._tick_ns if self._from_ns is None else self._from_ns
        if now >= to_ns:
            return
        if not self._edges:
            self._plan(now)
        edges = self._edges
        complete = bisect_right(edges, to_ns)
        cuts = [now, *edges[:complete]]
        if complete < len(edges) and cuts[-1] < to_ns:
            cuts.append(to_ns)
        parts = increments_of_parts(segment, cuts, self.settings.felt_earth, self.arm)
        if self._part_ns:  # the first part began in an earlier piece
            theta, velocity = parts[0]
            parts[0] = (add(self._theta, theta), add(self._velocity, velocity))
        if self._vibration.active:
            parts = self._shake(parts, cuts)
        self._edges, self._from_ns = edges[complete:], cuts[-1]
        lengths = [end - start for start, end in pairwise(cuts)]
        lengths[0] += self._part_ns
        self._part_ns = 0
        if complete < len(parts):
            self._theta, self._velocity = parts.pop()
            self._part_ns = lengths.pop()
        self._close(parts, lengths)

    def _shake(
        self, parts: list[tuple[Vec3, Vec3]], cuts: list[int]
    ) -> list[tuple[Vec3, Vec3]]:
        """Add the vibration that is felt between the cuts [ns]."""
        shaken = []
        for (theta, velocity), (start, end) in zip(parts, pairwise(cuts), strict=True):
            felt = self._vibration.increment(*self._since_power_on(start, end))
            self._shaken = add(self._shaken, felt)
            shaken.append((theta, add(velocity, rotate(self.q_bs, felt))))
        return shaken

    def _since_power_on(self, *times_ns: int) -> tuple[int, ...]:
        return tuple(t_ns - (self._power_on_ns or 0) for t_ns in times_ns)

    def _plan(self, now_ns: int) -> None:
        """Set the ends of the parts between now and the next tick."""
        if self._part_ns:
            self._close([(self._theta, self._velocity)], [self._part_ns])
            self._part_ns = 0
        assert self._tick_of is not None
        span = self.grid.time_ns(self._tick_of[0] + 1) - now_ns
        if span not in self._offsets:
            dt_s = span / NS_PER_S
            count = min(span, max(self.gyro.substeps(dt_s), self.accel.substeps(dt_s)))
            if len(self._offsets) >= _MOST_SPANS:
                self._offsets.clear()
            self._offsets[span] = [span * (i + 1) // count for i in range(count)]
        self._edges = [now_ns + offset for offset in self._offsets[span]]

    def _close(self, parts: list[tuple[Vec3, Vec3]], lengths_ns: list[int]) -> None:
        """Keep parts for the low-pass, in the axes of the sensor."""
        q = self.q_bs
        if q != IDENTITY_QUAT:
            parts = [(rotate_back(q, theta), rotate_back(q, v)) for theta, v in parts]
        self._parts += parts
        self._durations_s += [length / NS_PER_S for length in lengths_ns]

    def _ideal(
        self, segment: Segment, t_ns: int, dt_s: float, theta: Vec3, velocity: Vec3
    ) -> Ideal:
        """Return the reading for the increments of a sample."""
        rate, force = _divide(theta, dt_s), _divide(velocity, dt_s)
        at_stamp: tuple[Vec3 | None, Vec3 | None] = (None, None)
        if self.settings.rate_output == 'instant':
            state = segment.at(t_ns)
            omega, specific = inertial_rates(state, self.settings.felt_earth, self.arm)
            if self.arm != ZERO3:
                before_ns = max(segment.start_ns, t_ns - _EULER_STEP_NS)
                slope = subtract(state.omega_nb_b, segment.at(before_ns).omega_nb_b)
                alpha = scale(slope, NS_PER_S / (t_ns - before_ns))
                specific = add(specific, cross(alpha, self.arm))
            at_stamp = (rotate_back(self.q_bs, omega), rotate_back(self.q_bs, specific))
            if self._vibration.active:
                felt = self._vibration.rate(*self._since_power_on(t_ns))
                at_stamp = (at_stamp[0], add(at_stamp[1], felt))
        q_ns = quat_multiply(attitude_at(segment, t_ns), self.q_bs)
        return Ideal(theta, velocity, rate, force, at_stamp[0], at_stamp[1], q_ns)

    # ------------------------------------------------------------------ the chain

    def _sample(self, segment: Segment, t_ns: int, number: int, k: int) -> ImuSample | None:
        """Ideal reading, error terms, faults, sample."""
        self._integrate(segment, t_ns)
        span_ns = t_ns - self._tick_ns
        dt_s = span_ns / NS_PER_S
        thetas, velocities = zip(*self._parts, strict=True)
        lengths_s = self._durations_s
        self._parts, self._durations_s = [], []
        theta, velocity = _sum(thetas), _sum(velocities)
        ideal = self._ideal(segment, t_ns, dt_s, theta, velocity)
        ambience = self._ambience(t_ns, dt_s, ideal.force)
        gyro = self.gyro.step(
            thetas, lengths_s, theta, ideal.instant_rate, number, dt_s, ambience
        )
        accel = self.accel.step(
            velocities, lengths_s, velocity, ideal.instant_force, number, dt_s, ambience
        )
        phi = self._attitude_error(number, dt_s)
        gyro = _corrected(gyro, self._corrections['gyro'], dt_s)
        accel = _corrected(accel, self._corrections['accel'], dt_s)
        if self.fidelity is Fidelity.TRANSPARENT:
            gyro = _exact(ideal.rate, ideal.delta_theta, ideal.instant_rate)
            accel = _exact(ideal.force, ideal.delta_v, ideal.instant_force)
        if self.settings.orientation.output != 'ahrs' or self.fidelity is Fidelity.TRANSPARENT:
            phi = ZERO3
        sample, lost = self._finish(ideal, gyro, accel, phi, t_ns, number, k, dt_s)
        if self.calibration is not None:
            errors = {'gyro': sample.gyro_error.total, 'accel': sample.accel_error.total}
            self._observe(t_ns, segment.at(t_ns), **errors)
        released = self._released(sample, t_ns, lost)
        if released is not None and sample.frame:
            self._held_frame = sample.frame
        return released

    def _ambience(self, t_ns: int, dt_s: float, force: Vec3) -> Ambience:
        """Let the sensor feel the motion, and sum up the vibration."""
        shaken, self._shaken = self._shaken, ZERO3
        self._expose(t_ns, subtract(force, scale(shaken, 1.0 / dt_s)))
        level = self._added_vibration()
        x, y, z = self.exposure.mean_square
        return Ambience(force, self.exposure.temperature_c, (level + x, level + y, level + z))

    def _added_vibration(self) -> float:
        return self.settings.vibration_grms**2 + self._vibration.mean_square

    def _attitude_error(self, number: int, dt_s: float) -> Vec3:
        s = self.settings.orientation
        tau_s = s.correlation_time_s
        east, north, up = self._attitude
        return (
            s.roll_pitch_std * east.step(number, dt_s, tau_s),
            s.roll_pitch_std * north.step(number, dt_s, tau_s),
            s.yaw_std * up.step(number, dt_s, tau_s),
        )

    def _finish(
        self,
        ideal: Ideal,
        gyro: TriadReading,
        accel: TriadReading,
        phi: Vec3,
        t_ns: int,
        number: int,
        k: int,
        dt_s: float,
    ) -> tuple[ImuSample, bool]:
        """Apply the faults and put the sample together; tell whether it is lost by a fault."""
        signal, rate, force = _UNTOUCHED, gyro.instant, accel.instant
        if not self.board.is_bare:
            signal = Signal(
                {'gyro': list(rate), 'accel': list(force)},
                {'gyro': self.gyro.white_sigma(dt_s), 'accel': self.accel.white_sigma(dt_s)},
            )
        self._apply_faults(signal, t_ns, number)
        held = self._last_published
        if signal is not _UNTOUCHED:
            rate = self._frozen(signal, 'gyro', held.angular_velocity if held else None)
            force = self._frozen(signal, 'accel', held.specific_force if held else None)
        q = quat_multiply(quat_from_rotvec(phi), ideal.q_ns)
        all_frozen = len(signal.frozen) == 2 and all(len(a) == 3 for a in signal.frozen.values())
        if all_frozen and held is not None and held.orientation is not None:
            q = held.orientation
        sub = ImuSubSample(
            self._faulted(gyro.increment, gyro.instant, rate, dt_s),
            self._faulted(accel.increment, accel.instant, force, dt_s),
            dt_s,
        )
        frame = self._frame(sub, k, signal)
        total_q = rotvec_between(ideal.q_ns, q)
        sample = ImuSample(
            self._stamp_ns(t_ns, number),
            number,
            rate,
            force,
            q if self.settings.orientation.output != 'none' else None,
            frame,
            _error(gyro, rate, ideal.instant_rate or ideal.rate),
            _error(accel, force, ideal.instant_force or ideal.force),
            _rotate_to_n(ideal.q_ns, total_q),
            self.exposure.temperature_c,
            tuple(signal.labels),
        )
        return sample, signal.lost

    @staticmethod
    def _frozen(signal: Signal, channel: str, held: Vec3 | None) -> Vec3:
        values = signal.values[channel]
        if held is not None:
            for axis in signal.frozen.get(channel, ()):
                values[axis] = held[axis]
        return (values[0], values[1], values[2])

    @staticmethod
    def _faulted(increment: Vec3, before: Vec3, after: Vec3, dt_s: float) -> Vec3:
        """Return the increment that belongs to a rate changed by faults."""
        if before is after or before == after:
            return increment
        return add(increment, scale(subtract(after, before), dt_s))

    def _frame(self, sub: ImuSubSample, k: int, signal: Signal) -> tuple[ImuSubSample, ...]:
        """Return the increments frame that ends at tick ``k``; empty where none does.

        Frames of two end at even k.  The first after power-on or a gap is left out if its
        first half is missing; where rate or frame length change, no increment is lost.
        """
        fresh, frame = self._pending is None, (*(self._pending or ()), sub)
        if self.settings.increments.samples == 2 and len(frame) == 1 and (k % 2 or fresh):
            self._pending = frame if k % 2 else ()
            return ()
        self._pending = ()
        if signal.frozen and len(self._held_frame) == len(frame):
            pairs = zip(frame, self._held_frame, strict=True)
            frame = tuple(_freeze(new, held, signal.frozen) for new, held in pairs)
        return frame

    def _quality(self) -> float:
        return min(1.0, 1.0 / self._noise_factor)


def _freeze(
    new: ImuSubSample, held: ImuSubSample, frozen: Mapping[str, set[int]]
) -> ImuSubSample:
    values = {'gyro': list(new.delta_theta), 'accel': list(new.delta_v)}
    kept = {'gyro': held.delta_theta, 'accel': held.delta_v}
    for channel, axes in frozen.items():
        for axis in axes:
            values[channel][axis] = kept[channel][axis]
    theta, velocity = values['gyro'], values['accel']
    return ImuSubSample(
        (theta[0], theta[1], theta[2]), (velocity[0], velocity[1], velocity[2]), new.dt_s
    )


def _corrected(reading: TriadReading, correction: Vec3, dt_s: float) -> TriadReading:
    """Return a reading with the correction of a calibration added."""
    if correction == ZERO3:
        return reading
    return TriadReading(
        add(reading.rate, correction),
        add(reading.increment, scale(correction, dt_s)),
        add(reading.instant, correction),
        reading.bias,
        reading.noise,
    )


def _exact(rate: Vec3, increment: Vec3, instant: Vec3 | None) -> TriadReading:
    return TriadReading(rate, increment, instant or rate, ZERO3, ZERO3)


def _error(reading: TriadReading, after: Vec3, ideal: Vec3) -> ChannelError:
    fault = subtract(after, reading.instant)
    return ChannelError(reading.bias, reading.noise, fault, subtract(after, ideal))


def _rotate_to_n(q_ns: Quat, phi: Vec3) -> Vec3:
    """Return a rotation vector given in s resolved in n."""
    return rotate_back((q_ns[0], -q_ns[1], -q_ns[2], -q_ns[3]), phi)


def _sum(vectors: tuple[Vec3, ...]) -> Vec3:
    sum_x = sum_y = sum_z = 0.0
    for x, y, z in vectors:
        sum_x += x
        sum_y += y
        sum_z += z
    return (sum_x, sum_y, sum_z)


def _divide(a: Vec3, dt_s: float) -> Vec3:
    return (a[0] / dt_s, a[1] / dt_s, a[2] / dt_s)
