"""The faults on a sensor that came the same way, and those that are still to come."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable

from jaguar_sensors_ros.faults.base import NONE, ActiveFault, FaultRequest
from jaguar_sensors_ros.faults.rules import Rules
from jaguar_sensors_ros.faults.timeline import Event
from jaguar_sensors_ros.types import NS_PER_S, JaguarError

#: gap [ns] over which random failures are not followed one by one
_LONGEST_WAY_NS = NS_PER_S
#: time [s] to the n-th random failure, for n from 0
Onset = Callable[[int], float]


class Rack:
    """Keeps faults, lets a newer one take the place of an older, runs a timeline.

    Parameters
    ----------
    rules : Rules
        What the sensor takes.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self.faults: list[ActiveFault] = []
        self._timeline: tuple[Event, ...] = ()
        self._events: deque[Event] = deque()
        self._random: tuple[FaultRequest, Onset] | None = None
        self._random_ns: int | None = None
        self._failures = 0

    @property
    def is_idle(self) -> bool:
        """Whether there is no fault and none to come."""
        return not (self.faults or self._events or self._random)

    @property
    def has_lasting(self) -> bool:
        """Whether there is a fault that came from no timeline, or one that comes at random."""
        return self._random is not None or any(not fault.scheduled for fault in self.faults)

    @property
    def names(self) -> list[str]:
        """The modes of the faults on the sensor."""
        return [fault.mode.name for fault in self.faults]

    @property
    def to_come(self) -> int:
        """How many events of the timeline are to come."""
        return len(self._events)

    # ------------------------------------------------------------------ what is put on it

    def put(self, fault: ActiveFault) -> list[ActiveFault]:
        """Take a fault; return the older ones that left it their axes.

        One that a timeline brings late leaves its axes to those that began after its time.
        """
        newer = [other for other in self.faults if _began_after(other, fault)]
        older = [other for other in self.faults if not _began_after(other, fault)]
        for other in newer:
            fault.give_way(other)
        replaced = [old for old in older if old.give_way(fault)]
        self.faults = [one for one in [*self.faults, fault] if one.axes]
        return replaced

    def load(self, events: Iterable[Event]) -> None:
        """Take the events of a timeline in place of those before, from its beginning.

        Raises
        ------
        JaguarError
            naming the event that the sensor does not take; nothing changed then.
        """
        events = tuple(events)
        self.check(events)
        self._timeline = events
        self.arm()

    def check(self, events: Iterable[Event]) -> None:
        """Raise JaguarError for an event that the sensor does not take."""
        for event in events:
            refusal = self._rules.refusal(event.request)
            if refusal:
                at_s = event.at_ns / NS_PER_S
                raise JaguarError(f'event {event.number}, at {at_s:g} s: {refusal}')

    def fail_at_random(self, request: FaultRequest, onset_s: Onset) -> None:
        """Let a fault come after a random time, and again after each of its ends."""
        self._random, self._random_ns, self._failures = (request, onset_s), None, 0

    # ------------------------------------------------------------------ what is taken off

    def arm(self) -> None:
        """Begin the timeline anew and take off what came from it."""
        self.faults = [fault for fault in self.faults if not fault.scheduled]
        self._events = deque(self._timeline)

    def clear(self) -> None:
        """Take everything off, what is to come included, until the timeline is armed again."""
        self._random = None
        self.faults = []
        self._events.clear()

    def clear_lasting(self) -> list[str]:
        """Take off what came from no timeline, and what comes at random; return the modes."""
        gone = [fault.mode.name for fault in self.faults if not fault.scheduled]
        self.faults = [fault for fault in self.faults if fault.scheduled]
        self._random = None
        return gone

    def release(self, target: str) -> bool:
        """Leave a channel alone; tell whether it was hit."""
        hit = [fault for fault in self.faults if fault.release(target)]
        self.faults = [fault for fault in self.faults if fault.channels]
        return bool(hit)

    # ------------------------------------------------------------------ in time

    def advance(self, t_ns: int, before_ns: int, power_on_ns: int) -> None:
        """Put on what is due before the sample at ``t_ns`` [ns]; see :class:`ActiveFault`."""
        for fault in self.faults:
            if fault.origin_ns is None:
                fault.origin_ns = before_ns
        while self._events and power_on_ns + self._events[0].at_ns < t_ns:
            event = self._events.popleft()
            due = self._happen(event.request, power_on_ns + event.at_ns)
            if due is not None:
                due.scheduled = True
        if self._random is not None:
            self._advance_random(t_ns, before_ns)

    def drop_ended(self, t_ns: int) -> None:
        """Take off the faults that are over."""
        self.faults = [fault for fault in self.faults if not fault.is_over(t_ns)]

    def _happen(self, request: FaultRequest, t_ns: int) -> ActiveFault | None:
        if request.mode == NONE:
            later = [one for one in self.faults if (one.origin_ns or 0) > t_ns]
            self.faults = [one for one in self.faults if (one.origin_ns or 0) <= t_ns]
            if request.target in ('', 'all'):
                self.faults = []
            else:
                self.release(request.target)
            self.faults += later
            return None
        fault = self._rules.resolve(request)
        fault.origin_ns = t_ns
        self.put(fault)
        return fault

    def _advance_random(self, t_ns: int, before_ns: int) -> None:
        assert self._random is not None
        request, onset_s = self._random
        lost = self._random_ns is not None and before_ns - self._random_ns > _LONGEST_WAY_NS
        if self._random_ns is None or lost:  # a waiting time without memory may begin anywhere
            self._random_ns = before_ns + _ns(onset_s(self._failures))
        while self._random_ns < t_ns:
            fault = self._happen(request, self._random_ns)
            if fault is None or fault.end_ns is None:
                self._random = None
                return
            self._failures += 1
            self._random_ns = fault.end_ns + _ns(onset_s(self._failures))


def _began_after(one: ActiveFault, other: ActiveFault) -> bool:
    """Tell whether a fault began after another, which begins now where its time is not set."""
    if one.origin_ns is None or other.origin_ns is None:
        return False
    return one.origin_ns > other.origin_ns


def _ns(seconds: float) -> int:
    return max(1, round(seconds * NS_PER_S))
