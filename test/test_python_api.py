"""The sensors in plain Python: truth that is held, life cycle, failures, the manager."""

from __future__ import annotations

import itertools
import math
import subprocess
import sys
from pathlib import Path

import core_helpers as core
import numpy as np
import pytest

from jaguar_sensors_ros import api, catalogue
from jaguar_sensors_ros.api.held import HeldForce, HeldMotion
from jaguar_sensors_ros.api.sensor import KEPT
from jaguar_sensors_ros.component import declarations
from jaguar_sensors_ros.nav.kinematics import increments_of_curve
from jaguar_sensors_ros.types import IDENTITY_QUAT, ZERO3

G0 = core.G0
REST = ([0.0, 0.0, G0], [0.0, 0.0, 0.0])


def exact_imu(**values):
    """Return an IMU without errors at 100 Hz; double underscores stand for dots."""
    return imu(fidelity='transparent', **values)


def imu(name='imu', grade='custom', seed=1, **values):
    values = {'grade': grade, 'sample_rate_hz': 100.0, **values}
    return api.create_imu_sensor(api.ImuConfig(name, _dotted(values), seed=seed))


def gps(name='gps', seed=1, **values):
    return api.create_gps_sensor(api.GpsConfig(name, _dotted(values), seed=seed))


def _dotted(values):
    return {key.replace('__', '.'): value for key, value in values.items()}


# ---------------------------------------------------------------------- room


def test_works_without_ros():
    code = (
        'import sys\n'
        'class Wall:\n'
        '    def find_spec(self, name, path=None, target=None):\n'
        '        if name.split(".")[0] in ("rclpy", "sensor_msgs", "jaguar_sensors_msgs"):\n'
        '            raise ImportError(name)\n'
        'sys.meta_path.insert(0, Wall())\n'
        'from jaguar_sensors_ros import api\n'
        'imu = api.create_tactical_imu(seed=1)\n'
        'imu.update(0.1)\n'
        'print(imu.get_sample_count())\n'
    )
    root = Path(__file__).resolve().parent.parent
    done = subprocess.run(
        [sys.executable, '-c', code], capture_output=True, text=True, check=True, cwd=root
    )
    assert done.stdout.split() == ['20']


def test_names_are_those_of_the_catalogue():
    assert [mode.value for mode in api.FailureMode] == ['none', *catalogue.FAULTS]
    assert [kind.value for kind in api.SensorType] == list(catalogue.SENSOR_TYPES)
    assert len(api.SensorType) == 13
    assert api.FailureMode.BIAS == 'bias'
    assert str(api.SensorType.STAR_TRACKER) == 'star_tracker'
    names = {'consumer', 'industrial', 'tactical', 'navigation', 'strategic'}
    assert {grade.value for grade in api.ImuGrade} == names


@pytest.mark.parametrize('grade', api.ImuGrade)
def test_a_factory_for_each_grade(grade):
    made = getattr(api, f'create_{grade}_imu')('left', seed=5)
    assert (made.get_name(), made.get_type()) == ('left', api.SensorType.IMU)
    assert made.config['grade'] == grade
    assert made.config['random_seed'] == 5
    expected = catalogue.make_settings('imu', {'grade': str(grade)})
    assert made.config['bias_g_init_std'] == expected.bias_g_init_std


# ---------------------------------------------------------------------- configuration


def test_configuration_reads_and_writes_by_the_names_of_the_parameters():
    config = api.ImuConfig.from_grade('tactical')
    assert config['accel.scale_factor_ppm'] == (600.0,) * 3
    config['mount.position'] = np.array([1, 2, 3])
    assert config['mount.position'] == (1.0, 2.0, 3.0)
    config['grade'] = 'navigation'
    assert config['accel.scale_factor_ppm'] == (100.0,) * 3
    del config['grade']
    assert config['grade'] == 'tactical'
    assert set(config) == {d.name for d in declarations(catalogue.SENSORS['imu'][1])}
    copy = config.copy()
    copy['sample_rate_hz'] = 50
    assert (config.sample_rate_hz, copy.sample_rate_hz) == (200.0, 50.0)


@pytest.mark.parametrize(
    'name, value, text',
    [
        ('accel.white_nois_psd', 1.0, 'did you mean accel.white_noise_psd'),
        ('sample_rate_hz', math.nan, 'sample_rate_hz = nan'),
        ('sample_rate_hz', -1, 'sample_rate_hz = -1'),
        ('mount.position', [1, 2], 'mount.position'),
        ('grade', 'military', 'tactical'),
        ('gyro.nonlinearity_ppm', 5.0, 'needs a range'),
    ],
)
def test_a_wrong_parameter_is_refused_and_nothing_changes(name, value, text):
    config = api.ImuConfig(values={'grade': 'custom'})
    before = config.explicit
    with pytest.raises(api.ParameterError, match=text):
        config[name] = value
    assert config.explicit == before
    with pytest.raises(api.ParameterError, match=text):
        config.update({'warm_up_s': 1.0, name: value})
    assert config.explicit == before


