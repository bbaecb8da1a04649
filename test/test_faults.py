"""Every failure mode on every target and axis: exact effects, exact times, no trace."""

from __future__ import annotations

import math

import numpy as np
import pytest
from core_helpers import (
    EPOCH,
    assert_count,
    assert_std,
    baro,
    forces,
    gps,
    imu,
    mag,
    pieces,
    rates,
    reconfigure,
    run,
    still,
    turning,
)

from jaguar_sensors_ros.catalogue import FAULTS, SENSORS
from jaguar_sensors_ros.component import ParameterError
from jaguar_sensors_ros.faults.base import FaultError, FaultRequest
from jaguar_sensors_ros.faults.board import FaultBoard
from jaguar_sensors_ros.types import FaultLabel, SensorState

RATE = 100.0
DT = 0.01
CHANNELS = {'gyro': 'angular_velocity', 'accel': 'specific_force',
            'position': 'position_error', 'velocity': 'velocity_error'}
#: settings of the sensors at rest at the RATE
RESTING = {
    'imu': {'sample_rate_hz': RATE, 'grade': 'tactical'},
    'gps': {'update_hz': RATE},
    'mag': {'sample_rate_hz': RATE, 'field': (1e-6, 21e-6, -43e-6)},
    'baro': {'sample_rate_hz': RATE},
}
#: how exact differences are: to the last digits of what is measured
EXACT = {'pressure': 1e-9}


def make(kind, **values):
    given = {**RESTING[kind], **values}
    return {'imu': imu, 'gps': gps, 'mag': mag, 'baro': baro}[kind](**given)


def seconds(start, end, base=EPOCH):
    """Return rest in pieces of 20 ms."""
    count = round((end - start) * 50)
    return [
        still(start + i * 0.02, start + (i + 1) * 0.02, base) for i in range(count)
    ]


def values_of(samples, channel):
    """Return what a channel published: but for an IMU the error against truth."""
    if channel == 'mag':
        return np.array([s.error.total for s in samples])
    if channel == 'pressure':
        return np.array([[s.total] for s in samples])
    if channel in ('gyro', 'accel'):
        return np.array([getattr(s, CHANNELS[channel]) for s in samples])
    return np.array([getattr(s, CHANNELS[channel]).total for s in samples])


def with_fault(kind, request, before_s=0.5, during_s=1.0, **values):
    """Return samples of a run with a fault and of the same run without it, from injection on."""
    sensor, reference = make(kind, **values), make(kind, **values)
    run(sensor, seconds(0, before_s))
    run(reference, seconds(0, before_s))
    sensor.board.inject(request)
    rest = seconds(before_s, before_s + during_s)
    return run(sensor, rest), run(reference, rest), sensor


TARGETS = [(kind, target) for kind, (c, _) in SENSORS.items() for target in c.channels.names]
AXES = [('', (0, 1, 2)), ('x', (0,)), ('y', (1,)), ('z', (2,)), ('zx', (0, 2)), ('x, y', (0, 1))]


ON_AXES = [
    (kind, target, axis.translate(str.maketrans('xyz'[: len(letters)], letters)), hit)
    for kind, target in TARGETS
    for letters in [SENSORS[kind][0].channels.axes]
    for axis, hit in AXES
    if all('xyz'.index(letter) < len(letters) for letter in axis.replace(', ', ''))
]


@pytest.mark.parametrize(('kind', 'target', 'axis', 'hit'), ON_AXES)
def test_bias_adds_exactly_its_magnitude_to_its_axes_alone(kind, target, axis, hit):
    request = FaultRequest('bias', 0.25, target, axis)
    got, reference, _ = with_fault(kind, request, during_s=0.1)
    for channel in make(kind).channels.names:
        difference = values_of(got, channel) - values_of(reference, channel)
        expected = np.zeros(difference.shape[1])
        if channel == target:
            expected[list(hit)[: len(expected)]] = 0.25
        atol = EXACT.get(channel, 1e-13)
        np.testing.assert_allclose(difference, np.tile(expected, (10, 1)), atol=atol)


