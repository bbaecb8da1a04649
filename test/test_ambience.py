"""Temperature and vibration: what they add, when it begins, and that nothing else changes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from core_helpers import (
    EPOCH,
    G0,
    SECOND,
    Motion,
    deltas,
    forces,
    imu,
    pieces,
    rates,
    reconfigure,
    run,
    settings,
    still,
    turning,
)
from scipy import signal
from scipy.spatial.transform import Rotation

from jaguar_sensors_ros.component import ParameterError
from jaguar_sensors_ros.errors.vibration import spectrum_tones
from jaguar_sensors_ros.types import TruthSample

OMEGA = (0.5, -1.0, 2.0)
REST = (0.0, 0.0, G0)
NOISE = {'gyro__white_noise_density': 1e-4, 'accel__white_noise_density': 1e-3,
         'gyro__turn_on_bias_std': 1e-3, 'bias_a_init_std': 1e-2, 'tau_bias_a_s': 1.0,
         'gyro__random_walk': 1e-4}
READ_OUT = {'gyro__vibration_rectification': 1.0}


def assert_constant(got, expected, **tolerance):
    np.testing.assert_allclose(got, np.tile(expected, (len(got), 1)), **tolerance)


def shaken(frequency, amplitude, base=0, axis=0):
    """Return a motion to and fro of a specific force amplitude [m/s2] sin(2 pi f t)."""
    w = 2.0 * math.pi * frequency

    def at(t_ns):
        t = (t_ns - base) / SECOND
        values = [-amplitude / w**2 * math.sin(w * t), -amplitude / w * math.cos(w * t),
                  amplitude * math.sin(w * t)]
        p, v, a = (tuple(x if i == axis else 0.0 for i in range(3)) for x in values)
        return TruthSample(t_ns, p, (1.0, 0.0, 0.0, 0.0), v, (0.0, 0.0, 0.0), a)

    return at


# ---------------------------------------------------------------------- temperature


@pytest.mark.parametrize('temperature', [25.0, 35.0, -40.0])
def test_the_bias_is_linear_in_the_degrees_from_25_on_each_axis(temperature):
    gyro, accel = np.array((1e-4, -2e-4, 0.0)), np.array((1e-2, 0.0, -3e-2))
    got = run(imu(temperature_c=temperature, gyro__temp_bias_coeff=tuple(gyro),
                  accel__temp_bias_coeff=tuple(accel)), [still(0, 0.1)])
    warmth = temperature - 25.0
    assert_constant(rates(got), gyro * warmth, rtol=1e-15)
    assert_constant(forces(got), REST + accel * warmth, rtol=1e-15)
    assert {s.temperature_c for s in got} == {temperature}
    assert_constant([s.gyro_error.bias for s in got], gyro * warmth, rtol=1e-15)


@pytest.mark.parametrize('temperature', [25.0, 35.0, -40.0])
def test_the_scale_factor_is_linear_in_the_degrees_from_25_on_each_axis(temperature):
    ppm, constant = np.array((100.0, -50.0, 0.0)), np.array((1000.0, 0.0, -300.0))
    sensor = imu(temperature_c=temperature, gyro__temp_scale_coeff_ppm=tuple(ppm),
                 gyro__scale_factor_ppm=tuple(constant), accel__temp_scale_coeff_ppm=10.0)
    segments = pieces(turning((0, 0, 0), OMEGA), range(0, SECOND // 5 + 1, SECOND // 50))
    got = run(sensor, segments)
    warmth = temperature - 25.0
    assert_constant(rates(got), OMEGA * (1.0 + 1e-6 * (constant + ppm * warmth)), rtol=1e-12)
    assert_constant(forces(run(imu(temperature_c=temperature, accel__temp_scale_coeff_ppm=10.0),
                               [still(0, 0.1)])), (0, 0, G0 * (1.0 + 1e-5 * warmth)), rtol=1e-14)


def test_a_temperature_set_while_running_acts_from_the_next_sample_on():
    own = {'gyro__temp_bias_coeff': 1e-4}
    sensor = imu(**own)
    before = run(sensor, [still(0, 1.0)])
    reconfigure(sensor, temperature_c=45.0, **own)
    after = run(sensor, [still(1.0, 2.0)])
    assert {s.temperature_c for s in before} == {25.0}
    assert {s.temperature_c for s in after} == {45.0}
    assert_constant(rates(before), (0, 0, 0))
    assert_constant(rates(after), (2e-3,) * 3, rtol=1e-15)


@pytest.mark.parametrize(('target', 'slew'), [(30.0, 10.0), (20.0, 10.0), (25.3, 0.5)])
def test_the_sensor_follows_a_change_of_temperature_at_its_slew_rate(target, slew):
    own = {'gyro__temp_bias_coeff': 1e-4, 'temperature_slew_c_per_s': slew}
    sensor = imu(**own)
    run(sensor, [still(0, 1.0, base=EPOCH)])
    reconfigure(sensor, temperature_c=target, **own)
    got = run(sensor, [still(1.0, 2.0, base=EPOCH)])
    t = np.array([(s.t_ns - EPOCH) / SECOND for s in got]) - 1.0
    change = target - 25.0
    expected = 25.0 + np.sign(change) * np.minimum(slew * t, abs(change))
    temperature = np.array([s.temperature_c for s in got])
    np.testing.assert_allclose(temperature, expected, atol=1e-11)
    np.testing.assert_allclose(rates(got)[:, 1], 1e-4 * (expected - 25.0), atol=1e-15)
    arrived = temperature == target
    first = math.ceil(round(abs(change) / slew * 200, 6))
    # rounding may need one sample more
    assert not arrived[:first - 1].any() and arrived[first:].all()


def test_a_ramp_can_be_turned_back_on_its_way():
    own = {'temperature_slew_c_per_s': 10.0}
    sensor = imu(**own)
    reached = [25.0]
    for target in (95.0, 25.0, 25.0):
        reconfigure(sensor, temperature_c=target, **own)
        start = len(reached) - 1.0
        reached.append(run(sensor, [still(start, start + 1.0)])[-1].temperature_c)
    np.testing.assert_allclose(reached, [25.0, 35.0, 25.0, 25.0], atol=1e-9)


def test_the_temperature_goes_on_in_a_gap_of_the_truth():
    own = {'temperature_slew_c_per_s': 1.0}
    sensor = imu(**own)
    run(sensor, [still(0, 1.0)])
    reconfigure(sensor, temperature_c=35.0, **own)
    got = run(sensor, [still(1.0, 2.0), still(5.0, 6.0)])
    temperature = [s.temperature_c for s in got]
    np.testing.assert_allclose(temperature, [24.0 + s.t_ns / SECOND for s in got], atol=1e-11)


def test_a_transparent_sensor_has_a_temperature_but_not_its_errors():
    got = run(imu(fidelity='transparent', temperature_c=60.0, gyro__temp_bias_coeff=1e-3,
                  accel__temp_scale_coeff_ppm=100.0, vibration_grms=5.0, **READ_OUT),
              [still(0, 0.1)])
    assert {s.temperature_c for s in got} == {60.0}
    assert_constant(rates(got), (0, 0, 0))
    assert_constant(forces(got), REST, rtol=1e-15)


# ---------------------------------------------------------------------- rectification


def test_a_level_of_vibration_is_rectified_with_its_square_on_each_axis():
    gyro, accel = np.array((1e-3, 2e-3, 0.0)), np.array((1e-2, 0.0, -1e-2))
    got = run(imu(vibration_grms=3.0, gyro__vibration_rectification=tuple(gyro),
                  accel__vibration_rectification=tuple(accel)), [still(0, 0.5)])
    assert_constant(rates(got), 9.0 * gyro, rtol=1e-13)
    assert_constant(forces(got), REST + 9.0 * accel, rtol=1e-13)


@pytest.mark.parametrize('rotation', [(0, 0, 0), (0.4, -0.3, 0.0)])
def test_static_gravity_is_not_vibration(rotation):
    x, y, z, w = Rotation.from_euler('xyz', rotation).as_quat()
    got = run(imu(**READ_OUT), [still(0, 2, q=(w, x, y, z))])
    assert_constant(rates(got), (0, 0, 0), atol=1e-25)


def test_a_steady_turn_is_not_vibration():
    motion = pieces(turning((5.0, 0, 0), (0, 0, 1.0)), range(0, 2 * SECOND + 1, SECOND // 50))
    got = np.array([s.gyro_error.bias for s in run(imu(**READ_OUT), motion)])
    assert_constant(got, (0, 0, 0), atol=1e-20)


@pytest.mark.parametrize(('frequency', 'axis'), [(10.0, 0), (40.0, 1), (2.0, 2)])
def test_the_alternating_part_of_the_true_force_is_rectified(frequency, axis):
    amplitude = 0.5
    at = shaken(frequency, amplitude * G0, EPOCH, axis)
    sensor = imu(**READ_OUT)
    samples = sensor.feed(Motion(at, EPOCH, EPOCH + 3 * SECOND))
    got = rates(samples)
    # a whole number of periods in the window; the sensor sees means over its interval
    seen = amplitude**2 / 2.0 * np.sinc(frequency / 200.0) ** 2
    expected = np.zeros(3)
    expected[axis] = seen
    assert_constant(got[200:], expected, rtol=1e-3, atol=1e-12)
    assert seen == pytest.approx(amplitude**2 / 2.0, rel=0.13)


def test_vibration_that_is_over_is_forgotten_after_a_second():
    sensor = imu(**READ_OUT)
    sensor.feed(Motion(shaken(10.0, G0), 0, SECOND))
    after = rates(run(sensor, [still(1.0, 3.0)]))
    assert after[0, 0] > 0.4 and np.all(np.diff(after[:200, 0]) < 0.02)
    assert_constant(after[200:], (0, 0, 0), atol=1e-25)


def test_added_vibration_is_rectified_once_with_all_of_its_mean_square():
    sensor = imu(vibration__lines=(30.0, 0.4, 333.0, 0.3), vibration_grms=0.2, **READ_OUT)
    got = rates(run(sensor, [still(0, 2)]))
    assert_constant(got, (0.4**2 / 2 + 0.3**2 / 2 + 0.04,) * 3, rtol=1e-12)


# ---------------------------------------------------------------------- lines


def fit(values, t, frequency):
    """Return amplitude and phase of the cosine in each column, and what it leaves."""
    angle = 2.0 * math.pi * frequency * t
    design = np.column_stack([np.cos(angle), -np.sin(angle)])
    solution, *_ = np.linalg.lstsq(design, values, rcond=None)
    phase = np.arctan2(solution[1], solution[0])
    return np.hypot(*solution), phase, values - design @ solution


def seconds(samples):
    return np.array([s.t_ns for s in samples]) / SECOND


@pytest.mark.parametrize('rate', [200.0, 300.0])
def test_a_transparent_sensor_feels_the_exact_integral_of_a_line(rate):
    frequency, amplitude = 37.0, 0.25
    got = run(imu(fidelity='transparent', sample_rate_hz=rate,
                  vibration__lines=(frequency, amplitude)), [still(0, 1)])
    # of a mean over dt that ends at t the middle is at t - dt/2
    t = seconds(got)
    edges = np.array([0, *(s.t_ns for s in got)]) / SECOND
    w = 2.0 * math.pi * frequency
    size, phase, _ = fit(forces(got) - REST, t - 0.5 / rate, frequency)
    np.testing.assert_allclose(size, amplitude * G0 * np.sinc(frequency / rate), rtol=1e-6)
    exact = amplitude * G0 / w * np.diff(np.sin(w * edges[:, None] + phase), axis=0)
    np.testing.assert_allclose(deltas(got) - np.outer(np.diff(edges), REST), exact, atol=1e-8)
    # the phases of the three axes have nothing to do with one another
    assert min(abs(math.sin(a - b)) for a, b in itertools.combinations(phase, 2)) > 0.01


def test_lines_are_felt_in_the_axes_of_the_sensor_and_not_turned_by_the_mount():
    own = {'fidelity': 'transparent', 'vibration__lines': (37.0, 0.25)}
    level = forces(run(imu(**own), [still(0, 0.5)])) - REST
    down = forces(run(imu(mount__rpy=(math.pi, 0, 0), **own), [still(0, 0.5)])) - (0, 0, -G0)
    np.testing.assert_allclose(down, level, atol=1e-12)


def test_the_force_at_the_stamp_is_the_cosine_itself():
    got = run(imu(fidelity='transparent', rate_output='instant', vibration__lines=(37.0, 0.25)),
              [still(0, 1)])
    size, _, left = fit(forces(got) - REST, seconds(got), 37.0)
    np.testing.assert_allclose(size, 0.25 * G0, rtol=1e-12)
    assert np.abs(left).max() < 1e-11


@pytest.mark.parametrize('frequency', [90.0, 130.0])
@pytest.mark.parametrize('output', ['mean', 'instant'])
def test_a_line_above_half_the_sample_rate_aliases_and_the_low_pass_attenuates_it(
    frequency, output
):
    def aliased(**values):
        got = run(imu(sample_rate_hz=100, rate_output=output, vibration__lines=(frequency, 1.0),
                      **values), [still(0, 2)])[100:]
        size, _, left = fit(forces(got) - REST, seconds(got), abs(frequency - 100.0))
        assert np.abs(left).max() < 1e-6 * G0
        return size / G0

    averaged = abs(np.sinc(frequency / 100.0)) if output == 'mean' else 1.0
    np.testing.assert_allclose(aliased(), averaged, rtol=1e-9)
    low_pass = 1.0 / math.hypot(1.0, frequency / 40.0)
    decibels = 20.0 * np.log10(aliased(accel__bandwidth_hz=40.0) / (averaged * low_pass))
    assert np.abs(decibels).max() < (0.3 if frequency < 100.0 else 0.6)
    # the low-pass of the gyros has nothing to do with it
    np.testing.assert_allclose(aliased(gyro__bandwidth_hz=40.0), averaged, rtol=1e-9)


def test_lines_are_felt_by_the_gyros_through_their_g_sensitivity():
    got = run(imu(vibration__lines=(37.0, 0.25), gyro__g_sensitivity=0.1), [still(0, 0.5)])
    np.testing.assert_allclose(rates(got), 0.1 * forces(got) / G0, atol=1e-12)


def test_each_power_on_has_its_own_phases_and_each_seed():
    own = {'vibration__lines': (37.0, 0.25)}
    first, second = imu(**own), imu(**own)
    second.power_cycle()
    segment = [still(0, 0.5)]
    got = [forces(run(s, segment)) for s in (first, second, imu(seed=2, **own))]
    for a, b in itertools.combinations(got, 2):
        assert np.abs(a - b).max() > 0.1
    np.testing.assert_array_equal(got[0], forces(run(imu(**own), segment)))


# ---------------------------------------------------------------------- spectrum


def test_the_tones_of_a_flat_spectrum_have_its_mean_square():
    frequencies, amplitudes = spectrum_tones((20.0, 0.01, 500.0, 0.01))
    assert np.sum(amplitudes**2) / 2 == pytest.approx(0.01 * 480.0, rel=1e-12)
    assert frequencies[0] >= 20.0 and frequencies[-1] <= 500.0
    assert np.all(np.diff(frequencies) > 0.0)


@pytest.mark.parametrize('slope', [-2.0, -1.0, 1.0, 2.0])
def test_the_tones_of_a_sloped_spectrum_have_its_mean_square(slope):
    a, b, level = 10.0, 200.0, 1e-3
    frequencies, amplitudes = spectrum_tones((a, level, b, level * (b / a) ** slope))
    if slope == -1.0:
        integral = level * a * math.log(b / a)
    else:
        integral = level * a / (slope + 1.0) * ((b / a) ** (slope + 1.0) - 1.0)
    assert np.sum(amplitudes**2) / 2 == pytest.approx(integral, rel=1e-5)
    # and so has each part of the band
    half = math.sqrt(a * b)
    below = level * a * (math.log(half / a) if slope == -1.0 else
                         ((half / a) ** (slope + 1.0) - 1.0) / (slope + 1.0))
    power = np.sum(amplitudes[frequencies < half] ** 2) / 2
    assert power == pytest.approx(below, rel=1e-5)


def test_a_spectrum_of_several_corners_is_the_sum_of_its_pieces():
    corners = (15.0, 0.003, 106.0, 0.03, 240.0, 0.03, 500.0, 0.006)
    _, amplitudes = spectrum_tones(corners)
    integral = 0.0
    for (f0, s0), (f1, s1) in itertools.pairwise(zip(corners[::2], corners[1::2], strict=True)):
        n = math.log(s1 / s0) / math.log(f1 / f0)
        integral += s0 * f0 / (n + 1.0) * ((f1 / f0) ** (n + 1.0) - 1.0)
    # the corners lie within parts of the band
    assert np.sum(amplitudes**2) / 2 == pytest.approx(integral, rel=1e-3)


def test_the_spectrum_of_a_record_is_the_given_one():
    psd, rate = (20.0, 1e-3, 80.0, 1e-3), 400.0
    sensor = imu(fidelity='transparent', sample_rate_hz=rate, vibration__psd=psd)
    values = (forces(run(sensor, [still(0, 20)])) - REST) / G0
    f, density = signal.welch(values, fs=rate, nperseg=2048, axis=0)
    density /= np.sinc(f / rate)[:, None] ** 2  # the mean over an interval
    # bands of sixteen tones each
    edges = np.geomspace(20.0, 80.0, 65)[::16]
    for low, high in itertools.pairwise(edges):
        band = (f >= low) & (f < high)
        np.testing.assert_allclose(density[band].mean(axis=0), 1e-3, rtol=0.1)
    outside = (f < 18.0) | (f > 82.0)
    assert density[outside].max() < 1e-6
    total = density.sum(axis=0) * (f[1] - f[0])
    np.testing.assert_allclose(total, 1e-3 * 60.0, rtol=0.03)


def test_lines_and_spectrum_add():
    own = {'vibration__lines': (37.0, 0.25), 'vibration__psd': (20.0, 1e-3, 80.0, 1e-3)}
    sensor = imu(**own, **READ_OUT)
    assert_constant(rates(run(sensor, [still(0, 0.1)])), (0.25**2 / 2 + 0.06,) * 3, rtol=1e-9)


@pytest.mark.parametrize(('name', 'value', 'says'), [
    ('lines', (10.0,), 'groups of 2 finite numbers'),
    ('lines', (10.0, 1.0, 20.0), 'groups of 2 finite numbers'),
    ('lines', 10.0, 'groups of 2 finite numbers'),
    ('lines', (0.0, 1.0), 'frequencies must be above 0 Hz'),
    ('lines', (-10.0, 1.0), '>= 0'),
    ('lines', (10.0, -1.0), '>= 0'),
    ('lines', (10.0, math.nan), 'finite'),
    ('lines', (math.inf, 1.0), 'finite'),
    ('lines', 'none', 'groups of 2 finite numbers'),
    ('lines', (True, 1.0), 'groups of 2 finite numbers'),
    ('psd', (20.0, 1e-3), 'two corners or more'),
    ('psd', (80.0, 1e-3, 20.0, 1e-3), 'frequencies rising'),
    ('psd', (20.0, 1e-3, 20.0, 1e-3), 'frequencies rising'),
    ('psd', (20.0, 1e-3, 80.0, 0.0), 'all numbers above 0'),
    ('psd', (0.0, 1e-3, 80.0, 1e-3), 'all numbers above 0'),
    ('psd', (20.0, -1e-3, 80.0, 1e-3), '>= 0'),
    ('psd', (20.0, 1e-3, 80.0), 'groups of 2 finite numbers'),
])
def test_bad_tables_are_refused_with_their_name_and_what_is_allowed(name, value, says):
    with pytest.raises(ParameterError) as caught:
        settings('imu', **{f'vibration__{name}': value})
    assert str(caught.value).startswith(f'vibration.{name} = ')
    assert says in str(caught.value)


@pytest.mark.parametrize('off', [0, 0.0, ()])
def test_0_and_an_empty_table_are_off(off):
    plain = run(imu(**NOISE), [still(0, 0.1)])
    assert run(imu(vibration__lines=off, vibration__psd=off, **NOISE), [still(0, 0.1)]) == plain


# ---------------------------------------------------------------------- switching

SWITCHED = {
    'temp_bias_coeff': {'temperature_c': 35.0, 'gyro__temp_bias_coeff': 1e-3,
                        'accel__temp_bias_coeff': 1e-2},
    'temp_scale_coeff': {'temperature_c': 35.0, 'accel__temp_scale_coeff_ppm': 100.0,
                         'gyro__temp_scale_coeff_ppm': 100.0},
    'vibration_rectification': {'vibration_grms': 2.0, 'gyro__vibration_rectification': 1e-2,
                                'accel__vibration_rectification': 1e-2},
    'lines': {'vibration__lines': (37.0, 0.25)},
    'psd': {'vibration__psd': (20.0, 1e-3, 80.0, 1e-3)},
}


@pytest.mark.parametrize('name', SWITCHED)
def test_each_acts_from_the_next_sample_and_disturbs_nothing_else(name):
    plain, switched, alone = imu(**NOISE), imu(**NOISE), imu()
    changes = [{}, SWITCHED[name], {}, SWITCHED[name]]
    got, reference, effect = [], [], []
    for i, change in enumerate(changes):
        reconfigure(switched, **NOISE, **change)
        reconfigure(alone, **change)
        segment = [still(0.5 * i, 0.5 * i + 0.5, base=EPOCH)]
        got.append(run(switched, segment))
        reference.append(run(plain, segment))
        effect.append(run(alone, segment))
    for i, change in enumerate(changes):
        if not change:
            assert [s.specific_force for s in got[i]] == [s.specific_force for s in reference[i]]
            assert [s.angular_velocity for s in got[i]] == [
                s.angular_velocity for s in reference[i]]
            continue
        assert got[i][0].specific_force != reference[i][0].specific_force
        np.testing.assert_allclose(
            forces(got[i]) - forces(reference[i]), forces(effect[i]) - REST, atol=1e-12)
        np.testing.assert_allclose(
            rates(got[i]) - rates(reference[i]), rates(effect[i]), atol=1e-12 + (
                1e-3 * 1e-3 if name == 'temp_scale_coeff' else 0.0))
