"""The error chain of three axes: gyroscope or accelerometer, in the order of the signal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from jaguar_sensors_ros.component import (
    NormalRows,
    ParameterError,
    StreamFactory,
    parameter,
    vector,
)
from jaguar_sensors_ros.errors.quantisation import PulseQuantiser, round_to
from jaguar_sensors_ros.errors.stochastic import (
    BiasInstability,
    RandomWalk,
    stationary_sigma,
    white_sigma,
)
from jaguar_sensors_ros.nav.earth import STANDARD_GRAVITY
from jaguar_sensors_ros.nav.rotation import (
    matrix_times,
    quat_from_rotvec,
    rotate_back,
)
from jaguar_sensors_ros.types import ZERO3, Mat3, Vec3

AXES = 'xyz'
_PPM = 1e-6
#: lengths of interval of which the constants are kept
_MOST_INTERVALS = 64
#: temperature at which the temperature terms are zero [degC]
REFERENCE_C = 25.0
_IDENTITY: Mat3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


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


@dataclass(slots=True)
class Ambience:
    """What a triad feels besides its input during a sample.

    ``force`` is the true mean specific force in the sensor frame [m/s2], ``temperature_c`` the
    temperature [degC], ``vibration`` the mean square of the vibration on each axis [g^2].
    """

    force: Vec3 = ZERO3
    temperature_c: float = REFERENCE_C
    vibration: Vec3 = ZERO3


@dataclass(slots=True)
class TriadReading:
    """What the chain made of one sample: mean rate, increment, and its parts per axis.

    ``instant`` is the rate at the stamp with the same errors.
    """

    rate: Vec3
    increment: Vec3
    instant: Vec3
    bias: Vec3
    noise: Vec3


class Triad:
    """Error chain of a gyroscope or accelerometer triad.

    :class:`errors.triad_array.TriadArray` does the same for whole arrays at rest: a term that is
    added here is added there.

    Parameters
    ----------
    term : str
        'gyro' or 'accel', part of the names of the random streams.
    settings, bias, lsb
        What it models; ``lsb`` is the pulse size of increments (0: off).  May be replaced by
        :meth:`configure` at any time.
    g_sensitivity : Mat3 or None
        Output per standard gravity of true specific force.
    streams : StreamFactory
        The random streams of this power cycle.
    """

    def __init__(self, term: str, streams: StreamFactory) -> None:
        self.term = term
        self._white = NormalRows(streams.triad(f'{term}.white_noise', AXES))
        self._turn_on = [streams.stream(f'{term}.turn_on_bias', axis)(0) for axis in AXES]
        self._instability = [
            BiasInstability(streams, f'{term}.bias_instability', axis) for axis in AXES
        ]
        walks = streams.triad(f'{term}.random_walk', AXES)
        self._walk = [RandomWalk(stream) for stream in walks]
        self._scale_draw = self._unit_draw(streams, 'scale_factor', 3)
        self._misalignment_draw = self._unit_draw(streams, 'misalignment', 3)
        self._cross_draw = self._unit_draw(streams, 'cross_axis', 9)
        self._quantisers = [PulseQuantiser() for _ in AXES]
        self._filtered: Vec3 | None = None
        self.configure(TriadSettings(), BiasSettings(), ZERO3, None)

    def _unit_draw(self, streams: StreamFactory, name: str, count: int) -> list[float]:
        return [streams.unit_stream(f'{self.term}.{name}', str(i))(0) for i in range(count)]

    def configure(
        self,
        settings: TriadSettings,
        bias: BiasSettings,
        lsb: Vec3,
        g_sensitivity: Mat3 | None,
    ) -> None:
        """Take new parameters, in effect from the next sample; states carry on."""
        self.settings, self.bias, self.lsb = settings, bias, lsb
        self._g_sensitivity = g_sensitivity
        drawn = settings.draw_unit
        self._scale = tuple(
            1.0 + _PPM * s * (self._scale_draw[i] if drawn else 1.0)
            for i, s in enumerate(settings.scale_factor_ppm)
        )
        self._projection = self._project(drawn)
        self._slow = [
            (i, settings.turn_on_bias_std[i] * draw, self._instability[i], self._walk[i])
            for i, draw in enumerate(self._turn_on)
        ]
        self._warm_scale = tuple(_PPM * c for c in settings.temp_scale_coeff_ppm)
        self._quadratic = tuple(_PPM * q for q in settings.nonlinearity_ppm)
        self._feels_ambience = any(settings.temp_bias_coeff) or any(
            settings.vibration_rectification
        )
        self._corner_rates = tuple(2.0 * math.pi * corner for corner in settings.bandwidth_hz)
        self._sigmas: dict[float, Vec3] = {}
        self._gains: dict[float, Vec3] = {}

    def _project(self, drawn: bool) -> Mat3 | None:
        """Return cross-axis matrix times misalignment rotation, or None for the identity."""
        m = self.settings.misalignment
        matrix = self.settings.cross_axis_matrix
        if drawn:
            d = self._misalignment_draw
            m = (m[0] * d[0], m[1] * d[1], m[2] * d[2])
            c = self._cross_draw
            rows = [
                tuple(
                    matrix[i][j] * (1.0 if i == j else c[3 * i + j]) for j in range(3)
                )
                for i in range(3)
            ]
            matrix = (_row(rows[0]), _row(rows[1]), _row(rows[2]))
        if m == ZERO3 and matrix == _IDENTITY:
            return None
        q = quat_from_rotvec(m)
        columns = [matrix_times(matrix, rotate_back(q, axis)) for axis in _IDENTITY]
        x, y, z = columns
        return ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))

    def substeps(self, dt_s: float) -> int:
        """Return into how many parts an interval is cut for the low-pass (1: no filter).

        Ten keep a tone just below the sample rate within 0.3 dB; beyond a hundred the mean over
        the interval, not the low-pass, decides.
        """
        corner = max(self.settings.bandwidth_hz)
        return 1 if corner == 0.0 else math.ceil(min(max(10.0, 16.0 * corner * dt_s), 100.0))

    def white_sigma(self, dt_s: float) -> Vec3:
        """Return the standard deviation of the white noise on rates, per axis."""
        sigma = self._sigmas.get(dt_s)
        if sigma is None:
            s = self.settings
            sigma = _row([
                white_sigma(s.white_noise_density[i], psd, s.white_noise_bandwidth[i], dt_s)
                for i, psd in enumerate(s.white_noise_psd)
            ])
            _remember(self._sigmas, dt_s, sigma)
        return sigma

    def variance(self, dt_s: float) -> Vec3:
        """Return the variance to publish: white, quantisation, and stationary biases.

        Rounding has the variance step^2 / 12.  Pulses have twice that: with the residue
        carried the error of a sample is the difference of two residues.
        """
        s = self.settings
        values = []
        for i, white in enumerate(self.white_sigma(dt_s)):
            if self.lsb[i] > 0.0:
                quantisation = (self.lsb[i] / dt_s) ** 2 / 6.0
            else:
                quantisation = s.resolution[i] ** 2 / 12.0
            slow = stationary_sigma(self.bias.sigma[i], self.bias.tau_s[i], s.bias_model)
            values.append(white**2 + quantisation + slow**2 + s.turn_on_bias_std[i] ** 2)
        return (values[0], values[1], values[2])

    def step(
        self,
        parts: Sequence[Vec3],
        durations_s: Sequence[float],
        whole: Vec3,
        instant: Vec3 | None,
        tick: int,
        dt_s: float,
        ambience: Ambience,
    ) -> TriadReading:
        """Turn ideal increments into what the triad reports for one sample.

        Parameters
        ----------
        parts, durations_s : sequence of Vec3, of float
            The ideal increments of the substeps of the sample, in the sensor frame, and the
            lengths of the substeps [s].
        whole : Vec3
            Their sum.
        instant : Vec3 or None
            Ideal rate at the stamp; None where it is not put out.
        tick : int
            Number of the sample since power-on.
        dt_s : float
            Length of the sample [s].
        ambience : Ambience
            Specific force, temperature and vibration.
        """
        mean = self._projected(self._low_pass(parts, durations_s, whole, dt_s))
        added, bias, noise = self._additive(tick, dt_s, ambience)
        warmth = ambience.temperature_c - REFERENCE_C
        x, increment_x = self._output(0, self._scaled(0, mean[0], warmth) + added[0], dt_s)
        y, increment_y = self._output(1, self._scaled(1, mean[1], warmth) + added[1], dt_s)
        z, increment_z = self._output(2, self._scaled(2, mean[2], warmth) + added[2], dt_s)
        rate = (x, y, z)
        at_stamp = rate if instant is None else self._at_stamp(instant, added, warmth)
        increment = (increment_x, increment_y, increment_z)
        return TriadReading(rate, increment, at_stamp, bias, noise)

    def _at_stamp(self, instant: Vec3, added: Vec3, warmth: float) -> Vec3:
        """Return the rate at the stamp after the chain, without pulses."""
        seen = self._projected(self._passed(instant))
        scaled = [self._scaled(i, seen[i], warmth) + added[i] for i in range(3)]
        return _row([self._instant_output(i, value) for i, value in enumerate(scaled)])

    def _passed(self, instant: Vec3) -> Vec3:
        """Return the rate at the stamp behind the low-pass, of the axes that have one."""
        if self._filtered is None:
            return instant
        corners = self.settings.bandwidth_hz
        return _row([self._filtered[i] if corners[i] else instant[i] for i in range(3)])

    def _projected(self, rate: Vec3) -> Vec3:
        return rate if self._projection is None else matrix_times(self._projection, rate)

    def break_off(self) -> None:
        """Let the low-pass start anew: what came before a gap in the truth is over."""
        self._filtered = None

    def _low_pass(
        self, parts: Sequence[Vec3], durations_s: Sequence[float], whole: Vec3, dt_s: float
    ) -> Vec3:
        """Return the mean rate, after the low-pass where there is one.

        First order on substeps: the integral of its output over a step is the integral of the
        input less (y - y_before) / (2 pi fc), so no angle is lost.
        """
        if self.settings.bandwidth_hz == ZERO3:
            self._filtered = None
            return (whole[0] / dt_s, whole[1] / dt_s, whole[2] / dt_s)
        if self._filtered is None:
            (x, y, z), duration_s = parts[0], durations_s[0]
            self._filtered = (x / duration_s, y / duration_s, z / duration_s)
        before = out_x, out_y, out_z = self._filtered
        gains = self._gains
        for (x, y, z), duration_s in zip(parts, durations_s, strict=True):
            gain_x, gain_y, gain_z = gains.get(duration_s) or self._gain(duration_s)
            out_x += gain_x * (x / duration_s - out_x)
            out_y += gain_y * (y / duration_s - out_y)
            out_z += gain_z * (z / duration_s - out_z)
        self._filtered = (out_x, out_y, out_z)
        x, y, z = whole
        rate_x, rate_y, rate_z = self._corner_rates
        if rate_x:
            x -= (out_x - before[0]) / rate_x
        if rate_y:
            y -= (out_y - before[1]) / rate_y
        if rate_z:
            z -= (out_z - before[2]) / rate_z
        return (x / dt_s, y / dt_s, z / dt_s)

    def _gain(self, duration_s: float) -> Vec3:
        """Return how far the low-passes go in a substep; 0 for an axis that has none."""
        gain = _row([-math.expm1(-omega * duration_s) for omega in self._corner_rates])
        _remember(self._gains, duration_s, gain)
        return gain

    def _scaled(self, i: int, x: float, warmth: float) -> float:
        scaled = x * (self._scale[i] + self._warm_scale[i] * warmth)
        quadratic = self._quadratic[i]
        if quadratic != 0.0:
            scaled += quadratic * x * x / self.settings.range[i]
        return scaled

    def _additive(self, tick: int, dt_s: float, ambience: Ambience) -> tuple[Vec3, Vec3, Vec3]:
        """Return the sum of the additive terms, the part that is bias, and the white noise."""
        sigma, model = self.bias.sigma, self.settings.bias_model
        tau_s, coefficient = self.bias.tau_s, self.settings.random_walk
        x, y, z = [
            offset + instability.step(tick, dt_s, sigma[i], tau_s[i], model)
            + walk.step(tick, dt_s, coefficient[i])
            for i, offset, instability, walk in self._slow
        ]
        if self._feels_ambience:
            x += self.ambient_bias(0, ambience)
            y += self.ambient_bias(1, ambience)
            z += self.ambient_bias(2, ambience)
        sigma_x, sigma_y, sigma_z = self.white_sigma(dt_s)
        white_x, white_y, white_z = self._white(tick)
        noise = (sigma_x * white_x, sigma_y * white_y, sigma_z * white_z)
        total = (x + noise[0], y + noise[1], z + noise[2])
        if self._g_sensitivity is not None:
            felt = matrix_times(self._g_sensitivity, ambience.force)
            total = (
                total[0] + felt[0] / STANDARD_GRAVITY,
                total[1] + felt[1] / STANDARD_GRAVITY,
                total[2] + felt[2] / STANDARD_GRAVITY,
            )
        return total, (x, y, z), noise

    def ambient_bias(self, i: int, ambience: Ambience) -> float:
        """Return the bias of one axis by temperature and rectified vibration."""
        s = self.settings
        warmth = ambience.temperature_c - REFERENCE_C
        rectified = s.vibration_rectification[i] * ambience.vibration[i]
        return s.temp_bias_coeff[i] * warmth + rectified

    def _output(self, i: int, value: float, dt_s: float) -> tuple[float, float]:
        """Saturate and quantise; return (rate, increment)."""
        limit = self.settings.range[i]
        if limit != 0.0:
            value = min(max(value, -limit), limit)
        if self.lsb[i] > 0.0:
            increment = self._quantisers[i].step(value * dt_s, self.lsb[i])
            return increment / dt_s, increment
        step = self.settings.resolution[i]
        if step > 0.0:
            value = round_to(value, step)
        return value, value * dt_s

    def _instant_output(self, i: int, value: float) -> float:
        limit, step = self.settings.range[i], self.settings.resolution[i]
        if limit != 0.0:
            value = min(max(value, -limit), limit)
        return value if self.lsb[i] > 0.0 or step == 0.0 else round_to(value, step)


def _remember(table: dict[float, Vec3], key: float, values: Vec3) -> None:
    """Keep what belongs to an interval; a grid has few lengths of interval."""
    if len(table) >= _MOST_INTERVALS:
        table.clear()
    table[key] = values


def _row(values: Sequence[float]) -> Vec3:
    return (values[0], values[1], values[2])
