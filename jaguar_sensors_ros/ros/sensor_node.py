"""What every sensor node does: truth in, samples out, services, parameters, diagnostics."""

from __future__ import annotations

import secrets
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial, wraps
from typing import Any, Generic, Protocol, TypeVar, cast

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import AccelStamped
from jaguar_sensors_msgs.msg import SensorState as SensorStateMsg
from jaguar_sensors_msgs.srv import Calibrate, InjectFailure, InjectTimeline
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger
from tf2_msgs.msg import TFMessage

from jaguar_sensors_ros import catalogue
from jaguar_sensors_ros.component import ParameterError, declarations
from jaguar_sensors_ros.faults.base import NONE, FaultError, FaultRequest
from jaguar_sensors_ros.nav.rotation import quat_from_rpy
from jaguar_sensors_ros.ros import compat, qos, writer
from jaguar_sensors_ros.ros.calibrator import Calibrator
from jaguar_sensors_ros.ros.diagnostics import Monitor
from jaguar_sensors_ros.ros.outbox import Outbox
from jaguar_sensors_ros.ros.parameters import ParameterBridge
from jaguar_sensors_ros.ros.reader import stamp_ns, vector
from jaguar_sensors_ros.ros.static_tf import StaticTree
from jaguar_sensors_ros.ros.suite_terms import SuiteTerms
from jaguar_sensors_ros.ros.truth_hub import TruthHub
from jaguar_sensors_ros.sensors.base import Sensor, Status
from jaguar_sensors_ros.sensors.settings import SensorSettings
from jaguar_sensors_ros.truth.intake import RawOdometry
from jaguar_sensors_ros.truth.track import Arrival, Push
from jaguar_sensors_ros.types import (
    NS_PER_S,
    Fidelity,
    JaguarError,
    Quat,
    SensorState,
    Vec3,
)

SettingsT = TypeVar('SettingsT', bound=SensorSettings)
SampleT = TypeVar('SampleT')

#: period of truth made by the static source [s]
_STATIC_PERIOD_S = 0.02
#: most steps of truth.max_gap_s that it makes at once
_BRIDGED = 100
#: body frame where the truth names none
_BODY_FRAME = 'base_link'
#: static transforms kept for late subscribers
_TF_DEPTH = 100
#: parameters that make up the failure given by parameters
_REQUEST = frozenset(f'failure.{field.name}' for field in fields(FaultRequest))
_TIMELINE = 'failure.timeline'
_LOCKED = 'injection is locked: the parameter failure.allow_injection is false'


class Tap(Protocol):
    """Sees the samples of a sensor in its process."""

    def sampled(self, sample: Any) -> Callable[[], None]:
        """Take note of a new sample; return what is called when it is published."""

    def moved(self) -> None:
        """Take note that the measurement time of the sensor has gone on."""

    def restarted(self) -> None:
        """Take note that the time of the truth has gone back."""


