"""Measures, prints a table, writes out/bench/bench.json.

    scripts/ros python -m benchmarks [--quick] [--only NAME ...] [--write]

Exit status: 0 whatever the numbers are; 1 if a measurement broke; 2 for bad input.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
import traceback
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from benchmarks import install, machine, table
from benchmarks.process import OUT
from benchmarks.report import Report

#: groups in the order of measurement
GROUPS = ('startup', 'live', 'suite', 'scaling', 'batch', 'trajectory', 'allan')
#: what a quick run has no time for, unless it is asked for: no bar needs it
_LONG = ('scaling',)
#: an idle machine; above it the numbers are marked
_QUIET = 0.5


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog='python -m benchmarks',
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    tiny = 'seconds; shows that it works, the numbers mean nothing'
    add('--quick', dest='size', action='store_const', const='quick', help='about a minute')
    add('--tiny', dest='size', action='store_const', const='tiny', help=tiny)
    add('--only', nargs='+', choices=GROUPS, metavar='NAME',
        help=f'groups: {", ".join(GROUPS)}; --quick leaves out scaling')  # fmt: skip
    add('--write', action='store_true', help='write docs/performance.md and its picture')
    add('--output', type=Path, default=OUT / 'bench.json', help='the JSON file')
    add('--no-install', action='store_true', help='take the peers that are there')
    parser.set_defaults(size='full')
    return parser


def run(group: str, size: str) -> Report:
    """Measure a group; an error is part of the report."""
    began = time.monotonic()
    try:
        report: Report = importlib.import_module(f'benchmarks.{group}').measure(size)
    except Exception:
        report = Report(group, error=traceback.format_exc())
        print(report.error, file=sys.stderr)
    report.seconds = time.monotonic() - began
    return report.complete()


def main(arguments: list[str] | None = None) -> int:
    """Run it all."""
    options = make_parser().parse_args(arguments)
    if not options.no_install:
        install.peers()
    about = machine.describe()
    loud = float(str(about['load'])) > _QUIET
    left_out = _LONG if options.size == 'quick' else ()
    asked = options.only or [group for group in GROUPS if group not in left_out]
    reports = []
    for group in filter(asked.__contains__, GROUPS):
        print(f'bench: {group} ...', end=' ', file=sys.stderr, flush=True)
        reports.append(run(group, options.size))
        print(f'{reports[-1].seconds:.0f} s', file=sys.stderr)
    table.show(reports, machine.one_line(about))
    if loud:
        print(f'The machine was not idle (load {about["load"]}): trust ratios, not numbers.')
    result = as_json(reports, about, options.size)
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(json.dumps(result, indent=1) + '\n')
    print(f'written to {options.output}')
    if options.write:
        from benchmarks import page

        print('written to', *page.write(result))
    broken = [report.group for report in reports if report.error]
    if broken:
        print(f'bench: measurements that broke: {", ".join(broken)}', file=sys.stderr)
    return 1 if broken else 0


def as_json(reports: list[Report], about: dict[str, object], size: str) -> dict[str, Any]:
    """Return the whole result in plain types."""
    date = datetime.now(timezone.utc).isoformat(timespec='seconds')
    groups = [report.as_json() for report in reports]
    return {'version': 1, 'date': date, 'size': size, 'machine': about, 'groups': groups}


if __name__ == '__main__':
    raise SystemExit(main())
