"""A trajectory in whole arrays gives the bits of the live sensors."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from jaguar_sensors_ros import simulation
from jaguar_sensors_ros.catalogue import make_sensor, make_settings
from jaguar_sensors_ros.component import ParameterError
from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.nav.kinematics import Environment, changes_of
from jaguar_sensors_ros.sensors import gps_array, imu_array
from jaguar_sensors_ros.sensors.columns import GpsColumns, ImuColumns
from jaguar_sensors_ros.sensors.imu_settings import GRADES
from jaguar_sensors_ros.simulation import GpsRun, ImuRun
from jaguar_sensors_ros.truth.columns import TruthColumns
from jaguar_sensors_ros.truth.segment import TwistSegment
from jaguar_sensors_ros.truth.track import TruthTrack
from jaguar_sensors_ros.truth.trajectory import Circle, Racetrack, Static
from jaguar_sensors_ros.types import NS_PER_S, ZERO3, JaguarError, TruthSample

EPOCH = 1_700_000_000 * NS_PER_S
ARM = {'mount.position': [0.3, -0.2, 0.1], 'mount.rpy': [0.1, -0.2, 3.0]}
EARTH = {'earth.rotation': True, 'earth.gravity': 'wgs84'}
TRIAD = {
    'scale_factor_ppm': [100.0, -200.0, 300.0],
    'misalignment': [1e-3, -2e-3, 3e-3],
    'cross_axis': 0.01,
    'nonlinearity_ppm': [100.0, 0.0, 50.0],
    'temp_bias_coeff': [1e-3, 2e-3, 0.0],
    'temp_scale_coeff_ppm': 50.0,
    'vibration_rectification': [1e-3, 0.0, 2e-3],
    'turn_on_bias_std': [1e-3, 0.0, 1e-3],
    'random_walk': [1e-4, 0.0, 1e-4],
    'bandwidth_hz': [20.0, 0.0, 45.0],
    'range': [0.3, 30.0, 9.9],
}
ALL_ON = {
    **{f'{triad}.{name}': value for triad in ('gyro', 'accel') for name, value in TRIAD.items()},
    'gyro.g_sensitivity': [1e-3, 2e-3, 3e-3, -1e-3, 0.0, 1e-3, 0.0, 2e-3, 1e-3],
    'gyro.bias_model': 'flicker',
    'bias_g_init_std': 1e-3,
    'temperature_c': 51.0,
    'vibration_grms': 0.1,
    'orientation.correlation_time_s': 3.0,
    **ARM,
    **EARTH,
}


def truth(times_ns, source=None, derive=True):
    source = source or Racetrack()
    samples = [source.at(t) for t in times_ns]
    return [s._replace(a_nb_b=None) for s in samples] if derive else samples


def even(rate_hz, seconds=6.0, start=EPOCH):
    return [start + round(i * NS_PER_S / rate_hz) for i in range(round(seconds * rate_hz) + 1)]


def jittered(rate_hz, seconds=6.0, seed=1):
    """Return stamps that are near a grid, some a nanosecond or a piece's half apart."""
    rng, times = np.random.default_rng(seed), even(rate_hz, seconds)
    moved = [t + int(j) for t, j in zip(times, rng.normal(0.0, 2e6, len(times)), strict=True)]
    return sorted({*moved, moved[7] + 1, moved[9] + 1, EPOCH + 2 * NS_PER_S})


def with_gaps(rate_hz):
    """Return stamps with two long pauses and a lonely sample between them."""
    times = even(rate_hz, 9.0)
    kept = [t for t in times if not 1.503e9 < t - EPOCH < 2.507e9]
    return [t for t in kept if t - EPOCH < 4e9 or t - EPOCH > 7.1e9] + [EPOCH + 10 * NS_PER_S]


