"""Parameters of ``scenario_node`` and of the sensors it plays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from jaguar_sensors_ros.component import AUTO, ParameterError, nearest, parameter
from jaguar_sensors_ros.scenario.fields import SENSORS
from jaguar_sensors_ros.sensors.clock import ClockSettings
from jaguar_sensors_ros.sensors.exposure import LimitSettings
from jaguar_sensors_ros.sensors.gps_settings import FIX_ACCURACY
from jaguar_sensors_ros.sensors.imu_settings import GRADES
from jaguar_sensors_ros.sensors.settings import (
    EarthSettings,
    MountSettings,
    SensorSettings,
    TruthSettings,
)
from jaguar_sensors_ros.types import Fidelity


@dataclass(frozen=True)
class ScenarioSettings:
    """Parameters of the node ``scenario``; those of each sensor are on its own node."""

    scenario_file: str = parameter(
        '',
        'Scenario file for all sensors; a sensor whose own parameter file is set takes that. '
        'Empty: the sensors say what they would at rest.',
        kind='string',
    )
    sensors: str = parameter(
        AUTO,
        'Sensors to simulate, with commas between: imu_sim, gps_sim, baro_sim, mag_sim. auto: '
        'those that the file names in its first checked_lines rows, all where there is no file.',
        kind='string',
    )
    loop: str = parameter(
        'restart',
        'What comes at the end of a file: restart (it starts again as if just initialised; '
        'stamps and integrals go on) or stop (nothing more is published).',
        kind='string',
        choices=('restart', 'stop'),
    )
    start: str = parameter(
        'now',
        "Stamp of timestamp 0: now (the time of the node's clock at the start) or zero.",
        kind='string',
        choices=('now', 'zero'),
    )
    real_time_factor: float = parameter(
        1.0, "Scenario seconds in a second of the node's clock.", above=0.0, maximum=1e6
    )
    queue_size: int = parameter(
        1000,
        'Most messages of a sensor that are read ahead.',
        kind='integer',
        minimum=1,
        maximum=1_000_000,
    )
    checked_lines: int = parameter(
        20_000,
        'Rows of a file that are checked before the start; what is wrong further on is reported '
        'when it comes. 0: all.',
        kind='integer',
        minimum=0,
    )
    mark_simulated: bool = parameter(
        False, 'Put _sim behind the frame name of every message.', kind='boolean'
    )

    def __post_init__(self) -> None:
        if self.sensors != AUTO:
            self.named()

    def named(self) -> list[str]:
        """Return the sensors that are named.

        Raises
        ------
        ParameterError
            for a name that is unknown or there twice, or if there is none.
        """
        names = [name.strip() for name in self.sensors.split(',')]
        for i, name in enumerate(names):
            if name not in SENSORS:
                allowed = f'must be of {", ".join(SENSORS)}; {nearest(name, SENSORS)}'
                raise ParameterError('sensors', self.sensors, f'{name!r}: {allowed}')
            if name in names[:i]:
                raise ParameterError('sensors', self.sensors, f'{name} is there twice')
        return names


def _rate(default: float) -> Any:
    return parameter(
        default,
        'Rate of the values between smooth rows, and of those at rest where there is no file; '
        'read at start only.',
        unit='Hz',
        above=0.0,
        maximum=10_000.0,
    )


@dataclass(frozen=True)
class PlayedSettings(SensorSettings):
    """What all played sensors have in common.

    They have no truth, mount or environment: what they measured is in the file.
    """

    fidelity: str = parameter(
        'realistic',
        'transparent: what was measured; realistic: the errors that are asked for on top, none by '
        'default; fault: these and the failure given by failure.*.',
        kind='string',
        choices=tuple(level.value for level in Fidelity),
    )
    file: str = parameter(
        '',
        'Scenario file of this sensor; empty: scenario_file. Read at start only.',
        kind='string',
    )
    rate_hz: float = _rate(10.0)
    # no parameters here
    latency_s: float = field(default=0.0)
    publish_mount_tf: bool = field(default=False)
    temperature_c: float = field(default=25.0)
    temperature_slew_c_per_s: float = field(default=0.0)
    origin: tuple[float, ...] = field(default=(47.3764, 8.5476, 460.0))
    origin_heading: float = field(default=0.0)
    mount: MountSettings = field(default=MountSettings())
    truth: TruthSettings = field(default=TruthSettings())
    earth: EarthSettings = field(default=EarthSettings())
    clock: ClockSettings = field(default=ClockSettings())
    environment: LimitSettings = field(default=LimitSettings())


def _errors(grades: tuple[str, ...], doc: str) -> Any:
    return parameter('none', doc, kind='string', choices=('none', *grades))


def _std(doc: str, unit: str) -> Any:
    return parameter(0.0, f'Standard deviation of {doc}', unit=unit, minimum=0.0)


def _topic(default: str) -> Any:
    return parameter(default, 'Topic of the messages; read at start only.', kind='string')


def _frame(default: str) -> Any:
    return parameter(default, 'Frame of the messages.', kind='string')


@dataclass(frozen=True)
class ImuPlayedSettings(PlayedSettings):
    """Parameters of the played IMU."""

    frame_id: str = _frame('imu_link')
    rate_hz: float = _rate(100.0)
    errors: str = _errors(
        tuple(name for name in GRADES if name != 'custom'),
        'Errors on top of what was measured: those of a grade of the IMU, without its bandwidth.',
    )


@dataclass(frozen=True)
class GpsPlayedSettings(PlayedSettings):
    """Parameters of the played GNSS receiver."""

    frame_id: str = _frame('gps_link')
    vel_frame_id: str = _frame('map')
    errors: str = _errors(
        ('single', *FIX_ACCURACY),
        'Errors on top of what was measured: those of a kind of fix, without multipath.',
    )


@dataclass(frozen=True)
class BaroPlayedSettings(PlayedSettings):
    """Parameters of the played barometer."""

    frame_id: str = _frame('baro_link')
    topic: str = _topic('~/pressure')
    white_noise_std: float = _std('white noise on each value.', 'Pa')
    turn_on_bias_std: float = _std('the bias drawn at each power-on.', 'Pa')
    bias_instability: float = _std('a Gauss-Markov process.', 'Pa')
    tau_bias_s: float = parameter(
        3600.0, 'Correlation time of the Gauss-Markov process.', unit='s', above=0.0
    )


@dataclass(frozen=True)
class MagPlayedSettings(PlayedSettings):
    """Parameters of the played magnetometer."""

    frame_id: str = _frame('imu_link')
    topic: str = _topic('imu/mag')
    white_noise_std: float = _std('white noise on each axis.', 'T')
    turn_on_bias_std: float = _std('the bias of each axis drawn at each power-on.', 'T')
    bias_instability: float = _std('a Gauss-Markov process on each axis.', 'T')
    tau_bias_s: float = parameter(
        3600.0, 'Correlation time of the Gauss-Markov process.', unit='s', above=0.0
    )


#: settings of the played sensors by the name of the node
PLAYED: dict[str, type[PlayedSettings]] = {
    'imu': ImuPlayedSettings,
    'gps': GpsPlayedSettings,
    'baro': BaroPlayedSettings,
    'mag': MagPlayedSettings,
}
