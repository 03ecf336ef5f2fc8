# SPDX-License-Identifier: BSD-2-Clause
"""Runs NEON selection rules: on operands over all ranges that a rule's conditions allow, its
machine operation must give what the semantics of the node's operation say, as demanded.

Conditions are those of the back end itself (`Selection._apply`). A *program* is a node over leaves
of given ranges; its values are all combinations where there are few, else corners and a sample.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import BOOLEAN, DTYPES, Node, Op, evaluate
from daedalus.dsl.ranges import BOOL, Interval, _arithmetic
from daedalus.generator.targets.neon.ops import OPS, MachineOp
from daedalus.generator.targets.neon.rules import Rule, limits
from daedalus.generator.targets.neon.select import Choice, Demand, Selection
from daedalus.generator.targets.neon.vectors import Shape

AT = Loc("rules", 1)
EXHAUSTIVE = 1 << 16
SAMPLE = 400
PROGRAMS = 120


@dataclass(frozen=True)
class Program:
    """A node over leaves, with the range of everything in it."""

    node: Node
    leaves: tuple[Node, ...]
    ranges: dict[Node, Interval]


class Maker:
    """Makes nodes as they are written here, without the builder's simplifications."""

    def __init__(self) -> None:
        self.ranges: dict[Node, Interval] = {}
        self.leaves: list[Node] = []

    def leaf(self, r: Interval) -> Node:
        node = Node(Op.PARAM, (), (f"p{len(self.leaves)}",), AT, len(self.ranges))
        self.leaves.append(node)
        self.ranges[node] = r
        return node

    def truth(self) -> Node:
        """A boolean that takes both values."""
        return self(Op.LE, self.leaf(BOOL), self.const(0))

    def const(self, value: int) -> Node:
        node = Node(Op.CONST, (), (value,), AT, len(self.ranges))
        self.ranges[node] = Interval(value, value)
        return node

    def __call__(self, op: Op, *args: Node, attr: tuple = ()) -> Node:
        node = Node(op, args, attr, AT, len(self.ranges))
        self.ranges[node] = self._range(node)
        return node

    def _range(self, node: Node) -> Interval:
        a = [self.ranges[x] for x in node.args]
        if node.op in BOOLEAN:
            return BOOL
        if node.op is Op.SELECT:
            return a[1] | a[2]
        if node.op is Op.ASSUME:
            return Interval(max(a[0].lo, node.attr[1]), min(a[0].hi, node.attr[2]))
        return _arithmetic(node, a)

    def done(self, node: Node) -> Program:
        return Program(node, tuple(self.leaves), dict(self.ranges))


# ------------------------------------------------------------------ programs


