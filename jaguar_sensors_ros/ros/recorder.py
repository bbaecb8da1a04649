"""Records live topics as a scenario file."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.qos import QoSProfile, ReliabilityPolicy

from jaguar_sensors_ros.ros.client import ClientError
from jaguar_sensors_ros.ros.guest import Guest
from jaguar_sensors_ros.ros.reader import stamp_ns
from jaguar_sensors_ros.ros.scenario_messages import RECORDED, Recorded
from jaguar_sensors_ros.scenario.writer import ScenarioWriter
from jaguar_sensors_ros.types import JaguarError

_SPIN_S = 0.05
_DEPTH = 10_000
#: time without a new topic after which those that are there are taken [s]
_SETTLED_S = 1.0


def _type_name(entry: Recorded) -> str:
    package, _, _ = entry.kind.__module__.partition('.')
    return f'{package}/msg/{entry.kind.__name__}'


class Recorder(Guest):
    """A node of its own that subscribes to topics and writes what comes; a context manager.

    Parameters
    ----------
    words : list of str
        Nodes of sensors (imu, /robot1/gps) or topics; empty: all sensors there are.
    timeout_s : float
        Longest time to look for them [s].
    """

    def __init__(self, words: list[str], timeout_s: float) -> None:
        super().__init__('jaguar_sensors_record')
        self._words, self._timeout_s = words, timeout_s
        #: messages that could not be written, by reason
        self.refused: dict[str, int] = {}

    # ------------------------------------------------------------------ what to record

    def find(self) -> dict[str, Recorded]:
        """Return the topics and what they become.

        Raises
        ------
        JaguarError
            if one is not there, cannot be recorded, or two would become the same.
        """
        deadline, settled = time.monotonic() + self._timeout_s, 0.0
        found: dict[str, Recorded] = {}
        missing = self._words
        while time.monotonic() < deadline:
            before = set(found)
            found, missing = self._look()
            if set(found) != before:
                settled = time.monotonic() + _SETTLED_S
            if found and not missing and time.monotonic() > settled:
                break
            self._executor.spin_once(timeout_sec=_SPIN_S)
        if missing or not found:
            what = ', '.join(missing) or 'sensor'
            raise ClientError(f'no topic to record for {what}; there are: {self._there_is()}')
        return _checked(found)

    def _topics(self) -> dict[str, list[str]]:
        return {
            name: kinds
            for name, kinds in self._node.get_topic_names_and_types()
            if self._node.count_publishers(name)
        }

    def _look(self) -> tuple[dict[str, Recorded], list[str]]:
        """Return what there is of the topics that are meant, and the words that mean none."""
        there = self._topics()
        found: dict[str, Recorded] = {}
        missing = []
        for word in self._words or [entry.sensor for entry in RECORDED]:
            hit = self._meant(word.removesuffix('_sim'), there)
            if not hit and self._words:
                missing.append(word)
            found.update(hit)
        return found, missing

    def _meant(self, word: str, there: dict[str, list[str]]) -> dict[str, Recorded]:
        name = word if word.startswith('/') else f'/{word}'
        for entry in RECORDED:
            if _type_name(entry) in there.get(name, []):
                return {name: entry}
        if name in there:
            known = ', '.join(_type_name(entry) for entry in RECORDED)
            raise JaguarError(f'{name}: type {there[name][0]} is not recorded; recorded: {known}')
        namespace, _, sensor = name.rpartition('/')
        hit = {}
        for entry in RECORDED:
            topic = f'{namespace}/{entry.topic}'
            is_own = entry.sensor == f'{sensor}_sim'
            if is_own and _type_name(entry) in there.get(topic, []):
                hit[topic] = entry
        return hit

    def _there_is(self) -> str:
        kinds = {_type_name(entry) for entry in RECORDED}
        names = [name for name, types in self._topics().items() if kinds & set(types)]
        return ', '.join(sorted(names)) or 'none'

    # ------------------------------------------------------------------ recording

    def record(
        self,
        topics: dict[str, Recorded],
        path: Path,
        duration_s: float,
        stopped: Callable[[], bool],
    ) -> int:
        """Record until the time is over or ``stopped`` says so; return the number of rows.

        The duration counts from the first message, in wall time; 0 is without end.

        Raises
        ------
        JaguarError
            if the file cannot be written, or nothing came; there is no file then.
        """
        writer = ScenarioWriter(path, [(e.sensor, e.output) for e in topics.values()])
        try:
            self._fill(writer, topics, duration_s, stopped)
            if writer.count == 0:
                raise ClientError(f'nothing came on {", ".join(topics)}')
        except BaseException:
            writer.abandon()
            raise
        writer.close()
        return writer.count

    def _fill(
        self,
        writer: ScenarioWriter,
        topics: dict[str, Recorded],
        duration_s: float,
        stopped: Callable[[], bool],
    ) -> None:
        for topic, entry in topics.items():
            profile = QoSProfile(depth=_DEPTH, reliability=ReliabilityPolicy.BEST_EFFORT)
            if all(
                info.qos_profile.reliability == ReliabilityPolicy.RELIABLE
                for info in self._node.get_publishers_info_by_topic(topic)
            ):
                profile.reliability = ReliabilityPolicy.RELIABLE
            take = partial(self._take, writer, entry)
            self._node.create_subscription(entry.kind, topic, take, profile)
        end_s: float | None = None
        while not stopped() and (end_s is None or time.monotonic() < end_s):
            self._executor.spin_once(timeout_sec=_SPIN_S)
            if writer.count and end_s is None and duration_s > 0.0:
                end_s = time.monotonic() + duration_s

    def _take(self, writer: ScenarioWriter, entry: Recorded, message: Any) -> None:
        t_ns = stamp_ns(message.header.stamp)
        reason = writer.put(t_ns, entry.sensor, entry.output, entry.read(message))
        if reason:
            self.refused[reason] = self.refused.get(reason, 0) + 1


def _checked(found: dict[str, Recorded]) -> dict[str, Recorded]:
    """Refuse two topics that would become the same."""
    seen: dict[tuple[str, str], str] = {}
    for topic, entry in found.items():
        key = (entry.sensor, entry.output)
        if key in seen:
            raise JaguarError(
                f'{seen[key]} and {topic} are both {entry.output} of {entry.sensor}: '
                'a scenario has one of each'
            )
        seen[key] = topic
    return found
