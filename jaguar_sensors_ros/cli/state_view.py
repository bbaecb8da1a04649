"""How the watched sensors are shown: a live table, or a line whenever one changes."""

from __future__ import annotations

import sys
from typing import Any

from jaguar_sensors_ros.cli.state_board import GONE, HEADINGS, WAITING, Row

_COLOURS = {
    'Ready': 'green',
    'Degraded': 'yellow',
    'Failed': 'bold red',
    'Initializing': 'cyan',
    'Off': 'dim',
    GONE: 'dim red',
    WAITING: 'dim',
}
_NO_RICH = (
    'the live table needs the Python package rich (pip install rich, or apt install '
    'python3-rich); here is a line whenever a state changes, Ctrl-C ends'
)


def describe(node: str, state: Any) -> str:
    """Return a state message as one line."""
    parts = [
        f'{node}: {state.state_name}',
        f'({", ".join(state.causes)})' if state.causes else '',
        '' if state.valid else 'not valid',
    ]
    numbers = (
        f'{state.type}, fidelity {state.fidelity}, faults {" ".join(state.faults) or "none"}, '
        f'confidence {state.confidence:.2f}, up {state.uptime:.1f} s, '
        f'{state.sample_count} samples'
    )
    return f'{" ".join(filter(None, parts))}; {numbers}'


class Table:
    """A table on the terminal that is drawn anew; the last stays."""

    def __init__(self, title: str) -> None:
        from rich.live import Live

        self._title = title
        self._live = Live(auto_refresh=False)

    def __enter__(self) -> Table:
        """Open it."""
        self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the last one on the screen."""
        self._live.stop()

    def show(self, rows: list[Row], now_s: float) -> None:
        """Draw the rows."""
        table = self._table(rows, now_s, self._live.console.width)
        self._live.update(table, refresh=True)

    def _table(self, rows: list[Row], now_s: float, width: int) -> Any:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table as RichTable

        caption = None if rows else 'no sensor yet'
        table = RichTable(
            title=self._title,
            caption=caption,
            box=SIMPLE_HEAD,
            padding=(0, 1, 0, 0),
            title_justify='left',
            caption_justify='left',
        )
        shown = [i for i, (_, _, least) in enumerate(HEADINGS) if width >= least]
        for heading, numeric in [HEADINGS[i][:2] for i in shown]:
            wraps = heading in ('causes', 'faults')
            table.add_column(
                heading,
                justify='right' if numeric else 'left',
                no_wrap=not wraps,
                overflow='fold',
            )
        for row in rows:
            texts = _coloured(row.cells(now_s))
            table.add_row(*[texts[i] for i in shown], style='' if row.present else 'dim')
        return table


def _coloured(cells: tuple[str, ...]) -> list[Any]:
    from rich.text import Text

    texts = [Text(cell) for cell in cells]
    texts[2].stylize(_COLOURS.get(cells[2], 'red'))
    return texts


class Lines:
    """A line whenever the state of a sensor changes, for a terminal without rich."""

    def __init__(self) -> None:
        self._shown: dict[str, tuple[str, ...]] = {}

    def __enter__(self) -> Lines:
        """Say why it is not a table."""
        print(f'jaguar_sensors state: {_NO_RICH}', file=sys.stderr)
        return self

    def __exit__(self, *error: object) -> None:
        """There is nothing to close."""

    def show(self, rows: list[Row], now_s: float) -> None:
        """Print the rows that changed in more than numbers."""
        for row in rows:
            state = 'silent' if row.is_silent(now_s) else row.state(now_s)
            words = (state, *row.cells(now_s)[3:6])
            if state == WAITING or self._shown.get(row.node) == words:
                continue
            self._shown[row.node] = words
            heard = state not in (GONE, 'silent')
            print(describe(row.node, row.message) if heard else f'{row.node}: {state}')
        sys.stdout.flush()
