"""Text from a user is refused where a plain YAML loader would guess."""

import pytest

from jaguar_sensors_ros import strict_yaml
from jaguar_sensors_ros.types import JaguarError


def test_plain_values_come_through():
    text = 'a: 1\nb: [1.5, two, true]\nc: {d: null}\n'
    assert strict_yaml.load(text, 'f') == {'a': 1, 'b': [1.5, 'two', True], 'c': {'d': None}}
    assert strict_yaml.load('', 'f') is None


@pytest.mark.parametrize('text', ['1e-3', '+1E3', '-.5e2', '2.e-1', '1.5e+3', '1e30'])
def test_a_number_with_an_exponent_needs_no_decimal_point(text):
    assert strict_yaml.load(f'a: {text}', 'f') == {'a': float(text)}
    assert strict_yaml.load(f'a: v{text}', 'f') == {'a': f'v{text}'}


@pytest.mark.parametrize(
    ('text', 'words'),
    [
        ('a: 1\na: 2\n', 'f, line 2: a is given twice'),
        ('x:\n  a: 1\n  a: 2\n', 'f, line 3: a is given twice'),
        ('a: &x [1]\nb: *x\n', 'anchors and aliases'),
        ('a: &x {k: 1}\nb:\n  <<: *x\n', 'not allowed'),
        ('a: [1, 2\n', 'f, line 2: not valid YAML'),
        ('a: !!python/object/apply:os.system [true]\n', 'not valid YAML'),
        ('a: 1\n---\nb: 2\n', 'not valid YAML'),
        ('[' * 60 + ']' * 60, 'nested deeper'),
        ('[' * 5000 + ']' * 5000, 'f'),
        ('"' + 'a' * strict_yaml.LONGEST + '"', 'longer than'),
        ('a: "\x00"', 'not valid YAML'),
        ('a: 2001-99-99\n', 'not valid YAML'),
    ],
)
def test_what_is_refused(text, words):
    with pytest.raises(JaguarError, match=words):
        strict_yaml.load(text, 'f')


def test_files(tmp_path):
    path = tmp_path / 'a.yaml'
    path.write_text('ä: 1\n', encoding='utf-8')
    assert strict_yaml.read_file(path) == 'ä: 1\n'
    with pytest.raises(JaguarError, match='No such file'):
        strict_yaml.read_file(tmp_path / 'missing.yaml')
    with pytest.raises(JaguarError, match='directory'):
        strict_yaml.read_file(tmp_path)
    path.write_bytes(b'\xff\xfe\xfa')
    with pytest.raises(JaguarError, match='cannot be read'):
        strict_yaml.read_file(path)
    path.write_text('a' * (strict_yaml.LONGEST + 1))
    with pytest.raises(JaguarError, match='longer'):
        strict_yaml.read_file(path)


def test_kinds():
    assert strict_yaml.mapping({'a': 1}, 'w') == {'a': 1}
    assert strict_yaml.sequence([1], 'w') == [1]
    with pytest.raises(JaguarError, match='w: must be names with values'):
        strict_yaml.mapping({1: 2}, 'w')
    with pytest.raises(JaguarError, match='w: must be a list'):
        strict_yaml.sequence('abc', 'w')
