"""Parameters of the nodes: types, ranges, names, files, changes while running."""

from __future__ import annotations

import glob
from pathlib import Path

import pytest

rclpy = pytest.importorskip('rclpy')
yaml = pytest.importorskip('yaml')

from rclpy.parameter import Parameter  # noqa: E402
from ros_helpers import circle, record, rest  # noqa: E402
from sensor_msgs.msg import Imu  # noqa: E402

from jaguar_sensors_ros.component import ParameterError  # noqa: E402
from jaguar_sensors_ros.ros.gps_node import GpsNode  # noqa: E402
from jaguar_sensors_ros.ros.imu_node import ImuNode  # noqa: E402
from jaguar_sensors_ros.sensors.imu_settings import GRADES  # noqa: E402

pytestmark = pytest.mark.ros

NODES = {'imu': ImuNode, 'gps': GpsNode}
CONFIG = Path(__file__).parents[1] / 'config'


def make(make_node, *arguments, **parameters):
    """Make a node that nobody serves, and end it; return its parameters."""
    overrides = [Parameter(n.replace('__', '.'), value=v) for n, v in parameters.items()]
    options = {'cli_args': ['--ros-args', *arguments]} if arguments else {}
    node = make_node(parameter_overrides=overrides, **options)
    try:
        return {name: node.get_parameter(name).value for name in node._parameters}
    finally:
        node.destroy_node()


# ---------------------------------------------------------------------- values at start


@pytest.mark.parametrize(
    ('argument', 'name', 'value'),
    [
        ('sample_rate_hz:=100', 'sample_rate_hz', 100),
        ('sample_rate_hz:=100.5', 'sample_rate_hz', 100.5),
        ('increments.samples:=2', 'increments.samples', 2),
        ('mount.position:=[1, 0, 2]', 'mount.position', [1, 0, 2]),
        ('mount.position:=[1.0, 0.0, 2.5]', 'mount.position', [1.0, 0.0, 2.5]),
        ('mount.position:=1', 'mount.position', 1),
        ('gyro.white_noise_density:=[0.1, 0.2, 0.3]', 'gyro.white_noise_density', [0.1, 0.2, 0.3]),
        ('earth.rotation:=true', 'earth.rotation', True),
        ('earth.rotation:=auto', 'earth.rotation', 'auto'),
        ('covariance.orientation:=1', 'covariance.orientation', 1),
        ('random_seed:=7', 'random_seed', 7),
    ],
)
def test_whole_or_not_scalar_or_list(ros, argument, name, value):
    found = make(ImuNode, '-p', argument)[name]
    assert (list(found) if isinstance(value, list) else found) == value


@pytest.mark.parametrize(
    ('parameters', 'told'),
    [
        ({'sample_rate_hz': 'fast'}, ("'fast'", '>= 0.01')),
        ({'sample_rate_hz': 0}, ('= 0', '>= 0.01')),
        ({'sample_rate_hz': True}, ('True', '>= 0.01')),
        ({'sample_rate_hz': float('nan')}, ('nan', 'finite')),
        ({'sample_rate_hz': [1, 2]}, ('[1, 2]',)),
        ({'increments__samples': 3}, ('3', '<= 2')),
        ({'increments__samples': 1.5}, ('1.5', 'whole')),
        ({'mount__position': [1.0, 2.0]}, ('3 numbers',)),
        ({'mount__position': ['a', 'b', 'c']}, ('3 numbers',)),
        ({'fidelity': 'perfect'}, ('transparent', 'realistic', 'fault')),
        ({'fidelity': 1}, ('transparent',)),
        ({'grade': 'best'}, ('tactical', 'strategic')),
        ({'enabled': 1}, ('true or false',)),
        ({'origin': [91.0, 0.0, 0.0]}, ('latitude -90 to 90',)),
        ({'latency_s': -0.1}, ('>= 0',)),
        ({'failure__probability': 1.5}, ('<= 1',)),
        ({'failure__mode': 'explode'}, ('stuck',)),
        ({'failure__mode': 'bias'}, ('magnitude',)),
        ({'gyro_lsb': 1e-6, 'gyro__resolution': 1e-6}, ('gyro.resolution', 'gyro_lsb')),
    ],
)
def test_a_bad_value_is_refused_at_start(ros, parameters, told):
    with pytest.raises(ParameterError) as error:
        make(ImuNode, **parameters)
    name = next(iter(parameters)).replace('__', '.')
    assert str(error.value).startswith(name) or 'gyro.resolution' in str(error.value)
    for text in told:
        assert text in str(error.value)


