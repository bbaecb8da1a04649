"""A suite of sensors in one process, over real DDS."""

from __future__ import annotations

import signal

import pytest

pytest.importorskip('rclpy')

import suite_helpers
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from jaguar_sensors_msgs.msg import GnssSolution, ImuError, SensorState, SensorStates
from jaguar_sensors_msgs.srv import InjectFailure, InjectFailures, ListSensors
from nav_msgs.msg import Odometry
from ros_helpers import LATCHED, circle, record, rest
from sensor_msgs.msg import Imu, NavSatFix
from std_srvs.srv import SetBool, Trigger
from suite_helpers import MOUNTS, imu, triple

from jaguar_sensors_ros.ros.gps_node import GpsNode
from jaguar_sensors_ros.ros.imu_node import ImuNode

pytestmark = pytest.mark.ros

COUNT = 400  # 2 s at 200 Hz
REAR = MOUNTS['imu_rear']
GIVEN = {'random_seed': 5, 'mount__position': REAR[0], 'mount__rpy': REAR[1]}
AS_REAR = ['-r', '__node:=imu_rear']


def gps(name, **parameters):
    return {'name': name, 'type': 'gps', 'parameters': {'update_hz': 50, **parameters}}


def whole(**common):
    """Return three IMUs and two receivers."""
    suite = triple(**common)
    suite['sensors'] += [gps('gps_nose'), gps('gps_tail', mount={'position': [-0.9, 0.0, 0.7]})]
    return suite


# ---------------------------------------------------------------------- as if it ran alone


def test_sensors_give_the_same_bytes_alone_and_in_a_suite(graph, tmp_path):
    truth = circle(0.0, 2.0, 50)
    wanted = {'data': Imu, 'error': ImuError}
    alone = record(
        graph, ImuNode, truth, wanted, count=COUNT, raw=True, arguments=AS_REAR, **GIVEN
    )
    fixes = record(
        graph, GpsNode, truth, {'solution': GnssSolution}, count=100, raw=True,
        arguments=['-r', '__node:=gps_nose'], random_seed=5, update_hz=50,
    )  # fmt: skip
    running = suite_helpers.start(graph, tmp_path, whole())
    data = graph.collect(Imu, '/imu_rear/data', raw=True)
    error = graph.collect(ImuError, '/imu_rear/error', raw=True)
    solution = graph.collect(GnssSolution, '/gps_nose/solution', raw=True)
    graph.feed(truth)
    assert list(data.until_count(COUNT)) == list(alone['data'])
    assert list(error.until_count(COUNT)) == list(alone['error'])
    assert list(solution.until_count(100)) == list(fixes['solution'])
    intakes = {id(node._intake) for node in running.node.sensors.values()}
    assert len(intakes) == 1  # checked and brought into n once
    assert graph.node.count_subscribers('/ground_truth/odom') == 1  # and received once


@pytest.mark.parametrize(
    ('change', 'count'),
    [
        # the track of this sensor begins anew: 1.0 to 1.02 s is missing, and one interval
        ({'truth__twist_frame': 'parent'}, 396),
        ({'truth__max_gap_s': 0.1}, 400),  # that of before goes on
    ],
)
def test_a_sensor_that_changes_its_truth_goes_on_as_if_alone(graph, tmp_path, change, count):
    """A parameter truth.* of one sensor changes midway; the others go on."""
    first, second = circle(0.0, 1.0, 50), circle(1.02, 2.0, 50)
    running = graph.start(ImuNode, arguments=AS_REAR, **GIVEN)
    alone = graph.collect(Imu, '/imu_rear/data', raw=True)
    graph.feed(first)
    alone.until_count(200)
    assert graph.set('/imu_rear', **change)[0].successful
    graph.feed(second)
    alone.until_count(count)
    graph.drop(alone)
    running.end()
    graph.until(lambda: alone.publishers() == 0, 'the node to end')

    suite_helpers.start(graph, tmp_path, triple())
    data = graph.collect(Imu, '/imu_rear/data', raw=True)
    other = graph.collect(Imu, '/imu_left/data')
    graph.feed(first)
    data.until_count(200)
    other.until_count(200)
    assert graph.set('/imu_rear', **change)[0].successful
    graph.feed(second)
    other.until_stamp(2.0)
    data.until_count(len(alone))
    assert list(data) == list(alone)
    assert other.stamps == [k * 5_000_000 for k in range(1, COUNT + 1)]


