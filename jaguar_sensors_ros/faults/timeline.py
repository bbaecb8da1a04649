"""Timelines: files that say which fault comes when, on which sensor."""

from __future__ import annotations

import fnmatch
from collections.abc import Collection
from dataclasses import dataclass, fields

from jaguar_sensors_ros import strict_yaml
from jaguar_sensors_ros.component import Declaration, ParameterError, nearest
from jaguar_sensors_ros.faults.base import NONE, FaultRequest
from jaguar_sensors_ros.types import NS_PER_S, JaguarError

#: most events in a timeline
MOST_EVENTS = 100_000
_LONGEST_S = 1e9
_TEXT = ('sensor', 'mode', 'target', 'axis')
_REQUIRED = ('at', 'sensor', 'mode')
_KEYS = ('at', 'sensor', *(field.name for field in fields(FaultRequest)))


@dataclass(frozen=True)
class Event:
    """One line of a timeline.

    Parameters
    ----------
    number : int
        Its place in the file, from 1.
    at_ns : int
        Measurement time since power-on [ns]; the first sample after it is the first affected.
    sensor : str
        Name or pattern of the sensor, see :func:`matches`.
    request : FaultRequest
        The fault; the mode none clears its target.
    """

    number: int
    at_ns: int
    sensor: str
    request: FaultRequest


@dataclass(frozen=True)
class Timeline:
    """The events of a file, by time; events of one time in the order of the file."""

    name: str
    events: tuple[Event, ...]

    @property
    def sensors(self) -> tuple[str, ...]:
        """The names and patterns of sensors, each once."""
        return tuple(dict.fromkeys(event.sensor for event in self.events))

    def of(self, sensor: str) -> tuple[Event, ...]:
        """Return the events of one sensor, given by its full name."""
        return tuple(event for event in self.events if matches(event.sensor, sensor))


def matches(pattern: str, sensor: str) -> bool:
    """Tell whether a name or pattern means a sensor.

    A pattern without a slash is compared with the last part of the full name of the sensor, one
    with a slash with all of it; ``*``, ``?`` and ``[...]`` stand for what they do in file names.

    Examples
    --------
    >>> matches('imu', '/robot1/imu'), matches('/robot2/imu', '/robot1/imu')
    (True, False)
    >>> matches('imu_*', 'imu_left'), matches('/robot*/gps', 'robot1/gps')
    (True, True)
    """
    full = sensor.strip('/')
    if '/' in pattern:
        return fnmatch.fnmatchcase(full, pattern.strip('/'))
    return fnmatch.fnmatchcase(full.rpartition('/')[2], pattern)


def parse(text: str, name: str, modes: Collection[str]) -> Timeline:
    """Read a timeline.

    Parameters
    ----------
    text : str
        YAML: a list of events, or a mapping with the only key ``events``.  An event has ``at``
        [s since power-on], ``sensor``, ``mode``, and what else InjectFailure.srv has.
    name : str
        What it is called in messages.
    modes : collection of str
        The known failure modes.

    Raises
    ------
    JaguarError
        naming the event and what is allowed.
    """
    content = strict_yaml.load(text, name)
    if isinstance(content, dict):
        if list(content) != ['events']:
            raise JaguarError(f"{name}: must be a list of events, or 'events:' with such a list")
        content = content['events']
    entries = strict_yaml.sequence([] if content is None else content, f'{name}: events')
    if len(entries) > MOST_EVENTS:
        raise JaguarError(f'{name}: more than {MOST_EVENTS} events')
    events = [
        _event(entry, number, f'{name}: event {number}', modes)
        for number, entry in enumerate(entries, 1)
    ]
    return Timeline(name, tuple(sorted(events, key=lambda event: event.at_ns)))


def read(path: str, modes: Collection[str]) -> Timeline:
    """Read a timeline from a file (see :func:`parse`)."""
    return parse(strict_yaml.read_file(path), path, modes)


def _event(entry: object, number: int, where: str, modes: Collection[str]) -> Event:
    given = strict_yaml.mapping(entry, where)
    for key in given:
        if key not in _KEYS:
            raise JaguarError(f'{where}: there is no key {key}; {nearest(key, _KEYS)}')
    missing = [key for key in _REQUIRED if key not in given]
    if missing:
        raise JaguarError(f'{where}: {", ".join(missing)} is missing')
    try:
        values = {key: _declared(key).check(value) for key, value in given.items()}
    except ParameterError as error:
        raise JaguarError(f'{where}: {error}') from None
    at_s, sensor = values.pop('at'), values.pop('sensor')
    if not sensor:
        raise JaguarError(f'{where}: sensor must be a name or a pattern such as imu_*')
    if values['mode'] not in (NONE, *modes):
        raise JaguarError(
            f"{where}: mode '{values['mode']}' is unknown; valid: {', '.join((NONE, *modes))}"
        )
    return Event(number, round(at_s * NS_PER_S), sensor, FaultRequest(**values))


def _declared(key: str) -> Declaration:
    """Return what a key may be; what the mode makes of it the sensor checks."""
    if key in _TEXT:
        return Declaration(key, '', 'string', '')
    if key == 'repeat':
        return Declaration(key, 0, 'integer', '', minimum=0.0)
    if key == 'magnitude':
        return Declaration(key, 0.0, 'number', '')
    return Declaration(key, 0.0, 'number', '', unit='s', minimum=0.0, maximum=_LONGEST_S)
