"""Random streams: addressed by the tick, keyed by name, disturbed by nothing."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from core_helpers import (
    EPOCH,
    SECOND,
    assert_std,
    assert_uncorrelated,
    baro,
    forces,
    gps,
    imu,
    mag,
    pieces,
    rates,
    reconfigure,
    run,
    still,
    turning,
)

from jaguar_sensors_ros.catalogue import SENSORS
from jaguar_sensors_ros.component import NormalStream, StreamFactory
from jaguar_sensors_ros.faults.base import FaultRequest

MS = 1_000_000


BLOCK = NormalStream.BLOCK


def test_single_numbers_are_those_of_the_array_in_any_order():
    stream = NormalStream(7, 'imu/gyro.white_noise/x', 0)
    array = stream.array(0, 5 * BLOCK)
    other = NormalStream(7, 'imu/gyro.white_noise/x', 0)
    for tick in (0, 1, BLOCK - 1, BLOCK, 5 * BLOCK - 1, 2 * BLOCK - 1, 5, BLOCK + 1, 0):
        assert other(tick) == array[tick]
    n = BLOCK // 2
    np.testing.assert_array_equal(stream.array(n, 3 * BLOCK), array[n : n + 3 * BLOCK])
    np.testing.assert_array_equal(stream.array(BLOCK, BLOCK), array[BLOCK : 2 * BLOCK])
    assert len(stream.array(10, 0)) == 0


def sfc64(a, b, c):
    """Return numpy's generator 18 rounds after SFC64 with a counter of 1, stepped in Python."""
    mask, counter = (1 << 64) - 1, 1
    for _ in range(18):
        word = (a + b + counter) & mask
        counter += 1
        a = b ^ (b >> 11)
        b = (c + (c << 3)) & mask
        c = ((((c << 24) & mask) | (c >> 40)) + word) & mask
    bits = np.random.SFC64(0)
    state = {'state': np.array([a, b, c, counter], dtype=np.uint64)}
    bits.state = {'bit_generator': 'SFC64', 'state': state, 'has_uint32': 0, 'uinteger': 0}
    return np.random.Generator(bits)


def made_by_numpy(key, power_on, blocks):
    """Return the blocks of a stream, made by numpy, and where in the first one it begins."""
    words = np.frombuffer(hashlib.sha256(f'{key}/{power_on}'.encode()).digest(), dtype='<u4')
    a, b, c = map(int, np.random.SeedSequence([7, *map(int, words)]).generate_state(3, np.uint64))
    generators = [sfc64(a, b, (c + k) % (1 << 64)) for k in blocks]
    return [g.standard_normal(BLOCK) for g in generators], int(words[0]) % BLOCK


def test_the_key_is_the_sha256_of_the_name_and_the_power_on():
    (block,), phase = made_by_numpy('imu/gyro.white_noise/x', 3, [2])
    stream = NormalStream(7, 'imu/gyro.white_noise/x', 3)
    np.testing.assert_array_equal(stream.array(2 * BLOCK - phase, BLOCK), block)
    stream = StreamFactory(7, 'imu', 3).stream('gyro.white_noise', 'x')
    assert stream(2 * BLOCK - phase) == block[0]


def test_a_stream_is_reached_at_any_distance():
    stream = NormalStream(7, 'imu/gyro.white_noise/x', 0)
    (block,), phase = made_by_numpy('imu/gyro.white_noise/x', 0, [10**12])
    assert stream(10**12 * BLOCK - phase + 5) == block[5]
    np.testing.assert_array_equal(stream.array(10**12 * BLOCK - phase, BLOCK), block)


def test_blocks_follow_one_another():
    blocks, phase = made_by_numpy('imu/gyro.white_noise/x', 0, range(40))
    numbers = np.concatenate(blocks)[phase:]
    stream = NormalStream(7, 'imu/gyro.white_noise/x', 0)
    np.testing.assert_array_equal(stream.array(0, len(numbers)), numbers)


def test_filling_an_array_is_the_same_numbers():
    stream = NormalStream(7, 'imu/gyro.white_noise/x', 0)
    numbers = np.empty((2, 3 * BLOCK))
    stream.fill(700, numbers[1])
    np.testing.assert_array_equal(numbers[1], stream.array(700, 3 * BLOCK))


