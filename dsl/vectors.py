# SPDX-License-Identifier: BSD-2-Clause
"""Inputs for a kernel: conformant, boundary and hostile; seeded, so that any batch can be replayed.

Nothing here knows a kernel. Conformant items are drawn in several manners (a sampler of the spec,
smooth and rough planes, sparse and dense blocks), brought into the class they are to have, made
conformant by halving what overflows, varied where they take rare decisions, and then chosen so
that every pattern of decisions the program can take occurs about equally often.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from daedalus.dsl import interp
from daedalus.dsl.errors import SpecError
from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import FULL, Buffer, Kernel, Param

KINDS = ("conformant", "typical", "boundary", "hostile")
_SURPLUS, _LEAST_SURPLUS = 3, 1.25  # candidates drawn for each item wanted
_ELEMENTS = 1 << 26  # of all candidates together, from which on there are fewer
_GENERATIONS = 4  # rounds of looking around the rare ones
_COARSE = np.uint64(100)  # kinds of items that store nothing
_EXPLORERS = 6000  # items that such a round starts from
_IN_CACHES = 1 << 15  # numbers


def make_items(kernel: Kernel, count: int, seed: int, kind: str = "conformant") -> Items:
    """`count` items of a kind.

    conformant  all meet the declared ranges, the default assumptions and the class they are drawn
                for; classes and decision patterns are mixed
    typical     conformant ones as the spec's sampler draws them, where it has one: parameters and
                data agree in ways that only the codec knows
    boundary    values at and next to the ends of their ranges; not all conformant
    hostile     anything that fits the element types
    """
    rng = np.random.default_rng([zlib.crc32(f"{kernel.id} {kind}".encode()), seed])
    if kind == "hostile":
        return _hostile(kernel, count, rng)
    if kind == "boundary":
        return _in_classes(kernel, _boundary(kernel, count, rng), rng)
    if kind not in KINDS:
        raise ValueError(f"unknown kind of items: {kind!r}, one of {', '.join(KINDS)}")
    candidates = _candidates(kernel, count)
    if kind == "typical" and kernel.sampler is not None:
        drawn, explore = _conformant(kernel, _typical(kernel, candidates, rng, share=1.0)), False
    else:
        drawn = _in_classes(kernel, _typical(kernel, candidates, rng, share=0.5), rng)
        drawn, explore = _made_conformant(kernel, drawn), True
    if not drawn.count:
        raise SpecError(
            "assumption",
            "no conformant item was found: the assumptions exclude everything that was drawn",
            kernel.loc,
            kernel.id,
            hint="widen them, or draw typical items with a sampler (@<kernel>.inputs)",
        )
    seen = _decided(kernel, drawn)
    if explore:
        drawn, seen = _explored(kernel, drawn, seen, rng)
    return drawn.take(_balanced(kernel, drawn, seen.patterns(), count, rng))


def _candidates(kernel: Kernel, count: int) -> int:
    """How many items are drawn, of which as many as are wanted are chosen."""
    affordable = _ELEMENTS // sum(b.size for b in kernel.buffers)
    return min(count * _SURPLUS, max(affordable, int(count * _LEAST_SURPLUS)))


# ------------------------------------------------------------------ drawing


def _per_item(rng: np.random.Generator, count: int, ways: int) -> Array:
    return rng.integers(0, ways, count)


def _mixed(rng: np.random.Generator, count: int, manners: list[Callable[[int], Array]]) -> Array:
    """Each item in one of the manners, at random."""
    which = _per_item(rng, count, len(manners))
    where = [np.flatnonzero(which == n) for n in range(len(manners))]
    drawn = [m(len(items)) for m, items in zip(manners, where, strict=True)]
    out = np.empty((count, *drawn[0].shape[1:]), drawn[0].dtype)
    for items, values in zip(where, drawn, strict=True):
        out[items] = values
    return out


def _typical(kernel: Kernel, count: int, rng: np.random.Generator, *, share: float) -> Items:
    """Items in all manners; this share of them from the spec's sampler, if it has one."""
    buffers = {b.name: _buffer(b, count, rng) for b in kernel.buffers}
    params = {p.name: _param(p, count, rng) for p in kernel.params}
    if kernel.sampler is not None:
        sampled = rng.random(count) < share
        for name, values in kernel.sampler(rng, count).items():
            target = buffers if name in buffers else params
            target[name][sampled] = values[sampled]
    return Items(buffers, params)


