"""GNSS receiver."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from jaguar_sensors_ros.component import AUTO
from jaguar_sensors_ros.faults.base import Channels, FaultMode, Signal
from jaguar_sensors_ros.nav import earth, gps_time
from jaguar_sensors_ros.nav.kinematics import Segment
from jaguar_sensors_ros.nav.rotation import (
    add,
    cross,
    matrix_times,
    quat_multiply,
    rotate,
    rotate_back,
    subtract,
    transposed_times,
)
from jaguar_sensors_ros.sensors.covariance import covariance
from jaguar_sensors_ros.sensors.fix_kind import degraded, with_accuracy_of
from jaguar_sensors_ros.sensors.gnss_errors import AXES, NO_ERROR, GnssErrors, total_sigma
from jaguar_sensors_ros.sensors.gnss_sky import (
    NOMINAL_AXES,
    NominalSky,
    SeenSky,
    Sky,
    directions_in_view,
)
from jaguar_sensors_ros.sensors.gps_settings import GpsSettings
from jaguar_sensors_ros.sensors.instant import InstantSensor
from jaguar_sensors_ros.types import (
    NS_PER_S,
    ZERO3,
    ChannelError,
    Fidelity,
    FixType,
    GpsSample,
    Mat3,
    Quat,
    TruthSample,
    Vec3,
)

_NAN3: Vec3 = (math.nan, math.nan, math.nan)
#: variance that goes with a missing fix, whose covariance type is unknown [m2, (m/s)2]
UNKNOWN_VARIANCE = 1e9


@dataclass(frozen=True, slots=True)
class Antenna:
    """True position and velocity of the antenna and the axes at its place."""

    p_e: Vec3
    v_e: Vec3
    C_le: Mat3
    q_ns: Quat


class GpsSensor(InstantSensor[GpsSettings, GpsSample]):
    """Position and velocity of an antenna, in ECEF; see :class:`Sensor`.

    Errors are drawn along independent axes, turned by the geometry of the satellites into east,
    north and up at the antenna, and from there into ECEF.
    """

    type_name = 'gps'
    channels = Channels(
        names=('position', 'velocity'),
        axes=AXES,
        units={'position': 'm', 'velocity': 'm/s'},
        modes=(
            'bias',
            'drift',
            'noise',
            'stuck',
            'intermittent',
            'jump',
            'total',
            'satellite_loss',
            'rtk_degradation',
            'cold_restart',
        ),
        offset_target='position',
        rate_of={'position': 'velocity'},
    )

    def __init__(
        self, name: str, settings: GpsSettings, seed: int, fault_modes: Mapping[str, FaultMode]
    ) -> None:
        self._sky: Sky = NominalSky(settings.satellites)
        self._fix = True
        super().__init__(name, settings, seed, fault_modes)

    def _rate_hz(self, settings: GpsSettings) -> float:
        return settings.update_hz

    def _power_up(self) -> None:
        self.errors = GnssErrors(self.streams)

    def _configured(self) -> None:
        self._transparent = self.fidelity is Fidelity.TRANSPARENT
        self._seen = self.settings.geometry.enabled and not self._transparent
        self._nominal = self._sigma = self._sigma_of(self.settings)
        self._kind = self.settings.fix_type

    @property
    def sigma(self) -> tuple[Vec3, Vec3]:
        """Standard deviations of position [m] and velocity [m/s] before the geometry."""
        return self._sigma

    def _sigma_of(self, s: GpsSettings) -> tuple[Vec3, Vec3]:
        """Return the standard deviations of position and velocity before the geometry."""
        if not s.geometry.enabled:
            return _per_axis(s.pos_std_dev), _per_axis(s.vel_std_dev)
        position, velocity = (s.uere_m,) * 3, _per_axis(s.vel_std_dev)
        if self._transparent:  # what a noise fault multiplies: those of the nominal sky
            return _product(position, NOMINAL_AXES), _product(velocity, NOMINAL_AXES)
        return position, velocity

    def _degrade(self, steps: int) -> None:
        """Let the kind of fix be so many steps below that of the parameters."""
        kind = degraded(self.settings.fix_type, steps)
        if kind != self._kind:
            self._kind, self._sigma = kind, self._nominal
            if steps:
                self._sigma = self._sigma_of(with_accuracy_of(kind, self.settings))

    # ------------------------------------------------------------------ the chain

    def _sample(self, segment: Segment, t_ns: int, number: int, k: int) -> GpsSample | None:
        """Antenna truth, error terms, faults, sample."""
        state = segment.at(t_ns)
        antenna = self._antenna(state)
        span_ns = t_ns - self._tick_ns
        v_enu = matrix_times(antenna.C_le, antenna.v_e)
        view = self._view(antenna, t_ns)
        sky = self._sky_of(view, 0)
        signal = self._signal(sky)
        self._apply_faults(signal, t_ns, number)
        if signal.satellites_lost:
            sky = self._sky_of(view, signal.satellites_lost)
        self._sky = sky
        self._degrade(signal.fix_steps_lost)
        draw = self.errors.draw(number, k, span_ns, self.grid, self._sigma, self.settings)
        if self._transparent:
            draw = NO_ERROR
        self._fix = self._has_fix(t_ns) and not signal.fix_lost
        if not self._fix:
            self.end_calibration('the receiver has no fix')
            sample = self._no_fix(self._stamp_ns(t_ns, number), number, signal)
            return self._released(sample, t_ns, signal.lost)
        white, slow, velocity_noise = map(sky.shaped, (draw.white, draw.slow, draw.velocity))
        offset = _three(signal.values['position'])
        v_offset = _three(signal.values['velocity'])
        sound, v_sound = add(white, slow), add(v_enu, velocity_noise)
        if not self._transparent:
            sound = add(sound, self._corrections['position'])
            v_sound = add(v_sound, self._corrections['velocity'])
        error = self._hold_position(signal, antenna, add(sound, offset))
        v_measured = self._hold_velocity(signal, add(v_sound, v_offset))
        fault, v_fault = subtract(error, sound), subtract(v_measured, v_sound)
        labels = (
            ChannelError(slow, white, fault, error),
            ChannelError(ZERO3, velocity_noise, v_fault, subtract(v_measured, v_enu)),
        )
        stamp_ns = self._stamp_ns(t_ns, number)
        sample = self._fix_sample(antenna, error, v_measured, labels, stamp_ns, number, signal)
        self._observe(t_ns, state, position=labels[0].total, velocity=labels[1].total)
        return self._released(sample, t_ns, signal.lost)

    def _view(self, antenna: Antenna, t_ns: int) -> list[Vec3]:
        """Return the directions to the satellites in view, where the sky is not nominal."""
        if not self._seen:
            return []
        time_s = gps_time.gps_time_ns(t_ns, self.settings.leap_seconds) / NS_PER_S
        return directions_in_view(antenna.p_e, antenna.C_le, time_s, self.settings.geometry)

    def _sky_of(self, view: list[Vec3], lost: int) -> Sky:
        """Return the sky without so many of its satellites, the lowest of them first."""
        if not self._seen:
            return NominalSky(max(0, self.settings.satellites - lost))
        return SeenSky.of(view[: max(0, len(view) - lost)])

    def _signal(self, sky: Sky) -> Signal:
        """Return the signal that faults work on.

        What a noise fault multiplies is the noise before satellites or the kind of fix go.
        """
        white_share = math.sqrt(1.0 - self.settings.pos_correlated_fraction)
        position, velocity = self._nominal
        return Signal(
            {'position': [0.0, 0.0, 0.0], 'velocity': [0.0, 0.0, 0.0]},
            {
                'position': sky.sigmas(position, white_share),
                'velocity': sky.sigmas(velocity, 1.0),
            },
        )

    def _antenna(self, state: TruthSample) -> Antenna:
        local = self.settings.local_frame
        p_n = add(state.p_n, rotate(state.q_nb, self.arm))
        v_b = add(state.v_nb_b, cross(state.omega_nb_b, self.arm))
        p_e = local.ecef_from_local(p_n)
        v_e = transposed_times(local.C_ne, rotate(state.q_nb, v_b))
        latitude, longitude, _ = earth.geodetic_from_ecef(p_e)
        axes = earth.enu_from_ecef_matrix(latitude, longitude)
        return Antenna(p_e, v_e, axes, quat_multiply(state.q_nb, self.q_bs))

    def _has_fix(self, t_ns: int) -> bool:
        if self._kind == 'none' or not self._sky.usable:
            return False
        cold_s = self.settings.cold_start_s
        if cold_s == 0.0 or self._transparent:
            return True
        return t_ns > (self._power_on_ns or 0) + round(cold_s * NS_PER_S)

    def _hold_position(self, signal: Signal, antenna: Antenna, error: Vec3) -> Vec3:
        """Return the ENU error, with frozen axes at the last published position."""
        held = self._last_published
        if held is None or not held.has_fix or 'position' not in signal.frozen:
            return error
        from_here = matrix_times(antenna.C_le, subtract(held.p_e, antenna.p_e))
        axes = signal.frozen['position']
        return _three([from_here[i] if i in axes else error[i] for i in range(3)])

    def _hold_velocity(self, signal: Signal, v_enu: Vec3) -> Vec3:
        held = self._last_published
        if held is None or not held.has_fix:
            return v_enu
        axes = signal.frozen.get('velocity', set())
        return _three([held.v_enu[i] if i in axes else v_enu[i] for i in range(3)])

    def _fix_sample(
        self,
        antenna: Antenna,
        error: Vec3,
        v_enu: Vec3,
        labels: tuple[ChannelError, ChannelError],
        t_ns: int,
        number: int,
        signal: Signal,
    ) -> GpsSample:
        held = self._last_published
        frozen = len(signal.frozen.get('position', ())) == 3
        if frozen and held is not None and held.has_fix:
            p_e = held.p_e
            place = (held.latitude_deg, held.longitude_deg, held.height_m)
        else:
            p_e = add(antenna.p_e, transposed_times(antenna.C_le, error))
            latitude, longitude, height = earth.geodetic_from_ecef(p_e)
            place = (math.degrees(latitude), math.degrees(longitude), height)
        v_e = transposed_times(antenna.C_le, v_enu)
        v_n = matrix_times(self.settings.local_frame.C_ne, v_e)
        v_s = rotate_back(antenna.q_ns, v_n)
        if held is not None and held.has_fix and len(signal.frozen.get('velocity', ())) == 3:
            v_e, v_s = held.v_e, held.v_s
        settings, (position, velocity) = self.settings, self._sigma
        total = total_sigma(position, settings)
        return GpsSample(
            t_ns,
            number,
            FixType[self._kind.upper()],
            self._sky.satellites,
            place[0],
            place[1],
            place[2],
            p_e,
            v_enu,
            v_e,
            v_s,
            self.published_covariance(settings.covariance.position, total),
            self.published_covariance(settings.covariance.velocity, velocity),
            antenna.C_le,
            antenna.q_ns,
            *self._sky.dops,
            labels[0],
            labels[1],
            tuple(signal.labels),
            *gps_time.week_and_time(t_ns, settings.leap_seconds),
        )

    def published_covariance(
        self, override: tuple[float, ...] | str, sigma: Vec3
    ) -> tuple[float, ...]:
        """Return the override, or the covariance of ``sigma`` along the axes under the sky."""
        if override == AUTO and not self._transparent:
            override = self._sky.covariance(sigma)
        return covariance(override, ZERO3)

    def _no_fix(self, t_ns: int, number: int, signal: Signal) -> GpsSample:
        unknown = covariance((UNKNOWN_VARIANCE,), ZERO3)
        missing = ChannelError(_NAN3, _NAN3, _NAN3, _NAN3)
        local = self.settings.local_frame
        nan = math.nan
        return GpsSample(
            t_ns,
            number,
            FixType.NONE,
            0 if self._sky.usable else self._sky.satellites,
            nan,
            nan,
            nan,
            _NAN3,
            _NAN3,
            _NAN3,
            _NAN3,
            unknown,
            unknown,
            local.C_ne,
            (1.0, 0.0, 0.0, 0.0),
            nan,
            nan,
            nan,
            missing,
            missing,
            tuple(signal.labels),
            *gps_time.week_and_time(t_ns, self.settings.leap_seconds),
        )

    # ------------------------------------------------------------------ state

    def _usable(self) -> bool:
        return self._fix

    def _quality(self) -> float:
        nominal, now = self._nominal[0][0], self._sigma[0][0]
        accuracy = nominal / now if now > nominal else 1.0
        return min(1.0, accuracy * self._sky.quality / self._noise_factor)


def _per_axis(horizontal_vertical: tuple[float, float]) -> Vec3:
    horizontal, vertical = horizontal_vertical
    return (horizontal, horizontal, vertical)


def _product(a: Vec3, b: Vec3) -> Vec3:
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2])


def _three(values: list[float]) -> Vec3:
    return (values[0], values[1], values[2])
