"""How far sound inputs may be apart: variances and slacks for the residual test."""

from __future__ import annotations

import math
from collections.abc import Sequence

from jaguar_sensors_ros.nav.rotation import norm
from jaguar_sensors_ros.redundancy.placed import Placed, Turn, diagonal
from jaguar_sensors_ros.types import Vec3

#: standard deviations of its own noise that a change of alpha may have without being one
_NOISE = 4.0


def rate_variance(item: Placed, allowance: float) -> Vec3:
    """Return the variance of the rate of a sound input per axis [(rad/s)^2]."""
    s = item.systematic
    more = (
        (s.gyro_relative * norm(item.rate)) ** 2
        + s.gyro_offset**2
        + (s.gyro_per_force * norm(item.force)) ** 2
        + allowance**2
    )
    x, y, z = diagonal(item.rate_covariance)
    return (x + more, y + more, z + more)


def force_variance(item: Placed, turn: Turn, allowance: float) -> Vec3:
    """Return the variance of the moved force of a sound input per axis [(m/s2)^2].

    The errors of omega and alpha are common to all: on the difference of two arms they have at
    most the sum of twice what they have on each.
    """
    s, arm = item.systematic, item.arm
    square = arm[0] ** 2 + arm[1] ** 2 + arm[2] ** 2
    whirl = 4.0 * norm(turn.omega) ** 2 * square * max(diagonal(turn.covariance))
    more = (
        (s.accel_relative * norm(item.force)) ** 2
        + s.accel_offset**2
        + allowance**2
        + 2.0 * whirl
    )
    shaken = 2.0 * turn.alpha_variance
    x, y, z = (
        own + more + shaken * (square - a * a)
        for own, a in zip(diagonal(item.force_covariance), arm, strict=True)
    )
    return (x, y, z)


def lag_slack(items: Sequence[Placed], turn: Turn) -> list[float]:
    """Return per input what the half sample by which alpha lags may do to it [m/s2]."""
    if turn.alpha is None:
        return [0.0] * len(items)
    # alpha - alpha_before is a second difference of white noise: variance 6 white / dt^2
    noise = math.sqrt(3.0 * 6.0 * max(*turn.white, *turn.white_before)) / turn.dt_s
    lag = max(0.0, norm(turn.change) - _NOISE * noise)
    lag += (norm(turn.alpha) * turn.dt_s) ** 2 / 12.0
    lengths = [norm(item.arm) for item in items]
    return [lag * (length + max(lengths)) for length in lengths]
