# SPDX-License-Identifier: BSD-2-Clause
"""Interval analysis: what every value can be, given buffers, parameters and assumptions.

Tables are evaluated row by row over the range of the row index, so a dot product gets the bounds
of the rows that exist, not of the worst mixture of their entries. Sums are bounded as linear forms
of what they are made of, so what is added and taken away again cancels (a running sum stays as
narrow as the sum it equals); products with common factors are bounded together (weighted.py).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from daedalus.dsl.bit_ranges import bitwise_bounds
from daedalus.dsl.errors import Loc, RangeError
from daedalus.dsl.ir import (
    DType,
    Kernel,
    Node,
    Op,
    Stage,
    Store,
    Table,
    evaluate,
    smallest_dtype,
    walk,
)
from daedalus.dsl.weighted import Products, times


@dataclass(frozen=True)
class Interval:
    """All integers from lo to hi, both included."""

    lo: int
    hi: int

    def __or__(self, o: "Interval") -> "Interval":
        return Interval(min(self.lo, o.lo), max(self.hi, o.hi))

    def within(self, lo: int, hi: int) -> bool:
        return lo <= self.lo and self.hi <= hi

    def __str__(self) -> str:
        return f"[{self.lo}, {self.hi}]"


BOOL = Interval(0, 1)


def _amounts(n: Interval) -> tuple[int, int]:
    """The least and the most that a shift is by: anything, where `n` could be no amount."""
    return (n.lo, n.hi) if n.within(0, 31) else (0, 31)


def _product(a: Interval, b: Interval) -> Interval:
    return Interval(*times((a.lo, a.hi), (b.lo, b.hi)))


def table_rows(table: Table, index: Interval) -> tuple[tuple[int, ...], ...]:
    """The rows that an index in the interval can select (outside indices clamp)."""
    last = len(table.rows) - 1
    return table.rows[min(max(index.lo, 0), last) : min(max(index.hi, 0), last) + 1]


_MOST_VALUES = 4096  # combinations of parameters that are tried one by one
_LAST = 4  # kernels whose ranges are kept


class Ranges:
    """The interval of every node of a kernel under a set of assumptions.

    With `hostile` nothing is taken for granted but what the element types in memory can hold:
    assumptions, declared ranges and value ranges of temps are ignored; of parameters, too, unless
    `declared_params` (the runtime refuses others, and generated code limits those that decide
    where memory is touched). Values are then taken to be computed in 32 bits where conformant ones
    fit, else in 64; `wraps` holds those that may overflow there, `conformant` the ranges without
    `hostile`.
    """

    def __init__(
        self,
        kernel: Kernel,
        assume: frozenset[str] | None = None,
        *,
        hostile: bool = False,
        declared_params: bool = False,
    ) -> None:
        self.kernel = kernel
        self.assume: frozenset[str] = (
            frozenset() if hostile else (kernel.defaults if assume is None else assume)
        )
        self._hostile, self._declared_params = hostile, declared_params
        self._of: dict[Node, Interval] = {}
        self._extents: dict[str, int] = {}
        self._forms: dict[Node, dict[Node | None, int]] = {}
        self._products = Products(self.form, lambda x: (self._of[x].lo, self._of[x].hi))
        self.temps: dict[str, Interval] = {
            t.name: Interval(t.init, t.init) for t in kernel.temps if t.init is not None
        }
        self._held: dict[str, Interval] = {}  # what a buffer that was stored to can hold
        self.stored: dict[str, list[Node]] = {}  # buffer -> the values stored in it
        self.conformant = Ranges(kernel, assume) if hostile else None
        self.wraps: set[Node] = set()
        types = self.conformant.temps if self.conformant else {}
        self._temp_types = {n: smallest_dtype(r.lo, r.hi) for n, r in types.items()}
        for stage in kernel.stages:
            self._stage(stage)

    def of(self, node: Node) -> Interval:
        return self._of[node]

    def _stage(self, stage: Stage) -> None:
        self._extents = stage.extents
        for node in stage.nodes():
            if node not in self._of:
                self._of[node] = BOOL if node.is_bool else self._limited(node)
        sums = self._accumulated(stage)
        for s in stage.stores:
            got = sums[s.buffer] if s.combine == "add" else self._of[s.value]
            if any(s.buffer == t.name for t in self.kernel.temps):
                self.temps[s.buffer] = self.temps.get(s.buffer, got) | got
            else:  # what is declared of an inout buffer holds before the first store
                self._held[s.buffer] = self._load(s.buffer) | got
            self.stored.setdefault(s.buffer, []).append(s.value)

    def _limited(self, node: Node) -> Interval:
        """The interval of a value; a hostile one that leaves its computing width wraps there."""
        r = self._node(node)
        if self.conformant is None:
            return r
        fits32 = self.conformant.of(node).within(-(2**31), 2**31 - 1)
        width = Interval(-(2**31), 2**31 - 1) if fits32 else Interval(-(2**63), 2**63 - 1)
        if r.within(width.lo, width.hi):
            return r
        self.wraps.add(node)
        return width

    def _sum(self, node: Node) -> Interval:
        """The interval of a linear form: every term counted once, with its whole coefficient. Of
        products that have factors in common, together."""
        form = self.form(node)
        const = form.get(None, 0)
        terms = [_product(Interval(c, c), self._of[x]) for x, c in form.items() if x is not None]
        found = Interval(const + sum(t.lo for t in terms), const + sum(t.hi for t in terms))
        together = self._products.bounds(form)
        if together is None:
            return found
        return Interval(max(found.lo, together[0]), min(found.hi, together[1]))

    def form(self, node: Node) -> dict[Node | None, int]:
        """A value as a sum: term -> coefficient; None stands for 1, other operations are terms."""
        known = self._forms.get(node)
        if known is not None:
            return known
        form: dict[Node | None, int] = {}
        if node.op is Op.CONST:
            form[None] = node.value
        elif node.op in (Op.ADD, Op.SUB):
            for x, sign in zip(node.args, (1, 1 if node.op is Op.ADD else -1), strict=True):
                for term, c in self.form(x).items():
                    form[term] = form.get(term, 0) + sign * c
        elif node.op is Op.MUL and node.args[1].op is Op.CONST:
            form = {t: c * node.args[1].value for t, c in self.form(node.args[0]).items()}
        else:
            form[node] = 1
        self._forms[node] = form
        return form

    def _accumulated(self, stage: Stage) -> dict[str, Interval]:
        """By temp, what its elements can hold after this stage's additions: what they held, and
        what all lanes add, counted element by element."""
        adds: dict[str, list[Store]] = {}
        for s in stage.stores:
            if s.combine == "add":
                adds.setdefault(s.buffer, []).append(s)
        grid, found = stage.grid(), {}
        for name, stores in adds.items():
            buffer = self.kernel.buffer(name)
            times = np.zeros((len(stores), *buffer.extents), dtype=np.int64)
            for n, s in enumerate(stores):
                places = np.array([np.broadcast_to(a.at(grid), (stage.lanes,)) for a in s.index])
                # An axis that is divided may have points beyond its end, which nobody does.
                ends = np.array(buffer.extents)[:, None]
                np.add.at(times[n], tuple(places[:, (places < ends).all(axis=0)]), 1)
            values = [self._of[s.value] for s in stores]
            before = self.temps.get(name, Interval(buffer.init or 0, buffer.init or 0))
            lo, hi = before.lo, before.hi
            for counts in np.unique(times.reshape(len(stores), -1), axis=1).T.tolist():
                added = [_product(v, Interval(c, c)) for v, c in zip(values, counts, strict=True)]
                lo = min(lo, before.lo + sum(min(0, v.lo) for v in added))
                hi = max(hi, before.hi + sum(max(0, v.hi) for v in added))
            found[name] = Interval(lo, hi)
        return found

    def dtype(self, name: str) -> DType:
        """A buffer's element type; of a temp, the narrowest that holds its values."""
        declared = self.kernel.buffer(name).dtype
        if declared is not None:
            return declared
        found = smallest_dtype(self.temps[name].lo, self.temps[name].hi)
        assert found is not None, "check_ranges refuses others"
        return found

    def _load(self, name: str) -> Interval:
        if name in self.temps:
            t = self._temp_types.get(name)
            return Interval(t.lo, t.hi) if self._hostile and t else self.temps[name]
        b = self.kernel.buffer(name)
        if b.kind == "temp":
            return Interval(0, 0)  # read before written: verify reports it
        assert b.dtype is not None
        if self._hostile or b.access == "out":  # nothing is said of what an output holds before
            return Interval(b.dtype.lo, b.dtype.hi)
        return self._held.get(name, Interval(b.lo, b.hi))

    def rows(self, n: Node) -> tuple[tuple[int, ...], ...]:
        """The rows that a TABLE or DOT can select: of few parameters, those they really reach."""
        table, index = self.kernel.table(n.attr[0]), n.args[0]
        reached = self._values(index)
        if reached is None:
            return table_rows(table, self._of[index])
        return tuple(table.rows[i] for i in np.unique(np.clip(reached, 0, len(table.rows) - 1)))

    def _values(self, root: Node) -> np.ndarray | None:
        """Every value that a node has over its parameters' ranges; None where they are many, or
        where it may overflow."""
        below = list(walk((root,)))
        if any(n in self.wraps for n in below):
            return None
        params = sorted({n.attr[0] for n in below if n.op is Op.PARAM})
        bounds = [
            next(self._of[n] for n in below if n.op is Op.PARAM and n.attr[0] == name)
            for name in params
        ]
        kinds = {n.op for n in below}
        if kinds & {Op.LOAD, Op.LANE, Op.TABLE, Op.DOT} or any(
            n.op is Op.PARAM and n.index for n in below
        ):
            return None
        if np.prod([float(b.hi - b.lo + 1) for b in bounds]) > _MOST_VALUES:
            return None
        axes = np.meshgrid(*(np.arange(b.lo, b.hi + 1) for b in bounds), indexing="ij")
        given = {name: axis.ravel() for name, axis in zip(params, axes, strict=True)}
        values: dict[Node, np.ndarray] = {}
        for n in below:
            if n.op is Op.CONST:
                values[n] = np.full(1, n.value, dtype=np.int64)
            elif n.op is Op.PARAM:
                values[n] = given[n.attr[0]]
            else:
                values[n] = evaluate(n.op, n.attr, tuple(values[x] for x in n.args))
        return values[root]

    def _node(self, n: Node) -> Interval:
        a = [self._of[x] for x in n.args]
        match n.op:
            case Op.CONST:
                return Interval(n.value, n.value)
            case Op.PARAM:
                p = self.kernel.param(n.attr[0])
                if self._hostile and not self._declared_params:
                    return Interval(p.dtype.lo, p.dtype.hi)
                return Interval(p.lo, p.hi)
            case Op.LANE:
                return Interval(0, self._extents[n.attr[0]] - 1)
            case Op.LOAD:
                return self._load(n.attr[0])
            case Op.TABLE:
                rows = self.rows(n)
                if len(a) > 1:
                    last = len(rows[0]) - 1
                    cols = slice(min(max(a[1].lo, 0), last), min(max(a[1].hi, 0), last) + 1)
                    rows = tuple(r[cols] for r in rows)
                flat = [x for r in rows for x in r]
                return Interval(min(flat), max(flat))
            case Op.DOT:
                sums = []
                for row in self.rows(n):
                    terms = [_product(Interval(t, t), x) for t, x in zip(row, a[1:], strict=True)]
                    sums.append(Interval(sum(t.lo for t in terms), sum(t.hi for t in terms)))
                return Interval(min(s.lo for s in sums), max(s.hi for s in sums))
            case Op.ASSUME:
                name, lo, hi = n.attr
                if self._hostile or (name and name not in self.assume):
                    return a[0]
                return Interval(max(a[0].lo, min(lo, a[0].hi)), min(a[0].hi, max(hi, a[0].lo)))
            case Op.SELECT:
                return a[1] | a[2]
        naive = _arithmetic(n, a)
        if n.op in (Op.ADD, Op.SUB) and not self._hostile:
            exact = self._sum(n)
            return Interval(max(naive.lo, exact.lo), min(naive.hi, exact.hi))
        return naive


