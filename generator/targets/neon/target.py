# SPDX-License-Identifier: BSD-2-Clause
"""What the lowering has to know of whom it lowers for."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from daedalus.dsl.ir import Op
from daedalus.generator.targets.neon.ops import OPS, MachineOp
from daedalus.generator.targets.neon.rules import RULES, WIDE_RULES, Rule


@dataclass(frozen=True, eq=False)
class Target:
    """A vocabulary of vector operations.

    name    of the target
    ops     its operations, with what they cost
    rules   which of them compute what
    header  the public header that declares them
    parts   what that one is made of besides
    beside  headers of single operations, by how these are called: for what has these alone
    in_order  the header for code in an order that a compiler is to keep
    paired  narrowing takes two registers at once
    zips    registers are transposed by zip1 and zip2, which every processor has, not by trn1, trn2
    looks_up  bytes are looked up in registers
    rows    what multiplies may be an element of a vector, as of a table's row
    words   neighbouring words of rows come from longer loads
    moves   what is stored as it was read goes through general registers
    reduces  there are instructions that merge the lanes of a register
    weaves  the stores of several values in turn that there are; None: all of them
    """

    name: str
    ops: Mapping[str, MachineOp]
    rules: tuple[Rule, ...]
    header: str
    parts: tuple[str, ...] = ()
    beside: Mapping[str, str] = field(default_factory=dict)
    in_order: str = ""
    paired: bool = False
    zips: bool = False
    looks_up: bool = True
    rows: bool = True
    words: bool = True
    moves: bool = True
    reduces: bool = True
    weaves: frozenset[str] | None = None

    def headers(self, text: str, *, in_order: bool) -> list[str]:
        """The public headers of a text that calls its operations."""
        found = [self.header, *(h for name, h in self.beside.items() if name in text)]
        return [*found, self.in_order] if in_order and self.in_order else found

    @property
    def form(self) -> str:
        """What a refusal says there is not."""
        return f"{self.name.upper() if self.name == 'neon' else self.name} form"

    @cached_property
    def widest(self) -> int:
        """The most bits of an element that there are rules for."""
        return max(w for r in self.rules for w in r.widths)

    @cached_property
    def rules_by_demand(self) -> dict[tuple[Op, str], list[Rule]]:
        """The rules of an operation that meet a kind of demand."""
        found: dict[tuple[Op, str], list[Rule]] = {}
        for r in self.rules:
            found.setdefault((r.on, r.gives), []).append(r)
        return found


_BESIDE = {"daedalus_bytes": "neon_bytes.h", "DAEDALUS_NARROW": "neon_narrow.h"}
NEON = Target("neon", OPS, RULES + WIDE_RULES, "neon.h", beside=_BESIDE, in_order="neon_order.h")
