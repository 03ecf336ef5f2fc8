# SPDX-License-Identifier: BSD-2-Clause
"""Runs selected programs on items: lays buffers out in device memory, gathers records, fills the
uniforms, and reads back what the program stored."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from daedalus.dsl import interp, vectors
from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import Kernel
from daedalus.generator.compile import layout
from daedalus.generator.options import Options
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.gpu.record import INDEX
from daedalus.generator.targets.qpu.best import compile_best
from daedalus.generator.targets.qpu.compile import Code
from daedalus.generator.targets.qpu.interpret import Memory, interpret
from daedalus.generator.targets.qpu.select import Selected, select_for
from daedalus.generator.targets.qpu.temps import SPACE
from daedalus.generator.targets.qpu.text import Assembly, assembly
from daedalus.generator.targets.qpu.virtual import Program, Uniform
from daedalus.generator.targets.qpu.words import execute, words
from daedalus.generator.targets.shell import meta_fields

_FIRST = 0x100000  # of the addresses
_GAP = 0x1000
_WITHOUT = 32  # items that a buffer is withheld from

# Runs programs that compute the same: (programs, memory, words of its uniforms, threads).
Run = Callable[[Sequence[Program], Memory, dict[Uniform, int], int], object]


def interpreted(
    programs: Sequence[Program], memory: Memory, uniforms: dict[Uniform, int], threads: int
) -> int:
    """Runs all of them on the interpreter; what the last leaves, all must. Returns its trips."""
    before, found, trips = memory.copy(), [], 0
    scratch = uniforms.get(Uniform("value", SPACE))  # what forms set aside there is their own
    for program in programs:
        for at, data in before.buffers.items():
            memory.buffers[at][:] = data
        trips = interpret(program, memory, uniforms, threads)
        left = {at: data.tobytes() for at, data in memory.buffers.items() if at != scratch}
        found.append(left)
    if any(x != found[-1] for x in found):
        raise ValueError(f"{programs[0].name}: its forms differ")
    return trips


def selected(kernel: Kernel, options: Options, *, always_pairs: bool = False) -> Selected:
    """The program of a variant for the QPU; `always_pairs`: also where pairs are no gain."""
    name = f"{kernel.id}__{options.name}"
    return select_for(lower(kernel, options), name, options, always_pairs=always_pairs)


@dataclass(frozen=True)
class Loaded:
    """A batch in device memory: what a run needs, and where buffers begin."""

    memory: Memory
    uniforms: dict[Uniform, int]
    at: dict[str, int]


def loaded(s: Selected, placed: layout.Placed, chosen: Array, threads: int) -> Loaded:
    """The items `chosen`, in that order, as the runtime would pass them to so many threads."""
    _, meta_size = meta_fields(placed.kernel)
    meta = np.frombuffer(placed.meta, "<u4").reshape(-1, meta_size // 4)
    buffers = ((b.buffer.name, b.bytes, b.origin, b.stride) for b in placed.buffers)
    return in_memory(s, buffers, meta, chosen, threads)


def in_memory(
    s: Selected, buffers: Iterable[tuple[str, Array, int, int]], meta: Array, chosen: Array,
    threads: int,
) -> Loaded:  # fmt: skip
    """The same of buffers: name, bytes, byte of element 0 and stride; and the words of metas."""
    memory, at = Memory(), _FIRST
    words: dict[str, int] = {"items": len(chosen), "threads": threads}
    starts: dict[str, int] = {}

    def add(data: Array) -> int:
        nonlocal at
        here = at
        memory.buffers[here] = data
        at += -(-(len(data) + 1) // _GAP) * _GAP + _GAP
        return here

    for name, data, origin, stride in buffers:
        image = np.zeros(-(-len(data) // 4) * 4, np.uint8)  # words that hold a byte of an item
        image[: len(data)] = data
        starts[name] = add(image)
        words[name] = starts[name] + origin
        words[f"{name}_stride"] = stride
    columns = [chosen.astype(np.uint32) if w == INDEX else meta[chosen, w] for w in s.record.words]
    words["records"] = add(np.stack(columns, axis=1).astype("<u4").reshape(-1).view(np.uint8))
    scratch = s.scratch + max(p.aside for p in s.programs)
    if scratch:
        words["scratch"] = add(np.full(scratch * threads, 0xA5, np.uint8))
    uniforms = {Uniform("value", n): w & 0xFFFFFFFF for n, w in words.items()}
    for name, entries in s.programs[0].tables.items():
        uniforms[Uniform("table", name)] = add(np.array(entries, "<u4").view(np.uint8))
    return Loaded(memory, uniforms, starts)


@dataclass
class Outcome:
    """Counts of a trial, and what was wrong first."""

    items: int = 0
    conformant: int = 0
    mismatches: int = 0
    strayed: int = 0
    trips: int = 0
    first: str = ""

    @property
    def good(self) -> bool:
        return self.conformant > 0 and not self.mismatches and not self.strayed


def trial(
    kernel: Kernel, options: Options, items: Items, seed: int, *, threads: int = 2,
    upwards: bool = False, lying: bool = False, withheld: str = "", run: Run = interpreted,
    s: Selected | None = None,
) -> Outcome:  # fmt: skip
    """Runs a variant's program on items and compares with the reference interpreter.

    threads   that the batches are divided among; no more than there are, as the runtime has it
    lying     also items that are not of the variant's class
    withheld  a buffer that has no memory
    """
    s = s or selected(kernel, options)
    rng = np.random.default_rng(seed)
    align = dict(zip((b.name for b in kernel.buffers), s.align, strict=True))
    placed = layout.place(kernel, items, rng, upwards=upwards, withheld=withheld, align=align)
    result = interp.run(kernel, placed.items)
    mine = interp.in_class(kernel, options.class_name, placed.items)
    if lying:
        mine = np.ones_like(mine)
    chosen = rng.permutation(np.flatnonzero(mine))
    if not len(chosen):
        return Outcome()
    threads = min(threads, -(-len(chosen) // s.items))
    here = loaded(s, placed, chosen, threads)
    before = here.memory.copy()
    trips = run(s.programs, here.memory, here.uniforms, threads)
    assume = kernel.defaults | set(options.assume)
    conformant = (
        result.conformant(assume) & interp.in_class(kernel, options.class_name, placed.items)
    )[chosen]
    out = Outcome(len(chosen), int(conformant.sum()), trips=trips if isinstance(trips, int) else 0)
    wrong_items = np.zeros(len(chosen), bool)
    for b in placed.buffers:
        start = here.at[b.buffer.name]
        image = here.memory.buffers[start]
        old = before.buffers[start]
        got = image[: len(b.bytes)].view(layout.numpy_type(b.buffer))
        was = old[: len(b.bytes)].view(layout.numpy_type(b.buffer))
        allowed = layout.may_write(kernel, b)
        others = np.setdiff1d(np.arange(placed.items.count), chosen)
        if b.buffer.name != withheld:
            allowed[b.where[others].ravel()] = False
        stray = (got != was) & ~allowed
        out.strayed += int(stray.sum()) + int((image != old)[len(b.bytes) :].sum())
        if stray.any() and not out.first:
            out.first = f"{b.buffer.name}: element {int(np.argmax(stray))} changed"
        if b.buffer.access == "in":
            continue
        want = result.buffers[b.buffer.name][chosen]
        have = got[b.where[chosen]].astype(np.int64)
        wrong = (want != have) & conformant.reshape(-1, *[1] * (want.ndim - 1))
        if wrong.any() and not out.first:
            place = tuple(int(p) for p in np.argwhere(wrong)[0])
            out.first = (
                f"{b.buffer.name}{list(place)}: expected {want[place]}, got {have[place]};"
                f" {int(wrong.sum())} elements"
            )
        wrong_items |= wrong.reshape(len(chosen), -1).any(axis=1)
    out.mismatches = int(wrong_items.sum())
    return out


def trials(
    kernel: Kernel, options: Options, count: int, seed: int = 1, run: Run = interpreted, *,
    s: Selected | None = None, threads: int = 2,
) -> list[tuple[str, Outcome]]:  # fmt: skip
    """Trials with items of every kind."""
    s = s or selected(kernel, options)
    out = []
    for kind, share in (("conformant", 1.0), ("boundary", 0.2), ("hostile", 0.2)):
        items = vectors.make_items(kernel, max(16, int(count * share)), seed, kind)
        one = trial(
            kernel, options, vectors.in_range(kernel, items), seed,
            upwards=kind == "boundary", lying=kind == "hostile",
            run=run, s=s, threads=threads,
        )  # fmt: skip
        out.append((kind, one))
        if kind == "conformant":
            for name, spared in interp.untouched(kernel, items).items():
                some = items.take(np.flatnonzero(spared)[:_WITHOUT])
                if some.count:
                    one = trial(
                        kernel, options, some, seed, withheld=name, run=run, s=s, threads=threads
                    )
                    out.append((f"{name} withheld", one))
    return out


class Scheduled:
    """Runs programs as scheduled code, on the simulator, strictly.

    threads  of a QPU
    compiler  of programs that compute the same, for so many threads
    flags_stay  whether the code may count on flags at thread switches
    """

    def __init__(
        self, threads: int = 2, compiler: Callable[[Sequence[Program], int], Code] = compile_best,
        *, flags_stay: bool = True,
    ) -> None:  # fmt: skip
        self._threads, self._compiler, self._flags_stay = threads, compiler, flags_stay
        self.code: dict[str, Assembly] = {}

    def __call__(
        self, programs: Sequence[Program], memory: Memory, uniforms: dict[Uniform, int],
        threads: int,
    ) -> None:  # fmt: skip
        name = programs[0].name
        if name not in self.code:
            made = assembly(self._compiler(programs, self._threads))
            words(made, flags_stay=self._flags_stay)
            self.code[name] = made
        there = Memory({at: data for at, data in memory.buffers.items() if len(data)})
        execute(self.code[name], there, uniforms, threads)
