"""Played sensors: as recorded, with errors and faults on top, over laps."""

from __future__ import annotations

import math

import numpy as np
import pymap3d
import pytest

from jaguar_sensors_ros.catalogue import make_settings
from jaguar_sensors_ros.component import ParameterError, build
from jaguar_sensors_ros.faults.base import FaultRequest
from jaguar_sensors_ros.scenario.kinds import make_played
from jaguar_sensors_ros.scenario.settings import PLAYED, ScenarioSettings
from jaguar_sensors_ros.scenario.stream import Item

BASE_NS = 50 * 10**9
STEP_NS = 10**7
REST = {'gyro': (0.1, 0.2, 0.3), 'accel': (0.0, 0.0, 9.5), 'orientation': (1.0, 0.0, 0.0, 0.0)}
HERE = {'latitude': (47.0,), 'longitude': (8.0,), 'altitude': (400.0,)}


def played(node, seed=1, **parameters):
    given = {name.replace('__', '.'): value for name, value in parameters.items()}
    return make_played(node, node, build(PLAYED[node], given), seed)


def run(sensor, output, values, count, first=0, lap_ns=0, step_ns=STEP_NS):
    """Return what is published of rows that say all the same, or what ``values`` makes."""
    make = values if callable(values) else lambda k: values
    items = [Item(k * step_ns, lap_ns, output, make(k)) for k in range(first, first + count)]
    return [sensor.measure(item, BASE_NS) for item in items]


def test_what_was_measured_is_published_as_it_is():
    for node, output, values in (
        ('imu', 'data', REST),
        ('gps', 'fix', HERE),
        ('baro', 'pressure', {'pressure': (1e5,)}),
        ('mag', 'field', {'mag': (1e-5, 0.0, -4e-5)}),
    ):
        for sample in run(played(node), output, values, 3):
            assert sample.values is values


# ---------------------------------------------------------------------- errors


def test_white_noise_and_bias_of_a_barometer_are_those_that_were_asked_for():
    sensor = played('baro', white_noise_std=2.0)
    samples = run(sensor, 'pressure', {'pressure': (1e5,)}, 4000)
    x = [sample.values['pressure'][0] - 1e5 for sample in samples]
    # standard error of a standard deviation: sigma / sqrt(2 n) = 1.1 %
    assert np.std(x) == pytest.approx(2.0, rel=0.06)
    assert abs(np.mean(x)) < 5.0 * 2.0 / math.sqrt(4000)
    draws = []
    for seed in range(200):
        one = played('baro', seed, turn_on_bias_std=10.0)
        first, second = run(one, 'pressure', {'pressure': (1e5,)}, 2)
        assert first.values == second.values
        draws.append(first.values['pressure'][0] - 1e5)
    assert np.std(draws) == pytest.approx(10.0, rel=5.0 / math.sqrt(400))


def test_the_same_seed_gives_the_same_numbers_and_another_others():
    def numbers(seed):
        sensor = played('imu', seed, errors='industrial')
        return [sample.values for sample in run(sensor, 'data', REST, 50)]

    assert numbers(1) == numbers(1)
    assert numbers(1) != numbers(2)


def test_the_position_of_a_fix_gets_the_errors_of_its_kind():
    """Position errors in metres as pymap3d has them: sigma of the kind of fix, east and up."""
    sensor = played('gps', errors='single', rate_hz=1.0)
    samples = run(sensor, 'fix', HERE, 3000, step_ns=100 * 10**9)
    place = [[s.values[n][0] for s in samples] for n in ('latitude', 'longitude', 'altitude')]
    east, north, up = pymap3d.geodetic2enu(*map(np.array, place), 47.0, 8.0, 400.0)
    horizontal, vertical = make_settings('gps', {}).pos_std_dev
    # of the correlated part a step of 100 s leaves a share; 3000 samples are some 1000 independent
    for error, sigma in ((east, horizontal), (north, horizontal), (up, vertical)):
        assert np.std(error) == pytest.approx(sigma, rel=0.15)


def test_a_known_covariance_grows_by_that_of_the_errors_and_an_unknown_one_stays():
    known = (4.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 4.0)
    values = {'mag': (0.0, 0.0, 0.0), 'mag_covariance': known}
    sensor = played('mag', white_noise_std=3.0)
    (sample,) = run(sensor, 'field', values, 1)
    assert sample.values['mag_covariance'] == (13.0, 0.0, 0.0, 0.0, 13.0, 0.0, 0.0, 0.0, 13.0)
    (sample,) = run(played('mag', white_noise_std=3.0), 'field', {'mag': (0.0, 0.0, 0.0)}, 1)
    assert 'mag_covariance' not in sample.values


def test_transparent_takes_the_errors_away():
    sensor = played('imu', errors='consumer', fidelity='transparent')
    assert all(sample.values is REST for sample in run(sensor, 'data', REST, 3))


# ---------------------------------------------------------------------- faults


def test_a_stuck_sensor_holds_its_last_values_and_the_stamps_go_on():
    def moving(k):
        turn = (math.cos(k), math.sin(k), 0.0, 0.0)
        return {**REST, 'gyro': (float(k), 0.0, 0.0), 'orientation': turn}

    sensor = played('imu')
    run(sensor, 'data', moving, 3)
    sensor.board.inject(FaultRequest('stuck'))
    samples = run(sensor, 'data', moving, 3, first=3)
    assert [s.values for s in samples] == [moving(2)] * 3
    assert [s.t_ns - BASE_NS for s in samples] == [3 * STEP_NS, 4 * STEP_NS, 5 * STEP_NS]
    sensor.board.clear()
    (sample,) = run(sensor, 'data', moving, 1, first=6)
    assert sample.values == moving(6)


