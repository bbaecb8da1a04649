"""Allan deviation: numbers against theory and allantools, static run against the live sensor."""

from __future__ import annotations

import csv
import dataclasses
import math

import allantools
import numpy as np
import pytest
from core_helpers import ALPHA, at_rest
from scipy import stats
from scipy.fft import dct
from scipy.linalg import toeplitz

from jaguar_sensors_ros.analysis import allan_verdict, phase_noise, static_run
from jaguar_sensors_ros.analysis.allan import (
    conservative_error,
    log_spaced,
    octaves,
    overlapping_adev,
)
from jaguar_sensors_ros.analysis.allan_theory import AXES, imu_theory
from jaguar_sensors_ros.analysis.phase_noise import GaussMarkov, Pulses, Walk, White, avar
from jaguar_sensors_ros.analysis.quadratic_form import (
    QuadraticForm,
    _toeplitz_eigenvalues,
    equivalent_dof,
    estimate_distribution,
)
from jaguar_sensors_ros.analysis.spectral_fit import compare, fit, spectrum_of
from jaguar_sensors_ros.analysis.static_run import StaticRun
from jaguar_sensors_ros.catalogue import make_sensor, make_settings
from jaguar_sensors_ros.cli import allan_report
from jaguar_sensors_ros.cli.main import main
from jaguar_sensors_ros.component import NormalStream
from jaguar_sensors_ros.errors.stochastic import gauss_markov_avar
from jaguar_sensors_ros.errors.triad_settings import TriadSettings
from jaguar_sensors_ros.nav.grid import SampleGrid
from jaguar_sensors_ros.truth.segment import TwistSegment
from jaguar_sensors_ros.types import JaguarError

GRADES = ('consumer', 'industrial', 'tactical', 'navigation', 'strategic')


def numbers(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


# ---------------------------------------------------------------------- the deviation


@pytest.mark.parametrize('mean', [0.0, 9.80665])
@pytest.mark.parametrize('kind', ['white', 'walk', 'white and walk'])
def test_equals_allantools(kind, mean):
    white, walk = numbers(1, 20011), numbers(2, 20011).cumsum()
    noise = {'white': white, 'walk': walk, 'white and walk': white + 1e-2 * walk}[kind]
    rate = mean + 1e-3 * noise
    m = np.union1d(log_spaced(len(rate)), octaves(len(rate)))
    curve = overlapping_adev(rate, 100.0, m)
    centred = rate - rate.mean()
    tau, adev, _, _ = allantools.oadev(centred, rate=100.0, data_type='freq', taus=curve.tau)
    kept = np.isin(m, np.rint(tau * 100.0))
    np.testing.assert_allclose(curve.adev[kept, 0], adev, rtol=1e-12)
    assert kept.sum() >= len(m) - 1


def test_axes_are_those_of_single_records():
    data = numbers(3, 5000, 3)
    together = overlapping_adev(data, 50.0, [1, 7, 64, 2500]).adev
    for i in range(3):
        alone = overlapping_adev(data[:, i], 50.0, [1, 7, 64, 2500]).adev[:, 0]
        np.testing.assert_array_equal(together[:, i], alone)


def test_smallest_record_by_hand():
    rate = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0])
    adev = overlapping_adev(rate, 1.0, [1, 4]).adev[:, 0]
    assert adev[0] == pytest.approx(math.sqrt(np.mean(np.diff(rate) ** 2) / 2.0), rel=1e-14)
    assert adev[1] == pytest.approx((rate[4:].mean() - rate[:4].mean()) / math.sqrt(2.0))


@pytest.mark.parametrize(
    ('rate', 'hz', 'm', 'text'),
    [
        (np.zeros(7), 1.0, [1], 'at least 8'),
        (np.zeros(20), 0.0, [1], 'rate = 0.0'),
        (np.zeros(20), 1.0, [11], 'from 1 to 10'),
        (np.zeros(20), 1.0, [0], 'from 1 to 10'),
        (np.array([[0.0, 0.0]] * 9 + [[0.0, math.nan]]), 1.0, [1], 'sample 10 of column 2'),
    ],
)
def test_refuses(rate, hz, m, text):
    with pytest.raises(JaguarError, match=text):
        overlapping_adev(rate, hz, m)


