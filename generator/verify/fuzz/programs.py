# SPDX-License-Identifier: BSD-2-Clause
"""Random legal kernels, written through the language's own front door.

`make_program` is a function of its arguments alone. A writer declares buffers,
parameters, tables and temps, then fills stages with operations in the idioms that codecs use and
in others; it knows the interval of every value while it writes, and steers with clips, wraps and
shifts, so that most values lie about the limits of some type.
"""

import random
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

from daedalus.dsl.errors import Loc, SpecError
from daedalus.dsl.ir import (
    DType,
    Kernel,
    Node,
    Op,
    i8,
    i16,
    i32,
    u8,
    u16,
    u32,
    walk,
)
from daedalus.dsl.spec import kernel
from daedalus.dsl.trace import KernelBuilder
from daedalus.dsl.values import BufferRef, TableRef, UpTo, Value
from daedalus.dsl.vectors import make_items
from daedalus.dsl.verify import verify
from daedalus.generator.compile.variants import has_dots
from daedalus.generator.options import NeonOptions, Options, VectorOptions, options_of
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.verify.fuzz.additions import with_additions
from daedalus.generator.verify.fuzz.decided import Decided
from daedalus.generator.verify.fuzz.memory import Places
from daedalus.generator.verify.fuzz.values import Assume, Expressions, GrowingRanges
from daedalus.generator.verify.fuzz.windows import Windows

ATTEMPTS = 60
AXES = ("", "", "v", "h")
_LANES = (8,) * 12 + (4,) * 8 + (16,) * 6 + (32,) * 2 + (1, 2, 3, 5, 6, 7, 12, 13, 20, 31, 37, 64)
_ELEMENTS = (u8,) * 7 + (i16,) * 5 + (i8, u16, i32) * 2 + (u32,)
# Names that generated code is fond of as well.
_NAMES = ("t1", "k4", "z", "row0", "r0", "col1", "multipliers16", "level", "step", "mode", "t0_0")


class Unlucky(Exception):
    """The dice gave a program that cannot become legal; another attempt is made."""


@dataclass(frozen=True)
class Program:
    """A random kernel and the variants that it is to be run with.

    forms  the ways in which the QPU is tried, where they are on record (`qpu.Form`)
    """

    seed: int
    number: int
    kernel: Kernel
    listed: tuple[Options, ...]
    forms: tuple[Any, ...] = ()


class Source(ABC):
    """Where programs come from."""

    @property
    @abstractmethod
    def label(self) -> str:
        """For names of files."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What the command line says for it."""

    @abstractmethod
    def make(self, number: int) -> Program:
        """One of the programs: the same at each call."""


@dataclass(frozen=True)
class Drawn(Source):
    """Programs of a seed; `later` and `every` as make_program() has them."""

    seed: int
    later: bool = True
    every: bool = False

    @property
    def label(self) -> str:
        return str(self.seed) + ("-additions" if self.every else "")

    @property
    def words(self) -> str:
        return f"--seed {self.seed}" + (" --additions" if self.every else "")

    def make(self, number: int) -> Program:
        return make_program(self.seed, number, later=self.later, every=self.every)


def make_program(seed: int, number: int, *, later: bool = True, every: bool = False) -> Program:
    """Program `number` of a seed; verified, and with conformant items.

    Half of the programs draw what the language has got later as well; with `every` all do; without
    `later` none does, and all are what they were before.
    """
    later = later and (every or random.Random(f"{seed}/{number}/later").random() < 0.5)
    for attempt in range(ATTEMPTS):
        rng = random.Random(f"{seed}/{number}/{attempt}")
        try:
            made = drawn_kernel(rng, number, later=later)
            verify(made)
            if later:
                made = with_additions(made, random.Random(f"{seed}/{number}/{attempt}/additions"))
            if made.defaults:  # else whatever is in range is conformant
                make_items(made, 16, 1)
        except Unlucky:
            continue
        except SpecError as e:
            if e.rule != "assumption":  # its assumptions exclude every item
                raise
            continue
        return Program(seed, number, made, _all_options(made, rng))
    raise RuntimeError(f"seed {seed}: no legal program {number} in {ATTEMPTS} attempts")


