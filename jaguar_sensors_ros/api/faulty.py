"""Sensors with failures."""

from __future__ import annotations

from typing import Any

from jaguar_sensors_ros.api.injection import failure_request
from jaguar_sensors_ros.api.names import FailureMode
from jaguar_sensors_ros.api.powered import ConfigT, Powered
from jaguar_sensors_ros.faults.base import NONE


class Faulty(Powered[ConfigT]):
    """A sensor that takes injections."""

    def inject_failure(self, mode: str, magnitude: float | None = None, **options: Any) -> str:
        """Inject a fault, in effect from the next sample, in every fidelity.

        Parameters
        ----------
        mode : FailureMode or str
            The mode; none clears the target.
        magnitude : float, optional
            None is the default of the mode, if it has one.
        **options
            target, axis, delay, duration, ramp, repeat, period, as in InjectFailure.srv.

        Returns
        -------
        str
            A sentence that says what was done.

        Raises
        ------
        FaultError
            for what is unknown, missing or contradictory; nothing changed then.
        """
        request = failure_request(mode, magnitude, options)
        text: str = self._core.board.inject(request)
        if request.mode == NONE:
            self._forget_configured(request.target in ('', 'all'))
        return text

    def check_failure(self, mode: str, magnitude: float | None = None, **options: Any) -> None:
        """Raise FaultError where :meth:`inject_failure` would; change nothing."""
        self._core.board.rules.check(failure_request(mode, magnitude, options))

    def inject_timeline(self, text: str) -> int:
        """Inject the events of a timeline that name this sensor, timed from power-on.

        Parameters
        ----------
        text : str
            YAML as in a file for ``failure.timeline``; an empty one takes away the one before.

        Returns
        -------
        int
            The number of events.

        Raises
        ------
        JaguarError
            if it is not valid, or names this sensor nowhere; nothing changed then.
        """
        return int(self._core.inject_timeline(text))

    def clear_failure(self) -> None:
        """Clear all faults, those given by parameters included."""
        self._core.board.clear()
        self._forget_configured(True)

    def _forget_configured(self, all_of_it: bool) -> None:
        """Let the parameters show that what they gave was cleared."""
        cleared = self._core.cleared_parameters(all_of_it)
        if cleared:
            config = self.config
            config.update(cleared)
            self._take(config)

    def get_failure_modes(self) -> tuple[str, ...]:
        """Return the faults on the sensor as mode:target."""
        return () if self._on is None else tuple(self._on.status().faults)

    def get_failure_mode(self) -> Any:
        """Return the FailureMode of the last of :meth:`get_failure_modes`; none without one."""
        faults = self.get_failure_modes()
        return FailureMode(faults[-1].partition(':')[0] if faults else NONE)
