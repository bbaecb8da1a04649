"""scenario_node in a process of its own, over real DDS, on a clock that the test sets."""

from __future__ import annotations

import math
import time
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip('rclpy')

import yaml
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import TwistWithCovarianceStamped
from jaguar_sensors_msgs.msg import ImuIncrements, SensorState
from jaguar_sensors_msgs.srv import InjectFailure
from ros_helpers import LATCHED, SECOND, stamp_ns
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import FluidPressure, Imu, MagneticField, NavSatFix, Temperature
from std_srvs.srv import Trigger

from jaguar_sensors_ros.catalogue import make_settings

pytestmark = pytest.mark.ros

IMU = 'gyro_x,gyro_y,gyro_z,accel_x,accel_y,accel_z'
HEADER = f'sensor,timestamp,{IMU}\n'
#: when the clock begins [s]
BASE_S = 100.0


def imu_rows(count, first_us=0, step_us=10_000):
    """Return rows whose rate about x is the number of the row."""
    return ''.join(f'imu_sim,{first_us + i * step_us},{i},0,0,0,0,9.5\n' for i in range(count))


def write(tmp_path, text, name='scenario.csv'):
    path = tmp_path / name
    path.write_text(text)
    return path


class Stage:
    """A scenario_node that waits for the clock of the test."""

    def __init__(self, graph, *arguments, **parameters):
        self.graph = graph
        given = [f'{name.replace("__", ":", 1)}:={value}' for name, value in parameters.items()]
        words = [word for text in given for word in ('-p', text)]
        sim = ['-p', 'use_sim_time:=true']
        self.program = graph.program('scenario_node', *sim, *words, *arguments)
        self.clock = None

    def collect(self, kind, topic, **options):
        return self.graph.collect(kind, topic, **options)

    def run(self, to_s, done, what='messages'):
        """Let it be ``to_s`` after the beginning until what is waited for has come."""
        if self.clock is None:
            self.clock = self.graph.publisher(Clock, '/clock')

        def passed():
            message = Clock()
            whole, part = divmod(round((BASE_S + to_s) * SECOND), SECOND)
            message.clock.sec, message.clock.nanosec = whole, part
            self.clock.publish(message)
            return done()

        self.graph.until(passed, what)

    def begin(self):
        """Let the clock begin, and the scenario with it; needs /imu/data at time 0."""
        data = self.collect(Imu, '/imu/data')
        self.run(0.0, lambda: len(data) >= 1, 'the first row')
        return data


def times(messages):
    return [stamp_ns(m) / SECOND - BASE_S for m in messages]


# ---------------------------------------------------------------------- a file


