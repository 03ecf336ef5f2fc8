# SPDX-License-Identifier: BSD-2-Clause
"""Runs what was selected: a lowered kernel's stages by their machine operations, on integers.

The result is what the emitted code computes (apart from how it moves data), so one operation can
be exchanged for another and the difference be seen without compiling anything. The points of loops
around a vector are simulated side by side, like its lanes. Of an axis that is cut into strips, what
whole vectors cover is computed by the operations, the points that are left as the interpreter does.
Branches are taken to compute what they skip. Of an item that is done panel by panel the first panel
is computed: the others are by the same code.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from daedalus.dsl import interp
from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import Index, Kernel, Node, Op, Stage
from daedalus.generator.targets.neon.forms import Choice, Demand, Need, signed_as
from daedalus.generator.targets.neon.ops import OPS, MachineOp
from daedalus.generator.targets.neon.rules import limits
from daedalus.generator.targets.neon.select import Selection
from daedalus.generator.targets.neon.strips import walks_of

# Changes of what an operation, or a broadcast, gives: all bits, or by one.
INVERTED, LESS, MORE = "inverted", "one less", "one more"

_LEAVES = frozenset({"load", "dup", "lane", "dot"})  # what the interpreter gives is what they are

State = Mapping[str, Array]  # buffer or temp -> [items, *extents]


_HELD = 64  # bits of an array's element


@dataclass(frozen=True)
class Change:
    """What is computed in place of a need of a stage.

    op      the operation, or a change of what the chosen one gives; "" for the chosen one
    imm     by how much its immediate is another; `scalar`: its scalar operand
    lanes   where; None everywhere
    """

    stage: int
    need: Need
    op: str
    imm: int = 0
    scalar: int = 0
    lanes: Array | None = None


@dataclass(frozen=True)
class Part:
    """A stage of a variant: its vectors, and where an axis is cut into strips, the rest of it.

    point  the stage as one lane does it
    axis   the axis cut into strips of `lanes` points, "" where none is
    bounded  stores that a strip does all or not at all, by their number
    order  what the vectors compute, operands before their users
    """

    selection: Selection
    order: tuple[Need, ...]
    point: Stage
    axis: str
    lanes: int
    bounded: frozenset[int] = frozenset()

    @property
    def vector(self) -> Stage:
        return self.selection.stage


def parts(kernel: Kernel, selections: list[Selection]) -> list[Part]:
    """The stages of a lowered kernel, by the selections that the back end made for them."""
    return [
        Part(selection, tuple(selection.reached()), walk.point, walk.axis, walk.lanes, walk.bounded)
        for walk, selection in zip(walks_of(kernel)[1], selections, strict=True)
    ]


class _Vectors(interp.StageRun):
    """The vectors of a stage: active where a whole strip is."""

    def __init__(
        self, part: Part, items: Items, state: State, broken: dict[str, Array], points: Array | None
    ) -> None:
        self._part, self._points = part, points
        super().__init__(part.selection.kernel, part.vector, items, state, broken)

    def places(self, buffer: str, index: Index) -> list[Array]:
        """As of any stage; the last strip's points beyond the end are moved inside."""
        found = super().places(buffer, index)
        if not self._part.axis:
            return found
        shape = self.kernel.buffer(buffer).shape
        return [np.clip(a, 0, hi - lo - 1) for a, (lo, hi) in zip(found, shape, strict=True)]

    def active(self) -> Array:
        """Where a vector does it: bool [items, lanes]. The first strip that is not whole, or has a
        lane that stores nothing, ends them."""
        on = super().active()
        part = self._part
        if not part.axis:
            return on
        assert self._points is not None
        last = part.lanes * (self.grid[part.axis][None, :] + 1)
        on = on & (last <= self._points)
        for n in part.bounded:
            mask = self.stage.stores[n].mask
            if mask is not None:
                on = on & self.values[mask]
        strips = on.reshape(len(on), -1, self.stage.extents[part.axis], part.lanes).all(axis=3)
        whole = np.logical_and.accumulate(strips, axis=2)
        return np.repeat(whole.reshape(len(on), -1), part.lanes, axis=1)


