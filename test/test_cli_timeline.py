"""jaguar_sensors inject --timeline: checked here, loaded into all sensors it names or none."""

from __future__ import annotations

import io
import sys

import pytest
from cli_helpers import fake, run

IMUS = '- {at: 1.5, sensor: imu*, mode: bias, magnitude: 0.01, axis: x, duration: 2}\n'
GPS = '- {at: 3, sensor: gps, mode: satellite_loss, magnitude: 3}\n'


@pytest.fixture
def file(tmp_path):
    """Return a function that writes a timeline file and returns its path."""

    def write(text):
        path = tmp_path / 'faults.yaml'
        path.write_text(text, encoding='utf-8')
        return str(path)

    return write


@pytest.fixture
def sensors(graph, monkeypatch):
    """Start two IMUs and a GPS; returns a function that also tells what they refuse."""
    # they are of one process and appear together
    monkeypatch.setattr('jaguar_sensors_ros.ros.client.SURE_S', 0.5)

    def start(**refuses):
        return {
            name: fake(
                graph, kind=name[:3], refuses=refuses.get(name, ()),
                arguments=['-r', f'__node:={name}'],
            ).node
            for name in ('imu_1', 'imu_2', 'gps')
        }

    return start


def loaded(sensors):
    return {name: [request.timeline for _, request in s.asked] for name, s in sensors.items()}


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('', 'has no events; jaguar_sensors clear takes faults away'),
        ('[]', 'has no events'),
        ('- {at: 1, sensor: imu', 'not valid YAML'),
        ('- {at: 1, sensor: imu, mode: foo}', "event 1: mode 'foo' is unknown; valid: none, bias"),
        (IMUS + '- {at: -1, sensor: imu, mode: total}', 'event 2: at = -1'),
        ('- {at: 1, sensor: imu, mode: total, targt: all}', 'there is no key targt'),
    ],
)
def test_bad_file_needs_no_ros(file, monkeypatch, text, message):
    monkeypatch.setitem(sys.modules, 'rclpy', None)
    status, out, err = run('inject', '--timeline', file(text))
    assert (status, out) == (2, '')
    assert 'faults.yaml' in err and message in err


def test_file_that_is_not_there(tmp_path):
    assert run('inject', '--timeline', '') == (
        2, '', 'jaguar_sensors: --timeline: the name of a file is missing\n',
    )
    status, _, err = run('inject', '--timeline', str(tmp_path / 'no.yaml'))
    assert status == 2 and 'no.yaml: cannot be read: No such file' in err
    assert run('inject', '--timeline', str(tmp_path))[0] == 2


@pytest.mark.ros
@pytest.mark.parametrize(
    ('text', 'who'), [(IMUS, ['imu_1', 'imu_2']), (IMUS + GPS, ['imu_1', 'imu_2', 'gps'])]
)
def test_text_goes_to_the_sensors_that_it_names(sensors, file, text, who):
    fakes = sensors()
    status, out, err = run('inject', '--timeline', file(text), '--timeout', '20')
    assert (status, err) == (0, '')
    assert sorted(out.splitlines()) == sorted(f'/{name}: inject_timeline done' for name in who)
    assert loaded(fakes) == {name: [text] if name in who else [] for name in fakes}


@pytest.mark.ros
def test_standard_input(sensors, monkeypatch):
    fakes = sensors()
    monkeypatch.setattr(sys, 'stdin', io.StringIO(GPS))
    assert run('inject', '--timeline', '-', '--timeout', '20')[0] == 0
    assert loaded(fakes) == {'imu_1': [], 'imu_2': [], 'gps': [GPS]}


@pytest.mark.ros
def test_name_without_a_sensor_is_told_and_nothing_is_sent(sensors, file):
    fakes = sensors()
    run('state', *fakes, '--once', '--timeout', '20')
    text = IMUS + '- {at: 1, sensor: lidar*, mode: total}\n'
    status, out, err = run('inject', '--timeline', file(text), '--timeout', '5')
    assert (status, out) == (1, '')
    assert 'there is no sensor lidar* in ROS domain' in err
    assert 'found /gps, /imu_1, /imu_2' in err
    assert not any(loaded(fakes).values())


@pytest.mark.ros
def test_event_that_a_sensor_cannot_have_is_told_and_nothing_is_sent(sensors, file):
    fakes = sensors()
    text = GPS + '- {at: 1, sensor: "*", mode: bias, magnitude: 1, target: gyro}\n'
    status, out, err = run('inject', '--timeline', file(text), '--timeout', '20')
    assert (status, out) == (2, '')
    assert "faults.yaml: event 2: /gps: target 'gyro' is not valid for bias" in err
    assert 'nothing was sent' in err and not any(loaded(fakes).values())


@pytest.mark.ros
def test_refusal_takes_it_back_from_the_others(sensors, file):
    fakes = sensors(imu_2=['inject_timeline'])
    status, out, err = run('inject', '--timeline', file(GPS + IMUS), '--timeout', '20')
    assert status == 2
    assert out == '/gps: inject_timeline done\n/imu_1: inject_timeline done\n'
    assert '/imu_2/inject_timeline: refused: locked' in err
    assert '/gps: taken back, it has no timeline now' in err
    assert loaded(fakes) == {
        'imu_1': [GPS + IMUS, ''], 'gps': [GPS + IMUS, ''], 'imu_2': [GPS + IMUS],
    }


@pytest.mark.ros
def test_on_a_sensor_of_ours(graph, file):
    from jaguar_sensors_ros.ros.imu_node import ImuNode

    graph.start(ImuNode, truth__source='static', random_seed=1)
    assert run('inject', '--timeline', file(IMUS), '--timeout', '20')[0] == 0
