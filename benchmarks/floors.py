"""What cannot be avoided: the random numbers alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

#: normals in a sample of six axes: white noise, bias instability and random walk on each
NORMALS = 18
_BLOCK = 1 << 18


def normals(count: int) -> Callable[[], float]:
    """Return what draws the normals of ``count`` samples into a buffer."""
    rng, buffer = np.random.default_rng(1), np.empty(_BLOCK)

    def work() -> float:
        for start in range(0, count, _BLOCK):
            part = buffer[: min(_BLOCK, count - start)]
            for _ in range(NORMALS):
                rng.standard_normal(out=part)
        return float(buffer[0])

    return work
