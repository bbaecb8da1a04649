"""What all contenders of a contest get."""

from __future__ import annotations

from typing import Any

import numpy as np

from jaguar_sensors_ros.analysis.allan import log_spaced
from jaguar_sensors_ros.types import NS_PER_S

#: latitude [deg], longitude [deg], ellipsoidal height [m]
ORIGIN = (47.3764, 8.5476, 460.0)
#: rates of the trajectory contest [Hz]
IMU_HZ, GPS_HZ = 100.0, 10.0
#: rate of the records for the Allan deviation [Hz]
RECORD_HZ = 400.0


def times_ns(seconds: float) -> list[int]:
    """Return the instants of the trajectory contest [ns], both ends included."""
    period = round(NS_PER_S / IMU_HZ)
    return [k * period for k in range(round(seconds * IMU_HZ) + 1)]


def record(count: int, axes: int) -> Any:
    """Return a record of white noise and a random walk, mean 0, shape (count, axes).

    Each column is contiguous.
    """
    rng = np.random.default_rng(7)
    columns = np.empty((axes, count))
    for column in columns:
        column[:] = rng.standard_normal(count)
        column += 1e-3 * np.cumsum(rng.standard_normal(count))
        column -= column.mean()
    return columns.T


def factors(count: int, taus: int) -> Any:
    """Return ``taus`` different averaging factors."""
    spaced, more = log_spaced(count, taus), taus
    while len(spaced) < taus and more < 4 * taus:
        more += 1
        spaced = log_spaced(count, more)
    return spaced[:taus] if len(spaced) < taus else spaced
