"""The nominal constellation of the Global Positioning System: 24 slots in six planes.

Circular Kepler orbits whose planes turn slowly with the Earth's oblateness.  With the slot's
argument of latitude u0 and right ascension of the ascending node W0 at the epoch t0,

    u = u0 + sqrt(mu / a^3) (t - t0),    L = W0 - G0 + (W' - omega_ie) (t - t0),
    p_e = a R3(-L) (cos u, cos i sin u, sin i sin u),

L is the longitude of the node and G0 the Greenwich hour angle at the epoch.  The constellation
is nominal: it has the geometry of the sky, not the satellites of a certain day, and serves any
time, simulated time near zero too.

Sources: Global Positioning System Standard Positioning Service Performance Standard (October
2001), table 3-1 for the slots, the epoch and the Greenwich hour angle, table A-2-1 for the rate
of the nodes.  mu: IS-GPS-200, section 20.3.3.4.3.
"""

from __future__ import annotations

import math

from jaguar_sensors_ros.nav.earth import OMEGA_IE
from jaguar_sensors_ros.types import Vec3

#: right ascension of the ascending node of each plane at the epoch [deg]
PLANES: dict[str, float] = {
    'A': 272.847,
    'B': 332.847,
    'C': 32.847,
    'D': 92.847,
    'E': 152.847,
    'F': 212.847,
}
#: argument of latitude of slots 1 to 4 of each plane at the epoch [deg]
SLOTS: dict[str, tuple[float, float, float, float]] = {
    'A': (268.126, 161.786, 11.676, 41.806),
    'B': (80.956, 173.336, 309.976, 204.376),
    'C': (111.876, 11.796, 339.666, 241.556),
    'D': (135.226, 265.446, 35.156, 167.356),
    'E': (197.046, 302.596, 66.066, 333.686),
    'F': (238.886, 345.226, 105.206, 135.346),
}
SEMI_MAJOR_M = 26_559_700.0
INCLINATION = math.radians(55.0)
#: rate of the ascending nodes [rad/s]
NODE_RATE = math.radians(-4.4874e-7)
#: 1993-07-01T00:00:00 UTC [s since the GPS epoch], 9 leap seconds included
EPOCH_S = 425_520_009
#: Greenwich hour angle at the epoch, 18 h 36 min 14.4 s
HOUR_ANGLE = math.radians(15.0 * (18.0 + 36.0 / 60.0 + 14.4 / 3600.0))
MU = 3.986005e14
#: mean motion [rad/s]
MEAN_MOTION = math.sqrt(MU / SEMI_MAJOR_M**3)

#: names of the slots, in the order of all lists of satellites
NAMES: tuple[str, ...] = tuple(f'{plane}{n + 1}' for plane in SLOTS for n in range(4))


def _circle(plane: str, latitude_deg: float) -> tuple[Vec3, Vec3]:
    """Return the position [m] of a slot at the epoch and after a quarter of an orbit.

    In the axes that turn with the nodes: z along the Earth's, x towards the Greenwich meridian
    at the epoch.
    """
    node = math.radians(PLANES[plane]) - HOUR_ANGLE
    ends = []
    for quarter in (0.0, 0.5 * math.pi):
        u = math.radians(latitude_deg) + quarter
        along, across = math.cos(u), math.sin(u) * math.cos(INCLINATION)
        ends.append(
            (
                SEMI_MAJOR_M * (along * math.cos(node) - across * math.sin(node)),
                SEMI_MAJOR_M * (along * math.sin(node) + across * math.cos(node)),
                SEMI_MAJOR_M * math.sin(u) * math.sin(INCLINATION),
            )
        )
    return ends[0], ends[1]


_CIRCLES = tuple(_circle(plane, u0) for plane, slots in SLOTS.items() for u0 in slots)


def satellite_positions(gps_time_s: float) -> list[Vec3]:
    """Return p_e [m] of the 24 satellites, in the order of :data:`NAMES`.

    Parameters
    ----------
    gps_time_s : float
        Seconds since the GPS epoch, see :mod:`jaguar_sensors_ros.nav.gps_time`.
    """
    since_s = gps_time_s - EPOCH_S
    turn = (NODE_RATE - OMEGA_IE) * since_s
    cos_l, sin_l = math.cos(turn), math.sin(turn)
    moved = MEAN_MOTION * since_s
    c, s = math.cos(moved), math.sin(moved)
    positions = []
    for (x0, y0, z0), (x1, y1, z1) in _CIRCLES:
        x, y = c * x0 + s * x1, c * y0 + s * y1
        positions.append((cos_l * x - sin_l * y, sin_l * x + cos_l * y, c * z0 + s * z1))
    return positions
