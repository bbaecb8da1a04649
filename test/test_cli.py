"""The tool jaguar_sensors: what needs no ROS, and the rest against live nodes."""

from __future__ import annotations

import math
import re
import subprocess
import sys

import pytest
from cli_helpers import CODE, fake, run

from jaguar_sensors_ros.catalogue import FAULTS, SENSORS
from jaguar_sensors_ros.cli import graph as cli_graph
from jaguar_sensors_ros.cli.param import parse, show

COMMANDS = ['inject', 'clear', 'reset', 'enable', 'disable', 'state', 'param', 'completion']


# ---------------------------------------------------------------------- without ROS


@pytest.mark.parametrize('command', [[], *([c] for c in COMMANDS), ['param', 'set']])
def test_help(command):
    status, out, err = run(*command, '--help')
    assert (status, err) == (0, '')
    assert out.startswith('usage: jaguar_sensors')
    assert command or all(name in out for name in COMMANDS)


def test_version():
    from jaguar_sensors_ros import __version__

    assert run('--version') == (0, f'{__version__}\n', '')


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        ('', 'required: COMMAND'),
        ('injekt imu bias', "invalid choice: 'injekt'"),
        ('inject', 'required: NODE, MODE'),
        ('inject imu', 'required: MODE; modes of imu: none, bias, '),
        ('inject imu 0.01', 'required: MODE; '),
        ('inject bias 0.01', 'required: NODE; '),
        ('inject --all', 'required: MODE; '),
        ('inject imu foo 1', "argument MODE: invalid choice: 'foo'; modes of imu: none, bias, "),
        ('inject imu gps bais 1', "invalid choice: 'bais'; modes of imu: "),
        ('inject --type imu bais', "invalid choice: 'bais'; modes of imu: "),
        ('inject imu bias 1 2', 'unrecognized arguments: 2'),
        ('inject imu bias 1 --foo', 'unrecognized arguments: --foo'),
        ('inject --all imu bias 1', 'argument NODE: imu: not allowed with --all or --type'),
        ('inject --all --type imu total', 'not allowed with argument'),
        ('inject --type radar total', 'type radar is known, but not modelled; modelled: imu, gps'),
        ('inject --type sonic total', "type 'sonic' is unknown; modelled: imu, gps"),
        ('inject --timeline f imu bias --axis x', 'without imu bias --axis'),
        ('clear --all imu', 'argument NODE: imu: not allowed with --all or --type'),
        ('inject imu bias abc', "'abc' must be a finite number"),
        ('inject imu bias nan', "'nan' must be a finite number"),
        ('inject imu bias -inf', 'unrecognized arguments: -inf'),
        ('inject imu bias 1 --duration -2', "'-2' must be seconds >= 0"),
        ('inject imu bias 1 --delay soon', "'soon' must be a finite number"),
        ('inject imu bias 1 --repeat 1.5', "'1.5' must be a whole number"),
        ('inject imu bias 1 --repeat 4294967296', 'must be a whole number'),
        ('inject im/u/ bias 1', "'im/u/' is no name of a node"),
        ('clear 7up', "'7up' is no name of a node"),
        ('clear', 'required: NODE'),
        ('state --timeout 0', "'0' must be seconds > 0"),
        ('param', 'required: ACTION'),
        ('param set imu grade', 'required: VALUE'),
        ('param set imu x [1,[2]]', 'a list of lists'),
        ('param set imu x []', 'an empty list has no type'),
        ('param set imu x [1,a]', 'a list must be all numbers'),
    ],
)
def test_bad_input_is_status_2(arguments, message):
    status, out, err = run(*arguments.split())
    assert (status, out) == (2, '')
    assert message in err