# ---------------------------------------------------------------------- theory


@pytest.mark.parametrize(
    ('term', 'formula'),
    [
        (White(3.0), lambda tau: 9.0 / tau),
        (Walk(3.0), lambda tau: 9.0 * tau / 3.0),
        (Pulses(3.0), lambda tau: 3.0 * (9.0 / 12.0) / tau**2),
        (GaussMarkov(3.0, 5.0), lambda tau: 9.0 * np.vectorize(gauss_markov_avar)(tau, 5.0)),
    ],
)
def test_textbook_formulas(term, formula):
    """The sampled process differs from the continuous formula by terms of 1 / m^2."""
    dt = 1e-3
    m = np.array([100, 1000, 10000, 100000])
    np.testing.assert_allclose(avar((term,), m, dt), formula(m * dt), rtol=1e-4)


def test_gauss_markov_peak():
    """Its Allan deviation peaks at 1.89 T with 0.617 sigma."""
    m = np.arange(100, 400)
    adev = np.sqrt(avar((GaussMarkov(1.0, 1.0),), m, 0.01))
    assert m[adev.argmax()] * 0.01 == pytest.approx(1.89, abs=0.01)
    assert adev.max() == pytest.approx(0.617, abs=5e-4)


def brute_covariance(term, m, lags, dt):
    """Covariance of second differences from the autocovariance of the rate, term by term."""
    n = 2 * m + lags + 1
    if isinstance(term, GaussMarkov):
        r = term.sigma**2 * np.exp(-dt / term.correlation_s * np.arange(n))
        cov = r[abs(np.subtract.outer(np.arange(n), np.arange(n)))]
    else:
        cov = term.coefficient**2 * dt * np.minimum.outer(np.arange(n), np.arange(n))
    w = np.concatenate([-np.ones(m), np.ones(m)]) * dt
    padded = np.concatenate([w, np.zeros(n - 2 * m)])
    rows = np.array([np.roll(padded, k) for k in range(lags)])
    return rows[0] @ cov @ rows.T


@pytest.mark.parametrize(
    'term', [Walk(2.0), GaussMarkov(2.0, 0.005), GaussMarkov(2.0, 0.3), GaussMarkov(2.0, 300.0)]
)
def test_covariance_of_second_differences(term):
    exact = brute_covariance(term, 8, 40, 0.01)
    ours = phase_noise.covariance((term,), 8, 40, 1.0, 0.01)
    np.testing.assert_allclose(ours, exact, atol=1e-8 * exact[0])


@pytest.mark.parametrize(('term', 'alpha'), [(White(1.0), 0), (Walk(1.0), -2), (Pulses(1.0), 2)])
@pytest.mark.parametrize('m', [64, 128, 360])
def test_degrees_of_freedom_are_greenhalls(term, alpha, m):
    n = 36000
    theirs = allantools.edf_greenhall(alpha=alpha, d=2, m=m, N=n + 1, overlapping=True)
    assert equivalent_dof((term,), m, n, 1.0) == pytest.approx(theirs, rel=0.012)
    assert estimate_distribution((term,), m, n, 1.0).edf == pytest.approx(theirs, rel=0.012)


@pytest.mark.parametrize('m', [1, 3, 10, 16, 100, 1000])
def test_degrees_of_freedom_of_white_noise(m):
    """NIST SP 1065, table 5, for N phase points; good to a few per cent."""
    theirs = allantools.edf_simple(36001, m, 0)
    assert equivalent_dof((White(1.0),), m, 36000, 1.0) == pytest.approx(theirs, rel=0.02)
    if m >= 10:
        assert 1.0 / math.sqrt(2.0 * theirs) < conservative_error(36000, m)