def test_seed_is_drawn_and_can_be_read():
    drawn = api.create_tactical_imu().config['random_seed']
    again = api.create_tactical_imu().config['random_seed']
    assert drawn >= 0
    assert drawn != again


def test_the_same_seed_gives_the_same_numbers_as_the_core():
    facade = imu(grade='consumer')
    plain = core.imu('imu', 1, grade='consumer', sample_rate_hz=100.0)
    for _ in range(50):
        facade.update(0.01)
    expected = plain.feed(core.still(0.0, 0.5))
    got = facade.take_measurements()
    assert len(got) == len(expected)
    for a, b in zip(got, expected, strict=True):
        np.testing.assert_allclose(a.angular_velocity, b.angular_velocity, atol=1e-15)
        np.testing.assert_allclose(a.specific_force, b.specific_force, atol=1e-13)


def test_configuration_of_another_sensor_or_tf_is_refused():
    made = imu()
    made.update(0.1)
    with pytest.raises(api.JaguarError, match='ImuConfig'):
        made.initialize(api.GpsConfig())
    with pytest.raises(api.ParameterError, match='no tf here'):
        made.initialize(api.ImuConfig(values={'mount.source': 'tf'}))
    with pytest.raises(api.JaguarError, match='start_ns = -1'):
        made.initialize(start_ns=-1)
    assert (made.get_sample_count(), made.time_ns) == (10, 100_000_000)


# ---------------------------------------------------------------------- time


@pytest.mark.parametrize('dt', [0.01, 1 / 3, 0.0007, 0.25, 1 / 128])
def test_steps_of_any_length_keep_the_grid(dt):
    made = exact_imu()
    stamps = []
    for _ in range(math.ceil(2.0 / dt)):
        made.update(dt)
        stamps += [m.timestamp_ns for m in made.take_measurements()]
    last = made.time_ns // 10_000_000
    assert stamps == [10_000_000 * k for k in range(1, last + 1)]
    assert made.time_ns == round(math.ceil(2.0 / dt) * dt * 1e9)


def test_time_does_not_drift():
    made = gps(update_hz=0.1)
    for _ in range(10_000):
        made.update(0.001)
    assert made.time_ns == 10_000_000_000
    assert made.get_sample_count() == 1
    assert len(made._ideal._interval) == 1  # nothing piles up


@pytest.mark.parametrize('dt', [0.0, -0.01, math.nan, math.inf, '0.1', True, None, 1e10])
def test_time_cannot_stand_or_run_backwards(dt):
    made = imu()
    made.update(0.02)
    with pytest.raises(api.JaguarError, match='dt = '):
        made.update(dt)
    assert made.time_ns == 20_000_000


def test_measurements_wait_for_the_latency_and_are_bounded():
    made = imu(latency_s=0.025)
    made.update(0.03)
    assert not made.take_measurements()
    assert math.isnan(made.get_measurement().specific_force[0])
    made.update(0.005)
    assert [m.timestamp_ns for m in made.take_measurements()] == [10_000_000]
    assert made.get_measurement().timestamp_ns == 10_000_000
    made.set_fidelity('transparent')
    made.update(0.1)
    assert made._untaken.maxlen == KEPT


def test_time_may_begin_elsewhere():
    made = api.GpsSensor()
    made.initialize(api.GpsConfig(seed=1), start_ns=core.EPOCH)
    made.update(1.0)
    fix = made.get_measurement()
    assert fix.timestamp_ns == core.EPOCH + core.SECOND
    assert fix.sample.gps_week == 2288  # 14 November 2023


# ---------------------------------------------------------------------- true values of the IMU


def test_at_rest_until_told_otherwise():
    made = exact_imu()
    made.update(0.01)
    m = made.get_measurement()
    assert m.angular_velocity == ZERO3
    np.testing.assert_allclose(m.specific_force, (0, 0, G0), atol=1e-14)
    assert m.orientation is None


def test_values_hold_and_a_change_within_an_interval_counts_by_its_share():
    made = exact_imu()
    made.set_true_state([1, 2, 3], [0.1, 0.2, 0.3])
    made.update(0.01)
    made.update(0.003)
    made.set_true_specific_force([5, 2, 3])
    made.set_true_angular_velocity([0.1, 0.2, 1.3])
    made.update(0.007)
    first, second = made.take_measurements()
    np.testing.assert_allclose(first.specific_force, (1, 2, 3), rtol=1e-13)
    np.testing.assert_allclose(first.angular_velocity, (0.1, 0.2, 0.3), rtol=1e-13)
    np.testing.assert_allclose(second.specific_force, (1 + 0.7 * 4, 2, 3), rtol=1e-13)
    np.testing.assert_allclose(second.angular_velocity, (0.1, 0.2, 0.3 + 0.7), rtol=1e-13)


