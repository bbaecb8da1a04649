"""Injections as users write them, turned into requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from jaguar_sensors_ros import catalogue
from jaguar_sensors_ros.faults.base import FaultError, FaultRequest


def failure_request(
    mode: str, magnitude: float | None, options: Mapping[str, Any]
) -> FaultRequest:
    """Return an injection as the sensors take it.

    Raises
    ------
    FaultError
        for a field that does not exist or has another type, or a magnitude 0 where 0 would
        mean the default.
    """
    name = str(mode)
    if magnitude is not None and not _is_number(magnitude):
        raise FaultError(f'magnitude {magnitude!r} is not valid; valid: a number, or None')
    known = catalogue.FAULTS.get(name)
    if magnitude == 0.0 and known is not None and known.default_magnitude:
        raise FaultError(
            f'magnitude 0 is not valid for {name}; valid: {known.magnitude_text}, or None for '
            f'{known.default_magnitude:g}'
        )
    for option, value in options.items():
        if option not in _OPTIONS:
            raise FaultError(f'{option} is unknown; valid: {", ".join(_OPTIONS)}')
        if _OPTIONS[option] is str and not isinstance(value, str):
            raise FaultError(f'{option} {value!r} is not valid; valid: a string')
        if _OPTIONS[option] is not str and not _is_number(value):
            raise FaultError(f'{option} {value!r} is not valid; valid: a number')
        if _OPTIONS[option] is int and not float(value).is_integer():
            raise FaultError(f'{option} {value!r} is not valid; valid: a whole number')
    return FaultRequest(name, 0.0 if magnitude is None else float(magnitude), **options)


#: fields of a request beside mode and magnitude, with the type of each
_OPTIONS = {field.name: type(field.default) for field in fields(FaultRequest)[2:]}


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
