"""Plays a truth source in time: which records are due, with which stamps.

Nothing here knows ROS or a clock: the node passes the time that has gone by, and gets the
records due since the last call, none skipped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path

from jaguar_sensors_ros.component import AUTO, ParameterError, nearest
from jaguar_sensors_ros.nav.grid import SampleGrid
from jaguar_sensors_ros.truth.bag import OdometryRecording, OdometryRow
from jaguar_sensors_ros.truth.curve import TrajectoryCurve
from jaguar_sensors_ros.truth.files import open_truth
from jaguar_sensors_ros.truth.player_settings import PlayerSettings
from jaguar_sensors_ros.types import NS_PER_S, TruthSample, TruthSource

Source = TruthSource | OdometryRecording
Payload = TruthSample | OdometryRow

#: silence [ns] between two laps of a loop; longer than ``truth.max_gap_s`` of the sensors, so
#: that they do not take the jump back to the first pose for a motion
LAP_PAUSE_NS = NS_PER_S
#: stamps that start now start at a whole multiple of this [ns], so that they coincide with the
#: sample grids of the sensors
START_GRID_NS = 100_000_000


@dataclass(frozen=True, slots=True)
class Event:
    """What is published at one instant.

    ``t_ns`` is the stamp; ``clock`` tells whether /clock is published (before the record);
    ``record`` is None for an instant of the clock alone.  The record's own ``t_ns`` is its time
    in the source.
    """

    t_ns: int
    clock: bool
    record: Payload | None


def load_source(
    settings: PlayerSettings, built_in: Mapping[str, Callable[[], TruthSource]]
) -> Source:
    """Return the source that ``settings.trajectory`` names.

    Parameters
    ----------
    settings : PlayerSettings
        ``trajectory`` and ``topic`` are used.
    built_in : mapping
        Makers of sources by name; any other name is a file.

    Raises
    ------
    JaguarError
        if the name is neither known nor a file, or the file is refused.
    """
    name = settings.trajectory
    if name in built_in:
        if settings.topic:
            raise ParameterError('topic', settings.topic, 'must be empty: only a bag has topics')
        return built_in[name]()
    if not Path(name).expanduser().exists():
        hint = '' if '/' in name or '.' in name else f'; {nearest(name, built_in)}'
        raise ParameterError(
            'trajectory',
            name,
            f'no such file and no built-in trajectory; must be one of {", ".join(built_in)} or '
            f'the path of a trajectory file or bag{hint}',
        )
    return open_truth(name, settings.topic)


class Player:
    """Hands out the events of a source as time goes by, from :meth:`begin` on.

    Parameters
    ----------
    settings : PlayerSettings
        What to play and how.
    source : Source
        From :func:`load_source`.

    Attributes
    ----------
    base_ns : int
        Stamp of the start of the source.

    Raises
    ------
    ParameterError
        if a parameter does not fit the source.
    """

    def __init__(self, settings: PlayerSettings, source: Source) -> None:
        self._settings = settings
        self._source = source
        _check_fit(settings, source)
        self._start = _start(settings, source)
        self.base_ns = 0
        self._events: Iterator[Event] = iter(())
        self._next: Event | None = None

    def begin(self, now_ns: int) -> int:
        """Fix the start stamp, given the time of the wall clock [ns].

        Returns
        -------
        int
            Wall time [ns] until the start stamp is due; zero unless the stamps start now.
        """
        self.base_ns = self._source.start_ns if self._start == 'recorded' else 0
        if self._start == 'now':
            self.base_ns = -(-now_ns // START_GRID_NS) * START_GRID_NS
        self._events = self._all_events()
        self._next = next(self._events, None)
        return self.base_ns - now_ns if self._start == 'now' else 0

    @property
    def finished(self) -> bool:
        """Whether everything was handed out."""
        return self._next is None

    def due(self, elapsed_ns: int, limit: int) -> list[Event]:
        """Return the events due, oldest first.

        Parameters
        ----------
        elapsed_ns : int
            Wall time [ns] since the start stamp was due.
        limit : int
            Most events to return; what is left comes with the next call.
        """
        newest_ns = self.base_ns + int(elapsed_ns * self._settings.real_time_factor)
        found: list[Event] = []
        while self._next is not None and self._next.t_ns <= newest_ns and len(found) < limit:
            found.append(self._next)
            self._next = next(self._events, None)
        return found

    def wait_ns(self, elapsed_ns: int) -> int:
        """Return the wall time [ns] until the next event is due, 0 if it is or there is none."""
        if self._next is None:
            return 0
        truth_ns = self._next.t_ns - self.base_ns
        return max(0, math.ceil(truth_ns / self._settings.real_time_factor) - elapsed_ns)

    def _all_events(self) -> Iterator[Event]:
        """Yield every event in order; a stamp of 0 is no time in ROS and is left out."""
        clock = self._settings.publish_clock
        ticks = self._clock_ticks()
        tick = next(ticks, None)
        for offset, record in self._laps():
            while tick is not None and tick < offset:
                if self.base_ns + tick > 0:
                    yield Event(self.base_ns + tick, True, None)
                tick = next(ticks, None)
            if tick == offset:
                tick = next(ticks, None)
            if self.base_ns + offset > 0:
                yield Event(self.base_ns + offset, clock, record)

    def _clock_ticks(self) -> Iterator[int]:
        """Yield the instants of the clock's own grid [ns] from the start on."""
        settings = self._settings
        if settings.publish_clock and settings.clock_rate_hz > 0.0:
            grid = SampleGrid(settings.clock_rate_hz)
            yield from (grid.time_ns(k) for k in count())

    def _laps(self) -> Iterator[tuple[int, Payload]]:
        """Yield records with their time [ns] since the start, lap by lap."""
        lap_start = last = 0
        while True:
            for offset, record in self._lap():
                last = lap_start + offset
                yield last, record
            if not self._settings.loop:
                return
            lap_start = last + LAP_PAUSE_NS

    def _lap(self) -> Iterator[tuple[int, Payload]]:
        """Yield the records of one pass with their time [ns] since its start."""
        for t_ns, record in _records(self._source, self._settings.rate_hz):
            offset = t_ns - self._source.start_ns
            if self._settings.duration_s and offset > round(self._settings.duration_s * 1e9):
                return
            yield offset, record