def test_rows_come_out_as_they_are_and_their_stamps_are_on_the_clock(graph, tmp_path):
    names = 'orientation_w,orientation_x,orientation_y,orientation_z,temperature'
    text = f'sensor,timestamp,{IMU},{names},latitude,longitude,altitude,status'
    text += ',velocity_east,velocity_north,velocity_up,pressure,mag_x,mag_y,mag_z\n'
    text += 'imu_sim,0,0.1,0.2,0.3,1.1,2.2,9.7,0.6,0,0.8,0,31.5,,,,,,,,,,,\n'
    text += 'gps_sim,100000,,,,,,,,,,,,47.1,8.2,432.1,2,1.5,-2.5,0.25,,,,\n'
    text += 'gps_sim,200000,,,,,,,,,,,,,,,-1,,,,,,,\n'
    text += 'baro_sim,300000,,,,,,,,,,,,,,,,,,,95432.1,,,\n'
    text += 'mag_sim,400000.001,,,,,,,,,,,,,,,,,,,,1e-5,2e-5,-4e-5\n'
    stage = Stage(graph, scenario_file=write(tmp_path, text), loop='stop')
    topics = {
        'data': (Imu, '/imu/data'),
        'raw': (Imu, '/imu/data_raw'),
        'temperature': (Temperature, '/imu/temperature'),
        'fix': (NavSatFix, '/gps/fix'),
        'vel': (TwistWithCovarianceStamped, '/gps/vel'),
        'pressure': (FluidPressure, '/baro/pressure'),
        'mag': (MagneticField, '/imu/mag'),
    }
    got = {name: stage.collect(*topic) for name, topic in topics.items()}
    stage.run(0.0, lambda: len(got['data']) == 1)
    stage.run(1.0, lambda: all(got.values()) and len(got['fix']) == 2)
    data = got['data'][0]
    w, t = data.angular_velocity, data.linear_acceleration
    assert (w.x, w.y, w.z, t.x, t.y, t.z) == (0.1, 0.2, 0.3, 1.1, 2.2, 9.7)
    q = data.orientation
    assert (q.w, q.x, q.y, q.z) == (0.6, 0.0, 0.8, 0.0)
    assert data.header.frame_id == 'imu_link'
    assert got['raw'][0].orientation_covariance[0] == -1.0
    assert got['temperature'][0].temperature == 31.5
    fix, lost = got['fix']
    assert (fix.latitude, fix.longitude, fix.altitude, fix.status.status) == (47.1, 8.2, 432.1, 2)
    assert math.isnan(lost.latitude) and lost.status.status == -1
    v = got['vel'][0].twist.twist.linear
    assert (v.x, v.y, v.z) == (1.5, -2.5, 0.25)
    assert got['pressure'][0].fluid_pressure == 95432.1
    b = got['mag'][0].magnetic_field
    assert (b.x, b.y, b.z) == (1e-5, 2e-5, -4e-5)
    base = round(BASE_S * SECOND)
    assert [stamp_ns(got[n][0]) - base for n in ('data', 'fix', 'vel', 'pressure', 'mag')] == [
        0, 100_000_000, 100_000_000, 300_000_000, 400_000_001,
    ]  # fmt: skip
    assert stage.program.process.poll() is None  # it stays when it has stopped


def test_late_rows_come_at_once_and_nothing_comes_early(graph, tmp_path):
    stage = Stage(graph, scenario_file=write(tmp_path, HEADER + imu_rows(500)))
    data = stage.begin()
    stage.run(0.995, lambda: len(data) >= 100)
    assert len(data) == 100  # 0 to 0.99 s, all of them though the clock jumped
    assert [m.angular_velocity.x for m in data] == [float(i) for i in range(100)]
    assert times(data) == pytest.approx([0.01 * i for i in range(100)], abs=1e-9)


def test_a_lap_starts_again_and_stamps_and_integrals_go_on(graph, tmp_path):
    stage = Stage(graph, scenario_file=write(tmp_path, HEADER + imu_rows(3, 10_000)))
    data = stage.collect(Imu, '/imu/data')
    increments = stage.collect(ImuIncrements, '/imu/increments')
    integral = stage.collect(ImuIncrements, '/imu/integral')
    diagnostics = stage.collect(DiagnosticArray, '/diagnostics')
    stage.run(
        0.0, lambda: any(v.value == 'yes' for m in diagnostics for v in m.status[0].values)
    )
    stage.run(0.0905, lambda: len(data) >= 9 and len(integral) >= 8)
    assert [m.angular_velocity.x for m in data] == [0.0, 1.0, 2.0] * 3
    steps = [round(b - a, 9) for a, b in pairwise(times(data))]
    assert steps == [0.01] * 8
    # delta_theta = omega dt over the eight intervals after the first row
    assert [m.delta_theta.x for m in increments] == pytest.approx(
        [0.01 * rate for rate in (1, 2, 0, 1, 2, 0, 1, 2)], abs=1e-12
    )
    assert integral[-1].delta_theta.x == pytest.approx(0.09, abs=1e-12)
    assert integral[-1].delta_v.z == pytest.approx(9.5 * 0.08, abs=1e-12)
    assert integral[-1].dt == pytest.approx(0.08, abs=1e-12)


