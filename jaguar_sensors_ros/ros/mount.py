"""Where the sensor sits on the body: from tf, or published as tf."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from tf2_msgs.msg import TFMessage

from jaguar_sensors_ros.nav.rotation import quat_from_rpy
from jaguar_sensors_ros.ros import qos, writer
from jaguar_sensors_ros.ros.static_tf import StaticTree
from jaguar_sensors_ros.sensors.base import Sensor
from jaguar_sensors_ros.types import Quat, Vec3

#: static transforms kept for late subscribers
_DEPTH = 100


class Mount:
    """Takes the mount of a sensor from the static tf, or publishes it there.

    Parameters
    ----------
    node : Node
        The node of the sensor.
    sensor : Sensor
        The sensor.
    sensor_frame : callable
        Returns the name of the sensor's frame, prefix included.
    """

    def __init__(
        self, node: Node, sensor: Sensor[Any, Any], sensor_frame: Callable[[], str]
    ) -> None:
        self._node, self._sensor, self._sensor_frame = node, sensor, sensor_frame
        self._tree = StaticTree()
        self._is_known = False
        #: the body frame for which all is done, None where there is none
        self.served: str | None = None
        self._sent: tuple[Any, ...] | None = None
        self._publisher: Any = None
        self._subscription = node.create_subscription(
            TFMessage, '/tf_static', self._take, qos.latched(_DEPTH)
        )

    def look_again(self) -> None:
        """Take note that parameters have changed."""
        self._is_known, self.served = False, None

    def ready_for(self, base_frame: str) -> bool:
        """Tell whether the mount on a body frame is known; publish it where asked to."""
        if base_frame == self.served:
            return True
        is_ready = self._prepare(base_frame)
        self.served = base_frame if is_ready else None
        return is_ready

    def _prepare(self, base_frame: str) -> bool:
        settings = self._sensor.settings
        if settings.mount.source == 'tf':
            return self._is_known or self._find(base_frame)
        if settings.publish_mount_tf:
            mount = settings.mount
            self._publish(base_frame, mount.position, quat_from_rpy(mount.rpy))
        return True

    def _take(self, message: TFMessage) -> None:
        self._tree.add(message)
        self._is_known, self.served = False, None

    def _find(self, base_frame: str) -> bool:
        pose = self._tree.find(base_frame, self._sensor_frame())
        if pose is None:
            self._node.get_logger().warning(
                f'mount.source is tf, but /tf_static does not connect {base_frame} with '
                f'{self._sensor_frame()}; nothing is published until it does',
                throttle_duration_sec=10.0,
            )
            return False
        self._sensor.set_mount(*pose)
        self._is_known = True
        return True

    def _publish(self, base_frame: str, position: Vec3, q: Quat) -> None:
        mount = (base_frame, self._sensor_frame(), position, q)
        if mount == self._sent:
            return
        self._sent = mount
        if self._publisher is None:
            self._publisher = self._node.create_publisher(
                TFMessage, '/tf_static', qos.latched(_DEPTH)
            )
        now_ns = int(self._node.get_clock().now().nanoseconds)
        self._publisher.publish(TFMessage(transforms=[writer.transform(now_ns, *mount)]))
