"""Many IMUs in one process on one core: the cost of each, and whether all samples come."""

from __future__ import annotations

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.report import Report
from benchmarks.rig import Phase, Rig, node_command

#: rate [Hz] of truth and samples
RATE = 200


@dataclass(frozen=True)
class Plan:
    """Numbers of IMUs; how often and how long [s] each is measured."""

    counts: tuple[int, ...]
    turns: int
    warm_s: float
    steady_s: float


PLANS = {
    'full': Plan((1, 2, 5, 10, 20, 50), 2, 1.0, 2.0),
    'quick': Plan((1, 50), 1, 0.5, 1.0),
    'tiny': Plan((1, 2), 1, 0.2, 0.3),
}


def suite_file(folder: Path, count: int) -> Path:
    """Write the file of a suite of so many IMUs."""
    sensors = [
        {'name': f'imu_{i}', 'type': 'imu', 'parameters': {'mount.position': [0.1 * i, 0.0, 0.0]}}
        for i in range(count)
    ]
    common = {'random_seed': 1, 'sample_rate_hz': float(RATE)}
    path = folder / f'suite_{count}.yaml'
    path.write_text(json.dumps({'sensors': sensors, 'common': common}))  # JSON is YAML
    return path


def phases_of(count: int, plan: Plan) -> list[Phase]:
    """Run a suite on one core, source and sink on the others."""
    first, *rest = sorted(os.sched_getaffinity(0))
    topics = [f'data:/imu_{i}/data' for i in range(count)]
    with (
        tempfile.TemporaryDirectory() as folder,
        Rig(f'suite_{count}', topics, {first}, set(rest) or {first}) as rig,
    ):
        path = suite_file(Path(folder), count)
        rig.launch(node_command('sensor_suite', '-p', f'suite_file:={path}'))
        return [rig.phase(RATE, plan.warm_s, plan.steady_s) for _ in range(plan.turns)]


def measure(size: str) -> Report:
    """Measure suites of growing size."""
    plan, report = PLANS[size], Report('suite')
    costs, curve = [], []
    for count in plan.counts:
        phases = phases_of(count, plan)
        name = f'{count} IMUs at {RATE} Hz'
        cost = report.row(f'{name}: CPU per sample', 'us', (p.cpu_us / count for p in phases))
        share = report.row(f'{name}: delivered', '%', (p.delivered for p in phases))
        costs.append(cost.median)
        curve.append((count, cost.median, share.median))
    report.series['sensors'] = curve
    report.judge('falls', largest_rise(costs), f'{costs[-1] / costs[0]:.2f} from first to last')
    if len(os.sched_getaffinity(0)) < 2:
        report.not_run('counts', 'source and sink need a second core')
    elif plan.counts[-1] != 50:
        report.not_run('counts', 'only with 50 IMUs')
    else:
        report.judge('counts', min(p.delivered for p in phases))
    return report


def largest_rise(costs: list[float]) -> float:
    """Return the largest ratio of a cost to one before it.

    >>> largest_rise([4.0, 2.0, 3.0, 1.0])
    1.5
    """
    pairs = ((b / a) for i, a in enumerate(costs) for b in costs[i + 1 :])
    return max(pairs, default=1.0)
