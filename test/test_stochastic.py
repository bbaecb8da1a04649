"""Each stochastic term alone on long records, against theory; tolerances follow from n."""

from __future__ import annotations

import math

import allantools
import numpy as np
import pytest
from core_helpers import (
    ALPHA,
    SECOND,
    assert_std,
    assert_uncorrelated,
    deltas,
    forces,
    imu,
    rates,
    run,
    still,
    thetas,
)
from scipy import stats

from jaguar_sensors_ros.component import StreamFactory
from jaguar_sensors_ros.errors.intervals import Intervals
from jaguar_sensors_ros.errors.stochastic import (
    FLICKER_FLOOR,
    BiasInstability,
    GaussMarkov,
    RandomWalk,
    flicker_components,
    gauss_markov_avar,
    stationary_sigma,
    white_sigma,
)


def streams(seed=1, power_on=0):
    return StreamFactory(seed, 'imu', power_on)


def even(n, dt):
    """Return the lengths of ``n`` samples of ``dt`` [s]."""
    return Intervals((round(dt * 1e9),), np.zeros(n, dtype=np.intp))


def gauss_markov(n, dt, tau, seed=1, axis='x'):
    process = GaussMarkov(streams(seed).stream('bias', axis))
    return process.block(0, even(n, dt), tau)


def random_walk(n, dt, coefficient, seed=1):
    walk = RandomWalk(streams(seed).stream('walk', 'x'))
    return walk.block(0, even(n, dt), coefficient)


def bias_instability(sigma, tau, model, seed=1):
    bias = BiasInstability(streams(seed), 'bias', 'x')
    bias.configure(sigma, tau, model)
    return bias


# white noise ---------------------------------------------------------------------------------


@pytest.mark.parametrize('rate', [50.0, 400.0])
def test_white_noise_is_n_over_root_dt_on_rates_and_n_root_dt_on_increments(rate):
    density = (1e-3, 2e-3, 3e-3)
    sensor = imu(sample_rate_hz=rate, gyro__white_noise_density=density,
                 accel__white_noise_density=[10 * x for x in density])
    got = run(sensor, [still(0, 6000 / rate)])
    assert len(got) == 6000
    for i, N in enumerate(density):
        assert_std(rates(got)[:, i], N * math.sqrt(rate))
        assert_std(thetas(got)[:, i], N / math.sqrt(rate))
        mean = 9.80665 if i == 2 else 0.0
        assert_std(forces(got)[:, i], 10 * N * math.sqrt(rate), mean)
        assert_std(deltas(got)[:, i], 10 * N / math.sqrt(rate), mean / rate)
    channels = [*rates(got).T, *forces(got).T]
    for i, x in enumerate(channels):
        assert_uncorrelated(x[:-1], x[1:])
        for y in channels[:i]:
            assert_uncorrelated(x, y)


def test_a_one_sided_psd_is_half_of_it_two_sided_or_has_a_bandwidth():
    assert white_sigma(0.0, 2e-6, 0.0, 0.01) == pytest.approx(1e-3 * 10)
    assert white_sigma(0.0, 2e-6, 50.0, 0.01) == pytest.approx(1e-2)
    # the bandwidth of half the sample rate says the same as the density
    assert white_sigma(0.0, 2e-6, 50.0, 0.01) == pytest.approx(white_sigma(1e-3, 0.0, 0.0, 0.01))
    got = run(imu(sample_rate_hz=100.0, gyro__white_noise_psd=2e-6), [still(0, 50)])
    assert_std(rates(got)[:, 0], 1e-2)


def test_the_allan_deviation_of_white_noise_is_n_over_root_tau():
    N, rate = 2.908882e-6, 100.0  # tactical
    got = run(imu(sample_rate_hz=rate, gyro__white_noise_density=N), [still(0, 100)])
    record = rates(got)[:, 0]
    taus, adev, _, _ = allantools.oadev(
        record - record.mean(), rate=rate, data_type='freq', taus=[0.1, 0.4, 1.6, 6.4]
    )
    for tau, measured in zip(taus, adev, strict=True):
        m = tau * rate
        error = 1.0 / math.sqrt(2.0 * (len(record) / m - 1.0))
        assert measured == pytest.approx(N / math.sqrt(tau), rel=4 * error)


# Gauss-Markov --------------------------------------------------------------------------------


@pytest.mark.parametrize('tick', [0, 1, 50])
def test_gauss_markov_is_stationary_from_the_first_sample(tick):
    ends = [gauss_markov(tick + 1, 0.01, 1.0, seed)[-1] for seed in range(2000)]
    assert_std(ends, 1.0)


def test_gauss_markov_has_its_autocorrelation_over_an_ensemble():
    dt, tau, lags = 0.1, 1.0, (1, 5, 10, 20)
    runs = np.array([gauss_markov(25, dt, tau, seed) for seed in range(3000)])
    for lag in lags:
        expected = math.exp(-lag * dt / tau)
        measured = np.mean(runs[:, 2] * runs[:, 2 + lag])
        error = math.sqrt((1 + expected**2) / len(runs))
        assert measured == pytest.approx(expected, abs=4 * error)


