"""What is generated from the declarations is current, and nothing is declared twice."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from jaguar_sensors_ros.catalogue import FAULTS, SENSORS, make_sensor, make_settings
from jaguar_sensors_ros.component import declarations

ROOT = Path(__file__).resolve().parent.parent


def test_generated_files_are_current():
    done = subprocess.run(
        [sys.executable, ROOT / 'scripts' / 'generate.py', '--check'],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize('sensor_type', SENSORS)
def test_every_parameter_is_described_and_its_default_is_valid(sensor_type):
    declared = declarations(SENSORS[sensor_type][1])
    assert len({d.name for d in declared}) == len(declared)
    for parameter in declared:
        assert parameter.doc.endswith('.'), parameter.name
        parameter.check(parameter.default)


@pytest.mark.parametrize('sensor_type', SENSORS)
def test_shipped_parameter_file_gives_the_defaults(sensor_type):
    text = (ROOT / 'config' / f'{sensor_type}.yaml').read_text(encoding='utf-8')
    values = yaml.safe_load(text)[f'/**/{sensor_type}']['ros__parameters']
    assert make_settings(sensor_type, values) == make_settings(sensor_type, {})


@pytest.mark.parametrize('sensor_type', SENSORS)
def test_every_sensor_of_the_catalogue_can_be_made(sensor_type):
    sensor = make_sensor(sensor_type, 'name', make_settings(sensor_type, {}), 1)
    assert sensor.type_name == sensor_type
    assert set(sensor.channels.modes) <= set(FAULTS)


def test_every_parameter_file_is_keyed_for_any_namespace():
    for file in set((ROOT / 'config').glob('*.yaml')) - {ROOT / 'config' / 'suite.yaml'}:
        for key in yaml.safe_load(file.read_text(encoding='utf-8')):
            assert key.startswith('/**/'), f'{file.name}: {key}'
