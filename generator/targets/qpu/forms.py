# SPDX-License-Identifier: BSD-2-Clause
"""Which forms of instructions a program has of which no public source settles what hardware makes
of them: DAEDALUS_QPU_FORM_* of runtime/include/daedalus/table.h, by these names.

Each stands for settings of the simulator's profile (docs/v3d-simulator.md): a program without any
of them computes the same whatever these are, which `daedalus check` tries.
"""

from collections.abc import Iterator

from daedalus.generator.targets.qpu.compile import Code
from daedalus.generator.targets.qpu.machine import CONFIGS, description
from daedalus.generator.targets.qpu.nodes import Node

_CARRY = ("add", "sub", "min")  # whose flag C is known
_SIGNED = {0xFFFFFF00 | CONFIGS[type_][0] for type_ in ("s8", "s16")}


def forms(code: Code) -> tuple[str, ...]:
    """Names of the forms, in the order of their bits."""
    found = {name for node, op in _operations(code) for name in _of(node, op)}
    return tuple(x for x in ("MIXED_DOT", "SIGNED_LOAD", "FLOAT", "CARRY") if x in found)


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
