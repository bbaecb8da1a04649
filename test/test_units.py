"""Units of a population, the numbers they draw, and the devices among the grades."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from core_helpers import (
    EPOCH,
    SECOND,
    assert_std,
    assert_uncorrelated,
    forces,
    gps,
    imu,
    pieces,
    rates,
    reconfigure,
    run,
    still,
    turning,
)

from jaguar_sensors_ros.sensors.imu_settings import GRADES
from jaguar_sensors_ros.sensors.profiles import DEVICES

# ---------------------------------------------------------------------- chunks of truth


def instants(rate_hz, seconds):
    """Return the instants [ns] of odometry; 0 stands for an uneven rate."""
    if rate_hz:
        return [EPOCH + round(k * SECOND / rate_hz) for k in range(seconds * rate_hz + 1)]
    steps = np.random.default_rng(1).uniform(0.001, 0.2, 100 * seconds).cumsum()
    inner = [EPOCH + round(t * SECOND) for t in steps if t < seconds]
    return [EPOCH, *inner, EPOCH + seconds * SECOND]


@pytest.mark.parametrize('grade', ['tactical', 'bmi088'])
@pytest.mark.parametrize('rate_hz', [200, 37, 0])
def test_the_errors_of_an_imu_do_not_depend_on_the_rate_of_the_truth(grade, rate_hz):
    at = turning((2.0, 0, 0), (0, 0, 1.0), base=EPOCH)
    own = {'grade': grade, 'orientation__output': 'ahrs', 'clock__jitter_s': 1e-5,
           'gyro__resolution': 0.0, 'accel__resolution': 0.0}
    got, reference = (run(imu(**own), pieces(at, instants(r, 3))) for r in (rate_hz, 50))
    assert [s.t_ns for s in got] == [s.t_ns for s in reference] and len(got) == 600
    for channel in ('gyro', 'accel'):
        for part in ('noise', 'bias'):
            a, b = ([getattr(getattr(s, f'{channel}_error'), part) for s in samples]
                    for samples in (got, reference))
            assert a == b, (channel, part)
    np.testing.assert_allclose(rates(got), rates(reference), atol=1e-9)
    np.testing.assert_allclose(forces(got), forces(reference), atol=1e-6)
    np.testing.assert_allclose([s.orientation_error for s in got],
                               [s.orientation_error for s in reference], atol=1e-12)


@pytest.mark.parametrize('rate_hz', [200, 37, 0])
def test_the_errors_of_a_receiver_do_not_depend_on_the_rate_of_the_truth(rate_hz):
    at = turning((2.0, 0, 0), (0, 0, 1.0), base=EPOCH)
    got, reference = (run(gps(update_hz=5.0), pieces(at, instants(r, 10))) for r in (rate_hz, 50))
    assert [s.t_ns for s in got] == [s.t_ns for s in reference] and len(got) == 50
    for part in ('noise', 'bias'):
        assert [getattr(s.position_error, part) for s in got] == [
            getattr(s.position_error, part) for s in reference]
    np.testing.assert_allclose([s.velocity_error.noise for s in got],
                               [s.velocity_error.noise for s in reference], atol=1e-12)


# ---------------------------------------------------------------------- a population of units

#: standard deviations that are given: per axis, and one for all
SCALE_PPM, TILT, CROSS = np.array((100.0, 300.0, 1000.0)), np.array((1e-4, 3e-4, 1e-3)), 0.002


@pytest.fixture(scope='module')
def population():
    """Return what units say of (1, 1, 1) rad/s, then of (0, 0, 1) rad/s: shape (units, 2, 6).

    The first time with scale factors, the second with misaligned gyros and cross-axis
    sensitivity of the accelerometers.
    """
    readings = []
    edges = [k * SECOND // 100 for k in range(3)]
    for seed in range(150):
        own = {'gyro__draw_unit': True, 'accel__draw_unit': True, 'sample_rate_hz': 100.0}
        sensor = imu(seed=seed, gyro__scale_factor_ppm=tuple(SCALE_PPM),
                     accel__scale_factor_ppm=1000.0, **own)
        first = run(sensor, pieces(turning((0, 0, 0), (1.0, 1.0, 1.0)), edges[:2]))
        reconfigure(sensor, gyro__misalignment=tuple(TILT), accel__cross_axis=CROSS, **own)
        second = run(sensor, pieces(turning((0, 0, 0), (0, 0, 1.0)), edges[1:]))
        readings.append([(*s.angular_velocity, *s.specific_force) for s in (*first, *second)])
    return np.array(readings)


def test_scale_factors_of_units_scatter_as_given(population):
    drawn = (population[:, 0, :3] - 1.0) * 1e6
    for i in range(3):
        assert_std(drawn[:, i], SCALE_PPM[i])
        assert_uncorrelated(drawn[:, i], drawn[:, i - 1])


def test_misalignments_and_cross_axis_sensitivities_of_units_scatter_as_given(population):
    # a small rotation m turns (0, 0, 1) into (-m_y, m_x, 1), and gravity comes into x and y
    gyro, across = population[:, 1, :2], population[:, 1, 3:5] / 9.80665
    assert_std(gyro[:, 1], TILT[0])
    assert_std(gyro[:, 0], TILT[1])
    assert_std(across[:, 0], CROSS)
    assert_std(across[:, 1], CROSS)
    for a, b in itertools.combinations([*gyro.T, *across.T], 2):
        assert_uncorrelated(a, b)


def test_gyros_and_accelerometers_of_a_unit_have_nothing_in_common(population):
    accel = (population[:, 0, 5] / 9.80665 - 1.0) * 1e6
    assert_std(accel, 1000.0, alpha=1e-3)
    for i in range(3):
        assert_uncorrelated(population[:, 0, i], accel)


def test_a_unit_stays_what_it_is_over_power_cycles():
    sensor = imu(gyro__draw_unit=True, gyro__scale_factor_ppm=1000.0, gyro__misalignment=1e-3)
    motion = pieces(turning((0, 0, 0), (1.0, 1.0, 1.0)), (0, SECOND // 10))
    first = rates(run(sensor, motion))
    sensor.power_cycle()
    np.testing.assert_array_equal(rates(run(sensor, motion)), first)
    assert np.abs(first - 1.0).max() > 1e-5


# ---------------------------------------------------------------------- devices


@pytest.mark.parametrize('device', DEVICES)
def test_a_device_at_rest_is_within_its_own_figures(device):
    got = run(imu(grade=device), [still(0, 1, base=EPOCH)])
    assert len(got) == 200
    assert np.abs(rates(got)).max() < 0.2
    assert np.abs(forces(got) - (0, 0, 9.80665)).max() < 2.0
    assert np.ptp(rates(got), axis=0).min() > 0.0


@pytest.mark.ros
@pytest.mark.parametrize('device', DEVICES)
def test_a_live_node_is_a_device_and_shows_its_values(graph, device):
    pytest.importorskip('rclpy')
    from ros_helpers import rest
    from sensor_msgs.msg import Imu

    from jaguar_sensors_ros.ros.imu_node import ImuNode

    values = GRADES[device]
    graph.start(ImuNode, grade=device, random_seed=1)
    data = graph.collect(Imu, '/imu/data')
    shown = dict(zip(values, graph.get('/imu', *values), strict=True))
    for name, value in values.items():
        got = shown[name]
        if isinstance(value, (bool, str)):
            assert got == value, name
            continue
        # a number stands for one on each axis
        a, b = np.broadcast_arrays(np.atleast_1d(got), np.atleast_1d(value))
        np.testing.assert_array_equal(a, b, err_msg=name)
    graph.feed(rest(0.0, 0.5, 50))
    data.until_stamp(0.5)
    assert len(data) == 100
    assert all(math.isfinite(m.angular_velocity.x) for m in data)
    assert len({m.linear_acceleration.x for m in data}) > 1
    # another one while it runs
    other = next(name for name in DEVICES if name != device)
    assert graph.set('/imu', grade=other)[0].successful
    name = 'gyro.white_noise_density'
    np.testing.assert_array_equal(np.unique(graph.get('/imu', name)), GRADES[other][name])
