"""The fused output of a suite, over real DDS."""

from __future__ import annotations

import math
import statistics

import pytest

pytest.importorskip('rclpy')

import suite_helpers
from jaguar_sensors_msgs.msg import RedundancyStatus
from jaguar_sensors_msgs.srv import InjectFailure, InjectFailures
from ros_helpers import circle, rest
from sensor_msgs.msg import Imu
from suite_helpers import MOUNTS, imu, triple

from jaguar_sensors_ros.redundancy.median import median_variance

pytestmark = pytest.mark.ros

NAMES = list(MOUNTS)
#: white noise only: [rad/sqrt(s)], [m/s/sqrt(s)]
NOISE = {
    'grade': 'custom', 'bias_g_init_std': 0.0, 'bias_a_init_std': 0.0,
    'gyro': {'white_noise_density': 1e-4}, 'accel': {'white_noise_density': 2e-3},
}  # fmt: skip
RATE_HZ = 200
SIGMA = 1e-4 * math.sqrt(RATE_HZ)


def xyz(v):
    return (v.x, v.y, v.z)


@pytest.fixture
def rig(graph, tmp_path):
    def start(fused, **common):
        suite_helpers.start(graph, tmp_path, triple(fused, **common))
        data = graph.collect(Imu, '/imu/data')
        status = graph.collect(RedundancyStatus, '/imu/redundancy')
        return data, status

    return start


@pytest.mark.parametrize('method', ['weighted', 'median'])
def test_on_a_circle_it_is_the_imu_at_the_body_origin(graph, rig, method):
    """2 m/s, 1 rad/s: 2 m/s2 to the left, whatever the mounts."""
    data, status = rig({'method': method}, fidelity='transparent')
    raw = graph.collect(Imu, '/imu/data_raw')
    graph.feed(circle(0.0, 1.0, 100))
    assert data.until_count(199).stamps == [k * 5_000_000 for k in range(2, 201)]
    assert raw.until_count(199)[0].orientation_covariance[0] == -1.0
    for message in data:
        assert message.header.frame_id == 'base_link'
        assert xyz(message.angular_velocity) == pytest.approx((0.0, 0.0, 1.0), abs=1e-9)
        assert xyz(message.linear_acceleration) == pytest.approx((0.0, 2.0, 9.80665), abs=1e-5)
    q = data[-1].orientation
    assert 2.0 * math.atan2(q.z, q.w) == pytest.approx(1.0, abs=1e-6)
    first, *others = status.until_count(200)
    assert not first.valid and set(first.reasons) == {'angular acceleration not known yet'}
    assert all(message.valid and all(message.used) for message in others)
    assert list(first.inputs) == NAMES and first.method == method
    assert max(others[-1].accel_residual) < 1e-5


@pytest.mark.parametrize('method', ['weighted', 'median'])
def test_its_variance_is_that_of_theory_and_the_published_one(graph, rig, method):
    data, _ = rig({'method': method}, **NOISE)
    graph.feed(rest(0.0, 10.0, 50))
    data.until_count(1999)
    factor = 1.0 / 3.0 if method == 'weighted' else median_variance((1.0,) * 3)
    values = [x for message in data for x in xyz(message.angular_velocity)]
    bound = 5.0 * math.sqrt(2.0 / len(values))
    assert statistics.pvariance(values) == pytest.approx(factor * SIGMA**2, rel=bound)
    published = data[-1].angular_velocity_covariance
    assert published[0] == pytest.approx(factor * SIGMA**2, rel=1e-6)
    force = [xyz(message.linear_acceleration)[2] for message in data]
    published = data[-1].linear_acceleration_covariance
    # successive samples correlate by up to -1/2 through alpha
    bound = 5.0 * math.sqrt(3.0 / len(force))
    assert statistics.pvariance(force) == pytest.approx(published[8], rel=bound)


