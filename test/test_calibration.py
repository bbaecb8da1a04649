"""Calibration at rest: the mean of measured minus ideal, of the sensor and as a service."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from core_helpers import (
    ALPHA,
    EPOCH,
    G0,
    SECOND,
    forces,
    gps,
    imu,
    pieces,
    rates,
    reconfigure,
    run,
    still,
    turning,
)
from scipy import stats

from jaguar_sensors_ros.types import JaguarError, SensorState

KINDS = {
    'imu': (imu, {'gyro__white_noise_density': 1e-4, 'gyro__turn_on_bias_std': 1e-3,
                  'accel__white_noise_density': 1e-3, 'accel__turn_on_bias_std': 0.1}),
    'gps': (gps, {'pos_std_dev': 5.0, 'vel_std_dev': 0.1, 'pos_correlated_fraction': 0.0}),
}


def make(kind, **values):
    maker, own = KINDS[kind]
    return maker(**{**own, **values})


def errors(samples, channel):
    return np.array([getattr(s, f'{channel}_error').total for s in samples])


# ---------------------------------------------------------------------- the sensor


@pytest.mark.parametrize('kind', KINDS)
def test_the_mean_of_measured_minus_ideal_is_subtracted_from_the_next_sample_on(kind):
    plain, calibrated = make(kind), make(kind)
    started = calibrated.calibrate(10.0)
    segment = still(0, 15, base=EPOCH)
    reference, got = run(plain, [segment]), run(calibrated, [segment])
    assert started.done and not started.refused
    n = started.count
    assert [s.t_ns for s in got] == [s.t_ns for s in reference]
    for channel, mean in started.means().items():
        before, after = errors(reference, channel), errors(got, channel)
        np.testing.assert_allclose(mean, before[:n].mean(axis=0), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(after[:n], before[:n])
        np.testing.assert_allclose(after[n:], before[n:] - mean, rtol=1e-6, atol=1e-7)


def test_what_is_left_is_the_statistical_error_of_the_mean():
    density, seconds, left = 1e-4, 2.0, []
    for seed in range(30):
        sensor = imu(seed=seed, sample_rate_hz=50, gyro__white_noise_density=density,
                     gyro__turn_on_bias_std=1e-2)
        sensor.calibrate(seconds)
        run(sensor, [still(0, seconds)])
        # the bias that remains, without noise
        reconfigure(sensor, sample_rate_hz=50, gyro__turn_on_bias_std=1e-2)
        left.append(rates(run(sensor, [still(seconds, seconds + 0.02)]))[-1])
    sigma = density / math.sqrt(seconds)
    ratio = np.sum(np.square(left)) / sigma**2
    low, high = stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], np.size(left))
    assert low < ratio < high


def test_the_increments_are_calibrated_like_the_rates():
    sensor = imu(temperature_c=35.0, gyro__temp_bias_coeff=1e-4, accel__temp_bias_coeff=1e-2)
    sensor.calibrate(1.0)
    last = run(sensor, [still(0, 2)])[-1]
    np.testing.assert_allclose(last.frame[0].delta_theta, (0, 0, 0), atol=1e-16)
    np.testing.assert_allclose(last.frame[0].delta_v, (0, 0, G0 / 200), atol=1e-15)
    np.testing.assert_allclose(last.angular_velocity, (0, 0, 0), atol=1e-14)


def test_a_second_calibration_adds_to_the_first():
    sensor = imu(temperature_c=35.0, gyro__temp_bias_coeff=1e-4)
    first = sensor.calibrate(1.0)
    run(sensor, [still(0, 1)])
    second = sensor.calibrate(1.0)
    run(sensor, [still(1, 2)])
    assert first.means()['gyro'] == pytest.approx((1e-3,) * 3, rel=1e-12)
    assert second.means()['gyro'] == pytest.approx((0, 0, 0), abs=1e-15)
    assert rates(run(sensor, [still(2, 2.1)])) == pytest.approx(np.zeros((20, 3)), abs=1e-15)


@pytest.mark.parametrize('kind', KINDS)
def test_a_transparent_sensor_has_nothing_to_correct(kind):
    sensor = make(kind, fidelity='transparent')
    started = sensor.calibrate(2.0)
    run(sensor, [still(0, 2)])
    assert started.done and not started.refused
    for channel, mean in started.means().items():
        assert mean == (0.0, 0.0, 0.0), channel


def test_a_correction_does_not_act_on_a_transparent_sensor():
    sensor = imu(gyro__turn_on_bias_std=1e-2)
    sensor.calibrate(1.0)
    run(sensor, [still(0, 1)])
    reconfigure(sensor, fidelity='transparent')
    got = run(sensor, [still(1, 1.1)])
    np.testing.assert_array_equal(rates(got), np.zeros((20, 3)))
    np.testing.assert_allclose(forces(got), np.tile((0, 0, G0), (20, 1)), rtol=1e-15)


@pytest.mark.parametrize('kind', KINDS)
@pytest.mark.parametrize(('v', 'omega', 'says'), [
    ((0.1, 0, 0), (0, 0, 0), '0.1 m/s'),
    ((0, 0, 0), (0, 0, 0.01), '0.01 rad/s'),
])
def test_a_moving_truth_is_refused_with_the_reason(kind, v, omega, says):
    sensor, plain = make(kind), make(kind)
    started = sensor.calibrate(2.0)
    motion = pieces(turning(v, omega), range(0, 3 * SECOND + 1, SECOND // 50))
    got = run(sensor, motion)
    assert started.done and 'the truth is moving' in started.refused and says in started.refused
    assert sensor.calibration is None
    assert got == run(plain, motion)


def test_a_truth_that_sets_off_in_the_middle_is_refused():
    sensor = imu(temperature_c=35.0, gyro__temp_bias_coeff=1e-4)
    started = sensor.calibrate(2.0)
    run(sensor, [still(0, 1)])
    assert not started.done
    run(sensor, pieces(turning((0, 0, 0), (0, 0, 1.0), SECOND), (SECOND, SECOND + SECOND // 50)))
    assert 'moving' in started.refused
    assert rates(run(sensor, [still(1.02, 1.1)]))[-1] == pytest.approx((1e-3,) * 3, rel=1e-12)


@pytest.mark.parametrize('kind', KINDS)
def test_one_calibration_at_a_time(kind):
    sensor = make(kind)
    first = sensor.calibrate(5.0)
    with pytest.raises(JaguarError, match='a calibration is running'):
        sensor.calibrate(5.0)
    run(sensor, [still(0, 5)])
    assert first.done
    sensor.calibrate(5.0)


@pytest.mark.parametrize('kind', KINDS)
def test_a_power_cycle_ends_it_and_forgets_the_correction(kind):
    sensor, plain = make(kind), make(kind)
    sensor.calibrate(2.0)
    run(sensor, [still(0, 3)])
    started = sensor.calibrate(10.0)
    run(sensor, [still(3, 5)])
    sensor.power_cycle()
    assert started.done and 'switched off and on' in started.refused
    assert sensor.calibration is None
    plain.power_cycle()
    assert run(sensor, [still(5, 8)]) == run(plain, [still(5, 8)])


@pytest.mark.parametrize('duration', [math.nan, math.inf, 0.0, -1.0, 1e7])
def test_a_duration_that_makes_no_sense_is_refused(duration):
    sensor = imu()
    with pytest.raises(JaguarError, match=r'duration .* is not valid; valid: seconds above 0'):
        sensor.calibrate(duration)
    assert sensor.calibration is None


def test_a_receiver_without_a_fix_is_refused():
    sensor = gps(fix_type='none')
    started = sensor.calibrate(2.0)
    run(sensor, [still(0, 5)])
    assert started.done and started.refused == 'the receiver has no fix'


def test_a_gap_in_the_truth_counts_as_time_but_not_as_samples():
    sensor = imu(temperature_c=35.0, gyro__temp_bias_coeff=1e-4)
    started = sensor.calibrate(4.0)
    run(sensor, [still(0, 1), still(3, 5)])
    assert started.done and not started.refused
    assert started.count == 400  # none between 1 and 3 s
    assert started.means()['gyro'] == pytest.approx((1e-3,) * 3, rel=1e-12)


def test_the_state_is_initializing_meanwhile():
    sensor = imu()
    sensor.calibrate(1.0)
    run(sensor, [still(0, 0.5)])
    status = sensor.status()
    assert (status.state, status.causes) == (SensorState.INITIALIZING, ('calibration',))
    assert not status.valid
    run(sensor, [still(0.5, 1.5)])
    assert sensor.status().state is SensorState.READY


# ---------------------------------------------------------------------- the service


@pytest.fixture(params=['as it is', 'single-threaded'])
def executor(request, monkeypatch):
    """Run a test with the executor of this release and with that of Humble."""
    pytest.importorskip('rclpy')
    if request.param == 'single-threaded':
        monkeypatch.setitem(sys.modules, 'rclpy.experimental', None)
    return request.param


class Bench:
    """One of our nodes with its output, errors and service."""

    def __init__(self, graph, kind, **parameters):
        from jaguar_sensors_msgs.msg import GnssError, ImuError
        from sensor_msgs.msg import Imu, NavSatFix

        from jaguar_sensors_ros.ros.gps_node import GpsNode
        from jaguar_sensors_ros.ros.imu_node import ImuNode

        self.graph, self.kind = graph, kind
        node, topic, data, error = {
            'imu': (ImuNode, 'data', Imu, ImuError),
            'gps': (GpsNode, 'fix', NavSatFix, GnssError),
        }[kind]
        self.running = graph.start(node, random_seed=1, **parameters)
        self.data = graph.collect(data, f'/{kind}/{topic}')
        self.error = graph.collect(error, f'/{kind}/error')

    def calibrate(self, duration):
        """Begin a calibration and return the future of the answer once it runs."""
        from jaguar_sensors_msgs.srv import Calibrate

        future = self.graph.ask(Calibrate, f'/{self.kind}/calibrate', duration=duration)
        sensor = self.running.node._sensor
        self.graph.until(
            lambda: sensor.calibration is not None or future.done(), 'the calibration to run'
        )
        return future

    def answer(self, future):
        self.graph.until(future.done, 'an answer')
        return future.result()

    def errors(self, channel):
        totals = [getattr(message, f'{channel}_total') for message in self.error]
        return np.array([(v.x, v.y, v.z) for v in totals])


@pytest.mark.ros
@pytest.mark.parametrize(('kind', 'rate', 'parameters'), [
    ('imu', 200, {'grade': 'industrial', 'sample_rate_hz': 200.0}),
    ('gps', 10, {'update_hz': 10.0, 'pos_correlated_fraction': 0.0}),
])
def test_the_service_answers_when_it_is_over_and_the_node_goes_on(
    graph, executor, kind, rate, parameters
):
    from ros_helpers import rest

    bench = Bench(graph, kind, **parameters)
    future = bench.calibrate(2.0)
    graph.feed(rest(0.0, 4.0, 50))
    bench.data.until_stamp(4.0)
    bench.error.until_stamp(4.0)
    answer = bench.answer(future)
    assert answer.success, answer.message
    n = 2 * rate
    assert answer.samples == n
    assert f'mean of {n} samples' in answer.message
    expected = ['gyro', 'accel'] if kind == 'imu' else ['position', 'velocity']
    assert list(answer.channels) == expected
    assert bench.data.stamps == [k * SECOND // rate for k in range(1, 4 * rate + 1)]
    for channel, mean in zip(answer.channels, answer.means, strict=True):
        whole, mean = bench.errors(channel), np.array((mean.x, mean.y, mean.z))
        np.testing.assert_allclose(mean, whole[:n].mean(axis=0), rtol=1e-6, atol=1e-9)
        # what follows scatters about zero: the means of two halves, white noise
        sigma = whole[:n].std(axis=0) * math.sqrt(2.0 / n)
        assert np.all(np.abs(whole[n:].mean(axis=0)) < 5.0 * sigma)


@pytest.mark.ros
@pytest.mark.parametrize('kind', KINDS)
def test_the_service_refuses_a_moving_truth_and_a_second_caller(graph, kind):
    from ros_helpers import circle

    bench = Bench(graph, kind)
    future = bench.calibrate(5.0)
    second = bench.answer(bench.calibrate(5.0))
    assert not second.success and second.message == 'a calibration is running'
    graph.feed(circle(0.0, 2.0, 50))
    bench.data.until_stamp(2.0)
    answer = bench.answer(future)
    assert not answer.success and not answer.channels and not answer.means
    assert 'not calibrated: the truth is moving: 2 m/s, 1 rad/s' in answer.message


@pytest.mark.ros
@pytest.mark.parametrize('kind', KINDS)
def test_the_service_refuses_bad_durations(graph, kind):
    bench = Bench(graph, kind)
    for duration in (math.nan, 0.0, -3.0):
        answer = bench.answer(bench.calibrate(duration))
        assert not answer.success
        assert f'duration {duration:g} is not valid' in answer.message


@pytest.mark.ros
def test_a_reset_ends_the_service_with_the_reason(graph):
    from ros_helpers import rest
    from std_srvs.srv import Trigger

    bench = Bench(graph, 'imu')
    future = bench.calibrate(50.0)
    graph.feed(rest(0.0, 0.2, 50))
    bench.data.until_stamp(0.2)
    assert graph.call(Trigger, '/imu/reset').success
    graph.feed(rest(0.22, 0.4, 50))
    answer = bench.answer(future)
    assert not answer.success
    assert answer.message == 'not calibrated: the sensor was switched off and on'


@pytest.mark.ros
def test_the_service_times_out_without_truth_and_the_node_lives(graph, executor, monkeypatch):
    from ros_helpers import rest

    monkeypatch.setattr('jaguar_sensors_ros.ros.calibrator._PATIENCE_S', 0.3)
    bench = Bench(graph, 'imu')
    answer = bench.answer(bench.calibrate(1.0))
    assert not answer.success
    assert answer.message == 'not calibrated: timed out, no ground truth for 0.3 s'
    # truth that stops in the middle
    future = bench.calibrate(10.0)
    graph.feed(rest(0.0, 0.2, 50))
    bench.data.until_stamp(0.2)
    answer = bench.answer(future)
    assert not answer.success and 'timed out' in answer.message and answer.samples == 40
    future = bench.calibrate(0.1)
    graph.feed(rest(0.22, 0.5, 50))
    assert bench.answer(future).success
    bench.data.until_stamp(0.5)
    assert bench.data.stamps == [k * SECOND // 200 for k in range(1, 101)]


@pytest.mark.ros
def test_a_static_source_needs_no_topic_to_be_calibrated(graph, monkeypatch):
    monkeypatch.setattr('jaguar_sensors_ros.ros.calibrator._PATIENCE_S', 0.3)
    bench = Bench(graph, 'imu', truth__source='static')
    answer = bench.answer(bench.calibrate(1.5))
    assert answer.success, answer.message
    assert answer.samples == 300


# ---------------------------------------------------------------------- the temperature


@pytest.mark.ros
def test_the_temperature_is_published_with_every_sample_and_ramps(graph):
    from ros_helpers import BEST_EFFORT, rest
    from sensor_msgs.msg import Temperature

    from jaguar_sensors_ros.ros.imu_node import ImuNode

    graph.start(ImuNode, fidelity='transparent', sample_rate_hz=100.0,
                temperature_slew_c_per_s=10.0)
    got = graph.collect(Temperature, '/imu/temperature', qos=BEST_EFFORT)
    graph.feed(rest(0.0, 0.1, 50))
    got.until_stamp(0.1)
    assert graph.set('/imu', temperature_c=30.0)[0].successful
    graph.feed(rest(0.12, 0.8, 50))
    got.until_stamp(0.8)
    by_stamp = {round(t / SECOND, 2): m.temperature
                for t, m in zip(got.stamps, got, strict=True)}
    assert by_stamp[0.1] == 25.0
    for stamp, temperature in by_stamp.items():
        expected = min(max(25.0 + 10.0 * (stamp - 0.1), 25.0), 30.0)
        assert temperature == pytest.approx(expected, abs=1e-9)
    assert by_stamp[0.8] == 30.0
    assert {m.header.frame_id for m in got} == {'imu_link'}
