"""An error inside one sensor of a suite fails that sensor and no other."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from jaguar_sensors_ros.sensors.base import Status
from jaguar_sensors_ros.types import SensorState


class Guard:
    """Stands between the callbacks of a sensor and the executor.

    Parameters
    ----------
    active : bool
        False where the node runs alone: errors go through.
    log : logger
        Where errors are told.
    changed : callable
        Called when the sensor has broken.
    """

    def __init__(self, active: bool, log: Any, changed: Callable[[], None]) -> None:
        self._active, self._log, self._changed = active, log, changed
        self.cause = ''

    @property
    def is_broken(self) -> bool:
        """Whether an error has put the sensor out of work until it is reset."""
        return bool(self.cause)

    def mend(self) -> None:
        """Let the sensor work again."""
        self.cause = ''

    def around(self, work: Callable[..., None]) -> Callable[..., None]:
        """Return a callback that lets no error through."""
        if not self._active:
            return work

        @wraps(work)  # rclpy looks at the parameters of a callback
        def run(*arguments: Any) -> None:
            try:
                work(*arguments)
            except Exception as error:
                self._break(error)

        return run

    def answering(self, serve: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """Return the callback of a service that answers with an error instead of raising it."""
        if not self._active:
            return serve

        def run(request: Any, response: Any) -> Any:
            try:
                return serve(request, response)
            except Exception as error:
                self._break(error)
                response.success, response.message = False, self.cause
                return response

        return run

    def _break(self, error: Exception) -> None:
        cause = f'internal error: {type(error).__name__}: {error}'
        if cause != self.cause:
            self.cause = cause
            trace = ''.join(traceback.format_exception(type(error), error, error.__traceback__))
            self._log.error(
                f'{cause}; the sensor gives nothing until it is reset (~/reset)\n{trace}'
            )
            self._changed()

    def seen_in(self, status: Status) -> Status:
        """Return the status of the sensor, Failed if it is broken."""
        if not self.cause or status.state is SensorState.OFF:
            return status
        return replace(
            status, state=SensorState.FAILED, causes=(self.cause,), valid=False, confidence=0.0
        )
