"""The tab key: as the shell asks, over real DDS where names come from the graph."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from cli_helpers import CODE, fake, run

from jaguar_sensors_ros.catalogue import FAULTS, SENSORS
from jaguar_sensors_ros.cli import completers
from jaguar_sensors_ros.component import declarations
from jaguar_sensors_ros.faults.base import NONE

IMU_MODES = {NONE, *SENSORS['imu'][0].channels.modes}
GPS_MODES = {NONE, *SENSORS['gps'][0].channels.modes}
#: the tool as a shell starts it for the tab key: the answer goes to descriptor 8
ASK = '"$@" 8>&1 9>/dev/null >/dev/null 2>&1 </dev/null'


def tab(line, before=''):
    """Return what the tab key offers at the end of a command line."""
    line = f'jaguar_sensors {line}'
    done = subprocess.run(
        ['bash', '-c', ASK, 'bash', sys.executable, '-c', before + CODE],
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
        env={
            **os.environ,
            '_ARGCOMPLETE': '1',
            '_ARGCOMPLETE_IFS': '\n',
            '_ARGCOMPLETE_SHELL': 'bash',
            '_ARGCOMPLETE_COMP_WORDBREAKS': ' \t\n"\'><=;|&(:',
            '_ARGCOMPLETE_SUPPRESS_SPACE': '1',
            'COMP_LINE': line,
            'COMP_POINT': str(len(line)),
        },
        check=not before,
    )
    return {word.strip() for word in done.stdout.splitlines()}


def offers(line, words):
    """Tell whether the tab key offers these words; it may not see all of a graph at once."""
    return any(tab(line) == words for _ in range(4))


# ---------------------------------------------------------------------- without a graph


@pytest.mark.parametrize(
    ('line', 'words'),
    [
        ('inj', {'inject'}),
        ('param ', {'get', 'set', 'list'}),
        ('completion ', {'bash', 'zsh'}),
        ('state --o', {'--once'}),
        ('inject --type ', set(SENSORS)),
        ('clear --type i', {'imu'}),
        ('inject --type imu ', IMU_MODES),
        ('inject --type gps sa', {'satellite_loss'}),
        ('inject --all ', {NONE, *FAULTS}),
        ('inject --type imu total ', set()),
        ('inject --type gps bias 1 --target ', {'position', 'velocity', 'all'}),
        ('inject --type imu bias 1 --axis ', {'x', 'y', 'z', 'xy', 'xz', 'yz', 'xyz'}),
        ('inject imu bias 1 --delay ', set()),
        ('allan --grade nav', {'navigation'}),
        ('allan --set grade=indus', {'industrial'}),
        ('allan --set gyro.random', {'gyro.random_walk='}),
        ('allan --expect tac', {'tactical'}),
        ('param set imu fidelity ', {'transparent', 'realistic', 'fault'}),
        ('param set imu enabled ', {'true', 'false'}),
    ],
)
def test_words(line, words):
    pytest.importorskip('argcomplete')
    assert tab(line) == words


def test_files(tmp_path):
    pytest.importorskip('argcomplete')
    for name in ('one.yaml', 'two.csv'):
        (tmp_path / name).touch()
    assert tab(f'inject --timeline {tmp_path}/o') == {f'{tmp_path}/one.yaml'}
    assert tab(f'allan --csv {tmp_path}/t') == {f'{tmp_path}/two.csv'}


def test_shell_code_registers_the_tool(tmp_path):
    pytest.importorskip('argcomplete')
    tool = tmp_path / 'jaguar_sensors'
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c \'{CODE}\' "$@"\n')
    tool.chmod(0o755)
    script = '''
        eval "$(jaguar_sensors completion bash)"
        COMP_LINE='jaguar_sensors allan --grade tac' COMP_POINT=32 COMP_TYPE=9
        $(complete -p jaguar_sensors | sed 's/.*-F \\([^ ]*\\).*/\\1/') jaguar_sensors
        echo "${COMPREPLY[@]}"
    '''
    done = subprocess.run(
        ['bash', '-c', script],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, 'PATH': f'{tmp_path}{os.pathsep}{os.environ["PATH"]}'},
    )
    assert (done.stdout.strip(), done.stderr) == ('tactical', '')


def test_zsh_code_loads_what_it_needs():
    pytest.importorskip('argcomplete')
    status, out, _ = run('completion', 'zsh')
    assert status == 0 and 'compinit' in out.splitlines()[0] and 'jaguar_sensors' in out


def test_without_argcomplete_it_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, 'argcomplete', None)
    status, out, err = run('completion', 'bash')
    assert (status, out) == (2, '')
    assert 'pip install argcomplete' in err and 'python3-argcomplete' in err
    assert tab('inj', before='import sys; sys.modules["argcomplete"] = None\n') == set()
    assert run('--version')[0] == 0


def test_argcomplete_is_loaded_for_the_tab_key_only():
    code = (
        'import sys\nfrom jaguar_sensors_ros.cli.main import main\n'
        'main(["allan", "--csv", "there_is_no_such_file", "--rate", "1"])\n'
        'raise SystemExit("argcomplete" in sys.modules or "rich" in sys.modules)'
    )
    assert subprocess.run([sys.executable, '-c', code], capture_output=True).returncode == 0


def test_failure_offers_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, 'rclpy', None)
    monkeypatch.delitem(sys.modules, 'jaguar_sensors_ros.ros.client', raising=False)
    for completer in (completers.sensors, completers.nodes, completers.parameters):
        assert list(completer(prefix='', parsed_args=None)) == []


# ---------------------------------------------------------------------- from the graph


@pytest.mark.ros
def test_names_modes_targets_and_axes_are_those_of_running_sensors(graph):
    pytest.importorskip('argcomplete')
    fake(graph)
    fake(graph, kind='gps', namespace='/robot1')
    assert offers('inject ', {'imu', 'robot1/gps'})
    assert offers('inject /', {'/imu', '/robot1/gps'})
    assert offers('clear imu ', {'robot1/gps'})
    assert offers('state r', {'robot1/gps'})
    assert offers('inject imu ', IMU_MODES)
    assert offers('inject robot1/gps ', GPS_MODES)
    assert offers('inject imu r', {'robot1/gps'})
    assert offers('inject imu bias 1 --target ', {'gyro', 'accel', 'all'})
    assert offers('inject robot1/gps bias 1 --axis e', {'e', 'en', 'eu', 'enu'})


@pytest.mark.ros
def test_parameters_are_those_of_the_node(graph):
    pytest.importorskip('argcomplete')
    from jaguar_sensors_ros.ros.gps_node import GpsNode

    graph.start(GpsNode, truth__source='static', random_seed=1)
    assert offers('param get ', {'gps'})
    names = {d.name for d in declarations(SENSORS['gps'][1])}
    assert offers('param set /gps sat', {name for name in names if name.startswith('sat')})


@pytest.mark.ros
def test_without_sensors_nothing_is_offered(graph):
    pytest.importorskip('argcomplete')
    assert tab('inject ') == set()
