"""The GNSS receiver: noise along the axes of the fix, antenna, satellites, covariance."""

from __future__ import annotations

import math

import numpy as np
import pymap3d
import pytest
from core_helpers import (
    EPOCH,
    SECOND,
    assert_std,
    assert_uncorrelated,
    gps,
    moving,
    pieces,
    reconfigure,
    run,
    still,
    turning,
)
from scipy.spatial.transform import Rotation

from jaguar_sensors_ros.truth.segment import TwistSegment
from jaguar_sensors_ros.types import FixType, SensorState

MS = 1_000_000


def enu_errors(samples, place):
    """Return the errors of the fixes in east, north, up at the true place, by pymap3d."""
    return np.array([
        pymap3d.geodetic2enu(s.latitude_deg, s.longitude_deg, s.height_m, *place)
        for s in samples
    ])


def test_position_errors_have_the_given_sigma_and_no_correlation():
    place = (47.3764, 8.5476, 460.0)
    got = run(gps(pos_std_dev=[3.0, 6.0], vel_std_dev=[0.1, 0.3], update_hz=100.0),
              [still(0, 100)])
    assert len(got) == 10000
    errors = enu_errors(got, place)
    velocities = np.array([s.v_enu for s in got])
    for i, (sigma, v_sigma) in enumerate(((3.0, 0.1), (3.0, 0.1), (6.0, 0.3))):
        assert_std(errors[:, i], sigma)
        assert_std(velocities[:, i], v_sigma)
        assert got[0].position_covariance[4 * i] == pytest.approx(sigma**2)
        assert got[0].velocity_covariance[4 * i] == pytest.approx(v_sigma**2)
        assert_uncorrelated(errors[:-1, i], errors[1:, i])
        for j in range(3):
            assert_uncorrelated(errors[:, i], velocities[:, j])
            if j < i:
                assert_uncorrelated(errors[:, i], errors[:, j])
    np.testing.assert_allclose([s.position_error.total for s in got], errors, atol=2e-5)


@pytest.mark.parametrize(('origin', 'p_n'), [
    ((47.0, 8.0, 0.0), (300e3, 400e3, 0.0)),
    ((89.9, 10.0, 0.0), (0.0, 5e3, 100.0)),
    ((60.0, 179.9999, 0.0), (2000.0, 0.0, 0.0)),
    ((-75.0, -20.0, 1000.0), (-80e3, 10e3, 5e3)),
])
def test_errors_lie_along_the_east_north_and_up_of_the_fix(origin, p_n):
    """Far from the origin or near the pole these axes differ from those of the origin."""
    place = [float(x) for x in pymap3d.enu2geodetic(*p_n, *origin)]
    v_n = (30.0, -20.0, 5.0)
    end = tuple(np.array(p_n) + 20.0 * np.array(v_n))
    segment = TwistSegment(moving(0, v_n, p=p_n), moving(20 * SECOND, v_n, p=end))
    (first, *_) = run(gps(fidelity='transparent', origin=origin, update_hz=100.0), [segment])
    here = np.array(p_n) + 0.01 * np.array(v_n)
    here = [float(x) for x in pymap3d.enu2geodetic(*here, *origin)]
    np.testing.assert_allclose(enu_errors([first], here), 0.0, atol=1e-7)
    # the velocity in the axes of the place: through ECEF by pymap3d
    v_e = np.subtract(pymap3d.enu2ecef(*(np.array(p_n) + v_n), *origin),
                      pymap3d.enu2ecef(*p_n, *origin))
    np.testing.assert_allclose(first.v_e, v_e, atol=1e-8)
    expected = pymap3d.ecef2enuv(*v_e, here[0], here[1])
    np.testing.assert_allclose(first.v_enu, np.ravel(expected), atol=1e-8)
    # only up is noisy: the errors are vertical there
    noisy = run(gps(origin=origin, pos_std_dev=[0.0, 10.0], update_hz=10.0),
                [still(0, 20, p=p_n)])
    errors = enu_errors(noisy, place)
    assert np.abs(errors[:, :2]).max() < 1e-4
    assert_std(errors[:, 2], 10.0)


def test_the_antenna_is_where_its_arm_puts_it_and_moves_as_the_body_turns():
    arm, yaw_rate = (2.0, 0.5, 1.0), 0.8
    at = turning((10.0, 0, 0), (0, 0, yaw_rate))
    got = run(gps(fidelity='transparent', update_hz=10.0, mount__position=arm,
                  mount__rpy=(0, 0, math.pi / 2)),
              pieces(at, range(0, 2 * SECOND + 1, 20 * MS)))
    place = (47.3764, 8.5476, 460.0)
    for s in got:
        true = at(s.t_ns)
        R = Rotation.from_quat(np.roll(true.q_nb, -1))
        # the track is a cubic between messages of 50 Hz: micrometres
        expected = pymap3d.enu2geodetic(*(np.array(true.p_n) + R.apply(arm)), *place)
        np.testing.assert_allclose(enu_errors([s], [float(x) for x in expected]), 0, atol=1e-5)
        v_b = np.array((10.0, 0, 0)) + np.cross((0, 0, yaw_rate), arm)
        np.testing.assert_allclose(
            s.v_enu, R.apply(v_b), atol=1e-3  # east and north turn by 3e-6 over 20 m
        )
        # gps_link is turned by 90 degrees: its x is to the left of the body
        np.testing.assert_allclose(s.v_s, (v_b[1], -v_b[0], v_b[2]), atol=1e-6)


