"""Real devices as parameter values, and what the grade table leaves open.

Every number is written as its datasheet prints it, times a unit.  What a datasheet does not
print is left out.  docs/devices.md gives the table, the readings and the reasons.
"""

from __future__ import annotations

import math
from typing import TypeAlias

from jaguar_sensors_ros.errors.stochastic import FLICKER_FLOOR
from jaguar_sensors_ros.nav.earth import STANDARD_GRAVITY

Value: TypeAlias = float | bool | str | tuple[float, ...]

DEG = math.pi / 180.0
DEG_PER_H = DEG / 3600.0
DEG_PER_SQRT_H = DEG / 60.0
M_S_PER_SQRT_H = 1.0 / 60.0
G = STANDARD_GRAVITY
MILLI_G = 1e-3 * G
MICRO_G = 1e-6 * G
MILLI_RAD = 1e-3
PERCENT = 0.01
#: percent of a value, or of full scale, in ppm
PERCENT_PPM = 1e4

#: one-sided density (rms = density x sqrt(bandwidth)) to the random walk N
ONE_SIDED = 1.0 / math.sqrt(2.0)
#: minimum of the Allan deviation to the flicker coefficient B
ALLAN_MINIMUM = 1.0 / FLICKER_FLOOR
#: error of the angle between two axes to the independent tilt of each
AXIS_TO_AXIS = 1.0 / math.sqrt(2.0)
#: limit of three standard deviations
MAX_3_SIGMA = 1.0 / 3.0
#: rms over -40 to +85 degC to the slope of a line through zero at 25 degC; the rms distance
#: from 25 degC in that range is sqrt(125^2 / 12 + 2.5^2) = 36.17 degC
RMS_OVER_TEMPERATURE = 1.0 / math.sqrt(125.0**2 / 12.0 + 2.5**2)

