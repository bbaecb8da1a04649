"""The columns of a scenario file, from the names in its first row."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from jaguar_sensors_ros.component import nearest
from jaguar_sensors_ros.scenario.fields import SENSORS, Group, SensorFields

_NAME = re.compile(r'(\w+)(?:\s*\[(.*)\])?', re.ASCII)

#: raises the error for a column, counted from 1; takes a text and the name of the column
Refuse = Callable[..., NoReturn]


class Part(NamedTuple):
    """A group of an output and the places of its columns."""

    output: str
    group: Group
    places: tuple[int, ...]


class Layout:
    """Which column holds what.

    Parameters
    ----------
    cells : list of str
        The first row.
    alone : str
        The sensor that a file without the column ``sensor`` is for.
    refuse : callable
        Raises the error where a name is wrong.

    Attributes
    ----------
    sensor_at, time_at, smooth_at, first_field : int
        Places of the first columns; None for ``sensor`` and ``smooth`` where they are not there.
    parts, needed : dict
        The groups of each sensor, and those of them that an output must have.
    others : dict
        The columns of fields that are not of a sensor.
    least : int
        Fewest columns of a row.
    """

    def __init__(self, cells: list[str], alone: str, refuse: Refuse) -> None:
        self._alone, self._refuse = alone, refuse
        self.names: list[str] = []
        units: list[str | None] = []
        for i, cell in enumerate(cells):
            text = cell.strip().strip('"')
            match = _NAME.fullmatch(text)
            if match is None:
                refuse(i + 1, f'{text!r} is no name of a column')
            if match[1] in self.names:
                refuse(i + 1, 'this column is there twice', match[1])
            self.names.append(match[1])
            units.append(match[2])
        self._fixed_columns()
        self.parts: dict[str, list[Part]] = {}
        self.others: dict[str, list[int]] = {}
        self._field_columns(units)

    def _fixed_columns(self) -> None:
        """Find sensor, timestamp and smooth, which come first in this order."""
        names, place = self.names, 0
        self.sensor_at: int | None = None
        if names[0] == 'sensor':
            self.sensor_at, place = 0, 1
        elif not self._alone:
            self._refuse(
                1, f'{names[0]!r}: a file for several sensors begins with the column sensor'
            )
        if names[place : place + 1] != ['timestamp']:
            self._refuse(place + 1, 'the column timestamp is missing here')
        self.time_at, place = place, place + 1
        self.smooth_at: int | None = None
        if names[place : place + 1] == ['smooth']:
            self.smooth_at, place = place, place + 1
        self.first_field = place
        if place == len(names):
            self._refuse(place, 'there are no columns of fields')

    def _field_columns(self, units: list[str | None]) -> None:
        """Find the groups of each sensor that the file can hold."""
        first, names = self.first_field, self.names
        possible = list(SENSORS) if self.sensor_at is not None else [self._alone]
        numbered = [f'fld{i + 1}' for i in range(len(names) - first)]
        is_numbered = names[first:] == numbered
        # rows of several sensors may end where their fields do
        self.least = first if is_numbered and self.sensor_at is not None else len(names)
        if is_numbered:
            for sensor in possible:
                self.parts[sensor] = self._numbered_parts(SENSORS[sensor])
        else:
            self._check_names(possible, units)
            for sensor in possible:
                self.parts[sensor] = self._named_parts(SENSORS[sensor])
        self.needed = {s: [p for p in ps if p.group.required] for s, ps in self.parts.items()}
        for sensor, parts in self.parts.items():
            own = {place for part in parts for place in part.places}
            self.others[sensor] = [i for i in range(first, len(names)) if i not in own]

    def _numbered_parts(self, sensor: SensorFields) -> list[Part]:
        parts, place = [], self.first_field
        for output, group in sensor.groups():
            end = place + len(group.columns)
            if end > len(self.names):
                break
            parts.append(Part(output.name, group, tuple(range(place, end))))
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
        for i in range(self.first_field, len(self.names)):
            name, unit = self.names[i], units[i]
            if name not in known:
                whose = self._alone if self.sensor_at is None else 'any sensor'
                hint = nearest(name, known)
                self._refuse(i + 1, f'{name!r} is no field of {whose}; {hint}')
            if unit is not None and unit != known[name]:
                self._refuse(i + 1, f'unit {unit!r}: must be {known[name]}', name)

    def _named_parts(self, sensor: SensorFields) -> list[Part]:
        parts, given = [], set(self.names[self.first_field :])
        there = [o for o in sensor.outputs if any(given & set(g.columns) for g in o.groups)]
        for output in there:
            for group in output.groups:
                missing = [name for name in group.columns if name not in given]
                if not missing:
                    places = tuple(self.names.index(name) for name in group.columns)
                    parts.append(Part(output.name, group, places))
                elif group.required or len(missing) < len(group.columns):
                    self._refuse(
                        len(self.names), f'the column {missing[0]} is missing ({sensor.name})'
                    )
        if not there and self.sensor_at is None:
            self._refuse(len(self.names), f'there is no field of {sensor.name}')
        return parts