def test_every_part_of_the_key_makes_another_stream_and_they_are_independent():
    def numbers(seed=1, sensor='imu', term='gyro.white_noise', axis='x', power_on=0):
        return StreamFactory(seed, sensor, power_on).stream(term, axis).array(0, 20000)

    reference = numbers()
    assert_std(reference, 1.0)
    np.testing.assert_array_equal(reference, numbers())
    for other in ({'seed': 2}, {'sensor': 'imu2'}, {'term': 'accel.white_noise'}, {'axis': 'y'},
                  {'power_on': 1}):
        assert_uncorrelated(reference, numbers(**other))
    assert_uncorrelated(reference[:-1], reference[1:])
    assert_uncorrelated(reference[:-BLOCK], reference[BLOCK:])


def test_a_property_of_the_unit_outlives_power_cycles():
    a, b = (StreamFactory(1, 'imu', n).unit_stream('gyro.scale_factor', '0')(0) for n in (0, 5))
    assert a == b


REALISTIC = {
    'grade': 'tactical',
    'orientation__output': 'ahrs',
    'orientation__correlation_time_s': 5.0,
    'gyro__turn_on_bias_std': 1e-4,
    'gyro__random_walk': 1e-5,
    'accel__random_walk': 1e-4,
    'gyro__bandwidth_hz': 40.0,
    'gyro_lsb': 1e-6,
    'accel__resolution': 1e-4,
    'tau_bias_g_s': 10.0,
    'gyro__bias_model': 'flicker',
    'gyro__g_sensitivity': 1e-5,
    'increments__samples': 2,
}
GPS = {'pos_correlated_fraction': 0.5, 'pos_correlation_time_s': 30.0, 'update_hz': 10.0}

MAG = {'field': (1e-6, 21e-6, -43e-6), 'bias_m_init_std': 1e-7, 'tau_bias_m_s': 30.0,
       'mag__turn_on_bias_std': 1e-7, 'mag__random_walk': 1e-8, 'mag__bandwidth_hz': 20.0}
BARO = {'pressure__bias_init_std': 5.0, 'pressure__tau_bias_s': 30.0,
        'pressure__random_walk': 0.1, 'pressure__turn_on_bias_std': 5.0}


def motion():
    """Return 3.7 seconds whose message times do not lie on the sample grid."""
    at = turning((10.0, 0.5, 0), (0.1, -0.2, 1.0), EPOCH)
    return pieces(at, [EPOCH + 3 + i * 23 * MS for i in range(160)])


def essence(sample):
    return sample._asdict()


@pytest.fixture(scope='module')
def undisturbed():
    return {
        'imu': {s.t_ns: s for s in run(imu(**REALISTIC), motion())},
        'gps': {s.t_ns: s for s in run(gps(**GPS), motion())},
        'mag': {s.t_ns: s for s in run(mag(**MAG), motion())},
        'baro': {s.t_ns: s for s in run(baro(**BARO), motion())},
    }


def change(sensor, base, **values):
    reconfigure(sensor, **{**base, **values})


DISTURBANCES = {
    'transparent': {'fidelity': 'transparent'},
    'fault': {'fidelity': 'fault', 'failure__mode': 'noise'},
    'disabled': {'enabled': False},
    'white': {'gyro__white_noise_density': 1e-2},
    'walk': {'gyro__random_walk': 0.0},
    'sigma': {'bias_g_init_std': 0.5, 'bias_a_init_std': 0.5},
    'model': {'gyro__range': 1e-3},
    'warm-up': {'warm_up_s': 100.0},
    'ahrs': {'orientation__output': 'truth', 'orientation__yaw_std': 1.0},
    'one sample': {'increments__samples': 1},
    'instant': {'rate_output': 'instant'},
}
#: these change the residue of the quantiser while they last: the axes differ by pulses after it
PULSES = {'white', 'walk', 'sigma', 'model'}