class _PlaceRanges(Ranges):
    """Hostile ranges that hold on all targets: of a value that conformant items keep in an unsigned
    number of 32 bits, processors compute 64 bits and GPUs the lowest 32."""

    def _limited(self, node: Node) -> Interval:
        r = super()._limited(node)
        assert self.conformant is not None
        fits32 = r.within(-(2**31), 2**31 - 1) or r.within(0, 2**32 - 1)
        if fits32 or not self.conformant.of(node).within(0, 2**32 - 1):
            return r
        self.wraps.add(node)
        return r | Interval(0, 2**32 - 1)


@lru_cache(maxsize=_LAST)
def place_ranges(kernel: Kernel) -> Ranges:
    """The hostile ranges that say where in memory a kernel may read. Kept for the kernels that were
    asked for last, as are the others: several steps ask for those of the same one."""
    return _PlaceRanges(kernel, hostile=True, declared_params=True)


@lru_cache(maxsize=_LAST)
def both_ranges(kernel: Kernel) -> tuple[Ranges, Ranges]:
    """The conformant and the hostile ranges of a kernel."""
    hostile = Ranges(kernel, hostile=True)
    assert hostile.conformant is not None
    return hostile.conformant, hostile


def _arithmetic(n: Node, a: list[Interval]) -> Interval:
    match n.op:
        case Op.ADD:
            return Interval(a[0].lo + a[1].lo, a[0].hi + a[1].hi)
        case Op.SUB:
            return Interval(a[0].lo - a[1].hi, a[0].hi - a[1].lo)
        case Op.MUL:
            p = _product(a[0], a[1])
            return Interval(max(p.lo, 0), p.hi) if n.args[0] is n.args[1] else p
        case Op.SHR:
            return Interval(a[0].lo >> n.attr[0], a[0].hi >> n.attr[0])
        case Op.RSHR:
            half = 1 << (n.attr[0] - 1)
            return Interval((a[0].lo + half) >> n.attr[0], (a[0].hi + half) >> n.attr[0])
        case Op.SHRV:
            shifts = _amounts(a[1])
            ends = [x >> s for x in (a[0].lo, a[0].hi) for s in shifts]
            return Interval(min(ends), max(ends))
        case Op.SHLV:
            least, most = _amounts(a[1])
            return _product(a[0], Interval(1 << least, 1 << most))
        case Op.BITAND | Op.BITOR | Op.BITXOR:
            return Interval(*bitwise_bounds(n.op, *((x.lo, x.hi) for x in a)))
        case Op.MIN:
            return Interval(min(a[0].lo, a[1].lo), min(a[0].hi, a[1].hi))
        case Op.MAX:
            return Interval(max(a[0].lo, a[1].lo), max(a[0].hi, a[1].hi))
        case Op.ABS:
            return _absolute(a[0])
        case Op.ABSDIFF:
            return _absolute(Interval(a[0].lo - a[1].hi, a[0].hi - a[1].lo))
        case Op.CLIP:
            lo, hi = n.attr
            return Interval(min(max(a[0].lo, lo), hi), min(max(a[0].hi, lo), hi))
        case Op.WRAP:
            t = n.attr[0]
            return a[0] if a[0].within(t.lo, t.hi) else Interval(t.lo, t.hi)
    raise AssertionError(n.op)


