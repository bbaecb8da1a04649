"""Covariances as messages carry them."""

from __future__ import annotations

from typing import cast

from jaguar_sensors_ros.component import AUTO
from jaguar_sensors_ros.types import Mat3, Vec3

#: variance published where the reading is exact: filters take 0 for absolute trust
VARIANCE_FLOOR = 1e-9


def covariance(override: tuple[float, ...] | str, variances: Vec3) -> tuple[float, ...]:
    """Return the 3x3 covariance, row by row: the override, or the variances with a floor.

    Parameters
    ----------
    override : 'auto', or 1, 3 or 9 numbers
        One variance, three variances, or the whole matrix.
    variances : Vec3
        The simulated variances, used for 'auto'.
    """
    if override != AUTO:
        given = cast('tuple[float, ...]', override)
        if len(given) == 9:
            return given
        variances = (given[0], given[len(given) // 2], given[-1])
    x, y, z = (max(v, VARIANCE_FLOOR) for v in variances)
    return (x, 0.0, 0.0, 0.0, y, 0.0, 0.0, 0.0, z)


def rotated(c: tuple[float, ...], m: Mat3) -> tuple[float, ...]:
    """Return m C m^T for a row-major 3x3 covariance C."""
    product = [
        [sum(m[i][k] * c[3 * k + j] for k in range(3)) for j in range(3)] for i in range(3)
    ]
    return tuple(
        sum(product[i][k] * m[j][k] for k in range(3)) for i in range(3) for j in range(3)
    )
