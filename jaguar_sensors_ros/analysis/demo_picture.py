"""The picture of a run: track and fixes, signals of the IMU, errors in standard deviations."""

from __future__ import annotations

from pathlib import Path
from textwrap import shorten
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle

from jaguar_sensors_ros.analysis.acceptance import PEAK_SIGMAS, Trace
from jaguar_sensors_ros.analysis.picture import write_png
from jaguar_sensors_ros.types import NS_PER_S, Vec3

_AXES = ('#1f77b4', '#d95f02', '#1b9e77')
_FAULT = '#f4a6a6'
_SIZE_IN, _DPI = (16.0, 9.5), 100
_FONT = 11
_TITLE_LENGTH = 150
#: width / height of the panel of the track
_TRACK_RATIO = 0.98


def draw(
    path: Path,
    title: str,
    truth: Trace,
    imu: Trace,
    gps: Trace,
    sigma_gps: Vec3,
    fault: tuple[int, int] | None,
    fault_name: str,
) -> None:
    """Draw a run into a PNG file, which is complete or not there.

    Parameters
    ----------
    path : Path
        The file.
    title : str
        First part of the heading.
    truth : Trace
        Positions of the body, ENU [m].
    imu : Trace
        Rows of value and error in standard deviations of gyro, accelerometer and attitude.
    gps : Trace
        Rows of position, ENU [m], and error in standard deviations.
    sigma_gps : Vec3
        Standard deviation of the fixes [m].
    fault : (int, int) or None
        Times of the fault [ns].
    fault_name : str
        What it was.
    """
    figure = Figure(figsize=_SIZE_IN, dpi=_DPI, layout='constrained')
    figure.suptitle(shorten(title, _TITLE_LENGTH, placeholder=' ...'), fontsize=_FONT + 3)
    left, right = figure.subfigures(1, 2, width_ratios=(1.0, 1.35))
    start_ns, gps = truth.t_ns[0], _finite(gps)
    track, height = left.subplots(2, 1, height_ratios=(3.0, 1.0))
    _draw_track(track, truth, gps, sigma_gps, fault)
    _draw_height(height, truth, gps, start_ns)
    signals = right.subplots(4, 1)
    table, t_s = np.array(imu.rows), _seconds(imu, start_ns)
    _draw_signal(signals[0], t_s, table[:, 0:3], 'gyro [rad/s]')
    _draw_signal(signals[1], t_s, table[:, 6:9], 'accelerometer [m/s²]')
    _draw_signal(signals[2], t_s, table[:, 3:6], 'gyro error [σ]')
    _symlog(signals[2], table[:, 3:6])
    _draw_errors(signals[3], t_s, table, gps, start_ns)
    for axes in (height, *signals):
        _finish(axes, fault, start_ns, float(t_s[-1]))
    signals[0].set_title(f'IMU; shaded: {fault_name}' if fault else 'IMU', fontsize=_FONT + 1)
    for axes in (signals[0], signals[3]):
        legend = axes.legend(fontsize=_FONT - 1, loc='upper left', bbox_to_anchor=(1.0, 1.0))
        for line in legend.get_lines():
            line.set_linewidth(2.5)
    for axes in (height, signals[3]):
        axes.set_xlabel('time [s]', fontsize=_FONT)
    write_png(figure, path)


def _finite(trace: Trace) -> Trace:
    """Return a trace without rows that hold something else than finite numbers (no fix)."""
    kept = Trace()
    for t_ns, row in zip(trace.t_ns, trace.rows, strict=True):
        if np.all(np.isfinite(row)):
            kept.add(t_ns, row)
    return kept


def _seconds(trace: Trace, start_ns: int) -> Any:
    return (np.array(trace.t_ns, dtype=np.int64) - start_ns) / NS_PER_S


def _draw_track(
    axes: Any, truth: Trace, gps: Trace, sigma: Vec3, fault: tuple[int, int] | None
) -> None:
    p = np.array(truth.rows)
    axes.plot(p[:, 0], p[:, 1], color='black', linewidth=1.6, label='truth', zorder=3)
    axes.plot(p[0, 0], p[0, 1], '^', color='black', markersize=9, label='start', zorder=4)
    if fault is not None:
        t_ns = np.array(truth.t_ns, dtype=np.int64)
        during = p[(t_ns >= fault[0]) & (t_ns <= fault[1])]
        axes.plot(
            during[:, 0], during[:, 1], color=_FAULT, linewidth=7, label='fault', zorder=1
        )
    points = np.array(gps.rows)
    if points.size:
        axes.plot(
            points[:, 0],
            points[:, 1],
            '.',
            color=_AXES[0],
            markersize=6,
            label='GPS fixes',
            zorder=2,
        )
    _frame(axes, np.vstack([p[:, 0:2], points[:, 0:2]]) if points.size else p[:, 0:2], sigma[0])
    _draw_scale(axes, sigma[0])
    axes.set_xlabel('east [m]', fontsize=_FONT)
    axes.set_ylabel('north [m]', fontsize=_FONT)
    axes.grid(alpha=0.3)
    axes.tick_params(labelsize=_FONT - 1)
    axes.legend(fontsize=_FONT, loc='lower center', ncol=4, bbox_to_anchor=(0.5, 1.0))