def test_lever_arm_feels_the_turn_and_its_change():
    arm, w0, w1 = np.array([0.5, -0.2, 0.1]), np.array([0, 0, 0.5]), np.array([0.3, 0, 1.5])
    made = exact_imu(mount__position=arm)
    made.set_true_state([0, 0, G0], w0)
    made.update(0.01)
    np.testing.assert_allclose(
        made.get_accelerometer_output(), REST[0] + np.cross(w0, np.cross(w0, arm)), atol=1e-12
    )
    made.update(0.004)
    made.set_true_angular_velocity(w1)
    made.update(0.016)
    (stepped, after) = made.take_measurements()[1:]
    turning = [np.cross(w, np.cross(w, arm)) for w in (w0, w1)]
    euler = np.cross(w1 - w0, arm) / 0.01
    expected = [0, 0, G0] + 0.4 * turning[0] + 0.6 * turning[1] + euler
    np.testing.assert_allclose(stepped.specific_force, expected, atol=1e-11)
    np.testing.assert_allclose(after.specific_force, [0, 0, G0] + turning[1], atol=1e-12)


def test_mount_turns_the_axes():
    made = exact_imu(mount__rpy=[0.0, 0.0, math.pi / 2])
    made.set_true_state([1.0, 0.0, G0], [0.1, 0.0, 0.0])
    made.update(0.01)
    np.testing.assert_allclose(made.get_accelerometer_output(), (0, -1, G0), atol=1e-12)
    np.testing.assert_allclose(made.get_gyroscope_output(), (0, -0.1, 0), atol=1e-12)


@pytest.mark.parametrize('rotation', [True, False, 'auto'])
@pytest.mark.parametrize('output', ['mean', 'instant'])
def test_given_rates_are_inertial(rotation, output):
    made = exact_imu(earth__rotation=rotation, rate_output=output, grade='navigation')
    made.set_true_state([0.1, 0.2, 9.7], [1e-5, 7e-5, 0], [0.5, 0.5, 0.5, 0.5])
    made.update(0.01)
    np.testing.assert_allclose(made.get_gyroscope_output(), (1e-5, 7e-5, 0), atol=1e-18)
    np.testing.assert_allclose(made.get_accelerometer_output(), (0.1, 0.2, 9.7), atol=1e-13)


def test_orientation_is_put_out_once_given_and_turns_with_the_rate():
    made = imu(orientation__output='truth')
    made.update(0.01)
    assert made.get_measurement().orientation is None
    made.set_true_state(*([0, 0, G0], [0, 0, 0.5]), [-2.0, 0, 0, 0])
    made.update(1.0)
    q = made.get_measurement().orientation
    assert abs(abs(q[0]) - math.cos(0.25)) < 1e-12
    np.testing.assert_allclose(np.array(q[1:]) / q[0], (0, 0, math.tan(0.25)), atol=1e-12)
    made.set_true_state(*REST)
    made.update(1.0)
    np.testing.assert_allclose(made.get_measurement().orientation, q, atol=1e-12)


def test_an_orientation_given_late_disturbs_no_other_number():
    runs = []
    for late in (False, True):
        made = imu(grade='consumer')
        made.update(0.1)
        if late:
            made.set_true_state(*REST, [1, 0, 0, 0])
        made.update(0.1)
        runs.append([m.angular_velocity for m in made.take_measurements()])
    assert runs[0] == runs[1]


@pytest.mark.parametrize(
    'value', [[1, 2], 1.0, [[1, 2, 3]], [1, 2, math.nan], [1, math.inf, 2], 'abc', None,
              ['1', '2', '3'], [1, [2], 3], [True, False, True], [1j, 0, 0]],
)
def test_wrong_true_values_are_refused_by_name(value):
    made, receiver = imu(), gps()
    for call, what in (
        (lambda: made.set_true_specific_force(value), 'specific force'),
        (lambda: made.set_true_angular_velocity(value), 'angular velocity'),
        (lambda: made.set_true_state(value, ZERO3), 'specific force'),
        (lambda: made.set_true_state(ZERO3, value), 'angular velocity'),
        (lambda: receiver.set_true_state(value), 'position'),
        (lambda: receiver.set_true_state(ZERO3, value), 'velocity'),
        (lambda: receiver.set_true_state(ZERO3, acceleration=value), 'acceleration'),
        (lambda: receiver.set_true_state(ZERO3, angular_velocity=value), 'angular velocity'),
    ):
        with pytest.raises(api.JaguarError, match=f'^{what} = '):
            call()
    made.update(0.01)
    assert abs(made.get_accelerometer_output()[2] - G0) < 1e-9


@pytest.mark.parametrize('q', [[0, 0, 0, 0], [1, 0, 0], [math.nan, 0, 0, 1], 'east'])
def test_wrong_orientations_are_refused(q):
    with pytest.raises(api.JaguarError, match='orientation = '):
        imu().set_true_state(*REST, q)
    with pytest.raises(api.JaguarError, match='orientation = '):
        gps().set_true_state(ZERO3, orientation=q)


# ---------------------------------------------------------------------- the bridge


