"""Which sensors to simulate: from a suite file, or from a parameter file of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jaguar_sensors_ros import strict_yaml, suite_file
from jaguar_sensors_ros.catalogue import SENSORS
from jaguar_sensors_ros.component import declarations
from jaguar_sensors_ros.suite_file import SensorEntry, Values
from jaguar_sensors_ros.types import JaguarError

_PARAMETERS = 'ros__parameters'


@dataclass(frozen=True)
class Config:
    """The sensors, and what of the file is left out."""

    sensors: tuple[SensorEntry, ...]
    remarks: tuple[str, ...] = ()


def default() -> Config:
    """Return an IMU and a GNSS receiver with default parameters."""
    return Config(tuple(SensorEntry(kind, '', {}, kind) for kind in ('imu', 'gps')))


def read(path: Path) -> Config:
    """Read a file of sensors.

    Either a suite file, or one with parameters of nodes (``/**/imu: ros__parameters: ...``),
    where the name of a node must be that of a type of sensor.  What ``/**`` says is for all.

    Raises
    ------
    JaguarError
        naming the file and the entry, and what is allowed.
    """
    text = strict_yaml.read_file(path)
    top = strict_yaml.load(text, str(path))
    if isinstance(top, dict) and any(
        isinstance(entry, dict) and _PARAMETERS in entry for entry in top.values()
    ):
        return _of_nodes(strict_yaml.mapping(top, str(path)), str(path))
    suite = suite_file.parse(text, str(path))
    names = ', '.join(fused.path for fused in suite.fused)
    remarks = (f'{path}: fused outputs are left out: {names}',) if names else ()
    return Config(suite.sensors, remarks)


def _of_nodes(top: Mapping[str, object], name: str) -> Config:
    common: Values = {}
    nodes: dict[str, Values] = {}
    for key, entry in top.items():
        where = f'{name}: {key}'
        given = strict_yaml.mapping(entry, where)
        if list(given) != [_PARAMETERS]:
            raise JaguarError(f'{where}: must have {_PARAMETERS} and nothing else')
        values = suite_file.parameters_in(given[_PARAMETERS], where)
        path = '/'.join(part for part in key.split('/') if part not in ('', '**'))
        if path in nodes:
            raise JaguarError(f'{where}: {path} is named twice')
        if path:
            nodes[path] = values
        else:
            common.update(values)
    remarks, sensors = [], []
    for path, values in nodes.items():
        namespace, _, node = path.rpartition('/')
        if node not in SENSORS:
            remarks.append(
                f'{name}: {path} is left out: a node is a sensor here if its name is '
                f'{" or ".join(SENSORS)}; for other names write a suite file'
            )
            continue
        known = {declared.name for declared in declarations(SENSORS[node][1])}
        shared = {key: value for key, value in common.items() if key in known}
        entry = {'name': node, 'type': node, 'namespace': namespace, 'parameters': values}
        sensors.append(suite_file.sensor_entry(entry, f'{name}: {path}', shared))
    if not sensors:
        raise JaguarError(f'{name}: names no sensor; a node must be {" or ".join(SENSORS)}')
    return Config(tuple(sensors), tuple(remarks))
