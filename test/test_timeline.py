"""Timelines and random failures: exact times, the same bytes, nothing guessed."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
from core_helpers import EPOCH, SECOND, gps, imu, rates, reconfigure, run, settings, still
from scipy import stats

from jaguar_sensors_ros.catalogue import FAULTS
from jaguar_sensors_ros.component import ParameterError
from jaguar_sensors_ros.faults.base import FaultRequest
from jaguar_sensors_ros.faults.timeline import parse
from jaguar_sensors_ros.types import JaguarError, SensorState

DT = 0.01
CALM = {'sample_rate_hz': 100.0, 'fidelity': 'transparent'}


def seconds(start, end):
    count = round((end - start) * 50)
    return [still(start + i * 0.02, start + (i + 1) * 0.02, EPOCH) for i in range(count)]


def rate_x(samples):
    return rates(samples)[:, 0]


def since(samples):
    return [(s.t_ns - EPOCH) / SECOND for s in samples]


@pytest.fixture
def written(tmp_path):
    def write(text, name='timeline.yaml'):
        path = tmp_path / name
        path.write_text(text, encoding='utf-8')
        return str(path)

    return write


# ---------------------------------------------------------------------- the file


def test_events_are_sorted_by_time_and_keep_their_order():
    text = '''
events:
  - {at: 2, sensor: imu, mode: bias, magnitude: 1, target: gyro, axis: xz, ramp: 0.5}
  - {at: 1.5, sensor: gps, mode: total, duration: 3}
  - {at: 2, sensor: imu, mode: none}
'''
    events = parse(text, 'f', FAULTS).events
    assert [(e.number, e.at_ns) for e in events] == [
        (2, 1_500_000_000), (1, 2 * SECOND), (3, 2 * SECOND),
    ]
    assert events[1].request == FaultRequest('bias', 1.0, 'gyro', 'xz', ramp=0.5)
    assert parse(text, 'f', FAULTS).sensors == ('gps', 'imu')
    assert parse('', 'f', FAULTS).events == parse('[]', 'f', FAULTS).events == ()


def test_the_example_of_the_documentation_is_taken():
    page = (Path(__file__).resolve().parent.parent / 'docs' / 'faults.md').read_text('utf-8')
    (example,) = re.findall(r'^```yaml\n(- \{at.*?)^```', page, re.DOTALL | re.MULTILINE)
    timeline = parse(example, 'faults.md', FAULTS)
    assert len(timeline.of('robot1/gps')) == 2
    assert imu('imu_1').inject_timeline(example) == 2


BAD = {
    'at is missing': '[{sensor: imu, mode: bias}]',
    'sensor, mode is missing': '[{at: 1}]',
    'did you mean magnitude': '[{at: 1, sensor: imu, mode: bias, magnitud: 1}]',
    'event 2: at = -1': '[{at: 0, sensor: a, mode: total}, {at: -1, sensor: a, mode: total}]',
    'must be a finite number >= 0': '[{at: .nan, sensor: imu, mode: total}]',
    'magnitude = inf': '[{at: 1, sensor: imu, mode: bias, magnitude: .inf}]',
    "at = '1 s'": '[{at: 1 s, sensor: imu, mode: total}]',
    "mode 'biass' is unknown; valid: none, bias": '[{at: 1, sensor: imu, mode: biass}]',
    'repeat = 1.5': '[{at: 1, sensor: imu, mode: total, repeat: 1.5}]',
    'must be a list': '{events: 5}',
    'must be names with values': '[5]',
    'sensor must be a name': "[{at: 1, sensor: '', mode: total}]",
    "or 'events:'": '{at: 1}',
    'given twice': '[{at: 1, at: 2, sensor: imu, mode: total}]',
    'duration = -2': '[{at: 1, sensor: imu, mode: total, duration: -2}]',
}


@pytest.mark.parametrize(('words', 'text'), BAD.items(), ids=BAD)
def test_a_bad_file_is_refused_with_the_place_and_the_reason(words, text):
    with pytest.raises(JaguarError) as refused:
        parse(text, 'f', FAULTS)
    assert words in str(refused.value) and str(refused.value).startswith('f')


def test_a_sensor_takes_the_events_that_name_it():
    text = '''
- {at: 1, sensor: imu, mode: total}
- {at: 2, sensor: /robot1/imu, mode: total}
- {at: 3, sensor: '*', mode: total}
- {at: 4, sensor: '/robot?/i*', mode: total}
- {at: 5, sensor: gps, mode: satellite_loss, magnitude: 3}
'''
    timeline = parse(text, 'f', FAULTS)

    def times(name):
        return [event.at_ns // SECOND for event in timeline.of(name)]

    assert times('/robot1/imu') == times('robot1/imu') == [1, 2, 3, 4]
    assert times('imu') == [1, 3]
    assert times('robot2/gps') == [3, 5]


# ---------------------------------------------------------------------- in time


SCRIPT = '''
- {at: 0.5, sensor: imu, mode: bias, magnitude: 1.0, axis: x, duration: 0.5}
- {at: 1.255, sensor: imu, mode: drift, magnitude: 2.0, axis: x}
- {at: 2.0, sensor: imu, mode: none, target: gyro}
- {at: 2.5, sensor: imu, mode: bias, magnitude: 3.0, axis: x}
- {at: 2.7, sensor: imu, mode: bias, magnitude: 4.0, axis: x, duration: 0.1, delay: 0.1}
- {at: 3.0, sensor: imu, mode: total, duration: 0.2}
'''


def scripted(t):
    """Return what the script says of the rate at time t; None where there is no sample."""
    if 3.0 < t <= 3.2:
        return None
    if 0.5 < t <= 1.0:
        return 1.0
    if 1.255 < t <= 2.0:
        return 2.0 * (t - 1.255)
    if 2.5 < t <= 2.7:
        return 3.0
    if 2.8 < t <= 2.9:
        return 4.0
    return 0.0


def test_events_act_at_their_exact_times_in_fidelity_fault(written):
    path = written(SCRIPT)
    sensor = imu(sample_rate_hz=100.0, fidelity='fault', failure__timeline=path)
    got = run(sensor, seconds(0, 4))
    expected = {t: scripted(t) for t in np.round(DT * np.arange(1, 401), 9)}
    np.testing.assert_allclose(since(got), [t for t, x in expected.items() if x is not None])
    np.testing.assert_allclose(
        rate_x(got), [x for x in expected.values() if x is not None], atol=1e-12
    )


@pytest.mark.parametrize('fidelity', ['transparent', 'realistic'])
def test_a_timeline_of_parameters_is_silent_in_other_fidelities(written, fidelity):
    path = written(SCRIPT)
    sensor = imu(sample_rate_hz=100.0, fidelity=fidelity, failure__timeline=path)
    got = run(sensor, seconds(0, 4))
    assert len(got) == 400 and not any(rate_x(got))
    assert sensor.status().state is SensorState.READY


def test_fidelity_fault_that_comes_late_finds_the_timeline_where_it_is(written):
    values = {'sample_rate_hz': 100.0, 'failure__timeline': written(SCRIPT)}
    sensor = imu(**values)
    run(sensor, seconds(0, 1.5))
    reconfigure(sensor, fidelity='fault', **values)
    got = rate_x(run(sensor, seconds(1.5, 2.0)))
    np.testing.assert_allclose(got, 2.0 * (1.5 + DT * np.arange(1, 51) - 1.255), atol=1e-12)


def test_an_injected_timeline_acts_in_every_fidelity_and_loading_it_early_changes_nothing():
    runs = []
    for loaded_at in (0.0, 0.3, 0.5):
        sensor = imu(**CALM)
        before = run(sensor, seconds(0, loaded_at))
        assert sensor.inject_timeline(SCRIPT) == 6
        runs.append(before + run(sensor, seconds(loaded_at, 4)))
    assert runs[0] == runs[1] == runs[2]
    np.testing.assert_allclose(
        rate_x(runs[0]),
        [x for t in np.round(DT * np.arange(1, 401), 9) if (x := scripted(t)) is not None],
        atol=1e-12,
    )


def test_a_timeline_loaded_late_is_where_it_would_be():
    sensor = imu(**CALM)
    run(sensor, seconds(0, 1.5))
    sensor.inject_timeline(SCRIPT)
    got = rate_x(run(sensor, seconds(1.5, 2.6)))
    np.testing.assert_allclose(got[:50], 2.0 * (1.5 + DT * np.arange(1, 51) - 1.255), atol=1e-12)
    assert got[-1] == 3.0


def test_every_fidelity_and_noise_give_the_same_bytes_again(written):
    text = '''
- {at: 0.2, sensor: imu, mode: noise, magnitude: 5, target: gyro}
- {at: 0.4, sensor: imu, mode: jump, magnitude: 1, target: accel}
- {at: 0.6, sensor: imu, mode: intermittent}
- {at: 0.8, sensor: imu, mode: stuck, target: gyro, duration: 0.5}
'''
    values = {'grade': 'tactical', 'fidelity': 'fault', 'failure__timeline': written(text)}
    first, again = (run(imu(seed=3, **values), seconds(0, 2)) for _ in range(2))
    assert first == again and len(first) < 400
    assert run(imu(seed=4, **values), seconds(0, 2)) != first


@pytest.mark.parametrize(
    'text',
    [
        '[{at: 0.2, sensor: imu, mode: bias, magnitude: 9, axis: x, duration: 0.1}]',
        '[{at: 0.2, sensor: imu, mode: bias, magnitude: 9, axis: x}]',
        '[{at: 0.2, sensor: imu, mode: none}]',
        '[{at: 0.2, sensor: imu, mode: none, target: gyro}]',
    ],
)
def test_a_timeline_loaded_late_leaves_alone_what_was_injected_since(text):
    sensor = imu(**CALM)
    run(sensor, seconds(0, 1))
    sensor.board.inject(FaultRequest('bias', 1.0, 'gyro', 'x'))
    run(sensor, seconds(1, 2))
    sensor.inject_timeline(text)
    assert set(rate_x(run(sensor, seconds(2, 3)))) == {1.0}


def test_a_total_failure_outlives_one_of_a_timeline_that_is_long_over():
    sensor = imu(**CALM)
    run(sensor, seconds(0, 1))
    sensor.board.inject(FaultRequest('total'))
    run(sensor, seconds(1, 2))
    sensor.inject_timeline('[{at: 0.2, sensor: imu, mode: total, duration: 0.1}]')
    assert run(sensor, seconds(2, 3)) == []


def test_a_power_cycle_begins_the_timeline_anew(written):
    for values in (
        {'fidelity': 'fault', 'failure__timeline': written(SCRIPT)},
        {'fidelity': 'transparent'},
    ):
        sensor = imu(sample_rate_hz=100.0, **values)
        if 'failure__timeline' not in values:
            sensor.inject_timeline(SCRIPT)
        sensor.board.inject(FaultRequest('bias', 7.0, 'accel'))
        run(sensor, seconds(0, 2.6))
        sensor.power_cycle()
        got = run(sensor, seconds(2.6, 4.6))  # on again at 2.6
        assert [s.specific_force[0] for s in got] == [7.0] * len(got)
        np.testing.assert_allclose(
            rate_x(got), [scripted(t) for t in np.round(DT * np.arange(1, 201), 9)], atol=1e-7
        )


def test_clear_takes_what_is_to_come_too():
    sensor = imu(**CALM)
    sensor.inject_timeline(SCRIPT)
    run(sensor, seconds(0, 0.7))
    assert sensor.board.clear() == ['bias', '5 events of a timeline']
    assert not any(rate_x(run(sensor, seconds(0.7, 4))))
    sensor.power_cycle()
    assert not any(rate_x(run(sensor, seconds(4, 6))))


def test_an_empty_text_takes_the_timeline_away():
    sensor = imu(**CALM)
    sensor.inject_timeline(SCRIPT)
    sensor.board.inject(FaultRequest('bias', 1.0, axis='y'))
    run(sensor, seconds(0, 0.7))
    assert sensor.inject_timeline('') == 0
    got = rates(run(sensor, seconds(0.7, 4)))
    assert not got[:, 0].any() and (got[:, 1] == 1.0).all()


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('[{at: 1, sensor: imu, mode: satellite_loss, magnitude: 1}]', 'event 1, at 1 s: mode'),
        ('[{at: 1, sensor: imu, mode: bias}]', 'bias needs a magnitude'),
        ('[{at: 1, sensor: imu, mode: none, axis: x}]', 'axis is not valid for none'),
        ('[{at: 1, sensor: imu, mode: none, target: wheel}]', "target 'wheel'"),
        ('[{at: 1, sensor: imu, mode: bias, magnitude: 1, target: position}]', 'gyro, accel'),
        ('[{at: 1, sensor: imu_left, mode: total}]', 'named: imu_left'),
        ('[{at: 1, sensor: imu, mode: total, repeat: 1}]', 'repeat needs a duration'),
    ],
)
def test_what_the_sensor_does_not_take_is_refused_as_a_whole(written, text, words):
    sensor = imu(**CALM)
    sensor.inject_timeline('[{at: 0.1, sensor: imu, mode: bias, magnitude: 1}]')
    with pytest.raises(JaguarError, match=words):
        sensor.inject_timeline(text)
    assert rate_x(run(sensor, seconds(0, 1)))[-1] == 1.0  # the one before goes on
    if 'named' not in words:
        with pytest.raises(ParameterError, match=r'failure.timeline.*' + words):
            imu(failure__timeline=written(text))


def test_a_file_that_is_not_there_is_refused_and_the_old_one_stays(written):
    with pytest.raises(ParameterError, match='No such file'):
        imu(failure__timeline='/nowhere/timeline.yaml')
    path = written('[{at: 0.1, sensor: imu, mode: bias, magnitude: 1}]')
    values = {'sample_rate_hz': 100.0, 'fidelity': 'fault'}
    sensor = imu(failure__timeline=path, **values)
    with pytest.raises(ParameterError, match='No such file'):
        sensor.configure(settings('imu', failure__timeline='/nowhere/x', **values))
    assert rate_x(run(sensor, seconds(0, 1)))[-1] == 1.0


def test_a_change_of_other_parameters_does_not_read_the_file_again(written):
    path = written('[{at: 0.5, sensor: imu, mode: bias, magnitude: 1}]')
    values = {'sample_rate_hz': 100.0, 'fidelity': 'fault', 'failure__timeline': path}
    sensor = imu(**values)
    run(sensor, seconds(0, 0.2))
    written('nonsense: [')
    reconfigure(sensor, mount__position=(0.0, 0.0, 1.0), **values)
    assert rate_x(run(sensor, seconds(0.2, 1)))[-1] == 1.0


# ---------------------------------------------------------------------- at random


def outages(sensor, hours):
    """Return the times between failures [h] of a GPS at 0.01 Hz, from the samples that miss."""
    step = 100
    got = []
    for hour in range(hours):
        start, end = hour * 3600, (hour + 1) * 3600
        got += [s.tick for s in sensor.feed(still(start, end, EPOCH))]
    missing = sorted(set(range(hours * 3600 // step)) - set(got))
    return np.diff(np.array(missing)) * step / 3600.0


def test_failures_come_exponentially_and_last_their_duration():
    mean_h, hours = 2.0, 1000
    sensor = gps(update_hz=0.01, fidelity='fault', failure__mtbf_hours=mean_h,
                 failure__duration=100.0)
    between = outages(sensor, hours)
    # each failure hides one sample; what lies between two is the waiting time and its length
    between = between[between > 0.03]
    n = len(between)
    expected = hours / (mean_h + 100 / 3600)
    assert abs(n - expected) < 4 * math.sqrt(expected)
    result = stats.kstest(between, stats.expon(scale=mean_h).cdf)
    # sampled in steps of 0.028 h: that much is added to the statistic
    assert result.statistic < stats.kstwo.ppf(1 - 1e-4, n) + 100 / 3600 / mean_h


def test_a_random_failure_is_total_unless_a_mode_is_given_and_needs_fidelity_fault():
    quick = {'sample_rate_hz': 100.0, 'failure__mtbf_hours': 1e-5}
    sensor = imu(fidelity='fault', **quick)
    got = run(sensor, seconds(0, 2))
    assert 0 <= len(got) < 200
    assert sensor.status().state is SensorState.FAILED
    sensor = imu(fidelity='fault', failure__mode='bias', failure__magnitude=1.0, **quick)
    got = rate_x(run(sensor, seconds(0, 2)))
    assert len(got) == 200 and sorted(got) == list(got) and got[-1] == 1.0
    assert len(run(imu(fidelity='realistic', **quick), seconds(0, 2))) == 200


def test_random_failures_are_the_same_again_and_others_after_a_power_cycle():
    def first(sensor, start):
        got = run(sensor, seconds(start, start + 20))
        return len(got)

    values = {'sample_rate_hz': 100.0, 'fidelity': 'fault', 'failure__mtbf_hours': 1e-3}
    a, b = imu(seed=5, **values), imu(seed=5, **values)
    counts = [first(a, 0), first(b, 0)]
    assert counts[0] == counts[1]
    a.power_cycle()
    assert first(a, 20) != counts[0]
    assert first(imu(seed=6, **values), 0) != counts[0]


def test_probability_decides_once_per_power_on_whether_there_are_any():
    values = {'sample_rate_hz': 100.0, 'fidelity': 'fault', 'failure__mtbf_hours': 1e-6}
    sensor = imu(failure__probability=0.0, **values)
    assert len(run(sensor, seconds(0, 1))) == 100


def test_clear_repairs_for_good():
    sensor = imu(sample_rate_hz=100.0, fidelity='fault', failure__mtbf_hours=1e-6)
    run(sensor, seconds(0, 1))
    assert sensor.board.clear() == ['total']
    assert len(run(sensor, seconds(1, 3))) == 200
    assert sensor.status().state is SensorState.READY


def test_a_gap_of_the_truth_does_not_stall_on_quick_failures():
    sensor = imu(sample_rate_hz=100.0, fidelity='fault', failure__mode='bias',
                 failure__magnitude=1.0, failure__duration=1e-9, failure__mtbf_hours=1e-6)
    run(sensor, seconds(0, 1))
    got = run(sensor, [still(1e6 + k / 100, 1e6 + (k + 1) / 100, EPOCH) for k in range(100)])
    assert len(got) == 100
    with pytest.raises(ParameterError, match=r'failure\.mtbf_hours.*1e-06'):
        imu(failure__mtbf_hours=1e-9)


def test_before_it_comes_a_random_failure_is_no_fault():
    sensor = imu(sample_rate_hz=100.0, fidelity='fault', failure__mtbf_hours=1e6)
    run(sensor, seconds(0, 1))
    status = sensor.status()
    assert status.state is SensorState.READY and status.faults == ()
    sensor.calibrate(0.5)  # nothing is on the sensor
