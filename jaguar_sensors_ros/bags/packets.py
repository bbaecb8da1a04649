"""Messages of several sources, some thousands at a time, brought into one order of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_END_NS = np.iinfo(np.int64).max


class Packet(NamedTuple):
    """Successive messages of one source.

    Parameters
    ----------
    times_ns : array of int64, shape (n,)
        Their times in the bag [ns], not decreasing.
    topics : list of str
        Their topics.
    data : list of bytes
        The messages.
    """

    times_ns: NDArray[np.int64]
    topics: Sequence[str]
    data: Sequence[bytes]

    def split(self, count: int) -> tuple[Packet, Packet]:
        """Return the first messages, and the others."""
        times_ns, topics, data = self
        return (
            Packet(times_ns[:count], topics[:count], data[:count]),
            Packet(times_ns[count:], topics[count:], data[count:]),
        )


def joined(packets: Sequence[Packet]) -> Packet:
    """Return several packets as one, in order of time; of equal times the first comes first."""
    times_ns = np.concatenate([packet.times_ns for packet in packets])
    topics = [topic for packet in packets for topic in packet.topics]
    data = [message for packet in packets for message in packet.data]
    order = np.argsort(times_ns, kind='stable')
    which = order.tolist()
    return Packet(times_ns[order], [topics[i] for i in which], [data[i] for i in which])


def merged(sources: Sequence[Iterator[Packet]]) -> Iterator[Packet]:
    """Yield the messages of all sources in order of time.

    No more than a packet of each source is kept.
    """
    waiting: list[Packet | None] = [next(source, None) for source in sources]
    while any(packet is not None for packet in waiting):
        last = [_END_NS if packet is None else packet.times_ns[-1] for packet in waiting]
        limit = min(last)
        ready = []
        for i, packet in enumerate(waiting):
            if packet is None:
                continue
            count = int(np.searchsorted(packet.times_ns, limit, 'right'))
            first, rest = packet.split(count)
            ready.append(first)
            waiting[i] = rest if len(rest.data) else next(sources[i], None)
        yield joined(ready)
