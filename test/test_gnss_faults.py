"""Faults of receivers: outages, kinds of fix, cold restart, spoofing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from core_helpers import EPOCH, assert_std, gps, run, still

from jaguar_sensors_ros.catalogue import make_settings
from jaguar_sensors_ros.faults.base import FaultError, FaultRequest
from jaguar_sensors_ros.sensors.fix_kind import degraded, with_accuracy_of
from jaguar_sensors_ros.types import FixType, SensorState

HZ = 10.0


def receiver(**values):
    return gps(update_hz=HZ, **values)


def seconds(start, end):
    return [still(start, end, EPOCH)]


def inject(sensor, mode, magnitude=0.0, **fields):
    sensor.board.inject(FaultRequest(mode, magnitude, **fields))


# ---------------------------------------------------------------------- kinds of fix


@pytest.mark.parametrize(
    ('kind', 'kinds'),
    [
        ('rtk_fixed', ['RTK_FLOAT', 'SINGLE', 'NONE', 'NONE']),
        ('rtk_float', ['SINGLE', 'NONE', 'NONE', 'NONE']),
        ('sbas', ['SINGLE', 'NONE', 'NONE', 'NONE']),
        ('single', ['NONE'] * 4),
    ],
)
def test_rtk_degradation_goes_down_step_by_step_and_back(kind, kinds):
    sensor = receiver(fix_type=kind)
    t = 0.0
    for steps, expected in enumerate(kinds, 1):
        inject(sensor, 'rtk_degradation', steps, duration=1.0)
        got = run(sensor, seconds(t, t + 2.0))
        assert [s.fix_type.name for s in got] == [expected] * 10 + [kind.upper()] * 10
        assert [len(s.faults) for s in got] == [1] * 10 + [0] * 10
        t += 2.0


def test_each_kind_has_its_own_accuracy_covariance_and_confidence():
    sensor = receiver(fix_type='rtk_fixed')
    run(sensor, seconds(0, 1))
    assert sensor.status().confidence == 1.0
    inject(sensor, 'rtk_degradation', 1)
    got = run(sensor, seconds(1, 401))
    error = np.array([s.position_error.total for s in got])
    assert_std(error[:, :2], 0.14)
    assert_std(error[:, 2], 0.4)
    np.testing.assert_allclose(
        got[0].position_covariance, np.diag([0.14**2, 0.14**2, 0.4**2]).ravel()
    )
    assert sensor.status().confidence == pytest.approx(0.007 / 0.14)
    assert sensor.status().state is SensorState.DEGRADED
    assert got[0].faults[0].magnitude == 1.0


def test_a_poorer_fix_is_never_better_than_what_was_given():
    s = make_settings('gps', {'fix_type': 'rtk_fixed', 'pos_std_dev': [0.3, 0.3]})
    assert with_accuracy_of('rtk_float', s).pos_std_dev == (0.3, 0.4)
    assert with_accuracy_of('single', s).pos_std_dev == (5.0, 5.0)
    assert degraded('rtk_fixed', 0) == 'rtk_fixed'


def test_a_ramp_takes_the_steps_one_by_one():
    sensor = receiver(fix_type='rtk_fixed')
    inject(sensor, 'rtk_degradation', 3, ramp=3.0)
    kinds = [s.fix_type for s in run(sensor, seconds(0, 4))]
    assert kinds == sorted(kinds, reverse=True)
    # a step a second, the last at the end of the ramp
    assert [kinds.count(k) for k in (FixType.RTK_FIXED, FixType.RTK_FLOAT, FixType.SINGLE)] == [
        9, 10, 10
    ]


def test_the_noise_streams_do_not_notice():
    sensor, reference = receiver(fix_type='rtk_fixed'), receiver(fix_type='rtk_fixed')
    inject(sensor, 'rtk_degradation', 2, duration=1.0)
    got, sound = run(sensor, seconds(0, 2)), run(reference, seconds(0, 2))
    assert got[10:] == sound[10:]
    ratio = np.divide(got[0].position_error.noise, sound[0].position_error.noise)
    np.testing.assert_allclose(ratio, [5 / 0.007, 5 / 0.007, 5 / 0.02])


def test_with_a_sky_the_range_error_degrades():
    values = {'fix_type': 'rtk_fixed', 'geometry__enabled': True}
    sensor, reference = receiver(**values), receiver(**values)
    inject(sensor, 'rtk_degradation', 2)
    got, sound = run(sensor, seconds(0, 2)), run(reference, seconds(0, 2))
    ratio = np.array(got[5].position_covariance) / np.array(sound[5].position_covariance)
    np.testing.assert_allclose(ratio, (5 / 0.01) ** 2)


def test_in_transparent_the_kind_changes_and_the_position_does_not():
    sensor = receiver(fix_type='rtk_fixed', fidelity='transparent')
    inject(sensor, 'rtk_degradation')
    got = run(sensor, seconds(0, 1))
    assert {s.fix_type for s in got} == {FixType.RTK_FLOAT}
    assert {s.position_error.total for s in got} == {(0.0, 0.0, 0.0)}


@pytest.mark.parametrize('magnitude', [0.5, -1.0, 1.5])
def test_steps_are_whole(magnitude):
    with pytest.raises(FaultError, match='whole number'):
        inject(receiver(), 'rtk_degradation', magnitude)


# ---------------------------------------------------------------------- without a fix


@pytest.mark.parametrize(('magnitude', 'lasts_s'), [(0.0, 30.0), (4.5, 4.5)])
def test_a_cold_restart_has_no_fix_first_and_ends_by_itself(magnitude, lasts_s):
    sensor = receiver()
    run(sensor, seconds(0, 1))
    inject(sensor, 'cold_restart', magnitude)
    got = run(sensor, seconds(1, 41))
    lost = round(lasts_s * HZ)
    assert [s.has_fix for s in got] == [False] * lost + [True] * (400 - lost)
    first = got[0]
    assert math.isnan(first.latitude_deg) and first.satellites == 0
    assert first.faults[0].mode == 'cold_restart'
    assert first.faults[0].magnitude == pytest.approx(lasts_s - 0.1)
    assert sensor.status().faults == () and sensor.status().state is SensorState.READY


def test_while_it_looks_for_satellites_the_output_is_not_valid():
    sensor = receiver()
    inject(sensor, 'cold_restart', 5.0)
    run(sensor, seconds(0, 1))
    status = sensor.status()
    assert status.state is SensorState.DEGRADED and not status.valid and status.confidence == 0.0
    assert status.causes == ('fault cold_restart:all', 'no fix')


def test_cold_restarts_repeat_within_their_duration():
    sensor = receiver()
    inject(sensor, 'cold_restart', 0.5, duration=1.0, repeat=2, period=2.0)
    got = [s.has_fix for s in run(sensor, seconds(0, 6))]
    assert got == ([False] * 5 + [True] * 15) * 3


def test_outages_with_and_without_messages():
    sensor = receiver()
    inject(sensor, 'total', duration=1.0)  # the receiver is silent
    assert len(run(sensor, seconds(0, 2))) == 10
    inject(sensor, 'satellite_loss', 10, duration=1.0)  # the sky is hidden
    assert [s.has_fix for s in run(sensor, seconds(2, 4))] == [False] * 10 + [True] * 10


def test_the_reset_of_the_parameter_cold_start_has_no_fix_first_too():
    sensor = receiver(cold_start_s=2.0)
    run(sensor, seconds(0, 5))
    sensor.power_cycle()
    assert [s.has_fix for s in run(sensor, seconds(5, 8))] == [False] * 20 + [True] * 10


# ---------------------------------------------------------------------- spoofing


def test_spoofing_is_a_drift_with_a_ramp_smooth_and_coherent():
    """Offset is the integral of the velocity error, which has no step."""
    sensor, reference = (receiver(fidelity='transparent') for _ in range(2))
    inject(sensor, 'drift', 2.0, axis='e', ramp=10.0)
    got, sound = run(sensor, seconds(0, 20)), run(reference, seconds(0, 20))
    offset = np.array([s.position_error.total[0] for s in got])
    velocity = np.array([s.velocity_error.total[0] for s in got])
    t = np.arange(1, 201) / HZ
    np.testing.assert_allclose(velocity, 2.0 * np.minimum(1.0, t / 10.0), atol=1e-9)
    expected = np.where(t < 10.0, 0.1 * t**2, 2.0 * t - 10.0)
    np.testing.assert_allclose(offset, expected, atol=1e-8)
    assert [s.position_covariance for s in got] == [s.position_covariance for s in sound]
    np.testing.assert_allclose(
        np.diff(offset), (velocity[1:] + velocity[:-1]) / 2 / HZ, atol=1e-8
    )
