"""Increments in frames of two serve the coning and sculling compensation of a receiver.

Source of the two-sample algorithm, coefficient 2/3, and of the drift it leaves: M. Ignagni,
"Optimal strapdown attitude integration algorithms", Journal of Guidance, Control, and Dynamics
13 (1990) 363; P. Savage, "Strapdown inertial navigation integration algorithm design", parts 1
and 2, ibid. 21 (1998) 19 and 208.

With the angular frequency w of the motion, the time T of a frame of two samples and x = w T, an
uncompensated frame misses a^2 (x - sin x) / 2, and a compensated one

    a^2 ((x - sin x) / 2 - (4/3) (sin(x/2) - sin(x) / 2)),

which is 80 / x^2 times less where x is small.
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from core_helpers import SECOND, Motion, imu
from scipy.spatial.transform import Rotation
from scipy.special import j1

from jaguar_sensors_ros.types import ZERO3, TruthSample

RATE = 200
FRAME_S = 2 / RATE
SECONDS = 4
#: angle of the cone, and of the rocking [rad]
ANGLE = 1e-3
#: acceleration of the rocking body [m/s2]
FORCE = 5.0


class Coning:
    """The x axis stays where it is but for ``ANGLE``; the other two wobble about it.

    q = (cos a/2, 0, sin a/2 cos wt, sin a/2 sin wt); after a period all is as before.
    """

    def __init__(self, frequency):
        self.omega = 2.0 * math.pi * frequency

    def at(self, t_ns):
        w, a = self.omega, ANGLE
        c, s = math.cos(w * t_ns / SECOND), math.sin(w * t_ns / SECOND)
        q = (math.cos(a / 2), 0.0, math.sin(a / 2) * c, math.sin(a / 2) * s)
        rate = (-2.0 * w * math.sin(a / 2) ** 2, -w * math.sin(a) * s, w * math.sin(a) * c)
        return TruthSample(t_ns, ZERO3, q, ZERO3, rate, ZERO3)


class Sculling:
    """A body that turns to and fro about up while it is shaken along its x axis, in phase.

    Heading a sin wt, acceleration c sin wt along x: on average it gains c J1(a) in y.
    """

    def __init__(self, frequency):
        self.omega = 2.0 * math.pi * frequency

    def at(self, t_ns):
        w, a = self.omega, ANGLE
        c, s = math.cos(w * t_ns / SECOND), math.sin(w * t_ns / SECOND)
        q = (math.cos(a * s / 2), 0.0, 0.0, math.sin(a * s / 2))
        return TruthSample(
            t_ns, ZERO3, q, ZERO3, (0.0, 0.0, a * w * c), (FORCE * s, 0.0, 0.0)
        )


def frames(source):
    """Return the increments of the samples of each frame: theta 1, theta 2, v 1, v 2."""
    sensor = imu(fidelity='transparent', sample_rate_hz=float(RATE), increments__samples=2)
    samples = sensor.feed(Motion(source.at, 0, SECONDS * SECOND))
    parts = [sample.frame for sample in samples if sample.frame]
    assert len(parts) == SECONDS * RATE // 2
    assert all(len(part) == 2 for part in parts)
    assert sum(p.dt_s for part in parts for p in part) == pytest.approx(SECONDS, rel=1e-12)
    theta = np.array([[p.delta_theta for p in part] for part in parts])
    velocity = np.array([[p.delta_v for p in part] for part in parts])
    return theta[:, 0], theta[:, 1], velocity[:, 0], velocity[:, 1]


def uncompensated_miss(x):
    return (x - math.sin(x)) / 2.0


def compensated_miss(x):
    return uncompensated_miss(x) - 4.0 / 3.0 * (math.sin(x / 2.0) - math.sin(x) / 2.0)


def attitude(sample):
    w, x, y, z = sample.q_nb
    return Rotation.from_quat((x, y, z, w))


def check_improvement(missed, left, unit, x):
    """Check what is missed and what is left per frame, and how much better that is."""
    assert missed == pytest.approx(unit * uncompensated_miss(x), rel=0.01)
    assert left == pytest.approx(unit * compensated_miss(x), rel=0.01)
    # 80 / x^2 is the first term of a series
    assert missed / left == pytest.approx(80.0 / x**2, rel=0.05 * x**2 + 0.01)


@pytest.mark.parametrize('frequency', [2.5, 5.0, 10.0])
def test_two_samples_beat_the_uncompensated_sum_of_a_coning_motion_by_80_over_x_squared(frequency):
    source = Coning(frequency)
    x = 2.0 * math.pi * frequency * FRAME_S
    first, second, _, _ = frames(source)

    def drift(phi):
        """Return by how much attitude drifts about x in a frame, on average [rad]."""
        q = attitude(source.at(0))
        for step in Rotation.from_rotvec(phi):
            q = q * step
        end = (attitude(source.at(SECONDS * SECOND)).inv() * q).as_rotvec()
        return abs(end[0]) / len(phi)

    plain = first + second
    missed = drift(plain)
    left = drift(plain + 2.0 / 3.0 * np.cross(first, second))
    check_improvement(missed, left, ANGLE**2, x)


@pytest.mark.parametrize('frequency', [2.5, 5.0, 10.0])
def test_two_samples_beat_the_uncompensated_sum_of_a_sculling_motion_by_as_much(frequency):
    source = Sculling(frequency)
    x = 2.0 * math.pi * frequency * FRAME_S
    theta1, theta2, v1, v2 = frames(source)
    starts = [attitude(source.at(round(k * FRAME_S * SECOND))) for k in range(len(theta1))]

    def drift(delta_v):
        """Return by how much the velocity along y drifts in a frame, on average [m/s]."""
        gained = Rotation.concatenate(starts).apply(delta_v).sum(axis=0)
        return abs(gained[1] - FORCE * j1(ANGLE) * SECONDS) / len(delta_v)

    rotated = v1 + v2 + 0.5 * np.cross(theta1 + theta2, v1 + v2)
    missed = drift(rotated)
    left = drift(rotated + 2.0 / 3.0 * (np.cross(theta1, v2) + np.cross(v1, theta2)))
    # the angle a and the velocity c / w take the places of the two angles of a cone
    check_improvement(missed, left, ANGLE * FORCE / source.omega, x)


def test_frames_of_one_sample_are_the_same_increments():
    source = Coning(5.0)
    pairs = frames(source)
    sensor = imu(fidelity='transparent', sample_rate_hz=float(RATE))
    samples = sensor.feed(Motion(source.at, 0, SECONDS * SECOND))
    single = np.array([s.frame[0].delta_theta for s in samples])
    np.testing.assert_array_equal(single[::2], pairs[0])
    np.testing.assert_array_equal(single[1::2], pairs[1])