@pytest.mark.parametrize('name', DISTURBANCES)
def test_after_a_change_and_its_return_the_imu_is_as_if_nothing_had_been(name, undisturbed):
    base = dict(REALISTIC)
    if name in PULSES:
        base['gyro_lsb'] = 0.0
        expected = {s.t_ns: s for s in run(imu(**base), motion())}
    else:
        expected = undisturbed['imu']
    sensor, segments = imu(**base), motion()
    run(sensor, segments[:50])
    change(sensor, base, **DISTURBANCES[name])
    during = run(sensor, segments[50:90])
    change(sensor, base)
    after = run(sensor, segments[90:])
    assert len(after) > 300
    ignored = {'frame'} if name == 'one sample' else set()
    for s in after:
        here, there = essence(s), essence(expected[s.t_ns])
        assert {k: v for k, v in here.items() if k not in ignored} == {
            k: v for k, v in there.items() if k not in ignored
        }
    if name in ('disabled', 'warm-up'):
        assert during == []
    elif name not in ('one sample', 'fault'):
        assert any(s != expected[s.t_ns] for s in during)


@pytest.mark.parametrize('values', [
    {'fidelity': 'transparent'}, {'enabled': False}, {'satellites': 2}, {'pos_std_dev': 50.0},
    {'pos_correlated_fraction': 1.0}, {'fix_type': 'none'}, {'fidelity': 'fault',
    'failure__mode': 'total'},
])
def test_after_a_change_and_its_return_the_receiver_is_as_if_nothing_had_been(
    values, undisturbed
):
    sensor, segments = gps(**GPS), motion()
    run(sensor, segments[:50])
    change(sensor, GPS, **values)
    run(sensor, segments[50:90])
    change(sensor, GPS)
    after = run(sensor, segments[90:])
    assert len(after) > 15
    assert all(s == undisturbed['gps'][s.t_ns] for s in after)


@pytest.mark.parametrize(
    ('kind', 'mode'), [(k, m) for k, (c, _) in SENSORS.items() for m in c.channels.modes]
)
def test_a_cleared_fault_leaves_no_trace(kind, mode, undisturbed):
    make, values = {
        'imu': (imu, REALISTIC), 'gps': (gps, GPS), 'mag': (mag, MAG), 'baro': (baro, BARO)
    }[kind]
    sensor = make(**values)
    magnitude = {'intermittent': 0.5, 'noise': 10.0, 'satellite_loss': 7.0}.get(mode, 1.0)
    segments = motion()
    run(sensor, segments[:50])
    sensor.board.inject(FaultRequest(mode, magnitude))
    during = run(sensor, segments[50:90])
    sensor.board.clear()
    after = run(sensor, segments[90:])
    assert all(s == undisturbed[kind][s.t_ns] for s in after)
    assert during != [undisturbed[kind][s.t_ns] for s in during] or mode in (
        'total', 'intermittent'
    )


def test_the_same_seed_gives_the_same_numbers_and_another_seed_others():
    first, again, other = (
        run(imu(seed=seed, **REALISTIC), motion()) for seed in (4, 4, 5)
    )
    assert first == again
    assert not set(first) & set(other)


def test_two_sensors_of_one_seed_have_independent_noise():
    values = {'sample_rate_hz': 1000.0, 'gyro__white_noise_density': 1.0,
              'accel__white_noise_density': 1.0}
    a, b = (run(imu(name, **values), [still(0, 5)]) for name in ('a', 'b'))
    axes = [*rates(a).T, *forces(a).T, *rates(b).T, *forces(b).T]
    for i, x in enumerate(axes):
        for y in axes[:i]:
            assert_uncorrelated(x, y)


def test_a_live_change_of_sigma_scales_the_bias_and_nothing_else():
    values = {'sample_rate_hz': 100.0, 'bias_g_init_std': 1e-3, 'tau_bias_g_s': 10.0}
    expected = rates(run(imu(**values), [still(0, 10)]))
    sensor = imu(**values)
    run(sensor, [still(0, 5)])
    reconfigure(sensor, **{**values, 'bias_g_init_std': 3e-3})
    np.testing.assert_allclose(
        rates(run(sensor, [still(5, 10)])), 3.0 * expected[500:], rtol=1e-12
    )


def test_disturbing_one_sensor_does_not_touch_another_of_the_same_seed():
    alone = run(imu('b', **REALISTIC), motion())
    a, b = imu('a', **REALISTIC), imu('b', **REALISTIC)
    together = []
    for segment in motion():
        a.feed(segment)
        together += b.feed(segment)
        if segment.start_ns - EPOCH > SECOND:
            a.board.inject(FaultRequest('stuck'))
    assert together == alone
