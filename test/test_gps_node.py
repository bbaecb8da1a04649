"""gps_node over real DDS: counts, stamps, message conventions, values, reproducibility."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip('rclpy')
pymap3d = pytest.importorskip('pymap3d')

from geometry_msgs.msg import TwistWithCovarianceStamped  # noqa: E402
from jaguar_sensors_msgs.msg import GnssError, GnssSolution  # noqa: E402
from ros_helpers import SECOND, circle, odometry, record, rest, stamp_ns  # noqa: E402
from sensor_msgs.msg import NavSatFix, NavSatStatus  # noqa: E402

from jaguar_sensors_ros.ros.gps_node import GpsNode  # noqa: E402

pytestmark = pytest.mark.ros

TOPICS = {
    'fix': NavSatFix,
    'vel': TwistWithCovarianceStamped,
    'vel_body': TwistWithCovarianceStamped,
    'solution': GnssSolution,
    'error': GnssError,
}
ORIGIN = (47.3764, 8.5476, 460.0)
FIVE_HZ = [k * SECOND // 5 for k in range(1, 26)]


def xyz(v):
    return (v.x, v.y, v.z)


def run(graph, truth=None, count=25, **parameters):
    """Return all topics of 5 s at 5 Hz."""
    given = {'update_hz': 5, 'random_seed': 1, **parameters}
    truth = circle(0.0, 5.0, 50) if truth is None else truth
    return record(graph, GpsNode, truth, TOPICS, count=count, **given)


def test_conventions(graph):
    got = run(graph, frame_prefix='robot/')
    for topic in TOPICS:
        assert got[topic].stamps == FIVE_HZ, topic
    frames = {topic: {m.header.frame_id for m in got[topic]} for topic in TOPICS}
    assert frames == {
        'fix': {'robot/gps_link'},
        'vel': {'robot/map'},
        'vel_body': {'robot/gps_link'},
        'solution': {'robot/earth'},
        'error': {'robot/gps_link'},
    }
    for fix in got['fix']:
        assert fix.status.status == NavSatStatus.STATUS_FIX
        assert fix.status.service == NavSatStatus.SERVICE_GPS
        assert fix.position_covariance_type == NavSatFix.COVARIANCE_TYPE_KNOWN
        assert list(fix.position_covariance) == [25.0, 0, 0, 0, 25.0, 0, 0, 0, 25.0]
    for twist in got['vel'] + got['vel_body']:
        covariance = np.reshape(twist.twist.covariance, (6, 6))
        assert np.diag(covariance)[:3] == pytest.approx(0.01)
        assert min(np.linalg.eigvalsh(covariance)) > 0.0
    for solution in got['solution']:
        assert (solution.fix_type, solution.satellites) == (GnssSolution.FIX_SINGLE, 10)
        for matrix in (solution.position_covariance, solution.velocity_covariance):
            assert min(np.linalg.eigvalsh(np.reshape(matrix, (3, 3)))) > 0.0
        assert solution.pdop == pytest.approx(math.hypot(solution.hdop, solution.vdop))


@pytest.mark.parametrize('fidelity', ['transparent', 'realistic'])
def test_solution_says_the_same_as_fix_and_vel(graph, fidelity):
    got = run(graph, fidelity=fidelity)
    for fix, vel, solution in zip(got['fix'], got['vel'], got['solution'], strict=True):
        place = (fix.latitude, fix.longitude)
        ecef = pymap3d.geodetic2ecef(*place, fix.altitude)
        assert xyz(solution.position) == pytest.approx(ecef, abs=1e-5)
        velocity = pymap3d.enu2uvw(*xyz(vel.twist.twist.linear), *place)
        assert xyz(solution.velocity) == pytest.approx(velocity, abs=1e-5)


def test_transparent_is_the_antenna(graph):
    """On a turn at 2 m/s and 1 rad/s the antenna 0.5 m left and 1 m up moves at 1.5 m/s."""
    got = run(graph, fidelity='transparent', mount__position=[0.0, 0.5, 1.0])
    for fix, vel, body in zip(got['fix'], got['vel'], got['vel_body'], strict=True):
        angle = stamp_ns(fix) / SECOND
        expected = (1.5 * math.sin(angle), 2.0 - 1.5 * math.cos(angle), 1.0)
        place = pymap3d.geodetic2enu(fix.latitude, fix.longitude, fix.altitude, *ORIGIN)
        assert place == pytest.approx(expected, abs=1e-6)
        velocity = (1.5 * math.cos(angle), 1.5 * math.sin(angle), 0.0)
        assert xyz(vel.twist.twist.linear) == pytest.approx(velocity, abs=1e-5)
        assert xyz(body.twist.twist.linear) == pytest.approx((1.5, 0.0, 0.0), abs=1e-5)
        assert min(np.diag(np.reshape(fix.position_covariance, (3, 3)))) >= 1e-9


def test_origin_is_where_it_says_and_altitude_is_ellipsoidal(graph):
    for origin in ([-33.9, -70.7, 520.0], [10, -179.99, -20]):
        origin = [float(x) for x in origin]
        got = run(graph, rest(0.0, 1.0, 50), 5, fidelity='transparent', origin=origin)
        for fix in got['fix']:
            found = (fix.latitude, fix.longitude, fix.altitude)
            assert found == pytest.approx(origin, abs=1e-7)


def test_heading_of_the_world_frame(graph):
    """X of the odometry frame points north: 100 m along it are 100 m north."""
    truth = [odometry(k * SECOND // 50, (100.0, 0.0, 0.0)) for k in range(51)]
    got = run(graph, truth, 5, fidelity='transparent', origin_heading=math.pi / 2.0)
    fix = got['fix'][0]
    place = pymap3d.geodetic2enu(fix.latitude, fix.longitude, fix.altitude, *ORIGIN)
    assert place == pytest.approx((0.0, 100.0, 0.0), abs=1e-6)


def test_error_is_published_minus_true(graph):
    given = {
        'fidelity': 'fault', 'failure__mode': 'bias', 'failure__magnitude': 7,
        'failure__axis': 'e', 'pos_correlated_fraction': 0.5,
    }
    real, ideal = run(graph, **given), run(graph, fidelity='transparent')
    for fix, vel, true, true_vel, error in zip(
        real['fix'], real['vel'], ideal['fix'], ideal['vel'], real['error'], strict=True
    ):
        place = pymap3d.geodetic2enu(
            fix.latitude, fix.longitude, fix.altitude, true.latitude, true.longitude, true.altitude
        )
        assert xyz(error.position_total) == pytest.approx(place, abs=1e-6)
        parts = (error.position_noise, error.position_bias, error.position_fault)
        total = np.sum([xyz(part) for part in parts], axis=0)
        assert xyz(error.position_total) == pytest.approx(total, abs=1e-6)
        # the difference of two positions of some metres, rounded
        assert xyz(error.position_fault) == pytest.approx((7.0, 0.0, 0.0), abs=1e-14)
        difference = np.subtract(xyz(vel.twist.twist.linear), xyz(true_vel.twist.twist.linear))
        assert xyz(error.velocity_total) == pytest.approx(difference, abs=1e-5)
        assert list(error.fault_modes) == ['bias']
        assert list(error.fault_targets) == ['position']


@pytest.mark.parametrize(
    ('kind', 'status', 'fix_type'),
    [
        ('single', NavSatStatus.STATUS_FIX, GnssSolution.FIX_SINGLE),
        ('sbas', NavSatStatus.STATUS_SBAS_FIX, GnssSolution.FIX_SBAS),
        ('rtk_float', NavSatStatus.STATUS_GBAS_FIX, GnssSolution.FIX_RTK_FLOAT),
        ('rtk_fixed', NavSatStatus.STATUS_GBAS_FIX, GnssSolution.FIX_RTK_FIXED),
    ],
)
def test_kinds_of_fix(graph, kind, status, fix_type):
    got = run(graph, rest(0.0, 0.4, 50), 2, fix_type=kind)
    assert {m.status.status for m in got['fix']} == {status}
    assert {m.fix_type for m in got['solution']} == {fix_type}


@pytest.mark.parametrize('given', [{'fix_type': 'none'}, {'satellites': 3}])
def test_without_a_fix(graph, given):
    got = run(graph, rest(0.0, 1.0, 50), {'fix': 5, 'solution': 5, 'error': 5}, **given)
    assert len(got['fix']) == len(got['solution']) == 5
    for fix in got['fix']:
        assert fix.status.status == NavSatStatus.STATUS_NO_FIX
        assert all(map(math.isnan, (fix.latitude, fix.longitude, fix.altitude)))
        assert fix.position_covariance_type == NavSatFix.COVARIANCE_TYPE_UNKNOWN
        assert any(fix.position_covariance)
    for solution in got['solution']:
        assert solution.fix_type == GnssSolution.FIX_NONE
    assert not got['vel'] and not got['vel_body']


def test_cold_start_gives_no_fix_first(graph):
    got = run(graph, rest(0.0, 2.0, 50), {'fix': 10}, cold_start_s=1.0)
    expected = [NavSatStatus.STATUS_NO_FIX] * 5 + [NavSatStatus.STATUS_FIX] * 5
    assert [m.status.status for m in got['fix']] == expected


def test_fewer_satellites_widen_the_covariance(graph):
    got = run(graph, rest(0.0, 0.4, 50), 2, satellites=5, pos_std_dev=[2.0, 3.0])
    assert list(got['fix'][0].position_covariance[::4]) == pytest.approx([8.0, 8.0, 18.0])


def test_covariance_override(graph):
    got = run(graph, rest(0.0, 0.4, 50), 2, covariance__position=[1, 2, 3])
    assert list(got['fix'][0].position_covariance) == [1, 0, 0, 0, 2, 0, 0, 0, 3]


def test_same_truth_and_seed_give_the_same_bytes(graph):
    truth = circle(0.0, 20.0, 50)
    data = {topic: kind for topic, kind in TOPICS.items() if topic != 'error'}
    first, again, other = (
        record(
            graph, GpsNode, truth, data, update_hz=5, count=100, random_seed=seed, raw=True,
            pos_correlated_fraction=0.5,
        )
        for seed in (11, 11, 12)
    )
    for topic in data:
        assert len(first[topic]) == 100
        assert list(first[topic]) == list(again[topic]), topic
        assert not set(first[topic]) & set(other[topic]), topic


def test_switching_the_fidelity_disturbs_no_stream(graph):
    given = {'update_hz': 5, 'random_seed': 2, 'pos_correlated_fraction': 0.5}
    plain = record(graph, GpsNode, circle(0.0, 3.0, 50), {'fix': NavSatFix}, count=15, **given)
    ideal = record(
        graph, GpsNode, circle(0.0, 3.0, 50), {'fix': NavSatFix}, count=15,
        **{**given, 'fidelity': 'transparent'},
    )
    graph.start(GpsNode, **given)
    data = graph.collect(NavSatFix, '/gps/fix')
    for end_s, fidelity in ((1.0, 'transparent'), (2.0, 'fault'), (3.0, 'realistic')):
        graph.feed(circle(end_s - 1.0 + (0.02 if end_s > 1.0 else 0.0), end_s, 50))
        data.until_stamp(end_s)
        assert graph.set('/gps', fidelity=fidelity)[0].successful
    assert list(data[:5]) == list(plain['fix'][:5])
    assert list(data[5:10]) == list(ideal['fix'][5:10])
    assert list(data[10:]) == list(plain['fix'][10:])


def test_gps_rate_and_spread(graph):
    got = record(
        graph, GpsNode, rest(0.0, 100.0, 20), {'fix': NavSatFix}, count=1000, update_hz=10,
        pos_std_dev=[1, 3], random_seed=1,
    )['fix']
    up = [m.altitude - 460.0 for m in got]
    spread = (sum(x * x for x in up) / len(up)) ** 0.5
    assert spread == pytest.approx(3.0, rel=4 / (2 * len(up)) ** 0.5)
