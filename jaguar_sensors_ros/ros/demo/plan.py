"""What the demo runs: truth, parameters of the nodes, times of the fault."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jaguar_sensors_ros.catalogue import TRUTH
from jaguar_sensors_ros.component import build
from jaguar_sensors_ros.truth.bag import OdometryRecording
from jaguar_sensors_ros.truth.player import Source, load_source
from jaguar_sensors_ros.truth.player_settings import PlayerSettings
from jaguar_sensors_ros.types import NS_PER_S, JaguarError

TRUTH_TOPIC = '/ground_truth/odom'
#: what is recorded: message type, and whether the topic is latched
TOPICS: dict[str, tuple[str, bool]] = {
    TRUTH_TOPIC: ('nav_msgs/msg/Odometry', False),
    '/imu/data': ('sensor_msgs/msg/Imu', False),
    '/imu/error': ('jaguar_sensors_msgs/msg/ImuError', False),
    '/imu/state': ('jaguar_sensors_msgs/msg/SensorState', True),
    '/gps/fix': ('sensor_msgs/msg/NavSatFix', False),
    '/gps/vel': ('geometry_msgs/msg/TwistWithCovarianceStamped', False),
    '/gps/solution': ('jaguar_sensors_msgs/msg/GnssSolution', False),
    '/gps/error': ('jaguar_sensors_msgs/msg/GnssError', False),
    '/gps/state': ('jaguar_sensors_msgs/msg/SensorState', True),
}
#: the fault of the demo, as in InjectFailure.srv
FAULT: dict[str, Any] = {'mode': 'bias', 'magnitude': 0.01, 'target': 'gyro'}
#: the run that an endless one is laid out like [s]
_NOMINAL_S = 20.0
#: the shortest run in which a fault fits
SHORTEST_S = 2.0
#: readers of the truth that it waits for: both sensors and the demo itself
_READERS = 3
#: receivers by the largest size of the track that they suit [m], so that the fixes show
_RECEIVERS: tuple[tuple[float, dict[str, object]], ...] = (
    (20.0, {'fix_type': 'rtk_float', 'pos_std_dev': [0.1, 0.2]}),
    (200.0, {'fix_type': 'sbas', 'pos_std_dev': [1.0, 1.5]}),
    (math.inf, {'fix_type': 'single', 'pos_std_dev': [5.0, 5.0]}),
)


@dataclass(frozen=True)
class Plan:
    """A run of the demo.

    ``length_s`` is the time that the truth runs, None for a run without end.  ``imu``, ``gps``
    and ``truth`` are parameters of the nodes.
    """

    name: str
    output: Path
    length_s: float | None
    fault_on_s: float
    fault_off_s: float
    imu: dict[str, object]
    gps: dict[str, object]
    truth: dict[str, object]

    @property
    def picture(self) -> Path:
        """The file of the picture."""
        return self.output / 'demo.png'

    @property
    def bag(self) -> Path:
        """The folder of the bag."""
        return self.output / 'bag'


def make_plan(truth: str, duration_s: float, output: Path, seed: int) -> Plan:
    """Lay out a run.

    Parameters
    ----------
    truth : str
        Built-in trajectory, or the path of a trajectory file or bag.
    duration_s : float
        Longest time to run [s]; 0: to the end of a file, or without end.
    output : Path
        Folder for picture, bag and logs.
    seed : int
        Seed of the sensors.

    Raises
    ------
    JaguarError
        for a truth that is not known, a file that is refused, or a bad number.
    """
    if not (duration_s == 0.0 or SHORTEST_S <= duration_s < 1e9):
        raise JaguarError(
            f'--duration {duration_s:g}: must be 0 (until Ctrl-C) or at least {SHORTEST_S:g} s'
        )
    if not 0 <= seed < 2**63:
        raise JaguarError(f'--seed {seed}: must be a whole number from 0 to 2^63 - 1')
    if not truth:
        raise JaguarError(f'--truth is empty: must be one of {", ".join(TRUTH)}, or a file')
    check_replaceable(output / 'bag')
    source = load_source(build(PlayerSettings, {'trajectory': truth}), TRUTH)
    length_s = _length_s(source, duration_s)
    if length_s is not None and length_s < SHORTEST_S:
        raise JaguarError(f'{truth}: lasts {length_s:g} s, the demo needs {SHORTEST_S:g} s')
    laid_out_s = length_s or _NOMINAL_S
    receiver = _receiver(_size_m(source, laid_out_s))
    common: dict[str, object] = {'fidelity': 'realistic', 'random_seed': seed}
    return Plan(
        name=truth,
        output=output,
        length_s=length_s,
        fault_on_s=0.5 * laid_out_s,
        fault_off_s=0.75 * laid_out_s,
        imu={**common, 'grade': 'tactical', 'sample_rate_hz': 200.0},
        gps={**common, 'update_hz': 5.0, **receiver},
        truth={
            'trajectory': truth,
            'duration_s': length_s or 0.0,
            'wait_for_subscribers': _READERS,
        },
    )


def check_replaceable(bag: Path) -> None:
    """Raise JaguarError if there is something at ``bag`` that is not a bag."""
    if bag.exists() and not (bag / 'metadata.yaml').is_file():
        raise JaguarError(f'{bag}: exists and is no bag, so it is not replaced')


def reliable_truth() -> dict[str, object]:
    """Return the parameters that let a sensor lose no odometry on a busy machine."""
    prefix = f'qos_overrides.{TRUTH_TOPIC}.subscription'
    return {f'{prefix}.reliability': 'reliable', f'{prefix}.depth': 1000}


def _length_s(source: Source, duration_s: float) -> float | None:
    """Return how long the truth will run [s]."""
    if source.end_ns is None:
        return duration_s or None
    whole_s = (source.end_ns - source.start_ns) / NS_PER_S
    return min(duration_s, whole_s) if duration_s else whole_s


def _size_m(source: Source, length_s: float) -> float:
    """Return the diagonal of the box around the track [m]."""
    end_ns = source.start_ns + round(length_s * NS_PER_S)
    if isinstance(source, OdometryRecording):
        points = [row.position for row in source.rows if row.t_ns <= end_ns]
    else:
        step = (end_ns - source.start_ns) // 200
        points = [source.at(source.start_ns + i * step).p_n for i in range(200)]
    return math.dist(
        [min(p[i] for p in points) for i in range(3)],
        [max(p[i] for p in points) for i in range(3)],
    )


def _receiver(size_m: float) -> dict[str, object]:
    return next(dict(kind) for limit_m, kind in _RECEIVERS if size_m <= limit_m)
