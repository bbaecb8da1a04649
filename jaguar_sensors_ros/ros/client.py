"""A client of sensor nodes for tools: finds them, calls their services, reads their state."""

from __future__ import annotations

import difflib
import os
import time
from collections.abc import Callable, Iterable
from typing import Any

from jaguar_sensors_msgs.msg import SensorState
from jaguar_sensors_msgs.srv import InjectFailure, InjectTimeline
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters
from rclpy.parameter import Parameter, parameter_value_to_python
from std_srvs.srv import SetBool, Trigger

from jaguar_sensors_ros.ros import qos
from jaguar_sensors_ros.ros.guest import Guest
from jaguar_sensors_ros.types import JaguarError

_SPIN_S = 0.02
#: time without a new node after which the graph is taken to be complete [s]
_SETTLED_S = 1.0
#: the same where none may be missed: what is lost at first, DDS announces again within 3 s
SURE_S = 3.2


class ClientError(JaguarError):
    """What was asked for did not happen: no such node, no answer; the text says why."""

    exit_status = 1


class RefusedError(ClientError):
    """A node refused what it was asked; the text holds its words."""

    exit_status = 2


class SensorClient(Guest):
    """A node of its own in the graph; a context manager.

    Parameters
    ----------
    timeout_s : float
        Longest time [s] to look for a node, and to wait for an answer.
    """

    def __init__(self, timeout_s: float) -> None:
        super().__init__('jaguar_sensors')
        self._timeout_s = timeout_s

    def _wait(self, done: Callable[[], bool], timeout_s: float) -> bool:
        deadline = time.monotonic() + timeout_s
        while not done():
            if time.monotonic() > deadline:
                return False
            self._executor.spin_once(timeout_sec=_SPIN_S)
        return True

    # ------------------------------------------------------------------ nodes

    def sensors(self) -> list[str]:
        """Return the full names of the sensor nodes known so far."""
        return self._with_service('inject_failure', 'jaguar_sensors_msgs/srv/InjectFailure')

    def _with_service(self, service: str, kind: str) -> list[str]:
        end = f'/{service}'
        return sorted(
            name[: -len(end)]
            for name, kinds in self._node.get_service_names_and_types()
            if name.endswith(end) and kind in kinds
        )

    def _nodes(self) -> list[str]:
        return self._with_service('set_parameters', 'rcl_interfaces/srv/SetParameters')

    def all_sensors(
        self,
        settled_s: float = _SETTLED_S,
        enough: Callable[[list[str]], bool] = lambda nodes: True,
    ) -> list[str]:
        """Return the sensor nodes once no further one appears.

        Parameters
        ----------
        settled_s : float
            Time without a new node after which the graph is taken to be complete [s].
        enough : callable
            Tells whether these are enough; if not, it is waited to the end for more.

        Raises
        ------
        ClientError
            if there is none.
        """
        found = self._settled(self.sensors, settled_s, enough)
        if not found:
            raise ClientError(f'found no sensor node {self._where()}')
        return found

    def every_sensor(self, enough: Callable[[list[str]], bool] = lambda nodes: True) -> list[str]:
        """Return the sensor nodes as :meth:`all_sensors`, but take the time to miss none."""
        return self.all_sensors(SURE_S, enough)

    def all_nodes(self, settled_s: float = _SETTLED_S) -> list[str]:
        """Return the nodes with parameters once no further one appears."""
        return self._settled(self._nodes, settled_s)

    def _settled(
        self,
        candidates: Callable[[], list[str]],
        settled_s: float,
        enough: Callable[[list[str]], bool] = lambda nodes: True,
    ) -> list[str]:
        found: list[str] = []
        deadline = time.monotonic() + self._timeout_s
        settled = deadline
        while time.monotonic() < min(deadline, settled):
            self._executor.spin_once(timeout_sec=_SPIN_S)
            if candidates() != found:
                found = candidates()
                settled = time.monotonic() + settled_s if enough(found) else deadline
        return found

    def types(self, nodes: Iterable[str]) -> dict[str, str]:
        """Return the type of each sensor, as it says itself."""
        wanted = list(nodes)
        return {
            node: str(state.type) for node, state in zip(wanted, self.states(wanted), strict=True)
        }

    def sensors_of_type(self, kind: str) -> list[str]:
        """Return all sensors of a type.

        Raises
        ------
        ClientError
            if there is none; the text lists the others.
        """
        types = self.types(self.every_sensor())
        found = [node for node, its in types.items() if its == kind]
        if not found:
            others = [f'{node} ({its})' for node, its in types.items()]
            raise self.not_found('sensor of type', kind, others)
        return found

    def find_sensor(self, name: str) -> str:
        """Return the full name of a sensor node (see :func:`match`)."""
        return self._find(name, self.sensors, 'sensor')

    def find_node(self, name: str) -> str:
        """Return the full name of any node with parameters (see :func:`match`)."""
        return self._find(name, self._nodes, 'node with parameters')

    def _find(self, name: str, candidates: Callable[[], list[str]], what: str) -> str:
        if self._wait(lambda: bool(match(name, candidates())), self._timeout_s):
            found = match(name, candidates())
            if len(found) > 1:
                raise ClientError(f'{name} could be any of {", ".join(found)}: say which')
            return found[0]
        raise self.not_found(what, name, candidates())

    def not_found(self, what: str, name: str, there: Iterable[str]) -> ClientError:
        """Return the error that something is not in the graph, with what is."""
        listed = ', '.join(there) or 'none'
        return ClientError(f'there is no {what} {name} {self._where()}; found {listed}')

    def _where(self) -> str:
        return f'in {domain()} (looked for {self._timeout_s:g} s)'

    # ------------------------------------------------------------------ services

    def _call(self, kind: Any, service: str, request: Any) -> Any:
        client = self._node.create_client(kind, service)
        if not self._wait(client.service_is_ready, self._timeout_s):
            raise ClientError(f'{service}: there is no such service {self._where()}')
        future = client.call_async(request)
        if not self._wait(future.done, self._timeout_s):
            raise ClientError(f'{service}: no answer within {self._timeout_s:g} s')
        return future.result()

    def _do(self, kind: Any, service: str, request: Any) -> str:
        answer = self._call(kind, service, request)
        if not answer.success:
            raise RefusedError(f'{service}: refused: {answer.message}')
        return str(answer.message)

    def inject(self, node: str, **fields: Any) -> str:
        """Inject a failure, with the fields of InjectFailure.srv; return the node's message."""
        return self._do(InjectFailure, f'{node}/inject_failure', InjectFailure.Request(**fields))

    def load_timeline(self, node: str, text: str) -> str:
        """Load the text of a timeline into a sensor, in place of the one before; '': none."""
        request = InjectTimeline.Request(timeline=text)
        return self._do(InjectTimeline, f'{node}/inject_timeline', request)

    def clear(self, node: str) -> str:
        """Clear all faults of a sensor."""
        return self._do(Trigger, f'{node}/clear_failure', Trigger.Request())

    def reset(self, node: str) -> str:
        """Power-cycle a sensor."""
        return self._do(Trigger, f'{node}/reset', Trigger.Request())

    def enable(self, node: str, on: bool) -> str:
        """Switch the output of a sensor on or off."""
        return self._do(SetBool, f'{node}/set_enabled', SetBool.Request(data=on))

    # ------------------------------------------------------------------ state

    def follow(self, node: str, take: Callable[[Any], None]) -> None:
        """Call ``take`` with each message of a sensor's state, while the client is served."""
        self._node.create_subscription(SensorState, f'{node}/state', take, qos.latched())

    def serve(self, duration_s: float) -> None:
        """Take what comes for a while."""
        self._wait(lambda: False, duration_s)

    def states(self, nodes: Iterable[str], timeout_s: float | None = None) -> list[SensorState]:
        """Return what the sensors say of themselves, in the order of ``nodes``."""
        timeout_s = self._timeout_s if timeout_s is None else timeout_s
        latest: dict[str, Any] = {}

        def keep(node: str) -> Callable[[Any], None]:
            return lambda message: latest.__setitem__(node, message)

        wanted = list(nodes)
        for node in dict.fromkeys(wanted):
            self.follow(node, keep(node))
        self._wait(lambda: latest.keys() >= set(wanted), timeout_s)
        silent = [f'{node}/state' for node in wanted if node not in latest]
        if silent:
            raise ClientError(f'{", ".join(silent)}: no message within {timeout_s:g} s')
        return [latest[node] for node in wanted]

    # ------------------------------------------------------------------ parameters

    def parameter_names(self, node: str) -> list[str]:
        """Return the names of all parameters of a node."""
        answer = self._call(ListParameters, f'{node}/list_parameters', ListParameters.Request())
        return sorted(answer.result.names)

    def get_parameters(self, node: str, names: Iterable[str]) -> dict[str, Any]:
        """Return the values of parameters of a node.

        Raises
        ------
        ClientError
            naming the nearest name, if one does not exist.
        """
        wanted = list(names)
        request = GetParameters.Request(names=wanted)
        values = self._call(GetParameters, f'{node}/get_parameters', request).values
        found = dict(zip(wanted, map(parameter_value_to_python, values), strict=False))
        for name in wanted:
            if found.get(name) is None:
                raise self._no_parameter(node, name)
        return found

    def _no_parameter(self, node: str, name: str) -> RefusedError:
        alike = difflib.get_close_matches(name, self.parameter_names(node), n=3, cutoff=0.4)
        hint = f'; did you mean {" or ".join(alike)}?' if alike else ''
        return RefusedError(f'{node} has no parameter {name}{hint}')

    def set_parameter(self, node: str, name: str, value: Any) -> None:
        """Set a parameter of a node."""
        if name not in self.parameter_names(node):
            raise self._no_parameter(node, name)
        message = Parameter(name, value=value).to_parameter_msg()
        request = SetParameters.Request(parameters=[message])
        answer = self._call(SetParameters, f'{node}/set_parameters', request)
        for result in answer.results:
            if not result.successful:
                raise RefusedError(f'{node}: refused: {result.reason}')


def domain() -> str:
    """Return the ROS domain that is looked at, in words."""
    return f'ROS domain {os.environ.get("ROS_DOMAIN_ID") or "0"}'


def match(name: str, nodes: Iterable[str]) -> list[str]:
    """Return the full names that a name can mean.

    ``/robot1/imu`` and ``robot1/imu`` are exact; a relative name that is no node of the root
    namespace stands for the nodes whose name ends with it.

    Examples
    --------
    >>> match('imu', ['/gps', '/robot1/imu'])
    ['/robot1/imu']
    >>> match('imu', ['/imu', '/robot1/imu'])
    ['/imu']
    """
    known = list(nodes)
    full = name if name.startswith('/') else f'/{name}'
    if full in known or name.startswith('/'):
        return [node for node in known if node == full]
    return [node for node in known if node.endswith(full)]
