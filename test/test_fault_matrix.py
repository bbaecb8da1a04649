"""Every mode on every target of every sensor over DDS: the effect, its label, and no trace after.

The contract's table is written out here, not taken from the catalogue.  Each case is compared with
a run of the same sensor, seed and truth without faults.
"""

from __future__ import annotations

import math

import numpy as np
import pymap3d
import pytest

pytest.importorskip('rclpy')

from jaguar_sensors_msgs.msg import GnssError, GnssSolution, ImuError
from jaguar_sensors_msgs.srv import InjectFailure
from ros_helpers import SECOND, rest, stamp_ns
from sensor_msgs.msg import Imu
from std_srvs.srv import Trigger

from jaguar_sensors_ros.ros.gps_node import GpsNode
from jaguar_sensors_ros.ros.imu_node import ImuNode

pytestmark = pytest.mark.ros

HZ, SPAN_S = 200, 0.4
COUNT = round(HZ * SPAN_S)
ORIGIN = (47.0, 8.0, 400.0)
G0 = 9.80665
CHANNELS = {'imu': ('gyro', 'accel'), 'gps': ('position', 'velocity')}
OFFSET, EVERYWHERE = ('bias', 'drift', 'jump'), ('noise', 'stuck')
WHOLE = ('intermittent', 'total')
GPS_ONLY = ('satellite_loss', 'rtk_degradation', 'cold_restart')
MAGNITUDE = {'bias': 0.5, 'drift': 2.0, 'jump': 3.0, 'satellite_loss': 4.0,
             'rtk_degradation': 1.0, 'cold_restart': 0.2}


def allowed(kind, mode, target):
    """Tell what the contract says."""
    if mode in GPS_ONLY:
        return kind == 'gps' and target in ('', 'all')
    if mode in WHOLE:
        return target in ('', 'all')
    own = ('', *CHANNELS[kind])
    return target in own or (target == 'all' and mode in EVERYWHERE)


def hit(kind, mode, target):
    """Return the channels that a fault acts on."""
    if target in CHANNELS[kind]:
        return (target,)
    return CHANNELS[kind][:1] if mode in OFFSET else CHANNELS[kind]


class Record:
    """What came in one case, by stamp: values and labels of each channel, messages."""

    def __init__(self, kind, data, errors):
        self.data = {stamp_ns(m): m for m in data}
        self.errors = {stamp_ns(m): m for m in errors}
        assert list(self.data) == list(self.errors)
        self.stamps = list(self.data)
        self.values = {
            c: np.array([value(m, c) for m in data]).reshape(-1, 3) for c in CHANNELS[kind]
        }
        self.totals = {
            c: np.array([xyz(getattr(m, f'{c}_total')) for m in errors]).reshape(-1, 3)
            for c in CHANNELS[kind]
        }


def xyz(v):
    return (v.x, v.y, v.z)


def value(message, channel):
    """Return a measurement; positions and velocities along east, north, up of the origin."""
    if channel == 'gyro':
        return xyz(message.angular_velocity)
    if channel == 'accel':
        return xyz(message.linear_acceleration)
    if channel == 'position':
        return pymap3d.ecef2enu(*xyz(message.position), *ORIGIN)
    return pymap3d.ecef2enuv(*xyz(message.velocity), *ORIGIN[:2])


IDEAL = {'gyro': (0, 0, 0), 'accel': (0, 0, G0), 'position': (0, 0, 0), 'velocity': (0, 0, 0)}
#: float64 of ECEF coordinates, 6.4e6 m, and the turn of ENU over 10 m: 1e-6 rad
TOLERANCE = {'gyro': 1e-12, 'accel': 1e-12, 'position': 5e-5, 'velocity': 1e-5}


def start(graph, kind):
    values = {'random_seed': 4, 'origin': list(ORIGIN)}
    if kind == 'imu':
        return graph.start(ImuNode, sample_rate_hz=HZ, **values)
    return graph.start(GpsNode, update_hz=HZ, fix_type='rtk_fixed', **values)


def pairs(kind, wanted):
    """Return the pairs of mode and target that the contract allows, or those that it does not."""
    modes = (*OFFSET, *EVERYWHERE, *WHOLE, *GPS_ONLY)
    targets = ('', *CHANNELS[kind], 'all', 'wheel')
    return [(m, t) for m in modes for t in targets if allowed(kind, m, t) == wanted]


class Bench:
    """One sensor at rest, its stamps going on from case to case."""

    def __init__(self, graph, kind):
        self.graph, self.kind, self.steps = graph, kind, 0
        self.running = start(graph, kind)
        message, topic = {'imu': (Imu, 'data'), 'gps': (GnssSolution, 'solution')}[kind]
        error = {'imu': ImuError, 'gps': GnssError}[kind]
        self.data = graph.collect(message, f'/{kind}/{topic}')
        self.errors = graph.collect(error, f'/{kind}/error')
        graph.feed(rest(0.0, 0.0, 50))

    def go(self):
        """Feed rest for a span; return the Record of it."""
        sensor, count = self.running.node._sensor, len(self.data)
        first, self.steps = self.steps + 1, self.steps + round(SPAN_S * 50)
        self.graph.feed(rest(first / 50, self.steps / 50, 50))
        newest = self.steps * SECOND // 50
        self.graph.until(lambda: sensor.time_ns == newest, 'the truth to be taken')
        for collector in (self.data, self.errors):
            self.graph.until(lambda c=collector: len(c) >= sensor.sample_count, 'all samples')
        return Record(self.kind, self.data[count:], self.errors[count:])

    def inject(self, mode, target):
        return self.graph.call(
            InjectFailure, f'/{self.kind}/inject_failure', mode=mode, target=target,
            magnitude=MAGNITUDE.get(mode, 0.0),
        )

    def clear(self):
        assert self.graph.call(Trigger, f'/{self.kind}/clear_failure').success

    def end(self):
        self.running.end()
        for collector in (self.data, self.errors):
            self.graph.drop(collector)


