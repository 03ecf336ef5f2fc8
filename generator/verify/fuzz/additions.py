# SPDX-License-Identifier: BSD-2-Clause
"""What is put into a random program once it is written: places that a value decides lane by lane,
stages whose numbers of rows belong together, sums that need more than 32 bits, and stages that
elements of tables decide of (`looked_up.py`).

Each change is kept only if the program stays legal with it.
"""

import random
from collections.abc import Iterator
from dataclasses import replace

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.errors import Loc, SpecError
from daedalus.dsl.ir import Affine, Buffer, Kernel, Node, Op, Param, Stage, u8
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.dsl.verify import verify
from daedalus.generator.verify.fuzz.looked_up import decided_by_tables

_COUNT = "many"  # the parameter that says how many rows there are
_LOC = Loc("", 0)


def with_additions(kernel: Kernel, rng: random.Random) -> Kernel:
    """The program with some of each; itself where nothing can be put in."""
    for chance, add in (
        (0.7, _gather), (0.3, _gather), (0.4, _rows), (0.2, _wide), (0.3, decided_by_tables)
    ):  # fmt: skip
        if rng.random() < chance:
            kernel = next(_legal(add(kernel, rng)), kernel)
    return kernel


def _legal(tries: Iterator[Kernel]) -> Iterator[Kernel]:
    for made in tries:
        try:
            verify(made)
        except SpecError:
            continue
        yield made


# ------------------------------------------------------------------ places by lane


def _gather(kernel: Kernel, rng: random.Random) -> Iterator[Kernel]:
    """The kernel with a value replaced by an element that it names, brought into its range."""
    ranges = Ranges(kernel)
    for _ in range(4):
        number = rng.randrange(len(kernel.stages))
        stage = kernel.stages[number]
        stored = {s.buffer for s in stage.stores}
        buffers = [
            b for b in (*kernel.buffers, *kernel.temps)
            if b.access != "out" and b.name not in stored and b.size > 1
        ]  # fmt: skip
        decide = [n for n in (stage.given, *dict(stage.limits).values()) if n is not None]
        values = [
            n for n in stage.nodes()
            if not n.is_bool and n.op not in (Op.CONST, Op.PARAM) and n not in decide
        ]  # fmt: skip
        if not buffers or not values:
            continue
        value, b = rng.choice(values), rng.choice(buffers)
        made = _replaced(kernel, stage, value, _place(b, stage, rng), ranges.of(value))
        yield _with_stage(kernel, number, made)


Place = tuple[str, tuple[Affine, ...], tuple[tuple[int, int], ...]]


def _place(b: Buffer, stage: Stage, rng: random.Random) -> Place:
    """An index of a buffer of which values decide one axis or two: by these lanes and values, which
    lie in these ranges."""
    index, spans = [], list[tuple[int, int]]()
    by_value = rng.sample(range(len(b.shape)), min(len(b.shape), rng.choice((1, 1, 1, 2))))
    for axis, (lo, hi) in enumerate(b.shape):
        fitting = [(lane, n) for lane, n in stage.dims if n <= hi - lo]
        lane, extent = rng.choice(fitting) if fitting and rng.random() < 0.7 else ("", 1)
        terms = ((lane, 1),) if lane else ()
        if axis not in by_value:
            index.append(Affine(lo + rng.randint(0, hi - lo - extent), terms))
            continue
        name, room = (f"#{len(spans)}", 1), hi - lo - extent
        if rng.random() < 0.5 and not room & (room + 1):
            spans.append((0, room))  # a mask may do it
            index.append(Affine(lo, (*terms, name)))
        else:
            spans.append((lo, lo + room))
            index.append(Affine(0, (*terms, name)))
    return b.name, tuple(index), tuple(spans)


def _replaced(kernel: Kernel, stage: Stage, value: Node, place: Place, r: Interval) -> Stage:
    """The stage with what `value` names at a place instead of the value."""
    builder = Builder({t.name: t for t in kernel.tables})
    name, index, spans = place

    def change(node: Node, args: tuple[Node, ...]) -> Node | None:
        if node is not value:
            return None
        old = builder.make(node.op, args, node.attr, node.loc)
        at = []
        for lo, hi in spans:
            if lo == 0 and not hi & (hi + 1):
                at.append(builder.make(Op.BITAND, (old, builder.const(hi, _LOC)), (), node.loc))
            else:
                at.append(builder.make(Op.CLIP, (old,), (lo, hi), node.loc))
        found = builder.make(Op.LOAD, tuple(at), (name, index), node.loc)
        return builder.make(Op.CLIP, (found,), (r.lo, r.hi), node.loc, node.name)

    return rewrite_stage(stage, builder, change)


