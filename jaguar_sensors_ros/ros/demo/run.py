"""One run of the demo, from the first contact of the nodes to the summary."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import rclpy
from rclpy.signals import SignalHandlerOptions

from jaguar_sensors_ros.analysis.fault_window import bias_objections
from jaguar_sensors_ros.ros import compat
from jaguar_sensors_ros.ros.bag_writer import BagWriter
from jaguar_sensors_ros.ros.demo.monitor import DemoMonitor
from jaguar_sensors_ros.ros.demo.plan import FAULT, TOPICS, Plan
from jaguar_sensors_ros.ros.demo.processes import Children
from jaguar_sensors_ros.ros.demo.table import View
from jaguar_sensors_ros.types import NS_PER_S

#: time that discovery may take from the first samples [s]
_LATE_S = 0.5
#: odometry that may not have reached everybody when the truth is stopped halfway [s]
_CUT_S = 0.5
_QUIET_S = 0.5
_SPIN_S = 0.02
_SENSORS = ('imu_node', 'gps_node')


class Stopper(Protocol):
    """Says whether the user wants an end."""

    asked: bool


class DemoRun:
    """Runs a plan with children that were started already; a context manager.

    Parameters
    ----------
    plan : Plan
        What to run.
    children : Children
        The nodes.
    stop : Stopper
        Set when the user wants an end.
    patience_s : float
        Longest time for the nodes to find one another.
    """

    def __init__(self, plan: Plan, children: Children, stop: Stopper, patience_s: float) -> None:
        self._plan, self._children, self._stop = plan, children, stop
        self._patience_s = patience_s
        self._remarks: list[str] = []
        self._answer: Any = None
        self._cut = False
        self._fault_done = False
        self._bag = self._open_bag()

    def _open_bag(self) -> BagWriter | None:
        topics = {topic: kind for topic, (kind, _) in TOPICS.items()}
        latched = frozenset(topic for topic, (_, latched) in TOPICS.items() if latched)
        if find_spec('rosbags') is None:
            print('  no bag: it needs rosbags: pip install jaguar_sensors_ros[bags]')
            return None
        return BagWriter(self._plan.bag, topics, latched)

    def __enter__(self) -> DemoRun:
        """Join the ROS graph."""
        rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
        self.monitor = DemoMonitor(self._plan, self._bag)
        self._executor = compat.make_executor()
        self._executor.add_node(self.monitor)
        self._view = View(self._plan, self.monitor)
        gc.collect()
        gc.freeze()
        return self

    def __exit__(self, *error: object) -> None:
        """Leave the graph; a bag that was not finished goes."""
        if self._bag is not None:
            self._bag.discard()
        self._executor.shutdown()
        self.monitor.destroy_node()
        rclpy.try_shutdown()

    # ------------------------------------------------------------------ the run

    def run(self) -> list[str]:
        """Run to the end of the truth or of the user's patience; return what went wrong."""
        if not self._meet():
            return self._deaths() or self._remarks or ['stopped before the start']
        with self._view:
            self._spin_until(lambda: self._over() or self._progress())
            self._view.update(last=True)
            self._finish_truth()
        return self._deaths() + self._verdict()

    def _spin_until(self, done: Callable[[], bool]) -> None:
        while not done():
            self._executor.spin_once(timeout_sec=_SPIN_S)

    def _meet(self) -> bool:
        """Wait until everybody is there, then let the truth start; return False if in vain."""
        print('      waiting for the nodes ...', flush=True)
        deadline = time.monotonic() + self._patience_s
        absent = self.monitor.missing()
        while absent and not self._children.failed() and not self._stop.asked:
            if time.monotonic() > deadline:
                self._remarks.append(
                    f'after {self._patience_s:g} s there is still no {", ".join(absent)}; '
                    f'the logs are in {self._plan.output}'
                )
                return False
            self._executor.spin_once(timeout_sec=_SPIN_S)
            absent = self.monitor.missing()
        if absent:
            return False
        self.monitor.open_truth()
        return True

    def _over(self) -> bool:
        """Tell whether the truth has ended, a node has died, or the user wants an end."""
        if self._stop.asked or self._children.failed():
            self._cut = True
            return True
        if any(self._children.status(name) is not None for name in _SENSORS):
            self._cut = True
            return True
        return self._children.status('truth_node') is not None

    def _progress(self) -> bool:
        """Drive the fault and the view; never ends the run."""
        monitor, window, plan = self.monitor, self.monitor.window, self._plan
        if self._answer is not None:
            self._take_answer()
        elif window.asked_ns is None and monitor.elapsed_s >= plan.fault_on_s:
            self._answer = monitor.ask_for_fault()
        elif (
            window.began_ns is not None
            and window.clear_asked_ns is None
            and monitor.elapsed_s >= plan.fault_off_s
        ):
            self._answer = monitor.ask_to_clear()
        self._view.update()
        return False

    def _take_answer(self) -> None:
        if not self._answer.done():
            return
        answer, self._answer = self._answer.result(), None
        window = self.monitor.window
        if not answer.success:
            self._remarks.append(f'refused: {answer.message}')
        if window.began_ns is None:
            window.began_ns = time.time_ns()
            self._view.status = f'fault: {answer.message}'
        else:
            window.ended_ns = time.time_ns()
            self._fault_done = True
            self._view.status = 'fault cleared'

    def _finish_truth(self) -> None:
        """End the truth and take in what is still on its way."""
        self._children.stop('truth_node')
        quiet_since, seen = time.monotonic(), self.monitor.received
        while time.monotonic() - quiet_since < _QUIET_S:
            self._executor.spin_once(timeout_sec=_SPIN_S)
            streams = sum(s.grid.received for s in self.monitor.streams)
            if streams != seen:
                quiet_since, seen = time.monotonic(), streams

    # ------------------------------------------------------------------ the verdict

    def _deaths(self) -> list[str]:
        """Return which nodes ended before their time, and show what they said last."""
        dead = [n for n in _SENSORS if self._children.status(n) is not None]
        if self._children.status('truth_node') not in (None, 0):
            dead.append('truth_node')
        for name in dead:
            print(f'{name} said last ({self._children.log(name)}):\n{self._children.tail(name)}')
        return [f'{n} ended with status {self._children.status(n)}' for n in dead]

    def _verdict(self) -> list[str]:
        monitor = self.monitor
        end_ns = monitor.truth_newest_ns - (round(_CUT_S * NS_PER_S) if self._cut else 0)
        found: list[str] = []
        if monitor.strangers:
            found.append(f'disturbed from outside: {", ".join(sorted(monitor.strangers))}')
        for stream in monitor.streams:
            found += stream.objections(end_ns, _LATE_S, self._cut)
        found += self._remarks
        if self._fault_done:
            clean = monitor.imu.channels['imu gyro']
            found += bias_objections(clean, monitor.imu.faulty, FAULT['magnitude'])
        elif not self._cut:
            found.append('the fault was not injected and cleared in time')
        return found

    # ------------------------------------------------------------------ the end

    def close(self, reasons: list[str]) -> int:
        """End the nodes, write bag and picture, print the summary, return the exit status."""
        self._children.stop()
        left: list[str] = []
        line = summary(self.monitor, reasons, self._fault_done)
        picture = self._draw(line)
        if picture:
            left.append(picture)
        if self._bag is not None and self.monitor.received:
            self._bag.finish()
            left.append(str(self._plan.bag))
        for reason in reasons:
            print(f'  {reason}')
        print('; '.join([f'demo: {line}', *([', '.join(left)] if left else [])]), flush=True)
        return 1 if reasons else 0

    def _draw(self, line: str) -> str:
        """Draw the picture; return its path, empty if there is none."""
        if not self.monitor.imu.trace.rows:
            return ''
        try:
            from jaguar_sensors_ros.analysis.demo_picture import draw
        except ImportError:
            print('  no picture: it needs matplotlib: pip install jaguar_sensors_ros[plot]')
            return ''
        monitor, window = self.monitor, self.monitor.window
        fault = None
        if window.asked_ns is not None:
            fault = (window.asked_ns, window.ended_ns or monitor.imu.newest_ns)
        draw(
            self._plan.picture,
            f'{Path(self._plan.name).name}: {line}',
            monitor.truth,
            monitor.imu.trace,
            monitor.gps.trace,
            monitor.gps.channels['gps position'].sigma,
            fault,
            f'gyro bias of {FAULT["magnitude"]:g} rad/s',
        )
        return str(self._plan.picture)


def summary(monitor: DemoMonitor, reasons: list[str], fault_done: bool) -> str:
    """Return the closing line."""
    parts = []
    for stream in monitor.streams:
        grid = stream.grid
        expected = grid.matched + grid.missing(monitor.truth_newest_ns)
        parts.append(
            f'{stream.name} {grid.matched}/{expected} at {grid.rate_hz:g} Hz, '
            f'rms {stream.rms:.2f} sigma'
        )
    if monitor.truth_gaps:
        parts.append(f'{monitor.truth_gaps} gaps in the truth')
    if fault_done and not any('fault' in reason for reason in reasons):
        parts.append('fault seen')
    elif not fault_done:
        parts.append('fault not complete')
    verdict = 'OK' if not reasons else f'FAILED ({reasons[0]})'
    return f'{verdict} - ' + '; '.join(parts)
