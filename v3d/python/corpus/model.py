# SPDX-License-Identifier: BSD-2-Clause
"""What a program of the corpus is: shaders, buffers, dispatches, and how results compare."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Exact:
    """Every byte is the same on all devices."""


@dataclass(frozen=True)
class ExactFloat:
    """Words are floats, the same on all devices but for the sign of a zero.

    Which zero min() and max() return for two zeros of different sign is not defined.
    """


@dataclass(frozen=True)
class Bounded:
    """Word i * len(operations) + k is operations[k] of the float i of each input, modulo its size.

    It may differ from the true value as the Vulkan specification's table of precisions allows; the
    operations are those of precision.py.
    """

    operations: tuple[str, ...]
    inputs: tuple[str, ...]


Rule = Exact | ExactFloat | Bounded


@dataclass(frozen=True)
class Input:
    """A buffer that all dispatches of a program read; `uniform` ones are uniform buffers."""

    name: str
    binding: int
    data: bytes
    uniform: bool = False


@dataclass(frozen=True)
class Output:
    """A buffer of which every shape gets its own, filled with one word beforehand.

    Its size in words is per_item * invocations + per_group * workgroups + fixed.
    """

    name: str
    binding: int
    per_item: int = 0
    per_group: int = 0
    fixed: int = 0
    initial: int = 0
    rule: Rule = field(default_factory=Exact)

    def words(self, groups: int, local: int) -> int:
        """The size for a dispatch of that many workgroups of `local` invocations."""
        return max(1, self.per_item * groups * local + self.per_group * groups + self.fixed)


@dataclass(frozen=True)
class Kernel:
    """A shader's GLSL and what is fixed when its pipeline is made or before it is dispatched."""

    glsl: str
    specialization: tuple[tuple[int, int], ...] = ()
    push: tuple[int, ...] = ()


@dataclass(frozen=True)
class Program:
    """Kernels that run one after the other, in each shape, on the same buffers."""

    name: str
    features: frozenset[str]
    local: tuple[int, int, int]
    shapes: tuple[tuple[int, int, int], ...]  # workgroups
    kernels: tuple[Kernel, ...]
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    subgroup: int = 0  # the size of subgroups without which it cannot run
    indirect: bool = False  # the device reads the numbers of workgroups from a buffer

    @property
    def invocations(self) -> int:
        """How many invocations all shapes have together, of one kernel."""
        local = self.local[0] * self.local[1] * self.local[2]
        return sum(x * y * z * local for x, y, z in self.shapes)