def test_a_biased_imu_is_left_out_and_comes_back(graph, rig):
    data, status = rig({'parameters': {'readmit_after': 20}}, **NOISE)
    graph.feed(rest(0.0, 1.0, 50))
    status.until_count(200)
    answer = graph.call(
        InjectFailure, '/imu_rear/inject_failure', mode='bias', magnitude=1.0, duration=1.0
    )
    assert answer.success
    graph.feed(rest(1.02, 4.0, 50))
    status.until_count(800)
    used = [tuple(message.used) for message in status]
    assert used[1:200] == [(True,) * 3] * 199
    assert used[200:420] == [(True, False, True)] * 220
    assert used[420:] == [(True,) * 3] * 380
    assert [message.reasons[1] for message in status[200:420]] == (
        ['disagrees'] * 200 + ['on probation'] * 20
    )
    assert status[300].gyro_residual[1] == pytest.approx(math.sqrt(3.0), rel=0.01)
    assert max(abs(x) for m in data for x in xyz(m.angular_velocity)) < 6.0 * SIGMA
    assert data[300].angular_velocity_covariance[0] == pytest.approx(SIGMA**2 / 2.0, rel=1e-6)


def test_a_total_failure_of_an_input_delays_nothing(graph, rig):
    """The fused sample of the newest stamp comes without a further message of the truth."""
    data, status = rig({})
    graph.feed(rest(0.0, 1.0, 50))
    data.until_stamp(1.0)
    assert graph.call(InjectFailure, '/imu_left/inject_failure', mode='total').success
    graph.feed(rest(1.02, 2.0, 50))
    assert data.until_stamp(2.0).stamps == [k * 5_000_000 for k in range(2, 401)]
    assert list(status.until_count(400)[-1].reasons) == ['', '', 'no sample']


def test_two_of_three_must_agree(graph, rig):
    data, status = rig({}, fidelity='transparent')
    inject = '/sensor_suite/inject_failure'
    graph.feed(rest(0.0, 0.5, 50))
    data.until_count(99)
    for name, magnitude in (('imu_front', 0.5), ('imu_left', -1.5)):
        request = {'sensors': [name], 'mode': 'bias', 'magnitude': magnitude}
        assert graph.call(InjectFailures, inject, **request).success
    graph.feed(rest(0.52, 1.0, 50))
    last = status.until_count(200)[-1]
    assert not last.valid and not any(last.used) and len(data) == 99
    assert set(last.reasons) <= {'disagrees', 'no majority agrees'}


def test_latency_and_a_reset_of_time(graph, tmp_path):
    """One input is late by 50 ms; then the time of the truth goes back."""
    suite = triple({}, fidelity='realistic')
    suite['sensors'][1]['parameters']['latency_s'] = 0.05
    suite_helpers.start(graph, tmp_path, suite)
    data = graph.collect(Imu, '/imu/data')
    for _ in range(2):
        count = len(data)
        graph.feed(rest(100.0, 101.0, 50))
        data.until_count(count + 199)
        assert data.stamps[count:] == [100_000_000_000 + k * 5_000_000 for k in range(2, 201)]


def test_inputs_of_different_rates_are_refused(graph, tmp_path):
    suite = {'sensors': [imu('a'), imu('b', sample_rate_hz=100)]}
    suite['fused'] = [{'name': 'f', 'inputs': ['a', 'b']}]
    program = graph.program(
        'sensor_suite', '-p', f'suite_file:={suite_helpers.write(tmp_path, suite)}'
    )
    assert program.wait() == 2
    assert 'one sample_rate_hz, not a 200 Hz, b 100 Hz' in program.output


def test_parameters_act_at_once(graph, rig):
    data, status = rig({}, fidelity='transparent')
    graph.feed(rest(0.0, 0.5, 50))
    data.until_count(99)
    (refused,) = graph.set('/imu', min_inputs=4)
    assert not refused.successful and 'there are 3 inputs' in refused.reason
    for result in graph.set('/imu', method='median', frame_id='nav_link'):
        assert result.successful
    graph.feed(rest(0.52, 1.0, 50))
    assert data.until_count(199)[-1].header.frame_id == 'nav_link'
    assert status.until_count(200)[-1].method == 'median'


def test_an_input_that_leaves_the_common_rate_is_named(graph, rig):
    data, status = rig({}, **NOISE)
    graph.feed(rest(0.0, 1.0, 50))
    data.until_count(199)
    assert graph.set(f'/{NAMES[0]}', sample_rate_hz=100.0)[0].successful
    graph.feed(rest(1.02, 2.0, 50))
    found = status.until(lambda m: m.reasons[0] == 'sample_rate_hz is 100')
    assert list(found.used) == [False, True, True] and found.valid
    text = f'/{NAMES[0]} has sample_rate_hz 100, not 200: it is left out'
    graph.until(lambda: any(text in line for line in graph.logs('imu')), 'the warning')
