"""From a trajectory to the samples of a sensor: whole arrays, or sample by sample where need be.

Both ways give the same numbers.  docs/truth.md has an example.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from itertools import islice
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from jaguar_sensors_ros.catalogue import make_sensor
from jaguar_sensors_ros.component import ParameterError
from jaguar_sensors_ros.sensors.columns import GpsColumns, ImuColumns, joined
from jaguar_sensors_ros.sensors.gps_array import GpsArray
from jaguar_sensors_ros.sensors.gps_settings import GpsSettings
from jaguar_sensors_ros.sensors.imu_array import ImuArray
from jaguar_sensors_ros.sensors.imu_settings import ImuSettings
from jaguar_sensors_ros.sensors.settings import SensorSettings
from jaguar_sensors_ros.truth.columns import TruthColumns
from jaguar_sensors_ros.truth.track import TruthTrack
from jaguar_sensors_ros.types import NS_PER_S, Quat, Vec3

SettingsT = TypeVar('SettingsT', bound=SensorSettings)
ColumnsT = TypeVar('ColumnsT', ImuColumns, GpsColumns)

#: samples that are gone through one by one before they are made an array
_FEW = 1 << 12
#: intervals [ns] up to this are exact as floats
_LONGEST_NS = 1 << 52
Mount = tuple[Vec3, Quat]


class Run(ABC, Generic[SettingsT, ColumnsT]):
    """A sensor along a trajectory, from power-on.

    The numbers are, bit for bit, those of the sensor of a node that gets the same truth.  The
    parameters ``truth.authority`` and ``truth.max_gap_s`` count, the others of ``truth.*`` tell
    how messages are read; ``latency_s`` and names of frames have no effect.

    ``reason`` names the parameter, or the timeline, for which samples are made one by one, fifty
    to a hundred times slower; it is empty where whole arrays are made.

    Parameters
    ----------
    settings : SensorSettings
        Parameters of the sensor, as :func:`catalogue.make_settings` makes them.
    truth : TruthColumns
        The trajectory.
    seed : int
        Seed of all random numbers, >= 0.
    name : str
        Name of the sensor, part of the names of its random streams; by default its type.
    mount : (Vec3, Quat) or None
        Position in b [m] and attitude q_bs, where ``mount.source`` is tf.
    timeline : str
        Text of a timeline that is injected at power-on, as by the service; empty: none.
    power_on : int
        How often the sensor was switched off and on before.

    Raises
    ------
    ParameterError
        where ``mount.source`` is tf and there is no mount, or a failure is not valid.
    JaguarError
        where the timeline is not valid, or does not name the sensor.
    """

    #: type of the sensor in the catalogue, and its chain for arrays
    type_name: ClassVar[str]
    arrays: ClassVar[type[Any]]

    def __init__(
        self,
        settings: SettingsT,
        truth: TruthColumns,
        seed: int,
        name: str = '',
        mount: Mount | None = None,
        timeline: str = '',
        power_on: int = 0,
    ) -> None:
        self._settings, self._truth, self._seed = settings, truth, seed
        self._name, self._mount = name or self.type_name, mount
        self._timeline, self._power_on = timeline, power_on
        self.reason = _reason(settings, truth) or ('timeline' if timeline else '')

    @abstractmethod
    def _pack(self, samples: list[Any]) -> ColumnsT:
        """Return the arrays of samples."""

    def _make(self) -> Any:
        """Return a sensor that has just been switched on."""
        if self._settings.mount.source == 'tf' and self._mount is None:
            raise ParameterError(
                'mount.source', 'tf', "without ROS there is no tf: give a mount, or 'parameters'"
            )
        sensor = make_sensor(self.type_name, self._name, self._settings, self._seed)
        if self._mount is not None:
            sensor.set_mount(*self._mount)
        if self._timeline:
            sensor.inject_timeline(self._timeline)
        for _ in range(self._power_on):
            sensor.power_cycle()
        return sensor

    @property
    def covariances(self) -> Any:
        """The covariances that go with all samples, None for a type that gives each its own."""
        return getattr(self._make(), 'covariances', None)

    def blocks(self) -> Iterator[ColumnsT]:
        """Yield the samples some thousands at a time; each call begins at power-on."""
        if not self.reason:
            yield from self.arrays(self._make(), self._truth).blocks()
            return
        samples = self.samples()
        while few := list(islice(samples, _FEW)):
            yield self._pack(few)

    def record(self) -> ColumnsT:
        """Return all samples at once."""
        blocks = list(self.blocks())
        return joined(blocks) if blocks else self._pack([])

    def samples(self) -> Iterator[Any]:
        """Yield the samples of the live sensor one by one, whatever the parameters."""
        sensor, truth = self._make(), self._settings.truth
        track = TruthTrack(truth.authority, round(truth.max_gap_s * NS_PER_S))
        for sample in self._truth.samples():
            for segment in track.push(sample).segments:
                yield from sensor.feed(segment)


class ImuRun(Run[ImuSettings, ImuColumns]):
    """An IMU along a trajectory; see :class:`Run`."""

    type_name = 'imu'
    arrays = ImuArray

    def _pack(self, samples: list[Any]) -> ImuColumns:
        s = self._settings
        return ImuColumns.of(samples, s.increments.samples, s.orientation.output != 'none')


class GpsRun(Run[GpsSettings, GpsColumns]):
    """A GNSS receiver along a trajectory; see :class:`Run`."""

    type_name = 'gps'
    arrays = GpsArray

    def _pack(self, samples: list[Any]) -> GpsColumns:
        return GpsColumns.of(samples)


#: what runs the types of sensors that have a chain for arrays
RUNS: dict[str, type[Run[Any, Any]]] = {'imu': ImuRun, 'gps': GpsRun}


class SampleRun(Run[Any, Any]):
    """A sensor of any type of the catalogue, of which only single samples can be had."""

    def __init__(self, type_name: str, *arguments: Any, **named: Any) -> None:
        self.type_name = type_name  # type: ignore[misc]
        super().__init__(*arguments, **named)
        self.reason = self.reason or f'its type, {type_name}'

    def _pack(self, samples: list[Any]) -> Any:
        raise NotImplementedError


def _reason(settings: Any, truth: TruthColumns) -> str:
    """Return the parameter for which a run is made sample by sample, or an empty string."""
    failure = settings.failure
    vibration, geometry = (getattr(settings, name, None) for name in ('vibration', 'geometry'))
    reasons = {
        'truth.authority': settings.truth.authority != 'twist',
        'failure.mode': settings.fidelity == 'fault' and failure.request() is not None,
        'failure.timeline': settings.fidelity == 'fault' and failure.timeline != '',
        'vibration.lines': vibration is not None and vibration.lines != (),
        'vibration.psd': vibration is not None and vibration.psd != (),
        'geometry.enabled': geometry is not None and geometry.enabled,
        'truth.max_gap_s': bool((np.diff(truth.t_ns) > _LONGEST_NS).any())
        and settings.truth.max_gap_s * NS_PER_S > _LONGEST_NS,
    }
    return next((name for name, holds in reasons.items() if holds), '')
