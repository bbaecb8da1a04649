"""The IMU as a whole: grades, covariances, orientation, labels, states, edges."""

from __future__ import annotations

import math

import numpy as np
import pytest
from core_helpers import (
    EPOCH,
    SECOND,
    assert_std,
    at_rest,
    forces,
    imu,
    moving,
    pieces,
    rates,
    reconfigure,
    run,
    settings,
    still,
    thetas,
    turning,
)
from scipy.spatial.transform import Rotation

from jaguar_sensors_ros.catalogue import make_sensor, make_settings
from jaguar_sensors_ros.truth.track import TruthTrack
from jaguar_sensors_ros.types import SensorState

MS = 1_000_000

#: the grade table of physics.md (document 000) in SI
TABLE = {
    'consumer': (4.848137e-4, 1.454441e-4, 9.80665e-2, 1.666667e-3),
    'industrial': (4.848137e-5, 2.908882e-5, 9.80665e-3, 8.333333e-4),
    'tactical': (4.848137e-6, 2.908882e-6, 9.80665e-4, 1.666667e-4),
    'navigation': (4.848137e-8, 2.908882e-7, 9.80665e-5, 5.0e-5),
    'strategic': (4.848137e-9, 8.726646e-8, 9.80665e-6, 1.666667e-5),
}


@pytest.mark.parametrize('grade', TABLE)
def test_grades_are_those_of_the_table(grade):
    s = make_settings('imu', {'grade': grade})
    found = (s.bias_g_init_std, s.gyro.white_noise_density, s.bias_a_init_std,
             s.accel.white_noise_density)
    for values, expected in zip(found, TABLE[grade], strict=True):
        assert values == (pytest.approx(expected, rel=5e-7),) * 3


def test_a_parameter_given_explicitly_wins_over_the_grade():
    s = make_settings('imu', {'grade': 'consumer', 'gyro.white_noise_density': 1.0})
    assert s.gyro.white_noise_density == (1.0, 1.0, 1.0)
    assert s.accel.white_noise_density[0] == pytest.approx(1.0 / 600)


@pytest.mark.parametrize('psd', [1e-8, [1e-8, 1e-8, 1e-8]])
def test_a_psd_given_explicitly_replaces_the_density_of_the_grade(psd):
    s = make_settings('imu', {'grade': 'tactical', 'gyro.white_noise_psd': psd})
    assert not any(s.gyro.white_noise_density)
    assert any(s.accel.white_noise_density)


@pytest.mark.parametrize('psd', [0.0, [0.0, 0.0, 0.0]])
def test_a_psd_of_0_leaves_the_density_of_the_grade(psd):
    s = make_settings('imu', {'grade': 'tactical', 'gyro.white_noise_psd': psd})
    assert all(s.gyro.white_noise_density)


@pytest.mark.parametrize('grade', TABLE)
def test_no_grade_saturates_or_freezes_at_rest(grade):
    got = run(imu(grade=grade, earth__rotation=False), [still(0, 2)])
    settings = make_settings('imu', {'grade': grade})
    for name, values in (('gyro', rates(got)), ('accel', forces(got))):
        triad = getattr(settings, name)
        sigma = triad.white_noise_density[0] * math.sqrt(settings.sample_rate_hz)
        # the likeliest of rounded normals has this share, that of three values in 400 at least
        share = max(triad.resolution[0] / (sigma * math.sqrt(2.0 * math.pi)), 1e-9)
        bound = 0.01 + share + 4.0 * math.sqrt(share / len(values))
        for channel in values.T:
            assert np.unique(channel, return_counts=True)[1].max() < bound * len(channel)


# covariances ---------------------------------------------------------------------------------


def test_white_covariances_are_those_of_the_noise():
    sensor = imu(gyro__white_noise_density=(1e-3, 2e-3, 3e-3), accel__white_noise_density=2e-2,
                 sample_rate_hz=100.0)
    got = run(sensor, [still(0, 60)])
    c = sensor.covariances
    for i in range(3):
        assert_std(rates(got)[:, i], math.sqrt(c.angular_velocity[4 * i]))
        assert_std(forces(got)[:, i] - (9.80665 if i == 2 else 0.0),
                   math.sqrt(c.linear_acceleration[4 * i]))


def test_published_covariances_have_the_stationary_biases_on_top():
    values = {'gyro__white_noise_density': 1e-3, 'bias_g_init_std': 5e-3,
              'gyro__turn_on_bias_std': 2e-3, 'sample_rate_hz': 100.0}
    c = imu(**values).covariances.angular_velocity
    assert c[0] == pytest.approx(1e-4 + 25e-6 + 4e-6)
    assert c[1] == c[2] == 0.0
    ends = [rates(run(imu(seed=seed, **values), [still(0, 0.02)]))[-1] for seed in range(80)]
    assert_std(np.ravel(ends), math.sqrt(c[0]))


def test_transparent_publishes_a_floor_and_never_zeros():
    sensor = imu(grade='tactical', fidelity='transparent', orientation__output='ahrs')
    c = sensor.covariances
    for matrix in (c.angular_velocity, c.linear_acceleration, c.orientation):
        assert matrix == (1e-9, 0, 0, 0, 1e-9, 0, 0, 0, 1e-9)
    quiet = imu().covariances
    assert quiet.angular_velocity[0] == quiet.linear_acceleration[8] == 1e-9