def test_a_fix_can_be_stuck_on_one_axis():
    def moving(k):
        return {**HERE, 'latitude': (47.0 + 1e-5 * k,), 'longitude': (8.0 + 1e-5 * k,)}

    sensor = played('gps')
    run(sensor, 'fix', moving, 3)
    sensor.board.inject(FaultRequest('stuck', target='position', axis='e'))
    *_, sample = run(sensor, 'fix', moving, 5, first=3)
    assert sample.values['longitude'][0] == pytest.approx(moving(2)['longitude'][0], abs=1e-10)
    assert sample.values['latitude'][0] == pytest.approx(moving(7)['latitude'][0], abs=1e-10)


def test_a_fault_acts_on_a_fix_but_not_where_there_is_none():
    sensor = played('gps')
    sensor.board.inject(FaultRequest('bias', magnitude=100.0, axis='n'))
    lost = {'status': (-1.0,)}
    first, second = run(sensor, 'fix', lambda k: HERE if k == 0 else lost, 2)
    east, north, up = pymap3d.geodetic2enu(
        *(first.values[n][0] for n in HERE), 47.0, 8.0, 400.0
    )
    assert (east, north, up) == pytest.approx((0.0, 100.0, 0.0), abs=1e-6)
    assert second.values == lost


def test_intermittent_loses_its_share_and_total_all():
    sensor = played('mag')
    sensor.board.inject(FaultRequest('intermittent', magnitude=0.25))
    samples = run(sensor, 'field', {'mag': (0.0, 0.0, 0.0)}, 4000)
    lost = sum(sample is None for sample in samples) / 4000
    assert lost == pytest.approx(0.25, abs=5.0 * math.sqrt(0.25 * 0.75 / 4000))
    sensor.board.inject(FaultRequest('total'))
    assert run(sensor, 'field', {'mag': (0.0, 0.0, 0.0)}, 5, first=4000) == [None] * 5
    assert sensor.status().state.name == 'FAILED'


def test_noise_multiplies_that_of_the_errors():
    sensor = played('baro', white_noise_std=1.0)
    sensor.board.inject(FaultRequest('noise', magnitude=5.0))
    x = [s.values['pressure'][0] for s in run(sensor, 'pressure', {'pressure': (1e5,)}, 4000)]
    assert np.std(x) == pytest.approx(5.0, rel=0.06)  # standard error 1.1 %


def test_the_failure_given_by_parameters_acts_in_fidelity_fault():
    given = {'failure__mode': 'bias', 'failure__magnitude': 1.0, 'failure__delay': 0.02}
    for fidelity, expected in (('realistic', [0.1] * 5), ('fault', [0.1, 0.1, 1.1, 1.1, 1.1])):
        sensor = played('imu', fidelity=fidelity, **given)
        samples = run(sensor, 'data', REST, 5)
        assert [s.values['gyro'][0] for s in samples] == pytest.approx(expected)


# ---------------------------------------------------------------------- laps


def test_a_power_cycle_leaves_the_integrals_alone():
    sensor = played('imu')
    run(sensor, 'data', REST, 10)
    sensor.power_cycle()
    sample = run(sensor, 'data', REST, 1, first=10, lap_ns=10 * STEP_NS)[0]
    assert sample.integral.dt_s == pytest.approx(0.1, abs=1e-12)
    assert sample.integral.delta_theta == pytest.approx((0.01, 0.02, 0.03), abs=1e-12)
    assert sensor.status().sample_count == 1


def test_on_a_clock_that_went_back_all_begins_anew():
    sensor = played('imu')
    run(sensor, 'data', REST, 10)
    sensor.board.inject(FaultRequest('bias', magnitude=1.0))
    assert sensor.time_went_back() == ['bias']
    first, second = run(sensor, 'data', REST, 2)
    assert first.values is REST and first.increment is None
    assert second.integral.dt_s == pytest.approx(0.01, abs=1e-12)


def test_a_timeline_of_faults_begins_again_with_each_lap():
    sensor = played('imu')
    sensor.inject_timeline('- {at: 0.025, sensor: imu, mode: bias, magnitude: 1.0}')
    first = run(sensor, 'data', REST, 5)
    sensor.power_cycle()
    second = run(sensor, 'data', REST, 5, first=5, lap_ns=5 * STEP_NS)
    for samples in (first, second):
        assert [s.values['gyro'][0] > 1.0 for s in samples] == [False] * 3 + [True] * 2


# ---------------------------------------------------------------------- parameters


@pytest.mark.parametrize('text', ['', 'imu', 'imu_sim,imu_sim', 'imu_sim,'])
def test_the_list_of_sensors_is_checked(text):
    with pytest.raises(ParameterError, match='sensors'):
        build(ScenarioSettings, {'sensors': text})


def test_the_list_of_sensors_is_read():
    settings = build(ScenarioSettings, {'sensors': ' gps_sim, imu_sim'})
    assert settings.named() == ['gps_sim', 'imu_sim']
