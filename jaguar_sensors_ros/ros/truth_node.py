"""The node ``truth``: publishes a built-in trajectory or a recorded one as odometry.

Topics: ``ground_truth/odom``, and when asked ``ground_truth/accel``, ``/clock`` and ``/tf``.
What is due when is decided by :class:`jaguar_sensors_ros.truth.player.Player`; the parameters
are declared in :class:`jaguar_sensors_ros.truth.player_settings.PlayerSettings`.
"""

from __future__ import annotations

import time
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import AccelStamped, TransformStamped, Vector3
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import SetParametersResult
from rclpy.clock import Clock, ClockType
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock as ClockMessage
from tf2_msgs.msg import TFMessage

from jaguar_sensors_ros.catalogue import SENSORS, TRUTH
from jaguar_sensors_ros.component import AUTO, declarations
from jaguar_sensors_ros.ros import qos
from jaguar_sensors_ros.ros.parameters import ParameterBridge
from jaguar_sensors_ros.ros.wire import writer
from jaguar_sensors_ros.sensors.covariance import VARIANCE_FLOOR
from jaguar_sensors_ros.truth.bag import OdometryRow
from jaguar_sensors_ros.truth.player import Event, Payload, Player, load_source
from jaguar_sensors_ros.truth.player_settings import PlayerSettings
from jaguar_sensors_ros.types import NS_PER_S, JaguarError

#: most events published at one wake-up: half of the queue, so that a reader keeps up
BATCH = 25
#: wall time [ns] between looks at the count of subscriptions, and the shortest wait of the timer
POLL_NS, SHORTEST_NS = 20_000_000, 50_000


#: covariance of truth that is exact: filters take zero for absolute trust or for unknown
_EXACT = [VARIANCE_FLOOR if i % 7 == 0 else 0.0 for i in range(36)]


