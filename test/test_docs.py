"""What the documentation says can be followed: links, names, command lines, examples."""

from __future__ import annotations

import difflib
import doctest
import fnmatch
import re
import shlex
from itertools import pairwise
from pathlib import Path

import pytest
import yaml
from launch_helpers import launch_arguments

from jaguar_sensors_ros.catalogue import SENSORS, make_settings
from jaguar_sensors_ros.cli.allan import _values
from jaguar_sensors_ros.cli.main import make_parser
from jaguar_sensors_ros.cli.param import parse
from jaguar_sensors_ros.component import build, declarations
from jaguar_sensors_ros.scenario.fields import SENSORS as PLAYABLE
from jaguar_sensors_ros.scenario.settings import PLAYED, ScenarioSettings
from jaguar_sensors_ros.truth.player_settings import PlayerSettings

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / f'{name}.md' for name in ('README', 'ARCHITECTURE', 'CONTRIBUTING')]
PAGES += sorted((ROOT / 'docs').glob('*.md'))
TEXT = {page: page.read_text(encoding='utf-8') for page in PAGES}
#: parameters of each node
DECLARED = {f'{kind}_node': {d.name for d in declarations(SENSORS[kind][1])} for kind in SENSORS}
DECLARED['truth_node'] = {d.name for d in declarations(PlayerSettings)}
DECLARED['scenario_node'] = {d.name for d in declarations(ScenarioSettings)}
NAMES = {d.name for settings in PLAYED.values() for d in declarations(settings)}
NAMES = NAMES.union(*DECLARED.values())
#: columns of scenario files, which are no parameters
COLUMNS = {c for one in PLAYABLE.values() for _, group in one.groups() for c in group.columns}
FENCE = re.compile(r'^```(\w*)\n(.*?)^```$', re.DOTALL | re.MULTILINE)

page = pytest.mark.parametrize('page', PAGES, ids=lambda path: path.name)


def blocks(text, *languages):
    return [body for language, body in FENCE.findall(text) if language in languages]


def commands():
    """Return (page, words) of every command line in a block of sh, and of the tool in text."""
    found = []
    for path, text in TEXT.items():
        for body in blocks(text, 'sh'):
            for line in body.replace('\\\n', ' ').splitlines():
                words = shlex.split(line, comments=True)
                words = words[1:] if words[:1] == ['scripts/ros'] else words
                found += [(path.name, words)] if words else []
        for code in re.findall(r'`(jaguar_sensors [^`\n]+)`', FENCE.sub('', text)):
            # a bare subcommand is its name and no command line
            found += [(path.name, code.split())] if len(code.split()) > 2 else []
    return found


def of(*start):
    """Parametrize with the commands that begin like this."""
    chosen = [words for _, words in commands() if words[: len(start)] == list(start)]
    assert chosen, start
    return pytest.mark.parametrize('words', chosen, ids=' '.join)


def anchors(text):
    """Return the anchors that GitHub makes of the headings."""
    headings = re.findall(r'^#+ (.*)$', FENCE.sub('', text), re.MULTILINE)
    return {re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-') for heading in headings}


@page
def test_links_lead_somewhere(page):
    for target in re.findall(r'\]\(([^)\s]+)\)', TEXT[page]):
        if re.match(r'\w+:', target):
            continue
        name, _, anchor = target.partition('#')
        path = (page.parent / name).resolve() if name else page
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(TEXT[path]), target


@page
def test_parameters_in_backticks_exist(page):
    groups = {name.split('.')[0] for name in NAMES if '.' in name}
    for code in re.findall(r'`([^`\n]+)`', FENCE.sub('', TEXT[page])):
        name = re.split(r':=|[:= ]', code)[0]
        if name in NAMES | COLUMNS or not re.fullmatch(r'[a-z_0-9*]+(\.[a-z_0-9*]+)*', name):
            continue
        if name.endswith(('.py', '.md')) or fnmatch.filter(NAMES, name):
            continue
        assert '.' not in name or name.split('.')[0] not in groups, f'no parameter {name}'
        # one of a triad is named without its prefix
        short = NAMES | {known.split('.')[-1] for known in NAMES}
        near = difflib.get_close_matches(name, short, n=1, cutoff=0.87)
        assert name in short or '_' not in name or not near, f'{name}: {near[0]}?'


@of('jaguar_sensors')
def test_command_lines_of_the_tool_are_right(words):
    options = make_parser().parse_args(words[1:])
    if options.command == 'allan':
        make_settings('imu', {'grade': options.grade or 'tactical', **_values(options.set, '')})
        make_settings('imu', _values(options.expect, '', grade_allowed=True))


def settings_of(node, member):
    """Return the settings of a node of an executable."""
    if node == 'scenario_node':
        return PLAYED[member] if member else ScenarioSettings
    return SENSORS[node[:3]][1] if node[:3] in SENSORS else PlayerSettings


@pytest.mark.parametrize('node', DECLARED)
def test_parameters_on_command_lines_are_right(node):
    for _, words in commands():
        if words[0] == node:
            for before, word in pairwise(words):
                if before == '-p':
                    name, value = word.split(':=')
                    member, _, name = name.rpartition(':')
                    build(settings_of(node, member), {name: parse(value)})


@of('ros2', 'param', 'set')
def test_parameters_of_ros2_param_set_are_right(words):
    node, name, value = words[3:]
    make_settings(node.lstrip('/'), {name: parse(value)})


@of('ros2', 'service', 'call')
def test_requests_of_ros2_service_call_are_right(words):
    package, _, kind = words[4].partition('/srv/')
    if package == 'jaguar_sensors_msgs':
        text = (ROOT / package / 'srv' / f'{kind}.srv').read_text(encoding='utf-8')
        request = re.sub(r'#.*', '', text.split('---')[0])
        fields = {line.split()[1] for line in request.splitlines() if line and '=' not in line}
        assert set(yaml.safe_load(words[5])) <= fields


@of('ros2', 'launch')
def test_launch_arguments_exist(words):
    names = launch_arguments(ROOT / 'launch' / words[3])
    assert {word.split(':=')[0] for word in words[4:]} <= set(names)


def test_make_targets_and_scripts_exist():
    makefile = (ROOT / 'Makefile').read_text(encoding='utf-8')
    for name, words in commands():
        if words[0] == 'make' and len(words) > 1:
            assert f'\n{words[1]}:' in makefile, (name, words)
        if words[0] == 'python':
            assert (ROOT / words[1]).exists(), (name, words)


@page
def test_python_examples_run(page):
    for number, body in enumerate(blocks(TEXT[page], 'python')):
        example = doctest.DocTestParser().get_doctest(body, {}, page.name, page.name, number)
        assert example.examples, 'an example without >>>'
        report: list[str] = []
        doctest.DocTestRunner(verbose=False).run(example, out=report.append)
        assert not report, ''.join(report)
