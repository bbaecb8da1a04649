"""The demo's own node: records what is published, watches the streams, sets and ends the fault."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from jaguar_sensors_msgs.msg import SensorState
from jaguar_sensors_msgs.srv import InjectFailure
from nav_msgs.msg import Odometry
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import Imu, NavSatFix
from std_srvs.srv import Trigger

from jaguar_sensors_ros.analysis.acceptance import Trace
from jaguar_sensors_ros.analysis.fault_window import FaultWindow
from jaguar_sensors_ros.bags.writer import BagWriter
from jaguar_sensors_ros.ros.demo.plan import FAULT, TOPICS, TRUTH_TOPIC, Plan
from jaguar_sensors_ros.ros.demo.streams import GpsStream, ImuStream, RateMeter
from jaguar_sensors_ros.ros.reader import read_odometry, stamp_ns
from jaguar_sensors_ros.truth.intake import TruthIntake
from jaguar_sensors_ros.truth.track import Arrival
from jaguar_sensors_ros.types import NS_PER_S

_DEPTH = 2000


class DemoMonitor(Node):
    """Subscribes to everything of the demo.

    Parameters
    ----------
    plan : Plan
        What is run.
    bag : BagWriter or None
        Where it is recorded.
    """

    def __init__(self, plan: Plan, bag: BagWriter | None) -> None:
        super().__init__('demo', start_parameter_services=False)
        self._bag = bag
        self.window = FaultWindow()
        self.imu = ImuStream(plan.imu, self.window)
        self.gps = GpsStream(plan.gps)
        self.streams = (self.imu, self.gps)
        self._intake = TruthIntake(self.imu.settings.truth, self.imu.settings.local_frame)
        self.truth = Trace()
        self.truth_meter = RateMeter()
        self.truth_newest_ns = 0
        self.truth_gaps = 0
        self.received = 0
        self.strangers: set[str] = set()
        self._readers = {topic: self._subscribe(topic) for topic in TOPICS if topic != TRUTH_TOPIC}
        self._inject = self.create_client(InjectFailure, '/imu/inject_failure')
        self._clear = self.create_client(Trigger, '/imu/clear_failure')

    # ------------------------------------------------------------------ start

    def _subscribe(self, topic: str) -> Any:
        kind, latched = TOPICS[topic]
        durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
        profile = QoSProfile(
            depth=_DEPTH, reliability=ReliabilityPolicy.RELIABLE, durability=durability
        )
        handle = self._handlers().get(topic)

        def take(data: bytes) -> None:
            self.received += 1
            if self._bag is not None:
                self._bag.write(topic, time.time_ns(), data)
            if handle is not None:
                handle(data)

        return self.create_subscription(_class_of(kind), topic, take, profile, raw=True)

    def _handlers(self) -> dict[str, Callable[[bytes], None]]:
        return {
            TRUTH_TOPIC: self._take_truth,
            '/imu/data': self._take_imu,
            '/gps/fix': self._take_fix,
            '/imu/state': self._take_state,
            '/gps/state': self._take_state,
        }

    def missing(self) -> list[str]:
        """Return the topics and services that are not there yet."""
        absent = [t for t, r in self._readers.items() if self._publishers_of(t, r) == 0]
        absent += [
            client.srv_name
            for client in (self._inject, self._clear)
            if not client.service_is_ready()
        ]
        return absent

    def _publishers_of(self, topic: str, reader: Any) -> int:
        if hasattr(reader, 'get_publisher_count'):
            return int(reader.get_publisher_count())
        return int(self.count_publishers(topic))  # Humble

    def open_truth(self) -> None:
        """Subscribe to the truth, which waits for this subscription before it starts."""
        self._readers[TRUTH_TOPIC] = self._subscribe(TRUTH_TOPIC)

    # ------------------------------------------------------------------ messages

    def _take_truth(self, data: bytes) -> None:
        raw = read_odometry(deserialize_message(data, Odometry))
        self.truth_meter.tick()
        self.truth_newest_ns = raw.t_ns
        self.truth.add(raw.t_ns, raw.position)
        for push in self._intake.push(raw):
            if push.arrival is Arrival.GAP:
                self.truth_gaps += 1
            for segment in push.segments:
                for stream in self.streams:
                    stream.feed(segment)

    def _take_imu(self, data: bytes) -> None:
        message = deserialize_message(data, Imu)
        self.imu.receive(stamp_ns(message.header.stamp), message)

    def _take_fix(self, data: bytes) -> None:
        message = deserialize_message(data, NavSatFix)
        self.gps.receive(stamp_ns(message.header.stamp), message)

    def _take_state(self, data: bytes) -> None:
        """Note faults that somebody else injected."""
        message = deserialize_message(data, SensorState)
        own = {f'{FAULT["mode"]}:{FAULT["target"]}'} if message.type == 'imu' else set()
        if not self.window.covers(stamp_ns(message.header.stamp)):
            own = set()
        for fault in set(message.faults) - own:
            self.strangers.add(f'{message.name} {fault}')

    @property
    def elapsed_s(self) -> float:
        """Time [s] that the truth has run."""
        if not self.truth.t_ns:
            return 0.0
        return (self.truth_newest_ns - self.truth.t_ns[0]) / NS_PER_S

    # ------------------------------------------------------------------ fault

    def ask_for_fault(self) -> Any:
        """Inject the fault; return the future of the answer."""
        self.window.asked_ns = self.imu.newest_ns
        return self._inject.call_async(InjectFailure.Request(**FAULT))

    def ask_to_clear(self) -> Any:
        """Clear the fault; return the future of the answer."""
        self.window.clear_asked_ns = self.imu.newest_ns
        return self._clear.call_async(Trigger.Request())


def _class_of(kind: str) -> Any:
    """Return the message class of a name such as sensor_msgs/msg/Imu."""
    from importlib import import_module

    package, _, name = kind.split('/')
    return getattr(import_module(f'{package}.msg'), name)
