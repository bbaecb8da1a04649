"""What a sensor is exposed to: temperature, vibration and shock, and their limits."""

from __future__ import annotations

from dataclasses import dataclass

from jaguar_sensors_ros.component import ParameterError, parameter
from jaguar_sensors_ros.errors.vibration import AlternatingPart
from jaguar_sensors_ros.nav.earth import STANDARD_GRAVITY
from jaguar_sensors_ros.types import NS_PER_S, Vec3


@dataclass(frozen=True)
class LimitSettings:
    """Limits of the environment; beyond them the sensor is Degraded."""

    min_temperature: float = parameter(
        -40.0, 'Lowest temperature.', unit='degC', source='document 000'
    )
    max_temperature: float = parameter(
        85.0, 'Highest temperature.', unit='degC', source='document 000'
    )
    max_vibration: float = parameter(
        20.0,
        'Highest RMS, on any axis, of the alternating part of the specific force over a second, '
        'the vibration set by parameters included.',
        unit='g',
        minimum=0.0,
        source='document 000',
    )
    max_shock: float = parameter(
        100.0,
        'Highest magnitude of the true specific force; remembered for a second.',
        unit='g',
        minimum=0.0,
        source='document 000',
    )

    def __post_init__(self) -> None:
        if self.max_temperature < self.min_temperature:
            raise ParameterError(
                'max_temperature',
                self.max_temperature,
                f'must be at least min_temperature ({self.min_temperature:g})',
            )


class Exposure:
    """The temperature of a sensor and what it feels of shocks and vibration."""

    def __init__(self, temperature_c: float) -> None:
        self.temperature_c = temperature_c
        #: time of the last sample [ns]
        self._felt_ns: int | None = None
        self._shock_ns: int | None = None
        self.break_off()

    def break_off(self) -> None:
        """Forget the motion: what came before a gap in the truth is over."""
        self._alternating = AlternatingPart()

    @property
    def mean_square(self) -> Vec3:
        """Mean square of the alternating part over the last second, per axis [g^2]."""
        return self._alternating.mean_square

    def warm(self, t_ns: int, since_ns: int, target_c: float, slew_c_per_s: float) -> None:
        """Let the temperature follow its setting up to ``t_ns`` [ns].

        ``since_ns`` is the time from which a first change counts; a slew of 0 is a step.
        """
        change = target_c - self.temperature_c
        if slew_c_per_s > 0.0:
            start_ns = since_ns if self._felt_ns is None else self._felt_ns
            most = slew_c_per_s * (t_ns - start_ns) / NS_PER_S
            change = min(max(change, -most), most)
        self.temperature_c += change

    def feel(self, t_ns: int, force: Vec3, limit_g: float) -> None:
        """Take the true specific force [m/s2] of a sample, without added vibration."""
        self._felt_ns = t_ns
        self._alternating.push(t_ns, force)
        x, y, z = force
        limit = limit_g * STANDARD_GRAVITY
        if x * x + y * y + z * z > limit * limit:
            self._shock_ns = t_ns

    def exceeded(self, limits: LimitSettings, now_ns: int, added: float) -> list[str]:
        """Return which limits are exceeded; ``added`` is the mean square set by parameters [g^2].

        The words stay the same while a limit stays exceeded.
        """
        causes = []
        if self.temperature_c > limits.max_temperature:
            causes.append(f'temperature above {limits.max_temperature:g} degC')
        if self.temperature_c < limits.min_temperature:
            causes.append(f'temperature below {limits.min_temperature:g} degC')
        if max(self.mean_square) + added > limits.max_vibration**2:
            causes.append(f'vibration above {limits.max_vibration:g} g RMS')
        if self._shock_ns is not None and now_ns - self._shock_ns < NS_PER_S:
            causes.append(f'shock above {limits.max_shock:g} g')
        return causes
