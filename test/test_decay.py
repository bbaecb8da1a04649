"""Gauss-Markov processes as scaled sums: the plain recursion, and the same bits in any blocks."""

from __future__ import annotations

import math

import numpy as np
import pytest
from core_helpers import assert_std

from jaguar_sensors_ros.component import StreamFactory
from jaguar_sensors_ros.errors.decay import LONGEST, decay
from jaguar_sensors_ros.errors.intervals import Intervals
from jaguar_sensors_ros.errors.running_sum import running_sum
from jaguar_sensors_ros.errors.stochastic import GaussMarkov, RandomWalk
from jaguar_sensors_ros.nav.grid import SampleGrid

DT_NS = 10_000_000
#: correlation times in samples: from weak decay to one of which a sample forgets nearly all
RATIOS = [3e5, 1000.0, 33.0, 1.0, 0.2, 0.03, 0.02, 0.0]


def stream(name='bias'):
    return StreamFactory(1, 'imu', 0).stream(name, 'x')


def even(n, ns=DT_NS):
    return Intervals((ns,), np.zeros(n, dtype=np.intp))


def recursion(normals, lengths_s, tau_s):
    """Return x_k = phi_k x_(k-1) + sqrt(1 - phi_k^2) w_k, sample after sample."""
    x, values = normals[0], [normals[0]]
    for w, dt_s in zip(normals[1:], lengths_s[1:], strict=True):
        ratio = dt_s / tau_s if tau_s else math.inf
        x = math.exp(-ratio) * x + math.sqrt(-math.expm1(-2.0 * ratio)) * w
        values.append(x)
    return np.array(values)


def in_blocks(process, intervals, sizes, *arguments):
    """Return what a process makes of intervals in blocks of these sizes, again and again."""
    parts, start, n = [], 0, 0
    while start < len(intervals):
        which = intervals.which[start : start + sizes[n % len(sizes)]]
        parts.append(process.block(start, Intervals(intervals.lengths_ns, which), *arguments))
        start, n = start + len(which), n + 1
    return np.concatenate(parts)


@pytest.mark.parametrize('ratio', RATIOS)
def test_the_scaled_sum_is_the_recursion(ratio):
    n, tau_s = 300_000, ratio * 0.01
    expected = recursion(stream().array(0, n).tolist(), [0.01] * n, tau_s)
    got = GaussMarkov(stream()).block(0, even(n), tau_s)
    np.testing.assert_allclose(got, expected, rtol=0, atol=2e-12)


@pytest.mark.parametrize('ratio', RATIOS)
def test_the_scaled_sum_is_the_recursion_on_an_uneven_grid(ratio):
    n, tau_s = 60_000, ratio / 333.3
    intervals = Intervals.of_grid(SampleGrid(333.3), 5, n).begun_with(1_234_567)
    expected = recursion(stream().array(0, n).tolist(), intervals.dt_s.tolist(), tau_s)
    got = GaussMarkov(stream()).block(0, intervals, tau_s)
    np.testing.assert_allclose(got, expected, rtol=0, atol=2e-12)


@pytest.mark.parametrize('ratio', RATIOS)
@pytest.mark.parametrize('sizes', [(1,), (16, 32, 256), (LONGEST,), (LONGEST + 1, 3)])
def test_where_a_block_ends_changes_no_bit(ratio, sizes):
    n, tau_s = 2 * LONGEST + 700, ratio * 0.01
    whole = GaussMarkov(stream()).block(0, even(n), tau_s, 3.0)
    np.testing.assert_array_equal(
        in_blocks(GaussMarkov(stream()), even(n), sizes, tau_s, 3.0), whole
    )


@pytest.mark.parametrize('lengths', [(DT_NS, DT_NS + 1), (DT_NS, 3 * DT_NS, 100 * DT_NS)])
@pytest.mark.parametrize('ratio', RATIOS)
def test_mixed_intervals_are_those_one_by_one(ratio, lengths):
    """Also where one length forgets all and another one does not."""
    n, tau_s = 3000, ratio * 0.01
    mixed = Intervals(lengths, np.random.default_rng(1).integers(0, len(lengths), n))
    process, expected = GaussMarkov(stream()), []
    for k, kind in enumerate(mixed.which.tolist()):
        expected += process.block(k, even(1, lengths[kind]), tau_s, 3.0).tolist()
    for sizes in ((n,), (7, 100)):
        got = in_blocks(GaussMarkov(stream()), mixed, sizes, tau_s, 3.0)
        np.testing.assert_array_equal(got, expected)


def test_another_correlation_time_takes_the_value_over():
    normals, process = stream().array(0, 3000), GaussMarkov(stream())
    got = [process.block(1000 * i, even(1000), tau_s) for i, tau_s in enumerate((5.0, 0.3, 5.0))]
    x, expected = normals[0] / 1.0, [normals[0]]
    for k in range(1, 3000):
        phi, root = decay(0.01, (5.0, 0.3, 5.0)[k // 1000])
        x = phi * x + root * normals[k]
        expected.append(x)
    np.testing.assert_allclose(np.concatenate(got), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize('ratio', [300.0, 30.0, 3.0])
def test_variance_and_autocorrelation_are_those_of_theory(ratio):
    """Over a run of many sums; the tolerances are from the number of independent values."""
    n = 2_000_000
    x = GaussMarkov(stream()).block(0, even(n), ratio * 0.01)
    independent = n / (2.0 * ratio)
    assert np.mean(x * x) == pytest.approx(1.0, abs=4.0 * math.sqrt(2.0 / independent))
    for share in (0.5, 1.0, 2.0):
        lag = round(share * ratio)
        expected = math.exp(-lag / ratio)
        error = math.sqrt((1.0 + expected**2) / independent)
        assert np.mean(x[:-lag] * x[lag:]) == pytest.approx(expected, abs=4.0 * error)
    steps = x[1:] - math.exp(-1.0 / ratio) * x[:-1]
    assert_std(steps, math.sqrt(-math.expm1(-2.0 / ratio)))


@pytest.mark.parametrize('sizes', [(1,), (2,), (3,), (5, 1, 2), (4096,)])
def test_a_running_sum_does_not_depend_on_the_blocks(sizes):
    steps, before = np.random.default_rng(1).standard_normal(5001), (0.25, 0.5)

    def sums_of(part, carry):
        out = np.empty(len(part))
        return out, running_sum(np.concatenate(((0.0, 0.0), part)), carry, out)

    whole, last = sums_of(steps, before)
    np.testing.assert_allclose(whole, 0.75 + np.cumsum(steps), rtol=0, atol=1e-12)
    parts, carry, start, n = [], before, 0, 0
    while start < len(steps):
        end = start + sizes[n % len(sizes)]
        part, carry = sums_of(steps[start:end], carry)
        parts.append(part)
        start, n = end, n + 1
    np.testing.assert_array_equal(np.concatenate(parts), whole)
    assert carry == last


def test_a_walk_over_mixed_intervals_is_that_of_each_step():
    lengths = (DT_NS, 3 * DT_NS)
    mixed = Intervals(lengths, np.random.default_rng(1).integers(0, 2, 3000))
    roots = np.sqrt(mixed.dt_s)
    expected = 0.1 * np.cumsum(stream('walk').array(0, 3000) * roots)
    got = RandomWalk(stream('walk')).block(0, mixed, 0.1)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)
    parts = in_blocks(RandomWalk(stream('walk')), mixed, (7, 100), 0.1)
    np.testing.assert_array_equal(parts, got)
