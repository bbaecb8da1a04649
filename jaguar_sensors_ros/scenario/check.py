"""Looks at a scenario file before it is played."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from jaguar_sensors_ros.scenario.fields import SENSORS
from jaguar_sensors_ros.scenario.reader import ScenarioError, ScenarioReader


class Finding(NamedTuple):
    """What was found: the sensors that have rows, time of the first row [ns], if all was read."""

    sensors: frozenset[str]
    first_ns: int
    whole: bool


def check(path: Path, alone: str, lines: int) -> Finding:
    """Read the first rows of a file and refuse what is broken.

    Parameters
    ----------
    path : Path
        The file.
    alone : str
        The sensor that a file without the column ``sensor`` is for.
    lines : int
        Most rows to read; 0: all.

    Raises
    ------
    ScenarioError
        naming file, line and column.
    """
    reader = ScenarioReader(path, SENSORS, alone)
    found: set[str] = set()
    first_ns = 0
    try:
        for number, row in enumerate(reader.rows(), start=1):
            if number == 1:
                first_ns = row.t_ns
            found.add(row.sensor)
            if number == lines:
                return Finding(frozenset(found), first_ns, False)
    finally:
        reader.close()
    if not found:
        raise ScenarioError(f'{path}: line 2, column 1: there are no rows')
    return Finding(frozenset(found), first_ns, True)
