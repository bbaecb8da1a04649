"""Runs the tool jaguar_sensors in this process, and stands in for sensors it talks to."""

from __future__ import annotations

import contextlib
import os
import pty
import subprocess
import sys

from jaguar_sensors_msgs.msg import SensorState
from jaguar_sensors_msgs.srv import InjectFailure, InjectTimeline
from rclpy.node import Node
from std_srvs.srv import SetBool, Trigger
from tool_helpers import CODE, run  # noqa: F401 - for those who import it from here

from jaguar_sensors_ros.ros import qos


class OnTerminal:
    """The tool in a process of its own whose output is a terminal; a context manager."""

    def __init__(self, *arguments, before=''):
        self._terminal, end = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, '-c', before + CODE, *arguments],
            stdout=end,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, 'COLUMNS': '200', 'LINES': '50', 'TERM': 'xterm'},
        )
        os.close(end)
        os.set_blocking(self._terminal, False)
        self.text = ''

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        os.close(self._terminal)

    def read(self):
        """Return all that it printed so far."""
        with contextlib.suppress(BlockingIOError, OSError):  # nothing there; closed
            while part := os.read(self._terminal, 65536):
                self.text += part.decode(errors='replace')
        return self.text


class FakeSensor(Node):
    """Has the services and the state of a sensor; says what it was asked, refuses if told to."""

    def __init__(self, kind='imu', refuses=(), **options):
        super().__init__(kind, **options)
        self.kind, self.refuses, self.asked = kind, refuses, []
        self._publisher = self.create_publisher(SensorState, '~/state', qos.latched())
        for service, name in (
            (InjectFailure, 'inject_failure'),
            (InjectTimeline, 'inject_timeline'),
            (Trigger, 'clear_failure'),
            (Trigger, 'reset'),
            (SetBool, 'set_enabled'),
        ):
            self.create_service(service, f'~/{name}', self._answer(name))
        self.tell(0.0, 0)

    def _answer(self, name):
        def answer(request, response):
            self.asked.append((name, request))
            response.success = name not in self.refuses
            response.message = f'{name} done' if response.success else 'locked'
            return response

        return answer

    def tell(self, t_s, count, state='Ready', **fields):
        """Publish a state."""
        message = SensorState(
            name=self.get_name(), type=self.kind, state_name=state, fidelity='realistic',
            sample_count=count, uptime=t_s, valid=True, confidence=1.0, **fields,
        )
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(round(t_s * 1e9), 10**9)
        self._publisher.publish(message)


def fake(graph, kind='imu', refuses=(), **options):
    """Start a stand-in for a sensor; ``options`` are those of Graph.start."""

    def make(**more):
        return FakeSensor(kind, refuses, **more)

    make.__name__ = f'{kind}node'
    return graph.start(make, **options)
