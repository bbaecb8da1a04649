"""The first-order recursion, sample after sample and rounded at every step."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from jaguar_sensors_ros.errors.intervals import Array

#: blocks of this length are worth a filter of scipy; those of a live sensor are shorter
_LONG = 1024
#: a compiled loop of the same numbers; see :mod:`errors.fast`
compiled: Callable[[Array, Array], Array] | None = None


def first_order(driven: Array, phi: float | Array) -> Array:
    """Return y_k = phi_k y_(k-1) + w_k from y_0 = w_0, rounded at every step.

    For a long block of one ``phi`` scipy's filter is used where it is there and rounds as plain
    arithmetic does; a compiler that fuses multiplication and addition would not.  ``compiled``
    is used for all long blocks.
    """
    if compiled is not None and len(driven) >= _LONG:
        return np.asarray(compiled(driven, np.atleast_1d(phi)))
    value = 0.0
    if isinstance(phi, np.ndarray):
        pairs = zip(phi.tolist(), driven.tolist(), strict=True)
        return np.array([value := p * value + w for p, w in pairs])
    if phi == 0.0:
        return driven
    if len(driven) >= _LONG and _scipy_rounds_plainly():
        from scipy.signal import lfilter

        return np.asarray(lfilter([1.0], [1.0, -phi], driven))
    return np.array([value := phi * value + w for w in driven.tolist()])


@lru_cache(maxsize=1)
def _scipy_rounds_plainly() -> bool:
    try:
        from scipy.signal import lfilter
    except ImportError:
        return False
    driven = np.random.default_rng(1).standard_normal(4096)
    phi, value = 0.98765432109, 0.0
    plain = [value := phi * value + w for w in driven.tolist()]
    return bool(np.array_equal(lfilter([1.0], [1.0, -phi], driven), plain))