def test_bias_is_in_the_increments_too():
    got, reference, _ = with_fault('imu', FaultRequest('bias', 0.25, 'gyro', 'y'))
    for s, r in zip(got, reference, strict=True):
        difference = np.subtract(s.frame[0].delta_theta, r.frame[0].delta_theta)
        np.testing.assert_allclose(difference, (0, 0.25 * DT, 0), atol=1e-15)
        assert s.frame[0].delta_v == r.frame[0].delta_v
        assert s.orientation == r.orientation


@pytest.mark.parametrize(('kind', 'target'), TARGETS)
def test_drift_grows_linearly_from_the_injection(kind, target):
    got, reference, _ = with_fault(kind, FaultRequest('drift', 0.3, target))
    difference = values_of(got, target) - values_of(reference, target)
    expected = 0.3 * DT * np.arange(1, 101)
    atol = EXACT.get(target, 1e-12)
    np.testing.assert_allclose(
        difference, np.tile(expected, (difference.shape[1], 1)).T, atol=atol
    )
    for other in set(make(kind).channels.names) - {target}:
        np.testing.assert_array_equal(values_of(got, other), values_of(reference, other))


def test_a_drifting_position_carries_its_velocity_and_a_biased_one_does_not():
    got, reference, _ = with_fault('gps', FaultRequest('drift', 0.5, axis='n'))
    velocity = values_of(got, 'velocity') - values_of(reference, 'velocity')
    np.testing.assert_allclose(velocity, np.tile((0, 0.5, 0), (100, 1)), atol=1e-12)
    position = values_of(got, 'position') - values_of(reference, 'position')
    np.testing.assert_allclose(np.diff(position[:, 1]) / DT, 0.5, atol=1e-9)
    got, reference, _ = with_fault('gps', FaultRequest('bias', 5.0))
    np.testing.assert_array_equal(values_of(got, 'velocity'), values_of(reference, 'velocity'))


def test_the_velocity_of_a_ramped_drift_is_the_slope_of_its_position():
    got, reference, _ = with_fault('gps', FaultRequest('drift', 0.5, ramp=0.4), pos_std_dev=0.0)
    position = (values_of(got, 'position') - values_of(reference, 'position'))[:, 0]
    velocity = (values_of(got, 'velocity') - values_of(reference, 'velocity'))[:, 0]
    np.testing.assert_allclose(
        np.diff(position) / DT, 0.5 * (velocity[1:] + velocity[:-1]), atol=1e-9
    )
    assert velocity[-1] == pytest.approx(0.5)
    assert position[-1] == pytest.approx(0.5 * (1.0 - 0.2))


@pytest.mark.parametrize('fidelity', ['transparent', 'realistic'])
@pytest.mark.parametrize(('kind', 'target'), TARGETS)
def test_noise_multiplies_the_white_sigma(kind, target, fidelity):
    """In transparent the extra noise alone is there: sqrt(f^2 - 1) sigma."""
    values = {
        'imu': {'grade': 'custom', 'gyro__white_noise_density': 1e-3,
                'accel__white_noise_density': 1e-2},
        'gps': {'satellites': 6, 'pos_std_dev': 5.0, 'vel_std_dev': 0.1},
        'mag': {'mag__white_noise_density': 1e-7, 'mag__resolution': 0.0},
        'baro': {'pressure__white_noise_density': 0.5, 'pressure__resolution': 0.0},
    }[kind]
    request = FaultRequest('noise', 4.0, target)
    got, _, sensor = with_fault(kind, request, during_s=10.0, fidelity=fidelity, **values)
    dilution = math.sqrt(10 / 6)
    sigma = {'gyro': 1e-2, 'accel': 0.1, 'position': 5.0 * dilution, 'velocity': 0.1 * dilution,
             'mag': 1e-6, 'pressure': 5.0}
    factor = 4.0 if fidelity == 'realistic' else math.sqrt(15.0)
    mean = np.array((0, 0, 9.80665)) if target == 'accel' else np.zeros(3)
    assert_std(np.ravel(values_of(got, target) - mean), factor * sigma[target])
    nominal = math.sqrt(6 / 10) if kind == 'gps' else 1.0
    assert sensor.status().confidence == pytest.approx(nominal / 4.0)


def test_noise_of_factor_10_is_the_default_and_hits_everything():
    got, _, sensor = with_fault('imu', FaultRequest('noise'), during_s=5.0, grade='custom',
                                gyro__white_noise_density=1e-3, accel__white_noise_density=1e-3)
    assert_std(np.ravel(rates(got)), 0.1)
    assert_std(np.ravel(forces(got) - (0, 0, 9.80665)), 0.1)
    assert sensor.board.present == ('noise:all',)