def test_the_correlated_share_leaves_the_total_variance():
    values = {'pos_std_dev': 4.0, 'pos_correlated_fraction': 0.5, 'pos_correlation_time_s': 2.0,
              'update_hz': 1.0}
    pairs = []
    for seed in range(250):
        got = run(gps(seed=seed, **values), [still(0, 3)])
        pairs.append([s.position_error.total for s in got])
    errors = np.array(pairs)  # run, sample, axis
    for axis in range(3):
        assert_std(errors[:, 0, axis], 4.0)
        assert_std(errors[:, 2, axis], 4.0)
    expected = 0.5 * math.exp(-1.0)
    measured = np.mean(errors[:, 0] * errors[:, 2]) / 16.0
    assert measured == pytest.approx(expected, abs=4 * math.sqrt((1 + expected**2) / 750))
    assert got[0].position_covariance[0] == pytest.approx(16.0)


def test_labels_tell_the_white_from_the_correlated_part():
    for s in run(gps(pos_correlated_fraction=0.3), [still(0, 20)]):
        np.testing.assert_allclose(
            s.position_error.total, np.add(s.position_error.bias, s.position_error.noise),
            rtol=1e-12,
        )
        assert s.velocity_error.total == pytest.approx(s.velocity_error.noise, abs=1e-15)


# satellites ----------------------------------------------------------------------------------


@pytest.mark.parametrize('n', [4, 6, 10, 20])
def test_noise_and_covariance_scale_alike_with_the_satellites(n):
    got = run(gps(satellites=n, pos_std_dev=5.0, vel_std_dev=0.2, update_hz=50.0),
              [still(0, 60)])
    ratio = 10 / n
    assert got[0].position_covariance[0] == pytest.approx(25.0 * ratio)
    assert got[0].velocity_covariance[0] == pytest.approx(0.04 * ratio)
    assert_std(np.ravel([s.position_error.total for s in got]), 5.0 * math.sqrt(ratio))
    assert_std(np.ravel([s.v_enu for s in got]), 0.2 * math.sqrt(ratio))
    assert got[0].pdop == pytest.approx(math.hypot(got[0].hdop, got[0].vdop))
    assert got[0].hdop == pytest.approx(0.9 * math.sqrt(ratio))


@pytest.mark.parametrize('values', [{'satellites': 3}, {'satellites': 0}, {'fix_type': 'none'}])
def test_without_a_fix_everything_is_nan_and_nothing_is_valid(values):
    sensor = gps(**values)
    got = run(sensor, [still(0, 5)])
    assert len(got) == 5
    for s in got:
        assert s.fix_type is FixType.NONE
        assert not s.has_fix
        assert np.isnan([s.latitude_deg, s.longitude_deg, s.height_m, *s.p_e, *s.v_e, *s.v_enu,
                         *s.v_s]).all()
        assert min(s.position_covariance[::4]) > 1e6
    status = sensor.status()
    assert not status.valid
    assert status.confidence == 0.0
    assert status.state is SensorState.READY


def test_a_cold_start_gives_no_fix_first():
    sensor = gps(cold_start_s=3.0)
    got = run(sensor, [still(0, 10)])
    assert [s.has_fix for s in got] == [False] * 3 + [True] * 7
    sensor.power_cycle()
    assert [s.has_fix for s in run(sensor, [still(10, 15)])] == [False] * 3 + [True] * 2
    assert all(s.has_fix for s in run(gps(cold_start_s=3.0, fidelity='transparent'),
                                      [still(0, 5)]))


@pytest.mark.parametrize(('name', 'kind'), [
    ('single', FixType.SINGLE), ('sbas', FixType.SBAS), ('rtk_float', FixType.RTK_FLOAT),
    ('rtk_fixed', FixType.RTK_FIXED),
])
def test_the_kind_of_fix_is_reported(name, kind):
    assert {s.fix_type for s in run(gps(fix_type=name), [still(0, 3)])} == {kind}


def test_transparent_is_exact_with_a_floor_for_covariance():
    got = run(gps(fidelity='transparent', pos_correlated_fraction=0.5), [still(0, 10)])
    for s in got:
        assert s.position_error.total == (0.0, 0.0, 0.0)
        assert s.position_covariance == (1e-9, 0, 0, 0, 1e-9, 0, 0, 0, 1e-9)
    np.testing.assert_allclose(enu_errors(got, (47.3764, 8.5476, 460.0)), 0.0, atol=1e-7)


def test_a_covariance_can_be_overridden():
    got = run(gps(covariance__position=[1.0, 2.0, 3.0], covariance__velocity=0.5), [still(0, 2)])
    assert got[0].position_covariance == (1, 0, 0, 0, 2, 0, 0, 0, 3)
    assert got[0].velocity_covariance[::4] == (0.5, 0.5, 0.5)


def test_sigma_acts_at_the_next_fix():
    sensor = gps(pos_std_dev=1.0)
    expected = run(gps(pos_std_dev=1.0), [still(0, 4)])
    run(sensor, [still(0, 2)])
    reconfigure(sensor, pos_std_dev=7.0)
    after = run(sensor, [still(2, 4)])
    for s, reference in zip(after, expected[2:], strict=True):
        np.testing.assert_allclose(
            s.position_error.total, 7 * np.array(reference.position_error.total), rtol=1e-12
        )


def test_large_stamps_change_only_the_stamps():
    a = run(gps(), [still(0, 5)])
    b = run(gps(), [still(0, 5, base=EPOCH)])
    assert [s.p_e for s in a] == [s.p_e for s in b]
