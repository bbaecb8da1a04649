"""The tables of docs/scenario.md and config/scenario.yaml say what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

from jaguar_sensors_ros.component import build, declarations
from jaguar_sensors_ros.scenario.check import check
from jaguar_sensors_ros.scenario.fields import SENSORS
from jaguar_sensors_ros.scenario.settings import PLAYED, ScenarioSettings

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / 'docs' / 'scenario.md').read_text(encoding='utf-8')


def columns(cell):
    """Return the columns that a cell of a table names."""
    names = re.findall(r'`(\w+)`', cell)
    if ' to ' in cell:
        first, last = names
        stem = first[: first.rindex('_') + 1]
        names = [f'{stem}{i}' for i in range(int(last[len(stem) :]) + 1)]
    return tuple(names)


@pytest.mark.parametrize('sensor', SENSORS.values(), ids=SENSORS)
def test_the_tables_of_fields_are_right(sensor):
    _, _, rest = PAGE.partition(f'### {sensor.name} ({sensor.flag})\n')
    assert rest, 'no heading'
    lines = re.split(r'\n#', rest)[0].splitlines()
    told = [[c.strip() for c in line.strip('|').split('|')] for line in lines if line[:1] == '|']
    rows = [(cells[0], columns(cells[1]), *cells[2:]) for cells in told[2:]]
    assert rows == [
        (output.name, group.columns, group.unit, group.allowed(), group.doc,
         'yes' if group.required else 'no')
        for output, group in sensor.groups()
    ]  # fmt: skip


def test_the_examples_of_files_are_right(tmp_path):
    examples = re.findall(r'```\n((?:sensor,|timestamp,).*?)```', PAGE, re.DOTALL)
    assert len(examples) == 2
    for text, alone in zip(examples, ('', 'baro_sim'), strict=True):
        path = tmp_path / f'{alone}.csv'
        path.write_text(text)
        assert check(path, alone, 0).whole


def test_the_shipped_parameter_file_gives_the_defaults():
    shipped = yaml.safe_load((ROOT / 'config' / 'scenario.yaml').read_text(encoding='utf-8'))
    for node, settings in {'scenario': ScenarioSettings, **PLAYED}.items():
        values = shipped.pop(f'/**/{node}')['ros__parameters']
        assert build(settings, values) == settings()
        assert all(declared.doc.endswith('.') for declared in declarations(settings))
    assert shipped == {}