@pytest.mark.parametrize('n', [1, 2, 3, 8, 9])
def test_eigenvalues(n):
    r = numbers(n, n)
    ours = np.sort(_toeplitz_eigenvalues(r))
    np.testing.assert_allclose(ours, np.linalg.eigvalsh(toeplitz(r)), atol=1e-12)


def test_saddlepoint_is_chi_square_where_that_is_exact():
    form = QuadraticForm(np.full(7, 1.0 / 7.0), np.ones(7))
    for p in (1e-7, 1e-4, 0.02, 0.5, 0.98, 1.0 - 1e-4):
        assert form.upper_tail(stats.chi2.isf(p, 7) / 7.0) == pytest.approx(p, rel=0.02)


@pytest.mark.parametrize('term', [White(1.0), Walk(1.0), GaussMarkov(1.0, 40.0)])
def test_tails_of_the_estimate(term):
    """A tenth of the record: 8 to 13 degrees of freedom; the true law by brute force."""
    n, m, runs = 400, 40, 40000
    form = estimate_distribution((term,), m, n, 1.0)
    r = phase_noise.covariance((term,), m, n + 1 - 2 * m, 1.0, 1.0)
    eigenvalues = np.linalg.eigvalsh(toeplitz(r))
    kept = eigenvalues[eigenvalues > 1e-5 * eigenvalues.max()]
    ratios = numbers(5, runs, len(kept)) ** 2 @ kept / eigenvalues.sum()
    for p in (1e-3, 1e-2, 0.1, 0.9, 0.99, 0.999):
        x = np.quantile(ratios, 1.0 - p)
        error = 4.0 * math.sqrt(p * (1.0 - p) / runs)
        assert form.upper_tail(x) == pytest.approx(p, abs=error + 0.005 * p * (1.0 - p))


def test_white_parts_and_rounding_of_settings():
    settings = make_settings(
        'imu',
        {
            'grade': 'custom',
            'sample_rate_hz': 100.0,
            'gyro.white_noise_psd': 2e-8,
            'accel.white_noise_density': 1e-3,
            'accel.resolution': 1e-3,
            'bias_g_init_std': [0.0, 1e-5, 0.0],
        },
    )
    theory = dict(zip(AXES, imu_theory(settings), strict=True))
    assert [t.symbol for t in theory['gyro_x'].noise] == ['N']
    assert theory['gyro_x'].noise[0].value == pytest.approx(1e-4)
    assert [t.symbol for t in theory['gyro_y'].noise] == ['N', 'sigma']
    expected = math.hypot(1e-3, 1e-3 / math.sqrt(12.0) * 0.1) / math.sqrt(0.01)
    assert theory['accel_z'].adev(1) == pytest.approx(expected)


@pytest.mark.parametrize(
    ('values', 'text'),
    [
        ({'grade': 'custom'}, 'gyro_x: no noise at all'),
        ({'fidelity': 'transparent'}, 'transparent'),
        ({'gyro.resolution': 1e-3}, 'gyro_x: resolution = 0.001 is coarser'),
        ({'grade': 'custom', 'bias_g_init_std': 1e-3, 'gyro_lsb': 1e-5}, 'pulses without white'),
    ],
)
def test_settings_without_a_theory(values, text):
    with pytest.raises(JaguarError, match=text):
        imu_theory(make_settings('imu', values))


# ---------------------------------------------------------------------- sizes


@pytest.mark.parametrize('n', [1000, 1001])
def test_cosine_transform(n):
    rate = numbers(1, n).cumsum()
    spectrum = spectrum_of(rate)
    squares = dct(rate - rate.mean(), norm='ortho') ** 2
    assert spectrum.count.sum() == n - 1
    assert (spectrum.count * spectrum.power).sum() == pytest.approx(squares.sum(), rel=1e-10)
    np.testing.assert_allclose(spectrum.power[:50], squares[1:51], rtol=1e-9)


