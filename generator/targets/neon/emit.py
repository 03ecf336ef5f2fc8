# SPDX-License-Identifier: BSD-2-Clause
"""NEON bodies: selection, order, and the text of every step of a stage."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import replace

from daedalus.dsl.ir import Kernel, Node, Op, Stage
from daedalus.dsl.ranges import both_ranges
from daedalus.generator.targets.c.emit import point_lines, scalars
from daedalus.generator.targets.c.scalar import Names, Scalars
from daedalus.generator.targets.neon.branches import Branch, find_branch
from daedalus.generator.targets.neon.constants import ConstantLanes
from daedalus.generator.targets.neon.dots import Dots
from daedalus.generator.targets.neon.everywhere import everywhere
from daedalus.generator.targets.neon.forms import Choice, Demand, Need
from daedalus.generator.targets.neon.lanes import Lanes
from daedalus.generator.targets.neon.lookups import gather, lookup
from daedalus.generator.targets.neon.memory import Memory
from daedalus.generator.targets.neon.order import Step, order
from daedalus.generator.targets.neon.rows import RowPointers
from daedalus.generator.targets.neon.scope import Scope
from daedalus.generator.targets.neon.select import NotLowerable, Selection, Unsuited
from daedalus.generator.targets.neon.still import still_steps
from daedalus.generator.targets.neon.strips import Walk, bounds, walks_of
from daedalus.generator.targets.neon.table_lanes import TableLanes
from daedalus.generator.targets.neon.target import NEON, Target
from daedalus.generator.targets.neon.vectors import (  # fmt: skip
    ByScalar,
    Group,
    Lines,
    Scalar,
    Shape,
    cast,
    combine,
    ctype,
    low,
    narrow_pairs,
    operation,
    suffix,
)
from daedalus.generator.targets.shell import Body, body, fixed_names, over_panels, stage_remark

Watch = Callable[[Selection], None]


def emit(kernel: Kernel, watch: Watch | None = None, target: Target = NEON) -> tuple[Body, ...]:
    """The bodies of a variant: for the items a vector holds, and for one left over.

    `watch` sees the selection of every stage.
    """
    counts = sorted({kernel.items_per_vector, 1}, reverse=True)
    if kernel.panels is not None:
        panel = body(kernel, 1, "one_panel", _body(kernel, watch, target)[1])
        return (over_panels(kernel, kernel.panels, panel),)
    return tuple(
        body(kernel, n, *_body(replace(kernel, items_per_vector=n), watch, target)) for n in counts
    )


def _refuse_unsuited(kernel: Kernel, walks: tuple[Walk, ...], target: Target) -> None:
    """Options that these stages cannot be done by are an error at the stage."""
    for walk in walks:
        stage, what = walk.point, ""
        if kernel.items_per_vector > 1 and (stage.given is not None or stage.limits):
            what = "several items side by side cannot differ in extent: this stage has"
        elif kernel.items_per_vector > 1 and walk.axis:
            what = "several items side by side on an axis cut into strips have"
        if what:
            raise Unsuited(
                target.name,
                f"{what} no {target.form}",
                stage.loc,
                kernel.id,
                hint=f"leave x<n> out of the variants of {kernel.id}",
            )


def _body(kernel: Kernel, watch: Watch | None, target: Target) -> tuple[str, list[str]]:
    """Name and statements of the body for the items that a vector holds."""
    items = kernel.items_per_vector
    context = Context(kernel, target)
    lines: list[str] = []
    for n, walk in enumerate(context.walks):
        lines.append(stage_remark(kernel, n))
        lines += walked(context, walk, watch)
    name = {1: "one_item"}.get(items, f"items_{items}")
    head = context.rows.declarations() + context.constants.declarations()
    head += context.memory.declarations(context.names)
    return name, head + lines


class Context:
    """What the stages of a body share; `names` are further ones that mean something in it."""

    def __init__(self, kernel: Kernel, target: Target, names: tuple[str, ...] = ()) -> None:
        self.points, self.walks = walks_of(kernel)
        _refuse_unsuited(kernel, self.walks, target)
        axes = tuple(axis for w in self.walks for axis, _ in w.vector.dims)
        self.names = Names((*fixed_names(kernel), *axes, *names))
        self.vectors = replace(kernel, stages=tuple(w.vector for w in self.walks))
        self.target = target
        self.ranges, self.hostile = both_ranges(self.vectors)
        self.point_ranges = both_ranges(self.points)
        self.constants, self.rows = ConstantLanes(self.names), RowPointers(self.names)
        self.memory = Memory(self.vectors, self.ranges, self.walks, target)

    def of(self, stage: Stage) -> "Context":
        """The same for another stage alone."""
        other = copy(self)
        other.vectors = replace(self.vectors, stages=(stage,))
        other.ranges, other.hostile = both_ranges(other.vectors)
        return other


def walked(context: Context, walk: Walk, watch: Watch | None) -> list[str]:
    """A stage: its condition, its loops, its vectors, and what is left of a strip."""
    ahead = _ahead(context, walk)
    stage = _Stage(context, walk, ahead)
    if watch is not None:
        watch(stage.selection)
    if walk.plain:
        return stage.emit()
    outer = scalars(context.points, *context.point_ranges, context.names)
    given, limits = walk.point.given, walk.limits
    outer.stage(walk.point, [n for n in (given, *limits.values()) if n is not None])
    lines = ["{", *outer.lines]
    depth = 1
    if given is not None:
        lines.append(f"if ({outer.text(given)}) {{")
        depth += 1

    def extent(axis: str, most: int) -> str:
        return outer.limited(limits[axis], most) if axis in limits else str(most)

    turn = [] if walk.axis else stage.emit()
    loops = [(axis, most) for axis, most in stage.lanes.loops if axis != walk.axis]
    for n, (axis, most) in enumerate(loops):
        lines += stage.ahead_of_loop if n == len(loops) - 1 else []
        lines.append(f"for (int {axis} = 0; {axis} < {extent(axis, most)}; {axis}++) {{")
        depth += 1
    if walk.axis:
        most = walk.point.extents[walk.axis]
        lines += _strips(context, walk, stage, outer, extent(walk.axis, most))
    return [*lines, *turn, *["}"] * depth]


def _ahead(context: Context, walk: Walk) -> list[str]:
    """What is done instead of a stage where the condition of its branch holds everywhere."""
    kernel = context.vectors
    if not kernel.branches or walk.axis or kernel.temps:
        return []
    decided = everywhere(kernel, walk.vector)
    if decided is None:
        return []
    own, walks = context.of(decided), (replace(walk, vector=decided),)
    own.memory = Memory(own.vectors, own.ranges, walks, own.target)
    return _Stage(own, walks[0], instead=True).emit()


def _strips(
    context: Context, walk: Walk, stage: "_Stage", outer: Scalars, extent: str
) -> list[str]:
    """An axis a vector at a time, as long as whole vectors are left; then the remaining points."""
    axis, lanes = walk.axis, walk.lanes
    end = context.names.fresh(f"{axis}_end")
    conditions = [f"{lanes} * {axis} + {lanes} <= {end}"]
    for bound in bounds(walk, context.point_ranges[0]):
        at = f"({lanes} * {axis} + {bound.at})"
        conditions.append(f"({outer.inline(bound.condition, {axis: at})})")
    point = scalars(context.points, *context.point_ranges, context.names)
    lines = [f"const int {end} = {extent};", f"int {axis} = 0;"]
    lines += [f"for (; {' && '.join(conditions)}; {axis}++) {{", *stage.emit(), "}"]
    lines.append(f"for ({axis} *= {lanes}; {axis} < {end}; {axis}++) {{")
    return [*lines, *point_lines(context.points, walk.point, point, context.point_ranges[0]), "}"]


def _multiplied(choice: Choice, width: int) -> int:
    """Bits of what an operation multiplies, whose result has so many."""
    widens = any(stem in choice.op for stem in ("mull", "mlal", "mlsl"))
    return width // 2 if widens else width


class _Stage:
    """Emits the vectors of one stage; with `instead` nothing but for where its guard holds
    everywhere, and then nothing follows."""

    def __init__(
        self, context: Context, walk: Walk, ahead: Sequence[str] = (), *, instead: bool = False
    ) -> None:
        self.ahead, self.instead = ahead, instead
        self.kernel = kernel = context.vectors
        self.items = kernel.items_per_vector
        # Where the guard holds on no lane.
        self.leave = "continue;" if walk.axis or walk.vector.loops else "return;"
        self.stage, self.ranges, self.constants = walk.vector, context.ranges, context.constants
        self.memory, self.names = context.memory, context.names
        self.lanes = Lanes(walk.vector, self.items)
        self.per_item = self.lanes.padded
        self.shape = Shape(self.items * self.per_item, context.target)
        self.selection = Selection(kernel, self.lanes, self.ranges, self.shape)
        self.out = Lines(context.names.fresh)
        self.groups: dict[Need, Group] = {}
        # Variables, and stores that need not be done where one is 0: outer branches' first.
        self.flags: dict[str, frozenset[int]] = {}
        self.open = "", 0  # the condition of the last ones, and the line that ends their block
        many = [f"[{k}]" if self.items > 1 else "" for k in range(self.items)]
        self.scalars = [
            scalars(kernel, context.ranges, context.hostile, context.names, m) for m in many
        ]
        alone = frozenset(
            n for n, s in enumerate(self.stage.stores)
            if s.combine or (s.mask is not None and n not in walk.bounded)
        )  # fmt: skip
        self.scope = Scope(
            kernel, self.ranges, context.names, self.lanes, self.shape,
            lambda node, item: self.scalars[item].operand(node),
            lambda node, item, at: self.scalars[item].inline(node, at),
            context.rows if walk.plain else None, alone, context.memory.held, self.out, {},
            self.selection.held,
        )  # fmt: skip

        self.in_strips = bool(walk.axis)
        self.ahead_of_loop: list[str] = []  # statements that no turn of the innermost loop changes
        self.halves, self.table_lanes = self._halves(), TableLanes(self.scope)
        self.dots = Dots(self.scope)
        for node in self.stage.nodes():
            if node.op is Op.DOT and not self.dots.fits(node):
                raise NotLowerable(
                    "neon", "eight outputs of a dot product, or four of one of 8 taps, do not lie"
                    " beside one another", node.loc, kernel.id, hint="leave dot out of the variant",
                )  # fmt: skip

    def _halves(self) -> bool:
        """Whether operations take halves, where registers are put together of two."""
        target = self.shape.target
        ops = {self.selection.chosen[need].op for need in self.selection.reached()}
        widening = any(target.ops[op].shape in ("long", "wide") for op in ops if op in target.ops)
        return widening and not target.paired and self.shape.bits(16) == 128

    def emit(self) -> list[str]:
        """The statements."""
        self.memory.enter(self.scope)
        branches = self.kernel.branches and not self.instead
        branch = find_branch(self.selection) if branches else None
        steps = order(self.selection, self.memory, branch, bool(self.ahead))
        # What is done instead stands in a turn of the other's loop, all of it.
        apart = self.in_strips or self.instead
        still = [] if apart else still_steps(self.selection, steps)
        nodes, by_lane = self._uniform_values(still or steps)
        for s in self.scalars:
            s.stage(self.stage, nodes)
            self.out.lines += s.lines
        self.table_lanes.load(self.out, by_lane)
        if still:
            for step in still:
                self._step(step)
            self.ahead_of_loop, self.out.lines[:] = [*self.out.lines], []
            steps = [s for s in steps if s not in still]
            nodes, by_lane = self._uniform_values(steps)
            for s in self.scalars:
                s.lines.clear()
                s.further(nodes)
                self.out.lines += s.lines
            self.table_lanes.load(self.out, by_lane)
        for step in steps:
            self._step(step)
        if self.instead:
            self.out.lines += [self.leave, "}"]
        return self.out.lines

    def _uniform_values(self, steps: Sequence[Step]) -> tuple[list[Node], list[Node]]:
        """The scalars that steps take; and the multipliers that are lanes of a table's row."""
        nodes, by_lane = list[Node](), list[Node]()
        for need, choice in (c for s in steps for c in s.choices(self.selection)):
            for node in choice.scalars:
                if self._by_lane(choice, node, need[1].width):
                    by_lane.append(node)
                    nodes.append(node.args[0])
                elif node.op is not Op.CONST:
                    nodes.append(node)
        return [n for n in nodes if n.op is not Op.CONST], by_lane

    # ------------------------------------------------------------------ steps

    def _step(self, step: Step) -> None:
        if step.guard is not None:
            self._guard(self.groups[step.guard])
        elif step.stores:
            self._store(step.stores)
        elif step.branch is not None and step.ahead:
            condition = self._any(self.groups[step.branch.mask])
            self.out.lines += [f"if ({condition}) {{", *self.ahead, "}"]
        elif step.branch is not None:
            flags = {b: self.names.fresh("anywhere") for b in step.branch.all() if b.spared}
            self.flags = {flag: b.spared for b, flag in flags.items()}
            self.out.lines += [f"int {flag} = 0;" for flag in flags.values()]
            self._branch(step.branch, {}, flags)
        elif step.need is not None:
            self.groups[step.need] = self._value(step.need, self.selection.chosen[step.need])

    def _store(self, numbers: tuple[int, ...]) -> None:
        """Stores done together, without those that change nothing where a branch was not taken."""
        flags = [f for f in self.flags if any(n in self.flags[f] for n in numbers)]
        if not flags or self.memory.in_turn(numbers):
            self._store_all(numbers)
            return
        rest = tuple(n for n in numbers if n not in self.flags[flags[-1]])  # the innermost
        condition = f"if ({flags[-1]}) {{"
        if not rest and self.open == (condition, len(self.out.lines)):
            self.out.lines.pop()
        else:
            self.out.lines.append(condition)
        self._store_all(numbers)
        self.open = condition, len(self.out.lines) + 1
        if rest:
            self.out.lines.append("} else {")
            self._store(rest)
        self.out.lines.append("}")

    def _store_all(self, numbers: tuple[int, ...]) -> None:
        groups = [numbers] if self.memory.in_turn(numbers) else self.memory.adjacent(numbers)
        for group in groups:
            values = [self.groups[self.selection.roots[n]] for n in group]
            self.memory.store(self.out, [self.stage.stores[n] for n in group], values)

    def _value(self, need: Need, choice: Choice) -> Group:
        node, demand = need
        if choice.op == "":
            return self.groups[choice.inputs[0]]
        if choice.op == "load":
            return self.memory.load(self.out, node)
        if choice.op == "dot":
            return self.dots.emit(self.out, node)
        if choice.op == "lookup":
            found = {i: self.groups[i] for i in choice.inputs}
            by_lane = gather if node.op is Op.LOAD else lookup
            return by_lane(self.scope, self.out, node, found)
        if choice.op == "lane":
            return self._lane_numbers(node, demand.width)
        if choice.op == "dup":
            return self._dup(node, demand)
        operands = [self.groups[i] for i in choice.inputs]
        scalar = self._scalar(choice, demand.width) if choice.scalars else None
        op = self.shape.target.ops[choice.op]
        if op.shape == "narrow" and demand.width == 16 and self.halves:
            texts, sign = narrow_pairs(op, operands[0], choice.imm)
        else:
            texts, sign = operation(op, self.shape, demand.width, operands, scalar, choice.imm)
        wanted = self._wanted(node, demand)
        if op.shape in ("long", "wide") and self.shape.bits(demand.width) == 64:
            quad = self.out.let(wanted, sign, demand.width, 128, texts[0])
            return Group((low(quad, sign, demand.width),), demand.width, sign, quad)
        return self._let(wanted, sign, demand.width, texts)

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
        """A multiplier: a lane of the constants or of a table's row, or a run-time scalar."""
        node, half = choice.scalars[0], _multiplied(choice, width)
        sign = "u" if choice.op.endswith("_u") else "s"
        if node.op is Op.CONST:
            return self.constants.lane(node.value, sign, half)
        if self._by_lane(choice, node, width):
            return self.table_lanes.lane(node, sign)
        text = self.scalars[0].operand(node)
        return ByScalar(f"({'u' if sign == 'u' else ''}int{half}_t){text}")

    def _by_lane(self, choice: Choice, node: Node, width: int) -> bool:
        """Whether a scalar is a multiplier that is a lane of a table's row."""
        op = self.shape.target.ops.get(choice.op)
        multiplies = op is not None and op.form == "k"
        return multiplies and self.table_lanes.fits(node, _multiplied(choice, width))

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

    def _lane_numbers(self, node: Node, w: int) -> Group:
        """Every lane's coordinate on an axis."""
        numbers = [p[node.attr[0]] for p in self.lanes.points()]
        numbers = (numbers + [0] * (self.per_item - len(numbers))) * self.items
        per = self.shape.per_register(w)
        q = "q" if self.shape.bits(w) == 128 else ""
        texts = []
        for r in range(self.shape.count(w)):
            entries = ", ".join(map(str, numbers[r * per : (r + 1) * per]))
            texts.append(
                f"vld1{q}_u{w}(((const uint{w}_t[{self.shape.bits(w) // w}]){{{entries}}}))"
            )
        return self._let(self._wanted(node, Demand("bits", w)), "u", w, texts)

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

    def _branch(self, branch: Branch, outer: dict[Need, Group], flags: dict[Branch, str]) -> None:
        """The values that come out of a block take those of their other arms before it; those that
        come out of a block around it have their names."""
        results = dict(outer)
        for need, other in branch.results:
            before = self.groups[other]
            if need in results:
                self._assign(results[need], list(before.names), before.sign)
            else:
                results[need] = self._declared(need, before)
        anywhere = self._any(self.groups[branch.mask])
        if branch in flags:
            self.out.lines.append(f"{flags[branch]} = {anywhere};")
            anywhere = flags[branch]
        self.out.lines.append(f"if ({anywhere}) {{")
        for step in branch.inside:
            if isinstance(step, Branch):
                self._branch(step, results, flags)
            else:
                self.groups[step] = self._value(step, self.selection.chosen[step])
        inner = {n for n, _ in branch.inner.results} if branch.inner is not None else ()
        for need, _ in branch.results:
            if need not in inner:
                operands = [self.groups[i] for i in self.selection.chosen[need].inputs]
                op, width = self.shape.target.ops["bsl"], results[need].width
                texts, sign = operation(op, self.shape, width, operands, None, 0)
                self._assign(results[need], texts, sign)
        self.out.lines.append("}")
        self.groups |= {need: results[need] for need, _ in branch.results}

    def _declared(self, need: Need, before: Group) -> Group:
        """A variable for a value that comes out of a block."""
        node, demand = need
        bits, names = self.shape.bits(demand.width), list(before.names)
        for r, value in enumerate(before.names):
            if self._means_something(r, demand.width):
                names[r] = self.names.fresh(self._wanted(node, demand))
                kind = ctype(before.sign, demand.width, bits)
                self.out.lines.append(f"{kind} {names[r]} = {value};")
        return Group(tuple(names), demand.width, before.sign)

    def _assign(self, group: Group, texts: list[str], sign: str) -> None:
        bits = self.shape.bits(group.width)
        for r, (name, text) in enumerate(zip(group.names, texts, strict=True)):
            if self._means_something(r, group.width):
                value = cast(text, (sign, group.width), (group.sign, group.width), bits)
                self.out.lines.append(f"{name} = {value};")

    def _means_something(self, r: int, width: int) -> bool:
        """Whether register r of a value has a lane that is no padding."""
        per = self.shape.per_register(width)
        return any(n % self.per_item < self.lanes.count for n in range(r * per, (r + 1) * per))

    def _guard(self, mask: Group) -> None:
        """Leaves the body, or the strip, where the mask holds on no lane."""
        if self.instead:
            self.out.lines.append(f"if ({self._all(mask)}) {{")
            return
        self.out.lines += [f"if (!({self._any(mask)})) {{", self.leave, "}"]

    def _any(self, mask: Group) -> str:
        """Whether a mask holds on some lane, as C text."""
        return f"({' | '.join(self._words(mask))}) != 0"

    def _all(self, mask: Group) -> str:
        """Whether it holds on every lane."""
        most = "UINT32_MAX" if self.shape.lanes * mask.width == 32 else "UINT64_MAX"
        return f"({' & '.join(self._words(mask))}) == {most}"

    def _words(self, mask: Group) -> list[str]:
        """A mask's lanes as integers."""
        bits = self.shape.bits(mask.width)
        regs = [cast(n, (mask.sign, mask.width), ("u", 64), bits) for n in mask.names]
        lanes = [
            f"vget{'q' if bits == 128 else ''}_lane_u64({r}, {k})"
            for r in regs
            for k in range(bits // 64)
        ]
        return [f"(uint32_t){lanes[0]}"] if self.shape.lanes * mask.width == 32 else lanes
