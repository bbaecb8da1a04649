"""The file of a sensor suite: which sensors, with which parameters, and which fused outputs.

Read without ROS.  See docs/suite.md for the form.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jaguar_sensors_ros import strict_yaml
from jaguar_sensors_ros.catalogue import SENSORS, make_settings, require_type
from jaguar_sensors_ros.component import build, declarations
from jaguar_sensors_ros.redundancy.settings import FusedSettings
from jaguar_sensors_ros.sensors.mag_settings import MagSettings
from jaguar_sensors_ros.types import JaguarError

Values = dict[str, object]

_KEYS = ('sensors', 'common', 'fused')
_SENSOR_KEYS = ('name', 'type', 'namespace', 'parameters')
_FUSED_KEYS = ('name', 'inputs', 'method', 'namespace', 'parameters')
#: what ROS takes as a name; the length leaves room for topics below the limit of DDS
_NAME = re.compile(r'(?!.*__)[A-Za-z_][A-Za-z0-9_]{0,99}')
#: type of the sensors that can be fused
_FUSIBLE = 'imu'


@dataclass(frozen=True)
class Member:
    """One node of a suite; ``namespace`` is relative to that of the suite.

    ``values`` are its parameters by dotted name, those common to all included.
    """

    name: str
    namespace: str
    values: Values

    @property
    def path(self) -> str:
        """The name with the namespace, relative to that of the suite."""
        return f'{self.namespace}/{self.name}' if self.namespace else self.name


@dataclass(frozen=True)
class SensorEntry(Member):
    """A sensor of the catalogue."""

    type: str


@dataclass(frozen=True)
class FusedEntry(Member):
    """A fused output; ``inputs`` are the paths of IMUs of the suite."""

    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Suite:
    """What a suite file says."""

    sensors: tuple[SensorEntry, ...]
    fused: tuple[FusedEntry, ...]


def read(path: str | Path) -> Suite:
    """Return what a suite file says.

    Raises
    ------
    JaguarError
        naming the file and the entry, and what is allowed.
    """
    return parse(strict_yaml.read_file(path), str(path))


def parse(text: str, name: str) -> Suite:
    """Return what the text of a suite file says; ``name`` is what messages call it.

    Raises
    ------
    JaguarError
        naming the entry and what is allowed.
    """
    top = strict_yaml.mapping(strict_yaml.load(text, name), name)
    _known(top, _KEYS, name)
    where = f'{name}: common'
    common = _common(parameters_in(top.get('common'), where), where)
    sensors = [
        sensor_entry(entry, f'{name}: sensors[{i}]', common)
        for i, entry in enumerate(_entries(top, 'sensors', name))
    ]
    if not sensors:
        raise JaguarError(f'{name}: sensors: at least one sensor is needed')
    _unique([_mag_topic(s) for s in sensors if s.type == 'mag'], f'{name}: imu_name')
    imus = [sensor.path for sensor in sensors if sensor.type == _FUSIBLE]
    fused = [
        _fused(entry, f'{name}: fused[{i}]', imus)
        for i, entry in enumerate(_entries(top, 'fused', name))
    ]
    _unique([member.path for member in (*sensors, *fused)], name)
    return Suite(tuple(sensors), tuple(fused))


def _entries(top: Mapping[str, object], key: str, name: str) -> list[object]:
    given = top.get(key)
    return [] if given is None else strict_yaml.sequence(given, f'{name}: {key}')


def sensor_entry(given: object, where: str, common: Values) -> SensorEntry:
    """Return an entry of ``sensors``, its parameters checked; ``common`` ones come beneath.

    Raises
    ------
    JaguarError
        naming ``where`` and what is allowed.
    """
    entry = strict_yaml.mapping(given, where)
    name = _name(entry, where)
    where = f'{where} ({name})'
    _known(entry, _SENSOR_KEYS, where)
    own = parameters_in(entry.get('parameters'), f'{where}: parameters')
    try:
        kind = require_type(entry.get('type'))
        names = {declared.name for declared in declarations(SENSORS[kind][1])}
        values = {**{n: value for n, value in common.items() if n in names}, **own}
        make_settings(kind, values)
    except JaguarError as error:
        raise JaguarError(f'{where}: {error}') from None
    return SensorEntry(name, _namespace(entry, where), values, kind)


def _mag_topic(sensor: SensorEntry) -> str:
    """Return the topic of a magnetometer, which is that of its IMU (REP-145)."""
    topic = f'{sensor.values.get("imu_name", MagSettings.imu_name)}/mag'
    return f'{sensor.namespace}/{topic}' if sensor.namespace else topic


def _fused(given: object, where: str, imus: list[str]) -> FusedEntry:
    entry = strict_yaml.mapping(given, where)
    name = _name(entry, where)
    where = f'{where} ({name})'
    _known(entry, _FUSED_KEYS, where)
    values = parameters_in(entry.get('parameters'), f'{where}: parameters')
    if 'method' in entry:
        if 'method' in values:
            raise JaguarError(f'{where}: method is given twice')
        values['method'] = entry['method']
    inputs = strict_yaml.sequence(entry.get('inputs'), f'{where}: inputs')
    for path in inputs:
        if path not in imus:
            raise JaguarError(
                f'{where}: inputs: {path!r} is no IMU of the suite; there are: '
                f'{", ".join(imus) or "none"}'
            )
    _unique([str(path) for path in inputs], f'{where}: inputs')
    try:
        settings = build(FusedSettings, values)
    except JaguarError as error:
        raise JaguarError(f'{where}: {error}') from None
    if len(inputs) < max(2, settings.min_inputs):
        raise JaguarError(f'{where}: inputs: at least {max(2, settings.min_inputs)} are needed')
    return FusedEntry(name, _namespace(entry, where), values, tuple(map(str, inputs)))


def _common(values: Values, where: str) -> Values:
    """Return the common parameters if each belongs to a type of sensor and is valid for it."""
    for name, value in values.items():
        kinds = [
            kind
            for kind, (_, settings) in SENSORS.items()
            if name in {declared.name for declared in declarations(settings)}
        ]
        for kind in kinds or SENSORS:
            known = {d.name: d for d in declarations(SENSORS[kind][1])}
            try:
                if name not in known:
                    make_settings(kind, {name: value})
                known[name].check(value)
            except JaguarError as error:
                raise JaguarError(f'{where}: {error}') from None
    return values


def parameters_in(given: object, where: str) -> Values:
    """Return parameters by dotted name from nested or dotted ones."""
    found: Values = {}
    if given is None:
        return found
    stack = [('', strict_yaml.mapping(given, where))]
    while stack:
        prefix, group = stack.pop()
        for key, value in group.items():
            name = prefix + key
            if isinstance(value, dict):
                stack.append((f'{name}.', strict_yaml.mapping(value, f'{where}: {name}')))
            elif name in found:
                raise JaguarError(f'{where}: {name} is given twice')
            else:
                found[name] = _even(value)
    return found


def _even(value: object) -> object:
    """Return a list of whole numbers and fractions with fractions only; all else as it is."""
    if isinstance(value, list) and {type(item) for item in value} == {int, float}:
        return [float(item) for item in value]
    return value


def _name(entry: Mapping[str, object], where: str) -> str:
    name = entry.get('name')
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise JaguarError(
            f'{where}: name {name!r:.60} is not valid: letters, digits and single _, at most '
            '100, no digit first'
        )
    return name


def _namespace(entry: Mapping[str, object], where: str) -> str:
    given = entry.get('namespace', '')
    if not isinstance(given, str) or not all(
        _NAME.fullmatch(part) for part in (given.split('/') if given else ())
    ):
        raise JaguarError(
            f'{where}: namespace {given!r:.60} is not valid: names joined by /, relative to the '
            'namespace of the suite'
        )
    return given


def _known(entry: Mapping[str, object], keys: Iterable[str], where: str) -> None:
    for key in entry:
        if key not in keys:
            near = difflib.get_close_matches(key, keys, n=1)
            hint = f'; did you mean {near[0]}?' if near else ''
            raise JaguarError(f'{where}: {key} is unknown; allowed: {", ".join(keys)}{hint}')


def _unique(paths: Iterable[str], where: str) -> None:
    seen: set[str] = set()
    for path in paths:
        if path in seen:
            raise JaguarError(f'{where}: {path} is named twice')
        seen.add(path)
