"""The inertial measurement unit of the Python interface."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from jaguar_sensors_ros import catalogue
from jaguar_sensors_ros.analysis.allan import log_spaced, overlapping_adev
from jaguar_sensors_ros.analysis.static_run import StaticRun
from jaguar_sensors_ros.api.config import ImuConfig
from jaguar_sensors_ros.api.held import HeldForce, turned
from jaguar_sensors_ros.api.measurements import NAN3, ImuMeasurement
from jaguar_sensors_ros.api.sensor import Sensor
from jaguar_sensors_ros.api.values import positive, quaternion, vector
from jaguar_sensors_ros.nav.earth import STANDARD_GRAVITY
from jaguar_sensors_ros.nav.kinematics import Segment
from jaguar_sensors_ros.nav.rotation import add
from jaguar_sensors_ros.redundancy.reading import Reader
from jaguar_sensors_ros.sensors.base import Status
from jaguar_sensors_ros.types import IDENTITY_QUAT, ZERO3, ImuSample, Quat, Vec3


@dataclass(frozen=True, eq=False)
class AllanVarianceResult:
    """Allan deviations of a record at rest, each of shape (k,).

    ``tau`` are the averaging times [s]; the deviations are in [rad/s] and [m/s2].
    """

    tau: NDArray[np.float64]
    adev_gyro_x: NDArray[np.float64]
    adev_gyro_y: NDArray[np.float64]
    adev_gyro_z: NDArray[np.float64]
    adev_accel_x: NDArray[np.float64]
    adev_accel_y: NDArray[np.float64]
    adev_accel_z: NDArray[np.float64]


class ImuSensor(Sensor[ImuConfig, ImuMeasurement]):
    """An inertial measurement unit; see :class:`Sensor`.

    The true values are what a perfect sensor at the origin of the body, along its axes, would
    feel: specific force, +9.80665 m/s2 along z at rest and level, and angular velocity, that of
    the Earth included where it matters.  Nothing is added to them: ``earth.rotation`` and
    ``earth.gravity`` do not act.  Lever arm and mount are taken into account, a change of the
    angular velocity from one value to the next as a change at once.  Until true values are
    set the body is at rest and level.
    """

    config_class = ImuConfig

    def __init__(self) -> None:
        self._force: Vec3 = (0.0, 0.0, STANDARD_GRAVITY)
        self._omega: Vec3 = ZERO3
        self._omega_before: Vec3 | None = None
        self._q: Quat | None = None
        super().__init__()

    # ------------------------------------------------------------------ truth

    def set_true_specific_force(self, force: ArrayLike) -> None:
        """Set the true specific force f_ib_b [m/s2], at the origin of the body in its axes.

        Raises
        ------
        JaguarError
            if it is not three finite numbers; the same holds for the angular velocity.
        """
        self._force = vector('specific force', force, 'm/s2')

    def set_true_angular_velocity(self, rate: ArrayLike) -> None:
        """Set the true angular velocity omega_ib_b [rad/s], in the axes of the body."""
        self._omega = vector('angular velocity', rate, 'rad/s')

    def set_true_state(
        self, force: ArrayLike, rate: ArrayLike, orientation: ArrayLike | None = None
    ) -> None:
        """Set specific force, angular velocity and perhaps the orientation of just now.

        Parameters
        ----------
        force : array_like, shape (3,)
            Specific force f_ib_b [m/s2].
        rate : array_like, shape (3,)
            Angular velocity omega_ib_b [rad/s].
        orientation : array_like, shape (4,), optional
            Quaternion w, x, y, z from the body's axes to east, north, up.  Once given it turns
            with the angular velocity; without one the measurements have none.

        Raises
        ------
        JaguarError
            for numbers that are missing or not finite, or a zero quaternion; nothing changed
            then.
        """
        force_b = vector('specific force', force, 'm/s2')
        omega = vector('angular velocity', rate, 'rad/s')
        q = self._q if orientation is None else quaternion('orientation', orientation)
        first = self._q is None and q is not None
        self._force, self._omega, self._q = force_b, omega, q
        if first and self._on is not None:
            self._take(self.config)

    def _own_values(self) -> dict[str, Any]:
        values: dict[str, Any] = {'earth.rotation': False}
        return values if self._q else {**values, 'orientation.output': 'none'}

    def _piece(self, start_ns: int, end_ns: int) -> Segment:
        before = self._omega if self._omega_before is None else self._omega_before
        return HeldForce(
            start_ns,
            end_ns,
            self._force,
            self._omega,
            before,
            self._q or IDENTITY_QUAT,
            self._core.settings.felt_earth,
        )

    def _passed(self, start_ns: int, end_ns: int) -> None:
        if start_ns == end_ns:
            self._omega_before = None
            return
        self._omega_before = self._omega
        if self._q is not None:
            self._q = turned(self._q, self._omega, end_ns - start_ns)

    # ------------------------------------------------------------------ measurements

    def _made(self, core: Any) -> None:
        self._read = Reader(core)

    def _measured(self, sample: ImuSample, status: Status) -> ImuMeasurement:
        return ImuMeasurement(
            timestamp_ns=sample.t_ns,
            valid=status.valid,
            confidence=status.confidence,
            state=status.state,
            specific_force=sample.specific_force,
            angular_velocity=sample.angular_velocity,
            orientation=sample.orientation,
            temperature_c=sample.temperature_c,
            sample=sample,
            reading=self._read(sample),
        )

    def get_true_measurement(self) -> ImuMeasurement:
        """Return what a perfect sensor said; see :meth:`Sensor.get_true_measurement`."""
        return replace(super().get_true_measurement(), reading=None)

    def _missing(self, timestamp_ns: int) -> ImuMeasurement:
        return ImuMeasurement(timestamp_ns=timestamp_ns)

    def get_accelerometer_output(self) -> Vec3:
        """Return the specific force of the newest measurement [m/s2]; NaN before the first."""
        return self.get_measurement().specific_force

    def get_gyroscope_output(self) -> Vec3:
        """Return the angular velocity of the newest measurement [rad/s]."""
        return self.get_measurement().angular_velocity

    def get_accelerometer_bias(self) -> Vec3:
        """Return the bias simulated in the newest sample [m/s2]; NaN before the first.

        It is the sum of turn-on bias, bias instability, random walk, temperature and rectified
        vibration, with the correction of the calibrations.
        """
        return self._bias('accel')

    def get_gyroscope_bias(self) -> Vec3:
        """Return the bias simulated in the newest sample [rad/s], likewise."""
        return self._bias('gyro')

    def _bias(self, channel: str) -> Vec3:
        if self._last_sample is None:
            return NAN3
        bias: Vec3 = getattr(self._last_sample, f'{channel}_error').bias
        return add(bias, self._core.corrections[channel])

    # ------------------------------------------------------------------ temperature and analysis

    def set_temperature(self, celsius: float) -> None:
        """Set the temperature [degC]; with ``temperature_slew_c_per_s`` it is approached."""
        self.set_parameter('temperature_c', celsius)

    def get_temperature(self) -> float:
        """Return the temperature of the sensor [degC]."""
        return float(self._core.exposure.temperature_c)

    def compute_allan_variance(
        self, duration_s: float, sample_rate_hz: float | None = None
    ) -> AllanVarianceResult:
        """Return the Allan deviation of a record of this sensor at rest and level.

        The record is made apart, from power-on with the seed of the sensor, in fidelity
        realistic; this sensor does not go on and its faults are left out.

        Parameters
        ----------
        duration_s : float
            Length of the record [s].
        sample_rate_hz : float, optional
            Rate of the record [Hz]; that of the sensor unless given.

        Raises
        ------
        JaguarError
            for too short a record, in fidelity transparent, or with added vibration.
        """
        config = self.config
        values = {} if sample_rate_hz is None else {'sample_rate_hz': sample_rate_hz}
        config.update(values)
        if config['fidelity'] == 'fault':
            config['fidelity'] = 'realistic'
        settings: Any = catalogue.make_settings('imu', config.explicit)
        run = StaticRun(settings, config['random_seed'], config.name)
        record = run.record(run.samples(positive('duration_s', duration_s, 's')))
        m = log_spaced(len(record))
        curve = overlapping_adev(record, config.sample_rate_hz, m)
        return AllanVarianceResult(curve.tau, *curve.adev.T)
