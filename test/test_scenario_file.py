"""Scenario files: what is read, and that what is broken is refused with its place."""

from __future__ import annotations

import itertools
import math

import pytest

from jaguar_sensors_ros.scenario.check import check
from jaguar_sensors_ros.scenario.fields import SENSORS
from jaguar_sensors_ros.scenario.reader import LONGEST_LINE, ScenarioError, ScenarioReader
from jaguar_sensors_ros.scenario.stream import Item, play
from jaguar_sensors_ros.scenario.writer import ScenarioWriter

IMU = 'gyro_x,gyro_y,gyro_z,accel_x,accel_y,accel_z'
BARO = 'timestamp,pressure\n'


def write(tmp_path, text, name='scenario.csv'):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def rows(path, wanted=SENSORS, alone=''):
    reader = ScenarioReader(path, wanted, alone)
    try:
        return list(reader.rows())
    finally:
        reader.close()


def items(path, sensor, alone='', loop=False, rate_hz=100.0, count=None):
    stream = play(path, sensor, alone, loop, rate_hz)
    found = list(itertools.islice(stream, count))
    stream.close()
    return found


# ---------------------------------------------------------------------- forms


def test_several_sensors_by_name_and_by_flag(tmp_path):
    path = write(
        tmp_path,
        f'sensor,timestamp,{IMU},pressure\n'
        'imu_sim,1000,1,2,3,4,5,6.5,\n'
        '2,1000.5,,,,,,,101325\n'
        '9,2000,1e-3,-2.,+.5,4,5,6,\n',
    )
    first, second, third = rows(path)
    assert (first.line, first.sensor, first.t_ns) == (2, 'imu_sim', 1_000_000)
    assert first.outputs == {'data': {'gyro': (1.0, 2.0, 3.0), 'accel': (4.0, 5.0, 6.5)}}
    assert (second.sensor, second.t_ns) == ('baro_sim', 1_000_500)
    assert second.outputs == {'pressure': {'pressure': (101325.0,)}}
    assert third.outputs['data']['gyro'] == (1e-3, -2.0, 0.5)


def test_columns_without_names_have_the_order_of_the_documentation(tmp_path):
    numbers = ','.join(f'fld{i}' for i in range(1, 7))
    path = write(
        tmp_path, f'sensor,timestamp,{numbers}\n2,0,95000\n9,0,1,2,3,4,5,6\n16,0,1,2,3,,,\n'
    )
    pressure, imu, mag = rows(path)
    assert pressure.outputs == {'pressure': {'pressure': (95000.0,)}}
    assert imu.outputs['data'] == {'gyro': (1.0, 2.0, 3.0), 'accel': (4.0, 5.0, 6.0)}
    assert mag.outputs == {'field': {'mag': (1.0, 2.0, 3.0)}}


def test_one_sensor_with_tabs_units_and_smooth(tmp_path):
    path = write(tmp_path, 'timestamp\tsmooth\tpressure [Pa]\n0\t1\t100\n1000\t0\t200\n')
    first, second = rows(path, alone='baro_sim')
    assert (first.smooth, second.smooth) == (True, False)
    assert second.outputs == {'pressure': {'pressure': (200.0,)}}


def test_rows_of_other_sensors_are_not_read(tmp_path):
    path = write(tmp_path, f'sensor,timestamp,{IMU},pressure\n9,0,a,,,,,,\n2,5,,,,,,,7\n')
    other, wanted = rows(path, wanted=('baro_sim',))
    assert other.outputs == {}
    assert wanted.outputs == {'pressure': {'pressure': (7.0,)}}


def test_a_fix_may_be_missing_but_only_if_the_status_says_so(tmp_path):
    header = 'timestamp,latitude,longitude,altitude,status\n'
    (row,) = rows(write(tmp_path, header + '0,,,,-1\n'), alone='gps_sim')
    assert row.outputs == {'fix': {'status': (-1.0,)}}
    with pytest.raises(ScenarioError, match=r'line 2, column 2 \(latitude\): missing'):
        rows(write(tmp_path, header + '0,,,,0\n'), alone='gps_sim')


# ---------------------------------------------------------------------- what is broken