@pytest.mark.parametrize(
    ('text', 'value'),
    [
        ('true', True),
        ('False', False),
        ('3', 3),
        ('-3', -3),
        ('1e-3', 0.001),
        ('.5', 0.5),
        ('tactical', 'tactical'),
        ('"3"', '3'),
        ("'it''s'", 'its'),
        ('', ''),
        ('[1, 2]', [1, 2]),
        ('[0.1, 0, 0.3]', [0.1, 0.0, 0.3]),
        ('[true, false]', [True, False]),
        ('[a, b]', ['a', 'b']),
        ('1_000x', '1_000x'),
        ('{a: 1}', '{a: 1}'),
    ],
)
def test_values_are_read_as_yaml_would(text, value):
    read = parse(text)
    assert read == value and type(read) is type(value)
    if isinstance(value, list):
        assert {type(x) for x in read} == {type(x) for x in value}
    assert parse(show(value)) == value or value == ''


def test_values_that_are_not_finite():
    assert math.isnan(parse('.nan')) and parse('-inf') == -math.inf
    assert (show(math.inf), show(-math.inf), show(math.nan)) == ('.inf', '-.inf', '.nan')
    assert parse(show(math.inf)) == math.inf and parse(show(-math.inf)) == -math.inf


def test_help_of_inject_says_what_the_catalogue_says():
    _, out, _ = run('inject', '--help')
    text = ' '.join(out.split())
    for mode in FAULTS.values():
        assert f'{mode.name} {mode.magnitude_text}' in text
    for sensor, _ in SENSORS.values():
        assert all(f'{unit} ({name})' in text for name, unit in sensor.channels.units.items())


def test_modes_are_listed_for_each_type():
    _, _, err = run('inject', 'imu', 'foo')
    imu, gps, *_ = err.split('modes of ')[1:]
    assert 'satellite_loss' not in imu and 'satellite_loss' in gps


def test_without_ros_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, 'rclpy', None)
    status, out, err = run('inject', 'imu', 'bias', '0.01')
    assert (status, out) == (2, '')
    assert 'ROS 2 cannot be loaded' in err and 'scripts/ros' in err


def test_tool_loads_without_rclpy():
    code = (
        'import sys; sys.modules["rclpy"] = None\n'
        'from jaguar_sensors_ros.cli.main import main\n'
        'main(["--help"])'
    )
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, '')


# ---------------------------------------------------------------------- live


@pytest.fixture
def live(graph):
    """Return the graph with /imu, /gps and /robot1/imu, and a function that runs the tool."""
    from jaguar_sensors_ros.ros.gps_node import GpsNode
    from jaguar_sensors_ros.ros.imu_node import ImuNode

    static = {'truth__source': 'static', 'random_seed': 1}
    graph.imu = graph.start(ImuNode, grade='tactical', **static)
    graph.gps = graph.start(GpsNode, update_hz=10, **static)
    graph.robot = graph.start(ImuNode, namespace='/robot1', **static)
    return graph, lambda *arguments: run(*arguments, '--timeout', '20')


@pytest.mark.ros
def test_faults_over_services(live):
    graph, tool = live
    status, out, err = tool('inject', 'imu', 'bias', '0.01')
    assert (status, err) == (0, '')
    assert out == '/imu: bias on gyro, axes xyz, magnitude 0.01 rad/s\n'
    status, out, _ = tool(
        *('inject', '/robot1/imu', 'drift', '-1e-3', '--target', 'accel'),
        *('--axis', 'xz', '--duration', '5000', '--ramp', '1'),
    )
    assert status == 0 and out.startswith('/robot1/imu: drift on accel, axes xz, magnitude -0.001')
    assert graph.imu.node._sensor.board.present == ('bias:gyro',)
    assert tool('clear', '/imu') == (0, '/imu: cleared bias\n', '')
    assert tool('clear', '/imu') == (0, '/imu: no fault was active\n', '')
    assert graph.robot.node._sensor.board.present == ('drift:accel',)


@pytest.mark.ros
def test_refusal_is_status_2_with_the_words_of_the_node(live):
    _, tool = live
    status, out, err = tool('inject', 'imu', 'satellite_loss', '3')
    assert (status, out) == (2, '')
    assert err.startswith('jaguar_sensors: /imu/inject_failure: refused: ') and 'valid: ' in err
    status, out, err = tool('inject', 'imu', 'bias')
    assert (status, out) == (2, '') and 'bias needs a magnitude' in err


