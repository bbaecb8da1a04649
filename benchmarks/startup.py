"""How fast imu_node is there, what it imports, and whether its memory stays flat."""

from __future__ import annotations

import re
import statistics
import sys
from dataclasses import dataclass

from benchmarks.live import TOPICS, imu_command
from benchmarks.report import Report
from benchmarks.rig import Rig

#: what is not to be imported by a node
HEAVY = ('numba', 'scipy', 'matplotlib')
#: rate [Hz] of the measurement of the memory, low enough that nothing queues
_RATE = 1000
_IMPORT = re.compile(r'^import time:\s*\d+ \|\s*\d+ \|\s*(\w+)', re.MULTILINE)


@dataclass(frozen=True)
class Plan:
    """How many starts, and how long [s] the memory is watched after as long a warm-up."""

    starts: int
    warm_s: float
    watch_s: float


PLANS = {'full': Plan(5, 5.0, 20.0), 'quick': Plan(1, 1.0, 2.0), 'tiny': Plan(1, 0.2, 0.5)}


def heavy_imports(log: str) -> list[str]:
    """Return which of the heavy packages a log of ``python -X importtime`` names.

    >>> heavy_imports('import time:   12 |    34 |   scipy.signal')
    ['scipy']
    """
    imported = set(_IMPORT.findall(log))
    return [name for name in HEAVY if name in imported]


def measure(size: str) -> Report:
    """Measure the start."""
    plan, report = PLANS[size], Report('startup')
    with Rig('startup', TOPICS[:1], announce_s=0.1) as rig:
        starts = [rig.first_message_s(imu_command(200)) for _ in range(plan.starts)]
    report.row('imu_node: exec to first message', 's', starts)
    report.judge('first', statistics.median(starts))
    with Rig('startup_load', TOPICS, announce_s=0.1) as rig:
        rig.launch([sys.executable, '-X', 'importtime', *imu_command(_RATE)])
        phase = rig.phase(_RATE, plan.warm_s, plan.watch_s)
        heavy = heavy_imports(rig.subject.log_path.read_text(errors='replace'))
    before, after = phase.memory_mb
    report.judge('modules', len(heavy), ', '.join(heavy))
    report.row('imu_node: resident memory', 'MB', [after])
    growth = report.row('imu_node: growth of its memory', 'B/sample',
                        [(after - before) * 1e6 / phase.sent])  # fmt: skip
    report.judge('memory', after - before, f'{growth.median:.2g} B a sample, {phase.sent} samples')
    return report
