# SPDX-License-Identifier: BSD-2-Clause
"""Makes nodes: equal nodes become one, constants fold, and trivial forms disappear.

Both the tracer and every pass build through a `Builder`, so a program has one canonical form:
constants stand right in commutative operations, `not (a <= b)` is `a > b`, and so on.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import (
    BITWISE,
    COMMUTATIVE,
    Affine,
    DType,
    Kernel,
    Node,
    Op,
    Stage,
    Table,
    evaluate,
)

_NEVER_FOLDED = frozenset(
    {Op.CONST, Op.PARAM, Op.LANE, Op.LOAD, Op.TABLE, Op.DOT, Op.ASSUME, Op.LE, Op.GT}
)
_SIMPLIFIED = frozenset(
    {
        Op.ADD, Op.SUB, Op.MUL, Op.SHR, Op.MIN, Op.MAX, Op.AND, Op.OR, Op.ABSDIFF, Op.LE, Op.GT,
        Op.SELECT, Op.ASSUME, Op.NOT, Op.SHLV, *BITWISE,
    }
)  # fmt: skip
_MOST_SHIFTED = 31
_WORD = 32  # bits of the widest type of an element


class Builder:
    """Makes the nodes of one stage, or of the values shared by all stages."""

    def __init__(self, tables: Mapping[str, Table], parent: "Builder | None" = None) -> None:
        self._tables = tables
        self._known: dict[tuple[Any, ...], Node] = dict(parent._known) if parent else {}
        self._seq: int = parent._seq if parent else 0

    def const(self, value: int, loc: Loc) -> Node:
        return self._intern(Op.CONST, (), (int(value),), loc, "")

    def make(
        self, op: Op, args: tuple[Node, ...], attr: tuple[Any, ...], loc: Loc, name: str = ""
    ) -> Node:
        """The canonical node for `op` on `args`; may be an existing or a simpler one."""
        if op in COMMUTATIVE and args[0].op is Op.CONST and args[1].op is not Op.CONST:
            args = (args[1], args[0])
        if op is Op.LOAD and any(a.op is Op.CONST for a in args):
            args, attr = _known_place(args, attr)
        if op in (Op.TABLE, Op.DOT):
            folded = self._fold_table(op, args, attr, loc)
            if folded is not None:
                return folded
        elif op not in _NEVER_FOLDED:
            for a in args:
                if a.op is not Op.CONST:
                    break
            else:
                return self.const(int(evaluate(op, attr, tuple(a.value for a in args))), loc)
        simple = self._simplify(op, args, attr, loc) if op in _SIMPLIFIED else None
        return simple if simple is not None else self._intern(op, args, attr, loc, name)

    def _intern(
        self, op: Op, args: tuple[Node, ...], attr: tuple[Any, ...], loc: Loc, name: str
    ) -> Node:
        key = (op, args, attr)
        node = self._known.get(key)
        if node is None:
            node = Node(op, args, attr, loc, self._seq, name)
            self._seq += 1
            self._known[key] = node
        return node

    def _fold_table(
        self, op: Op, args: tuple[Node, ...], attr: tuple[Any, ...], loc: Loc
    ) -> Node | None:
        """A lookup whose index is known becomes the entry; a dot with a known row, its sum."""
        rows = self._tables[attr[0]].rows
        if args[0].op is not Op.CONST:
            return None
        row = rows[min(max(args[0].value, 0), len(rows) - 1)]
        if op is Op.TABLE:
            if len(args) == 1:
                return self.const(row[0], loc)
            if args[1].op is not Op.CONST:
                return None
            return self.const(row[min(max(args[1].value, 0), len(row) - 1)], loc)
        total = self.const(0, loc)
        for tap, x in zip(row, args[1:], strict=True):
            term = self.make(Op.MUL, (x, self.const(tap, loc)), (), loc)
            total = self.make(Op.ADD, (total, term), (), loc)
        return total

    def _simplify(
        self, op: Op, args: tuple[Node, ...], attr: tuple[Any, ...], loc: Loc
    ) -> Node | None:
        """Identities that hold for all integers."""
        a = args[0] if args else None
        b = args[1] if len(args) > 1 else None
        right = b.value if b is not None and b.op is Op.CONST else None
        if op in BITWISE:
            return self._simplify_bitwise(op, args[0], args[1], loc)
        match op:
            case Op.ADD:
                if right == 0:
                    return a
                if a is not None and a.op is Op.CONST and a.value == 0:
                    return b
            case Op.SUB:
                if right == 0:
                    return a
                if a is b:
                    return self.const(0, loc)
            case Op.MUL:
                if right == 0:
                    return self.const(0, loc)
                if right == 1:
                    return a
            case Op.SHR:
                if attr[0] == 0:
                    return a
                if (
                    a is not None
                    and a.op is Op.ADD
                    and (a.args[1].op is Op.CONST and a.args[1].value == 1 << (attr[0] - 1))
                ):
                    return self._intern(Op.RSHR, (a.args[0],), attr, loc, "")
            case Op.SHLV:
                if right is not None:
                    power = self.const(1 << min(max(right, 0), _MOST_SHIFTED), loc)
                    return self.make(Op.MUL, (args[0], power), (), loc)
            case Op.MIN | Op.MAX:
                if a is b:
                    return a
            case Op.ABSDIFF:
                if a is b:
                    return self.const(0, loc)
            case Op.LE | Op.GT:
                if a is b and right is None:
                    zero = self.const(0, loc)
                    return self._intern(op, (zero, zero), (), loc, "")
            case Op.SELECT:
                if args[1] is args[2]:
                    return args[1]
                outcome = known_outcome(args[0])
                if outcome is not None:
                    return args[1] if outcome else args[2]
            case Op.ASSUME:
                if a is not None and (a.op is Op.CONST or (a.op is Op.ASSUME and a.attr == attr)):
                    return a
            case Op.AND | Op.OR:
                if a is b:
                    return a
                for x, other in (args, args[::-1]):
                    outcome = known_outcome(x)
                    if outcome is not None:
                        return other if outcome is (op is Op.AND) else x
            case Op.NOT:
                assert a is not None
                if a.op is Op.NOT:
                    return a.args[0]
                if a.op is Op.LE:
                    return self._intern(Op.GT, a.args, (), loc, "")
                if a.op is Op.GT:
                    return self._intern(Op.LE, a.args, (), loc, "")
        return None

    def _simplify_bitwise(self, op: Op, a: Node, b: Node, loc: Loc) -> Node | None:
        """Of an operation bit by bit: an AND with the lowest bits alone takes the value to an
        unsigned type of so many bits."""
        if a is b:
            return self.const(0, loc) if op is Op.BITXOR else a
        if b.op is not Op.CONST:
            return None
        mask = b.value
        if mask == 0:
            return b if op is Op.BITAND else a
        if mask == -1:
            if op is Op.BITXOR:
                return self.make(Op.SUB, (b, a), (), loc)
            return a if op is Op.BITAND else b
        bits = mask.bit_length()
        if op is Op.BITAND and mask == (1 << bits) - 1 and bits <= _WORD:
            return self.make(Op.WRAP, (a,), (DType(f"u{bits}", bits, False),), loc)
        return None


def _known_place(
    args: tuple[Node, ...], attr: tuple[Any, ...]
) -> tuple[tuple[Node, ...], tuple[Any, ...]]:
    """Arguments and attributes of a LOAD whose constant arguments are part of its index."""
    left = tuple(a for a in args if a.op is not Op.CONST)
    known = {f"#{n}": a.value for n, a in enumerate(args) if a.op is Op.CONST}
    renamed = {f"#{n}": f"#{left.index(a)}" for n, a in enumerate(args) if a in left}
    index = tuple(
        Affine(a.const, tuple((renamed.get(name, name), c) for name, c in a.terms))
        for a in fix_lanes(attr[1], known)
    )
    return left, (attr[0], index)


def known_outcome(node: Node) -> bool | None:
    """What a comparison of two constants says: how a program spells true and false."""
    if node.op not in (Op.LE, Op.GT) or any(a.op is not Op.CONST for a in node.args):
        return None
    a, b = (x.value for x in node.args)
    return a <= b if node.op is Op.LE else a > b


def rewrite_stage(
    stage: Stage,
    builder: Builder,
    change: Callable[[Node, tuple[Node, ...]], Node | None],
) -> Stage:
    """The stage rebuilt bottom up; `change(node, new_args)` gives another node, or None."""
    new: dict[Node, Node] = {}
    for node in stage.nodes():
        args = tuple(new[a] for a in node.args)
        changed = change(node, args)
        if changed is None:
            changed = (
                builder.const(node.value, node.loc)
                if node.op is Op.CONST
                else builder.make(node.op, args, node.attr, node.loc, node.name)
            )
        new[node] = changed
    stores = tuple(
        replace(s, value=new[s.value], mask=new[s.mask] if s.mask else None) for s in stage.stores
    )
    return replace(
        stage,
        stores=stores,
        guard=None if stage.guard is None else new[stage.guard],
        given=None if stage.given is None else new[stage.given],
        limits=tuple((lane, new[n]) for lane, n in stage.limits),
    )


def rewrite(
    kernel: Kernel, change: Callable[[Node, tuple[Node, ...], Builder], Node | None]
) -> Kernel:
    """The kernel with every stage rebuilt so; `change` gets the stage's builder as well."""
    tables = {t.name: t for t in kernel.tables}

    def rebuilt(stage: Stage) -> Stage:
        builder = Builder(tables)
        return rewrite_stage(stage, builder, lambda node, args: change(node, args, builder))

    return replace(kernel, stages=tuple(map(rebuilt, kernel.stages)))


def at_lanes(node: Node, args: tuple[Node, ...], at: Mapping[str, int], builder: Builder) -> Node:
    """The node on new arguments, where the lanes in `at` have these values."""
    if node.op is Op.CONST or (node.op is Op.LANE and node.attr[0] in at):
        return builder.const(node.value if node.op is Op.CONST else at[node.attr[0]], node.loc)
    attr = node.attr
    if node.op in (Op.LOAD, Op.PARAM) and node.index:
        attr = (attr[0], fix_lanes(node.index, at))
    return builder.make(node.op, args, attr, node.loc, node.name)


def fix_lanes(index: tuple[Affine, ...], at: Mapping[str, int]) -> tuple[Affine, ...]:
    """The index with the lanes in `at` replaced by their values."""
    return tuple(
        Affine(
            a.const + sum(c * at[lane] for lane, c in a.terms if lane in at),
            tuple((lane, c) for lane, c in a.terms if lane not in at),
        )
        for a in index
    )
