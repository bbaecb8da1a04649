"""The benchmarks work: what they measure is not judged here, and no time is asserted."""

from __future__ import annotations

import json
import struct
import time

import pytest

pytest.importorskip('rclpy')

from rclpy.serialization import deserialize_message

from benchmarks import __main__ as bench
from benchmarks import allan, batch, contest, page, process, relay, startup, suite, table, wire
from benchmarks.bars import BARS, bars_of
from benchmarks.contest import Contender
from benchmarks.report import BROKEN, NOT_RUN, PASS, SHORT, Broken, Report
from jaguar_sensors_ros.messages.cdr import decode_odometry

NORMALS = 'benchmarks.floors:normals'


# ---------------------------------------------------------------------- a whole run


@pytest.fixture(scope='module')
def whole(tmp_path_factory):
    """Return exit status and result of a run of all groups on tiny sizes."""
    path = tmp_path_factory.mktemp('bench') / 'bench.json'
    status = bench.main(['--tiny', '--no-install', '--output', str(path)])
    return status, json.loads(path.read_text())


@pytest.mark.ros
@pytest.mark.slow
@pytest.mark.timeout(600)
class TestWholeRun:
    def test_every_group_runs(self, whole):
        status, result = whole
        assert [group['group'] for group in result['groups']] == list(bench.GROUPS)
        assert [group['error'] for group in result['groups']] == [''] * len(bench.GROUPS)
        assert status == 0

    def test_every_bar_has_a_verdict(self, whole):
        found = {bar['key']: bar for group in whole[1]['groups'] for bar in group['bars']}
        assert sorted(found) == sorted(bar.key for bar in BARS)
        for bar in found.values():
            assert bar['verdict'] in (PASS, SHORT, NOT_RUN)
            assert (bar['value'] is None) == (bar['verdict'] == NOT_RUN)
            assert bar['value'] is not None or bar['note']
            if bar['unit'] == 'x' and bar['value'] is not None:
                assert bar['value'] > 0.0

    def test_rows_are_positive(self, whole):
        for group in whole[1]['groups']:
            assert group['rows']
            for row in group['rows']:
                assert len(row['values']) >= 1
                may_be_nothing = row['unit'] in ('B/sample', '%')
                assert may_be_nothing or min(row['values']) > 0.0, row

    def test_shares_are_shares(self, whole):
        rows = [row for group in whole[1]['groups'] for row in group['rows']]
        shares = [row for row in rows if row['what'].endswith('delivered')]
        assert shares
        assert all(0.0 <= value <= 100.0 for row in shares for value in row['values'])

    def test_the_machine_is_named(self, whole):
        machine = whole[1]['machine']
        assert machine['cpu'] and machine['cores'] >= 1 and machine['packages']['numpy']

    def test_the_page_shows_all_of_it(self, whole, tmp_path):
        text, picture = page.write(whole[1], tmp_path)
        written = text.read_text()
        assert all(bar.text in written for bar in BARS)
        assert str(whole[1]['machine']['cpu']) in written
        assert picture.read_bytes().startswith(b'\x89PNG')


def test_a_measurement_that_breaks_is_told_and_the_others_go_on(monkeypatch, tmp_path, capsys):
    def broken(size):
        raise Broken('the rope has torn')

    def fine(size):
        report = Report('batch')
        report.judge('numpy', 1.5)
        return report

    monkeypatch.setattr(allan, 'measure', broken)
    monkeypatch.setattr(batch, 'measure', fine)
    path = tmp_path / 'bench.json'
    arguments = ['--tiny', '--no-install', '--output', str(path), '--only', 'batch', 'allan']
    assert bench.main(arguments) == 1
    groups = {group['group']: group for group in json.loads(path.read_text())['groups']}
    assert 'the rope has torn' in groups['allan']['error']
    assert {bar['verdict'] for bar in groups['allan']['bars']} == {BROKEN}
    verdicts = {bar['key']: bar['verdict'] for bar in groups['batch']['bars']}
    assert verdicts.pop('batch.numpy') == PASS
    assert set(verdicts.values()) == {NOT_RUN}
    assert 'allan' in capsys.readouterr().err


def test_short_of_a_bar_is_no_failure(monkeypatch, tmp_path):
    def short(size):
        report = Report('trajectory')
        report.judge('pyins', 0.01)
        return report

    monkeypatch.setattr('benchmarks.trajectory.measure', short)
    arguments = ['--no-install', '--output', str(tmp_path / 'b.json'), '--only', 'trajectory']
    assert bench.main(arguments) == 0


# ---------------------------------------------------------------------- contests


def test_a_contest_counts_turns_and_amounts():
    entry = Contender('normals', NORMALS, 500.0, {'count': 500})
    score = contest.run([entry], 3)['normals']
    assert len(score.rates) == 3
    assert min(score.rates) > 0.0
    assert not score.missing


