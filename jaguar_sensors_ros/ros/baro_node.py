"""The barometer as a node."""

from __future__ import annotations

from typing import Any

from jaguar_sensors_msgs.msg import BaroError
from sensor_msgs.msg import FluidPressure

from jaguar_sensors_ros.ros.sensor_node import SensorNode
from jaguar_sensors_ros.ros.wire import encoders
from jaguar_sensors_ros.sensors.baro_settings import BaroSettings
from jaguar_sensors_ros.types import BaroSample


class BaroNode(SensorNode[BaroSettings, BaroSample]):
    """Publishes a barometer: pressure, error."""

    def __init__(self, **node_options: Any) -> None:
        super().__init__('baro', **node_options)

    def _make_publishers(self) -> None:
        self.outlet(FluidPressure, '~/pressure', encoders.pressure())
        self.outlet(BaroError, '~/error', encoders.baro_error())
