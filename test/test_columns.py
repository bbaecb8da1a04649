"""Functions of columns give the bits of those of floats."""

from __future__ import annotations

import math

import numpy as np
import pytest

from jaguar_sensors_ros.nav import columns, earth, elementary, rotation
from jaguar_sensors_ros.nav.frames import LocalFrame

#: lengths of vectors, the edges of the branches among them
SIZES = (0.0, 1e-13, 1e-12, 9.9e-9, 1e-8, 1e-4, 9.999e-3, 1e-2, 0.5, 3.0, math.pi, 7.0)


def vectors(sizes=SIZES, each=300, seed=1):
    """Return random vectors of some lengths, shape (3, n)."""
    v = np.random.default_rng(seed).standard_normal((3, len(sizes) * each))
    return v / np.sqrt((v * v).sum(axis=0)) * np.repeat(sizes, each)


def quaternions(seed=2, like=None):
    q = np.random.default_rng(seed).standard_normal((4, 3600))
    if like is not None:
        q = like + q * np.repeat(np.array([*SIZES, 0.0, 0.0])[:12], 300)
    return q / np.sqrt((q * q).sum(axis=0))


def assert_same(got, function, *arguments):
    """Compare columns with a function of floats, sample by sample and bit by bit."""
    rows = [np.asarray(a, dtype=float).T.tolist() for a in arguments]
    expected = np.array([function(*row) for row in zip(*rows, strict=True)]).T
    np.testing.assert_array_equal(np.array(got).reshape(expected.shape), expected)


def points():
    """Return points in ECEF: anywhere, at the poles, at the equator, high and deep."""
    rng, sizes = np.random.default_rng(3), (1e5, 6.3e6, 6.378137e6, 6.4e6, 4e7)
    p = np.hstack([vectors(sizes, seed=4), 6.37e6 * rng.uniform(-1.0, 1.0, (3, 500))])
    edges = [(6378137.0, 0.0, 0.0), (0.0, 0.0, 6356752.3), (0.0, 0.0, -7e6), (-6.4e6, -0.0, 0.0)]
    return np.hstack([p, np.array(edges).T])


def test_quaternions_and_rotation_vectors():
    phi, q = vectors(), quaternions()
    assert_same(columns.norm(phi), rotation.norm, phi)
    assert_same(columns.quat_from_rotvec(phi), rotation.quat_from_rotvec, phi)
    assert_same(columns.rotvec_from_quat(q), rotation.rotvec_from_quat, q)
    for other in (quaternions(7), quaternions(7, q), q, -q):
        assert_same(columns.rotvec_between(q, other), rotation.rotvec_between, q, other)


@pytest.mark.parametrize('sizes', [SIZES, SIZES[5:], SIZES[8:]])
def test_slerp_and_jacobian(sizes):
    phi = vectors(sizes)
    q, rate = quaternions()[:, : phi.shape[1]], vectors((9.8,), phi.shape[1], seed=5)
    u = np.random.default_rng(6).uniform(0.01, 1.0, phi.shape[1])
    assert_same(columns.slerp(q, phi, u), rotation.slerp, q, phi, u)
    got = rotation.right_jacobian_times(phi, rate, columns.right_jacobian_factors(phi))
    assert_same(got, rotation.right_jacobian_times, phi, rate)


def test_what_has_no_branch_takes_columns():
    q, p, a, b = quaternions(), quaternions(8), vectors(), vectors(seed=9)
    for function in (rotation.rotate, rotation.rotate_back):
        assert_same(function(q, a), function, q, a)
    assert_same(rotation.quat_multiply(q, p), rotation.quat_multiply, q, p)
    assert_same(rotation.cross(a, b), rotation.cross, a, b)


def test_the_earth():
    p = points()
    latitude, longitude, height, sin_lat, cos_lat = columns.geodetic_from_ecef(p)
    assert_same((latitude, longitude, height), earth.geodetic_from_ecef, p)
    axes = np.array(columns.enu_from_ecef_matrix(sin_lat, cos_lat, longitude))
    matrix = [earth.enu_from_ecef_matrix(*a) for a in zip(latitude, longitude, strict=True)]
    np.testing.assert_array_equal(np.moveaxis(axes, 2, 0), matrix)


@pytest.mark.parametrize('origin', [(47.4, 8.5, 460.0), (0.0, 0.0, 0.0), (-89.9999, 12.0, 1e4)])
def test_gravity(origin):
    local = LocalFrame(*origin)
    p = vectors((1e-3, 1.0, 400.0, 1e5, 1e6))
    of_columns = columns.LocalColumns.of(local)
    assert_same(of_columns.gravity_n(p, 'wgs84'), lambda r: local.gravity_n(r, 'wgs84'), p)
    assert of_columns.gravity_n(p, 'constant') == local.gravity_n((0.0, 0.0, 0.0), 'constant')


@pytest.mark.parametrize('name', elementary._FUNCTIONS)
def test_elementary_functions_of_other_bits_are_not_used(name, monkeypatch):
    """As on a machine where NumPy has vector code of its own."""
    of_arrays, of_floats, count = elementary._FUNCTIONS[name]
    monkeypatch.setitem(
        elementary._FUNCTIONS, name, (lambda *x: of_arrays(*x) * (1.0 + 2e-16), of_floats, count)
    )
    elementary._chosen.cache_clear()
    numbers = vectors((1.0, 1e6))[:count]
    assert_same(getattr(elementary, name)(*numbers), of_floats, *numbers)
    elementary._chosen.cache_clear()
    assert_same(getattr(elementary, name)(*numbers), of_floats, *numbers)
    elementary._chosen.cache_clear()
