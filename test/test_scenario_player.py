"""The player: a thread that reads ahead, a bounded queue, and nobody who waits."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
import time

import pytest

from jaguar_sensors_ros.scenario.player import Player
from jaguar_sensors_ros.scenario.reader import ScenarioError
from jaguar_sensors_ros.scenario.stream import Item, play

HEADER = 'timestamp,pressure\n'


def item(t_ns):
    return Item(t_ns, 0, 'pressure', {'pressure': (float(t_ns),)})


def until(condition, what):
    end = time.monotonic() + 20.0
    while not condition():
        assert time.monotonic() < end, what
        time.sleep(0.001)


@pytest.fixture
def player():
    """Return what makes players, which end with the test."""
    made = []

    def make(items, capacity=10):
        made.append(Player(items, capacity, 'test'))
        return made[-1]

    yield make
    for one in made:
        one.stop()


def test_what_is_due_comes_in_order_and_what_is_late_at_once(player):
    one = player(iter([item(0), item(5), item(10)]))
    until(lambda: one.next_ns() == 0, 'the first item')
    assert one.due(-1, 9) == []
    until(lambda: one._queue.qsize() == 3, 'two items and the end')
    assert one.due(7, 9) == [item(0), item(5)]
    assert one.next_ns() == 10
    assert one.due(10**9, 9) == [item(10)]
    assert one.next_ns() is None
    assert one.finished and one.failure is None


def test_the_queue_is_bounded_and_the_limit_holds(player):
    taken = itertools.count()

    def stream():
        for t_ns in itertools.count():
            next(taken)
            yield item(t_ns)

    one = player(stream(), capacity=10)
    until(lambda: one._queue.full(), 'a full queue')
    time.sleep(0.05)
    assert next(taken) <= 12  # in the queue, and one in the hand of the thread
    assert [i.t_ns for i in one.due(10**9, 4)] == [0, 1, 2, 3]


def test_a_stop_ends_the_thread_and_closes_the_file(player, tmp_path):
    path = tmp_path / 'scenario.csv'
    path.write_text(HEADER + ''.join(f'{t},1\n' for t in range(1000)))
    one = player(play(path, 'baro_sim', 'baro_sim', True, 10.0))
    until(lambda: one._queue.full(), 'a full queue')
    one.stop()
    assert not one._thread.is_alive()
    handles = os.listdir('/proc/self/fd')
    assert str(path) not in [os.path.realpath(f'/proc/self/fd/{n}') for n in handles]


def test_what_is_wrong_in_the_middle_is_told_after_what_was_right(player, tmp_path):
    path = tmp_path / 'scenario.csv'
    path.write_text(HEADER + '0,1\n1,2\n2,x\n')
    one = player(play(path, 'baro_sim', 'baro_sim', True, 10.0))
    until(lambda: one._queue.qsize() == 3, 'two items and the end')
    assert one.failure is None
    assert len(one.due(10**9, 9)) == 2
    assert one.next_ns() is None
    assert isinstance(one.failure, ScenarioError)
    assert str(one.failure) == f"{path}: line 4, column 2 (pressure): 'x' is not a finite number"


def test_a_slow_disk_holds_up_nothing_but_its_own_rows(player, tmp_path):
    """A pipe stands in for the disk: reading it blocks until more is written."""
    path = tmp_path / 'pipe'
    os.mkfifo(path)
    go_on = threading.Event()

    def disk():
        with path.open('w') as file:
            file.write(HEADER + '0,1\n1000,2\n')
            file.flush()
            go_on.wait(20.0)
            file.write('2000,3\n')

    writer = threading.Thread(target=disk)
    writer.start()
    one = player(play(path, 'baro_sim', 'baro_sim', False, 10.0))
    until(lambda: one._queue.qsize() == 2, 'what the disk has given')
    start = time.perf_counter()
    assert len(one.due(10**9, 9)) == 2
    for _ in range(1000):
        assert one.due(10**9, 9) == []
        assert one.next_ns() is None
    assert time.perf_counter() - start < 1.0  # a thousand looks; the disk would take 20 s
    go_on.set()
    until(lambda: one.next_ns() is not None, 'the late row')
    assert [i.t_ns for i in one.due(10**9, 9)] == [2_000_000]
    writer.join()


_HUGE = '''
import pathlib, resource, sys, time
from jaguar_sensors_ros.scenario.player import Player
from jaguar_sensors_ros.scenario.stream import play
path = pathlib.Path(sys.argv[1])
player = Player(play(path, 'baro_sim', 'baro_sim', True, 10.0), 1000, 'test')
marks, count = [], 0
while count < 150_000:
    found = len(player.due(10**18, 100))
    count += found
    time.sleep(0.0 if found else 0.001)
    if count >= 20_000 and not marks:
        marks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
marks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
player.stop()
print(*marks)
'''


@pytest.mark.slow
def test_a_huge_file_plays_in_constant_memory(tmp_path):
    """2 GB in rows of 30 kB, played twice over."""
    path = tmp_path / 'huge.csv'
    padding = ' ' * 30_000
    with path.open('w') as file:
        file.write(HEADER)
        for t in range(70_000):
            file.write(f'{t},{padding}1\n')
            if t == 0 and os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize < 3 << 30:
                pytest.skip('needs 3 GB of disk')
    assert path.stat().st_size > 2_000_000_000
    done = subprocess.run(
        [sys.executable, '-c', _HUGE, str(path)], capture_output=True, text=True, check=True
    )
    path.unlink()
    early, late = map(int, done.stdout.split())
    assert late - early < 10_000  # kB: less than one thousandth of the file
