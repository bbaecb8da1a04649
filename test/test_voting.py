"""Fusion of redundant IMUs against theory; no ROS."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from jaguar_sensors_ros.catalogue import make_sensor, make_settings
from jaguar_sensors_ros.component import build
from jaguar_sensors_ros.nav.rotation import quat_from_rpy, rotate, rotate_back
from jaguar_sensors_ros.redundancy.alignment import Aligner
from jaguar_sensors_ros.redundancy.disagreement import suspects, threshold
from jaguar_sensors_ros.redundancy.median import median_variance
from jaguar_sensors_ros.redundancy.reading import Reader, Reading
from jaguar_sensors_ros.redundancy.settings import VotingSettings
from jaguar_sensors_ros.redundancy.voting import DIFFERS, MISSING, PROBATION, Voter, fuse
from jaguar_sensors_ros.sensors.imu import ImuCovariances
from jaguar_sensors_ros.truth.segment import TwistSegment
from jaguar_sensors_ros.truth.trajectory import FigureEight
from jaguar_sensors_ros.types import NS_PER_S, JaguarError

DT_NS = 5_000_000
SIGMA = (1e-3, 1e-2)  # [rad/s], [m/s2]


def diagonal(variance):
    return (variance, 0.0, 0.0, 0.0, variance, 0.0, 0.0, 0.0, variance)


def reading(t_ns, rate, force, sigma=SIGMA, **place):
    covariances = ImuCovariances(diagonal(1e-4), diagonal(sigma[0] ** 2), diagonal(sigma[1] ** 2))
    return Reading(t_ns, rate, force, (1.0, 0.0, 0.0, 0.0), covariances, **place)


def noisy(chance, t_ns, sigma=SIGMA, offset=0.0, **place):
    """Return a reading at rest with white noise, and an offset of the rate about x."""
    rate = [chance.gauss(0.0, sigma[0]) for _ in range(3)]
    force = [chance.gauss(0.0, sigma[1]) for _ in range(3)]
    rate[0] += offset
    return reading(t_ns, tuple(rate), tuple(force), sigma, **place)


def settings(**values):
    return build(VotingSettings, {name.replace('__', '.'): v for name, v in values.items()})


def voter(count=3, **values):
    return Voter(count, settings(**values), DT_NS)


# ---------------------------------------------------------------------- order statistics


@pytest.mark.parametrize(
    ('count', 'variance'),
    [(1, 1.0), (2, 0.5), (3, 1.0 - math.sqrt(3.0) / math.pi), (4, 0.2982), (5, 0.2868)],
)
def test_variance_of_the_median_of_equal_gaussians(count, variance):
    """n = 3: 1 - sqrt(3) / pi in closed form; 4 and 5: tables of order statistics."""
    tolerance = 1e-9 if count <= 3 else 5e-5
    assert median_variance((1.0,) * count) == pytest.approx(variance, abs=tolerance)
    assert median_variance((2.0,) * count) == pytest.approx(4.0 * variance, abs=4.0 * tolerance)


@pytest.mark.parametrize('sigmas', [(1.0, 2.0, 3.0), (1.0, 1.0, 9.0, 2.0), (0.1, 1.0, 1.0)])
def test_variance_of_the_median_of_unequal_gaussians(sigmas):
    count = 400_000
    draws = np.random.default_rng(7).standard_normal((count, len(sigmas))) * np.array(sigmas)
    found = np.median(draws, axis=1).var()
    assert found == pytest.approx(median_variance(sigmas), rel=5.0 * math.sqrt(3.0 / count))


# ---------------------------------------------------------------------- variance of the output


@pytest.mark.parametrize('method', ['weighted', 'median'])
@pytest.mark.parametrize(
    'sigmas', [(1.0, 1.0, 1.0), (1.0, 2.0, 4.0), (1.0, 1.0), (1.0, 2.0, 2.0, 3.0)]
)
def test_variance_of_the_output_is_the_theory_and_what_it_says(method, sigmas):
    chance, count = random.Random(3), 6000
    fusing = voter(len(sigmas), method=method)
    rates, forces = [], []
    for k in range(count):
        t_ns = k * DT_NS
        given = [noisy(chance, t_ns, (s * SIGMA[0], s * SIGMA[1])) for s in sigmas]
        vote = fusing.vote(given, t_ns)
        assert vote.fused is not None and all(vote.used)
        rates += vote.fused.angular_velocity
        forces += vote.fused.specific_force
    expected = median_variance(sigmas)
    if method == 'weighted':
        expected = 1.0 / sum(1.0 / s**2 for s in sigmas)
    said = vote.fused.covariances
    for values, sigma, matrix in (
        (rates, SIGMA[0], said.angular_velocity),
        (forces, SIGMA[1], said.linear_acceleration),
    ):
        theory = expected * sigma**2
        assert matrix == pytest.approx(diagonal(theory), rel=1e-9)
        # chi-square of the sum of squares, kurtosis of the median at most that of a Gaussian
        bound = 5.0 * math.sqrt(2.0 / len(values))
        assert np.mean(np.square(values)) == pytest.approx(theory, rel=bound)
        assert np.mean(values) == pytest.approx(0.0, abs=5.0 * math.sqrt(theory / len(values)))


def test_covariance_with_a_mean_arm_holds_the_noise_of_alpha():
    """Two IMUs on one arm, a whirl: sample variance against what is published, each axis."""
    chance, count = random.Random(11), 20_000
    fusing, arm = voter(2), (0.3, -0.2, 0.4)
    forces = []
    for k in range(count + 1):
        t_ns = k * DT_NS
        given = [noisy(chance, t_ns, position=arm) for _ in range(2)]
        vote = fusing.vote(given, t_ns)
        if vote.fused is not None:
            forces.append(vote.fused.specific_force)
    assert len(forces) == count  # the first has no alpha
    said = vote.fused.covariances.linear_acceleration
    lever = 0.5 * SIGMA[0] ** 2 * 2.0 / (DT_NS / NS_PER_S) ** 2
    square = sum(x * x for x in arm)
    for axis in range(3):
        theory = 0.5 * SIGMA[1] ** 2 + lever * (square - arm[axis] ** 2)
        assert said[4 * axis] == pytest.approx(theory, rel=1e-4)
    found = np.cov(np.array(forces).T)
    # correlation -1/2 of successive samples: variance of the estimate 1.5 times larger
    assert np.diag(found) == pytest.approx(said[::4], rel=5.0 * math.sqrt(3.0 / count))
    scale = math.sqrt(said[0] * said[4])
    assert found[0, 1] == pytest.approx(said[1], abs=5.0 * scale * math.sqrt(3.0 / count))


def test_weights_turn_with_the_axes():
    """An IMU with one bad axis, mounted turned: the weight follows the axis in the body."""
    q = quat_from_rpy((0.0, 0.0, math.pi / 2.0))
    bad = ImuCovariances(None, (1e6, 0, 0, 0, 1.0, 0, 0, 0, 1.0), diagonal(1.0))
    good = ImuCovariances(None, diagonal(1.0), diagonal(1.0))
    turned = rotate_back(q, (1.0, 3.0, 5.0))
    fused = fuse(
        [Reading(1, turned, turned, None, bad, q_bs=q),
         Reading(1, (2.0, 2.0, 6.0), (2.0, 2.0, 6.0), None, good)]
    )  # fmt: skip
    assert fused.angular_velocity == pytest.approx((1.5, 2.0, 5.5), abs=1e-5)
    assert fused.specific_force == pytest.approx((1.5, 2.5, 5.5))
    assert fused.covariances.angular_velocity[::4] == pytest.approx((0.5, 1.0, 0.5), rel=1e-5)
    assert fused.orientation is None and fused.covariances.orientation is None


# ---------------------------------------------------------------------- exclusion


@pytest.mark.parametrize('count', [2, 3, 4, 5])
def test_false_alarms_stay_below_the_bound_and_near_it(count):
    """The bound is a union bound; with all variances equal it is at most eight times too high."""
    bound, trials = 0.05, 8000
    draws = np.random.default_rng(count).standard_normal((trials, 2, count, 3))
    alarms = 0
    for gyro, accel in draws.tolist():
        found = [suspects(v, [(1.0,) * 3] * count, [0.0] * count, bound) for v in (gyro, accel)]
        alarms += any(map(any, found))
    spread = 4.0 * math.sqrt(bound * trials)
    assert alarms <= bound * trials + spread
    assert alarms >= bound * trials / 8.0 - spread


def test_threshold_of_two_is_that_of_their_difference():
    """One pair and six axes, two-sided: |x - y| / (sigma sqrt 2) > 2 k."""
    p = 1e-3
    k = 2.0 * threshold(2, p)
    assert 6.0 * 2.0 * math.erfc(k / math.sqrt(2.0)) == pytest.approx(p, rel=1e-6)


def test_unequal_inputs_are_judged_by_their_own_variance():
    small, large = (1e-6,) * 3, (1.0,) * 3
    values = [(0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (3.0, 0.0, 0.0)]
    assert suspects(values, [small, small, large], [0.0] * 3, 1e-6) == [False, False, False]
    assert suspects(values, [small, small, small], [0.0] * 3, 1e-6) == [False, False, True]
    assert suspects(values[1:] + values[:1], [small, large, large], [0.0] * 3, 1e-6) == [False] * 3


@pytest.mark.parametrize('which', [0, 1, 2])
def test_a_biased_input_is_left_out_and_comes_back(which):
    chance = random.Random(5)
    fusing = voter(readmit_after=50)
    reasons = []
    for k in range(300):
        t_ns = k * DT_NS
        offset = 10.0 * SIGMA[0] if 100 <= k < 200 else 0.0
        given = [noisy(chance, t_ns, offset=offset if i == which else 0.0) for i in range(3)]
        vote = fusing.vote(given, t_ns)
        assert vote.fused is not None
        assert all(vote.used[i] for i in range(3) if i != which)
        assert abs(vote.fused.angular_velocity[0]) < 5.0 * SIGMA[0]
        reasons.append(vote.reasons[which])
        count = 2 if reasons[-1] else 3
        variance = vote.fused.covariances.angular_velocity[0]
        assert variance == pytest.approx(SIGMA[0] ** 2 / count)
    assert reasons[:100] == [''] * 100
    # ten sigma against k sqrt(2) = 7.5: one in fourteen is missed, but none lets it in
    assert reasons[100:200].count(DIFFERS) > 80
    last = max(k for k, reason in enumerate(reasons) if reason == DIFFERS)
    assert reasons[last + 1 : last + 51] == [PROBATION] * 50
    assert reasons[last + 51 :] == [''] * (300 - last - 51)


def test_the_median_is_not_moved_by_one_wild_input():
    wild = reading(1, (1e3, 0.0, 0.0), (0.0, 1e5, 0.0))
    given = [reading(1, (0.1, 0.0, 0.0), (0.0, 0.0, 9.8)) for _ in range(2)]
    vote = voter(method='median').vote([*given, wild], 1)
    assert vote.used == (True,) * 3
    assert vote.fused.angular_velocity == (0.1, 0.0, 0.0)
    assert vote.fused.specific_force == (0.0, 0.0, 9.8)
    assert vote.gyro_residual == pytest.approx((0.0, 0.0, 999.9))
    assert vote.accel_residual == pytest.approx((0.0, 0.0, 1e5), rel=1e-6)


def test_no_majority_and_too_few_give_no_output():
    apart = [reading(1, (x, 0.0, 0.0), (0.0, 0.0, 9.8)) for x in (0.0, 1.0, 2.0)]
    vote = voter().vote(apart, 1)
    assert vote.fused is None and vote.used == (False,) * 3
    assert vote.problem == 'no majority agrees'
    vote = voter().vote([apart[0], apart[1], None], 1)
    assert vote.fused is None and vote.problem == 'no majority agrees'
    vote = voter().vote([apart[0], None, None], 1)
    assert vote.problem == 'too few inputs'
    assert vote.reasons == ('too few inputs', MISSING, MISSING)
    assert voter(min_inputs=1).vote([apart[0], None, None], 1).fused is not None
    assert voter(min_inputs=3).vote([apart[0], apart[0], None], 1).fused is None


# ---------------------------------------------------------------------- lever arms


def fly(kind, arms, rate_output='mean', seconds=1.0, **values):
    """Return the readings of exact IMUs at several places, by stamp, and those of the origin."""
    given = {'fidelity': 'transparent', 'rate_output': rate_output}
    sensors = []
    for i, (position, rpy) in enumerate([((0.0,) * 3, (0.0,) * 3), *arms]):
        mount = {'mount.position': list(position), 'mount.rpy': list(rpy)}
        made = make_settings('imu', {**given, **mount})
        sensors.append(make_sensor('imu', f'imu{i}', made, 1))
    step = NS_PER_S // 1000
    segments = [
        TwistSegment(kind.at(k * step), kind.at((k + 1) * step))
        for k in range(round(seconds * 1000))
    ]
    readers = [Reader(sensor) for sensor in sensors]
    out = [
        [read(sample) for segment in segments for sample in sensor.feed(segment)]
        for sensor, read in zip(sensors, readers, strict=True)
    ]
    return out[0], list(zip(*out[1:], strict=True))


ARMS = [
    ((0.5, 0.0, 0.1), (0.0, 0.0, 0.0)),
    ((-0.6, 0.2, 0.0), (0.0, 0.0, math.pi)),
    ((0.1, 0.4, -0.2), (0.3, -0.2, 1.1)),
]


@pytest.mark.parametrize('method', ['weighted', 'median'])
@pytest.mark.parametrize('rate_output', ['mean', 'instant'])
def test_on_a_circle_all_mounts_agree(method, rate_output):
    from jaguar_sensors_ros.truth.trajectory import Circle

    exact, together = fly(Circle(), ARMS, rate_output)
    fusing = voter(method=method)
    for origin, given in zip(exact, together, strict=True):
        vote = fusing.vote(given, origin.t_ns)
        if origin is exact[0]:
            assert vote.problem == 'angular acceleration not known yet'
            continue
        assert vote.fused.angular_velocity == pytest.approx(origin.angular_velocity, abs=1e-9)
        assert vote.fused.specific_force == pytest.approx(origin.specific_force, abs=1e-7)
        assert max(vote.accel_residual) < 1e-7
        assert vote.fused.orientation == pytest.approx(origin.orientation, abs=1e-9)


def test_in_a_figure_of_eight_the_lag_is_all_that_is_left():
    """Half a sample of d(alpha)/dt times the mean arm; nobody is left out for it."""
    exact, together = fly(FigureEight(), ARMS, seconds=4.0)
    fusing = voter()
    before = None
    for origin, given in zip(exact, together, strict=True):
        vote = fusing.vote(given, origin.t_ns)
        assert all(vote.used) or before is None
        if vote.fused is not None:
            error = math.dist(vote.fused.specific_force, origin.specific_force)
            assert error < 2e-3
        before = origin


def test_the_fused_output_may_stand_elsewhere():
    """At the place and in the axes of an IMU, the output is that IMU."""
    from jaguar_sensors_ros.truth.trajectory import Circle

    position, rpy = ARMS[2]
    _, together = fly(Circle(), ARMS)
    fusing = voter(mount__position=list(position), mount__rpy=list(rpy))
    for given in together[1:]:
        vote = fusing.vote(given, given[0].t_ns)
    assert vote.fused.position == position
    assert vote.fused.angular_velocity == pytest.approx(given[2].angular_velocity, abs=1e-9)
    assert vote.fused.specific_force == pytest.approx(given[2].specific_force, abs=1e-7)
    assert vote.fused.orientation == pytest.approx(given[2].orientation, abs=1e-9)


def test_the_grades_of_document_000_raise_no_alarm_in_motion():
    """Scale factors, biases and misalignments of real grades are no failures."""
    from jaguar_sensors_ros.truth.trajectory import Circle

    for grade in ('consumer', 'tactical', 'navigation'):
        sensors = [
            make_sensor('imu', f'{grade}{i}', make_settings('imu', {'grade': grade}), i)
            for i in range(3)
        ]
        fusing, kind = voter(), Circle()
        step = NS_PER_S // 100
        for k in range(300):
            segment = TwistSegment(kind.at(k * step), kind.at((k + 1) * step))
            for samples in zip(*(sensor.feed(segment) for sensor in sensors), strict=True):
                given = [Reader(s)(x) for s, x in zip(sensors, samples, strict=True)]
                vote = fusing.vote(given, samples[0].t_ns)
                assert all(vote.used), (grade, vote)


# ---------------------------------------------------------------------- the plain function


def test_fuse_follows_the_sample_before():
    from jaguar_sensors_ros.truth.trajectory import Circle

    exact, together = fly(Circle(), ARMS)
    fused = fuse(together[0])
    fused = fuse(together[1], fused)
    assert fused.specific_force == pytest.approx(exact[1].specific_force, abs=1e-7)
    assert rotate(fused.q_bs, (1.0, 0.0, 0.0)) == (1.0, 0.0, 0.0)


def test_fuse_says_what_is_wrong():
    one, other = reading(1, (0.0,) * 3, (0.0,) * 3), reading(2, (0.0,) * 3, (0.0,) * 3)
    for given, before, told in [
        ([], None, 'one stamp'),
        ([one, other], None, 'one stamp'),
        ([one], None, 'too few'),
        ([one, one], other, 'not before'),
    ]:
        with pytest.raises(JaguarError, match=told):
            fuse(given, before)


# ---------------------------------------------------------------------- alignment


def test_an_instant_is_complete_when_nobody_can_add_to_it():
    aligner = Aligner(3, 200.0)
    for index in (0, 1):
        aligner.put(index, DT_NS, f'{index}a')
    assert list(aligner.complete(1.0)) == []
    aligner.passed(2, DT_NS - 1)
    assert list(aligner.complete(1.0)) == []
    aligner.passed(2, DT_NS)
    assert list(aligner.complete(1.0)) == [(DT_NS, ['0a', '1a', None])]
    aligner.put(2, DT_NS, 'late')
    assert aligner.late == [0, 0, 1]
    aligner.put(2, 2 * DT_NS, 'c')  # a later one: the others cannot but follow
    aligner.absent = {0, 1}
    assert list(aligner.complete(1.0)) == [(2 * DT_NS, [None, None, 'c'])]


def test_a_stamp_belongs_to_the_nearest_instant():
    aligner = Aligner(2, 200.0)
    aligner.put(0, DT_NS - 2_400_000, 'early')
    aligner.put(1, DT_NS + 2_400_000, 'later')
    assert list(aligner.complete(1.0)) == [(DT_NS, ['early', 'later'])]


def test_nobody_is_waited_for_longer_than_the_patience():
    aligner = Aligner(2, 200.0)
    for k in range(1, 300):
        aligner.put(0, k * DT_NS, k)
        done = [t_ns // DT_NS for t_ns, _ in aligner.complete(1.0)]
        assert done == ([k - 201] if k > 201 else [])


def test_a_restart_of_time_begins_anew():
    aligner = Aligner(2, 200.0)
    for index in (0, 1):
        aligner.put(index, 1000 * DT_NS, index)
    assert len(list(aligner.complete(1.0))) == 1
    aligner.put(0, 1001 * DT_NS, 'old')
    aligner.restart(0)
    aligner.put(0, 5 * DT_NS, 'new')
    assert list(aligner.complete(1.0)) == []
    aligner.restart(1)
    aligner.put(1, 5 * DT_NS, 'too')
    assert list(aligner.complete(1.0)) == [(5 * DT_NS, ['new', 'too'])]
    assert aligner.late == [0, 0]
