"""The played sensors: their channels, and the errors that can be asked for."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, ClassVar

from jaguar_sensors_ros.catalogue import SENSORS, make_settings
from jaguar_sensors_ros.errors.triad_settings import BiasSettings, TriadSettings
from jaguar_sensors_ros.faults.base import Channels
from jaguar_sensors_ros.nav.earth import ecef_from_geodetic, geodetic_from_ecef
from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.scenario.fields import POSITION, Values
from jaguar_sensors_ros.scenario.played import PlayedSensor, Terms
from jaguar_sensors_ros.scenario.settings import PLAYED, PlayedSettings
from jaguar_sensors_ros.types import ZERO3, Vec3

#: modes that need no model of the sensor
_MODES = ('bias', 'drift', 'noise', 'stuck', 'intermittent', 'jump', 'total')


def _channels(type_name: str) -> Channels:
    """Return those of the live sensor."""
    return replace(SENSORS[type_name][0].channels, modes=_MODES)


class PlayedImu(PlayedSensor):
    """A played IMU."""

    type_name = 'imu'
    channels = _channels(type_name)
    places: ClassVar = {'gyro': ('data', 'gyro'), 'accel': ('data', 'accel')}

    def _terms(self, settings: Any) -> dict[str, Terms]:
        if settings.errors == 'none':
            return {}
        imu: Any = make_settings('imu', {'grade': settings.errors})
        # what was measured has gone through the bandwidth of an IMU already
        gyro, accel = (replace(one, bandwidth_hz=ZERO3) for one in (imu.gyro, imu.accel))
        sensitivity = imu.gyro.g_sensitivity_matrix()
        return {
            'gyro': (gyro, imu.gyro_bias, imu.gyro_lsb, sensitivity),
            'accel': (accel, imu.accel_bias, imu.accel_lsb, None),
        }


class PlayedGps(PlayedSensor):
    """A played GNSS receiver; the channel position is an offset from what was measured."""

    type_name = 'gps'
    channels = _channels(type_name)
    places: ClassVar = {
        'position': ('fix', 'latitude'),
        'velocity': ('velocity', 'velocity'),
    }

    def _terms(self, settings: Any) -> dict[str, Terms]:
        if settings.errors == 'none':
            return {}
        gps: Any = make_settings('gps', {'fix_type': settings.errors})
        fraction, tau_s = gps.pos_correlated_fraction, gps.pos_correlation_time_s
        east, up = gps.pos_std_dev
        white = [(1.0 - fraction) * sigma * sigma for sigma in (east, east, up)]
        slow = [fraction**0.5 * sigma for sigma in (east, east, up)]
        speed, climb = gps.vel_std_dev
        fast = [speed * speed, speed * speed, climb * climb]
        return {
            'position': _white(white, slow, [0.0] * 3, tau_s),
            'velocity': _white(fast, [0.0] * 3, [0.0] * 3, tau_s),
        }

    def vector(self, channel: str, values: Values) -> Vec3:
        return ZERO3 if channel == 'position' else super().vector(channel, values)

    def replaced(
        self, channel: str, values: Values, vector: Vec3, frozen: set[int], held: Values
    ) -> Values:
        if channel != 'position':
            return super().replaced(channel, values, vector, frozen, held)
        if any(name not in held for name in POSITION):
            frozen = set()
        if len(frozen) == 3:
            return {**values, **{name: held[name] for name in POSITION}}
        latitude, longitude, height = (values[name][0] for name in POSITION)
        here = LocalFrame(latitude, longitude, height)
        offset = list(vector)
        if frozen:
            there = here.local_from_ecef(_ecef(*(held[name][0] for name in POSITION)))
            for axis in frozen:
                offset[axis] = there[axis]
        p_e = here.ecef_from_local((offset[0], offset[1], offset[2]))
        phi, lam, h = geodetic_from_ecef(p_e)
        geodetic = (math.degrees(phi), math.degrees(lam), h)
        return {**values, **{name: (x,) for name, x in zip(POSITION, geodetic, strict=True)}}


class PlayedBaro(PlayedSensor):
    """A played barometer."""

    type_name = 'baro'
    channels = _channels(type_name)
    places: ClassVar = {'pressure': ('pressure', 'pressure')}

    def _terms(self, settings: Any) -> dict[str, Terms]:
        return {} if _is_exact(settings) else {'pressure': _own(settings, 1)}


class PlayedMag(PlayedSensor):
    """A played magnetometer."""

    type_name = 'mag'
    channels = _channels(type_name)
    places: ClassVar = {'mag': ('field', 'mag')}

    def _terms(self, settings: Any) -> dict[str, Terms]:
        return {} if _is_exact(settings) else {'mag': _own(settings, 3)}


_SENSORS: dict[str, type[PlayedSensor]] = {
    one.type_name: one for one in (PlayedImu, PlayedGps, PlayedBaro, PlayedMag)
}


def make_played(node: str, name: str, settings: PlayedSettings, seed: int) -> PlayedSensor:
    """Make the played sensor of a node, ``imu``, ``gps``, ``baro`` or ``mag``."""
    assert isinstance(settings, PLAYED[node])
    return _SENSORS[node](name, settings, seed)


def _white(variances: list[float], slow: list[float], turn_on: list[float], tau_s: float) -> Terms:
    """Return white noise of these variances on each sample, biases and Gauss-Markov processes."""
    settings = TriadSettings(
        white_noise_psd=_three(variances),
        white_noise_bandwidth=(1.0, 1.0, 1.0),
        turn_on_bias_std=_three(turn_on),
    )
    return settings, BiasSettings(_three(slow), (tau_s, tau_s, tau_s)), ZERO3, None


def _three(numbers: list[float]) -> Vec3:
    return (numbers[0], numbers[1], numbers[2])


def _own(settings: Any, axes: int) -> Terms:
    """Return the errors given by parameters, on the first axes."""
    numbers = (
        settings.white_noise_std**2, settings.bias_instability, settings.turn_on_bias_std
    )
    white, slow, offset = ([x] * axes + [0.0] * (3 - axes) for x in numbers)
    return _white(white, slow, offset, settings.tau_bias_s)


def _is_exact(settings: Any) -> bool:
    names = ('white_noise_std', 'turn_on_bias_std', 'bias_instability')
    return not any(getattr(settings, name) for name in names)


def _ecef(latitude_deg: float, longitude_deg: float, height_m: float) -> Vec3:
    return ecef_from_geodetic(math.radians(latitude_deg), math.radians(longitude_deg), height_m)
