"""The error of an attitude reference, which does not depend on the attitude."""

from __future__ import annotations

import math

import numpy as np

from jaguar_sensors_ros.errors.additive import CorrelatedTerms
from jaguar_sensors_ros.errors.intervals import Array, Intervals


class AttitudeTerms(CorrelatedTerms):
    """Rotation vectors about east, north and up, q_meas = dq(phi) q_true.

    Each axis is a Gauss-Markov process of its own standard deviation.
    """

    #: standard deviations of the three axes [rad]
    sigmas = (0.0, 0.0, 0.0)

    def block(self, start: int, intervals: Intervals) -> Array:
        """Return the errors of the samples from ``start`` on, shape (7, count).

        The quaternion w, x, y, z of each, then its rotation vector [rad], of length at most pi.
        """
        phi = super().block(start, intervals)
        phi *= np.array(self.sigmas)[:, None]
        angle = np.sqrt((phi * phi).sum(axis=0))
        half = 0.5 * angle
        terms = np.empty((7, len(intervals)))
        terms[0] = np.cos(half)
        # sinc(x) is sin(pi x) / (pi x)
        terms[1:4] = phi * (0.5 * np.sinc(half / math.pi))
        turns = np.rint(angle / (2.0 * math.pi))
        over = np.divide(turns, angle, out=np.zeros_like(angle), where=turns > 0.0)
        terms[4:] = phi * (1.0 - 2.0 * math.pi * over)
        return terms
