"""The service ~/calibrate: answers when a calibration is over, without holding up the node."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.task import Future

from jaguar_sensors_ros.ros import writer
from jaguar_sensors_ros.sensors.base import Sensor
from jaguar_sensors_ros.sensors.calibration import Calibration
from jaguar_sensors_ros.types import JaguarError

#: silence of the truth [s] after which a calibration is given up
_PATIENCE_S = 5.0


class Calibrator:
    """Runs one calibration at a time for a node.

    Parameters
    ----------
    sensor : Sensor
        The sensor that is calibrated.
    silence_s : callable
        Returns for how long no truth has come [s].
    """

    def __init__(self, sensor: Sensor[Any, Any], silence_s: Callable[[], float]) -> None:
        self._sensor = sensor
        self._silence_s = silence_s
        self._run: Calibration | None = None
        self._over: Any = None

    async def serve(self, request: Any, response: Any) -> Any:
        """Start a calibration and answer when it is over."""
        response.success = False
        try:
            run = self._sensor.calibrate(request.duration)
        except JaguarError as error:
            response.message = str(error)
            return response
        self._run, self._over = run, Future()
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
        run = self._run
        if run is None:
            return
        if not run.done and self._silence_s() > _PATIENCE_S:
            self._sensor.calibration = None
            run.end(f'timed out, no ground truth for {_PATIENCE_S:g} s')
        if run.done:
            self._run = None
            self._over.set_result(None)
