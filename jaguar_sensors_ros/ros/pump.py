"""The truth past the executor, while it flows.

An executor of rclpy wakes up, looks around and starts anew for every message, which at a kilohertz
costs as much as half of a sensor.  So while truth comes, it is waited for alone and taken straight
from its subscription; in between the executor serves everything else: services, parameters, timers
and other topics, some milliseconds later than it would.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from typing import Any

from rclpy.node import Node

from jaguar_sensors_ros.ros import compat

#: how long the truth alone is served [ns]
_SLICE_NS = 20_000_000
#: a wait up to this [ns] is none; and so many messages are then taken without another one
_AT_ONCE_NS, _MOST = 50_000, 64
#: silence [s] after which the executor gets the truth back
_SILENCE_S = 1.0
#: nodes whose timers and services one turn of the executor in each slice can keep up with
_NODES_PER_TURN = 8


class Pump:
    """Serves the truth of the sensors among some nodes while it flows.

    Sensors that put out late, or take accelerations from a topic, need their timers and topics in
    time: for them the executor serves all.

    Parameters
    ----------
    executor : Executor
        Serves the nodes.
    nodes : iterable of Node
        The nodes; those without a ``channel``, which are no sensors, do not matter.
    """

    def __init__(self, executor: Any, nodes: Iterable[Node]) -> None:
        nodes = list(nodes)
        self._executor = executor
        self._sensors: list[Any] = [node for node in nodes if hasattr(node, 'channel')]
        self._channels = [node.channel for node in self._sensors if node.channel is not None]
        self._turns = 1 + len(nodes) // _NODES_PER_TURN
        subscriptions = [channel.subscription for channel in self._channels]
        self._wait = compat.waiting(subscriptions) if subscriptions else None
        self._seen, self._last_s = 0, -math.inf
        self.is_on = False

    def takes_over(self) -> bool:
        """Tell whether the truth flows and is served here; let the executor know of a change."""
        if self._wait is None:
            return False
        now_s, seen = time.monotonic(), sum([channel.received for channel in self._channels])
        if seen != self._seen:
            self._seen, self._last_s = seen, now_s
        flows = now_s - self._last_s < _SILENCE_S
        wanted = flows and all(sensor.is_prompt for sensor in self._sensors)
        if wanted != self.is_on:
            self.is_on = wanted
            for channel in self._channels:
                channel.is_apart = wanted
            self._executor.wake()
        return wanted

    def run(self) -> None:
        """Serve the truth for a slice of time, then let the executor do what waits."""
        end_ns = time.monotonic_ns() + _SLICE_NS
        while (now_ns := time.monotonic_ns()) < end_ns:
            if self._wait is not None and self._wait(end_ns - now_ns):
                waited_ns = time.monotonic_ns() - now_ns
                # what was waited for comes alone, and to look whether more is there takes time
                most = 1 if waited_ns > _AT_ONCE_NS else _MOST
                for channel in self._channels:
                    channel.take_waiting(most)
        compat.serve_waiting(self._executor, self._turns)