# stuck ---------------------------------------------------------------------------------------


def moving_imu(**values):
    at = turning((5.0, 0, 0), (0.1, -0.2, 1.0), EPOCH)
    segments = pieces(at, [EPOCH + i * 20_000_000 for i in range(51)])
    return imu(sample_rate_hz=RATE, grade='consumer', orientation__output='ahrs',
               **values), segments


@pytest.mark.parametrize('samples', [1, 2])
@pytest.mark.parametrize('fidelity', ['transparent', 'realistic'])
def test_stuck_holds_the_last_published_sample_while_stamps_go_on(samples, fidelity):
    sensor, segments = moving_imu(increments__samples=samples, fidelity=fidelity)
    before = run(sensor, segments[:10])
    sensor.board.inject(FaultRequest('stuck'))
    held, last_frame = before[-1], [s.frame for s in before if s.frame][-1]
    during = run(sensor, segments[10:20])
    assert [s.t_ns for s in during] == [held.t_ns + (i + 1) * 10_000_000 for i in range(20)]
    for s in during:
        assert s.angular_velocity == held.angular_velocity
        assert s.specific_force == held.specific_force
        assert s.orientation == held.orientation
        assert s.frame in ((), last_frame)
    assert len([s for s in during if s.frame]) == 20 // samples
    sensor.board.clear()
    reference, _ = moving_imu(increments__samples=samples, fidelity=fidelity)
    assert run(sensor, segments[20:]) == run(reference, segments)[40:]


def test_stuck_before_the_first_sample_holds_the_first():
    sensor, segments = moving_imu()
    sensor.board.inject(FaultRequest('stuck'))
    got = run(sensor, segments)
    reference, _ = moving_imu()
    first = run(reference, segments)[0]
    for s in got:
        assert s.angular_velocity == first.angular_velocity
        assert s.specific_force == first.specific_force
        assert s.orientation == first.orientation
        assert s.frame == first.frame


def test_stuck_on_one_channel_and_axis_leaves_the_others_alive():
    sensor, segments = moving_imu()
    before = run(sensor, segments[:10])
    sensor.board.inject(FaultRequest('stuck', target='accel', axis='z'))
    reference, _ = moving_imu()
    expected = run(reference, segments)[20:]
    for s, e in zip(run(sensor, segments[10:]), expected, strict=True):
        assert s.angular_velocity == e.angular_velocity
        assert s.specific_force[:2] == e.specific_force[:2]
        assert s.specific_force[2] == before[-1].specific_force[2]
        assert s.frame[0].delta_theta == e.frame[0].delta_theta
        assert s.frame[0].delta_v[2] == before[-1].frame[0].delta_v[2]
        assert s.orientation == e.orientation


def test_a_stuck_receiver_repeats_its_position_and_velocity():
    at = turning((5.0, 0, 0), (0, 0, 1.0))
    segments = pieces(at, [i * 20_000_000 for i in range(101)])
    sensor = gps(update_hz=10.0)
    before = run(sensor, segments[:50])[-1]
    sensor.board.inject(FaultRequest('stuck'))
    for s in run(sensor, segments[50:]):
        assert (s.p_e, s.latitude_deg, s.longitude_deg, s.height_m) == (
            before.p_e, before.latitude_deg, before.longitude_deg, before.height_m
        )
        assert (s.v_enu, s.v_e, s.v_s) == (before.v_enu, before.v_e, before.v_s)


# loss, outliers, total -----------------------------------------------------------------------


@pytest.mark.parametrize('kind', SENSORS)
@pytest.mark.parametrize('probability', [0.0, 0.2, 1.0])
def test_intermittent_loses_its_share_of_the_samples(kind, probability):
    got, reference, sensor = with_fault(
        kind, FaultRequest('intermittent', probability), during_s=10.0
    )
    share = probability or 0.5
    assert_count(1000 - len(got), 1000, share)
    by_stamp = {s.t_ns: s for s in reference}
    for s in got:
        assert values_of([s], sensor.channels.names[0]).tolist() == values_of(
            [by_stamp[s.t_ns]], sensor.channels.names[0]
        ).tolist()
    assert sensor.status().confidence == pytest.approx(1.0 - share)
    assert sensor.status().state is SensorState.DEGRADED


