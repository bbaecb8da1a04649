"""Common errors, multipath, kinds of fix and GPS time of the GNSS receiver."""

from __future__ import annotations

import math

import numpy as np
import pytest
from core_helpers import (
    ALPHA,
    EPOCH,
    SECOND,
    assert_count,
    assert_std,
    assert_uncorrelated,
    gps,
    reconfigure,
    run,
    settings,
    still,
)
from scipy import stats

from jaguar_sensors_ros.catalogue import effective_values
from jaguar_sensors_ros.component import NormalStream, ParameterError
from jaguar_sensors_ros.errors.common import CommonGaussMarkov
from jaguar_sensors_ros.faults.base import FaultRequest
from jaguar_sensors_ros.types import FixType, SensorState

COMMON = {
    'pos_correlated_fraction': 0.5,
    'pos_correlation_time_s': 60.0,
    'common_error_stream': 'vehicle',
}


def errors(samples, part):
    return np.array([getattr(s.position_error, part) for s in samples])


# ---------------------------------------------------------------------- the common process


def process():
    return CommonGaussMarkov(NormalStream(5, 'vehicle/position.correlated/e', 0))


def test_common_process_has_unit_variance_and_its_correlation():
    # 200 correlation times apart: independent; two neighbours: phi
    tau, dt = 20.0, 1.0
    values = np.array([[p.at(k, dt, tau), p.at(k + 1, dt, tau)]
                       for k in range(0, 4000 * 2000, 4000) for p in (process(),)])
    assert_std(values[:, 0], 1.0)
    phi = math.exp(-dt / tau)
    assert_std(values[:, 1] - phi * values[:, 0], math.sqrt(1.0 - phi * phi))


@pytest.mark.parametrize('start', [0, 7, 300, 100_000, 1_700_000_000])
def test_common_process_is_the_same_from_any_beginning(start):
    early, late = process(), process()
    for k in range(start, start + 500):
        early.at(k, 1.0, 30.0)
    for k in range(start + 500, start + 520):
        assert late.at(k, 1.0, 30.0) == pytest.approx(early.at(k, 1.0, 30.0), abs=1e-8)


def test_common_process_jumps_over_gaps_and_repeats_a_sample():
    steady, gapped = process(), process()
    values = {k: steady.at(k, 1.0, 30.0) for k in range(1000, 1100)}
    for k in (1000, 1001, 1050, 1051, 1051, 1099):
        assert gapped.at(k, 1.0, 30.0) == pytest.approx(values[k], abs=1e-8)
    assert math.isfinite(process().at(-3, 1.0, 30.0))


def test_common_process_survives_extreme_correlation_times():
    assert math.isfinite(process().at(10**9, 1e-3, 1e9))
    stream = NormalStream(5, 'vehicle/position.correlated/e', 0)
    assert process().at(1000, 1.0, 1e-9) == pytest.approx(stream(1000))


# ---------------------------------------------------------------------- two receivers


def two(segments_front, segments_rear, **values):
    front = gps('front', mount__position=[1.5, 0.0, 0.3], **COMMON, **values)
    rear = gps('rear', mount__position=[-1.5, 0.2, 0.3], **COMMON, **values)
    return run(front, segments_front), run(rear, segments_rear)


def test_two_receivers_share_the_correlated_error_and_nothing_else():
    front, rear = two([still(0, 2000, EPOCH)], [still(0, 2000, EPOCH)])
    assert np.array_equal(errors(front, 'bias'), errors(rear, 'bias'))
    for i in range(3):
        assert_uncorrelated(errors(front, 'noise')[:, i], errors(rear, 'noise')[:, i])
    # what is left of the difference is white noise of both, and the baseline
    difference = errors(front, 'total') - errors(rear, 'total')
    assert_std(difference.ravel(), 5.0)  # sqrt(2 x 25 / 2)
    baseline = np.linalg.norm(np.subtract(front[0].p_e, rear[0].p_e) -
                              (np.array(front[0].C_le).T @ difference[0]))
    assert baseline == pytest.approx(math.hypot(3.0, 0.2), abs=1e-4)


