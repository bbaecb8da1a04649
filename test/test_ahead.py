"""Random errors made ahead in blocks are those made one by one, whatever comes in between."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from core_helpers import SECOND, imu, run, still

from jaguar_sensors_ros.component import StreamFactory
from jaguar_sensors_ros.errors.additive import AdditiveTerms, CorrelatedTerms
from jaguar_sensors_ros.errors.ahead import Ahead
from jaguar_sensors_ros.errors.attitude import AttitudeTerms
from jaguar_sensors_ros.errors.intervals import Intervals
from jaguar_sensors_ros.errors.stochastic import GaussMarkov
from jaguar_sensors_ros.errors.triad_settings import BiasSettings, TriadSettings
from jaguar_sensors_ros.nav.grid import SampleGrid

ALL = TriadSettings(
    white_noise_density=(1e-3, 2e-3, 0.0), turn_on_bias_std=(1.0, 0.0, 1.0),
    random_walk=(0.1, 0.0, 0.2), bias_model='flicker',
)
BIAS = BiasSettings((1e-2, 0.0, 2e-2), (10.0, 20.0, 30.0))


def terms(settings=ALL, bias=BIAS):
    made = AdditiveTerms('gyro', StreamFactory(1, 'imu', 0))
    made.configure(settings, bias)
    return made


def one_by_one(made, ticks):
    """Return the columns of samples made alone; ``ticks`` are number and length [ns]."""
    return [made.block(n, Intervals((ns,), np.zeros(1, dtype=np.intp)))[:, 0].tolist()
            for n, ns in ticks]


@pytest.mark.parametrize('rate', [100.0, 300.0, 333.3])
def test_a_row_is_the_column_of_the_sample_alone(rate):
    grid, made = SampleGrid(rate), terms()
    ahead = Ahead(made.block, made.processes)
    spans = np.diff(grid.times_ns(7, 1201)).tolist()
    got = [ahead.take(n, 8 + n, ns, grid) for n, ns in enumerate(spans)]
    assert got == one_by_one(terms(), enumerate(spans))


def test_a_gap_and_another_interval_are_taken_as_they_come():
    grid, made = SampleGrid(100.0), terms()
    ahead = Ahead(made.block, made.processes)
    ticks = [(n, 10_000_000) for n in range(50)]
    ticks += [(n, 10_000_000) for n in range(90, 120)] + [(120, 3_333_333)]
    ticks += [(n, 10_000_000) for n in range(121, 700)]
    got = [ahead.take(n, n + 1, ns, grid) for n, ns in ticks]
    assert got == one_by_one(terms(), ticks)


@pytest.mark.parametrize('at', [0, 1, 15, 16, 17, 100, 299, 300])
def test_a_parameter_acts_at_the_next_sample_and_leaves_no_trace(at):
    grid, made, reference = SampleGrid(100.0), terms(), terms()
    ahead = Ahead(made.block, made.processes)
    got, expected = [], []
    other = TriadSettings(white_noise_density=(1.0, 1.0, 1.0), random_walk=(0.0, 1.0, 0.0))
    plan = [(at, ALL, BIAS), (7, other, BiasSettings((1.0, 1.0, 0.0))), (300, ALL, BIAS)]
    n = 0
    for count, settings, bias in plan:
        ahead.settle()
        made.configure(settings, bias)
        reference.configure(settings, bias)
        ticks = [(n + i, 10_000_000) for i in range(count)]
        got += [ahead.take(m, m + 1, ns, grid) for m, ns in ticks]
        expected += one_by_one(reference, ticks)
        n += count
    assert got == expected


@pytest.mark.parametrize('seed', range(4))
def test_what_is_prepared_is_what_would_have_been_made(seed):
    """Parts made early, parameters that change in between, and gaps, in any order."""
    grid, chance = SampleGrid(300.0), random.Random(seed)
    made, reference = [[terms(), terms(ALL, BIAS)] for _ in range(2)]
    ahead = Ahead(
        made[0].block, made[0].processes, (made[1].block, made[1].processes)
    )
    got, expected, number = [], [], 0
    for _ in range(900):
        span = grid.time_ns(number + 8) - grid.time_ns(number + 7)
        got.append(ahead.take(number, number + 8, span, grid))
        columns = [one_by_one(one, [(number, span)])[0] for one in reference]
        expected.append(columns[0] + columns[1])
        number += 1
        event = chance.random()
        if event < 0.8:
            ahead.prepare(grid)
        elif event < 0.81:
            number += chance.randrange(1, 300)
        elif event < 0.82:
            ahead.settle()
            bias = BiasSettings((chance.random(), 0.1, 2e-2), (chance.uniform(1, 30), 20.0, 30.0))
            for one in (*made, *reference):
                one.configure(ALL, bias)
    assert got == expected


def test_settling_twice_changes_nothing():
    grid, made = SampleGrid(100.0), terms()
    ahead = Ahead(made.block, made.processes)
    got = []
    for n in range(200):
        ahead.settle()
        ahead.settle()
        got.append(ahead.take(n, n + 1, 10_000_000, grid))
    assert got == one_by_one(terms(), [(n, 10_000_000) for n in range(200)])


def test_correlated_rows_are_the_processes_themselves():
    streams = StreamFactory(3, 'imu', 0)
    both = [[GaussMarkov(s) for s in streams.triad('orientation', 'enu')] for _ in range(2)]
    made = CorrelatedTerms(both[0])
    made.tau_s = 2.0
    even = Intervals((10_000_000,), np.zeros(500, dtype=np.intp))
    expected = [process.block(0, even, 2.0) for process in both[1]]
    np.testing.assert_array_equal(made.block(0, even), expected)


@pytest.mark.parametrize('sigma', [0.0, 0.01, 3.0])
def test_attitude_rows_are_a_unit_quaternion_and_its_shortest_rotation_vector(sigma):
    streams = StreamFactory(3, 'imu', 0)
    made = AttitudeTerms([GaussMarkov(s) for s in streams.triad('orientation', 'enu')])
    made.sigmas = (sigma, 0.5 * sigma, 2.0 * sigma)
    rows = made.block(0, Intervals((10_000_000,), np.zeros(1000, dtype=np.intp)))
    q, phi = rows[:4].T, rows[4:].T
    np.testing.assert_allclose(np.linalg.norm(q, axis=1), 1.0, rtol=1e-14)
    angle = np.linalg.norm(phi, axis=1)
    assert angle.max() <= math.pi * (1 + 1e-12)
    half = np.column_stack([np.cos(0.5 * angle), 0.5 * np.sinc(0.5 * angle / math.pi)[:, None]
                            * phi])
    np.testing.assert_allclose(np.abs(np.sum(half * q, axis=1)), 1.0, rtol=1e-12)


RATES = ['200', '300', '333.3', '0.7', '99999.7', '133.33333333333334', '1024',
         '400.00000000000006']
TICKS = [0, -5, 10**6 + 3, 340_000_000_007]


@pytest.mark.parametrize(
    ('rate', 'k'),
    [(rate, k) for rate in RATES for k in TICKS if k / float(rate) < 9.2e9],  # 64 bits of ns
)
def test_instants_in_an_array_are_those_one_by_one(rate, k):
    grid = SampleGrid(float(rate))
    expected = [grid.time_ns(j) for j in range(k, k + 2000)]
    np.testing.assert_array_equal(grid.times_ns(k, 2000), expected)
    exact = [round(Fraction(j) * SECOND / Fraction(rate)) for j in range(k, k + 50)]
    assert expected[:50] == exact


def test_no_tick_makes_more_than_a_moderate_block(monkeypatch):
    sizes = []
    block = AdditiveTerms.block

    def counted(self, start, intervals):
        sizes.append(len(intervals))
        return block(self, start, intervals)

    monkeypatch.setattr(AdditiveTerms, 'block', counted)
    run(imu(grade='tactical', sample_rate_hz=1000.0), [still(0, 3)])
    assert max(sizes) == 256 and min(sizes) == 16
    assert len(sizes) < 2 * 20
