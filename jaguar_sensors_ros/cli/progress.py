"""Progress of a long calculation: a bar on a terminal, lines of text otherwise."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Report = Callable[[float], None]

#: without a bar, a line is printed each time another share of the work is done
_SHARE = 0.25


@contextmanager
def progress(text: str) -> Iterator[Report]:
    """Show on stderr how far a piece of work is; gives a function that takes the share done."""
    bar = _bar() if sys.stderr.isatty() else None
    if bar is None:
        yield _Lines(text)
        return
    with bar:
        task = bar.add_task(text, total=1.0)
        yield lambda share: bar.update(task, completed=share)


class _Lines:
    def __init__(self, text: str) -> None:
        self._text = text
        self._next = _SHARE

    def __call__(self, share: float) -> None:
        if share >= self._next - 1e-9:
            print(f'{self._text}: {share:.0%}', file=sys.stderr, flush=True)
            while self._next <= share + 1e-9:
                self._next += _SHARE


def _bar() -> Any:
    try:
        from rich.console import Console
        from rich.progress import Progress
    except ImportError:
        return None
    return Progress(console=Console(stderr=True))
