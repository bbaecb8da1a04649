"""Kinds of fixes from best to none, and how accurate they are."""

from __future__ import annotations

from dataclasses import replace

from jaguar_sensors_ros.component import build
from jaguar_sensors_ros.sensors.gps_settings import FIX_ACCURACY, GpsSettings

#: what is left of each kind, step by step
_BELOW: dict[str, tuple[str, ...]] = {
    'rtk_fixed': ('rtk_float', 'single', 'none'),
    'rtk_float': ('single', 'none'),
    'sbas': ('single', 'none'),
    'single': ('none',),
    'none': (),
}


def degraded(kind: str, steps: int) -> str:
    """Return the kind of fix so many steps below another.

    Examples
    --------
    >>> degraded('rtk_fixed', 2), degraded('sbas', 1), degraded('single', 5)
    ('single', 'single', 'none')
    """
    kinds = (kind, *_BELOW[kind])
    return kinds[min(steps, len(kinds) - 1)]


def with_accuracy_of(kind: str, settings: GpsSettings) -> GpsSettings:
    """Return settings with the standard deviations that a poorer kind of fix has by default.

    No standard deviation becomes smaller than it was.
    """
    usual = build(GpsSettings, FIX_ACCURACY.get(kind, {}))
    horizontal, vertical = map(max, settings.pos_std_dev, usual.pos_std_dev)
    uere_m = max(settings.uere_m, usual.uere_m)
    return replace(settings, pos_std_dev=(horizontal, vertical), uere_m=uere_m)
