"""The ideal IMU against others' programs and against integrals worked out by hand.

pyins (python-ins) has its own Earth, its own interpolation of a trajectory and its own strapdown
navigation.  It works in north-east-down at the position of the body, with an FRD body and angles
in degrees, and takes the attitude relative to inertial space.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from core_helpers import SECOND, environment, imu, rates
from core_helpers import deltas as delta_v_of
from core_helpers import thetas as delta_theta_of
from scipy.spatial.transform import Rotation

from jaguar_sensors_ros.nav import earth
from jaguar_sensors_ros.nav.kinematics import increments_of_curve
from jaguar_sensors_ros.truth.trajectory import Circle, FigureEight, Racetrack

ORIGIN = (47.3764, 8.5476, 460.0)
EARTH = {'earth__rotation': True, 'earth__gravity': 'wgs84', 'origin': ORIGIN}
FLU_FRD = np.diag((1.0, -1.0, -1.0))
ENU_NED = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
TRAJECTORIES = {'circle': Circle(), 'figure_eight': FigureEight(), 'racetrack': Racetrack()}


@dataclass
class Whole:
    """A whole trajectory as one piece of truth."""

    source: Any
    start_ns: int
    end_ns: int
    is_smooth: ClassVar[bool] = True

    def at(self, t_ns):
        return self.source.at(t_ns)

    def increments(self, from_ns, to_ns, environment, arm):
        return increments_of_curve(self.source.at, from_ns, to_ns, environment, arm)


def ideal(source, seconds, rate, **values):
    """Return the samples of a transparent IMU on a trajectory from time zero."""
    sensor = imu(fidelity='transparent', sample_rate_hz=float(rate), **values)
    return sensor.feed(Whole(source, 0, round(seconds * SECOND)))


def attitude(sample):
    w, x, y, z = sample.q_nb
    return Rotation.from_quat((x, y, z, w))


# ---------------------------------------------------------------------- pyins


@pytest.fixture(scope='module')
def pyins():
    """Return the modules of pyins that are used here."""
    modules = pytest.importorskip('pyins', reason='python-ins is not installed')
    from pyins import sim, strapdown, transform

    return {'sim': sim, 'strapdown': strapdown, 'transform': transform, 'pyins': modules}


def as_pyins(source, times_ns):
    """Return latitude, longitude, height; NED velocity; roll, pitch, heading of a truth."""
    local = environment(latitude=ORIGIN[0], longitude=ORIGIN[1], height=ORIGIN[2]).local
    C_ne = np.array(local.C_ne)
    lla, velocity, rph = [], [], []
    for t_ns in times_ns:
        sample = source.at(t_ns)
        place = earth.geodetic_from_ecef(local.ecef_from_local(sample.p_n))
        ned_from_n = ENU_NED @ np.array(earth.enu_from_ecef_matrix(*place[:2])) @ C_ne.T
        body = attitude(sample)
        C = ned_from_n @ body.as_matrix() @ FLU_FRD
        heading, pitch, roll = Rotation.from_matrix(C).as_euler('ZYX', degrees=True)
        lla.append((*np.degrees(place[:2]), place[2]))
        velocity.append(ned_from_n @ body.apply(sample.v_nb_b))
        rph.append((roll, pitch, heading))
    return np.array(lla), np.array(velocity), np.array(rph)


@pytest.mark.parametrize('name', ['figure_eight', 'racetrack'])
def test_increments_are_those_of_pyins(pyins, name):
    source, rate, seconds = TRAJECTORIES[name], 100, 12
    samples = ideal(source, seconds, rate, **EARTH)
    times_ns = [k * SECOND // rate for k in range(seconds * rate + 1)]
    lla, velocity, rph = as_pyins(source, times_ns)
    time = np.array(times_ns) / SECOND
    _, expected = pyins['sim'].generate_imu(time, lla, rph, velocity, 'increment')
    expected = expected.to_numpy()[1:]
    # the ends are left out: there the splines of pyins guess what was before and after
    inner = slice(rate, -rate)
    got = np.hstack([delta_theta_of(samples) @ FLU_FRD, delta_v_of(samples) @ FLU_FRD])
    np.testing.assert_allclose(got[inner, :3], expected[inner, :3], rtol=0, atol=1e-9)
    np.testing.assert_allclose(got[inner, 3:], expected[inner, 3:], rtol=0, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize('name', ['figure_eight', 'racetrack'])
def test_the_navigation_of_pyins_closes_on_the_truth(pyins, name):
    import pandas as pd

    source, rate, seconds = TRAJECTORIES[name], 200, 40
    samples = ideal(source, seconds, rate, **EARTH)
    increments = np.hstack([delta_theta_of(samples) @ FLU_FRD, delta_v_of(samples) @ FLU_FRD])
    time = np.arange(1, len(samples) + 1) / rate
    # coning and sculling need the increment before, so it sets out one sample later
    frame = pd.DataFrame(
        increments, index=pd.Index(time, name='time'),
        columns=['gyro_x', 'gyro_y', 'gyro_z', 'accel_x', 'accel_y', 'accel_z'],
    )
    lla, velocity, rph = as_pyins(source, [SECOND // rate, seconds * SECOND])
    start = pd.Series(
        np.concatenate([lla[0], velocity[0], rph[0]]), name=time[0],
        index=['lat', 'lon', 'alt', 'VN', 'VE', 'VD', 'roll', 'pitch', 'heading'],
    )
    strapdown = pyins['strapdown']
    corrected = strapdown.compute_increments_from_imu(frame, 'increment')
    end = strapdown.Integrator(start).integrate(corrected).iloc[-1]
    reached = np.array(pyins['transform'].lla_to_ecef(end[['lat', 'lon', 'alt']].to_numpy()))
    true = np.array(pyins['transform'].lla_to_ecef(lla[1]))
    assert np.linalg.norm(reached - true) < 0.1
    turned = [Rotation.from_euler('ZYX', angles[::-1], degrees=True)
              for angles in (end[['roll', 'pitch', 'heading']].to_numpy(), rph[1])]
    assert math.degrees((turned[0].inv() * turned[1]).magnitude()) < 0.001


# ---------------------------------------------------------------------- closed forms


def test_a_circle_over_the_turning_earth_is_the_integral_worked_out_by_hand():
    circle, rate = Circle(), 200
    speed, turn = circle.speed, circle.speed / circle.radius
    samples = ideal(circle, 15, rate, earth__rotation=True, origin=ORIGIN)
    latitude = math.radians(ORIGIN[0])
    north, up = 7.292115e-5 * math.cos(latitude), 7.292115e-5 * math.sin(latitude)
    t = np.arange(len(samples) + 1) / rate
    psi = 0.5 * math.pi + turn * t  # heading from east, counter-clockwise
    # integrals of the components of the Earth rate along x and y of the body
    along_x, along_y = -north / turn * np.diff(np.cos(psi)), north / turn * np.diff(np.sin(psi))
    dt = np.diff(t)
    theta = np.column_stack([along_x, along_y, (turn + up) * dt])
    velocity = np.column_stack([
        np.zeros_like(dt),
        speed * (turn + 2.0 * up) * dt,
        9.80665 * dt - 2.0 * speed * along_y,
    ])
    np.testing.assert_allclose(delta_theta_of(samples), theta, rtol=0, atol=1e-13)
    np.testing.assert_allclose(delta_v_of(samples), velocity, rtol=0, atol=1e-11)
    np.testing.assert_allclose(rates(samples), theta * rate, rtol=0, atol=1e-9)


#: first derivative by values at -3h ... 3h, exact for polynomials of degree 6
STENCIL = {-3: -1 / 60, -2: 3 / 20, -1: -3 / 4, 1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
STEP_NS = 10_000_000


def derivative(function, t_ns):
    values = (c * function(t_ns + k * STEP_NS) for k, c in STENCIL.items())
    return sum(values) / (STEP_NS / SECOND)


def normal_gravity(p_n):
    """Return WGS-84 normal gravity in n by formulas of its own (Somigliana, Borkowski-free)."""
    latitude, longitude, height = map(float, (*np.radians(ORIGIN[:2]), ORIGIN[2]))
    a, f = 6378137.0, 1.0 / 298.257223563
    e2 = f * (2.0 - f)

    def ecef(lat, lon, h):
        radius = a / math.sqrt(1.0 - e2 * math.sin(lat) ** 2)
        return np.array([(radius + h) * math.cos(lat) * math.cos(lon),
                         (radius + h) * math.cos(lat) * math.sin(lon),
                         (radius * (1.0 - e2) + h) * math.sin(lat)])

    def axes(lat, lon):
        return np.array([
            [-math.sin(lon), math.cos(lon), 0.0],
            [-math.sin(lat) * math.cos(lon), -math.sin(lat) * math.sin(lon), math.cos(lat)],
            [math.cos(lat) * math.cos(lon), math.cos(lat) * math.sin(lon), math.sin(lat)],
        ])

    C_ne = axes(latitude, longitude)
    target = ecef(latitude, longitude, height) + C_ne.T @ p_n
    lat, lon, h = latitude, longitude, height
    for _ in range(6):  # Newton with the radii of curvature
        east, north, up = axes(lat, lon) @ (target - ecef(lat, lon, h))
        w = math.sqrt(1.0 - e2 * math.sin(lat) ** 2)
        lat += north / (a * (1.0 - e2) / w**3 + h)
        lon += east / ((a / w + h) * math.cos(lat))
        h += up
    sin2 = math.sin(lat) ** 2
    size = 9.7803253359 * (1.0 + 1.93185265241e-3 * sin2) / math.sqrt(1.0 - e2 * sin2)
    return -size * (1.0 - 2.0 * h / a) * (C_ne @ axes(lat, lon)[2])


def felt(source, t_ns):
    """Return the inertial rate and the specific force in b from positions and attitudes alone."""
    latitude = math.radians(ORIGIN[0])
    w_ie = 7.292115e-5 * np.array([0.0, math.cos(latitude), math.sin(latitude)])
    here = attitude(source.at(t_ns))
    omega = derivative(lambda t: (here.inv() * attitude(source.at(t))).as_rotvec(), t_ns)

    def velocity(t):
        sample = source.at(t)
        return attitude(sample).apply(sample.v_nb_b)

    p, v = np.array(source.at(t_ns).p_n), velocity(t_ns)
    np.testing.assert_allclose(
        derivative(lambda t: np.array(source.at(t).p_n), t_ns), v, rtol=0, atol=1e-10)
    force = derivative(velocity, t_ns) + 2.0 * np.cross(w_ie, v) - normal_gravity(p)
    return omega + here.inv().apply(w_ie), here.inv().apply(force)


@pytest.mark.parametrize('name', TRAJECTORIES)
def test_increments_are_the_integrals_of_what_positions_and_attitudes_say(name):
    source, rate = TRAJECTORIES[name], 100
    samples = ideal(source, 21, rate, **EARTH)
    nodes, weights = np.polynomial.legendre.leggauss(6)
    half = SECOND // rate // 2
    for sample in samples[7::163]:
        middle = sample.t_ns - half
        values = [felt(source, middle + round(half * node)) for node in nodes]
        # means over the interval; nodes lie on whole nanoseconds
        omega, force = (0.5 * weights @ np.array(column) for column in zip(*values, strict=True))
        np.testing.assert_allclose(sample.angular_velocity, omega, rtol=0, atol=1e-9)
        part = sample.frame[0]
        np.testing.assert_allclose(part.delta_theta, omega / rate, rtol=0, atol=1e-11)
        np.testing.assert_allclose(part.delta_v, force / rate, rtol=0, atol=1e-9)
