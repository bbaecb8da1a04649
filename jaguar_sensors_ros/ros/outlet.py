"""Topics of samples: is anyone listening, and how a sample goes out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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

    def has_subscribers(self) -> bool:
        """Look whether there are subscribers."""
        self.is_used = self._publisher.get_subscription_count() > 0
        return self.is_used


class Outlets:
    """The topics of a sensor.

    Counting subscribers takes as long as filling in a message.  So topics that have some are
    looked at again only now and then, for publishing to nobody costs little; one that has none is
    looked at for each sample, so that a new subscriber misses nothing.
    """

    def __init__(self) -> None:
        self._all: list[Outlet] = []
        self._left = 0

    def add(self, publisher: Any, encode: Callable[..., Any]) -> Outlet:
        """Add a topic; see :class:`Outlet`."""
        self._all.append(Outlet(publisher, encode))
        return self._all[-1]

    def look_again(self) -> None:
        """Count the subscribers of all topics anew now and then; to be called for each sample."""
        if self._left == 0:
            self._left = _BELIEVED
            for outlet in self._all:
                outlet.is_used = False
        self._left -= 1

    def publish(self, *arguments: Any) -> None:
        """Publish a sample on all topics with subscribers, which take the same arguments."""
        self.look_again()
        publish([
            (outlet, outlet.encode(*arguments))
            for outlet in self._all
            if outlet.is_used or outlet.has_subscribers()
        ])


def publish(ready: Iterable[tuple[Outlet, Any]]) -> None:
    """Publish what is ready on several topics, one right after the other.

    A process that reads them all is then woken once, and does not go to sleep between the first
    message and the last, as it would while the next one is made.
    """
    for outlet, message in ready:
        outlet.publish(message)
