"""What an ideal IMU integrates: gravity, the turning Earth, a lever arm.

f_b = dv_b/dt + omega_nb x v_b + 2 omega_ie x v - C_bn g(p), gyro = omega_nb + C_bn omega_ie.
n is fixed to the Earth, so there is no transport rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.nav.rotation import (
    add,
    cross,
    dot,
    rotate_back,
    scale,
    subtract,
)
from jaguar_sensors_ros.types import NS_PER_S, ZERO3, Quat, TruthSample, Vec3

#: nodes and weights of the three-point Gauss-Legendre rule on (0, 1)
_NODES = (0.5 - math.sqrt(0.15), 0.5, 0.5 + math.sqrt(0.15))
_WEIGHTS = (5.0 / 18.0, 8.0 / 18.0, 5.0 / 18.0)
#: with this angle [rad] a panel the rule's error is below 1e-12 of the integrand
_PANEL_ANGLE = 0.1
#: bound of the work for poses that contradict physics, such as two attitudes in a nanosecond
_MOST_PANELS = 200


@dataclass(frozen=True)
class Environment:
    """The Earth as the inertial sensors feel it.

    Parameters
    ----------
    local : LocalFrame
        The frame n.
    rotation : bool
        Whether the rotation of the Earth is sensed (Coriolis and Earth rate).
    gravity : str
        'constant' (9.80665 m/s2 along -z of n) or 'wgs84' (normal gravity at the position).
    """

    local: LocalFrame
    rotation: bool
    gravity: str


class Segment(Protocol):
    """A continuous piece of the truth between two instants."""

    @property
    def start_ns(self) -> int:
        """Time [ns] at which the piece begins."""
        ...

    @property
    def end_ns(self) -> int:
        """Time [ns] at which it ends."""
        ...

    @property
    def is_smooth(self) -> bool:
        """Whether rates are nearly linear in time within a sample interval."""
        ...

    def at(self, t_ns: int) -> TruthSample:
        """Return the motion at an instant of the piece, with its acceleration."""
        ...

    def increments(
        self, from_ns: int, to_ns: int, environment: Environment, arm: Vec3
    ) -> tuple[Vec3, Vec3]:
        """Return the ideal (delta_theta [rad], delta_v [m/s]) in the axes of b.

        ``arm`` is the position of the sensor in b [m].
        """
        ...


def attitude_at(segment: Segment, t_ns: int) -> Quat:
    """Return q_nb at an instant of a piece; a piece may know it by less work than all of it."""
    alone: Callable[[int], Quat] | None = getattr(segment, 'attitude', None)
    return segment.at(t_ns).q_nb if alone is None else alone(t_ns)


def inertial_rates(sample: TruthSample, environment: Environment, arm: Vec3) -> tuple[Vec3, Vec3]:
    """Return the ideal (omega_ib_b [rad/s], f_ib_b [m/s2]) without the Euler term of the arm.

    The Euler term alpha x arm is a total derivative and is added as a difference of
    omega x arm by who integrates.
    """
    gravity = environment.local.gravity_n(sample.p_n, environment.gravity)
    if sample.a_nb_b is None:
        raise ValueError('the sample carries no acceleration')
    force = subtract(sample.a_nb_b, rotate_back(sample.q_nb, gravity))
    omega = sample.omega_nb_b
    if environment.rotation:
        earth = rotate_back(sample.q_nb, environment.local.omega_ie_n)
        omega = add(omega, earth)
        force = add(force, scale(cross(earth, sample.v_nb_b), 2.0))
    if arm != ZERO3:
        force = add(force, cross(omega, cross(omega, arm)))
    return omega, force


def increments_of_curve(
    at: Callable[[int], TruthSample],
    from_ns: int,
    to_ns: int,
    environment: Environment,
    arm: Vec3,
) -> tuple[Vec3, Vec3]:
    """Integrate the ideal rates of any smooth motion by Gauss-Legendre panels.

    Parameters
    ----------
    at : callable
        Returns the motion at a time [ns], with its acceleration.
    from_ns, to_ns : int
        Interval [ns].
    environment, arm
        As in :meth:`Segment.increments`.

    Returns
    -------
    (Vec3, Vec3)
        delta_theta [rad] and delta_v [m/s] in b.
    """
    middle = at((from_ns + to_ns) // 2).omega_nb_b
    duration_s = (to_ns - from_ns) / NS_PER_S
    turned_rad = math.sqrt(dot(middle, middle)) * duration_s
    panels = 1 + int(min(turned_rad / _PANEL_ANGLE, _MOST_PANELS))
    theta, velocity = ZERO3, ZERO3
    for panel in range(panels):
        for node, weight in zip(_NODES, _WEIGHTS, strict=True):
            fraction = (panel + node) / panels
            sample = at(from_ns + round(fraction * (to_ns - from_ns)))
            omega, force = inertial_rates(sample, environment, arm)
            share = weight * duration_s / panels
            theta = add(theta, scale(omega, share))
            velocity = add(velocity, scale(force, share))
    if arm != ZERO3:
        turned = [
            inertial_rates(at(t), environment, arm)[0] for t in (from_ns, to_ns)
        ]
        velocity = add(velocity, cross(subtract(turned[1], turned[0]), arm))
    return theta, velocity


#: by how much rate and force change in an interval, where a segment knows it
Known = Callable[[int, int, Environment, Vec3], tuple[Vec3, Vec3] | None]


def changes_of(
    segment: Segment,
    from_ns: int,
    to_ns: int,
    environment: Environment,
    arm: Vec3,
    whole: tuple[Vec3, Vec3],
) -> tuple[Vec3, Vec3]:
    """Return by how much rate and force change in an interval, as if both were linear in time.

    A segment may know it; otherwise it is four times what the means over the first half are
    away from those over the ``whole``, whose increments are given.
    """
    known: Known | None = getattr(segment, 'changes', None)
    found = None if known is None else known(from_ns, to_ns, environment, arm)
    if found is not None:
        return found
    middle_ns = (from_ns + to_ns) // 2
    if middle_ns == from_ns:
        return ZERO3, ZERO3
    early = segment.increments(from_ns, middle_ns, environment, arm)
    per_s, early_per_s = NS_PER_S / (to_ns - from_ns), NS_PER_S / (middle_ns - from_ns)
    # for halves of unequal lengths the means are those of times (to - middle) / 2 apart
    factor = 2.0 * (to_ns - from_ns) / (to_ns - middle_ns)
    rates, forces = [
        scale(subtract(scale(mean, per_s), scale(start, early_per_s)), factor)
        for mean, start in zip(whole, early, strict=True)
    ]
    return rates, forces


def increments_of_parts(
    segment: Segment, cuts: list[int], environment: Environment, arm: Vec3
) -> list[tuple[Vec3, Vec3]]:
    """Return the ideal increments between successive cuts [ns] that lie in one segment.

    In a smooth segment more than two parts share the integrals over two halves of the whole as a
    rate that is linear in time would; the sum is kept but for rounding.
    """
    first, last, count = cuts[0], cuts[-1], len(cuts) - 1
    if count <= 2 or not segment.is_smooth:
        return [segment.increments(a, b, environment, arm) for a, b in pairwise(cuts)]
    middle = (first + last) // 2
    early_theta, early_velocity = segment.increments(first, middle, environment, arm)
    late_theta, late_velocity = segment.increments(middle, last, environment, arm)
    # the middles [ns] of all parts but the last, from that of the first half, and their lengths
    origin = first + middle
    inner = [(0.5 * (a + b - origin), float(b - a)) for a, b in pairwise(cuts[:-1])]
    spans = (middle - first, last - middle, last - first)
    thetas = _linear_shares(early_theta, late_theta, inner, *spans)
    velocities = _linear_shares(early_velocity, late_velocity, inner, *spans)
    return list(zip(thetas, velocities, strict=True))


def _linear_shares(
    early: Vec3, late: Vec3, inner: list[tuple[float, float]], half: int, other: int, whole: int
) -> list[Vec3]:
    """Share out two integrals over halves as mean + slope x time; the last part gets the rest.

    ``inner`` holds the time from the middle of the first half and the length of each other part,
    then come the lengths of both halves and of the whole, all in nanoseconds.
    """
    mean = scale(early, 1.0 / half)
    slope = scale(subtract(scale(late, 1.0 / other), mean), 2.0 / whole)
    (mean_x, mean_y, mean_z), (slope_x, slope_y, slope_z) = mean, slope
    left_x, left_y, left_z = add(early, late)
    shares = []
    for since, length in inner:
        x = (mean_x + slope_x * since) * length
        y = (mean_y + slope_y * since) * length
        z = (mean_z + slope_z * since) * length
        left_x -= x
        left_y -= y
        left_z -= z
        shares.append((x, y, z))
    shares.append((left_x, left_y, left_z))
    return shares
