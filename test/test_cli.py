"""The tool jaguar_sensors: what needs no ROS, and the rest against live nodes."""

from __future__ import annotations

import contextlib
import io
import math
import re
import subprocess
import sys

import pytest

from jaguar_sensors_ros.cli import graph as cli_graph
from jaguar_sensors_ros.cli.main import main
from jaguar_sensors_ros.cli.param import parse, show

COMMANDS = ['inject', 'clear', 'reset', 'enable', 'disable', 'state', 'param']


def run(*arguments):
    """Run the tool in this process; return exit status, stdout, stderr (not that of nodes)."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(list(arguments))
        except SystemExit as end:
            status = end.code
    return status, out.getvalue(), err.getvalue()


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
        ('inject imu foo 1', "invalid choice: 'foo' (choose from"),
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
    request = graph.robot.node._sensor.board._all()[0].request
    assert (request.duration, request.ramp, request.axis) == (5000.0, 1.0, 'xz')
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
    status, out, err = run('clear', 'imu2', '--timeout', '3')
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
    code = 'from jaguar_sensors_ros.cli.main import main; raise SystemExit(main())'
    command = [sys.executable, '-c', code, *['inject', '/imu', 'stuck', '--timeout', '20']]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    graph.until(lambda: process.poll() is not None, 'the end of the tool')
    out, err = process.communicate()
    assert (process.returncode, err) == (0, '')
    assert out.startswith('/imu: stuck on ')


def test_statuses_are_those_of_the_help():
    assert (cli_graph.DONE, cli_graph.FAILED, cli_graph.BAD_INPUT) == (0, 1, 2)
