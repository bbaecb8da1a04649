"""Ideal inertial readings: closed forms against quadrature, signs, Earth, lever arm."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from core_helpers import (
    EPOCH,
    G0,
    OMEGA_IE,
    SECOND,
    Motion,
    deltas,
    environment,
    forces,
    imu,
    moving,
    pieces,
    quadrature,
    rates,
    run,
    still,
    thetas,
    turning,
)
from scipy.spatial.transform import Rotation

from jaguar_sensors_ros.nav import rotation as rot
from jaguar_sensors_ros.nav.kinematics import increments_of_curve, increments_of_parts
from jaguar_sensors_ros.truth.segment import PoseSegment, TwistSegment
from jaguar_sensors_ros.truth.track import TruthTrack
from jaguar_sensors_ros.types import ZERO3, TruthSample

MS = 1_000_000


def quat(rotation):
    x, y, z, w = rotation.as_quat()
    return (w, x, y, z)


def wild_segment(duration_ns=20 * MS, turn=0.4, acceleration=False, base=0):
    """Return a piece in which everything changes and the pose agrees with the twist."""
    first = Rotation.from_euler('zyx', [0.8, -0.3, 0.4])
    dt = duration_ns / SECOND
    phi = turn * np.array((0.48, -0.6, 0.64))
    omega = phi / dt
    a = ((1.0, 2.0, -3.0), (4.0, -5.0, 6.0)) if acceleration else (None, None)
    return TwistSegment(
        moving(base, (30.0, -2.0, 1.0), tuple(0.9 * omega), quat(first), (5e3, -7e3, 300.0), a[0]),
        moving(
            base + duration_ns, (31.0, -1.0, 0.5), tuple(1.1 * omega),
            quat(first * Rotation.from_rotvec(phi)), (5000.5, -6999.6, 300.1), a[1],
        ),
    )


def test_parts_of_a_smooth_piece_share_its_integral_as_a_linear_rate_would():
    segment, arm, earth = wild_segment(turn=0.02), (0.3, -0.2, 0.1), environment(True, 'wgs84')
    cuts = [3 * MS + i * 500_001 for i in range(11)]
    direct = [segment.increments(a, b, earth, arm) for a, b in itertools.pairwise(cuts)]
    shared = increments_of_parts(segment, cuts, earth, arm)
    span_s = (cuts[-1] - cuts[0]) / SECOND
    for i in (0, 1):
        exact, got = (np.array([pair[i] for pair in x]) for x in (direct, shared))
        rates_exact = exact / 500.001e-6
        curvature = np.abs(np.diff(rates_exact, 2, axis=0)).max(axis=0) / 500.001e-6**2
        # a parabola differs from the line through the means of its halves by q T^2 / 12 at most
        bound = curvature * span_s**2 / 12.0 + 1e-9
        assert (np.abs(got / 500.001e-6 - rates_exact) <= bound).all()
        # two Simpson panels against ten: Coriolis and the change of gravity on the way
        np.testing.assert_allclose(got.sum(axis=0), exact.sum(axis=0), rtol=0, atol=1e-11)


@pytest.mark.parametrize('acceleration', [False, True])
@pytest.mark.parametrize('gravity', ['constant', 'wgs84'])
@pytest.mark.parametrize('rotation', [False, True])
@pytest.mark.parametrize('arm', [ZERO3, (1.5, -0.4, 0.7)])
@pytest.mark.parametrize('span', [(0, 20), (0, 5), (5, 10), (13, 20)])
def test_the_closed_form_of_a_piece_is_the_integral_of_its_rates(
    span, arm, rotation, gravity, acceleration
):
    segment = wild_segment(acceleration=acceleration)
    env = environment(rotation, gravity)
    a, b = (x * MS for x in span)
    theta, velocity = segment.increments(a, b, env, arm)
    expected_theta, expected_velocity = quadrature(
        segment, a, b, env, arm, panels=2, order=8
    )
    np.testing.assert_allclose(theta, expected_theta, atol=1e-12)
    np.testing.assert_allclose(velocity, expected_velocity, atol=2e-11)


def test_increments_of_parts_add_up_to_those_of_the_whole():
    segment = wild_segment(base=EPOCH)
    env, arm = environment(True, 'wgs84'), (0.3, 0.2, -0.1)
    whole = np.array(segment.increments(EPOCH, EPOCH + 20 * MS, env, arm))
    cuts = [EPOCH, EPOCH + 1, EPOCH + 3_333_333, EPOCH + 11 * MS + 7, EPOCH + 20 * MS]
    parts = sum(
        np.array(segment.increments(a, b, env, arm)) for a, b in itertools.pairwise(cuts)
    )
    np.testing.assert_allclose(parts, whole, atol=1e-11)


@pytest.mark.parametrize('omega', [0.2, 3.0, math.radians(2000.0)])
def test_quadrature_of_a_smooth_motion_equals_closed_integrals(omega):
    """A body that rolls evenly while it moves along a line: everything integrates by hand."""
    def at(t_ns):
        t = t_ns / SECOND
        q = quat(Rotation.from_rotvec((omega * t, 0, 0)))
        v_n = np.array((0.0, 3.0 * t, 0.0))
        back = Rotation.from_rotvec((omega * t, 0, 0)).inv()
        return TruthSample(
            t_ns, (0, 1.5 * t * t, 0), q, tuple(back.apply(v_n)), (omega, 0, 0),
            tuple(back.apply((0.0, 3.0, 0.0))),
        )
    t0, t1 = 100 * MS, 350 * MS
    theta, velocity = increments_of_curve(at, t0, t1, environment(), ZERO3)
    a, b = omega * 0.1, omega * 0.35
    # f_n = (0, 3, g), seen from axes rolled by omega t
    expected = (
        0.0,
        (3.0 * (math.sin(b) - math.sin(a)) - G0 * (math.cos(b) - math.cos(a))) / omega,
        (3.0 * (math.cos(b) - math.cos(a)) + G0 * (math.sin(b) - math.sin(a))) / omega,
    )
    np.testing.assert_allclose(theta, (omega * 0.25, 0, 0), atol=1e-12)
    np.testing.assert_allclose(velocity, expected, atol=1e-9)


def test_a_steady_turn_is_exact_whatever_the_odometry_rate():
    at = turning((2.0, 0.0, 0.0), (0.0, 0.0, 1.0), EPOCH)
    for step in (20 * MS, 50 * MS, 200 * MS):
        sensor = imu(fidelity='transparent', sample_rate_hz=100.0)
        got = run(sensor, pieces(at, range(EPOCH, EPOCH + SECOND + 1, step)))
        assert len(got) == 100
        np.testing.assert_allclose(forces(got), [(0.0, 2.0, 9.80665)] * 100, atol=1e-10)
        np.testing.assert_allclose(rates(got), [(0.0, 0.0, 1.0)] * 100, atol=1e-14)


@pytest.mark.parametrize(('rpy', 'expected'), [
    ((0, 0, 0), (0, 0, G0)),
    ((math.pi, 0, 0), (0, 0, -G0)),
    ((math.pi / 2, 0, 0), (0, G0, 0)),
    ((0, math.pi / 2, 0), (-G0, 0, 0)),
    ((0, 0, 2.0), (0, 0, G0)),
])
def test_at_rest_the_reaction_to_gravity_is_felt(rpy, expected):
    q = quat(Rotation.from_euler('xyz', rpy))
    got = run(imu(fidelity='transparent'), [still(0, 0.1, EPOCH, q=q)])
    np.testing.assert_allclose(forces(got), [expected] * len(got), atol=1e-14)
    assert not rates(got).any()


def test_free_fall_is_weightless():
    q = quat(Rotation.from_euler('xyz', (0.3, -0.4, 1.0)))
    down = tuple(Rotation.from_quat(np.roll(q, -1)).inv().apply((0.0, 0.0, -G0)))
    a, b = (moving(t, tuple(np.array(down) * t / SECOND), q=q, a=down) for t in (0, 100 * MS))
    got = run(imu(fidelity='transparent'), [TwistSegment(a, b)])
    assert len(got) == 20
    np.testing.assert_allclose(forces(got), 0.0, atol=1e-14)
    np.testing.assert_allclose(deltas(got), 0.0, atol=1e-16)


def test_a_given_acceleration_is_kinematic_and_wins_over_the_velocity():
    a, b = (moving(t, (1.0, 0, 0), (0, 0, 1.0), a=(3.0, 4.0, 5.0)) for t in (0, 5 * MS))
    (got,) = run(imu(fidelity='transparent'), [TwistSegment(a, b)])
    np.testing.assert_allclose(got.specific_force, (3.0, 4.0, 5.0 + G0), atol=1e-6)


def test_transparent_increments_are_exact():
    at = turning((0, 0, 0), (1.0, 0.0, 0.0))
    got = run(imu(fidelity='transparent'), pieces(at, range(0, SECOND, 20 * MS)))
    np.testing.assert_allclose(thetas(got), [(0.005, 0.0, 0.0)] * len(got), rtol=1e-15, atol=0)
    assert thetas(got)[0][0] == 0.005
    assert all(s.frame[0].dt_s == 0.005 for s in got)


def test_the_turning_earth_is_felt_at_rest_about_north_and_up():
    latitude = math.radians(47.0)
    values = {'fidelity': 'transparent', 'origin': (47.0, 8.0, 0.0), 'earth__rotation': True}
    (level, *_) = run(imu(**values), [still(0, 0.1)])
    expected = 7.292115e-5 * np.array((0.0, math.cos(latitude), math.sin(latitude)))
    np.testing.assert_allclose(level.angular_velocity, expected, rtol=1e-12, atol=1e-20)
    np.testing.assert_allclose(level.specific_force, (0, 0, G0), atol=1e-14)
    # nose to the north, left wing down: x north, y down, z east... from the rotation itself
    turn = Rotation.from_euler('ZYX', (math.pi / 2, 0.0, -math.pi / 2))
    (tilted, *_) = run(imu(**values), [still(0, 0.1, q=quat(turn))])
    np.testing.assert_allclose(
        tilted.angular_velocity, turn.inv().apply(expected), rtol=1e-12, atol=1e-19
    )
    assert tilted.angular_velocity[0] == pytest.approx(expected[1])


def test_earth_rotation_is_felt_by_default_from_navigation_grade_on():
    sensed = {}
    for grade in ('consumer', 'industrial', 'tactical', 'navigation', 'strategic', 'custom'):
        (first, *_) = run(imu(fidelity='transparent', grade=grade), [still(0, 0.1)])
        sensed[grade] = float(np.linalg.norm(first.angular_velocity))
    for grade, rate in sensed.items():
        expected = OMEGA_IE if grade in ('navigation', 'strategic') else 0.0
        assert rate == pytest.approx(expected, rel=1e-12)


def test_coriolis_is_felt_when_moving_over_the_turning_earth():
    """Flying east the accelerometers read less: the Eotvos effect, 2 omega v cos(latitude)."""
    env = environment(True, latitude=40.0)
    segment = TwistSegment(moving(0, (300.0, 0, 0)), moving(5 * MS, (300.0, 0, 0)))
    _, velocity = segment.increments(0, 5 * MS, env, ZERO3)
    latitude = math.radians(40.0)
    expected = (
        0.0,
        2 * OMEGA_IE * 300.0 * math.sin(latitude),
        G0 - 2 * OMEGA_IE * 300.0 * math.cos(latitude),
    )
    np.testing.assert_allclose(np.array(velocity) / 0.005, expected, atol=1e-12)


def test_a_lever_arm_is_felt_as_by_a_point_simulated_on_its_own():
    """The point's own velocity is differentiated numerically and compared with delta-v."""
    arm = np.array((1.5, -0.4, 0.7))
    latitude = math.radians(47.0)
    w_n = OMEGA_IE * np.array((0.0, math.cos(latitude), math.sin(latitude)))

    def attitude(t):
        return Rotation.from_euler('zyx', (1.3 * t, 0.4 * math.sin(2 * t), 0.3 * t * t))

    def omega_nb(t):
        h = 1e-4
        terms = [(8, 1), (-8, -1), (-1, 2), (1, -2)]
        return sum(
            c * (attitude(t).inv() * attitude(t + k * h)).as_rotvec() for c, k in terms
        ) / (12 * h)

    def v_body(t):
        return np.array((20.0 * math.cos(t), 5.0 * t, -3.0 * math.sin(3 * t)))  # in n

    def a_body(t):
        return np.array((-20.0 * math.sin(t), 5.0, -9.0 * math.cos(3 * t)))

    def at(t_ns):
        t = t_ns / SECOND
        R = attitude(t).inv()
        return TruthSample(
            t_ns, (0, 0, 0), quat(attitude(t)), tuple(R.apply(v_body(t))),
            tuple(omega_nb(t)), tuple(R.apply(a_body(t))),
        )

    t0, t1 = 200 * MS, 210 * MS
    env = environment(True, latitude=47.0)
    _, got = increments_of_curve(at, t0, t1, env, tuple(arm))

    def force(t):
        """Specific force at the point: its acceleration over n, Coriolis, gravity."""
        h = 1e-3
        r = [attitude(t + k * h).apply(arm) for k in (-2, -1, 0, 1, 2)]
        v_arm = (r[0] - 8 * r[1] + 8 * r[3] - r[4]) / (12 * h)
        a_arm = (-r[0] + 16 * r[1] - 30 * r[2] + 16 * r[3] - r[4]) / (12 * h * h)
        v, a = v_body(t) + v_arm, a_body(t) + a_arm
        # gravity holds the centrifugal force at the body, the arm's own share comes on top
        centrifugal = np.cross(w_n, np.cross(w_n, r[2]))
        f_n = a + 2 * np.cross(w_n, v) + centrifugal + (0, 0, G0)
        return attitude(t).inv().apply(f_n)

    nodes, weights = np.polynomial.legendre.leggauss(6)
    expected = sum(
        w * 0.005 * force(0.205 + 0.005 * x) for x, w in zip(nodes, weights, strict=True)
    )
    np.testing.assert_allclose(got, expected, atol=2e-9)


