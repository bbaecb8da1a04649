"""Starts nodes, feeds them truth and collects what they publish, over real DDS.

A test gets one :class:`Graph` from the fixture ``graph``::

    def test_rest(graph):
        imu = graph.start(ImuNode, fidelity='transparent')
        data = graph.collect(Imu, '/imu/data')
        graph.feed(imu, rest(0.0, 1.0, 50))
        data.until_stamp(1.0)

Nothing waits for wall time: collectors wait for counts and stamps, with deadlines that only
bound a failure.  Publishers and subscriptions of the test, and by ``qos_overrides`` those of
the nodes it starts, are reliable and deep, so no message is lost however fast they go.
"""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import rclpy
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import Log
from rcl_interfaces.srv import (
    DescribeParameters,
    GetParameters,
    ListParameters,
    SetParameters,
)
from rclpy.executors import SingleThreadedExecutor
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from jaguar_sensors_ros.ros import compat

SECOND = 1_000_000_000
#: bound of every wait; reached only by a failure
DEADLINE_S = 30.0
_DEEP = 100_000
#: messages published without waiting for the readers, and what counts as quiet [s]
_BURST, _QUIET_S = 200, 0.02
_OUTPUTS = ('data', 'data_raw', 'increments', 'error', 'fix', 'vel', 'vel_body', 'solution',
            'pressure')

RELIABLE = QoSProfile(depth=_DEEP, reliability=ReliabilityPolicy.RELIABLE)
BEST_EFFORT = QoSProfile(depth=_DEEP, reliability=ReliabilityPolicy.BEST_EFFORT)
LATCHED = QoSProfile(
    depth=1000,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)


# ---------------------------------------------------------------------- truth


def stamp_ns(message: Any) -> int:
    """Return the stamp of a message with a header [ns]."""
    stamp = message.header.stamp
    return stamp.sec * SECOND + stamp.nanosec


def odometry(
    t_ns: int,
    position: Iterable[float] = (0.0, 0.0, 0.0),
    q_wxyz: Iterable[float] = (1.0, 0.0, 0.0, 0.0),
    linear: Iterable[float] = (0.0, 0.0, 0.0),
    angular: Iterable[float] = (0.0, 0.0, 0.0),
    child_frame_id: str = 'base_link',
) -> Odometry:
    """Return nav_msgs/Odometry."""
    message = Odometry()
    message.header.frame_id = 'map'
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(t_ns, SECOND)
    message.child_frame_id = child_frame_id
    pose, twist = message.pose.pose, message.twist.twist
    for part, values in ((pose.position, position), (twist.linear, linear)):
        part.x, part.y, part.z = map(float, values)
    twist.angular.x, twist.angular.y, twist.angular.z = map(float, angular)
    q = pose.orientation
    q.w, q.x, q.y, q.z = map(float, q_wxyz)
    return message


def stamps(start_s: float, end_s: float, rate_hz: float) -> Iterator[int]:
    """Return the instants [ns] from start to end, both included, at an even rate."""
    count = round((end_s - start_s) * rate_hz)
    return (round(start_s * SECOND + i * SECOND / rate_hz) for i in range(count + 1))


def rest(start_s: float, end_s: float, rate_hz: float) -> list[Odometry]:
    """Return odometry of a body at rest at the origin, both ends included."""
    return [odometry(t_ns) for t_ns in stamps(start_s, end_s, rate_hz)]


def on_circle(t_ns: int, speed: float = 2.0, yaw_rate: float = 1.0) -> Odometry:
    """Return odometry on a level circle to the left that starts at the origin, heading east."""
    angle = yaw_rate * t_ns / SECOND
    radius = speed / yaw_rate
    return odometry(
        t_ns,
        (radius * math.sin(angle), radius * (1.0 - math.cos(angle)), 0.0),
        (math.cos(angle / 2.0), 0.0, 0.0, math.sin(angle / 2.0)),
        (speed, 0.0, 0.0),
        (0.0, 0.0, yaw_rate),
    )


def circle(start_s: float, end_s: float, rate_hz: float, **motion: float) -> list[Odometry]:
    """Return odometry on a level circle (see :func:`on_circle`), both ends included."""
    return [on_circle(t_ns, **motion) for t_ns in stamps(start_s, end_s, rate_hz)]


# ---------------------------------------------------------------------- what came


