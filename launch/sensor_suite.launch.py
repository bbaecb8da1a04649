"""Start a suite of sensors in one process, and a ground truth if asked to.

  ros2 launch jaguar_sensors_ros sensor_suite.launch.py truth:=demo
  ros2 launch jaguar_sensors_ros sensor_suite.launch.py suite_file:=/path/to/suite.yaml

An argument that is left empty is not passed on, so it never overrides a parameter file.
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory

from jaguar_sensors_ros.ros import launching

CONFIG = Path(get_package_share_directory(launching.PACKAGE)) / 'config'

#: name, default, choices or None, description
ARGUMENTS = (
    ('suite_file', str(CONFIG / 'suite.yaml'), None, 'What is in the suite: a YAML file.'),
    launching.TRUTH,
    launching.ODOM_TOPIC,
    launching.NAMESPACE,
    launching.USE_SIM_TIME,
    launching.LOG_LEVEL,
)


def generate_launch_description():
    """Declare the arguments; the nodes are made when their values are known."""
    return launching.description(ARGUMENTS, start)


def start(given):
    """Return the actions for the values that were given."""
    suite = launching.node(
        given,
        package=launching.PACKAGE,
        executable='sensor_suite',
        parameters=[{'suite_file': given['suite_file'], **launching.sim_time(given)}],
        remappings=launching.odometry_remapping(given),
    )
    return [suite] if given['truth'] == 'external' else [suite, launching.truth(given)]
