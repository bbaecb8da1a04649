"""The standard atmosphere against the tables of the U.S. Standard Atmosphere, 1976."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from jaguar_sensors_ros.nav.atmosphere import (
    EARTH_RADIUS,
    LAYERS,
    geopotential_height,
    pressure,
)

#: U.S. Standard Atmosphere, 1976, table I: geometric height [m], pressure [Pa], five digits
TABLE = [
    (-1000.0, 1.1393e5),
    (0.0, 1.01325e5),
    (1000.0, 8.9876e4),
    (5000.0, 5.4048e4),
    (10000.0, 2.6500e4),
    (30000.0, 1.1970e3),
]
#: the same, table I by geopotential height [m']: the pressure where layers meet
BASES = [
    (11000.0, 22632.06),
    (20000.0, 5474.889),
    (32000.0, 868.0187),
    (47000.0, 110.9063),
    (51000.0, 66.93887),
    (71000.0, 3.956420),
]


def geometric(height):
    return EARTH_RADIUS * height / (EARTH_RADIUS - height)


@pytest.mark.parametrize(('height', 'expected'), TABLE)
def test_table_by_geometric_height(height, expected):
    assert pressure(height) == pytest.approx(expected, rel=5e-5)


@pytest.mark.parametrize(('height', 'expected'), BASES)
def test_pressure_where_layers_meet(height, expected):
    assert pressure(geometric(height)) == pytest.approx(expected, rel=1e-6)


def test_geopotential_height():
    # table I: 30 000 m are 29 859 m', 80 000 m are 79 006 m'
    assert geopotential_height(30_000.0) == pytest.approx(29_859.0, abs=0.5)
    assert geopotential_height(80_000.0) == pytest.approx(79_006.0, abs=0.5)


@pytest.mark.parametrize('offset', [-30.0, 0.0, 25.0])
@pytest.mark.parametrize('height', [-5000.0, 3000.0, 15_000.0, 40_000.0, 60_000.0, 80_000.0])
def test_it_is_in_hydrostatic_equilibrium(height, offset):
    """Integrate dp/dH = -g0 M p / (R* T) numerically."""

    def temperature(h):
        bottoms = [bottom for bottom, _, _ in LAYERS]
        index = max(0, int(np.searchsorted(bottoms, h, side='right')) - 1)
        bottom, base, gradient = LAYERS[index]
        return base + offset + gradient * (h - bottom)

    def slope(h, p):
        return -9.80665 * 0.0289644 / 8.31432 * p / temperature(h)

    points = sorted({0.0, height, *(b for b, _, _ in LAYERS if 0.0 < b < height)})
    if height < 0.0:
        points.reverse()
    value = 101_000.0
    for start, end in itertools.pairwise(points):
        inside = end - math.copysign(1e-6, end - start)
        value = solve_ivp(slope, (start, inside), [value], rtol=1e-10, atol=1e-12).y[0, -1]
    assert pressure(geometric(height), 101_000.0, offset) == pytest.approx(value, rel=1e-7)


def test_beyond_the_layers_the_pressure_stays():
    assert pressure(-9e3) == pressure(geometric(-5000.0))
    assert pressure(1e6) == pressure(geometric(84_852.0)) > 0.0
