"""The results on the console; with rich where it is installed."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from benchmarks.report import NOT_RUN, PASS, Outcome, Report, Row

_WIDTH = 130
_COLOURS = {PASS: 'green', NOT_RUN: 'yellow'}


def number(value: float | None) -> str:
    """Return a value in at most three or four digits.

    >>> number(1234.5), number(1.2345), number(0.0), number(None), number(2e-15)
    ('1234', '1.23', '0', '-', '2.00e-15')
    """
    if value is None:
        return '-'
    size = abs(value)
    if size != 0.0 and size < 1e-3:
        return f'{value:.2e}'
    if size >= 100.0 or value == int(value):
        return f'{value:.0f}'
    return f'{value:.3g}' if size < 10.0 else f'{value:.1f}'


def of_bar(outcome: Outcome) -> list[str]:
    """Return the cells of a bar."""
    bar = outcome.bar
    limit = f'{bar.sense} {number(bar.limit)} {bar.unit}'.rstrip()
    return [bar.key, bar.text, number(outcome.value), limit, outcome.verdict, outcome.note]


def of_row(row: Row) -> list[str]:
    """Return the cells of a row."""
    return [row.group, row.what, number(row.median), row.unit, f'{100.0 * row.spread:.0f} %',
            str(len(row.values))]  # fmt: skip


BAR_HEAD = ('bar', 'what', 'measured', 'to be', 'verdict', 'note')
ROW_HEAD = ('group', 'what', 'median', 'unit', '+/-', 'turns')


def show(reports: Iterable[Report], machine: str) -> None:
    """Print all of it, the bars last."""
    reports = list(reports)
    rows = [of_row(row) for report in reports for row in report.rows]
    bars = [of_bar(outcome) for report in reports for outcome in report.outcomes]
    _print('measured', ROW_HEAD, rows)
    for report in reports:
        for name, why in report.absent.items():
            print(f'{report.group}: {name}: NOT RUN ({why})')
    _print('bars', BAR_HEAD, bars)
    print(machine)


def _print(title: str, head: Sequence[str], rows: list[list[str]]) -> None:
    try:
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text
    except ImportError:
        _print_plainly(head, rows)
        return
    table = Table(*head, title=title)
    for row in rows:
        verdict = next((cell for cell in row if cell in (PASS, NOT_RUN, 'SHORT', 'BROKEN')), None)
        style = _COLOURS.get(verdict, 'red') if verdict else ''
        table.add_row(*(Text(c, style=style if c == verdict else '') for c in row))
    # a pipe has no width
    Console(width=None if sys.stdout.isatty() else _WIDTH).print(table)


def _print_plainly(head: Sequence[str], rows: list[list[str]]) -> None:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    for row in (head, *rows):
        print('  '.join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip())