def test_a_receiver_that_comes_later_or_is_reset_has_the_same_common_error():
    front, rear = two([still(0, 400, EPOCH)], [still(137, 400, EPOCH)])
    by_time = {s.t_ns: s.position_error.bias for s in front}
    for sample in rear:
        assert np.allclose(sample.position_error.bias, by_time[sample.t_ns], atol=1e-6)

    sensor = gps('rear', **COMMON)
    sensor.feed(still(0, 100, EPOCH))
    sensor.power_cycle()
    for sample in sensor.feed(still(200, 300, EPOCH)):
        assert np.allclose(sample.position_error.bias, by_time[sample.t_ns], atol=1e-6)


def test_common_error_under_the_same_sky():
    front, rear = two(
        [still(0, 50, EPOCH)], [still(0, 50, EPOCH)], geometry__enabled=True, uere_m=3.0
    )
    assert np.allclose(errors(front, 'bias'), errors(rear, 'bias'), atol=1e-4)
    assert np.abs(errors(front, 'bias')).max() > 0.1


@pytest.mark.parametrize('change', [{'common_error_stream': 'other'}, {'seed': 2}, {}])
def test_another_name_or_seed_or_none_is_another_error(change):
    ours = run(gps('front', **COMMON), [still(0, 3, EPOCH)])
    values = {**COMMON, 'common_error_stream': '', **change}
    if 'seed' in change:
        values['common_error_stream'] = 'vehicle'
    theirs = run(gps('rear', **values), [still(0, 3, EPOCH)])
    assert not np.allclose(errors(ours, 'bias'), errors(theirs, 'bias'))


def test_common_error_keeps_its_standard_deviation():
    bias = np.concatenate([
        errors(gps('front', seed=seed, **COMMON).feed(still(0, 1, EPOCH)), 'bias')
        for seed in range(300)
    ])
    assert_std(bias.ravel(), 5.0 * math.sqrt(0.5))


# ---------------------------------------------------------------------- multipath

MULTIPATH = {'multipath__probability': 0.25, 'multipath__scale_m': 8.0}


def test_multipath_comes_with_its_probability_and_has_the_tails_of_student():
    n = 10_000
    samples = run(gps(pos_std_dev=0.0, **MULTIPATH), [still(0, n, EPOCH)])
    noise = errors(samples, 'noise')
    hit = np.abs(noise).sum(axis=1) > 0.0
    assert_count(hit.sum(), n, 0.25)
    units = noise[hit] / 8.0
    for i in range(3):
        assert stats.kstest(units[:, i], stats.t(4).cdf).pvalue > ALPHA
        # far out a normal of the same variance has next to nothing
        for threshold in (4.0, 6.0):
            tail = 2.0 * stats.t(4).sf(threshold)
            assert_count((np.abs(units[:, i]) > threshold).sum(), len(units), tail)
    assert 2.0 * stats.norm.sf(6.0 / math.sqrt(2.0)) < 0.01 * 2.0 * stats.t(4).sf(6.0)
    # the three axes have one chi-square: signs independent, sizes not
    assert_uncorrelated(np.sign(units[:, 0]), np.sign(units[:, 1]))
    sizes = np.log(np.abs(units))
    assert np.corrcoef(sizes.T)[0, 1] > 0.05


def test_multipath_is_in_the_covariance_unless_the_receiver_does_not_know_of_it():
    base = {'pos_std_dev': [3.0, 6.0], **MULTIPATH}
    knows = gps(**base).feed(still(0, 1, EPOCH))[-1]
    ignores = gps(multipath__in_covariance=False, **base).feed(still(0, 1, EPOCH))[-1]
    added = 2.0 * 0.25 * 8.0**2
    diagonal = np.diag(np.reshape(knows.position_covariance, (3, 3)))
    assert np.allclose(diagonal, [9.0 + added, 9.0 + added, 36.0 + added])
    assert np.allclose(np.reshape(ignores.position_covariance, (3, 3)), np.diag([9, 9, 36]))
    assert knows.position_error == ignores.position_error
    assert knows.velocity_covariance == ignores.velocity_covariance


