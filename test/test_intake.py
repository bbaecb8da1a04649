"""Odometry as it arrives: defects, frames, accelerations on their own topic."""

from __future__ import annotations

import math

import numpy as np
import pytest
from core_helpers import EPOCH, SECOND, imu, rates, run

from jaguar_sensors_ros.component import build
from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.sensors.settings import TruthSettings
from jaguar_sensors_ros.truth.intake import RawOdometry, TruthIntake
from jaguar_sensors_ros.types import ZERO3

MS = 1_000_000
Q = (1.0, 0.0, 0.0, 0.0)


def intake(**values):
    return TruthIntake(build(TruthSettings, values), LocalFrame(47.0, 8.0, 0.0))


def raw(t_ns, p=ZERO3, q=Q, v=ZERO3, w=ZERO3, child='base_link'):
    return RawOdometry(t_ns, p, q, v, w, child)


def segments(pushes):
    return [s for p in pushes for s in p.segments]


@pytest.mark.parametrize(('bad', 'reason'), [
    ({'p': (math.nan, 0, 0)}, 'not finite'),
    ({'v': (0, math.inf, 0)}, 'not finite'),
    ({'w': (0, 0, -math.inf)}, 'not finite'),
    ({'q': (math.nan, 0, 0, 0)}, 'not finite'),
    ({'q': (0, 0, 0, 0)}, 'zero quaternion'),
    ({'p': (1e300, 0, 0)}, 'absurdly large'),
])
def test_a_bad_message_is_dropped_and_counted_and_the_next_good_one_goes_on(bad, reason):
    t = intake()
    t.push(raw(EPOCH))
    assert t.push(raw(EPOCH + 20 * MS, **bad)) == []
    assert t.counts[reason] == 1
    (piece,) = segments(t.push(raw(EPOCH + 40 * MS)))
    assert (piece.start_ns, piece.end_ns) == (EPOCH, EPOCH + 40 * MS)


def test_a_negative_stamp_is_refused():
    t = intake()
    assert t.push(raw(-1)) == []
    assert t.counts['negative stamp'] == 1


def test_an_unnormalised_quaternion_is_scaled_and_counted():
    t = intake()
    t.push(raw(0, q=(2.0, 0, 0, 0)))
    (piece,) = segments(t.push(raw(20 * MS, q=(-0.001, 0, 0, 0))))
    assert piece.first.q_nb == (1.0, 0.0, 0.0, 0.0)
    assert piece.last.q_nb == (-1.0, 0.0, 0.0, 0.0)
    assert t.counts['quaternion normalised'] == 2
    assert not rates(run(imu(fidelity='transparent'), [piece])).any()


def test_a_twist_in_the_parent_frame_comes_into_the_body():
    t = intake(twist_frame='parent')
    q = (math.sqrt(0.5), 0, 0, math.sqrt(0.5))
    t.push(raw(0, q=q, v=(0, 2.0, 0), w=(0.3, 0, 1.0)))
    (piece,) = segments(t.push(raw(20 * MS, q=q, v=(0, 2.0, 0), w=(0.3, 0, 1.0))))
    np.testing.assert_allclose(piece.first.v_nb_b, (2.0, 0, 0), atol=1e-15)
    np.testing.assert_allclose(piece.first.omega_nb_b, (0, -0.3, 1.0), atol=1e-15)


def test_ned_truth_reaches_the_sensor_with_gravity_upwards():
    t = intake(frame='ned')
    t.push(raw(0))
    got = run(imu(fidelity='transparent'), segments(t.push(raw(100 * MS))))
    np.testing.assert_allclose(got[0].specific_force, (0, 0, 9.80665))


def test_an_empty_child_frame_is_remarked_on_once():
    t = intake()
    for i in range(5):
        t.push(raw(i * 20 * MS, child=''))
    (remark,) = t.remarks()
    assert 'truth.twist_frame' in remark
    assert t.remarks() == []


# acceleration from its own topic -------------------------------------------------------------


def topic():
    return intake(acceleration='topic')


def both(t, t_ns, a, accel_first):
    """Push a message and its acceleration in one or the other order."""
    if accel_first:
        return segments(t.push_acceleration(t_ns, a)) + segments(t.push(raw(t_ns)))
    return segments(t.push(raw(t_ns))) + segments(t.push_acceleration(t_ns, a))


def test_odometry_waits_for_its_acceleration_and_gets_it_interpolated():
    t = topic()
    assert t.push_acceleration(0, (0, 0, 0)) == []
    pushes = t.push(raw(0))
    assert t.push(raw(20 * MS)) == []
    pushes += t.push_acceleration(40 * MS, (4.0, 0, 8.0))
    (piece,) = segments(pushes)
    np.testing.assert_allclose(piece.last.a_nb_b, (2.0, 0, 4.0), rtol=1e-15)


def test_accelerations_at_the_same_stamps_go_in_any_order_of_arrival():
    for accel_first in (True, False):
        t, pieces = topic(), []
        for i in range(10):
            pieces += both(t, i * 20 * MS, (float(i), 0, 0), accel_first)
        assert [p.last.a_nb_b[0] for p in pieces] == list(map(float, range(1, 10)))


def test_a_single_late_message_does_not_cost_those_that_wait():
    t = topic()
    t.push_acceleration(0, ZERO3)
    pushes = t.push(raw(0))
    for ms in (20, 40, 30, 60):
        pushes += t.push(raw(ms * MS))
    pushes += t.push_acceleration(100 * MS, ZERO3)
    assert [(s.start_ns // MS, s.end_ns // MS) for s in segments(pushes)] == [
        (0, 20), (20, 40), (40, 60)
    ]


def test_a_reset_of_time_does_not_wait_for_accelerations_of_the_past():
    for accel_first in (True, False):
        t = topic()
        t.push_acceleration(10 * SECOND, ZERO3)
        t.push(raw(10 * SECOND + 20 * MS))  # waits
        pieces = []
        for i in range(10):
            pieces += both(t, i * 20 * MS, ZERO3, accel_first)
        assert len(pieces) >= 8


def test_an_acceleration_that_is_not_finite_is_dropped():
    t = topic()
    assert t.push_acceleration(0, (math.nan, 0, 0)) == []
    assert t.counts['acceleration not finite'] == 1


def test_odometry_without_acceleration_does_not_pile_up():
    t = topic()
    for i in range(3000):
        t.push(raw(i * MS))
    assert t.counts['no acceleration'] == 2000