def test_increments_of_a_held_force_add_up():
    earth = core.environment()
    piece = HeldForce(
        0, 10_000_000, (1.0, 2.0, 9.0), (0.1, -0.4, 2.0), (0.0, 0.1, 0.0), IDENTITY_QUAT, earth
    )
    arm = (0.3, -0.2, 0.7)
    whole = np.array(piece.increments(0, 10_000_000, earth, arm))
    cuts = [0, 1_000_000, 4_500_000, 10_000_000]
    parts = [piece.increments(a, b, earth, arm) for a, b in itertools.pairwise(cuts)]
    np.testing.assert_allclose(np.sum(parts, axis=0), whole, atol=1e-15)
    jump = np.cross(np.array(piece.omega) - piece.omega_before, arm)
    curve = np.array(increments_of_curve(piece.at, 0, 10_000_000, earth, arm))
    np.testing.assert_allclose(whole - [np.zeros(3), jump], curve, atol=1e-14)


def test_a_held_motion_is_consistent():
    v, a, omega = (3.0, -1.0, 0.5), (0.5, 2.0, -1.0), (0.2, 0.1, -0.5)
    piece = HeldMotion(0, core.SECOND, (1.0, 2.0, 3.0), v, a, IDENTITY_QUAT, omega)
    before, middle, after = (piece.at(t) for t in (499_000_000, 500_000_000, 501_000_000))
    rotation = np.array([core.Rotation.from_quat(np.roll(middle.q_nb, -1)).as_matrix()])[0]
    v_n = (np.array(after.p_n) - before.p_n) / 0.002
    np.testing.assert_allclose(rotation @ middle.v_nb_b, v_n, atol=1e-9)
    np.testing.assert_allclose(rotation @ middle.a_nb_b, a, atol=1e-12)
    earth = core.environment()
    theta, _ = piece.increments(0, core.SECOND, earth, ZERO3)
    np.testing.assert_allclose(theta, omega, atol=1e-12)


# ---------------------------------------------------------------------- GPS


def test_receiver_goes_on_from_the_state_that_was_set():
    made = gps(fidelity='transparent')
    made.update(0.4)
    made.set_true_state([100, 200, 50], [10, -5, 1], [1, 0, 2])
    made.update(2.0)
    first, second = made.take_measurements()
    for fix, t in ((first, 0.6), (second, 1.6)):
        expected = (100 + 10 * t + 0.5 * t * t, 200 - 5 * t, 50 + t + t * t)
        np.testing.assert_allclose(fix.position, expected, atol=1e-8)
        np.testing.assert_allclose(fix.velocity, (10 + t, -5, 1 + 2 * t), atol=1e-9)
    assert first.valid


def test_receiver_has_a_lever_arm():
    made = gps(fidelity='transparent', mount__position=[1.0, 0.0, 0.0])
    half = math.pi / 4  # facing north
    made.set_true_state(
        ZERO3, orientation=[math.cos(half), 0, 0, math.sin(half)], angular_velocity=[0, 0, 0.5]
    )
    made.update(1.0)
    fix = made.get_measurement()
    yaw = math.pi / 2 + 0.5
    np.testing.assert_allclose(fix.position, (math.cos(yaw), math.sin(yaw), 0), atol=1e-8)
    np.testing.assert_allclose(
        fix.velocity, (-0.5 * math.sin(yaw), 0.5 * math.cos(yaw), 0), atol=1e-9
    )


def test_receiver_takes_geodetic_positions():
    made = gps(fidelity='transparent', origin=[-33.9, 151.2, 20.0])
    made.set_true_state(made.local_position(-33.8, 151.3, 1200.0))
    made.update(1.0)
    fix = made.get_measurement()
    np.testing.assert_allclose((fix.latitude_deg, fix.longitude_deg), (-33.8, 151.3), atol=1e-10)
    assert abs(fix.height_m - 1200.0) < 1e-6


def test_no_fix_is_not_valid_but_the_truth_is_there():
    made = gps(cold_start_s=2.5)
    made.set_true_state([10, 20, 30])
    made.update(2.0)
    fix = made.get_measurement()
    assert (fix.valid, fix.fix_type, fix.confidence) == (False, api.FixType.NONE, 0.0)
    assert math.isnan(fix.position[0])
    np.testing.assert_allclose(made.get_true_measurement().position, (10, 20, 30), atol=1e-8)
    made.update(1.0)
    assert made.get_measurement().valid


def test_fixes_have_the_standard_deviation_of_the_parameter():
    made = gps(update_hz=10.0, pos_std_dev=[2.0, 4.0], vel_std_dev=0.3)
    made.update(300.0)
    fixes = made.take_measurements()
    assert len(fixes) == 3000
    core.assert_std([fix.position[0] for fix in fixes], 2.0)
    core.assert_std([fix.position[2] for fix in fixes], 4.0)
    core.assert_std([fix.velocity[1] for fix in fixes], 0.3)


# ---------------------------------------------------------------------- truth beside it


