"""Pulses with the residue carried, and rounding."""

from __future__ import annotations

import math

import numpy as np
import pytest
from core_helpers import PROPERTY, imu, rates, run, thetas, turning
from core_helpers import pieces as pieces_of
from hypothesis import given
from hypothesis import strategies as st

from jaguar_sensors_ros.errors.quantisation import PulseQuantiser, round_to


def quantise(increments, lsb):
    quantiser = PulseQuantiser()
    return [quantiser.step(x, lsb) for x in increments]


@PROPERTY
@given(st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=300), st.floats(1e-4, 10.0))
def test_outputs_never_stray_from_inputs_by_more_than_one_lsb(increments, lsb):
    outputs = quantise(increments, lsb)
    # rounding of the sums themselves, and of the fixed point, per sample
    slack = 1e-9 * lsb * len(increments) + 1e-12 * math.fsum(map(abs, increments))
    for n in range(1, len(outputs) + 1):
        stray = math.fsum(increments[:n]) - math.fsum(outputs[:n])
        assert -slack <= stray <= lsb + slack


@PROPERTY
@given(st.floats(-1e3, 1e3), st.floats(1e-4, 10.0))
def test_outputs_are_whole_pulses(increment, lsb):
    for output in quantise([increment] * 5, lsb):
        assert output / lsb == pytest.approx(round(output / lsb), abs=1e-9)


@pytest.mark.parametrize('sign', [1, -1])
def test_a_thousand_increments_that_are_no_multiple_of_the_lsb_do_not_drift(sign):
    lsb, increment = 1e-4, sign * 0.37e-4
    outputs = quantise([increment] * 1000, lsb)
    assert abs(sum(outputs) - 1000 * increment) <= lsb * (1 + 1e-9)
    assert set(np.round(np.array(outputs) / lsb)) == {0, sign}


def test_three_pulses_are_three_where_the_float_quotient_is_2_point_9():
    assert math.floor(0.0003 / 0.0001) == 2
    assert quantise([0.0003], 0.0001) == [3 * 0.0001]
    outputs = quantise([0.0003] * 1000, 0.0001)
    assert sum(outputs) == pytest.approx(0.3, abs=0.0001)


def test_the_error_of_a_pulse_has_the_variance_of_two_residues():
    generator = np.random.default_rng(2)
    increments = generator.normal(0.0, 30.0, size=20000)
    errors = np.array(quantise(increments, 1.0)) - increments
    # a difference of uniform residues: variance 1/6, kurtosis of the triangle 2.4
    error = math.sqrt((2.4 - 1 + 2 * 0.25) / 20000) / 6
    assert np.var(errors) == pytest.approx(1 / 6, abs=4 * error)


@pytest.mark.parametrize('omega', [(0.123456, -0.0777, 0.0003), (-3.0, 3.0, 1e-5)])
def test_an_imu_with_pulses_keeps_the_angle_to_one_pulse(omega):
    lsb = 1e-4
    segments = pieces_of(turning((0, 0, 0), omega), range(0, 5_000_000_001, 20_000_000))
    got = run(imu(gyro_lsb=lsb, accel_lsb=1e-3), segments)
    assert len(got) == 1000
    np.testing.assert_allclose(
        thetas(got) / lsb, np.round(thetas(got) / lsb), atol=1e-9
    )
    stray = np.cumsum(thetas(got), axis=0) - np.outer(np.arange(1, 1001) * 0.005, omega)
    assert (np.abs(stray) <= lsb * (1 + 1e-6)).all()
    np.testing.assert_allclose(rates(got), thetas(got) / 0.005, rtol=1e-12)


def test_inputs_of_the_quantiser_are_taken_after_saturation():
    segments = pieces_of(turning((0, 0, 0), (0, 0, 5.0)), range(0, 1_000_000_001, 20_000_000))
    got = run(imu(gyro_lsb=1e-4, gyro__range=1.0), segments)
    assert thetas(got)[:, 2].sum() == pytest.approx(1.0, abs=1.001e-4)


@pytest.mark.parametrize(('value', 'expected'), [
    (0.24, 0.2), (0.26, 0.3), (-0.24, -0.2), (-0.26, -0.3), (0.0, 0.0), (12.3, 12.3),
])
def test_rounding_is_to_the_nearest_multiple(value, expected):
    assert round_to(value, 0.1) == pytest.approx(expected, abs=1e-15)


def test_rounding_has_no_residue():
    segments = pieces_of(turning((0, 0, 0), (0, 0, 0.04)), range(0, 1_000_000_001, 20_000_000))
    assert not rates(run(imu(gyro__resolution=0.1), segments)).any()


def test_published_variances_are_those_of_rounding_and_of_pulses():
    sigma, step, rate = 0.02, 0.05, 200.0
    density = sigma / math.sqrt(rate)
    for values in ({'gyro__resolution': step}, {'gyro_lsb': step / rate}):
        sensor = imu(gyro__white_noise_density=density, sample_rate_hz=rate, **values)
        expected = sensor.covariances.angular_velocity[0]
        assert expected == pytest.approx(
            sigma**2 + step**2 / (12 if 'gyro__resolution' in values else 6)
        )
        at = turning((0, 0, 0), (0.3123, 0.3123, 0.3123))
        got = rates(run(sensor, pieces_of(at, range(0, 10_000_000_001, 50_000_000)))) - 0.3123
        for axis in range(3):
            # pulse errors are correlated, which widens the scatter of the variance
            assert np.var(got[:, axis]) == pytest.approx(expected, rel=6 * math.sqrt(2 / 2000))
