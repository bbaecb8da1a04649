"""Starts suites in the process of a test and writes their files; see ros_helpers."""

from __future__ import annotations

import math
import threading
from pathlib import Path
from typing import Any

import yaml
from rclpy.parameter import Parameter
from ros_helpers import Graph, Running

from jaguar_sensors_ros.ros import compat
from jaguar_sensors_ros.ros.suite_node import SuiteNode

_DEEP = 100_000
_DEEP_TOPICS = {
    'imu': ('data', 'data_raw', 'increments', 'error'),
    'gps': ('fix', 'vel', 'vel_body', 'solution', 'error'),
    'mag': ('error',),
    'baro': ('pressure', 'error'),
    'fused': ('data', 'data_raw', 'redundancy'),
}
#: three mounts of redundant IMUs: position [m], roll pitch yaw [rad]
MOUNTS = {
    'imu_front': ([0.5, 0.0, 0.1], [0.0, 0.0, 0.0]),
    'imu_rear': ([-0.6, 0.2, 0.0], [0.0, 0.0, math.pi]),
    'imu_left': ([0.1, 0.4, -0.2], [0.3, -0.2, 1.1]),
}


def imu(name: str, **parameters: Any) -> dict[str, Any]:
    """Return the entry of an IMU at its place in MOUNTS."""
    position, rpy = MOUNTS.get(name, ([0.0] * 3, [0.0] * 3))
    mount = {'position': position, 'rpy': rpy}
    return {'name': name, 'type': 'imu', 'parameters': {'mount': mount, **parameters}}


def triple(fused: dict[str, Any] | None = None, **common: Any) -> dict[str, Any]:
    """Return three redundant IMUs, with a fused output where ``fused`` says how."""
    suite: dict[str, Any] = {'sensors': [imu(name) for name in MOUNTS]}
    suite['common'] = {'random_seed': 5, **common}
    if fused is not None:
        suite['fused'] = [{'name': 'imu', 'inputs': list(MOUNTS), **fused}]
    return suite


def write(folder: Path, suite: dict[str, Any]) -> str:
    """Write a suite file and return its path."""
    path = folder / 'suite.yaml'
    path.write_text(yaml.safe_dump(suite, sort_keys=False), encoding='utf-8')
    return str(path)


def deep(suite: dict[str, Any], namespace: str = '') -> list[tuple[str, Any]]:
    """Return QoS overrides under which no message of a suite is lost."""
    prefixes = {namespace}
    found: list[tuple[str, Any]] = []
    for entry in [*suite['sensors'], *suite.get('fused', [])]:
        parts = [namespace, *([entry['namespace']] if entry.get('namespace') else [])]
        prefixes.add('/'.join(parts))
        full = '/'.join([*parts, entry['name']])
        topics = _DEEP_TOPICS[entry.get('type', 'fused')]
        found += [(f'qos_overrides.{full}/{topic}.publisher.depth', _DEEP) for topic in topics]
    for prefix in sorted(prefixes):
        topic = f'qos_overrides.{prefix}/ground_truth/odom.subscription'
        found += [(f'{topic}.reliability', 'reliable'), (f'{topic}.depth', _DEEP)]
    return found


class RunningSuite(Running):
    """A suite in this process, all its nodes served by one thread as in production."""

    def __init__(self, **options: Any) -> None:
        self.node = SuiteNode(**options)
        self._executor = compat.make_executor()
        for node in compat.nodes_of(self.node):
            self._executor.add_node(node)
        self._stop = False
        self.error = None
        self._thread = threading.Thread(target=self._spin, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Stop and destroy the nodes; raise what their callbacks raised."""
        if not self._stop:
            self._stop = True
            self._thread.join()
            for node in compat.nodes_of(self.node):
                self._executor.remove_node(node)
            self._executor.shutdown()
            self.node.destroy_node()
        if self.error is not None:
            error, self.error = self.error, None
            raise error

    def received(self) -> int:
        """Return how many truth messages were taken, by all sensors."""
        return sum(node._intake.received for node in self.node.sensors.values())


def start(
    graph: Graph, folder: Path, suite: dict[str, Any], namespace: str = '', **parameters: Any
) -> RunningSuite:
    """Start a suite in this process; parameters are given over ROS to all its sensors."""
    overrides = [Parameter(name, value=value) for name, value in deep(suite, namespace)]
    overrides += [Parameter(n.replace('__', '.'), value=v) for n, v in parameters.items()]
    running = RunningSuite(
        parameter_overrides=[Parameter('suite_file', value=write(folder, suite))],
        member_overrides=overrides,
        cli_args=['--ros-args', '-r', f'__ns:={namespace}'] if namespace else None,
    )
    graph._started.append(running)
    return running
