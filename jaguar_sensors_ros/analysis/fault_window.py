"""When a fault was in effect, as far as one who asked for it can know, and what it did."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from jaguar_sensors_ros.analysis.acceptance import ChannelCheck


class Side(Enum):
    """Where a sample lies with respect to a fault."""

    CLEAN = 'clean'
    EDGE = 'edge'
    FAULTY = 'faulty'


@dataclass
class FaultWindow:
    """The times around an injection and its end; stamps are those of a truth that runs live.

    A sample received before a request cannot be touched by it, and one stamped later than the
    arrival of the answer was made after it.  What lies between is left out of both sides.
    Each time is None until it is known.

    Parameters
    ----------
    asked_ns, clear_asked_ns : int or None
        Newest stamp received when the injection, or its end, was requested.
    began_ns, ended_ns : int or None
        Time of the wall clock when the answer had come.
    """

    asked_ns: int | None = None
    began_ns: int | None = None
    clear_asked_ns: int | None = None
    ended_ns: int | None = None

    def side(self, t_ns: int) -> Side:
        """Return on which side a sample of the faulty channel lies."""
        if self.asked_ns is None or t_ns <= self.asked_ns:
            return Side.CLEAN
        if self.ended_ns is not None and t_ns > self.ended_ns:
            return Side.CLEAN
        if self.began_ns is None or t_ns <= self.began_ns:
            return Side.EDGE
        if self.clear_asked_ns is None or t_ns <= self.clear_asked_ns:
            return Side.FAULTY
        return Side.EDGE

    def covers(self, wall_ns: int) -> bool:
        """Tell whether the fault may be in effect at a time of the wall clock."""
        if self.asked_ns is None or wall_ns < self.asked_ns:
            return False
        return self.ended_ns is None or wall_ns <= self.ended_ns


def bias_objections(clean: ChannelCheck, faulty: ChannelCheck, bias: float) -> list[str]:
    """Return what speaks against a constant ``bias`` on all axes of the faulty samples.

    The means of the two sides differ by the bias, but for the noise of both means and for the
    wander of the slow part.
    """
    if faulty.count == 0 or clean.count == 0:
        return [f'{faulty.name}: no sample with the fault was seen']
    found = []
    for i, letter in enumerate(faulty.axes):
        step = faulty.mean(i) - clean.mean(i)
        noise = faulty.sigma[i] * math.sqrt(1.0 / faulty.count + 1.0 / clean.count)
        allowed = 6.0 * noise + 3.0 * faulty.slow_std[i]
        if not abs(step - bias) <= allowed:
            found.append(
                f'{faulty.name} {letter}: the fault shifted the mean by {step:.3g} '
                f'{faulty.unit}, injected were {bias:g} (within {allowed:.2g})'
            )
    return found