@pytest.mark.parametrize(('kind', 'target'), TARGETS)
def test_one_sample_in_ten_jumps_with_a_sign_for_each_axis(kind, target):
    got, reference, _ = with_fault(kind, FaultRequest('jump', 3.0, target), during_s=20.0)
    difference = values_of(got, target) - values_of(reference, target)
    jumped = np.abs(difference) > 1e-9
    assert (jumped.all(axis=1) == jumped.any(axis=1)).all()
    np.testing.assert_allclose(np.abs(difference[jumped]), 3.0, atol=EXACT.get(target, 1e-12))
    rows = difference[jumped.any(axis=1)]
    assert_count(len(rows), 2000, 0.1)
    for i in range(rows.shape[1]):
        assert_count(int((rows[:, i] > 0).sum()), len(rows), 0.5)
        for j in range(i):
            assert_count(int((rows[:, i] * rows[:, j] > 0).sum()), len(rows), 0.5)
    for other in set(make(kind).channels.names) - {target}:
        np.testing.assert_array_equal(values_of(got, other), values_of(reference, other))


@pytest.mark.parametrize('kind', SENSORS)
def test_total_gives_no_output_and_the_state_failed(kind):
    got, _, sensor = with_fault(kind, FaultRequest('total'))
    assert got == []
    status = sensor.status()
    assert (status.state, status.valid, status.confidence) == (SensorState.FAILED, False, 0.0)
    assert status.faults == ('total:all',)
    sensor.board.clear()
    assert len(run(sensor, seconds(1.5, 1.6))) == 10
    assert sensor.status().state is SensorState.READY


def test_lost_satellites_widen_noise_and_covariance_and_end_the_fix():
    got, reference, sensor = with_fault('gps', FaultRequest('satellite_loss', 5.0))
    for s, r in zip(got, reference, strict=True):
        assert s.satellites == 5
        assert s.position_covariance[0] == pytest.approx(2 * r.position_covariance[0])
        np.testing.assert_allclose(
            s.position_error.total, math.sqrt(2) * np.array(r.position_error.total), rtol=1e-9
        )
        assert s.hdop == pytest.approx(math.sqrt(2) * r.hdop)
    assert sensor.status().confidence == pytest.approx(math.sqrt(0.5))
    got, _, sensor = with_fault('gps', FaultRequest('satellite_loss', 7.0))
    assert all(not s.has_fix and s.satellites == 3 for s in got)
    assert not sensor.status().valid
    assert sensor.status().state is SensorState.DEGRADED


# time ----------------------------------------------------------------------------------------


def active(request, during_s=3.0):
    """Return the numbers of the samples after the injection that carry the fault's label."""
    got, _, _ = with_fault('imu', request, during_s=during_s)
    return [i + 1 for i, s in enumerate(got) if s.faults]


@pytest.mark.parametrize(('request_', 'expected'), [
    (FaultRequest('bias', 1.0), list(range(1, 301))),
    (FaultRequest('bias', 1.0, delay=0.1), list(range(11, 301))),
    (FaultRequest('bias', 1.0, duration=0.1), list(range(1, 11))),
    (FaultRequest('bias', 1.0, delay=0.5, duration=0.25), list(range(51, 76))),
    (FaultRequest('bias', 1.0, duration=0.1, repeat=2, period=0.5),
     [i + j for j in (0, 50, 100) for i in range(1, 11)]),
    (FaultRequest('bias', 1.0, delay=0.2, duration=0.1, repeat=1, period=0.1),
     list(range(21, 41))),
    (FaultRequest('bias', 1.0, duration=0.004), []),
    (FaultRequest('bias', 1.0, duration=1e-12), []),
])
def test_a_fault_lasts_exactly_its_samples(request_, expected):
    assert active(request_) == expected


def test_a_ramp_reaches_its_magnitude_in_its_time():
    got, reference, _ = with_fault('imu', FaultRequest('bias', 2.0, ramp=0.5))
    difference = (rates(got) - rates(reference))[:, 0]
    expected = 2.0 * np.minimum(1.0, np.arange(1, 101) * DT / 0.5)
    np.testing.assert_allclose(difference, expected, atol=1e-12)
    np.testing.assert_allclose([s.faults[0].magnitude for s in got], expected, atol=1e-12)


