"""What a sensor says in the course of a scenario: laps, and values between rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import NamedTuple

from jaguar_sensors_ros.nav.grid import SampleGrid
from jaguar_sensors_ros.nav.rotation import quat_normalise, rotvec_between, slerp
from jaguar_sensors_ros.scenario.fields import SENSORS, Group, Values
from jaguar_sensors_ros.scenario.reader import Row, ScenarioError, ScenarioReader
from jaguar_sensors_ros.types import NS_PER_S

#: most rows of a sensor that wait for the end of a smooth piece
_MOST_HELD = 100_000


class Item(NamedTuple):
    """What one message says: its output and values.

    ``t_ns`` and ``lap_ns`` are scenario times [ns], which run on over laps: that of the message
    and that of the beginning of its lap.
    """

    t_ns: int
    lap_ns: int
    output: str
    values: Values


def at_rest(sensor: str, rate_hz: float, values: dict[str, Values]) -> Iterator[Item]:
    """Yield the same values at an even rate, without end."""
    grid = SampleGrid(rate_hz)
    for k in count():
        for output in SENSORS[sensor].outputs:
            if output.name in values:
                yield Item(grid.time_ns(k), 0, output.name, values[output.name])


def play(path: Path, sensor: str, alone: str, loop: bool, rate_hz: float) -> Iterator[Item]:
    """Yield what a file says for a sensor, lap after lap.

    The next lap begins where the last row is: a row at time t comes t after it.  A file whose
    first row is at 0 is continued a step later, the last step of the sensor of the first row.

    Parameters
    ----------
    path : Path
        The scenario file.
    sensor : str
        The sensor whose rows are wanted.
    alone : str
        The sensor that a file without the column ``sensor`` is for.
    loop : bool
        Whether to start again at the end.
    rate_hz : float
        Rate of the values between smooth rows [Hz].

    Raises
    ------
    ScenarioError
        if the file is refused, or has no row for the sensor.
    """
    offset_ns = 0
    while True:
        reader = ScenarioReader(path, (sensor,), alone)
        try:
            span = _Span()
            smoother = Smoother(sensor, rate_hz, path)
            found = 0
            for row in reader.rows():
                span.push(row)
                for t_ns, output, values in smoother.push(row):
                    found += 1
                    yield Item(offset_ns + t_ns, offset_ns, output, values)
            for t_ns, output, values in smoother.end():
                yield Item(offset_ns + t_ns, offset_ns, output, values)
        finally:
            reader.close()
        if not found:
            raise ScenarioError(f'{path}: has no row for {sensor}')
        if not loop:
            return
        offset_ns += span.length_ns


class _Span:
    """How long a lap is."""

    def __init__(self) -> None:
        self._first: Row | None = None
        self._last_ns = 0
        self._own_ns = 0
        self._step_ns = NS_PER_S

    def push(self, row: Row) -> None:
        if self._first is None:
            self._first, self._own_ns = row, row.t_ns
        self._last_ns = row.t_ns
        if row.sensor == self._first.sensor and row.t_ns > self._own_ns:
            self._step_ns, self._own_ns = row.t_ns - self._own_ns, row.t_ns

    @property
    def length_ns(self) -> int:
        """Length of the lap [ns], more than 0."""
        if self._first is not None and self._first.t_ns > 0:
            return self._last_ns
        return self._last_ns + self._step_ns


_Said = tuple[int, str, Values]


class Smoother:
    """Fills the time between a smooth row and the next one of the same output.

    Values run linearly, orientations along the shortest turn; whole numbers, and what only one
    of the two rows has, stay as they were.  Other rows of the sensor wait until the piece is
    complete, so that what is said stays in order.

    Parameters
    ----------
    sensor : str
        The sensor.
    rate_hz : float
        Rate of the values in between [Hz], from the smooth row on.
    path : Path
        The file, for messages.
    """

    def __init__(self, sensor: str, rate_hz: float, path: Path) -> None:
        self._sensor, self._grid, self._path = sensor, SampleGrid(rate_hz), path
        self._groups = {
            (output.name, group.name): group for output, group in SENSORS[sensor].groups()
        }
        #: smooth rows whose next one is to come, by output
        self._open: dict[str, tuple[int, Values]] = {}
        self._held: list[_Said] = []

    def push(self, row: Row) -> Iterator[_Said]:
        """Take a row; yield what can be said now."""
        for output, values in row.outputs.items():
            start = self._open.pop(output, None)
            if start is not None:
                self._held += self._between(output, start, (row.t_ns, values))
            if row.smooth:
                self._open[output] = (row.t_ns, values)
            self._held.append((row.t_ns, output, values))
        if len(self._held) > _MOST_HELD:
            raise ScenarioError(
                f'{self._path}: line {row.line}, column smooth: more than {_MOST_HELD} values of '
                f'{self._sensor} wait for the end of a smooth piece'
            )
        if not self._open or row.smooth:
            yield from self._release()

    def end(self) -> Iterator[_Said]:
        """Yield what is left; a smooth row that is the last has nothing to run to."""
        self._open.clear()
        yield from self._release()

    def _release(self) -> Iterator[_Said]:
        """Yield in order what no open piece comes before."""
        until = min((t_ns for t_ns, _ in self._open.values()), default=None)
        self._held.sort(key=lambda said: said[0])
        ready = [said for said in self._held if until is None or said[0] <= until]
        self._held = self._held[len(ready) :]
        yield from ready

    def _between(
        self, output: str, start: tuple[int, Values], end: tuple[int, Values]
    ) -> Iterator[_Said]:
        (start_ns, first), (end_ns, last) = start, end
        for k in count(1):
            t_ns = start_ns + self._grid.time_ns(k)
            if t_ns >= end_ns:
                return
            u = (t_ns - start_ns) / (end_ns - start_ns)
            values = {
                name: mixed(self._groups[output, name], numbers, last.get(name, numbers), u)
                for name, numbers in first.items()
            }
            yield t_ns, output, values


def mixed(
    group: Group, a: tuple[float, ...], b: tuple[float, ...], u: float
) -> tuple[float, ...]:
    """Return the values of a group at the share ``u`` of the way from a to b."""
    if group.kind == 'whole' or a == b:
        return a
    if group.kind == 'quaternion':
        q_a = quat_normalise((a[0], a[1], a[2], a[3]))
        q_b = quat_normalise((b[0], b[1], b[2], b[3]))
        return slerp(q_a, rotvec_between(q_a, q_b), u)
    if group.name == 'longitude':
        turn = (b[0] - a[0] + 180.0) % 360.0 - 180.0
        return ((a[0] + u * turn + 180.0) % 360.0 - 180.0,)
    return tuple([x + u * (y - x) for x, y in zip(a, b, strict=True)])
