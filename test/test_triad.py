"""Deterministic errors of a triad: each alone with its exact expectation, and their order."""

from __future__ import annotations

import math

import numpy as np
import pytest
from core_helpers import (
    EPOCH,
    G0,
    SECOND,
    Motion,
    forces,
    imu,
    pieces,
    rates,
    run,
    still,
    thetas,
    turning,
)
from scipy.spatial.transform import Rotation

from jaguar_sensors_ros.types import TruthSample

OMEGA = (0.5, -1.0, 2.0)
MS = 1_000_000


def measured(omega=OMEGA, **values):
    """Return the rates that a gyro with these errors says of a constant rate."""
    at = turning((0, 0, 0), omega)
    return rates(run(imu(**values), pieces(at, range(0, SECOND // 5 + 1, 20 * MS))))


def assert_constant(got, expected, **tolerance):
    np.testing.assert_allclose(got, np.tile(expected, (len(got), 1)), **tolerance)


def test_without_errors_realistic_is_transparent():
    a, b = measured(), measured(fidelity='transparent')
    np.testing.assert_array_equal(a, b)


def test_scale_factor_is_in_ppm_per_axis():
    got = measured(gyro__scale_factor_ppm=(1000.0, -500.0, 0.0))
    assert_constant(got, (0.5 * 1.001, -1.0 * 0.9995, 2.0), rtol=1e-12)


def test_nonlinearity_is_quadratic_in_the_share_of_full_scale():
    got = measured(gyro__nonlinearity_ppm=100.0, gyro__range=4.0)
    x = np.array(OMEGA)
    assert_constant(got, x + 1e-4 * x * x / 4.0, rtol=1e-12)


def test_misalignment_turns_the_sensing_axes():
    m = (0.01, -0.02, 0.03)
    assert_constant(
        measured(gyro__misalignment=m), Rotation.from_rotvec(m).inv().apply(OMEGA), rtol=1e-12
    )


def test_cross_axis_is_a_matrix_on_the_rates():
    x = np.array(OMEGA)
    matrix = [1.0, 0.01, 0.02, 0.03, 0.99, 0.05, 0.06, 0.07, 1.01]
    assert_constant(measured(gyro__cross_axis=matrix), np.reshape(matrix, (3, 3)) @ x, rtol=1e-12)
    k = np.full((3, 3), 0.02)
    np.fill_diagonal(k, 1.0)
    assert_constant(measured(gyro__cross_axis=0.02), k @ x, rtol=1e-12)
    identity = [1.0, 0, 0, 0, 1.0, 0, 0, 0, 1.0]
    np.testing.assert_array_equal(measured(gyro__cross_axis=identity), measured())


@pytest.mark.parametrize(('given', 'matrix'), [
    (1e-3, np.eye(3) * 1e-3),
    ((1e-3, 2e-3, 3e-3), np.diag((1e-3, 2e-3, 3e-3))),
    (tuple(float(i) * 1e-3 for i in range(9)), np.arange(9).reshape(3, 3) * 1e-3),
])
def test_g_sensitivity_sees_the_true_specific_force_with_gravity(given, matrix):
    q = Rotation.from_euler('xyz', (0.4, -0.3, 0.0))
    x, y, z, w = q.as_quat()
    got = rates(run(imu(gyro__g_sensitivity=given), [still(0, 0.1, q=(w, x, y, z))]))
    assert_constant(got, matrix @ q.inv().apply((0, 0, 1.0)), atol=1e-15)


def test_g_sensitivity_takes_the_force_of_a_saturated_accelerometer_for_what_it_is():
    got = run(imu(gyro__g_sensitivity=1e-3, accel__range=5.0), [still(0, 0.1)])
    assert_constant(forces(got), (0, 0, 5.0))
    assert_constant(rates(got), (0, 0, 1e-3), rtol=1e-12)


def test_saturation_cuts_at_plus_and_minus_the_range():
    assert_constant(measured(gyro__range=0.8), (0.5, -0.8, 0.8), rtol=1e-14)


def test_resolution_rounds_each_axis():
    assert_constant(
        measured((0.52, -1.03, 2.07), gyro__resolution=0.1), (0.5, -1.0, 2.1), rtol=1e-12
    )


def test_accelerometers_have_the_same_chain():
    got = forces(run(imu(accel__scale_factor_ppm=1000.0, accel__misalignment=(0.01, 0, 0)),
                     [still(0, 0.1)]))
    expected = 1.001 * Rotation.from_rotvec((0.01, 0, 0)).inv().apply((0, 0, G0))
    assert_constant(got, expected, rtol=1e-12, atol=1e-15)


def test_the_order_is_projection_scale_additive_range_quantisation():
    m, matrix = (0.02, 0.01, -0.03), [1.0, 0.1, 0, 0, 1.0, 0.2, 0.3, 0, 1.0]
    got = measured(
        gyro__misalignment=m, gyro__cross_axis=matrix, gyro__scale_factor_ppm=5e4,
        gyro__nonlinearity_ppm=2e4, gyro__range=1.9, gyro__g_sensitivity=0.1,
        gyro__resolution=0.25,
    )
    x = np.reshape(matrix, (3, 3)) @ Rotation.from_rotvec(m).inv().apply(OMEGA)
    x = x * 1.05 + 0.02 * x * x / 1.9 + (0, 0, 0.1)
    x = np.clip(x, -1.9, 1.9)
    assert_constant(got, np.round(x / 0.25) * 0.25, rtol=1e-12)


def test_a_unit_draws_its_own_scale_factor_and_keeps_it_over_power_cycles():
    def drawn(seed, cycles=0):
        sensor = imu(seed=seed, gyro__scale_factor_ppm=1e5, gyro__draw_unit=True)
        for _ in range(cycles):
            sensor.power_cycle()
        at = turning((0, 0, 0), (1.0, 1.0, 1.0))
        return rates(run(sensor, pieces(at, range(0, 41 * MS, 20 * MS))))[0] - 1.0

    np.testing.assert_array_equal(drawn(1), drawn(1, cycles=3))
    errors = np.array([drawn(seed) for seed in range(60)])
    assert len(set(errors.ravel())) == errors.size
    # chi-square bounds of 180 draws
    assert 0.8 < np.std(errors) / 0.1 < 1.22


# bandwidth -----------------------------------------------------------------------------------


def vibration(frequency, amplitude=1.0, base=EPOCH):
    w = 2 * math.pi * frequency

    def at(t_ns):
        t = (t_ns - base) / SECOND
        return TruthSample(
            t_ns, (0, 0, 0), (1, 0, 0, 0), (0, 0, 0), (0, 0, amplitude * math.sin(w * t)),
            (0, 0, 0),
        )

    return at


def amplitude_db(got, frequency, rate):
    """Return the amplitude of a tone in the mean rates, sampled or folded, in decibels."""
    x = rates(got)[:, 2]
    t = np.arange(len(x)) / rate
    phasor = 2 / len(x) * np.sum(x * np.exp(-2j * math.pi * frequency * t))
    return 20 * math.log10(abs(phasor))


def test_a_tone_above_the_sample_rate_is_damped_before_it_folds():
    """Low-pass 1/sqrt(1 + (90/40)^2) = -7.8 dB, mean over 10 ms sinc(0.9) = -19.2 dB."""
    for corner, expected in ((40.0, -27.0), (0.0, -19.2)):
        sensor = imu(sample_rate_hz=100.0, gyro__bandwidth_hz=corner)
        got = sensor.feed(Motion(vibration(90.0), EPOCH, EPOCH + SECOND))
        assert amplitude_db(got[50:], 90.0, 100.0) == pytest.approx(expected, abs=0.3)


def test_a_slow_tone_is_damped_by_the_low_pass_at_its_corner():
    """-3.01 dB, and -0.04 dB of the mean over 5 ms."""
    sensor = imu(sample_rate_hz=200.0, gyro__bandwidth_hz=10.0)
    got = sensor.feed(Motion(vibration(10.0), EPOCH, EPOCH + SECOND))
    assert amplitude_db(got[100:], 10.0, 200.0) == pytest.approx(-3.05, abs=0.01)


def test_the_low_pass_conserves_the_angle():
    corner = 5.0

    def pulse(t_ns):
        t = (t_ns - EPOCH) / SECOND - 0.1
        rate = math.sin(math.pi * t / 0.3) ** 2 if 0.0 < t < 0.3 else 0.0
        return TruthSample(t_ns, (0, 0, 0), (1, 0, 0, 0), (0, 0, 0), (0, 0, rate), (0, 0, 0))

    got = imu(gyro__bandwidth_hz=corner).feed(Motion(pulse, EPOCH, EPOCH + 2 * SECOND))
    assert thetas(got)[:, 2].sum() == pytest.approx(0.15, abs=1e-9)
    assert max(rates(got)[:, 2]) < 0.99


def test_the_low_pass_starts_without_a_transient():
    got = measured(gyro__bandwidth_hz=1.0)
    assert_constant(got, OMEGA, rtol=1e-12)


# rates at the stamp ----------------------------------------------------------------------------


def spin_up(**values):
    """Return samples of an even spin-up of 2 rad/s2."""
    def at(t_ns):
        t = t_ns / SECOND
        return TruthSample(t_ns, (0, 0, 0), (1, 0, 0, 0), (0, 0, 0), (0, 0, 2.0 * t), (0, 0, 0))

    sensor = imu(sample_rate_hz=100.0, **values)
    got = run(sensor, pieces(at, (0, SECOND)))
    return np.array([s.t_ns / SECOND for s in got]), got


def test_mean_rates_lag_half_an_interval_and_instant_ones_do_not():
    t, got = spin_up(fidelity='transparent')
    np.testing.assert_allclose(rates(got)[:, 2], 2.0 * (t - 0.005), atol=1e-12)
    t, got = spin_up(fidelity='transparent', rate_output='instant')
    np.testing.assert_allclose(rates(got)[:, 2], 2.0 * t, atol=1e-12)
    np.testing.assert_allclose(thetas(got)[:, 2], 0.02 * (t - 0.005), atol=1e-13)


def test_instant_rates_go_through_the_same_chain():
    values = {
        'gyro__scale_factor_ppm': 1e5, 'gyro__misalignment': (0.5, 0, 0), 'gyro__range': 1.5,
        'rate_output': 'instant',
    }
    t, got = spin_up(**values)
    x = 1.1 * Rotation.from_rotvec((0.5, 0, 0)).inv().apply(np.outer(2.0 * t, (0, 0, 1)))
    np.testing.assert_allclose(rates(got), np.clip(x, -1.5, 1.5), atol=1e-12)
    for s in got:
        np.testing.assert_allclose(
            s.gyro_error.total, np.subtract(s.angular_velocity, (0, 0, 2 * s.t_ns / SECOND)),
            atol=1e-12,
        )


def test_an_instant_rate_is_seen_through_the_low_pass():
    corner = 2.0
    t, got = spin_up(rate_output='instant', gyro__bandwidth_hz=corner)
    lag = 1.0 / (2 * math.pi * corner)
    late = t > 8 * lag
    np.testing.assert_allclose(rates(got)[late, 2], 2.0 * (t[late] - lag), atol=3e-3)


def test_the_euler_force_of_a_lever_arm_is_in_the_instant_force():
    t, got = spin_up(fidelity='transparent', rate_output='instant', mount__position=(1.0, 0, 0))
    np.testing.assert_allclose(forces(got)[:, 0], -((2.0 * t) ** 2), atol=1e-10)
    np.testing.assert_allclose(forces(got)[:, 1], 2.0, atol=1e-10)


def test_a_low_pass_far_above_the_sample_rate_costs_little_and_changes_nothing():
    assert_constant(measured(gyro__bandwidth_hz=1e9), OMEGA, rtol=1e-9)


def test_every_term_has_a_value_for_each_axis():
    motion = turning(omega=(0.36, 0.36, 0.36))
    sensor = imu(
        grade='custom',
        sample_rate_hz=100.0,
        gyro__range=(0.0, 0.4, 0.2),
        gyro__resolution=(0.1, 0.0, 0.0),
        accel__bandwidth_hz=(0.0, 30.0, 0.0),
        accel_lsb=(0.0, 0.0, 0.5),
        tau_bias_g_s=(10.0, 20.0, 30.0),
    )
    got = run(sensor, pieces(motion, range(0, SECOND + 1, SECOND // 50)))
    x, y, z = rates(got)[-1]
    assert x == pytest.approx(0.4)  # rounded to 0.1
    assert y == pytest.approx(0.36)  # below its range
    assert z == 0.2  # at its range
    exact = run(imu(fidelity='transparent', sample_rate_hz=100.0),
                pieces(motion, range(0, SECOND + 1, SECOND // 50)))
    np.testing.assert_allclose(forces(got)[:, 0], forces(exact)[:, 0], rtol=1e-9, atol=1e-9)
    # the low-pass of y lags by 1 / (2 pi fc) once it has settled
    lag_s = 1.0 / (2.0 * math.pi * 30.0)
    slope = np.gradient(forces(exact)[:, 1], 0.01)
    np.testing.assert_allclose(
        forces(got)[60:, 1], (forces(exact)[:, 1] - lag_s * slope)[60:], atol=2e-3
    )
    pulses = np.array([s.frame[0].delta_v[2] for s in got]) / 0.5
    np.testing.assert_allclose(pulses, np.round(pulses), atol=1e-12)
