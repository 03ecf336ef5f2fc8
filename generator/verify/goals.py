# SPDX-License-Identifier: BSD-2-Clause
"""Goals: what a variant's witnesses have to show, and the variant as that is found out.

A lowering that saturates, rounds, compares or relies on arithmetic modulo 2**w is right for all
items; on most of them a plainer operation is right, too. A *goal* is one such lowering; an item is
its *witness* where the variant's result would be another with the plainer operation in its place,
or, for modular ones, where the value is beyond the lane that holds it (whoever takes the lane for
the value is wrong there). What ranges and assumptions prove to be the same on all items is no goal.
Lowerings that a variant has more than _ALIKE times, of one line in one form, as unrolled rows do,
are one goal: a witness of any of them is one.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from daedalus.dsl import interp
from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.ranges import Interval
from daedalus.generator.compile.registry import Entry
from daedalus.generator.options import Options, variant_name
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.neon import simulate
from daedalus.generator.targets.neon.emit import emit
from daedalus.generator.targets.neon.forms import Choice, Demand, Need
from daedalus.generator.targets.neon.ops import OPS
from daedalus.generator.targets.neon.rules import limits
from daedalus.generator.targets.neon.select import Selection
from daedalus.generator.targets.neon.simulate import Part

# The operation without saturation or rounding, or of the other strictness, on the same operands.
PLAIN = {
    "qadd_u": "add", "qadd_s": "add", "sqadd_u": "add", "qsub_u": "sub", "qsub_s": "sub",
    "qshl_n_u": "shl_n", "qmovn_u": "movn", "qmovn_s": "movn", "qmovun": "movn",
    "qshrn_n_u": "shrn_n", "qshrn_n_s": "shrn_n", "qshrun_n": "shrn_n",
    "qrshrn_n_u": "rshrn_n", "qrshrn_n_s": "rshrn_n", "qrshrun_n": "rshrn_n",
    "rshrn_n": "shrn_n", "rshr_n_u": "shr_n_u", "rshr_n_s": "shr_n_s",
    "rhadd_u": "hadd_u", "rhadd_s": "hadd_s", "rdmulh_k": "dmulh_k",
    "cge_u": "cgt_u", "cge_s": "cgt_s", "cgt_u": "cge_u", "cgt_s": "cge_s",
}  # fmt: skip

SATURATING = frozenset(n for n in PLAIN if n.startswith(("q", "sq")))

_ALIKE = 4  # goals of one line and form, in a stage; more are one
TOGETHER = 2_000_000  # values computed at once: operations times points times items


@dataclass(frozen=True)
class Goal:
    """One lowering of a variant, and the operation that it has to be told from.

    plain  the operation, or "" where the lane holds the value modulo 2**w only
    alike  the others of a goal that is many lowerings
    """

    stage: int
    need: Need
    rule: str
    op: str
    plain: str
    alike: tuple[Need, ...] = ()

    def __str__(self) -> str:
        node = self.need[0]
        return f"{node.loc}: {self.text}"

    @property
    def text(self) -> str:
        """What it is, without the line: by this a reason names it."""
        what = f"{self.op} for {self.plain}" if self.plain else "wraps"
        return described(self.need, self.rule, self.plain if self.op == "dup" else what)


def described(need: Need, rule: str, what: str) -> str:
    """A lowering, and what is changed about it."""
    node, demand = need
    name = f" {node.value}" if node.op is Op.CONST else f" {node.name}" if node.name else ""
    return f"{node.op}{name} as {demand.kind} {demand.width} (rule {rule}, {what})"


@dataclass(frozen=True)
class Plan:
    """A function of a variant as the search sees it: its program, what was selected, the goals.

    A variant for several items has one for these, and one for an item that is left over.

    function  in the C file
    title     what it is to people: the variant, and the function where there are several
    lowered   for as many items as the function does
    """

    name: str
    function: str
    title: str
    options: Options
    kernel: Kernel  # as the spec has it
    lowered: Kernel
    stages: list[Part]
    goals: list[Goal]

    @property
    def size(self) -> int:
        """Values that an item takes."""
        return sum(len(p.order) * p.vector.lanes for p in self.stages)

    def portions(self, items: Items) -> Iterator[Items]:
        """The items in order, as many at a time as are simulated at once."""
        step = min(1000, max(8, TOGETHER // self.size))
        for at in range(0, items.count, step):
            yield items.take(np.arange(at, min(at + step, items.count)))

    def conformant(self, items: Items) -> Array:
        """Which items the variant has to get right."""
        if not items.count:
            return np.zeros(0, dtype=bool)
        assume = self.kernel.defaults | set(self.options.assume)
        ok: Array = interp.run(self.kernel, items).conformant(assume)
        return ok & interp.in_class(self.kernel, self.options.class_name, items)


def lane_limits(demand: Demand, held: Interval) -> tuple[int, int]:
    """What a lane holds of a value with that range: as a signed number where a value may be
    negative, and where that is what it is limited to."""
    signed = demand.kind == "sat_s" or (demand.kind == "bits" and held.lo < 0)
    return limits(demand.width, signed)


def plans(entry: Entry) -> Iterator[Plan]:
    """The functions of a kernel's NEON variants."""
    for options, _ in entry.listed:
        if options.target == "neon":
            yield from plans_of(entry, options)