def test_covariance_with_multipath_is_that_of_the_errors():
    # the square of a Student variate of 4 degrees has no variance: compare by quantiles of the
    # mixture instead, at the published standard deviation
    n = 10_000
    samples = run(gps(pos_std_dev=4.0, **MULTIPATH), [still(0, n, EPOCH)])
    sigma = math.sqrt(samples[0].position_covariance[0])
    assert sigma == pytest.approx(math.sqrt(16.0 + 2.0 * 0.25 * 64.0))
    rng = np.random.default_rng(1)
    t = rng.standard_t(4, 400_000) * 8.0
    model = 4.0 * rng.standard_normal(400_000) + np.where(rng.random(400_000) < 0.25, t, 0.0)
    assert model.std() == pytest.approx(sigma, rel=0.03)
    total = errors(samples, 'total')
    for factor in (0.5, 1.0, 2.0, 3.0):
        share = np.mean(np.abs(model) > factor * sigma)
        for i in range(3):
            assert_count((np.abs(total[:, i]) > factor * sigma).sum(), n, share, ALPHA / 10)


def test_multipath_is_turned_by_the_geometry():
    values = {'geometry__enabled': True, 'uere_m': 0.0, 'multipath__probability': 1.0,
              'multipath__scale_m': 5.0, 'geometry__blocked': [0, 180, 50]}
    samples = run(gps(**values), [still(0, 3000, EPOCH)])
    units = []
    for sample in samples:
        factor = np.linalg.cholesky(np.reshape(sample.position_covariance, (3, 3)))
        units.append(math.sqrt(2.0) * np.linalg.solve(factor, sample.position_error.total))
    for i in range(3):
        assert stats.kstest(np.array(units)[:, i], stats.t(4).cdf).pvalue > ALPHA


def test_multipath_off_changes_nothing_and_on_no_other_stream():
    plain = run(gps(pos_correlated_fraction=0.5), [still(0, 50, EPOCH)])
    off = run(gps(pos_correlated_fraction=0.5, multipath__scale_m=99.0), [still(0, 50, EPOCH)])
    assert plain == off
    on = run(gps(pos_correlated_fraction=0.5, **MULTIPATH), [still(0, 50, EPOCH)])
    assert np.array_equal(errors(on, 'bias'), errors(plain, 'bias'))
    untouched = np.all(errors(on, 'noise') == errors(plain, 'noise'), axis=1)
    assert 0 < untouched.sum() < 50
    assert [s.velocity_error for s in on] == [s.velocity_error for s in plain]


def test_transparent_has_neither_multipath_nor_common_error():
    values = {**COMMON, **MULTIPATH, 'fidelity': 'transparent'}
    for sample in run(gps(**values), [still(0, 20, EPOCH)]):
        assert sample.position_error.total == (0.0, 0.0, 0.0)


# ---------------------------------------------------------------------- kinds of fix


def test_kind_of_fix_sets_the_accuracy_that_nobody_set():
    assert settings('gps').pos_std_dev == (5.0, 5.0)
    assert settings('gps', fix_type='single').pos_std_dev == (5.0, 5.0)
    typical = [settings('gps', fix_type=kind) for kind in ('sbas', 'rtk_float', 'rtk_fixed')]
    for better, worse in zip(typical[1:], typical, strict=False):
        assert better.pos_std_dev < worse.pos_std_dev < (5.0, 5.0)
        assert better.uere_m < worse.uere_m < 5.0
    for kind, rms in zip(typical, (0.6, 0.2, 0.01), strict=True):
        # horizontal RMS of two axes
        assert math.sqrt(2.0) * kind.pos_std_dev[0] == pytest.approx(rms, rel=0.02)
        assert kind.pos_std_dev[1] == pytest.approx(2.0 * rms)
    assert settings('gps', fix_type='rtk_fixed', pos_std_dev=1.0).pos_std_dev == (1.0, 1.0)
    assert settings('gps', fix_type='rtk_fixed', pos_std_dev=1.0).uere_m == 0.01
    assert settings('gps', fix_type='none').pos_std_dev == (5.0, 5.0)


def test_effective_values_show_what_the_kind_of_fix_sets():
    values = effective_values('gps', {'fix_type': 'sbas', 'uere_m': 2.0})
    assert values == {'fix_type': 'sbas', 'uere_m': 2.0, 'pos_std_dev': [0.42, 1.2]}
    assert effective_values('gps', {}) == {}
    # a dump loads back
    assert settings('gps', **values) == settings('gps', fix_type='sbas', uere_m=2.0)
    with pytest.raises(ParameterError):
        settings('gps', fix_type=3)


