"""How a part declares its parameters and gets its random numbers.

A part's parameters are the fields of a frozen dataclass, made by :func:`parameter` and
:func:`group`.  From that one declaration follow validation, ROS descriptors, the shipped YAML
files and the parameter page of the documentation.
"""

from __future__ import annotations

import dataclasses
import difflib
import hashlib
import math
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from jaguar_sensors_ros.types import JaguarError

SettingsT = TypeVar('SettingsT')

Numbers = NDArray[np.float64]
#: takes the three words of SFC64 at the beginning of a block, and the array to fill
Draw = Callable[[tuple[int, int, int], Numbers], None]

#: value of a parameter that is worked out by the node unless it is given
AUTO = 'auto'
#: rounds after which SFC64 has mixed words that differ by little
SFC64_ROUNDS = 18
_WORD = (1 << 64) - 1
#: numbers that are skipped at once
_SKIPPED = 1024
#: who asks for so many at once gets them from a block that is drawn whole, and will go on with it
_MANY = 2048
_NO_NUMBERS: Numbers = np.empty(0)


class ParameterError(JaguarError):
    """A parameter that is refused: name, value, and what is allowed."""

    def __init__(self, name: str, value: object, allowed: str) -> None:
        super().__init__(f'{name} = {value!r}: {allowed}')
        self.name = name
        self.value = value
        self.allowed = allowed


