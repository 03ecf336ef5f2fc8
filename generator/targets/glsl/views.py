# SPDX-License-Identifier: BSD-2-Clause
"""How shaders see buffers: aliased storage blocks, a buffer as an array of units of some size.

A unit is 1 to 16 bytes. Units of an element's size are elements; others are words, or vectors of
them, in which elements are fields.
"""

from dataclasses import dataclass, field
from itertools import permutations

from daedalus.dsl.ir import Buffer, DType, Kernel

PARTS = ("x", "y", "z", "w")

# The line before a view whose accesses and another's of the same buffer depend on each other. GLSL
# says it by leaving out `restrict`; for the module it is taken from here (spirv.py).
ALIASED = "// aliased: what this view of a buffer touches, another one touches, too"
_UNSIGNED = {1: "uint8_t", 2: "uint16_t", 4: "uint", 8: "uvec2", 16: "uvec4"}


@dataclass
class View:
    """A buffer as an array: how it is declared."""

    binding: int
    name: str
    type: str
    written: bool = False  # through this view or another of the same buffer
    alone: bool = True  # no other view is of the same buffer
    coherent: bool = False  # an invocation sees what another one stored, after a barrier
    loaded: bool = False
    stored: set[int] = field(default_factory=set)  # the stages that store through this very view
    aliased: bool = False  # and another view depend on each other

    def declared(self) -> list[str]:
        """The storage block."""
        how = "coherent " if self.coherent else ""
        how += ("restrict " if self.alone else "") + ("" if self.written else "readonly ")
        return [
            *([ALIASED] if self.aliased else []),
            f"layout(std430, set = 0, binding = {self.binding}) {how}buffer {self.name}_view {{",
            f"{self.type} {self.name}[];",
            "};",
        ]


@dataclass
class Views:
    """The views that a shader declares, by name; and the largest unit of each buffer."""

    kernel: Kernel
    used: dict[str, View] = field(default_factory=dict)
    units: dict[str, int] = field(default_factory=dict)
    stage: int = 0  # whose accesses are asked for

    def of(self, b: Buffer, unit: int, *, write: bool = False) -> View:
        """The array of the buffer's units."""
        assert b.dtype is not None
        element = unit == b.dtype.bytes
        type_ = element_type(b.dtype) if element else _UNSIGNED[unit]
        name = f"{b.name}_{b.dtype.name if element else type_.removesuffix('_t')}"
        number = [x.name for x in self.kernel.buffers].index(b.name)
        if name not in self.used:
            others = [v for v in self.used.values() if v.binding == number]
            self.used[name] = View(number, name, type_, alone=not others)
            for v in others:
                v.alone = False
            self.used[name].written = any(v.written for v in others)
        if write:
            for v in self.used.values():
                v.written |= v.binding == number
            self.used[name].stored.add(self.stage)
        else:
            self.used[name].loaded = True
        return self.used[name]

    def find_aliased(self) -> None:
        """Marks the views of which one's accesses depend on the other's. What one stage stores
        through several does not: it stores no element twice."""
        for a, b in permutations(self.used.values(), 2):
            if a.binding == b.binding and a.stored:
                apart = len(a.stored | b.stored) > 1 and bool(b.stored)
                a.aliased |= b.loaded or apart
                b.aliased |= b.loaded or apart

    def make_coherent(self, buffers: set[str]) -> None:
        """Makes what invocations store in these visible to others."""
        numbers = {n for n, b in enumerate(self.kernel.buffers) if b.name in buffers}
        for v in self.used.values():
            v.coherent |= v.binding in numbers

    def need(self, b: Buffer, unit: int) -> None:
        """Notes that the buffer's places are multiples of so many bytes."""
        self.units[b.name] = max(self.units.get(b.name, 1), unit)

    def align(self, b: Buffer) -> int:
        """What the buffer's address, stride and offsets have to be multiples of, in bytes."""
        assert b.dtype is not None
        return max(self.units.get(b.name, 1), b.dtype.bytes)

    @property
    def features(self) -> tuple[str, ...]:
        """What a device must have for them, as daedalus_gpu_code names it."""
        types = [v.type for v in self.used.values()]
        return tuple(f"STORAGE{n}" for n in (8, 16) if any(f"int{n}_t" in t for t in types))


def element_type(t: DType) -> str:
    """The type of an element in memory."""
    if t.bits == 32:
        return "int" if t.signed else "uint"
    return f"{'int' if t.signed else 'uint'}{t.bits}_t"


def word_of(unit: int, expression: str, number: int) -> str:
    """A word of a unit of one word or several."""
    return expression if unit <= 4 else f"{expression}.{PARTS[number]}"
