"""The IMU as a node."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from jaguar_sensors_msgs.msg import ImuError, ImuIncrements
from sensor_msgs.msg import Imu, Temperature

from jaguar_sensors_ros.ros import encoders
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
        self._data = self.advertise(Imu, '~/data')
        self._raw = self.advertise(Imu, '~/data_raw')
        self._increments = self.advertise(ImuIncrements, '~/increments')
        self._temperature = self.advertise(Temperature, '~/temperature')
        self._error = self.advertise(ImuError, '~/error')
        self._encode_data, self._encode_raw = encoders.imu(), encoders.imu()
        self._encode_increments = encoders.increments()
        self._encode_temperature = encoders.temperature()
        self._encode_error = encoders.imu_error()

    def _delivery(self, sample: ImuSample) -> Callable[[], None]:
        return partial(self._publish, sample, self._sensor.covariances, self._sensor_frame())

    def _publish(
        self, sample: ImuSample, covariances: ImuCovariances, frame_id: str
    ) -> None:
        if self._data.get_subscription_count():
            self._data.publish(self._encode_data(sample, covariances, frame_id, True))
        if self._raw.get_subscription_count():
            self._raw.publish(self._encode_raw(sample, covariances, frame_id, False))
        if sample.frame and self._increments.get_subscription_count():
            self._increments.publish(self._encode_increments(sample, frame_id))
        if self._temperature.get_subscription_count():
            self._temperature.publish(self._encode_temperature(sample, frame_id))
        if self._error.get_subscription_count():
            self._error.publish(self._encode_error(sample, frame_id))

