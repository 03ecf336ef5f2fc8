# SPDX-License-Identifier: BSD-2-Clause
"""Sums of products by constants that need more than 32 bits, before a shift to the right.

A constant c is h * 2^k + l, with -2^(k-1) <= l < 2^(k-1). Of the terms x * c, the sum of the x * h
and that of the x * l each fit 32 bits:

    floor((H * 2^k + L) / 2^n) = floor((H + floor(L / 2^k)) / 2^(n-k))        for k <= n

which is exact on integers. It costs a multiplication more for each term, as many additions, and a
shift. What has no such form stays as it is, and the kernel wide: its back end refuses it.

A target that has sums of 64 bits keeps them, if nothing else in the kernel is as wide.
"""

from dataclasses import dataclass, replace

from daedalus.dsl.build import Builder, rewrite
from daedalus.dsl.ir import Kernel, Node, Op, Stage, i32, smallest_dtype
from daedalus.dsl.ranges import Ranges

_BITS = 32
_LIMIT = 1 << (_BITS - 1)


@dataclass(frozen=True)
class _Term:
    """A value times a constant; `most` is the largest magnitude of the value."""

    value: Node
    by: int
    most: int


def split_wide(kernel: Kernel, long_sums: bool = False) -> Kernel:
    """`kernel` without values of more than 32 bits, where all of them are such sums; with
    `long_sums` those that 64 bits hold stay, where that is all there is."""
    if not kernel.wide:
        return kernel
    ranges = Ranges(kernel)
    if long_sums and all(_all_long(ranges, stage) for stage in kernel.stages):
        return kernel

    def change(node: Node, args: tuple[Node, ...], b: Builder) -> Node | None:
        if node.op not in (Op.SHR, Op.RSHR) or _fits(ranges, node.args[0]):
            return None
        (n,) = node.attr
        terms = _terms(ranges, node.args[0], args[0], 1)
        half = 1 << (n - 1) if node.op is Op.RSHR else 0
        k = _bits(terms, half, n) if terms else 0
        return _split(terms, half, k, node, b) if k else None

    made = replace(rewrite(kernel, change), wide=False)
    after = Ranges(made)
    return made if all(_fits(after, n) for s in made.stages for n in s.nodes()) else kernel


def _fits(ranges: Ranges, node: Node) -> bool:
    if node.is_bool:
        return True
    r = ranges.of(node)
    return smallest_dtype(r.lo, r.hi) is not None


def _all_long(ranges: Ranges, stage: Stage) -> bool:
    """Whether all that 32 bits do not hold are sums of products of 32 bits by constants, which
    nothing takes but a shift to the right by at most 32."""
    wide = {n for n in stage.nodes() if not _fits(ranges, n)}
    users = {x: [n for n in stage.nodes() if x in n.args] for x in wide}
    return all(_is_long(ranges, n, wide) for n in wide) and all(
        n in wide or (n.op in (Op.SHR, Op.RSHR) and 1 <= int(n.attr[0]) <= _BITS)
        for x in wide
        for n in users[x]
    )


def _is_long(ranges: Ranges, node: Node, wide: set[Node]) -> bool:
    """Whether it is such a sum, or a product, by what its operands are."""
    if node.op is Op.MUL and node.args[1].op is not Op.CONST:
        return False
    narrow = [x for x in node.args if x not in wide]
    fits = all(ranges.of(x).within(i32.lo, i32.hi) for x in narrow)
    most = 1 << (2 * _BITS - 1)
    held = ranges.of(node).within(-most, most - 1)
    return (
        held and fits and (node.op in (Op.ADD, Op.SUB) or (node.op is Op.MUL and len(narrow) == 2))
    )


def _terms(ranges: Ranges, old: Node, new: Node, by: int) -> list[_Term]:
    """What a value is the sum of, each times a constant; none if there is something else. `new` is
    the value as it is rebuilt."""
    if new.op is old.op and len(new.args) == len(old.args):
        pairs = list(zip(old.args, new.args, strict=True))
        if old.op is Op.MUL and old.args[1].op is Op.CONST:
            return _terms(ranges, *pairs[0], by * old.args[1].value)
        if old.op in (Op.ADD, Op.SUB) and not _fits(ranges, old):
            first = _terms(ranges, *pairs[0], by)
            second = _terms(ranges, *pairs[1], -by if old.op is Op.SUB else by)
            return [*first, *second] if first and second else []
    if not _fits(ranges, old):
        return []
    r = ranges.of(old)
    return [_Term(new, by, max(abs(r.lo), abs(r.hi)))]


def _parts(by: int, k: int) -> tuple[int, int]:
    """h and l of a constant: the nearest multiple, so that a small constant is one part."""
    h = (by + (1 << (k - 1))) >> k
    return h, by - (h << k)


def _bits(terms: list[_Term], half: int, most: int) -> int:
    """How many bits are split off, so that both sums stay smallest; 0 where none will do."""

    def largest(k: int) -> int:
        parts = [(t.most, *_parts(t.by, k)) for t in terms]
        high = sum(most * abs(h) for most, h, _ in parts)
        low = sum(most * abs(ell) for most, _, ell in parts) + half
        return max(high + (low >> k) + 1, low)

    best = min(range(1, most), key=largest, default=0)
    return best if best and largest(best) < _LIMIT else 0


def _split(terms: list[_Term], half: int, k: int, node: Node, b: Builder) -> Node:
    def total(parts: list[tuple[Node, int]], start: int) -> Node:
        made = b.const(start, node.loc)
        for value, by in parts:
            product = b.make(Op.MUL, (value, b.const(by, node.loc)), (), node.loc)
            made = b.make(Op.ADD, (product, made), (), node.loc) if by else made
        return made

    high = total([(t.value, _parts(t.by, k)[0]) for t in terms], 0)
    low = total([(t.value, _parts(t.by, k)[1]) for t in terms], half)
    carried = b.make(Op.SHR, (low,), (k,), node.loc)
    (n,) = node.attr
    together = b.make(Op.ADD, (high, carried), (), node.loc)
    return b.make(Op.SHR, (together,), (n - k,), node.loc, node.name)