def _buffer(b: Buffer, count: int, rng: np.random.Generator) -> Array:
    def noise(n: int) -> Array:
        return rng.integers(b.lo, b.hi + 1, (n, *b.extents))

    if b.access == "out":
        return noise(count)
    if b.kind == "plane":
        return _mixed(
            rng, count,
            [noise, lambda n: _walk(b, n, rng), lambda n: _walk(b, n, rng),
             lambda n: _ramp(b, n, rng)],
        )  # fmt: skip
    return _mixed(
        rng, count,
        [lambda n: _sparse(b, n, rng, 1.0), lambda n: _sparse(b, n, rng, 0.2),
         lambda n: _sparse(b, n, rng, 0.05)],
    )  # fmt: skip


def _amplitude(rng: np.random.Generator, count: int, top: int, axes: int) -> Array:
    """A magnitude an item, as often small as large, shaped to broadcast over an item's axes."""
    exponent = rng.uniform(0, np.log2(top + 1), count)
    return np.floor(2.0**exponent).astype(np.int64).reshape(count, *([1] * axes))


def _clipped(b: Buffer, values: Array) -> Array:
    limited: Array = np.clip(values, b.lo, b.hi).astype(np.int64)
    return limited


def _walk(b: Buffer, count: int, rng: np.random.Generator) -> Array:
    """Smooth planes with steps of the item's size, now and then with an edge in the middle."""
    span = b.hi - b.lo
    step = _amplitude(rng, count, span, 2)
    base = rng.integers(b.lo, b.hi + 1, (count, 1, 1))
    rows, cols = b.extents
    moves = rng.integers(-1, 2, (count, rows, cols)) * (step // 2)
    values = base + np.cumsum(moves, axis=1 + int(rng.integers(0, 2)))
    edge = rng.integers(-1, 2, (count, 1, 1)) * _amplitude(rng, count, span, 2)
    upper = np.arange(rows)[None, :, None] >= -b.shape[0][0]
    right = np.arange(cols)[None, None, :] >= -b.shape[1][0]
    where = np.where(rng.random((count, 1, 1)) < 0.5, upper, right)
    return _clipped(b, values + np.where(where, edge, 0))


def _ramp(b: Buffer, count: int, rng: np.random.Generator) -> Array:
    """Slopes, opposite on the two sides as often as not, with a little noise."""
    rows, cols = b.extents
    y = np.arange(rows)[None, :, None] + b.shape[0][0] + 0.5
    x = np.arange(cols)[None, None, :] + b.shape[1][0] + 0.5
    a, c = (rng.normal(0, 12, (count, 1, 1)) for _ in range(2))
    fold = rng.random((count, 1, 1)) < 0.5
    slope = np.where(fold, a * np.abs(y) + c * np.abs(x), a * y + c * x)
    noise = rng.integers(-2, 3, (count, rows, cols))
    return _clipped(b, np.rint(rng.integers(b.lo, b.hi + 1, (count, 1, 1)) + slope) + noise)


def _sparse(b: Buffer, count: int, rng: np.random.Generator, density: float) -> Array:
    """Blocks of the item's magnitude in which a share of the elements is non-zero."""
    shape = (count, *b.extents)
    size = _amplitude(rng, count, max(abs(b.lo), abs(b.hi)), len(b.extents))
    values = np.rint(rng.uniform(-1, 1, shape) * size)
    return _clipped(b, np.where(rng.random(shape) < density, values, 0))


def _param(p: Param, count: int, rng: np.random.Generator) -> Array:
    """Values of a parameter: [count], of an array [count, elements]."""
    if p.count > 1:
        one = replace(p, count=1)
        return np.stack([_param(one, count, rng) for _ in range(p.count)], axis=1)
    return _mixed(
        rng, count,
        [lambda n: rng.integers(p.lo, p.hi + 1, n), lambda n: rng.integers(p.lo, p.hi + 1, n),
         lambda n: np.clip(p.lo + _amplitude(rng, n, p.hi - p.lo, 0), p.lo, p.hi),
         lambda n: rng.choice([p.lo, p.hi], n)],
    )  # fmt: skip


def _shape(p: Param, count: int) -> tuple[int, ...]:
    return (count,) if p.count == 1 else (count, p.count)


def _corners(lo: int, hi: int) -> Array:
    """The ends and their neighbours, and powers of two: there roundings are ties."""
    near = {lo, lo + 1, -1, 0, 1, hi - 1, hi, (lo + hi) // 2}
    near |= {s << n for n in range(31) for s in (1, -1)}
    return np.array(sorted(v for v in near if lo <= v <= hi), dtype=np.int64)


def _boundary(kernel: Kernel, count: int, rng: np.random.Generator) -> Items:
    buffers = {}
    for b in kernel.buffers:
        full = rng.choice(_corners(b.lo, b.hi), (count, *b.extents))
        keep = rng.random((count, *b.extents)) < rng.choice(
            [0.05, 0.3, 1.0], (count, *[1] * len(b.extents))
        )
        calm = np.zeros_like(full) if b.kind == "block" else np.broadcast_to(
            rng.choice(_corners(b.lo, b.hi), (count, *[1] * len(b.extents))), full.shape
        )  # fmt: skip
        buffers[b.name] = np.where(keep, full, calm)
    return Items(
        buffers, {p.name: rng.choice(_corners(p.lo, p.hi), _shape(p, count)) for p in kernel.params}
    )


def in_range(kernel: Kernel, items: Items) -> Items:
    """The items with every parameter brought into its declared range: the runtime refuses others,
    but an item may still lie about its class and its data."""
    params = dict(items.params)
    for p in kernel.params:
        params[p.name] = p.lo + (params[p.name] - p.lo) % (p.hi - p.lo + 1)
    return Items(items.buffers, params)


def _hostile(kernel: Kernel, count: int, rng: np.random.Generator) -> Items:
    buffers = {}
    for b in kernel.buffers:
        t = b.dtype
        assert t is not None
        ends = rng.choice(_corners(t.lo, t.hi), (count, *b.extents))
        noise = rng.integers(t.lo, t.hi + 1, (count, *b.extents))
        buffers[b.name] = np.where(rng.random((count, *[1] * len(b.extents))) < 0.5, ends, noise)
    params = {
        p.name: rng.integers(p.dtype.lo, p.dtype.hi + 1, _shape(p, count)) for p in kernel.params
    }
    return Items(buffers, params)


# ------------------------------------------------------------------ classes and conformance


def _in_classes(kernel: Kernel, items: Items, rng: np.random.Generator) -> Items:
    """Gives every item one of the classes, in turn: its parameters, and its zeros."""
    names = kernel.class_names
    buffers = {n: a.copy() for n, a in items.buffers.items()}
    params = {n: a.copy() for n, a in items.params.items()}
    turn = np.arange(items.count) % len(names)
    for n, name in enumerate(names):
        if name == FULL:
            continue
        c = kernel.item_class(name)
        mine = turn == n
        for p, lo, hi in c.when:
            params[p][mine] = rng.integers(lo, hi + 1, int(mine.sum()))
        for b, extents in c.nonzero:
            inside = np.zeros(kernel.buffer(b).extents, dtype=bool)
            inside[tuple(slice(0, k) for k in extents)] = True
            buffers[b][mine] = np.where(inside, buffers[b][mine], 0)
    # An item of the full class must not claim a narrower one that its data does not meet.
    moved = Items(buffers, params)
    for c in kernel.classes:
        claims = np.ones(items.count, dtype=bool)
        for p, lo, hi in c.when:
            claims &= (params[p] >= lo) & (params[p] <= hi)
        liars = claims & ~interp.in_class(kernel, c.name, moved)
        for p, lo, hi in c.when:
            decl = kernel.param(p)
            top = max(x for _, _, x in _conditions(kernel, p))
            outside = ((top + 1, decl.hi), (hi + 1, decl.hi), (decl.lo, lo - 1))
            first, last = next((r for r in outside if r[0] <= r[1]), (decl.hi, decl.hi))
            params[p][liars] = rng.integers(first, last + 1, int(liars.sum()))
    return moved


def _conditions(kernel: Kernel, param: str) -> list[tuple[str, int, int]]:
    return [w for c in kernel.classes for w in c.when if w[0] == param]


def _made_conformant(kernel: Kernel, items: Items) -> Items:
    """The items that meet all assumptions. Those that do not have their blocks halved until they
    do; what never does is left out."""
    blocks = [b.name for b in kernel.buffers if b.kind == "block" and b.access != "out"]
    buffers = {n: a.copy() for n, a in items.buffers.items()}
    suspects = np.arange(items.count)
    for halved in range(17):
        tried = Items(buffers, items.params).take(suspects)
        suspects = suspects[~interp.run(kernel, tried).conformant(kernel.defaults)]
        if not len(suspects) or not blocks or halved == 16:
            break
        for name in blocks:
            buffers[name][suspects] = np.fix(buffers[name][suspects] / 2).astype(np.int64)
    return Items(buffers, items.params).take(np.setdiff1d(np.arange(items.count), suspects))


# ------------------------------------------------------------------ decisions


@dataclass(frozen=True)
class _Decided:
    """What items decide, lane by lane of the stages that decide anything: for some items after
    others, as they were run, two arrays [items, lanes].

    numbers  one for the outcomes of all comparisons and limits
    stores   whether the lane stores something
    """

    numbers: tuple[Array, ...]
    stores: tuple[Array, ...]

    def __add__(self, other: "_Decided") -> "_Decided":
        """Of these items, and of others behind them."""
        return _Decided(self.numbers + other.numbers, self.stores + other.stores)

    def first(self, count: int) -> "_Decided":
        """Of the first items alone, so many."""
        starts = np.cumsum([0, *map(len, self.numbers)]).tolist()
        cut = list(zip(self.numbers, self.stores, starts, strict=False))
        return _Decided(
            tuple(n[: max(0, count - at)] for n, _, at in cut),
            tuple(s[: max(0, count - at)] for _, s, at in cut),
        )

    def patterns(self) -> Array:
        """A number an item: the outcomes on its rarest lane.

        Outcomes are taken together, lane by lane, and lanes that store something come first: that
        a limit binds matters only where the masks let the result through. Items that store nothing
        are told apart coarsely.
        """
        total = sum(n.size for n in self.numbers)
        if not total:
            return np.zeros(sum(map(len, self.numbers)), dtype=np.uint64)
        parts = list(self._in_caches())
        # Not `return_inverse`: sorting indices takes ten times as long as sorting numbers.
        some = [np.unique(numbers, return_counts=True) for numbers, _ in parts]
        known, which = np.unique(np.concatenate([n for n, _ in some]), return_inverse=True)
        counts = np.zeros(len(known), dtype=np.int64)
        np.add.at(counts, which, np.concatenate([c for _, c in some]))
        found = []
        for numbers, stores in parts:
            rarity = counts[np.searchsorted(known, numbers)]
            rarity = np.where(stores, rarity, rarity + total)
            chosen = numbers[np.arange(len(numbers)), np.argmin(rarity, axis=1)]
            coarse = (chosen >> np.uint64(32)) % _COARSE
            found.append(np.where(stores.any(axis=1), chosen, coarse))
        return np.concatenate(found)

    def _in_caches(self) -> Iterator[tuple[Array, Array]]:
        """The arrays of a few items at a time, which stay in caches."""
        for numbers, stores in zip(self.numbers, self.stores, strict=True):
            few = max(1, _IN_CACHES // numbers.shape[1])
            for at in range(0, len(numbers), few):
                yield numbers[at : at + few], stores[at : at + few]


def _decided(kernel: Kernel, items: Items) -> _Decided:
    parts = [_portion_decided(kernel, portion) for portion in interp.portions(kernel, items)]
    numbers, stores = zip(*parts, strict=True)
    return _Decided(numbers, stores)


def _portion_decided(kernel: Kernel, items: Items) -> tuple[Array, Array]:
    """Of items that are run together."""
    numbers: list[Array] = [np.zeros((items.count, 0), dtype=np.uint64)]
    stored: list[Array] = [np.zeros((items.count, 0), dtype=bool)]
    for stage in interp.decisions(kernel, items):
        known = np.zeros(stage.stored.shape, dtype=np.uint64)
        for outcome in stage.outcomes:
            known *= np.uint64(6364136223846793005)
            known += np.where(outcome, np.uint64(1442695040888963407), np.uint64(1))
        if stage.outcomes:
            numbers.append(known)
            stored.append(stage.stored)
    return np.concatenate(numbers, axis=1), np.concatenate(stored, axis=1)


def _explored(
    kernel: Kernel, items: Items, first: _Decided, rng: np.random.Generator
) -> tuple[Items, _Decided]:
    """The items, which decide what `first` says, and neighbours of the rare ones: small changes
    that may tip further decisions; and what all of them decide."""
    explorers = min(items.count, _EXPLORERS)
    pool, seen = items.take(np.arange(explorers)), first.first(explorers)
    for _ in range(_GENERATIONS):
        parents = pool.take(_evenly(seen.patterns(), explorers // 2 or 1, rng))
        found = _conformant(kernel, neighbours(kernel, parents, rng))
        if found.count:
            pool, seen = joined(pool, found), seen + _decided(kernel, found)
    return joined(items, pool), first + seen


def neighbours(kernel: Kernel, items: Items, rng: np.random.Generator) -> Items:
    """Each item with some elements and parameters moved a little, within their ranges.

    Only elements that are not zero move in blocks, so that an item keeps its class.
    """
    buffers = {}
    for b in kernel.buffers:
        old = items.buffers[b.name]
        reach = rng.choice([1, 3, 16], (items.count, *[1] * len(b.extents)))
        move = np.rint(rng.uniform(-1, 1, old.shape) * reach).astype(np.int64)
        move *= rng.random(old.shape) < rng.choice([0.05, 0.5])
        if b.kind == "block":
            move *= old != 0
        buffers[b.name] = _clipped(b, old + move)
    params = {}
    in_conditions = {p for c in kernel.classes for p, _, _ in c.when}
    for p in kernel.params:
        move = rng.integers(-1, 2, _shape(p, items.count)) * (0 if p.name in in_conditions else 1)
        params[p.name] = np.clip(items.params[p.name] + move, p.lo, p.hi)
    return Items(buffers, params)


def _conformant(kernel: Kernel, items: Items) -> Items:
    return items.take(interp.run(kernel, items).conformant(kernel.defaults))


def spiked(kernel: Kernel, items: Items, rng: np.random.Generator) -> Items:
    """The items with a few large elements in one line of each block and zeros elsewhere: what sums
    of large values cancel in."""
    buffers = dict(items.buffers)
    for b in kernel.buffers:
        if b.kind == "block" and b.access != "out":
            shape = (items.count, *b.extents)
            few = _in_line(b, items.count, rng)
            values = rng.uniform(0.3, 1, shape) * rng.choice([b.lo, b.hi], shape)
            buffers[b.name] = np.where(few, np.rint(values).astype(np.int64), 0)
    return _in_classes(kernel, Items(buffers, items.params), rng)


def patterned(kernel: Kernel, items: Items, rng: np.random.Generator) -> Items:
    """The items with blocks of elements that are all large, with signs that are products of one
    for each place along each axis: what all elements of a transform add up to."""
    buffers = dict(items.buffers)
    for b in kernel.buffers:
        if b.kind == "block" and b.access != "out":
            axes = len(b.extents)
            signs = np.ones((items.count, *b.extents), np.int64)
            for axis, n in enumerate(b.extents):
                shape = (items.count, *(n if a == axis else 1 for a in range(axes)))
                signs = signs * rng.choice([-1, 1], shape)
            each = (items.count, *[1] * axes)
            size = 1 - rng.choice([0, 1], each) * rng.random(each) / rng.choice([1, 16], each)
            values = np.rint(np.where(signs < 0, b.lo, b.hi) * size).astype(np.int64)
            buffers[b.name] = np.clip(values, b.lo, b.hi)
    return _in_classes(kernel, Items(buffers, items.params), rng)


def spotted(kernel: Kernel, items: Items, rng: np.random.Generator) -> Items:
    """The items with planes of one value, but for a few elements that are less or more: there
    filters do most, and go beyond what is around."""
    buffers = dict(items.buffers)
    for b in kernel.buffers:
        if b.kind == "plane" and b.access != "out":
            each = (items.count, *[1] * len(b.extents))
            level = rng.integers(b.lo, b.hi + 1, each)
            depth = rng.integers(1, rng.choice([9, 33], each)) * rng.choice([-1, 1], each)
            spots = rng.random(items.buffers[b.name].shape) < rng.choice([0.02, 0.1], each)
            buffers[b.name] = np.clip(level + depth * spots, b.lo, b.hi)
    return Items(buffers, items.params)


def _in_line(b: Buffer, count: int, rng: np.random.Generator) -> Array:
    """Per item some elements of one line along one axis: bool [count, *extents]."""
    axes = len(b.extents)
    found = rng.random((count, *b.extents)) < rng.choice([0.15, 0.3, 0.6], (count, *[1] * axes))
    free = _per_item(rng, count, axes)  # the axis that the line runs along
    for axis, extent in enumerate(b.extents):
        at = np.arange(extent).reshape(-1, *[1] * (axes - 1 - axis))
        # The first line as often as all others: it is what every class has.
        place = _per_item(rng, count, extent) * _per_item(rng, count, 2)
        found &= (at == place.reshape(-1, *[1] * axes)) | (free == axis).reshape(-1, *[1] * axes)
    return found


def crossed(items: Items, rng: np.random.Generator) -> Items:
    """Each item with some elements and parameters of another one."""
    other = rng.permutation(items.count)

    def mix(a: Array) -> Array:
        return np.where(rng.random(a.shape) < rng.choice([0.1, 0.5]), a[other], a)

    return Items(
        {n: mix(a) for n, a in items.buffers.items()}, {n: mix(a) for n, a in items.params.items()}
    )


def shaken(kernel: Kernel, items: Items, rng: np.random.Generator) -> Items:
    """Each item with a few elements, and now and then a parameter, moved as far as may be, or by
    some power of two; some with columns in another order, or negated. It may lose its class."""
    buffers = {}
    for b in kernel.buffers:
        old = items.buffers[b.name]
        share = rng.choice([1.5, 4], (items.count, *[1] * len(b.extents))) / b.size
        along = (rng.random(items.count) < 0.5).reshape(-1, *[1] * len(b.extents))
        few = np.where(along, _in_line(b, items.count, rng), rng.random(old.shape) < share)
        moved = np.where(few, _moved(old, b.lo, b.hi, rng), old)
        turned = rng.random((items.count, *[1] * len(b.extents))) < 0.1
        order = rng.permutation(b.extents[-1])
        moved = np.where(turned, moved[..., order], moved)
        if b.kind == "block":
            mirrored = rng.random(turned.shape) < 0.1
            moved = np.where(mirrored, _clipped(b, -moved), moved)
        buffers[b.name] = moved
    in_conditions = {p for c in kernel.classes for p, _, _ in c.when}
    params = {}
    for p in kernel.params:
        old = items.params[p.name]
        some = rng.random(old.shape) < (0.0 if p.name in in_conditions else 0.3)
        params[p.name] = np.where(some, _moved(old, p.lo, p.hi, rng), old)
    return Items(buffers, params)


def _moved(old: Array, lo: int, hi: int, rng: np.random.Generator) -> Array:
    """Values to an end of the range, or moved by a power of two inside it."""
    exponent = rng.integers(0, max(1, (hi - lo).bit_length()), old.shape)
    step = rng.choice([-1, 1], old.shape) * (1 << exponent)
    ends = rng.choice([lo, hi], old.shape)
    ended = rng.random(old.shape) < 0.2
    return np.asarray(np.where(ended, ends, np.clip(old + step, lo, hi)))


def joined(a: Items, b: Items) -> Items:
    """The items of both."""
    return Items(
        {n: np.concatenate([v, b.buffers[n]]) for n, v in a.buffers.items()},
        {n: np.concatenate([v, b.params[n]]) for n, v in a.params.items()},
    )


def _balanced(
    kernel: Kernel, items: Items, patterns: Array, count: int, rng: np.random.Generator
) -> Array:
    """Indices of `count` items: as many of each class, and in it every pattern as evenly as the
    supply allows; in random order."""
    left = np.ones(items.count, dtype=bool)
    members = []
    for name in kernel.class_names:
        mine = left & interp.in_class(kernel, name, items)
        left &= ~mine
        if mine.any():
            members.append(np.flatnonzero(mine))
    share = -(-count // len(members))
    chosen = [m[_evenly(patterns[m], share, rng)] for m in members]
    return rng.permutation(np.concatenate(chosen))[:count]


def _evenly(patterns: Array, count: int, rng: np.random.Generator) -> Array:
    """Indices of `count` entries, taking every distinct value in turn."""
    order = rng.permutation(len(patterns))
    _, group = np.unique(patterns[order], return_inverse=True)
    by_group = np.argsort(group, kind="stable")
    sorted_groups = group[by_group]
    starts = np.searchsorted(sorted_groups, sorted_groups)
    turn = np.arange(len(order)) - starts  # how many of its value come before it
    return np.resize(order[by_group[np.argsort(turn, kind="stable")]], count)
