"""The subcommand simulate: bags and trajectories in, bags with sensor topics out, without ROS."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip('rosbags')

from bag_helpers import SECOND, TYPES, drive, odometry, pose, read, stamp, stamps, write
from rosbags.rosbag2 import storage_mcap
from tool_helpers import CODE, run

from jaguar_sensors_ros.bags.writer import BagWriter
from jaguar_sensors_ros.catalogue import make_settings
from jaguar_sensors_ros.simulation import RUNS, ImuRun, SampleRun
from jaguar_sensors_ros.truth.columns import TruthColumns
from jaguar_sensors_ros.truth.trajectory import FigureEight

EUROC = Path(__file__).parent / 'data' / 'euroc_V1_02_excerpt.csv'
PARAMETERS = '''
/**:
  ros__parameters:
    fidelity: transparent
/**/imu:
  ros__parameters:
    sample_rate_hz: 200.0
/robot/gps:
  ros__parameters:
    update_hz: 5.0
'''


def simulate(*arguments):
    status, out, err = run('simulate', *map(str, arguments))
    assert status == 0, err
    return out, err


def left(folder):
    return sorted(path.name for path in folder.iterdir())


def test_the_defaults_are_an_imu_and_a_gps(tmp_path):
    out, _ = simulate(drive(tmp_path / 'in'), tmp_path / 'out', '--seed', '7')
    assert left(tmp_path) == ['in', 'out']
    assert left(tmp_path / 'out') == ['metadata.yaml', 'out.mcap']
    found = read(tmp_path / 'out')
    imu = [f'/imu/{n}' for n in ('data', 'data_raw', 'increments', 'temperature', 'error')]
    gps = [f'/gps/{n}' for n in ('fix', 'vel', 'vel_body', 'solution', 'error')]
    assert sorted(found) == sorted([*imu, *gps])
    # (1 s, 5 s] on the grids of 200 Hz and 1 Hz
    for topic in imu:
        assert [stamp(m) for _, m, _ in found[topic]] == stamps(1.005, 5.0, 200)
        assert [t for t, _, _ in found[topic]] == stamps(1.005, 5.0, 200)
    for topic in gps:
        assert [stamp(m) for _, m, _ in found[topic]] == stamps(2.0, 5.0, 1)
    assert '/imu/data: 800\n' in out
    assert 'random_seed: imu 7, gps 7\n' in out


def test_the_numbers_are_those_of_the_array_computation(tmp_path):
    simulate(drive(tmp_path / 'in'), tmp_path / 'out', '--seed', '7', '--topics', 'imu/data')
    found = read(tmp_path / 'out')
    assert list(found) == ['/imu/data']
    truth = TruthColumns.of(
        FigureEight().at(t)._replace(a_nb_b=None) for t in stamps(1.0, 5.0, 50)
    )
    run_ = ImuRun(make_settings('imu', {}), truth, 7)
    record, covariances = run_.record(), run_.covariances
    for i, (_, message, _) in enumerate(found['/imu/data']):
        rate, force = message.angular_velocity, message.linear_acceleration
        assert [rate.x, rate.y, rate.z] == record.angular_velocity[i].tolist()
        assert [force.x, force.y, force.z] == record.specific_force[i].tolist()
        assert tuple(message.angular_velocity_covariance) == covariances.angular_velocity


def test_a_transparent_gps_says_where_the_motion_is(tmp_path):
    pymap3d = pytest.importorskip('pymap3d')
    config = tmp_path / 'config.yaml'
    config.write_text(PARAMETERS)
    simulate(drive(tmp_path / 'in'), tmp_path / 'out', '--config', config)
    found = read(tmp_path / 'out')
    fixes = found['/robot/gps/fix']
    assert [stamp(m) for _, m, _ in fixes] == stamps(1.2, 5.0, 5)
    settings = make_settings('gps', {})
    for t_ns, fix, _ in fixes:
        east, north, up = pymap3d.geodetic2enu(
            fix.latitude, fix.longitude, fix.altitude, *settings.origin
        )
        # Hermite pieces of 20 ms between the messages; cubic errors stay below 0.1 mm here
        assert np.allclose((east, north, up), FigureEight().at(t_ns).p_n, atol=1e-4)


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_both_storages_are_read_and_written(tmp_path, storage):
    source = drive(tmp_path / 'in', storage=storage)
    simulate(source, tmp_path / 'out', '--seed', '1', '--storage', storage)
    simulate(drive(tmp_path / 'in2'), tmp_path / 'other', '--seed', '1')
    ours, theirs = read(tmp_path / 'out'), read(tmp_path / 'other')
    assert {k: [d for _, _, d in v] for k, v in ours.items()} == {
        k: [d for _, _, d in v] for k, v in theirs.items()
    }
    ending = {'mcap': 'out.mcap', 'sqlite3': 'out.db3'}[storage]
    assert left(tmp_path / 'out') == sorted(['metadata.yaml', ending])
    text = (tmp_path / 'out' / 'metadata.yaml').read_text()
    assert 'version: 8' in text
    assert f'storage_identifier: {storage}' in text


@pytest.mark.parametrize('kind', ['PoseStamped', 'PoseWithCovarianceStamped', 'TransformStamped'])
def test_poses_will_do_where_there_is_no_odometry(tmp_path, kind):
    source = write(tmp_path / 'in', {'/p': [(None, pose(kind, t)) for t in stamps(1, 4, 50)]})
    simulate(source, tmp_path / 'out', '--fidelity', 'transparent', '--topics', '/gps/vel_body')
    for t_ns, message, _ in read(tmp_path / 'out')['/gps/vel_body']:
        v = message.twist.twist.linear
        # what is derived from poses every 20 ms is as good as the splines, far below 1 mm/s
        assert np.allclose((v.x, v.y, v.z), FigureEight().at(t_ns).v_nb_b, atol=1e-3)


def test_a_trajectory_file_is_read(tmp_path):
    simulate(EUROC, tmp_path / 'out', '--seed', '1', '--topics', 'imu/*')
    times = [int(row.split(',')[0]) for row in EUROC.read_text().splitlines()[1:]]
    got = [stamp(m) for _, m, _ in read(tmp_path / 'out')['/imu/data']]
    # the first interval of 5 ms that the truth covers begins at or after its first row
    first = -(-times[0] // 5_000_000) + 1
    assert got == [k * 5_000_000 for k in range(first, times[-1] // 5_000_000 + 1)]


def test_start_and_duration_choose_a_part(tmp_path):
    source = drive(tmp_path / 'in')
    simulate(source, tmp_path / 'out', '--start', '1', '--duration', '2', '--topics', 'imu/data')
    assert [stamp(m) for _, m, _ in read(tmp_path / 'out')['/imu/data']] == stamps(2.005, 4, 200)


def test_the_bag_has_its_own_clock_where_stamps_are_of_another(tmp_path):
    # recorded 100 s later, by a clock that has nothing to do with the stamps
    messages = [(t + 100 * SECOND, odometry(t)) for t in stamps(1, 3, 50)]
    source = write(tmp_path / 'in', {'/odom': messages})
    simulate(source, tmp_path / 'out', '--with-input', '--topics', 'imu/data')
    found = read(tmp_path / 'out')
    assert [t - stamp(m) for t, m, _ in found['/imu/data']] == [100 * SECOND] * 400
    assert [data for _, _, data in found['/odom']] == [d for _, _, d in read(source)['/odom']]
    assert [t for t, _, _ in found['/odom']] == [t for t, _ in messages]


def test_latency_is_in_the_time_of_the_bag(tmp_path):
    config = tmp_path / 'c.yaml'
    config.write_text('/**/gps: {ros__parameters: {latency_s: 0.25, update_hz: 5.0}}')
    simulate(drive(tmp_path / 'in'), tmp_path / 'out', '--config', config)
    fixes = read(tmp_path / 'out')['/gps/fix']
    assert [t - stamp(m) for t, m, _ in fixes] == [SECOND // 4] * 20


def test_time_that_goes_back_switches_off_and_on_as_live(tmp_path):
    once = [(100 * SECOND + t, odometry(t)) for t in stamps(1, 3, 50)]
    again = [(200 * SECOND + t, odometry(t)) for t in stamps(1, 3, 50)]
    source = write(tmp_path / 'in', {'/odom': [*once, *again]})
    _, err = simulate(source, tmp_path / 'out', '--seed', '2', '--topics', 'imu/data')
    assert '202 messages, of these 1 reset' in err
    messages = [m for _, m, _ in read(tmp_path / 'out')['/imu/data']]
    assert [stamp(m) for m in messages] == stamps(1.005, 3, 200) * 2
    truth = TruthColumns.of(
        FigureEight().at(t)._replace(a_nb_b=None) for t in stamps(1.0, 3.0, 50)
    )
    for power_on in (0, 1):
        record = ImuRun(make_settings('imu', {}), truth, 2, power_on=power_on).record()
        rates = [m.angular_velocity for m in messages[400 * power_on : 400 * (power_on + 1)]]
        assert [[w.x, w.y, w.z] for w in rates] == record.angular_velocity.tolist()


def test_a_gap_is_counted_and_not_bridged(tmp_path):
    times = [*stamps(1, 2, 50), *stamps(6, 7, 50)]
    source = write(tmp_path / 'in', {'/odom': [(None, odometry(t)) for t in times]})
    _, err = simulate(source, tmp_path / 'out', '--topics', 'imu/data')
    assert '102 messages, of these 1 gap' in err
    got = [stamp(m) for _, m, _ in read(tmp_path / 'out')['/imu/data']]
    assert got == [*stamps(1.005, 2, 200), *stamps(6.005, 7, 200)]


@pytest.mark.parametrize('kind', ['imu', 'gps'])
def test_a_type_without_array_computation_is_written_sample_by_sample(
    tmp_path, monkeypatch, kind
):
    config = tmp_path / 'c.yaml'
    config.write_text(
        '/**/imu: {ros__parameters: {increments.samples: 2}}\n'
        '/**/gps: {ros__parameters: {update_hz: 5.0, cold_start_s: 1.0}}\n'
    )
    common = (drive(tmp_path / 'in'), '--config', config, '--seed', '3')
    simulate(*common, tmp_path / 'arrays')
    monkeypatch.delitem(RUNS, kind)
    _, err = simulate(*common, tmp_path / 'singly')
    assert f'{kind}: made sample by sample, which is slower, for its type, {kind}' in err
    ours, theirs = read(tmp_path / 'singly'), read(tmp_path / 'arrays')
    assert sorted(ours) == sorted(theirs)
    for topic, messages in ours.items():
        assert [(t, d) for t, _, d in messages] == [(t, d) for t, _, d in theirs[topic]]


def test_a_timeline_acts_and_labels_its_faults(tmp_path):
    timeline = tmp_path / 'faults.yaml'
    timeline.write_text(
        '- {at: 1.0, sensor: imu, mode: bias, magnitude: 0.5, target: gyro, duration: 1.0}\n'
        '- {at: 2.0, sensor: gps, mode: satellite_loss, magnitude: 20, duration: 1.0}\n'
    )
    common = (drive(tmp_path / 'in'), '--seed', '3')
    _, err = simulate(*common, tmp_path / 'out', '--timeline', timeline)
    assert 'imu: made sample by sample, which is slower, for timeline' in err
    simulate(*common, tmp_path / 'clean')
    ours, clean = read(tmp_path / 'out'), read(tmp_path / 'clean')
    for (_, error, _), (_, m, _), (_, c, _) in zip(
        ours['/imu/error'], ours['/imu/data'], clean['/imu/data'], strict=True
    ):
        hit = 2 * SECOND < stamp(m) <= 3 * SECOND
        assert error.fault_modes == (['bias'] if hit else [])
        shift = m.angular_velocity.x - c.angular_velocity.x
        assert shift == pytest.approx(0.5 if hit else 0.0, abs=1e-12)
    kinds = {stamp(m): m.status.status for _, m, _ in ours['/gps/fix']}
    # counted from power-on at 1 s: lost after 3 s and up to 4 s
    assert kinds == {2 * SECOND: 0, 3 * SECOND: 0, 4 * SECOND: -1, 5 * SECOND: 0}
    assert [stamp(m) for _, m, _ in ours['/gps/vel']] == [2 * SECOND, 3 * SECOND, 5 * SECOND]


def test_increments_of_two_samples_come_at_half_the_rate(tmp_path):
    config = tmp_path / 'c.yaml'
    config.write_text('/**/imu: {ros__parameters: {increments.samples: 2}}')
    simulate(drive(tmp_path / 'in'), tmp_path / 'out', '--config', config)
    frames = read(tmp_path / 'out')['/imu/increments']
    assert [stamp(m) for _, m, _ in frames] == stamps(1.01, 5, 100)
    assert all(len(m.dt_samples) == 2 and sum(m.dt_samples) == m.dt for _, m, _ in frames)


def test_the_mount_is_published_where_asked_for(tmp_path):
    config = tmp_path / 'c.yaml'
    config.write_text(
        '/**/imu: {ros__parameters: {publish_mount_tf: true, mount.position: [1.0, 2.0, 3.0]}}'
    )
    simulate(drive(tmp_path / 'in'), tmp_path / 'out', '--config', config)
    ((t_ns, message, _),) = read(tmp_path / 'out')['/tf_static']
    (transform,) = message.transforms
    assert (t_ns, transform.header.frame_id) == (SECOND, 'base_link')
    assert transform.child_frame_id == 'imu_link'
    p, q = transform.transform.translation, transform.transform.rotation
    assert (p.x, p.y, p.z, q.x, q.y, q.z, q.w) == (1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0)
    assert 'durability: 1' in (tmp_path / 'out' / 'metadata.yaml').read_text()


def test_magnetometer_and_barometer_are_written_under_their_live_names(tmp_path):
    config = tmp_path / 'suite.yaml'
    config.write_text(
        'sensors:\n'
        '- {name: compass, type: mag, namespace: nose, parameters: {imu_name: imu_2}}\n'
        '- {name: height, type: baro}\n'
    )
    simulate(drive(tmp_path / 'in'), tmp_path / 'out', '--config', config, '--seed', '1')
    found = read(tmp_path / 'out')
    assert sorted(found) == [
        '/height/error', '/height/pressure', '/nose/compass/error', '/nose/imu_2/mag'
    ]
    for kind, name, topic in (('mag', 'nose/compass', '/nose/imu_2/mag'),
                              ('baro', 'height', '/height/pressure')):
        values = {'imu_name': 'imu_2'} if kind == 'mag' else {}
        truth = TruthColumns.of(
            FigureEight().at(t)._replace(a_nb_b=None) for t in stamps(1.0, 5.0, 50)
        )
        samples = list(SampleRun(kind, make_settings(kind, values), truth, 1, name).samples())
        assert [stamp(m) for _, m, _ in found[topic]] == [s.t_ns for s in samples]
        last = found[topic][-1][1]
        if kind == 'mag':
            field = last.magnetic_field
            assert (field.x, field.y, field.z) == samples[-1].field
        else:
            assert last.fluid_pressure == samples[-1].pressure


def test_a_suite_has_several_sensors(tmp_path):
    config = tmp_path / 'suite.yaml'
    config.write_text(
        'sensors:\n'
        '- {name: left, type: imu}\n'
        '- {name: right, type: imu, namespace: wing}\n'
        '- {name: third, type: imu}\n'
        'fused: [{name: voted, inputs: [left, wing/right, third]}]\n'
    )
    _, err = simulate(
        drive(tmp_path / 'in'), tmp_path / 'out', '--config', config, '--seed', '1', '--topics',
        '*/data', '/wing/right/error',
    )
    assert 'fused outputs are left out: voted' in err
    found = read(tmp_path / 'out')
    assert sorted(found) == ['/left/data', '/third/data', '/wing/right/data', '/wing/right/error']
    first = [found[name][0][2] for name in ('/left/data', '/third/data')]
    assert first[0] != first[1]  # one seed, streams of their own


# ---------------------------------------------------------------------- bad input


def refused(tmp_path, *arguments, out='out'):
    before = left(tmp_path)
    status, said, err = run('simulate', *map(str, arguments), str(tmp_path / out))
    assert (status, said) == (2, '')
    assert left(tmp_path) == before
    lines = [line for line in err.splitlines() if not line.startswith(('reading', 'simulation'))]
    assert len(lines) == 1, err
    return lines[0]


def cut(path, share):
    (file,) = [p for p in path.iterdir() if p.suffix in ('.mcap', '.db3')]
    data = file.read_bytes()
    file.write_bytes(data[: int(len(data) * share)])
    return path


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
@pytest.mark.parametrize('share', [0.0, 0.01, 0.5, 0.9, 0.999])
def test_a_truncated_bag_is_refused_and_nothing_is_left(tmp_path, storage, share):
    source = cut(drive(tmp_path / 'in', storage=storage), share)
    assert str(source) in refused(tmp_path, source)


def test_what_the_bag_has_not_is_named(tmp_path):
    text = {'/odom': [(None, odometry(SECOND))], '/a': [(None, pose('PoseStamped', SECOND))]}
    source = write(tmp_path / 'in', text)
    said = refused(tmp_path, source, '--odom-topic', '/odometry')
    assert 'has no topic /odometry' in said
    assert '/odom (nav_msgs/msg/Odometry)' in said
    twist = 'geometry_msgs/msg/TwistWithCovarianceStamped'
    config = tmp_path / 'c.yaml'
    config.write_text('/**/gps: {ros__parameters: {update_hz: 5.0}}')
    simulate(drive(tmp_path / 'd'), tmp_path / 'made', '--config', config)
    said = refused(tmp_path, tmp_path / 'made', '--odom-topic', '/gps/vel')
    assert f'topic /gps/vel is a {twist}; must be nav_msgs/msg/Odometry' in said
    assert 'has no topic with odometry or poses' in refused(tmp_path, tmp_path / 'made')


def test_several_odometries_must_be_chosen_from_but_for_ground_truth(tmp_path):
    messages = [(None, odometry(t)) for t in stamps(1, 2, 50)]
    source = write(tmp_path / 'in', {'/odom': messages, '/filtered': messages})
    assert 'set --odom-topic to one of /filtered, /odom' in refused(tmp_path, source)
    usual = write(tmp_path / 'usual', {'/ground_truth/odom': messages, '/filtered': messages})
    simulate(usual, tmp_path / 'out')


def test_bytes_that_are_no_odometry_are_named_by_message(tmp_path):
    bag = BagWriter(tmp_path / 'in', {'/odom': 'nav_msgs/msg/Odometry'})
    good = TYPES.serialize(odometry(SECOND))
    for i, data in enumerate((good, good[:-100], b'')):
        bag.write('/odom', SECOND + i, data)
    bag.finish()
    assert 'topic /odom: message 2 cannot be read: too few bytes' in refused(
        tmp_path, tmp_path / 'in'
    )


def test_a_time_without_two_messages_is_refused(tmp_path):
    source = drive(tmp_path / 'in')
    said = refused(tmp_path, source, '--start', '100')
    assert 'no two successive messages to go by (0 in the time asked)' in said
    alone = write(tmp_path / 'alone', {'/odom': [(None, odometry(SECOND))]})
    assert 'no two successive messages to go by (1 in' in refused(tmp_path, alone)


def test_a_full_disk_leaves_nothing(tmp_path, monkeypatch):
    def full(self, *arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    source = drive(tmp_path / 'in')
    monkeypatch.setattr(storage_mcap.McapWriter, 'close_chunk', full)
    assert 'out: cannot be written: No space left on device' in refused(tmp_path, source)


def test_bad_messages_are_dropped_and_counted_as_live(tmp_path):
    good = [odometry(t) for t in stamps(1, 3, 50)]
    good[10].pose.pose.position.x = float('nan')
    source = write(tmp_path / 'in', {'/odom': [(None, m) for m in good]})
    _, err = simulate(source, tmp_path / 'out')
    assert '101 messages, of these 1 not finite' in err


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        ('/**/imu: {ros__parameters: {sample_rate: 3}}', 'sample_rate'),
        ('/**/imu: {ros__parameters: {sample_rate_hz: -3.0}}', 'sample_rate_hz'),
        ('/**/imu: {ros__parameters: {truth.source: static}}', 'truth.source'),
        ('/**/imu: {ros__parameters: {truth.acceleration: topic}}', 'truth.acceleration'),
        ('/**/imu: {ros__parameters: {mount.source: tf}}', 'mount.source'),
        ('/**/ekf: {ros__parameters: {rate: 3}}', 'names no sensor'),
        ('/**/imu: {ros__parameters: {}, more: 1}', 'nothing else'),
        ('imu: [', 'line 1'),
        ('sensors: [{name: a, type: lidar}]', 'not modelled'),
    ],
)
def test_a_bad_configuration_is_refused(tmp_path, text, message):
    config = tmp_path / 'c.yaml'
    config.write_text(text)
    assert message in refused(tmp_path, drive(tmp_path / 'in'), '--config', config)


def test_a_bad_row_of_a_trajectory_is_named_by_line_and_column(tmp_path):
    file = tmp_path / 'track.txt'
    file.write_text('1.0 0 0 0 0 0 0 1\n1.1 0 0 x 0 0 0 1\n')
    assert f'{file}: line 2, column 4 (z)' in refused(tmp_path, file)


def test_topics_that_nobody_has_are_refused(tmp_path):
    source = drive(tmp_path / 'in')
    said = refused(tmp_path, source, '--topics', 'imu/date', '--')
    assert '--topics imu/date: there is no such topic; there are /imu/data' in said
    other = tmp_path / 'f.yaml'
    other.write_text('- {at: 1, sensor: imu_2, mode: total}')
    assert 'no sensor imu_2; there are imu, gps' in refused(
        tmp_path, source, '--timeline', other
    )


def test_what_is_there_stays_unless_told_otherwise(tmp_path):
    source, target = drive(tmp_path / 'in'), tmp_path / 'out'
    target.mkdir()
    (target / 'thesis.txt').write_text('work of years')
    assert 'is no bag' in refused(tmp_path, source, '--overwrite')
    (target / 'thesis.txt').unlink()
    target.rmdir()
    simulate(source, target, '--topics', 'gps/fix')
    assert '--overwrite replaces it' in refused(tmp_path, source)
    simulate(source, target, '--topics', 'imu/data', '--overwrite')
    assert list(read(target)) == ['/imu/data']
    assert 'is the input' in refused(tmp_path, source, '--overwrite', out='in')
    assert 'has a topic /imu/data already' in refused(
        tmp_path, write(tmp_path / 'b', {
            '/odom': [(None, odometry(t)) for t in stamps(1, 2, 50)],
            '/imu/data': [(None, pose('PoseStamped', SECOND))],
        }), '--with-input', out='c',
    )


def test_an_interrupted_run_leaves_nothing(tmp_path):
    source = drive(tmp_path / 'in', 200.0, 20.0)
    code = (
        'import os, signal\n'
        'from jaguar_sensors_ros.bags.writer import BagWriter\n'
        # who starts the tests in the background may have it ignored
        'signal.signal(signal.SIGINT, signal.default_int_handler)\n'
        'write = BagWriter.write\n'
        'def stop(self, *a):\n'
        '    write(self, *a)\n'
        '    if self.counts["/imu/data"] == 5000:\n'
        '        os.kill(os.getpid(), signal.SIGINT)\n'
        'BagWriter.write = stop\n'
    )
    words = ['simulate', str(source), str(tmp_path / 'out')]
    done = subprocess.run(
        [sys.executable, '-c', code + CODE, *words], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert 'Traceback' not in done.stderr
    assert left(tmp_path) == ['in']


def test_no_ros_is_needed(tmp_path):
    source = drive(tmp_path / 'in')
    code = (
        'import sys\n'
        'for name in ("rclpy", "ament_index_python", "sensor_msgs", "jaguar_sensors_msgs"):\n'
        '    sys.modules[name] = None\n'
    )
    words = ['simulate', str(source), str(tmp_path / 'out'), '--seed', '1']
    done = subprocess.run(
        [sys.executable, '-c', code + CODE, *words], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert len(read(tmp_path / 'out')['/imu/data']) == 800


def test_without_the_library_a_way_out_is_told(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, 'rosbags.highlevel', None)
    source = drive(tmp_path / 'in')
    assert 'pip install jaguar_sensors_ros[bags]' in refused(tmp_path, source)
