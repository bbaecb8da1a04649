"""A process that publishes odometry at an even rate and reads the CPU clocks of others.

Commands, lines of JSON: ``{"rate": Hz, "warm": n, "count": n, "pids": [pid], "path": file}``.  Of
warm + count + tail messages those in the middle count.  The answer says the stamps [ns] of the
first that counts and of the first after them, and from the one to the other the wall time [s], the
CPU time [ns] of each process, and the resident memory [MB] of the first at both; the file gets
stamp and monotonic sending time [ns] of all messages.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np
from nav_msgs.msg import Odometry

from benchmarks import wire
from benchmarks.process import cpu_ns, rss_mb
from benchmarks.wire import NS_PER_S

#: what follows the messages that count [s], and how long before the first there is to get ready
_TAIL_S, _AHEAD_S = 0.05, 0.05
TOPIC = 'ground_truth/odom'


def play(
    publisher: Any, odometer: wire.Odometer, rate: int, warm: int, count: int, pids: list[int]
) -> tuple[Any, dict[str, Any]]:
    """Publish; return stamps and sending times, and what is answered."""
    total = warm + count + max(1, round(_TAIL_S * rate))
    first = round((time.time() + _AHEAD_S) * rate)
    # exact in integers: a float of today's time in nanoseconds is a multiple of 256
    stamps = [(first + i) * NS_PER_S // rate for i in range(total)]
    # a message goes out when the clock is at its stamp
    offset_ns = time.monotonic_ns() - time.time_ns()
    sent = np.zeros((total, 2), np.int64)
    looks = []
    for i, stamp in enumerate(stamps):
        wait_ns = stamp + offset_ns - time.monotonic_ns()
        if wait_ns > 0:
            time.sleep(wait_ns * 1e-9)
        if i in (warm, warm + count):
            looks.append((time.monotonic(), [cpu_ns(p) for p in pids], [rss_mb(p) for p in pids]))
        data = odometer.at(stamp)
        sent[i] = stamp, time.monotonic_ns()
        publisher.publish(data)
    (began, used, memory), (ended, used_then, memory_then) = looks
    return sent, {
        'first_ns': stamps[warm],
        'end_ns': stamps[warm + count],
        'wall_s': ended - began,
        'cpu_ns': [b - a for a, b in zip(used, used_then, strict=True)],
        'memory_mb': [*memory[:1], *memory_then[:1]],
    }


def main() -> int:
    """Serve commands until the standard input ends."""
    node = wire.make_node('source')
    publisher = node.create_publisher(Odometry, TOPIC, wire.reliable())
    odometer = wire.Odometer()
    print(json.dumps({'ready': True}), flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        path = command.pop('path', '')
        sent, answer = play(publisher, odometer, **command)
        if path:
            np.save(path, sent)
        answer['readers'] = publisher.get_subscription_count()
        print(json.dumps(answer), flush=True)
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
