"""Time of the Global Positioning System.

GPS time counts seconds from 1980-01-06T00:00:00 UTC without leap seconds; it is told as a week
and a time of week (IS-GPS-200, section 3.3.4).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from jaguar_sensors_ros.types import NS_PER_S

#: 1980-01-06T00:00:00 UTC in Unix time [s]
GPS_EPOCH_S = 315_964_800
SECONDS_PER_WEEK = 604_800
#: GPS time ahead of UTC [s] since 2017-01-01 (IERS Bulletin C 52)
LEAP_SECONDS = 18

_EPOCH_NS = GPS_EPOCH_S * NS_PER_S
_WEEK_NS = SECONDS_PER_WEEK * NS_PER_S


def gps_time_ns(t_ns: int, leap_seconds: int = LEAP_SECONDS) -> int:
    """Return the nanoseconds since the GPS epoch of a stamp.

    A stamp of 1980-01-06 or later is UTC (Unix time): t - 315964800 s + leap seconds.  An
    earlier one is a simulated time that starts near 0 and is GPS time itself.

    >>> gps_time_ns(1_554_595_182 * 10**9) // 10**9 == 2048 * 604_800
    True
    >>> gps_time_ns(12_500_000_000)
    12500000000
    """
    if t_ns < _EPOCH_NS:
        return t_ns
    return t_ns - _EPOCH_NS + leap_seconds * NS_PER_S


def week_and_time(t_ns: int, leap_seconds: int = LEAP_SECONDS) -> tuple[int, float]:
    """Return the GPS week, counted without roll-over, and the time of week [s] of a stamp.

    Simulated time from 0 is week 0 with the stamp as time of week, then week 1 and so on; a
    negative stamp has no week and counts as 0.
    """
    week, rest_ns = divmod(max(0, gps_time_ns(t_ns, leap_seconds)), _WEEK_NS)
    return week, rest_ns / NS_PER_S


def weeks_and_times(
    t_ns: NDArray[np.int64], leap_seconds: int = LEAP_SECONDS
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return :func:`week_and_time` of an array of stamps.

    >>> weeks_and_times(np.array([-5, 12_500_000_000, 1_554_595_182 * 10**9]))
    (array([   0,    0, 2048]), array([ 0. , 12.5,  0. ]))
    """
    later = t_ns - _EPOCH_NS + leap_seconds * NS_PER_S
    weeks, rests_ns = np.divmod(np.maximum(0, np.where(t_ns < _EPOCH_NS, t_ns, later)), _WEEK_NS)
    return weeks, rests_ns / NS_PER_S
