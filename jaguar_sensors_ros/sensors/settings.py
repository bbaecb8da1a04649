"""Parameters that every sensor has."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, cast

from jaguar_sensors_ros.component import AUTO, ParameterError, group, parameter, vector
from jaguar_sensors_ros.faults.base import NONE, FaultRequest
from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.nav.kinematics import Environment
from jaguar_sensors_ros.sensors.clock import ClockSettings
from jaguar_sensors_ros.sensors.exposure import LimitSettings
from jaguar_sensors_ros.types import Fidelity, Vec3

#: shortest mean time between failures [h]
LEAST_MTBF_H = 1e-6


@dataclass(frozen=True)
class MountSettings:
    """Where the sensor sits on the body."""

    position: Vec3 = vector(0.0, 'Position of the sensor in the body frame (lever arm).', unit='m')
    rpy: Vec3 = vector(
        0.0,
        'Roll, pitch, yaw about fixed axes that turn the body frame into the sensor frame '
        '(REP-103).',
        unit='rad',
    )
    source: str = parameter(
        'parameters',
        'Where the mount comes from: these parameters, or the static tf between the body frame '
        'of the odometry and frame_id.',
        kind='string',
        choices=('parameters', 'tf'),
    )


@dataclass(frozen=True)
class TruthSettings:
    """How the ground truth is read."""

    authority: str = parameter(
        'twist',
        'What counts between two messages: the twist, or the pose alone (velocity and rate are '
        'derived then, one message later).',
        kind='string',
        choices=('twist', 'pose'),
    )
    twist_frame: str = parameter(
        'child',
        'Frame in which the twist of the odometry is given: child_frame_id as nav_msgs says, or '
        'the parent (world) frame as many simulators do.',
        kind='string',
        choices=('child', 'parent'),
    )
    acceleration: str = parameter(
        'derive',
        'Derive the acceleration from the twist, or take it from the topic ground_truth/accel.',
        kind='string',
        choices=('derive', 'topic'),
    )
    frame: str = parameter(
        'enu',
        'World and body frame of the odometry: enu (body FLU), ned (body FRD), ecef (body FLU), '
        'or lic (launch inertial, body forward-up-right).',
        kind='string',
        choices=('enu', 'ned', 'ecef', 'lic'),
    )
    max_gap_s: float = parameter(
        0.5, 'A longer pause between two messages is not bridged.', unit='s', above=0.0
    )
    source: str = parameter(
        'odometry',
        "odometry: the topic ground_truth/odom; static: at rest at the origin, on the node's "
        'clock, no topic needed.',
        kind='string',
        choices=('odometry', 'static'),
    )
    lic_epoch_s: float | str = parameter(
        AUTO,
        'Truth time at which the launch-inertial frame is frozen; auto: the first message.',
        unit='s',
        auto=True,
    )


@dataclass(frozen=True)
class EarthSettings:
    """The Earth as the sensor feels it."""

    rotation: bool | str = parameter(
        AUTO,
        'Sense the rotation of the Earth; auto: on for the grades navigation and strategic.',
        kind='boolean',
        auto=True,
    )
    gravity: str = parameter(
        'constant',
        'constant: 9.80665 m/s2 along -z of the origin; wgs84: normal gravity at the position.',
        kind='string',
        choices=('constant', 'wgs84'),
    )


@dataclass(frozen=True)
class FailureSettings:
    """One failure given by parameters, active in fidelity fault; fields as InjectFailure."""

    mode: str = parameter('none', 'Failure mode; none: no failure.', kind='string')
    magnitude: float = parameter(0.0, 'Magnitude; 0: the default of the mode, if it has one.')
    target: str = parameter('', 'Channel that fails; empty: as the mode says.', kind='string')
    axis: str = parameter('', 'Axes that fail; empty: all.', kind='string')
    delay: float = parameter(0.0, 'Time from arming to onset.', unit='s', minimum=0.0)
    duration: float = parameter(0.0, 'Time it lasts; 0: until cleared.', unit='s', minimum=0.0)
    ramp: float = parameter(0.0, 'Time until the full magnitude.', unit='s', minimum=0.0)
    repeat: int = parameter(0, 'Further occurrences after the first.', kind='integer', minimum=0)
    period: float = parameter(
        0.0, 'Time between the onsets of two occurrences.', unit='s', minimum=0.0
    )
    mtbf_hours: float = parameter(
        0.0,
        'Mean time between failures: the failure (total where mode is none) comes after '
        'exponentially distributed times, the first counted from power-on, the next from the end '
        'of the one before (duration). 0: not at random, else at least 1e-6.',
        unit='h',
        minimum=0.0,
        source='document 000',
    )
    timeline: str = parameter(
        '',
        'File of failures and their times since power-on (docs/faults.md); those for this sensor '
        'act in fidelity fault.',
        kind='string',
    )
    probability: float = parameter(
        1.0,
        'Probability that the failure is present at all; drawn once at each power-on.',
        minimum=0.0,
        maximum=1.0,
    )
    allow_injection: bool = parameter(
        True, 'Whether the services may inject and clear failures.', kind='boolean'
    )

    def __post_init__(self) -> None:
        if 0.0 < self.mtbf_hours < LEAST_MTBF_H:
            raise ParameterError(
                'mtbf_hours', self.mtbf_hours, f'must be 0, or at least {LEAST_MTBF_H:g} h'
            )

    def request(self) -> FaultRequest | None:
        """Return the failure, or None where there is none; one at random is total by default."""
        mode = self.mode
        if mode == NONE:
            if self.mtbf_hours == 0.0:
                return None
            mode = 'total'
        return FaultRequest(
            mode,
            self.magnitude,
            self.target,
            self.axis,
            self.delay,
            self.duration,
            self.ramp,
            self.repeat,
            self.period,
        )


@dataclass(frozen=True)
class SensorSettings:
    """What all sensors have in common."""

    #: name of a parameter that sets others, and what each of its values sets; empty: none does
    preset: ClassVar[tuple[str, Mapping[str, Mapping[str, object]]]] = ('', {})

    fidelity: str = parameter(
        'realistic',
        'transparent: ideal readings; realistic: all error models; fault: realistic plus the '
        'failure given by failure.*.',
        kind='string',
        choices=tuple(level.value for level in Fidelity),
    )
    random_seed: int = parameter(
        -1, 'Seed of all random numbers; -1 draws one and logs it.', kind='integer', minimum=-1
    )
    latency_s: float = parameter(
        0.0, 'Samples are published at stamp + latency.', unit='s', minimum=0.0
    )
    frame_prefix: str = parameter(
        '', 'Put before every frame name, verbatim.', kind='string'
    )
    enabled: bool = parameter(True, 'Whether the sensor gives output.', kind='boolean')
    publish_mount_tf: bool = parameter(
        False, 'Publish the mount as a static tf from the body frame.', kind='boolean'
    )
    warm_up_s: float = parameter(
        0.0, 'Time after power-on without output (Initializing).', unit='s', minimum=0.0
    )
    temperature_c: float = parameter(
        25.0,
        'Temperature of the sensor; the temperature terms are zero at 25.',
        unit='degC',
        minimum=-100.0,
        maximum=200.0,
        source='document 000',
    )
    temperature_slew_c_per_s: float = parameter(
        0.0,
        'How fast the sensor follows a change of temperature_c; 0: at once.',
        unit='degC/s',
        minimum=0.0,
    )
    origin: tuple[float, ...] = parameter(
        (47.3764, 8.5476, 460.0),
        'Latitude [deg], longitude [deg] and ellipsoidal height [m] of the origin of the local '
        'frame.',
        kind='vector',
        sizes=(3,),
    )
    origin_heading: float = parameter(
        0.0,
        'Angle from east (ned: from north) to the x axis of the world frame of the truth, '
        'counter-clockwise seen from above; for launch-inertial truth the launch azimuth, '
        'clockwise from north; not used for ecef.',
        unit='rad',
    )
    mount: MountSettings = group(MountSettings)
    truth: TruthSettings = group(TruthSettings)
    earth: EarthSettings = group(EarthSettings)
    clock: ClockSettings = group(ClockSettings)
    failure: FailureSettings = group(FailureSettings)
    environment: LimitSettings = group(LimitSettings)

    def __post_init__(self) -> None:
        latitude, longitude, height = self.origin
        if abs(latitude) > 90.0 or abs(longitude) > 180.0 or abs(height) > 1e7:
            raise ParameterError(
                'origin',
                self.origin,
                'must be latitude -90 to 90 deg, longitude -180 to 180 deg, height within 1e7 m',
            )

    @classmethod
    def completed(cls, explicit: Mapping[str, object]) -> dict[str, object]:
        """Return explicit parameter values completed by those that the preset sets."""
        name, sets = cls.preset
        return {**sets.get(str(explicit.get(name)), {}), **explicit}

    @cached_property
    def level(self) -> Fidelity:
        """The fidelity as a value of its own."""
        return Fidelity(self.fidelity)

    @cached_property
    def local_frame(self) -> LocalFrame:
        """The frame n at the origin."""
        return LocalFrame(self.origin[0], self.origin[1], self.origin[2], self.origin_heading)

    @cached_property
    def felt_earth(self) -> Environment:
        """The Earth as the sensor feels it."""
        rotation = self.earth.rotation
        sensed = self._senses_rotation() if rotation == AUTO else cast(bool, rotation)
        return Environment(self.local_frame, sensed, self.earth.gravity)

    def _senses_rotation(self) -> bool:
        return False
