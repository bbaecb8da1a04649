"""Timelines, random failures, limits and the end of a node, over real DDS."""

from __future__ import annotations

import pytest

pytest.importorskip('rclpy')

from jaguar_sensors_msgs.msg import ImuError, SensorState
from jaguar_sensors_msgs.srv import InjectTimeline
from rclpy.serialization import serialize_message
from ros_helpers import LATCHED, SECOND, rest, stamp_ns
from sensor_msgs.msg import Imu
from std_srvs.srv import Trigger

from jaguar_sensors_ros.ros.gps_node import GpsNode
from jaguar_sensors_ros.ros.imu_node import ImuNode

pytestmark = pytest.mark.ros

SCRIPT = '''\
- {at: 0.5, sensor: imu, mode: bias, magnitude: 1.0, axis: x, duration: 0.5}
- {at: 1.0, sensor: imu, mode: noise, magnitude: 20, target: gyro, duration: 0.25}
- {at: 1.25, sensor: imu, mode: total, duration: 0.25}
- {at: 1.5, sensor: gps, mode: satellite_loss, magnitude: 8}
'''


@pytest.fixture
def path(tmp_path):
    file = tmp_path / 'timeline.yaml'
    file.write_text(SCRIPT, encoding='utf-8')
    return str(file)


def load(graph, name, text=SCRIPT):
    return graph.call(InjectTimeline, f'/{name}/inject_timeline', timeline=text)


def observed(graph, fidelity, path=''):
    """Return what an IMU publishes under the script, and the labels."""
    running = graph.start(
        ImuNode, fidelity=fidelity, random_seed=7, failure__timeline=path, origin_heading=0.0
    )
    data, errors = graph.collect(Imu, '/imu/data'), graph.collect(ImuError, '/imu/error')
    if not path:
        assert load(graph, 'imu').events == 3
    graph.feed(rest(0.0, 2.0, 50))
    for collector in (data, errors):
        collector.until_stamp(2.0)
    running.end()
    found = [(stamp_ns(m), serialize_message(m)) for m in data], list(errors)
    for collector in (data, errors):
        graph.drop(collector)
    return found


