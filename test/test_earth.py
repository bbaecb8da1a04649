"""Geodesy against pymap3d, gravity against its formula, truth given in other frames."""

from __future__ import annotations

import math

import numpy as np
import pymap3d
import pytest
from core_helpers import EPOCH, OMEGA_IE, SECOND
from scipy.spatial.transform import Rotation

from jaguar_sensors_ros.nav import earth, frames
from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.types import TruthSample

PLACES = [
    (47.3764, 8.5476, 460.0),
    (-33.9, 151.2, 20.0),
    (10.0, 179.9999, -100.0),
    (-10.0, -179.9999, 0.0),
    (89.9, 12.0, 3000.0),
    (-89.9, -100.0, 2800.0),
    (89.9999999, 45.0, 0.0),
    (0.0, 0.0, 0.0),
    (0.0, 180.0, 10.0),
    (60.0, -45.0, 400e3),
    (-45.0, 30.0, 36000e3),
    (45.0, 30.0, -5000.0),
]


@pytest.mark.parametrize('place', PLACES)
def test_geodetic_to_ecef_is_that_of_pymap3d(place):
    latitude, longitude, height = place
    p_e = earth.ecef_from_geodetic(math.radians(latitude), math.radians(longitude), height)
    np.testing.assert_allclose(p_e, pymap3d.geodetic2ecef(*place), atol=2e-8, rtol=1e-15)


@pytest.mark.parametrize('place', PLACES)
def test_ecef_to_geodetic_and_back_loses_nothing(place):
    latitude, longitude, height = place
    p_e = pymap3d.geodetic2ecef(*place)
    got = earth.geodetic_from_ecef(tuple(map(float, p_e)))
    assert math.degrees(got[0]) == pytest.approx(latitude, abs=1e-13)
    assert got[2] == pytest.approx(height, abs=2e-8 + 1e-15 * height)
    back = earth.ecef_from_geodetic(*got)
    np.testing.assert_allclose(back, p_e, atol=2e-8)
    east_m = (math.degrees(got[1]) - longitude + 180) % 360 - 180
    assert abs(east_m) * math.cos(math.radians(latitude)) < 1e-13


@pytest.mark.parametrize('sign', [1, -1])
def test_the_poles_themselves_have_latitude_90_and_the_right_height(sign):
    semi_minor = 6356752.314245179
    latitude, _, height = earth.geodetic_from_ecef((0.0, 0.0, sign * (semi_minor + 12.5)))
    assert math.degrees(latitude) == pytest.approx(sign * 90.0, abs=1e-14)
    assert height == pytest.approx(12.5, abs=2e-8)


@pytest.mark.parametrize('place', PLACES[:10])
def test_enu_to_ecef_is_right_to_less_than_a_millimetre_at_100_km(place):
    local = LocalFrame(*place)
    for p_n in ((100e3, 0.0, 0.0), (0.0, -100e3, 50.0), (-70e3, 70e3, 10e3)):
        p_e = local.ecef_from_local(p_n)
        expected = pymap3d.enu2ecef(*p_n, *place)
        np.testing.assert_allclose(p_e, expected, atol=1e-6)
        np.testing.assert_allclose(local.local_from_ecef(p_e), p_n, atol=1e-8)