@pytest.mark.parametrize('asked', ['always', 'seldom'])
def test_true_measurement_is_that_of_a_transparent_sensor(asked):
    arm = [0.3, -0.1, 0.2]
    options = {'mount__position': arm, 'mount__rpy': [0.1, 0.2, 0.3], 'sample_rate_hz': 97.0}
    noisy, clean = imu(grade='consumer', **options), exact_imu(grade='consumer', **options)
    rng = np.random.default_rng(7)
    for k in range(200):
        force, rate = rng.normal(size=3), rng.normal(size=3)
        for made in (noisy, clean):
            made.set_true_state(force, rate)
            made.update(0.013)
        if asked == 'always' or k % 50 == 49:
            true, expected = noisy.get_true_measurement(), clean.get_measurement()
            assert true.timestamp_ns == expected.timestamp_ns or k == 0
            np.testing.assert_allclose(true.specific_force, expected.specific_force, atol=1e-12)
            np.testing.assert_allclose(
                true.angular_velocity, expected.angular_velocity, atol=1e-14
            )
    assert (true.valid, true.confidence, true.state.name) == (True, 1.0, 'READY')


def test_true_measurement_shares_the_vibration():
    made = imu(vibration__lines=[1.0, 2.0, 0.5, 37.0])
    forces = []
    for _ in range(120):
        made.update(0.01)
        m, true = made.get_measurement(), made.get_true_measurement()
        np.testing.assert_allclose(true.specific_force, m.specific_force, atol=1e-12)
        forces.append(true.specific_force[0])
    assert np.std(forces) > 0.1


def test_measured_less_true_is_the_label():
    made = imu(grade='consumer')
    made.inject_failure('bias', 0.5, target='accel')
    made.set_true_state([1, 2, 3], [0.1, 0.2, 0.3])
    for _ in range(20):
        made.update(0.01)
        m, true = made.get_measurement(), made.get_true_measurement()
        np.testing.assert_allclose(
            np.subtract(m.specific_force, true.specific_force),
            m.sample.accel_error.total,
            atol=1e-12,
        )


@pytest.mark.parametrize('why', ['total', 'disabled', 'warm-up'])
def test_truth_is_there_where_the_sensor_gives_nothing(why):
    made = imu(warm_up_s=10.0 if why == 'warm-up' else 0.0)
    made.set_true_state([1, 2, 3], ZERO3)
    if why == 'total':
        made.inject_failure('total')
    if why == 'disabled':
        made.set_enabled(False)
    made.update(0.02)
    m, true = made.get_measurement(), made.get_true_measurement()
    assert (m.valid, true.valid) == (False, True)
    assert m.state == made.get_state() != api.SensorState.READY
    np.testing.assert_allclose(true.specific_force, (1, 2, 3), rtol=1e-13)
    assert true.timestamp_ns == 20_000_000


# ---------------------------------------------------------------------- life cycle


def test_off_until_initialized_and_after_shutdown():
    made = api.ImuSensor()
    assert made.get_state() is api.SensorState.OFF
    assert not made.get_measurement().valid
    assert (made.get_uptime(), made.get_sample_count()) == (0.0, 0)
    calls = [
        lambda: made.update(0.01), made.reset, made.clear_failure, lambda: made.calibrate(1.0),
        lambda: made.set_enabled(True), lambda: made.inject_failure('total'),
        lambda: made.set_temperature(20.0),
    ]
    for call in calls:
        with pytest.raises(api.JaguarError, match=r'call initialize\(\)'):
            call()
    made.initialize(api.ImuConfig('a', seed=1))
    made.inject_failure('total')
    made.update(1.0)
    made.shutdown()
    assert made.get_state() is api.SensorState.OFF
    assert not made.is_enabled()
    with pytest.raises(api.JaguarError, match='a is off'):
        made.update(0.01)
    made.initialize()
    assert made.get_failure_modes() == ()
    made.update(0.01)
    assert made.get_state() is api.SensorState.READY
    assert (made.get_name(), made.get_sample_count(), made.time_ns) == ('a', 2, 10_000_000)


def test_initialize_starts_anew_with_the_same_numbers():
    made = imu(grade='tactical')
    made.update(0.1)
    first = [m.angular_velocity for m in made.take_measurements()]
    made.initialize()
    made.update(0.1)
    assert [m.angular_velocity for m in made.take_measurements()] == first


def test_reset_is_a_power_cycle_in_which_time_goes_on_and_faults_stay():
    made = imu(grade='bmi088')
    made.inject_failure('bias', 1.0)
    made.update(1.0)
    before = made.get_accelerometer_bias()
    made.reset()
    assert (made.get_uptime(), made.get_sample_count()) == (0.0, 0)
    assert not made.get_measurement().valid
    assert not made.get_true_measurement().valid
    made.update(1.0)
    assert made.time_ns == 2 * core.SECOND
    assert made.get_sample_count() == 100
    assert made.get_measurement().timestamp_ns == 2 * core.SECOND
    assert made.get_failure_modes() == ('bias:gyro',)
    assert math.dist(made.get_accelerometer_bias(), before) > 1e-3  # new turn-on bias
    assert made.get_true_measurement().valid