@pytest.mark.parametrize('tau', [10.0, 60.0])
def test_the_psd_of_the_bias_has_its_knee_at_one_over_tau(tau):
    """Averaged over bands the periodogram follows 2 tau sigma^2 / (1 + (tau w)^2)."""
    dt, n, dt_psd = 0.5, 2**15, 0.5
    x = gauss_markov(n, dt, tau)
    spectrum = np.abs(np.fft.rfft(x)) ** 2 * dt_psd / n  # two-sided, per Hz
    frequency = np.fft.rfftfreq(n, dt)
    for low, high in ((0.2, 0.6), (0.8, 1.25), (2.0, 4.0), (5.0, 10.0)):
        w = 2 * math.pi * frequency
        band = (tau * w > low) & (tau * w < high)
        theory = 2 * tau / (1 + (tau * w[band]) ** 2)
        k = int(band.sum())
        bounds = stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], 2 * k) / (2 * k)
        ratio = np.mean(spectrum[band] / theory)
        # sampling folds the tail over: below 2 % up to w dt = 0.5
        assert bounds[0] * 0.97 < ratio < bounds[1] * 1.03


def test_a_gap_lets_the_bias_decay_as_if_its_samples_had_been_taken():
    pairs = []
    for seed in range(3000):
        process = GaussMarkov(streams(seed).stream('bias', 'x'))
        (before,) = process.block(0, even(1, 0.1), 1.0)
        (after,) = process.block(10, even(1, 0.1), 1.0)  # nine samples were left out
        pairs.append((before, after))
    a, b = np.array(pairs).T
    assert_std(b, 1.0)
    expected = math.exp(-1.0)
    assert np.mean(a * b) == pytest.approx(expected, abs=4 * math.sqrt((1 + expected**2) / 3000))


def test_gauss_markov_keeps_its_variance_where_tau_is_a_billion_steps():
    stream = streams().stream('bias', 'x')
    first, second = gauss_markov(2, 1e-3, 1e6)
    assert (second - first * math.exp(-1e-9)) / stream(1) == pytest.approx(
        math.sqrt(2e-9), rel=1e-8
    )


def test_a_correlation_time_of_0_is_white():
    x = gauss_markov(10000, 0.01, 0.0)
    assert_std(x, 1.0)
    assert_uncorrelated(x[:-1], x[1:])


def test_the_allan_variance_of_gauss_markov_has_the_known_shape():
    taus = np.geomspace(0.1, 100.0, 2000)
    adev = np.array([math.sqrt(gauss_markov_avar(tau, 1.0)) for tau in taus])
    assert adev.max() == pytest.approx(0.617, abs=5e-4)
    assert taus[adev.argmax()] == pytest.approx(1.89, abs=0.01)
    x = gauss_markov(200_000, 0.1, 2.0)
    got_taus, got, _, _ = allantools.oadev(
        x - x.mean(), rate=10.0, data_type='freq', taus=[1.0, 4.0, 16.0, 64.0]
    )
    for tau, measured in zip(got_taus, got, strict=True):
        error = 1.0 / math.sqrt(2.0 * (len(x) / (10.0 * tau) - 1.0))
        assert measured == pytest.approx(math.sqrt(gauss_markov_avar(tau, 2.0)), rel=4 * error)


# flicker -------------------------------------------------------------------------------------


def test_the_floor_of_the_flicker_sum_is_0664_b():
    assert pytest.approx(0.664, abs=5e-4) == FLICKER_FLOOR
    taus, gain = flicker_components(3600.0)
    middle = [1.89 * math.sqrt(taus[0] * taus[-1]) * x for x in (0.25, 0.5, 1.0, 2.0, 4.0)]
    for tau in middle:
        adev = gain * math.sqrt(sum(gauss_markov_avar(tau, t) for t in taus))
        assert adev == pytest.approx(FLICKER_FLOOR, rel=0.02)


def test_the_allan_deviation_of_simulated_flicker_is_flat_at_0664_b():
    B, dt, n = 3e-4, 0.5, 60000
    x = bias_instability(B, 1024.0, 'flicker').block(0, even(n, dt))
    taus, adev, _, _ = allantools.oadev(
        x - x.mean(), rate=1 / dt, data_type='freq', taus=[15.0, 60.0, 240.0]
    )
    components, gain = flicker_components(1024.0)
    for tau, measured in zip(taus, adev, strict=True):
        error = 1.0 / math.sqrt(2.0 * (n * dt / tau - 1.0))
        exact = gain * math.sqrt(sum(gauss_markov_avar(tau, t) for t in components))
        assert measured == pytest.approx(B * exact, rel=4 * error)
        assert exact == pytest.approx(FLICKER_FLOOR, rel=0.06)


