"""What a group hands back: rows of a table, and what became of its bars."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from benchmarks.bars import Bar, bars_of

PASS, SHORT, NOT_RUN, BROKEN = 'PASS', 'SHORT', 'NOT RUN', 'BROKEN'


class Broken(RuntimeError):
    """A measurement did not work: the numbers it gave mean nothing."""


@dataclass(frozen=True)
class Row:
    """A measured quantity; ``values`` are the repeats."""

    group: str
    what: str
    unit: str
    values: tuple[float, ...]
    note: str = ''

    @property
    def median(self) -> float:
        """The median of the repeats."""
        return statistics.median(self.values)

    @property
    def spread(self) -> float:
        """Half of the distance between the largest and the smallest, over the median."""
        middle = self.median
        return (max(self.values) - min(self.values)) / (2.0 * abs(middle)) if middle else 0.0


@dataclass(frozen=True)
class Outcome:
    """What became of a bar; ``value`` is None where it was not measured."""

    bar: Bar
    verdict: str
    value: float | None
    note: str = ''


@dataclass
class Report:
    """Rows and outcomes of a group.

    ``series`` are curves for the picture by name, ``absent`` says why peers are not there.
    """

    group: str
    rows: list[Row] = field(default_factory=list)
    outcomes: list[Outcome] = field(default_factory=list)
    series: dict[str, Any] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    error: str = ''

    def row(self, what: str, unit: str, values: Iterable[float], note: str = '') -> Row:
        """Add a row."""
        self.rows.append(Row(self.group, what, unit, tuple(values), note))
        return self.rows[-1]

    def judge(self, name: str, value: float, note: str = '') -> None:
        """Say what a bar of the group came to."""
        bar = self._bar(name)
        self.outcomes.append(Outcome(bar, PASS if bar.holds(value) else SHORT, value, note))

    def not_run(self, name: str, why: str) -> None:
        """Say why a bar of the group was not measured."""
        self.outcomes.append(Outcome(self._bar(name), NOT_RUN, None, why))

    def complete(self) -> Report:
        """Give the bars that nothing was said about their verdict, in the order of the list."""
        known = {outcome.bar.key: outcome for outcome in self.outcomes}
        rest = (BROKEN, None, 'see the error') if self.error else (NOT_RUN, None, 'not asked for')
        self.outcomes = [known.get(b.key, Outcome(b, *rest)) for b in bars_of(self.group)]
        return self

    def _bar(self, name: str) -> Bar:
        return next(bar for bar in bars_of(self.group) if bar.key == f'{self.group}.{name}')

    def as_json(self) -> dict[str, Any]:
        """Return all of it in plain types."""
        rows = [{**asdict(row), 'median': row.median, 'spread': row.spread} for row in self.rows]
        bars = [
            {**asdict(o.bar), 'verdict': o.verdict, 'value': o.value, 'note': o.note}
            for o in self.outcomes
        ]
        return {
            'group': self.group, 'seconds': self.seconds, 'error': self.error, 'rows': rows,
            'bars': bars, 'series': self.series, 'absent': self.absent,
        }  # fmt: skip


def median_ratio(over: Sequence[float], under: Sequence[float]) -> float:
    """Return the median of the ratios turn by turn.

    >>> median_ratio([2.0, 4.0, 9.0], [1.0, 2.0, 3.0])
    2.0
    """
    return statistics.median(a / b for a, b in zip(over, under, strict=True))
