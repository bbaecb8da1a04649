"""The two inner loops of long records, compiled by numba where it is there.

Unit normals and running sums, the same bits as without it: PCG64 and the ziggurat of numpy
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
from jaguar_sensors_ros.component import PCG64_MULTIPLIER, Numbers
from jaguar_sensors_ros.errors import running_sum

_LOW = (1 << 64) - 1
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

    def draw(generator: np.random.Generator, state: int, increment: int, out: Numbers) -> None:
        halves = (state >> 64, state & _LOW, increment >> 64, increment & _LOW)
        normals(*map(np.uint64, halves), out)

    if not _agrees(draw, sums):
        return False
    component.draw = draw
    running_sum.compiled = sums
    return True


def _agrees(draw: Any, sums: Any) -> bool:
    """Tell whether the compiled loops give what numpy gives, bit for bit."""
    got, generator = np.empty(_CHECKED), np.random.Generator(np.random.PCG64(1))
    words = generator.bit_generator.state['state']
    draw(generator, words['state'], words['inc'], got)
    expected = generator.standard_normal(_CHECKED)
    steps = [expected[:4099].copy() for _ in range(2)]
    summed = [np.empty(4097) for _ in range(2)]
    sums(steps[0], summed[0])
    running_sum.by_numpy(steps[1], summed[1])
    alike = [(got, expected), steps, summed]
    return all(np.array_equal(a, b) for a, b in alike)


def _normals() -> Any:
    """Compile a function that fills an array with the normals from a state of PCG64 on."""
    from llvmlite import ir
    from numba import njit, types
    from numba.extending import intrinsic
    from numba.np.random import _constants as tables

    widths = np.concatenate([tables.wi_double, -tables.wi_double])
    limits, heights = tables.ki_double.astype(np.int64), tables.fi_double
    edge, inverse_edge = tables.ziggurat_nor_r, tables.ziggurat_nor_inv_r

    @intrinsic
    def stepped(context: Any, high: Any, low: Any, c_high: Any, c_low: Any) -> Any:
        """Return a x + c modulo 2^128 as two halves."""

        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            wide, half = ir.IntType(128), ir.IntType(64)
            shift = ir.Constant(wide, 64)
            high, low, c_high, c_low = [builder.zext(x, wide) for x in arguments]
            x = builder.or_(builder.shl(high, shift), low)
            c = builder.or_(builder.shl(c_high, shift), c_low)
            x = builder.add(builder.mul(x, ir.Constant(wide, PCG64_MULTIPLIER)), c)
            pair = [builder.trunc(builder.lshr(x, shift), half), builder.trunc(x, half)]
            return context.make_tuple(builder, signature.return_type, pair)

        word = types.uint64
        return types.UniTuple(word, 2)(word, word, word, word), code

    @njit(nogil=True)
    def bits(high: Any, low: Any) -> Any:
        """Return the number that belongs to a state: XSL-RR."""
        mixed, turn = high ^ low, high >> np.uint64(58)
        return (mixed >> turn) | (mixed << ((np.uint64(64) - turn) & np.uint64(63)))

    @njit(nogil=True)
    def uniform(word: Any) -> Any:
        return np.int64(word >> np.uint64(11)) * (1.0 / 9007199254740992.0)

    @njit(nogil=True)
    def fill(high: Any, low: Any, c_high: Any, c_low: Any, out: Any) -> None:
        n, count = 0, len(out)
        while n < count:
            high, low = stepped(high, low, c_high, c_low)
            word = bits(high, low)
            layer = word & np.uint64(0xFF)
            word >>= np.uint64(8)
            place = np.int64((word >> np.uint64(1)) & np.uint64(0x000FFFFFFFFFFFFF))
            # widths have both signs: a branch would be taken wrong half the time
            x = place * widths[layer + (word & np.uint64(1)) * np.uint64(256)]
            if place < limits[layer]:  # 99.3 % of them
                out[n] = x
                n += 1
                continue
            high, low = stepped(high, low, c_high, c_low)
            share = uniform(bits(high, low))
            if layer != np.uint64(0):
                rise = heights[layer - np.uint64(1)] - heights[layer]
                if rise * share + heights[layer] < math.exp(-0.5 * x * x):
                    out[n] = x
                    n += 1
                continue
            while True:  # the tail
                far = -inverse_edge * math.log1p(-share)
                high, low = stepped(high, low, c_high, c_low)
                near = -math.log1p(-uniform(bits(high, low)))
                if near + near > far * far:
                    break
                high, low = stepped(high, low, c_high, c_low)
                share = uniform(bits(high, low))
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
