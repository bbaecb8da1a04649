"""The compiled loops give the bits of numpy."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from jaguar_sensors_ros import component
from jaguar_sensors_ros.analysis.static_run import StaticRun
from jaguar_sensors_ros.catalogue import make_settings
from jaguar_sensors_ros.errors import fast, running_sum

SETTINGS = {
    'flicker': {'grade': 'stim300', 'gyro.random_walk': 1e-6, 'sample_rate_hz': 400.0},
    'uneven': {'grade': 'consumer', 'accel.random_walk': 1e-4, 'sample_rate_hz': 300.0},
}


@pytest.fixture
def compiled(monkeypatch):
    """Let the compiled loops be used within one test."""
    pytest.importorskip('numba', reason='numba is not installed')
    monkeypatch.setattr(component, 'draw', component.draw)
    monkeypatch.setattr(running_sum, 'compiled', running_sum.compiled)
    fast.use.cache_clear()
    assert fast.use()
    yield
    fast.use.cache_clear()


def test_normals_are_those_of_numpy(compiled):
    """A million: the tail of the ziggurat and its edges are hit thousands of times."""
    expected, got = np.empty((2, 100_000))
    for seed in range(10):
        words = tuple(np.random.SeedSequence(seed).generate_state(3, np.uint64).tolist())
        component.draw(words, got)
        component.draw_by_numpy(words, expected)
        np.testing.assert_array_equal(got, expected)
        assert np.abs(got).max() > 3.7


@pytest.mark.parametrize('name', SETTINGS)
def test_a_record_has_the_same_bits(name, monkeypatch, request):
    settings = make_settings('imu', SETTINGS[name])
    plain = StaticRun(settings, 3).record(40_000)
    request.getfixturevalue('compiled')
    np.testing.assert_array_equal(StaticRun(settings, 3).record(40_000), plain)


def test_without_numba_all_goes_on_as_before(monkeypatch):
    draw = component.draw
    monkeypatch.setitem(sys.modules, 'numba', None)
    fast.use.cache_clear()
    assert not fast.use()
    fast.use.cache_clear()
    assert component.draw is draw


def test_a_compiler_that_rounds_otherwise_is_not_used(monkeypatch):
    draw = component.draw
    pytest.importorskip('numba', reason='numba is not installed')

    def otherwise(steps, out):
        running_sum.by_numpy(steps, out)
        out *= 1.0000001

    monkeypatch.setattr(fast, '_sums', lambda: otherwise)
    fast.use.cache_clear()
    assert not fast.use()
    fast.use.cache_clear()
    assert component.draw is draw


def test_no_sensor_imports_a_compiler():
    code = '''
import sys
from jaguar_sensors_ros.catalogue import make_sensor, make_settings
from jaguar_sensors_ros.truth.segment import TwistSegment
from jaguar_sensors_ros.types import IDENTITY_QUAT, ZERO3, TruthSample
ends = [TruthSample(t, ZERO3, IDENTITY_QUAT, ZERO3, ZERO3) for t in (0, 10**10)]
sensor = make_sensor('imu', 'imu', make_settings('imu', {'sample_rate_hz': 1000.0}), 1)
assert len(sensor.feed(TwistSegment(*ends))) == 10000
print([m for m in ('numba', 'scipy', 'llvmlite', 'matplotlib') if m in sys.modules])
'''
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == '[]'
