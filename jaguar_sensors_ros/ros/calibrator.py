"""The service ~/calibrate: answers when a calibration is over, without holding up the node."""

from __future__ import annotations

import time
from typing import Any

from rclpy.task import Future

from jaguar_sensors_ros.ros import writer
from jaguar_sensors_ros.sensors.base import Sensor
from jaguar_sensors_ros.sensors.calibration import Calibration
from jaguar_sensors_ros.types import JaguarError

#: standstill of the measurement time [s] after which a calibration is given up
_PATIENCE_S = 5.0


class Calibrator:
    """Runs one calibration at a time for a node.

    Parameters
    ----------
    sensor : Sensor
        The sensor that is calibrated.
    """

    def __init__(self, sensor: Sensor[Any, Any]) -> None:
        self._sensor = sensor
        #: the one that a caller waits for
        self.run: Calibration | None = None
        self._over: Any = None
        self._moved: tuple[int | None, float] = (None, 0.0)

    async def serve(self, request: Any, response: Any) -> Any:
        """Start a calibration and answer when it is over."""
        response.success = False
        try:
            run = self._sensor.calibrate(request.duration)
        except JaguarError as error:
            response.message = str(error)
            return response
        self.run, self._over = run, Future()
        self._moved = (self._sensor.time_ns, time.monotonic())
        await self._over
        response.samples = run.count
        if run.refused:
            response.message = f'not calibrated: {run.refused}'
            return response
        means = run.means()
        response.success = True
        response.channels = list(means)
        response.means = [writer.vector(mean) for mean in means.values()]
        text = ', '.join(f'{name} {x:.6g} {y:.6g} {z:.6g}' for name, (x, y, z) in means.items())
        response.message = f'subtracted from now on, mean of {run.count} samples: {text}'
        return response

    def look(self) -> None:
        """See whether the calibration is over, or waits for a truth that does not come."""
        run = self.run
        if run is None:
            return
        if self._sensor.time_ns != self._moved[0]:
            self._moved = (self._sensor.time_ns, time.monotonic())
        if not run.done and time.monotonic() - self._moved[1] > _PATIENCE_S:
            self._sensor.end_calibration(f'timed out, no ground truth for {_PATIENCE_S:g} s')
        if run.done:
            self.run = None
            self._over.set_result(None)
