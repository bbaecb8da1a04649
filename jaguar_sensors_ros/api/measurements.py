"""What the sensors hand out."""

from __future__ import annotations

import math
from dataclasses import dataclass

from jaguar_sensors_ros.redundancy.reading import Reading
from jaguar_sensors_ros.types import (
    FixType,
    GpsSample,
    ImuSample,
    Quat,
    SensorState,
    Vec3,
)

NAN3: Vec3 = (math.nan, math.nan, math.nan)
_UNKNOWN = (math.nan,) * 9


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """What all measurements have in common.

    Parameters
    ----------
    timestamp_ns : int
        Time of the measurement [ns] on the clock of the sensor.
    valid : bool
        False in the states Off, Initializing and Failed, and without a fix.
    confidence : float
        0 unless valid, else min(1, sigma nominal / sigma now) x (1 - probability of a loss).
    state : SensorState
        State of the sensor.
    """

    timestamp_ns: int
    valid: bool = False
    confidence: float = 0.0
    state: SensorState = SensorState.OFF


@dataclass(frozen=True, slots=True, kw_only=True)
class ImuMeasurement(Measurement):
    """A sample of an IMU, in the axes of the sensor; NaN before there was one.

    Parameters
    ----------
    specific_force : Vec3
        [m/s2], mean over the sample interval unless ``rate_output`` is instant.
    angular_velocity : Vec3
        [rad/s], likewise.
    orientation : Quat or None
        Quaternion w, x, y, z from the sensor's axes to east, north, up, at the stamp; None
        where the true one was not given or ``orientation.output`` is none.
    temperature_c : float
        Temperature of the sensor [degC].
    sample : ImuSample or None
        All that the sensor made of it: increments, errors by their kind, faults.
    reading : Reading or None
        The same with covariances and place, for :func:`fuse_imu_measurements`.
    """

    specific_force: Vec3 = NAN3
    angular_velocity: Vec3 = NAN3
    orientation: Quat | None = None
    temperature_c: float = math.nan
    sample: ImuSample | None = None
    reading: Reading | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GpsMeasurement(Measurement):
    """A fix of a GNSS receiver, at its antenna; NaN without a fix and before the first.

    Parameters
    ----------
    position : Vec3
        East, north, up from the origin, in the tangent plane there [m].
    velocity : Vec3
        Over the Earth, along the same axes [m/s].
    latitude_deg, longitude_deg, height_m : float
        The position in geodetic coordinates (WGS-84, ellipsoidal height).
    fix_type : FixType
        Kind of the fix.
    satellites : int
        How many are used.
    position_covariance, velocity_covariance : tuple of 9 floats
        Row by row along east, north, up at the antenna [m2], [(m/s)2].
    sample : GpsSample or None
        All that the sensor made of it: ECEF, DOPs, GPS time, errors by their kind, faults.
    """

    position: Vec3 = NAN3
    velocity: Vec3 = NAN3
    latitude_deg: float = math.nan
    longitude_deg: float = math.nan
    height_m: float = math.nan
    fix_type: FixType = FixType.NONE
    satellites: int = 0
    position_covariance: tuple[float, ...] = _UNKNOWN
    velocity_covariance: tuple[float, ...] = _UNKNOWN
    sample: GpsSample | None = None
