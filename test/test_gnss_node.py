"""Geometry, kinds of fix and GPS time of gps_node over real DDS."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip('rclpy')

from jaguar_sensors_msgs.msg import GnssError, GnssSolution
from ros_helpers import SECOND, odometry, record, rest
from sensor_msgs.msg import NavSatFix, NavSatStatus

from jaguar_sensors_ros.nav import earth
from jaguar_sensors_ros.ros.gps_node import GpsNode

pytestmark = pytest.mark.ros

TOPICS = {'fix': NavSatFix, 'solution': GnssSolution, 'error': GnssError}


def run(graph, truth=None, count=10, **parameters):
    truth = rest(0.0, 2.0, 50) if truth is None else truth
    given = {'update_hz': 5, 'random_seed': 1, **parameters}
    return record(graph, GpsNode, truth, TOPICS, count=count, **given)


def test_status_satellites_dop_and_covariance_agree_on_the_wire(graph):
    got = run(graph, geometry__enabled=True, uere_m=2, geometry__blocked=[0, 90, 40])
    for fix, solution in zip(got['fix'], got['solution'], strict=True):
        assert fix.status.status == NavSatStatus.STATUS_FIX
        assert 4 <= solution.satellites <= 12
        enu = np.reshape(fix.position_covariance, (3, 3))
        assert np.count_nonzero(enu) == 9
        assert math.sqrt(enu[0, 0] + enu[1, 1]) == pytest.approx(2.0 * solution.hdop)
        assert math.sqrt(enu[2, 2]) == pytest.approx(2.0 * solution.vdop)
        assert solution.pdop == pytest.approx(math.hypot(solution.hdop, solution.vdop))
        assert solution.pdop <= 20.0
        place = math.radians(fix.latitude), math.radians(fix.longitude)
        axes = np.array(earth.enu_from_ecef_matrix(*place))
        ecef = np.reshape(solution.position_covariance, (3, 3))
        assert np.allclose(axes @ ecef @ axes.T, enu, rtol=1e-4, atol=1e-4)
        velocity = np.reshape(solution.velocity_covariance, (3, 3))
        assert np.allclose(velocity, ecef * (0.1 / 2.0) ** 2, rtol=1e-9, atol=1e-12)


def test_a_blocked_sky_is_no_fix(graph):
    got = run(graph, geometry__enabled=True, geometry__blocked=[0.0, 360.0, 75.0])
    for fix, solution in zip(got['fix'], got['solution'], strict=True):
        assert fix.status.status == NavSatStatus.STATUS_NO_FIX
        assert math.isnan(fix.latitude) and math.isnan(solution.position.x)
        assert fix.position_covariance_type == NavSatFix.COVARIANCE_TYPE_UNKNOWN
        assert solution.fix_type == GnssSolution.FIX_NONE and solution.satellites < 4
        assert math.isnan(solution.pdop)


def test_week_and_time_of_week(graph):
    got = run(graph)
    for k, solution in enumerate(got['solution'], 1):
        assert (solution.gps_week, solution.time_of_week) == (0, k / 5)

    midnight = 1_554_595_182  # 2019-04-06T23:59:42 UTC, where week 2048 begins
    truth = [odometry((midnight - 1) * SECOND + k * SECOND // 50) for k in range(101)]
    got = run(graph, truth)
    told = [(s.gps_week, round(s.time_of_week, 6)) for s in got['solution']]
    assert told[3] == (2047, 604_799.8) and told[4] == (2048, 0.0) and told[9] == (2048, 1.0)


def test_kind_of_fix_shows_the_accuracy_in_effect(graph):
    graph.start(GpsNode, fix_type='rtk_fixed', truth__source='static')
    names = ('pos_std_dev', 'uere_m')
    position, ranges = graph.get('/gps', *names)
    assert list(position) == [0.007, 0.02] and ranges == 0.01
    assert graph.set('/gps', fix_type='sbas')[0].successful
    assert list(graph.get('/gps', 'pos_std_dev')) == [0.42, 1.2]
    # what was set by hand stays
    assert graph.set('/gps', uere_m=3)[0].successful
    assert graph.set('/gps', fix_type='single')[0].successful
    assert graph.get('/gps', *names) == [5.0, 3]
    assert graph.set('/gps', fix_type='rtk_float')[0].successful
    assert graph.get('/gps', 'uere_m') == 3
    assert list(graph.get('/gps', 'pos_std_dev')) == [0.14, 0.4]


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('geometry__mask_deg', -5.0),
        ('geometry__blocked', [0.0, 90.0]),
        ('geometry__blocked', [0.0, 90.0, 100.0]),
        ('multipath__probability', 2.0),
        ('multipath__scale_m', -1.0),
        ('leap_seconds', 1.5),
        ('uere_m', -1.0),
        ('fix_type', 'rtk'),
    ],
)
def test_bad_values_are_refused_and_the_old_ones_stay(graph, name, value):
    graph.start(GpsNode, truth__source='static')
    dotted = name.replace('__', '.')
    before = graph.get('/gps', dotted)
    (result,) = graph.set('/gps', **{name: value})
    assert not result.successful and dotted in result.reason
    assert graph.get('/gps', dotted) == before


def test_two_receivers_of_one_vehicle_share_their_error(graph):
    given = {
        'common_error_stream': 'vehicle',
        'pos_correlated_fraction': 0.5,
        'update_hz': 5,
        'random_seed': 3,
    }
    collectors = []
    for namespace in ('/front', '/rear'):
        graph.start(GpsNode, namespace=namespace, **given)
        collectors.append(graph.collect(GnssError, f'{namespace}/gps/error'))
        graph.feed(rest(0.0, 2.0, 50), f'{namespace}/ground_truth/odom')
    front, rear = (collector.until_count(10) for collector in collectors)
    for a, b in zip(front, rear, strict=True):
        assert a.header.stamp == b.header.stamp
        assert a.position_bias == b.position_bias
        assert a.position_noise != b.position_noise
