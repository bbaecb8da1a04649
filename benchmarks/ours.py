"""This package, as the contests call it: the one place to plug a faster path in."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import data
from jaguar_sensors_ros.analysis import allan_fast
from jaguar_sensors_ros.analysis.allan import overlapping_adev
from jaguar_sensors_ros.analysis.static_run import StaticRun
from jaguar_sensors_ros.catalogue import make_settings
from jaguar_sensors_ros.errors import fast
from jaguar_sensors_ros.simulation import GpsRun, ImuRun
from jaguar_sensors_ros.truth.columns import TruthColumns
from jaguar_sensors_ros.truth.trajectory import Racetrack


def compiled() -> bool:
    """Tell whether numba is at work in this process."""
    return bool(sys.modules.get('numba'))


def _imu_values(rate_hz: float) -> dict[str, object]:
    """Return parameters of an IMU with every term of the additive chain: 18 normals a sample."""
    return {'grade': 'tactical', 'sample_rate_hz': rate_hz, 'gyro.random_walk': 1e-8}


def static(count: int) -> Callable[[], dict[str, Any]]:
    """Return what makes a static record of ``count`` samples, block by block."""
    settings: Any = make_settings('imu', _imu_values(100.0))
    fast.use()  # compiles where numba may be imported, before the clock runs

    def work() -> dict[str, Any]:
        last = 0.0
        for block in StaticRun(settings, seed=1).blocks(count):
            last = float(block[-1, -1])
        return {'last': last, 'compiled': compiled()}

    return work


def trajectory(seconds: float) -> Callable[[], dict[str, Any]]:
    """Return what makes the samples of an IMU at 100 Hz and a GNSS receiver at 10 Hz."""
    source = Racetrack()
    # without accelerations, as pyins has none
    samples = [source.at(t_ns)._replace(a_nb_b=None) for t_ns in data.times_ns(seconds)]
    truth = TruthColumns.of(samples)
    earth = {'origin': list(data.ORIGIN)}
    inertial = {'earth.rotation': True, 'earth.gravity': 'wgs84', **_imu_values(data.IMU_HZ)}
    imu: Any = make_settings('imu', {**inertial, **earth})
    gps: Any = make_settings('gps', {'update_hz': data.GPS_HZ, **earth})
    fast.use()  # compiles where numba may be imported, before the clock runs

    def work() -> dict[str, Any]:
        counts = {
            kind: sum(len(block.t_ns) for block in run.blocks())
            for kind, run in (('imu', ImuRun(imu, truth, 1)), ('gps', GpsRun(gps, truth, 1)))
        }
        return {**counts, 'compiled': compiled()}

    return work


def allan(count: int, axes: int, taus: int) -> Callable[[], dict[str, Any]]:
    """Return what estimates the Allan deviation of a record."""
    record, factors = data.record(count, axes), data.factors(count, taus)
    allan_fast.use()  # compiles where numba may be imported, before the clock runs
    overlapping_adev(record[:1000], data.RECORD_HZ, [1])

    def work() -> dict[str, Any]:
        curve = overlapping_adev(record, data.RECORD_HZ, factors)
        return {'adev': np.asarray(curve.adev).T.tolist(), 'compiled': compiled()}

    return work
