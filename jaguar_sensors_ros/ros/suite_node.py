"""Many sensors in one process, and the node that manages them."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from jaguar_sensors_msgs.msg import SensorStates
from jaguar_sensors_msgs.srv import InjectFailures, ListSensors
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.parameter import Parameter
from std_srvs.srv import SetBool, Trigger

from jaguar_sensors_ros import catalogue, suite_file
from jaguar_sensors_ros.component import ParameterError, declarations, parameter
from jaguar_sensors_ros.faults.base import NONE, FaultRequest
from jaguar_sensors_ros.redundancy.settings import FusedSettings
from jaguar_sensors_ros.ros import compat, qos
from jaguar_sensors_ros.ros.baro_node import BaroNode
from jaguar_sensors_ros.ros.fused_node import FusedNode
from jaguar_sensors_ros.ros.gps_node import GpsNode
from jaguar_sensors_ros.ros.imu_node import ImuNode
from jaguar_sensors_ros.ros.mag_node import MagNode
from jaguar_sensors_ros.ros.parameters import ParameterBridge
from jaguar_sensors_ros.ros.reader import read_fault
from jaguar_sensors_ros.ros.sensor_node import SensorNode
from jaguar_sensors_ros.ros.suite_terms import SuiteTerms
from jaguar_sensors_ros.ros.truth_hub import TruthHub
from jaguar_sensors_ros.ros.wire import writer
from jaguar_sensors_ros.suite_file import FusedEntry, Member
from jaguar_sensors_ros.types import JaguarError

NODES: dict[str, type[SensorNode[Any, Any]]] = {
    'imu': ImuNode,
    'gps': GpsNode,
    'mag': MagNode,
    'baro': BaroNode,
}
#: the parameter of the manager
_OWN = 'suite_file'
#: pause [s] in which changes of several states are gathered
_GATHER_S = 0.01


@dataclass(frozen=True)
class SuiteSettings:
    """Parameters of the manager."""

    suite_file: str = parameter('', 'Path of the suite file; read at start only.', kind='string')


class SuiteNode(Node):
    """Reads a suite file, makes a node of each entry and serves requests to all of them.

    Parameters
    ----------
    member_overrides : sequence of Parameter
        Parameters given to all members over ROS, besides those of the command line.

    Raises
    ------
    JaguarError
        for a file or a parameter that is refused.
    """

    def __init__(
        self, *, member_overrides: Sequence[Parameter] = (), **node_options: Any
    ) -> None:
        super().__init__('sensor_suite', **node_options)
        self.members: list[Node] = []
        self.sensors: dict[str, SensorNode[Any, Any]] = {}
        try:
            self._set_up(list(member_overrides))
        except BaseException:
            self.destroy_node()
            raise

    def destroy_node(self) -> None:
        """Leave the graph with all members."""
        while self.members:
            self.members.pop().destroy_node()
        super().destroy_node()

    def _set_up(self, overrides: list[Parameter]) -> None:
        compat.settle_overrides(self, {}, _not_ours(compat.overrides(self)))
        bridge: ParameterBridge[SuiteSettings] = ParameterBridge(self, SuiteSettings)
        path = bridge.settings.suite_file
        bridge.on_change(lambda settings, names: None, lambda settings: _unchanged(settings, path))
        if not path:
            raise JaguarError('which suite? give -p suite_file:=/path/of/suite.yaml')
        if self.get_parameter('use_sim_time').value:
            overrides.append(Parameter('use_sim_time', value=True))
        self._states = self.create_publisher(SensorStates, '~/states', qos.latched())
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._second = self.create_timer(1.0, self._publish_states, clock=steady)
        self._soon = self.create_timer(_GATHER_S, self._publish_states, clock=steady)
        self._make_members(path, overrides)
        self._make_services()

    # ------------------------------------------------------------------ members

    def _make_members(self, path: str, overrides: list[Parameter]) -> None:
        suite = suite_file.read(path)
        hub = TruthHub()
        others = sorted(_names(FusedSettings) - _names_of_sensors())
        for sensor in suite.sensors:
            if compat.asked_to_stop():
                return
            options = self._options(sensor, path, overrides)
            terms = SuiteTerms(hub, sensor.values, (_OWN, *others), self._state_changed)
            try:
                node = NODES[sensor.type](suite=terms, **options)
            except JaguarError as error:
                raise JaguarError(f'{sensor.path}: {error}') from None
            self.sensors[sensor.path] = node
            self.members.append(node)
        for fused in suite.fused:
            self.members.append(self._fused(fused, hub, path, overrides))
        kinds = [sensor.type for sensor in suite.sensors]
        told = ', '.join(f'{kinds.count(kind)} {kind}' for kind in dict.fromkeys(kinds))
        self.get_logger().info(f'suite {path}: {told}, {len(suite.fused)} fused')

    def _fused(
        self, entry: FusedEntry, hub: TruthHub, path: str, overrides: list[Parameter]
    ) -> FusedNode:
        others = sorted(_names_of_sensors() - _names(FusedSettings))
        terms = SuiteTerms(hub, entry.values, (_OWN, *others), self._state_changed)
        inputs = []
        for name in entry.inputs:
            node = self.sensors[name]
            assert isinstance(node, ImuNode)
            inputs.append((name, node))
        try:
            return FusedNode(inputs, terms, **self._options(entry, path, overrides))
        except JaguarError as error:
            raise JaguarError(f'{entry.path}: {error}') from None

    def _options(
        self, member: Member, path: str, overrides: list[Parameter]
    ) -> dict[str, Any]:
        """Return the options of the node of a member.

        Its own remapping of name and namespace goes before that of the whole process.
        """
        namespace = '/'.join([self.get_namespace().rstrip('/'), *member.namespace.split('/')])
        namespace = namespace.rstrip('/') or '/'
        full = f'{namespace.rstrip("/")}/{member.name}'
        if full == self.get_fully_qualified_name():
            raise JaguarError(f'{path}: {full} is the name of the suite itself')
        rules = ['-r', f'__node:={member.name}', '-r', f'__ns:={namespace}']
        return {'cli_args': ['--ros-args', *rules], 'parameter_overrides': overrides}

    # ------------------------------------------------------------------ states

    def _state_changed(self) -> None:
        self._soon.reset()

    def _publish_states(self) -> None:
        self._soon.cancel()
        message = SensorStates()
        message.header = writer.header(self.get_clock().now().nanoseconds, '')
        message.sensors = [node.state() for node in self.sensors.values()]
        self._states.publish(message)

    # ------------------------------------------------------------------ services

    def _make_services(self) -> None:
        self._offered = [
            self.create_service(ListSensors, '~/list_sensors', self._serve_list),
            self.create_service(InjectFailures, '~/inject_failure', self._serve_inject),
            self.create_service(Trigger, '~/clear_failure', self._serve_clear),
            self.create_service(Trigger, '~/reset', self._serve_reset),
            self.create_service(SetBool, '~/set_enabled', self._serve_enable),
        ]

    def select(self, patterns: Iterable[str], kind: str) -> dict[str, SensorNode[Any, Any]]:
        """Return sensors by name or pattern and by type; nothing given means any.

        Raises
        ------
        JaguarError
            for a pattern that fits none and a type that is not modelled; the text says what
            there is.
        """
        if kind:
            catalogue.require_type(kind)
        fitting = {
            path: node for path, node in self.sensors.items() if kind in ('', node.type_name)
        }
        what = f' of type {kind}' if kind else ''
        if not fitting:
            raise JaguarError(f'there is no sensor{what}; there are: {self._there_is()}')
        chosen: set[str] = set()
        for pattern in [p for p in patterns if p] or ['*']:
            hit = {
                path
                for path, node in fitting.items()
                if fnmatch.fnmatchcase(path, pattern)
                or fnmatch.fnmatchcase(node.get_fully_qualified_name(), pattern)
            }
            if not hit:
                raise JaguarError(
                    f"no sensor{what} is called '{pattern}'; there are: {self._there_is()}"
                )
            chosen |= hit
        return {path: node for path, node in fitting.items() if path in chosen}

    def _there_is(self) -> str:
        return ', '.join(f'{path} ({node.type_name})' for path, node in self.sensors.items())

    def _serve_list(self, request: Any, response: Any) -> Any:
        try:
            found = self.select([request.name], request.type)
            response.success = True
            response.message = f'{len(found)} of {len(self.sensors)} sensors'
            response.sensors = [node.state() for node in found.values()]
        except JaguarError as error:
            response.success, response.message = False, str(error)
        return response

    def _serve_inject(self, request: Any, response: Any) -> Any:
        fault = read_fault(request)
        response.success = False
        try:
            chosen = self.select(request.sensors, request.type)
        except JaguarError as error:
            response.message = str(error)
            return response
        refused = self._refusals(chosen, fault)
        if refused:
            response.message = f'nothing was changed: {"; ".join(refused)}'
            self.get_logger().warning(f'injection refused, {response.message}')
            return response
        told = {path: node.faults.inject(fault) for path, node in chosen.items()}
        response.sensors = list(told)
        return _answered(response, told)

    @staticmethod
    def _refusals(
        chosen: dict[str, SensorNode[Any, Any]], fault: FaultRequest | None
    ) -> list[str]:
        """Return which sensors refuse a fault, None to clear all, and why."""
        request = fault or FaultRequest(NONE)
        refused = {path: node.faults.refusal(request) for path, node in chosen.items()}
        return [f'{path}: {reason}' for path, reason in refused.items() if reason]

    def _serve_clear(self, request: Any, response: Any) -> Any:
        refused = self._refusals(self.sensors, None)
        if refused:
            response.success = False
            response.message = f'nothing was changed: {"; ".join(refused)}'
            return response
        told = {path: node.faults.clear() for path, node in self.sensors.items()}
        return _answered(response, told)

    def _serve_reset(self, request: Any, response: Any) -> Any:
        told = {path: node.reset() for path, node in self.sensors.items()}
        return _answered(response, told)

    def _serve_enable(self, request: Any, response: Any) -> Any:
        on = bool(request.data)
        told = {path: node.enable(on) for path, node in self.sensors.items()}
        return _answered(response, told)


def _answered(response: Any, told: dict[str, str]) -> Any:
    response.success, response.message = True, _together(told)
    return response


def _together(told: dict[str, str]) -> str:
    """Return the messages of several sensors, the same ones once."""
    by_message: dict[str, list[str]] = {}
    for path, message in told.items():
        by_message.setdefault(message, []).append(path)
    return '; '.join(f'{", ".join(paths)}: {message}' for message, paths in by_message.items())


def _names(settings_class: type) -> set[str]:
    return {declared.name for declared in declarations(settings_class)}


def _names_of_sensors() -> set[str]:
    return set().union(*(_names(settings) for _, settings in catalogue.SENSORS.values()))


def _not_ours(given: Iterable[str]) -> list[str]:
    """Return the parameters that are meant for the members: all that are not like our own."""
    return [name for name in given if not difflib.get_close_matches(name, (_OWN,), cutoff=0.8)]


def _unchanged(settings: SuiteSettings, path: str) -> None:
    if settings.suite_file != path:
        raise ParameterError(_OWN, settings.suite_file, 'is read at start only')