@dataclass
class Ran:
    """A run.

    outputs  buffer -> array [items, *extents], as in interp.Result
    items    what it ran on
    states   what buffers and temps held before each stage, and after the last
    forms    per stage, need -> lanes as unsigned bit patterns, [items, lanes]
    values   per stage, node -> what the interpreter makes of it, [items, lanes]
    active   per stage, where vectors run: bool [items, lanes]
    told     per stage, how the interpreter has it
    before   per stage, what its vectors store to, or merge into
    """

    outputs: dict[str, Array]
    items: Items
    states: list[State]
    forms: list[dict[Need, Array]]
    values: list[Mapping[Node, Array]]
    active: list[Array]
    told: list[_Vectors]
    before: list[State]


def run(kernel: Kernel, stages: list[Part], items: Items) -> Ran:
    """A lowered kernel by the selections of its stages.

    `values` are those of the interpreter on the state that the stages before have left.
    """
    return _from(kernel, stages, items, 0, interp.first_state(kernel, items))


def _from(kernel: Kernel, stages: list[Part], items: Items, first: int, state: State) -> Ran:
    """The stages from number `first` on; lists of the result begin with that stage."""
    broken = {a.name: np.zeros(items.count, dtype=bool) for a in kernel.assumptions}  # the caller's
    ran = Ran({}, items, [state], [], [], [], [], [])
    for part in stages[first:]:
        told, before = _told(kernel, part, items, state, broken)
        forms = _forms(part, told, None, {})
        state = {**before, **_stored(part, told, forms, before)}
        ran.states.append(state)
        ran.forms.append(forms)
        ran.values.append(told.values)
        ran.active.append(told.active())
        ran.told.append(told)
        ran.before.append(before)
    ran.outputs = {b.name: state[b.name] for b in kernel.buffers if b.access != "in"}
    return ran


def _told(
    kernel: Kernel, part: Part, items: Items, state: State, broken: dict[str, Array]
) -> tuple[_Vectors, State]:
    """A stage as the interpreter has it, and the state with what no vector stores."""
    if not part.axis:
        return _Vectors(part, items, state, broken, None), state
    scalar = interp.StageRun(kernel, part.point, items, state, broken)
    most = np.array([[part.point.extents[part.axis]]])
    limit = dict(part.point.limits).get(part.axis)
    points = most if limit is None else np.minimum(scalar.values[limit], most)
    rest = interp.stored(scalar, [scalar.values[s.value] for s in part.point.stores])
    return _Vectors(part, items, state, broken, points), {**state, **rest}


def _stored(
    part: Part, told: _Vectors, forms: Mapping[Need, Array], before: State
) -> dict[str, Array]:
    """What the buffers hold that a stage stores to."""
    selection, results = part.selection, []
    for s, root in zip(part.vector.stores, selection.roots, strict=False):
        signed = selection.ranges.dtype(s.buffer).signed
        results.append(read(forms[root], root[1].width, "s" if signed else "u"))
    old, told.state = told.state, before  # the rest of a cut axis is stored already
    after = interp.stored(told, results)
    told.state = old
    return after


