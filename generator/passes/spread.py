# SPDX-License-Identifier: BSD-2-Clause
"""Accumulation and first values for a target whose lanes share memory, but cannot merge in it.

What the lanes of a stage accumulate they store side by side into a temp of its own; a stage behind
it adds that up, with as many lanes as the elements of the result can be told apart by. First values
are stored by a stage in front. Where one lane does all of an item, nothing of this is needed.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from math import prod

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.ir import Affine, Buffer, Index, Kernel, Node, Op, Stage, Store
from daedalus.dsl.ranges import Ranges
from daedalus.generator.passes.accumulate import MERGED, gather_accumulations, neutral
from daedalus.generator.passes.cut import as_wide, pieces
from daedalus.generator.passes.points import points_of

_AT_ONCE = 16  # parts that a lane merges: each takes an address


def spread_accumulations(kernel: Kernel, sizes: tuple[int, int]) -> Kernel:
    """`kernel` without accumulation and first values, if several lanes do an item; `sizes` are the
    points that a lane does, and how many lanes there are at most."""
    return _Spread(kernel, *sizes).kernel if _needed(kernel) else kernel


def _needed(kernel: Kernel) -> bool:
    temps = {t.name for t in kernel.temps}
    in_memory = any(s.lanes > 1 for s in kernel.stages) or any(
        n.op is Op.LOAD and n.args and n.attr[0] in temps for s in kernel.stages for n in s.nodes()
    )
    accumulates = any(x.combine for s in kernel.stages for x in s.stores)
    return in_memory and (accumulates or any(t.init is not None for t in kernel.temps))


@dataclass(frozen=True)
class _Part:
    """What a store accumulated, now side by side in a temp.

    axes  lanes of the stage by which elements of the result differ: the temp's first axes
    many  what is merged into each of these: its last axis
    by_place  whether the axes are the result's, so that no lane may have left some of it
    """

    store: Store
    temp: str
    axes: tuple[tuple[str, int], ...]
    many: int
    by_place: bool = False


class _Spread:
    def __init__(self, kernel: Kernel, points: int, most: int) -> None:
        self._points, self._width = points, min(as_wide(kernel), most)
        gathered = gather_accumulations(kernel)
        self._ranges = Ranges(gathered)
        self._gathered, self._temps = gathered, {t.name: t for t in gathered.temps}
        self._first = {t.name: t.init for t in gathered.temps if t.init is not None}
        touched: set[str] = set()
        stages: list[Stage] = []
        for stage in gathered.stages:
            stages += self._stage(stage, touched)
            touched |= {s.buffer for s in stage.stores}
            touched |= {n.attr[0] for n in stage.nodes() if n.op is Op.LOAD}
        stages[:0] = [p for name, v in self._first.items() for p in self._filled(name, v)]
        temps = tuple(replace(t, init=None) for t in self._temps.values())
        self.kernel = replace(gathered, temps=temps, stages=tuple(stages))

    # ------------------------------------------------------------------ first values

    def _filled(self, name: str, value: int) -> list[Stage]:
        """A stage that gives every element of a temp its first value."""
        t = self._temps[name]
        axes = tuple((f"{name}_{k}", n) for k, n in enumerate(t.extents))
        index = tuple(Affine(0, ((axis, 1),)) for axis, _ in axes)
        builder = Builder({})
        store = Store(name, index, builder.const(value, t.loc), None, t.loc)
        return self._shared_out(Stage(axes, (store,), t.loc))

    def _shared_out(self, stage: Stage) -> list[Stage]:
        """A stage of this pass, for as many lanes as the kernel's have."""
        return pieces(self._gathered, points_of(self._gathered, stage, self._points), self._width)

    # ------------------------------------------------------------------ accumulation

    def _stage(self, stage: Stage, touched: set[str]) -> list[Stage]:
        if not any(s.combine for s in stage.stores):
            return [stage]
        stores = [s for s in stage.stores if not s.combine]
        into: dict[str, list[Store]] = {}
        for s in stage.stores:
            if s.combine:
                into.setdefault(s.buffer, []).append(s)
        behind: list[Stage] = []
        for name, own in into.items():
            kept = _told_apart(stage, [s.index for s in own])
            made = (
                [self._by_place(group, stage) for group in _alike(own)]
                if kept is None
                else [self._side_by_side(s, stage, kept) for s in own]
            )
            stores += [s for _, left in made for s in left]
            chains = [[p] for p, _ in made] if kept is None else [[p for p, _ in made]]
            for parts in chains:
                while parts[0].many > _AT_ONCE and (each := self._free(parts[0])) > 1:
                    fewer = [self._fewer(p, stage, each) for p in parts]
                    parts = [p for p, _ in fewer]
                    behind += [x for _, stages in fewer for x in stages]
                alone = name not in touched and len(chains) == 1
                behind += self._summed(stage, name, parts, alone=alone)
        return [replace(stage, stores=tuple(stores)), *behind]

    def _free(self, p: _Part) -> int:
        """Lanes that there are for each element of a result."""
        return self._width // max(1, prod(n for _, n in p.axes))

    def _temp(self, s: Store, shape: tuple[int, ...], init: int | None) -> str:
        """A new temp for parts of what a store accumulates."""
        name, n = f"{s.buffer}_part", 2
        taken = {b.name for b in (*self._gathered.buffers, *self._temps.values())}
        while name in taken:
            name, n = f"{s.buffer}_part{n}", n + 1
        bounds = tuple((0, extent) for extent in shape)
        self._temps[name] = Buffer(name, "temp", None, bounds, "inout", s.loc)
        if init is not None:
            self._first[name] = init
        return name

    def _side_by_side(
        self, s: Store, stage: Stage, kept: frozenset[str]
    ) -> tuple[_Part, list[Store]]:  # fmt: skip
        """A temp with an element for every lane of a stage, of which some axes stay; and what a
        lane leaves there."""
        axes = tuple(d for d in stage.dims if d[0] in kept)
        many = stage.lanes // prod(n for _, n in axes)
        init = neutral(s, self._ranges) if stage.limits else None  # of lanes that there are not
        p = _Part(s, self._temp(s, (*(n for _, n in axes), many), init), axes, many)
        rest = [d for d in stage.dims if d[0] not in kept]
        index = (*(Affine(0, ((axis, 1),)) for axis, _ in axes), _flat(rest))
        return p, [Store(p.temp, index, s.value, None, s.loc)]

    def _by_place(self, group: list[Store], stage: Stage) -> tuple[_Part, list[Store]]:
        """The same with an element for every place of the result that lanes name, as often as they
        would meet there otherwise. A store's axes that tell places apart need no room of their own;
        where lanes have several stores at different places, each lane has its own room."""
        s = group[0]
        apart = _apart(s.index, stage) if len(group) == 1 else frozenset()
        rest = [d for d in stage.dims if d[0] not in apart]
        bounds = [
            [a.bounds(stage.extents) for a in same]
            for same in zip(*(x.index for x in group), strict=True)
        ]
        first = [min(lo for lo, _ in of_axis) for of_axis in bounds]
        last = [max(hi for _, hi in of_axis) for of_axis in bounds]
        axes = tuple(
            (_fresh(f"{s.buffer}_{k}", stage), hi - lo + 1)
            for k, (lo, hi) in enumerate(zip(first, last, strict=True))
        )
        many = prod(n for _, n in rest)
        name = self._temp(s, (*(n for _, n in axes), many), neutral(s, self._ranges))
        at = tuple(Affine(lo, ((axis, 1),)) for lo, (axis, _) in zip(first, axes, strict=True))
        left = []
        for x in group:
            moved = (Affine(a.const - lo, a.terms) for a, lo in zip(x.index, first, strict=True))
            left.append(Store(name, (*moved, _flat(rest)), x.value, None, x.loc))
        return _Part(replace(s, index=at), name, axes, many, by_place=True), left

    def _fewer(self, p: _Part, stage: Stage, each: int) -> tuple[_Part, list[Stage]]:
        """Parts of parts, `each` for an element, and the stages that make them."""
        by = -(-p.many // each)
        if p.many % each:  # there is nothing to merge beyond the end
            t = self._temps[p.temp]
            self._temps[p.temp] = replace(t, shape=(*t.shape[:-1], (0, by * each)))
            self._first[p.temp] = neutral(p.store, self._ranges)
        own, builder = self._under(stage, p.axes)
        part = _fresh("part", stage, p.axes)
        dims = (*p.axes, (part, each))
        index = tuple(Affine(0, ((axis, 1),)) for axis, _ in dims)
        loads = [self._load(p, Affine(each * k, ((part, 1),)), builder) for k in range(by)]
        name = self._temp(p.store, (*(n for _, n in p.axes), each), None)
        value = _merged(p.store, loads, builder)
        made = replace(own, dims=dims, stores=(Store(name, index, value, None, p.store.loc),))
        if own.limits:
            self._first[name] = neutral(p.store, self._ranges)
        return replace(p, temp=name, many=each), self._shared_out(made)

    def _under(
        self, stage: Stage, axes: tuple[tuple[str, int], ...]
    ) -> tuple[Stage, Builder]:  # fmt: skip
        """A stage that runs where another one does, on some of its axes, without stores so far."""
        builder = Builder({t.name: t for t in self._gathered.tables})
        copied = rewrite_stage(replace(stage, stores=()), builder, lambda node, args: None)
        names = {axis for axis, _ in axes}
        limits = tuple(x for x in copied.limits if x[0] in names)
        return replace(copied, dims=axes or (("all", 1),), limits=limits), builder

    def _summed(
        self, stage: Stage, name: str, parts: list[_Part], *, alone: bool
    ) -> list[Stage]:  # fmt: skip
        """The stage that merges what lanes have left; `alone`: nothing has touched the temp."""
        own, builder = self._under(stage, parts[0].axes)
        found: dict[Index, list[Node]] = {}
        for p in parts:
            loads = [self._load(p, Affine(k), builder) for k in range(p.many)]
            found.setdefault(p.store.index, []).extend(loads)
        by_place = any(p.by_place for p in parts)
        return self._into(own, name, found, parts[0].store, builder, alone=alone, by_place=by_place)

    def _into(
        self, own: Stage, name: str, found: dict[Index, list[Node]], like: Store,
        builder: Builder, *, alone: bool, by_place: bool,
    ) -> list[Stage]:  # fmt: skip
        """The stage that merges values into elements of a temp."""
        init = self._first.get(name)
        whole = (
            alone and own.given is None and not own.limits and init is not None
            and self._covers(name, own.dims, found)
        )  # fmt: skip
        if whole:
            del self._first[name]
        stores = []
        for index, values in found.items():
            before = builder.const(init or 0, like.loc) if whole else builder.make(
                Op.LOAD, (), (name, index), like.loc
            )  # fmt: skip
            value = _merged(like, [*values, before], builder)
            if by_place and like.combine == "add":
                value = self._limited(like, value, builder)
            stores.append(Store(name, index, value, None, like.loc))
        return self._shared_out(replace(own, stores=tuple(stores)))

    def _limited(self, like: Store, value: Node, builder: Builder) -> Node:
        """A sum within the bounds that accumulation was proven to keep: parts that are always 0
        somewhere widen what ranges know of it."""
        held = self._ranges.temps[like.buffer]
        return builder.make(Op.CLIP, (value,), (held.lo, held.hi), like.loc)

    @staticmethod
    def _load(p: _Part, at: Affine, builder: Builder) -> Node:
        """What lanes have left."""
        index = (*(Affine(0, ((axis, 1),)) for axis, _ in p.axes), at)
        return builder.make(Op.LOAD, (), (p.temp, index), p.store.loc)

    def _covers(
        self, name: str, dims: tuple[tuple[str, int], ...], indices: Iterable[Index]
    ) -> bool:
        """Whether a stage stores every element of a temp."""
        places = {_at(index, at) for index in indices for at in _points(dims)}
        return len(places) == self._temps[name].size


def _merged(like: Store, values: list[Node], builder: Builder) -> Node:
    """Values merged as a store does it."""
    op = MERGED[like.combine]
    return reduce(lambda a, b: builder.make(op, (a, b), (), like.loc), values)


def _alike(stores: list[Store]) -> list[list[Store]]:
    """The stores whose places lie as far apart on all lanes, together."""
    groups: dict[tuple[object, ...], list[Store]] = {}
    for s in stores:
        groups.setdefault(tuple(a.terms for a in s.index), []).append(s)
    return list(groups.values())


def _apart(index: Index, stage: Stage) -> frozenset[str]:
    """Axes by which places differ, whatever the others are: one of each part of an index."""
    places = [{lane for lane, _ in a.terms} for a in index]
    found = set()
    for k, own in enumerate(places):
        alone = own.difference(*(x for m, x in enumerate(places) if m != k))
        found |= set(sorted(alone, key=lambda lane: (stage.extents[lane], lane))[-1:])
    return frozenset(found)


def _flat(dims: Iterable[tuple[str, int]]) -> Affine:
    """The number of a point of some axes, the last one fastest."""
    flat = Affine(0)
    for axis, n in dims:
        flat = Affine(0, (*((lane, c * n) for lane, c in flat.terms), (axis, 1)))
    return flat


def _points(dims: Iterable[tuple[str, int]]) -> list[dict[str, int]]:
    """All points of some axes."""
    names = [axis for axis, _ in dims]
    return [dict(zip(names, at, strict=True)) for at in product(*(range(n) for _, n in dims))]


def _at(index: Index, at: dict[str, int]) -> Index:
    return tuple(Affine(int(a.at(at))) for a in index)


def _told_apart(stage: Stage, indices: list[Index]) -> frozenset[str] | None:
    """The axes by which elements differ, if each has a place of its own in all indices, and no two
    of these can name the same element."""
    axes = [tuple((lane, c) for lane, c in a.terms if stage.extents[lane] > 1) for a in indices[0]]
    if any(len(terms) > 1 for terms in axes):
        return None
    named = [terms[0][0] for terms in axes if terms]
    if len(set(named)) != len(named):
        return None
    fixed = set()
    for index in indices:
        terms = [tuple(t for t in a.terms if stage.extents[t[0]] > 1) for a in index]
        if terms != axes:
            return None
        fixed.add(tuple(a.const for a, t in zip(index, terms, strict=True) if not t))
        moved = [a.const for a, t in zip(index, terms, strict=True) if t]
        if moved != [a.const for a, t in zip(indices[0], axes, strict=True) if t]:
            return None
    return frozenset(named) if len(fixed) == len(indices) else None


def _fresh(name: str, stage: Stage, axes: tuple[tuple[str, int], ...] = ()) -> str:
    """A name for an axis that neither the stage nor these axes have."""
    taken = {*stage.extents, *(axis for axis, _ in axes)}
    while name in taken:
        name += "_"
    return name
