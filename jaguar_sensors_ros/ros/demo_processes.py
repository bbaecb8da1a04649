"""The child processes of the demo, and the ROS domain they share."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from jaguar_sensors_ros.types import JaguarError

#: TCP ports that stand for ROS domains: who is bound to one owns the domain; the tests of this
#: package claim theirs in the same way
_LOCK_PORTS = 5100
_DOMAINS = range(1, 101)
_LAST_LINES = 12
_PR_SET_PDEATHSIG = 1

Parameters = Mapping[str, object]


def claim_domain(environment: Mapping[str, str]) -> tuple[int, socket.socket | None]:
    """Return the ROS domain of the environment, or a free one with the socket that holds it.

    Raises
    ------
    JaguarError
        if ROS_DOMAIN_ID is no number, or no domain is free.
    """
    given = environment.get('ROS_DOMAIN_ID', '')
    if given:
        if not given.isdecimal():
            raise JaguarError(f'ROS_DOMAIN_ID = {given!r}: must be a whole number')
        return int(given), None
    start = os.getpid() % len(_DOMAINS)
    for domain in (*_DOMAINS[start:], *_DOMAINS[:start]):
        claim = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            claim.bind(('127.0.0.1', _LOCK_PORTS + domain))
        except OSError:
            claim.close()
            continue
        return domain, claim
    raise JaguarError('all ROS domains from 1 to 100 are in use; set ROS_DOMAIN_ID')


class Children:
    """Starts executables of this package; all of them end with the ``with`` block.

    Parameters
    ----------
    logs : Path
        Folder for their output, one file each.
    patience_s : float
        Time to end by themselves after SIGINT, before SIGKILL.
    """

    def __init__(self, logs: Path, patience_s: float = 5.0) -> None:
        self._logs = logs
        self._patience_s = patience_s
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, parameters: Parameters) -> None:
        """Start an executable with node parameters; its output goes to <name>.log."""
        code = f'from jaguar_sensors_ros.ros.main import {name} as run; raise SystemExit(run())'
        command = [sys.executable, '-c', code, '--ros-args']
        for key, value in parameters.items():
            command += ['-p', f'{key}:={_yaml(value)}']
        with self.log(name).open('wb') as log:
            self._processes[name] = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # Ctrl-C reaches the demo alone, which ends them in order
                preexec_fn=_end_with_parent if sys.platform == 'linux' else None,
            )

    def log(self, name: str) -> Path:
        """Return the file with the output of a child."""
        return self._logs / f'{name}.log'

    def tail(self, name: str) -> str:
        """Return the last lines of the output of a child."""
        lines = self.log(name).read_text('utf8', errors='replace').splitlines()
        return '\n'.join(lines[-_LAST_LINES:])

    def status(self, name: str) -> int | None:
        """Return the exit status of a child, None while it runs."""
        return self._processes[name].poll()

    def failed(self) -> list[str]:
        """Return the names of the children that ended with an error."""
        return [name for name in self._processes if self.status(name) not in (None, 0)]

    def stop(self, *names: str) -> None:
        """End the named children, or all: SIGINT, and after a while SIGKILL."""
        chosen = [self._processes[name] for name in names or self._processes]
        for process in chosen:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
        deadline = time.monotonic() + self._patience_s
        for process in chosen:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def __enter__(self) -> Children:
        """Return this."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End all that still run, whatever happens meanwhile."""
        try:
            self.stop()
        finally:
            for process in self._processes.values():
                if process.poll() is None:
                    process.kill()
                    process.wait()


_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == 'linux' else None


def _end_with_parent() -> None:
    """Have the kernel end this process when its parent is killed."""
    if _libc is not None:
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _yaml(value: object) -> str:
    """Return a parameter value as the command line of ROS takes it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, list | tuple):
        return '[' + ', '.join(map(_yaml, value)) + ']'
    return str(value)
