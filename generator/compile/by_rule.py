# SPDX-License-Identifier: BSD-2-Clause
"""Which variants a kernel gets that no options.toml speaks of: all targets, chosen by rules.

A *slot* is a variant that a target shall have: several options in the order in which they are
tried, of which the first is taken that the back end makes and that no slot before has taken. For
each class

- C;
- vectors and NEON as their rules say, and NEON with dot products as well where there are some. Of
  classes in which a lane computes as much as in `full` not for those of which items are of a class
  before: that one serves. Nor for those that would be longer than any of the library: the loop of
  `full` serves, unless a decoder's entry wants the class or `full` lacks its dot products.

For `full`, and for classes in which a lane computes less than in `full`, by the sum of all stages,
and something at all

- GLSL three times: in words, with elements alone, and in words with other lanes an invocation;
- QPU twice: in words, and with elements alone; once where words change nothing. Where registers do
  for none, values are set aside.

These are the ladder that a tuner climbs: they differ in items a workgroup and in access words, and
one asks nothing of memory's alignment. No model is asked: `tune --apply` does that. The library has
the first of a class, and two of `full`. Classes in which a lane computes as much as in `full` have
what `full` has; but QPU once where they alone have dot products.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from daedalus.dsl.ir import FULL, Kernel, Node, Op, Stage, walk
from daedalus.generator.compile.facts import Facts
from daedalus.generator.options import ITEMS, POINTS, QPU, ROWS, Options, options_of
from daedalus.generator.targets.gpu.device import INVOCATIONS
from daedalus.generator.targets.qpu.machine import LANES

_REGISTER = 16  # bytes
_VECTOR = _REGISTER // 2  # lanes of 16 bits in a register
_HEAVY = 80  # values of a lane from which an invocation of a shader does two of them, else four
# Values of all lanes, one after the other, that a class has at most which `full` can do, too. The
# largest of the library is interpolation both ways, 16 columns by 8 rows: 20,624.
_LONGEST = 21_000
_VALUES = 400  # of a stage's lanes that an element of a QPU does: more rarely has a schedule


@dataclass(frozen=True)
class Slot:
    """A variant that a target shall have.

    prod    whether libdaedalus.a has it
    choices what is tried, in this order
    """

    target: str
    prod: bool
    choices: tuple[Options, ...]


def slots(kernel: Kernel) -> tuple[Slot, ...]:
    """Of all targets and classes; of each target the best come first."""
    facts = Facts(kernel)
    return tuple(s for name in kernel.class_names for s in _of_class(facts, name))


def _of_class(f: Facts, name: str) -> Iterator[Slot]:
    yield Slot("c", True, (options_of("c", name),))
    less = has_ladder(f, name)
    if less or (_apart(f.kernel, name) and _is_worth(f, name)):
        yield from _vectors(f, name)
    if less:
        yield from _shaders(f, name)
    if less or _dots_of_a_class(f, name):
        yield from _machine_code(f, name, ladder=less)


def has_ladder(f: Facts, name: str) -> bool:
    """Whether GPUs have variants for a class: for all items, and where a lane computes less."""
    return name == FULL or 0 < sum(_each_stage(f, name)) < sum(_each_stage(f, FULL))


def _vectors(f: Facts, name: str) -> Iterator[Slot]:
    for target in ("vector", "neon"):
        best = _lanes_filled(f, options_of(target, name))
        plain = options_of(target, name)
        if target == "neon" and f.dots(options_of(target, name, dot=True)):
            yield Slot(target, True, (options_of(target, name, dot=True),))
        yield Slot(target, True, (best, plain))


def _lanes_filled(f: Facts, options: Options) -> Options:
    """Items, else rows, side by side as long as they fit one register."""
    if guarded := _guarded(f, options.with_choice("early_out", True)):
        return guarded
    if f.together(options_of(options.target, options.class_name)):
        fit = [x for x in ITEMS if f.lanes(options.with_choice("items", x)) <= _VECTOR]
        return options.with_choice("items", max(fit, default=1))
    for rows in reversed(ROWS[1:]):
        more = options.with_choice("rows", rows)
        if f.lanes(more) <= _VECTOR and f.rows_change(more):
            return more
    return options


def _guarded(f: Facts, options: Options) -> Options | None:
    """Early exits, and branches where there are some: of so many rows that one register holds their
    samples, else of as few as have an exit in common. None where none have."""
    ways = [w for r in ROWS if f.guarded(w := options.with_choice("rows", r)) and f.rows_change(w)]
    fit = [w for w in ways if f.lanes(w) * f.sample_bytes() <= _REGISTER]
    chosen = next(iter([*fit[::-1], *ways]), None)
    if chosen is None or not f.branches(chosen):
        return chosen
    return chosen.with_choice("branch", True)


def _shaders(f: Facts, name: str) -> Iterator[Slot]:
    first = 2 if _values(f, name) > _HEAVY else 4
    order = (first, *(p for p in (4, 2, 8, 1, 16) if p != first))
    ways = [options_of("glsl", name, points=p) for p in order]
    ways = [w for w in ways if f.points_change(w) and not f.cut_in_vain(w, INVOCATIONS)]
    words = tuple(_dressed(f, w) for w in ways)
    # Where shared memory does not do, with temps in as few words as there are.
    packed = [w for way in ways if f.packs(w := way.with_choice("pack", True))]
    plain = (*ways, *packed)
    yield Slot("glsl", True, words)
    yield Slot("glsl", name == FULL, plain)
    yield Slot("glsl", False, words[1:] + plain)


def _dressed(f: Facts, plain: Options) -> Options:
    """A shader with all that its kernel has a use for."""
    chosen = plain.with_choice("word", f.narrow(read_only=False))
    if chosen.choice("word"):
        chosen = chosen.with_choice("unaligned", f.narrow(read_only=True))
    halves = chosen.with_choice("swar", True)
    if f.pairs(halves):
        return halves
    for word, holds in (("signs", f.compares), ("early_out", f.guarded), ("pack", f.packs)):
        more = chosen.with_choice(word, True)
        chosen = more if holds(more) else chosen
    return chosen


def _machine_code(f: Facts, name: str, *, ladder: bool) -> Iterator[Slot]:
    fits = [p for p in POINTS if p * _values(f, name) <= _VALUES] or [1]
    ways = [
        w for p in POINTS if f.points_change(w := options_of(QPU, name, points=p))
        and not f.cut_in_vain(w, LANES)
    ]  # fmt: skip
    # Where registers do not hold two points, one is tried although its stages are cut.
    ways = [w for w in reversed(ways) if w.choice("points") in fits] or [options_of(QPU, name)]
    words: list[Options] = []
    for way in ways:
        bare = way.with_choice("word", f.narrow(read_only=False))
        bare = bare.with_choice("unaligned", f.narrow(read_only=True))
        more = bare
        for word, holds in (("dot", f.sums_bytes), ("keep", f.keeps), ("shuffle", f.moves)):
            chosen = more.with_choice(word, True)
            if (word != "dot" or not bare.reads_anything) and holds(chosen):
                more = chosen
        words += dict.fromkeys((more, bare))
    words.append(words[-1].with_choice("aside", True))
    yield Slot(QPU, True, tuple(words))
    if not ladder:
        return
    plain = [options_of(QPU, name, points=p) for p in sorted(w.choice("points") for w in ways)]
    half = len(plain) // 2
    aside = plain[0].with_choice("aside", True)
    yield Slot(QPU, name == FULL, (*plain[half:], *reversed(plain[:half]), aside))


def _apart(kernel: Kernel, name: str) -> bool:
    """Whether no item of the class is of one before it."""
    names = kernel.class_names
    before = [kernel.item_class(n) for n in names[: names.index(name)]]
    own = {} if name == FULL else {p: (lo, hi) for p, lo, hi in kernel.item_class(name).when}
    return all(
        any(p in own and (hi < own[p][0] or own[p][1] < lo) for p, lo, hi in c.when) for c in before
    )


def _dots_of_a_class(f: Facts, name: str) -> bool:
    """Whether a QPU has dot products for it that it has not for all items."""
    here, full = (options_of(QPU, c, unaligned=True, dot=True) for c in (name, FULL))
    return f.dots(here) and not f.dots(full)


def _values(f: Facts, name: str) -> int:
    """Values of a lane in the stage that has most."""
    return max(_each_stage(f, name), default=1)


def _is_worth(f: Facts, name: str) -> bool:
    """Whether a class that `full` can do is worth vectors of its own."""
    here, full = (options_of("neon", c, dot=True) for c in (name, FULL))
    dots = f.dots(here) and not f.dots(full)
    return bool(f.kernel.decoders) or dots or _all_values(f, name) <= _LONGEST


def _all_values(f: Facts, name: str) -> int:
    """Values of all lanes, of a panel where an item is cut into them."""
    return sum(
        prod(s.extents.values()) * sum(n.op is not Op.CONST for n in s.nodes())
        for s in f.after(options_of("neon", name), "panels").stages
    )


def _each_stage(f: Facts, name: str) -> list[int]:
    """Values of a lane in each stage that a class has; how far its axes go is not among them."""
    stages = f.after(options_of("glsl", name), "forward").stages
    return [len([*walk(_stored(s))]) for s in stages]


def _stored(stage: Stage) -> list[Node]:
    return [n for s in stage.stores for n in (s.value, s.mask) if n is not None]