@pytest.mark.parametrize('geometry', [False, True])
@pytest.mark.parametrize('kind', ['single', 'sbas', 'rtk_float', 'rtk_fixed'])
def test_published_accuracy_is_that_of_the_kind_of_fix(kind, geometry):
    sensor = gps(fix_type=kind, geometry__enabled=geometry)
    samples = run(sensor, [still(0, 500, EPOCH)])
    expected = settings('gps', fix_type=kind)
    units = []
    for sample in samples:
        assert sample.fix_type is FixType[kind.upper()]
        matrix = np.reshape(sample.position_covariance, (3, 3))
        if geometry:
            horizontal = expected.uere_m * sample.hdop
            assert math.sqrt(matrix[0, 0] + matrix[1, 1]) == pytest.approx(horizontal)
        else:
            h, v = expected.pos_std_dev
            assert np.allclose(np.sqrt(np.diag(matrix)), [h, h, v])
        units.append(np.linalg.solve(np.linalg.cholesky(matrix), sample.position_error.total))
    assert_std(np.ravel(units), 1.0)


def test_no_fix_of_kind_none_or_in_a_cold_start_under_the_geometry():
    sensor = gps(fix_type='none', geometry__enabled=True)
    (sample,) = sensor.feed(still(0, 1, EPOCH))
    assert not sample.has_fix and sample.satellites == 0  # none is used in a solution
    sensor = gps(cold_start_s=5.0, geometry__enabled=True)
    samples = run(sensor, [still(0, 10, EPOCH)])
    assert [s.has_fix for s in samples] == [False] * 5 + [True] * 5
    assert [s.satellites >= 4 for s in samples] == [False] * 5 + [True] * 5
    assert sensor.status().state is SensorState.READY


def test_a_change_of_the_kind_of_fix_acts_from_the_next_sample():
    sensor = gps()
    (before,) = sensor.feed(still(0, 1, EPOCH))
    reconfigure(sensor, fix_type='rtk_fixed')
    (after,) = sensor.feed(still(1, 2, EPOCH))
    assert before.fix_type is FixType.SINGLE and after.fix_type is FixType.RTK_FIXED
    assert after.position_covariance[0] == pytest.approx(0.007**2)


# ---------------------------------------------------------------------- GPS time in the sample


def test_week_and_time_of_week_follow_the_stamp():
    rollover = 1_554_595_182  # 2019-04-06T23:59:42 UTC, week 2048
    samples = run(gps(), [still(0, 3, (rollover - 2) * SECOND)])
    told = [(s.gps_week, s.time_of_week_s) for s in samples]
    assert told == [(2047, 604_799.0), (2048, 0.0), (2048, 1.0)]
    (sample,) = gps(leap_seconds=0).feed(still(0, 1, (rollover - 1) * SECOND))
    assert (sample.gps_week, sample.time_of_week_s) == (2047, 604_782.0)
    (sample,) = gps().feed(still(0, 1))
    assert (sample.gps_week, sample.time_of_week_s) == (0, 1.0)


def test_week_and_time_are_there_without_a_fix():
    sensor = gps(satellites=4)
    sensor.board.inject(FaultRequest('satellite_loss', 1.0))
    (sample,) = sensor.feed(still(0, 1, EPOCH))
    assert not sample.has_fix
    assert (sample.gps_week, sample.time_of_week_s) == (2288, 252_819.0)


# ---------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('multipath.probability', -0.1),
        ('multipath.probability', 1.1),
        ('multipath.probability', math.nan),
        ('multipath.scale_m', -1.0),
        ('multipath.scale_m', 'far'),
        ('multipath.in_covariance', 1),
        ('common_error_stream', 5),
        ('leap_seconds', -1),
        ('leap_seconds', 18.5),
        ('leap_seconds', 101),
        ('fix_type', 'rtk'),
        ('pos_correlation_time_s', 0.0),
        ('pos_correlated_fraction', 1.5),
    ],
)
def test_bad_values_are_refused_by_name(name, value):
    with pytest.raises(ParameterError) as caught:
        settings('gps', **{name: value})
    assert caught.value.name == name
