"""How the demo shows what goes on: a live table, or a line now and then."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Sequence
from typing import Any

from jaguar_sensors_ros.ros.demo.monitor import DemoMonitor
from jaguar_sensors_ros.ros.demo.plan import Plan
from jaguar_sensors_ros.types import NS_PER_S, Vec3

_TABLE_PERIOD_S = 0.25
_LINE_PERIOD_S = 2.0
#: how the streams are shown: label with unit, format of a number, factor
_SHOWN = {
    'imu gyro': ('gyro rad/s', '{:+7.4f}', 1.0),
    'imu accel': ('accel m/s²', '{:+7.2f}', 1.0),
    'imu attitude': ('rpy deg', '{:+7.1f}', 180.0 / math.pi),
    'gps position': ('gps ENU m', '{:+7.2f}', 1.0),
}


class View:
    """Shows the state of a run; a context manager, as the live table must be closed.

    Parameters
    ----------
    plan, monitor
        What is run and what was seen of it.
    """

    def __init__(self, plan: Plan, monitor: DemoMonitor) -> None:
        self._plan = plan
        self._monitor = monitor
        self._next = 0.0
        self._live: Any = None
        self.status = 'no fault'
        if sys.stdout.isatty():
            try:
                from rich.live import Live
            except ImportError:
                return
            self._live = Live(auto_refresh=False)

    def __enter__(self) -> View:
        """Open the table."""
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the last table on the screen."""
        if self._live is not None:
            self._live.stop()

    def update(self, last: bool = False) -> None:
        """Show the present state if it is time to."""
        now = time.monotonic()
        if now < self._next and not last:
            return
        if self._live is not None:
            self._next = now + _TABLE_PERIOD_S
            self._live.update(self._table(), refresh=True)
        elif not last:
            self._next = now + _LINE_PERIOD_S
            print(self._line(), flush=True)

    # ------------------------------------------------------------------ contents

    def _progress(self) -> str:
        length_s = self._plan.length_s
        of = f' of {length_s:.1f}' if length_s is not None else ''
        return f'{self._monitor.elapsed_s:.1f}{of} s'

    def _table(self) -> Any:
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        title = f'{self._plan.name}: {self._progress()}, {self.status}'
        table = Table(title=title, box=SIMPLE_HEAD, padding=0, title_justify='left')
        table.add_column('stream', no_wrap=True)
        for heading in ('Hz', 'age ms', 'latest', 'error / sigma', 'rms'):
            table.add_column(heading, justify='right', no_wrap=True)
        for row in self._rows():
            table.add_row(*row)
        return table

    def _rows(self) -> list[tuple[str, ...]]:
        monitor = self._monitor
        newest = monitor.truth.rows[-1] if monitor.truth.rows else (math.nan,) * 3
        rate = f'{monitor.truth_meter.rate_hz():.1f}'
        age = _age_ms(monitor.truth_newest_ns)
        latest = _three('{:+7.2f}', newest)
        rows: list[tuple[str, ...]] = [('truth ENU m', rate, age, latest, '', '')]
        for stream in monitor.streams:
            rate, age = f'{stream.meter.rate_hz():.1f}', _age_ms(stream.newest_ns)
            for name, (value, error, sigma) in stream.latest.items():
                label, form, factor = _SHOWN[name]
                shown = _three(form, [factor * x for x in value])
                rms = f'{stream.channels[name].rms:.2f}'
                rows.append((label, rate, age, shown, _sigmas(error, sigma), rms))
                rate = age = ''
        return rows

    def _line(self) -> str:
        parts = []
        for stream in self._monitor.streams:
            text = f'{stream.name} {stream.meter.rate_hz():5.1f} Hz, age '
            text += f'{_age_ms(stream.newest_ns):>3} ms'
            for name, (_, error, sigma) in stream.latest.items():
                largest = max(abs(e / s) for e, s in zip(error, sigma, strict=True))
                text += f', {name.split()[1]} {largest:.1f}'
            parts.append(text + (' sigma' if stream.latest else ''))
        return f'{self._progress():>14}  {"; ".join(parts)}; {self.status}'


def _age_ms(t_ns: int) -> str:
    """Return the time since a stamp of the wall clock [ms]."""
    return f'{(time.time_ns() - t_ns) / NS_PER_S * 1e3:.0f}' if t_ns else '-'


def _three(form: str, values: Sequence[float]) -> str:
    return ' '.join(form.format(x) for x in values)


def _sigmas(error: Vec3, sigma: Vec3) -> str:
    values = [e / s for e, s in zip(error, sigma, strict=True)]
    return ' '.join(f'{x:+5.1f}' if abs(x) < 99.0 else f'{x:+5.0f}' for x in values)