def test_each_occurrence_ramps_and_drifts_anew():
    request = FaultRequest('drift', 1.0, 'gyro', duration=0.1, repeat=1, period=0.5)
    got, reference, _ = with_fault('imu', request)
    difference = (rates(got) - rates(reference))[:, 0]
    once = DT * np.arange(1, 11)
    np.testing.assert_allclose(difference[:10], once, atol=1e-12)
    np.testing.assert_allclose(difference[50:60], once, atol=1e-12)
    assert not difference[10:50].any()


def test_a_fault_that_is_over_is_forgotten():
    _, _, sensor = with_fault('imu', FaultRequest('bias', 1.0, duration=0.1))
    assert sensor.board.present == ()
    assert sensor.status().state is SensorState.READY


def test_a_fault_that_waits_for_its_delay_is_present_but_not_in_effect():
    _, _, sensor = with_fault('imu', FaultRequest('bias', 1.0, delay=10.0))
    assert sensor.board.present == ('bias:gyro',)
    assert sensor.status().state is SensorState.READY


# refusals ------------------------------------------------------------------------------------


@pytest.mark.parametrize(('kind', 'request_', 'says'), [
    ('imu', FaultRequest('wobble'), 'bias'),
    ('imu', FaultRequest(''), 'none'),
    ('imu', FaultRequest('satellite_loss', 1.0), 'bias'),
    ('imu', FaultRequest('bias'), 'magnitude'),
    ('imu', FaultRequest('drift', 0.0), 'magnitude'),
    ('imu', FaultRequest('jump'), 'magnitude'),
    ('imu', FaultRequest('bias', math.nan), 'finite'),
    ('imu', FaultRequest('bias', math.inf), 'finite'),
    ('imu', FaultRequest('drift', -1e300), 'finite'),
    ('imu', FaultRequest('bias', 1.0, 'all'), 'gyro, accel'),
    ('imu', FaultRequest('drift', 1.0, 'all'), 'gyro, accel'),
    ('gps', FaultRequest('jump', 1.0, 'all'), 'position, velocity'),
    ('imu', FaultRequest('bias', 1.0, 'position'), 'gyro'),
    ('gps', FaultRequest('bias', 1.0, 'gyro'), 'position'),
    ('imu', FaultRequest('bias', 1.0, 'gyro', 'w'), 'x y z'),
    ('imu', FaultRequest('bias', 1.0, 'gyro', 'xx'), 'x y z'),
    ('imu', FaultRequest('bias', 1.0, 'gyro', ' '), 'xyz'),
    ('gps', FaultRequest('bias', 1.0, 'position', 'x'), 'e n u'),
    ('imu', FaultRequest('noise', 0.5), '>= 1'),
    ('imu', FaultRequest('noise', -2.0), '>= 1'),
    ('imu', FaultRequest('intermittent', 1.5), 'probability'),
    ('imu', FaultRequest('intermittent', -0.1), 'probability'),
    ('imu', FaultRequest('total', target='gyro'), 'all'),
    ('imu', FaultRequest('intermittent', target='accel'), 'all'),
    ('gps', FaultRequest('satellite_loss', 2.0, 'position'), 'all'),
    ('gps', FaultRequest('satellite_loss'), 'magnitude'),
    ('gps', FaultRequest('satellite_loss', 1.5), 'whole'),
    ('gps', FaultRequest('satellite_loss', -1.0), 'whole'),
    ('imu', FaultRequest('bias', 1.0, delay=-1.0), 'delay'),
    ('imu', FaultRequest('bias', 1.0, duration=math.nan), 'duration'),
    ('imu', FaultRequest('bias', 1.0, ramp=math.inf), 'ramp'),
    ('imu', FaultRequest('bias', 1.0, duration=1e305), 'duration'),
    ('imu', FaultRequest('bias', 1.0, delay=1e300), 'delay'),
    ('imu', FaultRequest('bias', 1.0, repeat=1), 'duration'),
    ('imu', FaultRequest('bias', 1.0, duration=1.0, repeat=1, period=0.5), 'period'),
    ('imu', FaultRequest('none', target='position'), 'gyro'),
])
def test_a_refusal_says_what_is_valid_and_changes_nothing(kind, request_, says):
    sensor, reference = make(kind), make(kind)
    for s in (sensor, reference):
        s.board.inject(FaultRequest('bias', 0.1))
    run(sensor, seconds(0, 0.1))
    run(reference, seconds(0, 0.1))
    with pytest.raises(FaultError) as refusal:
        sensor.board.inject(request_)
    assert says in str(refusal.value)
    assert run(sensor, seconds(0.1, 0.2)) == run(reference, seconds(0.1, 0.2))


