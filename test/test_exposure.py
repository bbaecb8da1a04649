"""Temperature, vibration and shock: limits that degrade a sensor, at exact values and times."""

from __future__ import annotations

import math

import numpy as np
import pytest
from core_helpers import EPOCH, G0, SECOND, gps, imu, moving, pieces, reconfigure, run, still

from jaguar_sensors_ros.component import ParameterError
from jaguar_sensors_ros.types import SensorState

MAKE = {'imu': imu, 'gps': gps}
both = pytest.mark.parametrize('kind', MAKE)


def seconds(start, end):
    count = round((end - start) * 50)
    return [still(start + i * 0.02, start + (i + 1) * 0.02, EPOCH) for i in range(count)]


def shaken(amplitude_g, hertz, start_s, end_s, rate=500):
    """Return a vertical oscillation of the given specific-force amplitude."""
    omega = 2.0 * math.pi * hertz

    def at(t_ns):
        t = (t_ns - EPOCH) / SECOND
        a = amplitude_g * G0
        return moving(
            t_ns,
            v=(0.0, 0.0, -a / omega * math.cos(omega * t)),
            p=(0.0, 0.0, -a / omega**2 * math.sin(omega * t)),
            a=(0.0, 0.0, a * math.sin(omega * t)),
        )

    times = range(round(start_s * rate), round(end_s * rate) + 1)
    return pieces(at, [EPOCH + k * SECOND // rate for k in times])


def causes(sensor):
    status = sensor.status()
    expected = SensorState.DEGRADED if status.causes else SensorState.READY
    assert status.state is expected and status.valid == (status.state is not SensorState.FAILED)
    return list(status.causes)


@both
def test_defaults_are_those_of_the_document(kind):
    limits = MAKE[kind]().settings.environment
    assert (limits.min_temperature, limits.max_temperature) == (-40.0, 85.0)
    assert (limits.max_vibration, limits.max_shock) == (20.0, 100.0)


@both
def test_temperature(kind):
    sensor = MAKE[kind](temperature_c=85.0)
    run(sensor, seconds(0, 2))
    assert causes(sensor) == []
    for value, words in ((85.1, ['temperature above 85 degC']), (-40.0, []),
                         (-40.1, ['temperature below -40 degC']), (20.0, [])):
        reconfigure(sensor, temperature_c=value)
        start = (sensor.time_ns - EPOCH) / SECOND
        run(sensor, seconds(start, start + 1))
        assert causes(sensor) == words
    assert sensor.status().confidence == 1.0


@both
def test_a_ramp_passes_the_limit_when_it_reaches_it(kind):
    values = {'temperature_slew_c_per_s': 10.0, 'environment__max_temperature': 50.0}
    sensor = MAKE[kind](temperature_c=25.0, **values)
    run(sensor, seconds(0, 1))
    reconfigure(sensor, temperature_c=75.0, **values)
    run(sensor, seconds(1, 3.4))
    assert causes(sensor) == []  # 49 degrees
    run(sensor, seconds(3.4, 3.6))
    assert causes(sensor) == ['temperature above 50 degC']


@both
def test_vibration_is_the_rms_of_the_alternating_part(kind):
    """A sine of amplitude A has the RMS A / sqrt(2); gravity does not count."""
    for amplitude, words in ((1.40, []), (1.43, ['vibration above 1 g RMS'])):
        sensor = MAKE[kind](environment__max_vibration=1.0,
                            **({'sample_rate_hz': 500.0} if kind == 'imu' else {}))
        run(sensor, shaken(amplitude, 10.0, 0.0, 2.0))
        assert causes(sensor) == words
    run(sensor, seconds(2.0, 3.1))
    assert causes(sensor) == []  # a second later it is over


def test_vibration_set_by_parameters_counts():
    sensor = imu(vibration_grms=20.0)
    run(sensor, seconds(0, 1))
    assert causes(sensor) == []
    reconfigure(sensor, vibration_grms=20.1)
    run(sensor, seconds(1, 2))
    assert causes(sensor) == ['vibration above 20 g RMS']


@both
def test_a_shock_is_remembered_for_a_second(kind):
    values = {'environment__max_shock': 5.0, 'environment__max_vibration': 1e3}
    sensor = MAKE[kind](**values)
    run(sensor, seconds(0, 1))
    stop = pieces(
        lambda t_ns: moving(t_ns, a=(0.0, 0.0, 4.1 * G0 if t_ns > EPOCH + SECOND else 0.0)),
        [EPOCH + SECOND, EPOCH + SECOND + 10_000_000, EPOCH + SECOND + 20_000_000],
    )
    run(sensor, stop)
    assert causes(sensor) == ['shock above 5 g']
    run(sensor, seconds(1.02, 1.98))
    assert causes(sensor) == ['shock above 5 g']
    run(sensor, seconds(1.98, 2.1))
    assert causes(sensor) == []


@both
def test_gravity_and_a_gentle_motion_are_no_shock(kind):
    sensor = MAKE[kind](environment__max_shock=1.5)
    run(sensor, shaken(0.4, 1.0, 0.0, 2.0, 100))
    assert causes(sensor) == []


@both
def test_a_gap_is_no_vibration(kind):
    sensor = MAKE[kind](environment__max_vibration=0.5)
    run(sensor, seconds(0, 1))
    high = [still(5 + i * 0.02, 5.02 + i * 0.02, EPOCH, q=(0.0, 1.0, 0.0, 0.0)) for i in range(30)]
    run(sensor, high)  # upside down after the gap
    assert causes(sensor) == []


def test_limits_that_contradict_are_refused():
    with pytest.raises(ParameterError, match=r'environment\.max_temperature.*-40'):
        imu(environment__max_temperature=-50.0)
    with pytest.raises(ParameterError, match=r'environment\.max_shock'):
        gps(environment__max_shock=-1.0)


def test_limits_disturb_no_output():
    hot = imu(grade='tactical', environment__max_temperature=0.0, environment__max_shock=0.0)
    sound = imu(grade='tactical')
    assert run(hot, seconds(0, 1)) == run(sound, seconds(0, 1))
    assert len(causes(hot)) == 2
    assert np.isfinite(hot.status().confidence)