def plans_of(entry: Entry, options: Options) -> list[Plan]:
    """The functions of one variant."""
    lowered = lower(entry.kernel, options)
    name = variant_name(entry.kernel.id, options)
    seen: list[Selection] = []
    found: list[Plan] = []
    bodies = emit(lowered, seen.append)
    for n, made in enumerate(bodies):
        one = replace(lowered, items_per_vector=made.items)
        count = len(lowered.stages)
        stages = simulate.parts(one, seen[n * count :][:count])
        every = [g for stage, part in enumerate(stages) for g in _goals(stage, part.selection)]
        title = f"{name} ({made.name})" if len(bodies) > 1 else name
        found.append(
            Plan(name, made.name, title, options, entry.kernel, one, stages, _joined(every))
        )
    return found


def _joined(goals: list[Goal]) -> list[Goal]:
    """The goals; more than _ALIKE of one line and form in a stage are one."""
    groups: dict[tuple[int, str], list[Goal]] = {}
    for g in goals:
        groups.setdefault((g.stage, str(g)), []).append(g)
    found: list[Goal] = []
    for group in groups.values():
        first, *others = group
        if len(group) > _ALIKE:
            found.append(replace(first, alike=tuple(g.need for g in others)))
        else:
            found += group
    return found


def plainer(need: Need, choice: Choice) -> Iterator[str]:
    """What a lowering has to be told from: another operation, or a change of a constant."""
    if choice.op == "dup" and need[0].op is Op.CONST:
        yield from (simulate.LESS, simulate.MORE)
    if choice.op in PLAIN:
        yield PLAIN[choice.op]


def _goals(stage: int, selection: Selection) -> Iterator[Goal]:
    known = _bounds(selection)
    for need in selection.reached():
        node, demand = need
        choice, held = selection.chosen[need], known[node]
        if choice.op == "dup" and demand.kind != "bits":
            continue
        if choice.op in SATURATING and held.within(*limits(demand.width, demand.kind == "sat_s")):
            continue  # it cannot bind: with the plain operation the lane holds the same
        for plain in plainer(need, choice):
            yield Goal(stage, need, choice.rule, choice.op, plain)
        fits = any(held.within(*limits(demand.width, s)) for s in (False, True))
        if demand.kind == "bits" and choice.op in OPS and not node.is_bool and not fits:
            yield Goal(stage, need, choice.rule, choice.op, "")


def _bounds(selection: Selection) -> dict[Node, Interval]:
    """Of every value, what ranges prove and what assumptions say of it to whoever uses it."""
    found = {n: selection.ranges.of(n) for n in selection.stage.nodes()}
    for n in selection.stage.nodes():
        if n.op is Op.ASSUME:
            held = found[n.args[0]]
            lo, hi = max(held.lo, n.attr[1]), min(held.hi, n.attr[2])
            found[n.args[0]] = Interval(lo, max(lo, hi))
    return found
