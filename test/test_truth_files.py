"""Trajectory files and bags: good ones are read exactly, bad ones refused by line and column."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from jaguar_sensors_ros.catalogue import TRUTH
from jaguar_sensors_ros.component import ParameterError, build
from jaguar_sensors_ros.nav.rotation import norm, rotate, subtract
from jaguar_sensors_ros.truth.bag import OdometryRecording
from jaguar_sensors_ros.truth.curve import TrajectoryCurve
from jaguar_sensors_ros.truth.files import open_truth, read_poses
from jaguar_sensors_ros.truth.player import Player, load_source
from jaguar_sensors_ros.truth.player_settings import PlayerSettings
from jaguar_sensors_ros.truth.trajectory import Circle, FigureEight, Racetrack
from jaguar_sensors_ros.types import JaguarError

EUROC = Path(__file__).parent / 'data' / 'euroc_V1_02_excerpt.csv'
SECOND = 10**9


def tum_line(source, t_ns):
    s = source.at(t_ns)
    values = (*s.p_n, *s.q_nb[1:], s.q_nb[0])
    return f'{t_ns // SECOND}.{t_ns % SECOND:09d} ' + ' '.join(f'{v:.17g}' for v in values)


@pytest.fixture
def tum(tmp_path):
    path = tmp_path / 'circle.txt'
    times = [1_700_000_000 * SECOND + 7 + k * 10_000_000 for k in range(300)]
    source = Circle(start_ns=times[0])
    path.write_text('# t x y z qx qy qz qw\n' + '\n'.join(tum_line(source, t) for t in times))
    return path


def write_bag(path, topics, storage='mcap', stamps=None, position=None, orientation=None):
    """Write odometry of a circle, one message per stamp and topic."""
    rosbag2 = pytest.importorskip('rosbags.rosbag2')
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_JAZZY)
    t = store.types
    plugin = rosbag2.StoragePlugin.MCAP if storage == 'mcap' else rosbag2.StoragePlugin.SQLITE3
    with rosbag2.Writer(path, version=9, storage_plugin=plugin) as writer:
        for topic, kind in topics.items():
            connection = writer.add_connection(topic, kind, typestore=store)
            if kind != 'nav_msgs/msg/Odometry':
                continue
            for k, stamp in enumerate(stamps or [SECOND + j * 20_000_000 for j in range(50)]):
                s = Circle().at(stamp)
                w, x, y, z = orientation or s.q_nb
                header = t['std_msgs/msg/Header'](
                    t['builtin_interfaces/msg/Time'](stamp // SECOND, stamp % SECOND), 'odom'
                )
                vector, point = t['geometry_msgs/msg/Vector3'], t['geometry_msgs/msg/Point']
                pose = t['geometry_msgs/msg/Pose'](
                    point(*(position or s.p_n)), t['geometry_msgs/msg/Quaternion'](x, y, z, w)
                )
                twist = t['geometry_msgs/msg/Twist'](vector(*s.v_nb_b), vector(*s.omega_nb_b))
                message = t[kind](
                    header,
                    'base_footprint',
                    t['geometry_msgs/msg/PoseWithCovariance'](pose, np.arange(36.0)),
                    t['geometry_msgs/msg/TwistWithCovariance'](twist, np.full(36, float(k))),
                )
                writer.write(connection, SECOND + k, store.serialize_cdr(message, kind))
    return path


ODOM = 'nav_msgs/msg/Odometry'


def test_euroc_rows_are_exact_and_agree_with_their_own_velocities():
    table = read_poses(EUROC)
    assert table.times_ns[:2] == [1403715544907143168, 1403715544912143104]
    assert len(table.lines) == 40 and table.lines[0] == 2
    curve = table.curve()
    assert [curve.at(t).p_n for t in table.times_ns] == [pytest.approx(p) for p in table.positions]
    # the file's velocities belong to another smoother than its poses: 5 mm/s RMS over the
    # whole sequence, 40 mm/s at most
    for t_ns, v in zip(table.times_ns, table.velocities, strict=True):
        sample = curve.at(t_ns)
        assert norm(subtract(rotate(sample.q_nb, sample.v_nb_b), v)) < 0.04


def test_euroc_columns_are_found_by_name(tmp_path):
    lines = EUROC.read_text().splitlines()
    swapped = []
    for line in lines:
        row = line.split(',')
        swapped.append(','.join([row[0], *row[4:8], *row[1:4]]))
    path = tmp_path / 'data.csv'
    path.write_text('\n'.join(swapped))
    assert read_poses(path).positions == read_poses(EUROC).positions
    assert read_poses(path).velocities == []


def test_byte_order_mark_windows_line_ends_and_blank_lines_are_accepted(tmp_path, tum):
    for original in (EUROC, tum):
        path = tmp_path / 'windows'
        text = '\ufeff' + original.read_text().replace('\n', '\r\n') + '\r\n\r\n'
        path.write_bytes(text.encode())
        assert read_poses(path).positions == read_poses(original).positions


def test_tum_times_and_poses_are_exact(tum):
    table = read_poses(tum)
    assert table.times_ns[:2] == [1_700_000_000_000_000_007, 1_700_000_000_010_000_007]
    curve = open_truth(str(tum))
    assert isinstance(curve, TrajectoryCurve)
    source = Circle(start_ns=curve.start_ns)
    middle_ns = curve.start_ns + 1_504_321_000
    # cubic spline: 5/384 h^4 v w^3 and h^2/12 of the fourth derivative, h = 0.01 s
    assert curve.at(middle_ns).p_n == pytest.approx(source.at(middle_ns).p_n, abs=1e-9)
    assert curve.at(middle_ns).a_nb_b == pytest.approx((0.0, 2.5, 0.0), abs=1e-5)
    assert curve.at(middle_ns).omega_nb_b == pytest.approx((0.0, 0.0, 0.5), abs=1e-8)


@pytest.mark.parametrize(
    ('text', 'time_ns'),
    [
        ('1305031102.175304', 1305031102175304000),
        ('1.403715524907143168e+09', 1403715524907143168),
        ('0.1', 100_000_000),
        ('0.0000000004', 0),
        ('12', 12 * SECOND),
    ],
)
def test_tum_decimal_seconds(tmp_path, text, time_ns):
    path = tmp_path / 't.txt'
    path.write_text(f'{text} 0 0 0 0 0 0 1\n')
    assert read_poses(path).times_ns == [time_ns]


GOOD = ['1 0 0 0 0 0 0 1', '2 0 0 0 0 0 0 1', '3 0 0 0 0 0 0 1']


@pytest.mark.parametrize(
    ('line', 'message'),
    [
        ('2 0 zero 0 0 0 0 1', r"line 3, column 3 \(y\): 'zero' is not a finite number"),
        ('2 0 0 0 0 0 nan 1', r"line 3, column 7 \(qz\): 'nan' is not a finite number"),
        ('2 0 0 1_0 0 0 0 1', r"column 4 \(z\): '1_0' is not"),
        ('2 0 0 0 0 0', 'line 3: 6 columns where TUM has 8; the line is cut off'),
        ('2 0 0 0 0 0 0 1 9', 'line 3: 9 columns where TUM has 8$'),
        ('two 0 0 0 0 0 0 1', r"line 3, column 1 \(t\): 'two' is not a time in seconds"),
        ('inf 0 0 0 0 0 0 1', r"'inf' is not a time in seconds"),
        ('1e99999 0 0 0 0 0 0 1', 'time 1e99999 is outside of 0 to 2147483647 s'),
        ('-1 0 0 0 0 0 0 1', 'time -1 is outside'),
        ('0.5 0 0 0 0 0 0 1', 'line 3 goes back in time from 1000000000 ns to 500000000 ns'),
        ('1.0 0 0 0 0 0 0 1', 'line 3 repeats the time 1000000000 ns'),
        ('2 0 0 0 0 0 0 0', 'line 3 has a zero quaternion'),
        ('2 0 0 0 1 0 0 0', 'turns by 180 deg from .*line 2 to .*line 3'),
    ],
)
def test_bad_tum_lines_are_named(tmp_path, line, message):
    path = tmp_path / 'bad.txt'
    path.write_text('\n'.join(['# comment', GOOD[0], line, GOOD[2]]))
    with pytest.raises(JaguarError, match=message) as info:
        open_truth(path)
    assert str(path) in str(info.value) and '\n' not in str(info.value)


def euroc_with(line=None, header=None):
    lines = EUROC.read_text().splitlines()
    lines[0] = header or lines[0]
    lines[5] = line(lines[5]) if line else lines[5]
    return '\n'.join(lines)


@pytest.mark.parametrize(
    ('text', 'message'),
    [
        (euroc_with(lambda s: s[: len(s) // 2]), r'line 6: \d+ columns where the header has 17'),
        (euroc_with(lambda s: s.replace(',', ',x', 1)), r'line 6, column 2 \(p_RS_R_x \[m\]\)'),
        (euroc_with(lambda s: '1.4e18' + s[s.index(',') :]), 'whole number of nanoseconds'),
        (euroc_with(lambda s: '-5' + s[s.index(',') :]), 'outside of 0'),
        (euroc_with(header='#timestamp, p_RS_R_x [m]'), 'line 1: the header lacks p_rs_r_y'),
        (euroc_with(header='time,a,b'), 'not a trajectory; accepted are EuRoC'),
        (EUROC.read_text().splitlines()[0], 'has no rows'),
        ('\n'.join(EUROC.read_text().splitlines()[:2]), 'single row'),
        ('', 'not a trajectory'),
        ('# only a comment\n', 'not a trajectory'),
        ('1 2 3\n', 'not a trajectory'),
        ('#timestamps are fun\n', 'line 1: the header'),
    ],
)
def test_bad_text_files_are_refused(tmp_path, text, message):
    path = tmp_path / 'bad.csv'
    path.write_text(text)
    with pytest.raises(JaguarError, match=message) as info:
        open_truth(path)
    assert str(path) in str(info.value)


def test_what_is_no_trajectory_at_all_is_refused(tmp_path, tum):
    (tmp_path / 'noise').write_bytes(bytes(range(256)) * 50)
    (tmp_path / 'bag1').write_bytes(b'#ROSBAG V2.0\n\xff\xfe')
    (tmp_path / 'folder').mkdir()
    for name in ('noise', 'bag1', 'folder', 'absent'):
        with pytest.raises(JaguarError, match='accepted are'):
            open_truth(tmp_path / name)
    with pytest.raises(JaguarError, match='only a bag has topics'):
        open_truth(tum, topic='/odom')


@pytest.mark.parametrize('storage', ['mcap', 'sqlite3'])
def test_bag_is_read_verbatim_from_folder_and_file(tmp_path, storage):
    folder = write_bag(tmp_path / 'bag', {'/odom': ODOM, '/text': 'std_msgs/msg/String'}, storage)
    (inside,) = (path for path in folder.iterdir() if path.suffix != '.yaml')
    for path in (folder, inside):
        recording = open_truth(path)
        assert isinstance(recording, OdometryRecording)
        assert (recording.topic, len(recording.rows)) == ('/odom', 50)
        row, truth = recording.rows[7], Circle().at(SECOND + 140_000_000)
        assert (row.t_ns, row.frame_id, row.child_frame_id) == (
            SECOND + 140_000_000,
            'odom',
            'base_footprint',
        )
        assert (row.position, row.orientation) == (truth.p_n, truth.q_nb)
        assert (row.linear, row.angular) == (truth.v_nb_b, truth.omega_nb_b)
        assert row.pose_covariance == tuple(range(36))
        assert row.twist_covariance == (7.0,) * 36
        assert row.sample().v_nb_b == truth.v_nb_b
        assert recording.curve().at(row.t_ns).a_nb_b == pytest.approx((0, 2.5, 0), abs=1e-3)


def test_topic_of_a_bag_must_be_clear(tmp_path):
    two = write_bag(tmp_path / 'two', {'/a/odom': ODOM, '/b/odom': ODOM})
    with pytest.raises(JaguarError, match='set topic to one of /a/odom, /b/odom'):
        open_truth(two)
    assert open_truth(two, topic='/b/odom').topic == '/b/odom'
    with pytest.raises(JaguarError, match='topic /c: must be one of /a/odom, /b/odom'):
        open_truth(two, topic='/c')
    none = write_bag(tmp_path / 'none', {'/text': 'std_msgs/msg/String'})
    with pytest.raises(JaguarError, match=r'no topic of type nav_msgs/Odometry; .*/text'):
        open_truth(none)


@pytest.mark.parametrize(
    ('options', 'message'),
    [
        ({'stamps': [0, 5]}, 'message 1 has the stamp 0 ns'),
        ({'stamps': [9, 5]}, 'message 2 has the stamp 5 ns, not later than the 9 ns'),
        ({'stamps': [5, 6, 6]}, 'message 3 has the stamp 6 ns, not later'),
        ({'position': (0.0, float('nan'), 0.0)}, 'message 1 has a value that is not finite'),
        ({'orientation': (0.0, 0.0, 0.0, 0.0)}, 'message 1 has a zero quaternion'),
    ],
)
def test_bad_odometry_is_refused(tmp_path, options, message):
    path = write_bag(tmp_path / 'bag', {'/odom': ODOM}, **options)
    with pytest.raises(JaguarError, match=message):
        open_truth(path)


def test_damaged_bag_is_refused(tmp_path):
    folder = write_bag(tmp_path / 'bag', {'/odom': ODOM})
    (inside,) = folder.glob('*.mcap')
    whole = inside.read_bytes()
    for size in (8, 100, len(whole) // 2, len(whole) - 3):
        path = tmp_path / 'cut.mcap'
        path.write_bytes(whole[:size])
        with pytest.raises(JaguarError, match=r'cut\.mcap: the bag'):
            open_truth(path)


def test_missing_library_is_named_with_the_extra(tmp_path, monkeypatch):
    path = tmp_path / 'x.mcap'
    path.write_bytes(b'\x89MCAP0\r\n')
    monkeypatch.setitem(sys.modules, 'rosbags.highlevel', None)
    with pytest.raises(JaguarError, match=r'pip install jaguar_sensors_ros\[bags\]'):
        open_truth(path)


def play(now_ns=1_700_000_000 * SECOND + 1, **values):
    settings = build(PlayerSettings, values)
    player = Player(settings, load_source(settings, TRUTH))
    player.begin(now_ns)
    return player


def test_player_keeps_the_grid_and_skips_nothing():
    player = play(trajectory='circle', rate_hz=30, duration_s=1)
    assert player.due(-1, 1000) == []
    stamps = []
    for elapsed_ns in (0, 1, 400_000_000, 410_000_000, 5 * SECOND):
        while events := player.due(elapsed_ns, 7):
            stamps += [event.t_ns for event in events]
            assert stamps[-1] <= player.base_ns + elapsed_ns
    assert player.base_ns == 1_700_000_000 * SECOND + 100_000_000
    assert stamps == [player.base_ns + round(k * 1e9 / 30) for k in range(31)]
    assert player.finished


def test_player_puts_the_clock_before_the_odometry_and_never_stamps_zero():
    player = play(
        trajectory='circle', rate_hz=50, duration_s=0.05, publish_clock=True, clock_rate_hz=200
    )
    events = player.due(SECOND, 100)
    ms = [(event.t_ns // 10**6, event.clock, event.record is not None) for event in events]
    assert ms == [(t, True, t % 20 == 0) for t in range(5, 45, 5)]
    assert events[3].record == Circle().at(20_000_000)


def test_player_starts_when_it_is_told():
    first = read_poses(EUROC).times_ns[0]
    assert play(trajectory=str(EUROC), publish_clock=True).base_ns == first
    assert play(trajectory=str(EUROC), start='recorded').base_ns == first
    assert play(trajectory=str(EUROC), start='zero').base_ns == 0
    assert play(trajectory=str(EUROC)).base_ns == 1_700_000_000 * SECOND + 100_000_000


def test_player_plays_the_rows_of_a_file_in_laps_apart():
    times = read_poses(EUROC).times_ns
    player = play(trajectory=str(EUROC), rate_hz=0, start='recorded', loop=True)
    events = player.due(10 * SECOND, 80)
    assert [event.t_ns for event in events[:40]] == times
    shift = times[-1] + SECOND - times[0]
    assert [event.t_ns for event in events[40:]] == [t + shift for t in times]
    assert events[40].record == events[0].record


def test_player_is_paced_by_the_real_time_factor():
    for factor, count in ((0.5, 6), (1.0, 11), (4.0, 41)):
        player = play(trajectory='figure_eight', rate_hz=10, real_time_factor=factor)
        events = player.due(SECOND, 1000)
        assert len(events) == count
        assert player.wait_ns(SECOND) == pytest.approx(0.1 * SECOND / factor, abs=1)
        assert events[-1].record == FigureEight().at(events[-1].t_ns - player.base_ns)


def test_player_plays_a_bag_verbatim(tmp_path):
    path = str(write_bag(tmp_path / 'bag', {'/odom': ODOM}))
    events = play(trajectory=path, start='recorded').due(10 * SECOND, 100)
    assert [event.record for event in events] == list(open_truth(path).rows)
    assert all(event.t_ns == event.record.t_ns for event in events)
    assert len(play(trajectory=path, duration_s=0.1).due(10 * SECOND, 100)) == 6
    with pytest.raises(ParameterError, match='publish_accel'):
        play(trajectory=path, publish_accel=True)


@pytest.mark.parametrize(
    ('values', 'message'),
    [
        ({'trajectory': 'racetrak'}, 'trajectory = .*static, circle.*did you mean racetrack'),
        ({'trajectory': 'circle', 'rate_hz': 0}, 'rate_hz = 0.0: must be above 0'),
        ({'trajectory': 'circle', 'start': 'recorded'}, 'start = .*now or zero'),
        ({'trajectory': 'circle', 'topic': '/odom'}, 'topic = .*must be empty'),
        ({'real_time_factor': 0}, 'real_time_factor = 0: must be a finite number > 0'),
        ({'rate_hz': -1}, 'rate_hz = -1: must be'),
        ({'rate_hz': 'fast'}, "rate_hz = 'fast': must be"),
        ({'start': 'later'}, 'one of auto, now, recorded, zero'),
        ({'rate': 3}, 'no such parameter; did you mean rate_hz'),
    ],
)
def test_player_refuses(values, message):
    with pytest.raises(ParameterError, match=message):
        play(**values)


def test_racetrack_by_name_is_the_racetrack():
    assert load_source(build(PlayerSettings, {'trajectory': 'racetrack'}), TRUTH) == Racetrack()
