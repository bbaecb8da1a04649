"""The sample grid: exact counts and stamps whatever the odometry does."""

from __future__ import annotations

import time
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from core_helpers import (
    EPOCH,
    PROPERTY,
    SECOND,
    forces,
    gps,
    imu,
    moving,
    pieces,
    rates,
    reconfigure,
    run,
    still,
    thetas,
    turning,
)
from core_helpers import at_rest as rest
from hypothesis import given
from hypothesis import strategies as st

from jaguar_sensors_ros.nav.grid import SampleGrid
from jaguar_sensors_ros.truth.segment import TwistSegment
from jaguar_sensors_ros.types import ZERO3

MS = 1_000_000
RATES = [200.0, 400.0, 3.0, 29.97, 1024.0]


def exact_stamps(rate, start_ns, end_ns, whole_interval=True):
    """Return t_k in (start, end] from fractions; the IMU's first has a whole interval."""
    period = Fraction(SECOND) / Fraction(str(rate))
    k = int(start_ns / period) - 2
    stamps = []
    while (t := round(k * period)) <= end_ns:
        previous = round((k - 1) * period)
        if (previous if whole_interval else t - 1) >= start_ns:
            stamps.append(t)
        k += 1
    return stamps


def odometry_times(kind, seconds, base):
    generator = np.random.default_rng(5)
    if kind == 'jitter':
        steps = generator.uniform(0.2, 1.8, size=50 * seconds) * 20 * MS
        inside = base + np.cumsum(steps).astype(np.int64)
        end = base + seconds * SECOND
        return [base, *(int(t) for t in inside if t < end), end]
    step = Fraction(SECOND, kind)
    return [base + round(i * step) for i in range(kind * seconds + 1)]


@pytest.mark.parametrize('rate', RATES)
@pytest.mark.parametrize('odometry', [20, 50, 1000, 'jitter'])
def test_count_and_stamps_are_exact(rate, odometry):
    base = EPOCH + 123_456_789
    times = odometry_times(odometry, 2, base)
    sensor = imu(fidelity='transparent', sample_rate_hz=rate)
    got = run(sensor, pieces(rest, times))
    assert [s.t_ns for s in got] == exact_stamps(rate, base, times[-1])
    assert [s.tick for s in got] == list(range(len(got)))
    stamps = [s.t_ns for s in got]
    assert [round(s.frame[0].dt_s * 1e9) for s in got[1:]] == list(np.diff(stamps))


@pytest.mark.parametrize('rate', [1.0, 5.0, 29.97])
@pytest.mark.parametrize('odometry', [20, 'jitter'])
def test_fixes_come_at_every_point_of_the_grid_in_the_piece(rate, odometry):
    base = EPOCH + 123_456_789
    times = odometry_times(odometry, 3, base)
    got = run(gps(update_hz=rate), pieces(rest, times))
    assert [s.t_ns for s in got] == exact_stamps(rate, base, times[-1], whole_interval=False)


def test_a_point_of_the_grid_on_a_message_belongs_to_one_piece_only():
    times = [EPOCH + i * 5 * MS for i in range(201)]
    got = run(imu(fidelity='transparent', sample_rate_hz=200.0), pieces(rest, times))
    assert [s.t_ns for s in got] == times[1:]


def test_a_minute_gives_12000_inertial_samples_and_300_fixes():
    times = [EPOCH + i * 20 * MS for i in range(60 * 50 + 1)]
    segments = pieces(rest, times)
    assert len(run(imu(fidelity='transparent'), segments)) == 12000
    assert len(run(gps(update_hz=5.0), segments)) == 300


def test_two_sensors_of_one_rate_coincide_however_late_one_starts():
    times = [EPOCH + i * 20 * MS for i in range(200)]
    first = run(imu(fidelity='transparent', sample_rate_hz=29.97), pieces(rest, times))
    second = run(imu(fidelity='transparent', sample_rate_hz=29.97), pieces(rest, times[77:]))
    assert [s.t_ns for s in second] == [s.t_ns for s in first][-len(second):]


@PROPERTY
@given(
    st.sampled_from(['200', '400', '3', '29.97', '1024', '0.1', '100000', '7.3', '1000', '333.3']),
    st.integers(0, 2**62),
)
def test_the_grid_is_the_rounded_fraction_and_its_inverse(rate, t_ns):
    grid = SampleGrid(float(rate))
    k = grid.first_at(t_ns)
    assert grid.time_ns(k - 1) < t_ns <= grid.time_ns(k)
    assert grid.time_ns(k) == round(Fraction(k) * SECOND / Fraction(rate))