def drawn_kernel(rng: random.Random, number: int, *, later: bool) -> Kernel:
    """One attempt at a program. Raises Unlucky, or SpecError."""
    axis = rng.choice(AXES)

    def program(k: KernelBuilder) -> None:
        Writer(k, rng, axis, later=later).write()

    program.__name__ = f"fuzz_p{number}"
    program.__doc__ = "A random program."
    spec = kernel(
        clause="nothing: a random program", axes={"orientation": (axis,)} if axis else {}
    )(program)
    try:
        return spec.kernels()[0]
    except Exception as e:
        if isinstance(e.__cause__, Unlucky):
            raise e.__cause__ from None
        raise


def _all_options(made: Kernel, rng: random.Random) -> tuple[Options, ...]:
    """C, NEON and vectors for every class, and some of the other choices."""
    found = [options_of(t, c) for c in made.class_names for t in ("c", "neon")]
    wide = max(s.lanes for s in made.stages) > 16
    found.append(
        options_of("neon", "full", items=rng.choice((2, 2, 2, 2 if wide else 4, 2 if wide else 8)))
    )
    if any(s.mask is not None for s in made.stages[-1].stores):
        found.append(options_of("neon", "full", early_out=True))
        if rng.random() < 0.3:
            found.append(options_of("neon", "full", items=2, early_out=True))
    if any(len(s.dims) > 1 for s in made.stages):
        rows, items = rng.choice((2, 2, 4, 8)), rng.choice((1, 1, 1, 2))
        found.append(options_of("neon", rng.choice(made.class_names), items=items, rows=rows))
    if rng.random() < 0.3:
        early = rng.random() < 0.3 and any(s.mask is not None for s in made.stages[-1].stores)
        found.append(options_of("neon", "full", branch=True, early_out=early))
    for a in made.assumptions:
        if not a.default:
            found += [options_of(t, "full", assume=(a.name,)) for t in ("c", "neon")]
    found += [
        VectorOptions(**{f.name: s.choice(f.name) for f in fields(VectorOptions)})
        for s in found
        if isinstance(s, NeonOptions) and not s.dot
    ]
    found += _dots(made, rng)
    return tuple(dict.fromkeys(found))


def _dots(made: Kernel, rng: random.Random) -> list[Options]:
    """Variants with DOT instructions, where these have something to do."""
    if not any(n.op is Op.DOT for s in made.stages for n in s.nodes()):
        return []
    plain = [options_of("neon", c, dot=True) for c in made.class_names]
    other = options_of(
        "neon", rng.choice(made.class_names), items=rng.choice((1, 2)),
        rows=rng.choice((1, 2, 4)), dot=True, branch=rng.random() < 0.2,
    )  # fmt: skip
    return [s for s in (*plain, other) if has_dots(lower(made, s))]


@dataclass
class _Plane:
    """A buffer that is declared, with what the writer needs to know of it."""

    ref: BufferRef
    swapped: bool


