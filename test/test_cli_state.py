"""jaguar_sensors state: the live table, and what it makes of the messages."""

from __future__ import annotations

import io
import signal

import pytest
from cli_helpers import OnTerminal, fake, run
from jaguar_sensors_msgs.msg import SensorState

from jaguar_sensors_ros.cli.state_board import HEADINGS, StateBoard
from jaguar_sensors_ros.cli.state_view import Lines, Table


def message(t_s, count, state='Ready', **fields):
    fields = {'type': 'imu', 'valid': True, 'fidelity': 'realistic', 'uptime': t_s, **fields}
    made = SensorState(state_name=state, sample_count=count, **fields)
    made.header.stamp.sec, made.header.stamp.nanosec = divmod(round(t_s * 1e9), 10**9)
    return made


def board_of(*messages, now_s=0.0):
    """Return a board with /imu and its messages, as if they had come a second apart."""
    board = StateBoard()
    assert board.look(['/imu'], now_s) == ['/imu']
    for place, one in enumerate(messages):
        board.hear('/imu', one, now_s + place)
    return board


def cell(board, heading, now_s):
    column = [name.replace('-\n', '').replace('\n', ' ') for name, *_ in HEADINGS].index(heading)
    return board.rows[0].cells(now_s)[column]


# ---------------------------------------------------------------------- without ROS


def test_rate_is_in_measurement_time():
    # a tenth of real time: a second between the messages, 0.1 s between the stamps
    board = board_of(*(message(0.1 * i, 20 * i) for i in range(4)))
    assert cell(board, 'rate Hz', 3.0) == '200.0'


def test_rate_needs_two_messages_and_time_that_goes_on():
    assert cell(board_of(message(1.0, 100)), 'rate Hz', 0.0) == '-'
    assert cell(board_of(message(1.0, 100), message(1.0, 100)), 'rate Hz', 1.0) == '-'


def test_rate_starts_anew_with_the_sensor():
    board = board_of(message(1.0, 100), message(2.0, 200), message(2.1, 5), message(3.1, 15))
    assert cell(board, 'rate Hz', 3.0) == '10.0'


def test_rate_follows_a_change():
    slow = [message(float(i), i) for i in range(10)]
    fast = [message(9.0 + i, 9 + 100 * i) for i in range(1, 10)]
    assert cell(board_of(*slow, *fast), 'rate Hz', 18.0) == '100.0'


def test_sensor_that_leaves_is_gone_and_may_come_back():
    board = board_of(message(1.0, 100))
    assert board.look(['/gps'], 1.0) == ['/gps']
    states = {row.node: row.state(1.0) for row in board.rows}
    assert states == {'/gps': 'waiting', '/imu': 'gone'}
    assert board.look(['/gps', '/imu'], 10.0) == []
    assert board.rows[1].state(10.0) == 'Ready'


def test_sensor_that_says_nothing_is_silent():
    board = board_of(message(1.0, 100))
    assert cell(board, 'state', 3.0) == 'Ready'
    assert (cell(board, 'state', 5.0), cell(board, 'rate Hz', 5.0)) == ('silent 5 s', '-')


def test_output_that_is_not_valid_is_told_where_it_seems_good():
    board = board_of(message(1.0, 1, valid=False, causes=['warm']))
    assert cell(board, 'causes', 0.0) == 'warm, not valid'
    assert cell(board_of(message(1.0, 1, 'Failed', valid=False)), 'causes', 0.0) == ''


def test_table_has_colours_and_all_columns():
    from rich.console import Console

    board = board_of(
        message(1.0, 100),
        message(2.0, 300, 'Degraded', causes=['fault'], faults=['bias:gyro'], confidence=0.5),
    )
    out = io.StringIO()
    console = Console(file=out, width=200, force_terminal=True, color_system='standard')
    console.print(Table('title')._table(board.rows, 1.0, 200))
    text = out.getvalue()
    assert '\x1b[33mDegraded' in text
    words = '/imu imu fault realistic bias:gyro 200.0 0.50 2.0 300 rate uptime confi- samples'
    assert all(word in text for word in words.split())


