"""What a sensor takes as a fault: requests are checked, targets and magnitudes worked out."""

from __future__ import annotations

from collections.abc import Mapping

from jaguar_sensors_ros.faults.base import (
    NONE,
    ActiveFault,
    Channels,
    FaultError,
    FaultMode,
    FaultRequest,
)

#: longest time [s] and largest magnitude that sums of doubles and nanoseconds bear
_LONGEST_S = 1e9
_LARGEST = 1e12


class Rules:
    """Checks requests for one kind of sensor.

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
        self.known_modes = tuple(modes)

    def resolve(self, request: FaultRequest) -> ActiveFault:
        """Return the fault that is asked for, with its targets, axes and magnitude.

        Raises
        ------
        FaultError
            if anything is unknown, missing, non-finite or contradictory.
        """
        mode = self._modes.get(request.mode)
        if mode is None:
            what = 'not for this sensor' if request.mode in self._of_others else 'unknown'
            raise FaultError(
                f"mode '{request.mode}' is {what}; valid: none, {', '.join(self._modes)}"
            )
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
        self._check_times(request, request.duration or mode.own_duration_s(magnitude))
        return ActiveFault(
            mode,
            request,
            magnitude,
            names,
            self._axes(request),
            self.channels.rate_of if coherent else {},
        )

    @staticmethod
    def _check_times(request: FaultRequest, duration_s: float) -> None:
        for name in ('delay', 'duration', 'ramp', 'period'):
            value = getattr(request, name)
            if not 0.0 <= value <= _LONGEST_S:
                raise FaultError(
                    f'{name} {value} is not valid; valid: seconds from 0 to {_LONGEST_S:g}, finite'
                )
        if request.repeat < 0:
            raise FaultError(f'repeat {request.repeat} is not valid; valid: >= 0')
        if request.repeat > 0 and duration_s == 0.0:
            raise FaultError('repeat needs a duration > 0')
        if request.repeat > 0 and request.period < duration_s:
            raise FaultError(
                f'repeat needs a period of at least the duration ({duration_s:g} s), '
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

    def check(self, request: FaultRequest) -> None:
        """Check a request, of the mode none too (see :meth:`resolve`)."""
        if request.mode == NONE:
            self._check_clear(request)
        else:
            self.resolve(request)

    def refusal(self, request: FaultRequest) -> str:
        """Return why a request, of the mode none too, is not taken; empty where it is."""
        try:
            self.check(request)
        except FaultError as error:
            return str(error)
        return ''

    def _check_clear(self, request: FaultRequest) -> None:
        self._check_times(request, request.duration)
        names = self.channels.names
        if self._axes(request) != tuple(range(len(self.channels.axes))):
            raise FaultError('axis is not valid for none, which clears a whole target')
        if request.target not in ('', 'all', *names):
            raise FaultError(
                f"target '{request.target}' is not valid; valid: {', '.join(names)}, all, or empty"
            )

    def describe(self, fault: ActiveFault) -> str:
        """Return a fault in words."""
        text = f'{fault.mode.name} on {fault.target}'
        if not fault.mode.whole_sensor:
            text += f', axes {"".join(self.channels.axes[i] for i in fault.axes)}'
        if fault.mode.default_magnitude != 0.0:
            text += f', magnitude {fault.magnitude:g}'
            if fault.mode.in_channel_unit:
                unit = self.channels.units[fault.channels[0]]
                text += f' {unit}{fault.mode.unit_suffix}'
        return text