class Collector(list):
    """The messages of one topic in the order of their arrival."""

    def __init__(self, graph: Graph, topic: str) -> None:
        super().__init__()
        self._graph = graph
        self.topic = topic
        self.publishers: Callable[[], int] = lambda: 0

    @property
    def stamps(self) -> list[int]:
        """The stamps [ns]."""
        return [stamp_ns(message) for message in self]

    def until_count(self, count: int) -> Collector:
        """Wait for so many messages."""
        self._until(lambda: len(self) >= count, f'{count} messages')
        return self

    def until_stamp(self, t_s: float) -> Collector:
        """Wait for a message stamped ``t_s`` or later, counting only what is last."""
        t_ns = round(t_s * SECOND)
        self._until(lambda: bool(self) and stamp_ns(self[-1]) >= t_ns, f'stamp {t_s} s')
        return self

    def until(self, wanted: Callable[[Any], bool]) -> Any:
        """Wait for a message that fulfils a condition and return the first."""
        seen = 0

        def found() -> bool:
            nonlocal seen
            start, seen = seen, len(self)
            return any(map(wanted, self[start:]))

        self._until(found, 'a message')
        return next(filter(wanted, self))

    def _until(self, condition: Callable[[], bool], what: str) -> None:
        self._graph.until(condition, lambda: f'{what}; {self!r}', progress=self.__len__)

    def __repr__(self) -> str:
        """Say what came, for failures."""
        last = self[-1] if self else 'nothing'
        return f'{self.topic}: {len(self)} messages, the last {last}'


# ---------------------------------------------------------------------- nodes


class Running:
    """A node of ours in this process, served by its own thread as in production."""

    def __init__(self, make_node: Callable[..., Any], **options: Any) -> None:
        self.node = make_node(**options)
        self._executor = compat.make_executor()
        self._executor.add_node(self.node)
        self._stop = False
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        try:
            while not self._stop:
                self._executor.spin_once(timeout_sec=0.05)
        except BaseException as error:
            self.error = error

    @property
    def name(self) -> str:
        """The full name of the node."""
        return self.node.get_fully_qualified_name()

    def end(self) -> None:
        """Stop and destroy the node; raise what its callbacks raised."""
        if self._thread.is_alive() or not self._stop:
            self._stop = True
            self._thread.join()
            self._executor.remove_node(self.node)
            self._executor.shutdown()
            self.node.destroy_node()
        if self.error is not None:
            error, self.error = self.error, None
            raise error


class Program:
    """One of our executables as a process of its own.

    ``name`` is that of a console script; arguments follow ``--ros-args`` unless they start
    with it themselves.
    """

    def __init__(self, name: str, *arguments: str, env: dict[str, str] | None = None) -> None:
        code = f'from jaguar_sensors_ros.ros.main import {name} as main; raise SystemExit(main())'
        command = [sys.executable, '-c', code, '--ros-args', *arguments]
        self.process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **(env or {})},
        )
        self.output = ''

    def signal(self, number: int = signal.SIGINT) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    def wait(self, timeout_s: float = DEADLINE_S) -> int:
        """Wait for its end; return the exit status and keep what it printed in ``output``."""
        out, err = self.process.communicate(timeout=timeout_s)
        self.output += out + err
        return self.process.returncode

    def end(self) -> None:
        """End it in any case."""
        if self.process.poll() is None:
            self.process.kill()
        if self.process.stdout is not None and not self.process.stdout.closed:
            self.process.communicate()


