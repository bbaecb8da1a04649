"""The IMU as a node."""

from __future__ import annotations

from typing import Any

from jaguar_sensors_msgs.msg import ImuError, ImuIncrements
from sensor_msgs.msg import Imu, Temperature

from jaguar_sensors_ros.ros import encoders
from jaguar_sensors_ros.ros.outlet import Outlet
from jaguar_sensors_ros.ros.sensor_node import SensorNode
from jaguar_sensors_ros.sensors.imu import ImuCovariances, ImuSensor
from jaguar_sensors_ros.sensors.imu_settings import ImuSettings
from jaguar_sensors_ros.types import ImuSample


class ImuNode(SensorNode[ImuSettings, ImuSample]):
    """Publishes an IMU: data, data_raw, increments, temperature, error."""

    _sensor: ImuSensor

    def __init__(self, **node_options: Any) -> None:
        super().__init__('imu', **node_options)

    @property
    def sensor(self) -> ImuSensor:
        """The sensor."""
        return self._sensor

    def _make_publishers(self) -> None:
        self._data = self.outlet(Imu, '~/data', encoders.imu())
        self._raw = self.outlet(Imu, '~/data_raw', encoders.imu())
        self._increments = self.outlet(ImuIncrements, '~/increments', encoders.increments())
        self._temperature = self.outlet(Temperature, '~/temperature', encoders.temperature())
        self._error = self.outlet(ImuError, '~/error', encoders.imu_error())

    def _circumstances(self) -> tuple[ImuCovariances, str]:
        return self._sensor.covariances, self._frame_id

    def _publish(self, sample: ImuSample, context: Any) -> None:
        covariances, frame_id = context
        self._outlets.look()
        ready: list[tuple[Outlet, Any]] = []
        data, raw, increments = self._data, self._raw, self._increments
        temperature, error = self._temperature, self._error
        if data.is_used:
            ready.append((data, data.encode(sample, covariances, frame_id, True)))
        if raw.is_used:
            ready.append((raw, raw.encode(sample, covariances, frame_id, False)))
        if increments.is_used and sample.frame:
            ready.append((increments, increments.encode(sample, frame_id)))
        if temperature.is_used:
            ready.append((temperature, temperature.encode(sample, frame_id)))
        if error.is_used:
            ready.append((error, error.encode(sample, frame_id)))
        for outlet, message in ready:
            outlet.publish(message)