# ------------------------------------------------------------------ rows that belong together


def _rows(kernel: Kernel, rng: random.Random) -> Iterator[Kernel]:
    """The kernel with two stages of as many rows as a parameter says, the first with some more."""
    if len(kernel.stages) < 2 or any(b.name == _COUNT for b in kernel.params):
        return
    second = rng.randrange(1, len(kernel.stages))
    first = second - 1
    if any(kernel.stages[n].limits for n in (first, second)):
        return
    axes = [rng.choice(kernel.stages[n].dims) for n in (first, second)]
    most = axes[1][1]
    if most == 1:
        return
    param = Param(_COUNT, u8, rng.choice((0, 1, most // 2)), rng.choice((most, most + 3)), _LOC)
    with_count = replace(kernel, params=(*kernel.params, param))
    with_count = _limited(kernel, with_count, second, axes[1][0], 0)
    for more in (0, 1, 2, 3, 5, 7, 11, 15):
        yield _limited(kernel, with_count, first, axes[0][0], more)


# ------------------------------------------------------------------ sums of more than 32 bits


def _wide(kernel: Kernel, rng: random.Random) -> Iterator[Kernel]:
    """The kernel, declared wide, with a value replaced by a weighted sum of its own and an
    argument's, before a shift to the right; back ends without 64 bits compute it in two parts."""
    if kernel.modular:
        return
    ranges = Ranges(kernel)
    for _ in range(4):
        number = rng.randrange(len(kernel.stages))
        stage = kernel.stages[number]
        values = [
            n for n in stage.nodes()
            if n.op not in (Op.CONST, Op.PARAM) and n.args and not n.is_bool
            and not n.args[0].is_bool and n.args[0].op is not Op.CONST
        ]  # fmt: skip
        if not values:
            continue
        value = rng.choice(values)
        most = [max(map(abs, (r.lo, r.hi, 1))) for r in map(ranges.of, (value, value.args[0]))]
        sums = [rng.uniform(31.0, 34.0) for _ in most]  # bits of each product
        weights = [int(2**s / m) * rng.choice((-1, 1)) for s, m in zip(sums, most, strict=True)]
        if all(abs(w) < 1 << 31 for w in weights):
            shift, rounds = rng.randint(12, 20), rng.random() < 0.5
            made = _summed(kernel, stage, value, weights, shift, rounds, ranges.of(value))
            yield replace(_with_stage(kernel, number, made), wide=True)


def _summed(
    kernel: Kernel, stage: Stage, value: Node, weights: list[int], shift: int, rounds: bool,
    r: Interval,
) -> Stage:  # fmt: skip
    """The stage with (value * weight + argument * weight) >> shift, clipped, for the value."""
    builder = Builder({t.name: t for t in kernel.tables})

    def change(node: Node, args: tuple[Node, ...]) -> Node | None:
        if node is not value:
            return None
        old = builder.make(node.op, args, node.attr, node.loc)
        terms = [
            builder.make(Op.MUL, (x, builder.const(w, _LOC)), (), node.loc)
            for x, w in zip((old, args[0]), weights, strict=True)
        ]
        total = builder.make(Op.ADD, tuple(terms), (), node.loc)
        shifted = builder.make(Op.RSHR if rounds else Op.SHR, (total,), (shift,), node.loc)
        return builder.make(Op.CLIP, (shifted,), (r.lo, r.hi), node.loc, node.name)

    return rewrite_stage(stage, builder, change)


def _limited(before: Kernel, kernel: Kernel, number: int, axis: str, more: int) -> Kernel:
    """The kernel with a stage of as many points of an axis as the parameter says, and some more."""
    builder = Builder({t.name: t for t in kernel.tables})
    stage = rewrite_stage(before.stages[number], builder, lambda node, args: None)
    count = builder.make(Op.PARAM, (), (_COUNT,), _LOC)
    if more:
        count = builder.make(Op.ADD, (count, builder.const(more, _LOC)), (), _LOC)
    return _with_stage(kernel, number, replace(stage, limits=((axis, count),)))


def _with_stage(kernel: Kernel, number: int, stage: Stage) -> Kernel:
    stages = (*kernel.stages[:number], stage, *kernel.stages[number + 1 :])
    return replace(kernel, stages=stages)
