"""Events of a given probability, and waiting times, from unit normals."""

from __future__ import annotations

import math


def happens(probability: float, normal: float) -> bool:
    """Tell whether an event of the given probability occurs for a unit normal draw."""
    return 0.5 * math.erfc(-normal / math.sqrt(2.0)) < probability


def exponential(mean: float, normal: float) -> float:
    """Return an exponential variate of the given mean from a unit normal, by its inverse.

    -mean ln(1 - Phi(z)), with Phi the distribution of the normal.
    """
    return -mean * math.log(0.5 * math.erfc(normal / math.sqrt(2.0)))
