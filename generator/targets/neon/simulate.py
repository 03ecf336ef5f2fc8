# SPDX-License-Identifier: BSD-2-Clause
"""Runs what was selected: a lowered kernel's stages by their machine operations, on integers.

The result is what the emitted code computes (apart from how it moves data), so one operation can
be exchanged for another and the difference be seen without compiling anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from daedalus.dsl import interp
from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import Kernel, Node
from daedalus.generator.targets.neon.ops import OPS, MachineOp
from daedalus.generator.targets.neon.rules import limits
from daedalus.generator.targets.neon.select import Choice, Demand, Need, Selection

# Changes of what an operation, or a broadcast, gives: all bits, or by one.
INVERTED, LESS, MORE = "inverted", "one less", "one more"


@dataclass(frozen=True)
class Change:
    """The operation `op` in place of the one chosen for a need of a stage, or a change of
    what that one gives."""

    stage: int
    need: Need
    op: str


@dataclass
class Ran:
    """A run.

    outputs  buffer -> array [items, *extents], as in interp.Result
    forms    per stage, need -> lanes as unsigned bit patterns, [items, lanes]
    values   per stage, node -> what the interpreter makes of it, [items, lanes]
    active   per stage, where it runs: bool [items, lanes]
    """

    outputs: dict[str, Array]
    forms: list[dict[Need, Array]]
    values: list[Mapping[Node, Array]]
    active: list[Array]


def run(
    kernel: Kernel, selections: list[Selection], items: Items, change: Change | None = None
) -> Ran:
    """A lowered kernel by the selections of its stages; with `change`, one operation is another.

    `values` are those of the interpreter on the state that the stages before have left.
    """
    state = interp.first_state(kernel, items)
    broken = {a.name: np.zeros(items.count, dtype=bool) for a in kernel.assumptions}  # the caller's
    ran = Ran({}, [], [], [])
    for n, (stage, selection) in enumerate(zip(kernel.stages, selections, strict=True)):
        told = interp.StageRun(kernel, stage, items, state, broken)
        mine = change if change is not None and change.stage == n else None
        forms = _forms(selection, told, mine)
        results = []
        for s, root in zip(stage.stores, selection.roots, strict=False):
            signed = selection.ranges.dtype(s.buffer).signed
            results.append(read(forms[root], root[1].width, "s" if signed else "u"))
        state = {**state, **interp.stored(told, results)}
        ran.forms.append(forms)
        ran.values.append(told.values)
        ran.active.append(told.active())
    ran.outputs = {b.name: state[b.name] for b in kernel.buffers if b.access != "in"}
    return ran


def _forms(selection: Selection, told: interp.StageRun, change: Change | None) -> dict[Need, Array]:
    """Every form that the stage computes, operands before their users."""
    forms: dict[Need, Array] = {}
    for need in selection.reached():
        choice = selection.chosen[need]
        node, demand = need
        changed = change.op if change is not None and change.need == need else ""
        if choice.op in ("load", "dup"):
            forms[need] = as_demanded(told.values[node], demand)
        elif choice.op == "":
            forms[need] = forms[choice.inputs[0]]
        else:
            op = changed if changed in OPS else choice.op
            forms[need] = compute(op, choice, demand, forms, told.values)
        if changed == INVERTED:
            forms[need] = forms[need] ^ _ones(demand.width)
        elif changed in (LESS, MORE):
            forms[need] = (forms[need] + (1 if changed == MORE else -1)) & _ones(demand.width)
    return forms


def compute(
    op_name: str, choice: Choice, demand: Demand, forms: Mapping[Need, Array],
    values: Mapping[Node, Array],
) -> Array:  # fmt: skip
    """One operation on the operands of a choice, as bit patterns."""
    op = OPS[op_name]
    widths = operand_widths(op, demand.width)
    args = [(forms[i], i[1].width) for i in choice.inputs]
    args += [(values[n], widths[-1]) for n in choice.scalars]
    signs = op.signs.replace("=", "u")
    lanes = tuple(read(x, w, s) for (x, w), s in zip(args, signs, strict=False))
    return np.asarray(op.meaning(demand.width, lanes, choice.imm)) & _ones(demand.width)


def operand_widths(op: MachineOp, w: int) -> list[int]:
    """The lane widths of an operation's operands for a result of w bits."""
    count = len(op.signs) - 1
    match op.shape:
        case "same":
            return [w] * count
        case "narrow":
            return [2 * w] * count
        case "wide":
            return [w, w // 2]
    return [w] * op.acc + [w // 2] * (count - op.acc)


def _ones(width: int) -> int:
    return (1 << width) - 1


def read(bits: Array, width: int, sign: str) -> Array:
    """A bit pattern's low `width` bits as a lane of that sign."""
    low: Array = bits.astype(np.int64) & _ones(width)
    return low if sign != "s" else np.where(low >> (width - 1), low - (1 << width), low)


def as_demanded(value: Array, demand: Demand) -> Array:
    """A value's lane as a bit pattern: what "demanded" means."""
    value = value.astype(np.int64)
    match demand.kind:
        case "negated":
            value = -value
        case "mask":
            value = -value
        case "sat_u" | "sat_s":
            value = np.clip(value, *limits(demand.width, demand.kind == "sat_s"))
    return value & _ones(demand.width)
