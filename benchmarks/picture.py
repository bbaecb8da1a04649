"""The picture of docs/performance.md."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from benchmarks.live import RATE
from benchmarks.table import number
from jaguar_sensors_ros.analysis.picture import write_png

_OURS, _FLOOR, _OTHERS = '#1f77b4', '#7f7f7f', '#d9a066'
_BATCH = ('with numba', 'NumPy alone', 'normals alone', 'pyins', 'bsk', 'smsfusion',
          'imu-error-model')  # fmt: skip
_LIVE = ('imu_node', 'bare', 'events', 'plain', 'bare, 1 topic')


def medians(result: dict[str, Any], group: str) -> dict[str, float]:
    """Return the medians of a group by what they are of."""
    groups = [g for g in result['groups'] if g['group'] == group]
    return {row['what']: row['median'] for g in groups for row in g['rows']}


def series(result: dict[str, Any], group: str, name: str) -> list[Any]:
    """Return a curve, empty where it was not measured."""
    groups = [g for g in result['groups'] if g['group'] == group]
    return [point for g in groups for point in g['series'].get(name, ())]


def draw(path: Path, result: dict[str, Any], title: str) -> None:
    """Draw the picture into a PNG file."""
    figure = Figure(figsize=(12.0, 8.4), dpi=100, layout='constrained')
    figure.suptitle(title, fontsize=11)
    (live, batch), (rate, sensors) = figure.subplots(2, 2)
    _draw_live(live, medians(result, 'live'))
    _draw_batch(batch, medians(result, 'batch'))
    _draw_rates(rate, series(result, 'scaling', 'rate'))
    many = series(result, 'suite', 'sensors') + series(result, 'scaling', 'many')
    _draw_sensors(sensors, many)
    write_png(figure, path)


def _bars(panel: Any, values: dict[str, float], unit: str) -> None:
    for i, (name, value) in enumerate(values.items()):
        ours = name == 'imu_node' or 'num' in name.lower()
        floor = 'bare' in name or 'normals' in name
        panel.barh(i, value, color=_OURS if ours else _FLOOR if floor else _OTHERS)
        panel.annotate(f' {number(value)}', (value, i), va='center', fontsize=9)
    panel.set_yticks(range(len(values)), list(values))
    panel.invert_yaxis()
    panel.margins(x=0.14)
    panel.set_xlabel(unit)


def _draw_live(panel: Any, values: dict[str, float]) -> None:
    found = {n: values.get(f'{n}, {RATE} Hz: CPU per message in') for n in _LIVE}
    _bars(panel, {n: v for n, v in found.items() if v is not None}, 'CPU per message [us]')
    if (floor := found['bare']) is not None:
        panel.axvline(1.3 * floor, color='k', lw=1.0, ls='--', label='1.3 times the bare relay')
        panel.legend(fontsize=9, loc='lower right')
    panel.set_title('live, 1 kHz in, five topics out', fontsize=10)


def _draw_batch(panel: Any, values: dict[str, float]) -> None:
    _bars(panel, {n: values[n] for n in _BATCH if n in values}, 'Msamples/s, six axes')
    panel.set_xscale('log')
    panel.margins(x=0.25)
    panel.set_title('static record', fontsize=10)


def _draw_rates(panel: Any, curve: list[Any]) -> None:
    rates = [point[0] for point in curve]
    panel.plot(rates, [point[1] for point in curve], 'o-', color=_OURS, label='imu_node')
    panel.plot(rates, [point[2] for point in curve], 's-', color=_FLOOR, label='bare relay')
    for rate, cost, _, share in curve:
        if share < 99.95:
            _remark(panel, share, rate, cost)
    _logarithmic(panel, rates, 'rate of truth and samples [Hz]', 'CPU per message [us]')
    panel.set_title('cost against rate, five topics', fontsize=10)


def _draw_sensors(panel: Any, curve: list[Any]) -> None:
    counts = [point[0] for point in curve]
    panel.plot(counts, [point[1] for point in curve], 'o-', color=_OURS, label='sensor_suite')
    for count, cost, share in curve:
        if share < 99.95:
            _remark(panel, share, count, cost)
    _logarithmic(panel, counts, 'IMUs at 200 Hz on one core', 'CPU per sample [us]')
    panel.set_title('cost against number of sensors, one topic each', fontsize=10)


def _remark(panel: Any, share: float, x: float, y: float) -> None:
    panel.annotate(f'{share:.0f} %\ncame', (x, y), xytext=(0, 7), fontsize=9, ha='center',
                   textcoords='offset points')  # fmt: skip


def _logarithmic(panel: Any, ticks: list[int], x: str, y: str) -> None:
    panel.set_xscale('log')
    panel.set_xticks(ticks, [str(tick) for tick in ticks])
    panel.minorticks_off()
    panel.set_ylim(bottom=0.0)
    panel.set(xlabel=x, ylabel=y)
    panel.grid(alpha=0.3)
    if ticks:
        panel.legend(fontsize=9)
