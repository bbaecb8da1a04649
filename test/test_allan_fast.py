"""Allan deviation in pieces, by NumPy and compiled: equal, and equal to allantools."""

from __future__ import annotations

import itertools
import subprocess
import sys

import allantools
import numpy as np
import pytest

from jaguar_sensors_ros.analysis import allan, allan_fast, second_differences
from jaguar_sensors_ros.analysis.allan import log_spaced, overlapping_adev
from jaguar_sensors_ros.analysis.second_differences import PIECE, mean_squares
from jaguar_sensors_ros.types import JaguarError


@pytest.fixture(autouse=True)
def plain(monkeypatch):
    """Begin each test without the compiled loop, and leave it as it was."""
    monkeypatch.setattr(second_differences, 'compiled', None)
    allan_fast.use.cache_clear()
    yield
    allan_fast.use.cache_clear()


@pytest.fixture(scope='module')
def loop():
    """The compiled loop, made once."""
    pytest.importorskip('numba', reason='numba is not installed')
    return allan_fast._adder()


@pytest.fixture(params=['numpy', 'numba'])
def way(request, monkeypatch):
    """Both ways, one after the other."""
    if request.param == 'numba':
        monkeypatch.setattr(second_differences, 'compiled', request.getfixturevalue('loop'))
    return request.param


def record(n, axes=1, mean=0.0):
    """Return white noise and a random walk about a mean."""
    white = np.random.default_rng(n).standard_normal((2, n, axes))
    return mean + 1e-3 * (white[0] + 1e-2 * white[1].cumsum(axis=0))


def lags(n):
    """Return lags over the whole range and at its limits, and about the length of a piece."""
    near = [m for m in (PIECE - 1, PIECE, PIECE + 1) if 2 * m <= n]
    return np.unique([*log_spaced(n, 12), (n - 1) // 2, n // 2, *near])


LENGTHS = (8, 9, 101, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE + 1, 200_003)


@pytest.mark.parametrize('mean', [0.0, 9.80665])
@pytest.mark.parametrize('n', LENGTHS)
def test_compiled_is_numpy(n, mean, loop, monkeypatch):
    data = record(n, 2, mean)
    expected = overlapping_adev(data, 400.0, lags(n)).adev
    monkeypatch.setattr(second_differences, 'compiled', loop)
    np.testing.assert_allclose(overlapping_adev(data, 400.0, lags(n)).adev, expected, rtol=1e-13)


@pytest.mark.parametrize('mean', [0.0, 9.80665])
@pytest.mark.parametrize('n', LENGTHS)
def test_equals_allantools(n, mean, way):
    data, m = record(n, 1, mean)[:, 0], lags(n)
    tau, adev, _, _ = allantools.oadev(data, rate=1.0, data_type='freq', taus=m)
    kept = np.isin(m, tau)
    ours = overlapping_adev(data, 1.0, m).adev[kept, 0]
    np.testing.assert_allclose(ours, adev, rtol=1e-12)
    assert kept.sum() >= len(m) - 1


def test_large_offset_costs_no_digits(way):
    """Whole numbers have exact differences; their sums of two would be rounded."""
    steps = np.random.default_rng(1).integers(-9, 10, PIECE + 999)
    x = np.cumsum(np.cumsum(steps))
    for m in (1, 5, PIECE // 2):
        exact = (x[2 * m :] - 2 * x[m:-m] + x[: -2 * m]).astype(object)
        expected = int((exact**2).sum()) / len(exact)
        shifted = (x - x.min() + 2**52).astype(float)
        got = mean_squares(shifted, np.array([m]))[0]
        assert got == pytest.approx(expected, rel=1e-14)


def test_lags_in_any_order(way):
    data, m = record(100_001)[:, 0], np.array([50_000, 1, 700, 1])
    found = overlapping_adev(data, 1.0, m).adev[:, 0]
    alone = [overlapping_adev(data, 1.0, [one]).adev[0, 0] for one in m]
    np.testing.assert_array_equal(found, alone)


def test_columns_need_not_be_contiguous(way):
    data = record(70_001, 3)
    assert data.flags.c_contiguous
    strided, contiguous = (
        overlapping_adev(values, 1.0, [1, 9]).adev for values in (data, np.asfortranarray(data))
    )
    np.testing.assert_array_equal(strided, contiguous)


def test_not_finite_is_refused(way):
    data = record(1000, 2)
    data[700, 1] = np.nan
    with pytest.raises(JaguarError, match='sample 701 of column 2 is not finite'):
        overlapping_adev(data, 1.0, [1])


def test_progress_rises_to_one(way):
    told = []
    overlapping_adev(record(3 * PIECE, 2), 1.0, [1, PIECE], told.append)
    assert len(told) >= 6 and told[-1] == 1.0
    assert all(a < b for a, b in itertools.pairwise(told))


def test_long_records_are_compiled(loop, monkeypatch):
    data = record(1000)
    overlapping_adev(data, 1.0, [1])
    assert second_differences.compiled is None
    monkeypatch.setattr(allan, '_WORTH_COMPILING', 999)
    overlapping_adev(data, 1.0, [1])
    assert second_differences.compiled is not None


def test_without_numba_all_goes_on_as_before(monkeypatch):
    monkeypatch.setitem(sys.modules, 'numba', None)
    monkeypatch.setattr(allan, '_WORTH_COMPILING', 0)
    data = record(1000)
    expected = np.sqrt(np.mean(np.diff(data[:, 0]) ** 2) / 2.0)
    found = overlapping_adev(data, 1.0, [1]).adev[0, 0]
    assert found == pytest.approx(expected, rel=1e-12)
    assert not allan_fast.use()
    assert second_differences.compiled is None


def test_a_compiler_that_adds_otherwise_is_not_used(loop, monkeypatch):
    monkeypatch.setattr(allan_fast, '_adder', lambda: lambda *at: loop(*at) * (1.0 + 1e-12))
    assert not allan_fast.use()
    assert second_differences.compiled is None


def test_short_records_do_not_import_a_compiler():
    code = '''
import sys
import numpy as np
from jaguar_sensors_ros.analysis.allan import log_spaced, overlapping_adev
overlapping_adev(np.arange(36000.0), 10.0, log_spaced(36000))
print([m for m in ('numba', 'llvmlite') if m in sys.modules])
'''
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == '[]'
