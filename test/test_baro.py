"""The barometer: what it measures, its errors, faults and labels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from core_helpers import SECOND, assert_std, baro, reconfigure, run, settings, still

from jaguar_sensors_ros.component import ParameterError
from jaguar_sensors_ros.faults.base import FaultRequest
from jaguar_sensors_ros.types import SensorState

#: the origin 1000 m over the sea: 89876 Pa (U.S. Standard Atmosphere, 1976, table I)
PLACE = {'origin': (47.0, 8.0, 1000.0)}
CLEAN = {**PLACE, 'pressure__white_noise_density': 0.0, 'pressure__range': (0.0, 0.0),
         'pressure__resolution': 0.0}
NOISY = {**CLEAN, 'pressure__white_noise_density': 0.24}


def values(samples, name='pressure'):
    return np.array([getattr(s, name) for s in samples])


def test_pressure_at_the_origin_and_above():
    samples = run(baro(**CLEAN), [still(0.0, 1.0)])
    assert [s.t_ns for s in samples] == [k * SECOND // 25 for k in range(1, 26)]
    np.testing.assert_allclose(values(samples), 89876.0, rtol=1e-5)
    (high, *_) = run(baro(**CLEAN), [still(0.0, 0.1, p=(0.0, 0.0, 4000.0))])
    assert high.pressure == pytest.approx(54048.0, rel=1e-5)


def test_lever_arm_geoid_and_sea_level_pressure():
    """Near 1000 m the pressure falls by rho g = 1.1117 kg/m3 x 9.8036 m/s2 (table I) a metre."""
    slope = 1.1117 * 9.8036
    (plain, *_) = run(baro(**CLEAN), [still(0.0, 0.1)])
    (above, *_) = run(baro(**CLEAN, mount__position=(0.0, 0.0, 2.0)), [still(0.0, 0.1)])
    assert plain.pressure - above.pressure == pytest.approx(2.0 * slope, rel=1e-3)
    (geoid, *_) = run(baro(**CLEAN, atmosphere__geoid_height_m=48.0), [still(0.0, 0.1)])
    # to the second order of 48 m over the scale height of 8.2 km
    assert geoid.pressure - plain.pressure == pytest.approx(48.0 * slope, rel=5e-3)
    (qnh, *_) = run(baro(**CLEAN, atmosphere__sea_level_pressure=1e5), [still(0.0, 0.1)])
    assert qnh.pressure / plain.pressure == pytest.approx(1e5 / 101325.0, rel=1e-12)


def test_far_from_the_origin_the_tangent_plane_is_above_the_sea():
    """On the equator, 50 km to the east on the plane, the height is sqrt(R^2 + d^2) - R."""
    flat = {**CLEAN, 'origin': (0.0, 0.0, 0.0)}
    (s, *_) = run(baro(**flat), [still(0.0, 0.1, p=(50_000.0, 0.0, 0.0))])
    height = math.hypot(6378137.0, 50_000.0) - 6378137.0
    height *= 1.0 - height / 6356766.0  # geopotential
    expected = 101325.0 * (1.0 - 0.0065 * height / 288.15) ** 5.25588
    assert s.pressure == pytest.approx(expected, rel=1e-6)


def test_transparent_is_exact():
    sensor = baro(**NOISY, fidelity='transparent', pressure__bias=100.0)
    samples = run(sensor, [still(0.0, 1.0)])
    np.testing.assert_allclose(values(samples), 89876.0, rtol=1e-5)
    assert not values(samples, 'total').any() and samples[0].variance == 1e-9


def test_white_noise_and_its_variance():
    samples = run(baro(**NOISY, sample_rate_hz=400.0), [still(0.0, 20.0)])
    sigma = 0.24 * math.sqrt(400.0)
    assert_std(values(samples, 'noise'), sigma)
    assert_std(values(samples, 'total'), sigma)
    assert samples[0].variance == pytest.approx(sigma**2)


def test_deterministic_errors():
    given = {**CLEAN, 'pressure__bias': 20.0, 'pressure__scale_factor_ppm': 500.0,
             'pressure__temp_bias_coeff': 0.75, 'temperature_c': 35.0}
    ideal = run(baro(**CLEAN), [still(0.0, 0.2)])[-1].pressure
    s = run(baro(**given), [still(0.0, 0.1), still(0.1, 0.2)])[-1]
    assert s.bias == pytest.approx(27.5)
    assert s.total == pytest.approx(27.5 + 500e-6 * ideal)
    assert s.pressure == pytest.approx(ideal + s.total, abs=1e-9)


def test_turn_on_bias_and_instability_over_many_units():
    given = {**CLEAN, 'pressure__turn_on_bias_std': 30.0, 'pressure__bias_init_std': 40.0}
    firsts = [run(baro(seed=i, **given), [still(0.0, 0.04)])[0] for i in range(400)]
    assert_std(values(firsts, 'bias'), 50.0)
    assert firsts[0].variance == pytest.approx(2500.0)


def test_random_walk_grows_as_the_root_of_time():
    given = {**CLEAN, 'pressure__random_walk': 2.0}
    ends = [run(baro(seed=i, **given), [still(0.0, 4.0)])[-1].bias for i in range(300)]
    assert_std(np.array(ends), 2.0 * math.sqrt(4.0))


def test_range_and_resolution():
    given = {**NOISY, 'pressure__resolution': 5.0}
    got = values(run(baro(**given), [still(0.0, 2.0)])) / 5.0
    np.testing.assert_allclose(got, np.round(got), atol=1e-9)
    for limits, expected in (((0.0, 80000.0), 80000.0), ((95000.0, 120000.0), 95000.0)):
        (s, *_) = run(baro(**{**CLEAN, 'pressure__range': limits}), [still(0.0, 0.1)])
        assert s.pressure == expected


def test_switching_fidelity_disturbs_no_stream():
    segments = [still(i / 5, (i + 1) / 5) for i in range(30)]
    undisturbed = {s.t_ns: s for s in run(baro(**NOISY), segments)}
    sensor = baro(**NOISY)
    run(sensor, segments[:10])
    reconfigure(sensor, **NOISY, fidelity='transparent')
    run(sensor, segments[10:20])
    reconfigure(sensor, **NOISY)
    assert all(s == undisturbed[s.t_ns] for s in run(sensor, segments[20:]))


@pytest.mark.parametrize('axis', ['', 'p'])
@pytest.mark.parametrize(('mode', 'magnitude', 'change'), [
    ('bias', 50.0, lambda t: 50.0), ('drift', 3.0, lambda t: 3.0 * t),
])
def test_offset_faults_and_their_labels(mode, magnitude, change, axis):
    reference = run(baro(**NOISY), [still(0.0, 2.0)])[25:]
    sensor = baro(**NOISY)
    run(sensor, [still(0.0, 1.0)])
    sensor.board.inject(FaultRequest(mode, magnitude, axis=axis))
    for s, sound in zip(run(sensor, [still(1.0, 2.0)]), reference, strict=True):
        expected = change(s.t_ns / SECOND - 1.0)
        assert s.pressure - sound.pressure == pytest.approx(expected, abs=1e-9)
        assert s.fault == pytest.approx(expected, abs=1e-9)
        assert [(f.mode, f.target) for f in s.faults] == [(mode, 'pressure')]


def test_stuck_total_noise_and_jump():
    sensor = baro(**NOISY)
    held = run(sensor, [still(0.0, 1.0)])[-1]
    sensor.board.inject(FaultRequest('stuck'))
    assert set(values(run(sensor, [still(1.0, 2.0)]))) == {held.pressure}
    sensor.board.clear()
    sensor.board.inject(FaultRequest('total'))
    assert run(sensor, [still(2.0, 3.0)]) == []
    assert sensor.status().state is SensorState.FAILED
    sensor.board.clear()
    sensor.board.inject(FaultRequest('noise', 5.0))
    assert_std(values(run(sensor, [still(3.0, 103.0)]), 'total'), 5.0 * 1.2)
    sensor.board.clear()
    sensor.board.inject(FaultRequest('jump', 500.0))
    jumps = values(run(sensor, [still(103.0, 143.0)]), 'fault')
    assert set(np.round(np.abs(jumps), 6)) == {0.0, 500.0}


def test_calibration_takes_the_offset_away():
    sensor = baro(**CLEAN, pressure__bias=80.0)
    sensor.calibrate(1.0)
    after = run(sensor, [still(i / 5, (i + 1) / 5) for i in range(15)])[-1]
    assert after.total == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(('name', 'value', 'text'), [
    ('pressure__range', (5.0, 5.0), 'least must be below'),
    ('pressure__white_noise_density', -1.0, '>= 0'),
    ('pressure__tau_bias_s', 0.0, '> 0'),
    ('atmosphere__sea_level_pressure', 1013.25, '>= 50000'),
    ('atmosphere__temperature_offset_k', 200.0, '<= 100'),
    ('covariance__pressure', -1.0, '>= 0'),
])
def test_what_is_refused(name, value, text):
    with pytest.raises(ParameterError, match=text):
        settings('baro', **{name: value})