def test_the_largest_faults_that_are_accepted_stay_finite():
    for mode in ('bias', 'drift', 'jump', 'noise'):
        for kind in SENSORS:
            request = FaultRequest(mode, 1e12, duration=1e9, repeat=2**32 - 1, period=1e9)
            got, _, sensor = with_fault(kind, request, during_s=0.1)
            assert len(got) == 10
            assert np.isfinite(values_of(got, sensor.channels.names[0])).all()
            if kind == 'gps':
                assert all(math.isfinite(s.latitude_deg + s.height_m) for s in got)


# several faults --------------------------------------------------------------------------------


def test_faults_on_different_targets_act_together_and_one_target_has_one_fault():
    sensor = make('imu', grade='custom')
    sensor.board.inject(FaultRequest('bias', 0.1, 'gyro'))
    sensor.board.inject(FaultRequest('bias', 0.2, 'accel'))
    (s, *_) = run(sensor, seconds(0, 0.04))
    assert s.faults == (FaultLabel('bias', 'gyro', 0.1), FaultLabel('bias', 'accel', 0.2))
    assert s.angular_velocity[0] == pytest.approx(0.1)
    assert s.specific_force[0] == pytest.approx(0.2)
    answer = sensor.board.inject(FaultRequest('bias', 0.5, 'gyro'))
    assert 'replaces bias' in answer
    (s, *_) = run(sensor, seconds(0.04, 0.08))
    assert s.angular_velocity[0] == pytest.approx(0.5)


def test_faults_on_different_axes_act_together_and_an_axis_has_one():
    sensor = make('imu', grade='custom')
    sensor.board.inject(FaultRequest('bias', 0.1, 'gyro', 'xy'))
    assert 'replaces' in sensor.board.inject(FaultRequest('bias', 0.2, 'gyro', 'yz'))
    (s, *_) = run(sensor, seconds(0, 0.04))
    assert s.angular_velocity == pytest.approx((0.1, 0.2, 0.2))
    assert 'replaces' not in sensor.board.inject(FaultRequest('intermittent', 0.5))
    assert 'replaces' in sensor.board.inject(FaultRequest('intermittent', 1e-9))
    (s, *_) = run(sensor, seconds(0.04, 0.08))
    assert s.angular_velocity == pytest.approx((0.1, 0.2, 0.2))
    assert {label.mode for label in s.faults} == {'bias', 'intermittent'}


@pytest.mark.parametrize(
    'wrong', [{'axis': 'q'}, {'axis': 'x'}, {'delay': math.nan}, {'target': 'magnet'}]
)
def test_none_is_checked_too_and_changes_nothing_when_refused(wrong):
    sensor = make('imu', grade='custom')
    sensor.board.inject(FaultRequest('bias', 0.1, 'gyro'))
    with pytest.raises(FaultError):
        sensor.board.inject(FaultRequest('none', **wrong))
    assert sensor.board.present == ('bias:gyro',)


def test_none_clears_the_named_target_only():
    sensor = make('imu', grade='custom')
    sensor.board.inject(FaultRequest('bias', 0.1, 'gyro'))
    sensor.board.inject(FaultRequest('bias', 0.2, 'accel'))
    assert sensor.board.inject(FaultRequest('none', target='gyro')) == 'cleared gyro'
    (s, *_) = run(sensor, seconds(0, 0.04))
    assert s.angular_velocity[0] == 0.0
    assert s.specific_force[0] == pytest.approx(0.2)
    assert 'no fault' in sensor.board.inject(FaultRequest('none', target='gyro'))
    sensor.board.inject(FaultRequest('none'))
    assert sensor.board.present == ()


