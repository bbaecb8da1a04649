"""The file of a suite: what is read from it and what is refused; no ROS."""

from __future__ import annotations

from pathlib import Path

import pytest
from launch_helpers import launch_arguments

from jaguar_sensors_ros import suite_file
from jaguar_sensors_ros.types import JaguarError

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ROOT / 'config' / 'suite.yaml'

GOOD = '''
sensors:
  - name: imu_front
    type: imu
    parameters: {grade: navigation, mount.position: [0.5, 0, 0.25]}
  - name: imu
    type: imu
    namespace: left/wing
    parameters:
      mount: {position: [0.0, 1.0, 0.0], rpy: [0, 0, 1]}
      origin: [1.0, 2.0, 3.0]
  - {name: gps, type: gps}
common:
  origin: [47.0, 8.0, 400.0]
  random_seed: 4
  update_hz: 5
fused:
  - {name: fused, inputs: [imu_front, left/wing/imu], method: median}
'''


def test_a_good_file():
    suite = suite_file.parse(GOOD, 'suite.yaml')
    front, left, gps = suite.sensors
    assert [s.path for s in suite.sensors] == ['imu_front', 'left/wing/imu', 'gps']
    assert [s.type for s in suite.sensors] == ['imu', 'imu', 'gps']
    assert front.values == {
        'grade': 'navigation', 'mount.position': [0.5, 0.0, 0.25],
        'origin': [47.0, 8.0, 400.0], 'random_seed': 4,
    }  # fmt: skip
    assert left.values['mount.rpy'] == [0, 0, 1]
    assert left.values['origin'] == [1.0, 2.0, 3.0]  # its own wins
    assert gps.values == {'origin': [47.0, 8.0, 400.0], 'random_seed': 4, 'update_hz': 5}
    (fused,) = suite.fused
    assert fused.inputs == ('imu_front', 'left/wing/imu')
    assert fused.values == {'method': 'median'}


def test_the_shipped_file():
    suite = suite_file.read(SHIPPED)
    kinds = [sensor.type for sensor in suite.sensors]
    assert kinds.count('imu') == 3 and kinds.count('gps') == 2
    assert len({str(sensor.values.get('mount.position')) for sensor in suite.sensors}) == 5
    assert len(suite.fused) == 1 and len(suite.fused[0].inputs) == 3


def test_launch_arguments_are_described():
    arguments = launch_arguments(ROOT / 'launch' / 'sensor_suite.launch.py')
    names = {'suite_file', 'truth', 'odom_topic', 'namespace', 'use_sim_time', 'log_level'}
    assert set(arguments) == names and all(arguments.values())



ONE = '{name: a, type: imu}'
TWO = '{name: a, type: imu}, {name: b, type: imu}, {name: g, type: gps}'


@pytest.mark.parametrize(
    ('text', 'told'),
    [
        ('', 'names with values'),
        ('[]', 'names with values'),
        ('{}', 'at least one sensor'),
        ('sensors: []', 'at least one sensor'),
        ('sensors: {a: b}', 'sensors: must be a list'),
        (f'sensor: [{ONE}]', 'sensor is unknown; allowed: sensors, common, fused; did you mean'),
        ('sensors: [imu]', r'sensors\[0\]: must be names with values'),
        ('sensors: [{type: imu}]', r'sensors\[0\]: name None is not valid'),
        ('sensors: [{name: 1a, type: imu}]', "name '1a' is not valid: letters"),
        ('sensors: [{name: a/b, type: imu}]', "name 'a/b' is not valid"),
        ('sensors: [{name: a__b, type: imu}]', "name 'a__b' is not valid.*single _"),
        (f'sensors: [{{name: {"a" * 300}, type: imu}}]', 'is not valid.*at most 100'),
        ('sensors: [{name: a, type: imu, namespace: x__y}]', "namespace 'x__y' is not valid"),
        ('sensors: [{name: a}]', r'sensors\[0\] \(a\): type None is unknown; modelled: imu, gps'),
        ('sensors: [{name: a, type: imuu}]', "type 'imuu' is unknown; modelled: imu, gps"),
        ('sensors: [{name: a, type: lidar}]', 'type lidar is known, but not modelled'),
        ('sensors: [{name: a, type: [imu]}]', 'is unknown; modelled'),
        (f'sensors: [{ONE}, {ONE}]', 'a is named twice'),
        ('sensors: [{name: a, type: imu, name: b}]', 'name is given twice'),
        ('sensors: [{name: a, type: imu, parameter: {}}]', 'parameter is unknown; allowed: name'),
        ('sensors: [{name: a, type: imu, namespace: /x}]', "namespace '/x' is not valid"),
        ('sensors: [{name: a, type: imu, namespace: x//y}]', 'namespace'),
        ('sensors: [{name: a, type: imu, parameters: {grad: x}}]', 'grad = .*did you mean'),
        ('sensors: [{name: a, type: imu, parameters: {grade: best}}]', 'grade = .*one of'),
        ('sensors: [{name: a, type: gps, parameters: {grade: tactical}}]', 'no such parameter'),
        ('sensors: [{name: a, type: imu, parameters: [1]}]', 'parameters: must be names'),
        (
            'sensors: [{name: a, type: imu, parameters: {mount.rpy: 0, mount: {rpy: 0}}}]',
            'mount.rpy is given twice',
        ),
        (f'{{sensors: [{ONE}], common: {{orgin: 0}}}}', 'common: orgin = 0.*did you mean origin'),
        (f'{{sensors: [{ONE}], common: {{latency_s: -1}}}}', 'common: latency_s = -1'),
        (f'{{sensors: [{ONE}], common: 5}}', 'common: must be names'),
        (f'{{sensors: [{TWO}], fused: [{{name: f}}]}}', r'\(f\): inputs: must be a list'),
        (f'{{sensors: [{TWO}], fused: [{{name: f, inputs: [a, c]}}]}}', "'c' is no IMU .*: a, b"),
        (f'{{sensors: [{TWO}], fused: [{{name: f, inputs: [a, g]}}]}}', "'g' is no IMU"),
        (f'{{sensors: [{TWO}], fused: [{{name: f, inputs: [a, a]}}]}}', 'a is named twice'),
        (f'{{sensors: [{TWO}], fused: [{{name: f, inputs: [a]}}]}}', 'at least 2 are needed'),
        (f'{{sensors: [{TWO}], fused: [{{name: b, inputs: [a, b]}}]}}', 'b is named twice'),
        (
            f'{{sensors: [{TWO}], fused: [{{name: f, inputs: [a, b], method: mean}}]}}',
            'method = .*weighted, median',
        ),
        (
            f'{{sensors: [{TWO}], fused: [{{name: f, inputs: [a, b], method: median, '
            'parameters: {method: median}}]}',
            'method is given twice',
        ),
        (
            f'{{sensors: [{TWO}], fused: [{{name: f, inputs: [a, b], parameters: '
            '{min_inputs: 3}}]}',
            'at least 3 are needed',
        ),
        (f'{{sensors: [{TWO}], fused: [{{name: f, inputs: [a, b], of: 1}}]}}', 'of is unknown'),
        ('sensors: [&a {name: a, type: imu}, *a]', 'anchors and aliases'),
        ('sensors: [', 'not valid YAML'),
    ],
)  # fmt: skip
def test_refused(text, told):
    with pytest.raises(JaguarError, match=told) as raised:
        suite_file.parse(text, 'suite.yaml')
    assert str(raised.value).startswith('suite.yaml')


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(JaguarError, match=r'no\.yaml: cannot be read'):
        suite_file.read(tmp_path / 'no.yaml')
