"""Other programs that do the same, from PyPI; one that is absent raises ImportError.

``make bench`` installs them into a folder of their own (see scripts/requirements-bench.txt).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import data
from benchmarks.process import PEERS

sys.path.append(str(PEERS))

_RATE_HZ = 100.0
#: error parameters of a tactical IMU, gyroscopes and accelerometers, SI
_WHITE = (2.9e-6, 1.7e-4)
_BIAS = (4.8e-6, 9.8e-4)
_WALK = (1e-8, 1e-6)
_TAU_S = (2000.0, 300.0)


def _pyins_parameters(inertial_sensor: Any) -> list[Any]:
    """Return the parameters of both triads, with everything that pyins models."""
    transform = np.eye(3) + 1e-4 * (np.arange(9.0).reshape(3, 3) + 1.0)
    return [
        inertial_sensor.Parameters(transform, np.full(3, bias), white, walk, rng=1)
        for bias, white, walk in zip(_BIAS, _WHITE, _WALK, strict=True)
    ]


def pyins_static(count: int) -> Callable[[], float]:
    """Return what makes a static record with pyins (white noise, random walk, transform)."""
    import pandas as pd
    from pyins import inertial_sensor, util

    rest = np.zeros((count, 6))
    rest[:, 5] = -9.8
    index = pd.Index(np.arange(count) / _RATE_HZ, name='time')
    imu = pd.DataFrame(rest, index=index, columns=util.GYRO_COLS + util.ACCEL_COLS)

    def work() -> float:
        triads = _pyins_parameters(inertial_sensor)
        made = inertial_sensor.apply_imu_parameters(imu, 'rate', *triads)
        return float(made.iloc[-1, -1])

    return work


def pyins_trajectory(seconds: float) -> Callable[[], dict[str, int]]:
    """Return what makes IMU and position measurements along the racetrack with pyins."""
    from pyins import inertial_sensor, sim

    from benchmarks.pyins_truth import racetrack

    time, lla, velocity, rph = racetrack(seconds)
    every = round(data.IMU_HZ / data.GPS_HZ)

    def work() -> dict[str, int]:
        truth, imu = sim.generate_imu(time, lla, rph, velocity, 'increment')
        triads = _pyins_parameters(inertial_sensor)
        made = inertial_sensor.apply_imu_parameters(imu, 'increment', *triads)
        fixes = sim.generate_position_measurements(truth.iloc[::every], 5.0, 1)
        sim.generate_ned_velocity_measurements(truth.iloc[::every], 0.1, 2)
        return {'imu': len(made) - 1, 'gps': len(fixes) - 1}

    return work


def smsfusion_static(count: int) -> Callable[[], float]:
    """Return what makes the noise of a static record with smsfusion."""
    import smsfusion

    gyro, accel = (
        {'N': white, 'B': bias, 'tau_cb': tau, 'K': walk, 'tau_ck': None, 'bc': bias}
        for white, bias, walk, tau in zip(_WHITE, _BIAS, _WALK, _TAU_S, strict=True)
    )

    def work() -> float:
        return float(smsfusion.noise.IMUNoise(accel, gyro, 1)(_RATE_HZ, count)[-1, -1])

    return work


def imu_error_model_static(count: int) -> Callable[[], float]:
    """Return what makes a static record with imu-error-model, sample by sample."""
    import imu_error_model

    gyro, accel = (
        imu_error_model.AxisConfig(
            white_noise_density=white, bias_std=bias, bias_correlation_time=tau
        )
        for white, bias, tau in zip(_WHITE, _BIAS, _TAU_S, strict=True)
    )
    config = imu_error_model.ImuConfig(accelerometer=accel, gyroscope=gyro)
    still, level = np.zeros(3), np.eye(3)

    def work() -> float:
        model = imu_error_model.ImuModel(config, np.random.default_rng(1))
        for k in range(count):
            output = model.measure(k / _RATE_HZ, still, level)
        return float(output.delta_theta[-1])

    return work


def basilisk_static(count: int) -> Callable[[], float]:
    """Return what makes a static record with the IMU of Basilisk, which is in C++."""
    from Basilisk.architecture import messaging
    from Basilisk.simulation import imuSensor
    from Basilisk.utilities import SimulationBaseClass

    step_ns = round(1e9 / _RATE_HZ)
    simulation = SimulationBaseClass.SimBaseClass()
    simulation.CreateNewProcess('process').addTask(simulation.CreateNewTask('task', step_ns))
    imu = imuSensor.ImuSensor()
    imu.ModelTag = 'imu'
    for name, white in zip(('Gyro', 'Accel'), _WHITE, strict=True):
        setattr(imu, f'PMatrix{name}', (white * np.eye(3)).tolist())
        getattr(imu, f'setErrorBounds{name}')([1.0, 1.0, 1.0])
    imu.senRotBias, imu.senTransBias = [_BIAS[0]] * 3, [_BIAS[1]] * 3
    state = messaging.SCStatesMsg().write(messaging.SCStatesMsgPayload())
    imu.scStateInMsg.subscribeTo(state)
    simulation.AddModelToTask('task', imu)
    simulation.InitializeSimulation()
    made = [0]

    def work() -> float:
        made[0] += count
        simulation.ConfigureStopTime(made[0] * step_ns)
        simulation.ExecuteSimulation()
        return float(imu.sensorOutMsg.read().AngVelPlatform[2]) + 0.0 * len(state.read().r_BN_N)

    return work


def allantools_adev(count: int, axes: int, taus: int) -> Callable[[], dict[str, Any]]:
    """Return what estimates the overlapping Allan deviation with allantools."""
    import allantools

    record, factors = data.record(count, axes), data.factors(count, taus)

    def work() -> dict[str, Any]:
        adev = []
        for column in record.T:
            _, deviation, _, _ = allantools.oadev(
                column, data.RECORD_HZ, 'freq', factors / data.RECORD_HZ
            )
            adev.append(deviation.tolist())
        return {'adev': adev}

    return work