def test_a_file_of_its_own_overrides_the_common_one(graph, tmp_path):
    common = write(tmp_path, HEADER + imu_rows(500))
    text = 'timestamp\tsmooth\tpressure\n0\t1\t1000\n100000\t0\t2000\n'
    own = write(tmp_path, text, 'own.tsv')
    stage = Stage(
        graph, scenario_file=common, sensors='imu_sim,baro_sim', baro__file=own,
        baro__topic='baro/static', baro__rate_hz='50.0', mark_simulated='true',
    )  # fmt: skip
    data = stage.collect(Imu, '/imu/data')
    pressure = stage.collect(FluidPressure, '/baro/static')
    stage.run(0.0, lambda: len(data) == 1 and len(pressure) == 1)
    stage.run(0.1, lambda: len(pressure) == 6)
    values = [m.fluid_pressure for m in pressure]
    assert values == pytest.approx([1000.0, 1200.0, 1400.0, 1600.0, 1800.0, 2000.0], rel=1e-14)
    assert pressure[0].header.frame_id == 'baro_link_sim'
    assert data[0].header.frame_id == 'imu_link_sim'


def test_on_the_wall_clock_the_first_row_is_now_and_the_rest_at_its_pace(graph, tmp_path):
    path = write(tmp_path, HEADER + imu_rows(100))
    graph.program('scenario_node', '-p', f'scenario_file:={path}', '-p', 'real_time_factor:=2.0')
    data = graph.collect(Imu, '/imu/data')
    arrivals = []
    graph.node.create_subscription(Imu, '/imu/data', lambda m: arrivals.append(time.time_ns()), 99)
    data.until_count(200)
    steps = {b - a for a, b in pairwise(data.stamps)}
    assert steps == {10_000_000}
    lag_s = abs(data.stamps[0] - arrivals[0]) / SECOND
    assert lag_s < 30.0  # of this machine's clock, and nothing else
    pace = (data.stamps[-1] - data.stamps[0]) / (arrivals[-1] - arrivals[0])
    assert pace == pytest.approx(2.0, rel=0.3)


def test_without_a_file_all_sensors_are_at_rest(graph):
    stage = Stage(graph, start='zero')
    kinds = {Imu: '/imu/data', NavSatFix: '/gps/fix', FluidPressure: '/baro/pressure',
             MagneticField: '/imu/mag'}  # fmt: skip
    got = {kind: stage.collect(kind, topic) for kind, topic in kinds.items()}
    stage.run(0.0, lambda: all(len(one) == 1 for one in got.values()))
    stage.run(1.0, lambda: len(got[Imu]) == 101 and len(got[NavSatFix]) == 11)
    assert [stamp_ns(m) for m in got[Imu]] == [k * 10_000_000 for k in range(101)]
    assert {m.linear_acceleration.z for m in got[Imu]} == {9.80665}
    # ISO 2533: 96 611 Pa at 400 m and 95 461 Pa at 500 m; between them on a logarithmic scale
    assert got[FluidPressure][0].fluid_pressure == pytest.approx(95_922.0, abs=3.0)
    b = got[MagneticField][0].magnetic_field
    # WMM2025 for 47.3764 N 8.5476 E, 460 m, 2026.5 by pygeomag 1.1.0: total, declination
    assert math.hypot(b.x, b.y, b.z) == pytest.approx(48.381e-6, abs=0.01e-6)
    assert math.degrees(math.atan2(b.x, b.y)) == pytest.approx(3.61, abs=0.02)


