"""A process that does one thing again and again when it is told to, and says how long it took.

    python -m benchmarks.worker MODULE:FACTORY JSON

The factory is called with the arguments in JSON and returns what is to be timed, a callable that
returns plain values.  ``without`` in JSON names packages that are to seem absent.  Each line on
the standard input is one turn, answered by a line of JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable
from typing import Any


class Missing(ImportError):
    """What is to be measured is not there, and why."""


def _make(target: str, arguments: dict[str, Any]) -> Callable[[], Any]:
    for name in arguments.pop('without', ()):
        sys.modules[name] = None  # type: ignore[assignment]  # an import of it fails
    module, _, factory = target.partition(':')
    made: Callable[[], Any] = getattr(importlib.import_module(module), factory)(**arguments)
    return made


def _turn(work: Callable[[], Any]) -> dict[str, Any]:
    wall, cpu = time.perf_counter(), time.process_time()
    value = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0
    return {'wall_s': wall, 'cpu_s': cpu, 'peak_mb': peak_mb, 'value': value}


def main() -> int:
    """Serve turns until the standard input ends."""
    # what libraries print goes to the log, not between the answers
    answers = os.fdopen(os.dup(1), 'w', buffering=1)
    os.dup2(2, 1)
    try:
        work = _make(sys.argv[1], json.loads(sys.argv[2]))
        print(json.dumps({'ready': True}), file=answers)
        for _ in sys.stdin:
            print(json.dumps(_turn(work)), file=answers)
    except ImportError as error:
        print(json.dumps({'missing': str(error)}), file=answers)
    except Exception:
        print(json.dumps({'error': traceback.format_exc()}), file=answers)
        return 1
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