def test_the_same_bytes_over_parameters_and_over_the_service(graph, path):
    by_parameter, labels = observed(graph, 'fault', path)
    again, _ = observed(graph, 'fault', path)
    by_service, _ = observed(graph, 'realistic')
    assert by_parameter == again == by_service
    grid = [k * SECOND // 200 for k in range(1, 401)]
    assert [t for t, _ in by_parameter] == [
        t for t in grid if not 1_250_000_000 < t <= 1_500_000_000
    ]
    modes = [list(label.fault_modes) for label in labels]
    assert modes == [[]] * 100 + [['bias']] * 100 + [['noise']] * 50 + [[]] * 100
    for label in labels[100:200]:
        assert label.gyro_fault.x == pytest.approx(1.0, abs=1e-12)


def test_a_timeline_with_an_error_is_refused_and_changes_nothing(graph):
    graph.start(ImuNode, fidelity='transparent')
    errors = graph.collect(ImuError, '/imu/error')
    assert load(graph, 'imu', '[{at: 0.0, sensor: imu, mode: bias, magnitude: 1}]').success
    for text, words in (
        ('[{at: 1, sensor: imu}]', 'mode is missing'),
        ('[{at: 1, sensor: gps, mode: total}]', 'no event names the sensor imu; named: gps'),
        ('[{at: 1, sensor: imu, mode: cold_restart}]', 'not for this sensor'),
        ('[', 'not valid YAML'),
    ):
        answer = load(graph, 'imu', text)
        assert not answer.success and words in answer.message
    graph.feed(rest(0.0, 0.5, 50))
    assert errors.until_stamp(0.5)[-1].gyro_total.x == pytest.approx(1.0)
    assert load(graph, 'imu', '').success
    graph.feed(rest(0.52, 1.0, 50))
    assert errors.until_stamp(1.0)[-1].gyro_total.x == pytest.approx(0.0)


def test_clear_and_the_lock(graph, path):
    graph.start(ImuNode, fidelity='fault', failure__timeline=path, failure__mtbf_hours=1e-6)
    graph.feed(rest(0.0, 0.6, 50))
    answer = graph.call(Trigger, '/imu/clear_failure')
    assert answer.message == 'cleared total, bias, 2 events of a timeline'
    names = ('failure.timeline', 'failure.mtbf_hours', 'failure.mode')
    assert [graph.get('/imu', name) for name in names] == ['', 0.0, 'none']
    data = graph.collect(Imu, '/imu/data')
    graph.feed(rest(0.62, 2.0, 50))
    data.until_stamp(2.0)
    assert stamp_ns(data[-1]) - stamp_ns(data[0]) == (len(data) - 1) * SECOND // 200
    assert graph.set('/imu', **{'failure.allow_injection': False})[0].successful
    answer = load(graph, 'imu')
    assert not answer.success and 'allow_injection' in answer.message


def test_when_time_goes_back_the_timeline_begins_anew(graph, path):
    graph.start(ImuNode, fidelity='fault', failure__timeline=path, random_seed=1)
    errors = graph.collect(ImuError, '/imu/error')
    graph.feed(rest(10.0, 12.0, 50))
    graph.feed(rest(0.0, 2.0, 50))
    errors.until(lambda m: stamp_ns(m) == 2 * SECOND)
    for start in (10.0, 0.0):
        hit = [stamp_ns(m) / SECOND - start for m in errors
               if start <= stamp_ns(m) / SECOND <= start + 2.0 and 'bias' in m.fault_modes]
        assert (min(hit), max(hit), len(hit)) == (pytest.approx(0.505), pytest.approx(1.0), 100)


def test_remarks(graph, path):
    graph.start(ImuNode, failure__timeline=path)
    text = f'failure.timeline is {path}, but the fidelity is realistic'
    graph.until(lambda: any(text in line for line in graph.logs('imu')), 'the remark')
    graph.start(GpsNode, arguments=['-r', '__node:=gps_2'], failure__timeline=path)
    text = 'has no event for the sensor /gps_2'
    graph.until(lambda: any(text in line for line in graph.logs('gps_2')), 'the remark')
    (result,) = graph.set('/imu', **{'failure.timeline': '/nowhere/x.yaml'})
    assert not result.successful and 'No such file' in result.reason
    assert graph.get('/imu', 'failure.timeline') == path


@pytest.mark.parametrize(('make_node', 'name'), [(ImuNode, 'imu'), (GpsNode, 'gps')])
def test_limits_degrade_and_are_set_while_running(graph, make_node, name):
    graph.start(make_node, temperature_c=60.0)
    state = graph.collect(SensorState, f'/{name}/state', LATCHED)
    graph.feed(rest(0.0, 1.0, 50))
    state.until(lambda m: m.state == SensorState.READY)
    assert graph.set(f'/{name}', **{'environment.max_temperature': 50.0})[0].successful
    found = state.until(lambda m: m.state == SensorState.DEGRADED)
    assert list(found.causes) == ['temperature above 50 degC'] and found.valid
    (result,) = graph.set(f'/{name}', **{'environment.min_temperature': 55.0})
    assert not result.successful and 'max_temperature' in result.reason


def test_a_node_that_ends_says_that_its_sensor_is_off(graph):
    running = graph.start(ImuNode, fidelity='transparent')
    state = graph.collect(SensorState, '/imu/state', LATCHED)
    graph.feed(rest(0.0, 0.5, 50))
    state.until(lambda m: m.state == SensorState.READY)
    running.end()
    found = state.until(lambda m: m.state == SensorState.OFF)
    assert list(found.causes) == ['shut down'] and not found.valid