def test_sizes_of_white_noise_and_walk():
    """Without knowing anything: N and K of a record, within 4 standard errors."""
    n, dt, density, coefficient = 200_000, 0.01, 1e-3, 1e-3
    rate = density / math.sqrt(dt) * numbers(1, n)
    rate += coefficient * math.sqrt(dt) * numbers(2, n).cumsum()
    sizes = fit(spectrum_of(rate), dt)
    assert abs(sizes['N'].value - density) < 4.0 * sizes['N'].error
    assert abs(sizes['K'].value - coefficient) < 4.0 * sizes['K'].error
    assert sizes['N'].error / density < 2.0 / math.sqrt(2.0 * n)


def test_error_of_n_is_the_cramer_rao_bound():
    """An hour at 100 Hz shows N to 0.12 %."""
    theory = imu_theory(make_settings('imu', {'sample_rate_hz': 100.0}), ['gyro_x'])[0]
    estimate = compare(spectrum_of(numbers(1, 360_000)), theory)['N']
    assert estimate.error / theory.noise[0].value == pytest.approx(0.0012, rel=0.05)


# ---------------------------------------------------------------------- static run

ALL_ON = {
    'white_noise_density': (1e-3, 2e-3, 3e-3),
    'turn_on_bias_std': 1e-2,
    'random_walk': (1e-4, 0.0, 3e-4),
    'scale_factor_ppm': 100.0,
    'nonlinearity_ppm': 200.0,
    'misalignment': 1e-2,
    'cross_axis': 1e-3,
    'range': 9.81,
    'bandwidth_hz': 40.0,
    'draw_unit': True,
    'bias_model': 'flicker',
    'temp_bias_coeff': 1e-5,
    'temp_scale_coeff_ppm': 40.0,
    'vibration_rectification': 1e-4,
}
INSTEAD = {
    'white_noise_density': {'white_noise_psd': 1e-4, 'white_noise_bandwidth': 30.0},
    'bandwidth_hz': {'resolution': 1e-3},
    'bias_model': {},
}


def triads(values, *names):
    return {f'{name}.{key}': value for name in names or ('gyro', 'accel')
            for key, value in values.items()}


def replaced():
    values = {key: value for key, value in ALL_ON.items() if key not in INSTEAD}
    for extra in INSTEAD.values():
        values.update(extra)
    return values


CASES = {
    'tactical': {},
    'not a whole number of ns': {'grade': 'navigation', 'sample_rate_hz': 300.0},
    'all on': {
        'temperature_c': 41.0,
        'vibration_grms': 0.7,
        'grade': 'consumer',
        **triads(ALL_ON),
        'tau_bias_g_s': 20.0,
        'gyro_lsb': 1e-5,
        'accel_lsb': 1e-4,
        'gyro.g_sensitivity': 1e-3,
        'mount.rpy': (0.1, 0.2, 0.3),
        'mount.position': (1.0, 2.0, 3.0),
        'earth.rotation': True,
        'earth.gravity': 'wgs84',
    },
    'the alternatives': {
        'grade': 'consumer',
        **triads(replaced()),
        'gyro.white_noise_density': 0.0,
        'accel.white_noise_density': 0.0,
        'sample_rate_hz': 133.0,
    },
    'low-pass, uneven intervals': {'accel.bandwidth_hz': 30.0, 'sample_rate_hz': 333.3},
    'instant': {
        'rate_output': 'instant',
        'earth.rotation': True,
        'gyro_lsb': 1e-6,
        'accel.bandwidth_hz': 30.0,
        'mount.position': (1.0, 0.0, 0.0),
    },
}


def live(settings, seed, count):
    sensor = make_sensor('imu', 'imu', settings, seed)
    end_ns = SampleGrid(settings.sample_rate_hz).time_ns(count)
    samples = sensor.feed(TwistSegment(at_rest(0), at_rest(end_ns)))
    return np.array([s.angular_velocity + s.specific_force for s in samples])