def test_the_shipped_parameter_file_works_in_a_namespace(graph, tmp_path):
    sensors = {'/**/baro': {'rate_hz': 40.0}, '/**/mag': {'topic': 'field'}}
    own = {key: {'ros__parameters': values} for key, values in sensors.items()}
    changed = write(tmp_path, yaml.safe_dump(own), 'own.yaml')
    file = Path(__file__).resolve().parent.parent / 'config' / 'scenario.yaml'
    graph.program(
        'scenario_node', '--params-file', str(file), '--params-file', str(changed),
        '-r', '__ns:=/robot1',
    )  # fmt: skip
    for kind, topic in (
        (Imu, '/robot1/imu/data'),
        (MagneticField, '/robot1/field'),
        (NavSatFix, '/robot1/gps/fix'),
    ):
        graph.collect(kind, topic).until_count(3)
    pressure = graph.collect(FluidPressure, '/robot1/baro/pressure').until_count(3)
    assert {b - a for a, b in pairwise(pressure.stamps)} == {25_000_000}


def test_a_clock_that_goes_back_starts_the_scenario_anew(graph, tmp_path):
    stage = Stage(graph, scenario_file=write(tmp_path, HEADER + imu_rows(500)))
    data = stage.begin()
    stage.run(2.0, lambda: len(data) == 201)
    stage.run(-50.0, lambda: len(data) >= 202)
    assert data[201].angular_velocity.x == 0.0
    assert times(data)[201] == pytest.approx(-50.0, abs=1e-9)


# ---------------------------------------------------------------------- errors and faults


def test_faults_are_injected_as_into_a_live_sensor(graph, tmp_path):
    stage = Stage(graph, scenario_file=write(tmp_path, HEADER + imu_rows(5000)))
    data = stage.begin()
    state = stage.collect(SensorState, '/imu/state', qos=LATCHED)
    answer = graph.call(
        InjectFailure, '/imu/inject_failure', mode='bias', magnitude=0.5, target='gyro', axis='y'
    )
    assert answer.success, answer.message
    stage.run(1.0, lambda: len(data) == 101)
    state.until(lambda m: m.state_name == 'Degraded' and list(m.faults) == ['bias:gyro'])
    assert {m.angular_velocity.y for m in data[1:]} == {0.5}
    assert [m.angular_velocity.x for m in data] == [float(i) for i in range(101)]
    assert graph.call(Trigger, '/imu/clear_failure').success
    stage.run(2.0, lambda: len(data) == 201)
    assert {m.angular_velocity.y for m in data[101:]} == {0.0}
    refused = graph.call(InjectFailure, '/imu/inject_failure', mode='satellite_loss')
    assert not refused.success and 'not for this sensor' in refused.message


def test_a_position_is_moved_on_the_ellipsoid_with_a_coherent_velocity(graph, tmp_path):
    names = 'latitude,longitude,altitude,velocity_east,velocity_north,velocity_up'
    rows = ''.join(f'gps_sim,{i * 100_000},0,0,0,0,0,0\n' for i in range(100))
    stage = Stage(graph, scenario_file=write(tmp_path, f'sensor,timestamp,{names}\n{rows}'))
    fix = stage.collect(NavSatFix, '/gps/fix')
    vel = stage.collect(TwistWithCovarianceStamped, '/gps/vel')
    stage.run(0.0, lambda: len(fix) == 1)
    answer = graph.call(
        InjectFailure, '/gps/inject_failure', mode='drift', magnitude=2.0, axis='e'
    )
    assert answer.success, answer.message
    stage.run(1.0, lambda: len(fix) == 11 and len(vel) == 11)
    # on the equator an arc of 20 m / a; the chord drift of 2 m/s over 1 s is 2 m
    angle = math.degrees(2.0 / 6_378_137.0)
    assert fix[10].longitude == pytest.approx(angle, rel=1e-9)
    assert abs(fix[10].latitude) < 1e-12
    assert vel[10].twist.twist.linear.x == pytest.approx(2.0, abs=1e-12)