class Graph:
    """The test's side of the ROS graph; everything it started ends with it."""

    def __init__(self) -> None:
        self.node = rclpy.create_node('test', start_parameter_services=False)
        self._executor = SingleThreadedExecutor()
        self._executor.add_node(self.node)
        self._started: list[Any] = []
        self._publishers: dict[str, Any] = {}
        self._clients: dict[tuple[Any, str], Any] = {}
        self._logs: Collector | None = None
        self._collectors: list[Collector] = []

    def __enter__(self) -> Graph:
        """Return the graph."""
        return self

    def __exit__(self, *error: object) -> None:
        """End everything that was started."""
        try:
            for started in reversed(self._started):
                started.end()
        finally:
            self._executor.shutdown()
            self.node.destroy_node()

    def until(
        self,
        condition: Callable[[], bool],
        what: str | Callable[[], str],
        progress: Callable[[], int] = lambda: 0,
    ) -> None:
        """Serve the test's node until a condition holds.

        Fails with ``what`` when for the length of the deadline nothing goes on.
        """
        deadline, before = time.monotonic() + DEADLINE_S, progress()
        while not condition():
            if progress() != before:
                deadline, before = time.monotonic() + DEADLINE_S, progress()
            if time.monotonic() > deadline:
                text = what if isinstance(what, str) else what()
                raise AssertionError(f'waited for {text}{self._ended()}')
            self._executor.spin_once(timeout_sec=0.02)

    def _ended(self) -> str:
        """Return what programs that ended have printed, for failures."""
        programs = [started for started in self._started if isinstance(started, Program)]
        ended = [p for p in programs if p.process.poll() is not None and not p.output]
        return ''.join(f'\nended with status {p.wait()}: {p.output}' for p in ended)

    # ------------------------------------------------------------------ start

    def start(
        self,
        make_node: Callable[..., Any],
        *,
        namespace: str = '',
        arguments: Iterable[str] = (),
        **parameters: Any,
    ) -> Running:
        """Start a node of ours in this process.

        Parameters are named with ``__`` for the dot (``failure__mode='bias'``).
        ``arguments`` are those after ``--ros-args``.
        """
        given = {name.replace('__', '.'): value for name, value in parameters.items()}
        for topic in ('odom', 'accel'):
            prefix = f'qos_overrides.{namespace}/ground_truth/{topic}.subscription'
            given.setdefault(f'{prefix}.reliability', 'reliable')
            given.setdefault(f'{prefix}.depth', _DEEP)
        name = _node_name(make_node, arguments)
        for topic in _OUTPUTS:
            given.setdefault(f'qos_overrides.{namespace}/{name}/{topic}.publisher.depth', _DEEP)
        options: dict[str, Any] = {
            'parameter_overrides': [Parameter(n, value=v) for n, v in given.items()]
        }
        if namespace:
            options['namespace'] = namespace
        if arguments:
            options['cli_args'] = ['--ros-args', *arguments]
        running = Running(make_node, **options)
        self._started.append(running)
        return running

    def program(self, name: str, *arguments: str, env: dict[str, str] | None = None) -> Program:
        """Start an executable; ``arguments`` are those after ``--ros-args``."""
        program = Program(name, *arguments, env=env)
        self._started.append(program)
        return program

    # ------------------------------------------------------------------ topics

    def publisher(self, kind: Any, topic: str, readers: int = 1, qos: Any = RELIABLE) -> Any:
        """Return a publisher that is matched with so many readers."""
        if topic not in self._publishers:
            self._publishers[topic] = self.node.create_publisher(kind, topic, qos)
        publisher = self._publishers[topic]
        self.until(
            lambda: publisher.get_subscription_count() >= readers, f'{readers} readers of {topic}'
        )
        return publisher

    def collect(
        self, kind: Any, topic: str, qos: Any = RELIABLE, writers: int = 1, raw: bool = False
    ) -> Collector:
        """Return a collector that is matched with so many publishers."""
        collector = Collector(self, topic)
        self._collectors.append(collector)
        subscription = self.node.create_subscription(kind, topic, collector.append, qos, raw=raw)
        collector.publishers = lambda: self.node.count_publishers(topic)
        self.until(
            lambda: _matched(self.node, subscription, topic) >= writers,
            f'{writers} publishers of {topic}',
        )
        return collector

    def drop(self, collector: Collector) -> None:
        """End a collection."""
        for subscription in list(self.node.subscriptions):
            if subscription.topic_name == collector.topic:
                self.node.destroy_subscription(subscription)

    def feed(
        self,
        messages: Iterable[Odometry],
        topic: str = '/ground_truth/odom',
        readers: int = 1,
    ) -> None:
        """Publish odometry to so many readers, as fast as all keep up.

        A reader with 5000 messages that nobody took yet (Fast DDS's resource limit) refuses the
        next for good.  So after each burst what it caused is taken until nothing more comes.
        """
        publisher = self.publisher(Odometry, topic, readers)
        for count, message in enumerate(messages, start=1):
            publisher.publish(message)
            if count % _BURST == 0:
                self._settle()

    def _settle(self) -> None:
        """Serve the test's node until the nodes in this process and the collectors are quiet."""
        before, since = -1, time.monotonic()
        while time.monotonic() - since < _QUIET_S:
            self._executor.spin_once(timeout_sec=0.002)
            now = self._activity()
            if now != before:
                before, since = now, time.monotonic()

    def _activity(self) -> int:
        nodes = [one.node for one in self._started if isinstance(one, Running)]
        taken = sum(node._intake.received for node in nodes if hasattr(node, '_intake'))
        return taken + sum(len(collector) for collector in self._collectors)

    def logs(self, node_name: str = '') -> list[str]:
        """Return the console lines at WARN or above of the nodes so far, or of one."""
        return [m.msg for m in self.log() if m.name == node_name or not node_name]

    def log(self) -> Collector:
        """Return all console messages (/rosout), from the start of each node on."""
        if self._logs is None:
            self._logs = self.collect(Log, '/rosout', LATCHED)
        return self._logs

    # ------------------------------------------------------------------ services

    def call(self, kind: Any, service: str, **request: Any) -> Any:
        """Call a service and return its response."""
        future = self.ask(kind, service, **request)
        self.until(future.done, f'an answer of {service}')
        return future.result()

    def ask(self, kind: Any, service: str, **request: Any) -> Any:
        """Call a service and return the future of its response."""
        key = (kind, service)
        if key not in self._clients:
            self._clients[key] = self.node.create_client(kind, service)
        client = self._clients[key]
        self.until(client.service_is_ready, f'the service {service}')
        return client.call_async(kind.Request(**request))

    def set(self, node_name: str, **parameters: Any) -> list[Any]:
        """Set parameters one by one, ``__`` for the dot; return the results."""
        values = [
            Parameter(name.replace('__', '.'), value=value).to_parameter_msg()
            for name, value in parameters.items()
        ]
        return self.call(SetParameters, f'{node_name}/set_parameters', parameters=values).results

    def get(self, node_name: str, *names: str) -> Any:
        """Return the value of a parameter, or a list of those of several."""
        answer = self.call(GetParameters, f'{node_name}/get_parameters', names=list(names))
        values = [parameter_value_to_python(value) for value in answer.values]
        return values[0] if len(names) == 1 else values

    def parameter_names(self, node_name: str) -> list[str]:
        """Return the names of all parameters of a node."""
        answer = self.call(ListParameters, f'{node_name}/list_parameters')
        return list(answer.result.names)

    def describe(self, node_name: str, *names: str) -> list[Any]:
        """Return the descriptors of parameters."""
        service = f'{node_name}/describe_parameters'
        return self.call(DescribeParameters, service, names=list(names)).descriptors


