"""One simulated sensor: its samples along the truth as packets of messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice, pairwise
from typing import Any

import numpy as np

from jaguar_sensors_ros.bags.lines import Line
from jaguar_sensors_ros.bags.packets import Packet, joined
from jaguar_sensors_ros.messages.encoder import Encoder
from jaguar_sensors_ros.messages.encoders import Encoders
from jaguar_sensors_ros.messages.topics import EARTH_FRAME, TOPICS, Circumstances, Topic
from jaguar_sensors_ros.sensors.settings import SensorSettings
from jaguar_sensors_ros.simulation import RUNS, Run, SampleRun
from jaguar_sensors_ros.types import NS_PER_S, Fidelity

#: most messages of a topic in a packet, which bounds the memory they take
_MOST = 1 << 12
#: full name of a topic, the topic and its encoder
Made = tuple[str, Topic, Encoder]


class SimulatedSensor:
    """A sensor of which some topics are written.

    Parameters
    ----------
    path : str
        Its name with the namespace, without the leading slash.
    kind : str
        Its type in the catalogue.
    settings : SensorSettings
        Its parameters.
    seed : int
        Seed of its random numbers.
    timeline : str
        Text of a timeline that names it, or empty.
    wanted : callable
        Tells by its full name whether a topic is written.
    """

    def __init__(
        self,
        path: str,
        kind: str,
        settings: SensorSettings,
        seed: int,
        timeline: str,
        wanted: Callable[[str], bool],
    ) -> None:
        self.path, self.kind, self.settings, self.seed = path, kind, settings, seed
        self._timeline = timeline
        self.topics = {
            name: topic
            for name, topic in ((t.full_name(path, settings), t) for t in TOPICS[kind])
            if wanted(name)
        }
        is_late = settings.level is not Fidelity.TRANSPARENT
        self._latency_ns = round(settings.latency_s * NS_PER_S) if is_late else 0
        #: the parameter for which samples are made one by one, or empty
        self.reason = ''

    def run(self, line: Line) -> Run[Any, Any]:
        """Return the run along a line.

        Raises
        ------
        JaguarError
            for what is not valid, see :class:`simulation.Run`.
        """
        given = self.settings, line.truth, self.seed, self.path, None, self._timeline, line.number
        if self.kind in RUNS:
            return RUNS[self.kind](*given)
        return SampleRun(self.kind, *given)

    def packets(self, lines: Iterable[Line], encoders: Encoders) -> Iterator[Packet]:
        """Yield the messages along the lines; their time in the bag is stamp + latency."""
        made = [(name, topic, topic.encoder(encoders)) for name, topic in self.topics.items()]
        for line in lines:
            run = self.run(line)
            self.reason = self.reason or run.reason
            blocks = _in_columns if self.kind in RUNS else _one_by_one
            later_ns = self._latency_ns + line.offset_ns
            for parts in blocks(run, made, self._circumstances(run)):
                if parts:
                    packet = joined(parts)
                    yield packet._replace(times_ns=packet.times_ns + later_ns)

    def _circumstances(self, run: Any) -> Circumstances:
        s: Any = self.settings
        prefix = s.frame_prefix
        return Circumstances(
            prefix + s.frame_id,
            prefix + getattr(s, 'vel_frame_id', ''),
            prefix + EARTH_FRAME,
            run.covariances,
        )


def _in_columns(
    run: Any, made: list[Made], circumstances: Circumstances
) -> Iterator[list[Packet]]:
    """Yield the messages of all topics for some samples at a time."""
    for block in run.blocks():
        for start in range(0, len(block.t_ns), _MOST):
            rows = range(start, min(start + _MOST, len(block.t_ns)))
            yield [
                part
                for name, topic, encoder in made
                for part in _encoded(name, topic, encoder, block, rows, circumstances)
            ]


def _one_by_one(
    run: Any, made: list[Made], circumstances: Circumstances
) -> Iterator[list[Packet]]:
    """Yield the same where samples are made singly."""
    samples = run.samples()
    while some := list(islice(samples, _MOST)):
        parts = []
        for name, topic, encoder in made:
            chosen = [s for s in some if not topic.chosen or getattr(s, topic.chosen)]
            data = [encoder.data(*topic.arguments(s, circumstances)) for s in chosen]
            times_ns = np.array([s.t_ns for s in chosen], dtype=np.int64)
            parts.append(Packet(times_ns, [name] * len(data), data))
        yield parts


def _encoded(
    name: str, topic: Topic, encoder: Any, block: Any, rows: range, circumstances: Circumstances
) -> Iterator[Packet]:
    """Yield the messages of a topic, those of one shape together."""
    chosen = np.arange(rows.start, rows.stop)
    if topic.chosen:
        chosen = chosen[getattr(block, topic.chosen)[rows.start : rows.stop]]
    if not len(chosen):
        return
    if len(chosen) < len(rows):
        block = type(block)(*[_picked(part, chosen) for part in block])
        rows = range(len(chosen))
    for start, end in pairwise(_edges(block, rows)):
        first = topic.arguments(block.sample(start), circumstances)
        columns = topic.arguments(block.sample(slice(start, end)), circumstances)
        made = encoder.rows(first, columns, end - start)
        size, blob = made.shape[1], made.tobytes()
        data = [blob[i : i + size] for i in range(0, len(blob), size)]
        yield Packet(block.t_ns[start:end], [name] * len(data), data)


def _picked(part: Any, chosen: Any) -> Any:
    if part is None:
        return None
    if isinstance(part, list):
        return [part[i] for i in chosen]
    if isinstance(part, tuple):
        return type(part)(*[_picked(one, chosen) for one in part])
    return part[chosen]


def _edges(block: Any, rows: range) -> list[int]:
    """Return where samples of another shape begin: another kind of fix, other faults."""
    faults, kinds = block.faults, getattr(block, 'fix_type', None)

    def differs(i: int) -> bool:
        if (faults[i] or faults[i - 1]) and _names(faults[i]) != _names(faults[i - 1]):
            return True
        return kinds is not None and bool(kinds[i] != kinds[i - 1])

    within = (i for i in range(rows.start + 1, rows.stop) if differs(i))
    return [rows.start, *within, rows.stop]


def _names(faults: Any) -> list[tuple[str, str]]:
    return [(fault.mode, fault.target) for fault in faults]