@pytest.mark.parametrize('name', CASES)
def test_static_run_is_the_live_sensor(name, monkeypatch):
    """Bit for bit, over several blocks."""
    monkeypatch.setattr(static_run, 'BLOCK', 900)
    settings = make_settings('imu', CASES[name])
    offline = StaticRun(settings, 5).record(2500)
    np.testing.assert_array_equal(offline, live(settings, 5, 2500))


def test_static_run_begins_anew_each_time():
    run = StaticRun(make_settings('imu', {}), 5)
    first = run.record(500)
    np.testing.assert_array_equal(run.record(500), first)
    np.testing.assert_array_equal(np.hstack(list(run.blocks(500))), first.T)


def test_static_run_covers_every_term():
    """A new parameter of the chain is added to the cases above, and to errors/triad_array.py."""
    known = {field.name for field in dataclasses.fields(TriadSettings)}
    used = {key.split('.')[1] for values in CASES.values() for key in values if '.' in key}
    assert known <= used


def test_static_run_does_not_depend_on_the_block(monkeypatch):
    settings = make_settings('imu', CASES['all on'])
    whole = StaticRun(settings, 9).record(5000)
    monkeypatch.setattr(static_run, 'BLOCK', 777)
    np.testing.assert_array_equal(whole, StaticRun(settings, 9).record(5000))


# ---------------------------------------------------------------------- verdict


def verdict(values, duration_s, seed=1, expect=None):
    settings = make_settings('imu', values)
    run = StaticRun(settings, seed)
    data = run.record(run.samples(duration_s))
    theories = imu_theory(settings if expect is None else make_settings('imu', expect))
    factors = allan_verdict.judged_octaves(len(data), theories)
    curve = overlapping_adev(data, settings.sample_rate_hz, factors)
    return allan_verdict.judge(curve, [spectrum_of(column) for column in data.T], theories)


@pytest.fixture
def shared_normals(monkeypatch):
    """Draw random numbers once: all grades of a rate have the same."""
    kept = {}
    draw = NormalStream.array

    def array(self, start, count):
        key = (tuple(self._entropy), start, count)
        if key not in kept:
            kept[key] = draw(self, start, count)
        return kept[key].copy()

    monkeypatch.setattr(NormalStream, 'array', array)


@pytest.mark.parametrize('rate_hz', [100.0, 400.0])
def test_grades_agree(rate_hz, shared_normals):
    for grade in GRADES:
        found = verdict({'grade': grade, 'sample_rate_hz': rate_hz}, 3600.0)
        assert found.line() == 'agreement on all six axes', grade
        assert all(axis.sizes[0].agrees for axis in found.axes)


@pytest.mark.parametrize('factor', [0.7, 1.3])
@pytest.mark.parametrize('grade', GRADES)
def test_another_white_noise_does_not_agree(grade, factor):
    base = {'grade': grade, 'sample_rate_hz': 100.0}
    density = make_settings('imu', base).gyro.white_noise_density[0]
    changed = {**base, 'gyro.white_noise_density': [density, factor * density, density]}
    found = verdict(changed, 300.0, expect=base)
    assert [axis.axis for axis in found.axes if not axis.agrees] == ['gyro_y']
    assert 'N ' in found.line()


@pytest.mark.parametrize('factor', [0.7, 1.3])
@pytest.mark.parametrize('tau_s', [10.0, 60.0])
def test_another_bias_instability_does_not_agree_where_it_shows(tau_s, factor):
    base = {
        'grade': 'consumer',
        'sample_rate_hz': 100.0,
        'tau_bias_g_s': tau_s,
        'tau_bias_a_s': tau_s,
    }
    sigma = make_settings('imu', base).bias_g_init_std[0]
    changed = {**base, 'bias_g_init_std': factor * sigma}
    found = verdict(changed, 3600.0, expect=base)
    assert [axis.axis for axis in found.axes if not axis.agrees] == list(AXES[:3])
    assert all(axis.sizes[1].agrees is False for axis in found.axes[:3])