@pytest.mark.parametrize(('given', 'expected'), [
    (0.5, (0.5, 0, 0, 0, 0.5, 0, 0, 0, 0.5)),
    ((1.0, 2.0, 3.0), (1, 0, 0, 0, 2, 0, 0, 0, 3)),
    ((1.0, 0.1, 0, 0.1, 2.0, 0, 0, 0, 3.0), (1, 0.1, 0, 0.1, 2, 0, 0, 0, 3)),
    (0.0, (1e-9, 0, 0, 0, 1e-9, 0, 0, 0, 1e-9)),
    ((0.0,) * 9, (1e-9, 0, 0, 0, 1e-9, 0, 0, 0, 1e-9)),
])
def test_a_covariance_can_be_overridden(given, expected):
    for fidelity in ('transparent', 'realistic'):
        c = imu(fidelity=fidelity, covariance__angular_velocity=given).covariances
        assert c.angular_velocity == expected


# orientation ---------------------------------------------------------------------------------


def test_the_orientation_is_that_at_the_stamp():
    at = turning((0, 0, 0), (0.2, -0.3, 1.0), EPOCH)
    for s in run(imu(fidelity='transparent'), pieces(at, [EPOCH + i * 17 * MS for i in range(9)])):
        expected = Rotation.from_quat(np.roll(at(s.t_ns).q_nb, -1))
        got = Rotation.from_quat(np.roll(s.orientation, -1))
        assert (expected.inv() * got).magnitude() < 1e-12


def test_attitude_errors_are_about_east_north_and_up_with_their_sigma():
    tilt, yaw = 0.01, 0.05
    q_nb = Rotation.from_euler('xyz', (0.5, -0.8, 2.0))
    x, y, z, w = q_nb.as_quat()
    sensor = imu(orientation__output='ahrs', orientation__roll_pitch_std=tilt,
                 orientation__yaw_std=yaw)
    got = run(sensor, [still(0, 25, q=(w, x, y, z))])
    left = [(Rotation.from_quat(np.roll(s.orientation, -1)) * q_nb.inv()).as_rotvec() for s in got]
    for i, sigma in enumerate((tilt, tilt, yaw)):
        assert_std(np.array(left)[:, i], sigma)
        assert sensor.covariances.orientation[4 * i] == pytest.approx(sigma**2)
    np.testing.assert_allclose([s.orientation_error for s in got], left, atol=1e-12)


def test_there_is_no_orientation_where_none_is_asked_for():
    sensor = imu(orientation__output='none')
    assert all(s.orientation is None for s in run(sensor, [still(0, 0.1)]))
    assert sensor.covariances.orientation is None
    truth = imu(grade='tactical')
    assert truth.covariances.orientation[0] == 1e-9
    assert all(s.orientation_error == (0, 0, 0) for s in run(truth, [still(0, 0.1)]))


def test_correlated_attitude_errors_keep_their_correlation_time():
    ends = []
    for seed in range(120):
        got = run(imu(seed=seed, orientation__output='ahrs', sample_rate_hz=10.0,
                      orientation__correlation_time_s=1.0, orientation__yaw_std=0.1,
                      orientation__roll_pitch_std=0.0), [still(0, 1.15)])
        ends.append((got[0].orientation_error[2], got[10].orientation_error[2]))
    a, b = np.array(ends).T
    assert_std(b, 0.1)
    expected = math.exp(-1.0)
    assert np.mean(a * b) / 0.01 == pytest.approx(
        expected, abs=4 * math.sqrt((1 + expected**2) / 120)
    )


# labels and states -----------------------------------------------------------------------------


def test_the_total_error_is_published_minus_ideal_exactly():
    values = {'grade': 'consumer', 'gyro__scale_factor_ppm': 1e3, 'gyro_lsb': 1e-5,
              'accel__resolution': 1e-3, 'sample_rate_hz': 100.0}
    at = turning((10.0, 0, 0), (0.1, 0.2, 1.0))
    segments = pieces(at, range(0, SECOND, 20 * MS))
    ideal = run(imu(fidelity='transparent', **values), segments)
    for s, true in zip(run(imu(**values), segments), ideal, strict=True):
        assert s.gyro_error.total == tuple(np.subtract(s.angular_velocity, true.angular_velocity))
        assert s.accel_error.total == tuple(np.subtract(s.specific_force, true.specific_force))
        assert true.gyro_error.total == (0, 0, 0)
        assert true.gyro_error.bias == true.gyro_error.noise == (0, 0, 0)


