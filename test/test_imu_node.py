"""imu_node over real DDS: counts, stamps, message conventions, values, reproducibility."""

from __future__ import annotations

import math
import random

import pytest

pytest.importorskip('rclpy')

from jaguar_sensors_msgs.msg import ImuError, ImuIncrements
from ros_helpers import (
    SECOND,
    circle,
    on_circle,
    record,
    rest,
    stamp_ns,
    stamps,
)
from sensor_msgs.msg import Imu

from jaguar_sensors_ros.ros.gps_node import GpsNode
from jaguar_sensors_ros.ros.imu_node import ImuNode

pytestmark = pytest.mark.ros

TOPICS = {'data': Imu, 'data_raw': Imu, 'increments': ImuIncrements, 'error': ImuError}
PERIOD_NS = 5_000_000
G0 = 9.80665


def xyz(v):
    return (v.x, v.y, v.z)


def wxyz(q):
    return (q.w, q.x, q.y, q.z)


def test_a_minute_at_200_hz_from_50_hz_odometry(graph):
    from sensor_msgs.msg import NavSatFix

    graph.start(ImuNode)
    graph.start(GpsNode, update_hz=5)
    data = graph.collect(Imu, '/imu/data')
    fix = graph.collect(NavSatFix, '/gps/fix')
    graph.feed(circle(0.0, 60.0, 50), readers=2)
    data.until_stamp(60.0)
    fix.until_stamp(60.0)
    assert data.stamps == [k * PERIOD_NS for k in range(1, 12001)]
    assert fix.stamps == [k * SECOND // 5 for k in range(1, 301)]


def jittered(start_s, end_s, rate_hz):
    """Return instants whose distance varies by up to 80 % of the period."""
    chance = random.Random(1)
    inner = list(stamps(start_s, end_s, rate_hz))[1:-1]
    spread = 0.4 / rate_hz * SECOND
    moved = [t + round(chance.uniform(-spread, spread)) for t in inner]
    return [round(start_s * SECOND), *moved, round(end_s * SECOND)]


@pytest.mark.parametrize('start_s', [0.0, 1.7e9 + 0.123])
@pytest.mark.parametrize(('rate_hz', 'jitter'), [(20, False), (1000, False), (50, True)])
def test_the_rate_of_the_odometry_does_not_matter(graph, rate_hz, jitter, start_s):
    instants = (jittered if jitter else stamps)(start_s, start_s + 3.0, rate_hz)
    graph.start(ImuNode, fidelity='transparent')
    data = graph.collect(Imu, '/imu/data')
    graph.feed(map(on_circle, instants))
    start_ns = round(start_s * SECOND)
    first = -(-start_ns // PERIOD_NS) + 1
    last = (start_ns + 3 * SECOND) // PERIOD_NS
    data.until_count(last - first + 1)
    assert data.stamps == [k * PERIOD_NS for k in range(first, last + 1)]
    for message in data:
        assert xyz(message.angular_velocity) == pytest.approx((0, 0, 1), abs=1e-9)
        assert xyz(message.linear_acceleration) == pytest.approx((0, 2, G0), abs=1e-6)


@pytest.mark.parametrize('rate_hz', [30, 123.4, 1000])
def test_other_sample_rates_keep_their_exact_grid(graph, rate_hz):
    from fractions import Fraction

    got = record(
        graph, ImuNode, rest(0.0, 2.0, 50), {'data': Imu}, sample_rate_hz=rate_hz,
        count=int(2 * rate_hz),
    )['data']
    rate = Fraction(str(rate_hz))
    assert got.stamps == [round(k * SECOND / rate) for k in range(1, int(2 * rate) + 1)]


def test_conventions(graph):
    got = record(
        graph, ImuNode, circle(0.0, 1.0, 50), TOPICS, count=200,
        random_seed=3, frame_prefix='robot/',
    )
    assert [len(got[topic]) for topic in TOPICS] == [200] * 4
    for topic in TOPICS:
        assert {m.header.frame_id for m in got[topic]} == {'robot/imu_link'}
        assert got[topic].stamps == got['data'].stamps
    for data, raw in zip(got['data'], got['data_raw'], strict=True):
        assert raw.orientation_covariance[0] == -1.0
        assert wxyz(raw.orientation) == (1.0, 0.0, 0.0, 0.0)
        assert math.hypot(*wxyz(data.orientation)) == pytest.approx(1.0, abs=1e-12)
        assert data.angular_velocity == raw.angular_velocity
        assert data.linear_acceleration == raw.linear_acceleration
        for m in (data, raw):
            assert min(m.angular_velocity_covariance[::4]) > 0.0
            assert min(m.linear_acceleration_covariance[::4]) > 0.0
        assert min(data.orientation_covariance[::4]) > 0.0


def test_no_covariance_is_zero_in_any_fidelity(graph):
    for fidelity in ('transparent', 'realistic', 'fault'):
        for grade in ('custom', 'strategic'):
            got = record(
                graph, ImuNode, rest(0.0, 0.1, 50), {'data': Imu, 'data_raw': Imu}, count=20,
                fidelity=fidelity, grade=grade, orientation__output='truth',
            )
            for m in got['data'] + got['data_raw']:
                assert min(m.angular_velocity_covariance[::4]) >= 1e-9 or grade == 'strategic'
                assert min(m.angular_velocity_covariance[::4]) > 0.0
                assert min(m.linear_acceleration_covariance[::4]) > 0.0
                assert m.orientation_covariance[0] != 0.0


def test_orientation_can_be_none_or_true(graph):
    none = record(
        graph, ImuNode, circle(0.0, 0.5, 50), {'data': Imu}, count=100, orientation__output='none'
    )['data']
    assert {m.orientation_covariance[0] for m in none} == {-1.0}
    true = record(
        graph, ImuNode, circle(0.0, 0.5, 50), {'data': Imu}, count=100,
        orientation__output='truth',
    )['data']
    for m in true:
        half = 0.5 * stamp_ns(m) / SECOND
        expected = (math.cos(half), 0.0, 0.0, math.sin(half))
        assert wxyz(m.orientation) == pytest.approx(expected, abs=1e-9)


def test_covariance_override(graph):
    matrix = [0.5, 0.1, 0.0, 0.1, 0.5, 0.0, 0.0, 0.0, 0.7]
    got = record(
        graph, ImuNode, rest(0.0, 0.1, 50), {'data': Imu}, count=20,
        covariance__angular_velocity=0.25, covariance__orientation=matrix,
        covariance__linear_acceleration=[1, 2, 3],
    )['data'][0]
    assert list(got.angular_velocity_covariance) == [0.25, 0, 0, 0, 0.25, 0, 0, 0, 0.25]
    assert list(got.linear_acceleration_covariance) == [1, 0, 0, 0, 2, 0, 0, 0, 3]
    assert list(got.orientation_covariance) == matrix


@pytest.mark.parametrize('samples', [1, 2])
def test_increments_are_the_rates_times_dt(graph, samples):
    got = record(
        graph, ImuNode, circle(0.0, 2.0, 50), {'data_raw': Imu, 'increments': ImuIncrements},
        count={'data_raw': 400, 'increments': 400 // samples}, increments__samples=samples,
        grade='consumer', random_seed=1,
    )
    raw = {stamp_ns(m): m for m in got['data_raw']}
    assert got['increments'].stamps == [
        k * samples * PERIOD_NS for k in range(1, 400 // samples + 1)
    ]
    for frame in got['increments']:
        assert len(frame.dt_samples) == len(frame.delta_theta_samples) == samples
        assert frame.dt == pytest.approx(samples * 0.005, abs=1e-15)
        sums = {'delta_theta': [0.0] * 3, 'delta_v': [0.0] * 3}
        for i in range(samples):
            t_ns = stamp_ns(frame) - (samples - 1 - i) * PERIOD_NS
            dt, m = frame.dt_samples[i], raw[t_ns]
            for part, rate in (
                ('delta_theta', m.angular_velocity), ('delta_v', m.linear_acceleration)
            ):
                value = xyz(getattr(frame, f'{part}_samples')[i])
                assert value == pytest.approx([x * dt for x in xyz(rate)], rel=1e-12, abs=1e-17)
                sums[part] = [a + b for a, b in zip(sums[part], value, strict=True)]
        for part, total in sums.items():
            assert xyz(getattr(frame, part)) == pytest.approx(total, rel=1e-12, abs=1e-17)


def test_error_is_published_minus_ideal(graph):
    truth = circle(0.0, 2.0, 50)
    options = {'topics': TOPICS, 'count': 400, 'random_seed': 5}
    given = {
        'grade': 'consumer', 'gyro__scale_factor_ppm': 1000, 'gyro__resolution': 1e-4,
        'fidelity': 'fault', 'failure__mode': 'bias', 'failure__magnitude': 0.1,
    }
    real = record(graph, ImuNode, truth, **options, **given)
    ideal = record(graph, ImuNode, truth, fidelity='transparent', **options)
    for m, twin, error in zip(real['data'], ideal['data'], real['error'], strict=True):
        for published, wanted, total in (
            (m.angular_velocity, twin.angular_velocity, error.gyro_total),
            (m.linear_acceleration, twin.linear_acceleration, error.accel_total),
        ):
            difference = [a - b for a, b in zip(xyz(published), xyz(wanted), strict=True)]
            assert xyz(total) == pytest.approx(difference, abs=1e-12)
        assert xyz(error.gyro_fault) == pytest.approx((0.1, 0.1, 0.1))
        assert list(error.fault_modes) == ['bias'] and list(error.fault_targets) == ['gyro']
        assert list(error.fault_magnitudes) == [0.1]
        for part in ('gyro_noise', 'gyro_bias', 'accel_noise', 'accel_bias'):
            assert any(xyz(getattr(error, part))), part
    for error in ideal['error']:
        assert not any(xyz(error.gyro_total)) and not any(xyz(error.accel_total))
        assert not error.fault_modes


def test_transparent_keeps_the_arm_and_the_mount(graph):
    """On a turn at 2 m/s and 1 rad/s, 0.5 m ahead: f_x = -r w^2; mounted upside down."""
    got = record(
        graph, ImuNode, circle(0.0, 1.0, 50), {'data': Imu}, count=200, fidelity='transparent',
        mount__position=[0.5, 0.0, 0.1], mount__rpy=[math.pi, 0.0, 0.0],
    )['data']
    for m in got:
        assert xyz(m.angular_velocity) == pytest.approx((0, 0, -1), abs=1e-9)
        assert xyz(m.linear_acceleration) == pytest.approx((-0.5, -2, -G0), abs=1e-6)


def test_same_truth_and_seed_give_the_same_bytes(graph):
    truth = circle(0.0, 5.0, 50)
    data = {'data': Imu, 'data_raw': Imu, 'increments': ImuIncrements}
    given = {'grade': 'consumer', 'raw': True, 'count': 1000}
    first, again, other = (
        record(graph, ImuNode, truth, data, random_seed=seed, **given) for seed in (11, 11, 12)
    )
    for topic in data:
        assert list(first[topic]) == list(again[topic]), topic
        assert not set(first[topic]) & set(other[topic]), topic


def test_two_units_of_one_seed_do_not_share_their_noise(graph):
    for name in ('left', 'right'):
        graph.start(ImuNode, arguments=['-r', f'__node:={name}'], random_seed=7)
    left, right = (graph.collect(Imu, f'/{name}/data') for name in ('left', 'right'))
    graph.feed(rest(0.0, 0.5, 50), readers=2)
    left.until_stamp(0.5)
    right.until_stamp(0.5)
    for a, b in zip(left, right, strict=True):
        assert a.angular_velocity.x != b.angular_velocity.x


def test_a_drawn_seed_is_logged_shown_and_reproduces(graph):
    graph.log()
    running = graph.start(ImuNode, random_seed=-1)
    seed = graph.get('/imu', 'random_seed')
    assert seed >= 0
    graph.log().until(lambda m: f'random_seed {seed}' in m.msg)
    data = graph.collect(Imu, '/imu/data', raw=True)
    graph.feed(rest(0.0, 1.0, 50))
    data.until_count(200)
    graph.drop(data)
    running.end()
    again = record(
        graph, ImuNode, rest(0.0, 1.0, 50), {'data': Imu}, raw=True, count=200, random_seed=seed
    )['data']
    assert list(again) == list(data)


def test_switching_the_fidelity_disturbs_no_stream(graph):
    """Transparent for a while: everything outside is as in a run that was not switched."""
    plain = record(
        graph, ImuNode, circle(0.0, 3.0, 50), {'data': Imu}, count=600, grade='consumer',
        random_seed=2,
    )['data']
    ideal = record(
        graph, ImuNode, circle(0.0, 3.0, 50), {'data': Imu}, count=600, fidelity='transparent'
    )['data']
    graph.start(ImuNode, grade='consumer', random_seed=2)
    data = graph.collect(Imu, '/imu/data')
    for end_s, fidelity in ((1.0, 'transparent'), (2.0, 'fault'), (3.0, 'realistic')):
        graph.feed(circle(end_s - 1.0 + (0.02 if end_s > 1.0 else 0.0), end_s, 50))
        data.until_stamp(end_s)
        assert graph.set('/imu', fidelity=fidelity)[0].successful
    assert list(data[:200]) == list(plain[:200])
    assert list(data[200:400]) == list(ideal[200:400])
    assert list(data[400:]) == list(plain[400:])
