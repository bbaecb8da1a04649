"""From a trajectory to the samples of an IMU and a GNSS receiver, WGS-84, against pyins."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks import contest
from benchmarks.batch import compare, tell
from benchmarks.contest import Contender
from benchmarks.report import Broken, Report

OURS, PYINS = 'jaguar_sensors_ros', 'pyins'


@dataclass(frozen=True)
class Plan:
    """Simulated seconds, and turns."""

    seconds: float
    turns: int


PLANS = {'full': Plan(300.0, 9), 'quick': Plan(300.0, 3), 'tiny': Plan(3.0, 1)}


def measure(size: str) -> Report:
    """Measure simulated seconds per second."""
    plan, report = PLANS[size], Report('trajectory')
    targets = {OURS: 'ours:trajectory', PYINS: 'peers:pyins_trajectory'}
    found = contest.run(
        [
            Contender(f'trajectory, {name}', f'benchmarks.{target}', plan.seconds,
                      {'seconds': plan.seconds})
            for name, target in targets.items()
        ],
        plan.turns,
    )  # fmt: skip
    scores = {name.removeprefix('trajectory, '): score for name, score in found.items()}
    tell(report, scores, 1.0, 's/s')
    made = {n: (s.value['imu'], s.value['gps']) for n, s in scores.items() if not s.missing}
    if max(made.values())[0] - min(made.values())[0] > 1:
        raise Broken(f'the contenders made different numbers of samples: {made}')
    compare(report, 'pyins', scores[OURS], scores[PYINS])
    return report