def test_local_axes_are_east_north_and_up():
    C = np.array(earth.enu_from_ecef_matrix(math.radians(30.0), math.radians(60.0)))
    np.testing.assert_allclose(C @ C.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(C) == pytest.approx(1.0)
    step = 1e-6
    here = np.array(pymap3d.geodetic2ecef(30.0, 60.0, 0.0))
    for row, there in zip(C, ((30, 60 + step, 0), (30 + step, 60, 0), (30, 60, 1)), strict=True):
        way = np.array(pymap3d.geodetic2ecef(*there)) - here
        np.testing.assert_allclose(way / np.linalg.norm(way), row, atol=1e-7)


def test_normal_gravity_is_that_of_wgs84():
    # NGA.STND.0036: gravity at the equator and at the poles, and the value at 45 degrees
    assert earth.normal_gravity(0.0, 0.0) == pytest.approx(9.7803253359, abs=1e-10)
    assert earth.normal_gravity(math.pi / 2, 0.0) == pytest.approx(9.8321849379, abs=1e-9)
    assert earth.normal_gravity(-math.pi / 4, 0.0) == pytest.approx(9.806197769, abs=1e-8)
    ratio = earth.normal_gravity(0.5, 1000.0) / earth.normal_gravity(0.5, 0.0)
    assert ratio == pytest.approx(1.0 - 2000.0 / 6378137.0, abs=1e-15)


@pytest.mark.parametrize('height', [-1e5, 0.0, 500.0, 4e5, 4e6, 4e7])
def test_gravity_without_angles_is_that_of_the_latitude(height):
    for latitude in np.radians([-90.0, -47.3, -1e-7, 0.0, 12.0, 45.0, 89.9999, 90.0]):
        for longitude in (-3.0, 0.0, 0.7):
            p_e = earth.ecef_from_geodetic(latitude, longitude, height)
            up = np.array(earth.enu_from_ecef_matrix(latitude, longitude)[2])
            expected = -earth.normal_gravity(latitude, height) * up
            size = np.linalg.norm(expected)
            np.testing.assert_allclose(earth.gravity_e(p_e), expected, rtol=0, atol=1e-14 * size)


def test_gravity_of_the_position_is_along_its_own_plumb_line():
    local = LocalFrame(47.0, 8.0, 0.0)
    np.testing.assert_allclose(
        local.gravity_n((0, 0, 0), 'wgs84'),
        (0, 0, -earth.normal_gravity(math.radians(47.0), 0.0)), atol=1e-12,
    )
    p_n = (0.0, 100e3, 0.0)
    gravity = np.array(local.gravity_n(p_n, 'wgs84'))
    latitude, longitude, height = pymap3d.enu2geodetic(*p_n, 47.0, 8.0, 0.0)
    up_e = np.array(earth.enu_from_ecef_matrix(math.radians(latitude), math.radians(longitude)))[2]
    up = np.array(local.C_ne) @ up_e
    assert up[1] > 0.01  # the vertical leans north there
    np.testing.assert_allclose(
        gravity, -earth.normal_gravity(math.radians(latitude), height) * up, atol=1e-12
    )
    np.testing.assert_allclose(local.gravity_n(p_n, 'constant'), (0, 0, -9.80665), atol=0)


@pytest.mark.parametrize('latitude', [0.0, 47.0, -30.0, 90.0])
def test_earth_rotation_points_north_and_up(latitude):
    local = LocalFrame(latitude, 123.0, 0.0)
    np.testing.assert_allclose(
        np.array(local.C_ne) @ (0, 0, OMEGA_IE), local.omega_ie_n, atol=1e-20
    )
    assert np.linalg.norm(local.omega_ie_n) == pytest.approx(7.292115e-5, rel=1e-15)


def sample(p, q, v, omega, a=None, t_ns=EPOCH):
    return TruthSample(t_ns, p, q, v, omega, a)


def frame_of(q):
    return Rotation.from_quat(np.roll(q, -1)).as_matrix()


def test_a_level_body_heading_north_in_ned_heads_north_in_enu():
    local = LocalFrame(47.0, 8.0, 0.0)
    got = frames.sample_from_ned(
        sample((1.0, 2.0, 3.0), (1, 0, 0, 0), (4.0, 5.0, 6.0), (0.1, 0.2, 0.3), (7.0, 8.0, 9.0)),
        local,
    )
    np.testing.assert_allclose(got.p_n, (2.0, 1.0, -3.0), atol=1e-15)
    # columns: forward, left and up of the body in east, north, up
    np.testing.assert_allclose(
        frame_of(got.q_nb), [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15
    )
    np.testing.assert_allclose(got.v_nb_b, (4.0, -5.0, -6.0))
    np.testing.assert_allclose(got.omega_nb_b, (0.1, -0.2, -0.3))
    np.testing.assert_allclose(got.a_nb_b, (7.0, -8.0, -9.0))


def test_any_attitude_in_ned_is_the_same_attitude_in_enu():
    turn = Rotation.from_euler('ZYX', [0.7, -0.3, 0.2])
    x, y, z, w = turn.as_quat()
    got = frames.sample_from_ned(
        sample((0, 0, 0), (w, x, y, z), (1, 2, 3), (0, 0, 0)), LocalFrame(47.0, 8.0, 0.0)
    )
    v_ned = turn.apply((1, 2, 3))
    np.testing.assert_allclose(
        frame_of(got.q_nb) @ got.v_nb_b, (v_ned[1], v_ned[0], -v_ned[2]), atol=1e-14
    )


def test_the_heading_of_the_origin_turns_the_world_frame():
    local = LocalFrame(47.0, 8.0, 0.0, heading=math.pi / 2)
    got = frames.sample_from_enu(sample((1, 0, 0), (1, 0, 0, 0), (2, 0, 0), (0, 0, 1)), local)
    np.testing.assert_allclose(got.p_n, (0, 1, 0), atol=1e-15)
    np.testing.assert_allclose(frame_of(got.q_nb) @ got.v_nb_b, (0, 2, 0), atol=1e-15)
    assert got.omega_nb_b == (0, 0, 1)


def test_truth_in_ecef_comes_to_the_same_place_and_attitude():
    place = (47.0, 8.0, 100.0)
    local = LocalFrame(*place)
    p_e = tuple(map(float, pymap3d.enu2ecef(10.0, 20.0, 30.0, *place)))
    C_eb = np.array(local.C_ne).T  # body along east, north, up
    x, y, z, w = Rotation.from_matrix(C_eb).as_quat()
    got = frames.sample_from_ecef(sample(p_e, (w, x, y, z), (1, 2, 3), (4, 5, 6)), local)
    np.testing.assert_allclose(got.p_n, (10, 20, 30), atol=1e-8)
    np.testing.assert_allclose(frame_of(got.q_nb), np.eye(3), atol=1e-14)
    assert got.v_nb_b == (1, 2, 3)


# launch inertial ---------------------------------------------------------------------------


def lic_axes(azimuth):
    """Return C_n_lic: downrange, up and right in east, north, up."""
    s, c = math.sin(azimuth), math.cos(azimuth)
    return np.array([[s, 0, c], [c, 0, -s], [0, 1, 0]])


def lic_of(p_e, v_e, C_eb, local, turn):
    """Return position, velocity and attitude in LIC by document 001, written independently."""
    R3 = np.array([[math.cos(turn), math.sin(turn), 0],
                   [-math.sin(turn), math.cos(turn), 0], [0, 0, 1]])
    C_el = np.array(local.C_ne).T @ lic_axes(local.heading)
    w = np.array((0, 0, OMEGA_IE))
    p_i = R3.T @ p_e
    v_i = R3.T @ (v_e + np.cross(w, p_e))
    flu_to_fur = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    C_lb = C_el.T @ R3.T @ C_eb @ flu_to_fur.T
    return C_el.T @ (p_i - np.array(local.p_e)), C_el.T @ v_i, C_lb


@pytest.mark.parametrize('azimuth', [0.0, math.pi / 2, 2.5])
@pytest.mark.parametrize('elapsed_s', [0.0, 300.0, 43210.0])
def test_launch_inertial_truth_makes_the_round_trip(azimuth, elapsed_s):
    local = LocalFrame(28.5, -80.6, 3.0, heading=azimuth)
    generator = np.random.default_rng(3)
    p_e = np.array(local.p_e) + generator.normal(size=3) * 1e5
    v_e = generator.normal(size=3) * 1e3
    C_eb = Rotation.random(random_state=4).as_matrix()
    omega_eb_b = np.array((0.1, -0.2, 0.3))
    turn = OMEGA_IE * elapsed_s
    p_l, v_l, C_lb = lic_of(p_e, v_e, C_eb, local, turn)
    flu_to_fur = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    omega_ib = flu_to_fur @ (omega_eb_b + C_eb.T @ (0, 0, OMEGA_IE))
    x, y, z, w = Rotation.from_matrix(C_lb).as_quat()
    t_ns = EPOCH + round(elapsed_s * SECOND)
    got = frames.sample_from_lic(
        sample(tuple(p_l), (w, x, y, z), tuple(C_lb.T @ v_l), tuple(omega_ib), t_ns=t_ns),
        local, EPOCH,
    )
    np.testing.assert_allclose(local.ecef_from_local(got.p_n), p_e, atol=1e-7)
    C_nb = frame_of(got.q_nb)
    np.testing.assert_allclose(C_nb, np.array(local.C_ne) @ C_eb, atol=1e-13)
    np.testing.assert_allclose(np.array(local.C_ne).T @ C_nb @ got.v_nb_b, v_e, atol=1e-9)
    np.testing.assert_allclose(got.omega_nb_b, omega_eb_b, atol=1e-15)


def test_a_point_at_rest_on_the_turning_earth_has_no_velocity_and_no_acceleration():
    local = LocalFrame(28.5, -80.6, 3.0, heading=1.0)
    turn = OMEGA_IE * 600.0
    p_e = np.array(local.p_e)
    C_eb = np.array(local.C_ne).T
    p_l, v_l, C_lb = lic_of(p_e, np.zeros(3), C_eb, local, turn)
    assert np.linalg.norm(v_l) == pytest.approx(
        OMEGA_IE * math.hypot(p_e[0], p_e[1]), rel=1e-12
    )
    w = np.array((0, 0, OMEGA_IE))
    flu_to_fur = np.array([[1, 0, 0], [0, 0, 1], [0, -1, 0]])
    a_i_b = flu_to_fur @ C_eb.T @ np.cross(w, np.cross(w, p_e))
    x, y, z, s = Rotation.from_matrix(C_lb).as_quat()
    got = frames.sample_from_lic(
        sample(tuple(p_l), (s, x, y, z), tuple(C_lb.T @ v_l), tuple(flu_to_fur @ C_eb.T @ w),
               tuple(a_i_b), t_ns=600 * SECOND),
        local, 0,
    )
    np.testing.assert_allclose(got.p_n, (0, 0, 0), atol=1e-8)
    np.testing.assert_allclose(got.v_nb_b, (0, 0, 0), atol=1e-11)
    np.testing.assert_allclose(got.omega_nb_b, (0, 0, 0), atol=1e-18)
    np.testing.assert_allclose(got.a_nb_b, (0, 0, 0), atol=1e-15)


def test_a_launch_at_an_azimuth_starts_that_way_over_the_ground():
    local = LocalFrame(28.5, -80.6, 3.0, heading=math.radians(110.0))
    p_e = np.array(local.p_e)
    inertial = np.cross((0, 0, OMEGA_IE), p_e)  # the pad moves east
    C_el = np.array(local.C_ne).T @ lic_axes(local.heading)
    v_l = C_el.T @ inertial + (100.0, 0.0, 0.0)
    # body along the launch axes: x downrange, y up, z right
    got = frames.sample_from_lic(sample((0, 0, 0), (1, 0, 0, 0), tuple(v_l), (0, 0, 0)),
                                 local, EPOCH)
    v_n = frame_of(got.q_nb) @ got.v_nb_b
    azimuth = math.radians(110.0)
    np.testing.assert_allclose(
        v_n, (100 * math.sin(azimuth), 100 * math.cos(azimuth), 0), atol=1e-9
    )
    np.testing.assert_allclose(got.v_nb_b, (100, 0, 0), atol=1e-9)