@pytest.mark.parametrize(
    ('name', 'nearest'),
    [
        ('sample_rate', 'sample_rate_hz'),
        ('fidelty', 'fidelity'),
        ('gyro.noise', 'gyro.'),
        ('mount.pos', 'mount.position'),
        ('failure.axes', 'failure.axis'),
        ('orientation.std', 'orientation.'),
    ],
)
def test_an_unknown_name_of_ours_is_refused_with_the_nearest(ros, name, nearest):
    with pytest.raises(ParameterError, match=f'did you mean {nearest}') as error:
        make(ImuNode, **{name: 1})
    assert str(error.value).startswith(name)


def test_names_of_others_are_warned_about_once(graph):
    graph.log()
    foreign = {'update_hz': 5, 'robot_radius': 0.3, 'controller.gain': 2.0}
    graph.start(ImuNode, **foreign)
    warned = graph.log().until(lambda m: m.name == 'imu' and 'robot_radius' in m.msg)
    assert all(name in warned.msg for name in foreign)
    assert 'robot_radius' not in graph.parameter_names('/imu')
    assert len([m for m in graph.log() if 'robot_radius' in m.msg]) == 1


# ---------------------------------------------------------------------- while running


@pytest.mark.parametrize(
    ('name', 'value', 'told'),
    [
        ('sample_rate_hz', 0, '>= 0.01'),
        ('sample_rate_hz', 'fast', 'finite number'),
        ('fidelity', 'perfect', 'transparent'),
        ('mount.position', [1.0, 2.0], '3 numbers'),
        ('enabled', 'yes', 'true or false'),
        ('failure.mode', 'bias', 'magnitude'),
    ],
)
def test_a_running_node_keeps_the_old_value(graph, name, value, told):
    running = graph.start(ImuNode)
    before = graph.get('/imu', name)
    (result,) = graph.set('/imu', **{name: value})
    assert not result.successful
    assert name in result.reason and str(value) in result.reason and told in result.reason
    assert graph.get('/imu', name) == before
    assert running.node.settings == running.node._sensor.settings


def test_a_parameter_cannot_be_deleted(graph):
    graph.start(ImuNode)
    (result,) = graph.set('/imu', sample_rate_hz=None)
    assert not result.successful
    assert graph.get('/imu', 'sample_rate_hz') == 200.0


def test_the_sample_rate_changes_while_running(graph):
    graph.start(ImuNode)
    data = graph.collect(Imu, '/imu/data')
    graph.feed(rest(0.0, 1.0, 50))
    data.until_stamp(1.0)
    assert graph.set('/imu', sample_rate_hz=100)[0].successful
    graph.feed(rest(1.02, 2.0, 50))
    data.until_stamp(2.0)
    assert data.stamps[:200] == [k * 5_000_000 for k in range(1, 201)]
    assert data.stamps[200:] == [k * 10_000_000 for k in range(101, 201)]


def test_a_grade_rewrites_what_nobody_set(graph):
    graph.start(ImuNode, gyro__range=3.0)
    ours = ('gyro.white_noise_density', 'bias_a_init_std', 'accel.range')
    for grade in ('tactical', 'consumer', 'navigation'):
        assert graph.set('/imu', grade=grade)[0].successful
        assert graph.get('/imu', *ours) == [GRADES[grade][name] for name in ours]
        assert graph.get('/imu', 'gyro.range') == 3.0
    assert graph.set('/imu', bias_a_init_std=0.5)[0].successful
    assert graph.set('/imu', grade='industrial')[0].successful
    found = graph.get('/imu', *ours)
    assert found == [GRADES['industrial'][ours[0]], 0.5, GRADES['industrial'][ours[2]]]
    assert graph.set('/imu', grade='custom')[0].successful
    assert graph.get('/imu', 'gyro.white_noise_density') == 0.0


def test_settings_act_at_the_next_sample(graph):
    graph.start(ImuNode, fidelity='transparent')
    data = graph.collect(Imu, '/imu/data')
    graph.feed(circle(0.0, 0.1, 50))
    data.until_stamp(0.1)
    assert graph.set('/imu', mount__rpy=[3.141592653589793, 0.0, 0.0])[0].successful
    assert graph.set('/imu', frame_id='belly')[0].successful
    graph.feed(circle(0.12, 0.2, 50))
    data.until_stamp(0.2)
    assert [round(m.angular_velocity.z, 6) for m in data] == [1.0] * 20 + [-1.0] * 20
    assert [m.header.frame_id for m in data] == ['imu_link'] * 20 + ['belly'] * 20