def test_the_mount_turns_what_is_felt():
    rpy = (0.3, -0.5, 2.0)
    at = turning((2.0, 0.0, 0.0), (0.1, -0.2, 1.0))
    base = run(imu(fidelity='transparent'), pieces(at, range(0, SECOND, 20 * MS)))
    turned = run(
        imu(fidelity='transparent', mount__rpy=rpy), pieces(at, range(0, SECOND, 20 * MS))
    )
    C_sb = Rotation.from_euler('xyz', rpy).inv()
    np.testing.assert_allclose(rates(turned), C_sb.apply(rates(base)), atol=1e-13)
    np.testing.assert_allclose(forces(turned), C_sb.apply(forces(base)), atol=1e-12)
    np.testing.assert_allclose(thetas(turned), C_sb.apply(thetas(base)), atol=1e-15)
    for a, b in zip(base, turned, strict=True):
        expected = Rotation.from_quat(np.roll(a.orientation, -1)) * C_sb.inv()
        got = Rotation.from_quat(np.roll(b.orientation, -1))
        assert (expected.inv() * got).magnitude() < 1e-14


def test_a_sensor_ahead_of_a_turning_body_feels_the_centripetal_force():
    at = turning((0, 0, 0), (0, 0, 10.0))
    got = run(
        imu(fidelity='transparent', mount__position=(0.5, 0, 0), mount__rpy=(0, 0, math.pi / 2)),
        pieces(at, range(0, SECOND // 5, 20 * MS)),
    )
    np.testing.assert_allclose(forces(got), [(0.0, 50.0, G0)] * len(got), atol=1e-10)


def test_q_and_minus_q_are_the_same_attitude():
    at = turning((2.0, 0.0, 0.0), (0.3, -0.2, 1.0))

    def flipped(t_ns):
        s = at(t_ns)
        sign = -1.0 if (t_ns // (20 * MS)) % 2 else 1.0
        return TruthSample(s.t_ns, s.p_n, tuple(sign * x for x in s.q_nb), s.v_nb_b, s.omega_nb_b)

    times = range(0, SECOND, 20 * MS)
    good = run(imu(fidelity='transparent'), pieces(at, times))
    bad = run(imu(fidelity='transparent'), pieces(flipped, times))
    np.testing.assert_allclose(forces(bad), forces(good), atol=1e-12)
    np.testing.assert_allclose(rates(bad), rates(good), atol=1e-14)


def test_a_first_message_that_moves_makes_no_spike():
    segment = TwistSegment(moving(EPOCH, (10.0, 0, 0)),
                           moving(EPOCH + 20 * MS, (10.0, 0, 0), p=(0.2, 0, 0)))
    got = run(imu(fidelity='transparent'), [segment])
    np.testing.assert_allclose(forces(got), [(0, 0, G0)] * len(got), atol=1e-12)


@pytest.mark.parametrize('rate', [math.radians(2000.0), -math.radians(2000.0), 15.0, 31.3])
def test_a_fast_spin_between_rare_messages_keeps_its_whole_turns(rate):
    """At 5 Hz a spin of 2000 deg/s makes more than a turn between two messages."""
    at = turning((0, 0, 0), (rate, 0.0, 0.0))
    got = run(imu(fidelity='transparent', sample_rate_hz=1000.0),
              pieces(at, range(0, SECOND + 1, SECOND // 5)))
    assert len(got) == 1000
    exact = run(imu(fidelity='transparent', sample_rate_hz=1000.0),
                pieces(at, range(0, SECOND + 1, SECOND // 500)))
    np.testing.assert_allclose(forces(got), forces(exact), atol=1e-8)
    np.testing.assert_allclose(rates(got), rates(exact), atol=1e-12)


# pose authority ------------------------------------------------------------------------------


def sine(t):
    """Return position, velocity, acceleration and attitude of a smooth test motion."""
    p = np.array((math.sin(t), math.cos(1.3 * t), 0.2 * t * t))
    v = np.array((math.cos(t), -1.3 * math.sin(1.3 * t), 0.4 * t))
    a = np.array((-math.sin(t), -1.69 * math.cos(1.3 * t), 0.4))
    return p, v, a, Rotation.from_euler('zyx', (t, 0.3 * math.sin(t), 0.2 * math.cos(2 * t)))


def sine_sample(t_ns):
    p, _, _, R = sine(t_ns / SECOND)
    return TruthSample(t_ns, tuple(p), quat(R), ZERO3, ZERO3)


def pose_segments(step_ns, count):
    track = TruthTrack('pose', SECOND)
    return [
        piece for i in range(count) for piece in track.push(sine_sample(i * step_ns)).segments
    ]


def test_pose_pieces_join_without_a_step_in_velocity_rate_and_attitude():
    segments = pose_segments(50 * MS, 12)
    assert len(segments) == 10
    for a, b in itertools.pairwise(segments):
        end, start = a.at(a.end_ns), b.at(b.start_ns)
        np.testing.assert_allclose(end.p_n, start.p_n, atol=1e-13)
        np.testing.assert_allclose(end.v_nb_b, start.v_nb_b, atol=1e-12)
        np.testing.assert_allclose(end.omega_nb_b, start.omega_nb_b, atol=1e-12)
        assert abs(np.dot(end.q_nb, start.q_nb)) == pytest.approx(1.0, abs=1e-14)


def test_pose_pieces_are_second_order_in_velocity_and_rate():
    errors = []
    for step in (40 * MS, 20 * MS):
        segment = pose_segments(step, 20)[10]
        worst = 0.0
        for share in (0.2, 0.5, 0.9):
            t_ns = segment.start_ns + round(share * step)
            got = segment.at(t_ns)
            _, v, _, R = sine(t_ns / SECOND)
            h = 1e-5
            _, _, _, ahead = sine(t_ns / SECOND + h)
            _, _, _, back = sine(t_ns / SECOND - h)
            omega = (back.inv() * ahead).as_rotvec() / (2 * h)
            worst = max(
                worst,
                float(np.linalg.norm(R.inv().apply(v) - got.v_nb_b)),
                float(np.linalg.norm(omega - np.array(got.omega_nb_b))),
            )
        errors.append(worst)
    assert errors[0] < 2e-3
    assert errors[0] / errors[1] > 3.5  # halving the step quarters the error


def test_derivatives_of_a_pose_piece_are_those_of_its_curve():
    segment = pose_segments(50 * MS, 8)[3]
    h = 1000
    t = segment.start_ns + 17 * MS
    a, m, b = (segment.at(t + k * h) for k in (-1, 0, 1))
    R = Rotation.from_quat(np.roll(m.q_nb, -1))
    v = (np.array(b.p_n) - a.p_n) / (2e-9 * h)
    np.testing.assert_allclose(R.inv().apply(v), m.v_nb_b, atol=1e-8)
    turn = Rotation.from_quat(np.roll(a.q_nb, -1)).inv() * Rotation.from_quat(np.roll(b.q_nb, -1))
    np.testing.assert_allclose(turn.as_rotvec() / (2e-9 * h), m.omega_nb_b, atol=1e-8)
    dv = (np.array(b.v_nb_b) - a.v_nb_b) / (2e-9 * h)
    np.testing.assert_allclose(
        dv + np.cross(m.omega_nb_b, m.v_nb_b), m.a_nb_b, atol=1e-6
    )


def test_the_quadrature_of_a_pose_piece_is_good_to_a_nano():
    segment = pose_segments(50 * MS, 8)[3]
    env, arm = environment(True, 'wgs84'), (0.5, 0.1, -0.3)
    a, b = segment.start_ns + 3 * MS, segment.start_ns + 8 * MS
    theta, velocity = segment.increments(a, b, env, arm)
    expected_theta, expected_velocity = quadrature(segment, a, b, env, arm, panels=1, order=8)
    np.testing.assert_allclose(theta, expected_theta, atol=1e-11)
    np.testing.assert_allclose(velocity, expected_velocity, atol=1e-8)


def test_a_pose_piece_at_rest_is_at_rest():
    a, b = moving(0), moving(20 * MS)
    segment = PoseSegment(a, b, (ZERO3, ZERO3), (ZERO3, ZERO3))
    got = run(imu(fidelity='transparent'), [segment])
    np.testing.assert_allclose(forces(got), [(0, 0, G0)] * len(got), atol=1e-14)


# closure -------------------------------------------------------------------------------------


def coned_circle(t_ns, base=EPOCH):
    """Return a circle of 200 m flown at 40 m/s while the nose describes a cone at 2 Hz."""
    t = (t_ns - base) / SECOND
    w, r, c, nu = 0.2, 200.0, 0.05, 4 * math.pi
    sin, cos = math.sin(w * t), math.cos(w * t)
    v = (r * w * cos, r * w * sin, 3 * math.cos(0.3 * t))
    a = (-r * w * w * sin, r * w * w * cos, -0.9 * math.sin(0.3 * t))
    phi = (c * math.cos(nu * t), c * math.sin(nu * t), 0.0)
    rate = (-nu * phi[1], nu * phi[0], 0.0)
    cone = rot.quat_from_rotvec(phi)
    q = rot.quat_multiply(rot.quat_from_rotvec((0.0, 0.0, w * t)), cone)
    omega = rot.add(rot.right_jacobian_times(phi, rate), rot.rotate_back(cone, (0.0, 0.0, w)))
    p = (r * sin, r * (1 - cos), 10 * math.sin(0.3 * t))
    return TruthSample(t_ns, p, q, rot.rotate_back(q, v), omega, rot.rotate_back(q, a))


def rodrigues(phi):
    """Return the matrix of a rotation vector and its integral over the turn (left Jacobian)."""
    angle = math.sqrt(phi @ phi)
    S = np.array(((0, -phi[2], phi[1]), (phi[2], 0, -phi[0]), (-phi[1], phi[0], 0)))
    if angle < 1e-9:
        return np.eye(3) + S, np.eye(3) + 0.5 * S
    s, c = math.sin(angle) / angle, (1 - math.cos(angle)) / angle**2
    return np.eye(3) + s * S + c * S @ S, np.eye(3) + c * S + (1 - s) / angle**2 * S @ S


def strapdown(samples, start, latitude_deg, gravity):
    """Navigate in n from increments: two-sample coning and sculling, Earth rotation."""
    latitude = math.radians(latitude_deg)
    w_n = OMEGA_IE * np.array((0.0, math.cos(latitude), math.sin(latitude)))
    p = np.array(start.p_n)
    C = Rotation.from_quat(np.roll(start.q_nb, -1)).as_matrix()
    v = C @ start.v_nb_b
    parts = [part for s in samples for part in s.frame]
    for one, two in zip(parts[::2], parts[1::2], strict=False):
        a1, a2, u1, u2 = (np.array(x) for x in
                          (one.delta_theta, two.delta_theta, one.delta_v, two.delta_v))
        dt = one.dt_s + two.dt_s
        turn, mean = rodrigues(a1 + a2 + 2.0 / 3.0 * np.cross(a1, a2))
        sculling = 2.0 / 3.0 * (np.cross(a1, u2) + np.cross(u1, a2))
        earth, half_earth = rodrigues(-w_n * dt)
        dv_n = half_earth @ C @ (mean @ (u1 + u2) + sculling)
        g_n = np.array(gravity(p + 0.5 * dt * v))
        coriolis = 2 * np.cross(w_n, v + 0.5 * (dv_n + g_n * dt))
        v_next = v + dv_n + (g_n - coriolis) * dt
        p, v = p + 0.5 * (v + v_next) * dt, v_next
        C = earth @ C @ turn
    return p, v, Rotation.from_matrix(C)


@pytest.mark.parametrize('gravity', ['constant', 'wgs84'])
def test_an_independent_strapdown_closes_on_the_truth(gravity):
    """Earth rotation on; what is left after 10 s is the algorithm's third order."""
    sensor = imu(
        fidelity='transparent', sample_rate_hz=200.0, earth__rotation=True,
        earth__gravity=gravity, origin=(47.0, 8.0, 400.0),
    )
    end = EPOCH + 10 * SECOND
    samples = sensor.feed(Motion(coned_circle, EPOCH, end))
    assert len(samples) == 2000
    local = sensor.settings.local_frame
    p, v, R = strapdown(
        samples, coned_circle(EPOCH), 47.0, lambda x: local.gravity_n(tuple(x), gravity)
    )
    truth = coned_circle(end)
    R_true = Rotation.from_quat(np.roll(truth.q_nb, -1))
    assert np.linalg.norm(p - truth.p_n) < 5e-3
    assert np.linalg.norm(v - R_true.apply(truth.v_nb_b)) < 1e-3
    assert math.degrees((R_true.inv() * R).magnitude()) < 1e-4


def test_strapdown_closes_on_interpolated_odometry_too():
    """100 Hz odometry of the same motion, twist authority.

    A linear rate between messages loses the share (nu h)^2 / 12 of the coning at nu = 2 Hz:
    2 x 1.3e-3 of nu c^2 / 2 = 0.0157 rad/s, 0.047 deg in 20 s.
    """
    sensor = imu(fidelity='transparent', sample_rate_hz=200.0, earth__rotation=True,
                 origin=(47.0, 8.0, 400.0))
    end = EPOCH + 20 * SECOND
    samples = run(sensor, pieces(coned_circle, range(EPOCH, end + 1, SECOND // 100)))
    p, _, R = strapdown(
        samples, coned_circle(EPOCH), 47.0, lambda x: (0.0, 0.0, -G0)
    )
    truth = coned_circle(end)
    R_true = Rotation.from_quat(np.roll(truth.q_nb, -1))
    assert np.linalg.norm(p - truth.p_n) < 0.3
    assert math.degrees((R_true.inv() * R).magnitude()) < 0.06
