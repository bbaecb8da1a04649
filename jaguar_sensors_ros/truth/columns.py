"""A trajectory as arrays: what the array computation of the sensors takes as the truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaguar_sensors_ros.types import NS_PER_S, JaguarError, Quat, TruthSample, TruthSource, Vec3

Array = NDArray[np.float64]
Times = NDArray[np.int64]

#: sums of two stamps fit into 64 bits
LAST_NS = 1 << 61
#: as far as a quaternion may be from unit length
_UNIT = 1e-3


@dataclass(frozen=True, eq=False)
class TruthColumns:
    """Successive samples of the truth, one a column; see :class:`types.TruthSample`.

    Parameters
    ----------
    t_ns : array of int64, shape (n,)
        Times [ns], strictly increasing.
    p_n : array, shape (3, n)
        Position of the body origin in n [m].
    q_nb : array, shape (4, n)
        Unit quaternions w, x, y, z that take b to n.
    v_nb_b, omega_nb_b : array, shape (3, n)
        Velocity [m/s] and angular velocity [rad/s] of b over n, resolved in b.
    a_nb_b : array, shape (3, n), or None
        Kinematic acceleration resolved in b, gravity excluded [m/s2]; None: it is derived.
    """

    t_ns: Times
    p_n: Array
    q_nb: Array
    v_nb_b: Array
    omega_nb_b: Array
    a_nb_b: Array | None = None

    @classmethod
    def of_rows(
        cls,
        t_ns: ArrayLike,
        p_n: ArrayLike,
        q_nb: ArrayLike,
        v_nb_b: ArrayLike,
        omega_nb_b: ArrayLike,
        a_nb_b: ArrayLike | None = None,
    ) -> TruthColumns:
        """Make columns of rows: times (n,), quaternions (n, 4), all others (n, 3).

        Raises
        ------
        JaguarError
            for times that do not increase, a wrong shape, a value that is not finite, or a
            quaternion whose length is further than 1e-3 from 1; it names row and quantity.
        """
        times = _times(t_ns)
        given = {'p_n': (p_n, 3), 'q_nb': (q_nb, 4), 'v_nb_b': (v_nb_b, 3)}
        given['omega_nb_b'] = (omega_nb_b, 3)
        if a_nb_b is not None:
            given['a_nb_b'] = (a_nb_b, 3)
        columns = {k: _columns(k, rows, len(times), m) for k, (rows, m) in given.items()}
        lengths = np.sqrt((columns['q_nb'] ** 2).sum(axis=0))
        _refuse('q_nb', np.abs(lengths - 1.0) > _UNIT, 'must be a unit quaternion w, x, y, z')
        return cls(times, **columns)

    @classmethod
    def of(cls, samples: Iterable[TruthSample]) -> TruthColumns:
        """Make columns of truth samples.

        Raises
        ------
        JaguarError
            as :meth:`of_rows`, or where only some samples carry an acceleration.
        """
        taken = list(samples)
        with_acceleration = sum(sample.a_nb_b is not None for sample in taken)
        if with_acceleration not in (0, len(taken)):
            raise JaguarError(
                f'a_nb_b: {with_acceleration} of {len(taken)} samples carry an acceleration; '
                'must be all or none'
            )
        if not taken:
            raise JaguarError('t_ns: no samples; at least 2 are needed')
        t, p, q, v, omega, a = zip(*taken, strict=True)
        return cls.of_rows(t, p, q, v, omega, a if with_acceleration else None)

    @classmethod
    def of_source(
        cls, source: TruthSource, rate_hz: float, start_ns: int, end_ns: int
    ) -> TruthColumns:
        """Sample a trajectory (built-in, or of a file) from ``start_ns`` to ``end_ns``.

        Stamps are ``start_ns`` + round(i 1e9 / rate_hz) [ns].
        """
        count = int((end_ns - start_ns) * rate_hz / NS_PER_S + 1e-6) + 1
        times = [start_ns + round(i * NS_PER_S / rate_hz) for i in range(count)]
        return cls.of(source.at(t_ns) for t_ns in times if t_ns <= end_ns)

    def __len__(self) -> int:
        """Return how many samples there are."""
        return len(self.t_ns)

    def rows(self, start: int, end: int) -> TruthSample:
        """Return some samples in a row as one whose fields are columns."""
        a = None if self.a_nb_b is None else self.a_nb_b[:, start:end]
        columns: Any = (self.p_n, self.q_nb, self.v_nb_b, self.omega_nb_b)
        p, q, v, omega = (column[:, start:end] for column in columns)
        times: Any = self.t_ns[start:end]
        return TruthSample(times, p, q, v, omega, a)  # type: ignore[arg-type]

    def samples(self) -> Iterator[TruthSample]:
        """Yield the samples one by one."""
        vectors = [self.p_n, self.q_nb, self.v_nb_b, self.omega_nb_b]
        if self.a_nb_b is not None:
            vectors.append(self.a_nb_b)
        for start in range(0, len(self), 4096):
            part = slice(start, start + 4096)
            rows = [v[:, part].T.tolist() for v in vectors]
            for t_ns, p, q, *rest in zip(self.t_ns[part].tolist(), *rows, strict=True):
                yield TruthSample(t_ns, _three(p), _four(q), *map(_three, rest))

    def stretches(self, max_gap_ns: int) -> list[tuple[int, int]]:
        """Return first row and end of the parts without a longer pause, of two rows or more."""
        breaks = (np.flatnonzero(np.diff(self.t_ns) > max_gap_ns) + 1).tolist()
        edges = zip([0, *breaks], [*breaks, len(self)], strict=True)
        return [(start, end) for start, end in edges if end - start > 1]


def _three(v: list[float]) -> Vec3:
    return (v[0], v[1], v[2])


def _four(v: list[float]) -> Quat:
    return (v[0], v[1], v[2], v[3])


def _times(t_ns: ArrayLike) -> Times:
    times = np.asarray(t_ns)
    if times.ndim != 1 or len(times) < 2 or not np.issubdtype(times.dtype, np.integer):
        raise JaguarError(
            f't_ns: array of {times.dtype}, shape {times.shape}; must be whole nanoseconds, '
            'shape (n,) with n >= 2'
        )
    times = times.astype(np.int64)
    _refuse('t_ns', np.abs(times) > LAST_NS, f'must be within {LAST_NS} ns')
    _refuse('t_ns', np.diff(times, prepend=times[0] - 1) <= 0, 'times must increase')
    return times


def _columns(name: str, rows: ArrayLike, count: int, size: int) -> Array:
    """Return rows as contiguous columns, checked."""
    given = np.asarray(rows, dtype=np.float64)
    if given.shape != (count, size):
        raise JaguarError(f'{name}: shape {given.shape}; must be ({count}, {size})')
    _refuse(name, ~np.isfinite(given).all(axis=1), 'must be finite')
    return np.ascontiguousarray(given.T)


def _refuse(name: str, wrong: Any, allowed: str) -> None:
    rows = np.flatnonzero(wrong)
    if len(rows):
        raise JaguarError(f'{name}: row {rows[0]} (of rows from 0): {allowed}')
