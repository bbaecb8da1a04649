"""The clock of a sensor: wrong stamps, right instants of measurement."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from core_helpers import (
    EPOCH,
    SECOND,
    assert_std,
    assert_uncorrelated,
    gps,
    imu,
    reconfigure,
    run,
    settings,
    still,
)

from jaguar_sensors_ros.component import ParameterError, StreamFactory
from jaguar_sensors_ros.nav.gps_time import week_and_time
from jaguar_sensors_ros.types import ImuSample

KINDS = {
    'imu': (imu, 200, {'gyro__white_noise_density': 1e-4, 'accel__white_noise_density': 1e-3,
                       'orientation__output': 'ahrs'}),
    'gps': (gps, 10, {'update_hz': 10.0}),
}
BOTH = pytest.mark.parametrize('kind', KINDS)


def make(kind, **values):
    maker, _, own = KINDS[kind]
    return maker(**{**own, **values})


def change(sensor, **values):
    reconfigure(sensor, **{**KINDS[sensor.type_name][2], **values})


def stamps(samples):
    return np.array([s.t_ns for s in samples])


def measured(sample):
    """Return a sample without what the clock says."""
    is_imu = isinstance(sample, ImuSample)
    values = sample._asdict() if is_imu else dataclasses.asdict(sample)
    for name in ('t_ns', 'gps_week', 'time_of_week_s'):
        values.pop(name, None)
    return values


def assert_same_measurements(a, b):
    assert len(a) == len(b)
    assert list(map(measured, a)) == list(map(measured, b))


@BOTH
def test_without_errors_the_stamps_are_those_of_the_grid(kind):
    rate = KINDS[kind][1]
    got = stamps(run(make(kind), [still(0, 2, base=EPOCH)]))
    np.testing.assert_array_equal(got - EPOCH, np.arange(1, 2 * rate + 1) * SECOND // rate)


@BOTH
@pytest.mark.parametrize('offset', [0.25, -0.25, 123456.789, 1e-9])
def test_an_offset_moves_every_stamp_and_nothing_else(kind, offset):
    segment = [still(0, 2, base=EPOCH)]
    plain, got = run(make(kind), segment), run(make(kind, clock__offset_s=offset), segment)
    np.testing.assert_array_equal(stamps(got) - stamps(plain), round(offset * SECOND))
    assert_same_measurements(got, plain)


@BOTH
@pytest.mark.parametrize('drift', [50.0, -50.0, 1e5, -1e5])
def test_a_drift_runs_away_from_power_on(kind, drift):
    start = 0.0123
    segment = [still(start, 4, base=EPOCH)]
    plain, got = run(make(kind), segment), run(make(kind, clock__drift_ppm=drift), segment)
    # power-on is the start of the first interval of measurement
    rate = KINDS[kind][1]
    on = math.ceil(start * rate) * SECOND // rate + EPOCH
    if kind == 'gps':
        on = EPOCH + round(start * SECOND)
    expected = [round(drift * 1e-6 * (t - on)) for t in stamps(plain).tolist()]
    np.testing.assert_array_equal(stamps(got) - stamps(plain), expected)
    assert_same_measurements(got, plain)


@BOTH
def test_jitter_is_white_with_its_own_stream(kind):
    jitter, rate = 1e-4, KINDS[kind][1]
    segment = [still(0, 1000 / rate, base=EPOCH)]
    plain, got = run(make(kind), segment), run(make(kind, clock__jitter_s=jitter), segment)
    error = stamps(got) - stamps(plain)
    normal = StreamFactory(1, kind, 0).stream('clock.jitter', '')
    np.testing.assert_array_equal(error, [round(1e5 * normal(k)) for k in range(1000)])
    assert_std(error / SECOND, jitter)
    assert_uncorrelated(error[1:], error[:-1])
    assert_same_measurements(got, plain)


@BOTH
def test_the_three_add_up(kind):
    segment = [still(0, 3, base=EPOCH)]
    given = {'clock__offset_s': 0.5, 'clock__drift_ppm': 80.0, 'clock__jitter_s': 1e-4}
    errors = {name: stamps(run(make(kind, **{name: value}), segment))
              for name, value in given.items()}
    plain = stamps(run(make(kind), segment))
    total = stamps(run(make(kind, **given), segment)) - plain
    np.testing.assert_array_equal(total, sum(e - plain for e in errors.values()))


@BOTH
@pytest.mark.parametrize('jitter', [0.1, 100.0])
def test_stamps_increase_strictly_under_any_jitter(kind, jitter):
    got = stamps(run(make(kind, clock__jitter_s=jitter), [still(0, 5, base=EPOCH)]))
    assert len(got) == 5 * KINDS[kind][1]
    assert np.all(np.diff(got) > 0)


@BOTH
def test_stamps_are_above_0(kind):
    got = stamps(run(make(kind, clock__offset_s=-5.0), [still(0, 6)]))
    assert got[0] > 0 and np.all(np.diff(got) > 0)
    assert got[-1] == SECOND


@BOTH
def test_a_transparent_sensor_has_the_clock_of_the_truth(kind):
    segment = [still(0, 2, base=EPOCH)]
    got = run(make(kind, fidelity='transparent', clock__offset_s=1.0, clock__drift_ppm=50.0,
                   clock__jitter_s=1e-3), segment)
    assert got == run(make(kind, fidelity='transparent'), segment)


@BOTH
def test_each_acts_from_the_next_sample_on_and_is_switched_off_again(kind):
    plain, sensor = make(kind), make(kind)
    for i, values in enumerate([
        {}, {'clock__offset_s': -0.01}, {}, {'clock__drift_ppm': 10.0}, {},
        {'clock__jitter_s': 1e-4}, {},
    ]):
        change(sensor, **values)
        segment = [still(float(i), i + 1.0, base=EPOCH)]
        got, reference = run(sensor, segment), run(plain, segment)
        errors = stamps(got) - stamps(reference)
        assert bool(errors[0]) is bool(values) and bool(errors[-1]) is bool(values), values
        assert_same_measurements(got, reference)


def test_a_clock_set_back_goes_on_slowly_until_time_has_caught_up():
    sensor = imu(clock__offset_s=0.1)
    run(sensor, [still(0, 1, base=EPOCH)])
    reconfigure(sensor)
    got = stamps(run(sensor, [still(1, 2, base=EPOCH)])) - EPOCH
    late = np.arange(1, 20) + 1_100_000_000
    np.testing.assert_array_equal(got[:19], late)
    np.testing.assert_array_equal(got[20:], np.arange(221, 401) * 5_000_000)


@BOTH
def test_jitter_belongs_to_the_number_of_the_sample_and_outlives_a_gap(kind):
    values = {'clock__jitter_s': 1e-4}
    whole = stamps(run(make(kind, **values), [still(0, 5, base=EPOCH)]))
    parts = stamps(run(make(kind, **values), [still(0, 1, base=EPOCH), still(3, 5, base=EPOCH)]))
    np.testing.assert_array_equal(parts, whole[np.isin(whole, parts)])
    assert len(parts) == 3 * KINDS[kind][1]


@BOTH
def test_a_power_cycle_starts_the_drift_anew_and_jitters_otherwise(kind):
    sensor = make(kind, clock__drift_ppm=100.0)
    run(sensor, [still(0, 5, base=EPOCH)])
    sensor.power_cycle()
    got, plain = (run(s, [still(5, 10, base=EPOCH)]) for s in (sensor, make(kind)))
    errors = stamps(got) - stamps(plain)
    assert abs(errors[0]) <= 1e5 * 1e-4 * 1e3 / KINDS[kind][1] * 10
    assert errors[-1] == round(5 * 1e5)
    jittered = [make(kind, clock__jitter_s=1e-4) for _ in range(2)]
    jittered[1].power_cycle()
    first, second = (stamps(run(s, [still(0, 1, base=EPOCH)])) for s in jittered)
    assert np.any(first != second)


def test_week_and_time_of_week_are_those_of_the_stamp():
    sensor = gps(clock__offset_s=7.0 * 86400.0)
    for sample in run(sensor, [still(0, 3, base=EPOCH)]):
        week, time_of_week = week_and_time(sample.t_ns, sensor.settings.leap_seconds)
        assert (sample.gps_week, sample.time_of_week_s) == (week, time_of_week)


@BOTH
@pytest.mark.parametrize(('name', 'value', 'says'), [
    ('offset_s', math.nan, 'finite'),
    ('offset_s', 2e6, '<= 1e+06 s'),
    ('drift_ppm', -2e5, '>= -100000'),
    ('drift_ppm', math.inf, 'finite'),
    ('jitter_s', -1e-9, '>= 0'),
    ('jitter_s', 'much', 'a finite number'),
])
def test_bad_values_are_refused_with_their_name_and_bounds(kind, name, value, says):
    with pytest.raises(ParameterError) as caught:
        settings(kind, **{f'clock__{name}': value})
    assert str(caught.value).startswith(f'clock.{name} = ')
    assert says in str(caught.value)


@pytest.mark.ros
def test_all_topics_of_live_nodes_have_the_stamps_of_their_own_clocks(graph):
    pytest.importorskip('rclpy')
    from jaguar_sensors_msgs.msg import GnssSolution, ImuError, ImuIncrements
    from ros_helpers import rest
    from sensor_msgs.msg import Imu, NavSatFix

    from jaguar_sensors_ros.ros.gps_node import GpsNode
    from jaguar_sensors_ros.ros.imu_node import ImuNode

    graph.start(ImuNode, clock__offset_s=0.25, random_seed=1)
    graph.start(GpsNode, clock__offset_s=-0.001, update_hz=10.0, random_seed=1)
    own = [graph.collect(kind, f'/imu/{topic}') for topic, kind in
           {'data': Imu, 'increments': ImuIncrements, 'error': ImuError}.items()]
    fixes = [graph.collect(kind, f'/gps/{topic}') for topic, kind in
             {'fix': NavSatFix, 'solution': GnssSolution}.items()]
    graph.feed(rest(0.0, 1.0, 50), readers=2)
    for collector in own:
        collector.until_stamp(1.25)
        assert collector.stamps == [k * 5_000_000 + SECOND // 4 for k in range(1, 201)]
    for collector in fixes:
        collector.until_stamp(0.999)
        assert collector.stamps == [k * SECOND // 10 - 1_000_000 for k in range(1, 11)]
    assert graph.set('/imu', clock__drift_ppm=1e3)[0].successful
    refused = graph.set('/imu', clock__jitter_s=-1.0)[0]
    assert not refused.successful and 'clock.jitter_s' in refused.reason
    graph.feed(rest(1.02, 2.0, 50), readers=2)
    own[0].until_count(400)
    assert own[0].stamps[200:] == [
        k * 5_000_000 + SECOND // 4 + k * 5_000 for k in range(201, 401)]
