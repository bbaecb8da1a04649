"""From odometry as it arrives to pieces of truth in n: checks, frames, accelerations."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from jaguar_sensors_ros.component import AUTO
from jaguar_sensors_ros.nav import frames
from jaguar_sensors_ros.nav.frames import LocalFrame
from jaguar_sensors_ros.nav.rotation import (
    mix,
    quat_norm,
    rotate_back,
)
from jaguar_sensors_ros.sensors.settings import TruthSettings
from jaguar_sensors_ros.truth.consistency import TwistMonitor
from jaguar_sensors_ros.truth.track import Arrival, Push, TruthTrack
from jaguar_sensors_ros.types import (
    IDENTITY_QUAT,
    NS_PER_S,
    ZERO3,
    Quat,
    TruthSample,
    Vec3,
    new,
)

#: most odometry messages that wait for their acceleration
_WAITING = 1000
#: limits of what is taken: position [m], quaternion, velocity [m/s], angular velocity [rad/s];
#: the work per sample grows with the angle turned, so one absurd message must not stall a node
_FARTHEST, _LONGEST, _FASTEST, _FASTEST_TURN = 1e12, 1e12, 1e8, 1e4


class RawOdometry(NamedTuple):
    """An odometry message as plain numbers; ``q`` is w, x, y, z."""

    t_ns: int
    position: Vec3
    q: Quat
    linear: Vec3
    angular: Vec3
    child_frame_id: str


class TruthIntake:
    """Checks odometry, brings it into n and joins it to a track.

    Bad messages are dropped and counted in ``counts`` by reason.  Remarks for the user are
    collected once each and fetched with :meth:`remarks`.

    Parameters
    ----------
    settings : TruthSettings
        How to read the truth.
    local : LocalFrame
        The frame n.
    """

    def __init__(self, settings: TruthSettings, local: LocalFrame) -> None:
        self.counts: Counter[str] = Counter()
        self.received = 0
        self.base_frame = ''
        self._said: set[str] = set()
        self._remarks: list[str] = []
        #: whether :meth:`remarks` has any
        self.has_remarks = False
        self._epoch_ns: int | None = None
        self.settings: TruthSettings
        self.local: LocalFrame
        self._start(settings, local, round(settings.max_gap_s * NS_PER_S))

    def configure(self, settings: TruthSettings, local: LocalFrame) -> None:
        """Take new settings; the track starts afresh unless only the longest gap changes."""
        max_gap_ns = round(settings.max_gap_s * NS_PER_S)
        bridged = replace(self.settings, max_gap_s=settings.max_gap_s)
        if (bridged, self.local) == (settings, local):
            self.settings = settings
            self.track.max_gap_ns = self._monitor.max_gap_ns = max_gap_ns
            return
        self._start(settings, local, max_gap_ns)

    def _start(self, settings: TruthSettings, local: LocalFrame, max_gap_ns: int) -> None:
        self.settings, self.local = settings, local
        self.track = TruthTrack(settings.authority, max_gap_ns)
        self._monitor = TwistMonitor(settings.twist_frame, max_gap_ns)
        self._waiting: deque[TruthSample] = deque()
        self._accelerations: deque[tuple[int, Vec3]] = deque(maxlen=_WAITING)
        self._is_turned = settings.twist_frame == 'parent'
        self._is_compared = settings.authority == 'twist' and settings.frame != 'lic'
        self._is_awaited = settings.acceleration == 'topic'
        self._is_in_n = settings.frame == 'enu' and local.heading == 0.0

    def remarks(self) -> list[str]:
        """Return the remarks that were not fetched yet."""
        fetched, self._remarks, self.has_remarks = self._remarks, [], False
        return fetched

    def _say(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._remarks.append(text)
            self.has_remarks = True

    # ------------------------------------------------------------------ odometry

    def push(self, raw: RawOdometry) -> list[Push]:
        """Take a message; return what became of it and of those it completed."""
        self.received += 1
        t_ns, position, (w, x, y, z), linear, angular, base_frame = raw
        length = math.sqrt(w * w + x * x + y * y + z * z)
        # so nearly all are; NaN compares with nothing
        if not (
            math.hypot(*position) <= _FARTHEST
            and math.hypot(*linear, *angular) <= _FASTEST_TURN
            and 0.999 <= length <= 1.001
            and t_ns >= 0
        ):
            reason = _reason(raw)
            if reason:
                self.counts[reason] += 1
                return []
            if abs(length - 1.0) > 1e-3:
                self.counts['quaternion normalised'] += 1
        if base_frame != self.base_frame or not base_frame:
            self._note_frames(raw)
        q = (w / length, x / length, y / length, z / length)
        if self._is_turned:
            linear, angular = rotate_back(q, linear), rotate_back(q, angular)
        sample: TruthSample = new(TruthSample, (t_ns, position, q, linear, angular, None))
        if self._is_compared and self._monitor.is_due(t_ns):
            remark = self._monitor.push(sample, raw.linear)
            if remark:
                self._say(remark)
        if self._is_awaited:
            return self._wait_for_acceleration(sample)
        return [self._enter(sample if self._is_in_n else self._in_n(sample))]

    def _note_frames(self, raw: RawOdometry) -> None:
        self.base_frame = raw.child_frame_id or self.base_frame
        if not raw.child_frame_id:
            self._say(
                'child_frame_id of the odometry is empty: the twist is taken to be in the '
                f'{"body" if self.settings.twist_frame == "child" else "parent"} frame; '
                'truth.twist_frame (child or parent) chooses'
            )

    def push_rest(self, t_ns: int) -> list[Push]:
        """Take a body at rest at the origin, level, x along that of the world frame."""
        self.received += 1
        at_rest = TruthSample(t_ns, ZERO3, IDENTITY_QUAT, ZERO3, ZERO3, ZERO3)
        return [self._enter(frames.sample_from_enu(at_rest, self.local))]

    def _enter(self, sample: TruthSample) -> Push:
        push = self.track.push(sample)
        if push.arrival is not Arrival.TAKEN:
            self.counts[push.arrival.value] += 1
            if push.arrival in (Arrival.GAP, Arrival.RESET):
                self._monitor.break_off()
        return push

    def _in_n(self, sample: TruthSample) -> TruthSample:
        frame = self.settings.frame
        if frame == 'enu':
            return frames.sample_from_enu(sample, self.local)
        if frame == 'ned':
            return frames.sample_from_ned(sample, self.local)
        if frame == 'ecef':
            return frames.sample_from_ecef(sample, self.local)
        if self._epoch_ns is None:
            given = self.settings.lic_epoch_s
            self._epoch_ns = sample.t_ns if given == AUTO else round(float(given) * NS_PER_S)
        return frames.sample_from_lic(sample, self.local, self._epoch_ns)

    # ------------------------------------------------------------------ acceleration

    def push_acceleration(self, t_ns: int, acceleration: Vec3) -> list[Push]:
        """Take a kinematic acceleration in b [m/s2]; return what it completed."""
        if not all(math.isfinite(x) for x in acceleration) or t_ns < 0:
            self.counts['acceleration not finite'] += 1
            return []
        if self._accelerations and t_ns <= self._accelerations[-1][0]:
            if self._accelerations[-1][0] - t_ns > NS_PER_S:
                self._accelerations.clear()
                self._waiting = deque(s for s in self._waiting if s.t_ns <= t_ns + NS_PER_S)
            else:
                self.counts['acceleration out of order'] += 1
                return []
        self._accelerations.append((t_ns, acceleration))
        return list(self._release())

    def _wait_for_acceleration(self, sample: TruthSample) -> list[Push]:
        if self._waiting and sample.t_ns < self._waiting[-1].t_ns - NS_PER_S:
            self._waiting.clear()
        self._waiting.append(sample)
        if len(self._waiting) > _WAITING:
            self._waiting.popleft()
            self.counts['no acceleration'] += 1
        return list(self._release())

    def _release(self) -> Iterator[Push]:
        """Join the waiting messages whose acceleration is known."""
        while self._waiting and self._accelerations:
            sample = self._waiting[0]
            if sample.t_ns > self._accelerations[-1][0]:
                return
            self._waiting.popleft()
            while len(self._accelerations) > 1 and self._accelerations[1][0] <= sample.t_ns:
                self._accelerations.popleft()
            t0, a0 = self._accelerations[0]
            if sample.t_ns < t0:
                self.counts['no acceleration'] += 1
                continue
            if len(self._accelerations) > 1:
                t1, a1 = self._accelerations[1]
                a0 = mix(a0, a1, (sample.t_ns - t0) / (t1 - t0))
            yield self._enter(self._in_n(sample._replace(a_nb_b=a0)))


def _reason(raw: RawOdometry) -> str:
    """Return why a message cannot be used, or an empty string."""
    numbers = (*raw.position, *raw.q, *raw.linear, *raw.angular)
    if not all(math.isfinite(x) for x in numbers):
        return 'not finite'
    if any(
        abs(x) > limit
        for part, limit in (
            (raw.position, _FARTHEST),
            (raw.q, _LONGEST),
            (raw.linear, _FASTEST),
            (raw.angular, _FASTEST_TURN),
        )
        for x in part
    ):
        return 'absurdly large'
    if quat_norm(raw.q) < 1e-6:
        return 'zero quaternion'
    if raw.t_ns < 0:
        return 'negative stamp'
    return ''
