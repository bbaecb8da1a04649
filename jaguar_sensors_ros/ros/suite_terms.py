"""What a suite tells the sensors in it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from jaguar_sensors_ros.ros.truth_hub import TruthHub


@dataclass(frozen=True)
class SuiteTerms:
    """The terms of one member.

    Parameters
    ----------
    hub : TruthHub
        Where the ground truth comes in.
    values : mapping of str to object
        Parameters from the suite file; those given over ROS win.
    foreign : tuple of str
        Parameters of the manager, which may have been given to all nodes of the process.
    state_changed : callable
        Called when the state of the member has changed.
    """

    hub: TruthHub
    values: Mapping[str, object]
    foreign: tuple[str, ...]
    state_changed: Callable[[], None]
