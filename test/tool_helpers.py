"""Runs the tool jaguar_sensors in this process, without ROS."""

from __future__ import annotations

import contextlib
import io

from jaguar_sensors_ros.cli.main import main

#: what a console script of the tool does
CODE = 'from jaguar_sensors_ros.cli.main import main; raise SystemExit(main())'


def run(*arguments):
    """Run the tool in this process; return exit status, stdout, stderr (not that of nodes)."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            status = main(list(arguments))
        except SystemExit as end:
            status = end.code
    return status, out.getvalue(), err.getvalue()
