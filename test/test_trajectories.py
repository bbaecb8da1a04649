"""Built-in trajectories and the curve through poses against numerical derivatives."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest

from jaguar_sensors_ros.catalogue import TRUTH
from jaguar_sensors_ros.nav.rotation import (
    dot,
    norm,
    quat_from_rotvec,
    quat_multiply,
    rotate,
    rotate_back,
    scale,
    subtract,
)
from jaguar_sensors_ros.truth.curve import TrajectoryCurve, spline_coefficients
from jaguar_sensors_ros.truth.path import G0, moving_sample
from jaguar_sensors_ros.truth.trajectory import (
    Circle,
    FigureEight,
    Racetrack,
    Static,
)
from jaguar_sensors_ros.types import JaguarError, TruthSample, TruthSource

STEP_NS = 10_000_000
INSTANTS_NS = [round(k * 1.37e9) for k in range(60)]
MOVING = ['circle', 'figure_eight', 'racetrack']
#: central difference of order 8: weights of f(k h) - f(-k h), error h^8 f^(9) / 630
WEIGHTS = (4 / 5, -1 / 5, 4 / 105, -1 / 280)


def derivative(source: TruthSource, t_ns: int, quantity) -> np.ndarray:
    """Differentiate a vector quantity of the truth; step 10 ms."""
    total = sum(
        weight
        * (
            np.array(quantity(source.at(t_ns + k * STEP_NS)))
            - np.array(quantity(source.at(t_ns - k * STEP_NS)))
        )
        for k, weight in enumerate(WEIGHTS, 1)
    )
    return total / (STEP_NS * 1e-9)


def v_n(sample: TruthSample):
    return rotate(sample.q_nb, sample.v_nb_b)


def assert_consistent(source: TruthSource, t_ns: int, tolerance: float) -> None:
    """Check p' = C v, (C v)' = C a and q' = q omega / 2.

    The tolerance covers rounding, some 1e-16 |p| / h, and h^8 f^(9) / 630 with h = 0.01 s.
    """
    now = source.at(t_ns)
    half = quat_multiply(now.q_nb, (0.0, *scale(now.omega_nb_b, 0.5)))
    assert derivative(source, t_ns, lambda s: s.p_n) == pytest.approx(v_n(now), abs=tolerance)
    acceleration = rotate(now.q_nb, now.a_nb_b)
    assert derivative(source, t_ns, v_n) == pytest.approx(acceleration, abs=tolerance)
    assert derivative(source, t_ns, lambda s: s.q_nb) == pytest.approx(half, abs=tolerance)


@pytest.mark.parametrize('name', MOVING)
def test_derivatives_are_exact(name):
    source = TRUTH[name](start_ns=3)
    for t_ns in INSTANTS_NS:
        # |p| up to 210 m: 2.2e-16 x 210 / 0.01 = 5e-12 and a few such terms
        assert_consistent(source, t_ns, 5e-11)


@pytest.mark.parametrize('name', MOVING)
def test_body_points_along_its_path_with_a_unit_quaternion(name):
    source = TRUTH[name]()
    for t_ns in INSTANTS_NS:
        sample = source.at(t_ns)
        forward, left, up = sample.v_nb_b
        assert forward > 0.0
        assert (left, up) == (0.0, 0.0)
        assert math.hypot(*sample.q_nb) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize('name', MOVING)
def test_quaternion_never_changes_sign(name):
    source = TRUTH[name]()
    samples = [source.at(k * 50_000_000).q_nb for k in range(2000)]
    assert min(float(np.dot(p, q)) for p, q in pairwise(samples)) > 0.99


@pytest.mark.parametrize('source', [FigureEight(), Racetrack()])
def test_lap_closes_exactly(source):
    lap_ns = round(source.lap_s * 1e9)
    for t_ns in (0, 7_123_456_789):
        first, later = source.at(t_ns), source.at(t_ns + 1000 * lap_ns)
        assert later.p_n == first.p_n
        assert later.q_nb == pytest.approx(first.q_nb, abs=1e-14)
        assert later.a_nb_b == pytest.approx(first.a_nb_b, abs=1e-13)


def test_start_shifts_time_and_its_epoch_costs_no_precision():
    epoch = 1_700_000_000 * 10**9
    for name in MOVING:
        early, late = TRUTH[name](), TRUTH[name](start_ns=epoch)
        assert late.at(epoch + 4_567).p_n == early.at(4_567).p_n
        assert (late.start_ns, late.end_ns) == (epoch, None)


def test_circle_is_what_it_says():
    source = Circle()
    for t_ns in INSTANTS_NS:
        sample = source.at(t_ns)
        assert norm(sample.p_n) == pytest.approx(10.0, abs=1e-12)
        assert sample.v_nb_b == pytest.approx((5.0, 0.0, 0.0), abs=1e-12)
        assert sample.omega_nb_b == pytest.approx((0.0, 0.0, 0.5), abs=1e-12)
        assert sample.a_nb_b == pytest.approx((0.0, 2.5, 0.0), abs=1e-12)
    assert source.at(0).p_n == pytest.approx((10.0, 0.0, 0.0))


def test_figure_eight_turns_both_ways_within_its_size():
    samples = [FigureEight().at(k * 10_000_000) for k in range(2000)]
    assert max(abs(s.p_n[0]) for s in samples) == pytest.approx(20.0, rel=1e-4)
    assert max(abs(s.p_n[1]) for s in samples) == pytest.approx(10.0, rel=1e-4)
    rates = [s.omega_nb_b[2] for s in samples]
    assert max(rates) == pytest.approx(-min(rates), rel=1e-3)
    assert all(s.omega_nb_b[:2] == (0.0, 0.0) for s in samples)


def test_racetrack_flies_coordinated_turns():
    samples = [Racetrack().at(k * 20_000_000) for k in range(2000)]
    banks, heights, speeds = [], [], []
    for s in samples:
        up_b = rotate_back(s.q_nb, (0.0, 0.0, 1.0))
        f_b = [a + G0 * u for a, u in zip(s.a_nb_b, up_b, strict=True)]
        assert f_b[1] == pytest.approx(0.0, abs=1e-13)
        assert f_b[2] > G0
        banks.append(math.degrees(math.atan2(up_b[1], up_b[2])))
        heights.append(s.p_n[2])
        speeds.append(s.v_nb_b[0])
        nose_n = rotate(s.q_nb, (1.0, 0.0, 0.0))
        assert nose_n[2] * v_n(s)[2] >= 0.0
    # left turns only: the left wing is down, roll is negative
    assert -45.0 < min(banks) < -40.0 and max(banks) < 1.0
    assert (min(heights), max(heights)) == pytest.approx((20.0, 40.0), abs=1e-6)
    assert 23.0 < min(speeds) < max(speeds) < 25.0


@pytest.mark.parametrize('name', list(TRUTH))
def test_stays_within_250_m(name):
    source = TRUTH[name]()
    assert max(norm(source.at(k * 50_000_000).p_n) for k in range(1000)) < 250.0


def test_static_does_not_move():
    source = Static(p_n=(1.0, 2.0, 3.0), q_nb=(0.0, 0.0, 0.0, -2.0))
    sample = source.at(5)
    assert (sample.p_n, sample.q_nb) == ((1.0, 2.0, 3.0), (0.0, 0.0, 0.0, -1.0))
    assert sample.v_nb_b == sample.omega_nb_b == sample.a_nb_b == (0.0, 0.0, 0.0)
    assert source.end_ns is None


def test_bad_sizes_are_refused():
    for make in (
        lambda: Circle(radius=0.0),
        lambda: Circle(speed=math.nan),
        lambda: FigureEight(lap=-1.0),
        lambda: Static(q_nb=(0.0, 0.0, 0.0, 0.0)),
        lambda: Static(p_n=(math.inf, 0.0, 0.0)),
    ):
        with pytest.raises(JaguarError, match='must'):
            make()
    with pytest.raises(JaguarError, match='heading'):
        moving_sample(0, (0, 0, 0), (0, 0, 1), (0, 0, 0), (0, 0, 0), 0.0, True)


def resampled(source: TruthSource, step_ns: int, n: int) -> TrajectoryCurve:
    """Return the curve through n poses of a source, quaternions scaled and of mixed sign."""
    samples = [source.at(k * step_ns) for k in range(n)]
    factors = [(-1) ** (k // 3) * (1.0 + 0.1 * (k % 5)) for k in range(n)]
    q = [[f * x for x in s.q_nb] for s, f in zip(samples, factors, strict=True)]
    return TrajectoryCurve([s.t_ns for s in samples], [s.p_n for s in samples], q)


def test_spline_reproduces_cubics():
    x = np.array([0.0, 0.3, 0.4, 1.1, 1.2, 2.0])
    for n in range(2, 7):
        powers = np.vander(x[:n], min(n, 4), increasing=True)
        weights = np.arange(1.0, powers.shape[1] + 1.0)[:, None] * [[1.0, -2.0]]
        c = spline_coefficients(np.diff(x[:n]), powers @ weights)
        u = 0.37 * np.diff(x[:n])
        value = sum(c[:, :, k] * u[:, None] ** k for k in range(4))
        exact = np.vander(x[: n - 1] + u, powers.shape[1], increasing=True) @ weights
        np.testing.assert_allclose(value, exact, rtol=1e-13)


def test_curve_is_consistent_in_itself():
    curve = resampled(Racetrack(), 200_000_000, 60)
    for k in (0, 1, 29, 57, 58):
        # well inside a segment, where the curve is a polynomial (of quaternions, normalised)
        assert_consistent(curve, k * 200_000_000 + 101_234_567, 1e-9)


def test_curve_goes_through_its_rows_and_is_smooth_there():
    source = Racetrack()
    curve = resampled(source, 20_000_000, 100)
    for k in range(1, 99):
        t_ns = k * 20_000_000
        before, at = curve.at(t_ns - 1), curve.at(t_ns)
        assert at.p_n == pytest.approx(source.at(t_ns).p_n, abs=1e-12)
        assert abs(np.dot(at.q_nb, source.at(t_ns).q_nb)) > 1.0 - 1e-14
        # one nanosecond of velocity, acceleration and jerk, plus rounding of the coefficients
        assert subtract(at.a_nb_b, before.a_nb_b) == pytest.approx((0, 0, 0), abs=1e-7)
        assert subtract(at.omega_nb_b, before.omega_nb_b) == pytest.approx((0, 0, 0), abs=1e-8)


@pytest.mark.parametrize('name', MOVING)
def test_curve_converges_to_the_motion_with_the_order_of_cubic_splines(name):
    source = TRUTH[name]()
    worst = []
    for step_ns in (40_000_000, 20_000_000):
        curve = resampled(source, step_ns, 8_000_000_000 // step_ns)
        instants = [2_000_000_000 + k * 7_654_321 for k in range(300)]
        pairs = [(curve.at(t), source.at(t)) for t in instants]
        worst.append(
            [
                max(norm(subtract(a.p_n, b.p_n)) for a, b in pairs),
                max(norm(subtract(a.v_nb_b, b.v_nb_b)) for a, b in pairs),
                max(norm(subtract(a.omega_nb_b, b.omega_nb_b)) for a, b in pairs),
                max(norm(subtract(a.a_nb_b, b.a_nb_b)) for a, b in pairs),
            ]
        )
    p, v, omega, a = (coarse / fine for coarse, fine in zip(*worst, strict=True))
    # halved steps: errors fall 2^4, 2^3, 2^3 and 2^2 times
    assert p > 12.0 and v > 6.5 and omega > 6.5 and a > 3.3


def test_curve_has_ends():
    curve = resampled(Circle(), 100_000_000, 5)
    assert (curve.start_ns, curve.end_ns, curve.longest_gap_ns) == (0, 400_000_000, 100_000_000)
    assert curve.at(400_000_000).p_n == pytest.approx(Circle().at(400_000_000).p_n)
    for t_ns in (-1, 400_000_001):
        with pytest.raises(JaguarError, match='outside of the trajectory'):
            curve.at(t_ns)


def turned(angle: float):
    return quat_from_rotvec((0.0, 0.0, angle))


@pytest.mark.parametrize(
    ('times', 'p', 'q', 'message'),
    [
        ([0, 5, 5], None, None, 'row 3 repeats the time 5 ns'),
        ([0, 5, 4], None, None, 'row 3 goes back in time from 5 ns to 4 ns'),
        ([0, 1, 2], [[0, 0, 0], [0, math.nan, 0], [0, 0, 0]], None, 'row 2 .*not finite'),
        ([0, 1, 2], None, [[1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]], 'row 2 .*zero quat'),
        ([0, 1, 2], None, [[1, 0, 0, 0], [math.inf, 0, 0, 0], [1, 0, 0, 0]], 'not finite'),
        ([0, 1, 2], None, [turned(0), turned(0), turned(2.2)], 'turns by 126 deg from row 2'),
        ([0], [[0, 0, 0]], [[1, 0, 0, 0]], 'at least 2 rows'),
        ([0, 1], [[0, 0]], None, 'shape'),
    ],
)
def test_curve_refuses(times, p, q, message):
    n = len(times)
    with pytest.raises(JaguarError, match=message):
        TrajectoryCurve(times, p or [[0, 0, 0]] * n, q or [[1, 0, 0, 0]] * n)


def test_constant_rotation_is_met_closely_at_large_steps():
    # 57 deg a row: the quaternion spline of cos and sin has the error 5/384 x 0.5^4, a 1e-3
    curve = TrajectoryCurve(
        [k * 10**9 for k in range(20)], [[0, 0, 0]] * 20, [turned(float(k)) for k in range(20)]
    )
    for k in range(4, 15):
        sample = curve.at(k * 10**9 + 400_000_000)
        assert abs(dot(sample.omega_nb_b, (0.0, 0.0, 1.0)) - 1.0) < 5e-3
