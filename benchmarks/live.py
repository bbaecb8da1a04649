"""The live path: imu_node against a bare relay that publishes as many topics.

Both run at once, each in a ROS domain of its own, and are fed in turns.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from benchmarks import wire
from benchmarks.process import python
from benchmarks.report import Report, median_ratio
from benchmarks.rig import Phase, Rig, node_command

#: rates [Hz] of truth and samples
RATE, FAST = 1000, 4000
TOPICS = [f'{topic}:/imu/{topic}' for topic in wire.TOPICS]


@dataclass(frozen=True)
class Plan:
    """How often and how long [s].

    ``others`` are subjects at :data:`RATE` that no bar needs, measured every fourth time.
    """

    turns: int
    warm_s: float
    steady_s: float
    others: tuple[str, ...] = ()


_BARE_FAST, _FAST = f'bare, {FAST} Hz', f'imu_node, {FAST} Hz'
PLANS = {
    'full': Plan(12, 0.3, 1.5, ('bare, 1 topic', 'events', 'plain')),
    'quick': Plan(2, 0.3, 1.0),
    'tiny': Plan(1, 0.1, 0.3),
}


def imu_command(rate: int) -> list[str]:
    """Return the command line of imu_node at a rate, realistic and tactical as by default."""
    given = {'sample_rate_hz': float(rate), 'fidelity': 'realistic', 'grade': 'tactical',
             'random_seed': 1}  # fmt: skip
    return node_command('imu_node', *(w for n, v in given.items() for w in ('-p', f'{n}:={v}')))


def relay_command(kind: str, *topics: str) -> list[str]:
    """Return the command line of a relay; see :mod:`benchmarks.relay`."""
    return python('benchmarks.relay', kind, *(topics or wire.TOPICS))


def _rigs(stack: ExitStack, plan: Plan) -> dict[str, tuple[Rig, int]]:
    commands = {
        'bare': relay_command('bare'),
        'bare, 1 topic': relay_command('bare', 'data'),
        'events': relay_command('events'),
        'plain': relay_command('plain'),
        'imu_node': imu_command(RATE),
        _FAST: imu_command(FAST),
    }
    rigs = {}
    for kind in ('bare', 'imu_node', _FAST, *plan.others):
        topics = TOPICS[:1] if '1 topic' in kind else TOPICS
        rig = stack.enter_context(Rig(f'live_{kind.replace(", ", "_").replace(" ", "_")}', topics))
        rigs[kind] = (rig.begin(commands[kind]), FAST if 'Hz' in kind else RATE)
    for rig, _ in rigs.values():
        rig.until_flowing()
    rigs[_BARE_FAST] = (rigs['bare'][0], FAST)
    return rigs


def measure(size: str) -> Report:
    """Measure the live path."""
    plan, report = PLANS[size], Report('live')
    phases: dict[str, list[Phase]] = {}
    with ExitStack() as stack:
        rigs = _rigs(stack, plan)
        for turn in range(plan.turns):
            for kind in list(rigs)[:: 1 if turn % 2 else -1]:
                if kind in plan.others and turn % 4:
                    continue
                rig, rate = rigs[kind]
                phase = rig.phase(rate, plan.warm_s, plan.steady_s)
                phases.setdefault(kind, []).append(phase)
    for kind in rigs:
        _tell(report, kind, phases[kind])
    ours, floor = phases['imu_node'], phases['bare']
    cpu = median_ratio([p.cpu_us for p in ours], [p.cpu_us for p in floor])
    late = median_ratio([p.latency(99) for p in ours], [p.latency(99) for p in floor])
    report.judge('cpu', cpu)
    report.judge('latency', late)
    fast = sorted(p.delivered for p in phases[_FAST])
    report.judge('delivered', fast[len(fast) // 2])
    return report


def _tell(report: Report, kind: str, phases: list[Phase]) -> None:
    name = kind if 'Hz' in kind else f'{kind}, {RATE} Hz'
    report.row(f'{name}: CPU per message in', 'us', (p.cpu_us for p in phases))
    report.row(f'{name}: latency p50', 'ms', (p.latency(50) for p in phases))
    report.row(f'{name}: latency p99', 'ms', (p.latency(99) for p in phases))
    report.row(f'{name}: delivered', '%', (p.delivered for p in phases))
    report.row(f'{name}: sink busy', '%', (p.sink_busy for p in phases))
