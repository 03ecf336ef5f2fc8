# SPDX-License-Identifier: BSD-2-Clause
"""Proofs of NEON selection rules: for all operands over all ranges that a rule's conditions allow,
its machine operation gives what the semantics of the node's operation say, as demanded.

Nothing is restated here. The node's meaning is `ir.evaluate`, the operation's is its `meaning` in
`OPS`, the conditions are those of the back end (`Forms._apply`, which runs the rule's `takes`,
`pick`, `when` and `imm`), all run on symbols. A value's range is any interval that contains it, so
nothing depends on how ranges are computed; constants, limits and immediates are symbols, too.

Rules look at a node's operation, its operands' and, one level down, at theirs. `shapes` makes all
nodes of that form; what a rule takes as an operand is any value at all.
"""

import itertools
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import z3

from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import BITWISE, DTYPES, Affine, DType, Node, Op, evaluate
from daedalus.dsl.ranges import BOOL, Interval
from daedalus.generator.targets.neon.forms import WIDTHS, Choice, Demand, Forms
from daedalus.generator.targets.neon.ops import OPS, MachineOp
from daedalus.generator.targets.neon.rules import WIDEST, Rule, limits
from daedalus.generator.targets.neon.vectors import Shape
from daedalus.generator.targets.vector.target import VECTOR
from daedalus.generator.verify.proofs.symbolic import (
    WIDE,
    Number,
    counterexample,
    number,
    paths,
    possible,
    reduced,
    truth,
)

AT = Loc("rules", 1)
WRAPPED = (*DTYPES, *(DType(f"u{n}", n, False) for n in range(1, 32) if n not in (8, 16)))
_BESIDE_LANES = (1, 2, 7, 8, 9, 15, 16, 17, 31, 32)  # of an operand that is a WRAP
LARGEST_SHIFT = 34  # beyond every lane; the language has 0..31
_LIMITED = (Op.SHR, Op.RSHR, Op.CLIP, Op.ASSUME)  # have attributes that are symbols here


class Operand(Node):
    """A node below the root; while `watching` is a set, being looked into puts its place there."""

    watching: "set[str] | None" = None

    def __getattribute__(self, name: str) -> Any:
        if Operand.watching is not None and name in ("op", "args", "attr"):
            Operand.watching.add(object.__getattribute__(self, "name"))
        return object.__getattribute__(self, name)

    @property
    def value(self) -> Any:
        """Of a CONST: a symbol."""
        return self.attr[0]


class Program:
    """Nodes under construction: symbols for what varies, and what is known of them.

    Symbols are named after the node's place below the root, whatever kind of node it is.
    """

    def __init__(self) -> None:
        self.values: dict[Node, Any] = {}
        self.ranges: dict[Node, Interval] = {}
        self.known: list[Any] = []

    def of(self, node: Node) -> Interval:
        """Some interval that contains the node's value."""
        return self.ranges[node]

    def leaf(self, place: str) -> Node:
        return self._made(Operand(Op.PARAM, (), (place,), AT, len(self.values), place), place)

    def flag(self, place: str) -> Node:
        a, b = self.leaf(f"{place}l"), self.leaf(f"{place}r")
        return self._made(Operand(Op.LE, (a, b), (), AT, len(self.values), place), place)

    def const(self, place: str) -> Node:
        value = number(f"={place}")
        node = Operand(Op.CONST, (), (value,), AT, len(self.values), place)
        self.values[node] = value
        self.ranges[node] = Interval(value, value)  # type: ignore[arg-type]
        return node

    def make(self, op: Op, place: str, *args: Node, attr: tuple[Any, ...] = ()) -> Node:
        """An operation; its attributes, but for the type of WRAP, are symbols."""
        if op in (Op.SHR, Op.RSHR):
            n = number(f"={place}n")
            self.known += [n >= (1 if op is Op.RSHR else 0), n <= LARGEST_SHIFT]
            attr = (n,)
        elif op in (Op.CLIP, Op.ASSUME):
            lo, hi = number(f"={place}lo"), number(f"={place}hi")
            self.known.append(lo <= hi)
            attr = (lo, hi) if op is Op.CLIP else ("", lo, hi)
        elif op in (Op.SHRV, Op.SHLV):  # what ranges.check_ranges proves of every program
            amount = self.of(args[1])
            self.known += [amount.lo >= 0, amount.hi <= 31]
        kind = Operand if place else Node
        return self._made(kind(op, args, attr, AT, len(self.values), place), place)

    def _made(self, node: Node, place: str) -> Node:
        if node.is_bool:
            self.values[node], self.ranges[node] = truth(place), BOOL
            return node
        lo, hi, x = number(f"{place}_lo"), number(f"{place}_hi"), number(place)
        self.values[node], self.ranges[node] = x, Interval(lo, hi)  # type: ignore[arg-type]
        self.known += [lo <= x, x <= hi]
        return node

    def meaning(self, node: Node, operands: tuple[Node, ...]) -> Any:
        """The node's value by the semantics, in terms of the operands; these are any values."""
        if node in operands or not node.args:
            return self.values[node]
        args = tuple(self.meaning(a, operands) for a in node.args)
        return evaluate(node.op, node.attr, args)


