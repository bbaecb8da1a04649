"""The nominal constellation, dilution of precision and GPS time against independent numbers."""

from __future__ import annotations

import calendar
import math

import numpy as np
import pytest
from core_helpers import PROPERTY, SECOND
from hypothesis import given
from hypothesis import strategies as st

from jaguar_sensors_ros.nav import constellation, dop, earth, gps_time
from jaguar_sensors_ros.types import NS_PER_S

SIDEREAL_DAY_S = 86164.0905
EPOCH_S = constellation.EPOCH_S


def rotation_z(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


def rotation_x(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def independent_positions(gps_time_s):
    """Return the ECEF positions by rotation matrices and the textbook order of the angles."""
    since = gps_time_s - 425_520_009
    motion = np.sqrt(3.986005e14 / 26_559_700.0**3)
    hour_angle = np.radians(279.06) + 7.292115e-5 * since
    rows = []
    for plane, node in constellation.PLANES.items():
        ascension = np.radians(node) - np.radians(4.4874e-7) * since
        for latitude in constellation.SLOTS[plane]:
            u = np.radians(latitude) + motion * since
            p_i = rotation_z(ascension) @ rotation_x(np.radians(55.0)) @ rotation_z(u)[:, 0]
            rows.append(26_559_700.0 * rotation_z(-hour_angle) @ p_i)
    return np.array(rows)


def independent_cofactor(directions):
    """Return the position part of (H^T H)^-1 with the clock as the fourth unknown."""
    h = np.column_stack([-np.asarray(directions), np.ones(len(directions))])
    return np.linalg.inv(h.T @ h)[:3, :3]


def in_view(latitude_deg, longitude_deg, t, mask_deg=5.0):
    latitude, longitude = math.radians(latitude_deg), math.radians(longitude_deg)
    p = np.array(earth.ecef_from_geodetic(latitude, longitude, 0.0))
    axes = np.array(earth.enu_from_ecef_matrix(latitude, longitude))
    lines = np.array(constellation.satellite_positions(t)) - p
    enu = lines @ axes.T / np.linalg.norm(lines, axis=1)[:, None]
    return enu[enu[:, 2] >= math.sin(math.radians(mask_deg))]


# ---------------------------------------------------------------------- the constellation


def test_table_has_six_planes_of_four_slots_sixty_degrees_apart():
    assert len(constellation.NAMES) == 24
    nodes = sorted(constellation.PLANES.values())
    assert np.allclose(np.diff(nodes), 60.0)
    # no two satellites of a plane closer than 30 degrees
    for slots in constellation.SLOTS.values():
        gaps = np.diff([*sorted(slots), sorted(slots)[0] + 360.0])
        assert gaps.min() > 30.0 and sum(gaps) == pytest.approx(360.0)


@pytest.mark.parametrize('t', [0.0, 12.5, EPOCH_S, EPOCH_S + 1e6, 1.4e9])
def test_positions_equal_rotation_matrices(t):
    ours = np.array(constellation.satellite_positions(t))
    assert np.abs(ours - independent_positions(t)).max() < 0.01
    assert np.allclose(np.linalg.norm(ours, axis=1), 26_559_700.0, rtol=1e-12)


def test_at_the_epoch_the_satellites_stand_where_the_table_says():
    ours = np.array(constellation.satellite_positions(EPOCH_S))
    # latitude: sin phi = sin i sin u
    u = np.radians([x for slots in constellation.SLOTS.values() for x in slots])
    latitude = np.arcsin(np.sin(np.radians(55.0)) * np.sin(u))
    assert np.allclose(np.arcsin(ours[:, 2] / 26_559_700.0), latitude, atol=1e-12)


def test_period_is_half_a_sidereal_day_within_six_seconds():
    assert abs(2 * math.pi / constellation.MEAN_MOTION - SIDEREAL_DAY_S / 2) < 6.0
    p = np.array(constellation.satellite_positions(EPOCH_S))
    half = np.array(constellation.satellite_positions(EPOCH_S + SIDEREAL_DAY_S / 2))
    assert np.abs(half[:, 2] - p[:, 2]).max() < 26_559_700.0 * 0.0008


def test_ground_track_repeats_after_two_revolutions():
    two = 4 * math.pi / constellation.MEAN_MOTION
    p = np.array(constellation.satellite_positions(EPOCH_S))
    again = np.array(constellation.satellite_positions(EPOCH_S + two))
    longitude = np.arctan2(p[:, 1], p[:, 0]) - np.arctan2(again[:, 1], again[:, 0])
    drift = np.degrees((longitude + np.pi) % (2 * np.pi) - np.pi)
    assert np.abs(again[:, 2] - p[:, 2]).max() < 1.0
    # the table holds groundtrack equatorial crossings within 2 degrees
    assert np.abs(drift).max() < 0.01


def test_velocity_over_ground_is_that_of_a_gps_satellite():
    p, q = (np.array(constellation.satellite_positions(EPOCH_S + t)) for t in (0.0, 0.1))
    speed = np.linalg.norm(q - p, axis=1) / 0.1
    # inertial 3.87 km/s less up to 1.94 km/s of the turning Earth
    assert speed.min() > 2600.0 and speed.max() < 3400.0


# ---------------------------------------------------------------------- dilution of precision


@pytest.mark.parametrize('latitude', [-90.0, -60.0, -23.0, 0.0, 35.0, 47.4, 60.0, 90.0])
@pytest.mark.parametrize('mask', [0.0, 5.0, 10.0])
def test_cofactor_equals_the_inverse_with_the_clock(latitude, mask):
    for hour in range(0, 24, 3):
        directions = in_view(latitude, 8.5, EPOCH_S + 3600.0 * hour, mask)
        q = dop.cofactor(map(tuple, directions))
        expected = independent_cofactor(directions)
        assert np.allclose(q, expected, rtol=1e-9, atol=1e-9)
        assert np.all(np.linalg.eigvalsh(np.array(q)) > 0.0)
        factor = np.array(dop.cholesky(q))
        assert np.allclose(factor, np.linalg.cholesky(expected), rtol=1e-8)
        hdop, vdop, pdop = dop.dilutions(q)
        assert hdop == pytest.approx(math.sqrt(expected[0, 0] + expected[1, 1]))
        assert vdop == pytest.approx(math.sqrt(expected[2, 2]))
        assert pdop == pytest.approx(math.sqrt(np.trace(expected)))


def test_textbook_geometry_of_four_satellites():
    # one at the zenith, three at the horizon 120 degrees apart: HDOP 2/sqrt 3, VDOP sqrt(4/3)
    directions = [(0.0, 0.0, 1.0)]
    for azimuth in (0.0, 120.0, 240.0):
        a = math.radians(azimuth)
        directions.append((math.sin(a), math.cos(a), 0.0))
    hdop, vdop, pdop = dop.dilutions(dop.cofactor(directions))
    assert hdop == pytest.approx(2.0 / math.sqrt(3.0))
    assert vdop == pytest.approx(math.sqrt(4.0 / 3.0))
    assert pdop == pytest.approx(math.sqrt(8.0 / 3.0))


def test_no_cofactor_for_few_satellites_or_a_cone():
    cone = [(math.cos(a) * 0.6, math.sin(a) * 0.6, 0.8) for a in np.linspace(0.0, 5.0, 7)]
    assert dop.cofactor(cone) is None
    assert dop.cofactor([(0.0, 0.0, 1.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]) is None
    assert dop.cofactor([]) is None
    assert dop.cofactor([(0.0, 0.6, 0.8)] * 9) is None


@PROPERTY
@given(st.lists(st.tuples(st.floats(0.0, 6.28), st.floats(0.1, 1.5)), min_size=4, max_size=12))
def test_one_more_satellite_never_makes_it_worse(angles):
    directions = [
        (math.sin(a) * math.cos(e), math.cos(a) * math.cos(e), math.sin(e)) for a, e in angles
    ]
    q, fewer = dop.cofactor(directions), dop.cofactor(directions[:-1])
    if q is None or fewer is None or dop.dilutions(fewer)[2] > 1e3:
        return
    for more, less in zip(dop.dilutions(q), dop.dilutions(fewer), strict=True):
        assert more <= less * (1.0 + 1e-6)


def scan(mask_deg, latitudes, step_deg=40, step_s=900):
    """Return satellites, HDOP, VDOP and PDOP over a day all around the Earth."""
    rows = []
    for t in range(0, 86400, step_s):
        for latitude in latitudes:
            for longitude in range(-180, 180, step_deg):
                seen = in_view(latitude, longitude, EPOCH_S + t, mask_deg)
                q = dop.cofactor(map(tuple, seen))
                dops = (math.inf,) * 3 if q is None else dop.dilutions(q)
                rows.append((len(seen), *dops))
    return np.array(rows)


def test_over_a_day_and_the_earth_the_sky_is_that_of_24_satellites():
    found = scan(5.0, range(-75, 90, 15), 60)
    satellites, hdop, vdop, pdop = found.T
    # 24 satellites of which a receiver above the mask sees a third
    assert satellites.min() >= 5 and satellites.max() <= 12
    assert 7.5 < satellites.mean() < 9.0
    # the standard promises PDOP <= 6 for 98 percent of time and places
    assert (pdop <= 6.0).mean() > 0.98
    assert 0.8 < np.median(hdop) < 1.2 and 1.3 < np.median(vdop) < 2.0
    # Milbert, "Dilution of precision revisited", Navigation 55 (2008): mean ratio 1.474 with the
    # 30 satellites of that day; fewer satellites make it a little larger
    assert 1.4 < vdop.mean() / hdop.mean() < 1.8


def test_a_higher_mask_has_holes_at_middle_latitudes():
    assert scan(5.0, (60.0,)).T[3].max() < 6.0
    ten = scan(10.0, (50.0, 60.0), 10)
    assert ten.T[3].max() > 20.0 and (ten.T[3] > 20.0).mean() < 0.01
    fifteen = scan(15.0, (60.0,), 10)
    lost = (fifteen.T[0] < 4) | (fifteen.T[3] > 20.0)
    assert 0.005 < lost.mean() < 0.04


# ---------------------------------------------------------------------- GPS time


@pytest.mark.parametrize(
    ('utc', 'leap', 'week', 'time_of_week'),
    [
        # the roll-overs of the ten-bit week: 1999-08-22 and 2019-04-07, midnight GPS time
        ((1999, 8, 21, 23, 59, 47), 13, 1024, 0.0),
        ((2019, 4, 6, 23, 59, 42), 18, 2048, 0.0),
        ((2019, 4, 6, 23, 59, 41), 18, 2047, 604_799.0),
        # Sunday 2023-01-01: week 2243
        ((2023, 1, 1, 0, 0, 0), 18, 2243, 18.0),
        # Unix time 1.7e9, Tuesday 2023-11-14T22:13:20
        ((2023, 11, 14, 22, 13, 20), 18, 2288, 2 * 86400 + 22 * 3600 + 13 * 60 + 20 + 18),
        # the epoch itself had no leap seconds
        ((1980, 1, 6, 0, 0, 0), 0, 0, 0.0),
    ],
)
def test_week_and_time_of_known_dates(utc, leap, week, time_of_week):
    t_ns = calendar.timegm((*utc, 0, 0, 0)) * NS_PER_S
    assert gps_time.week_and_time(t_ns, leap) == (week, time_of_week)


def test_simulated_time_counts_from_week_zero():
    assert gps_time.week_and_time(0) == (0, 0.0)
    assert gps_time.week_and_time(12_500_000_000) == (0, 12.5)
    assert gps_time.week_and_time(604_800 * SECOND + 1) == (1, 1e-9)
    assert gps_time.week_and_time(-SECOND) == (0, 0.0)


@PROPERTY
@given(st.integers(315_964_800 * SECOND, 2**31 * SECOND), st.integers(0, 60))
def test_week_and_time_add_up(t_ns, leap):
    week, time_of_week = gps_time.week_and_time(t_ns, leap)
    assert 0.0 <= time_of_week < 604_800.0
    total = week * 604_800 * SECOND + round(time_of_week * SECOND)
    assert abs(total - (t_ns - 315_964_800 * SECOND + leap * SECOND)) < 1000


def test_epoch_of_the_table_is_midnight_utc():
    t_ns = calendar.timegm((1993, 7, 1, 0, 0, 0, 0, 0, 0)) * NS_PER_S
    assert gps_time.gps_time_ns(t_ns, 9) == EPOCH_S * NS_PER_S
