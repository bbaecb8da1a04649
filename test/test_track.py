"""The truth track: gaps, resets, late and repeated messages."""

from __future__ import annotations

import pytest
from core_helpers import EPOCH, SECOND, at_rest

from jaguar_sensors_ros.truth.consistency import TwistMonitor
from jaguar_sensors_ros.truth.track import Arrival, TruthTrack
from jaguar_sensors_ros.types import IDENTITY_QUAT, ZERO3, TruthSample

MS = 1_000_000


def track(authority='twist', max_gap_s=0.5):
    return TruthTrack(authority, round(max_gap_s * SECOND))


def push_all(t, times):
    return [t.push(at_rest(EPOCH + x)) for x in times]


def spans(pushes):
    return [(s.start_ns - EPOCH, s.end_ns - EPOCH) for p in pushes for s in p.segments]


def test_pieces_join_seamlessly_and_end_at_the_newest_message():
    pushes = push_all(track(), [0, 20, 45, 60])
    assert spans(pushes) == [(0, 20), (20, 45), (45, 60)]


def test_pose_authority_is_one_message_later():
    pushes = push_all(track('pose'), [0, 20, 45, 60])
    assert [len(p.segments) for p in pushes] == [0, 0, 1, 1]
    assert spans(pushes) == [(0, 20), (20, 45)]


@pytest.mark.parametrize('authority', ['twist', 'pose'])
def test_a_gap_is_not_bridged_and_what_came_before_it_is_complete(authority):
    pushes = push_all(track(authority), [0, 20, 40, 40 + SECOND, 60 + SECOND, 80 + SECOND])
    assert pushes[3].arrival is Arrival.GAP
    before = [s for s in spans(pushes) if s[0] < 40]
    assert before == [(0, 20), (20, 40)]
    assert spans(pushes)[2][0] == 40 + SECOND


def test_the_longest_pause_that_is_bridged_is_max_gap():
    assert push_all(track(), [0, SECOND // 2])[1].arrival is Arrival.TAKEN
    assert push_all(track(), [0, SECOND // 2 + 1])[1].arrival is Arrival.GAP


def test_a_repeated_stamp_is_dropped():
    t = track()
    pushes = push_all(t, [0, 20, 20, 40])
    assert [p.arrival for p in pushes] == [
        Arrival.TAKEN, Arrival.TAKEN, Arrival.DUPLICATE, Arrival.TAKEN
    ]
    assert spans(pushes) == [(0, 20), (20, 40)]
    assert t.counts[Arrival.DUPLICATE] == 1


def test_a_single_late_message_is_dropped_again_and_again():
    pushes = push_all(track(), [0, 20 * MS, 10 * MS, 40 * MS, 30 * MS, 60 * MS])
    assert [p.arrival.value for p in pushes].count('late') == 2
    assert spans(pushes) == [(0, 20 * MS), (20 * MS, 40 * MS), (40 * MS, 60 * MS)]


def test_two_late_messages_in_a_row_are_a_reset_that_loses_neither():
    pushes = push_all(track(), [0, 500 * MS, 100 * MS, 120 * MS, 140 * MS])
    assert [p.arrival.value for p in pushes[2:]] == ['late', 'reset', 'taken']
    assert spans(pushes[2:]) == [(100 * MS, 120 * MS), (120 * MS, 140 * MS)]


def test_two_late_messages_that_go_further_back_restart_at_the_second():
    pushes = push_all(track(), [0, 500 * MS, 200 * MS, 100 * MS, 120 * MS])
    assert pushes[3].arrival is Arrival.RESET
    assert spans(pushes[3:]) == [(100 * MS, 120 * MS)]


def test_time_back_by_more_than_a_second_is_a_reset_at_once():
    back = [0, 2 * SECOND // 5, 2 * SECOND // 5 - SECOND, 20 * MS + 2 * SECOND // 5 - SECOND]
    assert push_all(track(), back)[2].arrival is Arrival.LATE
    back[2] -= 1
    pushes = push_all(track(), back)
    assert pushes[2].arrival is Arrival.RESET
    assert len(spans(pushes)) == 2


@pytest.mark.parametrize('authority', ['twist', 'pose'])
def test_publishing_resumes_within_two_messages_of_a_reset(authority):
    t = track(authority)
    push_all(t, [i * 20 * MS for i in range(100)])
    pushes = push_all(t, [-5 * SECOND + i * 20 * MS for i in range(4)])
    resumed = [i for i, p in enumerate(pushes) if p.segments]
    assert resumed[0] <= 2


def sample(t_ns, p, v, q=IDENTITY_QUAT, omega=ZERO3):
    return TruthSample(t_ns, p, q, v, omega)


def told(monitor, motion, n=400):
    return [r for i in range(n) if (r := monitor.push(*motion(i)))]


def test_a_twist_that_agrees_with_the_pose_is_not_remarked_on():
    def motion(i):
        v = (10.0, 0.0, 0.0)
        return sample(i * 20 * MS, (0.2 * i, 0, 0), v), v

    assert not told(TwistMonitor('child'), motion)


def test_a_twist_given_in_the_world_frame_is_recognised():
    q = (0.5**0.5, 0.0, 0.0, 0.5**0.5)  # nose to the north

    def motion(i):
        v = (0.0, 10.0, 0.0)  # north, said in the world frame
        return sample(i * 20 * MS, (0, 0.2 * i, 0), v, q), v

    remarks = told(TwistMonitor('child'), motion)
    assert remarks
    assert all('truth.twist_frame: parent' in r for r in remarks)
    assert not told(TwistMonitor('parent'), motion)


def test_a_zero_twist_of_a_moving_pose_is_recognised():
    def motion(i):
        return sample(i * 20 * MS, (0.2 * i, 0, 0), ZERO3), ZERO3

    assert all('truth.authority: pose' in r for r in told(TwistMonitor('child'), motion))


def test_a_noisy_pose_at_rest_is_not_taken_for_a_motion():
    """A motion capture of 1 mm noise walks a metre in a few seconds without going anywhere."""
    def motion(i):
        return sample(i * 10 * MS, (1e-3 * (-1) ** i, 0.0, 5e-4 * (-1) ** (i // 2)), ZERO3), ZERO3

    assert not told(TwistMonitor('child'), motion, n=5000)
