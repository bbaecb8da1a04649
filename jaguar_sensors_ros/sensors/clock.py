"""The clock of a sensor, which is not that of the truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

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
        self._last_ns = 0

    def stamp_ns(
        self, settings: ClockSettings, t_ns: int, power_on_ns: int, number: int
    ) -> int:
        """Return the stamp [ns] of the sample ``number`` measured at ``t_ns``."""
        if settings.is_exact and t_ns > self._last_ns:
            self._last_ns = t_ns
            return t_ns
        error_ns = round(settings.offset_s * NS_PER_S)
        error_ns += round(settings.drift_ppm * _PPM * (t_ns - power_on_ns))
        error_ns += round(settings.jitter_s * NS_PER_S * self._jitter(number))
        self._last_ns = max(t_ns + error_ns, self._last_ns + 1)
        return self._last_ns

    def block(
        self, settings: ClockSettings, times_ns: Any, power_on_ns: int, start: int
    ) -> Any:
        """Return the stamps [ns] of consecutive samples, the first of them number ``start``.

        :meth:`stamp_ns` for an array of int64, shape (n,).
        """
        stamps = np.array(times_ns)
        if not settings.is_exact:
            stamps += round(settings.offset_s * NS_PER_S)
            drift = settings.drift_ppm * _PPM * (times_ns - power_on_ns)
            stamps += np.rint(drift).astype(np.int64)
            noise = self._jitter.array(start, len(stamps)) if settings.jitter_s else 0.0
            stamps += np.rint(settings.jitter_s * NS_PER_S * noise).astype(np.int64)
        steps = np.arange(len(stamps))
        stamps -= steps
        stamps[0] = max(int(stamps[0]), self._last_ns + 1)
        stamps = np.maximum.accumulate(stamps) + steps
        self._last_ns = int(stamps[-1])
        return stamps
