"""Declarations of the parameters of ``truth_node``."""

from __future__ import annotations

from dataclasses import dataclass

from jaguar_sensors_ros.component import AUTO, parameter


@dataclass(frozen=True)
class PlayerSettings:
    """Parameters of ``truth_node``."""

    trajectory: str = parameter(
        'figure_eight',
        'Built-in trajectory (static, circle, figure_eight, racetrack), or a file: EuRoC '
        'ground truth CSV, TUM, or a ROS 2 bag with nav_msgs/Odometry (mcap, sqlite3).',
        kind='string',
    )
    topic: str = parameter(
        '', 'Topic of the odometry in a bag; empty takes the only one.', kind='string'
    )
    rate_hz: float = parameter(
        50.0,
        'Rate of the odometry, in truth time. 0 publishes the rows of a trajectory file as '
        'they are. A bag always plays verbatim.',
        unit='Hz',
        minimum=0.0,
        maximum=10_000.0,
    )
    real_time_factor: float = parameter(
        1.0, 'Truth seconds in a second of the wall clock.', above=0.0, maximum=1e6
    )
    duration_s: float = parameter(
        0.0,
        'Truth time to play. 0 plays a file to its end and a trajectory without end.',
        unit='s',
        minimum=0.0,
        maximum=1e9,
    )
    loop: bool = parameter(
        False,
        'Start again at the end. Stamps go on, after a silence of 1 s.',
        kind='boolean',
    )
    exit_at_end: bool = parameter(
        True, 'Exit with status 0 at the end; otherwise stay and publish no more.', kind='boolean'
    )
    start: str = parameter(
        AUTO,
        'First stamp: now (the next whole tenth of a second of the wall clock), recorded (as '
        'in the file) or zero; a record stamped 0 is left out. auto is now; with '
        'publish_clock it is recorded for files and zero for built-in trajectories.',
        kind='string',
        choices=(AUTO, 'now', 'recorded', 'zero'),
    )
    publish_accel: bool = parameter(
        False,
        'Publish ground_truth/accel: acceleration of the body origin over the map, in body '
        'axes, gravity excluded; its angular part is not filled.',
        kind='boolean',
    )
    publish_tf: bool = parameter(
        False, 'Publish the transform from frame_id to child_frame_id on /tf.', kind='boolean'
    )
    publish_clock: bool = parameter(False, 'Publish /clock.', kind='boolean')
    clock_rate_hz: float = parameter(
        100.0,
        'Rate of /clock, in truth time, besides one message before each odometry message; 0 '
        'leaves it at those.',
        unit='Hz',
        minimum=0.0,
        maximum=10_000.0,
    )
    frame_id: str = parameter(
        AUTO, 'Frame of the pose; auto is map, or as recorded in a bag.', kind='string'
    )
    child_frame_id: str = parameter(
        AUTO, 'Frame of the twist; auto is base_link, or as recorded in a bag.', kind='string'
    )
    wait_for_subscribers: int = parameter(
        0,
        'Subscriptions to ground_truth/odom to wait for before starting.',
        kind='integer',
        minimum=0,
        maximum=1000,
    )
