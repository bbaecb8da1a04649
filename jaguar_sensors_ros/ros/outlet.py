"""Topics of samples: is anyone listening, and how a sample goes out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

#: samples for which a topic that has subscribers is believed to keep them
_BELIEVED = 100


class Outlet:
    """A topic that nothing is made for while it has no subscribers.

    Counting subscribers takes as long as filling in a message.  So a topic that has some is
    counted again only now and then, for publishing to nobody costs little; one that has none is
    looked at for each sample, so that a new subscriber misses nothing.

    Parameters
    ----------
    publisher : Publisher
        The publisher of the topic.
    encode : callable
        Makes of a sample what the publisher takes.
    """

    __slots__ = ('_believed', '_publisher', 'encode', 'publish')

    def __init__(self, publisher: Any, encode: Callable[..., Any]) -> None:
        self._publisher = publisher
        self._believed = 0
        self.encode = encode
        self.publish: Callable[[Any], None] = publisher.publish

    def is_wanted(self) -> bool:
        """Tell whether there are subscribers."""
        if self._believed:
            self._believed -= 1
            return True
        if self._publisher.get_subscription_count():
            self._believed = _BELIEVED
            return True
        return False


def publish(ready: Sequence[tuple[Outlet, Any]]) -> None:
    """Publish what is ready on several topics, one right after the other.

    A process that reads them all is then woken once, and not for each of them: between the first
    message and the last it does not go to sleep again.
    """
    for outlet, message in ready:
        outlet.publish(message)