def test_names_and_namespaces(graph, tmp_path):
    suite = {'sensors': [imu('imu_front'), {**imu('imu'), 'namespace': 'left/wing'}, gps('gps')]}
    suite['fused'] = [
        {'name': 'both', 'namespace': 'nav', 'inputs': ['imu_front', 'left/wing/imu']}
    ]
    running = suite_helpers.start(graph, tmp_path, suite, namespace='/robot')
    assert running.name == '/robot/sensor_suite'
    names = [node.get_fully_qualified_name() for node in running.node.members]
    assert names == ['/robot/imu_front', '/robot/left/wing/imu', '/robot/gps', '/robot/nav/both']
    for topic, kind in {
        '/robot/imu_front/data': Imu,
        '/robot/left/wing/imu/data': Imu,
        '/robot/gps/fix': NavSatFix,
        '/robot/nav/both/data': Imu,
    }.items():
        graph.collect(kind, topic)
    # each listens to the truth of its own namespace
    topics = ('/robot/ground_truth/odom', '/robot/left/wing/ground_truth/odom')
    assert [graph.node.count_subscribers(topic) for topic in topics] == [1, 1]
    answer = graph.call(ListSensors, '/robot/sensor_suite/list_sensors', name='left/*')
    assert [sensor.name for sensor in answer.sensors] == ['/robot/left/wing/imu']


def test_rules_of_the_process_reach_the_sensors_but_rename_only_the_manager(graph, tmp_path):
    """A launch file's name= and namespace= are rules for the whole process."""
    suite = {'sensors': [imu('imu_front'), imu('imu_rear')]}
    suite['common'] = {'sample_rate_hz': 50, 'grade': 'consumer'}
    suite['sensors'][1]['parameters']['fidelity'] = 'transparent'
    parameters = tmp_path / 'parameters.yaml'
    parameters.write_text(
        yaml.safe_dump(
            {
                '/**/imu_front': {'ros__parameters': {'grade': 'navigation', 'random_seed': 3}},
                '/**': {'ros__parameters': {'qos_overrides': {'/truth': {'subscription': {
                    'reliability': 'reliable', 'depth': 1000}}}}},
            }
        )
    )  # fmt: skip
    program = graph.program(
        'sensor_suite',
        '-r', '__node:=manager', '-r', '__ns:=/robot', '-r', 'ground_truth/odom:=/truth',
        '-p', f'suite_file:={suite_helpers.write(tmp_path, suite)}', '-p', 'use_sim_time:=true',
        '-p', 'sample_rate_hz:=100', '--params-file', str(parameters),
    )  # fmt: skip
    front = graph.collect(Imu, '/robot/imu_front/data')
    graph.collect(SensorStates, '/robot/manager/states', LATCHED).until_count(1)
    names = ('grade', 'random_seed', 'sample_rate_hz', 'use_sim_time', 'mount.position')
    # over ROS wins: for one by the file, for all by -p
    front_values = graph.get('/robot/imu_front', *names)
    assert [*front_values[:4], list(front_values[4])] == [
        'navigation', 3, 100, True, MOUNTS['imu_front'][0]
    ]  # fmt: skip
    assert graph.get('/robot/imu_rear', 'grade', 'sample_rate_hz', 'fidelity') == [
        'consumer', 100, 'transparent'
    ]  # fmt: skip
    assert 'suite_file' not in graph.parameter_names('/robot/imu_front')
    graph.feed(rest(0.0, 1.0, 50), topic='/truth')
    assert front.until_count(100).stamps == [k * 10_000_000 for k in range(1, 101)]
    program.signal()
    assert program.wait() == 0, program.output
    assert 'ignored' not in program.output and 'ERROR' not in program.output, program.output


@pytest.mark.parametrize(
    ('arguments', 'told'),
    [
        ([], 'suite_file:='),
        (['-p', 'suite_file:=/no/suite.yaml'], '/no/suite.yaml: cannot be read'),
        (['-p', 'suite_fil:=x'], 'did you mean suite_file'),
        (['-p', 'suite_file:={}', '-p', 'latency_s:=-1'], 'imu_front: latency_s = -1: must be'),
        (['-p', 'suite_file:={}', '-p', 'fidelty:=fault'], 'imu_front: fidelty'),
        (['-p', 'suite_file:={}', '-r', '__node:=imu_front'], 'is the name of the suite itself'),
    ],
)
def test_bad_input_is_one_clear_line_and_status_2(graph, tmp_path, arguments, told):
    path = suite_helpers.write(tmp_path, triple())
    program = graph.program('sensor_suite', *(word.format(path) for word in arguments))
    assert program.wait() == 2, program.output
    ours = [line for line in program.output.splitlines() if '[INFO]' not in line]
    assert len(ours) == 1 and told in ours[0], program.output


# ---------------------------------------------------------------------- independence


