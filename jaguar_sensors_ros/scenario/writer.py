"""Writes a scenario file: numbers as repr, rows in the order of their stamps."""

from __future__ import annotations

import heapq
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TextIO

from jaguar_sensors_ros.scenario.fields import SENSORS, Group, Values
from jaguar_sensors_ros.types import NS_PER_S, JaguarError

_NS_PER_US = 1000
#: how long rows wait for older ones, in time of the stamps [ns]
_WINDOW_NS = 2 * NS_PER_S


class ScenarioWriter:
    """A scenario file in the making, under a hidden name until it is complete.

    Timestamps are relative to the oldest row.  Rows of several topics come in any order within
    two seconds; one that comes later, or whose stamp was there already, is refused.

    Parameters
    ----------
    path : Path
        The file; it must not exist yet.
    outputs : iterable of (str, str)
        Sensors and outputs that rows will be of.

    Raises
    ------
    JaguarError
        if the file exists or cannot be made.
    """

    def __init__(self, path: Path, outputs: Iterable[tuple[str, str]]) -> None:
        chosen = set(outputs)
        self._path = path
        self._groups: dict[tuple[str, str], list[tuple[Group, int]]] = {}
        columns: list[str] = []
        for sensor in SENSORS.values():
            for output, group in sensor.groups():
                key = (sensor.name, output.name)
                if key in chosen:
                    self._groups.setdefault(key, []).append((group, len(columns)))
                    columns += group.columns
        self._width = len(columns)
        if os.path.lexists(path):
            raise JaguarError(f'{path}: exists already; give another name or remove it')
        self._partial = path.with_name(f'.{path.name}.{os.getpid()}.partial')
        try:
            self._file: TextIO = self._partial.open('w', encoding='ascii', newline='')
        except OSError as error:
            raise JaguarError(f'{path}: cannot be written: {error.strerror}') from None
        self._file.write(','.join(['sensor', 'timestamp', *columns]) + '\n')
        self._heap: list[tuple[int, int, str]] = []
        self._base_ns: int | None = None
        self._written_ns = -1
        self._newest: dict[tuple[str, str], int] = {}
        #: rows taken
        self.count = 0

    def put(self, t_ns: int, sensor: str, output: str, values: Values) -> str:
        """Take a row; return why it cannot be, or an empty string.

        Parameters
        ----------
        t_ns : int
            Stamp [ns].
        sensor, output : str
            Whose it is.
        values : Values
            What it says.
        """
        key = (sensor, output)
        if t_ns <= max(self._newest.get(key, -1), self._written_ns - 1):
            return 'a stamp that does not go on'
        if not all(map(math.isfinite, (x for numbers in values.values() for x in numbers))):
            return 'a number that is not finite'
        for group, _ in self._groups[key]:
            fault = group.fault_of(values[group.name]) if group.name in values else None
            if fault is not None:
                return f'{group.columns[fault[0]]} {fault[1]}'
        self._newest[key] = t_ns
        cells = [''] * self._width
        for group, place in self._groups[key]:
            if group.name in values:
                cells[place : place + len(group.columns)] = map(_text(group), values[group.name])
        heapq.heappush(self._heap, (t_ns, self.count, f'{sensor},*,{",".join(cells)}\n'))
        self.count += 1
        self._flush(t_ns - _WINDOW_NS)
        return ''

    def close(self) -> None:
        """Write what is left and give the file its name.

        Raises
        ------
        JaguarError
            if that fails; there is no file then.
        """
        try:
            self._flush(None)
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
            self._rename()
        except OSError as error:
            self.abandon()
            raise JaguarError(f'{self._path}: cannot be written: {error.strerror}') from None

    def _rename(self) -> None:
        """Give the file its name without overwriting, which a plain rename would do."""
        try:
            os.link(self._partial, self._path)
        except FileExistsError:
            raise
        except OSError:  # a file system without links
            if os.path.lexists(self._path):
                raise
            self._partial.rename(self._path)
        else:
            self._partial.unlink()

    def abandon(self) -> None:
        """Leave nothing behind."""
        self._file.close()
        self._partial.unlink(missing_ok=True)

    def _flush(self, until_ns: int | None) -> None:
        """Write the rows up to a stamp, all if it is None."""
        try:
            while self._heap and (until_ns is None or self._heap[0][0] <= until_ns):
                t_ns, _, text = heapq.heappop(self._heap)
                if self._base_ns is None:
                    self._base_ns = t_ns
                self._written_ns = t_ns
                self._file.write(text.replace('*', _microseconds(t_ns - self._base_ns), 1))
        except OSError as error:
            self.abandon()
            raise JaguarError(f'{self._path}: cannot be written: {error.strerror}') from None


def _text(group: Group) -> Callable[[float], str]:
    return _whole if group.kind == 'whole' else repr


def _whole(value: float) -> str:
    return str(int(value))


def _microseconds(t_ns: int) -> str:
    """Return a time in microseconds, with three decimals where it has nanoseconds.

    Examples
    --------
    >>> _microseconds(2_500_000), _microseconds(3_333_333)
    ('2500', '3333.333')
    """
    whole, rest = divmod(t_ns, _NS_PER_US)
    return f'{whole}.{rest:03d}' if rest else str(whole)
