"""What the subcommand allan puts out: table, lines on the axes, CSV file, picture."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path

from jaguar_sensors_ros.analysis.allan import AllanCurve, octaves
from jaguar_sensors_ros.analysis.allan_theory import UNITS, AxisTheory
from jaguar_sensors_ros.analysis.allan_verdict import Verdict
from jaguar_sensors_ros.analysis.spectral_fit import Spectrum, fit
from jaguar_sensors_ros.cli.allan_input import Record
from jaguar_sensors_ros.types import JaguarError


def print_table(
    record: Record, curve: AllanCurve, theories: Sequence[AxisTheory] | None
) -> None:
    """Print the octaves; with a theory, measured over expected in per cent beside each value."""
    hours = len(record.data) / record.rate_hz / 3600.0
    print(f'{record.title}: {len(record.data)} samples at {record.rate_hz:g} Hz ({hours:.3g} h)')
    width = 18 if theories else 11
    print('Allan deviation' + (', and measured / expected' if theories else ''))
    print(f'{"tau [s]":>10} ' + ' '.join(f'{axis:>{width}}' for axis in record.axes))
    expected = [theory.adev(curve.m) for theory in theories or ()]
    kept = set(octaves(curve.n, 1, curve.n / 3).tolist())
    for row, m in enumerate(curve.m.tolist()):
        if m in kept:
            cells = [f'{value:.4e}' for value in curve.adev[row]]
            if theories:
                ratios = [curve.adev[row, i] / expected[i][row] for i in range(len(cells))]
                cells = [f'{c} {r:>7.3f}' for c, r in zip(cells, ratios, strict=True)]
            print(f'{curve.tau[row]:>10.4g} ' + ' '.join(f'{cell:>{width}}' for cell in cells))


def print_axes(
    record: Record, spectra: Sequence[Spectrum], verdict: Verdict | None
) -> None:
    """Print what each axis says."""
    for i, axis in enumerate(record.axes):
        if verdict is not None:
            judged = verdict.axes[i]
            worst = judged.worst()
            sizes = ''.join(f'; {size.text()}' for size in judged.sizes)
            print(
                f'{axis}: curve least likely at tau {worst.tau:.4g} s, {worst.measured:.4g} for '
                f'{worst.expected:.4g} (p {worst.probability:.2g}){sizes}'
            )
        else:
            unit = UNITS[axis.split('_')[0]]
            units = {'N': f'{unit}/sqrt(Hz)', 'K': f'{unit}/sqrt(s)', 'Q': f'{unit} s'}
            sizes = ', '.join(
                f'{symbol} = {size.value:.4g} {units[symbol]} (+- {size.error:.1g})'
                for symbol, size in fit(spectra[i], 1.0 / record.rate_hz).items()
            )
            print(f'{axis}: fit {sizes}')


def write(
    folder: Path,
    record: Record,
    curve: AllanCurve,
    theories: Sequence[AxisTheory] | None,
    verdict: str,
) -> None:
    """Write the CSV file and the picture."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _write_csv(folder / 'allan.csv', record, curve)
        written = [folder / 'allan.csv']
        if _has_matplotlib():
            from jaguar_sensors_ros.analysis.allan_picture import draw

            short = verdict if len(verdict) < 100 else verdict[:97] + '...'
            title = f'{record.title}, {record.rate_hz:g} Hz'
            picture = folder / 'allan.png'
            draw(picture, title, record.axes, curve, theories, short)
            written.append(picture)
    except OSError as error:
        raise JaguarError(f'--output {folder}: cannot be written: {error}') from None
    print('wrote ' + ', '.join(str(path) for path in written))


def _write_csv(path: Path, record: Record, curve: AllanCurve) -> None:
    partial = path.with_name(f'.{path.name}.partial')
    try:
        with partial.open('w', newline='', encoding='utf-8') as file:
            writer = csv.writer(file, lineterminator='\n')
            writer.writerow(['tau', *(f'adev_{axis}' for axis in record.axes)])
            for tau, row in zip(curve.tau.tolist(), curve.adev.tolist(), strict=True):
                writer.writerow([repr(value) for value in (tau, *row)])
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def _has_matplotlib() -> bool:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        print('no picture: it needs matplotlib: pip install jaguar_sensors_ros[plot]')
        return False
    return True