def test_states_uptime_and_counters():
    made = imu(warm_up_s=0.5)
    assert made.get_state() is api.SensorState.INITIALIZING
    made.update(0.5)
    assert made.get_state() is api.SensorState.INITIALIZING
    assert made.get_status().causes == ('warm-up',)
    made.update(0.5)
    assert made.get_state() is api.SensorState.READY
    assert (made.get_uptime(), made.get_sample_count()) == (1.0, 50)
    made.set_enabled(False)
    assert (made.get_state(), made.is_enabled()) == (api.SensorState.OFF, False)
    made.update(1.0)
    made.set_enabled(True)
    made.update(0.1)
    assert (made.get_sample_count(), made.get_uptime()) == (60, 2.1)


def test_parameters_act_while_running():
    made = imu()
    made.update(0.1)
    made.set_sample_rate(50.0)
    made.take_measurements()
    made.update(0.1)
    assert made.get_sample_rate() == 50.0
    assert [m.timestamp_ns // 1_000_000 for m in made.take_measurements()] == [
        120, 140, 160, 180, 200]
    with pytest.raises(api.ParameterError):
        made.set_sample_rate(-5.0)
    made.set_fidelity(api.Fidelity.TRANSPARENT)
    assert made.get_fidelity() is api.Fidelity.TRANSPARENT
    made.config['fidelity'] = 'fault'  # of a copy
    assert made.get_fidelity() is api.Fidelity.TRANSPARENT


def test_temperature_follows():
    made = imu(temperature_slew_c_per_s=10.0, gyro__temp_bias_coeff=0.001)
    assert made.get_temperature() == 25.0
    made.set_temperature(45.0)
    made.update(1.0)
    assert made.get_temperature() == pytest.approx(35.0)
    np.testing.assert_allclose(made.get_gyroscope_bias(), [0.01] * 3, atol=1e-9)
    made.update(2.0)
    assert made.get_measurement().temperature_c == pytest.approx(45.0)


def test_a_shock_degrades():
    made = imu(environment__max_shock=5.0)
    made.update(0.1)
    assert made.get_state() is api.SensorState.READY
    made.set_true_specific_force([6.0 * G0, 0.0, 0.0])
    made.update(0.01)
    assert made.get_state() is api.SensorState.DEGRADED
    assert made.get_measurement().valid
    made.set_true_specific_force(REST[0])
    made.update(1.5)
    assert made.get_state() is api.SensorState.READY


# ---------------------------------------------------------------------- calibration


def test_calibration_takes_the_bias_away():
    made = imu(grade='tactical', gyro__turn_on_bias_std=0.01, accel__turn_on_bias_std=0.5)
    made.update(0.1)
    assert math.hypot(*made.get_accelerometer_bias()) > 0.1
    run = made.calibrate(10.0)
    made.update(0.01)
    assert made.is_calibrating()
    assert made.get_state() is api.SensorState.INITIALIZING
    made.update(10.0)
    assert (run.done, run.refused, made.is_calibrating()) == (True, '', False)
    # what is left: the mean of the noise, the scale factor, and what the bias has moved since
    sigma = 1.667e-4 / math.sqrt(10.0)
    left = np.abs(made.get_accelerometer_bias())
    assert np.all(left[:2] < 5 * sigma + 4 * 9.8e-4 * math.sqrt(2 * 10.0 / 300.0))
    mean = np.mean([m.angular_velocity for m in made.take_measurements()[-1:]], axis=0)
    assert np.all(np.abs(mean) < 5 * 2.9e-6 / 0.1 + 1e-5)
    made.reset()
    made.update(0.1)
    assert math.hypot(*made.get_accelerometer_bias()) > 0.1


def test_calibration_wants_rest():
    made = imu()
    made.set_true_state([0, 0, G0], [0, 0, 0.01])
    run = made.calibrate(1.0)
    made.update(0.1)
    assert run.done
    assert 'moving' in run.refused
    for wrong in (0.0, -1.0, math.nan, '1'):
        with pytest.raises(api.JaguarError, match='duration'):
            made.calibrate(wrong)


@pytest.mark.parametrize('q', [None, [1, 0, 0, 0], [0.5, 0.5, 0.5, 0.5]])
def test_calibration_bears_the_rotation_of_the_earth(q):
    made = imu(grade='navigation')
    made.set_true_state([0, 0, G0], [7.3e-5, 0, 0], q)
    run = made.calibrate(0.5)
    made.update(1.0)
    assert (run.done, run.refused) == (True, '')


# ---------------------------------------------------------------------- failures


def test_magnitude_none_is_the_default_of_the_mode():
    made = imu(grade='tactical')
    assert made.inject_failure('noise') == 'noise on all, axes xyz, magnitude 10'
    assert made.get_failure_modes() == ('noise:all',)
    assert made.get_failure_mode() == api.FailureMode.NOISE
    with pytest.raises(api.FaultError, match='bias needs a magnitude'):
        made.inject_failure('bias')
    with pytest.raises(api.FaultError, match='magnitude 0 is not valid for noise'):
        made.inject_failure('noise', 0.0)