def test_total_on_one_leaves_the_others_at_exact_counts(graph, tmp_path):
    suite_helpers.start(graph, tmp_path, whole(), fidelity='realistic')
    data = {name: graph.collect(Imu, f'/{name}/data') for name in MOUNTS}
    fix = {name: graph.collect(NavSatFix, f'/{name}/fix') for name in ('gps_nose', 'gps_tail')}
    state = graph.collect(SensorState, '/imu_left/state', LATCHED)
    graph.feed(rest(0.0, 1.0, 50))
    data['imu_left'].until_count(200)
    assert graph.call(InjectFailure, '/imu_left/inject_failure', mode='total').success
    graph.feed(rest(1.02, 2.0, 50))
    for name, got in data.items():
        last = 200 if name == 'imu_left' else COUNT
        assert got.until_count(last).stamps == [k * 5_000_000 for k in range(1, last + 1)]
    for got in fix.values():
        assert got.until_count(100).stamps == [k * 20_000_000 for k in range(1, 101)]
    state.until(lambda message: message.state == SensorState.FAILED)


def test_an_exception_in_one_sensor_fails_it_and_no_other(graph, tmp_path, monkeypatch):
    running = suite_helpers.start(graph, tmp_path, triple(fused={}))
    names = list(MOUNTS)
    data = {name: graph.collect(Imu, f'/{name}/data') for name in names}
    fused = graph.collect(Imu, '/imu/data')
    states = graph.collect(SensorStates, '/sensor_suite/states', LATCHED)
    state = graph.collect(SensorState, '/imu_rear/state', LATCHED)
    diagnostics = graph.collect(DiagnosticArray, '/diagnostics', writers=3)
    graph.feed(rest(0.0, 1.0, 50))
    fused.until_count(199)

    sensor = running.node.sensors['imu_rear'].sensor
    sound = sensor._sample

    def sample(segment, t_ns, *rest_of_it):
        if t_ns == 1_500_000_000:
            raise ZeroDivisionError('the chain broke')
        return sound(segment, t_ns, *rest_of_it)

    monkeypatch.setattr(sensor, '_sample', sample)
    graph.feed(rest(1.02, 3.0, 50))
    for name in ('imu_front', 'imu_left'):
        assert data[name].until_count(600).stamps == [k * 5_000_000 for k in range(1, 601)]
    assert fused.until_count(599).stamps == [k * 5_000_000 for k in range(2, 601)]
    cause = 'internal error: ZeroDivisionError: the chain broke'
    failed = state.until(lambda m: m.state == SensorState.FAILED)
    assert list(failed.causes) == [cause] and not failed.valid and failed.confidence == 0.0
    states.until(lambda m: [s.state_name for s in m.sensors] == ['Ready', 'Failed', 'Ready'])
    diagnostics.until(lambda m: cause in m.status[0].message and m.status[0].level == b'\x02')
    graph.log().until(lambda m: m.name == 'imu_rear' and cause in m.msg and 'Traceback' in m.msg)
    monkeypatch.undo()
    assert graph.call(Trigger, '/imu_rear/reset').success
    count = len(data['imu_rear'])
    assert count < 300
    graph.feed(rest(3.02, 4.0, 50))
    data['imu_rear'].until_count(count + 190)
    data['imu_left'].until_count(800)


# ---------------------------------------------------------------------- the manager


def names_of(answer):
    return [sensor.name.lstrip('/') for sensor in answer.sensors]


def test_list_sensors(graph, tmp_path):
    suite_helpers.start(graph, tmp_path, whole())

    def listed(**request):
        return graph.call(ListSensors, '/sensor_suite/list_sensors', **request)

    everyone = [*MOUNTS, 'gps_nose', 'gps_tail']
    assert names_of(listed()) == everyone
    assert names_of(listed(type='gps')) == ['gps_nose', 'gps_tail']
    assert names_of(listed(name='*_rear')) == ['imu_rear']
    assert names_of(listed(name='/imu_*', type='imu')) == list(MOUNTS)
    assert listed().sensors[0].state == SensorState.INITIALIZING
    for request, told in [
        ({'name': 'imu_right'}, "no sensor is called 'imu_right'; there are: imu_front (imu)"),
        ({'name': 'imu_*', 'type': 'gps'}, "no sensor of type gps is called 'imu_*'"),
        ({'type': 'sonar'}, 'type sonar is known, but not modelled'),
        ({'type': 'gpss'}, "type 'gpss' is unknown; modelled: imu, gps"),
    ]:
        answer = listed(**request)
        assert not answer.success and told in answer.message and not answer.sensors


