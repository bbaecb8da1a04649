"""Barometer."""

from __future__ import annotations

from typing import cast

from jaguar_sensors_ros.component import AUTO
from jaguar_sensors_ros.errors.additive import AdditiveTerms, white_sigma_of
from jaguar_sensors_ros.errors.ahead import Ahead
from jaguar_sensors_ros.errors.quantisation import round_to
from jaguar_sensors_ros.errors.sensing import REFERENCE_C
from jaguar_sensors_ros.errors.stochastic import stationary_sigma
from jaguar_sensors_ros.faults.base import Channels, Signal
from jaguar_sensors_ros.nav import atmosphere, earth
from jaguar_sensors_ros.nav.kinematics import Segment
from jaguar_sensors_ros.nav.rotation import add, rotate
from jaguar_sensors_ros.sensors.baro_settings import BaroSettings
from jaguar_sensors_ros.sensors.covariance import VARIANCE_FLOOR
from jaguar_sensors_ros.sensors.instant import InstantSensor
from jaguar_sensors_ros.types import NS_PER_S, BaroSample, Fidelity, TruthSample

AXIS = 'p'


class BaroSensor(InstantSensor[BaroSettings, BaroSample]):
    """Static pressure at the stamp; see :class:`Sensor`.

    p_m = p (1 + s) + bias + noise, rounded and within its range; p is that of the standard
    atmosphere at the height of the sensor over mean sea level.
    """

    type_name = 'baro'
    channels = Channels(
        names=('pressure',),
        axes=AXIS,
        units={'pressure': 'Pa'},
        modes=('bias', 'drift', 'noise', 'stuck', 'intermittent', 'jump', 'total'),
        offset_target='pressure',
    )

    def _rate_hz(self, settings: BaroSettings) -> float:
        return settings.sample_rate_hz

    def _power_up(self) -> None:
        self._additive = AdditiveTerms('pressure', self.streams, AXIS)
        self._ahead = Ahead(self._additive.block, self._additive.processes)

    def _configured(self) -> None:
        p = self.settings.pressure
        self._ahead.settle()
        self._additive.configure(p.terms, p.instability)
        self._is_transparent = self.fidelity is Fidelity.TRANSPARENT
        self.variance = self._variance()

    def _variance(self) -> float:
        """Return the variance to publish: white, quantisation, and stationary biases."""
        override, p = self.settings.covariance.pressure, self.settings.pressure
        if override != AUTO:
            return max(cast(float, override), VARIANCE_FLOOR)
        if self._is_transparent:
            return VARIANCE_FLOOR
        white = white_sigma_of(p.terms, 0, 1.0 / self.settings.sample_rate_hz)
        slow = stationary_sigma(p.bias_init_std, p.tau_bias_s, p.bias_model)
        rounding = p.resolution**2 / 12.0
        return max(white**2 + rounding + slow**2 + p.turn_on_bias_std**2, VARIANCE_FLOOR)

    def prepare(self) -> None:
        """Make random errors ahead."""
        self._ahead.prepare(self.grid)

    # ------------------------------------------------------------------ the chain

    def _sample(self, segment: Segment, t_ns: int, number: int, k: int) -> BaroSample | None:
        """True pressure, error terms, faults, sample."""
        state = segment.at(t_ns)
        span_ns = t_ns - self._tick_ns
        bias, noise = self._ahead.take(number, k, span_ns, self.grid)
        ideal = self.pressure(state)
        if self._is_transparent:
            reading, bias, noise = ideal, 0.0, 0.0
        else:
            bias += self._offset()
            reading = self._measured(ideal, bias + noise) + self._corrections['pressure'][0]
        sigma = white_sigma_of(self.settings.pressure.terms, 0, span_ns / NS_PER_S)
        signal = Signal({'pressure': [reading]}, {'pressure': (sigma, 0.0, 0.0)})
        self._apply_faults(signal, t_ns, number)
        after, held = signal.values['pressure'][0], self._last_published
        if held is not None and signal.frozen:
            after = held.pressure
        total = after - ideal
        self._observe(t_ns, state, pressure=(total, 0.0, 0.0))
        sample = BaroSample(
            self._stamp_ns(t_ns, number),
            number,
            after,
            self.variance,
            bias,
            noise,
            after - reading,
            total,
            tuple(signal.labels),
        )
        return self._released(sample, t_ns, signal.lost)

    def pressure(self, state: TruthSample) -> float:
        """Return the true pressure [Pa]."""
        air, local = self.settings.atmosphere, self.settings.local_frame
        p_n = add(state.p_n, rotate(state.q_nb, self.arm))
        _, _, height = earth.geodetic_from_ecef(local.ecef_from_local(p_n))
        return atmosphere.pressure(
            height - air.geoid_height_m, air.sea_level_pressure, air.temperature_offset_k
        )

    def _offset(self) -> float:
        """Return the constant bias with that by temperature."""
        p = self.settings.pressure
        return p.bias + p.temp_bias_coeff * (self.exposure.temperature_c - REFERENCE_C)

    def _measured(self, ideal: float, added: float) -> float:
        """Return what the output stage makes of a pressure and its random errors."""
        p = self.settings.pressure
        value = ideal * (1.0 + 1e-6 * p.scale_factor_ppm) + added
        if any(p.range):
            value = min(max(value, p.range[0]), p.range[1])
        return round_to(value, p.resolution) if p.resolution else value

    def _quality(self) -> float:
        return min(1.0, 1.0 / self._noise_factor)
