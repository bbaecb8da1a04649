"""Writes docs/performance.md and its picture from the results."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from benchmarks import machine, table
from benchmarks.picture import draw, series
from benchmarks.process import ROOT

_PICTURE = Path('images') / 'performance.png'
_TITLES = {
    'startup': 'Start of a node',
    'live': 'Live path',
    'suite': 'Suites',
    'scaling': 'Scaling',
    'batch': 'Static records',
    'trajectory': 'Trajectory to sensors',
    'allan': 'Allan deviation',
}
_HEAD = '''\
# Performance

Written by `make bench-page` on {date} from one run on

> {machine}.

Numbers of another machine differ; the ratios, which were measured in turns in one run, differ
less. `make bench` prints both for yours in under ten minutes, `make bench-quick` in about one.

![CPU per message live, throughput of static records, cost against rate and number of sensors]\
({picture})
'''
_METHOD = '''\
## How it is measured

Each contender is a process of its own. In each turn every contender is measured once, in an order
that alternates, after a warm-up that does not count; a ratio is the median of the ratios of the
turns, `+/-` half the distance between the extremes.

- **Start**: from exec to the first message at the sink, the truth flowing. Source and sink
  announce themselves ten times a second (a Fast DDS profile). By default it is every 3 s, and Fast
  DDS loses the first exchange with a new participant in about half of the starts on two cores,
  whatever the node: the answer comes before the new one listens. Where a start must not wait up to
  3 s for data, shorten `leaseAnnouncement` in the profile of what runs already.
- **Live**: a source sends odometry at an even rate, what is under test publishes five topics
  (`data`, `data_raw`, `increments`, `temperature`, `error`), one sink takes them all. CPU time is
  that of the whole process, the threads of the middleware included, over exactly so many messages,
  after data has begun to flow. Latency is from the source's call of publish to the sink's take, by
  the monotonic clock that all processes share. The floor, *bare*, takes raw odometry from a wait
  set of its own, unpacks it and publishes five ready byte strings with stamp and numbers patched
  in: no model, no node interface. *events* is the same in rclpy's events executor, *plain* with
  message objects in the single-threaded executor, as in the tutorials. All publish reliably.
- **Static records**: six axes at 100 Hz, with all terms, 18 normal numbers a sample. The floor
  draws these numbers by NumPy's default generator and does nothing else; ours come from SFC64,
  which is faster. NumPy alone means that scipy and numba cannot be imported. The peers model less:
  pyins white noise, a random walk and a transform (12 numbers), smsfusion no scale factors,
  imu-error-model and Basilisk go sample by sample.
- **Trajectory**: the racetrack over WGS-84 with the Earth turning, IMU at 100 Hz, position and
  velocity at 10 Hz, from the same poses and velocities.
- **Allan deviation**: the same records and averaging times, values compared.
'''
_BEYOND = '''\
## Beyond one process, and beyond one machine

One Python process uses one core. A suite of sensors is cheapest in one process as long as its core
is not full: the truth is received and read once. From then on:

- **More cores.** Start several suites, each with its own file, under one truth. DDS delivers the
  odometry to each by shared memory; nothing else is shared, and each sensor gives the same bytes
  wherever it runs, since its random numbers depend on its name and seed alone. Pin each to a core
  (`taskset -c 2 scripts/ros sensor_suite ...`) where latency matters.
- **Higher rates.** What limits is a full core, see the table; at high rates messages share
  wake-ups and cost less each. Topics without subscribers cost nothing, so subscribe to what is
  used. Truth at a lower rate than the sensor's is enough for smooth motion: all samples between
  two messages come at once, at the price of latency.
- **More machines.** A suite per host, one truth for all over DDS, all with one `ROS_DOMAIN_ID`;
  odometry is 700 bytes, so 1 kHz is 6 Mbit/s per host. Clocks must agree if `latency_s` is used.
- **Campaigns.** Thousands of runs need no ROS: the static and trajectory paths are plain Python
  functions of parameters and a seed. Hand them to a pool of processes or to Dask, one run a task,
  each with its own seed; results do not depend on how the runs are spread.
'''


def write(result: dict[str, Any], folder: Path = ROOT / 'docs') -> tuple[Path, Path]:
    """Write the page and its picture; return their paths."""
    about, date = machine.one_line(result['machine']), result['date'][:10]
    page, picture = folder / 'performance.md', folder / _PICTURE
    picture.parent.mkdir(parents=True, exist_ok=True)
    draw(picture, result, f'{about}, {date}')
    parts = [_HEAD.format(machine=about, date=date, picture=_PICTURE.as_posix())]
    parts += [_bars(result), _scaling(result), _BEYOND, _METHOD, _everything(result)]
    page.write_text('\n'.join(part for part in parts if part))
    return page, picture


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [list(head), ['---'] * len(list(head)), *map(list, rows)]
    return ''.join(f'| {" | ".join(line)} |\n' for line in lines)


def _bars(result: dict[str, Any]) -> str:
    rows = []
    for group in result['groups']:
        for bar in group['bars']:
            limit = f'{bar["sense"]} {table.number(bar["limit"])} {bar["unit"]}'.rstrip()
            rows.append((bar['text'], table.number(bar['value']), limit, bar['verdict'],
                         bar['note']))  # fmt: skip
    head = ('what', 'measured', 'to be', 'verdict', 'note')
    return f'## What is to be reached\n\n{_table(head, rows)}'


def _scaling(result: dict[str, Any]) -> str:
    rates = series(result, 'scaling', 'rate')
    sensors = series(result, 'suite', 'sensors') + series(result, 'scaling', 'many')
    by_rate = _table(
        ('rate [Hz]', 'imu_node [us/sample]', 'bare relay [us/message]', 'core [%]', 'came [%]'),
        (map(table.number, (rate, cost, floor, rate * cost * share * 1e-6, share))
         for rate, cost, floor, share in rates),
    )  # fmt: skip
    by_number = _table(
        ('IMUs at 200 Hz on one core', 'us/sample', 'core [%]', 'came [%]'),
        (map(table.number, (count, cost, count * cost * share * 2e-4, share))
         for count, cost, share in sensors),
    )  # fmt: skip
    tables = [*([by_rate] if rates else []), *([by_number] if sensors else [])]
    return '## Cost against rate and number\n\n' + '\n'.join(tables) if tables else ''


def _everything(result: dict[str, Any]) -> str:
    parts = ['## All numbers\n']
    for group in result['groups']:
        rows = [
            (r['what'], table.number(r['median']), r['unit'], f'{100.0 * r["spread"]:.0f} %',
             str(len(r['values'])))
            for r in group['rows']
        ]  # fmt: skip
        rows += [(name, 'NOT RUN', '', '', why) for name, why in group['absent'].items()]
        if rows:
            head = _table(('what', 'median', 'unit', '+/-', 'turns'), rows)
            parts.append(f'### {_TITLES[group["group"]]}\n\n{head}')
    versions = ', '.join(f'{n} {v}' for n, v in result['machine']['packages'].items())
    return '\n'.join([*parts, f'Versions: {versions}.\n'])
