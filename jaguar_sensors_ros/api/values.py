"""Numbers from users, checked."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from jaguar_sensors_ros.nav.rotation import quat_norm, quat_normalise
from jaguar_sensors_ros.types import JaguarError, Quat, Vec3

_SHORTEST_QUATERNION = 1e-6
#: larger numbers are no motion
_LARGEST = 1e12


def vector(name: str, value: ArrayLike, unit: str) -> Vec3:
    """Return three finite numbers.

    Raises
    ------
    JaguarError
        naming what was given otherwise.
    """
    x, y, z = _numbers(name, value, 3, f'three finite numbers {unit}')
    return (x, y, z)


def quaternion(name: str, value: ArrayLike) -> Quat:
    """Return a unit quaternion w, x, y, z; any length but zero is taken, and either sign.

    Raises
    ------
    JaguarError
        naming what was given otherwise.
    """
    wanted = 'a quaternion w, x, y, z, finite and not zero'
    w, x, y, z = _numbers(name, value, 4, wanted)
    if quat_norm((w, x, y, z)) < _SHORTEST_QUATERNION:
        raise JaguarError(f'{name} = {value!r}: must be {wanted}')
    return quat_normalise((w, x, y, z))


def positive(name: str, value: object, unit: str) -> float:
    """Return a finite number above 0.

    Raises
    ------
    JaguarError
        naming what was given otherwise.
    """
    is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
    number = float(value) if is_number else math.nan  # type: ignore[arg-type]
    if not math.isfinite(number) or number <= 0.0:
        raise JaguarError(f'{name} = {value!r}: must be a finite number > 0 {unit}')
    return number


def _numbers(name: str, value: ArrayLike, count: int, wanted: str) -> list[float]:
    try:
        given = np.asarray(value)
    except ValueError:  # rows of different lengths
        given = np.empty(0)
    usable = given.shape == (count,) and given.dtype.kind in 'iuf'
    if not usable or not np.all(np.abs(given.astype(float)) <= _LARGEST):
        raise JaguarError(f'{name} = {value!r}: must be {wanted}')
    return [float(number) for number in given]