def test_a_seed_set_while_running_acts_at_the_next_reset(graph):
    from std_srvs.srv import Trigger

    expected = record(
        graph, ImuNode, rest(0.0, 0.1, 50), {'data': Imu}, count=20, random_seed=5
    )['data'][0]
    graph.start(ImuNode, random_seed=4)
    assert graph.set('/imu', random_seed=5)[0].successful
    assert graph.set('/imu', random_seed=-1)[0].successful
    assert graph.get('/imu', 'random_seed') >= 0  # drawn and shown
    assert graph.set('/imu', random_seed=5)[0].successful
    data = graph.collect(Imu, '/imu/data')
    graph.feed(rest(0.0, 0.1, 50))
    data.until_stamp(0.1)
    assert data[0].angular_velocity != expected.angular_velocity
    assert graph.call(Trigger, '/imu/reset').success
    graph.feed(rest(0.12, 0.2, 50))
    data.until_stamp(0.2)
    assert graph.get('/imu', 'random_seed') == 5


# ---------------------------------------------------------------------- files


@pytest.mark.parametrize('kind', NODES)
def test_a_dump_loads_back(graph, kind, tmp_path):
    given = {
        'imu': {'grade': 'navigation', 'bias_g_init_std': [1, 2, 3], 'sample_rate_hz': 100},
        'gps': {'pos_std_dev': [1.0, 2.0], 'update_hz': 5, 'covariance__position': 4},
    }[kind]
    running = graph.start(NODES[kind], **given)
    names = graph.parameter_names(f'/{kind}')
    values = dict(zip(names, graph.get(f'/{kind}', *names), strict=True))
    plain = {n: v if isinstance(v, bool | int | float | str) else list(v) for n, v in
             values.items()}
    running.end()
    path = tmp_path / 'dump.yaml'
    path.write_text(yaml.safe_dump({f'/{kind}': {'ros__parameters': plain}}))
    again = graph.start(NODES[kind], arguments=['--params-file', str(path)])
    assert graph.parameter_names(f'/{kind}') == names
    assert dict(zip(names, graph.get(f'/{kind}', *names), strict=True)) == values
    assert again.node.settings.random_seed == running.node.settings.random_seed


@pytest.mark.parametrize('namespace', ['', '/car/left'])
def test_a_file_for_any_namespace(ros, namespace, tmp_path):
    path = tmp_path / 'imu.yaml'
    path.write_text('/**/imu:\n  ros__parameters:\n    sample_rate_hz: 400\n')
    options = ['--params-file', str(path)]
    if namespace:
        options += ['-r', f'__ns:={namespace}']
    assert make(ImuNode, *options)['sample_rate_hz'] == 400


def shipped_files():
    """Return the parameter files of our nodes; that of a scenario is for played sensors."""
    found = []
    for path in sorted(glob.glob(f'{CONFIG}/*.yaml')):
        names = {key.split('/')[-1] for key in yaml.safe_load(Path(path).read_text())}
        if names & set(NODES) and 'scenario' not in names:
            found.append(path)
    return found


@pytest.mark.parametrize('path', shipped_files(), ids=lambda p: Path(p).name)
@pytest.mark.parametrize('namespace', ['', '/car'])
def test_shipped_files_load(graph, path, namespace):
    content = yaml.safe_load(Path(path).read_text())
    ours = [key for key in content if key.split('/')[-1] in NODES]
    for key in ours:
        kind = key.split('/')[-1]
        assert key == f'/**/{kind}'
        found = make(NODES[kind], '--params-file', path, '-r', f'__ns:={namespace or "/"}')
        for name, value in content[key]['ros__parameters'].items():
            if name == 'random_seed' and value == -1:
                continue
            shown = found[name]
            assert (list(shown) if isinstance(value, list) else shown) == value, name


def test_shipped_values_are_the_defaults(ros):
    for kind, make_node in NODES.items():
        default = make(make_node, random_seed=0)
        shipped = make(
            make_node, '--params-file', str(CONFIG / f'{kind}.yaml'), random_seed=0
        )
        for name, value in default.items():
            expected = list(value) if hasattr(value, '__len__') else value
            got = shipped[name]
            got = list(got) if hasattr(got, '__len__') else got
            if isinstance(expected, list) and not isinstance(got, list):
                got = [got] * len(expected)
            assert got == expected, name
