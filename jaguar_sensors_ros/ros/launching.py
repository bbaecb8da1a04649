"""What the launch files of this package share.

An argument that is left empty is not passed on, so it never overrides a parameter file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.launch_description import LaunchDescription
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

PACKAGE = 'jaguar_sensors_ros'
DEMO_TRAJECTORY = 'figure_eight'

#: name, default, choices or None, description
Argument = tuple[str, str, Sequence[str] | None, str]
Given = dict[str, str]

TRUTH: Argument = (
    'truth',
    'external',
    None,
    'Where the ground truth comes from: external (someone publishes it), demo, the name of a '
    'built-in trajectory (static, circle, figure_eight, racetrack), or a file (EuRoC CSV, TUM, '
    'ROS 2 bag).',
)
ODOM_TOPIC: Argument = (
    'odom_topic',
    '',
    None,
    'Topic of the ground-truth odometry; empty: ground_truth/odom.',
)
NAMESPACE: Argument = ('namespace', '', None, 'Namespace of all nodes started here.')
USE_SIM_TIME: Argument = (
    'use_sim_time',
    '',
    ('', 'true', 'false'),
    'Whether the nodes take their time from /clock; true with a truth started here makes it '
    'publish /clock.',
)
LOG_LEVEL: Argument = (
    'log_level',
    '',
    ('', 'debug', 'info', 'warn', 'error', 'fatal'),
    'Log level of the nodes.',
)


def description(
    arguments: Iterable[Argument], start: Callable[[Given], list[Any]]
) -> LaunchDescription:
    """Declare arguments; ``start`` makes the actions when their values are known."""
    arguments = tuple(arguments)
    declared = []
    for name, default, choices, text in arguments:
        options: dict[str, Any] = {'default_value': default, 'description': text}
        if choices is not None:
            options['choices'] = list(choices)
        declared.append(DeclareLaunchArgument(name, **options))

    def run(context: Any) -> list[Any]:
        return start({name: LaunchConfiguration(name).perform(context) for name, *_ in arguments})

    return LaunchDescription([*declared, OpaqueFunction(function=run)])


def node(given: Given, *, arguments: Iterable[str] = (), **options: Any) -> Node:
    """Return a node in the given namespace and with the given log level."""
    arguments = list(arguments)
    if given['log_level']:
        arguments += ['--ros-args', '--log-level', given['log_level']]
    return Node(
        namespace=given['namespace'] or None, arguments=arguments, output='screen', **options
    )


def truth(given: Given, **parameters: Any) -> Node:
    """Return the node that publishes the ground truth."""
    name = DEMO_TRAJECTORY if given['truth'] == 'demo' else given['truth']
    if given['use_sim_time'] == 'true':
        parameters['publish_clock'] = True
    return node(
        given,
        package=PACKAGE,
        executable='truth_node',
        name='truth',
        parameters=[{'trajectory': name, **parameters}],
        remappings=odometry_remapping(given),
    )


def sim_time(given: Given) -> dict[str, bool]:
    """Return the parameter use_sim_time, if it was given."""
    return {'use_sim_time': given['use_sim_time'] == 'true'} if given['use_sim_time'] else {}


def odometry_remapping(given: Given) -> list[tuple[str, str]]:
    """Return the remapping of the ground truth, if a topic was given."""
    return [('ground_truth/odom', given['odom_topic'])] if given['odom_topic'] else []


def whole_number(name: str, text: str) -> int:
    """Return the number, or stop the launch with what was wrong."""
    try:
        return int(text)
    except ValueError:
        raise RuntimeError(f'{name}:={text} is not a whole number') from None