def test_table_fits_a_narrow_terminal_and_still_names_the_faults():
    from rich.console import Console

    board = board_of(
        message(1.0, 100),
        message(
            2.0, 300, 'Degraded', causes=['fault bias:gyro'], faults=['bias:gyro', 'total:all']
        ),
    )
    out = io.StringIO()
    Console(file=out, width=80).print(Table('title')._table(board.rows, 1.0, 80))
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    assert 'fault bias:gyro, total:all to come' in text and 'uptime' not in text


def test_lines_only_tell_changes(capsys):
    board = board_of(message(1.0, 100))
    with Lines() as view:
        view.show(board.rows, 0.0)
        board.hear('/imu', message(2.0, 300), 1.0)
        view.show(board.rows, 1.0)
        board.hear('/imu', message(3.0, 300, 'Failed', faults=['total:all']), 2.0)
        view.show(board.rows, 2.0)
        view.show(board.rows, 8.0)
        board.look([], 9.0)
        view.show(board.rows, 9.0)
    out, err = capsys.readouterr()
    assert 'pip install rich' in err
    starts = ['/imu: Ready; imu', '/imu: Failed; imu']
    lines = out.splitlines()
    assert [line[: len(s)] for line, s in zip(lines, starts, strict=False)] == starts
    assert lines[2:] == ['/imu: silent', '/imu: gone']


# ---------------------------------------------------------------------- live


@pytest.mark.ros
def test_live_table_follows_sensors(graph):
    imu = fake(graph)
    with OnTerminal('state', '--timeout', '20') as tool:
        graph.until(lambda: 'Ready' in tool.read(), 'the table')
        imu.node.tell(1.0, 123, 'Failed', causes=['fault total'], faults=['total:all'])
        graph.until(lambda: 'total:all' in tool.read() and '123.0' in tool.text, 'the fault')
        gps = fake(graph, kind='gps', namespace='/late')
        graph.until(lambda: '/late/gps' in tool.read(), 'the sensor that came later')
        gps.end()
        graph.until(lambda: 'gone' in tool.read(), 'the sensor that went')
        tool.process.send_signal(signal.SIGINT)
        graph.until(lambda: tool.process.poll() is not None, 'the end')
        assert (tool.process.returncode, tool.process.stderr.read()) == (0, '')


@pytest.mark.ros
def test_live_without_rich_prints_lines(graph):
    imu = fake(graph)
    before = 'import sys; sys.modules["rich"] = None\n'
    with OnTerminal('state', 'imu', '--timeout', '20', before=before) as tool:
        graph.until(lambda: '/imu: Ready; imu' in tool.read(), 'a line')
        imu.node.tell(1.0, 123, 'Failed')
        graph.until(lambda: '/imu: Failed; imu' in tool.read(), 'another')
        tool.process.send_signal(signal.SIGINT)
        graph.until(lambda: tool.process.poll() is not None, 'the end')
        assert tool.process.returncode == 0
        assert 'pip install rich' in tool.process.stderr.read()


@pytest.mark.ros
def test_live_names_that_are_not_there(graph):
    fake(graph)
    with OnTerminal('state', 'imu7', '--timeout', '5') as tool:
        graph.until(lambda: tool.process.poll() is not None, 'the end')
        assert tool.process.returncode == 1
        assert 'there is no sensor imu7' in tool.process.stderr.read()


@pytest.mark.ros
def test_live_waits_for_the_first_sensor(graph):
    with OnTerminal('state') as tool:
        graph.until(lambda: 'no sensor yet' in tool.read(), 'the empty table')
        fake(graph)
        graph.until(lambda: '/imu' in tool.read(), 'the first sensor')


@pytest.mark.ros
def test_once_on_a_terminal(graph):
    fake(graph)
    with OnTerminal('state', '--once', '--timeout', '20') as tool:
        graph.until(lambda: tool.process.poll() is not None, 'the end')
        assert tool.process.returncode == 0
        assert tool.read().startswith('/imu: Ready; imu, fidelity realistic, faults none')


@pytest.mark.ros
def test_piped_it_ends_by_itself(graph):
    fake(graph)
    status, out, err = run('state', '--timeout', '20')
    assert (status, out.count('\n'), err) == (0, 1, '')
