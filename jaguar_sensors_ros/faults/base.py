"""What a failure mode is, and how one that was injected runs in time."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

from jaguar_sensors_ros.types import NS_PER_S, FaultLabel, JaguarError, Vec3

#: the mode that clears a target
NONE = 'none'
#: unit normal of a term and axis at the current sample
Draw = Callable[[str, str], float]


class FaultError(JaguarError):
    """An injection that is refused; the text says what would be valid."""


@dataclass(frozen=True)
class FaultRequest:
    """An injection as asked for; see InjectFailure.srv for the meaning of each field."""

    mode: str
    magnitude: float = 0.0
    target: str = ''
    axis: str = ''
    delay: float = 0.0
    duration: float = 0.0
    ramp: float = 0.0
    repeat: int = 0
    period: float = 0.0


@dataclass(frozen=True)
class Channels:
    """What a kind of sensor offers to faults.

    Parameters
    ----------
    names : tuple of str
        The channels, e.g. gyro and accel.
    axes : str
        Their axes, one letter each.
    units : dict
        Unit of each channel.
    modes : tuple of str
        Modes that make sense for the sensor.
    offset_target : str
        Channel meant by an empty target for modes whose magnitude has the channel's unit.
    rate_of : dict
        Channel that is the time derivative of another, position -> velocity; an empty target
        keeps the two coherent.
    """

    names: tuple[str, ...]
    axes: str
    units: dict[str, str]
    modes: tuple[str, ...]
    offset_target: str
    rate_of: dict[str, str] = field(default_factory=dict)


@dataclass
class Signal:
    """The measured values of one sample on their way through the active faults.

    ``values`` and ``noise_sigma`` are per channel; faults change the values in place, name
    channels that are frozen, tell that the sample is lost, or take satellites, steps of the kind
    of fix, or the fix itself away.  ``extra_noise`` is the variance that noise faults add, per
    channel and axis in units of that of the noise; :func:`faults.noise.add_extra` adds it.
    """

    values: dict[str, list[float]]
    noise_sigma: dict[str, Vec3]
    frozen: dict[str, set[int]] = field(default_factory=dict)
    lost: bool = False
    failed: bool = False
    satellites_lost: int = 0
    fix_steps_lost: int = 0
    fix_lost: bool = False
    loss_probability: float = 0.0
    extra_noise: dict[str, list[float]] = field(default_factory=dict)
    labels: list[FaultLabel] = field(default_factory=list)


@dataclass
class ActiveFault:
    """A fault that was accepted, with its targets resolved.

    ``origin_ns`` is the stamp of the last sample before the injection, or the time that a
    timeline says; None until the next sample comes.  ``rate_of`` names the derivative channels
    to keep coherent; ``scheduled`` tells that it came from a timeline.
    """

    mode: FaultMode
    request: FaultRequest
    magnitude: float
    channels: tuple[str, ...]
    axes: tuple[int, ...]
    rate_of: dict[str, str]
    origin_ns: int | None = None
    scheduled: bool = False

    @property
    def target(self) -> str:
        """The target in the words of the contract."""
        is_one = len(self.channels) == 1 and not self.mode.whole_sensor
        return self.channels[0] if is_one else 'all'

    def give_way(self, newer: ActiveFault) -> bool:
        """Leave the axes of the same target to a newer fault; tell whether there were any.

        A fault of the whole sensor gives way to one of the same mode only.  ``all`` is a target
        of its own: noise on all and noise on one channel act together.
        """
        apart = self.mode.whole_sensor or newer.mode.whole_sensor
        if self.channels != newer.channels or (apart and self.mode.name != newer.mode.name):
            return False
        kept = tuple(axis for axis in self.axes if axis not in newer.axes)
        gave, self.axes = kept != self.axes, kept
        return gave

    def release(self, channel: str) -> bool:
        """Leave a channel alone from now on; tell whether it was hit as one of several.

        A fault of the whole sensor has no part that could be taken back.
        """
        if self.mode.whole_sensor:
            return False
        hit = channel in self.channels or channel in self.rate_of.values()
        self.channels = tuple(c for c in self.channels if c != channel)
        self.rate_of = {c: rate for c, rate in self.rate_of.items() if rate != channel}
        return hit

    def elapsed_s(self, t_ns: int) -> float | None:
        """Return the time [s] since this occurrence began, None while it is not active.

        The first sample after the injection is the first affected one; an occurrence of
        duration d covers exactly the samples with 0 < elapsed <= d.
        """
        if self.origin_ns is None:
            return None
        since = t_ns - self.origin_ns - _ns(self.request.delay)
        duration = self.duration_ns
        if duration == 0:
            return since / NS_PER_S if since > 0 else None
        if self.request.repeat and since > 0:
            occurrence = min((since - 1) // _ns(self.request.period), self.request.repeat)
            since -= occurrence * _ns(self.request.period)
        return since / NS_PER_S if 0 < since <= duration else None

    @property
    def duration_ns(self) -> int:
        """How long an occurrence lasts [ns]; 0: without end."""
        return _ns(self.request.duration or self.mode.own_duration_s(self.magnitude))

    @property
    def end_ns(self) -> int | None:
        """Time [ns] from which no later sample is affected; None: not known, or never."""
        if self.origin_ns is None or self.duration_ns == 0:
            return None
        last = self.request.repeat * _ns(self.request.period) + self.duration_ns
        return self.origin_ns + _ns(self.request.delay) + last

    def is_over(self, t_ns: int) -> bool:
        """Tell whether no later sample can be affected."""
        end_ns = self.end_ns
        return end_ns is not None and t_ns >= end_ns

    def strength(self, elapsed_s: float) -> float:
        """Return the share of the magnitude in effect, rising from 0 to 1 over the ramp."""
        ramp = self.request.ramp
        return 1.0 if ramp == 0.0 else min(1.0, elapsed_s / ramp)

    def ramped_integral_s(self, elapsed_s: float) -> float:
        """Return the integral of :meth:`strength` [s]."""
        ramp = self.request.ramp
        if ramp == 0.0:
            return elapsed_s
        if elapsed_s < ramp:
            return 0.5 * elapsed_s * elapsed_s / ramp
        return elapsed_s - 0.5 * ramp


def _ns(seconds: float) -> int:
    """Return nanoseconds; a time above 0 never becomes 0, which would mean without end."""
    return max(1, round(seconds * NS_PER_S)) if seconds > 0.0 else 0


class FaultMode(ABC):
    """A way to fail.  A new mode is a subclass in a file of its own and a catalogue line."""

    #: name in the contract
    name: ClassVar[str]
    #: magnitude that 0 stands for; None where a magnitude must be given
    default_magnitude: ClassVar[float | None] = 0.0
    #: whether the magnitude carries the unit of the channel, so that one target must be named
    in_channel_unit: ClassVar[bool] = False
    #: whether the whole sensor is hit, so that only the target 'all' makes sense
    whole_sensor: ClassVar[bool] = False
    #: what is put behind the unit of the channel to name that of the magnitude
    unit_suffix: ClassVar[str] = ''
    #: what the magnitude may be, for messages
    magnitude_text: ClassVar[str] = 'not used'

    def accepts(self, magnitude: float) -> bool:
        """Tell whether a finite magnitude is valid (the default was put in already)."""
        return math.isfinite(magnitude)

    def own_duration_s(self, magnitude: float) -> float:
        """Return how long it lasts where no duration is given [s]; 0: until cleared."""
        return 0.0

    @abstractmethod
    def act(
        self, signal: Signal, fault: ActiveFault, elapsed_s: float, axes: str, draw: Draw
    ) -> float:
        """Change the signal; return the magnitude in effect at this sample."""
