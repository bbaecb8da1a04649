"""Elementary functions of arrays, the bits of :mod:`math`.

Sums, products, quotients and square roots are the same in arrays and in plain floats (IEEE 754).
Sines are not: NumPy calls the C library on some machines, vector code of its own on others.  So
each function is compared with :mod:`math` once, over thousands of numbers, and the numbers are
gone through one by one where the two are not the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_Function = Callable[..., Any]

#: numbers that are compared; vector code with errors of half a unit in the last place shows in
#: one of a few hundred
_CHECKED = 1 << 14
#: intervals in which they lie: angles of all sizes, and a metre to an Earth's radius
_SCALES = (1e-9, 1e-3, 1.0, math.pi, 1e3, 1e7)


def sin(x: Array) -> Array:
    """Return the sines of angles [rad]."""
    return np.asarray(_chosen('sin')(x))


def cos(x: Array) -> Array:
    """Return the cosines of angles [rad]."""
    return np.asarray(_chosen('cos')(x))


def atan2(y: Array, x: Array) -> Array:
    """Return the angles [rad] of points."""
    return np.asarray(_chosen('atan2')(y, x))


def hypot(x: Array, y: Array) -> Array:
    """Return sqrt(x^2 + y^2)."""
    return np.asarray(_chosen('hypot')(x, y))


def square(x: Array) -> Array:
    """Return x to the power of two, which ``x ** 2`` of floats is and x times x need not be."""
    return np.asarray(_chosen('square')(x))


def cube(x: Array) -> Array:
    """Return x to the power of three, which ``x ** 3`` of floats is and x x x is not."""
    return np.asarray(_chosen('cube')(x))


def _hypot(x: Array, y: Array) -> Array:
    """Return sqrt(x^2 + y^2) rounded correctly but for one number in some 10^15.

    So does :func:`math.hypot`: one step of Newton with a remainder of twice the digits (T. Dekker,
    "A floating-point technique for extending the available precision", Numerische Mathematik 18,
    1971).  Squares must neither overflow nor vanish.
    """
    xx, x_rest = _square_and_rest(x)
    yy, y_rest = _square_and_rest(y)
    total = xx + yy
    back = total - xx
    rest = (xx - (total - back)) + (yy - back) + x_rest + y_rest
    root = np.sqrt(total)
    squared, root_rest = _square_and_rest(root)
    with np.errstate(invalid='ignore', divide='ignore'):
        step = ((total - squared) - root_rest + rest) / (2.0 * root)
    return np.where(root > 0.0, root + step, 0.0)


def _square_and_rest(x: Array) -> tuple[Array, Array]:
    """Return x^2 rounded, and what the rounding took away."""
    shifted = 134217729.0 * x  # 2^27 + 1
    high = shifted - (shifted - x)
    low = x - high
    rounded = x * x
    return rounded, low * low - ((rounded - high * high) - 2.0 * high * low)


def _power(x: Array, exponent: float) -> Any:
    """Return powers; for a single exponent of 2 NumPy would multiply."""
    return np.power(x, np.full(x.shape, exponent))


_FUNCTIONS: dict[str, tuple[_Function, _Function, int]] = {
    'sin': (np.sin, math.sin, 1),
    'cos': (np.cos, math.cos, 1),
    'atan2': (np.arctan2, math.atan2, 2),
    'hypot': (lambda x, y: _hypot(x, y), math.hypot, 2),
    'square': (lambda x: _power(x, 2.0), lambda x: x**2, 1),
    'cube': (lambda x: _power(x, 3.0), lambda x: x**3, 1),
}


@cache
def _chosen(name: str) -> _Function:
    """Return the function of arrays where it has the bits of the other, else that one by one."""
    of_arrays, of_floats, arguments = _FUNCTIONS[name]
    one_by_one = _one_by_one(of_floats)
    rng = np.random.default_rng(1)
    scales = np.resize(_SCALES, _CHECKED)
    numbers = [scales * rng.uniform(-1.0, 1.0, _CHECKED) for _ in range(arguments)]
    same = np.array_equal(of_arrays(*numbers), one_by_one(*numbers))
    return of_arrays if same else one_by_one


def _one_by_one(function: _Function) -> _Function:
    """Return a function of arrays that goes through the numbers."""

    def of_arrays(*arrays: Array) -> Array:
        numbers = (a.ravel().tolist() for a in np.broadcast_arrays(*arrays))
        made = np.fromiter(map(function, *numbers), float, np.broadcast(*arrays).size)
        return made.reshape(np.broadcast(*arrays).shape)

    return of_arrays
