"""Log-log picture of Allan deviations: measured, theoretical total, its terms."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter

from jaguar_sensors_ros.analysis.allan import AllanCurve, Array, conservative_error
from jaguar_sensors_ros.analysis.allan_theory import UNITS, AxisTheory
from jaguar_sensors_ros.analysis.allan_verdict import judged_octaves
from jaguar_sensors_ros.analysis.picture import write_png
from jaguar_sensors_ros.analysis.quadratic_form import chi_square_ratio, equivalent_dof

_COLOURS = {'x': '#1f77b4', 'y': '#d95f02', 'z': '#1b9e77'}
_MARKERS = {'x': 'o', 'y': 's', 'z': '^'}
_TERM_STYLES = ('--', '-.', ':', (0, (6, 1, 1, 1, 1, 1)), (0, (1, 1)))
_TITLES = {'gyro': 'gyroscopes', 'accel': 'accelerometers'}
_FONT = 11
_LEVEL = 0.95
#: the picture reaches this far below and above the measured curves
_MARGIN = 2.5


def draw(
    path: Path,
    title: str,
    axes: Sequence[str],
    curve: AllanCurve,
    theories: Sequence[AxisTheory] | None,
    verdict: str,
) -> None:
    """Draw the curves into a PNG file, which is complete or not there.

    Parameters
    ----------
    path : Path
        The file.
    title : str
        Heading.
    axes : sequence of str
        The names of the curve's axes.
    curve : AllanCurve
        Measured.
    theories : sequence of AxisTheory or None
        The expectation for each axis, or None.
    verdict : str
        Second line of the heading; empty for none.
    """
    triads = [name for name in UNITS if any(axis.startswith(name) for axis in axes)]
    figure = Figure(figsize=(7.5 * len(triads), 8.2), dpi=100, layout='constrained')
    figure.suptitle(f'{title}\n{verdict}' if verdict else title, fontsize=_FONT + 2)
    rows, gap = (1, 0.12) if theories is None else (2, 0.36)
    panels = figure.subplots(
        rows, len(triads), squeeze=False, sharex='col', height_ratios=(2.6, 1.0)[:rows]
    )
    for panel, triad, below in zip(panels[0], triads, panels[-1], strict=True):
        columns = [i for i, axis in enumerate(axes) if axis.startswith(triad)]
        if theories is None:
            _draw_own_bands(panel, axes, columns, curve)
        else:
            _draw_theory(panel, [theories[i] for i in columns], curve)
            _draw_differences(below, axes, columns, theories, curve)
        for i in columns:
            _draw_measured(panel, axes[i], curve, i)
        _finish(panel, triad, curve, columns)
        below.set_xlabel('averaging time τ [s]', fontsize=_FONT)
        legend = panel.get_legend_handles_labels()
        below.legend(
            *legend, fontsize=_FONT - 1, loc='upper center', bbox_to_anchor=(0.5, -gap), ncols=2
        )
    write_png(figure, path)


def _draw_measured(panel: Any, axis: str, curve: AllanCurve, column: int) -> None:
    letter = axis[-1]
    panel.plot(
        curve.tau,
        curve.adev[:, column],
        marker=_MARKERS[letter],
        markersize=3.5,
        linewidth=1.3,
        color=_COLOURS[letter],
        label=f'measured {letter}',
        zorder=4,
    )


def _draw_own_bands(
    panel: Any, axes: Sequence[str], columns: list[int], curve: AllanCurve
) -> None:
    """Draw one standard error about each measured curve."""
    error = np.minimum(conservative_error(curve.n, curve.m), 0.95)
    for i in columns:
        measured = curve.adev[:, i]
        colour = _COLOURS[axes[i][-1]]
        low, high = measured * (1.0 - error), measured * (1.0 + error)
        panel.fill_between(curve.tau, low, high, color=colour, alpha=0.18, linewidth=0)
    panel.fill_between([], [], [], color='grey', alpha=0.3, label='one standard error')


def _draw_theory(panel: Any, theories: Sequence[AxisTheory], curve: AllanCurve) -> None:
    """Draw total, band and terms; axes with the same expectation share one."""
    groups: dict[Any, list[AxisTheory]] = {}
    for theory in theories:
        groups.setdefault(theory.noise, []).append(theory)
    alone = len(groups) == 1
    for members in groups.values():
        theory = members[0]
        letters = '' if alone else ' ' + ' '.join(member.axis[-1] for member in members)
        colour = 'black' if alone else _COLOURS[theory.axis[-1]]
        total = theory.adev(curve.m)
        low, high = _band(theory, curve, total)
        panel.fill_between(
            curve.tau,
            low,
            high,
            color='grey' if alone else colour,
            alpha=0.28 if alone else 0.15,
            linewidth=0,
            label=f'{_LEVEL:.0%} of measurements{letters}',
            zorder=1,
        )
        label = f'theoretical total{letters}'
        panel.plot(curve.tau, total, color=colour, linewidth=2.2, label=label, zorder=3)
        if len(theory.noise) > 1:
            _draw_terms(panel, theory, curve, 'dimgrey' if alone else colour, letters)


def _draw_differences(
    panel: Any,
    axes: Sequence[str],
    columns: list[int],
    theories: Sequence[AxisTheory],
    curve: AllanCurve,
) -> None:
    """Draw measured less total in standard errors, which shows the short averaging times."""
    for i in columns:
        total = theories[i].adev(curve.m)
        off = (curve.adev[:, i] / total - 1.0) * np.sqrt(2.0 * _edf(theories[i], curve))
        holds = curve.m >= theories[i].holds_from
        letter = axes[i][-1]
        panel.plot(
            curve.tau[holds],
            off[holds],
            marker=_MARKERS[letter],
            markersize=3.5,
            linewidth=1.0,
            color=_COLOURS[letter],
        )
    judged = judged_octaves(curve.n, [theories[i] for i in columns])
    for m in (judged[0], judged[-1]):
        panel.axvline(m / curve.rate_hz, color='black', linestyle=':', linewidth=1.2)
    panel.axhspan(-2.0, 2.0, color='grey', alpha=0.28, linewidth=0)
    low, high = panel.get_ylim()
    panel.set_ylim(min(low, -5.0), max(high, 5.0))
    panel.set_ylabel('measured - total\n[standard errors]', fontsize=_FONT)
    panel.set_title('the verdict takes what is between the dotted lines', fontsize=_FONT - 1)
    panel.grid(alpha=0.3)
    panel.tick_params(labelsize=_FONT - 1)


def _edf(theory: AxisTheory, curve: AllanCurve) -> Array:
    return np.array(
        [equivalent_dof(theory.terms, int(m), curve.n, theory.dt_s) for m in curve.m]
    )


def _draw_terms(
    panel: Any, theory: AxisTheory, curve: AllanCurve, colour: str, letters: str
) -> None:
    for term, style in zip(theory.noise, _TERM_STYLES, strict=False):
        symbol = term.symbol.replace('sigma', 'σ')
        size = f' {symbol} = {term.value:.3g}' if symbol else f' {term.value:.3g}'
        size += f' {term.unit}'.replace('m/s2', 'm/s²')
        panel.plot(
            curve.tau,
            term.adev(curve.m, theory.dt_s),
            linestyle=style,
            color=colour,
            linewidth=1.4,
            label=f'{term.name},{size}{letters}',
            zorder=2,
        )


def _band(theory: AxisTheory, curve: AllanCurve, total: Array) -> tuple[Array, Array]:
    """Return the range in which a measured deviation lies with probability 0.95."""
    edf = _edf(theory, curve)
    tail = 0.5 * (1.0 - _LEVEL)
    low, high = (np.sqrt(chi_square_ratio(edf, p)) for p in (tail, 1.0 - tail))
    return total * low, total * high


def _finish(panel: Any, triad: str, curve: AllanCurve, columns: list[int]) -> None:
    panel.set_xscale('log')
    panel.set_yscale('log')
    measured = curve.adev[:, columns]
    positive = measured[measured > 0.0]
    if positive.size:
        panel.set_ylim(positive.min() / _MARGIN, positive.max() * 1.5)
    panel.set_xlim(curve.tau[0], curve.tau[-1])
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_minor_locator(LogLocator(subs=range(2, 10)))
        axis.set_minor_formatter(NullFormatter())
    panel.set_title(_TITLES[triad], fontsize=_FONT + 1)
    panel.set_ylabel(f'Allan deviation [{UNITS[triad].replace("m/s2", "m/s²")}]', fontsize=_FONT)
    panel.grid(which='major', alpha=0.45)
    panel.grid(which='minor', alpha=0.15)
    panel.tick_params(labelsize=_FONT - 1)
