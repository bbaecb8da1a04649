"""Start the IMU and the GPS sensor, and what one may want beside them.

  ros2 launch jaguar_sensors_ros imu_gps.launch.py truth:=demo
  ros2 launch jaguar_sensors_ros imu_gps.launch.py odom_topic:=/model/rover/odometry

An argument that is left empty is not passed on, so it never overrides a parameter file.
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory

from jaguar_sensors_ros.ros import launching
from jaguar_sensors_ros.ros.launching import PACKAGE, node, odometry_remapping, sim_time

CONFIG = Path(get_package_share_directory(PACKAGE)) / 'config'
SWITCH = ('true', 'false')

GRADES = ('consumer', 'industrial', 'tactical', 'navigation', 'strategic', 'custom')
GRADES += ('bmi088', 'adis16470', 'stim300', 'hg9900')

#: name, default, choices or None, description
ARGUMENTS = (
    launching.TRUTH,
    launching.ODOM_TOPIC,
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
    launching.NAMESPACE,
    ('frame_prefix', '', None, "Put before every frame name, verbatim, e.g. 'robot1/'."),
    launching.USE_SIM_TIME,
    ('ekf', 'false', SWITCH, 'Also start robot_localization: EKF and navsat_transform.'),
    ('ekf_params', str(CONFIG / 'ekf.yaml'), None, 'Parameter file of robot_localization.'),
    ('rviz', 'false', SWITCH, 'Also start RViz.'),
    ('respawn', 'false', SWITCH, 'Whether the sensors are started again when they die.'),
    launching.LOG_LEVEL,
)


def generate_launch_description():
    """Declare the arguments; the nodes are made when their values are known."""
    return launching.description(ARGUMENTS, start)


def start(given):
    """Return the actions for the values that were given."""
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
        overrides['random_seed'] = launching.whole_number('random_seed', given['random_seed'])
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
    prefix = given['frame_prefix']
    frames = {'frame_id': f'{prefix}map', 'child_frame_id': f'{prefix}base_link'}
    return launching.truth(given, **(frames if prefix else {}))


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
