"""A static record of six axes with the whole chain of errors, against peers and the normals.

NumPy alone means that neither numba nor scipy can be imported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks import contest
from benchmarks.contest import Contender, Score
from benchmarks.report import Report, median_ratio

NUMBA, NUMPY, FLOOR, PYINS = 'with numba', 'NumPy alone', 'normals alone', 'pyins'


@dataclass(frozen=True)
class Plan:
    """Samples of a record, turns, and samples of the records whose memory is compared."""

    count: int
    turns: int
    lengths: tuple[int, int]


PLANS = {
    'full': Plan(1_000_000, 25, (1_000_000, 4_000_000)),
    'quick': Plan(1_000_000, 3, (300_000, 1_000_000)),
    'tiny': Plan(2000, 1, (2000, 8000)),
}


def contenders(count: int) -> list[Contender]:
    """Return who takes part; the slow ones make fewer samples."""

    def entry(name: str, target: str, share: int, *without: str) -> Contender:
        amount = max(100, count // share)
        return Contender(f'batch, {name}', f'benchmarks.{target}', amount, {'count': amount},
                         without)  # fmt: skip

    return [
        entry(NUMBA, 'ours:static', 1),
        entry(NUMPY, 'ours:static', 1, 'numba', 'scipy'),
        entry(FLOOR, 'floors:normals', 1),
        entry(PYINS, 'peers:pyins_static', 1),
        entry('bsk', 'peers:basilisk_static', 4),
        entry('smsfusion', 'peers:smsfusion_static', 40),
        entry('imu-error-model', 'peers:imu_error_model_static', 400),
    ]


def measure(size: str) -> Report:
    """Measure static records."""
    plan, report = PLANS[size], Report('batch')
    found = contest.run(contenders(plan.count), plan.turns)
    scores = {name.removeprefix('batch, '): score for name, score in found.items()}
    tell(report, scores, 1e-6, 'Msamples/s')
    compare(report, 'numpy', scores[NUMPY], scores[PYINS])
    compare(report, 'floor', scores[NUMPY], scores[FLOOR])
    compare(report, 'numba', scores[NUMBA], scores[PYINS], needs_numba)
    _memory(report, *plan.lengths)
    return report


def tell(report: Report, scores: dict[str, Score], factor: float, unit: str) -> None:
    """Add a row for each contender."""
    for name, score in scores.items():
        if score.missing:
            report.absent[name] = score.missing
        else:
            report.row(name, unit, (factor * rate for rate in score.rates))


def needs_numba(score: Score) -> str:
    """Return why a score is not one with numba, or an empty string."""
    return '' if score.value['compiled'] else 'numba is not installed or not used by the package'


def compare(
    report: Report,
    bar: str,
    ours: Score,
    theirs: Score,
    unfit: Callable[[Score], str] = lambda score: '',
) -> None:
    """Judge how many times as fast we are, or say why that is not known."""
    why = ours.missing or theirs.missing or unfit(ours)
    if why:
        report.not_run(bar, why)
    else:
        report.judge(bar, median_ratio(ours.rates, theirs.rates))


def _memory(report: Report, *lengths: int) -> None:
    """Compare the peak of the memory of a record with that of a longer one."""
    peaks = []
    for count in lengths:
        entry = Contender(f'batch, {count}', 'benchmarks.ours:static', 1, {'count': count})
        (score,) = contest.run([entry], 1, warm=False).values()
        peaks.append(score.turns[-1]['peak_mb'])
        report.row(f'peak memory, {count} samples', 'MB', peaks[-1:])
    report.judge('memory', peaks[-1] - peaks[0])