def test_none_takes_its_target_out_of_a_fault_on_all():
    sensor = make('imu')
    sensor.board.inject(FaultRequest('stuck'))
    sensor.board.inject(FaultRequest('none', target='accel'))
    assert sensor.board.present == ('stuck:gyro',)


def test_none_does_not_claim_to_have_cleared_a_failure_of_the_whole_sensor():
    sensor = make('imu')
    sensor.board.inject(FaultRequest('total'))
    assert 'no fault' in sensor.board.inject(FaultRequest('none', target='gyro'))
    assert sensor.board.present == ('total:all',)
    assert 'total' in sensor.board.inject(FaultRequest('none', target='all'))


def test_none_on_velocity_ends_the_velocity_of_a_coherent_drift():
    _, _, sensor = with_fault('gps', FaultRequest('drift', 0.5))
    assert sensor.board.inject(FaultRequest('none', target='velocity')) == 'cleared velocity'
    reference = make('gps')
    run(reference, seconds(0, 1.5))
    after, expected = run(sensor, seconds(1.5, 1.6)), run(reference, seconds(1.5, 1.6))
    np.testing.assert_array_equal(values_of(after, 'velocity'), values_of(expected, 'velocity'))
    assert (values_of(after, 'position') - values_of(expected, 'position')).min() > 0.4


# failures by parameter -------------------------------------------------------------------------


def test_a_failure_by_parameter_acts_in_fidelity_fault_only():
    values = {'grade': 'custom', 'failure__mode': 'bias', 'failure__magnitude': 0.1}
    sensor = make('imu', **values)
    assert not rates(run(sensor, seconds(0, 0.1))).any()
    reconfigure(sensor, sample_rate_hz=RATE, fidelity='fault', **values)
    np.testing.assert_allclose(rates(run(sensor, seconds(0.1, 0.2))), 0.1, atol=1e-15)
    reconfigure(sensor, sample_rate_hz=RATE, **values)
    assert not rates(run(sensor, seconds(0.2, 0.3))).any()


def test_an_injected_fault_acts_in_every_fidelity():
    for fidelity in ('transparent', 'realistic', 'fault'):
        sensor = make('imu', grade='custom', fidelity=fidelity)
        sensor.board.inject(FaultRequest('bias', 0.1))
        np.testing.assert_allclose(rates(run(sensor, seconds(0, 0.1))), 0.1, atol=1e-15)


def test_none_clears_a_failure_by_parameter_too():
    sensor = make('imu', grade='custom', fidelity='fault', failure__mode='bias',
                  failure__magnitude=0.1)
    run(sensor, seconds(0, 0.1))
    assert sensor.board.inject(FaultRequest('none', target='gyro')) == 'cleared gyro'
    assert not rates(run(sensor, seconds(0.1, 0.2))).any()


def test_a_failure_by_parameter_starts_anew_at_power_on():
    sensor = make('imu', grade='custom', fidelity='fault', failure__mode='bias',
                  failure__magnitude=0.1, failure__delay=0.05)
    for start in (0, 1):
        got = rates(run(sensor, seconds(start, start + 0.1)))[:, 0]
        assert got.tolist() == [0.0] * 5 + [pytest.approx(0.1)] * 5
        sensor.power_cycle()


def test_injected_faults_survive_a_power_cycle():
    sensor = make('imu', grade='custom')
    sensor.board.inject(FaultRequest('bias', 0.1))
    run(sensor, seconds(0, 0.1))
    sensor.power_cycle()
    np.testing.assert_allclose(rates(run(sensor, seconds(0.1, 0.2))), 0.1, atol=1e-15)


def test_the_probability_of_a_failure_is_drawn_once_a_power_on():
    sensor = make('imu', grade='custom', fidelity='fault', failure__mode='bias',
                  failure__magnitude=0.1, failure__probability=0.3)
    present = 0
    for i in range(100):
        got = rates(run(sensor, seconds(i, i + 0.04)))[:, 0]
        assert len(set(got)) == 1
        present += bool(got[0])
        sensor.power_cycle()
    assert_count(present, 100, 0.3)


def test_a_failure_that_does_not_fit_the_sensor_is_refused_as_a_parameter():
    with pytest.raises(ParameterError, match=r'failure\.mode'):
        make('imu', failure__mode='satellite_loss')
    sensor = make('imu')
    with pytest.raises(ParameterError, match='magnitude'):
        reconfigure(sensor, sample_rate_hz=RATE, failure__mode='bias')


