"""Isolation of the live tests, and the fixtures that start nodes; see ros_helpers."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

from jaguar_sensors_ros.ros.domain import announcing_often, claim_domain

# Before anything imports rclpy, and inherited by every process that a test starts.
_DOMAIN, _CLAIM = claim_domain()
_LOGS = tempfile.TemporaryDirectory(prefix='jaguar_sensors_test_')
os.environ.update(
    ROS_DOMAIN_ID=str(_DOMAIN),
    ROS_AUTOMATIC_DISCOVERY_RANGE='LOCALHOST',  # Iron and newer
    ROS_LOCALHOST_ONLY='1',  # Humble
    ROS_PYTHON_CHECK_FIELDS='1',  # Jazzy and newer; Humble checks by default
    ROS_LOG_DIR=_LOGS.name,
    RCUTILS_COLORIZED_OUTPUT='0',
    **announcing_often(Path(_LOGS.name), 0.2),
)
for _name in ('ROS_STATIC_PEERS', 'ROS_NAMESPACE', 'RCUTILS_CONSOLE_OUTPUT_FORMAT'):
    os.environ.pop(_name, None)


def pytest_unconfigure() -> None:
    """Give back what was claimed."""
    _CLAIM.close()
    _LOGS.cleanup()


@pytest.fixture(scope='session')
def ros():
    """Initialise rclpy once for the whole run."""
    rclpy = pytest.importorskip('rclpy')
    rclpy.init(args=[])
    yield rclpy
    rclpy.try_shutdown()


@pytest.fixture
def graph(ros):
    """Return a :class:`ros_helpers.Graph`: the test's own node; all it started is ended."""
    from ros_helpers import Graph

    with Graph() as test_graph:
        yield test_graph