# ------------------------------------------------------------------ shapes

Part = Callable[[Program, str], Node]
_BINARY = (Op.ADD, Op.SUB, Op.MUL, Op.MIN, Op.MAX, Op.ABSDIFF, Op.SHRV, Op.SHLV, *BITWISE)


def _composite(op: Op, part: Part = Program.leaf) -> Part:
    count = 1 if op in (*_LIMITED, Op.ABS, Op.NOT) else 2
    return lambda k, place: k.make(op, place, *(part(k, f"{place}.{n}") for n in range(count)))


def _wrap(t: DType) -> Part:
    return lambda k, place: k.make(Op.WRAP, place, k.leaf(f"{place}.0"), attr=(t,))


def _inverse(k: Program, place: str) -> Node:
    """A constant less a value: of -1 that is the value with its bits inverted."""
    return k.make(Op.SUB, place, k.const(f"{place}.0"), k.leaf(f"{place}.1"))


_NUMBERS: list[Part] = [
    Program.leaf, Program.const, *(_composite(op) for op in (*_BINARY, *_LIMITED, Op.ABS)),
    _inverse, *(_wrap(t) for t in WRAPPED if t.bits in _BESIDE_LANES),
]  # fmt: skip
_FLAGS: list[Part] = [
    Program.flag, *(_composite(op, Program.flag) for op in (Op.NOT, Op.AND, Op.OR)),
]  # fmt: skip


def _kinds(op: Op) -> list[list[Part]]:
    """What the operands of an operation can be; the plainest first."""
    if op in (Op.AND, Op.OR, Op.NOT):
        return [_FLAGS] * (1 if op is Op.NOT else 2)
    if op is Op.SELECT:
        return [_FLAGS, _NUMBERS, _NUMBERS]
    return [_NUMBERS] * (1 if op in (*_LIMITED, Op.ABS, Op.WRAP) else 2)


def shapes(op: Op, looked_into: Container[str]) -> Iterator[tuple[Program, Node]]:
    """Every form of a node that can be told apart by looking into the operands at those places.

    An operand that is not looked into is a leaf: any value in any range.
    """
    kinds = [k if str(n) in looked_into else k[:1] for n, k in enumerate(_kinds(op))]
    if len(kinds) == 2 and op not in (Op.AND, Op.OR):
        k = Program()
        x = k.leaf("both")
        yield k, k.make(op, "", x, x)
    for parts in itertools.product(*kinds):
        for t in WRAPPED if op is Op.WRAP else (None,):
            k = Program()
            operands = (part(k, str(n)) for n, part in enumerate(parts))
            yield k, k.make(op, "", *operands, attr=() if t is None else (t,))


# ------------------------------------------------------------------ operations and demands


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


