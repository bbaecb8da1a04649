"""Samples of any values, for tests of messages."""

from __future__ import annotations

import math

from jaguar_sensors_ros.sensors.imu import ImuCovariances
from jaguar_sensors_ros.types import (
    BaroSample,
    ChannelError,
    FaultLabel,
    FixType,
    GpsSample,
    ImuSample,
    ImuSubSample,
    MagSample,
)

SPECIAL = (0.0, -0.0, 1e308, -5e-324, math.pi, math.inf, -math.inf, 0.1)


def numbers(chance, count):
    return tuple(
        chance.choice(SPECIAL) if chance.random() < 0.2 else chance.uniform(-1e3, 1e3)
        for _ in range(count)
    )


def channel(chance):
    return ChannelError(*(numbers(chance, 3) for _ in range(4)))


def labels(chance, count):
    modes = ('bias', 'a mode with a long name', 'é')
    return tuple(FaultLabel(modes[i % 3], 'gyro', chance.random()) for i in range(count))


def imu_sample(chance, parts=1, faults=0, oriented=True):
    frame = tuple(
        ImuSubSample(numbers(chance, 3), numbers(chance, 3), chance.random())
        for _ in range(parts)
    )
    return ImuSample(
        chance.randrange(2**31 * 10**9), 5, numbers(chance, 3), numbers(chance, 3),
        numbers(chance, 4) if oriented else None, frame, channel(chance), channel(chance),
        numbers(chance, 3), chance.uniform(-50, 80), labels(chance, faults),
    )


def gps_sample(chance, fix_type=FixType.SINGLE, faults=0):
    place = numbers(chance, 3) if fix_type is not FixType.NONE else (math.nan,) * 3
    axes = tuple(numbers(chance, 3) for _ in range(3))
    w = chance.uniform(-1, 1)
    return GpsSample(
        chance.randrange(2**31 * 10**9), 5, fix_type, chance.randrange(65536), *place,
        numbers(chance, 3), numbers(chance, 3), numbers(chance, 3), numbers(chance, 3),
        tuple(chance.random() for _ in range(9)), tuple(chance.random() for _ in range(9)),
        axes, (w, 0.0, math.sqrt(1.0 - w * w), 0.0), *numbers(chance, 3),
        channel(chance), channel(chance), labels(chance, faults), chance.randrange(65536),
        chance.random() * 604800.0,
    )


def covariances(chance, oriented=True):
    three = [tuple(chance.random() for _ in range(9)) for _ in range(3)]
    return ImuCovariances(three[0] if oriented else None, three[1], three[2])


COVARIANCE = tuple(float(i) for i in range(9))


def mag_sample(chance):
    return MagSample(
        chance.randrange(2**31 * 10**9), 5, numbers(chance, 3), COVARIANCE, channel(chance)
    )


def baro_sample(chance):
    return BaroSample(chance.randrange(2**31 * 10**9), 5, *numbers(chance, 6))