def _absolute(d: Interval) -> Interval:
    low = 0 if d.lo <= 0 <= d.hi else min(abs(d.lo), abs(d.hi))
    return Interval(low, max(abs(d.lo), abs(d.hi)))


def _describe(n: Node) -> str:
    what = n.name or {Op.LOAD: str(n.attr[0]) if n.attr else "", Op.PARAM: ""}.get(n.op, "")
    if n.op is Op.CONST:
        return f"constant {n.value}"
    return f"{n.op} {what}".strip()


def widening_chain(ranges: Ranges, node: Node) -> tuple[str, ...]:
    """From a value back to the input that made it wide: always the widest argument."""
    steps: list[str] = []
    seen: set[Node] = set()
    while True:
        seen.add(node)
        steps.append(f"{node.loc}: {_describe(node)} is in {ranges.of(node)}")
        candidates = [a for a in node.args if not a.is_bool]
        if node.op is Op.LOAD:  # a temp: what was stored there
            candidates = ranges.stored.get(node.attr[0], [])
        candidates = [a for a in candidates if a not in seen]
        candidates = [a for a in candidates if a.op is not Op.CONST] or candidates
        if not candidates:
            return tuple(steps)
        node = max(candidates, key=lambda a: max(abs(ranges.of(a).lo), abs(ranges.of(a).hi)))