def as_demanded(value: Any, demand: Demand) -> Number:
    """A value in a form: what "demanded" means. Only the low bits of the result count."""
    match demand.kind:
        case "bits":
            return Number(_wide(value))
        case "negated":
            return -Number(_wide(value))
        case "mask":
            return Number(z3.If(value.term, z3.BitVecVal(-1, WIDE), z3.BitVecVal(0, WIDE)))
        case "sat_u" | "sat_s":
            lo, hi = limits(demand.width, demand.kind == "sat_s")
            return Number(_wide(np.clip(Number(_wide(value)), lo, hi)))
    raise AssertionError(demand)


def _wide(x: Any) -> z3.BitVecRef:
    return x.term if isinstance(x, Number) else z3.BitVecVal(int(x), WIDE)


class _Leaves:
    """Stands for the values that are the same on all lanes: any leaf can be one."""

    def __contains__(self, node: Node) -> bool:
        return node.op is Op.PARAM


def conditions_of(program: Program) -> Forms:
    """The back end's conditions for this program's ranges; no stage behind it."""
    made = object.__new__(Forms)
    made.ranges = SimpleNamespace(of=program.of)  # type: ignore[assignment]
    made.lanes = SimpleNamespace(items=1)  # type: ignore[assignment]
    made._uniform = _Leaves()  # type: ignore[assignment]
    made._widths = (*WIDTHS, WIDEST)
    made.shape = Shape(16, VECTOR)  # whose table has all operations
    return made


def claims(
    program: Program, node: Node, operands: tuple[Node, ...], gives: Demand, choice: Choice,
    ops: dict[str, MachineOp],
) -> Iterator[tuple[str, z3.BoolRef]]:  # fmt: skip
    """What has to hold for a choice to be right: why it cannot be (and False), or an equation."""
    w = gives.width
    want = as_demanded(program.meaning(node, operands), gives).lane(w, False)
    forms = [(as_demanded(program.values[n], d), d.width) for n, d in choice.inputs]
    if choice.op == "":
        ((got, width),) = forms
        if width != w:
            yield f"an alias of another width, {width}", z3.BoolVal(False)
        yield "an alias", got.lane(w, False).term == want.term
        return
    op = ops[choice.op]
    widths = operand_widths(op, w)
    scalars = zip(choice.scalars, reversed(widths), strict=False)
    forms += [(Number(_wide(program.values[n])), v) for n, v in scalars]
    imm = int(choice.imm)
    if [v for _, v in forms] != widths:
        yield f"{op.name} takes {widths} bits, not {[v for _, v in forms]}", z3.BoolVal(False)
        return
    allowed = immediates(op, w) if op.form == "n" else range(1 << w)
    if op.form in ("n", "m") and imm not in allowed:
        yield f"{op.name} cannot have {imm} at {w}", z3.BoolVal(False)
        return
    if (op.form == "k") != bool(choice.scalars):
        yield f"{op.name} and its scalar operand do not agree", z3.BoolVal(False)
        return
    for free in "us" if "=" in op.signs[:-1] else "u":
        signs = op.signs.replace("=", free)
        args = tuple(x.lane(v, s == "s") for (x, v), s in zip(forms, signs, strict=False))
        got = Number(_wide(op.meaning(w, args, imm)))
        yield f"{op.name}, {imm}, {signs}", got.lane(w, False).term == want.term


# ------------------------------------------------------------------ proofs


class Refuted(Exception):
    """A claim does not hold; the text gives the inputs that show it."""