def test_what_does_not_show_is_not_judged():
    found = verdict({'grade': 'strategic', 'sample_rate_hz': 100.0}, 1000.0)
    assert all(axis.sizes[1].agrees is None for axis in found.axes)
    assert found.axes[0].sizes[1].text() == 'sigma not observable in this record'


EVERYTHING = {
    'grade': 'consumer',
    'sample_rate_hz': 100.0,
    'gyro.bias_model': 'flicker',
    'tau_bias_g_s': 100.0,
    'tau_bias_a_s': 20.0,
    'gyro.random_walk': 3e-5,
    'accel.random_walk': 1e-3,
    'gyro_lsb': 2e-5,
    'accel.resolution': 1e-2,
    'gyro.turn_on_bias_std': 1e-2,
}


def test_probabilities_are_true():
    """Over seeds, probabilities of points are uniform and sizes have their errors.

    Octaves of one axis are correlated, so each octave is tested by itself over runs and axes.
    """
    runs = [verdict(EVERYTHING, 300.0, seed) for seed in range(100, 120)]
    points = np.array([[p.probability for p in a.points] for r in runs for a in r.axes])
    for column in points.T:
        assert stats.kstest(column, 'uniform').pvalue > ALPHA
    z = np.array([axis.sizes[0].z for run in runs for axis in run.axes])
    low, high = stats.chi2.ppf([ALPHA / 2, 1 - ALPHA / 2], len(z))
    assert low < (z**2).sum() < high
    assert abs(z.mean()) < 4.0 / math.sqrt(len(z))


# ---------------------------------------------------------------------- the tool


def tool(tmp_path, *arguments):
    return main(['allan', '--output', str(tmp_path / 'out'), *arguments])


def test_tool_simulates(tmp_path, capsys):
    assert tool(tmp_path, '--grade', 'tactical', '--duration', '300', '--rate', '50') == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == 'agreement on all six axes'
    with (tmp_path / 'out/allan.csv').open() as file:
        rows = list(csv.reader(file))
    header = 'tau,adev_gyro_x,adev_gyro_y,adev_gyro_z,adev_accel_x,adev_accel_y,adev_accel_z'
    assert ','.join(rows[0]) == header
    assert float(rows[1][0]) == 0.02
    assert (tmp_path / 'out/allan.png').read_bytes().startswith(b'\x89PNG')


@pytest.fixture
def no_picture(monkeypatch):
    monkeypatch.setattr(allan_report, '_has_matplotlib', lambda: False)


def test_tool_disagrees(tmp_path, capsys, no_picture):
    status = tool(tmp_path, '--duration', '100', '--expect', 'gyro.white_noise_density=4e-6')
    assert status == 1
    assert capsys.readouterr().out.splitlines()[-1].startswith('no agreement on 3 of 6 axes')


def test_tool_reads_csv(tmp_path, capsys, no_picture):
    settings = make_settings('imu', {'sample_rate_hz': 100.0})
    data = StaticRun(settings, 3).record(20000)
    path = tmp_path / 'night.csv'
    header = 't,accel_z,gyro_x'
    columns = np.column_stack([np.arange(len(data)), data[:, 5], data[:, 0]])
    np.savetxt(path, columns, delimiter=',', header=header, comments='')
    given = ('--csv', str(path), '--rate', '100')
    assert tool(tmp_path, *given, '--expect', 'tactical') == 0
    assert capsys.readouterr().out.splitlines()[-1] == 'agreement on both axes'
    assert tool(tmp_path, *given, '--expect', 'industrial') == 1
    assert tool(tmp_path, *given) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith('no verdict')
    header = (tmp_path / 'out/allan.csv').read_text().splitlines()[0]
    assert header == 'tau,adev_gyro_x,adev_accel_z'


