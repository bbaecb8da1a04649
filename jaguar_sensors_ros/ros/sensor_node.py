"""What every sensor node does: truth in, samples out, services, parameters, diagnostics."""

from __future__ import annotations

import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Generic, Protocol, TypeVar, cast

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import AccelStamped
from jaguar_sensors_msgs.msg import SensorState as SensorStateMsg
from jaguar_sensors_msgs.srv import Calibrate
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger

from jaguar_sensors_ros import catalogue
from jaguar_sensors_ros.component import ParameterError, declarations
from jaguar_sensors_ros.ros import compat, qos
from jaguar_sensors_ros.ros.calibrator import Calibrator
from jaguar_sensors_ros.ros.diagnostics import Monitor
from jaguar_sensors_ros.ros.fault_desk import FaultDesk
from jaguar_sensors_ros.ros.guard import Guard
from jaguar_sensors_ros.ros.mount import Mount
from jaguar_sensors_ros.ros.outbox import Outbox
from jaguar_sensors_ros.ros.outlet import Outlet, Outlets
from jaguar_sensors_ros.ros.parameters import ParameterBridge
from jaguar_sensors_ros.ros.reader import stamp_ns, vector
from jaguar_sensors_ros.ros.suite_terms import SuiteTerms
from jaguar_sensors_ros.ros.truth_hub import Channel, TruthHub
from jaguar_sensors_ros.ros.wire import writer
from jaguar_sensors_ros.sensors.base import Sensor, Status
from jaguar_sensors_ros.sensors.settings import SensorSettings
from jaguar_sensors_ros.truth.intake import RawOdometry
from jaguar_sensors_ros.truth.track import Arrival, Push
from jaguar_sensors_ros.types import NS_PER_S, Fidelity, JaguarError

SettingsT = TypeVar('SettingsT', bound=SensorSettings)
SampleT = TypeVar('SampleT')