def _records(source: Source, rate_hz: float) -> Iterator[tuple[int, Payload]]:
    """Yield times in the source [ns] and records of one pass."""
    if isinstance(source, OdometryRecording):
        yield from ((row.t_ns, row) for row in source.rows)
    elif isinstance(source, TrajectoryCurve) and rate_hz == 0.0:
        yield from ((t_ns, source.at(t_ns)) for t_ns in source.knots_ns)
    else:
        grid, first, end = SampleGrid(rate_hz), source.start_ns, source.end_ns
        for k in count():
            t_ns = first + grid.time_ns(k)
            if end is not None and t_ns > end:
                return
            yield t_ns, source.at(t_ns)


def _check_fit(settings: PlayerSettings, source: Source) -> None:
    """Refuse parameters that make no sense with the kind of source."""
    if isinstance(source, OdometryRecording):
        if settings.publish_accel:
            raise ParameterError(
                'publish_accel', True, 'must be false for a bag: odometry holds no acceleration'
            )
    elif not isinstance(source, TrajectoryCurve):
        if settings.rate_hz == 0.0:
            raise ParameterError(
                'rate_hz', 0.0, 'must be above 0 Hz: a built-in trajectory has no rows of its own'
            )
        if settings.start == 'recorded':
            raise ParameterError(
                'start', 'recorded', 'must be now or zero for a built-in trajectory'
            )


def _start(settings: PlayerSettings, source: Source) -> str:
    """Return where the stamps start: now, recorded or zero."""
    if settings.start != AUTO:
        return settings.start
    if not settings.publish_clock:
        return 'now'
    return 'recorded' if isinstance(source, OdometryRecording | TrajectoryCurve) else 'zero'
