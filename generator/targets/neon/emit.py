# SPDX-License-Identifier: BSD-2-Clause
"""NEON bodies: selection, order, and the text of every step of a stage."""

from collections.abc import Callable
from dataclasses import replace

from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import Kernel, Node, Op, Stage
from daedalus.dsl.ranges import Ranges
from daedalus.generator.targets.c.emit import access
from daedalus.generator.targets.c.scalar import Names, Scalars
from daedalus.generator.targets.neon.constants import ConstantLanes
from daedalus.generator.targets.neon.memory import Memory, padded_lanes
from daedalus.generator.targets.neon.order import Step, order
from daedalus.generator.targets.neon.select import Choice, Demand, Need, NotLowerable, Selection
from daedalus.generator.targets.neon.vectors import (
    ByScalar,
    Group,
    Lines,
    Scalar,
    Shape,
    cast,
    combine,
    operation,
    suffix,
)  # fmt: skip
from daedalus.generator.targets.shell import Body, body, fixed_names, stage_remark

Watch = Callable[[Selection], None]


def emit(kernel: Kernel, watch: Watch | None = None) -> tuple[Body, ...]:
    """The bodies of a variant: for the items a vector holds, and for one left over.

    `watch` sees the selection of every stage.
    """
    _refuse_unknown(kernel)
    counts = sorted({kernel.items_per_vector, 1}, reverse=True)
    return tuple(
        body(kernel, n, *_body(replace(kernel, items_per_vector=n), watch)) for n in counts
    )


def _refuse_unknown(kernel: Kernel) -> None:
    """What the language has and this back end does not do yet is an error at its line."""
    found: list[tuple[str, Loc]] = [
        ("a temp with a first value", t.loc) for t in kernel.temps if t.init is not None
    ]
    for stage in kernel.stages:
        if stage.given is not None:
            found.append(("a stage under a condition", stage.loc))
        if stage.limits:
            found.append(("an axis whose extent a parameter decides", stage.loc))
        found += [("accumulation", s.loc) for s in stage.stores if s.combine]
        for n in stage.nodes():
            if n.op is Op.LOAD and n.args:
                found.append(("a place known only at run time", n.loc))
            elif n.op is Op.LANE:
                found.append(("a lane as a value", n.loc))
            elif n.op is Op.PARAM and n.index:
                found.append(("an array parameter", n.loc))
    if found:
        what, loc = found[0]
        raise NotLowerable(
            "neon", f"{what} has no NEON form yet", loc, kernel.id,
            hint=f'give {kernel.id} prod = ["c_full"] in schedules.toml',
        )  # fmt: skip


def _body(kernel: Kernel, watch: Watch | None) -> tuple[str, list[str]]:
    """Name and statements of the body for the items that a vector holds."""
    items = kernel.items_per_vector
    ranges, hostile = Ranges(kernel), Ranges(kernel, hostile=True)
    names = Names(fixed_names(kernel))
    constants = ConstantLanes(names)
    memory = Memory(kernel, ranges, names)
    lines: list[str] = []
    for n, stage in enumerate(kernel.stages):
        lines.append(stage_remark(kernel, n))
        one = _Stage(kernel, stage, ranges, hostile, names, constants, memory)
        if watch is not None:
            watch(one.selection)
        lines += one.emit()
    name = {1: "one_item"}.get(items, f"items_{items}")
    head = constants.declarations() + memory.declarations()
    return name, head + lines