#: parts by name; the numbers are those of the document in SOURCES unless a comment says more
DEVICES: dict[str, dict[str, Value]] = {
    'bmi088': {
        'bias_g_init_std': 2.0 * DEG_PER_H * ALLAN_MINIMUM,  # flyer: bias stability < 2 deg/h
        'tau_bias_g_s': 3600.0,  # not printed: reach of the flicker sum
        'gyro.bias_model': 'flicker',
        'gyro.white_noise_density': 0.014 * DEG * ONE_SIDED,  # table 5: output noise
        'gyro.turn_on_bias_std': 1.0 * DEG,  # table 5: zero-rate offset
        'gyro.temp_bias_coeff': 0.015 * DEG,  # table 5: offset over temperature, per K
        'gyro.scale_factor_ppm': 1.0 * PERCENT_PPM,  # table 5: sensitivity tolerance
        'gyro.temp_scale_coeff_ppm': 0.03 * PERCENT_PPM,  # table 5: sensitivity, per K
        'gyro.nonlinearity_ppm': 0.05 * PERCENT_PPM,  # table 5, of full scale
        'gyro.cross_axis': 1.0 * PERCENT,  # table 5: cross axis sensitivity
        'gyro.g_sensitivity': 0.1 * DEG * MAX_3_SIGMA,  # table 5, maximum
        'gyro.range': 2000.0 * DEG,  # table 5, reset value
        'gyro.resolution': DEG / 16.384,  # table 5: LSB per deg/s
        'gyro.bandwidth_hz': 64.0,  # 5.5.5: output data rate 200 Hz
        'gyro.draw_unit': True,
        'accel.white_noise_density': (
            160.0 * MICRO_G * ONE_SIDED,  # table 4: output noise density
            160.0 * MICRO_G * ONE_SIDED,
            190.0 * MICRO_G * ONE_SIDED,
        ),
        'accel.turn_on_bias_std': 20.0 * MILLI_G,  # table 4: zero-g offset
        'accel.temp_bias_coeff': 0.2 * MILLI_G,  # table 4: < 0.2 mg/K
        'accel.temp_scale_coeff_ppm': 0.002 * PERCENT_PPM,  # table 4: sensitivity, per K
        'accel.misalignment': 0.5 * DEG,  # table 4: alignment error
        'accel.cross_axis': 0.5 * PERCENT,  # table 4: cross axis sensitivity
        'accel.range': 6.0 * G,  # table 4; 5.3.9: reset value
        'accel.resolution': G / 5460.0,  # table 4: LSB per g
        'accel.bandwidth_hz': 80.0,  # table 8: normal mode, 200 Hz
        'accel.draw_unit': True,
    },
    'adis16470': {
        'bias_g_init_std': 8.0 * DEG_PER_H * ALLAN_MINIMUM,  # in run stability; figure 8
        'bias_a_init_std': 13.0 * MICRO_G * ALLAN_MINIMUM,  # in run stability; figure 11
        'tau_bias_g_s': 3600.0,  # figure 8: flat from 10 s on
        'tau_bias_a_s': 3600.0,  # figure 11: flat from 100 s to 3600 s
        'gyro.bias_model': 'flicker',
        'gyro.white_noise_density': 0.34 * DEG_PER_SQRT_H,  # angular random walk
        # figure 8: the Allan deviation has risen from 8 deg/h to 11.5 deg/h at 3600 s
        'gyro.random_walk': math.sqrt((11.5**2 - 8.0**2) * 3.0 / 3600.0) * DEG_PER_H,
        'gyro.turn_on_bias_std': 0.2 * DEG,  # bias error over temperature, 1 sigma
        'gyro.scale_factor_ppm': 0.25 * PERCENT_PPM,  # sensitivity error over temperature
        'gyro.nonlinearity_ppm': 0.25 * PERCENT_PPM,  # of full scale
        'gyro.cross_axis': 0.1 * DEG * AXIS_TO_AXIS,  # misalignment, axis to axis
        'gyro.g_sensitivity': 0.015 * DEG,  # linear acceleration effect, 1 sigma
        'gyro.vibration_rectification': 0.0005 * DEG,  # vibration rectification error
        'gyro.range': 2000.0 * DEG,
        'gyro.resolution': DEG / 655360.0,  # 32-bit format: LSB per deg/s
        'gyro.bandwidth_hz': 550.0,
        'gyro.draw_unit': True,
        'accel.bias_model': 'flicker',
        'accel.white_noise_density': 0.037 * M_S_PER_SQRT_H,  # velocity random walk
        'accel.turn_on_bias_std': 4.0 * MILLI_G,  # bias error over temperature, 1 sigma
        'accel.scale_factor_ppm': 0.1 * PERCENT_PPM,  # sensitivity error over temperature
        # 0.02 % at 10 g, where the quadratic law of a 40 g range has the fourth part
        'accel.nonlinearity_ppm': 0.02 * PERCENT_PPM * 40.0 / 10.0,
        'accel.cross_axis': 0.1 * DEG * AXIS_TO_AXIS,  # misalignment, axis to axis
        'accel.range': 40.0 * G,
        'accel.resolution': G / 52428800.0,  # 32-bit format: LSB per g
        'accel.bandwidth_hz': 600.0,
        'accel.draw_unit': True,
    },
    'stim300': {
        'bias_g_init_std': 0.3 * DEG_PER_H * ALLAN_MINIMUM,  # table 5-3: minimum
        'bias_a_init_std': 0.005 * MILLI_G * ALLAN_MINIMUM,  # table 5-5: minimum
        'tau_bias_g_s': 3600.0,  # figure 5-3: flat to the end at 7000 s
        'tau_bias_a_s': 3600.0,  # not printed for these accelerometers
        'gyro.bias_model': 'flicker',
        'gyro.white_noise_density': 0.15 * DEG_PER_SQRT_H,  # table 5-3
        'gyro.turn_on_bias_std': 4.0 * DEG_PER_H,  # table 5-3: bias run-run
        'gyro.temp_bias_coeff': 10.0 * DEG_PER_H * RMS_OVER_TEMPERATURE,  # table 5-3
        'gyro.scale_factor_ppm': 500.0,  # table 5-3: accuracy
        'gyro.nonlinearity_ppm': 20.0,  # table 5-3
        'gyro.misalignment': 1.0 * MILLI_RAD,  # table 5-3
        'gyro.cross_axis': 0.2 * MILLI_RAD * AXIS_TO_AXIS,  # table 5-3: orthogonality error
        'gyro.g_sensitivity': 7.0 * DEG_PER_H,  # table 5-3: no g-compensation
        'gyro.vibration_rectification': 0.03 * DEG_PER_H,  # figure 5-1: 50 to 700 Hz
        'gyro.range': 480.0 * DEG,  # table 5-3, note 1: saturation; full scale is 400 deg/s
        'gyro.resolution': 0.22 * DEG_PER_H,  # table 5-3
        'gyro.bandwidth_hz': 262.0,  # table 5-3
        'gyro.draw_unit': True,
        'accel.bias_model': 'flicker',
        'accel.white_noise_density': 0.024 * M_S_PER_SQRT_H,  # table 5-5
        'accel.turn_on_bias_std': 1.9 * MILLI_G,  # table 5-5: bias 1 year stability
        'accel.temp_bias_coeff': 1.1 * MILLI_G * RMS_OVER_TEMPERATURE,  # table 5-5
        'accel.scale_factor_ppm': 600.0,  # table 5-5: 1 year stability
        'accel.nonlinearity_ppm': 200.0,  # table 5-5
        'accel.misalignment': 1.0 * MILLI_RAD,  # table 5-5
        'accel.cross_axis': 0.2 * MILLI_RAD * AXIS_TO_AXIS,  # table 5-5: orthogonality error
        'accel.vibration_rectification': 0.2 * MILLI_G,  # figure 5-2: 50 to 300 Hz
        'accel.range': 10.0 * G,  # table 5-5
        'accel.resolution': 1.9 * MICRO_G,  # table 5-5
        'accel.bandwidth_hz': 248.0,  # table 5-5
        'accel.draw_unit': True,
    },
    # Bias figures are 1 sigma of what remains after calibration; none of them is an Allan
    # minimum.  Ranges are not in the source, nor is the accelerometer noise.
    'hg9900': {
        'earth.rotation': True,
        'gyro.white_noise_density': 0.002 * DEG_PER_SQRT_H,  # maximum
        'gyro.turn_on_bias_std': 0.0035 * DEG_PER_H,
        'gyro.scale_factor_ppm': 5.0,
        'gyro.draw_unit': True,
        'accel.white_noise_density': 0.003 * M_S_PER_SQRT_H,  # document 000, navigation
        'accel.turn_on_bias_std': 25.0 * MICRO_G,
        'accel.scale_factor_ppm': 100.0,
        'accel.draw_unit': True,
    },
}