def test_injection_into_several_is_all_or_nothing(graph, tmp_path):
    suite = whole(fidelity='transparent')
    running = suite_helpers.start(graph, tmp_path, suite)
    present = {name: node.sensor.board for name, node in running.node.sensors.items()}

    def faults():
        return {name: list(board.present) for name, board in present.items() if board.present}

    def inject(**request):
        return graph.call(InjectFailures, '/sensor_suite/inject_failure', **request)

    answer = inject(sensors=['imu_*'], mode='bias', magnitude=0.5)
    assert answer.success and list(answer.sensors) == list(MOUNTS)
    assert 'bias on gyro' in answer.message
    assert faults() == {name: ['bias:gyro'] for name in MOUNTS}
    answer = inject(type='gps', mode='total')
    assert answer.success and list(answer.sensors) == ['gps_nose', 'gps_tail']
    before = faults()
    for request, told in [
        ({'mode': 'bias', 'magnitude': 1.0, 'target': 'gyro'}, 'gps_nose: '),
        ({'mode': 'none', 'target': 'position'}, 'imu_front: '),
        ({'mode': 'nonsense'}, 'imu_front: '),
        ({'mode': 'total', 'sensors': ['imu_front', 'x']}, "called 'x'; there are: imu_front"),
        ({'mode': 'total', 'type': 'radar'}, 'not modelled'),
    ]:
        answer = inject(**request)
        assert not answer.success and told in answer.message and not answer.sensors, request
        assert faults() == before
    assert graph.set('/imu_left', failure__allow_injection=False)[0].successful
    answer = inject(type='imu', mode='total')
    assert not answer.success and 'imu_left: injection is locked' in answer.message
    answer = graph.call(Trigger, '/sensor_suite/clear_failure')
    assert not answer.success and 'imu_left' in answer.message
    assert faults() == before
    assert inject(sensors=['imu_front', 'imu_rear'], mode='none').success
    del before['imu_front'], before['imu_rear']
    assert faults() == before
    assert graph.set('/imu_left', failure__allow_injection=True)[0].successful
    answer = graph.call(Trigger, '/sensor_suite/clear_failure')
    assert answer.success and 'gps_nose, gps_tail: cleared total' in answer.message
    assert faults() == {}


def test_reset_and_enable_all(graph, tmp_path):
    running = suite_helpers.start(graph, tmp_path, whole())
    assert graph.call(Trigger, '/sensor_suite/reset').success
    assert {node.sensor.power_on for node in running.node.sensors.values()} == {1}
    states = graph.collect(SensorStates, '/sensor_suite/states', LATCHED)
    assert graph.call(SetBool, '/sensor_suite/set_enabled', data=False).success
    states.until(lambda m: {s.state_name for s in m.sensors} == {'Off'})
    assert graph.get('/gps_tail', 'enabled') is False
    data = graph.collect(Imu, '/imu_front/data')
    graph.feed(rest(0.0, 1.0, 50))
    assert graph.call(SetBool, '/sensor_suite/set_enabled', data=True).success
    graph.feed(rest(1.02, 2.0, 50))
    data.until_stamp(2.0)
    states.until(lambda m: {s.state_name for s in m.sensors} == {'Ready'})
    assert data.stamps[0] > 900_000_000


def test_states_come_at_once_and_to_late_subscribers(graph, tmp_path):
    running = suite_helpers.start(graph, tmp_path, whole(random_seed=-1))
    states = graph.collect(SensorStates, '/sensor_suite/states', LATCHED)
    first = states.until_count(1)[0]
    assert names_of(first) == [*MOUNTS, 'gps_nose', 'gps_tail']
    assert {s.state_name for s in first.sensors} == {'Initializing'}
    graph.feed(rest(0.0, 0.1, 50))
    states.until(lambda m: {s.state_name for s in m.sensors} == {'Ready'})
    graph.call(InjectFailure, '/gps_nose/inject_failure', mode='total')
    graph.feed(rest(0.12, 0.2, 50))
    failed = states.until(lambda m: m.sensors[3].state == SensorState.FAILED)
    assert [s.state_name for s in failed.sensors] == [*['Ready'] * 3, 'Failed', 'Ready']
    seeds = {node.settings.random_seed for node in running.node.sensors.values()}
    assert len(seeds) == 5 and min(seeds) >= 0  # -1 draws one for each


def test_the_suite_file_cannot_be_changed_while_running(graph, tmp_path):
    suite_helpers.start(graph, tmp_path, triple())
    (result,) = graph.set('/sensor_suite', suite_file='/other.yaml')
    assert not result.successful and 'read at start only' in result.reason
    assert graph.publisher(Odometry, '/ground_truth/odom').get_subscription_count() == 1


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_the_sensors_are_being_made_ends_it_cleanly(graph, tmp_path, number):
    suite = {'sensors': [imu(f'imu_{i}') for i in range(30)]}
    path = suite_helpers.write(tmp_path, suite)
    program = graph.program('sensor_suite', '-p', f'suite_file:={path}')
    graph.until(lambda: 'imu_0' in graph.node.get_node_names(), 'the first sensor')
    program.signal(number)
    assert program.wait() == 0
    assert 'Traceback' not in program.output
