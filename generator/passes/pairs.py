# SPDX-License-Identifier: BSD-2-Clause
"""Two sums in one word: what two points add up alike, of bytes two apart, is added up once.

For a and b in [0, 2**16), a + 2**16 * b holds both: a is its low half, b its high half. So of two
sums with the same coefficients, of which one is made of the bytes two columns behind the other's,
the pair is the same sum of pairs of bytes, and 64 products become 32. That each sum stays within
[0, 2**16) is shown by its range, after a bias that its rounding shift takes away again; since
bytes may be 0, partial sums stay between the bounds of the whole. On the way the arithmetic may
leave 32 bits only as far as wrapping does not matter: the result has 32.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from daedalus.dsl.build import Builder
from daedalus.dsl.ir import Kernel, Node, Op, Stage, u8, u16, walk
from daedalus.dsl.ranges import Ranges

HALF = 1 << 16
APART = 2  # elements between the two halves: in a word, the bytes that are 16 bits apart

# (what a byte is multiplied with besides the number, the number, the byte)
Term = tuple[Node | None, int, Node]


@dataclass(frozen=True)
class _Sum:
    """A rounded sum of bytes: the shift, its terms, what is added, and the bias that it needs."""

    node: Node
    terms: tuple[Term, ...]
    const: int
    bias: int

    @property
    def first(self) -> int:
        """The smallest column of its bytes."""
        return min(_column(leaf) for _, _, leaf in self.terms)

    def ordered(self) -> list[Term]:
        """Its terms, in the order of their factors."""
        return sorted(
            self.terms, key=lambda t: (-1 if t[0] is None else t[0].seq, t[1], _column(t[2]))
        )

    def form(self) -> tuple[object, ...]:
        """What two sums must have in common."""
        terms = [(by, times, _column(leaf) - self.first) for by, times, leaf in self.ordered()]
        where = _row(self.terms[0][2])
        return (self.node.op, self.node.attr, tuple(terms), self.const, self.bias, where)


def pair_sums(kernel: Kernel) -> Kernel:
    """`kernel` with such sums made in pairs. Exact on integers."""
    ranges = Ranges(kernel)
    stages = tuple(_stage(kernel, s, ranges) for s in kernel.stages)
    return replace(kernel, stages=stages, modular=stages != kernel.stages)


def _row(leaf: Node) -> tuple[object, ...]:
    """Where a byte is, but for the number of its column."""
    return (leaf.attr[0], leaf.index[:-1], leaf.index[-1].terms)


def _column(leaf: Node) -> int:
    return leaf.index[-1].const


def _stage(kernel: Kernel, stage: Stage, ranges: Ranges) -> Stage:
    groups: dict[tuple[object, ...], dict[int, _Sum]] = {}
    for node in stage.nodes():
        found = _sum(kernel, node, ranges)
        if found is not None:
            groups.setdefault(found.form(), {})[found.first] = found
    partner: dict[Node, tuple[_Sum, _Sum]] = {}
    for group in groups.values():
        for at in sorted(group):
            other = group.get(at + APART)
            if other is not None and not {group[at].node, other.node} & partner.keys():
                pair = (group[at], other)
                partner[group[at].node] = partner[other.node] = pair
    return _rebuilt(kernel, stage, partner, ranges) if partner else stage


def _sum(kernel: Kernel, node: Node, ranges: Ranges) -> _Sum | None:
    """The sum that a shift rounds, where it is one of bytes and fits 16 bits with a bias."""
    if node.op not in (Op.RSHR, Op.SHR) or node.attr[0] >= 16:
        return None
    terms: list[Term] = []
    const = _collect(kernel, node.args[0], None, 1, terms)
    if const is None or len(terms) < 2:
        return None
    if len({_row(leaf) for _, _, leaf in terms}) > 1:
        return None
    r, n = ranges.of(node.args[0]), node.attr[0]
    half, step = (1 << (n - 1)) if node.op is Op.RSHR else 0, 1 << n
    below = max(0, 0 - (r.lo + half))
    bias = (below + step - 1) // step * step
    if r.lo + half + bias < 0 or r.hi + half + bias >= HALF:
        return None
    return _Sum(node, tuple(terms), const, bias)


def _collect(
    kernel: Kernel, node: Node, by: Node | None, times: int, terms: list[Term]
) -> int | None:
    """Adds the terms of a linear form; returns its constant, None where it is something else."""
    match node.op:
        case Op.CONST if by is None:
            return node.value * times
        case Op.LOAD if not node.args and kernel.buffer(node.attr[0]).dtype == u8:
            terms.append((by, times, node))
            return 0
        case Op.ASSUME if not node.attr[0]:
            return _collect(kernel, node.args[0], by, times, terms)
        case Op.ADD | Op.SUB:
            sign = 1 if node.op is Op.ADD else -1
            a = _collect(kernel, node.args[0], by, times, terms)
            b = _collect(kernel, node.args[1], by, times * sign, terms)
            return None if a is None or b is None else a + b
        case Op.MUL:
            x, y = node.args
            if y.op is Op.CONST:
                return _collect(kernel, x, by, times * y.value, terms)
            for one, factor in ((x, y), (y, x)):
                if by is None and not any(n.op is Op.LOAD for n in walk((factor,))):
                    return _collect(kernel, one, factor, times, terms)
    return None


def _rebuilt(
    kernel: Kernel, stage: Stage, partner: dict[Node, tuple[_Sum, _Sum]], ranges: Ranges
) -> Stage:
    builder = Builder({t.name: t for t in kernel.tables})
    new: dict[Node, Node] = {}
    pairs: dict[Node, Node] = {}
    unlimited = _unlimited(stage)

    def get(node: Node) -> Node:
        if node not in new:
            new[node] = half(node) if node in partner else same(node)
        return new[node]

    def same(node: Node) -> Node:
        if node.op is Op.CONST:
            return builder.const(node.value, node.loc)
        args = tuple(get(a) for a in node.args)
        return builder.make(node.op, args, node.attr, node.loc, node.name)

    def half(node: Node) -> Node:
        low, high = partner[node]
        if low.node not in pairs:
            pairs[low.node] = _paired(low, high, get, builder)
        pair, n, loc = pairs[low.node], node.attr[0], node.loc
        if node is low.node:
            value = builder.make(Op.SHR, (builder.make(Op.WRAP, (pair,), (u16,), loc),), (n,), loc)
        else:
            value = builder.make(Op.SHR, (pair,), (16 + n,), loc)
        bias = builder.const(low.bias >> n, loc)
        value = builder.make(Op.SUB, (value, bias), (), loc, node.name)
        if node not in unlimited:
            return value
        r = ranges.of(node)  # which the half of a word does not show, and has to fit
        return builder.make(Op.ASSUME, (value,), ("", r.lo, r.hi), loc)

    for node in stage.nodes():
        get(node)
    return replace(
        stage,
        stores=tuple(
            replace(s, value=new[s.value], mask=None if s.mask is None else new[s.mask])
            for s in stage.stores
        ),
        guard=None if stage.guard is None else new[stage.guard],
        given=None if stage.given is None else new[stage.given],
        limits=tuple((axis, new[n]) for axis, n in stage.limits),
    )


def _unlimited(stage: Stage) -> set[Node]:
    """What stores are made of without a clip on the way."""
    found, stack = set[Node](), [s.value for s in stage.stores]
    while stack:
        node = stack.pop()
        if node not in found:
            found.add(node)
            stack += [] if node.op in (Op.CLIP, Op.MIN, Op.MAX) else node.args
    return found


def _paired(low: _Sum, high: _Sum, get: Callable[[Node], Node], b: Builder) -> Node:
    """The pair of both sums with their bias and rounding: products once for each factor."""
    loc, n = low.node.loc, low.node.attr[0]

    by_factor: dict[tuple[Node | None, int], list[Node]] = {}
    for (by, times, x), (_, _, y) in zip(low.ordered(), high.ordered(), strict=True):
        up = b.make(Op.MUL, (get(y), b.const(HALF, loc)), (), loc)
        pair = b.make(Op.ADD, (get(x), up), (), loc)
        by_factor.setdefault((by, times), []).append(pair)
    rounding = (1 << (n - 1)) if low.node.op is Op.RSHR else 0
    total = b.const((low.const + rounding + low.bias) * (HALF + 1), loc)
    products = sorted(by_factor.items(), key=lambda e: min(x.seq for x in e[1]))
    for (by, times), leaves in products:
        value = leaves[0]
        for leaf in leaves[1:]:
            value = b.make(Op.ADD, (value, leaf), (), loc)
        if by is not None:
            value = b.make(Op.MUL, (value, get(by)), (), loc)
        value = b.make(Op.MUL, (value, b.const(times, loc)), (), loc)
        total = b.make(Op.ADD, (total, value), (), loc)
    return b.make(Op.ASSUME, (total,), ("", 0, HALF * HALF - 1), loc)