def test_a_missing_peer_is_not_run():
    missing = Contender('absent', 'benchmarks.peers:pyins_static', 10.0, {'count': 10}, ('pyins',))
    there = Contender('there', NORMALS, 10.0, {'count': 10})
    scores = contest.run([missing, there], 1)
    assert 'pyins' in scores['absent'].missing
    report = Report('batch')
    batch.tell(report, scores, 1.0, '1/s')
    assert list(report.absent) == ['absent'] and [row.what for row in report.rows] == ['there']
    batch.compare(report, 'numpy', scores['there'], scores['absent'])
    (outcome,) = report.outcomes
    assert (outcome.verdict, outcome.value) == (NOT_RUN, None)
    assert 'pyins' in outcome.note


@pytest.mark.parametrize(
    ('target', 'arguments'),
    [(NORMALS, {'count': 'many'}), (NORMALS, {'colour': 1}), ('benchmarks.floors:none', {})],
)
def test_a_contender_that_fails_breaks_the_measurement(target, arguments):
    with pytest.raises(Broken):
        contest.run([Contender('failing', target, 1.0, arguments)], 1)


def test_packages_can_seem_absent():
    entry = {'count': 200}
    scores = contest.run(
        [
            Contender('with', 'benchmarks.ours:static', 200.0, entry),
            Contender('without', 'benchmarks.ours:static', 200.0, entry, ('numba', 'scipy')),
        ],
        1,
    )
    assert scores['with'].value['last'] == scores['without'].value['last']
    assert scores['without'].value['compiled'] is False


# ---------------------------------------------------------------------- live


@pytest.mark.parametrize('topic', wire.TOPICS)
def test_patched_messages_are_messages(topic):
    patch = wire.Patch(wire.sample(topic))
    data = patch.fill(12, 345, tuple(float(i) for i in range(1, 14)))
    message = deserialize_message(data, wire.TYPES[topic])
    assert (message.header.stamp.sec, message.header.stamp.nanosec) == (12, 345)
    assert message.header.frame_id == 'imu_link'
    assert struct.pack('<d', 1.0) in data
    assert struct.pack('<d', 1234.5678) not in data


def test_odometry_of_the_source_is_what_the_relay_reads():
    t_ns = 1_700_000_000_123_456_789
    data = wire.Odometer().at(t_ns)
    raw = decode_odometry(data)
    numbers = relay._NUMBERS.unpack_from(data, relay._NUMBERS_AT)
    w, *xyz = raw.q
    assert raw.t_ns == t_ns
    assert numbers == (*raw.position, *xyz, w, *raw.linear, *raw.angular)
    assert raw.linear[0] / raw.angular[2] == pytest.approx(4.0)


def test_the_cpu_clock_of_a_process_is_that_of_the_process():
    before = time.process_time_ns()
    seen = process.cpu_ns(process.os.getpid())
    assert before <= seen <= time.process_time_ns()


def test_a_child_that_ends_breaks_the_measurement():
    command = [process.sys.executable, '-c', 'print("{}"); raise SystemExit("enough")']
    with process.Child('ends', command) as child:
        assert child.answer() == {}
        with pytest.raises(Broken, match='enough'):
            child.answer()


def test_heavy_imports_are_found_in_a_log():
    log = 'import time:  1 |  2 | os\nimport time:  1 |  2 |   scipy._lib\nmatplotlib is a word'
    assert startup.heavy_imports(log) == ['scipy']


# ---------------------------------------------------------------------- bars and tables


def test_bars_hold_at_their_limit():
    for bar in BARS:
        step = max(abs(bar.limit), 1.0) * (1.0 if bar.sense == '>=' else -1.0)
        assert bar.holds(bar.limit) and bar.holds(bar.limit + step)
        assert not bar.holds(bar.limit - step)
    assert {bar.group for bar in BARS} < set(bench.GROUPS)


def test_a_cost_that_rises_is_seen_wherever_it_does():
    assert suite.largest_rise([9.0, 3.0, 4.0]) == pytest.approx(4.0 / 3.0)
    assert suite.largest_rise([9.0, 3.0, 2.0]) < 1.0
    assert suite.largest_rise([1.0]) == 1.0


def test_tables_do_without_rich(monkeypatch, capsys):
    monkeypatch.setitem(process.sys.modules, 'rich.console', None)
    report = Report('batch')
    report.row('something', 's', [1.0, 2.0])
    table.show([report.complete()], 'a machine')
    printed = capsys.readouterr().out
    assert 'something' in printed and 'a machine' in printed
    assert all(bar.key in printed for bar in bars_of('batch'))
