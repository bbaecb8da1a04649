"""Latency: when samples are published, on any clock; stamps and order stay."""

from __future__ import annotations

import time

import pytest

pytest.importorskip('rclpy')

from ros_helpers import RELIABLE, SECOND, circle, odometry, record, rest, stamp_ns
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Imu

from jaguar_sensors_ros.ros.imu_node import ImuNode

pytestmark = pytest.mark.ros

LATENCY_S = 0.3


class Arrivals(list):
    """Stamps with the clock time of their arrival."""

    def __init__(self, graph, now_ns):
        super().__init__()
        graph.node.create_subscription(
            Imu, '/imu/data', lambda m: self.append((stamp_ns(m), now_ns())), RELIABLE
        )
        graph.until(lambda: graph.node.count_publishers('/imu/data') == 1, 'the publisher')


def test_on_the_wall_clock(graph):
    running = graph.start(ImuNode, latency_s=LATENCY_S)
    arrivals = Arrivals(graph, time.time_ns)
    now_ns = time.time_ns()
    graph.feed([odometry(now_ns + (k - 10) * SECOND // 50) for k in range(11)])
    graph.until(lambda: len(arrivals) >= 39, 'the samples')
    stamps = [stamp for stamp, _ in arrivals]
    assert stamps == sorted(stamps) and all(t % (SECOND // 200) == 0 for t in stamps)
    for stamp, arrived in arrivals:
        assert arrived >= stamp + round(LATENCY_S * SECOND)
    assert len(running.node._outbox) == 0


def test_counted_from_the_arrival_where_the_clocks_differ(graph):
    graph.start(ImuNode, latency_s=LATENCY_S)
    arrivals = Arrivals(graph, time.time_ns)
    sent_ns = time.time_ns()
    graph.feed(rest(0.0, 0.2, 50))
    graph.until(lambda: len(arrivals) == 40, 'the samples')
    assert [stamp for stamp, _ in arrivals] == [k * 5_000_000 for k in range(1, 41)]
    assert min(arrived for _, arrived in arrivals) >= sent_ns + round(LATENCY_S * SECOND)


def test_on_a_driven_clock(graph):
    graph.start(ImuNode, latency_s=LATENCY_S, use_sim_time=True)
    data = graph.collect(Imu, '/imu/data')
    clock = graph.publisher(Clock, '/clock')

    def tick(t_s):
        message = Clock()
        t_ns = round(t_s * SECOND)
        message.clock.sec, message.clock.nanosec = divmod(t_ns, SECOND)
        clock.publish(message)

    tick(100.0)
    graph.feed(rest(100.0, 101.0, 50))
    # before the clock has come so far, nothing; a service call makes sure that it had the time
    graph.get('/imu', 'latency_s')
    tick(100.2)
    graph.get('/imu', 'latency_s')
    assert len(data) == 0
    for t_s in (100.4, 100.8, 101.0, 101.3):
        tick(t_s)
        expected = round((t_s - LATENCY_S - 100.0) * 200)
        data.until_count(expected)
        graph.get('/imu', 'latency_s')
        assert len(data) == expected
    assert data.stamps == [100 * SECOND + k * 5_000_000 for k in range(1, 201)]


def test_samples_stay_as_they_were_measured(graph):
    """A switch to transparent while samples wait must not give their noise its covariance."""
    truth = circle(0.0, 0.2, 50)
    plain = record(graph, ImuNode, truth, {'data': Imu}, count=40, random_seed=1)['data']
    graph.start(ImuNode, random_seed=1, latency_s=0.5)
    data = graph.collect(Imu, '/imu/data')
    graph.feed(truth)
    running_count = graph._started[-1].node._sensor
    graph.until(lambda: running_count.sample_count == 40, 'the samples to wait')
    assert not data
    assert graph.set('/imu', fidelity='transparent')[0].successful
    assert graph.set('/imu', frame_id='elsewhere')[0].successful
    data.until_count(40)
    assert list(data) == list(plain)


def test_a_shorter_latency_overtakes_nothing(graph):
    graph.start(ImuNode, latency_s=0.5)
    data = graph.collect(Imu, '/imu/data')
    graph.feed(rest(0.0, 0.2, 50))
    sensor = graph._started[-1].node._sensor
    graph.until(lambda: sensor.sample_count == 40, 'the samples to wait')
    assert graph.set('/imu', latency_s=0)[0].successful
    graph.feed(rest(0.22, 0.4, 50))
    data.until_count(80)
    assert data.stamps == [k * 5_000_000 for k in range(1, 81)]


def test_transparent_has_no_latency(graph):
    got = record(
        graph, ImuNode, rest(0.0, 0.2, 50), {'data': Imu}, count=40, fidelity='transparent',
        latency_s=3600,
    )
    assert len(got['data']) == 40


def test_what_waits_at_a_reset_of_the_time_is_dropped(graph):
    graph.start(ImuNode, latency_s=0.3)
    data = graph.collect(Imu, '/imu/data')
    graph.feed(rest(5.0, 5.2, 50))
    graph.feed(rest(0.0, 0.2, 50))
    data.until_stamp(0.2)
    assert data.stamps == [k * 5_000_000 for k in range(1, 41)]
