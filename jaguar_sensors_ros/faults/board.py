"""The board of one sensor: which faults are on it, and what they do to a sample."""

from __future__ import annotations

from collections.abc import Mapping

from jaguar_sensors_ros.faults.base import (
    ActiveFault,
    Channels,
    Draw,
    FaultError,
    FaultMode,
    FaultRequest,
    Signal,
)
from jaguar_sensors_ros.types import FaultLabel

#: the mode that clears a target
NONE = 'none'
#: longest time [s] and largest magnitude that sums of doubles and nanoseconds bear
_LONGEST_S = 1e9
_LARGEST = 1e12


class FaultBoard:
    """Accepts, schedules and applies faults.

    Injected faults act in every fidelity.  One more may be configured by parameters; it acts
    only while the caller says so (fidelity fault).  A newer fault takes the place of an older one
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
        self._modes = {name: modes[name] for name in channels.modes}
        self._of_others = set(modes) - set(channels.modes)
        self._injected: list[ActiveFault] = []
        self._configured: ActiveFault | None = None
        self._request: FaultRequest | None = None
        self._use_configured = False

    def inject(self, request: FaultRequest) -> str:
        """Take a fault, in effect from the next sample; return a sentence that says so.

        Raises
        ------
        FaultError
            if anything is unknown, missing, non-finite or contradictory; nothing changed then.
        """
        if request.mode == NONE:
            self._check_times(request)
            if self._axes(request) != tuple(range(len(self.channels.axes))):
                raise FaultError('axis is not valid for none, which clears a whole target')
            return self._clear_target(request)
        fault = self.resolve(request)
        replaced = [old for old in self._injected if old.give_way(fault)]
        self._injected = [old for old in self._injected if old.axes]
        self._injected.append(fault)
        axes = ''.join(self.channels.axes[i] for i in fault.axes)
        text = f'{fault.mode.name} on {fault.target}'
        if not fault.mode.whole_sensor:
            text += f', axes {axes}'
        if fault.mode.default_magnitude != 0.0:
            text += f', magnitude {fault.magnitude:g}'
            if fault.mode.in_channel_unit:
                unit = self.channels.units[fault.channels[0]]
                text += f' {unit}{fault.mode.unit_suffix}'
        if replaced:
            text += f'; replaces {replaced[0].mode.name}'
        return text

    def clear(self) -> list[str]:
        """Remove all faults, the configured one included; return what they were."""
        names = [fault.mode.name for fault in self._injected]
        if self._use_configured and self._configured is not None:
            names.append(self._configured.mode.name)
        self._injected = []
        self._configured = None
        return names

    def clear_injected(self) -> list[str]:
        """Remove the injected faults only; return what they were."""
        names = [fault.mode.name for fault in self._injected]
        self._injected = []
        return names

    def configure(self, request: FaultRequest | None) -> None:
        """Set or remove the fault given by parameters; it starts at the next :meth:`arm`."""
        if request != self._request:
            self._request = request
            self.arm()

    def use_configured(self, active: bool) -> None:
        """Let the configured fault act, or not; it starts anew each time it is let."""
        if active and not self._use_configured:
            self.arm()
        self._use_configured = active

    def arm(self) -> None:
        """Start the configured fault anew (power-on, new parameters, fidelity fault)."""
        self._configured = self.resolve(self._request) if self._request is not None else None

    def resolve(self, request: FaultRequest) -> ActiveFault:
        """Check a request and work out its targets, axes and magnitude (see :meth:`inject`)."""
        mode = self._modes.get(request.mode)
        if mode is None:
            what = 'not for this sensor' if request.mode in self._of_others else 'unknown'
            raise FaultError(
                f"mode '{request.mode}' is {what}; valid: none, {', '.join(self._modes)}"
            )
        self._check_times(request)
        names, coherent = self._targets(request, mode)
        magnitude = request.magnitude
        if not abs(magnitude) <= _LARGEST:
            raise FaultError(
                f'magnitude {magnitude} is not finite, or above {_LARGEST:g}; '
                f'valid: {mode.magnitude_text}'
            )
        if magnitude == 0.0:
            if mode.default_magnitude is None:
                raise FaultError(
                    f'{mode.name} needs a magnitude; valid: {mode.magnitude_text}'
                )
            magnitude = mode.default_magnitude
        if not mode.accepts(magnitude):
            raise FaultError(
                f'magnitude {magnitude:g} is not valid for {mode.name}; '
                f'valid: {mode.magnitude_text}'
            )
        return ActiveFault(
            mode,
            request,
            magnitude,
            names,
            self._axes(request),
            self.channels.rate_of if coherent else {},
        )

    def _check_times(self, request: FaultRequest) -> None:
        for name in ('delay', 'duration', 'ramp', 'period'):
            value = getattr(request, name)
            if not 0.0 <= value <= _LONGEST_S:
                raise FaultError(
                    f'{name} {value} is not valid; valid: seconds from 0 to {_LONGEST_S:g}, finite'
                )
        if request.repeat < 0:
            raise FaultError(f'repeat {request.repeat} is not valid; valid: >= 0')
        if request.repeat > 0 and request.duration == 0.0:
            raise FaultError('repeat needs a duration > 0')
        if request.repeat > 0 and request.period < request.duration:
            raise FaultError(
                f'repeat needs a period of at least the duration ({request.duration:g} s), '
                f'not {request.period:g}'
            )

    def _targets(self, request: FaultRequest, mode: FaultMode) -> tuple[tuple[str, ...], bool]:
        """Return the channels hit and whether derivatives follow (empty target)."""
        names, target = self.channels.names, request.target
        if mode.whole_sensor:
            if target not in ('', 'all'):
                raise FaultError(
                    f"{mode.name} hits the whole sensor: target '{target}' is not valid; "
                    "valid: all, or empty"
                )
            return names, False
        if target == '':
            if mode.in_channel_unit:
                return (self.channels.offset_target,), True
            return names, False
        if target == 'all' and not mode.in_channel_unit:
            return names, False
        if target in names:
            return (target,), False
        valid = ', '.join(names) + ('' if mode.in_channel_unit else ', all')
        reason = ' (one number cannot have two units)' if target == 'all' else ''
        raise FaultError(
            f"target '{target}' is not valid for {mode.name}{reason}; valid: {valid}, or empty"
        )

    def _axes(self, request: FaultRequest) -> tuple[int, ...]:
        letters = request.axis.replace(',', '').replace(' ', '')
        known = self.channels.axes
        if not letters:
            if request.axis:
                raise FaultError(f"axis '{request.axis}' is not valid; valid: any of {known}")
            return tuple(range(len(known)))
        if any(letter not in known for letter in letters) or len(set(letters)) != len(letters):
            raise FaultError(
                f"axis '{request.axis}' is not valid; valid: any of {' '.join(known)}, "
                'or empty for all'
            )
        return tuple(sorted(known.index(letter) for letter in letters))

    def _clear_target(self, request: FaultRequest) -> str:
        names = self.channels.names
        if request.target in ('', 'all'):
            cleared = self.clear()
            return f'cleared {", ".join(cleared)}' if cleared else 'no fault was active'
        if request.target not in names:
            raise FaultError(
                f"target '{request.target}' is not valid; valid: {', '.join(names)}, all, or empty"
            )
        hit = [fault.mode.name for fault in self._all() if fault.release(request.target)]
        self._injected = [fault for fault in self._injected if fault.channels]
        if self._configured is not None and not self._configured.channels:
            self._configured = None
        return f'cleared {request.target}' if hit else f'no fault was on {request.target}'

    @property
    def has_configured(self) -> bool:
        """Whether the fault given by parameters is on the board."""
        return self._configured is not None

    @property
    def present(self) -> tuple[str, ...]:
        """Names of the faults that were accepted and are not over, as mode:target."""
        return tuple(f'{fault.mode.name}:{fault.target}' for fault in self._all())

    def _all(self) -> list[ActiveFault]:
        if self._use_configured and self._configured is not None:
            return [*self._injected, self._configured]
        return self._injected

    def apply(self, signal: Signal, t_ns: int, before_ns: int, draw: Draw) -> None:
        """Let all active faults act on a sample at ``t_ns``.

        ``before_ns`` is the stamp of the sample before: a fault that came since begins there.
        """
        if not self._injected and self._configured is None:
            return
        for fault in self._all():
            if fault.origin_ns is None:
                fault.origin_ns = before_ns
            elapsed_s = fault.elapsed_s(t_ns)
            if elapsed_s is None:
                continue
            effect = fault.mode.act(signal, fault, elapsed_s, self.channels.axes, draw)
            signal.labels.append(FaultLabel(fault.mode.name, fault.target, effect))
        self._injected = [fault for fault in self._injected if not fault.is_over(t_ns)]
        if self._configured is not None and self._configured.is_over(t_ns):
            self._configured = None
