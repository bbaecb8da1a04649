"""The truth track: odometry samples in, continuous pieces of truth out."""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import NamedTuple

from jaguar_sensors_ros.nav.kinematics import Segment
from jaguar_sensors_ros.nav.rotation import add, rotvec_between, scale, subtract
from jaguar_sensors_ros.truth.segment import PoseSegment, TwistSegment
from jaguar_sensors_ros.types import NS_PER_S, TruthSample, Vec3, new

#: a step back by more than this is a reset at once
RESET_STEP_NS = NS_PER_S


class Arrival(Enum):
    """What became of a sample that was pushed."""

    TAKEN = 'taken'
    DUPLICATE = 'duplicate'
    LATE = 'late'
    RESET = 'reset'
    GAP = 'gap'


class Push(NamedTuple):
    """Result of :meth:`TruthTrack.push`: what happened and the pieces that became complete.

    After RESET the pieces lie in the new time line; with GAP come the pieces before the gap.
    """

    arrival: Arrival
    segments: tuple[Segment, ...] = ()


_JUST_TAKEN = Push(Arrival.TAKEN)


class TruthTrack:
    """Joins successive truth samples; causal, with the last messages only.

    Parameters
    ----------
    authority : str
        'twist': pieces end at the newest message.  'pose': slopes are central differences of
        three poses, so a piece is complete one message later.
    max_gap_ns : int
        A longer pause between two messages is a gap that no sample bridges.
    """

    def __init__(self, authority: str, max_gap_ns: int) -> None:
        self.authority = authority
        self._is_twist = authority == 'twist'
        self.max_gap_ns = max_gap_ns
        #: how often each arrival but TAKEN came
        self.counts: Counter[Arrival] = Counter()
        self._recent: list[TruthSample] = []
        self._slope: tuple[Vec3, Vec3] | None = None
        self._late: TruthSample | None = None

    @property
    def newest(self) -> TruthSample | None:
        """The newest sample taken, or None before the first."""
        return self._recent[-1] if self._recent else None

    def forget(self) -> None:
        """Start afresh, as before the first message."""
        self._recent = []
        self._slope = None
        self._late = None

    def push(self, sample: TruthSample) -> Push:
        """Take the next sample.

        Time going back by more than 1 s, or two older stamps in a row, is a reset; a single
        late sample and a repeated stamp are dropped.
        """
        recent = self._recent
        if not recent:
            self._recent = [sample]
            return _JUST_TAKEN
        newest = recent[-1]
        step_ns = sample.t_ns - newest.t_ns
        if step_ns <= 0:
            push = self._older(sample, newest) if step_ns else Push(Arrival.DUPLICATE)
        elif step_ns > self.max_gap_ns:
            push = Push(Arrival.GAP, self._finish())
            self.forget()
            self._recent = [sample]
        else:
            self._late = None
            if self._is_twist:
                self._recent = [sample]
                return new(Push, (Arrival.TAKEN, (TwistSegment(newest, sample),)))
            recent.append(sample)
            return new(Push, (Arrival.TAKEN, self._complete()))
        self.counts[push.arrival] += 1
        return push

    def _older(self, sample: TruthSample, newest: TruthSample) -> Push:
        earlier = self._late
        if newest.t_ns - sample.t_ns <= RESET_STEP_NS and earlier is None:
            self._late = sample
            return Push(Arrival.LATE)
        self.forget()
        if earlier is not None and earlier.t_ns < sample.t_ns <= earlier.t_ns + self.max_gap_ns:
            self._recent = [earlier, sample]
            return Push(Arrival.RESET, self._complete())
        self._recent = [sample]
        return Push(Arrival.RESET)

    def _complete(self) -> tuple[Segment, ...]:
        if self._is_twist:
            first, last = self._recent
            self._recent = [last]
            return (TwistSegment(first, last),)
        if len(self._recent) < 3:
            return ()
        first, middle, last = self._recent
        slope = _central_slope(first, middle, last)
        piece = self._pose_piece(first, middle, slope)
        self._recent = [middle, last]
        self._slope = slope
        return (piece,)

    def _finish(self) -> tuple[Segment, ...]:
        """Return the piece that waited for a further message, before a gap."""
        if self.authority == 'twist' or len(self._recent) < 2:
            return ()
        first, last = self._recent[-2:]
        return (self._pose_piece(first, last, _chord_slope(first, last)),)

    def _pose_piece(
        self, first: TruthSample, last: TruthSample, end: tuple[Vec3, Vec3]
    ) -> PoseSegment:
        start = self._slope or _chord_slope(first, last)
        return PoseSegment(first, last, (start[0], end[0]), (start[1], end[1]))


def _chord_slope(a: TruthSample, b: TruthSample) -> tuple[Vec3, Vec3]:
    """Return the mean (velocity in n, angular velocity in b) between two poses."""
    rate = NS_PER_S / (b.t_ns - a.t_ns)
    return (
        scale(subtract(b.p_n, a.p_n), rate),
        scale(rotvec_between(a.q_nb, b.q_nb), rate),
    )


def _central_slope(
    a: TruthSample, b: TruthSample, c: TruthSample
) -> tuple[Vec3, Vec3]:
    """Return the slopes at ``b`` of the parabola through three poses at uneven times."""
    before, after = _chord_slope(a, b), _chord_slope(b, c)
    weight = (b.t_ns - a.t_ns) / (c.t_ns - a.t_ns)
    velocity = add(scale(before[0], 1.0 - weight), scale(after[0], weight))
    omega = add(scale(before[1], 1.0 - weight), scale(after[1], weight))
    return velocity, omega
