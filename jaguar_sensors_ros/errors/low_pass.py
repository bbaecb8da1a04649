"""The first-order low-pass in front of the sampling, for three axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from jaguar_sensors_ros.errors import following
from jaguar_sensors_ros.errors.intervals import Array
from jaguar_sensors_ros.types import ZERO3, Vec3

#: A part of a sample over which the input is linear in time: its length [s], the integral of the
#: input, and by how much it changes from start to end.
Piece = tuple[float, Vec3, Vec3]

#: means, and outputs at the ends where they are asked for, shape (3, n) each
Outputs = tuple[Array, Array | None]


class Ran(NamedTuple):
    """The pieces of consecutive samples, as columns.

    ``lengths_s`` [s] has shape (m,), ``integrals`` and ``changes`` of the input have (3, m) and
    ``ends``, the number of the last piece of each sample, has (n,).
    """

    lengths_s: Array
    integrals: Array
    changes: Array
    ends: Any

    @property
    def first(self) -> Piece:
        """The first piece."""
        (x, y, z), (dx, dy, dz) = self.integrals[:, 0].tolist(), self.changes[:, 0].tolist()
        return (float(self.lengths_s[0]), (x, y, z), (dx, dy, dz))


#: gains of the mean for x, y, z and of the change
_Gains = tuple[float, float, float, float, float, float]
#: lengths of pieces of which the gains are kept
_MOST_LENGTHS = 64


class LowPass:
    """y' = w (x - y), w = 2 pi fc, solved exactly for an input that is linear piece by piece.

    With x the mean of the input over a piece of length h, dx its change, and E = exp(-w h),

        y_1 - y_0 = (1 - E) (x - y_0) + ((1 + E) / 2 - (1 - E) / (w h)) dx.

    The integral of the output is that of the input less (y_1 - y_0) / w, so no angle is lost.
    ``state`` is y, None before the first piece: then it starts at the input, without a
    transient.
    """

    def __init__(self) -> None:
        self.state: Vec3 | None = None
        self.configure(ZERO3)

    def configure(self, corners_hz: Vec3) -> None:
        """Take the corners [Hz]; 0 is none.  The state carries on."""
        self.is_on = corners_hz != ZERO3
        self._omega = x, y, z = tuple(2.0 * math.pi * corner for corner in corners_hz)
        self._lags = tuple(1.0 / omega if omega else 0.0 for omega in (x, y, z))
        self._gains: dict[float, _Gains] = {}

    def break_off(self) -> None:
        """Start anew: what came before a gap in the truth is over."""
        self.state = None

    def mean(self, rate: Vec3, pieces: Sequence[Piece], dt_s: float) -> Vec3:
        """Return the mean output over a sample.

        Parameters
        ----------
        rate : Vec3
            The mean input.
        pieces : sequence of Piece
            How it ran; none where that is not known: then it was constant.
        dt_s : float
            Length of the sample [s].
        """
        if not self.is_on:
            self.state = None
            return rate
        x, y, z = rate
        if not pieces:
            pieces = [(dt_s, (x * dt_s, y * dt_s, z * dt_s), ZERO3)]
        out_x, out_y, out_z = before_x, before_y, before_z = self.state or _start(pieces[0])
        for h, (in_x, in_y, in_z), (d_x, d_y, d_z) in pieces:
            a_x, a_y, a_z, b_x, b_y, b_z = self._gains.get(h) or self._gain(h)
            out_x += a_x * (in_x / h - out_x) + b_x * d_x
            out_y += a_y * (in_y / h - out_y) + b_y * d_y
            out_z += a_z * (in_z / h - out_z) + b_z * d_z
        self.state = (out_x, out_y, out_z)
        lag_x, lag_y, lag_z = self._lags
        x -= (out_x - before_x) * lag_x / dt_s
        y -= (out_y - before_y) * lag_y / dt_s
        z -= (out_z - before_z) * lag_z / dt_s
        return (x, y, z)

    def block(self, rates: Array, ran: Ran, instant: Array | None, dt_s: Any) -> Outputs:
        """Return the mean outputs over consecutive samples, and those at their ends.

        :meth:`mean` and :meth:`at_stamp` for a block, the same operations sample after sample.

        Parameters
        ----------
        rates : array, shape (3, n)
            The mean inputs.
        ran : Ran
            How they ran.
        instant : array, shape (3, n), or None
            The inputs at the stamps; None where the outputs there are not asked for.
        dt_s : float or array, shape (n,)
            Lengths of the samples [s].
        """
        gains = self._gains_of(ran.lengths_s)
        x, y, z = self.state or _start(ran.first)
        state, means = [x, y, z], np.array(rates)
        ends = None if instant is None else np.array(instant)
        for i, lag in enumerate(self._lags):
            if lag:
                inputs, added = ran.integrals[i] / ran.lengths_s, gains[3 + i] * ran.changes[i]
                before = state[i]
                after = following.followed(before, gains[i], inputs, added)[ran.ends]
                means[i] -= (after - np.append(before, after[:-1])) * lag / dt_s
                state[i] = float(after[-1])
                if ends is not None:
                    ends[i] = after
        self.state = (state[0], state[1], state[2])
        return means, ends

    def at_stamp(self, rate: Vec3) -> Vec3:
        """Return the output at the stamp; ``rate`` is put out on axes without a low-pass."""
        if self.state is None:
            return rate
        x, y, z = [
            out if omega else value
            for out, value, omega in zip(self.state, rate, self._omega, strict=True)
        ]
        return (x, y, z)

    def _gains_of(self, lengths_s: Array) -> Array:
        """Return the gains of pieces, shape (6, m), or (6, 1) where all have one length."""
        if (lengths_s == lengths_s[0]).all():
            return np.array([self._gain(float(lengths_s[0]))]).T
        lengths, which = np.unique(lengths_s, return_inverse=True)
        gains = [self._gain(h) for h in lengths.tolist()]
        return np.ascontiguousarray(np.array(gains)[which].T)

    def _gain(self, duration_s: float) -> _Gains:
        """Return the gains of mean and change; 0 for an axis without a low-pass."""
        (a_x, b_x), (a_y, b_y), (a_z, b_z) = [_gains(w * duration_s) for w in self._omega]
        if len(self._gains) >= _MOST_LENGTHS:
            self._gains.clear()
        gain = self._gains[duration_s] = (a_x, a_y, a_z, b_x, b_y, b_z)
        return gain


def substeps(corner_hz: float, dt_s: float) -> int:
    """Return into how many parts an interval is cut where the input is not smooth within it.

    Each counts as constant.  Ten keep a tone just below the sample rate within 0.3 dB; beyond a
    hundred the mean over the interval, not the low-pass, decides.
    """
    return math.ceil(min(max(10.0, 16.0 * corner_hz * dt_s), 100.0)) if corner_hz else 1


def _gains(angle: float) -> tuple[float, float]:
    """Return the gains of mean and change for w h."""
    if angle == 0.0:
        return 0.0, 0.0
    passed = -math.expm1(-angle)
    if angle > 1e-2:
        return passed, 1.0 - 0.5 * passed - passed / angle
    # the difference above would lose digits
    return passed, angle * angle * (1.0 / 12.0 - angle * (1.0 / 24.0 - angle / 80.0))


def _start(piece: Piece) -> Vec3:
    """Return the input at the start of a piece."""
    h, (x, y, z), (d_x, d_y, d_z) = piece
    return (x / h - 0.5 * d_x, y / h - 0.5 * d_y, z / h - 0.5 * d_z)
