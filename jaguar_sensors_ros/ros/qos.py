"""Quality of service of the topics, in one place; that of data can be overridden by parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.exceptions import ParameterException
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import InvalidQosOverridesError, QoSOverridingOptions

from jaguar_sensors_ros.types import JaguarError

#: deep enough for a stall of some milliseconds at a kilohertz and more
_DEPTH = 50
#: the truth may wait longer, for what is lost of it makes a gap in all samples: half a second at a
#: kilohertz, five seconds at 100 Hz
_TRUTH_DEPTH = 500


def _profile(reliability: ReliabilityPolicy, durability: DurabilityPolicy, depth: int) -> Any:
    return QoSProfile(
        reliability=reliability,
        durability=durability,
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
    )


# Made anew for each topic: rclpy writes the overrides into the profile it is given.


def truth() -> Any:
    """Return the profile of the truth, which may come from publishers of either reliability."""
    return _profile(ReliabilityPolicy.BEST_EFFORT, DurabilityPolicy.VOLATILE, _TRUTH_DEPTH)


def data() -> Any:
    """Return the profile of samples."""
    return _profile(ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE, _DEPTH)


def latched(depth: int = 1) -> Any:
    """Return a profile that gives the last messages to late subscribers."""
    return _profile(ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL, depth)


def overridable(create: Callable[..., Any], kind: Any, topic: str, *arguments: Any) -> Any:
    """Create a publisher or subscription whose history, depth and reliability obey parameters.

    Raises
    ------
    JaguarError
        for an override that is not valid.
    """
    options = QoSOverridingOptions.with_default_policies()
    try:
        return create(kind, topic, *arguments, qos_overriding_options=options)
    except (
        AssertionError,
        RuntimeError,
        ValueError,
        InvalidQosOverridesError,
        ParameterException,
    ) as error:
        raise JaguarError(f'qos_overrides of {topic}: {error}') from None
