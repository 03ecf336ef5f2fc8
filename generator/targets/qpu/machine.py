# SPDX-License-Identifier: BSD-2-Clause
"""What the QPU has, as `daedalus-v3d ops` describes it: nothing of the instruction set stands here.

What the library's tables do not say is stated here once, with where it is from: latencies, queue
sizes and the operations that the TMU's config byte asks for.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from daedalus.generator.base.process import run
from daedalus.generator.options import ELEMENTS
from daedalus.v3d import tools

LANES = ELEMENTS
QPUS = 12  # of a board

# Low byte of a lookup's config word (v3d-rules.md, LOOKUP_CONFIG), by element type; the words of
# an element are the second member. The other bytes, all ones, are the default.
CONFIGS: Mapping[str, tuple[int, int]] = {
    "s8": (0xF8, 1),
    "s16": (0xF9, 1),
    "vec2": (0xFA, 2),
    "vec3": (0xFB, 3),
    "vec4": (0xFC, 4),
    "u8": (0xFD, 1),
    "u16": (0xFE, 1),
    "u32": (0xFF, 1),
}
MAX_LOOKUPS = 8  # on their way (rule LOOKUPS)
THRSW_SLOTS = 2
BRANCH_SLOTS = 3
UNIFA_GAP = 4  # instructions from a write of unifa to the first ldunifa (rule UNIFA_TOO_EARLY)


def registers(threads: int) -> int:
    """Registers of a thread where a QPU runs so many threads."""
    return description().registers * 2 // threads


def short_of_registers(name: str, part: str, threads: int) -> str:
    """Why a part of a program has no schedule, and what to do: two threads are the fewest."""
    fewer = ", or run fewer threads a QPU" if threads > 2 else ""
    return (
        f"{name}: no schedule of its {part} does with {registers(threads)} registers: keep fewer "
        f"values alive{fewer}"
    )


def queue_words(threads: int) -> int:
    """Words that a thread's queue of results, or of data, holds."""
    return 16 // threads


@dataclass(frozen=True)
class Operation:
    """An ALU operation."""

    name: str
    add: bool  # the add ALU has it
    mul: bool
    sources: int  # 0, 1 or 2
    unpacks: frozenset[str]  # modifiers of the first source
    second_unpacks: bool  # whether the second source takes them, too
    packs: frozenset[str]
    traits: frozenset[str]

    @property
    def sfu(self) -> bool:
        """Whether its result comes one slot later, and only into a register."""
        return "sfu" in self.traits

    @property
    def latency(self) -> int:
        """Slots until the result can be read without a stall."""
        return 2 if self.sfu else 1


@dataclass(frozen=True)
class Description:
    """The instruction set, and what it takes by the timing model."""

    registers: int
    immediates: Mapping[int, int]  # bits of a small immediate -> its number
    operations: Mapping[str, Operation]
    conditions: frozenset[tuple[str, str]]  # of add and mul operation: none, cond, push, update
    signals: Mapping[frozenset[str], bool]  # sets that go together -> the condition field is free
    timing: Mapping[str, int]  # default settings of the timing model (docs/v3d-timing.md)


@cache
def told() -> str:
    """What the C library, which is built on first use, says of the instruction set."""
    return run([str(tools.program()), "ops"])


@cache
def description() -> Description:
    """The instruction set."""
    raw = json.loads(told())
    operations = {
        o["name"]: Operation(
            o["name"],
            o["add"],
            o["mul"],
            o["sources"],
            frozenset(o["unpacks"]),
            o["second_unpacks"],
            frozenset(o["packs"]),
            frozenset(o["traits"]),
        )
        for o in raw["operations"]
    }
    return Description(
        raw["registers"],
        {bits: i for i, bits in enumerate(raw["immediates"])},
        operations,
        frozenset((a, m) for a, m in raw["conditions"]),
        {frozenset(s["names"]): s["conditions"] for s in raw["signals"]},
        raw["timing"],
    )


def is_immediate(bits: int) -> bool:
    """Whether an instruction can hold these 32 bits itself."""
    return bits & 0xFFFFFFFF in description().immediates