def live(kind, values, samples, seed=5, name=None):
    """Return what the sensor makes of the same truth, sample by sample."""
    settings = make_settings(kind, values)
    sensor = make_sensor(kind, name or kind, settings, seed)
    track = TruthTrack('twist', round(settings.truth.max_gap_s * NS_PER_S))
    segments = itertools.chain.from_iterable(track.push(s).segments for s in samples)
    return settings, [sample for piece in segments for sample in sensor.feed(piece)]


def assert_same(got, expected):
    assert type(got) is type(expected)
    for name, a, b in zip(got._fields, got, expected, strict=True):
        if isinstance(a, tuple):
            assert_same(a, b)
        elif a is None or isinstance(a, list):
            assert a == b, name
        else:
            assert a.shape == b.shape and a.dtype == b.dtype, name
            np.testing.assert_array_equal(a, b, err_msg=name)


def check_imu(values, samples, count=None):
    settings, expected = live('imu', values, samples)
    run = ImuRun(settings, TruthColumns.of(samples), seed=5)
    assert run.reason == ''
    oriented = settings.orientation.output != 'none'
    record = run.record()
    assert_same(record, ImuColumns.of(expected, settings.increments.samples, oriented))
    assert len(record.t_ns) > 50 if count is None else len(record.t_ns) == count
    return record