# gaps ----------------------------------------------------------------------------------------


def test_a_gap_has_no_samples_but_its_ticks_count():
    sensor = imu(sample_rate_hz=100.0, gyro__white_noise_density=1e-3)
    whole = run(imu(sample_rate_hz=100.0, gyro__white_noise_density=1e-3), [still(0, 10)])
    got = run(sensor, [still(0, 3), still(7.005, 10)])
    stamps = [s.t_ns for s in got]
    assert not [t for t in stamps if 3 * SECOND < t <= 7.01 * SECOND]
    assert stamps == [s.t_ns for s in whole if s.t_ns <= 3 * SECOND or s.t_ns > 7.015 * SECOND]
    by_tick = {s.tick: s for s in whole}
    for s in got:
        assert s.t_ns == by_tick[s.tick].t_ns
        assert s.angular_velocity == by_tick[s.tick].angular_velocity


def test_fixes_after_a_gap_have_the_noise_of_their_tick():
    whole = run(gps(update_hz=10.0), [still(0, 10)])
    got = run(gps(update_hz=10.0), [still(0, 3), still(7.05, 10)])
    by_tick = {s.tick: s for s in whole}
    assert [s.t_ns for s in got] == [
        s.t_ns for s in whole if s.t_ns <= 3 * SECOND or s.t_ns > 7.05 * SECOND
    ]
    assert all(s.p_e == by_tick[s.tick].p_e for s in got)


def test_a_gap_of_an_hour_costs_nothing():
    sensor = imu(sample_rate_hz=1000.0)
    sensor.feed(still(0, 1))
    started = time.perf_counter()
    got = sensor.feed(still(3601, 3601.1))
    assert time.perf_counter() - started < 1.0
    assert got[0].tick == 3601 * 1000


def test_motion_before_a_gap_does_not_leak_into_the_sample_after_it():
    """Pieces that end between two points of the grid leave half an interval behind."""
    at = turning((0, 0, 0), (0, 0, 5.0))
    for samples in (1, 2):
        sensor = imu(
            fidelity='transparent', sample_rate_hz=100.0, increments__samples=samples,
            gyro__bandwidth_hz=10.0,
        )
        run(sensor, pieces(at, [0, 500 * MS, 507 * MS + 500 * MS]))
        got = run(sensor, [still(2.0031, 2.2)])
        assert not rates(got).any()
        assert not thetas(got).any()
        assert all(part.dt_s == 0.01 for s in got for part in s.frame)
        assert all(len(s.frame) in (0, samples) for s in got)


def test_a_half_frame_from_before_a_gap_is_not_joined_to_one_after_it():
    sensor = imu(fidelity='transparent', sample_rate_hz=100.0, increments__samples=2)
    run(sensor, [still(0, 0.255)])  # the last tick, 25, is odd
    got = run(sensor, [still(1.005, 1.2)])  # the first tick after the gap is 102
    assert got[0].t_ns == 1020 * MS
    assert got[0].frame == ()
    assert [len(s.frame) for s in got[1:5]] == [0, 2, 0, 2]


def test_the_low_pass_starts_anew_after_a_gap():
    sensor = imu(sample_rate_hz=100.0, gyro__bandwidth_hz=5.0)
    run(sensor, [still(0, 1)])
    at = turning((0, 0, 0), (0, 0, 3.0))
    got = run(sensor, pieces(at, range(2 * SECOND, 3 * SECOND, 20 * MS)))
    np.testing.assert_allclose(rates(got)[:, 2], 3.0, rtol=1e-12)


# resets --------------------------------------------------------------------------------------


def test_truth_that_starts_before_the_last_piece_ended_is_a_power_cycle():
    sensor = imu(sample_rate_hz=100.0, gyro__white_noise_density=1e-3)
    run(sensor, [still(0, 10)])
    got = run(sensor, [still(2, 3)])
    assert sensor.power_on == 1
    assert [s.tick for s in got] == list(range(100))
    assert got[0].t_ns == 2_010 * MS


def test_a_power_cycle_starts_at_tick_0_with_other_noise():
    sensor = imu(sample_rate_hz=100.0, gyro__white_noise_density=1e-3)
    before = run(sensor, [still(0, 1)])
    sensor.power_cycle()
    after = run(sensor, [still(1, 2)])
    assert [s.tick for s in after] == list(range(len(after)))
    assert not set(rates(before)[:, 0]) & set(rates(after)[:, 0])


# change of rate ------------------------------------------------------------------------------


