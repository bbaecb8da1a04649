"""A child process that answers lines of JSON with lines of JSON."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from benchmarks.report import Broken

ROOT = Path(__file__).resolve().parent.parent
OUT = ROOT / 'out' / 'bench'
PEERS = ROOT / '.cache' / 'bench' / 'peers'
#: where a child's log ends when it is quoted
_TAIL = 2000


class Child:
    """A process of ours; its errors go to a log, it ends with the ``with`` block.

    Parameters
    ----------
    name : str
        Name of its log.
    command : iterable of str
        The command line.
    env : mapping
        Added to the environment.
    cores : set of int or None
        The cores it may use.
    """

    def __init__(
        self,
        name: str,
        command: Iterable[str],
        env: Mapping[str, str] | None = None,
        cores: set[int] | None = None,
    ) -> None:
        self.name = name
        self.log_path = OUT / 'log' / f'{name}.log'
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get('PYTHONPATH', '')]))
        self.started_ns = time.monotonic_ns()
        with self.log_path.open('wb') as log:
            self._process = subprocess.Popen(
                list(command),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env={**os.environ, 'PYTHONPATH': path, **(env or {})},
                preexec_fn=None if cores is None else lambda: os.sched_setaffinity(0, cores),
            )
        self.pid = self._process.pid
        self._rest = b''

    def __enter__(self) -> Child:
        """Return itself."""
        return self

    def __exit__(self, *error: object) -> None:
        """End it."""
        self.end()

    @property
    def is_alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def log(self) -> str:
        """Return what it said at last."""
        return self.log_path.read_text(errors='replace')[-_TAIL:]

    def tell(self, **command: Any) -> None:
        """Send a command."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(command).encode() + b'\n')
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Broken(f'{self.name} has ended: {self.log()}') from None

    def answer(self, timeout_s: float = 60.0) -> dict[str, Any]:
        """Return its next answer.

        Raises
        ------
        Broken
            if none comes in time, or it is an error.
        """
        line = self._line(time.monotonic() + timeout_s)
        answer = cast('dict[str, Any]', json.loads(line))
        if 'error' in answer:
            raise Broken(f'{self.name}: {answer["error"]}')
        return answer

    def ask(self, timeout_s: float = 60.0, **command: Any) -> dict[str, Any]:
        """Send a command and return the answer."""
        self.tell(**command)
        return self.answer(timeout_s)

    def _line(self, deadline: float) -> bytes:
        assert self._process.stdout is not None
        descriptor = self._process.stdout.fileno()
        while b'\n' not in self._rest:
            left_s = max(0.0, deadline - time.monotonic())
            if not select.select([descriptor], [], [], left_s)[0]:
                raise Broken(f'{self.name} does not answer: {self.log()}')
            part = os.read(descriptor, 1 << 16)
            if not part:
                raise Broken(f'{self.name} has ended: {self.log()}')
            self._rest += part
        line, _, self._rest = self._rest.partition(b'\n')
        return line

    def end(self) -> None:
        """End it: by its closed input, else as by Ctrl-C, else at once."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        for number in (signal.SIGINT, signal.SIGKILL):
            if process.poll() is None:
                process.send_signal(number)
            try:
                process.wait(5.0)
                break
            except subprocess.TimeoutExpired:
                continue
        process.stdout.close()


def python(module: str, *arguments: str) -> list[str]:
    """Return the command line of a module of this package."""
    return [sys.executable, '-m', module, *arguments]


def cpu_ns(pid: int) -> int:
    """Return the CPU time [ns] that a process has used, all of its threads, user and system.

    Linux numbers the CPU clocks of processes like this (man 3 clock_getcpuclockid); unlike
    /proc/PID/stat it does not count in hundredths of a second.
    """
    return time.clock_gettime_ns((~pid << 3) | 2)


def rss_mb(pid: int) -> float:
    """Return the resident memory of a process [MB]."""
    pages = int(Path(f'/proc/{pid}/statm').read_text().split()[1])
    return pages * os.sysconf('SC_PAGE_SIZE') / 1e6
