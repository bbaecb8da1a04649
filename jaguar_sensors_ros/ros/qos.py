"""Quality of service of the topics, in one place; all of it can be overridden by parameters."""

from __future__ import annotations

from typing import Any

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions

#: deep enough for a stall of some milliseconds at a kilohertz and more
_DEPTH = 50


def _profile(reliability: ReliabilityPolicy, durability: DurabilityPolicy, depth: int) -> Any:
    return QoSProfile(
        reliability=reliability,
        durability=durability,
        history=HistoryPolicy.KEEP_LAST,
        depth=depth,
    )


#: truth may come from publishers of either reliability
TRUTH = _profile(ReliabilityPolicy.BEST_EFFORT, DurabilityPolicy.VOLATILE, _DEPTH)
DATA = _profile(ReliabilityPolicy.RELIABLE, DurabilityPolicy.VOLATILE, _DEPTH)
LATCHED = _profile(ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL, 1)
LATCHED_TF = _profile(ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL, 100)


def overridable() -> QoSOverridingOptions:
    """Return options that let parameters override history, depth and reliability."""
    return QoSOverridingOptions.with_default_policies()