@pytest.mark.parametrize(
    ('text', 'place'),
    [
        ('', 'line 1, column 1: the file is empty'),
        (BARO, 'line 2, column 1: there are no rows'),
        ('pressure\n', 'line 1, column 1: the column timestamp is missing'),
        ('timestamp\n0\n', 'line 1, column 1: there are no columns'),
        ('timestamp,presure\n', "line 1, column 2: 'presure' is no field of baro_sim; did you "
                                'mean pressure'),
        ('timestamp,pressure [hPa]\n', r"line 1, column 2 \(pressure\): unit 'hPa': must be Pa"),
        ('timestamp,pressure,pressure\n', r'line 1, column 3 \(pressure\): .* twice'),
        ('timestamp,pressure_variance\n', 'line 1, column 2: the column pressure is missing'),
        (BARO + '0\n', r'line 2, column 2 \(pressure\): missing'),
        (BARO + '0,\n', r'line 2, column 2 \(pressure\): missing'),
        (BARO + '0,1,2\n', 'line 2, column 3: the first row has 2 columns'),
        (BARO + '0,high\n', r"line 2, column 2 \(pressure\): 'high' is not a finite number"),
        (BARO + '0,1\n1,NaN\n', r"line 3, column 2 \(pressure\): 'NaN' is not a finite"),
        (BARO + '0,inf\n', r"line 2, column 2 \(pressure\): 'inf' is not a finite"),
        (BARO + '0,1e999\n', r"line 2, column 2 \(pressure\): '1e999' is not a finite"),
        (BARO + '0,1_0\n', r"line 2, column 2 \(pressure\): '1_0' is not a finite"),
        (BARO + '0,-1\n', r'line 2, column 2 \(pressure\): -1 must be a finite number >= 0'),
        (BARO + '9,1\n8,1\n', r'line 3, column 1 \(timestamp\): 8 goes back'),
        (BARO + '9,1\n9,1\n', r'line 3, column 1 \(timestamp\): 9 comes twice'),
        (BARO + '-1,1\n', r"line 2, column 1 \(timestamp\): '-1' must be microseconds"),
        (BARO + '1.2345,1\n', r"line 2, column 1 \(timestamp\): '1.2345' must be"),
        (BARO + '0,1\n\n1,1\n', 'line 3, column 1: an empty line'),
        (BARO + '0,1\n1,10132', 'line 3, column 2: the last line is cut off'),
        (BARO + '0,"1\n1,2\n', 'line 2, column 1: unexpected end of data'),
        (BARO.encode() + b'0,1\xff\n', 'line 2, column 2: not ASCII'),
        (BARO.encode() + b'0,1\0\n', r'line 2, column 2 \(pressure\)'),
        (b'\xef\xbb\xbf' + BARO.encode() + b'0,1\n', 'line 1, column 1: .*byte order mark'),
        (BARO + '0,1\r\n', 'line 2, column 2: ends with CR LF'),
        (BARO.replace('\n', '\r\n'), 'line 1, column 2: ends with CR LF'),
        (BARO + '0,1' + ' ' * 10_000_000 + '\n', f'line 2, column 1: longer than {LONGEST_LINE}'),
        ('0' * 10_000_000, f'line 1, column 1: longer than {LONGEST_LINE}'),
        ('timestamp,smooth,pressure\n0,2,1\n', r"line 2, column 2 \(smooth\): '2' must be 0 or"),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_what_is_broken_is_refused_with_file_line_and_column(tmp_path, text, place):
    path = write(tmp_path, text)
    with pytest.raises(ScenarioError, match=f'^{path}: {place}'):
        check(path, 'baro_sim', 0)


@pytest.mark.parametrize(
    ('text', 'place'),
    [
        (BARO, "line 1, column 1: 'timestamp': a file for several sensors begins with"),
        ('sensor,timestamp,pressure\nradar,0,1\n', r"line 2, column 1 \(sensor\): 'radar' is no"),
        ('sensor,timestamp,pressure\n1,0,1\n', r"line 2, column 1 \(sensor\): '1' is no sensor"),
        ('sensor,timestamp,gyro_x\n', 'line 1, column 3: the column gyro_y is missing'),
        (f'sensor,timestamp,{IMU},pressure\n9,0,1,2,3,4,5,6,7\n',
         r"line 2, column 9 \(pressure\): '7': imu_sim has no such field"),
        (f'sensor,timestamp,{IMU}\n9,0,1,2,3,4,5\n', r'line 2, column 8 \(accel_z\): missing'),
        (f'sensor,timestamp,{IMU}\n9,0,1,2,3,,,\n', r'line 2, column 6 \(accel_x\): missing'),
        ('sensor,timestamp,pressure\n9,0,1\n',
         r"line 2, column 3 \(pressure\): '1': imu_sim has no such field"),
        ('sensor,timestamp,pressure\n9,0,\n',
         r'line 2, column 1 \(sensor\): the file has no columns of imu_sim'),
        ('sensor,timestamp,fld1,fld2,fld3\n16,0,1,2\n', r'line 2, column 5 \(fld3\): missing'),
    ],
    ids=lambda value: str(value)[:30],
)  # fmt: skip
def test_a_broken_file_for_several_sensors_is_refused(tmp_path, text, place):
    path = write(tmp_path, text)
    with pytest.raises(ScenarioError, match=f'^{path}: {place}'):
        check(path, '', 0)


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ScenarioError, match='cannot be read: No such file'):
        check(tmp_path / 'no.csv', '', 0)


def test_a_quaternion_must_be_one(tmp_path):
    header = f'timestamp,{IMU},orientation_w,orientation_x,orientation_y,orientation_z\n'
    with pytest.raises(ScenarioError, match=r'column 8 \(orientation_w\): .*its norm is 1.41421'):
        check(write(tmp_path, header + '0,0,0,0,0,0,9,1,1,0,0\n'), 'imu_sim', 0)


# ---------------------------------------------------------------------- laps


def test_the_next_lap_begins_at_the_last_row(tmp_path):
    path = write(tmp_path, BARO + '1000,1\n2000,2\n')
    found = items(path, 'baro_sim', 'baro_sim', loop=True, count=5)
    assert [item.t_ns for item in found] == [t * 1_000_000 for t in (1, 2, 3, 4, 5)]
    assert [item.lap_ns for item in found] == [t * 1_000_000 for t in (0, 0, 2, 2, 4)]
    assert [item.values['pressure'] for item in found] == [(1.0,), (2.0,), (1.0,), (2.0,), (1.0,)]


def test_a_file_that_begins_at_zero_is_continued_a_step_later(tmp_path):
    path = write(tmp_path, BARO + '0,1\n2000,2\n5000,3\n')
    found = items(path, 'baro_sim', 'baro_sim', loop=True, count=4)
    assert [item.t_ns for item in found] == [t * 1_000_000 for t in (0, 2, 5, 8)]


def test_laps_of_all_sensors_of_a_file_are_the_same(tmp_path):
    text = f'sensor,timestamp,{IMU},pressure\n9,0,1,2,3,4,5,6,\n2,0,,,,,,,7\n'
    text += '9,10,1,2,3,4,5,6,\n9,20,1,2,3,4,5,6,\n2,21,,,,,,,8\n'
    path = write(tmp_path, text)
    for sensor in ('imu_sim', 'baro_sim'):
        laps = {item.lap_ns for item in items(path, sensor, loop=True, count=7)}
        assert sorted(laps)[:3] == [0, 31_000, 62_000]


def test_a_single_row_is_repeated_every_second(tmp_path):
    path = write(tmp_path, BARO + '0,1\n')
    found = items(path, 'baro_sim', 'baro_sim', loop=True, count=3)
    assert [item.t_ns for item in found] == [0, 10**9, 2 * 10**9]


def test_without_a_loop_it_ends_and_a_sensor_without_rows_is_an_error(tmp_path):
    path = write(tmp_path, 'sensor,timestamp,pressure\n2,0,1\n')
    assert items(path, 'baro_sim') == [Item(0, 0, 'pressure', {'pressure': (1.0,)})]
    with pytest.raises(ScenarioError, match='has no row for mag_sim'):
        items(path, 'mag_sim', loop=True)


# ---------------------------------------------------------------------- smooth


def test_between_smooth_rows_values_run_linearly(tmp_path):
    path = write(tmp_path, 'timestamp,smooth,pressure\n0,1,100\n35000,0,170\n50000,0,0\n')
    found = items(path, 'baro_sim', 'baro_sim', rate_hz=100.0)
    assert [item.t_ns // 1000 for item in found] == [0, 10_000, 20_000, 30_000, 35_000, 50_000]
    values = [item.values['pressure'][0] for item in found]
    assert values == pytest.approx([100.0, 120.0, 140.0, 160.0, 170.0, 0.0], rel=1e-15)


def test_orientations_turn_and_longitudes_cross_the_date_line(tmp_path):
    names = 'orientation_w,orientation_x,orientation_y,orientation_z'
    path = write(
        tmp_path,
        f'timestamp,smooth,{IMU},{names}\n'
        '0,1,0,0,0,0,0,9,1,0,0,0\n20000,0,0,0,0,0,0,9,0,0,0,1\n',
    )
    middle = items(path, 'imu_sim', 'imu_sim', rate_hz=100.0)[1]
    half = math.sqrt(0.5)  # half of the turn by 180 degrees about z
    assert middle.values['orientation'] == pytest.approx((half, 0.0, 0.0, half), abs=1e-15)
    path = write(
        tmp_path,
        'timestamp,smooth,latitude,longitude,altitude,status\n'
        '0,1,10,179,5,0\n20000,0,20,-179,5,1\n',
    )
    middle = items(path, 'gps_sim', 'gps_sim', rate_hz=100.0)[1].values
    assert middle['latitude'] == (15.0,)
    assert abs(middle['longitude'][0]) == 180.0
    assert middle['status'] == (0.0,)


def test_rows_beside_a_smooth_piece_stay_in_order(tmp_path):
    names = 'latitude,longitude,altitude,velocity_east,velocity_north,velocity_up'
    path = write(
        tmp_path,
        f'timestamp,smooth,{names}\n'
        '0,1,1,1,1,,,\n15000,0,,,,1,2,3\n40000,1,2,2,2,,,\n50000,0,,,,4,5,6\n',
    )
    found = items(path, 'gps_sim', 'gps_sim', rate_hz=100.0)
    assert [(i.t_ns // 1_000_000, i.output) for i in found] == [
        (0, 'fix'), (10, 'fix'), (15, 'velocity'), (20, 'fix'), (30, 'fix'), (40, 'fix'),
        (50, 'velocity'),
    ]  # fmt: skip


# ---------------------------------------------------------------------- writing


def test_what_is_written_is_read_back_to_the_bit(tmp_path):
    path = tmp_path / 'out.csv'
    numbers = (0.1, 1e-300, -0.0, 1 / 3, 2.0**-1074, 123456789.123456789)
    imu = {'gyro': numbers[:3], 'accel': numbers[3:]}
    writer = ScenarioWriter(path, [('imu_sim', 'data'), ('gps_sim', 'fix')])
    fix = {'status': (-1.0,), 'service': (1.0,)}
    start = 1_700_000_000_123_456_789
    assert writer.put(start + 7, 'gps_sim', 'fix', fix) == ''
    assert writer.put(start, 'imu_sim', 'data', imu) == ''
    assert writer.put(start + 2_500_000, 'imu_sim', 'data', imu) == ''
    assert not path.exists()
    writer.close()
    assert [p.name for p in tmp_path.iterdir()] == ['out.csv']
    assert [(r.t_ns, r.outputs) for r in rows(path)] == [
        (0, {'data': imu}), (7, {'fix': fix}), (2_500_000, {'data': imu}),
    ]  # fmt: skip
    assert math.copysign(1.0, rows(path)[0].outputs['data']['gyro'][2]) == -1.0


def test_the_writer_refuses_what_the_reader_would(tmp_path):
    writer = ScenarioWriter(tmp_path / 'out.csv', [('baro_sim', 'pressure')])

    def put(t_ns, value):
        return writer.put(t_ns, 'baro_sim', 'pressure', {'pressure': (value,)})

    assert put(5, 1.0) == ''
    assert put(5, 1.0) == put(4, 1.0) == 'a stamp that does not go on'
    assert put(6, math.nan) == 'a number that is not finite'
    assert put(6, -1.0) == 'pressure must be a finite number >= 0'
    writer.abandon()
    assert list(tmp_path.iterdir()) == []


def test_a_file_is_never_overwritten(tmp_path):
    path = write(tmp_path, 'precious')
    with pytest.raises(ValueError, match='exists already'):
        ScenarioWriter(path, [('baro_sim', 'pressure')])
    assert path.read_text() == 'precious'
    late = tmp_path / 'late.csv'
    writer = ScenarioWriter(late, [('baro_sim', 'pressure')])
    late.write_text('precious')
    with pytest.raises(ValueError, match='File exists'):
        writer.close()
    assert late.read_text() == 'precious'
    assert sorted(p.name for p in tmp_path.iterdir()) == ['late.csv', 'scenario.csv']
