"""Twelve IMUs at 200 Hz and four GPS receivers in one suite on one core."""

from __future__ import annotations

import os

import pytest

pytest.importorskip('rclpy')

import suite_helpers
import yaml
from ros_helpers import circle
from sensor_msgs.msg import Imu, NavSatFix

pytestmark = [pytest.mark.ros, pytest.mark.slow]

SECONDS = 5
SUITE = {
    'sensors': [
        {'name': f'imu_{i}', 'type': 'imu', 'parameters': {'mount.position': [0.1 * i, 0.0, 0.0]}}
        for i in range(12)
    ]
    + [{'name': f'gps_{i}', 'type': 'gps', 'parameters': {}} for i in range(4)],
    'common': {'random_seed': 1},
}


@pytest.fixture
def cores():
    """Return two cores, the same twice on a machine with one; undo the pinning at the end."""
    free = os.sched_getaffinity(0)
    yield min(free), max(free)
    os.sched_setaffinity(0, free)


def test_exact_counts_on_one_core(graph, tmp_path, cores):
    parameters = tmp_path / 'parameters.yaml'
    deep = {'/**': {'ros__parameters': dict(suite_helpers.deep(SUITE))}}
    parameters.write_text(yaml.safe_dump(deep))
    os.sched_setaffinity(0, {cores[0]})  # inherited by the suite
    graph.program(
        'sensor_suite', '-p', f'suite_file:={suite_helpers.write(tmp_path, SUITE)}',
        '--params-file', str(parameters),
    )  # fmt: skip
    os.sched_setaffinity(0, {cores[1]})
    data = [graph.collect(Imu, f'/imu_{i}/data') for i in range(12)]
    fix = [graph.collect(NavSatFix, f'/gps_{i}/fix') for i in range(4)]
    graph.feed(circle(0.0, SECONDS, 100))
    for got in data:
        stamps = got.until_stamp(SECONDS).stamps
        assert stamps == [k * 5_000_000 for k in range(1, 200 * SECONDS + 1)], got.topic
    for got in fix:
        stamps = got.until_stamp(SECONDS).stamps
        assert stamps == [k * 1_000_000_000 for k in range(1, SECONDS + 1)], got.topic
