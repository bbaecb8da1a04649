"""Stochastic terms and quantisation for whole arrays of samples.

The same numbers as :mod:`errors.stochastic` and :mod:`errors.quantisation` sample by sample, bit
for bit.  Random streams are addressed by the sample's number, so a block may begin wherever the
one before ended; what carries over (Gauss-Markov states, walks, residues) is kept in the objects.
Sums run in the order of the samples; nothing is summed pairwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaguar_sensors_ros.component import NormalStream

Array = NDArray[np.float64]

_ONE = 1 << 32


@dataclass(frozen=True)
class Intervals:
    """The lengths of consecutive samples: which of a few ``lengths_s`` [s] each one has."""

    lengths_s: tuple[float, ...]
    which: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.which)

    def spread(self, values: Sequence[float]) -> Any:
        """Return one value for each sample from one for each length; a number if it is one."""
        return values[0] if len(values) == 1 else np.array(values)[self.which]

    @property
    def dt_s(self) -> Any:
        """Length of each sample [s]."""
        return self.spread(self.lengths_s)


class GaussMarkovArray:
    """:class:`errors.stochastic.GaussMarkov` for blocks of consecutive samples."""

    def __init__(self, stream: NormalStream) -> None:
        self._stream = stream
        self._value: float | None = None

    def block(self, start: int, intervals: Intervals, tau_s: float) -> Array:
        """Return the values of the samples from ``start`` on, in units of sigma."""
        ratios = [dt / tau_s if tau_s > 0.0 else math.inf for dt in intervals.lengths_s]
        root = [math.sqrt(-math.expm1(-2.0 * ratio)) for ratio in ratios]
        phi = [math.exp(-ratio) for ratio in ratios]
        normals = self._stream.array(start, len(intervals))
        driven = intervals.spread(root) * normals
        value = self._value
        if value is None:
            # stationary from the first sample
            driven[0], value = normals[0], 0.0
        if len(phi) == 1:
            values = first_order(driven, phi[0], value)
        else:
            steps = _recurse(driven, intervals.spread(phi).tolist(), value)
            values = np.fromiter(steps, np.float64, len(driven))
        self._value = float(values[-1])
        return values


def first_order(driven: Array, phi: float, value: float) -> Array:
    """Return y_k = phi y_(k-1) + driven_k from y_(-1) = ``value``, rounded at every step.

    scipy's filter is used where it is there and rounds as plain arithmetic does; a compiler
    that fuses multiplication and addition would not.
    """
    if _scipy_rounds_plainly():
        from scipy.signal import lfilter

        filtered, _ = lfilter([1.0], [1.0, -phi], driven, zi=[phi * value])
        return np.asarray(filtered)
    return np.fromiter(_recurse(driven, repeat(phi), value), np.float64)


def _recurse(driven: Array, phi: Iterable[float], value: float) -> Iterator[float]:
    for w, p in zip(driven.tolist(), phi, strict=False):
        value = p * value + w
        yield value


@lru_cache(maxsize=1)
def _scipy_rounds_plainly() -> bool:
    try:
        from scipy.signal import lfilter
    except ImportError:
        return False
    driven = np.random.default_rng(1).standard_normal(4096)
    phi = 0.98765432109
    plain = np.fromiter(_recurse(driven, repeat(phi), 0.3), np.float64)
    return bool(np.array_equal(lfilter([1.0], [1.0, -phi], driven, zi=[phi * 0.3])[0], plain))


class WalkArray:
    """:class:`errors.stochastic.RandomWalk` of a constant coefficient, for blocks."""

    def __init__(self, stream: NormalStream) -> None:
        self._stream = stream
        self._value = 0.0

    def block(self, start: int, intervals: Intervals, coefficient: float) -> Array:
        """Return the walk at the samples from ``start`` on; ``coefficient`` in unit/sqrt(s)."""
        if coefficient == 0.0:
            return np.zeros(len(intervals))
        roots = [math.sqrt(dt_s) for dt_s in intervals.lengths_s]
        steps = intervals.spread(roots) * self._stream.array(start, len(intervals))
        walk = np.cumsum(np.concatenate([[self._value], steps]))[1:]
        self._value = float(walk[-1])
        return np.asarray(coefficient * walk)


class PulseQuantiserArray:
    """:class:`errors.quantisation.PulseQuantiser` for blocks."""

    def __init__(self) -> None:
        self._residue = 0

    def block(self, increments: Array, lsb: float) -> Array:
        """Return the quantised increments."""
        scaled = increments / lsb
        whole = np.floor(scaled)
        fractions = np.rint((scaled - whole) * _ONE).astype(np.int64)
        sums = self._residue + np.cumsum(fractions)
        carried = np.diff(sums >> 32, prepend=0)
        self._residue = int(sums[-1]) & (_ONE - 1)
        return np.asarray((whole + carried) * lsb)
