"""The services that inject and clear faults, and the parameters ``failure.*`` with them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

from jaguar_sensors_msgs.srv import InjectFailure, InjectTimeline
from rclpy.node import Node
from std_srvs.srv import Trigger

from jaguar_sensors_ros.faults.base import NONE, FaultError, FaultRequest
from jaguar_sensors_ros.ros.parameters import ParameterBridge
from jaguar_sensors_ros.ros.reader import read_fault
from jaguar_sensors_ros.sensors.base import Sensor
from jaguar_sensors_ros.types import JaguarError

Serve = Callable[[Any, Any], Any]

#: parameters that make up the failure given by parameters
_REQUEST = frozenset(f'failure.{field.name}' for field in fields(FaultRequest))
_TIMELINE = 'failure.timeline'
_LOCKED = 'injection is locked: the parameter failure.allow_injection is false'


class FaultDesk:
    """Takes faults for one sensor over its services.

    Parameters
    ----------
    node : Node
        The node of the sensor; the services are made here.
    sensor : Sensor
        The sensor.
    bridge : ParameterBridge
        Its parameters.
    changed : callable
        Called when the faults may have changed.
    guarded : callable
        Makes the callback of a service from what serves it.
    """

    def __init__(
        self,
        node: Node,
        sensor: Sensor[Any, Any],
        bridge: ParameterBridge[Any],
        changed: Callable[[], None],
        guarded: Callable[[Serve], Serve],
    ) -> None:
        self._node, self._sensor, self._bridge, self._changed = node, sensor, bridge, changed
        self._log = node.get_logger()
        self._said = False
        self.services = [
            node.create_service(kind, f'~/{name}', guarded(serve))
            for kind, name, serve in (
                (InjectFailure, 'inject_failure', self._serve_inject),
                (InjectTimeline, 'inject_timeline', self._serve_timeline),
                (Trigger, 'clear_failure', self._serve_clear),
            )
        ]
        self.remark()
        self._remark_on_timeline()

    # ------------------------------------------------------------------ parameters

    def parameters_set(self, names: frozenset[str]) -> None:
        """Take note that parameters were set, perhaps to what they were."""
        if names & _REQUEST:  # set again, perhaps to the same: it starts anew
            self._sensor.board.arm_configured()
        if _TIMELINE in names:
            self._remark_on_timeline()
        self.remark()

    def remark(self) -> None:
        """Say once that faults given by parameters wait for their fidelity."""
        settings = self._bridge.settings
        failure = settings.failure
        given = {'mode': failure.mode != NONE, 'mtbf_hours': failure.mtbf_hours > 0.0}
        given['timeline'] = bool(failure.timeline)
        if any(given.values()) and settings.fidelity != 'fault' and not self._said:
            self._said = True
            names = ', '.join(
                f'failure.{name} is {getattr(failure, name)}' for name in given if given[name]
            )
            self._log.warning(
                f'{names}, but the fidelity is {settings.fidelity}: it acts only with '
                'fidelity: fault'
            )

    def _remark_on_timeline(self) -> None:
        path = self._bridge.settings.failure.timeline
        if path and not self._sensor.timeline_events:
            self._log.warning(
                f'failure.timeline {path} has no event for the sensor '
                f'{self._node.get_fully_qualified_name()}'
            )

    def _forget_configured(self, all_of_it: bool) -> None:
        """Let the parameters failure.* show that what they gave was cleared."""
        for name, value in self._sensor.cleared_parameters(all_of_it).items():
            self._bridge.assign(name, value)

    # ------------------------------------------------------------------ requests

    @property
    def _is_locked(self) -> bool:
        return not self._bridge.settings.failure.allow_injection

    def _require_key(self) -> None:
        if self._is_locked:
            raise FaultError(_LOCKED)

    def refusal(self, request: FaultRequest) -> str:
        """Return why an injection would be refused, or an empty string."""
        return _LOCKED if self._is_locked else self._sensor.board.rules.refusal(request)

    def inject(self, request: FaultRequest) -> str:
        """Inject a fault, or clear a target; return a sentence that says so.

        Raises
        ------
        FaultError
            if it is refused.
        """
        self._require_key()
        text = self._sensor.board.inject(request)
        if request.mode == NONE:
            self._forget_configured(request.target in ('', 'all'))
        self._log.info(f'injected: {text}')
        self._changed()
        return text

    def clear(self) -> str:
        """Clear all faults; return a sentence that says so.

        Raises
        ------
        FaultError
            if it is refused.
        """
        self._require_key()
        names = self._sensor.board.clear()
        self._forget_configured(all_of_it=True)
        self._changed()
        return f'cleared {", ".join(names)}' if names else 'no fault was active'

    # ------------------------------------------------------------------ services

    def _serve_inject(self, request: Any, response: Any) -> Any:
        return self._answer(response, 'injection', lambda: self.inject(read_fault(request)))

    def _serve_clear(self, request: Any, response: Any) -> Any:
        return self._answer(response, 'clearing', self.clear)

    def _serve_timeline(self, request: Any, response: Any) -> Any:
        def load() -> str:
            self._require_key()
            response.events = self._sensor.inject_timeline(request.timeline)
            text = f'took {response.events} events, timed from power-on'
            self._log.info(f'timeline: {text}')
            self._changed()
            return text

        return self._answer(response, 'timeline', load)

    def _answer(self, response: Any, what: str, work: Callable[[], str]) -> Any:
        try:
            response.message = work()
            response.success = True
        except JaguarError as error:
            response.success, response.message = False, str(error)
            self._log.warning(f'{what} refused: {error}')
        return response
