"""The GNSS receiver as a node."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from geometry_msgs.msg import TwistWithCovarianceStamped
from jaguar_sensors_msgs.msg import GnssError, GnssSolution
from sensor_msgs.msg import NavSatFix

from jaguar_sensors_ros.ros import encoders
from jaguar_sensors_ros.ros.sensor_node import SensorNode
from jaguar_sensors_ros.sensors.gps_settings import GpsSettings
from jaguar_sensors_ros.types import GpsSample

EARTH_FRAME = 'earth'


class GpsNode(SensorNode[GpsSettings, GpsSample]):
    """Publishes a GNSS receiver: fix, vel, vel_body, solution, error."""

    def __init__(self, **node_options: Any) -> None:
        super().__init__('gps', **node_options)

    def _make_publishers(self) -> None:
        self._fix = self.advertise(NavSatFix, '~/fix')
        self._vel = self.advertise(TwistWithCovarianceStamped, '~/vel')
        self._vel_body = self.advertise(TwistWithCovarianceStamped, '~/vel_body')
        self._solution = self.advertise(GnssSolution, '~/solution')
        self._error = self.advertise(GnssError, '~/error')
        self._encode_fix, self._encode_solution = encoders.fix(), encoders.solution()
        self._encode_vel, self._encode_vel_body = encoders.velocity_enu(), encoders.velocity_body()
        self._encode_error = encoders.gnss_error()

    def _delivery(self, sample: GpsSample) -> Callable[[], None]:
        return partial(self._publish, sample, self._sensor_frame())

    def _publish(self, sample: GpsSample, frame_id: str) -> None:
        if self._fix.get_subscription_count():
            self._fix.publish(self._encode_fix(sample, frame_id))
        if self._solution.get_subscription_count():
            self._solution.publish(self._encode_solution(sample, self.frame(EARTH_FRAME)))
        if self._error.get_subscription_count():
            self._error.publish(self._encode_error(sample, frame_id))
        if not sample.has_fix:  # a twist cannot say that it is missing, and NaN harms filters
            return
        if self._vel.get_subscription_count():
            map_frame = self.frame(self.settings.vel_frame_id)
            self._vel.publish(self._encode_vel(sample, map_frame))
        if self._vel_body.get_subscription_count():
            self._vel_body.publish(self._encode_vel_body(sample, frame_id))

