"""The magnetometer as a node."""

from __future__ import annotations

from typing import Any

from jaguar_sensors_msgs.msg import MagError
from sensor_msgs.msg import MagneticField

from jaguar_sensors_ros.component import ParameterError
from jaguar_sensors_ros.ros.sensor_node import SensorNode
from jaguar_sensors_ros.ros.wire import encoders
from jaguar_sensors_ros.sensors.mag_settings import MagSettings
from jaguar_sensors_ros.types import MagSample


class MagNode(SensorNode[MagSettings, MagSample]):
    """Publishes a magnetometer: <imu_name>/mag, error."""

    def __init__(self, **node_options: Any) -> None:
        super().__init__('mag', **node_options)

    def _make_publishers(self) -> None:
        self._imu_name = self.settings.imu_name
        self.outlet(MagneticField, f'{self._imu_name}/mag', encoders.magnetic_field())
        self.outlet(MagError, '~/error', encoders.mag_error())

    def _check(self, settings: MagSettings) -> None:
        super()._check(settings)
        if settings.imu_name != self._imu_name:
            raise ParameterError('imu_name', settings.imu_name, 'is read at start only')
