"""Write what follows from the parameter declarations: config/*.yaml and docs/parameters.md.

  python scripts/generate.py           writes the files
  python scripts/generate.py --check   exits with status 1 and names the files that are stale
"""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from jaguar_sensors_ros.catalogue import SENSORS, effective_values  # noqa: E402
from jaguar_sensors_ros.component import Declaration, declarations  # noqa: E402
from jaguar_sensors_ros.scenario.settings import (  # noqa: E402
    PLAYED,
    PlayedSettings,
    ScenarioSettings,
)
from jaguar_sensors_ros.sensors.gps_settings import FIX_ACCURACY  # noqa: E402
from jaguar_sensors_ros.sensors.imu_settings import GRADES  # noqa: E402
from jaguar_sensors_ros.sensors.profiles import GRADE_COMPLETION, GRADE_TABLE  # noqa: E402
from jaguar_sensors_ros.truth.player_settings import PlayerSettings  # noqa: E402

WIDTH = 96
TITLES = {name: f'{name}_node' for name in SENSORS}


def yaml_value(value: object) -> str:
    """Return a value in YAML; numbers that may be fractions keep their point."""
    if isinstance(value, bool):
        return 'true' if value else 'false'
    if isinstance(value, str):
        return f"'{value}'" if value in ('', 'none', 'auto') or not value.isidentifier() else value
    if isinstance(value, list | tuple):
        return f'[{", ".join(yaml_value(item) for item in value)}]'
    return repr(value)


def sensor_yaml(sensor_type: str) -> str:
    """Return the parameter file of a sensor, every parameter with its meaning."""
    lines = [
        f'# Parameters of {TITLES[sensor_type]}, by scripts/generate.py from the declarations.',
        '# The key works for a node of this name in any namespace.  Numbers may be whole or not,',
        '# vectors a number or a list; a list must not mix whole numbers and fractions.',
    ]
    by, sets = SENSORS[sensor_type][1].preset
    if by:
        lines += [f'# Lines commented out show what the {by} sets; uncommented they win.']
    lines += [f'/**/{sensor_type}:', '  ros__parameters:']
    graded = {name for values in sets.values() for name in values}
    values = effective_values(sensor_type, {})
    for declared in declarations(SENSORS[sensor_type][1]):
        lines += [f'    # {line}' for line in textwrap.wrap(describe(declared), WIDTH)]
        value = values.get(declared.name, declared.default)
        comment = '# ' if declared.name in graded else ''
        lines.append(f'    {comment}{declared.name}: {yaml_value(value)}')
    return '\n'.join(lines) + '\n'


def scenario_yaml() -> str:
    """Return the parameter file of scenario_node and of the sensors it plays."""
    lines = [
        '# Parameters of scenario_node, by scripts/generate.py from the declarations.',
        '# Each sensor is a node of its own; the keys work in any namespace.',
    ]
    for node, settings in {'scenario': ScenarioSettings, **PLAYED}.items():
        lines += [f'/**/{node}:', '  ros__parameters:']
        for declared in declarations(settings):
            lines += [f'    # {line}' for line in textwrap.wrap(describe(declared), WIDTH)]
            lines.append(f'    {declared.name}: {yaml_value(declared.default)}')
    return '\n'.join(lines) + '\n'


def describe(declared: Declaration) -> str:
    """Return the meaning of a parameter with its unit."""
    return declared.doc + (f' [{declared.unit}]' if declared.unit else '')


def table(declared: Iterable[Declaration], values: dict[str, object]) -> list[str]:
    """Return a table of parameters in Markdown."""
    lines = ['| name | default | unit | allowed | meaning | source |', '|---|---|---|---|---|---|']
    for entry in declared:
        value = yaml_value(values.get(entry.name, entry.default))
        cells = [
            f'`{entry.name}`',
            f'`{value}`',
            entry.unit,
            entry.allowed(),
            entry.doc,
            entry.source,
        ]
        lines.append('| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |')
    return lines


