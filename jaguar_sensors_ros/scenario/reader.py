"""Reads a scenario file row by row, in constant memory, and refuses what is broken.

Two forms, told by the first row, which has the names of the columns: ``sensor,timestamp,...``
for several sensors, and ``timestamp,...`` for one.  A column ``smooth`` may follow the timestamp.
The others are fields by name, ``gyro_x`` or ``gyro_x [rad/s]``, or ``fld1``, ``fld2``, ... in
the order of :mod:`scenario.fields`.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from jaguar_sensors_ros.component import nearest
from jaguar_sensors_ros.scenario.fields import (
    POSITION,
    SENSORS,
    Group,
    SensorFields,
    Values,
    lacks_fix,
)
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
_NAME = re.compile(r'(\w+)(?:\s*\[(.*)\])?', re.ASCII)


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


class _Part(NamedTuple):
    """A group of an output and the places of its columns."""

    output: str
    group: Group
    places: tuple[int, ...]


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

    # ------------------------------------------------------------------ first row

    def _read_header(self) -> None:
        self._delimiter = ','
        first = next(self._lines(), None)
        if first is None:
            raise ScenarioError(f'{self._path}: line 1, column 1: the file is empty')
        self._delimiter = '\t' if '\t' in first else ','
        found = [cell.strip().strip('"') for cell in first.split(self._delimiter)]
        self._names, units = [], []
        for i, text in enumerate(found):
            match = _NAME.fullmatch(text)
            if match is None:
                self._refuse(i + 1, f'{text!r} is no name of a column')
            self._names.append(match[1])
            units.append(match[2])
        for i, name in enumerate(self._names):
            if name in self._names[:i]:
                self._refuse(i + 1, 'this column is there twice', name)
        self._fixed_columns()
        self._parts: dict[str, list[_Part]] = {}
        self._others: dict[str, list[int]] = {}
        self._field_columns(units)

    def _fixed_columns(self) -> None:
        """Find sensor, timestamp and smooth, which come first in this order."""
        names, place = self._names, 0
        self._sensor_at = None
        if names[0] == 'sensor':
            self._sensor_at, place = 0, 1
        elif not self._alone:
            self._refuse(
                1, f'{names[0]!r}: a file for several sensors begins with the column sensor'
            )
        if names[place : place + 1] != ['timestamp']:
            self._refuse(place + 1, 'the column timestamp is missing here')
        self._time_at, place = place, place + 1
        self._smooth_at = None
        if names[place : place + 1] == ['smooth']:
            self._smooth_at, place = place, place + 1
        self._first_field = place
        if place == len(names):
            self._refuse(place, 'there are no columns of fields')

    def _field_columns(self, units: list[str | None]) -> None:
        """Find the groups of each sensor that the file can hold."""
        first, names = self._first_field, self._names
        possible = list(SENSORS) if self._sensor_at is not None else [self._alone]
        numbered = [f'fld{i + 1}' for i in range(len(names) - first)]
        is_numbered = names[first:] == numbered
        #: fewest columns of a row: rows of several sensors end where theirs do
        self._least = first if is_numbered and self._sensor_at is not None else len(names)
        self._newest: dict[tuple[str, str], int] = {}
        if is_numbered:
            for sensor in possible:
                self._parts[sensor] = self._numbered_parts(SENSORS[sensor])
        else:
            self._check_names(possible, units)
            for sensor in possible:
                self._parts[sensor] = self._named_parts(SENSORS[sensor])
        self._needed = {s: [p for p in ps if p.group.required] for s, ps in self._parts.items()}
        for sensor, parts in self._parts.items():
            own = {place for part in parts for place in part.places}
            self._others[sensor] = [i for i in range(first, len(names)) if i not in own]

    def _numbered_parts(self, sensor: SensorFields) -> list[_Part]:
        parts, place = [], self._first_field
        for output, group in sensor.groups():
            end = place + len(group.columns)
            if end > len(self._names):
                break
            parts.append(_Part(output.name, group, tuple(range(place, end))))
            place = end
        return parts

    def _check_names(self, possible: list[str], units: list[str | None]) -> None:
        """Refuse names that no sensor has, and wrong units."""
        known = {
            column: group.unit
            for sensor in possible
            for _, group in SENSORS[sensor].groups()
            for column in group.columns
        }
        for i in range(self._first_field, len(self._names)):
            name, unit = self._names[i], units[i]
            if name not in known:
                whose = self._alone if self._sensor_at is None else 'any sensor'
                hint = nearest(name, known)
                self._refuse(i + 1, f'{name!r} is no field of {whose}; {hint}')
            if unit is not None and unit != known[name]:
                self._refuse(i + 1, f'unit {unit!r}: must be {known[name]}', name)

    def _named_parts(self, sensor: SensorFields) -> list[_Part]:
        parts, given = [], set(self._names[self._first_field :])
        there = [o for o in sensor.outputs if any(given & set(g.columns) for g in o.groups)]
        for output in there:
            for group in output.groups:
                missing = [name for name in group.columns if name not in given]
                if not missing:
                    places = tuple(self._names.index(name) for name in group.columns)
                    parts.append(_Part(output.name, group, places))
                elif group.required or len(missing) < len(group.columns):
                    self._refuse(
                        len(self._names), f'the column {missing[0]} is missing ({sensor.name})'
                    )
        if not there and self._sensor_at is None:
            self._refuse(len(self._names), f'there is no field of {sensor.name}')
        return parts

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
            if len(cells) < self._least:
                self._cell(cells, len(cells))
            sensor = self._sensor(cells)
            t_ns = self._timestamp(cells)
            if t_ns < last_ns:
                self._refuse(
                    self._time_at + 1, f'{cells[self._time_at]} goes back', 'timestamp'
                )
            last_ns = t_ns
            smooth = self._smooth(cells)
            outputs = self._outputs(sensor, cells) if sensor in self._wanted else {}
            for output in outputs:
                if self._newest.get((sensor, output), -1) == t_ns:
                    text = f'{cells[self._time_at]} comes twice for {output} of {sensor}'
                    self._refuse(self._time_at + 1, text, 'timestamp')
                self._newest[sensor, output] = t_ns
            yield Row(self._line, t_ns, sensor, smooth, outputs)

    def _cell(self, cells: list[str], place: int) -> str:
        if place >= len(cells):
            self._refuse(
                place + 1, f'missing: the line has {len(cells)} columns', self._names[place]
            )
        return cells[place]

    def _sensor(self, cells: list[str]) -> str:
        if self._sensor_at is None:
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
        text = self._cell(cells, self._time_at)
        match = _TIMESTAMP.fullmatch(text)
        t_ns = -1
        if match is not None:
            t_ns = int(match[1]) * _NS_PER_US + int((match[2] or '').ljust(3, '0'))
        if not 0 <= t_ns <= _LAST_NS:
            self._refuse(
                self._time_at + 1,
                f'{text!r} must be microseconds >= 0, with up to three decimals',
                'timestamp',
            )
        return t_ns

    def _smooth(self, cells: list[str]) -> bool:
        if self._smooth_at is None:
            return False
        text = self._cell(cells, self._smooth_at)
        if text not in ('0', '1', 'false', 'true'):
            self._refuse(self._smooth_at + 1, f'{text!r} must be 0 or 1', 'smooth')
        return text in ('1', 'true')

    def _outputs(self, sensor: str, cells: list[str]) -> dict[str, Values]:
        """Return the values of a row by output and group."""
        outputs: dict[str, Values] = {}
        width = len(cells)
        if width < len(self._names):
            cells = cells + [''] * (len(self._names) - width)
        for output, group, places in self._parts[sensor]:
            texts = cells[places[0] : places[-1] + 1]
            if len(texts) != len(places):  # the columns are not side by side
                texts = [cells[i] for i in places]
            if not any(texts):
                continue
            if not all(texts):
                self._missing(width, places[texts.index('')])
            values = tuple([self._number(text, i) for text, i in zip(texts, places, strict=True)])
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
        for i in self._others[sensor]:
            if cells[i]:
                self._refuse(i + 1, f'{cells[i]!r}: {sensor} has no such field', self._names[i])
        parts = self._parts[sensor]
        if not outputs:
            place = parts[0].places[0] if parts else self._first_field
            self._missing(width, place)
        for output, group, places in self._needed[sensor]:
            values = outputs.get(output)
            if values is None or group.name in values:
                continue
            if group.name in POSITION and lacks_fix(values):
                continue
            self._missing(width, places[0])

    def _missing(self, width: int, place: int) -> NoReturn:
        cut = f'; the line has {width} columns' if place >= width else ''
        self._refuse(place + 1, f'missing{cut}', self._names[place])

    def _number(self, text: str, place: int) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value) or '_' in text:
            self._refuse(place + 1, f'{text!r} is not a finite number', self._names[place])
        return value