@pytest.mark.ros
def test_node_that_is_not_there_is_status_1_with_those_that_are(live):
    _, tool = live
    tool('state')
    status, out, err = run('clear', 'imu2', '--timeout', '5')
    assert (status, out) == (1, '')
    assert 'there is no sensor imu2 in ROS domain' in err
    assert 'found /gps, /imu, /robot1/imu' in err


@pytest.mark.ros
def test_relative_name_finds_a_node_in_a_namespace(graph):
    from jaguar_sensors_ros.ros.imu_node import ImuNode

    for name in ('/a', '/b/c'):
        graph.start(ImuNode, namespace=name, truth__source='static', random_seed=1)
    status, out, _ = run('clear', 'c/imu', '--timeout', '20')
    assert (status, out) == (0, '/b/c/imu: no fault was active\n')


@pytest.mark.ros
def test_reset_and_switch(live):
    graph, tool = live
    assert tool('reset', 'gps') == (0, '/gps: power-on number 1; injected faults stay\n', '')
    assert tool('disable', 'gps') == (0, '/gps: disabled\n', '')
    assert graph.gps.node.settings.enabled is False
    assert tool('enable', 'gps') == (0, '/gps: enabled\n', '')
    assert graph.gps.node.settings.enabled is True


@pytest.mark.ros
def test_state(live):
    _, tool = live
    tool('inject', 'imu', 'noise', '5')
    status, out, err = tool('state')
    assert (status, err) == (0, '')
    lines = out.splitlines()
    assert [line.split(':')[0] for line in lines] == ['/gps', '/imu', '/robot1/imu']
    assert 'imu, fidelity realistic, faults noise:' in lines[1]
    status, out, _ = tool('state', '/robot1/imu', 'gps')
    assert [line.split(':')[0] for line in out.splitlines()] == ['/robot1/imu', '/gps']
    assert re.search(r'faults none, confidence \d\.\d\d, up \d+\.\d s, \d+ samples', out)


@pytest.mark.ros
def test_parameters(live):
    graph, tool = live
    assert tool('param', 'get', 'imu', 'grade') == (0, 'tactical\n', '')
    assert tool('param', 'set', 'imu', 'grade', 'industrial')[0] == 0
    assert graph.imu.node.settings.grade == 'industrial'
    status, out, _ = tool('param', 'set', 'gps', 'mount.position', '[0.1, 0, -0.3]')
    assert (status, out) == (0, '/gps: mount.position = [0.1, 0.0, -0.3]\n')
    assert graph.gps.node.settings.mount.position == (0.1, 0.0, -0.3)
    assert tool('param', 'set', 'gps', 'origin_heading', '-5e-1')[0] == 0
    assert graph.gps.node.settings.origin_heading == -0.5
    status, out, _ = tool('param', 'list', 'gps')
    assert status == 0
    assert {'update_hz: 10', 'mount.position: [0.1, 0.0, -0.3]'} <= set(out.splitlines())


@pytest.mark.ros
def test_parameters_that_are_refused(live):
    _, tool = live
    status, out, err = tool('param', 'set', 'imu', 'grade', 'best')
    assert (status, out) == (2, '') and "grade = 'best': must be one of consumer" in err
    status, out, err = tool('param', 'set', 'imu', 'grde', 'best')
    assert (status, out) == (2, '') and 'has no parameter grde; did you mean grade' in err
    status, out, err = tool('param', 'get', 'imu', 'grde')
    assert (status, out) == (2, '') and 'has no parameter grde; did you mean grade' in err


@pytest.mark.ros
def test_the_executable(live):
    graph, _ = live
    command = [sys.executable, '-c', CODE, *['inject', '/imu', 'stuck', '--timeout', '20']]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    graph.until(lambda: process.poll() is not None, 'the end of the tool')
    out, err = process.communicate()
    assert (process.returncode, err) == (0, '')
    assert out.startswith('/imu: stuck on ')


# ---------------------------------------------------------------------- several


