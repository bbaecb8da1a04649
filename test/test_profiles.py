"""Device profiles against the printed numbers in docs/devices.md, converted once more here."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pytest

from jaguar_sensors_ros.component import build, declarations
from jaguar_sensors_ros.sensors.imu_settings import GRADES, ImuSettings
from jaguar_sensors_ros.sensors.profiles import (
    DEVICE_GRADES,
    DEVICES,
    GRADE_COMPLETION,
    SOURCES,
)

PAGE = (Path(__file__).parents[1] / 'docs' / 'devices.md').read_text(encoding='utf-8')
DECLARED = {declared.name for declared in declarations(ImuSettings)}
#: parameters of temperature and vibration that a version without these terms does not have
TERMS_APART = {
    f'{triad}.{name}'
    for triad in ('gyro', 'accel')
    for name in ('temp_bias_coeff', 'temp_scale_coeff_ppm', 'vibration_rectification')
}

ANGLE = math.tau / 360.0
GRAVITY = 9.80665
UNITS = {
    '°': ANGLE, '°/s': ANGLE, '°/s/K': ANGLE, '°/s/g': ANGLE, '°/s/g²': ANGLE, '°/s/√Hz': ANGLE,
    '°/h': ANGLE / 3600, '°/h/g': ANGLE / 3600, '°/h/g²': ANGLE / 3600,
    '°/√h': ANGLE / math.sqrt(3600), 'm/s/√h': 1 / math.sqrt(3600), 'mrad': 0.001,
    'g': GRAVITY, 'mg': GRAVITY / 1000, 'mg/K': GRAVITY / 1000, 'mg/g²': GRAVITY / 1000,
    'µg': GRAVITY / 1e6, 'µg/√Hz': GRAVITY / 1e6,
    '%/K': 10000, '% FS': 10000, 'ppm': 1, 'ppm FS': 1, 'Hz': 1, 's': 1,
}
READINGS = {
    '': 1.0,
    'one-sided': 0.7071067811865476,
    'axis to axis': 0.7071067811865476,
    'Allan minimum': 1.0 / 0.6642824702679602,  # sqrt(2 ln 2 / pi)
    'maximum, 3 sigma': 1.0 / 3.0,
    'rms over temperature': 1.0 / math.sqrt(
        sum((t - 25.0) ** 2 for t in (-40.0, 22.5, 22.5, 22.5, 22.5, 85.0)) / 6.0
    ),  # Simpson's rule, exact for a square
    'at 10 g of 40 g': 4.0,
}


def tables():
    """Yield (device, parameter, printed, unit, reading, SI value) for every row."""
    device = None
    for line in PAGE.splitlines():
        if match := re.match(r'`(\w+)`: ', line):
            device = match[1]
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if device and len(cells) == 6 and cells[0].startswith('`'):
            yield device, cells[0].strip('`'), *cells[1:5]


ROWS = list(tables())


def converted(name, printed, unit, reading):
    if reading == 'one LSB':
        return {'LSB/(°/s)': ANGLE, 'LSB/g': GRAVITY}[unit] / printed
    if reading == 'rises to this at 3600 s':  # printed^2 = 8^2 + K^2 tau / 3
        return math.sqrt((printed**2 - 64.0) / 1200.0) * UNITS[unit]
    if unit == '%':
        return printed * (10000.0 if name.endswith('_ppm') else 0.01)
    return printed * UNITS[unit] * READINGS[reading]


def as_list(value):
    return list(value) if isinstance(value, tuple) else [value]


@pytest.mark.parametrize(('device', 'name', 'printed', 'unit', 'reading', 'shown'), ROWS)
def test_the_parameter_is_the_printed_number_converted(
    device, name, printed, unit, reading, shown
):
    expected = [converted(name, float(x), unit, reading) for x in printed.split('; ')]
    assert as_list(DEVICES[device][name]) == pytest.approx(expected, rel=1e-12)
    assert [float(x) for x in shown.split('; ')] == pytest.approx(expected, rel=1e-5)


def test_every_number_of_every_device_is_in_the_tables_and_has_a_source():
    listed = {(device, name) for device, name, *_ in ROWS}
    numbers = {
        (device, name)
        for device, values in DEVICES.items()
        for name, value in values.items()
        if not isinstance(value, bool | str)
    }
    assert numbers == listed
    assert len(ROWS) == len(listed)
    assert DEVICES.keys() == SOURCES.keys() == DEVICE_GRADES.keys()
    assert all(SOURCES[device] in PAGE for device in DEVICES)
    assert set(DEVICE_GRADES.values()) <= GRADES.keys()


@pytest.mark.parametrize('device', DEVICES)
def test_a_device_is_made_of_declared_parameters_and_is_accepted(device):
    values = DEVICES[device]
    assert values.keys() <= DECLARED | TERMS_APART
    known = {name: value for name, value in values.items() if name in DECLARED}
    settings = build(ImuSettings, {'grade': 'custom', **known})
    assert settings.gyro.draw_unit
    assert settings.accel.draw_unit


@pytest.mark.parametrize('device', DEVICES)
def test_an_allan_minimum_is_modelled_as_flicker(device):
    values = DEVICES[device]
    for triad, bias in (('gyro', 'bias_g_init_std'), ('accel', 'bias_a_init_std')):
        assert (values.get(f'{triad}.bias_model') == 'flicker') == (bias in values)


def in_degrees(value):
    return math.degrees(value)


def test_the_white_noise_of_the_bmi088_gives_its_printed_rms():
    # 0.1 deg/s rms at 47 Hz: the variance N^2 per hertz on both sides of zero
    n = in_degrees(DEVICES['bmi088']['gyro.white_noise_density'])
    assert n * math.sqrt(2.0 * 47.0) == pytest.approx(0.1, rel=0.05)


def test_the_random_walks_of_the_adis16470_give_its_one_sided_densities():
    values = DEVICES['adis16470']
    gyro = in_degrees(values['gyro.white_noise_density']) * math.sqrt(2.0)
    assert gyro == pytest.approx(0.008, rel=0.005)  # deg/s/sqrt(Hz)
    accel = values['accel.white_noise_density'] / GRAVITY * 1e6 * math.sqrt(2.0)
    assert accel == pytest.approx(100.0, rel=0.12)  # ug/sqrt(Hz)


def test_the_allan_deviation_of_the_stim300_at_600_s_is_the_printed_one():
    # table 5-3 prints 0.5 deg/h at 600 s beside the minimum 0.3 and 0.15 deg/sqrt(h)
    values = DEVICES['stim300']
    white = values['gyro.white_noise_density'] / math.sqrt(600.0)
    floor = values['bias_g_init_std'] * 0.6642824702679602
    total = in_degrees(math.hypot(white, floor)) * 3600.0
    assert total == pytest.approx(0.5, rel=0.06)
    at_1_s = in_degrees(values['gyro.white_noise_density']) * 3600.0
    assert at_1_s == pytest.approx(9.0, rel=1e-12)  # figure 5-3


@pytest.mark.parametrize('device', DEVICES)
def test_no_device_rounds_more_coarsely_than_its_noise_at_200_hz(device):
    values = DEVICES[device]
    for triad in ('gyro', 'accel'):
        step = values.get(f'{triad}.resolution', 0.0)
        assert step < min(as_list(values.get(f'{triad}.white_noise_density', math.inf))) * (
            math.sqrt(200.0)
        )


@pytest.mark.parametrize('grade', GRADE_COMPLETION)
def test_the_completion_of_a_grade_is_declared_sourced_and_accepted(grade):
    completion = GRADE_COMPLETION[grade]
    assert completion.keys() <= DECLARED
    assert all(source for _, source in completion.values())
    opened = {'tau_bias_g_s', 'tau_bias_a_s'} | {
        f'{triad}.{name}'
        for triad in ('gyro', 'accel')
        for name in ('scale_factor_ppm', 'random_walk', 'range', 'bandwidth_hz', 'draw_unit')
    }
    assert opened <= completion.keys()
    values = {name: value for name, (value, _) in completion.items()}
    build(ImuSettings, {'grade': grade, **GRADES[grade], **values})
    for name, value in values.items():
        shown = str(value).lower() if isinstance(value, bool) else f'{value:.6g}'
        assert f'| {grade} | `{name}` | {shown} | {completion[name][1]} |' in PAGE


@pytest.mark.parametrize('grade', GRADE_COMPLETION)
def test_a_grade_has_the_resolution_of_document_000_only_where_its_noise_allows(grade):
    for triad, step in (('gyro', 1e-4), ('accel', 1e-3)):
        sigma = GRADES[grade][f'{triad}.white_noise_density'] * math.sqrt(10.0)
        given = f'{triad}.resolution' in GRADE_COMPLETION[grade]
        assert given == (step < sigma)
        if given:
            assert GRADE_COMPLETION[grade][f'{triad}.resolution'][0] == step


def test_the_completion_fits_the_figures_it_is_read_from():
    # the Gauss-Markov peak, at 1.89 tau, lies where the curves of the parts are lowest
    assert 1.89 * GRADE_COMPLETION['industrial']['tau_bias_g_s'][0] == pytest.approx(190, rel=0.01)
    k = math.degrees(GRADE_COMPLETION['industrial']['gyro.random_walk'][0]) * 3600.0
    assert math.hypot(8.0, k * math.sqrt(3600.0 / 3.0)) == pytest.approx(11.5)
    k = GRADE_COMPLETION['tactical']['accel.random_walk'][0] / GRAVITY * 1e3
    assert math.hypot(0.04, k * math.sqrt(7000.0 / 3.0)) == pytest.approx(0.055)