@pytest.mark.parametrize('kind', CHANNELS)
def test_every_mode_on_every_target(graph, kind):
    bench, cases = Bench(graph, kind), pairs(kind, True)
    assert len(cases) == {'imu': 21, 'gps': 27}[kind]
    sound = [(bench.go(), bench.go()) for _ in cases]
    bench.end()
    bench = Bench(graph, kind)
    for (mode, target), (reference, reference_after) in zip(cases, sound, strict=True):
        answer = bench.inject(mode, target)
        assert answer.success, (mode, target, answer.message)
        during = bench.go()
        bench.clear()
        channels = hit(kind, mode, target)
        check_label(during, kind, mode, channels)
        check_effect(during, reference, kind, mode, target, channels)
        assert bench.go().data == reference_after.data, f'{mode} on {target!r} left a trace'


@pytest.mark.parametrize('kind', CHANNELS)
def test_what_the_contract_does_not_allow_is_refused(graph, kind):
    bench, cases = Bench(graph, kind), pairs(kind, False)
    assert len(cases) == {'imu': 29, 'gps': 23}[kind]
    reference = bench.go()
    bench.end()
    bench = Bench(graph, kind)
    for mode, target in cases:
        answer = bench.inject(mode, target)
        assert not answer.success and 'valid' in answer.message, (mode, target)
    assert bench.go().data == reference.data


def check_label(record, kind, mode, channels):
    """Published minus ideal is the total, and the fault is named with its target."""
    for channel in CHANNELS[kind]:
        fixed = np.isfinite(record.totals[channel]).all(axis=1)
        np.testing.assert_allclose(
            record.totals[channel][fixed],
            (record.values[channel] - IDEAL[channel])[fixed],
            atol=TOLERANCE[channel],
        )
    named = channels[0] if len(channels) == 1 else 'all'
    active = COUNT // 2 if mode == 'cold_restart' else COUNT
    for stamp, error in record.errors.items():
        expected = [mode] if (stamp * HZ // SECOND - 1) % COUNT < active else []
        assert list(error.fault_modes) == expected
        assert list(error.fault_targets) == [named] * len(expected)


def check_effect(got, sound, kind, mode, target, channels):
    """Compare the channels that are hit with theory, and the others with the sound run."""
    t = np.arange(1, COUNT + 1) / HZ
    if mode == 'total':
        assert not got.data
        return
    if mode == 'intermittent':  # the binomial, 6 standard deviations; what comes is sound
        assert abs(len(got.data) - COUNT / 2) < 6 * math.sqrt(COUNT) / 2
        for stamp, message in got.data.items():
            assert message == sound.data[stamp]
        return
    assert got.stamps == sound.stamps
    if mode in GPS_ONLY:
        check_receiver(got, sound, mode)
        return
    for channel in CHANNELS[kind]:
        change = got.totals[channel] - sound.totals[channel]
        expected = np.zeros((COUNT, 3))
        if channel in channels and mode == 'bias':
            expected += MAGNITUDE['bias']
        elif channel in channels and mode == 'drift':
            expected += MAGNITUDE['drift'] * t[:, None]
        elif channel == 'velocity' and mode == 'drift' and target == '':
            expected += MAGNITUDE['drift']
        elif channel in channels and mode == 'jump':
            size = MAGNITUDE['jump']
            expected = size * np.round(change / size)
            outliers = np.abs(expected).any(axis=1).sum()
            assert set(np.abs(expected).ravel()) <= {0.0, size}
            assert abs(outliers - COUNT / 10) < 6 * math.sqrt(0.09 * COUNT)
        elif channel in channels and mode == 'noise':
            # the extra noise is sqrt(10^2 - 1) times that of the sound run, about the bias of
            # each axis; two estimates of n values each have a ratio of relative standard error
            # 1 / sqrt(n)
            ratio = spread(change) / spread(sound.totals[channel])
            assert ratio == pytest.approx(math.sqrt(99.0), rel=5 / math.sqrt(3 * COUNT))
            continue
        elif channel in channels and mode == 'stuck':
            assert np.ptp(got.values[channel], axis=0) == pytest.approx(0, abs=1e-9)
            assert np.ptp(sound.values[channel], axis=0).min() > 0
            continue
        np.testing.assert_allclose(change, expected, atol=1e-8)


def spread(values):
    """Return the standard deviation of the axes about their means."""
    return math.sqrt(np.mean(np.var(values, axis=0, ddof=1)))


def check_receiver(got, sound, mode):
    for stamp, message in got.data.items():
        reference = sound.data[stamp]
        index = (stamp * HZ // SECOND - 1) % COUNT
        if mode == 'satellite_loss':
            assert message.satellites == reference.satellites - 4
            assert message.position_covariance == pytest.approx(
                10 / 6 * reference.position_covariance, rel=1e-9
            )
        elif mode == 'rtk_degradation':
            assert message.fix_type == GnssSolution.FIX_RTK_FLOAT
            assert message.position_covariance[0] > 100 * reference.position_covariance[0]
        elif index < COUNT // 2:
            assert message.fix_type == GnssSolution.FIX_NONE and math.isnan(message.position.x)
        else:
            assert message == reference
