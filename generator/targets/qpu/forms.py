# SPDX-License-Identifier: BSD-2-Clause
"""Which forms of instructions a program has of which no public source settles what hardware makes
of them: DAEDALUS_QPU_FORM_* of runtime/include/daedalus/table.h, by these names.

FLAGS_SWITCH is no instruction but an order of them: a flag is read that was set before a thread
switch.

Each stands for settings of the simulator's profile (docs/v3d-simulator.md): a program without any
of them computes the same whatever these are, which `daedalus check` tries.
"""

from collections.abc import Iterator

from daedalus.generator.targets.qpu.allocate import Compiled
from daedalus.generator.targets.qpu.compile import Code
from daedalus.generator.targets.qpu.machine import CONFIGS, THRSW_SLOTS, description
from daedalus.generator.targets.qpu.nodes import Node

_CARRY = ("add", "sub", "min")  # whose flag C is known
NAMES = ("MIXED_DOT", "SIGNED_LOAD", "FLOAT", "CARRY", "FLAGS_SWITCH")
_SIGNED = {0xFFFFFF00 | CONFIGS[type_][0] for type_ in ("s8", "s16")}


def forms(code: Code) -> tuple[str, ...]:
    """Names of the forms, in the order of their bits."""
    found = {name for node, op in _operations(code) for name in _of(node, op)}
    if counts_on_flags(code):
        found.add("FLAGS_SWITCH")
    return tuple(x for x in NAMES if x in found)


def counts_on_flags(code: Code) -> bool:
    """Whether a flag is read that was set before a thread switch."""
    return any(_flags_cross(b) for b in (code.entry, code.loop) if b is not None)


def _flags_cross(made: Compiled) -> bool:
    slots = made.schedule.slots
    # The switch is behind the second slot of each.
    ends = [k + THRSW_SLOTS for k, s in enumerate(slots) if any(_switches(n) for n in s.signals)]
    set_at = {n.flag: k for k, s in enumerate(slots) for n in s.nodes() if n.flag is not None}
    reads = [(set_at[f], k) for k, s in enumerate(slots) for n in s.nodes() for f in n.flags_read]
    if made.block.repeat is not None:
        cell = made.block.flags.cell
        own = [k for f, k in set_at.items() if cell[f] == made.block.repeat.order]
        reads.append((max(own), made.schedule.branch_at))
    return any(before <= end < after for before, after in reads for end in ends)


def _switches(node: Node) -> bool:
    return node.kind == "thrsw"


def _operations(code: Code) -> Iterator[tuple[Node, str]]:
    for block in (code.entry, code.loop):
        for slot in block.schedule.slots if block is not None else ():
            for placed in slot.placed:
                yield placed.node, placed.form.op


def _of(node: Node, op: str) -> Iterator[str]:
    if op in ("setnnmode_su", "setnnmode_us"):
        yield "MIXED_DOT"
    if node.uniform is not None and node.uniform.bits in _SIGNED:
        yield "SIGNED_LOAD"
    if "float" in description().operations[op].traits:
        yield "FLOAT"
    if node.change.endswith("c") and op not in _CARRY:
        yield "CARRY"