def _node_name(make_node: Callable[..., Any], arguments: Iterable[str]) -> str:
    """Return the name a node of ours will have."""
    for argument in arguments:
        if argument.startswith('__node:='):
            return argument.partition(':=')[2]
    return make_node.__name__.lower().removesuffix('node')


def _matched(node: Any, subscription: Any, topic: str) -> int:
    """Return with how many publishers a subscription is matched."""
    if hasattr(subscription, 'get_publisher_count'):
        return subscription.get_publisher_count()
    return node.count_publishers(topic)  # Humble


# ---------------------------------------------------------------------- whole runs


def record(
    graph: Graph,
    make_node: Callable[..., Any],
    truth: Iterable[Odometry],
    topics: dict[str, Any],
    *,
    count: int | dict[str, int],
    raw: bool = False,
    readers: int = 1,
    **parameters: Any,
) -> dict[str, Collector]:
    """Run a node over some truth and return what came on its private topics.

    The run is over when ``count`` messages came on each topic, or so many as ``count`` says of
    each.  Two runs of one name and seed in a row see the same random numbers.
    """
    running = graph.start(make_node, **parameters)
    got = {
        topic: graph.collect(kind, f'{running.name}/{topic}', raw=raw)
        for topic, kind in topics.items()
    }
    graph.feed(truth, readers=readers)
    for topic, collector in got.items():
        collector.until_count(count if isinstance(count, int) else count.get(topic, 0))
    for topic, collector in got.items():
        graph.drop(collector)
        assert collector.publishers() == 1, topic
    running.end()
    graph.until(
        lambda: not any(collector.publishers() for collector in got.values()), 'the node to end'
    )
    return got
