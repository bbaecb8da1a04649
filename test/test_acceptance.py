"""The verdict of the demo: what passes and what does not."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from jaguar_sensors_ros.analysis.acceptance import (
    ChannelCheck,
    GridCheck,
    Trace,
    mean_square_bounds,
)
from jaguar_sensors_ros.analysis.fault_window import FaultWindow, Side, bias_objections

SIGMA = (0.5, 1.0, 2.0)
PERIOD_NS = 5_000_000


def channel(count=2000, bias=0.0, factor=1.0, seed=1, **options):
    check = ChannelCheck('gyro', 'rad/s', **options)
    noise = np.random.default_rng(seed).standard_normal((count, 3))
    for k, row in enumerate(noise):
        x, y, z = (float(s * (factor * n + bias)) for s, n in zip(SIGMA, row, strict=True))
        check.add((k + 1) * PERIOD_NS, (x, y, z), SIGMA)
    return check


def grid(stamps, expected=None, rate_hz=200.0):
    check = GridCheck(rate_hz)
    for t_ns in stamps if expected is None else expected:
        check.expect(t_ns)
    for t_ns in stamps:
        check.arrive(t_ns)
    return check


def ticks(count, first=1):
    return [(first + k) * PERIOD_NS for k in range(count)]


@pytest.mark.parametrize('degrees', [1, 10, 100, 10_000])
def test_bounds_are_the_quantiles_of_chi_square(degrees):
    chi2 = pytest.importorskip('scipy.stats').chi2
    low, high = mean_square_bounds(degrees, z=3.0)
    tail = math.erfc(3.0 / math.sqrt(2.0)) / 2.0
    assert high == pytest.approx(chi2.isf(tail, degrees) / degrees, rel=0.05)
    assert low == pytest.approx(chi2.ppf(tail, degrees) / degrees, rel=0.1, abs=1e-3)


def test_right_noise_passes_for_many_seeds():
    assert all(channel(count=300, seed=seed).objections() == [] for seed in range(40))


def test_rms_counts_standard_deviations():
    assert channel().rms == pytest.approx(1.0, abs=0.05)
    assert channel(factor=2.0).rms == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize('factor', [0.9, 1.1, 3.0])
def test_noise_that_is_not_as_stated_is_found(factor):
    assert any('scatter' in text for text in channel(factor=factor).objections())


def test_bias_is_found_unless_it_is_part_of_the_model():
    assert any('mean error' in text for text in channel(bias=0.4).objections())
    # as large a bias as the messages say: 40 % of the variance are common to all samples
    slow = tuple(math.sqrt(0.4) * s for s in SIGMA)
    new = math.sqrt(0.6)
    assert channel(bias=0.4, factor=new, slow_std=slow).objections() == []
    assert channel(bias=4.0, factor=new, slow_std=slow).objections() != []


@pytest.mark.parametrize('error', [6.5, -6.5])
def test_single_outlier_is_found(error):
    check = channel()
    check.add(20_000_000_000, (0.0, error * SIGMA[1], 0.0), SIGMA)
    assert check.objections() == ['gyro: an error of 6.5 sigma (limit 6)']


@pytest.mark.parametrize('error', [math.nan, math.inf])
def test_single_value_that_is_no_number_is_found(error):
    check = channel()
    check.add(20_000_000_000, (0.0, error, 0.0), SIGMA)
    check.add(20_005_000_000, (0.0, 0.0, 0.0), SIGMA)
    assert check.objections() == ['gyro: values that are no numbers']


def test_channel_without_errors_is_no_pass():
    assert ChannelCheck('gyro', 'rad/s').objections() == ['gyro: no errors to judge']


def test_complete_grid_passes():
    stamps = ticks(400)
    check = grid(stamps)
    assert check.objections('imu', stamps[-1], 0.5) == []
    assert (check.matched, check.received) == (400, 400)


def test_missing_sample_is_found():
    expected = ticks(400)
    received = [t for t in expected if t != expected[200]]
    found = grid(received, expected).objections('imu', expected[-1], 0.5)
    assert found == ['imu: 1 samples missing at 200 Hz']


def test_stream_that_ends_early_is_found_but_not_a_cut_truth():
    expected = ticks(400)
    check = grid(expected[:-20], expected)
    assert check.objections('imu', expected[-1], 0.5) == ['imu: 20 samples missing at 200 Hz']
    assert check.objections('imu', expected[-21], 0.5) == []


def test_samples_after_a_cut_truth_are_no_objection():
    received = ticks(400)
    check = grid(received, received[:-4])
    found = check.objections('imu', received[-5], 0.5)
    assert found == ['imu: 4 samples at times outside of the truth']
    assert check.objections('imu', received[-5], 0.5, is_cut=True) == []
    early = grid(received, received[4:]).objections('imu', received[-1], 0.5, is_cut=True)
    assert early == ['imu: 4 samples at times outside of the truth']


def test_late_start_is_discovery_up_to_a_limit():
    expected = ticks(400)
    check = grid(expected[50:], expected)
    assert check.objections('imu', expected[-1], 0.5) == []
    assert check.objections('imu', expected[-1], 0.2) == ['imu: the first sample came 0.2 s late']


def test_stamps_outside_the_grid_or_the_truth_or_repeated_are_found():
    expected = ticks(10)
    assert any('not on the grid' in t for t in off_by(expected, 1))
    assert any('outside of the truth' in t for t in off_by(expected, 1))
    check = grid([*expected, expected[-1]], expected)
    assert check.objections('imu', expected[-1], 0.5) == ['imu: 1 stamps repeated or going back']
    assert GridCheck(5.0).objections('gps', 0, 0.5) == ['gps: nothing received']


def off_by(expected, offset_ns):
    received = [*expected[:-1], expected[-1] + offset_ns]
    return grid(received, expected).objections('imu', expected[-1] + offset_ns, 0.5)


def test_grid_of_a_rate_that_does_not_divide_a_second():
    stamps = [round(Fraction(k * 10**9, 3)) for k in range(5_000_000_000, 5_000_000_100)]
    assert grid(stamps, rate_hz=3.0).objections('gps', stamps[-1], 0.5) == []


def test_what_may_come_before_the_reference():
    check = GridCheck(200.0)
    for t_ns in ticks(10):
        check.arrive(t_ns)
    for t_ns in ticks(10):
        check.expect(t_ns)
    assert check.matched == 10
    assert check.objections('imu', ticks(10)[-1], 0.5) == []


def test_window_leaves_out_what_nobody_can_know():
    window = FaultWindow()
    assert window.side(10) is Side.CLEAN
    window.asked_ns = 100
    assert [window.side(t) for t in (100, 101, 500)] == [Side.CLEAN, Side.EDGE, Side.EDGE]
    window.began_ns = 120
    assert [window.side(t) for t in (120, 121)] == [Side.EDGE, Side.FAULTY]
    window.clear_asked_ns = 200
    assert [window.side(t) for t in (200, 201, 300)] == [Side.FAULTY, Side.EDGE, Side.EDGE]
    window.ended_ns = 220
    assert [window.side(t) for t in (100, 150, 220, 221)] == [
        Side.CLEAN,
        Side.FAULTY,
        Side.EDGE,
        Side.CLEAN,
    ]
    assert [window.covers(t) for t in (99, 100, 220, 221)] == [False, True, True, False]


def test_bias_must_show_with_its_size():
    clean, none = channel(), channel(seed=2)
    faulty = ChannelCheck('gyro', 'rad/s')
    for k, row in enumerate(np.random.default_rng(3).standard_normal((2000, 3))):
        x, y, z = (float(s * n + 0.7) for s, n in zip(SIGMA, row, strict=True))
        faulty.add(k + 1, (x, y, z), SIGMA)
    assert bias_objections(clean, faulty, 0.7) == []
    assert len(bias_objections(clean, faulty, 1.4)) == 3
    assert len(bias_objections(clean, none, 0.7)) == 3
    assert bias_objections(clean, ChannelCheck('gyro', 'rad/s'), 0.7) == [
        'gyro: no sample with the fault was seen'
    ]


def test_trace_thins_itself_out():
    trace = Trace(most=100)
    for k in range(10_000):
        trace.add(k, (float(k),))
    assert 50 <= len(trace.rows) <= 100
    steps = np.diff(trace.t_ns)
    assert np.all(steps == steps[0])
    assert [row[0] for row in trace.rows] == trace.t_ns
