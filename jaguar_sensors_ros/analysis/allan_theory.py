"""What the Allan deviation of a static IMU must look like, from its parameters.

| part of the model | AVAR(tau) |
|---|---|
| white noise N | N^2 / tau |
| Gauss-Markov sigma, T | (2 sigma^2 T / tau) [1 - (T / 2 tau) (3 - 4 e^(-tau/T) + e^(-2 tau/T))] |
| flicker B | sum of such processes, floor (0.664 B)^2 |
| rate random walk K | K^2 tau / 3 |
| pulses with residue, Q = lsb / sqrt(12) | 3 Q^2 / tau^2 |
| rounding to steps r | white, N = r sqrt(dt / 12) |

Source: IEEE Std 952-1997, annex C.  What is computed are the values of the sampled processes
(:mod:`jaguar_sensors_ros.analysis.phase_noise`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from jaguar_sensors_ros.analysis.allan import Array
from jaguar_sensors_ros.analysis.phase_noise import (
    GaussMarkov,
    Pulses,
    Term,
    Walk,
    White,
    avar,
)
from jaguar_sensors_ros.errors.stochastic import flicker_components, white_sigma
from jaguar_sensors_ros.errors.triad_settings import BiasSettings, TriadSettings
from jaguar_sensors_ros.sensors.imu_settings import ImuSettings
from jaguar_sensors_ros.types import JaguarError, Vec3

#: the six axes in the order of document 000's table
AXES = ('gyro_x', 'gyro_y', 'gyro_z', 'accel_x', 'accel_y', 'accel_z')
UNITS = {'gyro': 'rad/s', 'accel': 'm/s2'}
#: a phase that strayed by this many pulses (1 sigma) has forgotten its rounding to 0.3 %
_STRAYED_PULSES = 0.55
#: with this much noise in a sample, in steps, errors of rounding are white to 1e-4
ROUNDING_NOISE = 0.75


@dataclass(frozen=True)
class NoiseTerm:
    """A term with the parameter that sets its size.

    ``symbol`` is empty where there is nothing to estimate; ``value`` is in ``unit``.
    """

    name: str
    symbol: str
    value: float
    unit: str
    parts: tuple[Term, ...]

    def adev(self, m: Any, dt_s: float) -> Array:
        """Return the Allan deviation of this term alone at averaging factors ``m``."""
        return _root(avar(self.parts, m, dt_s))


@dataclass(frozen=True)
class AxisTheory:
    """All noise terms of one axis; ``dt_s`` is the sample interval [s]."""

    axis: str
    dt_s: float
    noise: tuple[NoiseTerm, ...]

    @property
    def terms(self) -> tuple[Term, ...]:
        """The elementary terms of all parts."""
        return tuple(part for term in self.noise for part in term.parts)

    def adev(self, m: Any) -> Array:
        """Return the theoretical total at averaging factors ``m``."""
        return _root(avar(self.terms, m, self.dt_s))

    @property
    def white_density(self) -> float:
        """Density of all white terms together [unit/sqrt(Hz)]."""
        return math.hypot(*(t.density for t in self.terms if isinstance(t, White)), 0.0)

    @property
    def pulse(self) -> float:
        """Size of a pulse [unit s], 0 without."""
        return sum(t.lsb for t in self.terms if isinstance(t, Pulses))

    @property
    def holds_from(self) -> float:
        """Averaging factor from which on the theory of pulses holds.

        Then the random walk of the phase, N sqrt(m dt), is over half a pulse.
        """
        if self.pulse == 0.0:
            return 1.0
        step = self.white_density * math.sqrt(self.dt_s)
        return max(1.0, (_STRAYED_PULSES * self.pulse / step) ** 2)


def imu_theory(settings: ImuSettings, axes: Sequence[str] = AXES) -> tuple[AxisTheory, ...]:
    """Return the noise terms of the axes of an IMU at rest.

    Parameters
    ----------
    settings : ImuSettings
        Its parameters; the sample rate among them.
    axes : sequence of str
        Which of :data:`AXES`.

    Raises
    ------
    JaguarError
        where there is no theory: no noise at all, rounding coarser than the noise, or pulses
        without any white noise.
    """
    if settings.fidelity == 'transparent':
        raise JaguarError("fidelity = 'transparent': has no noise; allowed are realistic, fault")
    dt_s = 1.0 / settings.sample_rate_hz
    parts = {
        'gyro': (settings.gyro, settings.gyro_bias, settings.gyro_lsb),
        'accel': (settings.accel, settings.accel_bias, settings.accel_lsb),
    }
    theories = []
    for axis in axes:
        triad, letter = axis.split('_')
        i = 'xyz'.index(letter)
        theory = _axis_theory(axis, i, dt_s, *parts[triad], UNITS[triad])
        _check(theory, parts[triad][0].resolution[i])
        theories.append(theory)
    return tuple(theories)


def _axis_theory(
    axis: str,
    i: int,
    dt_s: float,
    triad: TriadSettings,
    bias: BiasSettings,
    lsb: Vec3,
    unit: str,
) -> AxisTheory:
    sigma = white_sigma(
        triad.white_noise_density[i],
        triad.white_noise_psd[i],
        triad.white_noise_bandwidth[i],
        dt_s,
    )
    density = sigma * math.sqrt(dt_s)
    found = [NoiseTerm('white noise', 'N', density, f'{unit}/sqrt(Hz)', (White(density),))]
    found.append(_instability(bias.sigma[i], bias.tau_s[i], triad.bias_model, unit))
    walk = triad.random_walk[i]
    found.append(NoiseTerm('random walk', 'K', walk, f'{unit}/sqrt(s)', (Walk(walk),)))
    pulse = NoiseTerm('pulses', '', lsb[i], f'{unit} s', (Pulses(lsb[i]),))
    step = triad.resolution[i] if lsb[i] == 0.0 else 0.0
    rounding = NoiseTerm('rounding', '', step, unit, (White(step * math.sqrt(dt_s / 12.0)),))
    found += [pulse, rounding]
    return AxisTheory(axis, dt_s, tuple(term for term in found if term.value > 0.0))


def _instability(sigma: float, tau_s: float, model: str, unit: str) -> NoiseTerm:
    if model == 'gauss_markov':
        process = GaussMarkov(sigma, tau_s)
        return NoiseTerm(f'Gauss-Markov, T = {tau_s:g} s', 'sigma', sigma, unit, (process,))
    taus, gain = flicker_components(tau_s)
    processes = tuple(GaussMarkov(sigma * gain, tau) for tau in taus)
    return NoiseTerm(f'flicker, {tau_s:g} s down to {taus[-1]:.2g} s', 'B', sigma, unit, processes)


def _check(theory: AxisTheory, step: float) -> None:
    """Raise where no theory can be given."""
    if not theory.noise:
        raise JaguarError(f'{theory.axis}: no noise at all; set a grade or a noise parameter')
    noise = math.hypot(
        *(t.value for t in theory.noise if t.name == 'white noise'), 0.0
    ) / math.sqrt(theory.dt_s)
    if step > 0.0 and noise < ROUNDING_NOISE * step:
        raise JaguarError(
            f'{theory.axis}: resolution = {step:g} is coarser than the white noise of a sample, '
            f'{noise:.3g}: there is no theory of its Allan deviation; allowed is up to '
            f'{noise / ROUNDING_NOISE:.3g}'
        )
    if theory.pulse > 0.0 and theory.white_density == 0.0:
        raise JaguarError(
            f'{theory.axis}: pulses without white noise: there is no theory of their Allan '
            'deviation; allowed is an lsb of 0, or a white noise density above 0'
        )


def _root(variance: Array) -> Array:
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))
