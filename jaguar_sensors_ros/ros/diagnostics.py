"""Diagnostics of a sensor node."""

from __future__ import annotations

import time
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from jaguar_sensors_ros.ros import writer
from jaguar_sensors_ros.sensors.base import Status
from jaguar_sensors_ros.truth.intake import TruthIntake
from jaguar_sensors_ros.types import SensorState

#: silence [s] after which the truth counts as missing
_MISSING_S = 1.5

_LEVEL = {
    SensorState.OFF: DiagnosticStatus.WARN,
    SensorState.INITIALIZING: DiagnosticStatus.WARN,
    SensorState.READY: DiagnosticStatus.OK,
    SensorState.DEGRADED: DiagnosticStatus.WARN,
    SensorState.FAILED: DiagnosticStatus.ERROR,
}


class Watch:
    """Remembers when truth arrived last and how many samples there were at the last report."""

    def __init__(self) -> None:
        self._arrived_s = time.monotonic()
        self.ever = False
        self.reported = (0, 0.0)

    def arrived(self) -> None:
        """Note that a message came."""
        self._arrived_s = time.monotonic()
        self.ever = True

    def silence_s(self) -> float:
        """Return how long nothing came [s], by the steady clock."""
        return time.monotonic() - self._arrived_s


def diagnostics(
    name: str,
    status: Status,
    intake: TruthIntake,
    watch: Watch,
    now_ns: int,
    topic: str,
    max_gap_s: float,
) -> Any:
    """Return the DiagnosticArray of a sensor: rate, bad inputs, state, faults, truth age.

    The rate is samples per measurement time since the last report, so it is right under any
    clock.
    """
    silent = watch.silence_s() > _MISSING_S
    missing = silent or not watch.ever
    level, text = _LEVEL[status.state], status.state.name.capitalize()
    if status.causes:
        text += ': ' + ', '.join(status.causes)
    bad = sum(intake.counts.values())
    if missing:
        level = max(level, DiagnosticStatus.WARN)
        text = f'no ground truth on {topic}; {text}'
    elif intake.counts['gap'] and status.sample_count == 0:
        level = max(level, DiagnosticStatus.WARN)
        text = f'messages are further apart than truth.max_gap_s ({max_gap_s} s); {text}'
    count, uptime_s = watch.reported
    if status.uptime_s < uptime_s or status.sample_count < count:
        count, uptime_s = 0, 0.0
    span_s = status.uptime_s - uptime_s
    rate_hz = (status.sample_count - count) / span_s if span_s > 0.0 else 0.0
    watch.reported = (status.sample_count, status.uptime_s)
    newest = intake.track.newest
    age = 'none yet' if newest is None else f'{(now_ns - newest.t_ns) / 1e9:.3f}'
    values = {
        'state': status.state.name.capitalize(),
        'fidelity': status.fidelity.value,
        'faults': ', '.join(status.faults) or 'none',
        'rate [Hz]': f'{rate_hz:.2f}',
        'samples': str(status.sample_count),
        'uptime [s]': f'{status.uptime_s:.3f}',
        'truth topic': topic,
        'truth received': str(intake.received),
        'truth age [s]': age,
        'truth silent for [s]': f'{watch.silence_s():.1f}',
        'dropped or noted': str(bad),
    }
    values.update({f'truth {reason}': str(n) for reason, n in sorted(intake.counts.items())})
    entry = DiagnosticStatus(
        level=level,
        name=f'{name}: sensor',
        message=text,
        hardware_id=name,
        values=[KeyValue(key=key, value=value) for key, value in values.items()],
    )
    array = DiagnosticArray(status=[entry])
    array.header.stamp = writer.time(now_ns)
    return array
