"""What the declarations refuse, and what they say then."""

from __future__ import annotations

import array
import math

import numpy as np
import pytest
from core_helpers import imu, reconfigure

from jaguar_sensors_ros.catalogue import SENSORS, make_settings
from jaguar_sensors_ros.component import (
    AUTO,
    Declaration,
    ParameterError,
    build,
    declarations,
)

BAD = [
    ('imu', 'gyro.white_noise_density', -1e-3, '>= 0'),
    ('imu', 'gyro.white_noise_density', math.nan, 'finite'),
    ('imu', 'gyro.white_noise_density', [1e-3, math.inf, 0.0], 'finite'),
    ('imu', 'gyro.white_noise_density', [1e-3, 1e-3], '3 numbers'),
    ('imu', 'gyro.white_noise_density', [], '3 numbers'),
    ('imu', 'gyro.white_noise_density', 'much', '3 numbers'),
    ('imu', 'gyro.white_noise_density', True, '3 numbers'),
    ('imu', 'gyro.white_noise_density', [True, 0.0, 0.0], '3 numbers'),
    ('imu', 'bias_g_init_std', -1.0, 'rad/s'),
    ('imu', 'tau_bias_g_s', 0.0, '> 0'),
    ('imu', 'tau_bias_a_s', -3.0, '> 0'),
    ('imu', 'sample_rate_hz', 0.0, 'Hz'),
    ('imu', 'sample_rate_hz', 1e9, '<= 100000'),
    ('imu', 'increments.samples', 3, '<= 2'),
    ('imu', 'increments.samples', 1.5, 'whole'),
    ('imu', 'grade', 'excellent', 'tactical'),
    ('imu', 'orientation.output', 'none ', 'truth'),
    ('imu', 'gyro.bias_model', 'pink', 'flicker'),
    ('imu', 'gyro.cross_axis', 1.0, 'singular'),
    ('imu', 'gyro.cross_axis', [1.0, 1, 1, 1, 1, 1, 1, 1, 1], 'singular'),
    ('imu', 'gyro.cross_axis', [1.0] * 8, '9 numbers'),
    ('imu', 'gyro.g_sensitivity', [1.0, 2.0], '9 numbers'),
    ('imu', 'gyro_lsb', -1.0, '>= 0'),
    ('imu', 'enabled', 1, 'true or false'),
    ('imu', 'enabled', 'true', 'true or false'),
    ('imu', 'earth.rotation', 'on', 'auto'),
    ('imu', 'origin', [91.0, 0.0, 0.0], 'latitude'),
    ('imu', 'origin', [0.0, 181.0, 0.0], 'longitude'),
    ('imu', 'origin', 47.0, '3 numbers'),
    ('imu', 'mount.position', [1.0, math.nan, 0.0], 'finite'),
    ('imu', 'covariance.orientation', -1.0, '>= 0'),
    ('imu', 'covariance.angular_velocity', [1.0, 0.5, 0, 0, 1, 0, 0, 0, 1], 'symmetric'),
    ('imu', 'random_seed', -2, '>= -1'),
    ('imu', 'random_seed', 0.5, 'whole'),
    ('imu', 'failure.probability', 1.1, '<= 1'),
    ('imu', 'latency_s', -0.1, '>= 0'),
    ('imu', 'truth.max_gap_s', 0, '> 0'),
    ('gps', 'pos_std_dev', -5.0, '>= 0'),
    ('gps', 'pos_std_dev', [1.0, 2.0, 3.0], '2 numbers'),
    ('gps', 'pos_correlated_fraction', 1.5, '<= 1'),
    ('gps', 'pos_correlation_time_s', 0.0, '> 0'),
    ('gps', 'satellites', 4.5, 'whole'),
    ('gps', 'satellites', -1, '>= 0'),
    ('gps', 'fix_type', 'good', 'rtk_fixed'),
    ('gps', 'update_hz', 0.0, 'Hz'),
]


@pytest.mark.parametrize(('kind', 'name', 'value', 'says'), BAD)
def test_a_bad_value_is_refused_with_name_value_and_what_is_allowed(kind, name, value, says):
    with pytest.raises(ParameterError) as refusal:
        make_settings(kind, {name: value})
    assert refusal.value.name == name
    text = str(refusal.value)
    assert text.startswith(f'{name} = ')
    assert says in text


