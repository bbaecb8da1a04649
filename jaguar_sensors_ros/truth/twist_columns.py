"""Many pieces of truth at once: the formulas of a piece with columns in the place of floats."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from jaguar_sensors_ros.nav import columns
from jaguar_sensors_ros.nav.columns import Columns
from jaguar_sensors_ros.nav.kinematics import Environment
from jaguar_sensors_ros.nav.rotation import dot, right_jacobian_times, rotate_back, scale
from jaguar_sensors_ros.truth.columns import Times, TruthColumns
from jaguar_sensors_ros.truth.segment import Moved, TwistSegment
from jaguar_sensors_ros.types import NS_PER_S, TruthSample, Vec3


class TwistColumns(TwistSegment):
    """Pieces between successive truth samples, bit for bit :class:`TwistSegment` each.

    ``first`` and ``last`` are truth samples whose fields are columns; times are arrays with one
    time for each piece.  The formulas are inherited; what has branches is overridden.  Intervals
    and instants that are asked for lie each in its piece.
    """

    #: the last attitudes that took work, and their times
    _asked: tuple[Any, Any] | None = None
    #: the arrays of times between which it is known what happens
    _times: tuple[Any, Any] | None = None

    @classmethod
    def between(cls, truth: TruthColumns, start: int, end: int) -> TwistColumns:
        """Return the pieces between the rows from ``start`` on and before ``end``."""
        return cls(truth.rows(start, end - 1), truth.rows(start + 1, end))

    @classmethod
    def at_rows(cls, truth: TruthColumns, rows: Any) -> TwistColumns:
        """Return the pieces that begin at the given rows."""
        everything = truth.rows(0, len(truth))
        return cls(_spread(everything, rows), _spread(everything, rows + 1))

    def spread(self, which: Any) -> TwistColumns:
        """Return the pieces again in another order, or some several times."""
        if np.array_equal(which, np.arange(len(self._span_ns))):  # type: ignore[arg-type]
            return self
        made = copy.copy(self)
        made.first, made.last = _spread(self.first, which), _spread(self.last, which)
        made.start_ns, made.end_ns = made.first.t_ns, made.last.t_ns
        made._span_ns = self._span_ns[which]  # type: ignore[index]
        made._slopes = made._asked = made._times = None
        made._phi = np.take(np.array(self._phi), which, axis=1)
        return made

    def _rotation_vector(self) -> Vec3:
        a, b = self.first, self.last
        phi: Columns = columns.rotvec_between(a.q_nb, b.q_nb)
        (ax, ay, az), (bx, by, bz) = a.omega_nb_b, b.omega_nb_b
        duration_s = self._span_ns / NS_PER_S
        x, y, z = ax + bx, ay + by, az + bz
        turned: Any = (x * x + y * y + z * z) * duration_s * duration_s >= math.pi * math.pi
        if turned.any():
            phi = np.array(phi)
            angle = columns.norm(phi)
            which = turned & (angle != 0.0)
            some, angle = phi[:, which], angle[which]
            twice = np.array((x, y, z))[:, which]
            duration_s = duration_s[which]  # type: ignore[index]
            beyond = 0.5 * dot(twice, some) / angle * duration_s  # type: ignore[arg-type]
            turns = np.rint((beyond - angle) / (2.0 * math.pi))
            phi[:, which] = scale(some, 1.0 + 2.0 * math.pi * turns / angle)
        return phi  # type: ignore[no-any-return]

    def attitude(self, t_ns: Any) -> Any:
        """Return q_nb at one time for each piece."""
        ends, starts = t_ns == self.end_ns, t_ns == self.start_ns
        if ends.all():
            return self.last.q_nb
        if starts.all():
            return self.first.q_nb
        if self._asked is not None and np.array_equal(self._asked[0], t_ns):
            return self._asked[1]
        u = (t_ns - self.start_ns) / self._span_ns
        q = columns.slerp(self.first.q_nb, self._phi, u)
        for where, known in ((starts, self.first.q_nb), (ends, self.last.q_nb)):
            if where.any():
                q = tuple(np.where(where, *two) for two in zip(known, q, strict=True))
        self._asked = t_ns, q
        return q

    def _known(self, from_ns: Any, to_ns: Any, environment: Environment) -> Moved:
        """Return what happens in an interval; it is kept for the very same arrays of times."""
        asked = (from_ns, to_ns)
        if self._times is None or any(a is not b for a, b in zip(asked, self._times, strict=True)):
            self._turn = self._turn_of(from_ns, to_ns)
            local = None if environment.gravity == 'constant' else environment.local
            self._times, self._common = asked, self._moved(from_ns, to_ns, local)
        return self._common

    def _turn_of(self, from_ns: Times, to_ns: Times) -> tuple[Columns, Columns, Columns, Any]:
        """Return what all vectors fixed in n turn by in an interval, and its length [s]."""
        length_ns = to_ns - from_ns
        turn: Columns = scale(self._phi, length_ns / self._span_ns)  # type: ignore[arg-type]
        factors = columns.right_jacobian_factors(turn)
        return self.attitude(from_ns), turn, factors, length_ns / NS_PER_S

    def _turned_back(self, vector_n: Any, from_ns: Any, to_ns: Any) -> Any:
        q, turn, factors, length_s = self._turn
        resolved: Columns = rotate_back(q, vector_n)
        return scale(right_jacobian_times(turn, resolved, factors), length_s)


def _spread(samples: TruthSample, which: Any) -> TruthSample:
    """Return samples whose fields are columns in another order."""
    t_ns, *vectors = samples
    return TruthSample(
        t_ns[which],  # type: ignore[index]
        *[None if v is None else np.take(v, which, axis=1) for v in vectors],  # type: ignore[arg-type]
    )
