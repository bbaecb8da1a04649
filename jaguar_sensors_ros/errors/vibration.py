"""Vibration that the truth does not contain: lines and a spectrum, felt by the accelerometers.

It is an input on the side of the truth: a perfect sensor feels it too, and the low-pass, the
aliasing of the sampling and the rectification act on it.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from jaguar_sensors_ros.component import ParameterError, StreamFactory, parameter
from jaguar_sensors_ros.nav.earth import STANDARD_GRAVITY
from jaguar_sensors_ros.types import NS_PER_S, ZERO3, Vec3

Array = np.ndarray[Any, np.dtype[np.float64]]
AXES = 'xyz'
#: sinusoids that stand for a spectrum, for each axis
_TONES = 64


@dataclass(frozen=True)
class VibrationSettings:
    """Specific force that is added to the truth, alike and independent on the three axes."""

    lines: tuple[float, ...] = parameter(
        0.0,
        'Sinusoids: frequency [Hz] and amplitude [g] of each, in turn. The phases are random.',
        kind='table',
        sizes=(2,),
        minimum=0.0,
        maximum=1e6,
    )
    psd: tuple[float, ...] = parameter(
        0.0,
        'Random vibration: frequency [Hz] and one-sided power spectral density [g^2/Hz] of each '
        'corner, in turn, straight in double logarithms between corners.',
        kind='table',
        sizes=(2,),
        minimum=0.0,
        maximum=1e6,
    )

    def __post_init__(self) -> None:
        frequencies = self.psd[::2]
        rising = all(a < b for a, b in pairwise(frequencies))
        if self.psd and (len(frequencies) < 2 or not rising or min(self.psd) <= 0.0):
            raise ParameterError(
                'psd',
                self.psd,
                'must have two corners or more, frequencies rising, all numbers above 0',
            )
        if any(f <= 0.0 for f in self.lines[::2]):
            raise ParameterError('lines', self.lines, 'frequencies must be above 0 Hz')


def spectrum_tones(psd: tuple[float, ...]) -> tuple[Array, Array]:
    """Return frequencies [Hz] and amplitudes [g] of sinusoids with the power of a spectrum.

    The band is cut into parts of equal ratio; each part has a tone of its mean square, at a
    frequency off the regular grid, so that the sum does not repeat.
    """
    corners, levels = np.array(psd[::2]), np.array(psd[1::2])
    edges = np.geomspace(corners[0], corners[-1], _TONES + 1)
    fine = np.geomspace(edges[:-1], edges[1:], 33)
    density = np.exp(np.interp(np.log(fine), np.log(corners), np.log(levels)))
    widths = np.diff(fine, axis=0)
    power = (0.5 * (density[1:] + density[:-1]) * widths).sum(axis=0)
    golden = (np.arange(_TONES) * (math.sqrt(5.0) - 1.0) / 2.0) % 1.0
    return edges[:-1] + golden * np.diff(edges), np.sqrt(2.0 * power)


class Vibration:
    """The added specific force, integrated exactly over any interval.

    f(t) = sum of A_i cos(2 pi f_i t + phase_i) per axis, t since power-on.

    Parameters
    ----------
    settings : VibrationSettings
        Lines and spectrum.
    streams : StreamFactory
        Gives the phases.
    """

    def __init__(self, settings: VibrationSettings, streams: StreamFactory) -> None:
        frequencies = np.array(settings.lines[::2])
        amplitudes = np.array(settings.lines[1::2])
        if settings.psd:
            tones, sizes = spectrum_tones(settings.psd)
            frequencies = np.concatenate([frequencies, tones])
            amplitudes = np.concatenate([amplitudes, sizes])
        self.settings = settings
        self.active = bool(len(frequencies))
        self._omega = 2.0 * np.pi * frequencies
        self._amplitude = STANDARD_GRAVITY * amplitudes
        self._phase = np.array(
            [self._phases(streams, axis, len(frequencies)) for axis in AXES]
        ).reshape(3, -1)
        #: mean square of the added specific force on each axis [g^2]
        self.mean_square = float((self._amplitude**2).sum() / (2.0 * STANDARD_GRAVITY**2))

    @staticmethod
    def _phases(streams: StreamFactory, axis: str, count: int) -> Array:
        """Return angles of pairs of normals, which are uniform on the circle."""
        cosine = streams.stream('vibration.cos', axis).array(0, count)
        sine = streams.stream('vibration.sin', axis).array(0, count)
        return np.asarray(np.arctan2(sine, cosine))

    def increment(self, from_ns: int, to_ns: int) -> Vec3:
        """Return the integral [m/s] between two times [ns] since power-on."""
        start = self._omega * (from_ns / NS_PER_S)
        end = self._omega * (to_ns / NS_PER_S)
        waves = np.sin(end + self._phase) - np.sin(start + self._phase)
        x, y, z = (waves * (self._amplitude / self._omega)).sum(axis=1)
        return (float(x), float(y), float(z))

    def rate(self, t_ns: int) -> Vec3:
        """Return the added specific force [m/s2] at a time [ns] since power-on."""
        angle = self._omega * (t_ns / NS_PER_S) + self._phase
        x, y, z = (self._amplitude * np.cos(angle)).sum(axis=1)
        return (float(x), float(y), float(z))


class AlternatingPart:
    """Mean square of the alternating part of the specific force over the last second.

    The static part (gravity, a steady turn) does not count.  Sums run along, of the distances
    from one of the samples; they are made anew each second, so that rounding does not pile up.
    """

    def __init__(self) -> None:
        self._samples: deque[tuple[int, Vec3]] = deque()
        #: of x, y, z and of their squares
        self._sums: tuple[float, ...] = ()
        self._anew(-NS_PER_S, ZERO3)  # the first sample makes them

    def push(self, t_ns: int, force: Vec3) -> None:
        """Take the mean specific force [m/s2] of a sample."""
        samples = self._samples
        samples.append((t_ns, force))
        base_x, base_y, base_z = self._base
        x, y, z, xx, yy, zz = self._sums
        dx, dy, dz = force[0] - base_x, force[1] - base_y, force[2] - base_z
        x, y, z = x + dx, y + dy, z + dz
        xx, yy, zz = xx + dx * dx, yy + dy * dy, zz + dz * dz
        second_ago_ns = t_ns - NS_PER_S
        while samples[0][0] <= second_ago_ns:
            _, (dx, dy, dz) = samples.popleft()
            dx, dy, dz = dx - base_x, dy - base_y, dz - base_z
            x, y, z = x - dx, y - dy, z - dz
            xx, yy, zz = xx - dx * dx, yy - dy * dy, zz - dz * dz
        self._sums = (x, y, z, xx, yy, zz)
        if self._since_ns <= second_ago_ns:
            self._anew(t_ns, force)

    @property
    def mean_square(self) -> Vec3:
        """The mean squares over the last second [g^2]."""
        n = len(self._samples)
        if not n:
            return ZERO3
        unit = n * STANDARD_GRAVITY**2
        x, y, z, xx, yy, zz = self._sums
        return (
            max(0.0, xx - x * x / n) / unit,
            max(0.0, yy - y * y / n) / unit,
            max(0.0, zz - z * z / n) / unit,
        )

    def _anew(self, t_ns: int, base: Vec3) -> None:
        """Make the sums anew, of the distances from ``base``."""
        self._since_ns, self._base = t_ns, base
        if not self._samples:
            self._sums = (0.0,) * 6
            return
        distances = np.array([force for _, force in self._samples]) - base
        squares = distances * distances
        self._sums = (*distances.sum(axis=0).tolist(), *squares.sum(axis=0).tolist())