def pool(w: int) -> list[Interval]:
    """Ranges around everything that a condition at width w could distinguish."""
    found = []
    for bits in (w // 2, w, 2 * w):
        (ulo, uhi), (slo, shi) = limits(bits, False), limits(bits, True)
        found += [
            Interval(ulo, uhi), Interval(slo, shi), Interval(ulo, shi), Interval(ulo - 1, uhi),
            Interval(ulo, uhi + 1), Interval(slo + 1, shi), Interval(slo, shi - 1),
            Interval(ulo, uhi - 1), Interval(ulo + 1, uhi), Interval(slo - 1, shi + 1),
        ]  # fmt: skip
    found += [Interval(-9, 5), Interval(-7, -1), Interval(1, 3)]
    return [r for r in found if r.lo >= -(2**32) and r.hi <= 2**32]


def constants(w: int) -> list[int]:
    found = {0, 1, 2, 3, -1, -2, 4, 8, 1 << (w // 2 - 1), 1 << (w - 2)}
    for bits in (w // 2, w):
        for signed in (False, True):
            lo, hi = limits(bits, signed)
            found |= {lo, hi, lo - 1, hi + 1, lo + 1, hi - 1}
    return sorted(found)


def programs(op: Op, w: int) -> Iterator[Program]:
    """Many programs of one operation, in every form that some rule looks for."""
    rng = np.random.default_rng([w, sorted(Op).index(op)])
    ranges, values = pool(w), constants(w)

    def some(count: int) -> Iterator[tuple[Interval, ...]]:
        """Ranges for so many leaves: all combinations, or a sample."""
        every = list(itertools.product(ranges, repeat=count))
        order = rng.permutation(len(every))[:900]
        yield from (every[n] for n in sorted(order))

    def forms(count: int, *shapes: object) -> Iterator[Program]:
        for chosen in some(count):
            for shape in shapes:
                k = Maker()
                yield k.done(shape(k, *(k.leaf(r) for r in chosen)))  # type: ignore[operator]

    c = lambda k: k.const(int(rng.choice(values)))  # noqa: E731
    n = lambda: int(rng.integers(1, 32))  # noqa: E731
    few = lambda: int(rng.integers(1, 5))  # noqa: E731
    match op:
        case Op.ADD:
            yield from forms(2, lambda k, x, y: k(op, x, y), lambda k, x, y: k(op, x, c(k)),
                             lambda k, x, y: k(op, x, k(Op.MUL, y, c(k))))  # fmt: skip
            yield from forms(3, lambda k, x, y, z: k(op, x, k(Op.MUL, y, z)),
                             lambda k, x, y, z: k(op, k(Op.MUL, y, z), x))  # fmt: skip
        case Op.SUB:
            yield from forms(2, lambda k, x, y: k(op, x, y), lambda k, x, y: k(op, x, c(k)),
                             lambda k, x, y: k(op, k.const(0), x),
                             lambda k, x, y: k(op, x, k(Op.MUL, y, c(k))))  # fmt: skip
            yield from forms(3, lambda k, x, y, z: k(op, x, k(Op.MUL, y, z)))
        case Op.MUL | Op.MIN | Op.MAX | Op.ABSDIFF | Op.LE | Op.GT:
            yield from forms(2, lambda k, x, y: k(op, x, y), lambda k, x, y: k(op, x, c(k)))
            # against the ends of the lane, whatever the sample above held
            for r, v in itertools.product(ranges, values):
                k = Maker()
                yield k.done(k(op, k.leaf(r), k.const(v)))
        case Op.SHR | Op.RSHR:
            yield from forms(1, lambda k, x: k(op, x, attr=(n(),)),
                             lambda k, x: k(op, x, attr=(1,)),
                             lambda k, x: k(op, x, attr=(w,)), lambda k, x: k(op, x, attr=(w + 1,)),
                             lambda k, x: k(op, x, attr=(few(),)))  # fmt: skip
            yield from forms(2, lambda k, x, y: k(op, k(Op.ADD, x, y), attr=(1,)),
                             lambda k, x, y: k(op, k(Op.ADD, x, y), attr=(few(),)))  # fmt: skip
        case Op.SHRV:
            for r, last in itertools.product(ranges, {0, 3, w - 1, min(w, 31), 31}):
                k = Maker()
                yield k.done(k(op, k.leaf(r), k.leaf(Interval(0, last))))
        case Op.ABS:
            yield from forms(1, lambda k, x: k(op, x))
        case Op.CLIP | Op.ASSUME:
            name = ("",) if op is Op.ASSUME else ()
            for r, lo, hi in itertools.product(ranges, values, values):
                if lo <= hi and (op is Op.CLIP or (r.lo <= lo and hi <= r.hi)):
                    k = Maker()
                    yield k.done(k(op, k.leaf(r), attr=(*name, lo, hi)))
        case Op.WRAP:
            for r, t in itertools.product(ranges, DTYPES):
                k = Maker()
                yield k.done(k(op, k.leaf(r), attr=(t,)))
        case Op.SELECT:
            yield from forms(2, lambda k, x, y: k(op, k.truth(), x, y),
                             lambda k, x, y: k(op, k.truth(), x, k.const(0)),
                             lambda k, x, y: k(op, k.truth(), k.const(0), x))  # fmt: skip
        case Op.AND | Op.OR:
            for first, second in itertools.product((False, True), repeat=2):
                k = Maker()
                a, b = k.truth(), k.truth()
                yield k.done(k(op, k(Op.NOT, a) if first else a, k(Op.NOT, b) if second else b))
        case Op.NOT:
            k = Maker()
            yield k.done(k(op, k.truth()))


def leaf_values(program: Program) -> dict[Node, np.ndarray]:
    """All combinations of the leaves' values if they are few, else corners and a sample."""
    spans = [program.ranges[x] for x in program.leaves]
    size = 1
    for r in spans:
        size *= r.hi - r.lo + 1
    if size <= EXHAUSTIVE:
        axes = [np.arange(r.lo, r.hi + 1) for r in spans]
        grid = np.meshgrid(*axes, indexing="ij")
        columns = [g.ravel() for g in grid]
    else:
        rng = np.random.default_rng(size % 2**32)
        ends = [sorted({r.lo, r.lo + 1, -1, 0, 1, r.hi - 1, r.hi} & set(_span(r))) for r in spans]
        corners = np.array(list(itertools.product(*ends)), dtype=np.int64)
        drawn = np.stack([rng.integers(r.lo, r.hi + 1, SAMPLE) for r in spans], axis=1)
        columns = list(np.concatenate([corners, drawn]).T)
    # Wide values as Python's integers, so that no product or shift overflows on the way.
    kind = object if max(max(-r.lo, r.hi) for r in spans) > 2**20 else np.int64
    return {x: c.astype(kind) for x, c in zip(program.leaves, columns, strict=True)}


class _span:
    """The members of an interval, without listing them."""

    def __init__(self, r: Interval) -> None:
        self.r = r

    def __iter__(self) -> Iterator[int]:
        edge = {self.r.lo, self.r.lo + 1, -1, 0, 1, self.r.hi - 1, self.r.hi}
        return (x for x in edge if self.r.lo <= x <= self.r.hi)


def evaluated(program: Program) -> dict[Node, np.ndarray]:
    """The values of every node; those that break an ASSUME are left out."""
    values = leaf_values(program)

    def value(node: Node) -> np.ndarray:
        if node not in values:
            if node.op is Op.CONST:
                values[node] = np.full(count, node.value, dtype=kind)
            else:
                values[node] = np.asarray(
                    evaluate(node.op, node.attr, tuple(value(a) for a in node.args))
                )
        return values[node]

    count, kind = len(values[program.leaves[0]]), values[program.leaves[0]].dtype
    value(program.node)
    if program.node.op is Op.ASSUME:
        _, lo, hi = program.node.attr
        keep = (values[program.node] >= lo) & (values[program.node] <= hi)
        values = {n: v[keep.astype(bool)] for n, v in values.items()}
    return values


# ------------------------------------------------------------------ demands and operations


def as_demanded(value: np.ndarray, demand: Demand) -> np.ndarray:
    """A value's lane as a bit pattern: what "demanded" means."""
    modulus = 1 << demand.width
    match demand.kind:
        case "bits":
            return value % modulus
        case "negated":
            return -value % modulus
        case "mask":
            return np.where(value.astype(bool), modulus - 1, 0)
        case "sat_u" | "sat_s":
            lo, hi = limits(demand.width, demand.kind == "sat_s")
            return np.minimum(np.maximum(value, lo), hi) % modulus
    raise AssertionError(demand)


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


def immediates(op: MachineOp, w: int) -> range:
    """What an immediate may be, by the architecture."""
    if op.stem in ("shl", "qshl"):
        return range(w)
    if op.stem == "shll":
        return range(w // 2)
    return range(1, w + 1)


def read(bits: np.ndarray, width: int, sign: str) -> np.ndarray:
    """A bit pattern as the operation reads it."""
    if sign == "u":
        return bits
    return np.where(bits >= 1 << (width - 1), bits - (1 << width), bits)


def selection(program: Program) -> Selection:
    """The back end's conditions for this program's ranges; no stage behind it."""
    made = object.__new__(Selection)
    made.ranges = SimpleNamespace(of=program.ranges.__getitem__)  # type: ignore[assignment]
    made.kernel = SimpleNamespace(items_per_vector=1)  # type: ignore[assignment]
    made.shape = Shape(16)
    return made


def wrong(program: Program, node: Node, gives: Demand, choice: Choice, ops: dict) -> str:
    """What an alternative gets wrong; empty if nothing."""
    values = evaluated(program)
    want = as_demanded(values[node], gives)
    forms = [(as_demanded(values[n], d), d.width) for n, d in choice.inputs]
    if choice.op == "":
        ((got, width),) = forms
        return "" if width == gives.width and (got == want).all() else "the alias differs"
    op = ops[choice.op]
    widths = operand_widths(op, gives.width)
    forms += [(values[n] % (1 << v), v) for n, v in zip(choice.scalars, widths[::-1], strict=False)]
    if [v for _, v in forms] != widths:
        return f"operands are of {[v for _, v in forms]} bits, {op.name} takes {widths}"
    if op.form == "n" and choice.imm not in immediates(op, gives.width):
        return f"{op.name} cannot shift by {choice.imm} at {gives.width}"
    if (op.form == "k") != bool(choice.scalars):
        return f"{op.name} and its scalar operand do not agree"
    for free in "us" if "=" in op.signs[:-1] else "u":
        signs = op.signs.replace("=", free)
        args = tuple(read(b, v, s) for (b, v), s in zip(forms, signs, strict=False))
        got = np.asarray(op.meaning(gives.width, args, choice.imm))
        bad = got % (1 << gives.width) != want
        if bad.any():
            at = int(np.argmax(bad))
            shown = [int(values[x][at]) for x in program.leaves]
            return f"{node.op} of {shown}: {got[at]}, should be {want[at]} at {gives}"
    return ""


def applications(rule: Rule, w: int, candidates: list[Program]) -> Iterator[tuple[Program, Choice]]:
    """The programs to which a rule applies, and how; in an order without a pattern."""
    for at in np.random.default_rng(len(candidates)).permutation(len(candidates)):
        program = candidates[at]
        for operands in rule.pick(program.node):
            choice = selection(program)._apply(rule, program.node, operands, w)
            if choice is not None:
                yield program, choice


def violation(rule: Rule, w: int, candidates: list[Program], ops: dict = OPS) -> tuple[int, str]:
    """How many programs a rule was tried on; and what it got wrong first, if anything."""
    tried = 0
    for program, choice in itertools.islice(applications(rule, w, candidates), PROGRAMS):
        tried += 1
        error = wrong(program, program.node, Demand(rule.gives, w), choice, ops)
        if error:
            return tried, f"{rule.name} at {w}: {error}"
    return tried, ""
