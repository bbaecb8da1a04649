"""Diagnostics of a sensor node: what is missing, and how it is doing."""

from __future__ import annotations

import math
import time
from typing import Any, NamedTuple

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from jaguar_sensors_ros.ros.wire import writer
from jaguar_sensors_ros.sensors.base import Status
from jaguar_sensors_ros.sensors.settings import TruthSettings
from jaguar_sensors_ros.truth.intake import TruthIntake
from jaguar_sensors_ros.types import SensorState

#: silence [s] after which an input counts as missing
_MISSING_S = 1.5
#: messages that may come without moving the measurement time on, as at the start
_FRUITLESS = 3
#: pause [s] before the console is told the same again
_SAID_AGAIN_S = 10.0

#: level of each state
LEVEL = {
    SensorState.OFF: DiagnosticStatus.WARN,
    SensorState.INITIALIZING: DiagnosticStatus.WARN,
    SensorState.READY: DiagnosticStatus.OK,
    SensorState.DEGRADED: DiagnosticStatus.WARN,
    SensorState.FAILED: DiagnosticStatus.ERROR,
}


class Watch:
    """Remembers when a message arrived last on an input, by the steady clock."""

    def __init__(self, topic: str) -> None:
        self.topic = topic
        self._arrived_s = time.monotonic()

    def arrived(self) -> None:
        """Note that a message came."""
        self._arrived_s = time.monotonic()

    def silence_s(self) -> float:
        """Return how long nothing came [s]."""
        return time.monotonic() - self._arrived_s


class Missing(NamedTuple):
    """What a node waits for, and the way out."""

    what: str
    remedy: str


class Monitor:
    """Watches the inputs of a sensor node and reports on it once a second.

    Parameters
    ----------
    name : str
        Full name of the node.
    odometry, acceleration : str
        Names of its input topics.
    """

    def __init__(self, name: str, odometry: str, acceleration: str) -> None:
        self._name = name
        self.odometry = Watch(odometry)
        self.acceleration = Watch(acceleration)
        self._reported = (0, 0.0)
        self._moved: tuple[int, int | None] = (0, None)
        self._said = ('', -math.inf)

    def missing(
        self, settings: TruthSettings, intake: TruthIntake, status: Status
    ) -> Missing | None:
        """Return what keeps the sensor from samples; None where nothing does."""
        if status.t_ns != self._moved[1]:
            self._moved = (intake.received, status.t_ns)
        fruitless = intake.received - self._moved[0]
        silent_s, topic = self.odometry.silence_s(), self.odometry.topic
        if settings.source == 'odometry' and silent_s > _MISSING_S:
            return Missing(
                f'no ground truth on {topic} for {silent_s:.0f} s',
                'publish nav_msgs/Odometry there, remap it (-r ground_truth/odom:=/your/topic), '
                'launch with truth:=demo, or set truth.source: static',
            )
        if settings.acceleration == 'topic' and self.acceleration.silence_s() > _MISSING_S:
            return Missing(
                f'no acceleration on {self.acceleration.topic}',
                'publish geometry_msgs/AccelStamped there, remap it '
                '(-r ground_truth/accel:=/your/topic), or set truth.acceleration: derive',
            )
        if fruitless >= _FRUITLESS:
            reasons = ', '.join(f'{n} {reason}' for reason, n in sorted(intake.counts.items()))
            return Missing(
                f'no samples from the last {fruitless} messages on {topic}',
                f'they need finite values and stamps that go on by at most truth.max_gap_s '
                f'({settings.max_gap_s:g} s); so far: {reasons or "all taken"}',
            )
        return None

    def worth_saying(self, missing: Missing) -> bool:
        """Tell whether the console should hear of it: when it is new, then every 10 s."""
        remedy, said_s = self._said
        now_s = time.monotonic()
        if missing.remedy == remedy and now_s - said_s < _SAID_AGAIN_S:
            return False
        self._said = (missing.remedy, now_s)
        return True

    def report(
        self, status: Status, intake: TruthIntake, missing: Missing | None, now_ns: int
    ) -> Any:
        """Return the DiagnosticArray: rate, bad inputs, state, faults, truth age.

        The rate is samples per measurement time since the last report, so it is right under any
        clock.
        """
        level, text = LEVEL[status.state], status.state.name.capitalize()
        if status.causes:
            text += ': ' + ', '.join(status.causes)
        if missing is not None:
            level = max(level, DiagnosticStatus.WARN)
            text = f'{missing.what}; {text}'
        newest = intake.track.newest
        age = 'none yet' if newest is None else f'{(now_ns - newest.t_ns) / 1e9:.3f}'
        values = {
            'state': status.state.name.capitalize(),
            'fidelity': status.fidelity.value,
            'faults': ', '.join(status.faults) or 'none',
            'rate [Hz]': f'{self._rate_hz(status):.2f}',
            'samples': str(status.sample_count),
            'uptime [s]': f'{status.uptime_s:.3f}',
            'truth topic': self.odometry.topic,
            'truth received': str(intake.received),
            'truth age [s]': age,
            'truth silent for [s]': f'{self.odometry.silence_s():.1f}',
            'dropped or noted': str(sum(intake.counts.values())),
        }
        values.update({f'truth {reason}': str(n) for reason, n in sorted(intake.counts.items())})
        entry = DiagnosticStatus(
            level=level,
            name=f'{self._name}: sensor',
            message=text,
            hardware_id=self._name,
            values=[KeyValue(key=key, value=value) for key, value in values.items()],
        )
        array = DiagnosticArray(status=[entry])
        array.header.stamp = writer.time(now_ns)
        return array

    def _rate_hz(self, status: Status) -> float:
        count, uptime_s = self._reported
        if status.uptime_s < uptime_s or status.sample_count < count:
            count, uptime_s = 0, 0.0
        self._reported = (status.sample_count, status.uptime_s)
        span_s = status.uptime_s - uptime_s
        return (status.sample_count - count) / span_s if span_s > 0.0 else 0.0