@pytest.fixture
def fakes(graph, monkeypatch):
    """Start stand-ins for three sensors; returns a function that also tells what they refuse."""
    # they are of one process and appear together
    monkeypatch.setattr('jaguar_sensors_ros.ros.client.SURE_S', 0.5)

    def start(**refuses):
        made = {}
        for name, kind in (('a', 'imu'), ('b', 'imu'), ('c', 'gps')):
            sensor = fake(graph, namespace=f'/{name}', kind=kind,
                                 refuses=refuses.get(name, ()))
            made[name] = sensor.node
        return made

    return start


def asked(sensors):
    return {name: [service for service, _ in node.asked] for name, node in sensors.items()}


@pytest.mark.ros
def test_request_arrives_as_typed_wherever_options_stand(fakes):
    sensor = fakes()['a']
    status, out, _ = run(
        *('inject', '--timeout', '20', 'a/imu', '--target', 'accel', 'drift', '--axis', 'xz'),
        *('-1e-3', '--delay', '1', '--duration', '2', '--ramp', '3', '--period', '4'),
        *('--repeat', '5'),
    )
    assert (status, out) == (0, '/a/imu: inject_failure done\n')
    [(_, request)] = sensor.asked
    got = [getattr(request, name) for name in request.get_fields_and_field_types()]
    assert got == ['drift', -1e-3, 'accel', 'xz', 1.0, 2.0, 3.0, 5, 4.0]


@pytest.mark.ros
@pytest.mark.parametrize(
    ('words', 'who'),
    [
        ('inject a/imu /b/imu a/imu bias 0.1', 'ab'),
        ('inject --type imu bias 0.1', 'ab'),
        ('inject --all total', 'abc'),
        ('clear b/imu c/gps', 'bc'),
        ('clear --type gps', 'c'),
        ('reset --all', 'abc'),
        ('enable --type imu', 'ab'),
        ('disable a/imu c/gps', 'ac'),
    ],
)
def test_several_sensors(fakes, words, who):
    sensors = fakes()
    status, out, err = run(*words.split(), '--timeout', '20')
    assert (status, err) == (0, '')
    assert sorted(line[1] for line in out.splitlines()) == list(who)
    assert {name: len(calls) for name, calls in asked(sensors).items()} == {
        name: int(name in who) for name in sensors
    }


@pytest.mark.ros
def test_fault_that_one_of_several_cannot_have_goes_to_none(fakes):
    sensors = fakes()
    status, out, err = run('inject', '--all', 'satellite_loss', '3', '--timeout', '20')
    assert (status, out) == (2, '')
    assert "/a/imu: mode 'satellite_loss' is not for this sensor; valid: none, bias" in err
    assert 'nothing was sent' in err and not any(asked(sensors).values())


@pytest.mark.ros
def test_refusal_of_one_does_not_keep_the_others(fakes):
    sensors = fakes(b=['clear_failure'])
    status, out, err = run('clear', '--all', '--timeout', '20')
    assert status == 2 and err == 'jaguar_sensors: /b/imu/clear_failure: refused: locked\n'
    assert out == '/a/imu: clear_failure done\n/c/gps: clear_failure done\n'
    assert all(asked(sensors).values())


@pytest.mark.ros
def test_name_that_is_not_there_keeps_all_from_being_done(fakes):
    sensors = fakes()
    run('state', 'a/imu', 'b/imu', 'c/gps', '--once', '--timeout', '20')
    status, out, err = run('clear', 'a/imu', 'd/imu', '--timeout', '5')
    assert (status, out) == (1, '')
    assert 'there is no sensor d/imu' in err and 'found /a/imu, /b/imu, /c/gps' in err
    assert not any(asked(sensors).values())


@pytest.mark.ros
def test_type_that_is_not_there_is_told_with_those_that_are(graph):
    fake(graph)
    status, out, err = run('clear', '--type', 'gps', '--timeout', '20')
    assert (status, out) == (1, '')
    assert 'there is no sensor of type gps in ROS domain' in err and 'found /imu (imu)' in err


def test_statuses_are_those_of_the_help():
    assert (cli_graph.DONE, cli_graph.FAILED, cli_graph.BAD_INPUT) == (0, 1, 2)
