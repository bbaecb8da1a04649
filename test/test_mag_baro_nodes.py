"""mag_node and baro_node over real DDS: topics, conventions, labels, faults, the suite."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip('rclpy')

import suite_helpers
from jaguar_sensors_msgs.msg import BaroError, MagError, SensorState
from jaguar_sensors_msgs.srv import InjectFailure, InjectFailures
from ros_helpers import LATCHED, SECOND, circle, record, rest
from sensor_msgs.msg import FluidPressure, MagneticField
from std_srvs.srv import SetBool, Trigger

from jaguar_sensors_ros.cli.main import main as tool
from jaguar_sensors_ros.ros.baro_node import BaroNode
from jaguar_sensors_ros.ros.mag_node import MagNode
from jaguar_sensors_ros.suite_file import parse
from jaguar_sensors_ros.types import JaguarError

pytestmark = pytest.mark.ros

#: east, north, up [T]
FIELD = [1e-6, 21e-6, -43e-6]
MAG = {'field': FIELD, 'random_seed': 3, 'sample_rate_hz': 50}
BARO = {'random_seed': 3, 'origin': [47.0, 8.0, 1000.0]}
DEEP = {'qos_overrides./imu/mag.publisher.depth': 10_000}


def xyz(v):
    return (v.x, v.y, v.z)


def mags(graph, truth, count, **parameters):
    """Return imu/mag and the errors."""
    running = graph.start(MagNode, **MAG, **DEEP, **parameters)
    got = graph.collect(MagneticField, '/imu/mag'), graph.collect(MagError, '/mag/error')
    graph.feed(truth)
    for collector in got:
        collector.until_count(count)
    return running, *got


@pytest.mark.parametrize('codec', ['on', 'off'])
def test_magnetic_field_is_published_on_imu_mag(graph, codec, monkeypatch):
    monkeypatch.setenv('JAGUAR_SENSORS_CODEC', codec)
    _, data, error = mags(graph, circle(0.0, 2.0, 50), 100, frame_prefix='r/')
    assert data.stamps == error.stamps == [k * SECOND // 50 for k in range(1, 101)]
    assert {m.header.frame_id for m in data + error} == {'r/imu_link'}
    sigma = 3.2e-8 * math.sqrt(50.0)
    rounding = 1.4616e-8**2 / 12.0
    for m, e in zip(data, error, strict=True):
        angle = m.header.stamp.sec + m.header.stamp.nanosec / SECOND
        cos, sin = math.cos(angle), math.sin(angle)
        ideal = (cos * FIELD[0] + sin * FIELD[1], cos * FIELD[1] - sin * FIELD[0], FIELD[2])
        measured = np.array(xyz(m.magnetic_field))
        np.testing.assert_allclose(measured - xyz(e.mag_total), ideal, atol=1e-13)
        covariance = np.reshape(m.magnetic_field_covariance, (3, 3))
        np.testing.assert_allclose(covariance, (sigma**2 + rounding) * np.eye(3), rtol=1e-12)


def test_the_model_of_the_earth_is_the_default(graph):
    """WMM2020 technical report, 2022.5: X 6529.9, Y 1.1, Z 54713.4 nT at 80 N, 0 E, 0 km."""
    pytest.importorskip('pygeomag')
    place = {'origin': [80.0, 0.0, 0.0], 'year': 2022.5, 'fidelity': 'transparent'}
    running = graph.start(MagNode, random_seed=1, **place)
    data = graph.collect(MagneticField, '/imu/mag')
    graph.feed(rest(0.0, 1.0, 50))
    field = np.array(xyz(data.until_count(10)[0].magnetic_field))
    np.testing.assert_allclose(field * 1e9, (1.1, 6529.9, -54713.4), atol=0.06)
    running.end()


def test_the_name_of_the_imu_makes_the_topic_and_stays(graph):
    running = graph.start(MagNode, namespace='/robot', imu_name='imu_rear', **MAG)
    graph.collect(MagneticField, '/robot/imu_rear/mag')
    graph.until(lambda: graph.node.count_publishers('/robot/imu_rear/mag') == 1, 'the topic')
    (result,) = graph.set(running.name, imu_name='imu')
    assert not result.successful and 'read at start only' in result.reason


@pytest.mark.parametrize('codec', ['on', 'off'])
def test_pressure(graph, codec, monkeypatch):
    monkeypatch.setenv('JAGUAR_SENSORS_CODEC', codec)
    topics = {'pressure': FluidPressure, 'error': BaroError}
    got = record(graph, BaroNode, rest(0.0, 4.0, 50), topics, count=100, **BARO)
    data, error = got['pressure'], got['error']
    assert data.stamps == error.stamps == [k * SECOND // 25 for k in range(1, 101)]
    assert {m.header.frame_id for m in data + error} == {'baro_link'}
    for m, e in zip(data, error, strict=True):
        # U.S. Standard Atmosphere, 1976, table I: 89876 Pa at 1000 m
        assert m.fluid_pressure - e.pressure_total == pytest.approx(89876.0, rel=1e-5)
        assert m.variance == pytest.approx(1.2**2 + 0.016**2 / 12.0)
        assert e.pressure_total == pytest.approx(e.pressure_noise, abs=0.0081)


@pytest.mark.parametrize(('make', 'name', 'target', 'kind', 'topic', 'given', 'size'), [
    (MagNode, 'mag', 'mag', MagError, '/mag/error', MAG, 5e-6),
    (BaroNode, 'baro', 'pressure', BaroError, '/baro/error', BARO, 50.0),
])
def test_services_states_and_the_tool(graph, make, name, target, kind, topic, given, size):
    running = graph.start(make, **given)
    error = graph.collect(kind, topic)
    states = graph.collect(SensorState, f'/{name}/state', qos=LATCHED)
    call = f'/{name}/inject_failure'
    answer = graph.call(InjectFailure, call, mode='bias', magnitude=size, target=target)
    assert answer.success, answer.message
    wrong = graph.call(InjectFailure, call, mode='bias', magnitude=size, target='gyro')
    assert not wrong.success and target in wrong.message
    graph.feed(rest(0.0, 1.0, 50))
    hit = error.until(lambda m: list(m.fault_modes) == ['bias'])
    fault = getattr(hit, f'{target}_fault')
    assert (xyz(fault) if name == 'mag' else (fault,)) == pytest.approx(
        (size,) * (3 if name == 'mag' else 1), rel=1e-6
    )
    state = states.until(lambda m: m.state == SensorState.DEGRADED)
    assert state.type == name and list(state.causes) == [f'fault bias:{target}']
    assert graph.call(Trigger, f'/{name}/clear_failure').success
    assert graph.call(SetBool, f'/{name}/set_enabled', data=False).success
    assert graph.call(SetBool, f'/{name}/set_enabled', data=True).success
    assert graph.call(Trigger, f'/{name}/reset').success
    assert tool(['inject', name, 'stuck']) == 0
    assert running.node.sensor.board.present == (f'stuck:{target}',)
    assert tool(['clear', name]) == 0
    assert running.node.sensor.board.present == ()


def test_both_in_a_suite(graph, tmp_path):
    suite = {'sensors': [
        {'name': 'compass', 'type': 'mag', 'parameters': {'field': FIELD}},
        {'name': 'tail', 'type': 'mag',
         'parameters': {'field': list(FIELD), 'imu_name': 'imu_tail'}},
        {'name': 'height', 'type': 'baro'},
    ]}
    suite_helpers.start(graph, tmp_path, suite)
    got = [graph.collect(MagneticField, '/imu/mag'), graph.collect(MagneticField, '/imu_tail/mag'),
           graph.collect(FluidPressure, '/height/pressure')]
    graph.feed(rest(0.0, 1.0, 50))
    for collector in got:
        collector.until_stamp(1.0)
    answer = graph.call(InjectFailures, '/sensor_suite/inject_failure', type='mag', mode='stuck')
    assert answer.success and sorted(answer.sensors) == ['compass', 'tail']


def test_two_magnetometers_on_one_topic_are_refused():
    text = 'sensors: [{name: a, type: mag}, {name: b, type: mag}]'
    with pytest.raises(JaguarError, match='imu_name: imu/mag is named twice'):
        parse(text, 'suite')
    assert len(parse(text.replace('name: b', 'namespace: rear, name: b'), 'suite').sensors) == 2


@pytest.mark.parametrize('name', ['mag_node', 'baro_node'])
def test_executables(graph, name):
    program = graph.program(name, '-p', 'truth.source:=static', '-p', 'random_seed:=1')
    states = graph.collect(SensorState, f'/{name[:-5]}/state', qos=LATCHED)
    states.until(lambda m: m.valid)
    program.signal()
    assert program.wait() == 0, program.output
