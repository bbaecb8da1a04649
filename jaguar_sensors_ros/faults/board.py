"""The board of one sensor: which faults are on it, and what they do to a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from jaguar_sensors_ros.faults import noise
from jaguar_sensors_ros.faults.base import (
    NONE,
    Channels,
    Draw,
    FaultMode,
    FaultRequest,
    Signal,
)
from jaguar_sensors_ros.faults.chance import exponential
from jaguar_sensors_ros.faults.rack import Rack
from jaguar_sensors_ros.faults.rules import Rules
from jaguar_sensors_ros.faults.timeline import Event
from jaguar_sensors_ros.types import FaultLabel

_S_PER_H = 3600.0


class FaultBoard:
    """Accepts, schedules and applies faults.

    Injected faults, and a timeline that was injected, act in every fidelity.  Faults given by
    parameters act only while the caller says so (fidelity fault): one fault, at once or at
    random, and a timeline.  A newer fault takes the place of an older one that came the same way,
    on the axes of a target that both name; faults of the whole sensor stand beside them.

    Parameters
    ----------
    channels : Channels
        What the sensor offers.
    modes : mapping of str to FaultMode
        The known failure modes by name.
    """

    def __init__(self, channels: Channels, modes: Mapping[str, FaultMode]) -> None:
        self.channels = channels
        self.rules = Rules(channels, modes)
        self._injected = Rack(self.rules)
        self._configured = Rack(self.rules)
        self._request: FaultRequest | None = None
        self._mtbf_s = 0.0
        self._onset_s: Callable[[int], float] = lambda number: 0.0
        self._use_configured = False

    # ------------------------------------------------------------------ injected

    def inject(self, request: FaultRequest) -> str:
        """Take a fault, in effect from the next sample; return a sentence that says so.

        Raises
        ------
        FaultError
            if anything is unknown, missing, non-finite or contradictory; nothing changed then.
        """
        if request.mode == NONE:
            self.rules.check(request)
            return self._clear_target(request.target)
        fault = self.rules.resolve(request)
        replaced = self._injected.put(fault)
        text = self.rules.describe(fault)
        return f'{text}; replaces {replaced[0].mode.name}' if replaced else text

    def inject_timeline(self, events: Iterable[Event]) -> None:
        """Take the events of a timeline in place of those before.

        Raises
        ------
        JaguarError
            naming the event that the sensor does not take; nothing changed then.
        """
        self._injected.load(events)

    def clear(self) -> list[str]:
        """Remove all faults, those given by parameters and those to come included.

        Returns the modes there were, and how many events were to come.  What parameters gave
        comes again when it is armed.
        """
        racks = (self._injected, self._configured)
        to_come = sum(rack.to_come for rack in racks)
        names = [name for rack in self._racks() for name in rack.names]
        for rack in racks:
            rack.clear()
        self._injected.load(())
        return [*names, f'{to_come} events of a timeline'] if to_come else names

    def clear_injected(self) -> list[str]:
        """Remove the faults injected one by one; return what they were."""
        return self._injected.clear_lasting()

    def _clear_target(self, target: str) -> str:
        if target in ('', 'all'):
            cleared = self.clear()
            return f'cleared {", ".join(cleared)}' if cleared else 'no fault was active'
        hit = [rack.release(target) for rack in self._racks()]
        return f'cleared {target}' if any(hit) else f'no fault was on {target}'

    # ------------------------------------------------------------------ given by parameters

    def configure(
        self, request: FaultRequest | None, mtbf_hours: float, draw: Callable[[int], float]
    ) -> None:
        """Set or remove the fault given by parameters; it starts at the next sample.

        Parameters
        ----------
        request : FaultRequest or None
            The fault.
        mtbf_hours : float
            Mean time between failures [h]: it comes at random times; 0: at once.
        draw : callable
            Unit normal of the n-th failure, for n from 0.
        """
        mtbf_s = mtbf_hours * _S_PER_H
        self._onset_s = lambda number: exponential(mtbf_s, draw(number))
        if (request, mtbf_s) != (self._request, self._mtbf_s):
            self._request, self._mtbf_s = request, mtbf_s
            self.arm_configured()

    def load_configured(self, events: Iterable[Event]) -> None:
        """Set the timeline given by parameters (see :meth:`inject_timeline`)."""
        self._configured.load(events)

    def check(self, events: Iterable[Event]) -> None:
        """Raise JaguarError for an event that the sensor does not take."""
        self._configured.check(events)

    def use_configured(self, active: bool) -> None:
        """Let what parameters gave act, or not; the fault starts anew each time it is let."""
        if active and not self._use_configured:
            self.arm_configured()
        self._use_configured = active

    def arm(self) -> None:
        """Start the timelines and the fault given by parameters anew, as at power-on."""
        self._injected.arm()
        self._configured.arm()
        self.arm_configured()

    def arm_configured(self) -> None:
        """Start the fault given by parameters anew."""
        self._configured.clear_lasting()
        if self._request is None:
            return
        if self._mtbf_s > 0.0:
            self._configured.fail_at_random(self._request, self._onset_s)
        else:
            self._configured.put(self.rules.resolve(self._request))

    @property
    def is_bare(self) -> bool:
        """Whether no fault can act on the next sample."""
        return self._injected.is_idle and self._configured.is_idle

    @property
    def has_configured(self) -> bool:
        """Whether the fault given by parameters is on the board or to come."""
        return self._configured.has_lasting

    # ------------------------------------------------------------------ in time

    @property
    def present(self) -> tuple[str, ...]:
        """Names of the faults that began, or were injected, and are not over, as mode:target."""
        faults = [fault for rack in self._racks() for fault in rack.faults]
        return tuple(f'{fault.mode.name}:{fault.target}' for fault in faults)

    def _racks(self) -> tuple[Rack, ...]:
        if self._use_configured:
            return (self._injected, self._configured)
        return (self._injected,)

    def apply(
        self, signal: Signal, t_ns: int, before_ns: int, power_on_ns: int, draw: Draw
    ) -> None:
        """Let all active faults act on a sample at ``t_ns``.

        ``before_ns`` is the stamp of the sample before: a fault that came since begins there.
        Timelines count from ``power_on_ns``.
        """
        if self.is_bare:
            return
        racks = (self._injected, self._configured)
        for rack in racks:
            rack.advance(t_ns, before_ns, power_on_ns)
        for fault in [fault for rack in self._racks() for fault in rack.faults]:
            elapsed_s = fault.elapsed_s(t_ns)
            if elapsed_s is None:
                continue
            effect = fault.mode.act(signal, fault, elapsed_s, self.channels.axes, draw)
            signal.labels.append(FaultLabel(fault.mode.name, fault.target, effect))
        noise.add_extra(signal, self.channels.axes, draw)
        for rack in racks:
            rack.drop_ended(t_ns)
