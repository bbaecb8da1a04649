"""The child processes of the demo, and the ROS domain they share."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

_LAST_LINES = 12
_PR_SET_PDEATHSIG = 1

Parameters = Mapping[str, object]


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
            _end(process, max(0.0, deadline - time.monotonic()))

    def __enter__(self) -> Children:
        """Return this."""
        return self

    def __exit__(self, *error: object) -> None:
        """End all that still run, whatever happens meanwhile."""
        try:
            self.stop()
        finally:
            for process in self._processes.values():
                _end(process, 0.0)


_libc = ctypes.CDLL(None, use_errno=True) if sys.platform == 'linux' else None


def _end(process: subprocess.Popen[bytes], patience_s: float) -> None:
    """Wait for the end of a process, and force it after a while."""
    try:
        process.wait(patience_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


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
