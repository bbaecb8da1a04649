"""The launch file, run by the real ``ros2 launch``.

launch_ros and ros2cli are not among the packages that a machine without ROS gets; the tests that
need them run where they are importable.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest
from launch_helpers import launch_arguments

ROOT = Path(__file__).resolve().parent.parent
LAUNCH_FILE = ROOT / 'launch' / 'imu_gps.launch.py'
#: names fixed by the contract
CONTRACT = {
    'truth', 'odom_topic', 'imu_params', 'gps_params', 'fidelity', 'grade', 'random_seed',
    'namespace', 'frame_prefix', 'use_sim_time', 'ekf', 'ekf_params', 'rviz', 'respawn',
    'log_level',
}  # fmt: skip

needs_ros2_launch = pytest.mark.skipif(
    importlib.util.find_spec('launch_ros') is None or shutil.which('ros2') is None,
    reason='launch_ros and the ros2 command are not installed on this machine',
)

TWICE = '''
from launch import LaunchDescription
from launch.actions import GroupAction, IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource


def include(name, seed):
    return GroupAction([IncludeLaunchDescription(
        PythonLaunchDescriptionSource({path!r}),
        launch_arguments={{
            'namespace': name, 'truth': 'circle', 'frame_prefix': name + '/',
            'random_seed': str(seed), 'fidelity': 'transparent',
        }}.items(),
    )])


def generate_launch_description():
    return LaunchDescription([include('robot1', 1), include('robot2', 2)])
'''


@pytest.fixture
def launch(ros):
    """Return a function that starts ``ros2 launch``; all of it is interrupted at the end."""
    running = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            ['ros2', 'launch', *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=dict(os.environ),
            start_new_session=True,
        )
        running.append(process)
        return process

    yield start
    for process in running:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        try:
            process.communicate(timeout=15)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise


def test_arguments_are_those_of_the_contract_and_described():
    arguments = launch_arguments(LAUNCH_FILE)
    assert set(arguments) == CONTRACT
    assert all(arguments.values())


@needs_ros2_launch
def test_launch_in_a_namespace_publishes_and_passes_arguments_on(graph, launch):
    from sensor_msgs.msg import Imu, NavSatFix

    process = launch(
        'jaguar_sensors_ros', 'imu_gps.launch.py', 'truth:=demo', 'namespace:=robot1',
        'frame_prefix:=robot1/', 'grade:=consumer', 'random_seed:=3', 'log_level:=warn',
    )  # fmt: skip
    imu = graph.collect(Imu, '/robot1/imu/data').until_count(100)
    fixes = graph.collect(NavSatFix, '/robot1/gps/fix').until_count(2)
    assert imu[0].header.frame_id == 'robot1/imu_link'
    assert fixes[0].header.frame_id == 'robot1/gps_link'
    assert graph.get('/robot1/imu', 'grade', 'random_seed') == ['consumer', 3]
    assert graph.get('/robot1/imu', 'fidelity') == 'realistic'  # left empty: not passed on
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=15)
    assert process.returncode == 0
    assert 'Traceback' not in output
    assert output.count('process has finished cleanly') == 3


@needs_ros2_launch
def test_parameter_file_wins_over_empty_arguments(graph, launch, tmp_path):
    file = tmp_path / 'imu.yaml'
    file.write_text(
        '/**/imu:\n  ros__parameters:\n    grade: industrial\n    sample_rate_hz: 50.0\n'
        '    random_seed: 11\n    fidelity: transparent\n'
    )
    launch('jaguar_sensors_ros', 'imu_gps.launch.py', f'imu_params:={file}', 'namespace:=deep/er')
    names = ('grade', 'sample_rate_hz', 'random_seed', 'fidelity')
    assert graph.get('/deep/er/imu', *names) == ['industrial', 50.0, 11, 'transparent']


@needs_ros2_launch
def test_included_in_two_namespaces_at_once(graph, launch, tmp_path):
    from sensor_msgs.msg import Imu

    file = tmp_path / 'twice.launch.py'
    file.write_text(TWICE.format(path=str(LAUNCH_FILE)))
    launch(str(file))
    for number, name in enumerate(('robot1', 'robot2'), start=1):
        imu = graph.collect(Imu, f'/{name}/imu/data').until_count(10)
        assert imu[0].header.frame_id == f'{name}/imu_link'
        assert graph.get(f'/{name}/gps', 'random_seed') == number


@needs_ros2_launch
def test_suite_in_a_namespace(graph, launch):
    from sensor_msgs.msg import Imu, NavSatFix

    launch('jaguar_sensors_ros', 'sensor_suite.launch.py', 'truth:=demo', 'namespace:=robot1')
    for name in ('imu_front/data', 'imu_rear/data', 'imu_left/data', 'imu/data'):
        graph.collect(Imu, f'/robot1/{name}').until_count(10)
    for name in ('gps_nose', 'gps_tail'):
        graph.collect(NavSatFix, f'/robot1/{name}/fix').until_count(2)
    assert graph.node.count_subscribers('/robot1/ground_truth/odom') == 1


@needs_ros2_launch
def test_odometry_topic_is_remapped(graph, launch):
    from sensor_msgs.msg import Imu

    launch(
        'jaguar_sensors_ros', 'imu_gps.launch.py', 'truth:=circle', 'odom_topic:=/model/odometry',
        'use_sim_time:=true',
    )  # fmt: skip
    imu = graph.collect(Imu, '/imu/data').until_count(10)
    assert graph.node.count_publishers('/model/odometry') == 1
    assert graph.node.count_publishers('/clock') == 1
    assert imu.stamps[0] < 60 * 10**9  # the truth's own time, from zero
    assert graph.get('/imu', 'use_sim_time') is True


@needs_ros2_launch
@pytest.mark.parametrize('argument', ['fidelity:=perfect', 'grade:=best', 'random_seed:=many'])
def test_bad_argument_is_refused_by_name(launch, argument):
    process = launch('jaguar_sensors_ros', 'imu_gps.launch.py', argument)
    output, _ = process.communicate(timeout=30)
    assert process.returncode != 0
    assert argument.split(':=')[1] in output


def test_grades_offered_are_those_of_the_imu():
    from jaguar_sensors_ros.sensors.imu_settings import GRADES

    offered = set()
    for node in ast.parse(LAUNCH_FILE.read_text(encoding='utf-8')).body:
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, 'target', None)
        if getattr(target, 'id', '') == 'GRADES':
            offered |= set(ast.literal_eval(node.value))
    assert offered == set(GRADES)
