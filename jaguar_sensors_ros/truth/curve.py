"""A smooth motion through time-stamped positions and attitudes (pose authority).

Position and quaternion are cubic splines with continuous second derivatives through the rows;
the quaternion spline s is normalised, q = s / |s|.  Velocity, angular velocity and acceleration
are the exact derivatives of these curves, so the motion is consistent in itself.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from jaguar_sensors_ros.nav.rotation import rotate_back
from jaguar_sensors_ros.types import JaguarError, Quat, TruthSample, Vec3

Array = np.ndarray[Any, np.dtype[np.float64]]

#: quaternions shorter than this have no direction
SHORTEST_QUATERNION = 1e-6
#: least |q_a . q_b| of neighbours: 120 deg; a larger turn between two rows is anyone's guess
LEAST_ALIGNMENT = 0.5


class TrajectoryCurve:
    """A truth source through the poses of a trajectory file.

    Positions are splined as they are; quaternions are normalised first and take the sign
    nearest to the row before.  The motion is known from the first to the last row.

    Parameters
    ----------
    times_ns : sequence of int
        Times [ns], strictly increasing, at least two.
    positions : array_like, shape (n, 3)
        Position of the body origin in n [m].
    quaternions : array_like, shape (n, 4)
        q_nb as w, x, y, z; any length but zero, either sign.
    where : callable, optional
        Names row i in error messages; default 'row i+1'.

    Raises
    ------
    JaguarError
        for fewer than two rows, times that do not increase, a value that is not finite, a zero
        quaternion, or a turn of more than 120 deg from one row to the next.

    Source: C. de Boor, "A Practical Guide to Splines", chapter IV (not-a-knot cubic spline);
    angular velocity omega_nb_b = 2 vec(s* s') / |s|^2.
    """

    def __init__(
        self,
        times_ns: Sequence[int],
        positions: object,
        quaternions: object,
        where: Callable[[int], str] = lambda row: f'row {row + 1}',
    ) -> None:
        self._times = [int(t) for t in times_ns]
        p, q = np.asarray(positions, dtype=float), np.asarray(quaternions, dtype=float)
        n = len(self._times)
        if p.shape != (n, 3) or q.shape != (n, 4):
            raise JaguarError(
                f'{n} times need positions of shape ({n}, 3) and quaternions of shape '
                f'({n}, 4), not {p.shape} and {q.shape}'
            )
        if n < 2:
            raise JaguarError(f'a trajectory needs at least 2 rows, this one has {n}')
        _check_times(self._times, where)
        table = np.hstack([p, _aligned(_normalised(q, where), where)])
        _check_finite(table, where)
        steps = 1e-9 * np.diff(np.array(self._times, dtype=np.int64)).astype(float)
        self._coefficients = spline_coefficients(steps, table).reshape(n - 1, 28)
        self._segment = -1
        self._row: list[float] = []

    @property
    def start_ns(self) -> int:
        """Time of the first row [ns]."""
        return self._times[0]

    @property
    def end_ns(self) -> int | None:
        """Time of the last row [ns]."""
        return self._times[-1]

    @property
    def knots_ns(self) -> Sequence[int]:
        """Times of all rows [ns]."""
        return self._times

    @property
    def longest_gap_ns(self) -> int:
        """Longest time [ns] between neighbouring rows, which the curve bridges."""
        return max(b - a for a, b in pairwise(self._times))

    def at(self, t_ns: int) -> TruthSample:
        """Return the motion at ``t_ns``, with its acceleration.

        Raises
        ------
        JaguarError
            outside of the rows.
        """
        times = self._times
        i = self._segment
        if i < 0 or not times[i] <= t_ns < times[i + 1]:
            i = self._find(t_ns)
        u = (t_ns - times[i]) * 1e-9
        c = self._row
        p, v, a, s, r = [], [], [], [], []
        for k in (0, 4, 8):
            c0, c1, c2, c3 = c[k : k + 4]
            p.append(c0 + u * (c1 + u * (c2 + u * c3)))
            v.append(c1 + u * (2.0 * c2 + u * (3.0 * c3)))
            a.append(2.0 * c2 + u * (6.0 * c3))
        for k in (12, 16, 20, 24):
            c0, c1, c2, c3 = c[k : k + 4]
            s.append(c0 + u * (c1 + u * (c2 + u * c3)))
            r.append(c1 + u * (2.0 * c2 + u * (3.0 * c3)))
        q, omega = _attitude((s[0], s[1], s[2], s[3]), (r[0], r[1], r[2], r[3]))
        v_b = rotate_back(q, (v[0], v[1], v[2]))
        a_b = rotate_back(q, (a[0], a[1], a[2]))
        return TruthSample(t_ns, (p[0], p[1], p[2]), q, v_b, omega, a_b)

    def _find(self, t_ns: int) -> int:
        """Make the segment that holds ``t_ns`` the current one and return its number."""
        times = self._times
        if not times[0] <= t_ns <= times[-1]:
            raise JaguarError(
                f'time {t_ns} ns is outside of the trajectory, {times[0]} to {times[-1]} ns'
            )
        i = min(bisect_right(times, t_ns), len(times) - 1) - 1
        if i != self._segment:
            self._segment = i
            self._row = self._coefficients[i].tolist()
        return i


def _attitude(s: Quat, r: Quat) -> tuple[Quat, Vec3]:
    """Return s / |s| and 2 vec(conj(s) r) / |s|^2, r being the rate of s."""
    (sw, sx, sy, sz), (rw, rx, ry, rz) = s, r
    square = sw * sw + sx * sx + sy * sy + sz * sz
    g, n = 2.0 / square, square**-0.5
    omega = (
        g * (sw * rx - sx * rw - sy * rz + sz * ry),
        g * (sw * ry + sx * rz - sy * rw - sz * rx),
        g * (sw * rz - sx * ry + sy * rx - sz * rw),
    )
    return (n * sw, n * sx, n * sy, n * sz), omega


def spline_coefficients(steps: Array, values: Array) -> Array:
    """Return the cubic spline with not-a-knot ends through the columns of ``values``.

    Two rows give a line, three a parabola.

    Parameters
    ----------
    steps : ndarray, shape (n-1,)
        Distances of the knots, all positive.
    values : ndarray, shape (n, m)
        One row a knot.

    Returns
    -------
    ndarray, shape (n-1, m, 4)
        c with value = c0 + c1 u + c2 u^2 + c3 u^3, u from the segment's first knot.
    """
    h = steps[:, None]
    slopes = np.diff(values, axis=0) / h
    d = _knot_slopes(steps, slopes)
    curvature = (d[:-1] + d[1:] - 2.0 * slopes) / h
    c2 = (slopes - d[:-1]) / h - curvature
    return np.stack([values[:-1], d[:-1], c2, curvature / h], axis=-1)


def _knot_slopes(h: Array, slopes: Array) -> Array:
    """Return the derivatives at the knots, shape (n, m), that make the spline C2."""
    if len(h) == 1:
        return np.repeat(slopes, 2, axis=0)
    if len(h) == 2:
        curvature = (slopes[1] - slopes[0]) / (h[0] + h[1])
        ends = slopes[0] - h[0] * curvature, slopes[1] + h[1] * curvature
        return np.stack([ends[0], slopes[0] + h[0] * curvature, ends[1]])
    right = np.empty((len(h) + 1, slopes.shape[1]))
    right[1:-1] = 3.0 * (h[1:, None] * slopes[:-1] + h[:-1, None] * slopes[1:])
    first, last = h[0] + h[1], h[-1] + h[-2]
    right[0] = ((h[0] + 2.0 * first) * h[1] * slopes[0] + h[0] ** 2 * slopes[1]) / first
    right[-1] = (h[-1] ** 2 * slopes[-2] + (2.0 * last + h[-1]) * h[-2] * slopes[-1]) / last
    lower = [0.0, *h[1:].tolist(), float(last)]
    middle = [float(h[1]), *(2.0 * (h[:-1] + h[1:])).tolist(), float(h[-2])]
    upper = [float(first), *h[:-1].tolist(), 0.0]
    return _solve_tridiagonal(lower, middle, upper, right)


def _solve_tridiagonal(
    lower: list[float], middle: list[float], upper: list[float], right: Array
) -> Array:
    """Solve in place for several right-hand sides (elimination without pivoting)."""
    for i in range(1, len(middle)):
        factor = lower[i] / middle[i - 1]
        middle[i] -= factor * upper[i - 1]
        right[i] -= factor * right[i - 1]
    right[-1] /= middle[-1]
    for i in range(len(middle) - 2, -1, -1):
        right[i] = (right[i] - upper[i] * right[i + 1]) / middle[i]
    return right


def _check_times(times: Sequence[int], where: Callable[[int], str]) -> None:
    for i in range(1, len(times)):
        if times[i] <= times[i - 1]:
            what = 'repeats the time' if times[i] == times[i - 1] else 'goes back in time from'
            raise JaguarError(
                f'{where(i)} {what} {times[i - 1]} ns'
                + ('' if times[i] == times[i - 1] else f' to {times[i]} ns')
                + '; times must increase'
            )


def _check_finite(table: Array, where: Callable[[int], str]) -> None:
    wrong = np.flatnonzero(~np.isfinite(table).all(axis=1))
    if wrong.size:
        raise JaguarError(f'{where(int(wrong[0]))} has a value that is not finite')


def _normalised(q: Array, where: Callable[[int], str]) -> Array:
    """Return unit quaternions; refuse what has no direction."""
    _check_finite(q, where)
    length = np.linalg.norm(q, axis=1)
    wrong = np.flatnonzero(length < SHORTEST_QUATERNION)
    if wrong.size:
        raise JaguarError(f'{where(int(wrong[0]))} has a zero quaternion')
    return np.asarray(q / length[:, None])


def _aligned(q: Array, where: Callable[[int], str]) -> Array:
    """Return quaternions of which each has the sign nearest to the one before."""
    dots = np.sum(q[1:] * q[:-1], axis=1)
    wrong = np.flatnonzero(np.abs(dots) < LEAST_ALIGNMENT)
    if wrong.size:
        i = int(wrong[0])
        angle = 2.0 * np.degrees(np.arccos(abs(dots[i])))
        raise JaguarError(
            f'the attitude turns by {angle:.0f} deg from {where(i)} to {where(i + 1)}; '
            'at most 120 deg between rows is allowed'
        )
    signs = np.concatenate([[1.0], np.cumprod(np.where(dots < 0.0, -1.0, 1.0))])
    return np.asarray(q * signs[:, None])
