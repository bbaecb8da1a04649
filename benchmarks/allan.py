"""The overlapping Allan deviation of hours of data against allantools: time and values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks import contest
from benchmarks.batch import compare, needs_numba, tell
from benchmarks.contest import Contender, Score
from benchmarks.data import RECORD_HZ
from benchmarks.report import Report

NUMBA, NUMPY, THEIRS = 'with numba', 'without numba', 'allantools'


@dataclass(frozen=True)
class Plan:
    """Length of the record [s], axes, averaging times, and turns."""

    seconds: float
    axes: int
    taus: int
    turns: int


PLANS = {
    'full': Plan(4 * 3600.0, 6, 48, 2),
    'quick': Plan(3600.0, 6, 48, 1),
    'tiny': Plan(10.0, 2, 8, 1),
}


def measure(size: str) -> Report:
    """Measure times and compare values."""
    plan, report = PLANS[size], Report('allan')
    count = round(plan.seconds * RECORD_HZ)
    arguments = {'count': count, 'axes': plan.axes, 'taus': plan.taus}
    entries = ((NUMBA, 'ours:allan', ()), (NUMPY, 'ours:allan', ('numba',)),
               (THEIRS, 'peers:allantools_adev', ()))  # fmt: skip
    found = contest.run(
        [
            Contender(f'allan, {name}', f'benchmarks.{target}', plan.seconds, arguments, without)
            for name, target, without in entries
        ],
        plan.turns,
        warm=False,
    )
    scores = {name.removeprefix('allan, '): score for name, score in found.items()}
    tell(report, scores, 1.0 / 3600.0, 'h/s')
    compare(report, 'numpy', scores[NUMPY], scores[THEIRS])
    compare(report, 'numba', scores[NUMBA], scores[THEIRS], needs_numba)
    if scores[THEIRS].missing:
        report.not_run('equal', scores[THEIRS].missing)
    else:
        report.judge('equal', max(_difference(scores[n], scores[THEIRS]) for n in (NUMBA, NUMPY)))
    return report


def _difference(ours: Score, theirs: Score) -> float:
    a, b = np.array(ours.value['adev']), np.array(theirs.value['adev'])
    return float(np.max(np.abs(a / b - 1.0)))
