"""Topics of samples: is anyone listening, and how a sample goes out.

All messages of a sample are made first and published one right after the other.  A process that
reads them all is then woken once, and does not go to sleep between the first message and the
last, as it would while the next one is made.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jaguar_sensors_ros.ros import compat

#: samples for which topics that have subscribers are believed to keep them
_BELIEVED = 100


class Outlet:
    """A topic that nothing is made for while it has no subscribers.

    Parameters
    ----------
    publisher : Publisher
        The publisher of the topic.
    encode : callable
        Makes of a sample what is published: a message or its bytes.
    """

    __slots__ = ('_publisher', 'encode', 'is_used', 'publish')

    def __init__(self, publisher: Any, encode: Callable[..., Any]) -> None:
        self._publisher = publisher
        self.encode = encode
        self.publish = compat.publishing(publisher)
        #: whether it had subscribers when last looked at
        self.is_used = False

    def look(self) -> None:
        """Look whether there are subscribers."""
        self.is_used = self._publisher.get_subscription_count() > 0


class Outlets:
    """The topics of a sensor.

    Counting subscribers takes as long as filling in a message.  So topics that have some are
    looked at again only now and then, for publishing to nobody costs little; one that has none is
    looked at for each sample, so that a new subscriber misses nothing.
    """

    def __init__(self) -> None:
        self._all: list[Outlet] = []
        #: those that had no subscribers when last looked at
        self._unused: list[Outlet] = []
        self._left = 0

    def add(self, publisher: Any, encode: Callable[..., Any]) -> Outlet:
        """Add a topic; see :class:`Outlet`."""
        self._all.append(Outlet(publisher, encode))
        return self._all[-1]

    def look(self) -> None:
        """Look which topics are used; to be called for each sample."""
        if self._left == 0:
            self._left = _BELIEVED
            self._unused = self._all
        self._left -= 1
        if self._unused:
            for outlet in self._unused:
                outlet.look()
            self._unused = [outlet for outlet in self._unused if not outlet.is_used]

    def publish(self, *arguments: Any) -> None:
        """Publish a sample on all topics that are used, whose encoders take the same arguments.

        They go out one right after the other, so a process that reads them all is woken once.
        """
        self.look()
        ready = [(outlet, outlet.encode(*arguments)) for outlet in self._all if outlet.is_used]
        for outlet, message in ready:
            outlet.publish(message)
