"""Does the twist of the odometry say the same as its pose?"""

from __future__ import annotations

from jaguar_sensors_ros.nav.rotation import (
    add,
    norm,
    rotate,
    rotvec_between,
    scale,
    subtract,
)
from jaguar_sensors_ros.types import NS_PER_S, TruthSample, Vec3

#: motion [m or rad] after which the twist is judged
_ENOUGH = 1.0
#: share of the motion by which the twist may miss it
_TOLERANCE = 0.25


class TwistMonitor:
    """Compares displacement between messages with what the twist predicts.

    Two hypotheses are followed, the twist in the child frame and in the parent frame, until the
    body has moved by a metre or a radian; then the verdict is given and the sums start anew.

    Parameters
    ----------
    twist_frame : str
        The frame in which the twist is being read, 'child' or 'parent'.
    """

    def __init__(self, twist_frame: str) -> None:
        self._twist_frame = twist_frame
        self._previous: tuple[TruthSample, Vec3] | None = None
        self._restart()

    def _restart(self) -> None:
        self._moved = 0.0
        self._turned = 0.0
        self._speed = 0.0
        self._miss = {'child': 0.0, 'parent': 0.0}

    def break_off(self) -> None:
        """Forget the last message, after a gap or a reset."""
        self._previous = None
        self._restart()

    def push(self, sample: TruthSample, twist: Vec3) -> str | None:
        """Take a sample and its raw linear twist; return a warning or None."""
        previous, self._previous = self._previous, (sample, twist)
        if previous is None or sample.t_ns <= previous[0].t_ns:
            return None
        before, twist_before = previous
        dt_s = (sample.t_ns - before.t_ns) / NS_PER_S
        step = subtract(sample.p_n, before.p_n)
        self._moved += norm(step)
        self._turned += norm(rotvec_between(before.q_nb, sample.q_nb))
        self._speed = max(self._speed, norm(twist), norm(sample.omega_nb_b))
        child = scale(add(rotate(before.q_nb, twist_before), rotate(sample.q_nb, twist)), 0.5)
        parent = scale(add(twist_before, twist), 0.5)
        for name, velocity in (('child', child), ('parent', parent)):
            self._miss[name] += norm(subtract(step, scale(velocity, dt_s)))
        if max(self._moved, self._turned) < _ENOUGH:
            return None
        verdict = self._verdict()
        self._restart()
        return verdict

    def _verdict(self) -> str | None:
        if self._speed == 0.0:
            return (
                'the twist is all zero while the pose moves: set truth.authority: pose to '
                'derive it'
            )
        if self._moved < _ENOUGH:
            return None
        miss = self._miss[self._twist_frame]
        if miss <= _TOLERANCE * self._moved:
            return None
        other = 'parent' if self._twist_frame == 'child' else 'child'
        if self._miss[other] < 0.5 * miss:
            return (
                f'the twist contradicts the pose and seems to be given in the {other} frame: '
                f'set truth.twist_frame: {other}'
            )
        return (
            'the twist contradicts the pose: set truth.authority: pose to derive it from the '
            'pose, or correct the publisher'
        )
