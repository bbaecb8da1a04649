"""What is to be reached, in one place."""

from __future__ import annotations

from dataclasses import dataclass

AT_MOST, AT_LEAST = '<=', '>='


@dataclass(frozen=True)
class Bar:
    """A value to be reached.

    ``key`` is group.name, ``text`` what is measured, ``sense`` AT_MOST or AT_LEAST of ``limit``
    in ``unit``.
    """

    key: str
    text: str
    sense: str
    limit: float
    unit: str = 'x'

    @property
    def group(self) -> str:
        """The group that measures it."""
        return self.key.partition('.')[0]

    def holds(self, value: float) -> bool:
        """Tell whether a value reaches the bar."""
        return value <= self.limit if self.sense == AT_MOST else value >= self.limit


#: growth [MB] of a node's memory that counts as none: an arena of Python's allocator is a megabyte
FLAT_MB = 2.0
#: growth [MB] of a batch's: a few arrays of a block; 3e6 samples more would be 144 MB
FEW_ARRAYS_MB = 10.0
#: by how much two measurements of one thing differ on a quiet machine
REPEATABILITY = 1.03

BARS = (
    Bar('live.cpu', 'imu_node at 1 kHz, CPU, against the bare relay', AT_MOST, 1.3),
    Bar('live.latency', 'imu_node at 1 kHz, p99 latency, against the bare relay', AT_MOST, 1.5),
    Bar('live.delivered', 'imu_node at 4 kHz, messages delivered', AT_LEAST, 98.0, '%'),
    Bar('suite.falls', 'largest rise of the CPU per sensor from fewer to more IMUs', AT_MOST,
        REPEATABILITY),
    Bar('suite.counts', '50 IMUs at 200 Hz on one core, samples that came', AT_LEAST, 100.0, '%'),
    Bar('startup.first', 'imu_node, from exec to the first message', AT_MOST, 1.5, 's'),
    Bar('startup.modules', 'numba, scipy, matplotlib imported by imu_node', AT_MOST, 0.0, ''),
    Bar('startup.memory', 'imu_node, growth of its memory under load', AT_MOST, FLAT_MB, 'MB'),
    Bar('batch.numba', 'static record with numba, against pyins', AT_LEAST, 4.0),
    Bar('batch.numpy', 'static record with NumPy alone, against pyins', AT_LEAST, 1.3),
    Bar('batch.floor', 'static record with NumPy alone, against the normals alone', AT_LEAST,
        0.65),
    Bar('batch.memory', 'growth of memory from a record to a longer one', AT_MOST,
        FEW_ARRAYS_MB, 'MB'),
    Bar('trajectory.pyins', 'trajectory to IMU and GPS, against pyins', AT_LEAST, 6.0),
    Bar('allan.numba', 'Allan deviation with numba, against allantools', AT_LEAST, 8.0),
    Bar('allan.numpy', 'Allan deviation with NumPy alone, against allantools', AT_LEAST, 3.0),
    Bar('allan.equal', 'largest relative difference to allantools', AT_MOST, 1e-12, ''),
)


def bars_of(group: str) -> tuple[Bar, ...]:
    """Return the bars of a group."""
    return tuple(bar for bar in BARS if bar.group == group)
