"""Sensors made and switched on in one step."""

from __future__ import annotations

from jaguar_sensors_ros.api.config import GpsConfig, ImuConfig
from jaguar_sensors_ros.api.gps import GpsSensor
from jaguar_sensors_ros.api.imu import ImuSensor


def create_imu_sensor(config: ImuConfig | None = None) -> ImuSensor:
    """Return an IMU that is on; without a configuration of the default one, tactical grade."""
    imu = ImuSensor()
    imu.initialize(config)
    return imu


def create_gps_sensor(config: GpsConfig | None = None) -> GpsSensor:
    """Return a GNSS receiver that is on."""
    gps = GpsSensor()
    gps.initialize(config)
    return gps


def create_consumer_imu(name: str = '', *, seed: int = -1) -> ImuSensor:
    """Return an IMU of consumer grade (document 000) that is on."""
    return create_imu_sensor(ImuConfig.from_grade('consumer', name, seed=seed))


def create_industrial_imu(name: str = '', *, seed: int = -1) -> ImuSensor:
    """Return an IMU of industrial grade that is on."""
    return create_imu_sensor(ImuConfig.from_grade('industrial', name, seed=seed))


def create_tactical_imu(name: str = '', *, seed: int = -1) -> ImuSensor:
    """Return an IMU of tactical grade that is on."""
    return create_imu_sensor(ImuConfig.from_grade('tactical', name, seed=seed))


def create_navigation_imu(name: str = '', *, seed: int = -1) -> ImuSensor:
    """Return an IMU of navigation grade that is on."""
    return create_imu_sensor(ImuConfig.from_grade('navigation', name, seed=seed))


def create_strategic_imu(name: str = '', *, seed: int = -1) -> ImuSensor:
    """Return an IMU of strategic grade that is on."""
    return create_imu_sensor(ImuConfig.from_grade('strategic', name, seed=seed))
