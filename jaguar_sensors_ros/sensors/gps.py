"""GNSS receiver."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from jaguar_sensors_ros.errors.stochastic import GaussMarkov
from jaguar_sensors_ros.faults.base import Channels, FaultMode, Signal
from jaguar_sensors_ros.nav import earth
from jaguar_sensors_ros.nav.kinematics import Segment
from jaguar_sensors_ros.nav.rotation import (
    add,
    cross,
    matrix_times,
    quat_multiply,
    rotate,
    rotate_back,
    scale,
    subtract,
    transposed_times,
)
from jaguar_sensors_ros.sensors.base import Sensor
from jaguar_sensors_ros.sensors.covariance import covariance
from jaguar_sensors_ros.sensors.gps_settings import (
    LEAST_SATELLITES,
    NOMINAL_HDOP,
    NOMINAL_SATELLITES,
    NOMINAL_VDOP,
    GpsSettings,
)
from jaguar_sensors_ros.types import (
    NS_PER_S,
    ZERO3,
    ChannelError,
    Fidelity,
    FixType,
    GpsSample,
    Mat3,
    Quat,
    Vec3,
)

AXES = 'enu'
_NAN3: Vec3 = (math.nan, math.nan, math.nan)
#: variance that goes with a missing fix, whose covariance type is unknown [m2, (m/s)2]
_UNKNOWN_VARIANCE = 1e9


@dataclass(frozen=True, slots=True)
class Antenna:
    """True position and velocity of the antenna and the axes at its place."""

    p_e: Vec3
    v_e: Vec3
    C_le: Mat3
    q_ns: Quat


class GpsSensor(Sensor[GpsSettings, GpsSample]):
    """Position and velocity of an antenna, in ECEF; see :class:`Sensor`.

    Errors are drawn along east, north and up at the antenna and turned into ECEF.
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
        ),
        offset_target='position',
        rate_of={'position': 'velocity'},
    )

    def __init__(
        self, name: str, settings: GpsSettings, seed: int, fault_modes: Mapping[str, FaultMode]
    ) -> None:
        self._noise_factor = 1.0
        self._satellites = settings.satellites
        self._fix = True
        super().__init__(name, settings, seed, fault_modes)

    def _rate_hz(self, settings: GpsSettings) -> float:
        return settings.update_hz

    def _power_up(self) -> None:
        self._white_position = self.streams.triad('position.white_noise', AXES)
        self._white_velocity = self.streams.triad('velocity.white_noise', AXES)
        self._correlated = [
            GaussMarkov(stream) for stream in self.streams.triad('position.correlated', AXES)
        ]

    def _configured(self) -> None:
        s = self.settings
        self._sigma_position = _per_axis(s.pos_std_dev)
        self._sigma_velocity = _per_axis(s.vel_std_dev)

    def _first_tick(self, t_ns: int) -> int:
        return self.grid.first_at(t_ns + 1)

    # ------------------------------------------------------------------ the chain

    def _sample(self, segment: Segment, t_ns: int, number: int, k: int) -> GpsSample | None:
        """Antenna truth, error terms, faults, sample."""
        antenna = self._antenna(segment, t_ns)
        dt_s = (t_ns - self._tick_ns) / NS_PER_S
        white, slow, velocity_noise = self._errors(number, dt_s)
        if self.fidelity is Fidelity.TRANSPARENT:
            white, slow, velocity_noise = ZERO3, ZERO3, ZERO3
        v_enu = matrix_times(antenna.C_le, antenna.v_e)
        nominal = math.sqrt(NOMINAL_SATELLITES / max(self.settings.satellites, 1))
        white_share = math.sqrt(1.0 - self.settings.pos_correlated_fraction)
        signal = Signal(
            {'position': [0.0, 0.0, 0.0], 'velocity': [0.0, 0.0, 0.0]},
            {
                'position': scale(self._sigma_position, nominal * white_share),
                'velocity': scale(self._sigma_velocity, nominal),
            },
        )
        self._apply_faults(signal, t_ns, number)
        self._noise_factor = signal.noise_factor
        self._satellites = max(0, self.settings.satellites - signal.satellites_lost)
        self._fix = self._has_fix(t_ns)
        dilution = math.sqrt(NOMINAL_SATELLITES / max(self._satellites, 1))
        white, slow = scale(white, dilution), scale(slow, dilution)
        velocity_noise = scale(velocity_noise, dilution)
        offset = _three(signal.values['position'])
        v_offset = _three(signal.values['velocity'])
        if not self._fix:
            sample = self._no_fix(t_ns, number, signal)
            return self._released(sample, t_ns, signal.lost)
        sound, v_sound = add(white, slow), add(v_enu, velocity_noise)
        error = self._hold_position(signal, antenna, add(sound, offset))
        v_measured = self._hold_velocity(signal, add(v_sound, v_offset))
        fault, v_fault = subtract(error, sound), subtract(v_measured, v_sound)
        labels = (
            ChannelError(slow, white, fault, error),
            ChannelError(ZERO3, velocity_noise, v_fault, subtract(v_measured, v_enu)),
        )
        sample = self._fix_sample(antenna, error, v_measured, labels, t_ns, number, signal)
        return self._released(sample, t_ns, signal.lost)

    def _antenna(self, segment: Segment, t_ns: int) -> Antenna:
        state = segment.at(t_ns)
        local = self.settings.local_frame
        p_n = add(state.p_n, rotate(state.q_nb, self.arm))
        v_b = add(state.v_nb_b, cross(state.omega_nb_b, self.arm))
        p_e = local.ecef_from_local(p_n)
        v_e = transposed_times(local.C_ne, rotate(state.q_nb, v_b))
        latitude, longitude, _ = earth.geodetic_from_ecef(p_e)
        axes = earth.enu_from_ecef_matrix(latitude, longitude)
        return Antenna(p_e, v_e, axes, quat_multiply(state.q_nb, self.q_bs))

    def _errors(self, number: int, dt_s: float) -> tuple[Vec3, Vec3, Vec3]:
        """Return white and correlated position error [m] and velocity noise [m/s], ENU."""
        s = self.settings
        fraction = s.pos_correlated_fraction
        white, slow, velocity = [], [], []
        for i in range(3):
            sigma = self._sigma_position[i]
            white.append(sigma * math.sqrt(1.0 - fraction) * self._white_position[i](number))
            state = self._correlated[i].step(number, dt_s, s.pos_correlation_time_s)
            slow.append(sigma * math.sqrt(fraction) * state)
            velocity.append(self._sigma_velocity[i] * self._white_velocity[i](number))
        return _three(white), _three(slow), _three(velocity)

    def _has_fix(self, t_ns: int) -> bool:
        if self.settings.fix_type == 'none' or self._satellites < LEAST_SATELLITES:
            return False
        cold_s = self.settings.cold_start_s
        if cold_s == 0.0 or self.fidelity is Fidelity.TRANSPARENT:
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
        ratio = NOMINAL_SATELLITES / self._satellites
        dilution = math.sqrt(ratio)
        hdop, vdop = NOMINAL_HDOP * dilution, NOMINAL_VDOP * dilution
        return GpsSample(
            t_ns,
            number,
            FixType[self.settings.fix_type.upper()],
            self._satellites,
            place[0],
            place[1],
            place[2],
            p_e,
            v_enu,
            v_e,
            v_s,
            self._covariance(self.settings.covariance.position, self._sigma_position, ratio),
            self._covariance(self.settings.covariance.velocity, self._sigma_velocity, ratio),
            antenna.C_le,
            antenna.q_ns,
            hdop,
            vdop,
            math.hypot(hdop, vdop),
            labels[0],
            labels[1],
            tuple(signal.labels),
        )

    def _covariance(
        self, override: tuple[float, ...] | str, sigma: Vec3, ratio: float
    ) -> tuple[float, ...]:
        if self.fidelity is Fidelity.TRANSPARENT:
            return covariance(override, ZERO3)
        return covariance(override, _three([ratio * x * x for x in sigma]))

    def _no_fix(self, t_ns: int, number: int, signal: Signal) -> GpsSample:
        unknown = covariance((_UNKNOWN_VARIANCE,), ZERO3)
        missing = ChannelError(_NAN3, _NAN3, _NAN3, _NAN3)
        local = self.settings.local_frame
        nan = math.nan
        return GpsSample(
            t_ns,
            number,
            FixType.NONE,
            self._satellites,
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
        )

    # ------------------------------------------------------------------ state

    def _usable(self) -> bool:
        return self._fix

    def _quality(self) -> float:
        share = math.sqrt(self._satellites / NOMINAL_SATELLITES)
        return min(1.0, share / self._noise_factor)


def _per_axis(horizontal_vertical: tuple[float, float]) -> Vec3:
    horizontal, vertical = horizontal_vertical
    return (horizontal, horizontal, vertical)


def _three(values: list[float]) -> Vec3:
    return (values[0], values[1], values[2])
