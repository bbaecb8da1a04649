"""Faults over the services and by parameters, on both nodes over real DDS."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip('rclpy')

from jaguar_sensors_msgs.msg import (
    GnssError,
    GnssSolution,
    ImuError,
    ImuIncrements,
    SensorState,
)
from jaguar_sensors_msgs.srv import InjectFailure
from ros_helpers import LATCHED, SECOND, record, rest, stamp_ns
from sensor_msgs.msg import Imu, NavSatFix
from std_srvs.srv import SetBool, Trigger

from jaguar_sensors_ros.ros.gps_node import GpsNode
from jaguar_sensors_ros.ros.imu_node import ImuNode

pytestmark = pytest.mark.ros

NODES = {'imu': (ImuNode, {}), 'gps': (GpsNode, {'update_hz': 200})}
DATA = {'imu': ('data', Imu), 'gps': ('solution', GnssSolution)}
ERROR = {'imu': ImuError, 'gps': GnssError}


def xyz(v):
    return (v.x, v.y, v.z)


class Rig:
    """One node at rest, fed by the half second; its data and errors since the last feed."""

    def __init__(self, graph, kind, **parameters):
        make_node, given = NODES[kind]
        given = {'fidelity': 'transparent', 'random_seed': 4, **given, **parameters}
        self.graph, self.kind, self.name = graph, kind, f'/{kind}'
        self.running = graph.start(make_node, **given)
        topic, message_type = DATA[kind]
        self._data = graph.collect(message_type, f'/{kind}/{topic}')
        self._error = graph.collect(ERROR[kind], f'/{kind}/error')
        self.state = graph.collect(SensorState, f'/{kind}/state', LATCHED)
        self._t_ns = 0
        graph.feed([*rest(0.0, 0.0, 50)])

    def go(self, seconds=0.5):
        """Feed rest for a while; return (data, errors) of it."""
        periods = round(seconds * 50)
        end_ns = self._t_ns + periods * SECOND // 50
        start = len(self._data), len(self._error)
        self.graph.feed(rest(self._t_ns / SECOND + 0.02, end_ns / SECOND, 50))
        self._t_ns = end_ns
        # the state of the node: not every fault leaves a message to wait for
        sensor = self.running.node._sensor
        self.graph.until(lambda: sensor.time_ns == end_ns, 'the truth to be taken')
        for collector in (self._data, self._error):
            wanted = sensor.sample_count - getattr(self, 'ignored', 0)
            self.graph.until(lambda c=collector, n=wanted: len(c) >= n, 'all samples')
        return self._data[start[0] :], self._error[start[1] :]

    def inject(self, mode, **fields):
        fields = {k: float(v) if k in TIMES else v for k, v in fields.items()}
        return self.graph.call(InjectFailure, f'{self.name}/inject_failure', mode=mode, **fields)

    def clear(self):
        return self.graph.call(Trigger, f'{self.name}/clear_failure')


TIMES = ('magnitude', 'delay', 'duration', 'ramp', 'period')
FIRST, SECOND_CHANNEL = {'imu': 'gyro', 'gps': 'position'}, {'imu': 'accel', 'gps': 'velocity'}


def total(kind, error, channel):
    return xyz(getattr(error, f'{channel}_total'))


@pytest.mark.parametrize('kind', NODES)
def test_bias_begins_at_the_next_sample_and_leaves_no_trace(graph, kind):
    rig = Rig(graph, kind)
    before, _ = rig.go()
    answer = rig.inject('bias', magnitude=0.01)
    assert answer.success and 'bias' in answer.message and FIRST[kind] in answer.message
    _, during = rig.go()
    assert len(during) == 100
    for error in during:
        assert total(kind, error, FIRST[kind]) == pytest.approx((0.01,) * 3, abs=1e-7)
        assert total(kind, error, SECOND_CHANNEL[kind]) == pytest.approx((0,) * 3, abs=1e-9)
        assert list(error.fault_modes) == ['bias']
    rig.state.until(lambda m: m.state == SensorState.DEGRADED and list(m.faults))
    answer = rig.clear()
    assert answer.success and 'bias' in answer.message
    after, errors = rig.go()
    assert not any(e.fault_modes for e in errors)
    for m, was in zip(after, before, strict=True):
        was.header.stamp = m.header.stamp
        if kind == 'gps':
            was.time_of_week = m.time_of_week
        assert repr(m) == repr(was)  # NaN is in both
    rig.state.until(lambda m: m.state == SensorState.READY and m.sample_count > 200)


@pytest.mark.parametrize('kind', NODES)
@pytest.mark.parametrize('which', [FIRST, SECOND_CHANNEL], ids=['first', 'second'])
def test_target_and_axis(graph, kind, which):
    rig, channel = Rig(graph, kind), which[kind]
    axis = {'imu': 'yz', 'gps': 'n'}[kind]
    hit = {'imu': (0, 1, 1), 'gps': (0, 1, 0)}[kind]
    assert rig.inject('bias', magnitude=0.5, target=channel, axis=axis).success
    _, errors = rig.go()
    for error in errors:
        assert total(kind, error, channel) == pytest.approx([0.5 * x for x in hit], abs=1e-7)
        (other,) = {FIRST[kind], SECOND_CHANNEL[kind]} - {channel}
        assert total(kind, error, other) == pytest.approx((0, 0, 0), abs=1e-9)


@pytest.mark.parametrize('kind', NODES)
def test_delay_duration_ramp_repeat_period(graph, kind):
    """0.1 s wait, 0.1 s long, once more 0.2 s later; then a ramp over 0.2 s."""
    rig = Rig(graph, kind)
    assert rig.inject('bias', magnitude=1, delay=0.1, duration=0.1, repeat=1, period=0.2).success
    _, errors = rig.go()
    active = [total(kind, error, FIRST[kind])[0] > 0.5 for error in errors]
    assert active == [k in range(20, 40) or k in range(60, 80) for k in range(100)]
    assert rig.inject('bias', magnitude=1, ramp=0.2).success
    _, errors = rig.go()
    found = [total(kind, error, FIRST[kind])[0] for error in errors]
    assert found == pytest.approx([min(1.0, k / 40) for k in range(1, 101)], abs=1e-6)


def test_drift_grows_and_the_gps_velocity_follows(graph):
    for kind in NODES:
        rig = Rig(graph, kind)
        assert rig.inject('drift', magnitude=2).success
        _, errors = rig.go()
        found = [total(kind, error, FIRST[kind])[0] for error in errors]
        assert found == pytest.approx([2 * k / 200 for k in range(1, 101)], abs=1e-6)
        if kind == 'gps':
            velocity = [total(kind, error, 'velocity')[0] for error in errors]
            assert velocity == pytest.approx([2.0] * 100, abs=1e-6)


@pytest.mark.parametrize('kind', NODES)
def test_noise_multiplies_the_standard_deviation(graph, kind):
    rig = Rig(graph, kind, fidelity='realistic')
    assert rig.inject('noise', target=SECOND_CHANNEL[kind]).success
    _, errors = rig.go(5.0)
    key = f'{SECOND_CHANNEL[kind]}_total'
    values = [xyz(getattr(error, key)) for error in errors]
    rig.clear()
    plain = [xyz(getattr(error, key)) for error in rig.go(5.0)[1]]
    # about the means, which are the biases; a ratio of two estimates of 3 x 1000 values each has
    # a relative standard error of 1 / sqrt(3000)
    ratio = math.sqrt(np.mean(np.var(values, axis=0)) / np.mean(np.var(plain, axis=0)))
    assert ratio == pytest.approx(10.0, rel=5 / math.sqrt(3 * len(plain)))
    assert {round(error.fault_magnitudes[0]) for error in errors} == {10}


@pytest.mark.parametrize('kind', NODES)
def test_stuck_holds_the_last_sample_and_stamps_go_on(graph, kind):
    rig = Rig(graph, kind, fidelity='realistic')
    last = rig.go()[0][-1]
    assert rig.inject('stuck').success
    held, _ = rig.go()
    assert [stamp_ns(m) for m in held] == [
        stamp_ns(last) + k * SECOND // 200 for k in range(1, 101)
    ]
    fields = {
        'imu': ('angular_velocity', 'linear_acceleration', 'orientation'),
        'gps': ('position', 'velocity'),
    }[kind]
    for m in held:
        for field in fields:
            assert getattr(m, field) == getattr(last, field)
    rig.clear()
    assert getattr(rig.go()[0][0], fields[0]) != getattr(last, fields[0])


@pytest.mark.parametrize('kind', NODES)
def test_intermittent_loses_samples(graph, kind):
    rig = Rig(graph, kind)
    assert rig.inject('intermittent').success
    data, _ = rig.go(5.0)
    assert 400 < len(data) < 600  # of 1000, half of them; 6 standard deviations
    assert all(stamp_ns(m) % (SECOND // 200) == 0 for m in data)
    rig.state.until(lambda m: m.state == SensorState.DEGRADED and m.confidence == 0.5)
    rig.clear()
    assert len(rig.go()[0]) == 100


@pytest.mark.parametrize('kind', NODES)
def test_jump_gives_outliers(graph, kind):
    rig = Rig(graph, kind)
    assert rig.inject('jump', magnitude=3).success
    _, errors = rig.go(5.0)
    values = [total(kind, error, FIRST[kind])[0] for error in errors]
    jumps = [x for x in values if abs(x) > 1e-6]
    assert {round(abs(x), 6) for x in jumps} == {3.0}
    assert 43 < len(jumps) < 157  # of 1000, one in ten; 6 standard deviations
    assert min(jumps) < 0.0 < max(jumps)


@pytest.mark.parametrize('kind', NODES)
def test_total_gives_nothing_and_fails(graph, kind):
    rig = Rig(graph, kind)
    assert rig.inject('total', target='all').success
    assert rig.go()[0] == []
    failed = rig.state.until(lambda m: m.state == SensorState.FAILED)
    assert not failed.valid and failed.confidence == 0.0
    rig.clear()
    data, _ = rig.go()
    assert len(data) == 100 and stamp_ns(data[0]) == SECOND // 2 + SECOND // 200


def test_satellite_loss(graph):
    graph.start(GpsNode, update_hz=5)
    fix = graph.collect(NavSatFix, '/gps/fix')
    solution = graph.collect(GnssSolution, '/gps/solution')
    graph.feed(rest(0.0, 0.2, 50))
    solution.until_count(1)
    for magnitude in (5.0, 7.0):
        call = {'mode': 'satellite_loss', 'magnitude': magnitude}
        assert graph.call(InjectFailure, '/gps/inject_failure', **call).success
        start = len(solution) * 0.2
        graph.feed(rest(start + 0.02, start + 0.2, 50))
        solution.until_count(len(solution) + 1)
    fix.until_count(3)
    assert [m.satellites for m in solution] == [10, 5, 3]
    assert [m.fix_type for m in solution] == [1, 1, 0]
    assert [m.status.status for m in fix] == [0, 0, -1]
    assert fix[1].position_covariance[0] == pytest.approx(2 * fix[0].position_covariance[0])
    assert solution[1].pdop == pytest.approx(math.sqrt(2.0) * solution[0].pdop)


@pytest.mark.parametrize('kind', NODES)
@pytest.mark.parametrize(
    ('fields', 'named'),
    [
        ({'mode': 'explode'}, 'intermittent'),
        ({'mode': ''}, 'intermittent'),
        ({'mode': 'bias'}, 'magnitude'),
        ({'mode': 'bias', 'magnitude': math.nan}, 'magnitude'),
        ({'mode': 'bias', 'magnitude': math.inf}, 'magnitude'),
        ({'mode': 'bias', 'magnitude': 1, 'target': 'all'}, 'target'),
        ({'mode': 'jump', 'magnitude': 1, 'target': 'all'}, 'target'),
        ({'mode': 'drift', 'magnitude': 1, 'target': 'wheel'}, 'target'),
        ({'mode': 'bias', 'magnitude': 1, 'axis': 'q'}, 'axis'),
        ({'mode': 'total', 'target': 'first'}, 'target'),
        ({'mode': 'intermittent', 'magnitude': 1.5}, 'magnitude'),
        ({'mode': 'noise', 'magnitude': -1}, 'magnitude'),
        ({'mode': 'stuck', 'delay': -1}, 'delay'),
        ({'mode': 'stuck', 'duration': math.nan}, 'duration'),
        ({'mode': 'stuck', 'ramp': math.inf}, 'ramp'),
        ({'mode': 'stuck', 'repeat': 1}, 'duration'),
        ({'mode': 'stuck', 'repeat': 1, 'duration': 1, 'period': 0.5}, 'period'),
        ({'mode': 'none', 'target': 'wheel'}, 'target'),
    ],
)
def test_refusals_say_what_is_valid_and_change_nothing(graph, kind, fields, named):
    rig = Rig(graph, kind)
    assert rig.inject('bias', magnitude=0.25).success
    fields = {**fields, **({'target': FIRST[kind]} if fields.get('target') == 'first' else {})}
    answer = rig.inject(**fields)
    assert not answer.success
    assert named in answer.message
    assert 'valid' in answer.message or 'needs' in answer.message
    _, errors = rig.go(0.1)
    for error in errors:
        assert list(error.fault_modes) == ['bias']
        assert total(kind, error, FIRST[kind]) == pytest.approx((0.25,) * 3, abs=1e-7)


def test_satellite_loss_is_not_for_the_imu_nor_fractions(graph):
    rig = Rig(graph, 'imu')
    answer = rig.inject('satellite_loss', magnitude=3)
    assert not answer.success and 'bias, drift' in answer.message
    rig = Rig(graph, 'gps')
    for magnitude in (0, 2.5, -1):
        assert not rig.inject('satellite_loss', magnitude=magnitude).success


@pytest.mark.parametrize('kind', NODES)
def test_a_newer_fault_replaces_that_on_its_target_and_none_clears_it(graph, kind):
    rig = Rig(graph, kind)
    assert rig.inject('bias', magnitude=1).success
    assert rig.inject('bias', magnitude=2, target=SECOND_CHANNEL[kind]).success
    assert rig.inject('bias', magnitude=3).success
    _, errors = rig.go(0.1)
    assert total(kind, errors[-1], FIRST[kind])[0] == pytest.approx(3.0, abs=1e-6)
    assert rig.inject('none', target=FIRST[kind]).success
    _, errors = rig.go(0.1)
    assert total(kind, errors[-1], FIRST[kind])[0] == pytest.approx(0.0, abs=1e-6)
    assert total(kind, errors[-1], SECOND_CHANNEL[kind])[0] == pytest.approx(2.0, abs=1e-6)
    assert rig.inject('none').success
    assert not rig.go(0.1)[1][-1].fault_modes


@pytest.mark.parametrize('kind', NODES)
def test_injection_can_be_locked(graph, kind):
    rig = Rig(graph, kind, failure__allow_injection=False)
    for answer in (rig.inject('bias', magnitude=1), rig.clear()):
        assert not answer.success and 'failure.allow_injection' in answer.message
    assert not any(error.fault_modes for error in rig.go(0.1)[1])
    assert graph.set(rig.name, failure__allow_injection=True)[0].successful
    assert rig.inject('bias', magnitude=1).success


@pytest.mark.parametrize('kind', NODES)
def test_reset_is_a_power_cycle_that_keeps_faults(graph, kind):
    rig = Rig(graph, kind, fidelity='realistic', warm_up_s=0)
    rig.go()
    assert rig.inject('bias', magnitude=1).success
    rig.go(0.1)
    answer = graph.call(Trigger, f'{rig.name}/reset')
    assert answer.success
    restarted = rig.state.until(lambda m: m.sample_count == 0 and m.uptime == 0.0 and m.faults)
    assert restarted.state == SensorState.INITIALIZING
    rig.ignored = -len(rig._data)
    data, errors = rig.go(0.1)
    assert 18 <= len(data) <= 20
    assert all(list(error.fault_modes) == ['bias'] for error in errors)
    stamps = rig._data.stamps
    assert stamps == sorted(set(stamps))


def test_reset_draws_a_new_turn_on_bias(graph):
    rig = Rig(
        graph, 'imu', fidelity='realistic', grade='custom', gyro__turn_on_bias_std=1,
        gyro__white_noise_density=0,
    )
    first = xyz(rig.go(0.1)[0][-1].angular_velocity)
    graph.call(Trigger, '/imu/reset')
    rig.ignored = -len(rig._data)
    second = xyz(rig.go(0.1)[0][-1].angular_velocity)
    assert all(a != b for a, b in zip(first, second, strict=True))


@pytest.mark.parametrize('kind', NODES)
def test_set_enabled_sets_the_parameter(graph, kind):
    rig = Rig(graph, kind)
    rig.go(0.1)
    assert graph.call(SetBool, f'{rig.name}/set_enabled', data=False).success
    assert graph.get(rig.name, 'enabled') is False
    assert rig.go(0.1)[0] == []
    off = rig.state.until(lambda m: m.state == SensorState.OFF)
    assert not off.valid and list(off.causes) == ['disabled']
    assert graph.set(rig.name, enabled=True)[0].successful
    data, _ = rig.go(0.1)
    assert len(data) == 20


@pytest.mark.parametrize('kind', NODES)
def test_a_fault_by_parameters_acts_in_fidelity_fault_only(graph, kind):
    graph.log()
    rig = Rig(graph, kind, failure__mode='bias', failure__magnitude=1, failure__axis='')
    warning = graph.log().until(lambda m: 'failure.mode is bias' in m.msg)
    assert 'fidelity' in warning.msg
    assert not any(error.fault_modes for error in rig.go(0.1)[1])
    assert graph.set(rig.name, fidelity='realistic')[0].successful
    assert graph.set(rig.name, fidelity='fault')[0].successful
    assert all(list(error.fault_modes) == ['bias'] for error in rig.go(0.1)[1])
    assert graph.set(rig.name, failure__magnitude=2)[0].successful
    assert {error.fault_magnitudes[0] for error in rig.go(0.1)[1]} == {2.0}
    result = graph.set(rig.name, failure__mode='explode')[0]
    assert not result.successful and 'failure.mode' in result.reason
    assert graph.set(rig.name, fidelity='transparent')[0].successful
    assert not any(error.fault_modes for error in rig.go(0.1)[1])
    assert len([m for m in graph.log() if 'failure.mode is bias' in m.msg]) == 1


@pytest.mark.parametrize('kind', NODES)
def test_a_cleared_fault_by_parameters_can_be_set_again(graph, kind):
    rig = Rig(graph, kind, fidelity='fault', failure__mode='bias', failure__magnitude=1)
    assert all(list(error.fault_modes) == ['bias'] for error in rig.go(0.1)[1])
    assert rig.clear().success
    assert graph.get(rig.name, 'failure.mode') == 'none'
    assert not any(error.fault_modes for error in rig.go(0.1)[1])
    assert graph.set(rig.name, failure__mode='bias')[0].successful
    assert all(list(error.fault_modes) == ['bias'] for error in rig.go(0.1)[1])
    assert graph.set(rig.name, failure__duration=0.1)[0].successful
    assert [bool(error.fault_modes) for error in rig.go(0.2)[1]] == [True] * 20 + [False] * 20
    assert graph.set(rig.name, failure__duration=0.1)[0].successful  # the same: once more
    assert all(error.fault_modes for error in rig.go(0.1)[1])


def test_a_fault_on_one_node_leaves_the_others_bytes(graph):
    truth = rest(0.0, 2.0, 50)
    graph.start(GpsNode, random_seed=1, update_hz=50)
    topics = {'data': Imu, 'increments': ImuIncrements}
    plain = record(graph, ImuNode, truth, topics, raw=True, count=400, readers=2, random_seed=1)
    for mode in ('total', 'stuck'):
        assert graph.call(InjectFailure, '/gps/inject_failure', mode=mode).success
        again = record(
            graph, ImuNode, truth, topics, raw=True, count=400, readers=2, random_seed=1
        )
        for topic in topics:
            assert list(again[topic]) == list(plain[topic])
