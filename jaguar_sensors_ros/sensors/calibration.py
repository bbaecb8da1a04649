"""Calibration at rest: the mean of measured minus ideal, subtracted from then on."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from jaguar_sensors_ros.nav.rotation import add, norm, scale
from jaguar_sensors_ros.types import NS_PER_S, ZERO3, JaguarError, TruthSample, Vec3

#: above these the truth counts as moving [m/s], [rad/s]
STILL_SPEED, STILL_RATE = 1e-3, 1e-4
#: longest calibration [s]
LONGEST_S = 1e6


@dataclass
class Calibration:
    """One run of a calibration; sums up errors until its duration is over.

    ``refused`` says why a run ended without a result; ``done`` tells that it ended.

    Parameters
    ----------
    duration_ns : int
        Measurement time to average over [ns].
    """

    duration_ns: int
    start_ns: int | None = None
    count: int = 0
    sums: dict[str, Vec3] = field(default_factory=dict)
    refused: str = ''
    done: bool = False

    @classmethod
    def of(cls, duration_s: float) -> Calibration:
        """Return a run of a duration [s].

        Raises
        ------
        JaguarError
            if the duration is not a finite number above 0.
        """
        if not math.isfinite(duration_s) or not 0.0 < duration_s <= LONGEST_S:
            raise JaguarError(
                f'duration {duration_s:g} is not valid; valid: seconds above 0, at most '
                f'{LONGEST_S:g}'
            )
        return cls(round(duration_s * NS_PER_S))

    def push(self, t_ns: int, before_ns: int, state: TruthSample, **errors: Vec3) -> bool:
        """Take the errors of a sample by channel; tell whether the run is over.

        ``before_ns`` is the time of the sample before [ns]; where ``state`` is not at rest the
        run is refused.
        """
        if self.start_ns is None:
            self.start_ns = before_ns
        speed, rate = norm(state.v_nb_b), norm(state.omega_nb_b)
        if speed > STILL_SPEED or rate > STILL_RATE:
            self.end(
                f'the truth is moving: {speed:.3g} m/s, {rate:.3g} rad/s (at rest is up to '
                f'{STILL_SPEED:g} m/s and {STILL_RATE:g} rad/s)'
            )
            return True
        for channel, error in errors.items():
            self.sums[channel] = add(self.sums.get(channel, ZERO3), error)
        self.count += 1
        self.done = t_ns >= self.start_ns + self.duration_ns
        return self.done

    def end(self, reason: str) -> None:
        """End the run without a result."""
        self.refused, self.done = reason, True

    def means(self) -> dict[str, Vec3]:
        """Return the mean error of each channel."""
        return {name: scale(total, 1.0 / self.count) for name, total in self.sums.items()}
