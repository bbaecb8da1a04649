"""Covariances as messages carry them."""

from __future__ import annotations

from typing import Any, cast

from jaguar_sensors_ros.component import AUTO, ParameterError, parameter
from jaguar_sensors_ros.types import Mat3, Vec3

#: variance published where the reading is exact: filters take 0 for absolute trust
VARIANCE_FLOOR = 1e-9


def covariance(
    override: tuple[float, ...] | str, variances: Vec3, floor: float = VARIANCE_FLOOR
) -> tuple[float, ...]:
    """Return the 3x3 covariance, row by row: the override, or the variances with a floor.

    Parameters
    ----------
    override : 'auto', or 1, 3 or 9 numbers
        One variance, three variances, or the whole matrix.
    variances : Vec3
        The simulated variances, used for 'auto'.
    floor : float
        What stands for a variance of 0.
    """
    matrix = [0.0] * 9
    if override != AUTO:
        given = cast('tuple[float, ...]', override)
        if len(given) == 9:
            matrix = list(given)
        variances = _diagonal(given)
    for i, variance in enumerate(variances):
        matrix[4 * i] = variance if variance > 0.0 else floor
    return tuple(matrix)


def override(what: str, unit: str, kind: str = 'Covariance') -> Any:
    """Declare the parameter that overrides a covariance; ``kind`` says in which axes it is."""
    return parameter(
        AUTO,
        f'{kind} of {what} to publish instead of the simulated one: a variance, three '
        'variances, or the whole matrix row by row.',
        kind='vector',
        sizes=(1, 3, 9),
        unit=unit,
        auto=True,
    )


def check_override(name: str, override: tuple[float, ...] | str) -> None:
    """Refuse a covariance that none can be.

    Raises
    ------
    ParameterError
        for a negative variance or a matrix that is not symmetric.
    """
    if override == AUTO:
        return
    given = cast('tuple[float, ...]', override)
    symmetric = len(given) != 9 or given[1:3] + given[5:6] == (given[3], given[6], given[7])
    if min(_diagonal(given)) < 0.0 or not symmetric:
        raise ParameterError(name, override, 'must be symmetric, its variances >= 0')


def _diagonal(given: tuple[float, ...]) -> Vec3:
    step = len(given) // 2
    return (given[0], given[step], given[-1])


def rotated(c: tuple[float, ...], m: Mat3) -> tuple[float, ...]:
    """Return m C m^T for a row-major 3x3 covariance C."""
    product = [
        [sum(m[i][k] * c[3 * k + j] for k in range(3)) for j in range(3)] for i in range(3)
    ]
    return tuple(
        sum(product[i][k] * m[j][k] for k in range(3)) for i in range(3) for j in range(3)
    )
