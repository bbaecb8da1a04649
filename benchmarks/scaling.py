"""Cost against rate, and a suite far beyond a core's worth of sensors; it has no bars."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks import suite
from benchmarks.live import TOPICS, imu_command, relay_command
from benchmarks.report import Report
from benchmarks.rig import Rig, Silent


@dataclass(frozen=True)
class Plan:
    """Rates [Hz], numbers of IMUs, and how long [s] each is measured."""

    rates: tuple[int, ...]
    counts: tuple[int, ...]
    warm_s: float
    steady_s: float


PLANS = {
    'full': Plan((100, 200, 500, 1000, 2000, 4000, 8000), (100,), 0.5, 1.5),
    'quick': Plan((200,), (), 0.3, 1.0),
    'tiny': Plan((100, 200), (), 0.1, 0.3),
}


def measure(size: str) -> Report:
    """Measure imu_node and the bare relay from rate to rate."""
    plan, report = PLANS[size], Report('scaling')
    curve = []
    with Rig('scaling_bare', TOPICS) as floor, Rig('scaling_imu_node', TOPICS) as ours:
        floor.launch(relay_command('bare'))
        for rate in plan.rates:
            ours.launch(imu_command(rate))
            try:
                a = ours.phase(rate, plan.warm_s, plan.steady_s)
                b = floor.phase(rate, plan.warm_s, plan.steady_s)
            except Silent:
                report.row(f'imu_node, {rate} Hz: delivered', '%', [0.0])
                continue
            report.row(f'imu_node, {rate} Hz: CPU per sample', 'us', [a.cpu_us])
            report.row(f'bare, {rate} Hz: CPU per message', 'us', [b.cpu_us])
            report.row(f'imu_node, {rate} Hz: delivered', '%', [a.delivered])
            curve.append((rate, a.cpu_us, b.cpu_us, a.delivered))
    report.series['rate'] = curve
    for count in plan.counts:
        (phase,) = suite.phases_of(count, suite.Plan((count,), 1, plan.warm_s, plan.steady_s))
        name = f'{count} IMUs at {suite.RATE} Hz on one core'
        report.row(f'{name}: CPU per sample', 'us', [phase.cpu_us / count])
        report.row(f'{name}: delivered', '%', [phase.delivered])
        report.series['many'] = [(count, phase.cpu_us / count, phase.delivered)]
    return report
