"""What the sensors of the Python interface have in common."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from dataclasses import replace
from typing import Any, Generic, TypeVar

from jaguar_sensors_ros.api.faulty import Faulty
from jaguar_sensors_ros.api.measurements import Measurement
from jaguar_sensors_ros.api.powered import ConfigT
from jaguar_sensors_ros.api.values import positive
from jaguar_sensors_ros.nav.kinematics import Segment
from jaguar_sensors_ros.sensors.base import Status
from jaguar_sensors_ros.sensors.calibration import Calibration
from jaguar_sensors_ros.types import NS_PER_S, Fidelity, SensorState

MeasurementT = TypeVar('MeasurementT', bound=Measurement)

#: measurements that wait to be taken; the oldest of more are dropped
KEPT = 100_000


class Sensor(Faulty[ConfigT], Generic[ConfigT, MeasurementT]):
    """A sensor of document 000 around one of the catalogue.

    It is Off until :meth:`initialize`, and again after :meth:`shutdown`.  True values hold until
    they are set again; :meth:`update` lets the measurement time go on, and samples fall on the
    grid of the sensor, whatever the steps.  All that may be done only while it is on raises
    JaguarError before.
    """

    def _clear_output(self) -> None:
        self._waiting: deque[tuple[int, MeasurementT]] = deque()
        self._untaken: deque[MeasurementT] = deque(maxlen=KEPT)
        self._newest: MeasurementT | None = None
        self._last_sample: Any = None

    # ------------------------------------------------------------------ to be told by a sensor

    @abstractmethod
    def _piece(self, start_ns: int, end_ns: int) -> Segment:
        """Return the truth between two times [ns]."""

    @abstractmethod
    def _measured(self, sample: Any, status: Status) -> MeasurementT:
        """Return a sample as a measurement."""

    @abstractmethod
    def _missing(self, timestamp_ns: int) -> MeasurementT:
        """Return a measurement that says that there is none."""

    # ------------------------------------------------------------------ time

    def update(self, dt: float) -> None:
        """Let the measurement time go on by ``dt`` [s] with the true values that are set.

        The sum of the steps is kept exactly, so 100 times 0.01 is one second.  None, one or
        several samples fall into the step.

        Raises
        ------
        JaguarError
            if the sensor is off, or ``dt`` is not a finite number above 0.
        """
        core = self._core
        end_ns = self._clock.advance(dt)
        k = core.grid.first_at(self._now_ns + 1)
        while (tick_ns := core.grid.time_ns(k)) <= end_ns:
            self._go_to(tick_ns, at_tick=True)
            k += 1
        if self._now_ns < end_ns:
            self._go_to(end_ns, at_tick=False)
        self._release()

    def _go_to(self, to_ns: int, at_tick: bool) -> None:
        core, start_ns = self._core, self._now_ns
        piece = self._piece(start_ns, to_ns)
        samples = core.feed(piece)
        self._ideal.note(piece, at_tick)
        self._passed(start_ns, to_ns)
        self._now_ns = to_ns
        transparent = core.fidelity is Fidelity.TRANSPARENT
        latency_ns = 0 if transparent else round(core.settings.latency_s * NS_PER_S)
        for sample in samples:
            self._last_sample = sample
            measurement = self._measured(sample, core.status())
            self._waiting.append((to_ns + latency_ns, measurement))

    def _release(self) -> None:
        """Hand out what has waited for its latency."""
        while self._waiting and self._waiting[0][0] <= self._now_ns:
            self._newest = self._waiting.popleft()[1]
            self._untaken.append(self._newest)

    # ------------------------------------------------------------------ measurements

    def get_measurement(self) -> MeasurementT:
        """Return the newest measurement, with state, validity and confidence of just now.

        Before the first, and while the sensor is off, it is not valid and carries NaN.
        """
        if self._on is None or self._newest is None:
            return replace(self._missing(self._now_ns), state=self.get_state())
        status = self._on.status()
        return replace(
            self._newest, state=status.state, valid=status.valid, confidence=status.confidence
        )

    def take_measurements(self) -> list[MeasurementT]:
        """Return all measurements since the last call, oldest first, each as it was made.

        At most the newest ``KEPT`` are kept.
        """
        taken = list(self._untaken)
        self._untaken.clear()
        return taken

    def get_true_measurement(self) -> MeasurementT:
        """Return what a perfect sensor said at the end of the newest sample interval.

        It is there also where the sensor gave nothing.  Before the first whole interval it is
        not valid and carries NaN.
        """
        sample = self._ideal.sample() if self._on is not None else None
        if sample is None:
            return self._missing(self._now_ns)
        return self._measured(sample, self._ideal.status())

    # ------------------------------------------------------------------ state

    def get_state(self) -> SensorState:
        """Return the state; Off before initialize(), after shutdown() and while disabled."""
        return SensorState.OFF if self._on is None else self.get_status().state

    def get_status(self) -> Status:
        """Return the state with its causes, the faults, validity and counters."""
        status: Status = self._core.status()
        return status

    def get_uptime(self) -> float:
        """Return the measurement time since power-on [s]; 0 while off."""
        return 0.0 if self._on is None else self.get_status().uptime_s

    def get_sample_count(self) -> int:
        """Return the number of samples put out since power-on; 0 while off."""
        return 0 if self._on is None else int(self._on.sample_count)

    # ------------------------------------------------------------------ calibration

    def calibrate(self, duration_s: float) -> Calibration:
        """Average measured minus true over a time at rest and subtract it from then on.

        Returns at once; it runs with the updates.  The returned object tells when it is
        ``done``, and why it was ``refused`` if it was.

        Raises
        ------
        JaguarError
            if the duration is not valid, a calibration is running, the sensor is off or
            disabled, or a fault is on it.
        """
        run: Calibration = self._core.calibrate(positive('duration_s', duration_s, 's'))
        return run

    def is_calibrating(self) -> bool:
        """Return whether a calibration is running."""
        return self._on is not None and self._on.calibration is not None
