"""From a bag or a trajectory file to a bag with the topics of simulated sensors."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from jaguar_sensors_ros.bags import source
from jaguar_sensors_ros.bags.config import Config
from jaguar_sensors_ros.bags.lines import Line, LineTaker
from jaguar_sensors_ros.bags.packets import Packet, merged
from jaguar_sensors_ros.bags.sensor import SimulatedSensor
from jaguar_sensors_ros.bags.source import BODY_FRAME, Chosen, Report
from jaguar_sensors_ros.bags.writer import BagWriter
from jaguar_sensors_ros.catalogue import FAULTS, make_settings
from jaguar_sensors_ros.faults.timeline import matches, parse
from jaguar_sensors_ros.messages.encoders import Encoders
from jaguar_sensors_ros.messages.offline import OfflineTypes, type_store
from jaguar_sensors_ros.messages.topics import TOPICS
from jaguar_sensors_ros.messages.writer import Writer
from jaguar_sensors_ros.nav.rotation import quat_from_rpy
from jaguar_sensors_ros.strict_yaml import read_file
from jaguar_sensors_ros.truth.bag import open_bag
from jaguar_sensors_ros.truth.intake import RawOdometry
from jaguar_sensors_ros.types import NS_PER_S, JaguarError

TF_STATIC = '/tf_static'
_TF = 'tf2_msgs/msg/TFMessage'
#: messages of the input that are copied at once
_MOST = 1 << 12


@dataclass(frozen=True)
class Job:
    """What to simulate.

    ``topics`` are names or patterns of topics to write, empty for all; ``seed`` and ``fidelity``
    take the place of what the parameters say; ``start_s`` counts from the first stamp.
    """

    truth: Chosen
    output: Path
    config: Config
    seed: int | None = None
    fidelity: str | None = None
    timeline: str = ''
    topics: Sequence[str] = ()
    start_s: float = 0.0
    duration_s: float | None = None
    with_input: bool = False
    storage: str = 'mcap'


@dataclass
class Outcome:
    """What was written and what is worth knowing of it."""

    messages: dict[str, int]
    seeds: dict[str, int]
    span_s: float
    remarks: list[str] = field(default_factory=list)


class Simulation:
    """Does a job; the bag appears under its name when it is complete.

    Raises
    ------
    JaguarError
        for bad input.
    """

    def __init__(self, job: Job) -> None:
        self._job = job
        self._types = OfflineTypes()
        self._writer = Writer(self._types)
        self._encoders = Encoders(self._writer)
        self.sensors = _sensors(job)
        self._takers: dict[Any, LineTaker] = {}
        #: when the first and the last message that count were recorded [ns]
        self._recorded_ns = (0, 0)
        for sensor in self.sensors:
            key = self._key(sensor)
            if key not in self._takers:
                self._takers[key] = LineTaker(*key)

    @staticmethod
    def _key(sensor: SimulatedSensor) -> tuple[Any, Any]:
        return sensor.settings.truth, sensor.settings.local_frame

    # ------------------------------------------------------------------ reading

    def read(self, report: Report) -> None:
        """Read the truth."""
        takers = list(self._takers.values())
        recorded: list[int] = []
        for recorded_ns, raw in self._asked(report):
            recorded = [*recorded[:1], recorded_ns]
            for taker in takers:
                taker.push(recorded_ns, raw)
        for taker in takers:
            taker.finish()
            if not taker.lines:
                raise JaguarError(f'{self._where}: {self._nothing(taker)}')
        self._recorded_ns = (recorded[0], recorded[-1])
        report(1.0)

    def _asked(self, report: Report) -> Iterator[tuple[int, RawOdometry]]:
        """Yield the messages from the start asked to the first that is beyond the end."""
        job, first_ns = self._job, None
        span_ns = None if job.duration_s is None else round(job.duration_s * NS_PER_S)
        for recorded_ns, raw in source.read(job.truth, report):
            if first_ns is None:
                first_ns = raw.t_ns + round(job.start_s * NS_PER_S)
            if span_ns is not None and raw.t_ns > first_ns + span_ns:
                return
            if raw.t_ns >= first_ns:
                yield recorded_ns, raw

    @property
    def _where(self) -> str:
        truth = self._job.truth
        return f'{truth.path}: topic {truth.topic}' if truth.topic else str(truth.path)

    def _nothing(self, taker: LineTaker) -> str:
        intake = taker.intake
        counts = ', '.join(f'{n} {reason}' for reason, n in sorted(intake.counts.items()))
        detail = f'; {counts}' if counts else ''
        return f'no two successive messages to go by ({intake.received} in the time asked{detail})'

    # ------------------------------------------------------------------ writing

    def write(self, report: Report) -> Outcome:
        """Simulate and write the bag; nothing is left behind where it fails."""
        job = self._job
        topics = {name: t.type_name for s in self.sensors for name, t in s.topics.items()}
        for sensor in self.sensors:  # complains before anything is written
            sensor.run(self._lines(sensor)[0])
        mounts = self._mounts()
        if mounts:
            topics[TF_STATIC] = _TF
        bag = BagWriter(job.output, topics, frozenset([TF_STATIC]), job.storage)
        try:
            with ExitStack() as stack:
                sources = [iter(mounts)]
                if job.with_input:
                    sources.append(stack.enter_context(self._input(bag)))
                sources += [s.packets(self._lines(s), self._encoders) for s in self.sensors]
                self._copy(bag, sources, report)
            bag.finish()
        finally:
            bag.discard()
        seeds = {sensor.path: sensor.seed for sensor in self.sensors}
        return Outcome(dict(bag.counts), seeds, self._span_ns / NS_PER_S, self._remarks())

    def _lines(self, sensor: SimulatedSensor) -> list[Line]:
        return self._takers[self._key(sensor)].lines

    @property
    def _span_ns(self) -> int:
        return self._recorded_ns[1] - self._recorded_ns[0]

    def _copy(self, bag: BagWriter, sources: list[Iterator[Packet]], report: Report) -> None:
        start_ns, span_ns = self._recorded_ns[0], max(1, self._span_ns)
        for packet in merged(sources):
            messages = zip(packet.times_ns.tolist(), packet.topics, packet.data, strict=True)
            for t_ns, topic, data in messages:
                bag.write(topic, t_ns, data)
            report(min(1.0, max(0.0, (int(packet.times_ns[-1]) - start_ns) / span_ns)))
        report(1.0)

    def _mounts(self) -> list[Packet]:
        """Return the static transforms that sensors publish, at the beginning."""
        transforms, times = [], []
        for sensor in self.sensors:
            s: Any = sensor.settings
            if not s.publish_mount_tf or s.mount.source == 'tf':
                continue
            line = self._lines(sensor)[0]
            body = self._takers[self._key(sensor)].intake.base_frame or BODY_FRAME
            transforms.append(
                self._writer.transform(
                    int(line.truth.t_ns[0]),
                    body,
                    s.frame_prefix + s.frame_id,
                    s.mount.position,
                    quat_from_rpy(s.mount.rpy),
                )
            )
            times.append(int(line.truth.t_ns[0]) + line.offset_ns)
        if not transforms:
            return []
        message = self._types.of(_TF)(transforms=transforms)
        return [Packet(np.array([min(times)]), [TF_STATIC], [self._types.serialize(message)])]

    @contextmanager
    def _input(self, bag: BagWriter) -> Iterator[Iterator[Packet]]:
        """Add the topics of the input to a bag; yield its messages."""
        job = self._job
        with open_bag(job.truth.path, type_store()) as reader:
            late: set[str] = set()
            for c in reader.connections:
                if c.topic in bag.counts and c.topic != TF_STATIC:
                    raise JaguarError(
                        f'{job.truth.path}: has a topic {c.topic} already; leave it out with '
                        '--topics, or leave out --with-input'
                    )
                profiles = list(c.ext.offered_qos_profiles)
                if any(p.durability.name == 'TRANSIENT_LOCAL' for p in profiles):
                    late.add(c.topic)
                if c.topic not in bag.counts:
                    bag.add(c.topic, c.msgtype, profiles, reader.typestore)
            yield self._originals(reader, late)

    def _originals(self, reader: Any, late: set[str]) -> Iterator[Packet]:
        """Yield the messages of the input in the time asked; latched ones also from before."""
        job, (first_ns, last_ns) = self._job, self._recorded_ns
        is_part = job.start_s > 0.0 or job.duration_s is not None
        messages = (
            (t_ns, c.topic, data)
            for c, t_ns, data in reader.messages()
            if not is_part or (t_ns <= last_ns and (t_ns >= first_ns or c.topic in late))
        )
        while some := list(islice(messages, _MOST)):
            times_ns, topics, data = zip(*some, strict=True)
            yield Packet(np.array(times_ns, dtype=np.int64), topics, data)

    # ------------------------------------------------------------------ what is worth knowing

    def _remarks(self) -> list[str]:
        remarks = list(self._job.config.remarks)
        for taker in self._takers.values():
            remarks += taker.intake.remarks()
            counts = sorted(taker.intake.counts.items())
            if counts:
                told = ', '.join(f'{count} {reason}' for reason, count in counts)
                remarks.append(f'{self._where}: {taker.intake.received} messages, of these {told}')
        for sensor in self.sensors:
            if sensor.reason:
                remarks.append(
                    f'{sensor.path}: made sample by sample, which is slower, for {sensor.reason}'
                )
        return list(dict.fromkeys(remarks))


def _sensors(job: Job) -> list[SimulatedSensor]:
    """Return the sensors of a job of which something is written."""
    text, named = _timeline(job)
    used: set[str] = set()

    def wanted(topic: str) -> bool:
        hits = [p for p in job.topics if fnmatchcase(topic.strip('/'), p.strip('/'))]
        used.update(hits)
        return bool(hits) or not job.topics

    sensors = []
    for entry in job.config.sensors:
        values = dict(entry.values)
        if job.fidelity is not None:
            values['fidelity'] = job.fidelity
        if entry.type not in TOPICS:
            raise JaguarError(
                f'{entry.path}: sensors of type {entry.type} are not written to bags; those of '
                f'type {", ".join(TOPICS)} are'
            )
        settings = make_settings(entry.type, values)
        seed = settings.random_seed if job.seed is None else job.seed
        seed = secrets.randbits(31) if seed < 0 else seed
        events = text if any(matches(pattern, entry.path) for pattern in named) else ''
        sensors.append(SimulatedSensor(entry.path, entry.type, settings, seed, events, wanted))
    for pattern in job.topics:
        if pattern not in used:
            there = ', '.join(
                t.full_name(s.path, s.settings) for s in sensors for t in TOPICS[s.kind]
            )
            raise JaguarError(f'--topics {pattern}: there is no such topic; there are {there}')
    names = [sensor.path for sensor in sensors]
    for pattern in named:
        if not any(matches(pattern, name) for name in names):
            raise JaguarError(
                f'{job.timeline}: no sensor {pattern}; there are {", ".join(names)}'
            )
    return [sensor for sensor in sensors if sensor.topics]


def _timeline(job: Job) -> tuple[str, tuple[str, ...]]:
    """Return the text of the timeline and the sensors it names."""
    if not job.timeline:
        return '', ()
    text = read_file(job.timeline)
    named = parse(text, job.timeline, FAULTS).sensors
    if not named:
        raise JaguarError(f'{job.timeline}: has no events')
    return text, named
