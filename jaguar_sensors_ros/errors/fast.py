"""The two inner loops of long records, compiled by numba where it is there.

Unit normals and running sums, the same bits as without it: SFC64 and the ziggurat of numpy
(J. Doornik, "An improved ziggurat method to generate normal random samples", 2005; its tables are
those that numba carries), the additions in the same order, without fast-math.  What is compiled
is compared with numpy before it is used.  No node imports numba: only who calls :func:`use`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

from jaguar_sensors_ros import component
from jaguar_sensors_ros.component import SFC64_ROUNDS, Numbers
from jaguar_sensors_ros.errors import running_sum

_CHECKED = 1 << 17


@lru_cache(maxsize=1)
def use() -> bool:
    """Let long blocks be made by compiled loops from now on; False where that is not possible.

    The first call in a process takes some tenths of a second, the first ever some seconds.
    """
    try:
        normals, sums = _normals(), _sums()
    except (ImportError, AttributeError):  # no numba, or one without these tables
        return False

    def draw(words: tuple[int, int, int], out: Numbers) -> None:
        normals(*map(np.uint64, words), out)

    if not _agrees(draw, sums):
        return False
    component.draw = draw
    running_sum.compiled = sums
    return True


def _agrees(draw: Any, sums: Any) -> bool:
    """Tell whether the compiled loops give what numpy gives, bit for bit."""
    words = (1, 2, 3)
    got, expected = np.empty((2, _CHECKED))
    draw(words, got)
    component.draw_by_numpy(words, expected)
    steps = [expected[:4099].copy() for _ in range(2)]
    summed = [np.empty(4097) for _ in range(2)]
    sums(steps[0], summed[0])
    running_sum.by_numpy(steps[1], summed[1])
    alike = [(got, expected), steps, summed]
    return all(np.array_equal(a, b) for a, b in alike)


def _normals() -> Any:
    """Compile a function that fills an array with the normals of a block."""
    from numba import njit
    from numba.np.random import _constants as tables

    widths = np.concatenate([tables.wi_double, -tables.wi_double])
    limits, heights = tables.ki_double.astype(np.int64), tables.fi_double
    edge, inverse_edge = tables.ziggurat_nor_r, tables.ziggurat_nor_inv_r
    one = np.uint64(1)

    @njit(nogil=True)
    def stepped(a: Any, b: Any, c: Any, counter: Any) -> Any:
        """Return a number of SFC64 and its next state."""
        word = a + b + counter
        turned = (c << np.uint64(24)) | (c >> np.uint64(40))
        a, b = b ^ (b >> np.uint64(11)), c + (c << np.uint64(3))
        return word, a, b, turned + word, counter + one

    @njit(nogil=True)
    def uniform(word: Any) -> Any:
        return np.int64(word >> np.uint64(11)) * (1.0 / 9007199254740992.0)

    @njit(nogil=True)
    def fill(a: Any, b: Any, c: Any, out: Any) -> None:
        n, count, k = 0, len(out), one
        for _ in range(SFC64_ROUNDS):
            word, a, b, c, k = stepped(a, b, c, k)
        while n < count:
            word, a, b, c, k = stepped(a, b, c, k)
            layer = word & np.uint64(0xFF)
            word >>= np.uint64(8)
            place = np.int64((word >> np.uint64(1)) & np.uint64(0x000FFFFFFFFFFFFF))
            # widths have both signs: a branch would be taken wrong half the time
            x = place * widths[layer + (word & np.uint64(1)) * np.uint64(256)]
            if place < limits[layer]:  # 99.3 % of them
                out[n] = x
                n += 1
                continue
            word, a, b, c, k = stepped(a, b, c, k)
            share = uniform(word)
            if layer != np.uint64(0):
                rise = heights[layer - np.uint64(1)] - heights[layer]
                if rise * share + heights[layer] < math.exp(-0.5 * x * x):
                    out[n] = x
                    n += 1
                continue
            while True:  # the tail
                far = -inverse_edge * math.log1p(-share)
                word, a, b, c, k = stepped(a, b, c, k)
                near = -math.log1p(-uniform(word))
                if near + near > far * far:
                    break
                word, a, b, c, k = stepped(a, b, c, k)
                share = uniform(word)
            is_negative = (place >> 8) & 1
            out[n] = -(edge + far) if is_negative else edge + far
            n += 1

    return fill


def _sums() -> Any:
    """Compile the additions of :func:`errors.running_sum.by_numpy`."""
    from numba import njit

    @njit(nogil=True)
    def sums(steps: Any, out: Any) -> None:
        before, last = steps[0], steps[1]
        for n in range(len(out)):
            before, last = last, before + steps[n + 2]
            steps[n + 2] = last
            out[n] = last + before

    return sums