class TruthNode(Node):
    """Wires a player to publishers and to a timer on the steady clock.

    Raises
    ------
    JaguarError
        for a parameter or a file that is refused.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__('truth', **options)
        self._never_use_sim_time()
        others = {d.name for _, settings in SENSORS.values() for d in declarations(settings)}
        bridge = ParameterBridge(self, PlayerSettings, foreign=others)
        bridge.on_change(lambda settings, names: None, check=self._refuse_change)
        self._settings = bridge.settings
        self._player = Player(self._settings, load_source(self._settings, TRUTH))
        self._odom_out = self._publisher(Odometry, 'ground_truth/odom')
        self._accel_out = self._tf_out = self._clock_out = None
        if self._settings.publish_accel:
            self._accel_out = self._publisher(AccelStamped, 'ground_truth/accel')
        if self._settings.publish_tf:
            self._tf_out = self._publisher(TFMessage, '/tf')
        if self._settings.publish_clock:
            self._clock_out = self._publisher(ClockMessage, '/clock')
        #: True once everything was played and the node is to exit
        self.finished = False
        self._start_ns: int | None = None
        self._waits = 0
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self.create_timer(POLL_NS * 1e-9, self._tick, clock=steady)

    def _never_use_sim_time(self) -> None:
        """Keep the node on the wall clock: one that publishes /clock must not follow it."""
        if self.get_parameter('use_sim_time').value:
            self.get_logger().warning('use_sim_time = true is ignored: this node makes the time')
            self.set_parameters([Parameter('use_sim_time', value=False)])
        self.add_on_set_parameters_callback(_refuse_sim_time)

    def _refuse_change(self, settings: PlayerSettings) -> None:
        if settings != self._settings:
            raise JaguarError('the parameters of this node are fixed once it runs')

    def _publisher(self, kind: Any, topic: str) -> Any:
        return qos.overridable(self.create_publisher, kind, topic, qos.data())

    def _tick(self) -> None:
        """Publish what is due and set the timer to the next instant."""
        if self._start_ns is None:
            if not self._has_subscribers():
                return
            self._start_ns = time.monotonic_ns() + self._player.begin(time.time_ns())
            base_s = self._player.base_ns / NS_PER_S
            self.get_logger().info(f'playing {self._settings.trajectory} from {base_s:.3f} s')
        for event in self._player.due(time.monotonic_ns() - self._start_ns, BATCH):
            self._publish(event)
        if self._player.finished:
            self._end()
        else:
            wait_ns = self._player.wait_ns(time.monotonic_ns() - self._start_ns)
            self._timer.timer_period_ns = max(wait_ns, SHORTEST_NS)
            self._timer.reset()

    def _has_subscribers(self) -> bool:
        """Tell whether enough are there; say once, after 5 s, what is being waited for."""
        wanted = self._settings.wait_for_subscribers
        count = self._odom_out.get_subscription_count()
        self._waits += 1
        if count < wanted and self._waits * POLL_NS == 5 * NS_PER_S:
            self.get_logger().info(
                f'waiting for {wanted} subscriptions to {self._odom_out.topic_name}, there are '
                f'{count} (parameter wait_for_subscribers)'
            )
        return bool(count >= wanted)

    def _publish(self, event: Event) -> None:
        stamp = writer.time(event.t_ns)
        if self._clock_out is not None and event.clock:
            self._clock_out.publish(ClockMessage(clock=stamp))
        if event.record is None:
            return
        odometry = odometry_message(stamp, event.record, self._settings)
        self._odom_out.publish(odometry)
        if self._tf_out is not None:
            self._tf_out.publish(TFMessage(transforms=[transform_message(odometry)]))
        acceleration = getattr(event.record, 'a_nb_b', None)
        if self._accel_out is not None and acceleration is not None:
            message = AccelStamped()
            message.header.stamp = stamp
            message.header.frame_id = odometry.child_frame_id
            message.accel.linear = writer.vector(acceleration)
            self._accel_out.publish(message)

    def _end(self) -> None:
        """Stop publishing, and the whole node if it is to exit."""
        self._timer.cancel()
        self.get_logger().info(f'{self._settings.trajectory} has been played to its end')
        if self._settings.exit_at_end:
            self._odom_out.wait_for_all_acked(Duration(seconds=2))
            self.finished = True


def _refuse_sim_time(parameters: list[Any]) -> SetParametersResult:
    """Refuse to follow /clock at run time too."""
    wrong = any(p.name == 'use_sim_time' and p.value for p in parameters)
    reason = 'use_sim_time = true: must be false, this node makes the time' if wrong else ''
    return SetParametersResult(successful=not wrong, reason=reason)


def odometry_message(stamp: Time, record: Payload, settings: PlayerSettings) -> Odometry:
    """Return a record as a message; recorded odometry keeps frames and covariances."""
    message = Odometry()
    message.header.stamp = stamp
    frame, child = settings.frame_id, settings.child_frame_id
    if isinstance(record, OdometryRow):
        message.header.frame_id = record.frame_id if frame == AUTO else frame
        message.child_frame_id = record.child_frame_id if child == AUTO else child
        p, q, v, omega = record.position, record.orientation, record.linear, record.angular
        message.pose.covariance = list(record.pose_covariance)
        message.twist.covariance = list(record.twist_covariance)
    else:
        message.header.frame_id = 'map' if frame == AUTO else frame
        message.child_frame_id = 'base_link' if child == AUTO else child
        p, q, v, omega = record.p_n, record.q_nb, record.v_nb_b, record.omega_nb_b
        message.pose.covariance = _EXACT
        message.twist.covariance = _EXACT
    position = message.pose.pose.position
    position.x, position.y, position.z = p
    message.pose.pose.orientation = writer.quaternion(q)
    message.twist.twist.linear = writer.vector(v)
    message.twist.twist.angular = writer.vector(omega)
    return message


def transform_message(odometry: Odometry) -> TransformStamped:
    """Return the pose of an odometry message as the transform from its frame to its child."""
    message = TransformStamped(header=odometry.header, child_frame_id=odometry.child_frame_id)
    p = odometry.pose.pose.position
    message.transform.translation = Vector3(x=p.x, y=p.y, z=p.z)
    message.transform.rotation = odometry.pose.pose.orientation
    return message
