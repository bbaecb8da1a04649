"""The floor of the live path, and other ways: nodes that publish as many topics, no model.

    python -m benchmarks.relay KIND TOPIC ...

``bare``: raw subscription on a wait set of its own; the numbers of the odometry are unpacked, and
for each topic a ready serialised message is filled in and published.  ``events``: the same in
rclpy's events executor.  ``plain``: what the tutorials teach, message objects in the
single-threaded executor.  All end with their standard input.
"""

from __future__ import annotations

import json
import select
import struct
import sys
from collections.abc import Callable
from typing import Any

from nav_msgs.msg import Odometry
from rclpy.executors import SingleThreadedExecutor

from benchmarks import wire
from benchmarks.source import TOPIC

#: stamp and lengths of the strings 'map' and 'base_link', pose and twist without covariances
_STAMP_OF = wire.STAMP.unpack_from
_NUMBERS = struct.Struct('<7d288x6d')
_NUMBERS_AT = 36
_PATIENCE_NS, _BETWEEN = 100_000_000, 1024


def bare(node: Any, topics: list[str]) -> None:
    """Run the floor."""
    relay = _relay(node, topics)
    subscription = node.create_subscription(
        Odometry, TOPIC, print, wire.best_effort(), raw=True
    )
    waiting = wire.WaitSet(node, [subscription])
    busy = 0
    while True:
        data = waiting.take(_PATIENCE_NS, relay)
        busy = busy + 1 if data else _BETWEEN
        if busy >= _BETWEEN:
            busy = 0
            if is_over():
                return


def events(node: Any, topics: list[str]) -> None:
    """Run the same in the events executor."""
    from rclpy.experimental import EventsExecutor

    relay = _relay(node, topics)
    node.create_subscription(
        Odometry, TOPIC, lambda data: relay(0, data), wire.best_effort(), raw=True
    )
    executor = EventsExecutor()
    executor.add_node(node)
    while not is_over():
        executor.spin_once(timeout_sec=0.2)


def _relay(node: Any, topics: list[str]) -> Callable[[int, bytes], None]:
    """Return what publishes a message on each topic for one of odometry."""
    outputs = [
        (wire.Patch(wire.sample(topic)).fill,
         node.create_publisher(wire.TYPES[topic], f'~/{topic}', wire.reliable()).publish)
        for topic in topics
    ]  # fmt: skip

    def relay(which: int, data: bytes) -> None:
        sec, nanosec = _STAMP_OF(data, wire.STAMP_AT)
        numbers = _NUMBERS.unpack_from(data, _NUMBERS_AT)
        for fill, publish in outputs:
            publish(fill(sec, nanosec, numbers))

    return relay


def plain(node: Any, topics: list[str]) -> None:
    """Run the plain way."""
    outputs = [
        (topic, node.create_publisher(wire.TYPES[topic], f'~/{topic}', wire.reliable()))
        for topic in topics
    ]

    def relay(odometry: Odometry) -> None:
        for topic, publisher in outputs:
            message = wire.sample(topic)
            message.header.stamp = odometry.header.stamp
            publisher.publish(message)

    node.create_subscription(Odometry, TOPIC, relay, wire.best_effort())
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    while not is_over():
        for _ in range(_BETWEEN):
            executor.spin_once(timeout_sec=0.1)


def is_over() -> bool:
    """Tell whether the standard input has ended."""
    return bool(select.select([sys.stdin], [], [], 0.0)[0]) and not sys.stdin.readline()


def main() -> int:
    """Run one of them."""
    kind, *topics = sys.argv[1:]
    node = wire.make_node('imu')
    print(json.dumps({'ready': True}), flush=True)
    {'bare': bare, 'events': events, 'plain': plain}[kind](node, topics)
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
