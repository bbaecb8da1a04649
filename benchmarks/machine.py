"""The machine and the software that the numbers are from."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ('numpy', 'scipy', 'numba', 'python-ins', 'allantools', 'smsfusion',
            'imu-error-model', 'bsk', 'ros-rclpy')  # fmt: skip


def _first(path: str, pattern: str) -> str:
    try:
        found = re.search(pattern, Path(path).read_text(), re.MULTILINE)
    except OSError:
        return ''
    return found[1].strip() if found else ''


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ''


def describe() -> dict[str, object]:
    """Return what identifies the machine, with its load at this moment."""
    memory_kb = _first('/proc/meminfo', r'^MemTotal:\s*(\d+)')
    return {
        'cpu': _first('/proc/cpuinfo', r'^model name\s*:(.*)$') or platform.processor(),
        'cores': len(os.sched_getaffinity(0)),
        'memory_gb': round(int(memory_kb or 0) / 1e6, 1),
        'system': f'{platform.system()} {platform.release()}',
        'python': platform.python_version(),
        'ros': os.environ.get('ROS_DISTRO') or 'kilted, wheels',
        'rmw': os.environ.get('RMW_IMPLEMENTATION') or 'default (Fast DDS)',
        'load': round(os.getloadavg()[0], 2),
        'packages': {name: found for name in PACKAGES if (found := _version(name))},
    }


def one_line(machine: dict[str, object]) -> str:
    """Return it in a line."""
    return (
        f'{machine["cpu"]}, {machine["cores"]} cores, {machine["memory_gb"]} GB, '
        f'{machine["system"]}, Python {machine["python"]}, ROS 2 {machine["ros"]}'
    )
