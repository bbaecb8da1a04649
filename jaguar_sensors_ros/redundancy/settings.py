"""Parameters of a voter."""

from __future__ import annotations

from dataclasses import dataclass

from jaguar_sensors_ros.component import group, parameter, vector
from jaguar_sensors_ros.types import Vec3

METHODS = ('weighted', 'median')


@dataclass(frozen=True)
class AllowanceSettings:
    """Disagreement that is no failure and that nothing else accounts for."""

    gyro: float = parameter(
        0.0, 'One sigma of such a difference of the angular rates.', unit='rad/s', minimum=0.0
    )
    accel: float = parameter(
        0.0, 'One sigma of such a difference of the specific forces.', unit='m/s2', minimum=0.0
    )


@dataclass(frozen=True)
class PlaceSettings:
    """Where on the body the fused output stands."""

    position: Vec3 = vector(0.0, 'Position of the fused output in the body frame.', unit='m')
    rpy: Vec3 = vector(
        0.0,
        'Roll, pitch, yaw about fixed axes that turn the body frame into that of the fused '
        'output.',
        unit='rad',
    )


@dataclass(frozen=True)
class VotingSettings:
    """How redundant IMUs become one."""

    method: str = parameter(
        'weighted',
        'weighted: mean with the weights 1 / variance of the inputs that agree; median: of each '
        'axis, of all inputs.',
        kind='string',
        choices=METHODS,
    )
    min_inputs: int = parameter(
        2, 'Fewer inputs than this give no output.', kind='integer', minimum=1
    )
    false_alarm: float = parameter(
        1e-6,
        'Bound of the probability that at a sample any input is left out without a failure.',
        above=0.0,
        maximum=0.1,
    )
    readmit_after: int = parameter(
        100,
        'An input that was left out comes back after so many samples in agreement.',
        kind='integer',
        minimum=0,
    )
    allowance: AllowanceSettings = group(AllowanceSettings)
    mount: PlaceSettings = group(PlaceSettings)


@dataclass(frozen=True)
class FusedSettings(VotingSettings):
    """What a fused output of a suite has besides."""

    frame_id: str = parameter(
        'base_link', 'Frame of the fused output, at mount.position and mount.rpy.', kind='string'
    )
    frame_prefix: str = parameter('', 'Put before the frame name, verbatim.', kind='string')
