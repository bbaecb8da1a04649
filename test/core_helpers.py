"""Motions, sensors and statistics for the tests of the mathematics; no ROS in here."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from hypothesis import settings as hypothesis_settings
from scipy import stats
from scipy.spatial.transform import Rotation

from jaguar_sensors_ros.catalogue import make_sensor, make_settings
from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.nav.kinematics import Environment, inertial_rates
from jaguar_sensors_ros.truth.segment import TwistSegment
from jaguar_sensors_ros.types import IDENTITY_QUAT, NS_PER_S, ZERO3, TruthSample

SECOND = NS_PER_S
#: a stamp of the year 2023
EPOCH = 1_700_000_000 * SECOND
G0 = 9.80665
OMEGA_IE = 7.292115e-5
#: the same examples in every run
PROPERTY = hypothesis_settings(derandomize=True, deadline=None, database=None)
#: a chance of one in ten thousand that a correct test fails, for the one seed that is fixed
ALPHA = 1e-4


def at_rest(t_ns, q=IDENTITY_QUAT, p=ZERO3):
    return TruthSample(t_ns, p, q, ZERO3, ZERO3)


def moving(t_ns, v=ZERO3, omega=ZERO3, q=IDENTITY_QUAT, p=ZERO3, a=None):
    return TruthSample(t_ns, p, q, v, omega, a)


def still(start_s, end_s, base=0, **pose):
    """Return one piece of rest."""
    return TwistSegment(
        at_rest(base + round(start_s * SECOND), **pose),
        at_rest(base + round(end_s * SECOND), **pose),
    )


def pieces(sample: Callable[[int], TruthSample], times_ns):
    """Return the pieces between successive samples of a motion."""
    samples = [sample(t) for t in times_ns]
    return [TwistSegment(a, b) for a, b in itertools.pairwise(samples)]


def turning(v=ZERO3, omega=ZERO3, base=0):
    """Return a motion of constant body velocity and rate (a helix), as a function of time."""

    def at(t_ns):
        t = (t_ns - base) / SECOND
        w, u = np.array(omega), np.array(v)
        # p = integral of exp([w s]) u ds over (0, t): the left Jacobian times u t
        phi = w * t
        angle = np.linalg.norm(phi)
        matrix = np.cross(np.eye(3), -phi)
        if angle > 1e-12:
            left = (
                np.eye(3)
                + (1 - math.cos(angle)) / angle**2 * matrix
                + (angle - math.sin(angle)) / angle**3 * matrix @ matrix
            )
        else:
            left = np.eye(3)
        x, y, z, s = Rotation.from_rotvec(phi).as_quat()
        return TruthSample(t_ns, tuple(left @ u * t), (s, x, y, z), tuple(v), tuple(omega))

    return at


@dataclass
class Motion:
    """A piece of an analytic motion whose increments come from fine quadrature."""

    at: Callable[[int], TruthSample]
    start_ns: int
    end_ns: int
    is_smooth = False  # any motion, however fast

    def increments(self, from_ns, to_ns, environment, arm):
        nodes, weights = np.polynomial.legendre.leggauss(4)
        theta, velocity = np.zeros(3), np.zeros(3)
        half = 0.5 * (to_ns - from_ns)
        for node, weight in zip(nodes, weights, strict=True):
            omega, force = inertial_rates(
                self.at(round(from_ns + half * (1 + node))), environment, arm
            )
            theta += weight * half / SECOND * np.array(omega)
            velocity += weight * half / SECOND * np.array(force)
        if arm != ZERO3:
            ends = [np.array(inertial_rates(self.at(t), environment, arm)[0])
                    for t in (from_ns, to_ns)]
            velocity += np.cross(ends[1] - ends[0], arm)
        return tuple(theta), tuple(velocity)


def quadrature(segment, from_ns, to_ns, environment, arm, panels=4, order=12):
    """Integrate the rates of ``segment.at``, independently of the closed forms."""
    nodes, weights = np.polynomial.legendre.leggauss(order)
    theta, velocity = np.zeros(3), np.zeros(3)
    edges = np.linspace(from_ns, to_ns, panels + 1)
    for a, b in itertools.pairwise(edges):
        for node, weight in zip(nodes, weights, strict=True):
            t = a + 0.5 * (b - a) * (1 + node)
            omega, force = rates_at(segment, t, environment, arm)
            share = 0.5 * weight * (b - a) / SECOND
            theta += share * omega
            velocity += share * force
    return theta, velocity


def rates_at(segment, t, environment, arm):
    """Return gyro and specific force at a real time [ns], the Euler term included."""
    floor = math.floor(t)
    share = t - floor
    values = []
    for t_ns in (floor, floor + 1):
        sample = segment.at(t_ns)
        rotation = Rotation.from_quat(np.roll(sample.q_nb, -1))
        w_ie = rotation.inv().apply(environment.local.omega_ie_n) * environment.rotation
        w_nb, v = np.array(sample.omega_nb_b), np.array(sample.v_nb_b)
        gravity = np.array(environment.local.gravity_n(sample.p_n, environment.gravity))
        h = 1_000_000
        ahead, back = (whole_rate(segment.at(t_ns + d), environment) for d in (h, -h))
        alpha = (ahead - back) / (2 * h / SECOND)
        w = w_nb + w_ie
        force = np.array(sample.a_nb_b) + 2 * np.cross(w_ie, v) - rotation.inv().apply(gravity)
        force = force + np.cross(alpha, arm) + np.cross(w, np.cross(w, arm))
        values.append((w, force))
    (w0, f0), (w1, f1) = values
    return w0 + share * (w1 - w0), f0 + share * (f1 - f0)


def whole_rate(sample, environment):
    rotation = Rotation.from_quat(np.roll(sample.q_nb, -1))
    w_ie = rotation.inv().apply(environment.local.omega_ie_n) * environment.rotation
    return np.array(sample.omega_nb_b) + w_ie


def environment(rotation=False, gravity='constant', latitude=47.0, longitude=8.0, height=0.0):
    return Environment(LocalFrame(latitude, longitude, height), rotation, gravity)


def imu(name='imu', seed=1, **values):
    """Make an IMU; double underscores in names stand for dots."""
    return _sensor('imu', name, seed, values)


def gps(name='gps', seed=1, **values):
    return _sensor('gps', name, seed, values)


def mag(name='mag', seed=1, **values):
    return _sensor('mag', name, seed, values)


def baro(name='baro', seed=1, **values):
    return _sensor('baro', name, seed, values)


def _sensor(kind, name, seed, values):
    return make_sensor(kind, name, settings(kind, **values), seed)


def settings(kind, **values):
    if kind == 'imu':
        values = {'grade': 'custom', 'orientation__output': 'truth', **values}
    return make_settings(kind, {k.replace('__', '.'): v for k, v in values.items()})


def reconfigure(sensor, **values):
    sensor.configure(settings(sensor.type_name, **values))


def run(sensor, segments):
    return [sample for segment in segments for sample in sensor.feed(segment)]


def rates(samples):
    return np.array([s.angular_velocity for s in samples])


def forces(samples):
    return np.array([s.specific_force for s in samples])


def thetas(samples):
    return np.array([part.delta_theta for s in samples for part in s.frame])


def deltas(samples):
    return np.array([part.delta_v for s in samples for part in s.frame])


def assert_std(values, sigma, mean=0.0, alpha=ALPHA):
    """Check the standard deviation of white numbers by chi-square, and their mean."""
    values = np.asarray(values)
    n = values.size
    ratio = np.sum((values - mean) ** 2) / sigma**2
    low, high = stats.chi2.ppf([alpha / 2, 1 - alpha / 2], n)
    assert low < ratio < high, (math.sqrt(ratio / n), sigma, n)
    bound = stats.norm.ppf(1 - alpha / 2) * sigma / math.sqrt(n)
    assert abs(values.mean() - mean) < bound, (values.mean(), mean, bound)


def assert_uncorrelated(a, b, alpha=ALPHA):
    r = np.corrcoef(a, b)[0, 1]
    assert abs(r) < stats.norm.ppf(1 - alpha / 2) / math.sqrt(len(a)), r


def assert_count(hits, n, probability, alpha=ALPHA):
    low, high = stats.binom.ppf([alpha / 2, 1 - alpha / 2], n, probability)
    assert low <= hits <= high, (hits, n, probability)
