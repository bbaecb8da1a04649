"""A process that notes when messages come.

    python -m benchmarks.sink NAME:TOPIC ...

NAME is one of :data:`benchmarks.wire.TOPICS` and tells the type.  Each line on the standard input
is a JSON object whose ``path`` names a file; it gets an array of which topic, stamp and monotonic
arrival time [ns] of all that came since the last time.
"""

from __future__ import annotations

import json
import select
import sys
import time
from array import array

import numpy as np

from benchmarks import wire
from benchmarks.wire import NS_PER_S

#: how long [ns] a command may wait, and how many wake-ups with data there are between two looks
_PATIENCE_NS, _BETWEEN = 20_000_000, 256


class Sink:
    """Takes raw messages from topics."""

    def __init__(self, topics: list[str]) -> None:
        self._node = wire.make_node('sink')
        subscriptions = []
        for topic in topics:
            name, _, path = topic.partition(':')
            subscriptions.append(
                self._node.create_subscription(
                    wire.TYPES[name], path, print, wire.reliable(wire.SINK_DEPTH), raw=True
                )
            )
        self._waiting = wire.WaitSet(self._node, subscriptions)
        self._came = array('q')

    def serve(self) -> None:
        """Take messages and commands until the standard input ends."""
        busy = 0
        while True:
            data = self._waiting.take(_PATIENCE_NS, self._note)
            busy = busy + 1 if data else _BETWEEN
            if busy >= _BETWEEN:
                busy = 0
                if select.select([sys.stdin], [], [], 0.0)[0]:
                    line = sys.stdin.readline()
                    if not line:
                        return
                    self._write(json.loads(line)['path'])

    def _note(self, which: int, data: bytes) -> None:
        now = time.monotonic_ns()
        sec, nanosec = wire.STAMP.unpack_from(data, wire.STAMP_AT)
        self._came.extend((which, sec * NS_PER_S + nanosec, now))

    def _write(self, path: str) -> None:
        came = np.frombuffer(self._came, np.int64).reshape(-1, 3)
        np.save(path, came)
        self._came = array('q')
        print(json.dumps({'count': len(came)}), flush=True)


def main() -> int:
    """Run a sink."""
    sink = Sink(sys.argv[1:])
    print(json.dumps({'ready': True}), flush=True)
    sink.serve()
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
