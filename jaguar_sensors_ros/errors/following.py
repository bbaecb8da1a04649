"""The recursion of a low-pass over consecutive pieces, rounded at every step."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from jaguar_sensors_ros.errors import running_sum
from jaguar_sensors_ros.errors.intervals import Array


def followed(start: float, gains: Array, inputs: Array, added: Array) -> Array:
    """Return y_k = y_(k-1) + (a_k (x_k - y_(k-1)) + d_k) from y before the first, shape (n,).

    ``gains`` has shape (n,), or (1,) where all are one.

    Compiled where :func:`errors.fast.use` found a compiler that rounds as plain Python does.
    """
    compiled = _compiled() if running_sum.compiled is not None else None
    if compiled is None:
        return _plainly(start, gains, inputs, added)
    return np.asarray(compiled(start, gains, inputs, added))


def _plainly(start: float, gains: Array, inputs: Array, added: Array) -> Array:
    y = float(start)
    if len(gains) == 1:
        a, steps = float(gains[0]), zip(inputs.tolist(), added.tolist(), strict=True)
        return np.array([y := y + (a * (x - y) + d) for x, d in steps])
    uneven = zip(gains.tolist(), inputs.tolist(), added.tolist(), strict=True)
    return np.array([y := y + (a * (x - y) + d) for a, x, d in uneven])


@lru_cache(maxsize=1)
def _compiled() -> Any:
    """Return the compiled loop, None where there is none of the same bits."""
    try:
        from numba import njit
    except ImportError:
        return None

    @njit(nogil=True)
    def follow(start: Any, gains: Any, inputs: Any, added: Any) -> Any:
        values, y = np.empty_like(inputs), start
        for n in range(len(inputs)):
            y = y + (gains[n if len(gains) > 1 else 0] * (inputs[n] - y) + added[n])
            values[n] = y
        return values

    numbers = np.random.default_rng(1).standard_normal((3, 4096))
    same = np.array_equal(follow(0.5, *numbers), _plainly(0.5, *numbers))
    return follow if same else None