def parameter_page() -> str:
    """Return docs/parameters.md."""
    lines = [
        '# Parameters',
        '',
        'Made by `scripts/generate.py` from the declarations in the code. Numbers may be whole',
        'or not; a vector is one number or a list. A list in a YAML file must not mix whole',
        'numbers and fractions (`[0.0, 0.0, 0.5]`, not `[0, 0, 0.5]`): the parser of ROS refuses',
        'it. The default column of the IMU shows the grade `tactical`.',
        '',
    ]
    for sensor_type, title in TITLES.items():
        lines += [f'## {title}', '']
        declared = declarations(SENSORS[sensor_type][1])
        lines += [*table(declared, effective_values(sensor_type, {})), '']
    lines += ['## truth_node', '', *table(declarations(PlayerSettings), {}), '']
    lines += ['## scenario_node', '', *table(declarations(ScenarioSettings), {}), '']
    lines += ['## Sensors of scenario_node', '']
    lines += ['Each is a node: imu, gps, baro, mag. All have:', '']
    common = {declared.name: declared for declared in declarations(PlayedSettings)}
    lines += [*table(common.values(), {}), '']
    for node, settings in PLAYED.items():
        own = [d for d in declarations(settings) if common.get(d.name) != d]
        lines += [f'`{node}` has besides, or with another default:', '', *table(own, {}), '']
    lines += ['## Grades of the IMU', '', *grade_table(), '']
    lines += ['## Kinds of fix of the GNSS receiver', '', *fix_table(), '']
    return '\n'.join(lines)


def grade_table() -> list[str]:
    """Return the values that each grade sets, in Markdown."""
    grades = list(GRADE_TABLE)
    lines = [f'| parameter | {" | ".join(grades)} |', '|---' * (len(grades) + 1) + '|']
    for name in dict.fromkeys(name for grade in grades for name in GRADES[grade]):
        values = ' | '.join(grade_cell(GRADES[grade].get(name, '')) for grade in grades)
        lines.append(f'| `{name}` | {values} |')
    lines += ['', 'Bias instability and white noise: document 000. The others:', '']
    sources: dict[str, list[str]] = {}
    for grade in grades:
        for name, (_, source) in GRADE_COMPLETION[grade].items():
            sources.setdefault(source, []).append(f'{grade} `{name}`')
    return [*lines, *(f'- {source}: {", ".join(names)}' for source, names in sources.items())]


def grade_cell(value: object) -> str:
    """Return a value of the grade table with seven digits."""
    if isinstance(value, bool):
        return yaml_value(value)
    return f'{value:.7g}' if isinstance(value, float) else str(value)


def fix_table() -> list[str]:
    """Return the values that each kind of fix sets, in Markdown."""
    kinds = {'single': effective_values('gps', {}), **FIX_ACCURACY}
    declared = {entry.name: entry for entry in declarations(SENSORS['gps'][1])}
    lines = [f'| parameter | {" | ".join(kinds)} |', '|---' * (len(kinds) + 1) + '|']
    for name in FIX_ACCURACY['sbas']:
        shown = (yaml_value(values.get(name, declared[name].default)) for values in kinds.values())
        lines.append(f'| `{name}` [{declared[name].unit}] | {" | ".join(shown)} |')
    return lines


def main() -> int:
    """Write or check the files."""
    files = {ROOT / 'config' / f'{name}.yaml': sensor_yaml(name) for name in TITLES}
    files[ROOT / 'config' / 'scenario.yaml'] = scenario_yaml()
    files[ROOT / 'docs' / 'parameters.md'] = parameter_page()
    stale = [path for path, text in files.items() if not is_current(path, text)]
    if '--check' in sys.argv[1:]:
        for path in stale:
            print(f'{path.relative_to(ROOT)} is stale: run `make docs`', file=sys.stderr)
        return 1 if stale else 0
    for path, text in files.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding='utf-8')
        print(f'{"wrote" if path in stale else "kept"} {path.relative_to(ROOT)}')
    return 0


def is_current(path: Path, text: str) -> bool:
    """Tell whether a file holds this text."""
    return path.is_file() and path.read_text(encoding='utf-8') == text


if __name__ == '__main__':
    sys.exit(main())
