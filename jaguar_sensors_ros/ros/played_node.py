"""One played sensor as a node: topics, services and state under the names of the live one."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import TwistWithCovarianceStamped
from jaguar_sensors_msgs.msg import ImuIncrements
from jaguar_sensors_msgs.msg import SensorState as SensorStateMsg
from rclpy.node import Node
from sensor_msgs.msg import FluidPressure, Imu, MagneticField, NavSatFix, Temperature
from std_srvs.srv import SetBool, Trigger

from jaguar_sensors_ros.catalogue import SENSORS
from jaguar_sensors_ros.component import ParameterError, declarations
from jaguar_sensors_ros.ros import compat, qos
from jaguar_sensors_ros.ros import scenario_messages as messages
from jaguar_sensors_ros.ros.diagnostics import LEVEL
from jaguar_sensors_ros.ros.fault_desk import FaultDesk
from jaguar_sensors_ros.ros.outlet import Outlet, Outlets
from jaguar_sensors_ros.ros.parameters import ParameterBridge
from jaguar_sensors_ros.ros.wire import writer
from jaguar_sensors_ros.scenario.kinds import make_played
from jaguar_sensors_ros.scenario.played import Sample
from jaguar_sensors_ros.scenario.settings import PLAYED, PlayedSettings
from jaguar_sensors_ros.scenario.stream import Item
from jaguar_sensors_ros.sensors.base import Status
from jaguar_sensors_ros.types import JaguarError

#: behind the frame name of what is marked as simulated
SIMULATED = '_sim'
#: parameters that act at the start only
_FIXED = ('file', 'rate_hz', 'topic')


class PlayedNode(Node):
    """Publishes what a scenario says for one sensor.

    Parameters
    ----------
    kind : str
        ``imu``, ``gps``, ``baro`` or ``mag``.
    foreign : iterable of str
        Parameters of the other nodes of the process.
    marked : bool
        Whether the frame names say that the data is simulated.

    Raises
    ------
    JaguarError
        for a parameter that is refused.
    """

    def __init__(
        self, kind: str, foreign: frozenset[str], marked: bool, **node_options: Any
    ) -> None:
        super().__init__(kind, **node_options)
        self.kind, self._marked = kind, marked
        self._last: Status | None = None
        self._started: int | None = None
        #: what is wrong with its scenario
        self.trouble = ''
        try:
            compat.settle_overrides(self, {}, foreign - _names(kind))
            self._set_up()
        except BaseException:
            self.destroy_node()
            raise

    def destroy_node(self) -> None:
        """Say that the sensor is off, and leave the graph."""
        if hasattr(self, '_offered') and self.context.ok():
            self.sensor.shut_down()
            self.publish_state(only_changes=False)
        super().destroy_node()

    @property
    def settings(self) -> Any:
        """The parameters in effect."""
        return self._bridge.settings

    # ------------------------------------------------------------------ wiring

    def _set_up(self) -> None:
        self._bridge: ParameterBridge[PlayedSettings] = ParameterBridge(
            self, PLAYED[self.kind], foreign=_names_of_live_nodes()
        )
        if self.settings.random_seed < 0:
            self._bridge.assign('random_seed', secrets.randbits(31))
        name = self.get_fully_qualified_name().lstrip('/')
        seed = self.settings.random_seed
        self.sensor = make_played(self.kind, name, self.settings, seed)
        self._bridge.on_change(self._configure, self._check)
        self._state_publisher = qos.overridable(
            self.create_publisher, SensorStateMsg, '~/state', qos.latched()
        )
        self._diagnostics = self._advertise(DiagnosticArray, '/diagnostics')
        self._outlets = Outlets()
        self._make_outlets()
        self.faults = FaultDesk(
            self, self.sensor, self._bridge, self._note_changes, lambda serve: serve
        )
        self._offered = [
            self.create_service(Trigger, '~/reset', self._serve_reset),
            self.create_service(SetBool, '~/set_enabled', self._serve_enable),
        ]
        self.publish_state(only_changes=True)
        self.get_logger().info(
            f'{self.kind}_sim, fidelity {self.settings.fidelity}, random_seed {seed}'
        )

    def _advertise(self, kind: Any, topic: str) -> Any:
        return qos.overridable(self.create_publisher, kind, topic, qos.data())

    def _outlet(self, output: str, kind: Any, topic: str, encode: Callable[..., Any]) -> None:
        outlet = self._outlets.add(self._advertise(kind, topic), encode)
        self._by_output.setdefault(output, []).append(outlet)

    def _make_outlets(self) -> None:
        """Make the topics; ``encode`` takes a sample and a frame name, or gives None."""
        self._by_output: dict[str, list[Outlet]] = {}
        if self.kind == 'imu':
            self._outlet('data', Imu, '~/data', _plain(messages.imu, oriented=True))
            self._outlet('data', Imu, '~/data_raw', _plain(messages.imu, oriented=False))
            self._outlet('data', ImuIncrements, '~/increments', _increment)
            self._outlet('data', ImuIncrements, '~/integral', _integral)
            self._outlet(
                'temperature', Temperature, '~/temperature', _plain(messages.temperature)
            )
        elif self.kind == 'gps':
            twist = TwistWithCovarianceStamped
            self._outlet('fix', NavSatFix, '~/fix', _plain(messages.fix))
            self._outlet('velocity', twist, '~/vel', _plain(messages.velocity))
        elif self.kind == 'baro':
            self._outlet('pressure', FluidPressure, self._topic(), _plain(messages.pressure))
        else:
            self._outlet('field', MagneticField, self._topic(), _plain(messages.field))

    def _topic(self) -> str:
        topic: str = self.settings.topic
        if not topic:
            raise ParameterError('topic', topic, 'must be the name of a topic')
        return topic

    # ------------------------------------------------------------------ playing

    def play(self, item: Item, base_ns: int) -> None:
        """Measure and publish what the scenario says; a new lap is a power cycle."""
        sensor = self.sensor
        if self._started is not None and item.lap_ns != self._started:
            sensor.power_cycle()
        self._started = item.lap_ns
        faults = sensor.effective_faults
        sample = sensor.measure(item, base_ns)
        if sample is not None:
            self._publish(sample)
        if sensor.effective_faults != faults:
            self._note_changes()

    def start_anew(self) -> None:
        """Forget the scenario: it starts again on a clock that went back."""
        self._started = None
        cleared = self.sensor.time_went_back()
        if cleared:
            self.get_logger().warning(f'injected faults are cleared: {", ".join(cleared)}')

    def _publish(self, sample: Sample) -> None:
        name = 'vel_frame_id' if sample.output == 'velocity' else 'frame_id'
        settings = self.settings
        frame_id = settings.frame_prefix + getattr(settings, name)
        if self._marked:
            frame_id += SIMULATED
        self._outlets.look()
        made = [
            (outlet, outlet.encode(sample, frame_id))
            for outlet in self._by_output[sample.output]
            if outlet.is_used
        ]
        for outlet, message in made:
            if message is not None:
                outlet.publish(message)

    # ------------------------------------------------------------------ parameters and services

    def _check(self, settings: PlayedSettings) -> None:
        for name in _FIXED:
            value, now = getattr(settings, name, None), getattr(self.settings, name, None)
            if value != now:
                raise ParameterError(name, value, f'stays {now!r}: read at start only')
        self.sensor.check(settings)

    def _configure(self, settings: PlayedSettings, names: frozenset[str]) -> None:
        if settings.random_seed < 0:
            self._bridge.assign('random_seed', secrets.randbits(31))
            return
        self.sensor.configure(settings)
        self.faults.parameters_set(names)
        self.sensor.seed = settings.random_seed
        self._note_changes()

    def _serve_reset(self, request: Any, response: Any) -> Any:
        self.sensor.power_cycle()
        self.publish_state(only_changes=False)
        response.success = True
        response.message = f'power-on number {self.sensor.power_on}; injected faults stay'
        return response

    def _serve_enable(self, request: Any, response: Any) -> Any:
        try:
            self._bridge.assign('enabled', bool(request.data))
            response.success = True
            response.message = 'enabled' if request.data else 'disabled'
        except JaguarError as error:
            response.success, response.message = False, str(error)
        return response

    # ------------------------------------------------------------------ state

    def _note_changes(self) -> None:
        self.publish_state(only_changes=True)

    def publish_state(self, only_changes: bool) -> None:
        """Publish what the sensor says of itself."""
        status = self.sensor.status()
        last, self._last = self._last, status
        unchanged = last is not None and (last.state, last.faults, last.causes, last.valid) == (
            status.state,
            status.faults,
            status.causes,
            status.valid,
        )
        if not (only_changes and unchanged):
            name, now_ns = self.get_fully_qualified_name(), self.get_clock().now().nanoseconds
            frame_id = self.settings.frame_prefix + self.settings.frame_id
            self._state_publisher.publish(writer.state(name, self.kind, status, frame_id, now_ns))

    def report(self, scenario: str, condition: str) -> None:
        """Publish state and diagnostics, once a second.

        Parameters
        ----------
        scenario : str
            The file that is played, or what else.
        condition : str
            How the scenario is doing; ``trouble`` goes before it.
        """
        self.publish_state(only_changes=False)
        status = self.sensor.status()
        level, text = LEVEL[status.state], status.state.name.capitalize()
        if status.causes:
            text += ': ' + ', '.join(status.causes)
        if self.trouble:
            level, text = DiagnosticStatus.ERROR, self.trouble
        values = {
            'simulated': 'true',
            'scenario': scenario,
            'playing': condition,
            'faults': ', '.join(status.faults) or 'none',
            'samples': str(status.sample_count),
        }
        name = self.get_fully_qualified_name()
        entry = DiagnosticStatus(
            level=level,
            name=f'{name}: sensor',
            message=text,
            hardware_id=name,
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )
        array = DiagnosticArray(status=[entry])
        array.header.stamp = writer.time(self.get_clock().now().nanoseconds)
        self._diagnostics.publish(array)


def _plain(make: Callable[..., Any], **options: Any) -> Callable[[Sample, str], Any]:
    return lambda sample, frame_id: make(sample.t_ns, sample.values, frame_id, **options)


def _increment(sample: Sample, frame_id: str) -> Any:
    sub = sample.increment
    return None if sub is None else messages.increments(sample.t_ns, sub, frame_id)


def _integral(sample: Sample, frame_id: str) -> Any:
    sub = sample.integral
    return None if sub is None else messages.increments(sample.t_ns, sub, frame_id)


def _names(kind: str) -> frozenset[str]:
    return frozenset(declared.name for declared in declarations(PLAYED[kind]))


def _names_of_live_nodes() -> set[str]:
    """Return what a parameter file for live sensors of the same name may hold."""
    return {d.name for _, settings in SENSORS.values() for d in declarations(settings)}
