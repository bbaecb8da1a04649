"""The GNSS receiver as a node."""

from __future__ import annotations

from typing import Any

from geometry_msgs.msg import TwistWithCovarianceStamped
from jaguar_sensors_msgs.msg import GnssError, GnssSolution
from sensor_msgs.msg import NavSatFix

from jaguar_sensors_ros.messages.topics import EARTH_FRAME
from jaguar_sensors_ros.ros.sensor_node import SensorNode
from jaguar_sensors_ros.ros.wire import encoders
from jaguar_sensors_ros.sensors.gps_settings import GpsSettings
from jaguar_sensors_ros.types import GpsSample


class GpsNode(SensorNode[GpsSettings, GpsSample]):
    """Publishes a GNSS receiver: fix, vel, vel_body, solution, error."""

    def __init__(self, **node_options: Any) -> None:
        super().__init__('gps', **node_options)

    def _make_publishers(self) -> None:
        twist = TwistWithCovarianceStamped
        self._fix = self.outlet(NavSatFix, '~/fix', encoders.fix())
        self._vel = self.outlet(twist, '~/vel', encoders.velocity_enu())
        self._vel_body = self.outlet(twist, '~/vel_body', encoders.velocity_body())
        self._solution = self.outlet(GnssSolution, '~/solution', encoders.solution())
        self._error = self.outlet(GnssError, '~/error', encoders.gnss_error())

    def _publish(self, sample: GpsSample, context: Any) -> None:
        frame_id: str = context
        self._outlets.look()
        framed = [
            (self._fix, frame_id),
            (self._solution, self.frame(EARTH_FRAME)),
            (self._error, frame_id),
        ]
        if sample.has_fix:  # a twist cannot say that it is missing, and NaN harms filters
            map_frame = self.frame(self.settings.vel_frame_id)
            framed += [(self._vel, map_frame), (self._vel_body, frame_id)]
        ready = [
            (outlet, outlet.encode(sample, frame)) for outlet, frame in framed if outlet.is_used
        ]
        for outlet, message in ready:
            outlet.publish(message)