def _unfit(
    kernel: Kernel, ranges: Ranges, node: Node, what: str, lo: int, hi: int, loc: Loc
) -> RangeError:
    return RangeError(
        "range",
        what,
        loc,
        kernel.id,
        hint=f"clip() or wrap() the value, or state by k.assumption(...) that it lies within"
        f" [{lo}, {hi}]",
        chain=widening_chain(ranges, node),
    )


def check_ranges(kernel: Kernel) -> Ranges:
    """Proves that every value fits 32 bits (63 in a wide kernel), and every stored one its type.

    Raises RangeError with the chain that made the value wide and the smallest assumption that
    would mend it.
    """
    ranges = Ranges(kernel)
    temps = {t.name for t in kernel.temps}
    for stage in kernel.stages:
        for node in stage.nodes():
            if node.op in (Op.SHRV, Op.SHLV) and not ranges.of(node.args[1]).within(0, 31):
                raise _unfit(
                    kernel, ranges, node.args[1],
                    f"a shift amount can be {ranges.of(node.args[1])}", 0, 31, node.loc,
                )  # fmt: skip
            r = ranges.of(node)
            lo, hi = (0, 2**32 - 1) if r.lo >= 0 else (-(2**31), 2**31 - 1)
            if kernel.wide or kernel.modular:  # a bit less than computed in: roundings add to it
                lo, hi = -(2**62), 2**62 - 1
            if not r.within(lo, hi):
                raise _unfit(
                    kernel, ranges, node, f"{_describe(node)} can be {r}: more than"
                    f" {63 if kernel.wide else 32} bits", lo, hi, node.loc,
                )  # fmt: skip
        for s in stage.stores:
            r = ranges.of(s.value)
            if s.buffer in temps:
                continue
            t = kernel.buffer(s.buffer).dtype
            assert t is not None
            if not r.within(t.lo, t.hi):
                raise _unfit(
                    kernel, ranges, s.value, f"stores {r} into {s.buffer} of {t}", t.lo, t.hi, s.loc
                )
    for temp in kernel.temps:
        got = ranges.temps.get(temp.name)
        if got is not None and smallest_dtype(got.lo, got.hi) is None:
            raise RangeError(
                "range", f"temp {temp.name} holds {got}: no element type does", temp.loc, kernel.id,
                hint="use two temps, or clip() what is stored",
            )  # fmt: skip
    return ranges


def never_binding(kernel: Kernel) -> list[tuple[str, str]]:
    """Assumptions that exclude nothing anywhere: (name, remark). A remark for the author."""
    open_ranges: Callable[[Node], Interval] = Ranges(kernel, frozenset()).of
    binding = {
        n.attr[0]
        for stage in kernel.stages
        for n in stage.nodes()
        if n.op is Op.ASSUME and not open_ranges(n.args[0]).within(n.attr[1], n.attr[2])
    }
    return [
        (a.name, f"{a.loc}: assumption {a.name} never binds: it can go")
        for a in kernel.assumptions
        if a.name not in binding
    ]