@pytest.mark.parametrize(('old', 'new'), [
    (200.0, 100.0), (100.0, 200.0), (1.0, 200.0), (29.97, 400.0), (400.0, 3.0), (50.0, 1024.0),
])
def test_a_change_of_rate_enters_the_new_grid_and_loses_no_motion(old, new):
    omega = 0.7
    at = turning((0, 0, 0), (0, 0, omega), EPOCH)
    times = [EPOCH + 3 + i * 9 * MS for i in range(700)]
    segments = pieces(at, times)
    sensor = imu(fidelity='transparent', sample_rate_hz=old)
    before = run(sensor, segments[:300])
    reconfigure(sensor, fidelity='transparent', sample_rate_hz=new)
    after = run(sensor, segments[300:])
    assert before[-1].t_ns <= times[300] < after[0].t_ns
    grid = set(exact_stamps(new, EPOCH, times[-1]))
    assert all(s.t_ns in grid for s in after)
    stamps = [s.t_ns for s in before + after]
    assert all(b > a for a, b in pairwise(stamps))
    assert [s.tick for s in before + after] == list(range(len(stamps)))
    # increments cover the time without holes: their sum is the angle turned
    dts = [part.dt_s for s in after for part in s.frame]
    assert sum(dts) == pytest.approx((stamps[-1] - before[-1].t_ns) / SECOND, abs=1e-9)
    assert thetas(after)[:, 2].sum() == pytest.approx(
        omega * (stamps[-1] - before[-1].t_ns) / SECOND, abs=1e-9
    )
    np.testing.assert_allclose(rates(after)[:, 2], omega, rtol=1e-12)
    np.testing.assert_allclose(forces(after), [(0, 0, 9.80665)] * len(after), atol=1e-9)


@pytest.mark.parametrize(('old', 'new'), [(1.0, 10.0), (10.0, 1.0), (5.0, 29.97)])
def test_a_change_of_the_update_rate_makes_no_fix_of_the_past(old, new):
    at = turning((10.0, 0, 0), ZERO3)
    segments = pieces(at, [i * 30 * MS for i in range(300)])
    sensor = gps(fidelity='transparent', update_hz=old)
    run(sensor, segments[:130])
    fed = segments[129].end_ns
    reconfigure(sensor, fidelity='transparent', update_hz=new)
    after = run(sensor, segments[130:])
    assert after[0].t_ns > fed
    grid = SampleGrid(new)
    assert all(grid.time_ns(grid.first_at(s.t_ns)) == s.t_ns for s in after)
    for s in after:
        p_n = sensor.settings.local_frame.local_from_ecef(s.p_e)
        assert p_n[0] == pytest.approx(10.0 * s.t_ns / SECOND, abs=1e-6)


def test_a_change_of_rate_or_frame_length_loses_no_increment():
    at = turning((0, 0, 0), (0, 0, 1.0))
    segments = pieces(at, range(0, 3 * SECOND + 1, 7 * MS))
    sensor = imu(fidelity='transparent', sample_rate_hz=100.0)
    got, steps = [], [(100.0, 2), (77.0, 2), (100.0, 1), (200.0, 2), (50.0, 2), (100.0, 2)]
    for i, segment in enumerate(segments):
        if i % 61 == 60:
            rate, samples = steps[(i // 61) % len(steps)]
            reconfigure(sensor, fidelity='transparent', sample_rate_hz=rate,
                        increments__samples=samples)
        got += sensor.feed(segment)
    framed = [s for s in got if s.frame]
    for a, b in pairwise(framed):
        covered = sum(part.dt_s for part in b.frame)
        assert covered == pytest.approx((b.t_ns - a.t_ns) / SECOND, abs=1e-12)
        assert len(b.frame) <= 2


# two-sample increments -----------------------------------------------------------------------


def test_two_ticks_of_5_ms_make_one_frame_of_10_ms_that_carries_both():
    a, b = moving(0, omega=(0.0, 0, 0)), moving(SECOND, omega=(100.0, 0, 0))
    got = run(imu(fidelity='transparent', increments__samples=2), [TwistSegment(a, b)])
    single = run(imu(fidelity='transparent'), [TwistSegment(a, b)])
    assert len(got) == 200
    frames = [s for s in got if s.frame]
    assert [s.t_ns for s in frames] == [i * 10 * MS for i in range(1, 101)]
    assert all(len(s.frame) == 2 for s in frames)
    np.testing.assert_array_equal(thetas(got), thetas(single))
    np.testing.assert_array_equal(rates(got), rates(single))
