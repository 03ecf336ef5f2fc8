# SPDX-License-Identifier: BSD-2-Clause
"""A kernel's lane program with what is known of every value: range, line, and what it becomes.

Without a variant, the program as it is traced. With one, the program that its back end gets, and
what that makes of every value: a C type, or the NEON operations that selection chose for it.
"""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any

from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import FULL, Kernel, Node, Op, Stage
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.dsl.show import index_text, node_text
from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.inventory import bits_needed
from daedalus.generator.compile.registry import Entry
from daedalus.generator.compile.variants import Variant, make_variant
from daedalus.generator.options import PLAIN_TARGETS, Options, options_of, variant_name
from daedalus.generator.passes.pipeline import lower, passes
from daedalus.generator.targets.neon.forms import Choice, Need
from daedalus.generator.targets.neon.select import Selection
from daedalus.generator.targets.neon.strips import walks_of
from daedalus.generator.targets.qpu.emit import Emitted

VERSION = 1  # of the JSON that `explain` prints


@dataclass(frozen=True)
class Form:
    """One form of a value that a NEON stage computes.

    demand       what the use wants, as "bits 16" or "sat_u 8"
    instruction  the intrinsic without its type suffix; "" where the value is there already
    registers    that the form takes
    cost         the selection's, see docs/lowering.md
    """

    demand: str
    rule: str
    instruction: str
    registers: int
    cost: float


@dataclass(frozen=True)
class Line:
    """A value of a stage."""

    number: int
    node: Node
    text: str
    range: Interval
    forms: tuple[Form, ...]
    c_type: str  # of portable C, else ""


@dataclass(frozen=True)
class Vectors:
    """How NEON goes through a stage.

    axes   that run across a vector, outermost first
    loops  around it
    strip  the loop over an axis that is cut into vectors as long as whole ones are left, "" where
           none is; what remains of it is done point by point in scalar C
    """

    axes: tuple[tuple[str, int], ...]
    loops: tuple[tuple[str, int], ...]
    strip: str

    @property
    def count(self) -> int:
        """How many there are, if no parameter limits them."""
        return math.prod(extent for _, extent in self.loops)


@dataclass(frozen=True)
class StageView:
    """conditions: on what runs at all, as "given %4"; vectors: None where it is not for NEON."""

    stage: Stage
    lines: tuple[Line, ...]
    stores: tuple[str, ...]
    conditions: tuple[str, ...]
    vectors: Vectors | None
    cost: float  # of what NEON computes for a vector; memory's own shuffles are not in it


@dataclass(frozen=True)
class Refusal:
    """Why a target has no form of the kernel."""

    target: str
    error: SpecError


@dataclass(frozen=True)
class View:
    """A kernel, at a point of its way to code."""

    kernel: Kernel
    options: Options | None
    after: str  # the pass that the program is shown after; "trace" for the author's own
    items: int  # side by side in a vector
    stages: tuple[StageView, ...]
    code: Emitted | None = None  # of a variant in machine code
    text: str = ""  # of a variant: C, GLSL or assembly


def refusals(entry: Entry) -> list[Refusal]:
    """The targets that cannot do the kernel's full class, with the reason."""
    found = []
    for target in PLAIN_TARGETS:
        try:
            _make(entry, options_of(target, FULL), [])
        except SpecError as e:
            found.append(Refusal(target, e))
    return found


def view(entry: Entry, options: Options | None = None) -> View:
    """The program with everything known of it. Raises SpecError where the target refuses it."""
    if options is None:
        return _view(entry.kernel, None, "trace", {})
    selections: list[Selection] = []
    made = _make(entry, options, selections)
    lowered = lower(entry.kernel, options)
    # A variant of several items a vector has a second body, for one left over: not shown.
    first = selections[: len(lowered.stages)]
    strips = [walk.axis for walk in walks_of(lowered)[1]]
    shown = _view(
        first[0].kernel if first else lowered, options, passes(entry.kernel, options)[-1][0],
        {n: (s, strips[n]) for n, s in enumerate(first)},
    )  # fmt: skip
    return replace(shown, code=made.code, text=made.text)


def _make(entry: Entry, options: Options, selections: list[Selection]) -> Variant:
    return make_variant(
        environment(), entry.kernel, options, prod=False, rank=0, spec=entry.spec,
        watch=selections.append,
    )  # fmt: skip


Selected = tuple[Selection, str]  # of a stage, with the axis that is cut into strips