class _Stage:
    """Emits one stage."""

    def __init__(
        self, kernel: Kernel, stage: Stage, ranges: Ranges, hostile: Ranges,
        names: Names, constants: ConstantLanes, memory: Memory,
    ) -> None:  # fmt: skip
        self.kernel, self.stage, self.ranges, self.names = kernel, stage, ranges, names
        self.constants, self.memory = constants, memory
        self.items = kernel.items_per_vector
        self.per_item = padded_lanes(stage)
        self.shape = Shape(self.items * self.per_item)
        self.selection = Selection(kernel, stage, ranges, self.shape)
        self.out = Lines(names.fresh)
        self.groups: dict[Need, Group] = {}
        self.scalars = [self._scalars(k, hostile) for k in range(self.items)]
        memory.enter(stage, self.shape)

    def _scalars(self, k: int, hostile: Ranges) -> Scalars:
        """Uniform values of the k-th item, as C scalars."""
        many = f"[{k}]" if self.items > 1 else ""

        def load(n: Node, values: Scalars) -> str:
            b = self.kernel.buffer(n.attr[0])
            return access(b, n.index, self.memory.pointer(b, k))

        return Scalars(self.kernel, self.ranges, hostile, self.names, load, lambda p: f"{p}{many}")

    def emit(self) -> list[str]:
        steps = order(self.selection, self.memory)
        uniform_nodes = [
            n for s in steps for n in s.uniform_values(self.selection) if n.op is not Op.CONST
        ]
        for s in self.scalars:
            s.stage(self.stage, uniform_nodes)
            self.out.lines += s.lines
        for step in steps:
            self._step(step)
        return self.out.lines

    # ------------------------------------------------------------------ steps

    def _step(self, step: Step) -> None:
        if step.guard is not None:
            self._guard(self.groups[step.guard])
        elif step.stores:
            values = [self.groups[self._store_need(n)] for n in step.stores]
            self.memory.store(self.out, [self.stage.stores[n] for n in step.stores], values)
        elif step.need is not None:
            self.groups[step.need] = self._value(step.need, self.selection.chosen[step.need])

    def _store_need(self, n: int) -> Need:
        return self.selection.roots[n]

    def _value(self, need: Need, choice: Choice) -> Group:
        node, demand = need
        if choice.op == "":
            return self.groups[choice.inputs[0]]
        if choice.op == "load":
            return self.memory.load(self.out, node, demand.width)
        if choice.op == "dup":
            return self._dup(node, demand)
        operands = [self.groups[i] for i in choice.inputs]
        scalar = self._scalar(choice, demand.width) if choice.scalars else None
        texts, sign = operation(choice.op, self.shape, demand.width, operands, scalar, choice.imm)
        return self._let(self._wanted(node, demand), sign, demand.width, texts)

    def _wanted(self, node: Node, demand: Demand) -> str:
        """A name near the author's: the value's, with what form of it this is."""
        base = node.name or f"t{node.seq}"
        if demand.kind in ("sat_u", "sat_s", "negated"):
            return f"{base}_{'neg' if demand.kind == 'negated' else 'sat'}"
        return base

    def _let(self, wanted: str, sign: str, width: int, texts: list[str]) -> Group:
        bits = self.shape.bits(width)
        many = len(texts) > 1
        names = tuple(
            self.out.let(f"{wanted}_{r}" if many else wanted, sign, width, bits, t)
            for r, t in enumerate(texts)
        )
        return Group(names, width, sign)

    def _scalar(self, choice: Choice, width: int) -> Scalar:
        """A multiplier: a lane of the constants, or a run-time scalar."""
        node = choice.scalars[0]
        half = (
            width // 2
            if "mull" in choice.op or "mlal" in choice.op or "mlsl" in choice.op
            else width
        )
        sign = "u" if choice.op.endswith("_u") else "s"
        if node.op is Op.CONST:
            return self.constants.lane(node.value, sign, half)
        text = self.scalars[0].operand(node)
        return ByScalar(f"({'u' if sign == 'u' else ''}int{half}_t){text}")

    # ------------------------------------------------------------------ leaves

    def _dup(self, node: Node, demand: Demand) -> Group:
        """A uniform value in all lanes; with several items, each item's in its own lanes."""
        w = demand.width
        sign = "s" if demand.kind in ("sat_s", "negated") or (
            demand.kind == "bits" and self.ranges.of(node).lo < 0
        ) else "u"  # fmt: skip
        if node.op is Op.CONST:
            value = -node.value if demand.kind == "negated" else node.value
            form = Demand("bits", w) if demand.kind == "negated" else demand
            texts = [self._dup_text(self._form(str(value), form), sign, w)]
            texts *= self.shape.count(w)
            shared = self._let(self._wanted_constant(node, demand), sign, w, texts[:1])
            return Group(shared.names * self.shape.count(w), w, sign)
        values = [self._form(s.operand(node), demand) for s in self.scalars]
        count, per = self.shape.count(w), self.shape.per_register(w)
        texts = []
        for r in range(count):
            first = r * per // self.per_item
            inside = values[first : first + max(1, per // self.per_item)]
            texts.append(self._fill(inside, sign, w))
        return self._let(self._wanted(node, demand), sign, w, texts)

    def _wanted_constant(self, node: Node, demand: Demand) -> str:
        text = str(node.value).replace("-", "minus")
        return f"k{text}{'_neg' if demand.kind == 'negated' else ''}"

    def _form(self, value: str, demand: Demand) -> str:
        """A scalar as the demand wants it in a lane."""
        w = demand.width
        match demand.kind:
            case "negated":
                return f"-(int64_t){value}"
            case "sat_u" | "sat_s":
                s = demand.kind == "sat_s"
                lo = -(1 << (w - 1)) if s else 0
                hi = (1 << (w - (1 if s else 0))) - 1
                return f"daedalus_clip64({value}, INT64_C({lo}), INT64_C({hi}))"
            case "mask":
                return f"-(int32_t)({value})"
        return value

    def _dup_text(self, value: str, sign: str, w: int) -> str:
        q = "q" if self.shape.bits(w) == 128 else ""
        return f"vdup{q}_n_{suffix(sign, w)}(({'u' if sign == 'u' else ''}int{w}_t)({value}))"

    def _fill(self, values: list[str], sign: str, w: int) -> str:
        """A register whose equal parts hold the given scalars."""
        if len(set(values)) == 1:
            return self._dup_text(values[0], sign, w)
        bits = self.shape.bits(w)
        if len(values) == 2 and bits == 128:
            ctype_ = f"{'u' if sign == 'u' else ''}int{w}_t"
            halves = [f"vdup_n_{suffix(sign, w)}(({ctype_})({v}))" for v in values]
            return combine(halves[0], halves[1], sign, w)
        each = bits // w // len(values)
        q = "q" if bits == 128 else ""
        elem = f"{'u' if sign == 'u' else ''}int{w}_t"
        entries = ", ".join(f"({elem})({v})" for v in values for _ in range(each))
        # In parentheses: an intrinsic may be a macro, which the commas would fall apart for.
        return f"vld1{q}_{suffix(sign, w)}(((const {elem}[]){{{entries}}}))"

    def _guard(self, mask: Group) -> None:
        """Leaves the body where the mask holds on no lane."""
        bits = self.shape.bits(mask.width)
        regs = [cast(n, (mask.sign, mask.width), ("u", 64), bits) for n in mask.names]
        lanes = [
            f"vget{'q' if bits == 128 else ''}_lane_u64({r}, {k})"
            for r in regs
            for k in range(bits // 64)
        ]
        if self.shape.lanes * mask.width == 32:
            lanes = [f"(uint32_t){lanes[0]}"]
        self.out.lines += [f"if (({' | '.join(lanes)}) == 0) {{", "return;", "}"]
