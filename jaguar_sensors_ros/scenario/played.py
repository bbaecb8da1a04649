"""A sensor whose readings come from a scenario: errors and faults on top, and integrals."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from jaguar_sensors_ros.catalogue import FAULTS
from jaguar_sensors_ros.errors.ahead import Ahead
from jaguar_sensors_ros.errors.triad import Ambience, Triad
from jaguar_sensors_ros.errors.triad_settings import BiasSettings, TriadSettings
from jaguar_sensors_ros.faults.base import Signal
from jaguar_sensors_ros.nav.kinematics import Segment
from jaguar_sensors_ros.nav.rotation import add, scale
from jaguar_sensors_ros.scenario.fields import Values
from jaguar_sensors_ros.scenario.settings import PlayedSettings
from jaguar_sensors_ros.scenario.stream import Item
from jaguar_sensors_ros.sensors.base import Sensor
from jaguar_sensors_ros.types import NS_PER_S, ZERO3, Fidelity, ImuSubSample, Mat3, Vec3

_NOTHING = (TriadSettings(), BiasSettings(), ZERO3, None)
#: what a triad takes: settings, bias instability, pulses, sensitivity to acceleration
Terms = tuple[TriadSettings, BiasSettings, Vec3, Mat3 | None]


class Sample(NamedTuple):
    """What is published: stamp [ns], output, values, and what was integrated.

    ``increment`` is that of the interval that ends at the stamp, ``integral`` the sum of all
    since the start of the node; None where there is none.
    """

    t_ns: int
    output: str
    values: Values
    increment: ImuSubSample | None = None
    integral: ImuSubSample | None = None


class PlayedSensor(Sensor[PlayedSettings, Sample]):
    """A sensor on the rows of a scenario instead of a grid; see :class:`Sensor`.

    What was measured is published as it is unless errors are asked for or a fault is active.
    """

    #: output and group of each channel
    places: ClassVar[dict[str, tuple[str, str]]]

    def __init__(self, name: str, settings: PlayedSettings, seed: int) -> None:
        self._integral: ImuSubSample | None = None
        self._newest: dict[str, int] = {}
        super().__init__(name, settings, seed, FAULTS)

    # ------------------------------------------------------------------ what a sensor must say

    def _rate_hz(self, settings: PlayedSettings) -> float:
        return settings.rate_hz

    def _power_up(self) -> None:
        self._triads = {channel: Triad(channel, self.streams) for channel in self.channels.names}
        self._ahead = {
            channel: Ahead(triad.additive.block, triad.additive.processes)
            for channel, triad in self._triads.items()
        }
        self._vectors: dict[str, Vec3] = dict.fromkeys(self.channels.names, ZERO3)
        self._held: dict[str, Values] = {}
        self._counts: dict[str, int] = {}
        self._number = -1

    def _configured(self) -> None:
        self._errors = {}
        if self.fidelity is not Fidelity.TRANSPARENT:
            self._errors = self._terms(self.settings)
        for channel, triad in self._triads.items():
            self._ahead[channel].settle()
            triad.configure(*self._errors.get(channel, _NOTHING))

    def _terms(self, settings: Any) -> dict[str, Terms]:
        """Return the errors that are asked for, by channel; none where there are none."""
        raise NotImplementedError

    def first_tick(self, t_ns: int) -> int:
        """Return k of the first sample from ``t_ns`` on."""
        return self.grid.first_at(t_ns)

    def _sample(self, segment: Segment, t_ns: int, number: int, k: int) -> Sample | None:
        raise NotImplementedError('a played sensor measures no truth')

    def _quality(self) -> float:
        return min(1.0, 1.0 / self._noise_factor)

    def time_went_back(self) -> list[str]:
        """Start anew on a clock that went back; return the injected faults that are cleared."""
        cleared = self.board.clear_injected()
        self._integral, self._newest = None, {}
        self.power_cycle()
        return cleared

    # ------------------------------------------------------------------ a row

    def measure(self, item: Item, base_ns: int) -> Sample | None:
        """Return what is published of an item, None where nothing is.

        Parameters
        ----------
        item : Item
            What the scenario says.
        base_ns : int
            Stamp of the scenario time 0 [ns].
        """
        t_ns = base_ns + item.t_ns
        period_ns = round(NS_PER_S / self.settings.rate_hz)
        if self._power_on_ns is None:
            self._tick_ns = t_ns - period_ns
            self._power_on_ns = min(base_ns + item.lap_ns, t_ns - 1)
        self._number += 1
        before_ns = self._newest.get(item.output)
        span_ns = period_ns if before_ns is None else t_ns - before_ns
        values, lost = self._changed(item, t_ns, span_ns)
        sample = Sample(t_ns, item.output, values)
        if item.output == 'data' and before_ns is not None:
            sample = self._integrated(sample, span_ns / NS_PER_S)
        self._newest[item.output] = t_ns
        self._tick_ns = self.time_ns = t_ns
        released = self._released(sample, t_ns, lost)
        if released is not None:
            self._held[item.output] = values
        return released

    def _changed(self, item: Item, t_ns: int, span_ns: int) -> tuple[Values, bool]:
        """Return the values with errors and faults; tell whether they are lost by a fault."""
        values, dt_s = item.values, span_ns / NS_PER_S
        bare = self.board.is_bare
        if bare and not self._errors:
            if self.effective_faults:
                self._apply_faults(Signal({}, {}), t_ns, self._number)
            return values, False
        there = [
            channel
            for channel, (output, group) in self.places.items()
            if output == item.output and group in values
        ]
        erroneous = dict(self._vectors)
        for channel in there:
            erroneous[channel] = self._vectors[channel] = self.vector(channel, values)
        number = self._counts[item.output] = self._counts.get(item.output, -1) + 1
        for channel in there:
            if channel in self._errors:
                erroneous[channel] = self._step(channel, erroneous[channel], number, span_ns)
                values = self._with_variance(channel, values, dt_s)
        signal = Signal(
            {channel: list(vector) for channel, vector in erroneous.items()},
            {channel: triad.white_sigma(dt_s) for channel, triad in self._triads.items()},
        )
        self._apply_faults(signal, t_ns, self._number)
        held = self._held.get(item.output)
        for channel in there:
            frozen = signal.frozen.get(channel, set()) if held is not None else set()
            x, y, z = signal.values[channel]
            if frozen or (x, y, z) != self._vectors[channel]:
                values = self.replaced(channel, values, (x, y, z), frozen, held or {})
        if 'orientation' in values and _is_stuck(signal) and held and 'orientation' in held:
            values = {**values, 'orientation': held['orientation']}
        return values, signal.lost

    def _step(self, channel: str, value: Vec3, number: int, span_ns: int) -> Vec3:
        """Return a value with its errors."""
        terms = self._ahead[channel].take(number, number + 1, span_ns, self.grid)
        ambience = Ambience(self._vectors.get('accel', ZERO3))
        dt_s = span_ns / NS_PER_S
        return self._triads[channel].step(value, (), None, terms, dt_s, ambience)[0]

    def _with_variance(self, channel: str, values: Values, dt_s: float) -> Values:
        """Return values whose covariance, where it is known, has that of the errors added."""
        for name in (f'{channel}_covariance', f'{channel}_variance'):
            known = values.get(name)
            if known is None or not any(known):
                continue
            added = self._triads[channel].variance(dt_s)
            numbers = list(known)
            for i in range(3 if len(known) == 9 else 1):
                numbers[4 * i] += added[i]
            values = {**values, name: tuple(numbers)}
        return values

    def vector(self, channel: str, values: Values) -> Vec3:
        """Return the value of a channel."""
        x, y, z = (*values[self.places[channel][1]], 0.0, 0.0)[:3]
        return (x, y, z)

    def replaced(
        self, channel: str, values: Values, vector: Vec3, frozen: set[int], held: Values
    ) -> Values:
        """Return values in which a channel has another value; ``frozen`` axes are as held."""
        group = self.places[channel][1]
        old = held.get(group, values[group])
        new = [old[i] if i in frozen else vector[i] for i in range(len(values[group]))]
        return {**values, group: tuple(new)}

    def _integrated(self, sample: Sample, dt_s: float) -> Sample:
        """Return the sample with the increments of its interval and their sums.

        delta_theta = omega dt, delta_v = f dt: rates are means over the interval that ends at
        the stamp, as those of a live IMU.
        """
        gyro, accel = sample.values['gyro'], sample.values['accel']
        increment = ImuSubSample(
            scale((gyro[0], gyro[1], gyro[2]), dt_s),
            scale((accel[0], accel[1], accel[2]), dt_s),
            dt_s,
        )
        theta, velocity, time_s = self._integral or (ZERO3, ZERO3, 0.0)
        self._integral = ImuSubSample(
            add(theta, increment.delta_theta), add(velocity, increment.delta_v), time_s + dt_s
        )
        return sample._replace(increment=increment, integral=self._integral)


def _is_stuck(signal: Signal) -> bool:
    """Whether all axes of all channels are frozen."""
    frozen = signal.frozen
    return len(frozen) == len(signal.values) and all(len(axes) == 3 for axes in frozen.values())