def _view(
    kernel: Kernel, options: Options | None, after: str, selections: dict[int, Selected]
) -> View:
    ranges = Ranges(kernel)
    stages = tuple(
        _stage(s, ranges, options, *selections.get(n, (None, "")))
        for n, s in enumerate(kernel.stages)
    )
    return View(kernel, options, after, kernel.items_per_vector, stages)


def _stage(
    stage: Stage, ranges: Ranges, options: Options | None, selection: Selection | None, strip: str
) -> StageView:
    nodes = stage.nodes()
    number = {node: n for n, node in enumerate(nodes)}
    scalar = options is not None and options.target == "c"
    needs = selection.reached() if selection else []
    lines = tuple(
        Line(
            n, node, node_text(node, number), ranges.of(node),
            tuple(_forms(node, needs, selection)) if selection else (),
            _c_type(node, ranges) if scalar else "",
        )
        for node, n in number.items()
    )  # fmt: skip
    stores = tuple(
        f"{s.buffer}{index_text(s.index)} {s.combine}= %{number[s.value]}"
        + (f" where %{number[s.mask]}" if s.mask else "")
        for s in stage.stores
    )
    conditions = [] if stage.given is None else [f"given %{number[stage.given]}"]
    conditions += [f"{axis} < %{number[n]}" for axis, n in stage.limits]
    if stage.guard is not None:
        conditions.append(f"any %{number[stage.guard]}")
    lanes = selection.lanes if selection else None
    vectors = Vectors(lanes.axes, lanes.loops, strip) if lanes else None
    cost = sum(selection.chosen[need].cost for need in needs) if selection else 0.0
    return StageView(stage, lines, stores, tuple(conditions), vectors, cost)


def _forms(node: Node, needs: list[Need], selection: Selection) -> Iterator[Form]:
    for need in needs:
        if need[0] is not node:
            continue
        demand, choice = need[1], selection.chosen[need]
        yield Form(
            f"{demand.kind} {demand.width}", choice.rule, _instruction(choice, selection),
            selection.shape.count(demand.width), choice.cost,
        )  # fmt: skip


# Leaves: what memory takes to load, uniform values, lane numbers, dot products of what is loaded.
_LEAVES = {
    "": "",
    "load": "load",
    "dup": "vdup_n",
    "lane": "vld1",
    "dot": "vdot_lane",
    "lookup": "by lane",
}


def _instruction(choice: Choice, selection: Selection) -> str:
    """The intrinsic of a choice, without register and element type."""
    if choice.op in _LEAVES:
        return _LEAVES[choice.op]
    machine = selection.shape.target.ops[choice.op]
    by_lane = any(n.op is Op.CONST for n in choice.scalars)
    form = {"n": "_n", "k": "_lane" if by_lane else "_n"}.get(machine.form, "")
    return f"v{machine.stem}{form}"


def _c_type(node: Node, ranges: Ranges) -> str:
    if node.op is Op.CONST:
        return ""
    if node.is_bool:
        return "int"
    return "int32_t" if ranges.of(node).within(-(2**31), 2**31 - 1) else "int64_t"


# ------------------------------------------------------------------ as data


def record(entry: Entry, shown: View, refused: list[Refusal]) -> dict[str, Any]:
    """The view as `explain --json` prints it."""
    variant = shown.options and variant_name(entry.kernel.id, shown.options)
    return {
        "version": VERSION,
        "kernel": entry.kernel.id,
        "spec": entry.spec,
        "variant": variant,
        "after": shown.after,
        "items": shown.items,
        "figures": None if shown.code is None else asdict(shown.code.figures),
        "stages": [
            {
                "lanes": dict(s.stage.dims),
                "at": str(s.stage.loc),
                "conditions": list(s.conditions),
                "vectors": s.vectors and {
                    **vars(s.vectors), "axes": dict(s.vectors.axes), "loops": dict(s.vectors.loops)
                },
                "values": [_value(line) for line in s.lines],
                "stores": list(s.stores),
                "cost": s.cost,
            }
            for s in shown.stages
        ],
        "refused": [
            {
                "target": r.target, "message": r.error.message, "at": str(r.error.loc),
                "hint": r.error.hint,
            }
            for r in refused
        ],
    }  # fmt: skip


def _value(line: Line) -> dict[str, Any]:
    n = line.node
    return {
        "number": line.number,
        "op": str(n.op),
        "text": line.text,
        "name": n.name,
        "boolean": n.is_bool,
        "lo": line.range.lo,
        "hi": line.range.hi,
        "bits": bits_needed(line.range),
        "at": str(n.loc),
        "c_type": line.c_type,
        "forms": [vars(f) for f in line.forms],
    }  # fmt: skip
