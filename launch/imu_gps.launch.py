"""Start the IMU and the GPS sensor, and what one may want beside them.

  ros2 launch jaguar_sensors_ros imu_gps.launch.py truth:=demo
  ros2 launch jaguar_sensors_ros imu_gps.launch.py odom_topic:=/model/rover/odometry

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
SWITCH = ('true', 'false')
SWITCH_OR_EMPTY = ('', *SWITCH)

GRADES = ('consumer', 'industrial', 'tactical', 'navigation', 'strategic', 'custom')
GRADES += ('bmi088', 'adis16470', 'stim300', 'hg9900')

#: name, default, choices or None, description
ARGUMENTS = (
    (
        'truth',
        'external',
        None,
        'Where the ground truth comes from: external (someone publishes it), demo, the name of '
        'a built-in trajectory (static, circle, figure_eight, racetrack), or a file (EuRoC CSV, '
        'TUM, ROS 2 bag).',
    ),
    ('odom_topic', '', None, 'Topic of the ground-truth odometry; empty: ground_truth/odom.'),
    ('imu_params', str(CONFIG / 'imu.yaml'), None, 'Parameter file of the IMU; empty: none.'),
    ('gps_params', str(CONFIG / 'gps.yaml'), None, 'Parameter file of the GPS; empty: none.'),
    (
        'fidelity',
        '',
        ('', 'transparent', 'realistic', 'fault'),
        'Fidelity of both sensors; empty: as in the files.',
    ),
    (
        'grade',
        '',
        ('', *GRADES),
        'Grade of the IMU, or a device; empty: as in the file.',
    ),
    ('random_seed', '', None, 'Seed of both sensors, a whole number; empty: as in the files.'),
    ('namespace', '', None, 'Namespace of all nodes started here.'),
    ('frame_prefix', '', None, "Put before every frame name, verbatim, e.g. 'robot1/'."),
    (
        'use_sim_time',
        '',
        SWITCH_OR_EMPTY,
        'Whether the nodes take their time from /clock; true with a truth started here makes it '
        'publish /clock.',
    ),
    ('ekf', 'false', SWITCH, 'Also start robot_localization: EKF and navsat_transform.'),
    ('ekf_params', str(CONFIG / 'ekf.yaml'), None, 'Parameter file of robot_localization.'),
    ('rviz', 'false', SWITCH, 'Also start RViz.'),
    ('respawn', 'false', SWITCH, 'Whether the sensors are started again when they die.'),
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
    actions = [sensor('imu', given), sensor('gps', given)]
    if given['truth'] != 'external':
        actions.append(truth(given))
    if given['ekf'] == 'true':
        actions += robot_localization(given)
    if given['rviz'] == 'true':
        actions.append(rviz(given))
    return actions


def sensor(name, given):
    """Return the node of one sensor."""
    overrides = {}
    for key in ('fidelity', 'frame_prefix'):
        if given[key]:
            overrides[key] = given[key]
    if name == 'imu' and given['grade']:
        overrides['grade'] = given['grade']
    if given['random_seed']:
        overrides['random_seed'] = whole_number('random_seed', given['random_seed'])
    if given['ekf'] == 'true':
        overrides['publish_mount_tf'] = True
    files = [given[f'{name}_params']] if given[f'{name}_params'] else []
    return node(
        given,
        package=PACKAGE,
        executable=f'{name}_node',
        name=name,
        parameters=[*files, {**overrides, **sim_time(given)}],
        remappings=odometry_remapping(given),
        respawn=given['respawn'] == 'true',
        respawn_delay=1.0,
    )


def truth(given):
    """Return the node that publishes the ground truth."""
    trajectory = DEMO_TRAJECTORY if given['truth'] == 'demo' else given['truth']
    parameters = {'trajectory': trajectory}
    if given['frame_prefix']:
        parameters['frame_id'] = f'{given["frame_prefix"]}map'
        parameters['child_frame_id'] = f'{given["frame_prefix"]}base_link'
    if given['use_sim_time'] == 'true':
        parameters['publish_clock'] = True
    return node(
        given,
        package=PACKAGE,
        executable='truth_node',
        name='truth',
        parameters=[parameters],
        remappings=odometry_remapping(given),
    )


def robot_localization(given):
    """Return the nodes of robot_localization."""
    files = [given['ekf_params']] if given['ekf_params'] else []
    prefix = given['frame_prefix']
    frames = {}
    if prefix:
        names = {'odom_frame': 'odom', 'base_link_frame': 'base_link', 'world_frame': 'odom'}
        frames = {key: f'{prefix}{name}' for key, name in names.items()}
    return [
        node(
            given,
            package='robot_localization',
            executable='ekf_node',
            name='ekf_filter_node',
            parameters=[*files, {**frames, **sim_time(given)}],
        ),
        node(
            given,
            package='robot_localization',
            executable='navsat_transform_node',
            name='navsat_transform',
            parameters=[*files, sim_time(given)],
            remappings=[('imu', 'imu/data')],
        ),
    ]


def rviz(given):
    """Return RViz with a view of the topics."""
    return node(
        given,
        package='rviz2',
        executable='rviz2',
        name='rviz2',
        arguments=['-d', str(CONFIG / 'sensors.rviz')],
        parameters=[sim_time(given)],
    )


def node(given, *, arguments=(), **options):
    """Return a node in the given namespace and with the given log level."""
    arguments = list(arguments)
    if given['log_level']:
        arguments += ['--ros-args', '--log-level', given['log_level']]
    return Node(
        namespace=given['namespace'] or None,
        arguments=arguments,
        output='screen',
        **options,
    )


def sim_time(given):
    """Return the parameter use_sim_time, if it was given."""
    return {'use_sim_time': given['use_sim_time'] == 'true'} if given['use_sim_time'] else {}


def odometry_remapping(given):
    """Return the remapping of the ground truth, if a topic was given."""
    return [('ground_truth/odom', given['odom_topic'])] if given['odom_topic'] else []


def whole_number(name, text):
    """Return the number, or stop the launch with what was wrong."""
    try:
        return int(text)
    except ValueError:
        raise RuntimeError(f'{name}:={text} is not a whole number') from None
