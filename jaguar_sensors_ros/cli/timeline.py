"""inject --timeline: a file of faults for all the sensors that it names."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from jaguar_sensors_ros.catalogue import FAULTS, SENSORS
from jaguar_sensors_ros.cli.graph import DONE, FAILED, open_client, status_of
from jaguar_sensors_ros.faults.base import FaultError, FaultRequest
from jaguar_sensors_ros.faults.rules import Rules
from jaguar_sensors_ros.faults.timeline import Timeline, matches, parse
from jaguar_sensors_ros.strict_yaml import LONGEST, read_file
from jaguar_sensors_ros.types import JaguarError

if TYPE_CHECKING:
    from jaguar_sensors_ros.ros.client import SensorClient


def run(options: argparse.Namespace) -> int:
    """Check a timeline, find all the sensors it names, load it into each."""
    text, timeline = _read(options.timeline)
    with open_client(options.timeout) as client:
        nodes = _named(client, timeline)

        def requests(node: str) -> list[tuple[str, FaultRequest]]:
            name = timeline.name
            return [(f'{name}: event {e.number}: ', e.request) for e in timeline.of(node)]

        check(client.types(nodes), requests)
        return _load(client, nodes, text)


def _read(path: str) -> tuple[str, Timeline]:
    if not path:
        raise JaguarError('--timeline: the name of a file is missing')
    name = 'stdin' if path == '-' else path
    text = _standard_input() if path == '-' else read_file(path)
    timeline = parse(text, name, FAULTS)
    if not timeline.events:
        raise JaguarError(f'{name}: has no events; jaguar_sensors clear takes faults away')
    return text, timeline


def _standard_input() -> str:
    try:
        return sys.stdin.read(LONGEST + 1)
    except UnicodeDecodeError as error:
        raise JaguarError(f'stdin: cannot be read: {error}') from None


def _named(client: SensorClient, timeline: Timeline) -> list[str]:
    """Return the sensors that the timeline names, once each of its names is there."""

    def missing(nodes: Iterable[str]) -> list[str]:
        there = list(nodes)
        return [p for p in timeline.sensors if not any(matches(p, node) for node in there)]

    there = client.every_sensor(lambda nodes: not missing(nodes))
    if missing(there):
        raise client.not_found('sensor', ', '.join(missing(there)), there)
    return [node for node in there if timeline.of(node)]


def check(
    types: Mapping[str, str], requests: Callable[[str], list[tuple[str, FaultRequest]]]
) -> None:
    """Check requests by the rules of each sensor, given by name and type, before they are sent.

    Raises
    ------
    FaultError
        naming the sensor, and before it what comes with the request.
    """
    for node, kind in types.items():
        if kind not in SENSORS:
            continue  # it will say itself
        rules = Rules(SENSORS[kind][0].channels, FAULTS)
        for where, request in requests(node):
            refusal = rules.refusal(request)
            if refusal:
                raise FaultError(f'{where}{node}: {refusal}; nothing was sent')


def _load(client: SensorClient, nodes: list[str], text: str) -> int:
    for place, node in enumerate(nodes):
        status = _load_one(client, node, text)
        if status != DONE:
            for other in nodes[:place]:
                _take_back(client, other)
            return status
    return DONE


def _load_one(client: SensorClient, node: str, text: str) -> int:
    try:
        print(f'{node}: {client.load_timeline(node, text)}', flush=True)
    except JaguarError as error:
        status = status_of(error)
        perhaps = '; it may have taken it all the same' if status == FAILED else ''
        print(f'jaguar_sensors: {error}{perhaps}', file=sys.stderr)
        return status
    return DONE


def _take_back(client: SensorClient, node: str) -> None:
    """Leave a sensor without a timeline; one that it had before is gone."""
    try:
        client.load_timeline(node, '')
        print(f'jaguar_sensors: {node}: taken back, it has no timeline now', file=sys.stderr)
    except JaguarError as error:
        print(f'jaguar_sensors: {node}: still has it: {error}', file=sys.stderr)
