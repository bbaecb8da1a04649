"""Start a suite of sensors in one process, and a ground truth if asked to.

  ros2 launch jaguar_sensors_ros sensor_suite.launch.py truth:=demo
  ros2 launch jaguar_sensors_ros sensor_suite.launch.py suite_file:=/path/to/suite.yaml

An argument that is left empty is not passed on, so it never overrides a parameter file.
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from launch import LaunchDescription

PACKAGE = 'jaguar_sensors_ros'
DEMO_TRAJECTORY = 'figure_eight'
CONFIG = Path(get_package_share_directory(PACKAGE)) / 'config'

#: name, default, choices or None, description
ARGUMENTS = (
    ('suite_file', str(CONFIG / 'suite.yaml'), None, 'What is in the suite: a YAML file.'),
    (
        'truth',
        'external',
        None,
        'Where the ground truth comes from: external (someone publishes it), demo, the name of '
        'a built-in trajectory (static, circle, figure_eight, racetrack), or a file (EuRoC CSV, '
        'TUM, ROS 2 bag).',
    ),
    ('odom_topic', '', None, 'Topic of the ground-truth odometry; empty: ground_truth/odom.'),
    ('namespace', '', None, 'Namespace of all nodes started here.'),
    (
        'use_sim_time',
        '',
        ('', 'true', 'false'),
        'Whether the nodes take their time from /clock; true with a truth started here makes it '
        'publish /clock.',
    ),
    ('log_level', '', ('', 'debug', 'info', 'warn', 'error', 'fatal'), 'Log level of the nodes.'),
)


def generate_launch_description():
    """Declare the arguments; the nodes are made when their values are known."""
    declared = []
    for name, default, choices, description in ARGUMENTS:
        options = {'default_value': default, 'description': description}
        if choices is not None:
            options['choices'] = list(choices)
        declared.append(DeclareLaunchArgument(name, **options))
    return LaunchDescription([*declared, OpaqueFunction(function=start)])


def start(context):
    """Return the actions for the values that were given."""
    given = {name: LaunchConfiguration(name).perform(context) for name, *_ in ARGUMENTS}
    actions = [suite(given)]
    if given['truth'] != 'external':
        actions.append(truth(given))
    return actions


def suite(given):
    """Return the process with all sensors of the suite."""
    parameters = {'suite_file': given['suite_file']}
    if given['use_sim_time']:
        parameters['use_sim_time'] = given['use_sim_time'] == 'true'
    return node(given, executable='sensor_suite', parameters=[parameters])


def truth(given):
    """Return the node that publishes the ground truth."""
    trajectory = DEMO_TRAJECTORY if given['truth'] == 'demo' else given['truth']
    parameters = {'trajectory': trajectory}
    if given['use_sim_time'] == 'true':
        parameters['publish_clock'] = True
    return node(given, executable='truth_node', name='truth', parameters=[parameters])


def node(given, **options):
    """Return a node in the given namespace, with the given truth topic and log level."""
    level = ['--ros-args', '--log-level', given['log_level']] if given['log_level'] else []
    remapping = [('ground_truth/odom', given['odom_topic'])] if given['odom_topic'] else []
    return Node(
        package=PACKAGE,
        namespace=given['namespace'] or None,
        arguments=level,
        remappings=remapping,
        output='screen',
        **options,
    )