def check_gps(values, samples, least=20):
    settings, expected = live('gps', values, samples)
    run = GpsRun(settings, TruthColumns.of(samples), seed=5)
    assert run.reason == ''
    record = run.record()
    assert_same(record, GpsColumns.of(expected))
    assert len(record.t_ns) >= least
    return record


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Let every run have several blocks."""
    monkeypatch.setattr(imu_array, 'BLOCK', 157)
    monkeypatch.setattr(gps_array, 'BLOCK', 13)


# ---------------------------------------------------------------------- IMU


@pytest.mark.parametrize('grade', GRADES)
@pytest.mark.parametrize('earth', [{}, EARTH], ids=['constant', 'wgs84'])
def test_each_grade(grade, earth):
    check_imu({'grade': grade, 'sample_rate_hz': 100.0, **earth}, truth(even(100.0, 3.0)))


TIMES = {
    'aligned': (100.0, even(100.0)),
    'several samples a piece': (400.0, even(50.0)),
    'several pieces a sample': (30.0, even(100.0)),
    'uneven grid': (300.0, even(100.0)),
    'uneven truth': (128.0, even(77.7)),
    'jitter': (100.0, jittered(100.0)),
    'jitter, slow truth': (333.0, jittered(40.0)),
    'gaps': (100.0, with_gaps(99.0)),
    'gaps of aligned truth': (100.0, with_gaps(100.0)),
    'a slow sensor': (7.0, [t + 123_456_789 for t in even(100.0, 12.0)]),
}
CASES = {
    'plain': {'grade': 'custom'},
    'gravity': {'grade': 'custom', 'earth.gravity': 'wgs84'},
    'rotation and arm': {'grade': 'custom', 'earth.rotation': True, **ARM},
    'tactical': {'grade': 'tactical', **EARTH},
    'all on': ALL_ON,
    'instant': {**ALL_ON, 'rate_output': 'instant'},
    'transparent': {**ALL_ON, 'fidelity': 'transparent', 'clock.offset_s': 1.0},
}


@pytest.mark.parametrize('derive', [True, False], ids=['derive', 'given'])
@pytest.mark.parametrize('case', CASES)
@pytest.mark.parametrize('times', TIMES)
def test_any_rate_of_the_truth(times, case, derive):
    rate_hz, stamps = TIMES[times]
    check_imu({'sample_rate_hz': rate_hz, **CASES[case]}, truth(stamps, derive=derive))


OPTIONS = {
    'frames of two': {'increments.samples': 2, 'sample_rate_hz': 101.0},
    'pulses': {'gyro_lsb': 1e-5, 'accel_lsb': [1e-3, 0.0, 1e-4]},
    'rounding': {'gyro.resolution': 1e-4, 'accel.resolution': [1e-3, 0.0, 0.1]},
    'pulses, instant': {'gyro_lsb': 1e-5, 'accel_lsb': 1e-4, 'rate_output': 'instant'},
    'low-pass, instant': {'gyro.bandwidth_hz': [9.0, 0.0, 3.0], 'rate_output': 'instant'},
    'low-pass of one triad': {'accel.bandwidth_hz': 10.0, **ARM},
    'no orientation': {'orientation.output': 'none'},
    'true orientation': {'orientation.output': 'truth', **ARM},
    'clock': {'clock.offset_s': -0.5, 'clock.drift_ppm': 30.0, 'clock.jitter_s': 0.004},
    'warm-up': {'warm_up_s': 1.234, 'increments.samples': 2},
    'noise as a density': {'gyro.white_noise_psd': 1e-6, 'gyro.white_noise_bandwidth': 30.0},
    'fidelity fault': {'fidelity': 'fault'},
    'a failure that does not act': {'failure.mode': 'total', 'grade': 'consumer'},
    'covariances': {'covariance.orientation': 1.0},
    'long gaps bridged': {'truth.max_gap_s': 20.0},
}


@pytest.mark.parametrize('option', OPTIONS)
def test_options_of_the_imu(option):
    check_imu({'sample_rate_hz': 100.0, **OPTIONS[option]}, truth(with_gaps(77.0)))


def test_several_turns_between_two_samples():
    spinning = [
        TruthSample(s.t_ns, s.p_n, s.q_nb, s.v_nb_b, (1.0, -40.0 - i % 3, 30.0))
        for i, s in enumerate(truth(even(10.0), Circle()))
    ]
    check_imu({'sample_rate_hz': 100.0, 'grade': 'custom', **EARTH, **ARM}, spinning)


def test_at_rest():
    check_imu({'sample_rate_hz': 100.0, **EARTH}, truth(even(10.0), Static()))


def test_stamps_before_zero():
    """A clock does not say a time before 1 ns; the grid goes through zero."""
    samples = truth([t - NS_PER_S for t in even(100.0, 2.0, 0)])
    check_imu({'sample_rate_hz': 100.0}, samples)
    check_gps({'update_hz': 10.0}, samples, 19)


def test_disabled_and_too_short():
    samples = truth(even(100.0, 1.0))
    check_imu({'sample_rate_hz': 100.0, 'enabled': False}, samples, 0)
    check_imu({'sample_rate_hz': 100.0}, truth([EPOCH, EPOCH + 1]), 0)
    check_imu({'sample_rate_hz': 100.0}, truth([EPOCH, EPOCH + NS_PER_S]), 0)  # a gap
    check_gps({'update_hz': 10.0, 'enabled': False}, samples, 0)


def test_blocks_change_nothing(monkeypatch):
    settings = make_settings('imu', {**ALL_ON, 'increments.samples': 2, 'gyro_lsb': 1e-5})
    columns = TruthColumns.of(truth(jittered(100.0)))
    run = ImuRun(settings, columns, 3)
    small = run.record()
    assert len(list(run.blocks())) > 5
    monkeypatch.setattr(imu_array, 'BLOCK', 1 << 14)
    assert_same(run.record(), small)
    assert len(list(run.blocks())) == 1


def test_compiled_loops_change_nothing(request):
    settings, columns = make_settings('imu', ALL_ON), TruthColumns.of(truth(jittered(100.0)))
    plain = ImuRun(settings, columns, 3).record()
    pytest.importorskip('numba', reason='numba is not installed')
    code = 'jaguar_sensors_ros.errors.running_sum.compiled'
    patch = pytest.MonkeyPatch()
    request.addfinalizer(patch.undo)
    patch.setattr(code, lambda driven, phi: pytest.fail('blocks of a test are short'))
    assert_same(ImuRun(settings, columns, 3).record(), plain)


def test_a_mount_from_outside():
    settings = make_settings('imu', {'mount.source': 'tf', 'sample_rate_hz': 50.0})
    columns = TruthColumns.of(truth(even(100.0, 2.0)))
    with pytest.raises(ParameterError, match=r"mount\.source = 'tf'"):
        ImuRun(settings, columns, 1).record()
    q = make_sensor('imu', 'imu', make_settings('imu', ARM), 1).q_bs
    given = ImuRun(settings, columns, 1, mount=((0.3, -0.2, 0.1), q)).record()
    parameters = make_settings('imu', {**ARM, 'sample_rate_hz': 50.0})
    assert_same(ImuRun(parameters, columns, 1).record(), given)


class Halved:
    """A piece that does not say by how much rates change in it."""

    def __init__(self, piece):
        self.increments = piece.increments


@pytest.mark.parametrize('derive', [True, False])
@pytest.mark.parametrize('arm', [ZERO3, (0.3, -0.2, 0.1)])
@pytest.mark.parametrize('earth', [(False, 'constant'), (True, 'constant'), (True, 'wgs84')])
def test_changes_are_four_times_what_half_an_interval_is_away(earth, arm, derive):
    """Within what the curvature of rates makes of the other way, 1e-4 of a change."""
    environment = Environment(LocalFrame(47.0, 8.0, 400.0), *earth)
    samples = truth(even(50.0), None, derive)
    for piece in itertools.starmap(TwistSegment, itertools.pairwise(samples)):
        interval = piece.start_ns + 1_000_003, piece.end_ns - 2_000_000
        whole = piece.increments(*interval, environment, arm)
        rough = changes_of(Halved(piece), *interval, environment, arm, whole)
        for known, found in zip(piece.changes(*interval, environment, arm), rough, strict=True):
            np.testing.assert_allclose(known, found, rtol=1e-3, atol=2e-6)


# ---------------------------------------------------------------------- GNSS

GNSS = {
    'plain': {},
    'correlated': {'pos_correlated_fraction': 0.7, 'pos_correlation_time_s': 20.0},
    'shared': {'pos_correlated_fraction': 0.7, 'common_error_stream': 'site'},
    'multipath': {'multipath.probability': 0.3},
    'arm': {**ARM, 'origin': [-89.99, 10.0, 5e3], 'origin_heading': 1.0},
    'kinds': {'fix_type': 'rtk_fixed', 'satellites': 7, 'covariance.position': [1.0, 2.0, 3.0]},
    'few satellites': {'satellites': 3},
    'no fix': {'fix_type': 'none'},
    'cold': {'cold_start_s': 1.5, 'warm_up_s': 0.7},
    'transparent': {'fidelity': 'transparent', 'cold_start_s': 1.5},
    'clock': {'clock.jitter_s': 0.05, 'leap_seconds': 17},
}


@pytest.mark.parametrize('case', GNSS)
@pytest.mark.parametrize('times', ['aligned', 'uneven truth', 'jitter', 'gaps'])
def test_gnss(times, case):
    check_gps({'update_hz': 10.0, **GNSS[case]}, truth(TIMES[times][1]))


@pytest.mark.parametrize('update_hz', [0.7, 3.0, 100.0, 333.0])
def test_rates_of_fixes(update_hz):
    check_gps({'update_hz': update_hz}, truth(even(100.0, 4.0, 3)), 2)


# ---------------------------------------------------------------------- one by one

ONE_BY_ONE = {
    'truth.authority': ('imu', {'truth.authority': 'pose'}),
    'failure.mode': ('imu', {'fidelity': 'fault', 'failure.mode': 'stuck', 'failure.delay': 0.5}),
    'vibration.lines': ('imu', {'vibration.lines': [20.0, 0.1], 'increments.samples': 2}),
    'vibration.psd': ('imu', {'vibration.psd': [10.0, 1e-4, 100.0, 1e-4]}),
    'geometry.enabled': ('gps', {'geometry.enabled': True, 'update_hz': 10.0}),
}


@pytest.mark.parametrize('reason', ONE_BY_ONE)
def test_what_arrays_do_not_do_is_done_one_by_one(reason, monkeypatch):
    monkeypatch.setattr(simulation, '_FEW', 7)
    kind, values = ONE_BY_ONE[reason]
    samples = truth(with_gaps(100.0))[:140]
    settings = make_settings(kind, values)
    columns = TruthColumns.of(samples)
    run = ImuRun(settings, columns, 5) if kind == 'imu' else GpsRun(settings, columns, 5)
    assert run.reason == reason
    record = run.record()
    assert len(record.t_ns) > 10
    if reason == 'failure.mode':
        assert record.faults[0] == () and record.faults[-1][0].mode == 'stuck'
    if reason == 'truth.authority':
        return
    _, expected = live(kind, values, samples)
    packed = GpsColumns.of(expected) if kind == 'gps' else ImuColumns.of(
        expected, settings.increments.samples, True
    )
    assert_same(record, packed)


def test_a_failure_is_refused_as_by_the_sensor():
    settings = make_settings('imu', {'failure.mode': 'satellite_loss', 'fidelity': 'fault'})
    with pytest.raises(ParameterError, match=r'failure\.mode'):
        ImuRun(settings, TruthColumns.of(truth(even(10.0))), 1).record()


def test_covariances_are_those_of_the_sensor():
    settings = make_settings('imu', ALL_ON)
    sensor = make_sensor('imu', 'imu', settings, 1)
    run = ImuRun(settings, TruthColumns.of(truth(even(10.0))), 1)
    assert run.covariances == sensor.covariances


# ---------------------------------------------------------------------- the truth as columns


def rows(**changed):
    n = 3
    given = {
        't_ns': [0, 1, 2],
        'p_n': np.zeros((n, 3)),
        'q_nb': np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)),
        'v_nb_b': np.zeros((n, 3)),
        'omega_nb_b': np.zeros((n, 3)),
    }
    return TruthColumns.of_rows(**{**given, **changed})


@pytest.mark.parametrize(
    ('changed', 'text'),
    [
        ({'t_ns': [0, 2, 2]}, 't_ns: row 2 .*must increase'),
        ({'t_ns': [0, 2, 1]}, 't_ns: row 2 .*must increase'),
        ({'t_ns': [0.0, 1.0, 2.0]}, 't_ns: .*whole nanoseconds'),
        ({'t_ns': [0]}, 't_ns: .*n >= 2'),
        ({'t_ns': [0, 1, 2**62]}, 't_ns: row 2 .*within'),
        ({'p_n': np.zeros((3, 2))}, r'p_n: shape \(3, 2\); must be \(3, 3\)'),
        ({'v_nb_b': [[0.0] * 3, [math.nan] * 3, [0.0] * 3]}, 'v_nb_b: row 1 .*finite'),
        ({'q_nb': np.ones((3, 4))}, 'q_nb: row 0 .*unit quaternion'),
        ({'a_nb_b': np.zeros((2, 3))}, 'a_nb_b: shape'),
    ],
)
def test_truth_that_is_refused(changed, text):
    rows()
    with pytest.raises(JaguarError, match=text):
        rows(**changed)


def test_some_accelerations_are_refused():
    samples = truth(even(10.0), derive=False)
    samples[3] = samples[3]._replace(a_nb_b=None)
    with pytest.raises(JaguarError, match='a_nb_b: 60 of 61'):
        TruthColumns.of(samples)
    with pytest.raises(JaguarError, match='no samples'):
        TruthColumns.of([])


@pytest.mark.parametrize('derive', [True, False])
def test_samples_come_back_from_columns(derive):
    samples = truth(jittered(50.0), derive=derive)
    assert list(TruthColumns.of(samples).samples()) == samples


def test_columns_of_a_source():
    source = Racetrack()
    columns = TruthColumns.of_source(source, 30.0, EPOCH, EPOCH + NS_PER_S)
    samples = list(columns.samples())
    assert samples == [source.at(EPOCH + round(i * NS_PER_S / 30.0)) for i in range(31)]
    assert samples[0].a_nb_b != ZERO3
