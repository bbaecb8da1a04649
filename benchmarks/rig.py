"""A source, something under test and a sink, each a process, in a ROS domain of their own."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import process
from benchmarks.process import Child
from benchmarks.report import Broken
from jaguar_sensors_ros.ros.domain import announcing_often, claim_domain

#: until data flows: discovery can take 10 s, making 100 nodes more
_DEADLINE_S = 120.0
#: how long nothing comes when all has come [s]
_SETTLE_S = 0.2
#: how long a backlog may last [s]
_DRAIN_S = 20.0
#: how long the truth flows for a start [s]
_FLOW_S = 4
#: a probe while waiting for data
_PROBE: dict[str, Any] = {'rate': 200, 'warm': 0, 'count': 60, 'pids': []}


class Silent(Broken):
    """Nothing came."""


@dataclass(frozen=True)
class Phase:
    """What came of a phase.

    ``sent`` messages, ``outputs`` topics; ``arrived`` is the number of messages on all topics
    that belong to those sent, each counted once, ``latency_ms`` their times from source to sink.
    ``cpu_s`` is the CPU time of the subject, ``sink_busy`` the share of its time [%] that the sink
    worked: near 100 it is the sink that is measured.
    """

    sent: int
    outputs: int
    arrived: int
    latency_ms: Any
    cpu_s: float
    sink_busy: float
    memory_mb: tuple[float, float]

    @property
    def delivered(self) -> float:
        """Share of the messages that came [%]."""
        return 100.0 * self.arrived / (self.sent * self.outputs)

    @property
    def cpu_us(self) -> float:
        """CPU time for each message of a topic that came [us]; what was lost is not divided by."""
        return 1e6 * self.cpu_s * self.outputs / self.arrived

    def latency(self, percent: float) -> float:
        """Return a percentile of the latency [ms]."""
        return float(np.percentile(self.latency_ms, percent))


class Rig:
    """Feeds a subject and listens to it.

    Parameters
    ----------
    name : str
        Name of the logs.
    topics : sequence of str
        What the sink listens to, NAME:TOPIC (see :mod:`benchmarks.sink`).
    cores, others : set of int or None
        Cores of the subject, and of source and sink.
    announce_s : float
        How often source and sink announce themselves [s].  The subject keeps the defaults.
    """

    def __init__(
        self,
        name: str,
        topics: Sequence[str],
        cores: set[int] | None = None,
        others: set[int] | None = None,
        announce_s: float = 1.0,
    ) -> None:
        self.name, self.outputs = name, len(topics)
        self._stack = ExitStack()
        domain, claim = claim_domain()
        self._stack.enter_context(claim)
        self._environment = {
            'ROS_DOMAIN_ID': str(domain),
            'ROS_AUTOMATIC_DISCOVERY_RANGE': 'LOCALHOST',
            'ROS_LOCALHOST_ONLY': '1',
            'RCUTILS_COLORIZED_OUTPUT': '0',
        }
        self._cores = cores
        self._is_there = False
        self._subject: Child | None = None
        folder = self._stack.enter_context(tempfile.TemporaryDirectory(prefix='jaguar_bench_'))
        self._folder = Path(folder)
        self._environment['ROS_LOG_DIR'] = folder
        self._profile = announcing_often(self._folder, announce_s)
        try:
            sink = process.python('benchmarks.sink', *topics)
            self._sink = self._start(f'{name}_sink', sink, others)
            source = process.python('benchmarks.source')
            self._source = self._start(f'{name}_source', source, others)
        except BaseException:
            self._stack.close()
            raise

    def _start(self, name: str, command: Sequence[str], cores: set[int] | None) -> Child:
        environment = {**self._environment, **self._profile}
        return self._stack.enter_context(Child(name, command, environment, cores))

    def _until_there(self) -> None:
        """Wait for source and sink."""
        if not self._is_there:
            self._sink.answer()
            self._source.answer()
            self._is_there = True

    def launch(self, command: Sequence[str]) -> Rig:
        """Start a subject in place of the one before and wait until data flows; return self."""
        return self.begin(command).until_flowing()

    def begin(self, command: Sequence[str]) -> Rig:
        """Start a subject in place of the one before; return self."""
        self.stop()
        self._subject = Child(self.name, command, self._environment, self._cores)
        return self

    def stop(self) -> None:
        """End the subject."""
        subject, self._subject = self._subject, None
        if subject is not None:
            subject.end()

    @property
    def subject(self) -> Child:
        """What is under test."""
        if self._subject is None:
            raise Broken(f'{self.name}: nothing is under test')
        return self._subject

    def __enter__(self) -> Rig:
        """Return itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End all processes."""
        self.stop()
        self._stack.close()

    # ------------------------------------------------------------------ phases

    def until_flowing(self) -> Rig:
        """Feed the subject until something came on every topic; return self.

        Raises
        ------
        Broken
            if that takes too long.
        """
        self._until_there()
        deadline = time.monotonic() + _DEADLINE_S
        while True:
            self._source.ask(**_PROBE)
            topics = set(self._came()[:, 0].tolist())
            if len(topics) == self.outputs:
                return self
            if time.monotonic() > deadline or not self.subject.is_alive:
                raise Broken(
                    f'{self.name}: data came on {len(topics)} of {self.outputs} topics; '
                    f'{self.subject.log()}'
                )

    def phase(self, rate: int, warm_s: float, steady_s: float) -> Phase:
        """Feed the subject at a rate and return what came of the steady part."""
        warm, count = max(1, round(warm_s * rate)), max(1, round(steady_s * rate))
        path = str(self._folder / 'sent.npy')
        answer = self._source.ask(
            2.0 * (warm_s + steady_s) + 60.0, rate=rate, warm=warm, count=count, path=path,
            pids=[self.subject.pid, self._sink.pid],
        )  # fmt: skip
        came, sent = self._all_that_came(), np.load(path)
        steady = came[(came[:, 1] >= answer['first_ns']) & (came[:, 1] < answer['end_ns'])]
        _, once = np.unique(steady[:, :2], axis=0, return_index=True)
        steady = steady[once]
        place = np.searchsorted(sent[:, 0], steady[:, 1])
        ours = sent[place, 0] == steady[:, 1]
        steady, place = steady[ours], place[ours]
        if not len(steady):
            raise Silent(f'{self.name}: nothing came at {rate} Hz; {self.subject.log()}')
        cpu_s, sink_s = (1e-9 * used for used in answer['cpu_ns'])
        before, after = answer['memory_mb']
        return Phase(
            count, self.outputs, len(steady), (steady[:, 2] - sent[place, 1]) * 1e-6, cpu_s,
            100.0 * sink_s / answer['wall_s'], (before, after),
        )  # fmt: skip

    def _all_that_came(self) -> Any:
        """Wait until nothing more comes, and return it."""
        parts: list[Any] = []
        deadline = time.monotonic() + _DRAIN_S
        while not parts or (len(parts[-1]) and time.monotonic() < deadline):
            time.sleep(_SETTLE_S)
            parts.append(self._came())
        return np.concatenate(parts)

    def _came(self) -> Any:
        path = str(self._folder / 'came.npy')
        self._sink.ask(path=path)
        return np.load(path)

    def first_message_s(self, command: Sequence[str], rate: int = 200) -> float:
        """Start a subject while the truth flows; return the time [s] to its first message."""
        self.stop()
        self._until_there()
        self._came()
        self._source.tell(rate=rate, warm=0, count=rate * _FLOW_S, pids=[])
        time.sleep(_SETTLE_S)
        self._subject = Child(self.name, command, self._environment, self._cores)
        self._source.answer(_FLOW_S + 60.0)
        time.sleep(_SETTLE_S)
        came = self._came()
        if not len(came):
            raise Broken(f'{self.name}: nothing came in {_FLOW_S} s; {self.subject.log()}')
        return float(came[:, 2].min() - self.subject.started_ns) * 1e-9


def node_command(executable: str, *arguments: str) -> list[str]:
    """Return the command line of an executable of the package."""
    path = shutil.which(executable)
    if path is None:
        raise Broken(f'{executable} is not on PATH: run this through scripts/ros')
    return [path, '--ros-args', *arguments]