@pytest.mark.parametrize(
    'mode, magnitude, options, text',
    [
        ('wobble', None, {}, 'valid: none, bias'),
        ('satellite_loss', 3, {}, 'not for this sensor'),
        ('bias', 'much', {}, 'a number'),
        ('bias', math.nan, {}, 'not finite'),
        ('bias', 1.0, {'target': 'position'}, 'valid: gyro, accel'),
        ('bias', 1.0, {'color': 'red'}, 'valid: target, axis, delay'),
        ('bias', 1.0, {'delay': -1.0}, 'delay'),
        ('bias', 1.0, {'delay': 'soon'}, 'a number'),
        ('bias', 1.0, {'axis': 3}, 'a string'),
        ('bias', 1.0, {'repeat': 1.5}, 'a whole number'),
        ('none', None, {'target': 'position'}, 'valid: gyro, accel'),
    ],
)
def test_wrong_injections_are_refused(mode, magnitude, options, text):
    made = imu()
    for call in (made.check_failure, made.inject_failure):
        with pytest.raises(api.FaultError, match=text):
            call(mode, magnitude, **options)
    assert made.get_failure_modes() == ()


def test_a_window_hits_exactly_its_samples():
    made = imu()
    made.inject_failure('bias', 2.0, target='accel', axis='x', delay=0.1, duration=0.2)
    made.update(0.5)
    hit = [m.timestamp_ns // 10_000_000 for m in made.take_measurements()
           if m.specific_force[0] > 1.0]
    assert hit == list(range(11, 31))
    assert made.get_failure_mode() == 'none'
    assert made.get_state() is api.SensorState.READY


def test_each_measurement_has_the_state_at_its_time():
    made = imu()
    made.inject_failure('bias', 2.0, delay=0.1, duration=0.1)
    made.update(0.3)
    states = [m.state.name for m in made.take_measurements()]
    assert states == ['READY'] * 10 + ['DEGRADED'] * 10 + ['READY'] * 10
    made.inject_failure('total', delay=0.05)
    made.update(0.1)
    assert len(made.take_measurements()) == 5
    m = made.get_measurement()
    assert (m.valid, m.confidence, m.state.name) == (False, 0.0, 'FAILED')
    assert m.timestamp_ns == 350_000_000


def test_stuck_holds_the_last_output_and_clearing_ends_it():
    made = imu(grade='consumer')
    made.update(0.1)
    held = made.get_measurement()
    made.inject_failure('stuck')
    made.update(0.1)
    assert {m.angular_velocity for m in made.take_measurements()[10:]} == {held.angular_velocity}
    made.clear_failure()
    made.update(0.01)
    assert made.get_gyroscope_output() != held.angular_velocity
    assert made.get_state() is api.SensorState.READY


def test_a_failure_by_parameters_is_cleared_in_the_configuration_too():
    made = imu(fidelity='fault', failure__mode='bias', failure__magnitude=1.0)
    made.update(0.1)
    assert made.get_failure_modes() == ('bias:gyro',)
    made.inject_failure('none', target='accel')
    assert made.config['failure.mode'] == 'bias'
    made.clear_failure()
    assert made.config['failure.mode'] == 'none'
    made.update(0.1)
    assert made.get_failure_mode() == api.FailureMode.NONE
    made.set_parameter('failure.mode', 'total')
    made.update(0.1)
    assert made.get_state() is api.SensorState.FAILED


def test_timeline():
    made = imu('left')
    assert made.inject_timeline('- {at: 0.1, sensor: left, mode: total, duration: 0.1}') == 1
    made.update(0.3)
    assert made.get_sample_count() == 20


# ---------------------------------------------------------------------- Allan


def test_allan_variance_leaves_the_sensor_alone():
    made = api.create_tactical_imu(seed=2)
    made.set_fidelity('fault')
    made.set_parameters({'failure.mode': 'stuck'})
    made.update(0.1)
    result = made.compute_allan_variance(100.0, 50.0)
    assert made.time_ns == 100_000_000
    assert (result.tau[0], made.get_sample_rate()) == (0.02, 200.0)
    names = [f'adev_{triad}_{axis}' for triad in ('gyro', 'accel') for axis in 'xyz']
    assert all(getattr(result, name).shape == result.tau.shape for name in names)
    for name, arw in (('gyro_y', 2.909e-6), ('accel_x', 1.667e-4)):
        measured = getattr(result, f'adev_{name}')[0] * math.sqrt(result.tau[0])
        assert abs(measured / arw - 1.0) < 4 * 0.5 * math.sqrt(3 / 5000)
    for wrong in (0.0, 1e-3, math.nan):
        with pytest.raises(api.JaguarError):
            made.compute_allan_variance(wrong)


# ---------------------------------------------------------------------- many sensors


def rack():
    manager = api.SensorManager()
    for sensor in (imu('a'), imu('b', seed=2), gps('c', update_hz=10.0)):
        manager.add_sensor(sensor)
    return manager