#: period of truth made by the static source [s]
_STATIC_PERIOD_S = 0.02
#: most steps of truth.max_gap_s that it makes at once
_BRIDGED = 100
#: how long [ns of measurement time] a change of state may wait, other than by a fault
_LOOK_NS = 50_000_000
#: body frame where the truth names none
_BODY_FRAME = 'base_link'

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
        seed = self._seed()
        name = self.get_fully_qualified_name().lstrip('/')
        self._sensor: Sensor[SettingsT, SampleT] = catalogue.make_sensor(
            sensor_type, name, self.settings, seed
        )
        self._sensor.check(self.settings)
        self._bridge.on_change(self._configure, self._check)
        self._last_status: Status | None = None
        self._looked: tuple[int, tuple[str, ...]] = (-_LOOK_NS, ())
        self._guard = Guard(self._suite is not None, self.get_logger(), self._note_changes)
        self._make_outputs()
        self._make_inputs()
        self._monitor = Monitor(
            self.get_fully_qualified_name(),
            self._odometry.topic_name,
            self._acceleration.topic_name,
        )
        self._make_services()
        self._make_timers()
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

    def _circumstances(self) -> Any:
        """Return what belongs to the samples of now besides their numbers."""
        return self._frame_id

    def _publish(self, sample: SampleT, context: Any) -> None:
        """Publish a sample on all topics with subscribers, in the context it was measured in.

        Here for topics whose messages are made of a sample and its frame.
        """
        self._outlets.publish(sample, context)

    def _check(self, settings: SettingsT) -> None:
        """Raise ParameterError where new settings do not fit; change nothing."""
        self._sensor.check(settings)

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

    def outlet(self, message_type: Any, topic: str, encode: Callable[..., Any]) -> Outlet:
        """Make a topic of samples."""
        return self._outlets.add(self.advertise(message_type, topic), encode)

    def _make_outputs(self) -> None:
        self._state_publisher = qos.overridable(
            self.create_publisher, SensorStateMsg, '~/state', qos.latched()
        )
        self._diagnostics_publisher = self.advertise(DiagnosticArray, '/diagnostics')
        self._outlets = Outlets()
        self._make_publishers()

    def _make_inputs(self) -> None:
        self._odometry = self._hub.listen(
            self, 'ground_truth/odom', self._guard.around(self._take_odometry)
        )
        self._intake = self._odometry.intake(self.settings)
        self._acceleration = self._listen(
            AccelStamped, 'ground_truth/accel', self._guard.around(self._take_acceleration)
        )
        self._mount = Mount(self, self._sensor, self._sensor_frame)

    def _listen(self, message_type: Any, topic: str, callback: Any) -> Any:
        return qos.overridable(
            self.create_subscription, message_type, topic, callback, qos.truth()
        )

    def _make_services(self) -> None:
        self._calibrator = Calibrator(self._sensor)
        self.faults = FaultDesk(
            self, self._sensor, self._bridge, self._note_changes, self._guard.answering
        )
        self._offered = [
            self.create_service(Trigger, '~/reset', self._guard.answering(self._serve_reset)),
            self.create_service(
                SetBool, '~/set_enabled', self._guard.answering(self._serve_enable)
            ),
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
        self._outbox.use_timer(self.create_timer(1.0, self._guard.around(self._deliver)))
        self._second = self.create_timer(1.0, self._guard.around(self._each_second), clock=steady)
        self._static = self.create_timer(
            _STATIC_PERIOD_S, self._guard.around(self._make_static), clock=steady
        )
        self._note_settings()

    def _note_settings(self) -> None:
        """Keep at hand what each message needs of the parameters."""
        s = self.settings
        is_static = s.truth.source == 'static'
        self._takes_odometry = not is_static
        if is_static:
            self._static.reset()
        else:
            self._static.cancel()
        is_late = self._sensor.fidelity is not Fidelity.TRANSPARENT
        self._latency_ns = round(s.latency_s * NS_PER_S) if is_late else 0
        self._frame_id = self.frame(s.frame_id)  # type: ignore[attr-defined]

    def _now_ns(self) -> int:
        return int(self.get_clock().now().nanoseconds)

    # ------------------------------------------------------------------ truth

    def _take_odometry(self, raw: RawOdometry) -> None:
        if not self._takes_odometry:
            return
        self._monitor.odometry.arrived()
        base_frame = raw.child_frame_id
        if base_frame == self._mount.served or self._ready_for(base_frame):
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
        if self._guard.cause:
            return
        sensor = self._sensor
        for arrival, segments in pushes:
            if arrival is Arrival.RESET:
                self._time_reset()
            for segment in segments:
                samples = sensor.feed(segment)
                if samples:
                    self._send(samples)
        sensor.prepare()
        if self._intake.has_remarks:
            for remark in self._intake.remarks():
                self.get_logger().warning(remark)
        if self._calibrator.run is not None:
            self._calibrator.look()
        looked_ns, faults = self._looked
        now_ns = sensor.time_ns or 0
        if not 0 <= now_ns - looked_ns < _LOOK_NS or sensor.effective_faults != faults:
            # a fault that comes or goes is told at once, a limit that is exceeded or the end of
            # the warm-up soon: working out the state takes as long as the intake
            self._looked = (now_ns, sensor.effective_faults)
            self._note_changes()
        for tap in self._taps:
            tap.moved()

    def _send(self, samples: list[SampleT]) -> None:
        context = self._circumstances()
        if self._latency_ns == 0 and not self._outbox.waiting and not self._taps:
            for sample in samples:  # without a look at the clock, or anything else
                self._publish(sample, context)
            return
        for sample in samples:
            t_ns = sample.t_ns  # type: ignore[attr-defined]
            deliver: Callable[[], None] = partial(self._publish, sample, context)
            if self._taps:
                deliver = self._tapped(sample, deliver)
            self._outbox.put(t_ns, self._latency_ns, deliver)

    def _tapped(self, sample: SampleT, publish: Callable[[], None]) -> Callable[[], None]:
        """Return what publishes a sample and tells those that see it."""
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

    # ------------------------------------------------------------------ frames

    def frame(self, name: str) -> str:
        """Return a frame name with the prefix."""
        return self.settings.frame_prefix + name

    def _sensor_frame(self) -> str:
        return self._frame_id

    def _ready_for(self, base_frame: str) -> bool:
        return self._mount.ready_for(base_frame or self.frame(_BODY_FRAME))

    # ------------------------------------------------------------------ parameters and services

    def _configure(self, settings: SettingsT, names: frozenset[str]) -> None:
        if settings.random_seed < 0:
            self._seed()  # comes back here with the seed that was drawn
            return
        before = self._sensor.settings
        self._sensor.configure(settings)
        self.faults.parameters_set(names)
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
        self._mount.look_again()
        self._note_settings()
        self._note_changes()

    def _serve_reset(self, request: Any, response: Any) -> Any:
        response.success, response.message = True, self.reset()
        return response

    def reset(self) -> str:
        """Power-cycle the sensor; return a sentence that says so."""
        self._guard.mend()
        self._sensor.power_cycle()
        self._publish_state(only_changes=False)
        return f'power-on number {self._sensor.power_on}; injected faults stay'

    def _serve_enable(self, request: Any, response: Any) -> Any:
        try:
            response.message = self.enable(bool(request.data))
            response.success = True
        except ParameterError as error:
            response.success, response.message = False, str(error)
        return response

    def enable(self, on: bool) -> str:
        """Switch the output on or off; return a sentence that says so.

        Raises
        ------
        ParameterError
            if the parameter ``enabled`` is refused.
        """
        self._bridge.assign('enabled', on)
        return 'enabled' if on else 'disabled'

    # ------------------------------------------------------------------ state

    def _note_changes(self) -> None:
        self._publish_state(only_changes=True)

    def _status(self) -> Status:
        return self._guard.seen_in(self._sensor.status())

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

    # ------------------------------------------------------------------ how it is served

    @property
    def subscriptions(self) -> Iterator[Any]:
        """Those that the executor serves."""
        channel = self.channel
        apart = channel.subscription if channel is not None and channel.is_apart else None
        return (one for one in super().subscriptions if one is not apart)

    @property
    def channel(self) -> Channel | None:
        """The ground truth that this node receives, None where another one does it for it."""
        channel: Channel | None = getattr(self, '_odometry', None)
        return channel if channel is not None and channel.node is self else None

    @property
    def is_prompt(self) -> bool:
        """Whether samples go out as the odometry comes, and depend on nothing else that comes."""
        is_alone = self._takes_odometry and self.settings.truth.acceleration != 'topic'
        return is_alone and self._latency_ns == 0 and not len(self._outbox)

    # ------------------------------------------------------------------ in a suite

    @property
    def sensor(self) -> Sensor[SettingsT, SampleT]:
        """The sensor."""
        return self._sensor

    @property
    def type_name(self) -> str:
        """The type of the sensor in the catalogue."""
        return self._type

    @property
    def truth_topic(self) -> str:
        """Name of the topic that the ground truth comes from."""
        return str(self._odometry.topic_name)

    @property
    def is_broken(self) -> bool:
        """Whether an error has put the sensor out of work until it is reset."""
        return self._guard.is_broken

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
