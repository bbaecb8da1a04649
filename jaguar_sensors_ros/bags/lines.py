"""The truth for whole arrays: taken in as a node does it, in pieces between two resets."""

from __future__ import annotations

from array import array
from dataclasses import dataclass

import numpy as np

from jaguar_sensors_ros.component import ParameterError
from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.sensors.settings import TruthSettings
from jaguar_sensors_ros.truth.columns import TruthColumns
from jaguar_sensors_ros.truth.intake import RawOdometry, TruthIntake
from jaguar_sensors_ros.truth.track import Arrival
from jaguar_sensors_ros.types import NS_PER_S, TruthSample

#: stamps and recording times that differ by more than this are of different clocks
_FOREIGN_NS = 10 * NS_PER_S
_FIELDS = 13


@dataclass(frozen=True)
class Line:
    """Truth between two resets.

    ``number`` counts the resets before; ``offset_ns`` is added to stamps for the time in the bag.
    """

    number: int
    offset_ns: int
    truth: TruthColumns


class LineTaker:
    """Takes odometry as a sensor node does and keeps the truth as arrays.

    Parameters
    ----------
    settings : TruthSettings
        How to read the truth.
    local : LocalFrame
        The frame n.

    Raises
    ------
    ParameterError
        for settings that need more than odometry.
    """

    def __init__(self, settings: TruthSettings, local: LocalFrame) -> None:
        for name, value, allowed in (
            ('truth.acceleration', settings.acceleration, 'derive'),
            ('truth.source', settings.source, 'odometry'),
        ):
            if value != allowed:
                raise ParameterError(name, value, f'from a bag or a file only {allowed}')
        self.intake = TruthIntake(settings, local)
        self.lines: list[Line] = []
        self._number = 0
        self._begin()

    def _begin(self) -> None:
        self._times, self._numbers = array('q'), array('d')
        self._offset_ns: int | None = None

    def push(self, recorded_ns: int, raw: RawOdometry) -> None:
        """Take a message that was recorded at a time [ns]."""
        for push in self.intake.push(raw):
            if push.arrival is Arrival.RESET:
                self.finish()
                self._number += 1
                for segment in push.segments:
                    self._keep(segment.first)  # type: ignore[attr-defined]
            if push.arrival not in (Arrival.LATE, Arrival.DUPLICATE):
                for sample in self.intake.track.recent:
                    self._keep(sample)
        if self._offset_ns is None and self._times:
            offset_ns = recorded_ns - raw.t_ns
            is_foreign = abs(offset_ns) > _FOREIGN_NS or self._number > 0
            self._offset_ns = offset_ns if is_foreign else 0

    def _keep(self, sample: TruthSample) -> None:
        if self._times and sample.t_ns <= self._times[-1]:
            return
        self._times.append(sample.t_ns)
        for part in sample[1:5]:
            self._numbers.extend(part)

    def finish(self) -> None:
        """Complete the line."""
        if len(self._times) > 1:
            rows = np.frombuffer(self._numbers).reshape(-1, _FIELDS)
            parts = [rows[:, a:b] for a, b in ((0, 3), (3, 7), (7, 10), (10, 13))]
            truth = TruthColumns.of_rows(np.frombuffer(self._times, dtype=np.int64), *parts)
            self.lines.append(Line(self._number, self._offset_ns or 0, truth))
        self._begin()
