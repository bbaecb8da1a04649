"""The lists of document 000 as enumerations; every member is also the string of its name."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any, cast

from jaguar_sensors_ros import catalogue
from jaguar_sensors_ros.faults.base import NONE
from jaguar_sensors_ros.sensors.profiles import GRADE_TABLE


class _Name(str, Enum):
    """A word of a list."""

    def __str__(self) -> str:
        return str(self.value)


def _enumeration(name: str, words: Iterable[str]) -> Any:
    members = {word.upper(): word for word in words}
    return cast(Any, _Name)(name, members, module=__name__)


#: types of sensors; those that are not modelled are refused where a sensor is asked for
SensorType = _enumeration('SensorType', catalogue.SENSOR_TYPES)
#: failure modes of the catalogue, and none
FailureMode = _enumeration('FailureMode', (NONE, *catalogue.FAULTS))
#: grades of document 000; the parameter grade takes devices as well
ImuGrade = _enumeration('ImuGrade', GRADE_TABLE)
