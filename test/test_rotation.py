"""Rotation functions against scipy and transforms3d, and against quadrature."""

from __future__ import annotations

import math

import numpy as np
import pytest
import transforms3d
from core_helpers import PROPERTY
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from jaguar_sensors_ros.nav import rotation as rot

finite = st.floats(-3.0, 3.0)
vectors = st.tuples(finite, finite, finite)
quats = st.tuples(finite, finite, finite, finite).filter(
    lambda q: sum(x * x for x in q) > 1e-3
).map(rot.quat_normalise)


def scipy_of(q):
    return Rotation.from_quat(np.roll(q, -1))


def wxyz(rotation):
    return np.roll(rotation.as_quat(), 1)


def assert_same_attitude(q, expected, tolerance=1e-14):
    sign = 1.0 if np.dot(q, expected) >= 0.0 else -1.0
    np.testing.assert_allclose(q, sign * np.array(expected), atol=tolerance)


@PROPERTY
@given(quats, vectors)
def test_rotating_a_vector_there_and_back_is_the_rotation_matrix_and_its_transpose(q, a):
    matrix = scipy_of(q).as_matrix()
    np.testing.assert_allclose(rot.rotate(q, a), matrix @ a, atol=1e-14)
    np.testing.assert_allclose(rot.rotate_back(q, a), matrix.T @ a, atol=1e-14)
    np.testing.assert_allclose(rot.matrix_from_quat(q), matrix, atol=1e-14)
    np.testing.assert_allclose(rot.matrix_times(rot.matrix_from_quat(q), a), matrix @ a,
                               atol=1e-14)
    np.testing.assert_allclose(rot.transposed_times(rot.matrix_from_quat(q), a), matrix.T @ a,
                               atol=1e-14)


@PROPERTY
@given(quats, quats)
def test_the_product_is_the_hamilton_product(p, q):
    np.testing.assert_allclose(
        rot.quat_multiply(p, q), transforms3d.quaternions.qmult(p, q), atol=1e-14
    )
    assert_same_attitude(rot.quat_multiply(p, q), wxyz(scipy_of(p) * scipy_of(q)))
    assert_same_attitude(rot.quat_multiply(p, rot.quat_conjugate(p)), (1, 0, 0, 0))


@PROPERTY
@given(vectors)
def test_the_rotation_vector_makes_its_quaternion(phi):
    assert_same_attitude(rot.quat_from_rotvec(phi), wxyz(Rotation.from_rotvec(phi)))


@PROPERTY
@given(quats)
def test_the_quaternion_and_its_negative_give_the_same_shortest_rotation_vector(q):
    phi = rot.rotvec_from_quat(q)
    negative = tuple(-x for x in q)
    assert rot.norm(phi) <= math.pi + 1e-12
    if abs(q[0]) > 1e-9:  # a half turn has two vectors
        np.testing.assert_allclose(phi, scipy_of(q).as_rotvec(), atol=1e-12)
    assert_same_attitude(rot.quat_from_rotvec(rot.rotvec_from_quat(negative)), q, 1e-12)


@pytest.mark.parametrize('angle', [0.0, 1e-300, 1e-16, 1e-12, 1e-9, 1e-8, 1.1e-8, 1e-4, 1e-2, 1])
def test_small_angles_keep_their_full_relative_precision(angle):
    phi = (0.6 * angle, -0.8 * angle, 0.0)
    back = rot.rotvec_from_quat(rot.quat_from_rotvec(phi))
    np.testing.assert_allclose(back, phi, rtol=1e-15 if angle < 1e-3 else 1e-13)


@PROPERTY
@given(vectors)
def test_roll_pitch_yaw_turn_about_fixed_axes(rpy):
    assert_same_attitude(rot.quat_from_rpy(rpy), wxyz(Rotation.from_euler('xyz', rpy)))


@PROPERTY
@given(quats)
def test_the_matrix_gives_its_quaternion_back(q):
    assert_same_attitude(rot.quat_from_matrix(rot.matrix_from_quat(q)), q)


@pytest.mark.parametrize('axis', [(1, 0, 0), (0, 1, 0), (0, 0, 1), (0.6, 0.8, 0.0)])
def test_half_turns_have_a_quaternion_and_a_rotation_vector(axis):
    half = Rotation.from_rotvec(np.pi * np.array(axis))
    matrix = tuple(map(tuple, half.as_matrix()))
    q = rot.quat_from_matrix(matrix)
    assert_same_attitude(q, wxyz(half))
    assert rot.norm(rot.rotvec_from_quat(q)) == pytest.approx(math.pi, abs=1e-14)


@PROPERTY
@given(quats, vectors, st.floats(0.0, 1.0))
def test_slerp_is_a_part_of_the_way_along_the_rotation_vector(q, phi, u):
    expected = scipy_of(q) * Rotation.from_rotvec(u * np.array(phi))
    assert_same_attitude(rot.slerp(q, phi, u), wxyz(expected))


@PROPERTY
@given(quats, quats)
def test_the_vector_between_two_attitudes_is_in_the_axes_of_the_first(a, b):
    phi = rot.rotvec_between(a, b)
    assert_same_attitude(rot.slerp(a, phi, 1.0), b, 1e-12)


@pytest.mark.parametrize('angle', [0.0, 1e-9, 1e-5, 9.99e-3, 1.01e-2, 0.5, 3.0, 6.0])
def test_the_integral_of_a_vector_in_turning_axes_is_closed(angle):
    phi = angle * np.array((0.48, 0.6, -0.64))
    a, duration = (0.3, -9.8, 2.0), 0.37
    nodes, weights = np.polynomial.legendre.leggauss(40)
    expected = sum(
        0.5 * w * duration * Rotation.from_rotvec(0.5 * (1 + x) * phi).inv().apply(a)
        for x, w in zip(nodes, weights, strict=True)
    )
    np.testing.assert_allclose(
        rot.integral_of_rotated_back(tuple(phi), a, duration), expected, atol=2e-14
    )


@pytest.mark.parametrize('angle', [1e-9, 0.99e-4, 1.01e-4, 9.99e-3, 1.01e-2, 0.7, 3.1])
def test_rate_of_the_rotation_vector_and_angular_velocity_are_inverse(angle):
    phi = tuple(angle * np.array((0.48, 0.6, -0.64)))
    rate = (0.3, -1.1, 0.7)
    omega = rot.right_jacobian_times(phi, rate)
    np.testing.assert_allclose(rot.right_jacobian_inverse_times(phi, omega), rate, atol=1e-12)
    h = 1e-6
    a, b = (Rotation.from_rotvec(np.array(phi) + s * h * np.array(rate)) for s in (-1, 1))
    np.testing.assert_allclose(omega, (a.inv() * b).as_rotvec() / (2 * h), atol=1e-8)
