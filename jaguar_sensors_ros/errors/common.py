"""An error that several receivers have in common."""

from __future__ import annotations

import math

import numpy as np

from jaguar_sensors_ros.component import NormalStream

#: correlation times after which the past is forgotten: exp(-20) = 2e-9 of sigma
_MEMORY = 20.0
#: longest past that is gone through [samples]
_LONGEST = 2**20
#: numbers of samples wrap here, so that a time before zero has one too
_WRAP = 2**40


class CommonGaussMarkov:
    """First-order Gauss-Markov process of unit variance that belongs to a sample grid.

    x_k = phi x_(k-1) + sqrt(1 - phi^2) w_k, phi = exp(-dt/tau), with the absolute number k of
    the sample in the grid and not the number since power-on.  Whoever asks for x_k gets the same
    value, whenever it began: the first value, and that after a gap, is made from the normals of
    the past 20 correlation times (at most 2^20 samples).

    Parameters
    ----------
    stream : NormalStream
        Normals, the same for all that share the error.
    """

    __slots__ = ('_of', '_stream', '_value')

    def __init__(self, stream: NormalStream) -> None:
        self._stream = stream
        self._of: int | None = None
        self._value = 0.0

    def at(self, k: int, dt_s: float, tau_s: float) -> float:
        """Return x_k in units of sigma.

        Parameters
        ----------
        k : int
            Number of the sample in its grid.
        dt_s, tau_s : float
            Period of the grid and correlation time [s].
        """
        k %= _WRAP
        ratio = dt_s / tau_s
        phi, root = math.exp(-ratio), math.sqrt(-math.expm1(-2.0 * ratio))
        if self._of == k:
            return self._value
        if self._of == k - 1:
            self._value = phi * self._value + root * self._stream(k)
        else:
            self._value = self._from_past(k, ratio, root)
        self._of = k
        return self._value

    def _from_past(self, k: int, ratio: float, root: float) -> float:
        """Return x_k as the sum of what is left of the normals before it."""
        past = min(k, _LONGEST, math.ceil(_MEMORY / ratio))
        normals = self._stream.array(k - past, past + 1)
        weights = root * np.exp(-ratio * np.arange(past, -1.0, -1.0))
        weights[0] /= root  # the oldest stands for all before it
        return float(weights @ normals)