@dataclass(frozen=True)
class Declaration:
    """One parameter: everything that is known about it besides its value.

    ``sizes`` lists the lengths a list value may have; 1 stands for a bare number, which a
    vector parameter spreads over its axes.  ``kind`` is one of number, integer, boolean,
    string, vector, table.  A table is a flat list of rows of ``sizes[0]`` numbers each, 0 an
    empty one.  ``auto`` tells whether the string 'auto' is allowed instead.
    """

    name: str
    default: Any
    kind: str
    doc: str
    unit: str = ''
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = None
    sizes: tuple[int, ...] = ()
    choices: tuple[str, ...] = ()
    auto: bool = False
    source: str = ''

    def allowed(self) -> str:
        """Say in words which values are accepted."""
        unit = f' {self.unit}' if self.unit else ''
        if self.kind == 'string':
            text = f'one of {", ".join(self.choices)}' if self.choices else 'a string'
        elif self.kind == 'boolean':
            text = 'true or false'
        elif self.kind == 'integer':
            text = f'a whole number{self._range()}{unit}'
        elif self.kind == 'vector':
            sizes = ' or '.join('one number' if n == 1 else f'{n} numbers' for n in self.sizes)
            text = f'{sizes}, finite{self._range()}{unit}'
        elif self.kind == 'table':
            text = f'0, or a list of groups of {self.sizes[0]} finite numbers{self._range()}{unit}'
        else:
            text = f'a finite number{self._range()}{unit}'
        return text + (f", or '{AUTO}'" if self.auto else '')

    def _range(self) -> str:
        parts = []
        if self.minimum is not None:
            parts.append(f' >= {self.minimum:g}')
        if self.above is not None:
            parts.append(f' > {self.above:g}')
        if self.maximum is not None:
            parts.append(f' <= {self.maximum:g}')
        return ' and'.join(parts)

    def check(self, value: object) -> Any:
        """Return ``value`` in the form the part uses.

        Raises
        ------
        ParameterError
            if the type, the length, the finiteness or the range is wrong.
        """
        if self.auto and isinstance(value, str) and value == AUTO:
            return AUTO
        converter = getattr(self, f'_check_{self.kind}')
        return converter(value)

    def _refuse(self, value: object) -> ParameterError:
        return ParameterError(self.name, value, f'must be {self.allowed()}')

    def _check_string(self, value: object) -> str:
        if not isinstance(value, str) or (self.choices and value not in self.choices):
            raise self._refuse(value)
        return value

    def _check_boolean(self, value: object) -> bool:
        if not isinstance(value, bool):
            raise self._refuse(value)
        return value

    def _check_integer(self, value: object) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise self._refuse(value)
        if not float(value).is_integer():
            raise self._refuse(value)
        self._in_range(float(value), value)
        return int(value)

    def _check_number(self, value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise self._refuse(value)
        return self._in_range(float(value), value)

    def _check_vector(self, value: object) -> tuple[float, ...]:
        if isinstance(value, bool | str | bytes):
            raise self._refuse(value)
        items = list(value) if isinstance(value, Iterable) else [value]
        if len(items) not in self.sizes:
            raise self._refuse(value)
        numbers = self._numbers(items, value)
        return numbers * max(self.sizes) if len(numbers) == 1 and self._spreads() else numbers

    def _check_table(self, value: object) -> tuple[float, ...]:
        if isinstance(value, int | float) and not isinstance(value, bool) and value == 0:
            return ()
        if isinstance(value, str | bytes) or not isinstance(value, Iterable):
            raise self._refuse(value)
        items = list(value)
        if len(items) % self.sizes[0]:
            raise self._refuse(value)
        return self._numbers(items, value)

    def _numbers(self, items: list[Any], value: object) -> tuple[float, ...]:
        for item in items:
            if isinstance(item, bool) or not isinstance(item, int | float | np.number):
                raise self._refuse(value)
        return tuple(self._in_range(float(item), value) for item in items)

    def _spreads(self) -> bool:
        return max(self.sizes) in (2, 3)

    def _in_range(self, number: float, value: object) -> float:
        wrong = (
            not math.isfinite(number)
            or (self.minimum is not None and number < self.minimum)
            or (self.above is not None and number <= self.above)
            or (self.maximum is not None and number > self.maximum)
        )
        if wrong:
            raise self._refuse(value)
        return number


def parameter(
    default: Any,
    doc: str,
    *,
    kind: str = 'number',
    unit: str = '',
    minimum: float | None = None,
    maximum: float | None = None,
    above: float | None = None,
    sizes: tuple[int, ...] = (),
    choices: tuple[str, ...] = (),
    auto: bool = False,
    source: str = '',
) -> Any:
    """Declare a field of a settings dataclass as a parameter (see :class:`Declaration`).

    ``{unit}`` in the unit is replaced by the unit of the enclosing group.
    """
    declaration = Declaration(
        '', default, kind, doc, unit, minimum, maximum, above, sizes, choices, auto, source
    )
    checked = default if default is None else declaration.check(default)
    return dataclasses.field(default=checked, metadata={'declaration': declaration})


def vector(default: float | tuple[float, ...], doc: str, **options: Any) -> Any:
    """Declare a parameter with one value per axis x, y, z; a bare number serves all three."""
    return parameter(default, doc, kind='vector', sizes=(1, 3), **options)


def group(settings_class: type, unit: str = '') -> Any:
    """Declare a field that holds the settings of a part; its name becomes their prefix."""
    return dataclasses.field(
        default_factory=settings_class, metadata={'group': settings_class, 'unit': unit}
    )


def declarations(settings_class: type, prefix: str = '', unit: str = '') -> list[Declaration]:
    """Return the parameters of a settings class, groups flattened to dotted names."""
    found: list[Declaration] = []
    for field in dataclasses.fields(settings_class):
        name = prefix + field.name
        if 'group' in field.metadata:
            nested = field.metadata['group']
            found += declarations(nested, f'{name}.', field.metadata['unit'] or unit)
        elif 'declaration' in field.metadata:
            declared: Declaration = field.metadata['declaration']
            replaced = declared.unit.replace('{unit}', unit)
            found.append(dataclasses.replace(declared, name=name, unit=replaced))
    return found


def build(settings_class: type[SettingsT], values: Mapping[str, object]) -> SettingsT:
    """Make settings from a flat mapping of dotted names; what is absent keeps its default.

    Raises
    ------
    ParameterError
        for an unknown name, a value of the wrong type or out of range, or values that
        contradict one another.
    """
    known = {declared.name: declared for declared in declarations(settings_class)}
    for name, value in values.items():
        if name not in known:
            raise ParameterError(name, value, f'no such parameter; {nearest(name, known)}')
    checked = {name: known[name].check(value) for name, value in values.items()}
    return cast(SettingsT, _assemble(settings_class, checked, ''))


def _assemble(settings_class: type, values: Mapping[str, object], prefix: str) -> object:
    arguments: dict[str, object] = {}
    for field in dataclasses.fields(settings_class):
        name = prefix + field.name
        if 'group' in field.metadata:
            arguments[field.name] = _assemble(field.metadata['group'], values, f'{name}.')
        elif name in values:
            arguments[field.name] = values[name]
    try:
        return settings_class(**arguments)
    except ParameterError as error:
        raise ParameterError(prefix + error.name, error.value, error.allowed) from None


def nearest(name: str, known: Iterable[str]) -> str:
    """Say which of the known names is closest to a wrong one."""
    names = list(known)
    match = difflib.get_close_matches(name, names, n=1, cutoff=0.0)
    return f'did you mean {match[0]}?' if match else 'there are no parameters'


def _seat(generator: np.random.Generator, words: tuple[int, int, int]) -> None:
    """Let a generator go on from the beginning of a block."""
    generator.bit_generator.state = {
        'bit_generator': 'SFC64',
        'state': {'state': np.array((*words, 1), dtype=np.uint64)},
        'has_uint32': 0,
        'uinteger': 0,
    }
    generator.bit_generator.random_raw(SFC64_ROUNDS, False)


class _Shared(threading.local):
    """A generator for whole blocks, one for each thread: making one takes as long as a block."""

    def __init__(self) -> None:
        self.generator = np.random.Generator(np.random.SFC64(0))


_shared = _Shared()


def draw_by_numpy(words: tuple[int, int, int], out: Numbers) -> None:
    """Fill an array with the normals of a block."""
    generator = _shared.generator
    _seat(generator, words)
    generator.standard_normal(out=out)


#: how a block is drawn; errors.fast puts a compiled function of the same numbers here
draw: Draw = draw_by_numpy


class NormalStream:
    """Unit normals of one term and axis, addressed by the sample's number since power-on.

    They come in blocks of ``BLOCK`` numbers, by numpy's ziggurat from SFC64 (C. Doty-Humphrey,
    PractRand).  Its state a, b, c at the beginning of block k is w0, w1, w2 + k, with
    ``w = SeedSequence([seed, *words]).generate_state(3, uint64)`` and the words of
    sha256("sensor/term/axis/power_on"); its counter is 1, and 18 rounds mix it, as its author
    seeds it from three words.  Sample 0 has number ``words[0] % BLOCK`` of block 0, so that not
    all streams of a sensor need a new block at the same sample.  Any position is reached in
    constant time: samples that were missed (a gap in the truth, a disabled sensor) cost nothing
    and disturb nothing.  Who asks for few at a time has no more drawn, nor kept, than are due.

    Parameters
    ----------
    seed : int
        Non-negative seed of the sensor.
    key : str
        "sensor/term/axis".
    power_on : int
        Number of the power cycle, from 0.
    """

    BLOCK = 8192

    __slots__ = ('_block', '_drawn', '_entropy', '_first', '_generator', '_phase', '_values',
                 '_words')

    def __init__(self, seed: int, key: str, power_on: int) -> None:
        digest = hashlib.sha256(f'{key}/{power_on}'.encode()).digest()
        self._entropy = [seed, *np.frombuffer(digest, dtype='<u4').tolist()]
        self._phase = self._entropy[1] % self.BLOCK
        self._generator: np.random.Generator | None = None
        self._words: tuple[int, int, int] | None = None
        #: the block that is being drawn, the numbers that are kept of it, and how many were drawn
        self._block, self._first, self._drawn = -1, 0, 0
        self._values = _NO_NUMBERS

    def __call__(self, tick: int) -> float:
        """Return the number of sample ``tick`` (>= 0)."""
        block, index = divmod(tick + self._phase, self.BLOCK)
        return float(self._numbers(block, index, index + 1)[0])

    def array(self, start: int, count: int) -> Numbers:
        """Return the numbers of ``count`` samples from ``start`` on, shape (count,)."""
        numbers = np.empty(count)
        self.fill(start, numbers)
        return numbers

    def fill(self, start: int, numbers: Numbers) -> None:
        """Put the numbers of the samples from ``start`` on into an array, shape (count,)."""
        size, count = self.BLOCK, len(numbers)
        block, index = divmod(start + self._phase, size)
        get = self._part if count >= _MANY else self._numbers
        done = 0
        while done < count:
            end = min(done + size - index, count)
            if end - done == size:
                draw(self._at(block), numbers[done:end])
            else:
                numbers[done:end] = get(block, index, index + end - done)
            done, block, index = end, block + 1, 0

    def _part(self, block: int, first: int, end: int) -> Numbers:
        """Return some numbers of a block, which is drawn whole and kept."""
        if block != self._block or self._first or len(self._values) != self.BLOCK:
            values = np.empty(self.BLOCK)
            draw(self._at(block), values)
            self._block, self._first, self._drawn, self._values = block, 0, self.BLOCK, values
        return self._values[first:end]

    def _numbers(self, block: int, first: int, end: int) -> Numbers:
        """Return some numbers of a block, drawn up to ``end``; they are kept."""
        if block != self._block or first < self._first:
            self._block, self._first, self._drawn = block, 0, 0
            self._values = _NO_NUMBERS
            self._begin(block)
        while self._drawn < first:
            skipped = min(_SKIPPED, first - self._drawn)
            self._more(skipped)
            self._first = self._drawn = self._drawn + skipped
            self._values = _NO_NUMBERS
        if end > self._drawn:
            drawn = self._more(end - self._drawn)
            kept = self._values[first - self._first :]
            self._values = np.concatenate((kept, drawn)) if len(kept) else drawn
            self._first, self._drawn = first, end
        return self._values[first - self._first : end - self._first]

    def _begin(self, block: int) -> None:
        """Let the generator, which not all streams need, stand at the beginning of a block."""
        if self._generator is None:
            self._generator = np.random.Generator(np.random.SFC64(0))
        _seat(self._generator, self._at(block))

    def _more(self, count: int) -> Numbers:
        """Return the next numbers of the block that is being drawn."""
        assert self._generator is not None
        numbers: Numbers = self._generator.standard_normal(count)
        return numbers

    def _at(self, block: int) -> tuple[int, int, int]:
        """Return the words at the beginning of a block."""
        if self._words is None:
            words = np.random.SeedSequence(self._entropy).generate_state(3, np.uint64)
            a, b, c = words.tolist()
            self._words = (a, b, c)
        a, b, c = self._words
        return a, b, (c + block) & _WORD


@dataclass(frozen=True)
class StreamFactory:
    """Hands out the streams of one sensor in one power cycle."""

    seed: int
    sensor: str
    power_on: int

    def stream(self, term: str, axis: str) -> NormalStream:
        """Return the stream of a term and axis, new in every power cycle."""
        return NormalStream(self.seed, f'{self.sensor}/{term}/{axis}', self.power_on)

    def unit_stream(self, term: str, axis: str) -> NormalStream:
        """Return the stream of a property of the unit, the same in every power cycle."""
        return NormalStream(self.seed, f'{self.sensor}/{term}/{axis}', 0)

    def triad(self, term: str, axes: str) -> tuple[NormalStream, NormalStream, NormalStream]:
        """Return the streams of a term for three axes."""
        x, y, z = (self.stream(term, axis) for axis in axes)
        return x, y, z
