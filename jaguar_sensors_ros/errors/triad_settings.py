"""Parameters of the error chain of three axes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from jaguar_sensors_ros.component import ParameterError, parameter, vector
from jaguar_sensors_ros.types import ZERO3, Mat3, Vec3

AXES = 'xyz'


@dataclass(frozen=True)
class TriadSettings:
    """Error parameters of a triad; {unit} is rad/s for a gyroscope, m/s2 for accelerometers."""

    white_noise_density: Vec3 = vector(
        0.0,
        'White noise as angle or velocity random walk N; standard deviation N / sqrt(dt) on '
        'rates. Two-sided density: PSD of N^2.',
        unit='{unit}/sqrt(Hz)',
        minimum=0.0,
        source='IEEE Std 952-1997',
    )
    white_noise_psd: Vec3 = vector(
        0.0,
        'White noise as a one-sided power spectral density instead of a random walk: '
        'N = sqrt(PSD / 2), or a standard deviation sqrt(PSD x bandwidth) where a bandwidth '
        'is given.',
        unit='({unit})^2/Hz',
        minimum=0.0,
        source='document 000',
    )
    white_noise_bandwidth: Vec3 = vector(
        0.0,
        'Noise bandwidth that belongs to white_noise_psd; 0: that of the sample rate.',
        unit='Hz',
        minimum=0.0,
        source='document 000',
    )
    bias_model: str = parameter(
        'gauss_markov',
        'Model of the bias instability: one Gauss-Markov process of the given standard '
        'deviation, or flicker noise whose Allan floor is 0.664 times the given coefficient.',
        kind='string',
        choices=('gauss_markov', 'flicker'),
    )
    turn_on_bias_std: Vec3 = vector(
        0.0, 'Standard deviation of the bias drawn at each power-on.', unit='{unit}', minimum=0.0
    )
    random_walk: Vec3 = vector(
        0.0, 'Rate random walk K; the variance grows as K^2 t.', unit='{unit}/sqrt(s)', minimum=0.0
    )
    scale_factor_ppm: Vec3 = vector(0.0, 'Scale factor error.', unit='ppm')
    nonlinearity_ppm: Vec3 = vector(
        0.0, 'Quadratic scale factor error at full scale; needs a range.', unit='ppm'
    )
    misalignment: Vec3 = vector(
        0.0, 'Rotation vector from the true to the sensing axes, small or not.', unit='rad'
    )
    cross_axis: tuple[float, ...] = parameter(
        0.0,
        'Cross-axis sensitivity: one number for all off-diagonal elements, or the whole matrix '
        'row by row; 0 or the identity switches it off.',
        kind='vector',
        sizes=(1, 9),
    )
    temp_bias_coeff: Vec3 = vector(
        0.0,
        'Bias per degree from 25 degC.',
        unit='({unit})/degC',
        source='document 000',
    )
    temp_scale_coeff_ppm: Vec3 = vector(
        0.0, 'Scale factor error per degree from 25 degC.', unit='ppm/degC', source='document 000'
    )
    vibration_rectification: Vec3 = vector(
        0.0,
        'Bias per mean square of the vibration: of the alternating part of the specific force '
        'over the last second, of vibration.lines and vibration.psd, and of vibration_grms.',
        unit='({unit})/g^2',
        source='document 000',
    )
    range: Vec3 = vector(
        0.0, 'Saturation at plus and minus this value; 0: off.', unit='{unit}', minimum=0.0
    )
    resolution: Vec3 = vector(
        0.0,
        'Outputs are rounded to multiples of this, without a residue; 0: off.',
        unit='{unit}',
        minimum=0.0,
    )
    bandwidth_hz: Vec3 = vector(
        0.0, 'Corner of a first-order low-pass before sampling; 0: off.', unit='Hz', minimum=0.0
    )
    draw_unit: bool = parameter(
        False,
        'Take scale_factor_ppm, misalignment and cross_axis as standard deviations of a '
        'population: each axis draws its own, fixed for the seed. A grade sets it for its own '
        'numbers; where one of the three is given explicitly it is off unless it is set.',
        kind='boolean',
    )

    def __post_init__(self) -> None:
        if any(self.white_noise_psd) and any(self.white_noise_density):
            raise ParameterError(
                'white_noise_psd',
                self.white_noise_psd,
                'must be 0 where white_noise_density is set: one noise, one parameter',
            )
        pairs = zip(self.nonlinearity_ppm, self.range, strict=True)
        if any(quadratic and not full_scale for quadratic, full_scale in pairs):
            raise ParameterError(
                'nonlinearity_ppm', self.nonlinearity_ppm, 'needs a range > 0 as its full scale'
            )
        if abs(_determinant(self.cross_axis_matrix)) < 1e-6:
            raise ParameterError(
                'cross_axis', self.cross_axis, 'must be a matrix that is not singular'
            )

    @cached_property
    def cross_axis_matrix(self) -> Mat3:
        """The cross-axis matrix as given."""
        c = self.cross_axis
        if len(c) == 1:
            k = c[0]
            return ((1.0, k, k), (k, 1.0, k), (k, k, 1.0))
        return ((c[0], c[1], c[2]), (c[3], c[4], c[5]), (c[6], c[7], c[8]))


def _determinant(m: Mat3) -> float:
    (a, b, c), (d, e, f), (g, h, i) = m
    return a * (e * i - f * h) - b * (d * i - f * g) + c * (d * h - e * g)


@dataclass(frozen=True)
class BiasSettings:
    """Bias instability of a triad: standard deviation and correlation time [s] per axis."""

    sigma: Vec3 = ZERO3
    tau_s: Vec3 = (3600.0, 3600.0, 3600.0)