#: document of each device
SOURCES: dict[str, str] = {
    'bmi088': (
        'Bosch Sensortec BMI088 data sheet, BST-BMI088-DS001-14, revision 1.4, September 2018; '
        'bias stability: product flyer BST-DHW-FL025-01, version 1.0, January 2018 (preliminary)'
    ),
    'adis16470': 'Analog Devices ADIS16470 data sheet, Rev. A, November 2017, table 1',
    'stim300': 'Safran Sensonor STIM300 datasheet, TS1524 rev. 31, February 2024 (10 g version)',
    'hg9900': (
        'Honeywell HG9900 brochure N61-1638-000-000, as quoted in the documentation of '
        'NavToolkit (navtk::filtering::hg9900_model); the brochure itself was not seen'
    ),
}

#: grade of each device in the sense of document 000
DEVICE_GRADES: dict[str, str] = {
    'bmi088': 'consumer',
    'adis16470': 'industrial',
    'stim300': 'tactical',
    'hg9900': 'navigation',
}

_DOC_000 = 'document 000, struct default'
_ICM = 'TDK ICM-42688-P, DS-000347 rev. 1.5, tables 1 and 2: initial tolerance'
_ADIS = 'ADIS16470 Rev. A, table 1: sensitivity error over temperature'
_ADIS_TAU = 'ADIS16470 Rev. A, figures 8 and 11: minimum at 1.89 tau'
_STIM_TAU = 'STIM300 TS1524 rev. 31, figure 5-3: minimum at 1.89 tau'
_STIM_TAU_A = 'STIM300 rev. 31, figure 5-11 (older accelerometers): minimum at 1.89 tau'
_HG4930 = 'Honeywell HG4930CA51, N61-1175-000-007, page 5: scale factor repeatability, 1 sigma'
_HG9900 = 'HG9900 brochure N61-1638-000-000 as quoted by NavToolkit, 1 sigma'
_TAU_DEFAULT = 'document 001, default; no datasheet seen of this grade has an Allan curve'
_NOT_PRINTED = 'no datasheet seen of this grade prints one'

_COMMON: dict[str, tuple[Value, str]] = {
    'gyro.bandwidth_hz': (100.0, _DOC_000),
    'accel.bandwidth_hz': (100.0, _DOC_000),
    'gyro.draw_unit': (True, 'scale factors are figures of a population'),
    'accel.draw_unit': (True, 'scale factors are figures of a population'),
}

