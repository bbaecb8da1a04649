"""Redundant IMUs into one measurement."""

from __future__ import annotations

from collections.abc import Sequence

from jaguar_sensors_ros.api.measurements import ImuMeasurement
from jaguar_sensors_ros.redundancy import voting
from jaguar_sensors_ros.redundancy.settings import VotingSettings
from jaguar_sensors_ros.types import JaguarError, SensorState


def fuse_imu_measurements(
    measurements: Sequence[ImuMeasurement],
    before: ImuMeasurement | None = None,
    settings: VotingSettings | None = None,
) -> ImuMeasurement:
    """Return one measurement made of those of several IMUs at one stamp.

    They are brought to one place on the body and into its axes; what disagrees is left out; see
    :mod:`jaguar_sensors_ros.redundancy.voting`.

    Parameters
    ----------
    measurements : sequence of ImuMeasurement
        Of one stamp, from :class:`ImuSensor`.
    before : ImuMeasurement, optional
        What this function returned one sample earlier.  Sensors with lever arms need it: from
        both comes the angular acceleration.
    settings : VotingSettings, optional
        Method, place and limits; weighted at the origin of the body unless given.

    Returns
    -------
    ImuMeasurement
        Its ``reading`` has the covariances; there is no temperature and no sample.

    Raises
    ------
    JaguarError
        if there is none, one is not of an IMU, the stamps differ, or too few agree.
    """
    if not all(isinstance(measurement, ImuMeasurement) for measurement in measurements):
        raise JaguarError('only measurements of IMUs can be fused')
    readings = [measurement.reading for measurement in measurements]
    present = [reading for reading in readings if reading is not None]
    if len(present) < len(readings):
        raise JaguarError('a measurement without a reading cannot be fused')
    fused = voting.fuse(present, before.reading if before else None, settings)
    return ImuMeasurement(
        timestamp_ns=fused.t_ns,
        valid=True,
        confidence=min(measurement.confidence for measurement in measurements),
        state=SensorState.READY,
        specific_force=fused.specific_force,
        angular_velocity=fused.angular_velocity,
        orientation=fused.orientation,
        reading=fused,
    )
