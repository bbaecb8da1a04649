"""Several redundant IMUs into one: lever arms, exclusion of outliers, median or weighted mean.

All readings are brought to one place and its axes f.  There, with arm r_i from that place,

  omega_i = C_fs omega_s,      f_i = C_fs f_s - omega x (omega x r_i) - alpha x r_i,

with the fused omega and its backward difference alpha, which lags by half a sample.  What the lag
may do (the change of alpha since the sample before) is allowed for when inputs are judged.

Covariances: weighted, sum of w_i P_i w_i with w_i = var_i^-1 / sum var^-1 of each axis, hence
1 / sum var^-1 where P is diagonal; median, its variance by order statistics.  To that of the
specific force comes what the noise of omega and alpha does on the mean arm.  The noise of alpha is
that of two samples over the interval: of successive samples it is correlated by -1/2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from jaguar_sensors_ros.nav.rotation import norm, quat_from_rpy, scale, subtract
from jaguar_sensors_ros.redundancy import fusion, tolerance
from jaguar_sensors_ros.redundancy.disagreement import suspects
from jaguar_sensors_ros.redundancy.placed import Placed, Turn, moved, placed
from jaguar_sensors_ros.redundancy.reading import EXACT, Reading
from jaguar_sensors_ros.redundancy.settings import VotingSettings
from jaguar_sensors_ros.sensors.imu import ImuCovariances
from jaguar_sensors_ros.types import NS_PER_S, ZERO3, JaguarError, Quat, Vec3

MISSING, DIFFERS, PROBATION = 'no sample', 'disagrees', 'on probation'


@dataclass(frozen=True)
class Vote:
    """What became of the readings of one instant; one element per input.

    ``fused`` is None where no output is given, ``problem`` says why.  Residuals are the distances
    from the fused values [rad/s], [m/s2], NaN where there is no reading.
    """

    fused: Reading | None
    problem: str
    used: tuple[bool, ...]
    reasons: tuple[str, ...]
    gyro_residual: tuple[float, ...]
    accel_residual: tuple[float, ...]


class Voter:
    """Fuses the readings of one instant after another.

    Parameters
    ----------
    count : int
        Number of inputs.
    settings : VotingSettings
        How; may be replaced at any time.
    period_ns : int
        Sample interval [ns]; after a longer pause alpha is not known, and where there are lever
        arms nothing is fused.
    steady : bool
        Take alpha for zero where it is not known.
    """

    def __init__(
        self, count: int, settings: VotingSettings, period_ns: int, steady: bool = False
    ) -> None:
        self.settings = settings
        self._steady = steady
        self._period_ns = period_ns
        self._probation = [0] * count
        self._before: tuple[int, Turn] | None = None

    def vote(self, readings: Sequence[Reading | None], t_ns: int) -> Vote:
        """Fuse the readings of the instant ``t_ns`` [ns]; None where an input gave none."""
        place = self._place()
        present = [i for i, r in enumerate(readings) if r is not None]
        reasons = ['' if i in present else MISSING for i in range(len(readings))]
        items = [placed(r, *place) for r in readings if r is not None]
        if not items:
            return self._none(reasons, 'no samples')
        apart = self._judge_rates(items)
        trusted = self._among(items, present, apart)
        turn = self._turn(trusted, t_ns)
        known = turn.alpha is not None or self._steady or all(i.arm == ZERO3 for i in items)
        forces = [moved(item, turn) for item in items]
        if known:
            apart = self._judge_forces(items, forces, turn, apart)
        chosen = self._admit(present, apart, reasons) if known else []
        if chosen and [id(items[i]) for i in chosen] != [id(item) for item in trusted]:
            turn = self._turn([items[i] for i in chosen], t_ns)
            forces = [moved(item, turn) for item in items]
        self._before = (t_ns, turn)
        problem = self._problem(known, apart, chosen)
        if problem:
            return self._none(reasons, problem)
        fused = self._fused([items[i] for i in chosen], [forces[i] for i in chosen], turn, t_ns)
        used = {present[i] for i in chosen}
        return Vote(
            fused,
            '',
            tuple(i in used for i in range(len(readings))),
            tuple(reasons),
            _distances(present, [item.rate for item in items], turn.omega, len(readings)),
            _distances(present, forces, fused.specific_force, len(readings)),
        )

    def _place(self) -> tuple[Vec3, Quat]:
        mount = self.settings.mount
        return mount.position, _quat(mount.rpy)

    @staticmethod
    def _none(reasons: Sequence[str], problem: str) -> Vote:
        count = len(reasons)
        nan = (math.nan,) * count
        told = tuple(reason or problem for reason in reasons)
        return Vote(None, problem, (False,) * count, told, nan, nan)

    # ------------------------------------------------------------------ who disagrees

    def _judge_rates(self, items: Sequence[Placed]) -> list[bool]:
        s = self.settings
        if s.method == 'median':
            return [False] * len(items)
        variances = [tolerance.rate_variance(item, s.allowance.gyro) for item in items]
        slacks = [0.0] * len(items)
        return suspects([item.rate for item in items], variances, slacks, s.false_alarm)

    def _judge_forces(
        self, items: Sequence[Placed], forces: Sequence[Vec3], turn: Turn, apart: list[bool]
    ) -> list[bool]:
        s = self.settings
        if s.method == 'median':
            return apart
        variances = [tolerance.force_variance(item, turn, s.allowance.accel) for item in items]
        slacks = tolerance.lag_slack(items, turn)
        found = suspects(forces, variances, slacks, s.false_alarm)
        return [a or b for a, b in zip(apart, found, strict=True)]

    def _among(
        self, items: Sequence[Placed], present: Sequence[int], apart: Sequence[bool]
    ) -> list[Placed]:
        """Return those whose angular rate counts before the specific forces are judged."""
        good = [item for item, out in zip(items, apart, strict=True) if not out]
        trusted = [
            item
            for i, item, out in zip(present, items, apart, strict=True)
            if not (out or self._probation[i])
        ]
        return trusted or good or list(items)

    def _admit(
        self, present: Sequence[int], apart: Sequence[bool], reasons: list[str]
    ) -> list[int]:
        """Return which of those present are used; keep account of probation."""
        chosen = []
        for place, (i, out) in enumerate(zip(present, apart, strict=True)):
            if out:
                self._probation[i] = self.settings.readmit_after
                reasons[i] = DIFFERS
            elif self._probation[i]:
                self._probation[i] -= 1
                reasons[i] = PROBATION
            else:
                chosen.append(place)
        return chosen

    def _problem(self, known: bool, apart: Sequence[bool], chosen: Sequence[int]) -> str:
        """Return why there is no output, or an empty string."""
        if not known:
            return 'angular acceleration not known yet'
        if 2 * sum(apart) > len(apart):
            return 'no majority agrees'
        if len(chosen) < self.settings.min_inputs:
            return 'too few inputs'
        return ''

    # ------------------------------------------------------------------ the fused sample

    def follow(self, before: Reading) -> None:
        """Take a fused reading as that of the sample before."""
        covariance = before.covariances.angular_velocity
        white = before.systematic.gyro_white or (covariance[0], covariance[4], covariance[8])
        self._before = (before.t_ns, Turn(before.angular_velocity, covariance, white))

    def _turn(self, items: Sequence[Placed], t_ns: int) -> Turn:
        """Return the fused angular velocity and acceleration."""
        method = self.settings.method
        omega, covariance = fusion.combined(
            [item.rate for item in items], tuple(item.rate_covariance for item in items), method
        )
        white = fusion.white_part(items, method)
        if self._before is None or not 0 < t_ns - self._before[0] < 1.5 * self._period_ns:
            return Turn(omega, covariance, white)
        dt_s = (t_ns - self._before[0]) / NS_PER_S
        before = self._before[1]
        alpha = scale(subtract(omega, before.omega), 1.0 / dt_s)
        change = subtract(alpha, before.alpha or ZERO3)
        return Turn(omega, covariance, white, alpha, change, before.white, dt_s)

    def _fused(
        self, items: Sequence[Placed], forces: Sequence[Vec3], turn: Turn, t_ns: int
    ) -> Reading:
        method = self.settings.method
        matrices = tuple(item.force_covariance for item in items)
        force, _ = fusion.combined(forces, matrices, method)
        covariance = fusion.force_covariance(items, turn, method)
        oriented = min(items, key=lambda item: item.orientation_variance)
        position, q_bf = self._place()
        return Reading(
            t_ns,
            turn.omega,
            force,
            oriented.orientation,
            ImuCovariances(oriented.orientation_covariance, turn.covariance, covariance),
            position,
            q_bf,
            replace(EXACT, gyro_white=turn.white),
        )


_quat = lru_cache(maxsize=64)(quat_from_rpy)


def _distances(
    present: Sequence[int], values: Sequence[Vec3], centre: Vec3, count: int
) -> tuple[float, ...]:
    found = [math.nan] * count
    for i, value in zip(present, values, strict=True):
        found[i] = norm(subtract(value, centre))
    return tuple(found)


def fuse(
    readings: Sequence[Reading],
    before: Reading | None = None,
    settings: VotingSettings | None = None,
) -> Reading:
    """Return one reading made of those of several IMUs at one instant.

    Parameters
    ----------
    readings : sequence of Reading
        Of one stamp.
    before : Reading or None
        What this function returned for the sample before; from both comes the angular
        acceleration.  None: there is none.
    settings : VotingSettings or None
        Method and limits; None: weighted.

    Raises
    ------
    JaguarError
        if there is no reading, the stamps differ, or too few agree.
    """
    stamps = {reading.t_ns for reading in readings}
    if len(stamps) != 1:
        raise JaguarError(f'readings of one stamp are needed, not of {len(stamps)}')
    (t_ns,) = stamps
    used = settings or VotingSettings()
    if before is None:
        voter = Voter(len(readings), used, NS_PER_S, steady=True)
    elif before.t_ns < t_ns:
        voter = Voter(len(readings), used, t_ns - before.t_ns)
        voter.follow(before)
    else:
        raise JaguarError(f'the reading before is stamped {before.t_ns} ns, not before {t_ns} ns')
    vote = voter.vote(readings, t_ns)
    if vote.fused is None:
        raise JaguarError(f'not fused: {vote.problem}')
    return vote.fused
