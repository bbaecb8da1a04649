"""The sensors in plain Python, without ROS: document 000 under Python names.

docs/python_api.md explains it with examples.
"""

from jaguar_sensors_ros.api.config import GpsConfig, ImuConfig, SensorConfig
from jaguar_sensors_ros.api.factories import (
    create_consumer_imu,
    create_gps_sensor,
    create_imu_sensor,
    create_industrial_imu,
    create_navigation_imu,
    create_strategic_imu,
    create_tactical_imu,
)
from jaguar_sensors_ros.api.fusion import fuse_imu_measurements
from jaguar_sensors_ros.api.gps import GpsSensor
from jaguar_sensors_ros.api.imu import AllanVarianceResult, ImuSensor
from jaguar_sensors_ros.api.manager import SensorManager
from jaguar_sensors_ros.api.measurements import GpsMeasurement, ImuMeasurement, Measurement
from jaguar_sensors_ros.api.names import FailureMode, ImuGrade, SensorType
from jaguar_sensors_ros.api.sensor import Sensor
from jaguar_sensors_ros.component import ParameterError
from jaguar_sensors_ros.faults.base import FaultError
from jaguar_sensors_ros.redundancy.settings import VotingSettings
from jaguar_sensors_ros.types import Fidelity, FixType, JaguarError, SensorState

__all__ = [
    'AllanVarianceResult',
    'FailureMode',
    'FaultError',
    'Fidelity',
    'FixType',
    'GpsConfig',
    'GpsMeasurement',
    'GpsSensor',
    'ImuConfig',
    'ImuGrade',
    'ImuMeasurement',
    'ImuSensor',
    'JaguarError',
    'Measurement',
    'ParameterError',
    'Sensor',
    'SensorConfig',
    'SensorManager',
    'SensorState',
    'SensorType',
    'VotingSettings',
    'create_consumer_imu',
    'create_gps_sensor',
    'create_imu_sensor',
    'create_industrial_imu',
    'create_navigation_imu',
    'create_strategic_imu',
    'create_tactical_imu',
    'fuse_imu_measurements',
]