def write_bag(path, times_ns, data):
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    types = store.types
    header, vector = types['std_msgs/msg/Header'], types['geometry_msgs/msg/Vector3']
    quaternion, time = types['geometry_msgs/msg/Quaternion'], types['builtin_interfaces/msg/Time']
    imu, zero = types['sensor_msgs/msg/Imu'], np.zeros(9)
    with Writer(path, version=8, storage_plugin=StoragePlugin.MCAP) as writer:
        connection = writer.add_connection('/imu/data', imu.__msgtype__, typestore=store)
        for t_ns, row in zip(times_ns, data, strict=True):
            t_ns = int(t_ns)
            message = imu(
                header(time(t_ns // 10**9, t_ns % 10**9), 'imu_link'),
                quaternion(0.0, 0.0, 0.0, 1.0),
                zero,
                vector(*row[:3]),
                zero,
                vector(*row[3:]),
                zero,
            )
            writer.write(connection, t_ns, store.serialize_cdr(message, imu.__msgtype__))


def test_tool_reads_bags(tmp_path, capsys, no_picture):
    settings = make_settings('imu', {'sample_rate_hz': 100.0})
    data = StaticRun(settings, 3).record(4000)
    times = 10**9 + 10_000_000 * np.arange(4000)
    write_bag(tmp_path / 'whole', times, data)
    assert tool(tmp_path, '--bag', str(tmp_path / 'whole'), '--expect', 'tactical') == 0
    assert '4000 samples at 100 Hz' in capsys.readouterr().out
    times[3000:] += 10**9
    write_bag(tmp_path / 'gap', times, data)
    given = ('--bag', str(tmp_path / 'gap'), '--topic', '/imu/data')
    assert tool(tmp_path, *given, '--expect', 'tactical') == 0
    out = capsys.readouterr().out
    assert 'messages 1 to 3000 of 4000' in out and '3000 samples at 100 Hz' in out
    assert tool(tmp_path, *given[:2], '--topic', '/other') == 2
    assert 'topic /other: must be one of /imu/data' in capsys.readouterr().err


@pytest.mark.parametrize(
    ('text', 'error'),
    [
        ('a,b\n1,2\n', 'line 1: names no axis; the columns are gyro_x'),
        ('', 'line 1: names no axis'),
        ('gyro_x,gyro_x\n1,2\n', 'line 1: column gyro_x is there more than once'),
        ('t,gyro_x\n1,2\n2,x\n', "line 3: column gyro_x: 'x' must be a finite number"),
        ('t,gyro_x\n1,2\n2,nan\n', "line 3: column gyro_x: 'nan' must be a finite number"),
        ('t,gyro_x\n1,2\n2\n', 'line 3: column gyro_x: is missing'),
        ('gyro_x\n1\n2\n', '2 samples; at least 8'),
    ],
)
def test_tool_refuses_a_csv(tmp_path, capsys, text, error):
    path = tmp_path / 'bad.csv'
    path.write_text(text)
    assert tool(tmp_path, '--csv', str(path), '--rate', '100') == 2
    message = capsys.readouterr().err
    assert str(path) in message and error in message
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize(
    ('arguments', 'error'),
    [
        (['--csv', 'no.csv', '--rate', '1'], 'no.csv: cannot be read'),
        (['--csv', 'no.csv'], '--csv needs --rate'),
        (['--bag', 'no.mcap'], 'no.mcap: no such file'),
        (['--bag', 'no.mcap', '--rate', '1'], '--rate: the stamps in the bag'),
        (['--topic', '/imu'], '--topic: only a bag'),
        (['--set', 'gyro.white_noise=1'], 'no such parameter; did you mean gyro.white_noise_'),
        (['--set', 'gyro.random_walk=-1'], 'must be one number or 3 numbers, finite >= 0'),
        (['--set', 'sample_rate_hz=1'], 'set it with --rate'),
        (['--set', 'tactical'], 'must be NAME=VALUE'),
        (['--expect', 'good'], 'must be a grade (consumer'),
        (['--duration', '0.5'], 'too few for a verdict'),
        (['--set', 'fidelity=transparent'], 'transparent'),
    ],
)
def test_tool_refuses(tmp_path, capsys, arguments, error):
    assert tool(tmp_path, *arguments) == 2
    assert error in capsys.readouterr().err
