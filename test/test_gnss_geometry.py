"""Geometry in the receiver: everything that it publishes agrees, and with the errors drawn."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from core_helpers import ALPHA, EPOCH, PROPERTY, SECOND, assert_std, gps, run, settings, still
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from jaguar_sensors_ros.component import ParameterError
from jaguar_sensors_ros.faults.base import FaultRequest
from jaguar_sensors_ros.nav import constellation, earth, gps_time
from jaguar_sensors_ros.types import FixType, SensorState

UERE = 4.0


def receiver(seed=1, **values):
    values = {'geometry__enabled': True, 'uere_m': UERE, 'vel_std_dev': 0.05, **values}
    return gps(seed=seed, **values)


def at(latitude, longitude=8.5, height=400.0):
    return {'origin': [latitude, longitude, height]}


def day(sensor, step_s=600):
    """Return a fix every so many seconds over a day, at rest."""
    segments = [still(t - 1.5, t + 0.5, EPOCH) for t in range(600, 86400, step_s)]
    return [samples[-1] for samples in map(sensor.feed, segments)]


def expected_directions(sample, origin, mask_deg=5.0, hidden=lambda azimuth, elevation: False):
    """Return ENU unit vectors of the satellites in view, highest first, from first principles."""
    latitude, longitude = np.radians(origin[:2])
    p = np.array(earth.ecef_from_geodetic(latitude, longitude, origin[2]))
    t = gps_time.gps_time_ns(sample.t_ns) / SECOND
    lines = np.array(constellation.satellite_positions(t)) - p
    east = np.array([-np.sin(longitude), np.cos(longitude), 0.0])
    up = np.array(
        [
            np.cos(latitude) * np.cos(longitude),
            np.cos(latitude) * np.sin(longitude),
            np.sin(latitude),
        ]
    )
    axes = np.array([east, np.cross(up, east), up])
    enu = lines @ axes.T / np.linalg.norm(lines, axis=1)[:, None]
    elevation = np.degrees(np.arcsin(enu[:, 2]))
    azimuth = np.degrees(np.arctan2(enu[:, 0], enu[:, 1])) % 360.0
    seen = [
        e >= mask_deg and not hidden(a, e) for a, e in zip(azimuth, elevation, strict=True)
    ]
    enu = enu[np.array(seen)]
    return enu[np.argsort(-enu[:, 2])]


def expected_cofactor(directions):
    h = np.column_stack([-np.asarray(directions), np.ones(len(directions))])
    if len(directions) < 4 or np.linalg.matrix_rank(h) < 4:
        return None
    return np.linalg.inv(h.T @ h)[:3, :3]


def assert_agrees(sample, directions, uere=UERE, velocity=0.05):
    """Check one sample against the satellites that it should use."""
    q = expected_cofactor(directions)
    assert sample.satellites == len(directions)
    fix = q is not None and math.sqrt(np.trace(q)) <= 20.0
    assert sample.has_fix is fix
    if not fix:
        assert sample.fix_type is FixType.NONE
        assert math.isnan(sample.pdop) and math.isnan(sample.latitude_deg)
        return
    assert sample.hdop == pytest.approx(math.sqrt(q[0, 0] + q[1, 1]), rel=1e-6)
    assert sample.vdop == pytest.approx(math.sqrt(q[2, 2]), rel=1e-6)
    assert sample.pdop == pytest.approx(math.hypot(sample.hdop, sample.vdop), rel=1e-9)
    for sigma, covariance in (
        (uere, sample.position_covariance),
        (velocity, sample.velocity_covariance),
    ):
        matrix = np.reshape(covariance, (3, 3))
        assert np.allclose(matrix, sigma**2 * q, rtol=1e-6, atol=1e-9)
        assert np.array_equal(matrix, matrix.T)
        assert np.linalg.eigvalsh(matrix).min() > 0.0


# ---------------------------------------------------------------------- agreement


@pytest.mark.parametrize('latitude', [-90.0, -61.3, -20.0, 0.0, 30.0, 47.4, 60.0, 90.0])
@pytest.mark.parametrize('mask', [0.0, 5.0, 15.0, 30.0])
def test_every_sample_agrees_with_itself(latitude, mask):
    origin = at(latitude)
    sensor = receiver(geometry__mask_deg=mask, **origin)
    samples = day(sensor, 1800)
    assert len(samples) == 48
    for sample in samples:
        assert_agrees(sample, expected_directions(sample, origin['origin'], mask))


@PROPERTY
@given(
    latitude=st.floats(-90.0, 90.0),
    longitude=st.floats(-180.0, 180.0),
    mask=st.floats(0.0, 40.0),
    start=st.floats(-360.0, 360.0),
    end=st.floats(-360.0, 360.0),
    top=st.floats(0.0, 90.0),
    lost=st.integers(0, 12),
    second=st.integers(0, 2**31 - 10),
)
def test_agreement_holds_for_any_place_sky_and_loss(
    latitude, longitude, mask, start, end, top, lost, second
):
    origin = at(latitude, longitude)
    sensor = receiver(
        geometry__mask_deg=mask, geometry__blocked=[start, end, top], **origin
    )
    if lost:
        sensor.board.inject(FaultRequest('satellite_loss', float(lost)))
    sample = sensor.feed(still(0.0, 1.0, second * SECOND))[-1]

    width = 360.0 if abs(end - start) >= 360.0 else (end - start) % 360.0

    def hidden(azimuth, elevation):
        return width > 0.0 and elevation < top and (azimuth - start) % 360.0 <= width

    directions = expected_directions(sample, origin['origin'], mask, hidden)
    left = directions[: max(0, len(directions) - lost)]
    q = expected_cofactor(left)
    if q is not None and math.sqrt(np.trace(q)) > 15.0:
        return  # near the limit the rounding of the inverse decides
    assert_agrees(sample, left)


def test_losses_take_the_lowest_first_until_there_is_no_fix():
    origin = at(47.0)
    before = None
    for lost in range(12):
        sensor = receiver(**origin)
        if lost:
            sensor.board.inject(FaultRequest('satellite_loss', float(lost)))
        sample = sensor.feed(still(0.0, 1.0, EPOCH))[-1]
        everything = expected_directions(sample, origin['origin'])
        assert_agrees(sample, everything[: max(0, len(everything) - lost)])
        if before is not None and sample.has_fix:
            assert sample.satellites == before.satellites - 1
            assert sample.pdop >= before.pdop
            added = np.subtract(sample.position_covariance, before.position_covariance)
            assert np.linalg.eigvalsh(added.reshape(3, 3)).min() > -1e-9
        assert sensor.status().valid is sample.has_fix
        assert sample.has_fix or sensor.status().confidence == 0.0
        before = sample
    assert before.satellites == 0


def test_a_wall_hides_its_sector_only():
    origin = at(47.0)
    open_sky = day(receiver(**origin), 3600)
    walled = day(receiver(geometry__blocked=[350.0, 170.0, 80.0], **origin), 3600)

    def hidden(azimuth, elevation):
        return elevation < 80.0 and (azimuth >= 350.0 or azimuth <= 170.0)

    for free, sample in zip(open_sky, walled, strict=True):
        assert sample.satellites < free.satellites
        assert_agrees(sample, expected_directions(sample, origin['origin'], 5.0, hidden))


def test_two_sectors_add_up_and_the_whole_sky_can_be_blocked():
    origin = at(20.0)
    both = day(receiver(geometry__blocked=[0, 90, 60, 180, 270, 60], **origin), 7200)
    for sample in both:
        directions = expected_directions(
            sample,
            origin['origin'],
            5.0,
            lambda a, e: e < 60.0 and (a <= 90.0 or 180.0 <= a <= 270.0),
        )
        assert_agrees(sample, directions)
    for sample in day(receiver(geometry__blocked=[0, 360, 90], **origin), 7200):
        assert not sample.has_fix and sample.satellites == 0


def test_simulated_time_near_zero_has_a_sky():
    sensor = receiver(**at(47.0))
    samples = run(sensor, [still(0.0, 5.0)])
    assert len(samples) == 5
    for sample in samples:
        assert_agrees(sample, expected_directions(sample, [47.0, 8.5, 400.0]))


def test_geometry_is_a_function_of_place_and_time_only():
    long = run(receiver(**at(47.0)), [still(0.0, 600.0, EPOCH)])
    late = run(receiver(seed=9, **at(47.0)), [still(599.0, 600.0, EPOCH)])
    assert late[-1].t_ns == long[-1].t_ns
    assert late[-1].position_covariance == long[-1].position_covariance
    assert late[-1].pdop == long[-1].pdop


def test_without_geometry_the_sky_is_nominal():
    for sample in run(gps(), [still(0.0, 3.0, EPOCH)]):
        assert (sample.satellites, sample.hdop, sample.vdop) == (10, 0.9, 1.5)
        assert sample.position_covariance == (25.0, 0, 0, 0, 25.0, 0, 0, 0, 25.0)


def test_transparent_is_exact_whatever_blocks_the_sky():
    sensor = receiver(fidelity='transparent', geometry__blocked=[0, 360, 90])
    for sample in run(sensor, [still(0.0, 3.0, EPOCH)]):
        assert sample.has_fix and sample.satellites == 10
        assert sample.position_error.total == (0.0, 0.0, 0.0)
    assert sensor.status().state is SensorState.READY


def test_confidence_falls_with_the_dop():
    sensor = receiver(**at(47.0))
    sample = sensor.feed(still(0.0, 1.0, EPOCH))[-1]
    nominal = math.hypot(0.9, 1.5)
    assert sensor.status().confidence == pytest.approx(min(1.0, nominal / sample.pdop))
    sensor.board.inject(FaultRequest('satellite_loss', 2.0))
    sample = sensor.feed(still(1.0, 2.0, EPOCH))[-1]
    assert sample.satellites >= 4
    assert sensor.status().confidence == pytest.approx(min(1.0, nominal / sample.pdop))


# ---------------------------------------------------------------------- the errors drawn


def whitened(samples, errors, covariances):
    """Return L^-1 e of every sample, unit normals if the covariance is that of the errors."""
    rows = []
    for sample in samples:
        factor = np.linalg.cholesky(np.reshape(covariances(sample), (3, 3)))
        rows.append(np.linalg.solve(factor, errors(sample)))
    return np.array(rows)


def poor_sky(seed, seconds, **values):
    """Return samples under a sky whose errors are strongly correlated between the axes."""
    values = {**at(47.0), 'geometry__blocked': [0, 180, 50], **values}
    return receiver(seed, **values).feed(still(0.0, seconds, EPOCH))


def assert_covariance(samples, errors, covariances):
    """Check that whitened errors are unit normals without correlation."""
    units = whitened(samples, errors, covariances)
    assert_std(units.ravel(), 1.0)
    bound = stats.norm.ppf(1 - ALPHA / 2) / math.sqrt(len(units))
    for i, j in itertools.combinations(range(3), 2):
        assert abs(np.mean(units[:, i] * units[:, j])) < bound


# a correlation time far below the interval makes the correlated part independent too
@pytest.mark.parametrize('fraction', [0.0, 0.25, 1.0])
def test_covariance_is_that_of_the_errors(fraction):
    values = {'pos_correlated_fraction': fraction, 'pos_correlation_time_s': 1e-3}
    samples = poor_sky(1, 1500.0, **values)
    covariance = np.reshape(samples[0].position_covariance, (3, 3))
    sigma = np.sqrt(np.diag(covariance))
    assert np.abs(covariance / np.outer(sigma, sigma))[np.triu_indices(3, 1)].max() > 0.5
    for channel in ('position', 'velocity'):
        assert_covariance(
            samples,
            lambda s, c=channel: getattr(s, f'{c}_error').total,
            lambda s, c=channel: getattr(s, f'{c}_covariance'),
        )
    for part, share in (('bias', fraction), ('noise', 1.0 - fraction)):
        if share > 0.0:
            assert_covariance(
                samples,
                lambda s, p=part: getattr(s.position_error, p),
                lambda s, f=share: f * np.array(s.position_covariance),
            )


def test_correlated_errors_have_the_covariance_over_an_ensemble():
    seeds = range(250)
    samples = [poor_sky(s, 1.0, pos_correlated_fraction=0.5)[-1] for s in seeds]
    assert_covariance(
        samples, lambda s: s.position_error.total, lambda s: s.position_covariance
    )


def test_covariance_follows_the_errors_through_a_day():
    samples = day(receiver(**at(60.0), geometry__mask_deg=12.0), 60)
    fixes = [sample for sample in samples if sample.has_fix]
    assert max(s.pdop for s in fixes) > 1.5 * min(s.pdop for s in fixes)
    units = whitened(
        fixes, lambda s: s.position_error.total, lambda s: s.position_covariance
    )
    assert_std(units.ravel(), 1.0)


def test_a_noise_fault_multiplies_the_noise_of_the_geometry():
    sensor = receiver(**at(47.0))
    sensor.board.inject(FaultRequest('noise', 5.0, target='position'))
    samples = sensor.feed(still(0.0, 1500.0, EPOCH))
    sigma = np.sqrt([np.diag(np.reshape(s.position_covariance, (3, 3))) for s in samples])
    for part, factor in (('fault', math.sqrt(24.0)), ('total', 5.0)):
        errors = np.array([getattr(s.position_error, part) for s in samples])
        for i in range(3):
            assert_std(errors[:, i] / sigma[:, i], factor)


def test_a_noise_fault_in_transparent_has_the_noise_of_a_nominal_sky():
    sensor = receiver(fidelity='transparent')
    sensor.board.inject(FaultRequest('noise', 5.0, target='position'))
    samples = sensor.feed(still(0.0, 1500.0, EPOCH))
    errors = np.array([s.position_error.total for s in samples])
    for i, dilution in enumerate((0.9 / math.sqrt(2.0), 0.9 / math.sqrt(2.0), 1.5)):
        assert_std(errors[:, i], math.sqrt(24.0) * UERE * dilution)


def test_uere_takes_effect_at_once_and_disturbs_no_stream():
    segments = [still(t, t + 1.0, EPOCH) for t in range(6)]
    plain, changed = receiver(**at(47.0)), receiver(**at(47.0))
    ours = []
    for i, segment in enumerate(segments):
        values = {'geometry.enabled': True, 'vel_std_dev': 0.05, 'origin': [47.0, 8.5, 400.0]}
        double = 2 * UERE if 2 <= i < 4 else UERE
        changed.configure(settings('gps', uere_m=double, **values))
        ours += changed.feed(segment)
    for i, (a, b) in enumerate(zip(run(plain, segments), ours, strict=True)):
        factor = 2.0 if 2 <= i < 4 else 1.0
        assert np.allclose(b.position_error.total, np.multiply(factor, a.position_error.total))


# ---------------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ('name', 'value'),
    [
        ('geometry.enabled', 'yes'),
        ('geometry.mask_deg', -1.0),
        ('geometry.mask_deg', 91.0),
        ('geometry.mask_deg', math.nan),
        ('geometry.blocked', [0.0, 90.0]),
        ('geometry.blocked', 1.0),
        ('geometry.blocked', 'north'),
        ('geometry.blocked', [0.0, 361.0, 20.0]),
        ('geometry.blocked', [0.0, 90.0, -1.0]),
        ('geometry.blocked', [0.0, 90.0, 91.0]),
        ('geometry.blocked', [0.0, 90.0, 20.0, 10.0]),
        ('geometry.blocked', [0.0, 90.0, math.nan]),
        ('uere_m', -0.1),
        ('uere_m', math.inf),
    ],
)
def test_bad_geometry_is_refused(name, value):
    with pytest.raises(ParameterError) as caught:
        settings('gps', **{name: value})
    assert caught.value.name == name


def test_range_rates_have_one_standard_deviation():
    with pytest.raises(ParameterError) as caught:
        settings('gps', geometry__enabled=True, vel_std_dev=[0.1, 0.2])
    assert caught.value.name == 'vel_std_dev'
    assert settings('gps', vel_std_dev=[0.1, 0.2]).vel_std_dev == (0.1, 0.2)