class Writer:
    """Writes one program."""

    def __init__(self, k: KernelBuilder, rng: random.Random, axis: str, *, later: bool) -> None:
        self.k, self.rng, self.axis, self.later = k, rng, axis, later
        self.names = list(_NAMES)
        rng.shuffle(self.names)
        self.inputs: list[_Plane] = []
        self.outputs: list[_Plane] = []
        self.temps: list[list[_Plane]] = []  # per stage that writes them
        self.tables: list[TableRef] = []
        self.params: list[Value] = []
        self.assumptions: list[Assume] = []
        self.decided = Decided(k, rng, self.params)
        self.windows = Windows(k, rng, on=not axis)

    def write(self) -> None:
        stages = self._dims()
        self._declare(stages)
        k = self.k
        declared = Kernel(
            k.id, "fuzz", "", "", Loc("", 0), tuple(k._buffers), tuple(k._params),
            tuple(k._tables.values()), tuple(k._temps), tuple(k._assumptions), (), (),
        )  # fmt: skip
        self.ranges = GrowingRanges(declared)
        self.places = Places(declared, self.rng)
        for number, dims in enumerate(stages):
            self._stage(number, dims, last=number == len(stages) - 1)
        stored = {s.buffer for stage in self.k._stages for s in stage.stores}
        needed = {b.name for b in (*self.k._buffers, *self.k._temps) if b.access != "in"}
        if not needed <= stored:
            raise Unlucky

    # ------------------------------------------------------------------ declarations

    def _dims(self) -> list[dict[str, int]]:
        """The lane domains of all stages."""
        rng, out = self.rng, []
        lane_counts = self.windows.LANES if self.windows.on else _LANES
        lanes = rng.choice(lane_counts)
        many = rng.choice((1, 1, 1, 1, 2, 2, 2, 2, 3, 3))
        for n in range(many):
            if n + 1 < many and rng.random() < 0.08:
                out.append({"i": 1})  # what every lane of a later stage then sees
                continue
            if rng.random() < 0.35:
                lanes = rng.choice(lane_counts)
            if rng.random() < 0.22:
                few = min(lanes, rng.choice((2, 4, 4, 8, 8, 16)))
                out.append({"y": rng.choice((1, 2, 2, 3, 4, 4, 8)), "x": few})
            else:
                out.append({rng.choice(("i", "x", "n", "v")): lanes})
        return out

    def _declare(self, stages: list[dict[str, int]]) -> None:
        rng, k = self.rng, self.k
        for n in range(rng.choice((1, 1, 1, 2, 2, 3))):
            access = "inout" if rng.random() < 0.15 else "in"
            made = self._buffer(f"src{n}", rng.choice(stages), access)
            self.inputs.append(made)
            if access == "inout":
                self.outputs.append(made)
        for n in range(rng.choice((1, 1, 1, 2))):
            access = rng.choice(("out", "inout", "inout"))
            made = self._buffer(f"dst{n}", rng.choice((stages[-1], stages[-1], *stages)), access)
            self.outputs.append(made)
            if access == "inout":
                self.inputs.append(made)
        for _ in range(rng.choice((0, 0, 1, 1, 2, 3))):
            t = rng.choice((u8, u8, u8, i8, i16, u16, i32))
            lo, hi = sorted((self._within(t), self._within(t)))
            self.params.append(k.param(self.names.pop(), t, lo, hi))
        self.decided.declare()
        self.windows.declare(stages)
        for _ in range(rng.choice((0, 0, 0, 1, 2))):
            self._table(self.names.pop())
        for n in range(rng.choice((0, 0, 0, 1, 1, 2))):
            t = rng.choice((i16, i16, u16, i8, u8, i32))
            lo, hi = (t.lo, t.hi) if rng.random() < 0.6 else (t.lo // 3, t.hi // 2)
            state = k.assumption(f"fact{n}", lo, hi, why="random", default=rng.random() < 0.5)
            self.assumptions.append((state, lo, hi))
        for before, after in pairwise(stages):
            many = rng.choice((1, 1, 1, 2))
            first = sum(map(len, self.temps))
            self.temps.append([self._temp(f"tmp{first + m}", before, after) for m in range(many)])
        self._classes()

    def _within(self, t: DType) -> int:
        """A bound for values of a type: often an end, often small."""
        rng = self.rng
        return rng.choice((t.lo, t.hi, t.hi, max(t.lo, 0), rng.randint(t.lo, t.hi), t.hi // 2,
                           rng.randint(0, 15)))  # fmt: skip

    def _buffer(self, name: str, dims: dict[str, int], access: str) -> _Plane:
        rng, k = self.rng, self.k
        t = rng.choice(_ELEMENTS)
        lo, hi = t.lo, t.hi
        if rng.random() < 0.35:
            lo, hi = sorted((self._within(t), self._within(t)))
            hi = min(max(hi, lo + 1), t.hi)
            lo = min(lo, hi - 1)
        n = list(dims.values())
        lanes, outer = n[-1], n[0] if len(n) > 1 else 1
        few = rng.choice((1, 2, 3, 4, 4, 8, 8, 8, 9, 16))
        more = rng.choice((0, 0, 0, 1, 3))
        if rng.random() < 0.55:
            rows, cols = rng.choice(
                ((few * outer, lanes + more), (max(lanes, outer) + more, few * outer),
                 (lanes + more, max(lanes, outer)))
            )  # fmt: skip
            box = []
            for size in (rows, cols):
                first = -rng.choice((0, 0, size // 2, 1, size))
                box.append((first, first + size))
            swapped = self.axis == "h"
            a, b = box[::-1] if swapped else box
            across, along, rows_, cols_ = (a, b, None, None) if self.axis else (None, None, a, b)
            made = k.plane(
                name, t, access=access, lo=lo, hi=hi, across=across, along=along, rows=rows_,
                cols=cols_, owns=self._owned(tuple(box)) if access != "in" else None,
            )  # fmt: skip
            return _Plane(made, swapped)
        shape = rng.choice(
            ((lanes * few + more,), (lanes, few * outer), (few * outer, lanes + more),
             (outer, lanes, few), (2, lanes, 2), (outer, few, lanes))
        )  # fmt: skip
        return _Plane(k.block(name, t, shape, access=access, lo=lo, hi=hi), False)

    def _owned(
        self, box: tuple[tuple[int, int], ...]
    ) -> str | tuple[tuple[int, int], tuple[int, int]] | None:
        chance = self.rng.random()
        if chance < 0.5:
            return None
        if chance < 0.8:
            return "all"
        own = []
        for lo, hi in box:
            first = lo + (self.rng.randint(0, 1) if hi - lo > 2 else 0)
            own.append((first, hi - (self.rng.randint(0, 1) if hi - first > 2 else 0)))
        return own[0], own[1]

    def _temp(self, name: str, before: dict[str, int], after: dict[str, int]) -> _Plane:
        """A temp that the stage before can fill, and the stage after likes to read."""
        rng = self.rng
        n, other = list(before.values()), list(after.values())[-1]
        c = other if other <= 8 and rng.random() < 0.75 else rng.choice((1, 2, 3, 4))
        if len(n) > 1:
            shape = rng.choice(((*n,), (*n, min(c, 4)), (n[0] * n[1],), (n[1], n[0])))
        else:
            shape = rng.choice(
                ((n[0], c), (n[0], c), (c, n[0]), (c, n[0]), (n[0],), (n[0], 1, min(c, 4)))
            )
        return _Plane(self.k.temp(name, shape, init=self.decided.first_value()), False)

    def _table(self, name: str) -> None:
        rng = self.rng
        t = rng.choice((i8, i8, i16, i16, u8, u16, i32))
        width = rng.choice((t.hi, t.hi, 15, 127, 64))

        def entry() -> int:
            return min(max(rng.randint(-width if t.signed else 0, width), t.lo), t.hi)

        if rng.random() < 0.4:
            rows: list[int | list[int]] = [entry() for _ in range(rng.randint(1, 9))]
        else:
            taps = rng.choice((1, 2, 3, 4, 8))
            rows = [[entry() for _ in range(taps)] for _ in range(rng.randint(1, 6))]
        self.tables.append(self.k.table(name, t, rows))

    def _classes(self) -> None:
        """Item classes by a parameter, with zero regions in blocks."""
        rng = self.rng
        # Any block that a stage reads: also those that it rewrites.
        blocks = [p.ref.decl for p in self.inputs if p.ref.decl.kind == "block"]
        blocks = [b for b in blocks if b.lo <= 0 <= b.hi]
        if rng.random() < (0.2 if not blocks else 0.7):
            lo, hi = 0, rng.choice((3, 8, 64))
            mode = self.k.param("mode" if "mode" in self.names else "sel", u8, lo, hi)
            if "mode" in self.names:
                self.names.remove("mode")
            if rng.random() < 0.6:
                self.params.append(mode)
            name = mode.node.attr[0]
            first = 0
            for n in range(rng.choice((1, 1, 2))):
                zero = {
                    b.name: tuple(rng.randint(0 if rng.random() < 0.1 else 1, e) for e in b.extents)
                    for b in blocks
                    if rng.random() < 0.8
                }
                last = rng.randint(first, min(first + 1, hi - 1))
                when: dict[str, Any] = {name: (first, last)}
                self.k.item_class(f"part{n}", nonzero=zero, **when)
                first = last + 1
                if first >= hi:  # some value stays for items of no class
                    break

    # ------------------------------------------------------------------ stages

    def _stage(self, number: int, dims: dict[str, int], *, last: bool) -> None:
        rng = self.rng
        given, axes = None, dict[str, int | UpTo](dims)
        if last or all(t.ref.decl.init is not None for t in self.temps[number]):
            given, axes = self.decided.domain(self.ranges, dims)
        with self.k.stage(given=given, **axes):
            self.places.enter(dims)
            self.ranges.enter(dims)
            x = Expressions(self.k, self.ranges, rng, later=self.later)
            x.tables, x.assumptions = self.tables, self.assumptions
            x.uniform = [*self.params]
            readable = [*self.inputs]
            temps = [t for group in self.temps[:number] for t in group]
            if temps:
                readable = [*temps, *temps, *self.temps[number - 1] * 2, *readable]
            written = [p.ref.decl.name for p in self.outputs]
            for p in self._some(readable):
                self._loads(x, p, steady=p.ref.decl.name in written)
            self.decided.values(x, dims)
            if not x.ints:
                raise Unlucky
            outer = next(iter(dims.values())) if len(dims) > 1 else 1
            many = max(2, rng.choice((2, 5, 8, 12, 20, 30)) // outer)
            x.grow(many // 2)
            self.windows.values(x, self.places, dims, self.decided)
            x.grow(many - many // 2)
            targets = self.temps[number] if not last else [
                p for p in self.outputs if rng.random() < 0.9
            ]  # fmt: skip
            if not last and rng.random() < 0.3:
                targets = [*targets, rng.choice(self.outputs)]
            if temps and rng.random() < 0.2:
                targets = [*targets, rng.choice(temps)]
            stored = sum(self._stores(x, p, outer) for p in targets)
            if not stored:
                raise Unlucky
        self.places.leave(self.k._stages[-1])
        self.ranges.extend(self.k._stages[-1])

    def _some(self, readable: list[_Plane]) -> list[_Plane]:
        rng = self.rng
        chosen = [rng.choice(readable) for _ in range(rng.choice((1, 2, 2, 3)))]
        return list({p.ref.decl.name: p for p in chosen}.values())

    def _loads(self, x: Expressions, p: _Plane, *, steady: bool) -> None:
        decl, rng = p.ref.decl, self.rng
        if decl.access == "out":
            return
        many = rng.choice((1, 2, 2, 3, 4, 4, 8))
        for key in self.places.reads(decl, many, steady=steady):
            where = self.decided.place(x, self.places, decl, key) or key
            value = p.ref[where[::-1] if p.swapped else where]
            x.add(value)
            if not any(a.terms for a in value.node.index):
                x.uniform.append(value)

    def _stores(self, x: Expressions, p: _Plane, outer: int) -> int:
        """Stores into one buffer; how many there were."""
        decl, rng = p.ref.decl, self.rng
        merged = self.decided.accumulate(x, self.places, p.ref)
        if merged:
            return merged
        many = rng.choice((1, 1, 2, 4, 4, 8, 8, 3)) if decl.kind != "temp" else 99
        keys = self.places.writes(decl, max(1, many // outer), whole=decl.kind == "temp")
        mask = x.mask() if rng.random() < 0.4 else self.decided.side(x, self.places)
        done = 0
        for key, flat in keys:
            value = x.wanted(decl)
            if value is None:
                continue
            where = key[::-1] if p.swapped else key
            if mask is not None and self.places.may_mask(decl, flat):
                if rng.random() < 0.2:
                    other = x.mask()
                    mask = mask & other if other is not None else mask
                with self.k.when(mask):
                    p.ref[where] = value
            else:
                p.ref[where] = value
            done += 1
        return done


def operations(made: Kernel) -> int:
    """How many operations a program has, leaves apart."""
    nodes: set[Node] = {n for s in made.stages for n in walk(s.roots())}
    return sum(1 for n in nodes if n.args)
