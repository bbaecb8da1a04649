"""The subcommand export: what other tools read is what the bag says."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rosbags')

from bag_helpers import drive, pose, read, stamp, stamps, write
from tool_helpers import run

from jaguar_sensors_ros.nav.rotation import rotate
from jaguar_sensors_ros.truth.files import read_poses
from jaguar_sensors_ros.truth.trajectory import FigureEight


@pytest.fixture(scope='module')
def bag(tmp_path_factory):
    """Return a bag with odometry and what an IMU and a GNSS receiver said."""
    folder = tmp_path_factory.mktemp('bag')
    words = [str(drive(folder / 'in')), str(folder / 'out')]
    assert run('simulate', *words, '--seed', '1', '--with-input')[0] == 0
    return folder / 'out'


def export(bag, output, form, *topics):
    words = ['--topics', *topics] if topics else []
    status, out, err = run('export', str(bag), str(output), '--format', form, *words)
    assert status == 0, err
    return out


def rows(path):
    with path.open(newline='') as file:
        return list(csv.DictReader(file))


def test_csv_has_every_field_exactly(tmp_path, bag):
    export(bag, tmp_path / 'out', 'csv')
    found = read(bag)
    assert {path.name for path in (tmp_path / 'out').iterdir()} == {
        f'{topic[1:].replace("/", "_")}.csv' for topic in found
    }
    table = rows(tmp_path / 'out' / 'gps_fix.csv')
    for row, (t_ns, fix, _) in zip(table, found['/gps/fix'], strict=True):
        assert (int(row['bag_t_ns']), int(row['t_ns'])) == (t_ns, stamp(fix))
        assert row['header.frame_id'] == 'gps_link'
        assert float(row['latitude']) == fix.latitude
        assert int(row['status.status']) == fix.status.status
        covariance = [float(row[f'position_covariance.{i}']) for i in range(9)]
        assert covariance == fix.position_covariance.tolist()
    errors = rows(tmp_path / 'out' / 'imu_error.csv')
    assert all(row['fault_modes'] == '' for row in errors)
    frames = rows(tmp_path / 'out' / 'imu_increments.csv')
    for row, (_, frame, _) in zip(frames, found['/imu/increments'], strict=True):
        assert float(row['delta_theta_samples.z']) == frame.delta_theta_samples[0].z


def test_topics_choose_tables_and_sequences_are_one_column(tmp_path, bag):
    timeline = tmp_path / 'f.yaml'
    timeline.write_text(
        '- {at: 1, sensor: imu, mode: bias, magnitude: 0.5, target: gyro}\n'
        '- {at: 1, sensor: imu, mode: noise, target: all}\n'
    )
    words = [str(drive(tmp_path / 'in')), str(tmp_path / 'faulty'), '--timeline', str(timeline)]
    assert run('simulate', *words)[0] == 0
    export(tmp_path / 'faulty', tmp_path / 'out', 'csv', 'imu/err*')
    (path,) = (tmp_path / 'out').iterdir()
    last = rows(path)[-1]
    assert sorted(last['fault_modes'].split(';')) == ['bias', 'noise']
    assert sorted(map(float, last['fault_magnitudes'].split(';'))) == [0.5, 10.0]


def test_tum_is_read_back_exactly(tmp_path, bag):
    export(bag, tmp_path / 'track.txt', 'tum', '/odom')
    table = read_poses(tmp_path / 'track.txt')
    for i, t_ns in enumerate(stamps(1, 5, 50)):
        s = FigureEight().at(t_ns)
        assert (table.times_ns[i], table.positions[i], table.quaternions[i]) == (
            t_ns, s.p_n, s.q_nb
        )
    assert len(table.times_ns) == 201


def test_tum_takes_poses_too(tmp_path):
    source = write(
        tmp_path / 'in', {'/p': [(None, pose('PoseStamped', t)) for t in stamps(1, 2, 50)]}
    )
    export(source, tmp_path / 'track.txt', 'tum')
    table = read_poses(tmp_path / 'track.txt')
    assert table.times_ns == stamps(1, 2, 50)
    assert np.allclose(table.positions, [FigureEight().at(t).p_n for t in table.times_ns])


def test_euroc_is_read_back_exactly(tmp_path, bag):
    export(bag, tmp_path / 'out', 'euroc')
    folder = tmp_path / 'out' / 'mav0'
    assert sorted(path.name for path in folder.iterdir()) == [
        'imu0', 'state_groundtruth_estimate0'
    ]
    state = read_poses(folder / 'state_groundtruth_estimate0' / 'data.csv')
    for i, t_ns in enumerate(stamps(1, 5, 50)):
        s = FigureEight().at(t_ns)
        assert (state.times_ns[i], state.positions[i], state.quaternions[i]) == (
            t_ns, s.p_n, s.q_nb
        )
        assert np.allclose(state.velocities[i], rotate(s.q_nb, s.v_nb_b), rtol=0, atol=1e-12)
    found = read(bag)
    table = np.loadtxt(folder / 'imu0' / 'data.csv', delimiter=',', comments='#')
    for row, (_, message, _) in zip(table, found['/imu/data'], strict=True):
        w, a = message.angular_velocity, message.linear_acceleration
        assert row[1:].tolist() == [w.x, w.y, w.z, a.x, a.y, a.z]
    text = (folder / 'imu0' / 'data.csv').read_text().splitlines()
    assert [int(line.split(',')[0]) for line in text[1:]] == stamps(1.005, 5, 200)
    # the bias of the sample that ends at the stamp of the odometry
    errors = {stamp(m): m for _, m, _ in found['/imu/error']}
    lines = (folder / 'state_groundtruth_estimate0' / 'data.csv').read_text().splitlines()
    assert len(lines[0].split(',')) == 17
    for line in lines[2:]:
        values = line.split(',')
        bias = errors[int(values[0])].gyro_bias
        assert [float(v) for v in values[11:14]] == [bias.x, bias.y, bias.z]


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ('words', 'message'),
    [
        (['csv', '--topics', '/odometry'], 'has no topic /odometry; it has /gps/error'),
        (['tum', '--topics', '/gps/fix'], 'topic /gps/fix is a sensor_msgs/msg/NavSatFix'),
        (['tum', '--topics', '/odom', '/gps/fix'], 'one topic'),
        (['euroc', '--topics', '/gps/fix'], 'has no topic of type sensor_msgs/Imu'),
    ],
)
def test_what_cannot_be_exported_is_said_and_nothing_is_left(tmp_path, bag, words, message):
    status, out, err = run('export', str(bag), str(tmp_path / 'out'), '--format', *words)
    assert (status, out) == (2, '')
    assert message in err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize('form', ['csv', 'tum', 'euroc'])
def test_what_is_no_bag_or_damaged_is_refused_and_what_is_there_stays(tmp_path, bag, form):
    text = tmp_path / 'text.txt'
    text.write_text('1 0 0 0 0 0 0 1\n')
    for source, target, message in (
        (text, tmp_path / 'out', 'no ROS 2 bag'),
        (tmp_path / 'none', tmp_path / 'out', 'no ROS 2 bag'),
        (bag, text, 'exists'),
    ):
        status, _, err = run('export', str(source), str(target), '--format', form)
        assert (status, message in err) == (2, True), err
    broken = tmp_path / 'broken'
    broken.mkdir()
    for path in Path(bag).iterdir():
        data = path.read_bytes()
        keep = len(data) // 2 if path.suffix == '.mcap' else len(data)
        (broken / path.name).write_bytes(data[:keep])
    status, _, err = run('export', str(broken), str(tmp_path / 'out'), '--format', form)
    assert (status, str(broken) in err) == (2, True), err
    assert sorted(path.name for path in tmp_path.iterdir()) == ['broken', 'text.txt']