def test_states_over_the_life_of_a_sensor():
    sensor = imu(warm_up_s=0.5)
    assert sensor.status().state is SensorState.INITIALIZING
    assert not sensor.status().valid
    assert run(sensor, [still(0, 0.4)]) == []
    assert sensor.status().causes == ('warm-up',)
    got = run(sensor, [still(0.4, 1.0)])
    assert [s.t_ns for s in got] == [500 * MS + i * 5 * MS for i in range(1, 101)]
    status = sensor.status()
    assert (status.state, status.valid, status.confidence) == (SensorState.READY, True, 1.0)
    assert status.uptime_s == 1.0
    assert status.sample_count == 100
    reconfigure(sensor, warm_up_s=0.5, enabled=False)
    assert run(sensor, [still(1.0, 1.5)]) == []
    status = sensor.status()
    assert (status.state, status.valid, status.confidence) == (SensorState.OFF, False, 0.0)
    assert status.sample_count == 100
    reconfigure(sensor, enabled=True)
    assert len(run(sensor, [still(1.5, 2.0)])) == 100
    sensor.power_cycle()
    assert sensor.status().sample_count == 0
    assert sensor.status().uptime_s == 0.0


# the edges -----------------------------------------------------------------------------------


@pytest.mark.parametrize('start_ns', [0, EPOCH, 2_147_483_647 * SECOND, 4_000_000_000 * SECOND])
def test_large_stamps_change_nothing_but_the_stamps(start_ns):
    at = turning((10.0, 1.0, 0), (0.1, -0.2, 1.0), start_ns)
    got = run(imu(fidelity='transparent'),
              pieces(at, [start_ns + i * 20 * MS for i in range(20)]))
    reference = turning((10.0, 1.0, 0), (0.1, -0.2, 1.0))
    expected = run(imu(fidelity='transparent'), pieces(reference, range(0, 400 * MS, 20 * MS)))
    np.testing.assert_array_equal(rates(got), rates(expected))
    np.testing.assert_array_equal(forces(got), forces(expected))
    assert [s.t_ns - start_ns for s in got] == [s.t_ns for s in expected]


@pytest.mark.parametrize('authority', ['twist', 'pose'])
def test_positions_of_ten_thousand_kilometres_make_no_noise(authority):
    track, sensor, got = TruthTrack(authority, SECOND), imu(fidelity='transparent'), []
    for i in range(100):
        t_ns = EPOCH + i * 20 * MS
        sample = moving(t_ns, (30.0, 0, 0), p=(1e7 + 0.6 * i, -1e7, 3e6))
        for piece in track.push(sample).segments:
            got += sensor.feed(piece)
    # twist: exact; pose: an ulp of 1e7 m over h^2 = 4e-4 s2
    bound = 1e-9 if authority == 'twist' else 6 * 1.9e-9 / 4e-4
    assert len(got) > 380
    np.testing.assert_allclose(forces(got), [(0, 0, 9.80665)] * len(got), atol=bound)


@pytest.mark.parametrize('origin', [(90.0, 0.0, 0.0), (-90.0, 0.0, 0.0), (0.0, 180.0, 0.0),
                                    (89.9, -179.9999, 0.0)])
def test_origins_at_the_poles_and_at_the_date_line_are_usual_places(origin):
    got = run(imu(fidelity='transparent', origin=origin, earth__rotation=True,
                  earth__gravity='wgs84'), [still(0, 0.1, p=(100.0, 200.0, 10.0))])
    assert np.isfinite(forces(got)).all()
    assert np.linalg.norm(rates(got)[0]) == pytest.approx(7.292115e-5, rel=1e-12)
    assert np.linalg.norm(forces(got)[0]) == pytest.approx(9.806, abs=0.03)


@pytest.mark.parametrize('rate', [0.1, 10000.0])
def test_very_slow_and_very_fast_sensors(rate):
    at = turning((0, 0, 0), (0, 0, 0.5))
    end = 25 * SECOND if rate < 1 else SECOND // 5
    got = run(imu(fidelity='transparent', sample_rate_hz=rate),
              pieces(at, range(0, end + 1, 200 * MS)))
    assert len(got) == math.floor(rate * end / SECOND)
    np.testing.assert_allclose(rates(got)[:, 2], 0.5, rtol=1e-9)
    np.testing.assert_allclose(thetas(got)[:, 2].sum(), 0.5 * len(got) / rate, rtol=1e-9)


def test_repeated_poses_and_a_body_at_rest_give_no_nan():
    got = run(imu(grade='consumer'), pieces(at_rest, range(0, SECOND, 20 * MS)))
    assert np.isfinite(rates(got)).all()


def test_the_mount_from_tf_takes_the_place_of_the_parameters():
    sensor = imu(fidelity='transparent', mount__source='tf', mount__position=(9.0, 9.0, 9.0))
    q = Rotation.from_euler('xyz', (math.pi, 0, 0)).as_quat()
    sensor.set_mount((1.0, 0, 0), (q[3], q[0], q[1], q[2]))
    at = turning((0, 0, 0), (0, 0, 2.0))
    got = run(sensor, pieces(at, range(0, 100 * MS, 20 * MS)))
    np.testing.assert_allclose(forces(got), [(-4.0, 0, -9.80665)] * len(got), atol=1e-10)
    sensor.power_cycle()
    assert sensor.arm == (1.0, 0, 0)


def test_a_sensor_of_the_catalogue_is_made_by_its_type():
    assert make_sensor('imu', 'x', settings('imu'), 0).type_name == 'imu'