#: what document 000's grade table leaves open: parameter -> (value, source)
GRADE_COMPLETION: dict[str, dict[str, tuple[Value, str]]] = {
    'consumer': {
        **_COMMON,
        'gyro.scale_factor_ppm': (0.5 * PERCENT_PPM, _ICM),
        'accel.scale_factor_ppm': (0.5 * PERCENT_PPM, _ICM),
        'tau_bias_g_s': (100.0, _ADIS_TAU + ' (industrial; none seen for consumer)'),
        'tau_bias_a_s': (300.0, _ADIS_TAU + ' (industrial; none seen for consumer)'),
        'gyro.random_walk': (0.0, _NOT_PRINTED),
        'accel.random_walk': (0.0, _NOT_PRINTED),
        'gyro.range': (2000.0 * DEG, _DOC_000),
        'accel.range': (16.0 * G, _DOC_000),
        'gyro.resolution': (1e-4, _DOC_000),
        'accel.resolution': (0.001, _DOC_000),
    },
    'industrial': {
        **_COMMON,
        'gyro.scale_factor_ppm': (0.25 * PERCENT_PPM, _ADIS),
        'accel.scale_factor_ppm': (0.1 * PERCENT_PPM, _ADIS),
        'tau_bias_g_s': (100.0, _ADIS_TAU),
        'tau_bias_a_s': (300.0, _ADIS_TAU),
        'gyro.random_walk': (
            math.sqrt((11.5**2 - 8.0**2) * 3.0 / 3600.0) * DEG_PER_H,
            'ADIS16470 Rev. A, figure 8: from 8 deg/h to 11.5 deg/h at 3600 s',
        ),
        'accel.random_walk': (0.0, 'ADIS16470 Rev. A, figure 11: none visible to 3600 s'),
        'gyro.range': (2000.0 * DEG, _DOC_000),
        'accel.range': (16.0 * G, _DOC_000),
        # 1e-4 rad/s is above the white noise of the gyroscope, 9.2e-5 rad/s at 10 Hz
        'accel.resolution': (0.001, _DOC_000),
    },
    'tactical': {
        **_COMMON,
        'gyro.scale_factor_ppm': (600.0, _HG4930),
        'accel.scale_factor_ppm': (600.0, _HG4930),
        'tau_bias_g_s': (2000.0, _STIM_TAU),
        'tau_bias_a_s': (300.0, _STIM_TAU_A),
        'gyro.random_walk': (0.0, 'STIM300 rev. 31, figure 5-3: none visible to 7000 s'),
        'accel.random_walk': (
            math.sqrt((0.055**2 - 0.04**2) * 3.0 / 7000.0) * MILLI_G,
            'STIM300 rev. 31, figure 5-11 (older ones): from 0.04 mg to 0.055 mg at 7000 s',
        ),
        'gyro.range': (400.0 * DEG, 'STIM300 rev. 31, table 5-3; HG4930, page 5'),
        'accel.range': (16.0 * G, _DOC_000),
    },
    'navigation': {
        **_COMMON,
        'gyro.scale_factor_ppm': (5.0, _HG9900),
        'accel.scale_factor_ppm': (100.0, _HG9900),
        'tau_bias_g_s': (3600.0, _TAU_DEFAULT),
        'tau_bias_a_s': (3600.0, _TAU_DEFAULT),
        'gyro.random_walk': (0.0, _NOT_PRINTED),
        'accel.random_walk': (0.0, _NOT_PRINTED),
        'gyro.range': (2000.0 * DEG, _DOC_000),
        'accel.range': (16.0 * G, _DOC_000),
    },
    'strategic': {
        **_COMMON,
        'gyro.scale_factor_ppm': (5.0, _HG9900 + ' (navigation; an upper bound)'),
        'accel.scale_factor_ppm': (100.0, _HG9900 + ' (navigation; an upper bound)'),
        'tau_bias_g_s': (3600.0, _TAU_DEFAULT),
        'tau_bias_a_s': (3600.0, _TAU_DEFAULT),
        'gyro.random_walk': (0.0, _NOT_PRINTED),
        'accel.random_walk': (0.0, _NOT_PRINTED),
        'gyro.range': (2000.0 * DEG, _DOC_000),
        'accel.range': (16.0 * G, _DOC_000),
    },
}

#: document 000: gyro bias instability [deg/h], angle random walk [deg/sqrt(h)], accelerometer
#: bias instability [mg], velocity random walk [m/s/sqrt(h)]; the biases are the stationary
#: standard deviation of a Gauss-Markov process
GRADE_TABLE: dict[str, tuple[float, float, float, float]] = {
    'consumer': (100.0, 0.5, 10.0, 0.1),
    'industrial': (10.0, 0.1, 1.0, 0.05),
    'tactical': (1.0, 0.01, 0.1, 0.01),
    'navigation': (0.01, 0.001, 0.01, 0.003),
    'strategic': (0.001, 0.0003, 0.001, 0.001),
}


def grade_values() -> dict[str, dict[str, Value]]:
    """Return the parameter values of each grade: the table, and what completes it."""
    grades: dict[str, dict[str, Value]] = {}
    for grade, (gyro_bias, arw, accel_bias, vrw) in GRADE_TABLE.items():
        grades[grade] = {
            'bias_g_init_std': gyro_bias * DEG_PER_H,
            'gyro.white_noise_density': arw * DEG_PER_SQRT_H,
            'bias_a_init_std': accel_bias * MILLI_G,
            'accel.white_noise_density': vrw * M_S_PER_SQRT_H,
            **{name: value for name, (value, _) in GRADE_COMPLETION[grade].items()},
        }
    return grades
