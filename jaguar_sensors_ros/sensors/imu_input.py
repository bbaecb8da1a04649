"""The ideal increments of an IMU, collected from piece to piece of the truth."""

from __future__ import annotations

import math
from itertools import pairwise

from jaguar_sensors_ros.errors.low_pass import Piece, substeps
from jaguar_sensors_ros.errors.vibration import Vibration
from jaguar_sensors_ros.nav.kinematics import Segment, changes_of, increments_of_parts
from jaguar_sensors_ros.nav.rotation import add, rotate_back
from jaguar_sensors_ros.sensors.imu_settings import ImuSettings
from jaguar_sensors_ros.types import IDENTITY_QUAT, NS_PER_S, ZERO3, Quat, Vec3


class InertialInput:
    """What the triads take in during a sample, in the axes of the sensor.

    Where a triad has a low-pass, it is told how the rate ran: by its change in each piece of the
    truth, where rates are nearly linear within it, or in short steps where they are not, or
    vibration is added.
    """

    def __init__(self) -> None:
        self.vibration: Vibration | None = None
        #: zero of the time of the vibration [ns]
        self.power_on_ns = 0
        #: integral of the vibration over the sample so far [m/s]
        self.shaken = ZERO3
        self.mount(ZERO3, IDENTITY_QUAT)
        self.forget()

    def configure(self, settings: ImuSettings) -> None:
        """Take the Earth, the low-passes and the sample rate; the vibration is set before."""
        self._shakes = self.vibration is not None and self.vibration.active
        self._earth = settings.felt_earth
        self._gyro_is_filtered = settings.gyro.bandwidth_hz != ZERO3
        self._accel_is_filtered = settings.accel.bandwidth_hz != ZERO3
        self._is_filtered = self._gyro_is_filtered or self._accel_is_filtered
        self._period_ns = NS_PER_S / settings.sample_rate_hz
        corner_hz = max(*settings.gyro.bandwidth_hz, *settings.accel.bandwidth_hz)
        self._steps = substeps(corner_hz, 1.0 / settings.sample_rate_hz)

    def mount(self, arm: Vec3, q_bs: Quat) -> None:
        """Take the lever arm in b [m] and the attitude of the sensor in b."""
        self._arm, self._q_bs, self._is_turned = arm, q_bs, q_bs != IDENTITY_QUAT

    def forget(self) -> None:
        """Begin a new sample."""
        self._theta, self._velocity = ZERO3, ZERO3
        self._is_empty = True
        self._gyro: list[Piece] = []
        self._accel: list[Piece] = []

    def take(self) -> tuple[Vec3, Vec3, list[Piece], list[Piece]]:
        """Return delta_theta [rad], delta_v [m/s] and how both ran; begin a new sample."""
        taken = self._theta, self._velocity, self._gyro, self._accel
        self._is_empty = True
        if self._is_filtered:
            self._gyro, self._accel = [], []
        return taken

    def integrate(self, segment: Segment, from_ns: int, to_ns: int) -> None:
        """Add the increments between two times [ns] within a piece of the truth."""
        if self._is_filtered and (self._shakes or not segment.is_smooth):
            self._in_steps(segment, from_ns, to_ns)
            return
        whole = part = segment.increments(from_ns, to_ns, self._earth, self._arm)
        if self._shakes or self._is_turned:
            part = self._felt(whole, from_ns, to_ns)
        self._add(part)
        if self._is_filtered:
            changes = changes_of(segment, from_ns, to_ns, self._earth, self._arm, whole)
            if self._is_turned:
                q = self._q_bs
                changes = rotate_back(q, changes[0]), rotate_back(q, changes[1])
            self._keep((to_ns - from_ns) / NS_PER_S, part, changes)

    def _in_steps(self, segment: Segment, from_ns: int, to_ns: int) -> None:
        """Add the increments in steps that the low-passes may take as constant."""
        span_ns = to_ns - from_ns
        share = min(span_ns / self._period_ns, 1.0)
        count = min(math.ceil(self._steps * share), span_ns)
        cuts = [from_ns + span_ns * i // count for i in range(count + 1)]
        parts = increments_of_parts(segment, cuts, self._earth, self._arm)
        for part, (start_ns, end_ns) in zip(parts, pairwise(cuts), strict=True):
            felt = self._felt(part, start_ns, end_ns)
            self._add(felt)
            self._keep((end_ns - start_ns) / NS_PER_S, felt, (ZERO3, ZERO3))

    def _felt(self, part: tuple[Vec3, Vec3], from_ns: int, to_ns: int) -> tuple[Vec3, Vec3]:
        """Return increments in the axes of the sensor, with the vibration."""
        theta, velocity = part
        if self._is_turned:
            theta, velocity = rotate_back(self._q_bs, theta), rotate_back(self._q_bs, velocity)
        if self.vibration is not None and self.vibration.active:
            on_ns = self.power_on_ns
            shaken = self.vibration.increment(from_ns - on_ns, to_ns - on_ns)
            self.shaken = add(self.shaken, shaken)
            velocity = add(velocity, shaken)
        return theta, velocity

    def _add(self, part: tuple[Vec3, Vec3]) -> None:
        if self._is_empty:
            self._theta, self._velocity = part
            self._is_empty = False
        else:
            self._theta = add(self._theta, part[0])
            self._velocity = add(self._velocity, part[1])

    def _keep(
        self, length_s: float, increments: tuple[Vec3, Vec3], changes: tuple[Vec3, Vec3]
    ) -> None:
        """Keep for the low-passes how the rates ran."""
        if self._gyro_is_filtered:
            self._gyro.append((length_s, increments[0], changes[0]))
        if self._accel_is_filtered:
            self._accel.append((length_s, increments[1], changes[1]))