def test_the_stationary_sigma_of_the_flicker_sum_is_what_it_scatters():
    ends = []
    for seed in range(700):
        ends += list(bias_instability(2.0, 300.0, 'flicker', seed).block(0, even(1, 0.01)))
    assert_std(ends, stationary_sigma(2.0, 300.0, 'flicker'))
    assert stationary_sigma(2.0, 300.0, 'gauss_markov') == 2.0


def test_switching_the_bias_model_there_and_back_keeps_the_first_model():
    plain, switched = (bias_instability(1.0, 50.0, 'gauss_markov') for _ in range(2))
    a, b = plain.block(0, even(30, 0.1)), []
    for i, model in enumerate(('gauss_markov', 'flicker', 'gauss_markov')):
        switched.configure(1.0, 50.0, model)
        b.append(switched.block(10 * i, even(10, 0.1)))
    np.testing.assert_array_equal(a[:10], b[0])
    assert not np.any(a[10:20] == b[1])
    np.testing.assert_array_equal(a[20:], b[2])


@pytest.mark.parametrize('model', ['gauss_markov', 'flicker'])
def test_a_sigma_of_0_for_a_while_leaves_no_trace(model):
    plain, switched = (bias_instability(1.0, 50.0, model) for _ in range(2))
    a, b = plain.block(0, even(30, 0.1)), []
    for i, sigma in enumerate((1.0, 0.0, 1.0)):
        switched.configure(sigma, 50.0, model)
        b.append(switched.block(10 * i, even(10, 0.1)))
    np.testing.assert_array_equal(b[1], np.zeros(10))
    np.testing.assert_array_equal(a[20:], b[2])
    never = bias_instability(0.0, 50.0, model)
    assert never.block(0, even(10, 0.1)) is None


# random walk and turn-on bias ------------------------------------------------------------------


def test_the_variance_of_the_random_walk_is_k_squared_t():
    K, ends = 0.3, {9: [], 99: []}
    for seed in range(2000):
        walk = random_walk(100, 0.02, K, seed)
        for i, values in ends.items():
            values.append(walk[i])
    for i, values in ends.items():
        assert_std(values, K * math.sqrt((i + 1) * 0.02))


def test_the_random_walk_goes_on_over_a_gap():
    ends = []
    for seed in range(2000):
        walk = RandomWalk(streams(seed).stream('walk', 'x'))
        walk.block(0, even(1, 0.02), 1.0)
        ends += list(walk.block(100, even(1, 0.02), 1.0))
    assert_std(ends, math.sqrt(101 * 0.02))


def test_a_random_walk_begins_where_its_coefficient_is_set():
    walk = RandomWalk(streams().stream('walk', 'x'))
    assert walk.block(0, even(1000, 0.02), 0.0) is None
    ends = []
    for seed in range(2000):
        walk = RandomWalk(streams(seed).stream('walk', 'x'))
        walk.block(999, even(1, 0.02), 0.0)
        ends += list(walk.block(1000, even(1, 0.02), 1.0))
    assert_std(ends, math.sqrt(0.02))


def test_the_allan_deviation_of_the_random_walk_is_k_root_tau_third():
    K, n = 1e-3, 100_000
    x = random_walk(n, 0.1, K)
    taus, adev, _, _ = allantools.oadev(
        x - x.mean(), rate=10.0, data_type='freq', taus=[4.0, 16.0, 64.0]
    )
    for tau, measured in zip(taus, adev, strict=True):
        error = 1.0 / math.sqrt(2.0 * (n / (10.0 * tau) - 1.0))
        assert measured == pytest.approx(K * math.sqrt(tau / 3), rel=4 * error)


def test_the_turn_on_bias_is_constant_and_drawn_anew_at_each_power_on():
    sensor = imu(gyro__turn_on_bias_std=(1.0, 2.0, 3.0), accel__turn_on_bias_std=0.5)
    drawn = []
    for n in range(80):
        got = run(sensor, [still(n, n + 0.02, base=SECOND)])
        values = np.hstack((rates(got), forces(got) - (0, 0, 9.80665)))
        assert len(got) > 1
        np.testing.assert_allclose(values, np.tile(values[0], (len(got), 1)), atol=1e-14)
        drawn.append(values[0])
        sensor.power_cycle()
    for column, sigma in zip(np.array(drawn).T, (1, 2, 3, 0.5, 0.5, 0.5), strict=True):
        assert_std(column, sigma)


def test_a_bias_label_is_the_bias_that_was_added():
    values = {'bias_g_init_std': 1e-2, 'gyro__turn_on_bias_std': 1e-2, 'gyro__random_walk': 1e-3,
              'gyro__white_noise_density': 1e-4}
    got = run(imu(**values), [still(0, 1)])
    for s in got:
        np.testing.assert_allclose(
            s.angular_velocity, np.add(s.gyro_error.bias, s.gyro_error.noise), rtol=1e-12
        )
        assert s.gyro_error.total == s.angular_velocity
        assert s.gyro_error.fault == (0.0, 0.0, 0.0)
