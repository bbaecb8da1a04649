"""Magnetometer."""

from __future__ import annotations

from typing import cast

from jaguar_sensors_ros.component import AUTO, ParameterError
from jaguar_sensors_ros.errors.ahead import Ahead
from jaguar_sensors_ros.errors.triad import Ambience, Triad
from jaguar_sensors_ros.faults.base import Channels, Signal
from jaguar_sensors_ros.nav.kinematics import Segment
from jaguar_sensors_ros.nav.magnetic import ConstantField, EarthField, Field, require_library
from jaguar_sensors_ros.nav.rotation import (
    add,
    matrix_times,
    quat_multiply,
    rotate,
    rotate_back,
    scale,
    subtract,
)
from jaguar_sensors_ros.sensors.covariance import covariance
from jaguar_sensors_ros.sensors.instant import InstantSensor
from jaguar_sensors_ros.sensors.mag_settings import MagSettings
from jaguar_sensors_ros.types import (
    NS_PER_S,
    ZERO3,
    ChannelError,
    Fidelity,
    JaguarError,
    MagSample,
    TruthSample,
    Vec3,
)

#: variance published where the reading is exact: that of a tenth of a nanotesla [T^2]
_LEAST_VARIANCE = 1e-20


class MagSensor(InstantSensor[MagSettings, MagSample]):
    """Three axes that measure the magnetic flux density at the stamp; see :class:`Sensor`.

    B_m = f(M (A B_s + b)) + bias + noise, B_s = R(q_ns)^T B_n: A is the soft iron, b the hard
    iron; M, f and the random terms are those of :class:`errors.triad.Triad`.
    """

    type_name = 'mag'
    channels = Channels(
        names=('mag',),
        axes='xyz',
        units={'mag': 'T'},
        modes=('bias', 'drift', 'noise', 'stuck', 'intermittent', 'jump', 'total'),
        offset_target='mag',
    )

    def _rate_hz(self, settings: MagSettings) -> float:
        return settings.sample_rate_hz

    def _power_up(self) -> None:
        self.triad = Triad('mag', self.streams)
        additive = self.triad.additive
        self._ahead = Ahead(additive.block, additive.processes)
        self._gap()

    def check(self, settings: MagSettings) -> None:
        """Raise ParameterError where the settings do not fit, or need a library."""
        super().check(settings)
        if settings.field == AUTO:
            try:
                require_library()
            except JaguarError as error:
                raise ParameterError(
                    'field', AUTO, f'{error}; or give three numbers, a constant field'
                ) from None

    def _configured(self) -> None:
        s = self.settings
        self._ahead.settle()
        self.triad.configure(s.mag, s.bias, ZERO3, None)
        self._is_transparent = self.fidelity is Fidelity.TRANSPARENT
        key = (s.field, s.year, s.local_frame)
        if getattr(self, '_field_of', None) != key:
            self._field_of, self._field = key, _field(s)
        variance = self.triad.variance(1.0 / s.sample_rate_hz)
        self.covariance = covariance(
            s.covariance.magnetic_field,
            ZERO3 if self._is_transparent else variance,
            _LEAST_VARIANCE,
        )

    def prepare(self) -> None:
        """Make random errors ahead."""
        self._ahead.prepare(self.grid)

    def _gap(self) -> None:
        #: what the iron lets through at the tick before
        self._before: Vec3 | None = None
        self.triad.low_pass.break_off()

    # ------------------------------------------------------------------ the chain

    def _sample(self, segment: Segment, t_ns: int, number: int, k: int) -> MagSample | None:
        """Field, iron, error terms, faults, sample."""
        state = segment.at(t_ns)
        span_ns = t_ns - self._tick_ns
        dt_s = span_ns / NS_PER_S
        ideal = self.field(state)
        terms = self._ahead.take(number, k, span_ns, self.grid)
        reading, bias, noise = self._measured(ideal, terms, dt_s)
        if self._is_transparent:
            reading, bias, noise = ideal, ZERO3, ZERO3
        else:
            reading = add(reading, self._corrections['mag'])
        signal = Signal({'mag': list(reading)}, {'mag': self.triad.white_sigma(dt_s)})
        self._apply_faults(signal, t_ns, number)
        x, y, z = self._frozen(signal)
        after = (x, y, z)
        error = ChannelError(bias, noise, subtract(after, reading), subtract(after, ideal))
        self._observe(t_ns, state, mag=error.total)
        stamp_ns = self._stamp_ns(t_ns, number)
        sample = MagSample(
            stamp_ns, number, after, self.covariance, error, tuple(signal.labels)
        )
        return self._released(sample, t_ns, signal.lost)

    def field(self, state: TruthSample) -> Vec3:
        """Return the true flux density in sensor axes [T]."""
        p_n = add(state.p_n, rotate(state.q_nb, self.arm))
        return rotate_back(quat_multiply(state.q_nb, self.q_bs), self._field.at(p_n, state.t_ns))

    def _measured(
        self, ideal: Vec3, terms: list[float], dt_s: float
    ) -> tuple[Vec3, Vec3, Vec3]:
        """Return reading, bias and white noise; the hard iron is part of the bias.

        Between two ticks the field is taken for linear in time, which the low-pass needs.
        """
        s = self.settings
        seen = add(matrix_times(s.soft_iron_matrix, ideal), s.hard_iron)
        before = seen if self._before is None else self._before
        self._before = seen
        mean = scale(add(before, seen), 0.5)
        pieces = [(dt_s, scale(mean, dt_s), subtract(seen, before))]
        ambience = Ambience(ZERO3, self.exposure.temperature_c, self.exposure.mean_square)
        _, _, reading, bias, noise = self.triad.step(mean, pieces, seen, terms, dt_s, ambience)
        return reading, add(bias, s.hard_iron), noise

    def _frozen(self, signal: Signal) -> list[float]:
        """Return the values with the frozen axes at the last published sample."""
        values, held = signal.values['mag'], self._last_published
        if held is not None:
            for axis in signal.frozen.get('mag', ()):
                values[axis] = held.field[axis]
        return values

    def _quality(self) -> float:
        return min(1.0, 1.0 / self._noise_factor)


def _field(s: MagSettings) -> Field:
    """Return the field that the settings ask for."""
    if s.field != AUTO:
        return ConstantField(cast(Vec3, s.field))
    return EarthField(s.local_frame, None if s.year == AUTO else cast(float, s.year))
