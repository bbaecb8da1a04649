"""Draw docs/images/gnss.png: the sky over a receiver, and its satellites and PDOP over a day.

  python scripts/gnss_picture.py [LATITUDE LONGITUDE]
"""

from __future__ import annotations

import math
import sys
from pathlib import Path

import matplotlib

matplotlib.use('Agg')
import matplotlib.pyplot as plt

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from jaguar_sensors_ros.nav import constellation, earth  # noqa: E402
from jaguar_sensors_ros.nav.rotation import matrix_times, norm, subtract  # noqa: E402
from jaguar_sensors_ros.sensors.gnss_sky import SeenSky, directions_in_view  # noqa: E402
from jaguar_sensors_ros.sensors.gps_settings import LIMIT_PDOP, GeometrySettings  # noqa: E402
from jaguar_sensors_ros.types import Mat3, Vec3  # noqa: E402

STEP_S = 120
WALL = (20.0, 130.0, 45.0)
SKIES = {
    'mask 5°': GeometrySettings(True, 5.0),
    'mask 15°': GeometrySettings(True, 15.0),
    'mask 5° and the wall': GeometrySettings(True, 5.0, WALL),
}


def sky_plot(axes: plt.Axes, p_e: Vec3, C_le: Mat3) -> None:
    """Draw where the satellites stand, and their way over six hours before."""
    axes.set_theta_zero_location('N')
    axes.set_theta_direction(-1)
    axes.set_rlim(0, 90)
    axes.set_yticks([0, 30, 60, 85], ['90°', '60°', '30°', '5°'])
    axes.set_xticks([math.radians(a) for a in range(0, 360, 45)],
                    ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'])
    start, end, top = WALL
    width = math.radians(end - start)
    axes.bar(math.radians(start) + width / 2, top, width, 90 - top, color='0.8')
    axes.text(math.radians(60), 72, 'wall', ha='center', color='0.3')
    for n, name in enumerate(constellation.NAMES):
        way = []
        for t in range(-6 * 3600, 1, 300):
            position = constellation.satellite_positions(constellation.EPOCH_S + t)[n]
            line = matrix_times(C_le, subtract(position, p_e))
            elevation = math.degrees(math.asin(line[2] / norm(line)))
            shown = 90.0 - elevation if elevation > 0.0 else math.nan
            way.append((math.atan2(line[0], line[1]), shown))
        (track,) = axes.plot(*zip(*way, strict=True), linewidth=0.8, alpha=0.6)
        if way[-1][1] <= 90.0:
            axes.plot(*way[-1], 'o', color=track.get_color())
            axes.annotate(name, way[-1], xytext=(4, 4), textcoords='offset points', fontsize=8)


def day_plot(top: plt.Axes, bottom: plt.Axes, p_e: Vec3, C_le: Mat3) -> None:
    """Draw the satellites in view and the PDOP over a day, a line for each sky."""
    for label, settings in SKIES.items():
        skies = [
            SeenSky.of(directions_in_view(p_e, C_le, constellation.EPOCH_S + t, settings))
            for t in range(0, 86401, STEP_S)
        ]
        hours = [STEP_S * i / 3600.0 for i in range(len(skies))]
        top.step(hours, [sky.satellites for sky in skies], where='post', label=label)
        bottom.semilogy(hours, [min(sky.dops[2], 100.0) for sky in skies])
    top.set_ylabel('satellites')
    top.set_ylim(0, 12)
    top.legend(fontsize=8, ncols=3, loc='lower right')
    bottom.axhline(LIMIT_PDOP, color='k', linestyle=':')
    bottom.text(0.2, LIMIT_PDOP * 1.1, 'no fix above', fontsize=8)
    bottom.set_ylim(1.0, 100.0)
    bottom.set_ylabel('PDOP')
    bottom.set_xlabel('hours')
    for axes in (top, bottom):
        axes.set_xlim(0, 24)
        axes.set_xticks(range(0, 25, 4))
        axes.grid(alpha=0.3)


def main() -> None:
    """Draw the picture."""
    latitude, longitude = (float(x) for x in sys.argv[1:3] or ('60.0', '25.0'))
    place = math.radians(latitude), math.radians(longitude)
    p_e = earth.ecef_from_geodetic(*place, 0.0)
    C_le = earth.enu_from_ecef_matrix(*place)
    figure = plt.figure(figsize=(11, 5), layout='constrained')
    grid = figure.add_gridspec(2, 2, width_ratios=(1, 1.3))
    sky_plot(figure.add_subplot(grid[:, 0], projection='polar'), p_e, C_le)
    day_plot(figure.add_subplot(grid[0, 1]), figure.add_subplot(grid[1, 1]), p_e, C_le)
    figure.suptitle(f'Nominal 24-slot constellation at latitude {latitude:g}°, '
                    f'longitude {longitude:g}°; the way over six hours')
    target = ROOT / 'docs' / 'images' / 'gnss.png'
    figure.savefig(target, dpi=90)
    print(f'wrote {target.relative_to(ROOT)}')


if __name__ == '__main__':
    main()
