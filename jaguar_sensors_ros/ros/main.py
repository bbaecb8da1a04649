"""The executables; what they need is imported only when its absence can be explained."""

from __future__ import annotations

import os
import signal
from importlib import import_module
from typing import Any


def _leave(number: int, frame: object) -> None:
    """End at once: nothing has been made yet that would have to be ended."""
    os._exit(0)


def _run(module: str, name: str) -> int:
    """Run the node that a class of a module of ``ros`` makes; see :func:`compat.run`."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    from jaguar_sensors_ros.ros import compat

    def make() -> Any:
        compat.require_interfaces()
        return getattr(import_module(f'jaguar_sensors_ros.ros.{module}'), name)()

    return compat.run(make)


def imu_node() -> int:
    """Run imu_node."""
    return _run('imu_node', 'ImuNode')


def gps_node() -> int:
    """Run gps_node."""
    return _run('gps_node', 'GpsNode')


def mag_node() -> int:
    """Run mag_node."""
    return _run('mag_node', 'MagNode')


def baro_node() -> int:
    """Run baro_node."""
    return _run('baro_node', 'BaroNode')


def truth_node() -> int:
    """Run truth_node."""
    return _run('truth_node', 'TruthNode')


def sensor_suite() -> int:
    """Run sensor_suite."""
    return _run('suite_node', 'SuiteNode')


def scenario_node() -> int:
    """Run scenario_node."""
    return _run('scenario_node', 'ScenarioNode')
