"""Reads a scenario file row by row, in constant memory, and refuses what is broken.

Two forms, told by the first row, which has the names of the columns: ``sensor,timestamp,...``
for several sensors, and ``timestamp,...`` for one.  A column ``smooth`` may follow the timestamp.
The others are fields by name, ``gyro_x`` or ``gyro_x [rad/s]``, or ``fld1``, ``fld2``, ... in
the order of :mod:`scenario.fields`.
"""

from __future__ import annotations

import contextlib
import csv
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from jaguar_sensors_ros.scenario.fields import POSITION, SENSORS, Values, lacks_fix
from jaguar_sensors_ros.scenario.layout import Layout
from jaguar_sensors_ros.types import JaguarError

#: longest line [bytes]
LONGEST_LINE = 65536
#: how much is read at once [bytes]
_BUFFER = 1 << 18
#: largest timestamp [ns]: seconds in a ROS time stamp are a signed 32-bit number
_LAST_NS = (2**31 - 1) * 1_000_000_000
_NS_PER_US = 1000
_BOM = b'\xef\xbb\xbf'
_TIMESTAMP = re.compile(r'(\d{1,16})(?:\.(\d{1,3}))?', re.ASCII)


class ScenarioError(JaguarError):
    """A scenario file that is refused; the text names file, line and column."""


class Row(NamedTuple):
    """A row of a scenario.

    ``outputs`` holds the values of each output that the row gives; it is empty for a sensor that
    was not asked for.  ``smooth`` tells that the values run linearly from here to the next row.
    """

    line: int
    t_ns: int
    sensor: str
    smooth: bool
    outputs: dict[str, Values]