def test_manager_finds_by_name_and_type():
    manager = rack()
    assert manager.names() == ['a', 'b', 'c']
    assert manager.get_sensor('b').get_name() == 'b'
    with pytest.raises(api.JaguarError, match="no sensor 'd'; there are: a, b, c"):
        manager.get_sensor('d')
    assert [s.get_name() for s in manager.get_sensors_by_type(api.SensorType.IMU)] == ['a', 'b']
    assert [s.get_name() for s in manager.get_sensors_by_type('gps')] == ['c']
    with pytest.raises(api.JaguarError, match='there is a sensor b'):
        manager.add_sensor(imu('b'))
    with pytest.raises(api.JaguarError, match='not a sensor'):
        manager.add_sensor('a')
    assert manager.names() == ['a', 'b', 'c']


@pytest.mark.parametrize('kind', [t for t in api.SensorType if t not in catalogue.SENSORS])
def test_types_that_are_not_modelled_are_refused_by_name(kind):
    with pytest.raises(api.JaguarError, match=rf'{kind.value}.*not modelled.*imu, gps'):
        rack().get_sensors_by_type(kind)
    with pytest.raises(api.JaguarError, match='unknown'):
        rack().get_sensors_by_type('toaster')


def test_manager_moves_and_switches_all():
    manager = rack()
    manager.update_all(0.5)
    assert [manager.get_sensor(n).get_sample_count() for n in 'abc'] == [50, 50, 5]
    manager.disable_all()
    assert set(manager.get_all_states().values()) == {api.SensorState.OFF}
    manager.enable_all()
    manager.get_sensor('a').shutdown()
    manager.update_all(0.5)
    states = {name: state.name for name, state in manager.get_all_states().items()}
    assert states == {'a': 'OFF', 'b': 'READY', 'c': 'READY'}
    with pytest.raises(api.JaguarError, match='dt = nan'):
        manager.update_all(math.nan)
    assert {manager.get_sensor(n).time_ns for n in 'bc'} == {core.SECOND}


def test_manager_injects_into_all_or_none():
    manager = rack()
    with pytest.raises(api.FaultError, match="a: mode 'satellite_loss' is not for this sensor"):
        manager.inject_failure_all('satellite_loss', 2)
    with pytest.raises(api.FaultError, match="c: target 'gyro'"):
        manager.inject_failure_all('bias', 1.0, target='gyro')
    assert all(manager.get_sensor(n).get_failure_modes() == () for n in 'abc')
    manager.inject_failure_all('satellite_loss', 2, sensor_type='gps')
    manager.inject_failure_all('bias', 1.0, api.SensorType.IMU, target='gyro')
    found = [manager.get_sensor(n).get_failure_modes() for n in 'abc']
    assert found == [('bias:gyro',), ('bias:gyro',), ('satellite_loss:all',)]
    with pytest.raises(api.JaguarError, match='not modelled'):
        manager.inject_failure_all('total', None, 'radar')
    manager.clear_all_failures()
    assert all(manager.get_sensor(n).get_failure_modes() == () for n in 'abc')


def test_total_failure_of_one_leaves_the_others_alone():
    alone, manager = imu('b', grade='tactical', seed=2), api.SensorManager()
    for sensor in (imu('a', grade='tactical'), imu('b', grade='tactical', seed=2)):
        manager.add_sensor(sensor)
    manager.get_sensor('a').inject_failure('total')
    manager.update_all(1.0)
    alone.update(1.0)
    assert manager.get_sensor('a').get_sample_count() == 0
    together = manager.get_sensor('b').take_measurements()
    assert [m.angular_velocity for m in together] == [
        m.angular_velocity for m in alone.take_measurements()]


def test_fusion_wants_readings_of_one_stamp():
    a, b = imu('a'), imu('b')
    a.update(0.01)
    b.update(0.02)
    with pytest.raises(api.JaguarError, match='one stamp'):
        api.fuse_imu_measurements([a.get_measurement(), b.get_measurement()])
    with pytest.raises(api.JaguarError, match='without a reading'):
        api.fuse_imu_measurements([a.get_measurement(), imu('c').get_measurement()])
    with pytest.raises(api.JaguarError, match='stamp'):
        api.fuse_imu_measurements([])
    a.update(0.01)
    fused = api.fuse_imu_measurements([a.get_measurement(), b.get_measurement()])
    np.testing.assert_allclose(fused.specific_force, (0, 0, G0), atol=1e-12)
    assert fused.valid


def test_absurdly_large_true_values_are_refused():
    imu = api.create_tactical_imu(seed=1)
    with pytest.raises(api.JaguarError, match='specific force'):
        imu.set_true_state((1e300, 0.0, 0.0), (0.0, 0.0, 0.0))
    imu.set_true_state((1e12, 0.0, 0.0), (0.0, 0.0, 0.0))
    imu.update(0.01)
    assert imu.get_measurement().valid


def test_only_measurements_of_imus_are_fused():
    with pytest.raises(api.JaguarError, match='only measurements of IMUs'):
        api.fuse_imu_measurements([3])