# labels --------------------------------------------------------------------------------------


@pytest.mark.parametrize('kind', SENSORS)
@pytest.mark.parametrize('mode', ['bias', 'drift', 'noise', 'stuck', 'jump'])
def test_the_label_of_a_fault_is_what_it_added_and_total_is_published_minus_ideal(kind, mode):
    magnitude = {'noise': 5.0, 'stuck': 0.0}.get(mode, 0.7)
    got, reference, sensor = with_fault(kind, FaultRequest(mode, magnitude))
    ideal = with_fault(kind, FaultRequest('noise', 1.0), fidelity='transparent')[0]
    for s, r, true in zip(got, reference, ideal, strict=True):
        assert [label.mode for label in s.faults] == [mode]
        if kind == 'imu':
            assert s.gyro_error.total == tuple(
                np.subtract(s.angular_velocity, true.angular_velocity)
            )
            np.testing.assert_allclose(
                s.gyro_error.fault, np.subtract(s.angular_velocity, r.angular_velocity), atol=1e-15
            )
        elif kind == 'mag':
            assert s.error.total == tuple(np.subtract(s.field, true.field))
            np.testing.assert_allclose(
                s.error.fault, np.subtract(s.field, r.field), atol=1e-15
            )
        elif kind == 'baro':
            assert s.total == s.pressure - true.pressure
            assert s.fault == pytest.approx(s.pressure - r.pressure, abs=1e-9)
        else:
            np.testing.assert_allclose(
                np.array(s.C_le) @ np.subtract(s.p_e, true.p_e), s.position_error.total, atol=3e-9
            )
            for name in ('position_error', 'velocity_error'):
                label, without = getattr(s, name), getattr(r, name)
                np.testing.assert_allclose(
                    label.fault, np.subtract(label.total, without.total), atol=1e-12
                )
    assert sensor.status().faults[0].startswith(mode)


def test_every_mode_of_the_catalogue_is_offered_by_a_sensor_and_known_to_it():
    offered = {mode for cls, _ in SENSORS.values() for mode in cls.channels.modes}
    assert offered == set(FAULTS)
    for cls, _ in SENSORS.values():
        FaultBoard(cls.channels, FAULTS)


@pytest.mark.parametrize(('factors', 'sigma'), [((3.0, 3.0), 17.0**0.5), ((2.0, 4.0), 19.0**0.5)])
def test_noise_on_all_and_noise_on_one_channel_add_their_variances(factors, sigma):
    """1 + (f1^2 - 1) + (f2^2 - 1) times the variance on the channel that both hit."""
    sensor = make('imu', gyro__white_noise_density=1e-3, accel__white_noise_density=1e-2,
                  grade='custom')
    sensor.board.inject(FaultRequest('noise', factors[0]))
    sensor.board.inject(FaultRequest('noise', factors[1], 'gyro'))
    got = run(sensor, seconds(0, 40))
    assert_std(rates(got), 1e-3 / math.sqrt(DT) * sigma)
    assert_std(forces(got) - (0, 0, 9.80665), 1e-2 / math.sqrt(DT) * factors[0])
    assert sensor.status().confidence == pytest.approx(1.0 / sigma)


def test_noise_by_injection_and_by_parameters_add_their_variances_too():
    sensor = make('imu', gyro__white_noise_density=1e-3, grade='custom', fidelity='fault',
                  failure__mode='noise', failure__magnitude=3.0)
    sensor.board.inject(FaultRequest('noise', 3.0))
    assert_std(rates(run(sensor, seconds(0, 40))), 1e-3 / math.sqrt(DT) * math.sqrt(17.0))


def test_a_cold_restart_may_repeat_without_a_duration_of_its_own():
    sensor = make('gps')
    sensor.board.inject(FaultRequest('cold_restart', 0.1, repeat=1, period=0.5))
    fixes = [s.has_fix for s in run(sensor, seconds(0, 1))]
    assert fixes == ([False] * 10 + [True] * 40) * 2
    with pytest.raises(FaultError, match='period of at least'):
        sensor.board.inject(FaultRequest('cold_restart', 1.0, repeat=1, period=0.5))
