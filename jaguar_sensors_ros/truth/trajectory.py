"""Built-in trajectories with exact derivatives: static, circle, figure eight, racetrack.

Every moving trajectory is a closed curve of a few harmonics per axis,

    p(t) = sum over k of  c_k cos(k theta) + s_k sin(k theta),   theta = 2 pi (t - t0) / lap,

so position, velocity, acceleration and jerk are closed forms, from which the attitude follows
(:func:`jaguar_sensors_ros.truth.path.moving_sample`).  A trajectory has no end and holds at any
instant, also before ``start_ns``, which is where it begins when played.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from jaguar_sensors_ros.nav.rotation import quat_norm, quat_normalise
from jaguar_sensors_ros.truth.path import moving_sample
from jaguar_sensors_ros.types import (
    IDENTITY_QUAT,
    NS_PER_S,
    ZERO3,
    JaguarError,
    Quat,
    TruthSample,
    Vec3,
)

#: one harmonic of one axis: its number k, the cosine and the sine amplitude [m]
Wave = tuple[int, float, float]


@dataclass(frozen=True)
class Static:
    """A body at rest at position ``p_n`` [m] with attitude ``q_nb``."""

    start_ns: int = 0
    p_n: Vec3 = ZERO3
    q_nb: Quat = IDENTITY_QUAT

    def __post_init__(self) -> None:
        """Refuse values that are not finite and a zero quaternion; normalise the attitude."""
        _require_finite('p_n', *self.p_n)
        _require_finite('q_nb', *self.q_nb)
        if quat_norm(self.q_nb) < 1e-6:
            raise JaguarError(f'q_nb = {self.q_nb!r}: must not be zero')
        object.__setattr__(self, 'q_nb', quat_normalise(self.q_nb))

    @property
    def end_ns(self) -> int | None:
        """None: it never ends."""
        return None

    def at(self, t_ns: int) -> TruthSample:
        """Return the state at ``t_ns``: everything but the pose is zero."""
        return TruthSample(t_ns, self.p_n, self.q_nb, ZERO3, ZERO3, ZERO3)


@dataclass(frozen=True)
class _Loop:
    """A closed curve flown again and again; subclasses give its harmonics and its lap time."""

    start_ns: int = 0

    #: whole turns of the heading in one lap, counter-clockwise positive
    turns: ClassVar[int] = 0
    #: a heading [rad] at the start that the real heading never is opposite to
    heading: ClassVar[float] = 0.0
    #: whether the body banks as in a coordinated turn and pitches along the path
    flies: ClassVar[bool] = False

    @property
    def end_ns(self) -> int | None:
        """None: it never ends."""
        return None

    @property
    def lap_s(self) -> float:
        """Duration of a lap [s]."""
        raise NotImplementedError

    @property
    def waves(self) -> tuple[tuple[Wave, ...], tuple[Wave, ...], tuple[Wave, ...]]:
        """Harmonics of the axes east, north, up."""
        raise NotImplementedError

    def at(self, t_ns: int) -> TruthSample:
        """Return the exact state at ``t_ns``.

        The quaternion is continuous in sign; after a lap with an odd number of turns it is the
        negative of what it was, so two laps are its period.
        """
        lap_s = self.lap_s
        rate = 2.0 * math.pi / lap_s
        since_s = (t_ns - self.start_ns) % NS_PER_S * 1e-9
        whole_s = (t_ns - self.start_ns) // NS_PER_S
        theta = rate * math.fmod(math.fmod(float(whole_s), 2.0 * lap_s) + since_s, 2.0 * lap_s)
        x, y, z = (_derivatives(axis, theta, rate) for axis in self.waves)
        p, v, a, j = ((x[i], y[i], z[i]) for i in range(4))
        reference = self.heading + self.turns * theta
        return moving_sample(t_ns, p, v, a, j, reference, self.flies)


@dataclass(frozen=True)
class Circle(_Loop):
    """A level circle about the origin, counter-clockwise, facing along the path.

    ``radius`` [m], ``speed`` [m/s]; the yaw rate is speed / radius.
    """

    radius: float = 10.0
    speed: float = 5.0

    turns: ClassVar[int] = 1
    heading: ClassVar[float] = 0.5 * math.pi

    def __post_init__(self) -> None:
        """Refuse sizes that are not positive."""
        _require_positive(radius=self.radius, speed=self.speed)

    @property
    def lap_s(self) -> float:
        """Duration of a lap [s]."""
        return 2.0 * math.pi * self.radius / self.speed

    @property
    def waves(self) -> tuple[tuple[Wave, ...], tuple[Wave, ...], tuple[Wave, ...]]:
        """Harmonics of the axes east, north, up."""
        return ((1, self.radius, 0.0),), ((1, 0.0, self.radius),), ()


@dataclass(frozen=True)
class FigureEight(_Loop):
    """A level figure eight about the origin (lemniscate of Gerono), facing along the path.

    ``length`` and ``width`` [m] are its whole extent east and north, ``lap`` [s] its period.
    """

    length: float = 40.0
    width: float = 20.0
    lap: float = 20.0

    #: the curve is never headed north, so south is never opposite to its heading
    heading: ClassVar[float] = -0.5 * math.pi

    def __post_init__(self) -> None:
        """Refuse sizes that are not positive."""
        _require_positive(length=self.length, width=self.width, lap=self.lap)

    @property
    def lap_s(self) -> float:
        """Duration of a lap [s]."""
        return self.lap

    @property
    def waves(self) -> tuple[tuple[Wave, ...], tuple[Wave, ...], tuple[Wave, ...]]:
        """Harmonics of the axes east, north, up."""
        return ((1, 0.0, 0.5 * self.length),), ((2, 0.0, 0.5 * self.width),), ()


@dataclass(frozen=True)
class Racetrack(_Loop):
    """An aircraft on a left-hand racetrack, with two climbs a lap and banked turns.

    400 m x 150 m, heights 20 m to 40 m, 40 s a lap at 23.4 to 24.4 m/s, flight path up to
    7.4 deg, bank up to 44 deg.  The amplitudes were fitted for an even speed and then rounded.
    """

    turns: ClassVar[int] = 1
    flies: ClassVar[bool] = True

    @property
    def lap_s(self) -> float:
        """Duration of a lap [s]."""
        return 40.0

    @property
    def waves(self) -> tuple[tuple[Wave, ...], tuple[Wave, ...], tuple[Wave, ...]]:
        """Harmonics of the axes east, north, up."""
        return (
            ((1, 0.0, 185.1), (3, 0.0, -13.1), (5, 0.0, 1.7)),
            ((1, -88.4, 0.0), (3, 15.9, 0.0), (5, -2.6, 0.0)),
            ((0, 30.0, 0.0), (2, -10.0, 0.0)),
        )


def _derivatives(
    waves: tuple[Wave, ...], theta: float, rate: float
) -> tuple[float, float, float, float]:
    """Return the value and three time derivatives of one axis at phase ``theta`` [rad]."""
    p = v = a = j = 0.0
    for k, c, s in waves:
        w = k * rate
        cos, sin = math.cos(k * theta), math.sin(k * theta)
        value, slope = c * cos + s * sin, s * cos - c * sin
        p += value
        v += w * slope
        a -= w * w * value
        j -= w * w * w * slope
    return p, v, a, j


def _require_finite(name: str, *values: float) -> None:
    """Raise JaguarError unless all values are finite."""
    if not all(math.isfinite(value) for value in values):
        raise JaguarError(f'{name} = {values!r}: must be finite')


def _require_positive(**values: float) -> None:
    """Raise JaguarError unless all values are finite and above zero."""
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0.0):
            raise JaguarError(f'{name} = {value!r}: must be a finite number > 0')