def test_errors_of_a_grade_come_on_top(graph, tmp_path):
    """A thousand samples: the white noise of the grade has the standard deviation N / sqrt(dt)."""
    rows = ''.join(f'imu_sim,{i * 10_000},0.25,0,0,0,0,9.5\n' for i in range(2000))
    stage = Stage(
        graph, scenario_file=write(tmp_path, HEADER + rows), imu__errors='consumer',
        imu__random_seed=3,
    )  # fmt: skip
    data = stage.begin()
    stage.run(10.0, lambda: len(data) == 1001)
    x = [m.angular_velocity.x for m in data]
    differences = [b - a for a, b in pairwise(x)]
    sigma = math.sqrt(sum(d * d for d in differences) / len(differences) / 2.0)
    density = make_settings('imu', {'grade': 'consumer'}).gyro.white_noise_density[0]
    # differences of white noise: relative standard error of sigma sqrt(3 / (4 n)) = 2.7 %
    assert sigma == pytest.approx(density / math.sqrt(0.01), rel=0.12)
    assert data[0].angular_velocity.x != 0.25


# ---------------------------------------------------------------------- what is wrong


@pytest.mark.parametrize(
    ('text', 'reason'),
    [
        (HEADER + imu_rows(3)[:-3], 'line 4, column 8: the last line is cut off'),
        (HEADER + imu_rows(2) + imu_rows(1), 'line 4, column 2 (timestamp): 0 goes back'),
        (HEADER + 'imu_sim,0,nan,0,0,0,0,9\n', "line 2, column 3 (gyro_x): 'nan' is not a"),
        ('\ufeff' + HEADER, 'line 1, column 1: begins with a byte order mark'),
    ],
    ids=['cut', 'back', 'nan', 'bom'],
)
def test_a_broken_file_ends_the_node_with_status_2(graph, tmp_path, text, reason):
    path = write(tmp_path, text)
    program = graph.program('scenario_node', '-p', f'scenario_file:={path}')
    assert program.wait() == 2
    assert f': {path}: {reason}' in program.output


@pytest.mark.parametrize(
    ('parameters', 'reason'),
    [
        (['sensors:=imu'], "'imu': must be of imu_sim, gps_sim, baro_sim, mag_sim"),
        (['loop:=yes'], 'must be one of restart, stop'),
        (['scenario_file:=/no/such.csv'], '/no/such.csv: cannot be read: No such file'),
        (['imu:errors:=good'], 'must be one of none, consumer'),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_wrong_parameter_ends_the_node_with_status_2(graph, parameters, reason):
    words = [word for text in parameters for word in ('-p', text)]
    program = graph.program('scenario_node', *words)
    assert program.wait() == 2
    assert reason in program.output


def test_what_is_wrong_further_on_is_reported_and_the_node_stays(graph, tmp_path):
    path = write(tmp_path, HEADER + imu_rows(20) + 'imu_sim,x,0,0,0,0,0,0\n')
    stage = Stage(graph, scenario_file=path, checked_lines=10)
    data = stage.begin()
    diagnostics = stage.collect(DiagnosticArray, '/diagnostics')
    log = graph.log()
    stage.run(5.0, lambda: len(data) == 20)
    reason = f"{path}: line 22, column 2 (timestamp): 'x' must be microseconds"
    report = diagnostics.until(
        lambda m: any(s.level == DiagnosticStatus.ERROR and reason in s.message for s in m.status)
    )
    values = {v.key: v.value for v in report.status[0].values}
    assert values['simulated'] == 'true' and values['scenario'] == str(path)
    log.until(lambda m: reason in m.msg)
    stage.run(9.0, lambda: len(diagnostics) >= 4)
    assert len([m for m in log if reason in m.msg]) == 1
    assert graph.call(Trigger, '/imu/reset').success


def test_a_signal_ends_it_cleanly(graph, tmp_path):
    stage = Stage(graph, scenario_file=write(tmp_path, HEADER + imu_rows(500)))
    stage.begin()
    stage.program.signal()
    assert stage.program.wait() == 0
    assert 'Traceback' not in stage.program.output
