"""The error chain of three axes: gyroscope or accelerometer, in the order of the signal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from jaguar_sensors_ros.component import StreamFactory
from jaguar_sensors_ros.errors.additive import AdditiveTerms, white_sigma_of
from jaguar_sensors_ros.errors.low_pass import LowPass, Piece
from jaguar_sensors_ros.errors.output import Output
from jaguar_sensors_ros.errors.sensing import REFERENCE_C, Sensing
from jaguar_sensors_ros.errors.stochastic import stationary_sigma
from jaguar_sensors_ros.errors.triad_settings import BiasSettings, TriadSettings
from jaguar_sensors_ros.nav.earth import STANDARD_GRAVITY
from jaguar_sensors_ros.nav.rotation import matrix_times
from jaguar_sensors_ros.types import ZERO3, Mat3, Vec3

#: lengths of interval of which the noise is kept
_MOST_INTERVALS = 64


class Ambience(NamedTuple):
    """What a triad feels besides its input during a sample.

    ``force`` is the true mean specific force in the sensor frame [m/s2], ``temperature_c`` the
    temperature [degC], ``vibration`` the mean square of the vibration on each axis [g^2].
    """

    force: Vec3 = ZERO3
    temperature_c: float = REFERENCE_C
    vibration: Vec3 = ZERO3


#: What the chain made of one sample: mean rate, increment, the rate at the stamp with the same
#: errors (the mean where none is put out), and of them bias and noise.
TriadReading = tuple[Vec3, Vec3, Vec3, Vec3, Vec3]


class Triad:
    """Error chain of a gyroscope or accelerometer triad.

    Low-pass, sensing axes, additive terms, output stage: each is a part of its own.  The random
    terms do not depend on the truth: ``additive`` makes them in blocks, and who owns the triad
    hands them over sample by sample.  :class:`errors.triad_array.TriadArray` puts the same parts
    together for whole arrays.

    Parameters
    ----------
    term : str
        'gyro' or 'accel', part of the names of the random streams.
    streams : StreamFactory
        The random streams of this power cycle.
    """

    def __init__(self, term: str, streams: StreamFactory) -> None:
        self.low_pass, self.output = LowPass(), Output()
        self.sensing = Sensing(term, streams)
        self.additive = AdditiveTerms(term, streams)
        self.configure(TriadSettings(), BiasSettings(), ZERO3, None)

    def configure(
        self,
        settings: TriadSettings,
        bias: BiasSettings,
        lsb: Vec3,
        g_sensitivity: Mat3 | None,
    ) -> None:
        """Take new parameters, in effect from the next sample; states carry on.

        ``lsb`` is the pulse size of increments (0: off), ``g_sensitivity`` the output per
        standard gravity of true specific force.
        """
        self.settings, self.bias = settings, bias
        self.g_sensitivity = g_sensitivity
        self.low_pass.configure(settings.bandwidth_hz)
        self.sensing.configure(settings)
        self.additive.configure(settings, bias)
        self.output.configure(settings.range, settings.resolution, lsb)
        self.feels_ambience = any(settings.temp_bias_coeff) or any(
            settings.vibration_rectification
        )
        self._sigmas: dict[float, Vec3] = {}

    def white_sigma(self, dt_s: float) -> Vec3:
        """Return the standard deviation of the white noise on rates, per axis."""
        sigma = self._sigmas.get(dt_s)
        if sigma is None:
            x, y, z = [white_sigma_of(self.settings, i, dt_s) for i in range(3)]
            if len(self._sigmas) >= _MOST_INTERVALS:
                self._sigmas.clear()
            sigma = self._sigmas[dt_s] = (x, y, z)
        return sigma

    def variance(self, dt_s: float) -> Vec3:
        """Return the variance to publish: white, quantisation, and stationary biases.

        Rounding has the variance step^2 / 12.  Pulses have twice that: with the residue
        carried the error of a sample is the difference of two residues.
        """
        s, lsb = self.settings, self.output.lsb
        values = []
        for i, white in enumerate(self.white_sigma(dt_s)):
            if lsb[i] > 0.0:
                quantisation = (lsb[i] / dt_s) ** 2 / 6.0
            else:
                quantisation = s.resolution[i] ** 2 / 12.0
            slow = stationary_sigma(self.bias.sigma[i], self.bias.tau_s[i], s.bias_model)
            values.append(white**2 + quantisation + slow**2 + s.turn_on_bias_std[i] ** 2)
        return (values[0], values[1], values[2])

    def step(
        self,
        mean: Vec3,
        pieces: Sequence[Piece],
        instant: Vec3 | None,
        terms: Sequence[float],
        dt_s: float,
        ambience: Ambience,
    ) -> TriadReading:
        """Turn ideal increments into what the triad reports for one sample.

        Parameters
        ----------
        mean, pieces
            The ideal mean rate in the sensor frame, and how it ran; see :class:`LowPass`.
        instant : Vec3 or None
            Ideal rate at the stamp; None where it is not put out.
        terms : sequence of float
            The biases of the three axes and their white noise, from ``additive``.
        dt_s : float
            Length of the sample [s].
        ambience : Ambience
            Specific force, temperature and vibration.
        """
        _, temperature_c, _ = ambience
        x, y, z = self.sensing(self.low_pass.mean(mean, pieces, dt_s), temperature_c)
        bias_x, bias_y, bias_z, noise_x, noise_y, noise_z = terms
        if self.feels_ambience:
            ambient_x, ambient_y, ambient_z = self.ambient_bias(ambience)
            bias_x, bias_y, bias_z = bias_x + ambient_x, bias_y + ambient_y, bias_z + ambient_z
        added_x, added_y, added_z = bias_x + noise_x, bias_y + noise_y, bias_z + noise_z
        if self.g_sensitivity is not None:
            felt_x, felt_y, felt_z = self.felt(ambience.force)
            added_x, added_y, added_z = added_x + felt_x, added_y + felt_y, added_z + felt_z
        rate, increment = self.output.step((x + added_x, y + added_y, z + added_z), dt_s)
        at_stamp = rate
        if instant is not None:
            x, y, z = self.sensing(self.low_pass.at_stamp(instant), temperature_c)
            at_stamp = self.output.at_stamp((x + added_x, y + added_y, z + added_z))
        bias, noise = (bias_x, bias_y, bias_z), (noise_x, noise_y, noise_z)
        return rate, increment, at_stamp, bias, noise

    def ambient_bias(self, ambience: Ambience) -> Vec3:
        """Return the biases by temperature and rectified vibration."""
        warmth, (x, y, z) = ambience.temperature_c - REFERENCE_C, ambience.vibration
        a, b, c = self.settings.temp_bias_coeff
        d, e, f = self.settings.vibration_rectification
        return (a * warmth + d * x, b * warmth + e * y, c * warmth + f * z)

    def felt(self, force: Vec3) -> Vec3:
        """Return what the g-sensitivity makes of a specific force [m/s2]."""
        if self.g_sensitivity is None:
            return ZERO3
        x, y, z = matrix_times(self.g_sensitivity, force)
        return (x / STANDARD_GRAVITY, y / STANDARD_GRAVITY, z / STANDARD_GRAVITY)
