"""The magnetometer: what it measures, its errors, faults and labels."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from core_helpers import (
    EPOCH,
    SECOND,
    assert_std,
    at_rest,
    mag,
    pieces,
    reconfigure,
    run,
    settings,
    still,
    turning,
)
from scipy.spatial.transform import Rotation

from jaguar_sensors_ros.component import ParameterError
from jaguar_sensors_ros.errors.stochastic import stationary_sigma
from jaguar_sensors_ros.faults.base import FaultRequest
from jaguar_sensors_ros.nav import magnetic
from jaguar_sensors_ros.nav.frames import sample_from_enu
from jaguar_sensors_ros.types import SensorState

FIELD = (1e-6, 21e-6, -43e-6)
#: all errors off
CLEAN = {'field': FIELD, 'mag__white_noise_density': 0.0, 'mag__range': 0.0,
         'mag__resolution': 0.0}
NOISY = {'field': FIELD, 'mag__range': 0.0, 'mag__resolution': 0.0}


def fields(samples):
    return np.array([s.field for s in samples])


def part(samples, name):
    return np.array([getattr(s.error, name) for s in samples])


def rotation(q):
    return Rotation.from_quat(np.roll(q, -1))


def motion(omega=(0.3, -0.2, 0.5), until_s=2.0, rate_hz=50):
    at = turning(v=(2.0, 0.0, 0.0), omega=omega)
    return at, pieces(at, [i * SECOND // rate_hz for i in range(round(until_s * rate_hz) + 1)])


def test_it_measures_the_field_at_the_stamp_in_sensor_axes():
    rpy = (0.1, -0.4, 2.0)
    sensor = mag(**CLEAN, mount__rpy=rpy)
    at, segments = motion()
    samples = run(sensor, segments)
    assert [s.t_ns for s in samples] == [k * SECOND // 100 for k in range(1, 201)]
    mount = Rotation.from_euler('xyz', rpy)
    for s in samples:
        expected = (rotation(at(s.t_ns).q_nb) * mount).inv().apply(FIELD)
        np.testing.assert_allclose(s.field, expected, atol=1e-14)


def test_the_model_is_that_of_the_place_and_the_date():
    """WMM2020 technical report, 2022.5: X 6529.9, Y 1.1, Z 54713.4 nT at 80 N, 0 E, 0 km."""
    pytest.importorskip('pygeomag')
    values = {**CLEAN, 'field': 'auto', 'year': 2022.5, 'origin': (80.0, 0.0, 0.0)}
    (sample, *_) = run(mag(**values), [still(0.0, 0.1)])
    np.testing.assert_allclose(np.array(sample.field) * 1e9, (1.1, 6529.9, -54713.4), atol=0.06)


def test_with_a_heading_of_the_world_frame_magnetic_north_stays_where_it_is():
    """A body along x of a world turned by 90 deg from east faces north."""
    values = settings('mag', **CLEAN, origin_heading=math.pi / 2)
    truth = sample_from_enu(at_rest(0), values.local_frame)
    (sample, *_) = run(mag(**CLEAN), [still(0.0, 0.1, q=truth.q_nb)])
    east, north, up = FIELD
    np.testing.assert_allclose(sample.field, (north, -east, up), atol=1e-15)


def test_transparent_is_the_field_and_its_errors_are_zero():
    values = {**NOISY, 'hard_iron': 1e-6, 'mag__bandwidth_hz': 1.0, 'fidelity': 'transparent'}
    at, segments = motion()
    samples = run(mag(**values), segments)
    for s in samples:
        np.testing.assert_allclose(s.field, rotation(at(s.t_ns).q_nb).inv().apply(FIELD),
                                   atol=1e-14)
    assert not part(samples, 'total').any()
    assert samples[0].covariance == (1e-20, 0, 0, 0, 1e-20, 0, 0, 0, 1e-20)


def test_iron_scale_and_axes():
    soft = np.array([[1.1, 0.02, 0.0], [0.02, 0.95, -0.03], [0.0, -0.03, 1.0]])
    hard = np.array([3e-6, -2e-6, 1e-6])
    scale = np.array([1000.0, -2000.0, 500.0])
    sensor = mag(**CLEAN, soft_iron=soft.ravel().tolist(), hard_iron=hard.tolist(),
                 mag__scale_factor_ppm=scale.tolist())
    (s, *_) = run(sensor, [still(0.0, 0.1)])
    expected = (1.0 + 1e-6 * scale) * (soft @ FIELD + hard)
    np.testing.assert_allclose(s.field, expected, rtol=1e-12)
    np.testing.assert_allclose(s.error.bias, hard, rtol=1e-12)
    np.testing.assert_allclose(s.error.total, expected - FIELD, rtol=1e-9)


def test_white_noise_and_its_covariance():
    samples = run(mag(**NOISY, sample_rate_hz=400.0), [still(0.0, 20.0)])
    sigma = 3.2e-8 * math.sqrt(400.0)
    assert_std(part(samples, 'noise').ravel(), sigma)
    assert_std((fields(samples) - FIELD).ravel(), sigma)
    assert samples[0].covariance[::4] == pytest.approx((sigma**2,) * 3)


def test_turn_on_and_slow_bias_are_in_the_covariance():
    values = {**NOISY, 'mag__turn_on_bias_std': 1e-7, 'bias_m_init_std': 2e-7,
              'mag__resolution': 1e-7}
    (s, *_) = run(mag(**values), [still(0.0, 0.1)])
    slow = stationary_sigma(2e-7, 3600.0, 'gauss_markov')
    assert s.covariance[0] == pytest.approx(3.2e-7**2 + 1e-14 + slow**2 + 1e-14 / 12.0)


def test_turn_on_bias_over_many_units():
    values = {**CLEAN, 'mag__turn_on_bias_std': 1e-7}
    draws = [run(mag(seed=i, **values), [still(0.0, 0.01)])[0].error.bias for i in range(300)]
    assert_std(np.array(draws).ravel(), 1e-7)


def test_range_and_resolution():
    sensor = mag(**{**CLEAN, 'mag__range': [1.0, 20e-6, 40e-6], 'mag__resolution': 3e-7})
    (s, *_) = run(sensor, [still(0.0, 0.1)])
    steps = np.array(s.field) / 3e-7
    np.testing.assert_allclose(steps, np.round(steps), atol=1e-9)
    np.testing.assert_allclose(s.field, (1e-6, 20e-6, -40e-6), atol=1.5e-7)


def test_low_pass_lags_behind_a_turn():
    """A steady rotation w through a corner wc: the lag is atan(w / wc), the gain cos of it."""
    rate = 2.0
    sensor = mag(**CLEAN, mag__bandwidth_hz=1.0)
    _, segments = motion((0.0, 0.0, rate), until_s=4.0, rate_hz=100)
    s = run(sensor, segments)[-1]
    lag = math.atan(rate / (2.0 * math.pi))
    turned = Rotation.from_rotvec((0.0, 0.0, rate * 4.0 - lag)).inv()
    level = math.cos(lag) * turned.apply((FIELD[0], FIELD[1], 0.0))
    # between ticks a chord stands for the arc: (w dt)^2 / 12 of the amplitude
    np.testing.assert_allclose(s.field[:2], level[:2], atol=21e-6 * 0.02**2)


def test_temperature_acts_on_bias():
    sensor = mag(**CLEAN, mag__temp_bias_coeff=1e-9, temperature_c=45.0)
    s = run(sensor, [still(0.0, 0.1), still(0.1, 0.2)])[-1]
    np.testing.assert_allclose(s.error.bias, (2e-8,) * 3)


def test_switching_fidelity_disturbs_no_stream():
    segments = [still(i / 10, (i + 1) / 10) for i in range(30)]
    undisturbed = {s.t_ns: s for s in run(mag(**NOISY), segments)}
    sensor = mag(**NOISY)
    run(sensor, segments[:10])
    reconfigure(sensor, **NOISY, fidelity='transparent')
    run(sensor, segments[10:20])
    reconfigure(sensor, **NOISY)
    assert all(s == undisturbed[s.t_ns] for s in run(sensor, segments[20:]))


def test_a_gap_disturbs_no_stream():
    values = {**NOISY, 'bias_m_init_std': 0.0}
    whole = {s.t_ns: s for s in run(mag(**values), [still(0.0, 3.0)])}
    got = run(mag(**values), [still(0.0, 1.0), still(2.0, 3.0)])
    assert len(got) == 200 and all(s == whole[s.t_ns] for s in got)


@pytest.mark.parametrize(('mode', 'magnitude', 'change'), [
    ('bias', 5e-6, lambda t: 5e-6),
    ('drift', 1e-6, lambda t: 1e-6 * t),
])
def test_offset_faults_and_their_labels(mode, magnitude, change):
    reference = run(mag(**NOISY), [still(0.0, 2.0)])[100:]
    sensor = mag(**NOISY)
    run(sensor, [still(0.0, 1.0)])
    sensor.board.inject(FaultRequest(mode, magnitude, axis='y'))
    got = run(sensor, [still(1.0, 2.0)])
    for s, sound in zip(got, reference, strict=True):
        expected = (0.0, change(s.t_ns / SECOND - 1.0), 0.0)
        np.testing.assert_allclose(np.array(s.field) - sound.field, expected, atol=1e-18)
        np.testing.assert_allclose(s.error.fault, expected, atol=1e-18)
        assert [(f.mode, f.target) for f in s.faults] == [(mode, 'mag')]
    assert sensor.status().state is SensorState.DEGRADED


def test_stuck_total_and_noise():
    sensor = mag(**NOISY)
    held = run(sensor, [still(0.0, 1.0)])[-1]
    sensor.board.inject(FaultRequest('stuck', axis='xz'))
    got = fields(run(sensor, [still(1.0, 2.0)]))
    assert (got[:, [0, 2]] == np.array(held.field)[[0, 2]]).all() and np.ptp(got[:, 1]) > 0.0
    sensor.board.clear()
    sensor.board.inject(FaultRequest('total'))
    assert run(sensor, [still(2.0, 3.0)]) == []
    assert sensor.status().state is SensorState.FAILED
    sensor.board.clear()
    sensor.board.inject(FaultRequest('noise', 5.0))
    noisy = fields(run(sensor, [still(3.0, 23.0)])) - FIELD
    assert_std(noisy.ravel(), 5.0 * 3.2e-7)


def test_calibration_takes_the_offset_away():
    sensor = mag(**CLEAN, hard_iron=(2e-6, -1e-6, 3e-6))
    segments = [still(i / 10, (i + 1) / 10) for i in range(30)]
    sensor.calibrate(1.0)
    after = run(sensor, segments)[-1]
    np.testing.assert_allclose(after.field, FIELD, atol=1e-18)


@pytest.mark.parametrize(('name', 'value', 'text'), [
    ('field', (1e-5, 2e-5), '3 numbers'), ('field', 'strong', "or 'auto'"),
    ('year', 1999.0, '>= 2010'), ('year', 2031.0, '<= 2030'), ('imu_name', '/imu', 'relative'),
    ('imu_name', '', 'relative'), ('soft_iron', 1.0, '9 numbers'),
    ('covariance__magnetic_field', -1.0, '>= 0'),
])
def test_what_is_refused(name, value, text):
    with pytest.raises(ParameterError, match=text):
        settings('mag', **{name: value})


def test_without_the_library_a_constant_field_works_and_auto_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, 'pygeomag', None)
    magnetic._geomag.cache_clear()
    assert len(run(mag(field=FIELD), [still(0.0, 1.0)])) == 100
    with pytest.raises(ParameterError, match=r'field = .auto.: .*pip install .*three numbers'):
        mag()


def test_simulated_time_from_zero_takes_the_default_year():
    pytest.importorskip('pygeomag')
    (early, *_) = run(mag(fidelity='transparent'), [still(0.0, 0.1)])
    (given, *_) = run(mag(fidelity='transparent', year=2025.0), [still(0.0, 0.1, base=EPOCH)])
    assert early.field == given.field
