"""Overlapping Allan deviation of rate data.

With the phase x_k, the running integral of the rate, and tau = m dt:

    AVAR(tau) = sum over i of (x_(i+2m) - 2 x_(i+m) + x_i)^2 / (2 tau^2 (n + 1 - 2m)).

Source: IEEE Std 952-1997, annex C; W. Riley, "Handbook of Frequency Stability Analysis",
NIST SP 1065 (2008), section 5.2.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaguar_sensors_ros.analysis import allan_fast
from jaguar_sensors_ros.analysis.second_differences import mean_squares
from jaguar_sensors_ros.types import JaguarError

Array = NDArray[np.float64]

#: second differences from which compiling, a second, pays: each is about 1 ns faster
_WORTH_COMPILING = 1_000_000_000
#: fewer samples do not show one second difference at three averaging times
MIN_SAMPLES = 8


@dataclass(frozen=True)
class AllanCurve:
    """The Allan deviation of one or more axes.

    ``m`` (k,) are the averaging factors, ``tau`` (k,) = m dt the averaging times [s],
    ``adev`` (k, axes) the deviations in the unit of the rate, ``n`` the number of samples.
    """

    m: NDArray[np.int64]
    tau: Array
    adev: Array
    n: int
    rate_hz: float


def octaves(n: int, shortest: int = 1, longest: float | None = None) -> NDArray[np.int64]:
    """Return the powers of two in [shortest, longest]; ``longest`` is n / 2 unless given.

    >>> octaves(1000, 10, 100).tolist()
    [16, 32, 64]
    """
    last = n / 2 if longest is None else longest
    powers = 2 ** np.arange(0, 62, dtype=np.int64)
    return np.asarray(powers[(powers >= shortest) & (powers <= last)])


def log_spaced(n: int, count: int = 48, longest: float | None = None) -> NDArray[np.int64]:
    """Return up to ``count`` different averaging factors from 1 to ``longest`` (n / 3).

    >>> log_spaced(1000, 6, 100).tolist()
    [1, 3, 6, 16, 40, 100]
    """
    last = max(1.0, n / 3 if longest is None else longest)
    spaced = np.clip(np.rint(np.geomspace(1.0, last, count)), 1.0, math.floor(last))
    return np.asarray(np.unique(spaced), dtype=np.int64)


def overlapping_adev(
    rate: ArrayLike,
    rate_hz: float,
    m: ArrayLike,
    progress: Callable[[float], None] | None = None,
) -> AllanCurve:
    """Return the overlapping Allan deviation of rate data.

    Parameters
    ----------
    rate : array, shape (n,) or (n, axes)
        Uniform samples of a rate, such as an angular velocity [rad/s]; the mean over the
        record is removed before it is cumulated.
    rate_hz : float
        Sample rate 1 / dt [Hz].
    m : array of int
        Averaging factors, 1 <= m <= n / 2.
    progress : callable, optional
        Is told the share that is done, 0 to 1.

    Returns
    -------
    AllanCurve

    Raises
    ------
    JaguarError
        for too few samples, values that are not finite, or an m out of range.
    """
    data = np.asarray(rate, dtype=np.float64)
    columns = data[:, np.newaxis] if data.ndim == 1 else data
    factors = np.atleast_1d(np.asarray(m, dtype=np.int64))
    n, axes = columns.shape
    _check(columns, rate_hz, factors)
    if axes * int(np.sum(n + 1 - 2 * factors)) >= _WORTH_COMPILING:
        allan_fast.use()
    x, squares = np.empty(n + 1), np.empty((len(factors), axes))
    for axis in range(axes):

        def share(done: float, before: int = axis) -> None:
            if progress is not None:
                progress((before + done) / axes)

        squares[:, axis] = mean_squares(phase(columns[:, axis], x), factors, share)
    adev = np.sqrt(squares / 2.0) / factors[:, np.newaxis]
    return AllanCurve(factors, factors / rate_hz, adev, n, rate_hz)


def phase(rate: Array, x: Array) -> Array:
    """Fill x, shape (n + 1,), with the phase over dt: sums of the rate less its mean, from 0 on.

    The interval dt cancels in the deviation; without it the phase is rounded once less.
    """
    x[0], later = 0.0, x[1:]
    np.subtract(rate, np.mean(rate), out=later)
    np.cumsum(later, out=later)
    return x


def _check(columns: Array, rate_hz: float, factors: NDArray[np.int64]) -> None:
    n = columns.shape[0]
    if n < MIN_SAMPLES:
        raise JaguarError(f'{n} samples: an Allan deviation needs at least {MIN_SAMPLES}')
    if not (math.isfinite(rate_hz) and rate_hz > 0.0):
        raise JaguarError(f'rate = {rate_hz!r}: must be a finite number > 0 Hz')
    if not np.all(np.isfinite(np.sum(columns, axis=0))):
        row, axis = np.argwhere(~np.isfinite(columns))[0]
        raise JaguarError(f'sample {row + 1} of column {axis + 1} is not finite')
    if factors.size == 0 or factors.min() < 1 or 2 * factors.max() > n:
        raise JaguarError(f'averaging factors must be from 1 to {n // 2}, half the samples')


def conservative_error(n: int, m: Any) -> Array:
    """Return the relative standard error 1 / sqrt(2 (n/m - 1)) of an Allan deviation.

    It is that of non-overlapping averages of white noise, above that of overlapping ones from
    m = 2 on; for a random walk of the rate it is up to 8 % too small at m = n / 10
    (IEEE Std 952-1997, annex C).
    """
    ratio = n / np.asarray(m, dtype=np.float64)
    return np.asarray(1.0 / np.sqrt(2.0 * (ratio - 1.0)))
