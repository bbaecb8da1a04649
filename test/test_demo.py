"""The demo as its users run it, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip('rclpy')

from jaguar_sensors_ros.ros.demo.plan import make_plan
from jaguar_sensors_ros.ros.demo.processes import Children
from jaguar_sensors_ros.ros.domain import claim_domain, given_domain
from jaguar_sensors_ros.types import JaguarError

pytestmark = pytest.mark.ros


def start(output, *arguments):
    """Start the demo, which is to find a domain by itself."""
    environment = {k: v for k, v in os.environ.items() if k != 'ROS_DOMAIN_ID'}
    command = [sys.executable, '-u', '-m', 'jaguar_sensors_ros.ros.demo']
    return subprocess.Popen(
        [*command, '--output', str(output), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def children_of(process):
    """Return the ids of the child processes."""
    found = subprocess.run(['pgrep', '-P', str(process.pid)], capture_output=True, text=True)
    return [int(number) for number in found.stdout.split()]


def until_line(process, text):
    """Read the output up to a line."""
    for line in process.stdout:
        if text in line:
            return line
    raise AssertionError(process.stderr.read())


def wait_for_end(pids):
    deadline = time.monotonic() + 20.0
    while any(os.path.exists(f'/proc/{pid}') for pid in pids):
        assert time.monotonic() < deadline, 'a child is still there'
        time.sleep(0.05)


@pytest.fixture
def ended():
    """Kill whatever a failing test leaves."""
    processes = []
    yield processes.append
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.communicate()


@pytest.mark.slow
def test_run_with_everything_it_leaves(tmp_path):
    output = tmp_path / 'with space' / 'demo'
    process = start(output, '--duration', '6', '--truth', 'racetrack')
    out, err = process.communicate(timeout=110)
    last = out.strip().splitlines()[-1]
    assert process.returncode == 0, out + err
    assert last.startswith('demo: OK - imu 1200/1200 at 200 Hz, rms '), last
    assert 'gps 30/30 at 5 Hz' in last and 'fault seen' in last
    assert f'{output}/demo.png, {output}/bag' in last
    assert err == ''
    check_picture(output / 'demo.png')
    check_bag(output / 'bag')
    names = {path.name for path in output.iterdir()}
    assert names == {'bag', 'demo.png', 'imu_node.log', 'gps_node.log', 'truth_node.log'}


def check_picture(path):
    data = path.read_bytes()
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    width, height = struct.unpack('>II', data[16:24])
    assert width >= 1200 and height >= 700 and len(data) > 50_000


def check_bag(path):
    reader_module = pytest.importorskip('rosbags.rosbag2')
    typesys = pytest.importorskip('rosbags.typesys')
    with reader_module.Reader(path) as reader:
        counts = {c.topic: c.msgcount for c in reader.connections}
        # the definitions are in the bag: it can be read without the package installed
        store = typesys.get_typestore(typesys.Stores.EMPTY)
        for connection in reader.connections:
            types = typesys.get_types_from_msg(connection.msgdef.data, connection.msgtype)
            store.register({k: v for k, v in types.items() if k not in store.fielddefs})
        stamps = {topic: [] for topic in counts}
        faulty = []
        for connection, _, raw in reader.messages():
            message = store.deserialize_cdr(raw, connection.msgtype)
            stamp = message.header.stamp
            stamps[connection.topic].append(stamp.sec * 10**9 + stamp.nanosec)
            if connection.topic == '/imu/error':
                faulty.append(list(message.fault_modes))
    assert counts['/ground_truth/odom'] == 301
    assert counts['/imu/data'] == 1200
    assert counts['/gps/fix'] == counts['/gps/vel'] == counts['/gps/solution'] == 30
    assert counts['/imu/state'] > 0 and counts['/gps/state'] > 0
    first = stamps['/imu/data'][0]
    assert stamps['/imu/data'] == [first + k * 5_000_000 for k in range(1200)]
    share = faulty.count(['bias']) / len(faulty)
    assert 0.2 < share < 0.3 and faulty[0] == faulty[-1] == []


@pytest.mark.slow
def test_node_that_dies_is_a_failure(tmp_path, ended):
    process = start(tmp_path, '--duration', '60')
    ended(process)
    until_line(process, '2.')
    pids = children_of(process)
    assert len(pids) == 3
    commands = {pid: Path(f'/proc/{pid}/cmdline').read_text() for pid in pids}
    os.kill(next(pid for pid in pids if 'gps_node' in commands[pid]), signal.SIGKILL)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1, out + err
    last = out.strip().splitlines()[-1]
    assert last.startswith('demo: FAILED (gps_node ended with status -9) - '), last
    assert 'gps_node said last' in out and 'gps sensor, fidelity realistic' in out
    wait_for_end(pids)


@pytest.mark.slow
def test_ctrl_c_ends_an_endless_run_in_order(tmp_path, ended):
    process = start(tmp_path, '--duration', '0', '--truth', 'circle')
    ended(process)
    until_line(process, '2.')
    pids = children_of(process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    last = out.strip().splitlines()[-1]
    assert process.returncode == 0, out + err
    assert last.startswith('demo: OK - imu ') and 'fault not complete' in last
    assert (tmp_path / 'demo.png').is_file() and (tmp_path / 'bag' / 'metadata.yaml').is_file()
    wait_for_end(pids)


@pytest.mark.slow
def test_no_child_outlives_a_demo_that_is_killed(tmp_path, ended):
    process = start(tmp_path, '--duration', '60')
    ended(process)
    until_line(process, 'waiting for the nodes')
    pids = children_of(process)
    assert len(pids) == 3
    process.kill()
    process.wait()
    wait_for_end(pids)
    assert not (tmp_path / 'bag').exists()


@pytest.mark.parametrize(
    ('arguments', 'message'),
    [
        (['--truth', 'parafoil'], 'must be one of static, circle, figure_eight, racetrack'),
        (['--truth', '/no/such/file.csv'], 'no such file'),
        (['--truth', ''], '--truth is empty: must be one of static'),
        (['--duration', '1'], 'must be 0 (until Ctrl-C) or at least 2 s'),
        (['--duration', 'nan'], 'must be 0 (until Ctrl-C) or at least 2 s'),
        (['--seed', '-1'], 'must be a whole number from 0'),
        (['--speed', '2'], 'unrecognized arguments'),
    ],
)
def test_bad_input_is_status_2_before_anything_starts(tmp_path, arguments, message):
    process = start(tmp_path / 'demo', *arguments)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert message in err and out == '' and not (tmp_path / 'demo').exists()


def test_something_else_in_the_place_of_the_bag_stays(tmp_path):
    (tmp_path / 'bag').mkdir()
    (tmp_path / 'bag' / 'precious.txt').write_text('mine')
    process = start(tmp_path, '--duration', '2')
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2 and 'is no bag, so it is not replaced' in err
    assert (tmp_path / 'bag' / 'precious.txt').read_text() == 'mine'


def test_plan_fits_the_truth(tmp_path):
    plan = make_plan('figure_eight', 20.0, tmp_path, 1)
    assert (plan.length_s, plan.fault_on_s, plan.fault_off_s) == (20.0, 10.0, 15.0)
    assert make_plan('static', 0.0, tmp_path, 1).length_s is None
    path = tmp_path / 'short.tum'
    path.write_text('\n'.join(f'{0.1 * k:.1f} {k} 0 0 0 0 0 1' for k in range(51)))
    plan = make_plan(str(path), 20.0, tmp_path, 1)
    assert plan.length_s == pytest.approx(5.0)
    assert plan.fault_off_s == pytest.approx(3.75)
    path.write_text('\n'.join(f'{0.1 * k:.1f} {k} 0 0 0 0 0 1' for k in range(11)))
    with pytest.raises(JaguarError, match='lasts 1 s, the demo needs 2 s'):
        make_plan(str(path), 20.0, tmp_path, 1)


def test_domain_is_that_of_the_environment_or_one_that_nobody_else_gets():
    assert given_domain({'ROS_DOMAIN_ID': '17'}) == 17
    assert given_domain({}) is None
    with pytest.raises(JaguarError, match="ROS_DOMAIN_ID = 'x'"):
        given_domain({'ROS_DOMAIN_ID': 'x'})
    first, socket_1 = claim_domain()
    second, socket_2 = claim_domain()
    assert first != second
    socket_1.close()
    again, socket_3 = claim_domain()
    assert again == first
    socket_2.close()
    socket_3.close()


def test_child_that_ignores_the_end_is_killed(tmp_path, monkeypatch):
    with Children(tmp_path, patience_s=0.5) as children:
        code = 'import signal, time; signal.signal(signal.SIGINT, signal.SIG_IGN); time.sleep(60)'
        children._processes['deaf'] = subprocess.Popen([sys.executable, '-c', code])
        time.sleep(0.3)
    assert children.status('deaf') == -signal.SIGKILL