def _frame(axes: Any, points: Any, sigma_m: float) -> None:
    """Set equal scales with limits that hold all points and leave the lower edge free."""
    low, high = points.min(axis=0) - sigma_m, points.max(axis=0) + sigma_m
    low[1] -= 0.1 * (high[1] - low[1]) + 2.0 * sigma_m
    half = 0.53 * max(high[0] - low[0], (high[1] - low[1]) * _TRACK_RATIO)
    x, y = (low + high) / 2.0
    axes.set_xlim(x - half, x + half)
    axes.set_ylim(y - half / _TRACK_RATIO, y + half / _TRACK_RATIO)
    axes.set_aspect('equal', adjustable='box')


def _draw_scale(axes: Any, sigma_m: float) -> None:
    """Draw a circle of one standard deviation of the fixes in the lower left corner."""
    (left, right), (bottom, _) = axes.get_xlim(), axes.get_ylim()
    gap = 0.025 * (right - left)
    x, y = left + gap + sigma_m, bottom + gap + sigma_m
    axes.add_patch(Circle((x, y), sigma_m, fill=False, color=_AXES[0], linewidth=1.5))
    text = f'1 σ of a fix: {sigma_m:g} m'
    place = (x + sigma_m + 0.5 * gap, y)
    axes.text(*place, text, fontsize=_FONT, color=_AXES[0], verticalalignment='center')


def _draw_height(axes: Any, truth: Trace, gps: Trace, start_ns: int) -> None:
    p, points = np.array(truth.rows), np.array(gps.rows)
    axes.plot(_seconds(truth, start_ns), p[:, 2], color='black', linewidth=1.4, label='truth')
    if points.size:
        t_s = _seconds(gps, start_ns)
        axes.plot(t_s, points[:, 2], '.', color=_AXES[0], markersize=5, label='GPS fixes')
    axes.set_ylabel('up [m]', fontsize=_FONT)


def _draw_signal(axes: Any, t_s: Any, values: Any, label: str) -> None:
    for i, letter in enumerate('xyz'):
        axes.plot(t_s, values[:, i], color=_AXES[i], linewidth=0.8, label=letter)
    axes.set_ylabel(label, fontsize=_FONT)


def _symlog(axes: Any, values: Any) -> None:
    """Show small errors and those of a fault in one panel, with the limits of the model."""
    largest = float(np.max(np.abs(values)))
    if largest > 3.0 * PEAK_SIGMAS:
        axes.set_yscale('symlog', linthresh=10.0, linscale=1.5)
        axes.set_yticks([-100.0, -6.0, 0.0, 6.0, 100.0], ['-100', '-6', '0', '6', '100'])
    for limit in (-PEAK_SIGMAS, PEAK_SIGMAS):
        axes.axhline(limit, color='grey', linestyle='--', linewidth=1.0)


def _draw_errors(axes: Any, t_s: Any, table: Any, gps: Trace, start_ns: int) -> None:
    """Draw what the fault must not touch, all axes alike."""
    sources = [('accelerometer', '#b8d8c8', 1.5, t_s, table[:, 9:12])]
    if gps.rows:
        points = np.array(gps.rows)
        sources.append(('GPS', _AXES[0], 4.0, _seconds(gps, start_ns), points[:, 3:6]))
    for name, colour, size, times, errors in sources:
        axes.plot(times, errors, 'o', color=colour, markersize=size, markeredgewidth=0)
        axes.plot([], [], 'o', color=colour, markersize=6, label=name)
    for limit in (-PEAK_SIGMAS, PEAK_SIGMAS):
        axes.axhline(limit, color='grey', linestyle='--', linewidth=1.0)
    largest = max(float(np.max(np.abs(errors), initial=0.0)) for *_, errors in sources)
    limit = max(1.25 * PEAK_SIGMAS, 1.1 * largest)
    axes.set_ylim(-limit, limit)
    axes.set_ylabel('other errors [σ]', fontsize=_FONT)


def _finish(axes: Any, fault: tuple[int, int] | None, start_ns: int, end_s: float) -> None:
    if fault is not None:
        first, last = ((t - start_ns) / NS_PER_S for t in fault)
        axes.axvspan(first, last, color=_FAULT, alpha=0.45, linewidth=0, zorder=0)
    axes.set_xlim(0.0, max(end_s, 1e-3))
    axes.grid(alpha=0.3)
    axes.tick_params(labelsize=_FONT - 1)