def shows(kernel: Kernel, stages: list[Part], base: Ran, change: Change, most: int) -> Array:
    """The numbers of (at most `most`) items of a run whose results are others with a change.

    Only what depends on the change is computed anew, only the items that differ so far go on.
    """
    n, part = change.stage, stages[change.stage]
    forms = changed_forms(part, base, change)
    if forms is None:
        return np.zeros(0, np.int64)
    told = base.told[n]
    after = {**base.states[n + 1], **_stored(part, told, forms, base.before[n])}
    differs = _other(after, base.states[n + 1])
    which = np.flatnonzero(differs)
    which = which[:: max(1, len(which) // most)][:most]
    if not len(which) or n + 1 == len(stages):
        outputs = {b.name for b in kernel.buffers if b.access != "in"}
        told_apart = _other({k: v for k, v in after.items() if k in outputs}, base.states[n + 1])
        return np.asarray(which[told_apart[which]])
    state = {k: v[which] for k, v in after.items()}
    rest = _from(kernel, stages, base.items.take(which), n + 1, state)
    wanted = {k: v[which] for k, v in base.outputs.items()}
    return np.asarray(which[_other(rest.outputs, wanted)])


def _other(a: State, b: State) -> Array:
    """The items in which states differ: bool [items]."""
    found = np.zeros(len(next(iter(a.values()))), dtype=bool)
    for name, values in a.items():
        if values is not b[name]:
            found |= (values != b[name]).reshape(len(values), -1).any(axis=1)
    return found


def changed_forms(part: Part, base: Ran, change: Change) -> dict[Need, Array] | None:
    """The forms of the change's stage; None where no lane of a root is another."""
    n = change.stage
    forms = _forms(part, base.told[n], change, base.forms[n])
    same = all(np.array_equal(forms[r], base.forms[n][r]) for r in part.selection.roots)
    return None if same else forms


def _forms(
    part: Part, told: interp.StageRun, change: Change | None, base: Mapping[Need, Array]
) -> dict[Need, Array]:
    """Every form that the stage computes; with a change, those of `base` but for what depends on
    it."""
    forms: dict[Need, Array] = dict(base)
    fresh: set[Need] = set()
    for need in part.order:
        choice = part.selection.chosen[need]
        node, demand = need
        mine = change if change is not None and change.need == need else None
        if change is not None and mine is None and fresh.isdisjoint(choice.inputs):
            continue
        changed = "" if mine is None else mine.op
        if choice.op in _LEAVES:
            forms[need] = as_demanded(told.values[node], demand)
        elif choice.op == "":
            forms[need] = forms[choice.inputs[0]]
        elif choice.op == "lookup":
            forms[need] = _looked_up(part.selection, need, choice, forms, told)
        else:
            op = changed if changed in OPS else choice.op
            by = 0
            if mine is not None:
                choice, by = choice._replace(imm=choice.imm + mine.imm), mine.scalar
            forms[need] = compute(op, choice, demand, forms, told.values, by)
        if changed == INVERTED:
            forms[need] = forms[need] ^ _ones(demand.width)
        elif changed in (LESS, MORE):
            forms[need] = (forms[need] + (1 if changed == MORE else -1)) & _ones(demand.width)
        if mine is not None and mine.lanes is not None:
            forms[need] = np.where(mine.lanes, forms[need], base[need])
        if change is not None and not np.array_equal(forms[need], base[need]):
            fresh.add(need)
    return forms


def _looked_up(
    selection: Selection, need: Need, choice: Choice, forms: Mapping[Need, Array],
    told: interp.StageRun,
) -> Array:  # fmt: skip
    """A table's entries, or elements of a buffer, by the forms of the indices, as bit patterns."""
    node, demand = need
    varying = {i[0]: i for i in choice.inputs}
    found: list[Array] = []
    for x in node.args:
        index = told.values[x]
        if x in varying:
            sign = "s" if signed_as(varying[x], selection.ranges) else "u"
            index = read(forms[varying[x]], varying[x][1].width, sign)
        found.append(index)
    if node.op is Op.LOAD:
        reach = [selection.ranges.of(x) for x in node.args]
        inside = tuple(np.clip(i, r.lo, r.hi) for i, r in zip(found, reach, strict=True))
        name = node.attr[0]
        return np.asarray(told.state[name][told.where(name, node.index, inside)]) & _ones(
            demand.width
        )
    rows = np.array(selection.kernel.table(node.attr[0]).rows, np.int64)
    at = [np.clip(i, 0, n - 1) for i, n in zip(found, rows.shape, strict=False)]
    if len(at) == 1:
        at.append(np.zeros_like(at[0]))
    return np.asarray(rows[tuple(at)]) & _ones(demand.width)


def compute(
    op_name: str, choice: Choice, demand: Demand, forms: Mapping[Need, Array],
    values: Mapping[Node, Array], by: int = 0,
) -> Array:  # fmt: skip
    """One operation on the operands of a choice, as bit patterns; scalars are more `by` so much."""
    op = OPS[op_name]
    widths = operand_widths(op, demand.width)
    args = [(forms[i], i[1].width) for i in choice.inputs]
    args += [(values[n] + by, widths[-1]) for n in choice.scalars]
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
    """All bits of a lane; arrays hold patterns of 64 bits as numbers with a sign."""
    return -1 if width == _HELD else (1 << width) - 1


def read(bits: Array, width: int, sign: str) -> Array:
    """A bit pattern's low `width` bits as a lane of that sign."""
    low: Array = bits.astype(np.int64) & _ones(width)
    if width == _HELD:
        return low
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
