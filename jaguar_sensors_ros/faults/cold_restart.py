"""A receiver that starts anew and has to find its satellites."""

from __future__ import annotations

from jaguar_sensors_ros.faults.base import ActiveFault, Draw, FaultMode, Signal


class ColdRestart(FaultMode):
    """Puts out NO_FIX until the time to first fix, given as magnitude, is over.

    The default is that of receivers for one frequency, whose data sheets give about half a minute
    for a cold start under an open sky: the broadcast ephemeris takes 30 s (IS-GPS-200, 20.3.2).
    """

    name = 'cold_restart'
    default_magnitude = 30.0
    whole_sensor = True
    magnitude_text = 'the time to first fix in seconds, above 0 (0: 30)'

    def accepts(self, magnitude: float) -> bool:
        """A time that is over some day."""
        return 0.0 < magnitude <= 1e9

    def own_duration_s(self, magnitude: float) -> float:
        """Return the time to first fix [s]."""
        return magnitude

    def act(
        self, signal: Signal, fault: ActiveFault, elapsed_s: float, axes: str, draw: Draw
    ) -> float:
        """Take the fix away; return the time that is left [s]."""
        left_s = fault.magnitude - elapsed_s
        signal.fix_lost = signal.fix_lost or left_s >= 0.0
        return max(0.0, left_s)
