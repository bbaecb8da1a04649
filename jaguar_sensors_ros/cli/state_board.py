"""What is known of the sensors that are watched; no ROS, no terminal."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from jaguar_sensors_ros.types import NS_PER_S

#: a sensor tells its state once a second; after so long without [s] it is said to be silent
_SILENT_S = 3.5
#: messages over which the rate is taken are not older than this [s]
_RATE_S = 5.0
GONE, WAITING = 'gone', 'waiting'


@dataclass
class Row:
    """One sensor: its latest message, and when it was last heard of."""

    node: str
    message: Any = None
    present: bool = True
    heard_s: float = 0.0
    #: arrival [s], stamp [ns] and count of samples of the latest messages
    counts: deque[tuple[float, int, int]] = field(default_factory=deque)

    def take(self, message: Any, now_s: float) -> None:
        """Take a message that arrived at ``now_s``."""
        stamp = message.header.stamp
        latest = (now_s, stamp.sec * NS_PER_S + stamp.nanosec, int(message.sample_count))
        if self.counts and (latest[1] < self.counts[-1][1] or latest[2] < self.counts[-1][2]):
            self.counts.clear()  # it started anew
        self.counts.append(latest)
        self.message, self.heard_s = message, now_s

    def rate_hz(self, now_s: float) -> float | None:
        """Return samples per second of measurement time; None where there is no way to know."""
        while len(self.counts) > 2 and self.counts[1][0] < now_s - _RATE_S:
            self.counts.popleft()
        if len(self.counts) < 2:
            return None
        (_, t0_ns, n0), (_, t1_ns, n1) = self.counts[0], self.counts[-1]
        return (n1 - n0) * NS_PER_S / (t1_ns - t0_ns) if t1_ns > t0_ns else None

    def state(self, now_s: float) -> str:
        """Return the state in words."""
        if not self.present:
            return GONE
        if self.message is None:
            return WAITING
        if self.is_silent(now_s):
            return f'silent {now_s - self.heard_s:.0f} s'
        return str(self.message.state_name)

    def is_silent(self, now_s: float) -> bool:
        """Tell whether it is in the graph, was heard, and is not heard any more."""
        return self.present and self.message is not None and now_s - self.heard_s > _SILENT_S

    def causes(self) -> str:
        """Return the causes of the state, faults to come, and that good output is not valid."""
        message = self.message
        told = list(message.causes)
        told += [f'{name} to come' for name in message.faults if f'fault {name}' not in told]
        if not message.valid and message.state_name in ('Ready', 'Degraded'):
            told.append('not valid')
        return ', '.join(told)

    def cells(self, now_s: float) -> tuple[str, ...]:
        """Return the texts of the row, in the order of ``HEADINGS``."""
        message = self.message
        if message is None:
            return (self.node, '', self.state(now_s), *[''] * 7)
        rate = self.rate_hz(now_s) if self.present and not self.is_silent(now_s) else None
        return (
            self.node,
            message.type,
            self.state(now_s),
            self.causes(),
            message.fidelity,
            ', '.join(message.faults),
            '-' if rate is None else f'{rate:.1f}',
            f'{message.confidence:.2f}',
            f'{message.uptime:.1f}',
            str(message.sample_count),
        )


#: headings of the columns, which are numbers, and the width of the terminal they need
HEADINGS = (
    ('name', False, 0),
    ('type', False, 0),
    ('state', False, 0),
    ('causes', False, 0),
    ('fidelity', False, 100),
    ('faults', False, 140),
    ('rate\nHz', True, 0),
    ('confi-\ndence', True, 0),
    ('uptime\ns', True, 110),
    ('samples', True, 120),
)


class StateBoard:
    """The sensors seen so far, by name."""

    def __init__(self) -> None:
        self._rows: dict[str, Row] = {}

    def look(self, nodes: Iterable[str], now_s: float) -> list[str]:
        """Note which sensors are in the graph; return those that are new."""
        there = set(nodes)
        for row in self._rows.values():
            if row.node in there and not row.present:
                row.heard_s = now_s  # it has the time to speak again
            row.present = row.node in there
        new = sorted(there - self._rows.keys())
        self._rows.update((node, Row(node)) for node in new)
        return new

    def hear(self, node: str, message: Any, now_s: float) -> None:
        """Take a message of a sensor."""
        self._rows[node].take(message, now_s)

    @property
    def rows(self) -> list[Row]:
        """The sensors, by name."""
        return [self._rows[node] for node in sorted(self._rows)]
