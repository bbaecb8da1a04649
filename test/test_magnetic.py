"""The magnetic field of the Earth against the test values of the World Magnetic Model."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest
from core_helpers import EPOCH, SECOND

from jaguar_sensors_ros.nav import magnetic
from jaguar_sensors_ros.nav.earth import enu_from_ecef_matrix, geodetic_from_ecef
from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.nav.magnetic import ConstantField, EarthField, decimal_year, model_enu
from jaguar_sensors_ros.types import JaguarError

pytest.importorskip('pygeomag')

NT = 1e-9
#: "The US/UK World Magnetic Model for 2020-2025: Technical Report", NOAA NCEI 2020, table 2, and
#: the test values that come with its coefficients: year, height [km], latitude, longitude [deg],
#: north, east, down [nT] with one decimal
WMM2020 = [
    (2020.0, 0.0, 80.0, 0.0, 6570.4, -146.3, 54606.0),
    (2020.0, 0.0, 0.0, 120.0, 39624.3, 109.9, -10932.5),
    (2020.0, 0.0, -80.0, 240.0, 5940.6, 15772.1, -52480.8),
    (2020.0, 100.0, 80.0, 0.0, 6261.8, -185.5, 52429.1),
    (2020.0, 100.0, 0.0, 120.0, 37636.7, 104.9, -10474.8),
    (2020.0, 100.0, -80.0, 240.0, 5744.9, 14799.5, -49969.4),
    (2022.5, 0.0, 80.0, 0.0, 6529.9, 1.1, 54713.4),
    (2022.5, 0.0, 0.0, 120.0, 39684.7, -42.2, -10809.5),
    (2022.5, 0.0, -80.0, 240.0, 6016.5, 15776.7, -52251.6),
    (2022.5, 100.0, 80.0, 0.0, 6224.0, -44.5, 52527.0),
    (2022.5, 100.0, 0.0, 120.0, 37694.0, -35.3, -10362.0),
    (2022.5, 100.0, -80.0, 240.0, 5815.0, 14803.0, -49755.3),
    (2020.0, 66.0, 14.0, 143.0, 34916.8, 70.2, 8114.9),
    (2020.0, 18.0, 0.0, 21.0, 29311.2, 536.0, -14589.0),
    (2020.5, 6.0, -36.0, -137.0, 23948.6, 8791.9, -32897.6),
    (2020.5, 63.0, 26.0, 81.0, 34737.7, 259.2, 30023.4),
]


@pytest.mark.parametrize('row', WMM2020)
def test_values_of_the_technical_report(row):
    year, height_km, latitude, longitude, north, east, down = row
    got = model_enu(math.radians(latitude), math.radians(longitude), height_km * 1e3, year)
    np.testing.assert_allclose(np.array(got) / NT, (east, north, -down), atol=0.06)


@pytest.mark.parametrize('row', WMM2020[:6])
def test_at_the_origin_n_is_east_north_up(row):
    year, height_km, latitude, longitude, north, east, down = row
    field = EarthField(LocalFrame(latitude, longitude, height_km * 1e3), year)
    got = np.array(field.at((0.0, 0.0, 0.0), 0)) / NT
    np.testing.assert_allclose(got, (east, north, -down), atol=0.06)


@pytest.mark.parametrize('place', [(47.4, 8.5, 460.0), (-80.0, 240.0, 0.0), (0.0, 120.0, 9e3)])
def test_between_the_points_of_the_lattice_it_is_within_a_third_of_a_nanotesla(place):
    local = LocalFrame(*place)
    field = EarthField(local, 2026.0)
    rng = np.random.default_rng(1)
    for p_n in rng.uniform((-1e5, -1e5, -1e3), (1e5, 1e5, 2e4), (200, 3)).tolist():
        latitude, longitude, height = geodetic_from_ecef(local.ecef_from_local(tuple(p_n)))
        enu = model_enu(latitude, longitude, height, 2026.0)
        C_le = np.array(enu_from_ecef_matrix(latitude, longitude))
        expected = np.array(local.C_ne) @ C_le.T @ np.array(enu)
        got = field.at(tuple(p_n), EPOCH)
        assert np.abs(np.array(got) - expected).max() < 0.3 * NT


def test_what_was_asked_before_does_not_matter():
    local = LocalFrame(47.4, 8.5, 460.0)
    straight, roundabout = EarthField(local, None), EarthField(local, None)
    for x in range(100):
        roundabout.at((x * 5000.0, 0.0, 0.0), EPOCH)
    p_n = (2400.0, -900.0, 30.0)
    assert straight.at(p_n, EPOCH) == roundabout.at(p_n, EPOCH)


@pytest.mark.parametrize(('stamp_s', 'year'), [
    (1_577_836_800, 2020.0),  # 2020-01-01T00:00:00Z
    (1_593_648_000, 2020.5),  # 2020-07-02, day 183 of 366
    (1_767_225_599, 2026.0),
    (0, 2025.0), (1_262_304_000 - 1, 2025.0), (1_893_456_000, 2025.0), (-10**18, 2025.0),
    (10**18, 2025.0),
])
def test_decimal_year(stamp_s, year):
    assert decimal_year(stamp_s * SECOND) == pytest.approx(year, abs=1e-6)


def test_the_date_is_that_of_the_stamp():
    field = EarthField(LocalFrame(80.0, 0.0, 0.0), None)
    at = 1_656_590_400 + 12 * 3600  # 2022-06-30T12 and 2022-07-02T12 are about 2022.5
    east, north, up = np.array(field.at((0.0, 0.0, 0.0), at * SECOND)) / NT
    # the field changes by less than 60 nT a year there, and the day is met to two
    assert (north, east, -up) == pytest.approx((6529.9, 1.1, 54713.4), abs=0.5)


def test_a_constant_field_is_that_everywhere():
    assert ConstantField((1e-5, 2e-5, -3e-5)).at((1e5, 0.0, 7.0), EPOCH) == (1e-5, 2e-5, -3e-5)


def test_without_the_library_it_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, 'pygeomag', None)
    magnetic._geomag.cache_clear()
    with pytest.raises(JaguarError, match=r'pygeomag: pip install jaguar_sensors_ros\[mag\]'):
        EarthField(LocalFrame(0.0, 0.0, 0.0), None)


def test_importing_the_catalogue_does_not_import_the_library():
    code = 'import sys, jaguar_sensors_ros.catalogue; print("pygeomag" in sys.modules)'
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert done.stdout.strip() == 'False', done.stderr
