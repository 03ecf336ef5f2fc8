# SPDX-License-Identifier: BSD-2-Clause
"""The tables: the options of a variant, one class for each target."""

# ruff: noqa: RUF009 (what is called there makes fields)
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

from daedalus.generator.options.table import Options, number, switch

QPU = "qpu"  # machine code of V3D 7.1
TARGETS = ("c", "vector", "neon", "glsl", QPU)
GPU_TARGETS = ("glsl", QPU)
CPU_TARGETS = ("c", "vector", "neon")
VECTOR_TARGETS = ("vector", "neon")  # registers of lanes, lowered alike
PLAIN_TARGETS = ("c", "neon")  # what a kernel gets that no options.toml speaks of
ITEMS = (1, 2, 4, 8)  # what a vector's lanes can be divided into
ROWS = (1, 2, 4, 8)
INVOCATIONS = 256  # of a workgroup, on the smallest of devices: maxComputeWorkGroupInvocations
ELEMENTS = 16  # of a QPU
POINTS = (1, 2, 4, 8, 16)  # of a stage's domain, one invocation of a GPU


@dataclass(frozen=True)
class COptions(Options):
    """Portable C has no choices but the class and the assumptions."""

    target: ClassVar[str] = "c"


@dataclass(frozen=True)
class VectorOptions(Options):
    """Portable C in vectors."""

    target: ClassVar[str] = "vector"
    items: int = number("x", "items side by side in a vector", ITEMS)
    rows: int = number("r", "lanes of the next outer axis side by side in a vector", ROWS)
    branch: bool = switch("branch", "what only some lanes want is skipped where no lane wants it")
    early_out: bool = switch(
        "early", "the rest of an item is skipped where nothing of it would be stored"
    )


@dataclass(frozen=True)
class NeonOptions(VectorOptions):
    """NEON."""

    target: ClassVar[str] = "neon"
    dot: bool = switch("dot", "sums of bytes times weights of 8 bits by dot product instructions")

    @property
    def needs(self) -> tuple[str, ...]:
        """SDOT is an extension."""
        return ("dotprod",) if self.dot else ()


@dataclass(frozen=True)
class GpuOptions(Options):
    """Both GPU targets."""

    points: int = number("p", "lanes of a stage that one invocation does", POINTS)
    word: bool = switch("word", "words of 32 bits, in aligned memory, instead of elements")
    unaligned: bool = switch(
        "unaligned", "planes that are only read are read in words wherever they lie"
    )


@dataclass(frozen=True)
class GlslOptions(GpuOptions):
    """Shaders."""

    target: ClassVar[str] = "glsl"
    unaligned: bool = switch(
        "unaligned", "planes that are only read are read in words wherever they lie", "word"
    )
    swar: bool = switch(
        "swar", "sums of bytes that two lanes make alike are made in the halves of one word"
    )
    signs: bool = switch("signs", "conditions are integers, of which the sign counts")
    pack: bool = switch(
        "pack", "several elements of a temp in a word of shared memory, where their range allows"
    )
    early_out: bool = switch(
        "early", "the rest of an item is skipped where nothing of it would be stored"
    )


@dataclass(frozen=True)
class QpuOptions(GpuOptions):
    """Machine code of the QPU."""

    target: ClassVar[str] = QPU
    dot: bool = switch("dot", "sums of bytes times weights of 8 bits by dot product instructions")
    keep: bool = switch("keep", "temps are kept in registers, several elements in one")
    pair: bool = switch("pair", "neighbouring elements are two halves of a register")
    shuffle: bool = switch(
        "shuffle", "temps in registers move between the elements of the QPU which do an item"
    )
    joint_reads: bool = switch(
        "jointreads",
        "neighbouring elements of the QPU read blocks together, and words move between them",
    )
    record_once: bool = switch(
        "recordonce", "the record of an item that takes all elements of a QPU is read once for all"
    )
    aside: bool = switch(
        "aside", "values that wait long are set aside in memory, where registers do not hold them"
    )
    four_threads: bool = switch(
        "threads4", "four threads a QPU, with half the registers each, instead of two"
    )

    @property
    def plain(self) -> bool:
        """As `Options` says."""
        return self == QpuOptions(points=self.points)


BY_TARGET: dict[str, type[Options]] = {
    t.target: t for t in (COptions, VectorOptions, NeonOptions, GlslOptions, QpuOptions)
}


def options_of(target: str, class_name: str = "full", **choices: Any) -> Any:
    """The options of a target that makes these choices: one of BY_TARGET."""
    return BY_TARGET[target](class_name, **choices)


def table(target: str) -> Iterator[str]:
    """The lines of a target's table in docs/options.md."""
    yield "| in the name | field | meaning | needs |"
    yield "|---|---|---|---|"
    kind = BY_TARGET[target]
    yield "| *class* | `class_name` | the items' class that it is made for | |"
    yield "| `assume<name>` | `assume` | an assumption that the standard does not grant | |"
    by_field = {w.field: w.word for w in kind.words()}
    for w in kind.words():
        word = ", ".join(f"`{w.word}{n}`" for n in w.values[1:]) or f"`{w.word}`"
        needs = f"`{by_field[w.needs]}`" if w.needs else ""
        yield f"| {word} | `{w.field}` | {w.meaning} | {needs} |".replace("|  |", "| |")
