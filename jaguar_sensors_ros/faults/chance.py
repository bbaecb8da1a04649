"""Events of a given probability from unit normals."""

from __future__ import annotations

import math


def happens(probability: float, normal: float) -> bool:
    """Tell whether an event of the given probability occurs for a unit normal draw."""
    return 0.5 * math.erfc(-normal / math.sqrt(2.0)) < probability