class Prover:
    """Proves choices; equal obligations, as opaque operands of all kinds give, once."""

    def __init__(self, ops: dict[str, MachineOp] = OPS) -> None:
        self.ops = ops
        self.proven: dict[tuple[frozenset[int], int], bool] = {}
        self.kept: list[z3.ExprRef] = []  # so that z3 gives no other term the same number
        self.cases = 0

    def prove(
        self, what: str, program: Program, node: Node, gives: Demand,
        choose: Callable[[], Iterator[tuple[tuple[Node, ...], Choice | None]]],
    ) -> int:  # fmt: skip
        """How many ways lead to a choice; Refuted if one of these is wrong."""
        found = 0

        def run() -> list[tuple[str, z3.BoolRef]]:
            return [
                c
                for operands, choice in choose()
                if choice is not None
                for c in claims(program, node, operands, gives, choice, self.ops)
            ]

        given = list(program.known)
        if node.op is Op.ASSUME:  # an item for which it does not hold is not conformant
            _, lo, hi = node.attr
            x = program.values[node.args[0]]
            given += [lo <= x, x <= hi]
        for known, wanted in paths(run, *given):
            holds = [self._check(f"{what} at {gives.width} ({r})", known, c) for r, c in wanted]
            found += any(holds)
        return found

    def _check(self, what: str, known: list[z3.BoolRef], claim: z3.BoolRef) -> bool:
        """Proves a claim; False if what is known is impossible. Refuted if it does not follow."""
        if not z3.is_false(claim):
            known, claim = reduced(known, claim)
        key = (frozenset(k.get_id() for k in known), claim.get_id())
        if key not in self.proven:
            self.kept += [*known, claim]
            self.proven[key] = possible(known)
            if self.proven[key]:
                self.cases += 1
                wrong = counterexample(known, claim)
                if wrong is not None:
                    shown = ", ".join(f"{n}={v}" for n, v in sorted(wrong.items()))
                    raise Refuted(f"{what}: wrong for {shown}")
        return self.proven[key]

    def rule(self, rule: Rule, w: int) -> int:
        """Proves a rule at a width; how many ways there are to apply it."""
        looked: set[str] = set()
        while True:
            seen: set[str] = set()
            found = sum(self._shape(rule, w, p, n, seen) for p, n in shapes(rule.on, looked))
            if seen <= looked:
                return found
            looked |= seen

    def _shape(self, rule: Rule, w: int, program: Program, node: Node, seen: set[str]) -> int:
        """Proves one form of a node; `seen` gets the places that the rule looked into."""
        conditions = conditions_of(program)

        @contextmanager
        def watched() -> Iterator[None]:
            Operand.watching = seen
            try:
                yield
            finally:
                Operand.watching = None

        def when(node: Node, w: int, of: Callable[[Node], Interval]) -> bool:
            with watched():
                return bool(rule.when(node, w, of))

        def choose() -> Iterator[tuple[tuple[Node, ...], Choice | None]]:
            with watched():
                all_operands = list(rule.pick(node))
                imm = rule.imm(node) if all_operands else 0
            for operands in all_operands:
                known = replace(rule, when=when, imm=lambda n: imm)
                yield operands, conditions._apply(known, node, operands, w)

        return self.prove(rule.name, program, node, Demand(rule.gives, w), choose)

    def conversions(self, kind: str, w: int) -> set[str]:
        """Proves every conversion to a demand of a value; the operations of those there are."""
        program = Program()
        node = program.flag("0") if kind == "mask" else program.leaf("0")
        conditions = conditions_of(program)
        seen: set[str] = set()

        def choose() -> Iterator[tuple[tuple[Node, ...], Choice | None]]:
            for choice in conditions._converted(node, Demand(kind, w)):
                seen.add(choice.op)
                yield (node,), choice

        self.prove(f"conversion to {kind}", program, node, Demand(kind, w), choose)
        return seen

    def negation(self, w: int) -> None:
        """Proves the form that `Forms._direct` gives for the demand "negated"."""
        program = Program()
        node = Operand(Op.LOAD, (), ("buffer", (Affine(0, (("i", 1),)),)), AT, 0, "0")
        program.values[node] = number("0")
        conditions = conditions_of(program)

        def choose() -> Iterator[tuple[tuple[Node, ...], Choice | None]]:
            yield from (((node,), c) for c in conditions._direct(node, Demand("negated", w)))

        assert self.prove("negation", program, node, Demand("negated", w), choose) == 1
