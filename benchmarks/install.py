"""Puts the peers that PyPI has into a folder of their own."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.process import OUT, PEERS, ROOT

REQUIREMENTS = ROOT / 'scripts' / 'requirements-bench.txt'
_STAMP = PEERS / 'installed.txt'


def peers() -> bool:
    """Install what is not there yet; tell whether all of it is there.

    A peer that cannot be had is no error: it is reported as NOT RUN.
    """
    wanted = REQUIREMENTS.read_text()
    if _STAMP.is_file() and _STAMP.read_text() == wanted:
        return True
    print('bench: installing the peers (once, a minute) ...', file=sys.stderr)
    PEERS.mkdir(parents=True, exist_ok=True)
    log = OUT / 'log' / 'peers.log'
    log.parent.mkdir(parents=True, exist_ok=True)
    lines = (line.split('#')[0].strip() for line in wanted.splitlines())
    failed = [pin for pin in filter(None, lines) if not _install(pin, log)]
    if failed:
        print(f'bench: could not be installed: {", ".join(failed)} (see {log})', file=sys.stderr)
        return False
    _STAMP.write_text(wanted)
    return True


def _install(pin: str, log: object) -> bool:
    """Install one package without what it depends on."""
    command = [sys.executable, '-m', 'pip', 'install', '--no-input', '--progress-bar=off',
               '--disable-pip-version-check', '--no-deps', '--only-binary=:all:', '--upgrade',
               '--target', str(PEERS), pin]  # fmt: skip
    with open(str(log), 'ab') as output:
        return subprocess.run(command, stdout=output, stderr=output, check=False).returncode == 0