class SensorNode(Node, ABC, Generic[SettingsT, SampleT]):
    """Wires one sensor of the catalogue to ROS.

    Parameters
    ----------
    sensor_type : str
        Its type in the catalogue and the default name of the node.
    suite : SuiteTerms or None
        What a suite tells its members; None where the node runs alone.
    """

    def __init__(
        self, sensor_type: str, *, suite: SuiteTerms | None = None, **node_options: Any
    ) -> None:
        super().__init__(sensor_type, **node_options)
        self._suite = suite
        self._hub = suite.hub if suite is not None else TruthHub()
        self._broken = ''
        self._taps: list[Tap] = []
        try:
            if suite is not None:
                compat.settle_overrides(self, suite.values, suite.foreign)
            self._set_up(sensor_type)
        except JaguarError:
            self.destroy_node()
            raise

    def _set_up(self, sensor_type: str) -> None:
        self._type = sensor_type
        self._bridge: ParameterBridge[SettingsT] = ParameterBridge(
            self,
            cast('type[SettingsT]', catalogue.SENSORS[sensor_type][1]),
            partial(catalogue.effective_values, sensor_type),
            _names_of_others(sensor_type),
        )
        self._fault_remark = False
        seed = self._seed()
        name = self.get_fully_qualified_name().lstrip('/')
        self._sensor: Sensor[SettingsT, SampleT] = catalogue.make_sensor(
            sensor_type, name, self.settings, seed
        )
        self._sensor.check(self.settings)
        self._bridge.on_change(self._configure, self._sensor.check)
        self._mounted = False
        self._tree = StaticTree()
        self._last_status: Status | None = None
        self._make_outputs()
        self._make_inputs()
        self._monitor = Monitor(
            self.get_fully_qualified_name(),
            self._odometry.topic_name,
            self._acceleration.topic_name,
        )
        self._make_services()
        self._make_timers()
        self._remark_on_fault()
        self._remark_on_timeline()
        self.get_logger().info(self._greeting(seed))

    def destroy_node(self) -> None:
        """Say that the sensor is off, and leave the graph."""
        if hasattr(self, '_second') and self.context.ok():
            self._sensor.shut_down()
            self._publish_state(only_changes=False)
        super().destroy_node()

    @property
    def settings(self) -> SettingsT:
        """The parameters in effect."""
        return self._bridge.settings

    # ------------------------------------------------------------------ to be told by a sensor

    @abstractmethod
    def _make_publishers(self) -> None:
        """Make the publishers of the sensor's own topics."""

    @abstractmethod
    def _delivery(self, sample: SampleT) -> Callable[[], None]:
        """Return what publishes a sample, as it was measured, on all topics with subscribers."""

    # ------------------------------------------------------------------ wiring

    def _seed(self) -> int:
        """Return random_seed; -1 is replaced by a drawn one, which the parameter then shows."""
        if self.settings.random_seed < 0:
            self._bridge.assign('random_seed', secrets.randbits(31))
        return self.settings.random_seed

    def _greeting(self, seed: int) -> str:
        s = self.settings
        latitude, longitude, height = s.origin
        return (
            f'{self._type} sensor, fidelity {s.fidelity}, random_seed {seed}, origin '
            f'{latitude} deg, {longitude} deg, {height} m'
        )

    def advertise(self, message_type: Any, topic: str) -> Any:
        """Make a publisher of data."""
        return qos.overridable(self.create_publisher, message_type, topic, qos.data())

    def _make_outputs(self) -> None:
        self._state_publisher = qos.overridable(
            self.create_publisher, SensorStateMsg, '~/state', qos.latched()
        )
        self._diagnostics_publisher = self.advertise(DiagnosticArray, '/diagnostics')
        self._tf_publisher: Any = None
        self._sent_mount: tuple[Any, ...] | None = None
        self._make_publishers()

    def _make_inputs(self) -> None:
        self._odometry = self._hub.listen(
            self, 'ground_truth/odom', self._guarded(self._take_odometry)
        )
        self._intake = self._odometry.intake(self.settings)
        self._acceleration = self._listen(
            AccelStamped, 'ground_truth/accel', self._guarded(self._take_acceleration)
        )
        self._tf = self.create_subscription(
            TFMessage, '/tf_static', self._take_tf, qos.latched(_TF_DEPTH)
        )

    def _listen(self, message_type: Any, topic: str, callback: Any) -> Any:
        return qos.overridable(
            self.create_subscription, message_type, topic, callback, qos.truth()
        )

    def _make_services(self) -> None:
        self._calibrator = Calibrator(self._sensor)
        self._offered = [
            self.create_service(InjectFailure, '~/inject_failure', self._serve_inject),
            self.create_service(InjectTimeline, '~/inject_timeline', self._serve_timeline),
            self.create_service(Trigger, '~/clear_failure', self._serve_clear),
            self.create_service(Trigger, '~/reset', self._serve_reset),
            self.create_service(SetBool, '~/set_enabled', self._serve_enable),
            # a coroutine that waits must not share the group of the other callbacks
            self.create_service(
                Calibrate,
                '~/calibrate',
                self._calibrator.serve,
                callback_group=ReentrantCallbackGroup(),
            ),
        ]

    def _make_timers(self) -> None:
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._outbox = Outbox(self._now_ns)
        self._outbox.use_timer(self.create_timer(1.0, self._guarded(self._deliver)))
        self._second = self.create_timer(1.0, self._guarded(self._each_second), clock=steady)
        self._static = self.create_timer(
            _STATIC_PERIOD_S, self._guarded(self._make_static), clock=steady
        )
        self._configure_source()

    def _configure_source(self) -> None:
        if self.settings.truth.source == 'static':
            self._static.reset()
        else:
            self._static.cancel()

    def _now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    # ------------------------------------------------------------------ truth

    def _take_odometry(self, raw: RawOdometry) -> None:
        if self.settings.truth.source != 'odometry':
            return
        self._monitor.odometry.arrived()
        if self._ready_for(raw.child_frame_id):
            self._digest(self._intake.push(raw))

    def _take_acceleration(self, message: AccelStamped) -> None:
        if self.settings.truth.acceleration == 'topic':
            self._monitor.acceleration.arrived()
            t_ns = stamp_ns(message.header.stamp)
            self._digest(self._intake.push_acceleration(t_ns, vector(message.accel.linear)))

    def _make_static(self) -> None:
        """Go on at rest up to now; a stall or a fast clock is bridged, a jump of it is not."""
        now_ns, newest = self._now_ns(), self._intake.track.newest
        if now_ns <= 0 or (newest and now_ns == newest.t_ns) or not self._ready_for(''):
            return
        step_ns = round(self.settings.truth.max_gap_s * NS_PER_S)
        if newest and 0 < now_ns - newest.t_ns <= _BRIDGED * step_ns:
            for t_ns in range(newest.t_ns + step_ns, now_ns, step_ns):
                self._digest(self._intake.push_rest(t_ns))
        self._digest(self._intake.push_rest(now_ns))

    def _digest(self, pushes: list[Push]) -> None:
        """Feed what the truth track made of the messages to the sensor."""
        if self._broken:
            return
        for push in pushes:
            if push.arrival is Arrival.RESET:
                self._time_reset()
            for segment in push.segments:
                self._send(self._sensor.feed(segment))
        for remark in self._intake.remarks():
            self.get_logger().warning(remark)
        self._calibrator.look()
        self._publish_state(only_changes=True)
        for tap in self._taps:
            tap.moved()

    def _send(self, samples: list[SampleT]) -> None:
        transparent = self._sensor.fidelity is Fidelity.TRANSPARENT
        latency_s = 0.0 if transparent else self.settings.latency_s
        latency_ns = round(latency_s * NS_PER_S)
        for sample in samples:
            t_ns = sample.t_ns  # type: ignore[attr-defined]
            self._outbox.put(t_ns, latency_ns, self._tapped(sample, self._delivery(sample)))

    def _tapped(self, sample: SampleT, publish: Callable[[], None]) -> Callable[[], None]:
        """Return what publishes a sample and tells those that see it."""
        if not self._taps:
            return publish
        steps = [publish, *(tap.sampled(sample) for tap in self._taps)]

        def run() -> None:
            for step in steps:
                step()

        return run

    def _deliver(self) -> None:
        self._outbox.deliver()
        for tap in self._taps:
            tap.moved()

    def _time_reset(self) -> None:
        cleared = self._sensor.board.clear_injected()
        self._outbox.drop()
        self._sensor.power_cycle()
        for tap in self._taps:
            tap.restarted()
        text = 'the time of the ground truth went back: the sensor starts anew'
        if cleared:
            text += f'; injected faults are cleared: {", ".join(cleared)}'
        self.get_logger().warning(text)

    # ------------------------------------------------------------------ mount

    def frame(self, name: str) -> str:
        """Return a frame name with the prefix."""
        return self.settings.frame_prefix + name

    def _sensor_frame(self) -> str:
        return self.frame(self.settings.frame_id)  # type: ignore[attr-defined,no-any-return]

    def _take_tf(self, message: TFMessage) -> None:
        self._tree.add(message)
        self._mounted = False

    def _ready_for(self, base_frame: str) -> bool:
        """Tell whether the mount is known; publish it where asked to."""
        base_frame = base_frame or self.frame(_BODY_FRAME)
        if self.settings.mount.source == 'tf':
            return self._mounted or self._mount_from_tf(base_frame)
        if self.settings.publish_mount_tf:
            mount = self.settings.mount
            self._publish_mount(base_frame, mount.position, quat_from_rpy(mount.rpy))
        return True

    def _mount_from_tf(self, base_frame: str) -> bool:
        pose = self._tree.find(base_frame, self._sensor_frame())
        if pose is None:
            self.get_logger().warning(
                f'mount.source is tf, but /tf_static does not connect {base_frame} with '
                f'{self._sensor_frame()}; nothing is published until it does',
                throttle_duration_sec=10.0,
            )
            return False
        self._sensor.set_mount(*pose)
        self._mounted = True
        return True

    def _publish_mount(self, base_frame: str, position: Vec3, q: Quat) -> None:
        mount = (base_frame, self._sensor_frame(), position, q)
        if mount == self._sent_mount:
            return
        self._sent_mount = mount
        if self._tf_publisher is None:
            self._tf_publisher = self.create_publisher(
                TFMessage, '/tf_static', qos.latched(_TF_DEPTH)
            )
        transform = writer.transform(self._now_ns(), *mount)
        self._tf_publisher.publish(TFMessage(transforms=[transform]))

    # ------------------------------------------------------------------ parameters and services

    def _configure(self, settings: SettingsT, names: frozenset[str]) -> None:
        if settings.random_seed < 0:
            self._seed()  # comes back here with the seed that was drawn
            return
        before = self._sensor.settings
        self._sensor.configure(settings)
        if names & _REQUEST:  # set again, perhaps to the same: it starts anew
            self._sensor.board.arm_configured()
        if _TIMELINE in names:
            self._remark_on_timeline()
        anew = settings.truth != before.truth or settings.local_frame != before.local_frame
        if anew or settings.mount.source == 'tf':
            self._intake = self._intake.own()
        if anew:
            self._intake.configure(settings.truth, settings.local_frame)
        if settings.random_seed != self._sensor.seed:
            self._sensor.seed = settings.random_seed
            self.get_logger().info(
                f'random_seed {settings.random_seed} acts from the next reset on'
            )
        self._mounted = False
        self._configure_source()
        self._remark_on_fault()
        self._publish_state(only_changes=True)

    def _remark_on_fault(self) -> None:
        s, failure = self.settings, self.settings.failure
        given = {'mode': failure.mode != NONE, 'mtbf_hours': failure.mtbf_hours > 0.0}
        given['timeline'] = bool(failure.timeline)
        if any(given.values()) and s.fidelity != 'fault' and not self._fault_remark:
            self._fault_remark = True
            names = ', '.join(
                f'failure.{name} is {getattr(failure, name)}' for name in given if given[name]
            )
            self.get_logger().warning(
                f'{names}, but the fidelity is {s.fidelity}: it acts only with fidelity: fault'
            )

    def _remark_on_timeline(self) -> None:
        path = self.settings.failure.timeline
        if path and not self._sensor.timeline_events:
            self.get_logger().warning(
                f'failure.timeline {path} has no event for the sensor '
                f'{self.get_fully_qualified_name()}'
            )

    def _serve_inject(self, request: Any, response: Any) -> Any:
        response.success, response.message = False, _LOCKED
        if not self.settings.failure.allow_injection:
            return response
        fault = FaultRequest(
            request.mode,
            request.magnitude,
            request.target,
            request.axis,
            request.delay,
            request.duration,
            request.ramp,
            request.repeat,
            request.period,
        )
        try:
            response.message = self._sensor.board.inject(fault)
            if fault.mode == NONE:
                self._forget_configured(request.target in ('', 'all'))
            response.success = True
            self.get_logger().info(f'injected: {response.message}')
        except FaultError as error:
            response.message = str(error)
            self.get_logger().warning(f'injection refused: {error}')
        self._publish_state(only_changes=True)
        return response

    def _serve_clear(self, request: Any, response: Any) -> Any:
        if not self.settings.failure.allow_injection:
            response.success, response.message = False, _LOCKED
            return response
        names = self._sensor.board.clear()
        self._forget_configured(all_of_it=True)
        response.success = True
        response.message = f'cleared {", ".join(names)}' if names else 'no fault was active'
        self._publish_state(only_changes=True)
        return response

    def _forget_configured(self, all_of_it: bool) -> None:
        """Let the parameters failure.* show that what they gave was cleared."""
        failure = self.settings.failure
        gone = all_of_it or not self._sensor.board.has_configured
        if gone and failure.mode != NONE:
            self._bridge.assign('failure.mode', NONE)
        if gone and failure.mtbf_hours > 0.0:
            self._bridge.assign('failure.mtbf_hours', 0.0)
        if all_of_it and failure.timeline:
            self._bridge.assign(_TIMELINE, '')

    def _serve_timeline(self, request: Any, response: Any) -> Any:
        response.success, response.message = False, _LOCKED
        if not self.settings.failure.allow_injection:
            return response
        try:
            response.events = self._sensor.inject_timeline(request.timeline)
            response.success = True
            response.message = f'took {response.events} events, timed from power-on'
            self.get_logger().info(f'timeline: {response.message}')
        except JaguarError as error:
            response.message = str(error)
            self.get_logger().warning(f'timeline refused: {error}')
        self._publish_state(only_changes=True)
        return response

    def _serve_reset(self, request: Any, response: Any) -> Any:
        self._broken = ''
        self._sensor.power_cycle()
        response.success = True
        response.message = f'power-on number {self._sensor.power_on}; injected faults stay'
        self._publish_state(only_changes=False)
        return response

    def _serve_enable(self, request: Any, response: Any) -> Any:
        try:
            self._bridge.assign('enabled', bool(request.data))
            response.success = True
            response.message = 'enabled' if request.data else 'disabled'
        except ParameterError as error:
            response.success, response.message = False, str(error)
        return response

    # ------------------------------------------------------------------ state

    def _status(self) -> Status:
        status = self._sensor.status()
        if self._broken and status.state is not SensorState.OFF:
            return replace(
                status,
                state=SensorState.FAILED,
                causes=(self._broken,),
                valid=False,
                confidence=0.0,
            )
        return status

    def _publish_state(self, only_changes: bool) -> None:
        status = self._status()
        last, self._last_status = self._last_status, status
        changed = last is None or _essence(last) != _essence(status)
        if only_changes and not changed:
            return
        self._state_publisher.publish(self._state_of(status))
        if changed and self._suite is not None:
            self._suite.state_changed()

    def _state_of(self, status: Status) -> Any:
        name = self.get_fully_qualified_name()
        return writer.state(name, self._type, status, self._sensor_frame(), self._now_ns())

    def _each_second(self) -> None:
        self._calibrator.look()
        self._publish_state(only_changes=False)
        if self._odometry.unreadable:
            self._intake.counts['not an Odometry'] = self._odometry.unreadable
        status = self._status()
        missing = self._monitor.missing(self.settings.truth, self._intake, status)
        if missing is not None and self._monitor.worth_saying(missing):
            self.get_logger().warning(f'{missing.what}: {missing.remedy}')
        report = self._monitor.report(status, self._intake, missing, self._now_ns())
        self._diagnostics_publisher.publish(report)

    # ------------------------------------------------------------------ in a suite

    def _guarded(self, work: Callable[..., None]) -> Callable[..., None]:
        """In a suite, let an error in the work of this sensor fail it and no other."""
        if self._suite is None:
            return work

        @wraps(work)  # rclpy looks at the parameters of a callback
        def run(*arguments: Any) -> None:
            try:
                work(*arguments)
            except Exception as error:
                self._break(error)

        return run

    def _break(self, error: Exception) -> None:
        broken = f'internal error: {type(error).__name__}: {error}'
        if broken != self._broken:
            self._broken = broken
            self.get_logger().error(
                f'{broken}; the sensor gives nothing until it is reset (~/reset)\n'
                + ''.join(traceback.format_exception(type(error), error, error.__traceback__))
            )
            self._publish_state(only_changes=True)

    @property
    def sensor(self) -> Sensor[SettingsT, SampleT]:
        """The sensor."""
        return self._sensor

    @property
    def type_name(self) -> str:
        """The type of the sensor in the catalogue."""
        return self._type

    @property
    def is_broken(self) -> bool:
        """Whether an error has put the sensor out of work until it is reset."""
        return bool(self._broken)

    @property
    def silent_until_ns(self) -> int | None:
        """Measurement time [ns] up to which no further sample will come; None: not known."""
        return None if len(self._outbox) else self._sensor.time_ns

    def add_tap(self, tap: Tap) -> None:
        """Let the samples be seen."""
        self._taps.append(tap)

    def state(self) -> Any:
        """Return the SensorState of now."""
        return self._state_of(self._status())

    def refusal(self, fault: FaultRequest) -> str:
        """Return why an injection would be refused, or an empty string."""
        if not self.settings.failure.allow_injection:
            return _LOCKED
        return self._sensor.board.rules.refusal(fault)

    def inject(self, request: Any) -> Any:
        """Do what ~/inject_failure does; return the response."""
        return self._serve_inject(request, InjectFailure.Response())

    def clear(self) -> Any:
        """Do what ~/clear_failure does; return the response."""
        return self._serve_clear(Trigger.Request(), Trigger.Response())

    def reset(self) -> Any:
        """Do what ~/reset does; return the response."""
        return self._serve_reset(Trigger.Request(), Trigger.Response())

    def enable(self, on: bool) -> Any:
        """Do what ~/set_enabled does; return the response."""
        return self._serve_enable(SetBool.Request(data=on), SetBool.Response())


def _essence(status: Status) -> tuple[Any, ...]:
    return (
        status.state,
        status.causes,
        status.fidelity,
        status.faults,
        status.valid,
        status.confidence,
    )


def _names_of_others(sensor_type: str) -> set[str]:
    names: set[str] = set()
    for other, (_, settings_class) in catalogue.SENSORS.items():
        if other != sensor_type:
            names.update(declared.name for declared in declarations(settings_class))
    return names
