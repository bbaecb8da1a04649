"""The clock of a sensor, which is not that of the truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from jaguar_sensors_ros.component import StreamFactory, parameter
from jaguar_sensors_ros.types import NS_PER_S

_PPM = 1e-6


@dataclass(frozen=True)
class ClockSettings:
    """Errors of the stamps; all off by default."""

    offset_s: float = parameter(
        0.0, 'Constant error of the stamps.', unit='s', minimum=-1e6, maximum=1e6
    )
    drift_ppm: float = parameter(
        0.0,
        'Rate error of the clock: the stamps run away by so much since power-on.',
        unit='ppm',
        minimum=-1e5,
        maximum=1e5,
    )
    jitter_s: float = parameter(
        0.0, 'Standard deviation of the error of each stamp, white.', unit='s', minimum=0.0
    )

    @cached_property
    def is_exact(self) -> bool:
        """True where the stamps are those of the truth."""
        return self.offset_s == 0.0 and self.drift_ppm == 0.0 and self.jitter_s == 0.0


class SensorClock:
    """Stamps of a clock with an offset, a drift and jitter.

    stamp = t + offset + drift (t - t_on) + jitter w.  The instants of measurement stay on the
    grid in truth time; only what the sensor says of them is wrong.  Stamps stay strictly
    increasing and above 0, whatever the jitter.
    """

    def __init__(self, streams: StreamFactory) -> None:
        self._jitter = streams.stream('clock.jitter', '')
        #: the last stamp [ns]
        self.last_ns = 0

    def stamp_ns(
        self, settings: ClockSettings, t_ns: int, power_on_ns: int, number: int
    ) -> int:
        """Return the stamp [ns] of the sample ``number`` measured at ``t_ns``."""
        error_ns = round(settings.offset_s * NS_PER_S)
        error_ns += round(settings.drift_ppm * _PPM * (t_ns - power_on_ns))
        error_ns += round(settings.jitter_s * NS_PER_S * self._jitter(number))
        self.last_ns = max(t_ns + error_ns, self.last_ns + 1)
        return self.last_ns