class ScenarioReader:
    """A scenario file that was opened and whose first row was read.

    Parameters
    ----------
    path : Path
        The file.
    wanted : iterable of str
        Sensors whose rows are read; those of others are checked for order alone.
    alone : str
        The sensor that a file without the column ``sensor`` is for; empty: there must be one.

    Raises
    ------
    ScenarioError
        if it cannot be read, or the first row is wrong.
    """

    def __init__(self, path: Path, wanted: Iterable[str], alone: str = '') -> None:
        self._path, self._alone = path, alone
        self._wanted = frozenset(wanted)
        self._line = 0
        try:
            self._file = path.open('rb', buffering=_BUFFER)
        except OSError as error:
            raise ScenarioError(f'{path}: cannot be read: {error.strerror}') from None
        try:
            self._read_header()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    # ------------------------------------------------------------------ lines

    def _lines(self) -> Iterator[str]:
        """Yield the lines without their ends."""
        while True:
            try:
                raw = self._file.readline(LONGEST_LINE + 1)
            except OSError as error:
                raise ScenarioError(f'{self._path}: cannot be read: {error.strerror}') from None
            if not raw:
                return
            self._line += 1
            yield self._text(raw)

    def _text(self, raw: bytes) -> str:
        """Return a line as text, its end checked and taken off."""
        if self._line == 1 and raw.startswith(_BOM):
            self._refuse(1, 'begins with a byte order mark (BOM); save it without one')
        if len(raw) > LONGEST_LINE:
            self._refuse(1, f'longer than {LONGEST_LINE} bytes')
        if raw.endswith(b'\r\n') or b'\r' in raw:
            column = raw[: raw.index(b'\r')].count(b',') + raw[: raw.index(b'\r')].count(b'\t')
            self._refuse(column + 1, 'ends with CR LF (Windows); lines must end with LF alone')
        if not raw.endswith(b'\n'):
            column = raw.count(b',') + raw.count(b'\t') + 1
            self._refuse(
                column, 'the last line is cut off: it has no line end (add one if it is whole)'
            )
        try:
            return raw[:-1].decode('ascii')
        except UnicodeDecodeError as error:
            column = raw[: error.start].count(b',') + raw[: error.start].count(b'\t')
            self._refuse(column + 1, 'not ASCII text')

    def _cells(self) -> Iterator[list[str]]:
        """Yield the cells of each line, which a quoted one must not leave."""
        delimiter = self._delimiter
        for line in self._lines():
            if '"' not in line:
                cells = line.split(delimiter)
                yield [cell.strip() for cell in cells] if ' ' in line else cells
                continue
            try:
                (cells,) = csv.reader([line], delimiter=delimiter, strict=True)
            except csv.Error as error:
                self._refuse(1, str(error))
            yield [cell.strip() for cell in cells]

    def _refuse(self, column: int, text: str, name: str = '') -> NoReturn:
        """Raise the error for a column, counted from 1."""
        what = f' ({name})' if name else ''
        raise ScenarioError(f'{self._path}: line {self._line}, column {column}{what}: {text}')

    def _read_header(self) -> None:
        first = next(self._lines(), None)
        if first is None:
            raise ScenarioError(f'{self._path}: line 1, column 1: the file is empty')
        self._delimiter = '\t' if '\t' in first else ','
        self._layout = Layout(first.split(self._delimiter), self._alone, self._refuse)
        self._names = self._layout.names
        #: time of the newest row of each output
        self._newest: dict[tuple[str, str], int] = {}

    # ------------------------------------------------------------------ rows

    def rows(self) -> Iterator[Row]:
        """Yield the rows.

        Raises
        ------
        ScenarioError
            naming file, line and column of what is wrong.
        """
        last_ns = -1
        for cells in self._cells():
            if len(cells) > len(self._names):
                self._refuse(len(self._names) + 1, f'the first row has {len(self._names)} columns')
            if cells == ['']:
                self._refuse(1, 'an empty line')
            if len(cells) < self._layout.least:
                self._cell(cells, len(cells))
            sensor = self._sensor(cells)
            t_ns = self._timestamp(cells)
            if t_ns < last_ns:
                place = self._layout.time_at
                self._refuse(place + 1, f'{cells[place]} goes back', 'timestamp')
            last_ns = t_ns
            smooth = self._smooth(cells)
            outputs = self._outputs(sensor, cells) if sensor in self._wanted else {}
            for output in outputs:
                if self._newest.get((sensor, output), -1) == t_ns:
                    text = f'{cells[self._layout.time_at]} comes twice for {output} of {sensor}'
                    self._refuse(self._layout.time_at + 1, text, 'timestamp')
                self._newest[sensor, output] = t_ns
            yield Row(self._line, t_ns, sensor, smooth, outputs)

    def _cell(self, cells: list[str], place: int) -> str:
        if place >= len(cells):
            self._refuse(
                place + 1, f'missing: the line has {len(cells)} columns', self._names[place]
            )
        return cells[place]

    def _sensor(self, cells: list[str]) -> str:
        if self._layout.sensor_at is None:
            return self._alone
        text = self._cell(cells, 0)
        if text in SENSORS:
            return text
        for sensor in SENSORS.values():
            if text == str(sensor.flag):
                return sensor.name
        known = ', '.join(f'{one.name} ({one.flag})' for one in SENSORS.values())
        self._refuse(1, f'{text!r} is no sensor; must be one of {known}', 'sensor')

    def _timestamp(self, cells: list[str]) -> int:
        text = self._cell(cells, self._layout.time_at)
        match = _TIMESTAMP.fullmatch(text)
        t_ns = -1
        if match is not None:
            t_ns = int(match[1]) * _NS_PER_US + int((match[2] or '').ljust(3, '0'))
        if not 0 <= t_ns <= _LAST_NS:
            self._refuse(
                self._layout.time_at + 1,
                f'{text!r} must be microseconds >= 0, with up to three decimals',
                'timestamp',
            )
        return t_ns

    def _smooth(self, cells: list[str]) -> bool:
        if self._layout.smooth_at is None:
            return False
        text = self._cell(cells, self._layout.smooth_at)
        if text not in ('0', '1', 'false', 'true'):
            self._refuse(self._layout.smooth_at + 1, f'{text!r} must be 0 or 1', 'smooth')
        return text in ('1', 'true')

    def _outputs(self, sensor: str, cells: list[str]) -> dict[str, Values]:
        """Return the values of a row by output and group."""
        outputs: dict[str, Values] = {}
        width = len(cells)
        if width < len(self._names):
            cells = cells + [''] * (len(self._names) - width)
        for output, group, places in self._layout.parts[sensor]:
            texts = cells[places[0] : places[-1] + 1]
            if len(texts) != len(places):  # the columns are not side by side
                texts = [cells[i] for i in places]
            if not any(texts):
                continue
            if not all(texts):
                self._missing(width, places[texts.index('')])
            values = self._numbers(texts, places)
            fault = group.fault_of(values) if group.is_limited else None
            if fault is not None:
                place = places[fault[0]]
                self._refuse(place + 1, f'{cells[place]} {fault[1]}', self._names[place])
            outputs.setdefault(output, {})[group.name] = values
        self._complete(sensor, cells, width, outputs)
        return outputs

    def _complete(
        self, sensor: str, cells: list[str], width: int, outputs: dict[str, Values]
    ) -> None:
        """Refuse values of other sensors, and outputs that lack a required group."""
        for i in self._layout.others[sensor]:
            if cells[i]:
                self._refuse(i + 1, f'{cells[i]!r}: {sensor} has no such field', self._names[i])
        parts = self._layout.parts[sensor]
        if not parts:
            self._refuse(1, f'the file has no columns of {sensor}', self._names[0])
        if not outputs:
            self._missing(width, parts[0].places[0])
        for output, group, places in self._layout.needed[sensor]:
            values = outputs.get(output)
            if values is None or group.name in values:
                continue
            if group.name in POSITION and lacks_fix(values):
                continue
            self._missing(width, places[0])

    def _missing(self, width: int, place: int) -> NoReturn:
        cut = f'; the line has {width} columns' if place >= width else ''
        self._refuse(place + 1, f'missing{cut}', self._names[place])

    def _numbers(self, texts: list[str], places: tuple[int, ...]) -> tuple[float, ...]:
        """Return finite floats; underscores, which Python would take, are not part of one."""
        with contextlib.suppress(ValueError):
            values = tuple(map(float, texts))
            if all(map(math.isfinite, values)) and '_' not in ''.join(texts):
                return values
        for text, place in zip(texts, places, strict=True):
            try:
                wrong = '_' in text or not math.isfinite(float(text))
            except ValueError:
                wrong = True
            if wrong:
                self._refuse(place + 1, f'{text!r} is not a finite number', self._names[place])
        raise AssertionError('one of them is wrong')