@pytest.mark.parametrize(('values', 'name'), [
    ({'gyro.resolution': 1e-4, 'gyro_lsb': 1e-6}, 'gyro.resolution'),
    ({'accel.resolution': 1e-4, 'accel_lsb': 1e-6}, 'accel.resolution'),
    ({'gyro.white_noise_psd': 1e-8, 'gyro.white_noise_density': 1e-4}, 'gyro.white_noise_psd'),
    ({'grade': 'custom', 'accel.nonlinearity_ppm': 10.0}, 'accel.nonlinearity_ppm'),
])
def test_values_that_contradict_one_another_are_refused(values, name):
    with pytest.raises(ParameterError) as refusal:
        make_settings('imu', values)
    assert refusal.value.name == name


@pytest.mark.parametrize(('kind', 'wrong', 'right'), [
    ('imu', 'gyro.white_noise_densty', 'gyro.white_noise_density'),
    ('imu', 'sample_rate', 'sample_rate_hz'),
    ('gps', 'pos_stddev', 'pos_std_dev'),
    ('gps', 'mount.postion', 'mount.position'),
])
def test_an_unknown_name_is_refused_with_the_nearest(kind, wrong, right):
    with pytest.raises(ParameterError, match=f'did you mean {right}'):
        make_settings(kind, {wrong: 1.0})


def test_a_refused_change_leaves_the_sensor_as_it_was():
    sensor = imu(grade='tactical')
    before = sensor.settings
    with pytest.raises(ParameterError):
        reconfigure(sensor, tau_bias_g_s=0.0)
    with pytest.raises(ParameterError):
        reconfigure(sensor, failure__mode='wobble', gyro__range=1.0)
    assert sensor.settings is before


@pytest.mark.parametrize(('value', 'expected'), [
    (1, (1.0, 1.0, 1.0)),
    ([2], (2.0, 2.0, 2.0)),
    ((1, 2, 3), (1.0, 2.0, 3.0)),
    (np.array([1.0, 2.0, 3.0]), (1.0, 2.0, 3.0)),
    (array.array('d', [1.0, 2.0, 3.0]), (1.0, 2.0, 3.0)),
    (np.float64(0.5), (0.5, 0.5, 0.5)),
])
def test_vectors_take_a_number_or_three_of_any_kind(value, expected):
    got = make_settings('imu', {'mount.position': value}).mount.position
    assert got == expected
    assert all(type(x) is float for x in got)


def test_an_array_where_auto_is_allowed_is_an_array():
    got = make_settings('imu', {'covariance.orientation': np.array([1.0, 2.0, 3.0])})
    assert got.covariance.orientation == (1.0, 2.0, 3.0)
    assert make_settings('imu', {}).covariance.orientation == AUTO


@pytest.mark.parametrize('seed', [0, 1, 2**53 + 1, 2**63 - 1, 1234567890123456789])
def test_a_seed_keeps_every_digit(seed):
    assert make_settings('imu', {'random_seed': seed}).random_seed == seed


def test_horizontal_and_vertical_may_be_one_number():
    assert make_settings('gps', {'pos_std_dev': 3}).pos_std_dev == (3.0, 3.0)
    assert make_settings('gps', {'pos_std_dev': [3, 5]}).pos_std_dev == (3.0, 5.0)


@pytest.mark.parametrize('kind', SENSORS)
def test_every_declaration_is_complete_and_its_default_is_allowed(kind):
    settings_class = SENSORS[kind][1]
    found = declarations(settings_class)
    assert len({d.name for d in found}) == len(found)
    for declared in found:
        assert isinstance(declared, Declaration)
        assert declared.doc.endswith('.')
        assert '{' not in declared.unit
        checked = declared.check(declared.default)
        assert declared.check(checked) == checked
        assert declared.allowed()
    assert build(settings_class, {}) == settings_class()
    defaults = {d.name: d.default for d in found}
    assert build(settings_class, defaults) == settings_class()


@pytest.mark.parametrize('kind', SENSORS)
def test_every_number_refuses_nan_and_text(kind):
    for declared in declarations(SENSORS[kind][1]):
        if declared.kind in ('number', 'vector', 'integer'):
            for bad in (math.nan, math.inf, 'x', None, [None]):
                with pytest.raises(ParameterError):
                    build(SENSORS[kind][1], {declared.name: bad})
