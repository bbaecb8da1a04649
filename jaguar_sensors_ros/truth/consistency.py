"""Does the twist of the odometry say the same as its pose?"""

from __future__ import annotations

import math

from jaguar_sensors_ros.nav.rotation import norm, rotate, subtract
from jaguar_sensors_ros.types import NS_PER_S, ZERO3, TruthSample, Vec3

#: motion [m or rad] after which the twist is judged
_ENOUGH = 1.0
_COS_HALF = math.cos(0.5 * _ENOUGH)
#: messages that come closer [ns] are passed over: over such a time a velocity is nearly linear
_STEP_NS = 10_000_000
#: share of the motion by which the twist may miss it
_TOLERANCE = 0.25


class TwistMonitor:
    """Compares displacement with what the twist predicts.

    Two hypotheses are followed, the twist in the child frame and in the parent frame, until the
    body is a metre or a radian away from where it was; then the verdict is given and the sums
    start anew.  So the noise of a body at rest, which leads nowhere, is never judged.

    Parameters
    ----------
    twist_frame : str
        The frame in which the twist is being read, 'child' or 'parent'.
    max_gap_ns : int
        Messages further apart than this [ns] are not compared.
    """

    def __init__(self, twist_frame: str, max_gap_ns: int = NS_PER_S // 2) -> None:
        self._twist_frame = twist_frame
        self.max_gap_ns = max_gap_ns
        self._previous: tuple[TruthSample, Vec3, Vec3] | None = None
        self._restart()

    def _restart(self) -> None:
        self._start: TruthSample | None = None
        self._moves = False
        self._as_child, self._as_parent = ZERO3, ZERO3

    def break_off(self) -> None:
        """Forget the last message, after a gap or a reset."""
        self._previous = None
        self._restart()

    def is_due(self, t_ns: int) -> bool:
        """Tell whether a message at ``t_ns`` [ns] is worth comparing with the last one."""
        return self._previous is None or not 0 <= t_ns - self._previous[0].t_ns < _STEP_NS

    def push(self, sample: TruthSample, twist: Vec3) -> str | None:
        """Take a sample and its raw linear twist; return a warning or None."""
        turned_twist = rotate(sample.q_nb, twist)
        previous, self._previous = self._previous, (sample, twist, turned_twist)
        if previous is None or not 0 < sample.t_ns - previous[0].t_ns <= self.max_gap_ns:
            return None
        before, twist_before, turned_before = previous
        start = self._start = self._start or before
        half_s = 0.5 * (sample.t_ns - before.t_ns) / NS_PER_S
        self._moves = self._moves or twist != ZERO3 or sample.omega_nb_b != ZERO3
        self._as_child = _plus_mean(self._as_child, turned_before, turned_twist, half_s)
        self._as_parent = _plus_mean(self._as_parent, twist_before, twist, half_s)
        x, y, z = moved = subtract(sample.p_n, start.p_n)
        (aw, ax, ay, az), (bw, bx, by, bz) = start.q_nb, sample.q_nb
        cosine = abs(aw * bw + ax * bx + ay * by + az * bz)  # of half the angle turned
        if x * x + y * y + z * z < _ENOUGH * _ENOUGH and cosine > _COS_HALF:
            return None
        verdict = self._verdict(moved)
        self._restart()
        return verdict

    def _verdict(self, moved: Vec3) -> str | None:
        if not self._moves:
            return (
                'the twist is all zero while the pose moves: set truth.authority: pose to '
                'derive it'
            )
        distance = norm(moved)
        if distance < _ENOUGH:
            return None
        predicted = {'child': self._as_child, 'parent': self._as_parent}
        misses = {name: norm(subtract(moved, p)) for name, p in predicted.items()}
        miss = misses[self._twist_frame]
        if miss <= _TOLERANCE * distance:
            return None
        other = 'parent' if self._twist_frame == 'child' else 'child'
        if misses[other] < 0.5 * miss:
            return (
                f'the twist contradicts the pose and seems to be given in the {other} frame: '
                f'set truth.twist_frame: {other}'
            )
        return (
            'the twist contradicts the pose: set truth.authority: pose to derive it from the '
            'pose, or correct the publisher'
        )


def _plus_mean(total: Vec3, a: Vec3, b: Vec3, half_s: float) -> Vec3:
    """Return a displacement and what two velocities add to it."""
    return (
        total[0] + (a[0] + b[0]) * half_s,
        total[1] + (a[1] + b[1]) * half_s,
        total[2] + (a[2] + b[2]) * half_s,
    )
