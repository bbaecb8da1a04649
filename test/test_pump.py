"""The truth past the executor while it flows: nothing is lost, and all else is served."""

from __future__ import annotations

import gc
import os
import statistics
import sys
import threading
import time
from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy')

import ros_helpers
import suite_helpers
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import AccelStamped
from jaguar_sensors_msgs.msg import SensorState
from jaguar_sensors_msgs.srv import InjectFailure
from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor
from ros_helpers import LATCHED, RELIABLE, SECOND, Running, circle, on_circle, stamp_ns
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu
from std_srvs.srv import Trigger
from suite_helpers import MOUNTS, triple

from jaguar_sensors_ros.ros import compat, pump
from jaguar_sensors_ros.ros.imu_node import ImuNode
from jaguar_sensors_ros.ros.suite_node import SuiteNode

pytestmark = pytest.mark.ros

#: period [ns] of truth and samples: at 200 Hz
PERIOD_NS = SECOND // 200
#: the module that keeps what rclpy is built on
IMPLEMENTATION = 'rclpy.impl.implementation_singleton'


class Watched(pump.Pump):
    """A pump that remembers whether it ever served the truth, and when it last did not."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.was_on = False

    def takes_over(self):
        wanted = super().takes_over()
        self.was_on = self.was_on or wanted
        return wanted


class Spun(Running):
    """A node in this process, served by compat.spin as in its executable."""

    def __init__(self, make_node, **options):
        self.node = make_node(**options)
        self._stop = False
        self.error = None
        self.pump = None
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def _spin(self):
        try:
            compat.spin(self.node, self._asked)
        except BaseException as error:
            self.error = error

    def _asked(self):
        return self._stop

    def end(self):
        """Stop and destroy the node; raise what its callbacks raised."""
        if not self._stop:
            self._stop = True
            self._thread.join()
            self.node.destroy_node()
        if self.error is not None:
            error, self.error = self.error, None
            raise error


class Flow:
    """Truth on a circle at an even rate, from a thread of its own while the test goes on.

    It goes on where ``after`` ended.  A context: the flow ends with it.  A ``clock`` ticks five
    times a message.
    """

    def __init__(self, graph, after=None, topic='/ground_truth/odom', clock=None):
        self._clock = clock
        self._publisher = graph.publisher(Odometry, topic)
        #: the first stamp in periods, and the next
        self.first = self.next = after.next if after is not None else 0
        #: by stamp [ns]: when it was sent (monotonic) [ns]
        self.sent_ns = {}
        self._stop = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        due_ns = time.monotonic_ns()
        while not self._stop:
            t_ns = self.next * PERIOD_NS
            message = on_circle(t_ns)
            if self._clock is not None:
                self._tick(t_ns)
            self.sent_ns[t_ns] = time.monotonic_ns()
            self._publisher.publish(message)
            self.next += 1
            due_ns += PERIOD_NS
            time.sleep(max(0.0, (due_ns - time.monotonic_ns()) / SECOND))

    def _tick(self, t_ns):
        for k in range(5):
            tick = Clock()
            tick.clock.sec, tick.clock.nanosec = divmod(t_ns + k * PERIOD_NS // 5, SECOND)
            self._clock.publish(tick)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._stop = True
        self._thread.join()

    def stamps(self):
        """Return the stamps of all samples from the beginning to the end of this flow."""
        return [k * PERIOD_NS for k in range(1, self.next)]


class Arrivals(dict):
    """By stamp [ns]: when a sample came (monotonic) [ns]."""

    def __init__(self, graph):
        super().__init__()
        graph.node.create_subscription(Imu, '/imu/data', self._take, RELIABLE)

    def _take(self, message):
        self[stamp_ns(message)] = time.monotonic_ns()


@pytest.fixture
def spun(monkeypatch, graph):
    """Serve what a test starts as in production; return what starts a node and waits for it."""
    made = []

    def make(*arguments):
        made.append(Watched(*arguments))
        return made[-1]

    monkeypatch.setattr(pump, 'Pump', make)
    monkeypatch.setattr(ros_helpers, 'Running', Spun)

    def watched(running):
        graph.until(lambda: made, 'the pump')
        running.pump = made.pop()
        return running

    def start(**parameters):
        return watched(graph.start(ImuNode, **parameters))

    start.watched = watched
    yield start
    gc.unfreeze()


@pytest.fixture(params=['as it is', 'single-threaded'])
def executor(request, monkeypatch):
    """Run a test with the executor of this release and with that of older ones."""
    if request.param == 'single-threaded':
        monkeypatch.setattr(compat, 'make_executor', SingleThreadedExecutor)
    return request.param


def taken_over(graph, running):
    """Wait until the truth goes past the executor."""
    graph.until(lambda: running.pump.is_on, 'the pump to take over')
    # the executor learns of it in its next turn
    assert running.node.channel.subscription not in list(running.node.subscriptions)


def handed_back(graph, running):
    """Wait until the executor has the truth."""
    graph.until(lambda: not running.pump.is_on, 'the pump to hand back')
    assert running.node.channel.subscription in list(running.node.subscriptions)


def whole(data, flow):
    """Wait for all samples up to the end of a flow; each must have come once and in order."""
    data.until_count(len(flow.stamps()))
    assert data.stamps == flow.stamps()


# ---------------------------------------------------------------------- served meanwhile


def test_all_else_is_served_while_the_truth_flows(graph, spun, executor):
    running = spun()
    data = graph.collect(Imu, '/imu/data')
    state = graph.collect(SensorState, '/imu/state', LATCHED)
    diagnostics = graph.collect(DiagnosticArray, '/diagnostics')
    with Flow(graph) as flow:
        taken_over(graph, running)
        states, reports = len(state), len(diagnostics)
        answer = graph.call(InjectFailure, '/imu/inject_failure', mode='bias', magnitude=0.5)
        assert answer.success, answer.message
        state.until(lambda message: any('bias' in fault for fault in message.faults))
        for k in range(50):
            assert graph.set('/imu', temperature_c=20.0 + 0.1 * k)[0].successful
        for _ in range(3):
            assert graph.call(Trigger, '/imu/reset').success
        assert graph.get('/imu', 'temperature_c') == pytest.approx(24.9)
        diagnostics.until_count(reports + 2)
        state.until_count(states + 2)
        assert running.pump.is_on
    whole(data, flow)


def test_a_fast_clock_does_not_hold_up_the_services(graph, spun, executor):
    running = spun(use_sim_time=True)
    data = graph.collect(Imu, '/imu/data')
    with Flow(graph, clock=graph.publisher(Clock, '/clock')) as flow:
        taken_over(graph, running)
        data.until_count(200)
        asked_s = time.monotonic()
        for _ in range(10):
            assert graph.call(Trigger, '/imu/reset').success
        assert time.monotonic() - asked_s < 5.0
        assert running.pump.is_on
    whole(data, flow)


def test_a_process_serves_idles_and_goes_on(graph):
    prefix = 'qos_overrides./ground_truth/odom.subscription'
    program = graph.program(
        'imu_node', '-p', f'{prefix}.reliability:=reliable', '-p', f'{prefix}.depth:=10000',
        '-p', 'qos_overrides./imu/data.publisher.depth:=10000',
    )  # fmt: skip
    data = graph.collect(Imu, '/imu/data')
    with Flow(graph) as first:
        data.until_count(100)
        for _ in range(20):
            assert graph.call(Trigger, '/imu/reset').success
    whole(data, first)
    time.sleep(1.2)  # silence, until the executor has the truth again
    before_s = cpu_s(program)
    time.sleep(1.0)
    assert cpu_s(program) - before_s < 0.2
    with Flow(graph, after=first) as second:
        data.until_count(len(data) + 100)
        assert graph.call(Trigger, '/imu/reset').success
    whole(data, second)


def cpu_s(program):
    """Return the CPU time [s] of a process so far."""
    with open(f'/proc/{program.process.pid}/stat', encoding='ascii') as file:
        fields = file.read().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


# ---------------------------------------------------------------------- to and fro


def test_silence_hands_back_and_truth_takes_over_again(graph, spun, executor):
    running = spun()
    data = graph.collect(Imu, '/imu/data')
    flow = None
    for _ in range(3):
        with Flow(graph, after=flow) as flow:
            taken_over(graph, running)
            data.until_count(len(data) + 20)
        whole(data, flow)
        handed_back(graph, running)
        # one message alone, and many at once, come by the executor
        now = flow.next
        graph.feed([on_circle(k * PERIOD_NS) for k in range(now, now + 50)])
        flow.next = now + 50
        whole(data, flow)


def test_latency_is_for_the_executor(graph, spun, executor):
    running = spun()
    data = graph.collect(Imu, '/imu/data')
    arrivals = Arrivals(graph)
    with Flow(graph) as flow:
        taken_over(graph, running)
        assert graph.set('/imu', latency_s=0.15)[0].successful
        handed_back(graph, running)
        late = range(flow.next, flow.next + 100)
        data.until_stamp(late[-1] * PERIOD_NS / SECOND)
        assert not running.pump.is_on
        assert graph.set('/imu', latency_s=0.0)[0].successful
        taken_over(graph, running)
        prompt = range(flow.next, flow.next + 100)
        data.until_stamp(prompt[-1] * PERIOD_NS / SECOND)
    whole(data, flow)
    graph.until(lambda: flow.stamps()[-1] in arrivals, 'the last sample')

    def delays_s(periods):
        stamps = [k * PERIOD_NS for k in periods]
        return [(arrivals[t_ns] - flow.sent_ns[t_ns]) / SECOND for t_ns in stamps]

    assert min(delays_s(late)) >= 0.15
    assert statistics.median(delays_s(late)) < 0.25
    assert statistics.median(delays_s(prompt)) < 0.1


def test_accelerations_from_a_topic_are_for_the_executor(graph, spun):
    running = spun(truth__acceleration='topic')
    data = graph.collect(Imu, '/imu/data')
    acceleration = graph.publisher(AccelStamped, '/ground_truth/accel')
    graph.publisher(Odometry, '/ground_truth/odom')
    for odometry in circle(0.0, 1.0, 200):
        message = AccelStamped(header=odometry.header)
        message.accel.linear.y = 2.0
        acceleration.publish(message)
        graph.feed([odometry])
    data.until_count(200)
    assert data.stamps == [k * PERIOD_NS for k in range(1, 201)]
    assert not running.pump.was_on


# ---------------------------------------------------------------------- many sensors


def test_a_suite_shares_what_is_pumped(graph, spun, tmp_path, monkeypatch):
    def start(**options):
        return Spun(SuiteNode, **options)

    monkeypatch.setattr(suite_helpers, 'RunningSuite', start)
    running = spun.watched(suite_helpers.start(graph, tmp_path, triple()))
    data = [graph.collect(Imu, f'/{name}/data') for name in MOUNTS]
    members = [running.node.sensors[name] for name in running.node.sensors]
    with Flow(graph) as flow:
        graph.until(lambda: running.pump.is_on, 'the pump to take over')
        for name in MOUNTS:
            assert graph.call(Trigger, f'/{name}/reset').success
        for collector in data:
            collector.until_count(200)
        # one that is late makes all wait for the executor
        assert graph.set('/imu_rear', latency_s=0.05)[0].successful
        graph.until(lambda: not running.pump.is_on, 'the pump to hand back')
        assert graph.set('/imu_rear', latency_s=0.0)[0].successful
        graph.until(lambda: running.pump.is_on, 'the pump to take over')
    for collector in data:
        whole(collector, flow)
    assert sum(member.channel is not None for member in members) == 1
    assert graph.node.count_subscribers('/ground_truth/odom') == 1


# ---------------------------------------------------------------------- other releases


@pytest.mark.parametrize(
    'absent',
    [
        SimpleNamespace(),
        SimpleNamespace(rclpy_implementation=SimpleNamespace()),
        SimpleNamespace(rclpy_implementation=SimpleNamespace(WaitSet=lambda subscriptions: None)),
    ],
    ids=['no module', 'no wait set', 'another wait set'],
)
def test_without_a_wait_set_there_is_no_waiting(graph, monkeypatch, absent):
    subscription = graph.node.create_subscription(Odometry, '/odom', print, RELIABLE)
    assert compat.waiting([subscription]) is not None
    monkeypatch.setitem(sys.modules, IMPLEMENTATION, absent)
    assert compat.waiting([subscription]) is None


def test_without_a_wait_set_the_executor_serves_all(graph, spun, monkeypatch):
    monkeypatch.setattr(compat, 'waiting', lambda subscriptions: None)
    running = spun()
    data = graph.collect(Imu, '/imu/data')
    with Flow(graph) as flow:
        data.until_count(200)
        assert graph.call(Trigger, '/imu/reset').success
    whole(data, flow)
    assert not running.pump.was_on
