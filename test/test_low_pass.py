"""The low-pass before sampling against its differential equation."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from core_helpers import SECOND, environment, imu, moving, rates, run, still
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

from jaguar_sensors_ros.errors.low_pass import LowPass
from jaguar_sensors_ros.nav.kinematics import changes_of
from jaguar_sensors_ros.truth.segment import TwistSegment
from jaguar_sensors_ros.types import ZERO3

CORNERS = (3.0, 40.0, 0.0)


def ramp(h, start, end):
    """Return a piece with an input that goes from ``start`` to ``end`` in a straight line."""
    integral = tuple(0.5 * h * (a + b) for a, b in zip(start, end, strict=True))
    return h, integral, tuple(b - a for a, b in zip(start, end, strict=True))


def mean_of(pieces, dt):
    return tuple(np.sum([piece[1] for piece in pieces], axis=0) / dt)


@pytest.mark.parametrize('h', [1e-6, 1e-3, 0.02, 1.0])
def test_it_solves_its_equation_for_an_input_that_is_linear_piece_by_piece(h):
    corners, values = [3.0, 40.0, 1000.0], [(0.0, 1.0, 2.0), (3.0, -1.0, 2.5), (-2.0, 4.0, 2.5)]
    low_pass = LowPass()
    low_pass.configure(tuple(corners))
    low_pass.state = (1.0, 1.0, 1.0)
    pieces = [ramp(h, a, b) for a, b in itertools.pairwise(values)]
    got = low_pass.mean(mean_of(pieces, 2 * h), pieces, 2 * h)
    for i, corner in enumerate(corners):
        w = 2 * math.pi * corner
        y, area = 1.0, 0.0
        for a, b in itertools.pairwise(values):
            solved = solve_ivp(
                lambda t, s, a=a[i], b=b[i], w=w: (w * (a + (b - a) * t / h - s[0]), s[0]),
                (0.0, h), (y, 0.0), rtol=1e-11, atol=1e-13, method='DOP853',
            )
            y, area = solved.y[0, -1], area + solved.y[1, -1]
        assert low_pass.state[i] == pytest.approx(y, abs=1e-8)
        assert got[i] == pytest.approx(area / (2 * h), abs=1e-8)


def test_an_axis_without_a_corner_is_left_alone():
    low_pass = LowPass()
    low_pass.configure(CORNERS)
    low_pass.mean(ZERO3, [ramp(0.01, ZERO3, ZERO3)], 0.01)
    pieces = [ramp(0.01, (1.0, 1.0, 1.0), (2.0, 2.0, 2.0))]
    x, y, z = low_pass.mean((1.5, 1.5, 1.5), pieces, 0.01)
    assert x < y < z == 1.5
    assert low_pass.at_stamp((2.0, 2.0, 2.0))[2] == 2.0


def test_it_starts_where_the_input_starts():
    low_pass = LowPass()
    low_pass.configure(CORNERS)
    low_pass.mean((1.5, 1.5, 1.5), [ramp(1e-9, (1.0, 1.0, 1.0), (2.0, 2.0, 2.0))], 1e-9)
    assert low_pass.state == pytest.approx((1.0, 1.0, 1.0), abs=1e-6)


@pytest.mark.parametrize('rotation', [False, True])
@pytest.mark.parametrize('arm', [ZERO3, (0.3, 0.2, -0.1)])
@pytest.mark.parametrize('acceleration', [None, ((1.0, 2.0, 3.0), (2.0, 2.0, 1.0))])
def test_a_segment_knows_by_how_much_rate_and_force_change(rotation, arm, acceleration):
    """The change of a line through a parabola: four times mean less mean of the first half."""
    turn = Rotation.from_rotvec((1e-3, -2e-3, 3e-3))
    x, y, z, w = turn.as_quat()
    first, last = acceleration or (None, None)
    segment = TwistSegment(
        moving(0, (10.0, 1.0, 0.0), (0.09, -0.2, 0.3), a=first),
        moving(SECOND // 100, (10.2, 0.8, 0.1), (0.11, -0.2, 0.3), q=(w, x, y, z), a=last),
    )
    env = environment(rotation)
    for a, b in ((0, SECOND // 100), (SECOND // 400, SECOND // 125)):
        whole = segment.increments(a, b, env, arm)
        got = changes_of(segment, a, b, env, arm, whole)
        early = segment.increments(a, (a + b) // 2, env, arm)
        late = segment.increments((a + b) // 2, b, env, arm)
        half_s = 0.5 * (b - a) / SECOND
        expected = 2.0 * (np.array(late) - early) / half_s
        np.testing.assert_allclose(got, expected, atol=1e-7)


def test_odometry_below_the_sample_rate_is_filtered_exactly():
    """A rate that ramps up in ten seconds: the output lags by 1 / w once it has settled."""
    corner, slope = 20.0, 0.02
    segment = TwistSegment(moving(0), moving(10 * SECOND, omega=(0.0, 0.0, 10 * slope)))
    got = rates(run(imu(gyro__bandwidth_hz=corner, sample_rate_hz=100.0), [segment]))[:, 2]
    t = np.arange(1, len(got) + 1) / 100.0
    lag = 1.0 / (2 * math.pi * corner)
    np.testing.assert_allclose(got[50:], slope * (t - 0.005 - lag)[50:], atol=1e-14)


def test_a_low_pass_switched_on_or_off_between_samples_makes_no_step():
    sensor = imu()
    run(sensor, [still(0, 0.0125)])
    settings = imu(accel__bandwidth_hz=5.0, gyro__bandwidth_hz=5.0).settings
    for own, start in ((settings, 0.0125), (imu().settings, 0.1125)):
        sensor.configure(own)
        got = run(sensor, [still(start, start + 0.1)])
        np.testing.assert_allclose([s.specific_force for s in got], [(0, 0, 9.80665)] * len(got),
                                   rtol=1e-14)
