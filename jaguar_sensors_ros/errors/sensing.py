"""What the axes of a triad make of the true rate: misalignment, scale, nonlinearity."""

from __future__ import annotations

from jaguar_sensors_ros.component import StreamFactory
from jaguar_sensors_ros.errors.triad_settings import TriadSettings
from jaguar_sensors_ros.nav.rotation import matrix_times, quat_from_rotvec, rotate_back
from jaguar_sensors_ros.types import ZERO3, Mat3, Vec3

_PPM = 1e-6
#: temperature at which the temperature terms are zero [degC]
REFERENCE_C = 25.0
_IDENTITY: Mat3 = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


class Sensing:
    """x = P rate, then x (1 + s + c (T - 25)) + q x^2 / range, per axis.

    P is the cross-axis matrix times the rotation of the misalignment; scale factors and P make
    one matrix, which is made anew when the temperature changes.

    Parameters
    ----------
    term : str
        'gyro' or 'accel', part of the names of the random streams.
    streams : StreamFactory
        Gives what a unit draws once for its seed.
    """

    def __init__(self, term: str, streams: StreamFactory) -> None:
        self._term, self._streams = term, streams

    def _draws(self, name: str, count: int) -> list[float]:
        """Return what the unit draws for a property, ones where it draws nothing."""
        if not self._settings.draw_unit:
            return [1.0] * count
        name = f'{self._term}.{name}'
        return [self._streams.unit_stream(name, str(i))(0) for i in range(count)]

    def configure(self, settings: TriadSettings) -> None:
        """Take new parameters, in effect from the next sample."""
        self._settings = settings
        draws = self._draws('scale_factor', 3)
        self._scales = [
            1.0 + _PPM * s * d for s, d in zip(settings.scale_factor_ppm, draws, strict=True)
        ]
        self._projection = self._project()
        self._quadratic = [
            _PPM * q / full_scale if q else 0.0
            for q, full_scale in zip(settings.nonlinearity_ppm, settings.range, strict=True)
        ]
        self._is_linear = not any(self._quadratic)
        self._warm(REFERENCE_C)

    def _project(self) -> Mat3:
        """Return the cross-axis matrix times the rotation of the misalignment."""
        m, matrix = self._settings.misalignment, self._settings.cross_axis_matrix
        if matrix != _IDENTITY:
            (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = matrix
            c = self._draws('cross_axis', 9)
            matrix = (
                (xx, xy * c[1], xz * c[2]),
                (yx * c[3], yy, yz * c[5]),
                (zx * c[6], zy * c[7], zz),
            )
        if m == ZERO3:
            return matrix
        d = self._draws('misalignment', 3)
        q = quat_from_rotvec((m[0] * d[0], m[1] * d[1], m[2] * d[2]))
        x, y, z = [matrix_times(matrix, rotate_back(q, axis)) for axis in _IDENTITY]
        return ((x[0], y[0], z[0]), (x[1], y[1], z[1]), (x[2], y[2], z[2]))

    def _warm(self, temperature_c: float) -> None:
        """Make the matrix for a temperature."""
        warmth = temperature_c - REFERENCE_C
        coefficients = self._settings.temp_scale_coeff_ppm
        (a, b, c), (d, e, f), (g, h, i) = self._projection
        x, y, z = [s + _PPM * k * warmth for s, k in zip(self._scales, coefficients, strict=True)]
        self._matrix: Mat3 = (
            (x * a, x * b, x * c),
            (y * d, y * e, y * f),
            (z * g, z * h, z * i),
        )
        self._temperature_c = temperature_c
        self._diagonal = (x * a, y * e, z * i)
        self._is_diagonal = self._is_linear and not (b or c or d or f or g or h)

    def __call__(self, rate: Vec3, temperature_c: float) -> Vec3:
        """Return the rate with these errors."""
        if temperature_c != self._temperature_c:
            self._warm(temperature_c)
        x, y, z = rate
        if self._is_diagonal:
            a, e, i = self._diagonal
            return (a * x, e * y, i * z)
        (a, b, c), (d, e, f), (g, h, i) = self._matrix
        seen = (a * x + b * y + c * z, d * x + e * y + f * z, g * x + h * y + i * z)
        return seen if self._is_linear else self._bent(rate, seen)

    def _bent(self, rate: Vec3, seen: Vec3) -> Vec3:
        """Return the rate with the quadratic error."""
        x, y, z = matrix_times(self._projection, rate)
        a, b, c = self._quadratic
        return (seen[0] + a * x * x, seen[1] + b * y * y, seen[2] + c * z * z)
