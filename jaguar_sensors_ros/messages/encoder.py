"""Messages straight to their bytes on the wire.

Making a message object and serialising it costs tens of microseconds, filling in a few numbers
of a byte string that is ready costs one or two.  So an encoder keeps a template for each topic,
the serialised message itself, and fills in what changes, for one sample or for whole columns.

Nothing here is taken on trust: the first messages of each template are compared with those of
the ordinary writer byte by byte (padding excepted, which the middleware leaves as it finds it);
where anything differs, ordinary messages are used.  ``JAGUAR_SENSORS_CODEC=off`` in the
environment uses them from the start.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from jaguar_sensors_ros.messages.cdr import CodecError, Template
from jaguar_sensors_ros.messages.types import MessageTypes

SWITCH = 'JAGUAR_SENSORS_CODEC'
#: templates kept for one topic
_MOST_TEMPLATES = 16


def is_on() -> bool:
    """Tell whether the environment lets bytes be used."""
    return os.environ.get(SWITCH, 'on').lower() not in ('off', '0', 'false')


class Encoder:
    """Does the work of a writer of messages, with bytes where that is possible.

    It is called with what the writer is called with and returns what a publisher takes: the
    serialised message, or the ordinary one.

    Parameters
    ----------
    types : MessageTypes
        What serialises messages.
    write : callable
        The ordinary writer.
    shape : callable
        Returns all that the message contains besides the numbers of ``values``.
    paths : callable
        Returns the paths of those numbers (see :class:`Template`).
    values : callable
        Returns the numbers.
    """

    def __init__(
        self,
        types: MessageTypes,
        write: Callable[..., Any],
        shape: Callable[..., Hashable],
        paths: Callable[..., Iterable[str]],
        values: Callable[..., tuple[float, ...]],
    ) -> None:
        self._types = types
        self._write, self._shape, self._paths, self._values = write, shape, paths, values
        self._templates: dict[Hashable, Template | None] = {}
        self._latest: Hashable = None
        #: that of the latest shape, once it has been compared with ordinary messages
        self._trusted: Template | None = None
        self._on = is_on()

    def __call__(self, *arguments: Any) -> Any:
        """Return the message for the arguments of the writer."""
        trusted = self._trusted
        if trusted is None or self._shape(*arguments) != self._latest:
            return self._carefully(arguments)
        try:
            values = self._values(*arguments)
            return trusted.pack(*trusted.pick(values + trusted.constants))
        except (struct.error, TypeError, OverflowError):
            return self._write(*arguments)  # says what is wrong with a number

    def _carefully(self, arguments: tuple[Any, ...]) -> Any:
        """Return the message where the shape is another one, or not yet trusted."""
        if not self._on:
            return self._write(*arguments)
        self._latest = self._shape(*arguments)
        template = self._template(arguments)
        self._trusted = None if template is None or template.unchecked else template
        if self._trusted is not None:
            return self(*arguments)
        return self._write(*arguments) if template is None else self._checked(template, arguments)

    def _template(self, arguments: tuple[Any, ...]) -> Template | None:
        """Return the template of the latest shape; make it if there is none."""
        shape = self._latest
        if shape not in self._templates:
            if len(self._templates) >= _MOST_TEMPLATES:
                self._templates.clear()
            message = self._write(*arguments)
            try:
                self._templates[shape] = Template(
                    self._types, message, self._paths(*arguments)
                )
            except Exception as error:  # whatever another middleware does differently
                self._give_up(str(error))
        return self._templates[shape]

    def _checked(self, template: Template, arguments: tuple[Any, ...]) -> Any:
        """Return the ordinary message; see whether the bytes are the same."""
        message = self._write(*arguments)
        template.unchecked -= 1
        try:
            same = template.agrees(self._values(*arguments), self._types.serialize(message))
        except (struct.error, IndexError):
            same = False
        if not same:
            self._give_up('the bytes differ from those of the message')
        return message

    def _give_up(self, reason: str) -> None:
        self._templates[self._latest] = None
        name = getattr(self._write, '__name__', 'message')
        self._types.warn(
            f'{name} is published as ordinary messages, which takes longer: {reason}'
        )

    def data(self, *arguments: Any) -> bytes:
        """Return the bytes of the message for the arguments of the writer."""
        message = self(*arguments)
        return message if isinstance(message, bytes) else self._types.serialize(message)

    def rows(
        self, first: tuple[Any, ...], columns: tuple[Any, ...], count: int
    ) -> NDArray[np.uint8]:
        """Return many messages of one shape as bytes, shape (count, size).

        Parameters
        ----------
        first : tuple
            The arguments of the writer for the first message.
        columns : tuple
            The same for all of them, with columns in the place of numbers.

        Raises
        ------
        CodecError
            if the first are not the bytes of the ordinary message.
        """
        ordinary = self._write(*first)
        template = Template(self._types, ordinary, self._paths(*first))
        if not template.agrees(self._values(*first), self._types.serialize(ordinary)):
            raise CodecError('the bytes differ from those of the message')
        return template.rows(self._values(*columns), count)
