"""The chain that every sensor shares: truth in, samples out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

from jaguar_sensors_ros.component import ParameterError, StreamFactory
from jaguar_sensors_ros.faults import noise, timeline
from jaguar_sensors_ros.faults.base import NONE, Channels, FaultMode, Signal
from jaguar_sensors_ros.faults.board import FaultBoard
from jaguar_sensors_ros.faults.chance import happens
from jaguar_sensors_ros.faults.timeline import Event, Timeline
from jaguar_sensors_ros.nav.grid import SampleGrid
from jaguar_sensors_ros.nav.kinematics import Segment
from jaguar_sensors_ros.nav.rotation import quat_from_rpy, subtract
from jaguar_sensors_ros.sensors.calibration import Calibration
from jaguar_sensors_ros.sensors.clock import ClockSettings, SensorClock
from jaguar_sensors_ros.sensors.exposure import Exposure
from jaguar_sensors_ros.sensors.settings import SensorSettings
from jaguar_sensors_ros.types import (
    NS_PER_S,
    ZERO3,
    Fidelity,
    JaguarError,
    Quat,
    SensorState,
    TruthSample,
    Vec3,
)

#: the clock of the truth
_EXACT = ClockSettings()

SettingsT = TypeVar('SettingsT', bound=SensorSettings)
SampleT = TypeVar('SampleT')


@dataclass(frozen=True)
class Status:
    """What a sensor says of itself; see SensorState.msg.

    ``t_ns`` is the measurement time [ns], None before the first.
    """

    state: SensorState
    causes: tuple[str, ...]
    fidelity: Fidelity
    faults: tuple[str, ...]
    uptime_s: float
    sample_count: int
    valid: bool
    confidence: float
    t_ns: int | None


class Sensor(ABC, Generic[SettingsT, SampleT]):
    """A sensor on its own sample grid.

    ``feed`` takes the truth piece by piece and returns the samples that fall into it.  The error
    models run at every tick in every fidelity, with and without output, so that switching
    disturbs no random stream.

    Parameters
    ----------
    name : str
        Name of the sensor; part of the names of its random streams.
    settings : SensorSettings
        Its parameters.
    seed : int
        Seed of all random numbers, >= 0.
    fault_modes : mapping of str to FaultMode
        The known failure modes by name.
    """

    type_name: ClassVar[str]
    channels: ClassVar[Channels]

    def __init__(
        self, name: str, settings: SettingsT, seed: int, fault_modes: Mapping[str, FaultMode]
    ) -> None:
        self.name = name
        self.seed = seed
        self.power_on = -1
        self.board = FaultBoard(self.channels, fault_modes)
        self.settings = settings
        self.grid = SampleGrid(self._rate_hz(settings))
        self._external_mount: tuple[Vec3, Quat] | None = None
        self.calibration: Calibration | None = None
        self._timeline = ''
        #: the events for this sensor of the timeline given by parameters
        self.timeline_events: tuple[Event, ...] = ()
        self._timeline_read: tuple[str, tuple[Event, ...]] = ('', ())
        self.power_cycle()

    @property
    def fidelity(self) -> Fidelity:
        """The fidelity in effect."""
        return self.settings.level

    @property
    def corrections(self) -> dict[str, Vec3]:
        """What calibrations found is added to each channel from the next sample on."""
        return dict(self._corrections)

    # ------------------------------------------------------------------ life

    def power_cycle(self) -> None:
        """Switch off and on: new turn-on values, counters at zero; injected faults stay."""
        self.power_on += 1
        self.streams = StreamFactory(self.seed, self.name, self.power_on)
        self._fault_streams: dict[tuple[str, str], Any] = {}
        self._tick_of: tuple[int, int] | None = None
        self._tick_ns = 0
        self._power_on_ns: int | None = None
        #: measurement time [ns]: how far the truth has been taken; None before the first
        self.time_ns: int | None = None
        self.sample_count = 0
        self._last_published: SampleT | None = None
        self._loss_probability = 0.0
        self._noise_factor = 1.0
        self._failed = False
        self._is_shut_down = False
        #: the faults that acted on the last sample, as mode:target
        self.effective_faults: tuple[str, ...] = ()
        self.clock = SensorClock(self.streams)
        self.exposure = Exposure(self.settings.temperature_c)
        self._corrections = dict.fromkeys(self.channels.names, ZERO3)
        self._is_corrected = False
        self.end_calibration('the sensor was switched off and on')
        self._power_up()
        self.configure(self.settings)
        self.board.arm()

    def shut_down(self) -> None:
        """Switch off until the next :meth:`power_cycle`: the state is Off, nothing is put out."""
        self.end_calibration('the sensor was switched off')
        self._is_shut_down = True

    def configure(self, settings: SettingsT) -> None:
        """Take new parameters, in effect from the next sample.

        Raises
        ------
        ParameterError
            if the failure given by parameters is not valid for this sensor, or its timeline.
        """
        self.check(settings)
        rate_changed = self._rate_hz(settings) != self._rate_hz(self.settings)
        self.settings = settings
        if rate_changed:
            self._change_rate()
        chance = self._draw_at('failure.probability', '', 0)
        present = happens(settings.failure.probability, chance)
        self.board.configure(
            settings.failure.request() if present else None,
            settings.failure.mtbf_hours,
            lambda number: self._draw_at('fault.mtbf', '', number),
        )
        if settings.failure.timeline != self._timeline:
            self._timeline = settings.failure.timeline
            self.timeline_events = self._read_timeline(self._timeline)
            self.board.load_configured(self.timeline_events)
        self.board.use_configured(self.fidelity is Fidelity.FAULT)
        transparent = self.fidelity is Fidelity.TRANSPARENT
        self.clock_settings = _EXACT if transparent else settings.clock
        self._max_shock_g = settings.environment.max_shock
        self._mount()
        self._configured()

    def check(self, settings: SettingsT) -> None:
        """Raise ParameterError where the settings do not fit this sensor; change nothing."""
        request = settings.failure.request()
        if request is not None:
            refusal = self.board.rules.refusal(request)
            if refusal:
                raise ParameterError('failure.mode', request.mode, refusal)
        if settings.failure.timeline != self._timeline:
            self._read_timeline(settings.failure.timeline)

    def _read_timeline(self, path: str) -> tuple[Event, ...]:
        """Return the events for this sensor in a timeline file, which is read once."""
        if not path:
            self._timeline_read = ('', ())
        elif path != self._timeline_read[0]:
            try:
                events = self._events(timeline.read(path, self.board.rules.known_modes))
            except JaguarError as error:
                raise ParameterError('failure.timeline', path, str(error)) from None
            self._timeline_read = (path, events)
        return self._timeline_read[1]

    def _events(self, read: Timeline) -> tuple[Event, ...]:
        """Return the events that name this sensor, which must take them."""
        events = read.of(self.name)
        try:
            self.board.check(events)
        except JaguarError as error:
            raise JaguarError(f'{read.name}: {error}') from None
        return events

    def cleared_parameters(self, all_of_it: bool) -> dict[str, object]:
        """Return what the parameters failure.* are to be set to after faults were cleared.

        ``all_of_it`` tells that everything was cleared, not one target.
        """
        failure = self.settings.failure
        cleared: dict[str, object] = {}
        if all_of_it or not self.board.has_configured:
            cleared = {'failure.mode': NONE, 'failure.mtbf_hours': 0.0}
        if all_of_it:
            cleared['failure.timeline'] = ''
        return {
            name: value
            for name, value in cleared.items()
            if getattr(failure, name.partition('.')[2]) != value
        }

    def inject_timeline(self, text: str) -> int:
        """Take a timeline in place of the one injected before; return how many events it has.

        Its times count from power-on, so events that are over have no effect any more; it acts
        in every fidelity.  An empty text takes away the one before.

        Raises
        ------
        JaguarError
            if it is not valid, or names this sensor nowhere; nothing changed then.
        """
        if not text:
            self.board.inject_timeline(())
            return 0
        read = timeline.parse(text, 'timeline', self.board.rules.known_modes)
        events = self._events(read)
        if not events:
            named = ', '.join(read.sensors) or 'none'
            raise JaguarError(f'timeline: no event names the sensor {self.name}; named: {named}')
        self.board.inject_timeline(events)
        return len(events)

    def _change_rate(self) -> None:
        """Enter the new grid after the truth taken so far, at least half a new period on."""
        self.grid = SampleGrid(self._rate_hz(self.settings))
        if self._tick_of is None:
            return
        number = self._tick_of[1]
        half = NS_PER_S / (2.0 * self._rate_hz(self.settings))
        earliest_ns = self._tick_ns + int(half)
        if self.time_ns is not None:
            earliest_ns = max(earliest_ns, self.time_ns + 1)
        self._tick_of = (self.grid.first_at(earliest_ns) - 1, number)

    def set_mount(self, position: Vec3, q_bs: Quat) -> None:
        """Take the mount from outside (tf) instead of from the parameters."""
        self._external_mount = (position, q_bs)
        self._mount()

    def _mount(self) -> None:
        """Set the lever arm in b [m] and q_bs, which takes the sensor's axes to the body's."""
        if self.settings.mount.source == 'tf':
            self.arm, self.q_bs = self._external_mount or (ZERO3, (1.0, 0.0, 0.0, 0.0))
        else:
            self.arm = self.settings.mount.position
            self.q_bs = quat_from_rpy(self.settings.mount.rpy)

    # ------------------------------------------------------------------ chain

    def feed(self, segment: Segment) -> list[SampleT]:
        """Return the samples that fall into the next piece of the truth, oldest first.

        truth -> ideal reading -> error terms -> faults -> sample, at each tick of the grid.
        A piece that begins before the last one ended is a time reset, a power cycle.
        """
        samples: list[SampleT] = []
        start_ns, end_ns, now_ns = segment.start_ns, segment.end_ns, self.time_ns
        if now_ns is not None and start_ns != now_ns:
            if start_ns < now_ns:
                self.power_cycle()
            else:
                self._skip_to(start_ns)
        if self._tick_of is None:
            first = self.first_tick(start_ns)
            self._tick_of = (first - 1, -1)
            self._tick_ns = self.grid.time_ns(first - 1)
            self._power_on_ns = max(self._tick_ns, start_ns)
        k, number = self._tick_of
        while (t_ns := self.grid.time_ns(k + 1)) <= end_ns:
            k, number = k + 1, number + 1
            sample = self._sample(segment, t_ns, number, k)
            self._tick_of = (k, number)
            self._tick_ns = t_ns
            if sample is not None:
                samples.append(sample)
        self._leave(segment)
        self.time_ns = end_ns
        return samples

    def prepare(self) -> None:
        """Do ahead a little of what would hold up a later sample; to be called after a feed."""
        return

    def _skip_to(self, t_ns: int) -> None:
        """Pass over a gap in the truth: no samples, but the ticks count."""
        resume = self.first_tick(t_ns)
        if self._tick_of is not None:
            k, number = self._tick_of
            self._tick_of = (resume - 1, number + resume - 1 - k)
            self._tick_ns = self.grid.time_ns(resume - 1)
        self.exposure.break_off()
        self._gap()

    @abstractmethod
    def _rate_hz(self, settings: SettingsT) -> float:
        """Return the sample rate in ``settings``."""

    @abstractmethod
    def _power_up(self) -> None:
        """Make the error terms anew from ``self.streams``."""

    @abstractmethod
    def _configured(self) -> None:
        """Hand ``self.settings`` to the error terms."""

    @abstractmethod
    def first_tick(self, t_ns: int) -> int:
        """Return k of the first sample where the truth begins at ``t_ns``."""

    @abstractmethod
    def _sample(self, segment: Segment, t_ns: int, number: int, k: int) -> SampleT | None:
        """Run the chain for the tick at ``t_ns``; None where nothing is put out."""

    def _leave(self, segment: Segment) -> None:
        """Take along what belongs to the sample after the piece."""
        return

    def _gap(self) -> None:
        """Forget what was taken along."""
        return

    # ------------------------------------------------------------------ clock and calibration

    def _stamp_ns(self, t_ns: int, number: int) -> int:
        """Return what the sensor's own clock says at ``t_ns``."""
        return self.clock.stamp_ns(self.clock_settings, t_ns, self._power_on_ns or 0, number)

    def calibrate(self, duration_s: float) -> Calibration:
        """Average measured minus ideal over a time at rest and subtract it from then on.

        Returns at once; the run is over when its ``done`` is True.

        Raises
        ------
        JaguarError
            if the duration is not valid, a calibration is running, the sensor is disabled or a
            fault is on it.
        """
        reason = 'a calibration is running' if self.calibration else self._unfit()
        if reason:
            raise JaguarError(reason)
        self.calibration = Calibration.of(duration_s)
        return self.calibration

    def _unfit(self) -> str:
        """Return why the sensor cannot be calibrated now, or an empty string."""
        if self._is_shut_down or not self.settings.enabled:
            return 'the sensor is disabled'
        if self.board.present:
            return f'a fault is on the sensor: {", ".join(self.board.present)}'
        return ''

    def end_calibration(self, reason: str) -> None:
        """End a calibration that is running without a result."""
        if self.calibration is not None:
            self.calibration.end(reason)
            self.calibration = None

    def _observe(self, t_ns: int, state: TruthSample, **errors: Vec3) -> None:
        """Let a calibration that is running see the errors of a sample."""
        run = self.calibration
        if run is None:
            return
        reason = self._unfit()
        if reason:
            self.end_calibration(reason)
            return
        if not run.push(t_ns, self._tick_ns, state, **errors):
            return
        self.calibration = None
        if not run.refused:
            self._is_corrected = True
            for channel, mean in run.means().items():
                self._corrections[channel] = subtract(self._corrections[channel], mean)

    # ------------------------------------------------------------------ exposure

    def _expose(self, t_ns: int, force: Vec3) -> None:
        """Take the true specific force [m/s2] up to ``t_ns``, without added vibration."""
        s, exposure = self.settings, self.exposure
        if exposure.temperature_c != s.temperature_c:
            exposure.warm(t_ns, self._tick_ns, s.temperature_c, s.temperature_slew_c_per_s)
        exposure.feel(t_ns, force, self._max_shock_g)

    def _added_vibration(self) -> float:
        """Return the mean square of the vibration that parameters set, per axis [g^2]."""
        return 0.0

    def _limits_exceeded(self) -> list[str]:
        now_ns = self.time_ns or 0
        limits, added = self.settings.environment, self._added_vibration()
        return self.exposure.exceeded(limits, now_ns, added)

    # ------------------------------------------------------------------ faults and state

    def _draw_at(self, term: str, axis: str, number: int) -> float:
        key = (term, axis)
        if key not in self._fault_streams:
            self._fault_streams[key] = self.streams.stream(term, axis)
        return float(self._fault_streams[key](number))

    def _apply_faults(self, signal: Signal, t_ns: int, number: int) -> None:
        """Let the faults act on a signal, and remember what they do to the state."""
        self.board.apply(
            signal,
            t_ns,
            self._tick_ns,
            self._power_on_ns or 0,
            lambda term, axis: self._draw_at(term, axis, number),
        )
        self._loss_probability = signal.loss_probability
        self._noise_factor = noise.total_factor(signal)
        self._failed = signal.failed
        labels = signal.labels
        self.effective_faults = tuple([f'{label.mode}:{label.target}' for label in labels])

    def _released(self, sample: SampleT, t_ns: int, lost: bool) -> SampleT | None:
        """Return the sample if it is put out, None while off, warming up or lost."""
        settings = self.settings
        if lost or self._is_shut_down or not settings.enabled:
            return None
        if settings.warm_up_s > 0.0 and t_ns <= self._warm_until_ns():
            return None
        self.sample_count += 1
        self._last_published = sample
        return sample

    def _warm_until_ns(self) -> int:
        start = self._power_on_ns or 0
        warm_up_s = self.settings.warm_up_s
        return start + round(warm_up_s * NS_PER_S) if warm_up_s > 0.0 else start - 1

    def status(self) -> Status:
        """Return the state and what caused it.

        An active fault or an exceeded limit of the environment is Degraded, total is Failed;
        valid is false only in Off, Initializing and Failed, or without a fix.
        """
        state, causes = SensorState.READY, []
        faults = self.effective_faults
        if self._is_shut_down:
            state, causes = SensorState.OFF, ['shut down']
        elif not self.settings.enabled:
            state, causes = SensorState.OFF, ['disabled']
        elif self._failed:
            state, causes = SensorState.FAILED, ['fault total']
        elif self._power_on_ns is None:
            state, causes = SensorState.INITIALIZING, ['no sample yet']
        elif self._tick_ns <= self._warm_until_ns():
            state, causes = SensorState.INITIALIZING, ['warm-up']
        elif self.calibration is not None:
            state, causes = SensorState.INITIALIZING, ['calibration']
        else:
            causes = [f'fault {name}' for name in faults] + self._limits_exceeded()
            state = SensorState.DEGRADED if causes else SensorState.READY
        running = state in (SensorState.READY, SensorState.DEGRADED)
        if running and not self._usable():
            causes.append('no fix')
        valid = running and self._usable()
        confidence = self._quality() * (1.0 - self._loss_probability) if valid else 0.0
        start, now = self._power_on_ns, self.time_ns
        uptime_s = 0.0 if start is None or now is None else (now - start) / NS_PER_S
        return Status(
            state,
            tuple(causes),
            self.fidelity,
            self.board.present,
            uptime_s,
            self.sample_count,
            valid,
            confidence,
            now,
        )

    def _usable(self) -> bool:
        return True

    @abstractmethod
    def _quality(self) -> float:
        """Return min(1, nominal sigma / present sigma)."""
