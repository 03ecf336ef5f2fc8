# SPDX-License-Identifier: BSD-2-Clause
"""What a variant in machine code is made of: text, words, and what the runtime fills in."""

from dataclasses import dataclass

from daedalus.dsl.ir import Kernel
from daedalus.generator.targets.gpu.record import Record
from daedalus.generator.targets.qpu.compile import Code
from daedalus.generator.targets.qpu.depend import is_address
from daedalus.generator.targets.qpu.estimate import clocks
from daedalus.generator.targets.qpu.forms import forms
from daedalus.generator.targets.qpu.item import RECORDS
from daedalus.generator.targets.qpu.select import Selected
from daedalus.generator.targets.qpu.slot import Slot
from daedalus.generator.targets.qpu.temps import SPACE as SCRATCH
from daedalus.generator.targets.qpu.text import Assembly, assembly
from daedalus.generator.targets.qpu.virtual import Uniform
from daedalus.generator.targets.qpu.words import words

_ALIGN = 4  # words that a table begins at a multiple of: a lookup reads as many at most


@dataclass(frozen=True)
class Word:
    """A word of the uniform stream, as daedalus_qpu_uniform has it.

    kind   without its prefix DAEDALUS_QPU_
    index  of the kernel's buffers
    says   what it is, for people
    """

    kind: str
    index: int
    value: int
    says: str

    @property
    def bits(self) -> int:
        """What stands in its place before the runtime has filled it in."""
        return self.value if self.kind == "CONSTANT" else 0


@dataclass(frozen=True)
class Figures:
    """Of a program, and of a trip of its loop with loop control.

    bound    instructions that a trip takes at least, by its operations
    an_item  instructions of a trip, by the items of a trip
    lookups  that a trip starts, of so many words that are loaded and stored
    nops     instructions of a trip in which neither ALU does anything
    clocks   of the GPU that an item takes at most, about (estimate.py)
    """

    instructions: int
    trip: int
    bound: int
    an_item: float
    registers: int
    threads: int
    loads: int
    loaded_words: int
    stores: int
    stored_words: int
    nops: int
    clocks: int

    @property
    def lookups(self) -> int:
        return self.loads + self.stores


@dataclass(frozen=True)
class Emitted:
    """Machine code and what the runtime has to know of it (daedalus_qpu_code).

    lines   the assembly, an instruction or a label a line
    forms   names of DAEDALUS_QPU_FORM_* without the prefix
    """

    lines: tuple[str, ...]
    words: tuple[int, ...]
    uniforms: tuple[Word, ...]
    record: Record
    constants: tuple[int, ...]
    align: tuple[int, ...]
    items: int
    scratch_bytes: int
    forms: tuple[str, ...]
    figures: Figures


def emit(kernel: Kernel, selected: Selected, code: Code) -> Emitted:
    """A scheduled program as the runtime gets it: assembled, and validated strictly."""
    made = assembly(code)
    uncertain = forms(code)
    constants, places = _constants(code.program.tables)
    uniforms = tuple(_word(kernel, u, places) for u in made.uniforms)
    return Emitted(
        tuple(made.text.splitlines()[1:]),
        tuple(words(made, flags_stay="FLAGS_SWITCH" in uncertain)),
        uniforms,
        selected.record,
        constants,
        selected.align,
        selected.items,
        selected.scratch + code.program.aside,
        uncertain,
        _figures(made, code, selected, kernel),
    )


def _constants(tables: dict[str, tuple[int, ...]]) -> tuple[tuple[int, ...], dict[str, int]]:
    """The tables one behind the other, and where each begins, in bytes."""
    words: list[int] = []
    places = {}
    for name, entries in tables.items():
        words += [0] * (-len(words) % _ALIGN)
        places[name] = 4 * len(words)
        words += entries
    return tuple(words), places


def _word(kernel: Kernel, u: Uniform, tables: dict[str, int]) -> Word:
    if u.kind == "constant":
        return Word("CONSTANT", 0, u.bits, u.name)
    if u.kind == "table":
        return Word("TABLE", 0, tables[u.name], f"address of the table {u.name}")
    fixed = {
        RECORDS: ("RECORDS", "address of the first record"),
        "items": ("ITEMS", "how many records"),
        "threads": ("THREADS", "how many threads"),
        SCRATCH: ("SCRATCH", "address of scratch memory"),
    }
    names = [b.name for b in kernel.buffers]
    if u.name in names:
        return Word("BASE", names.index(u.name), 0, f"address of {u.name}")
    if u.name.removesuffix("_stride") in names:
        name = u.name.removesuffix("_stride")
        return Word("STRIDE", names.index(name), 0, f"bytes from a row of {name} to the next")
    kind, says = fixed[u.name]
    return Word(kind, 0, 0, says)


def _figures(made: Assembly, code: Code, selected: Selected, kernel: Kernel) -> Figures:
    assert code.loop is not None
    align = dict(zip((b.name for b in kernel.buffers), selected.align, strict=True))
    slots = code.loop.schedule.slots
    starts = [n for slot in slots for n in slot.nodes() if is_address(n)]
    stored = sum(1 for slot in slots for n in slot.nodes() if n.store and not is_address(n))
    return Figures(
        instructions=made.instructions,
        trip=made.trip,
        bound=made.bound,
        an_item=round(made.trip / selected.items, 1),
        registers=made.live,
        threads=made.threads,
        loads=sum(not n.store for n in starts),
        loaded_words=sum(n.words for n in starts),
        stores=sum(n.store for n in starts),
        stored_words=stored,
        nops=sum(_idle(slot) for slot in slots),
        clocks=clocks(code.program, align, selected.items, made.trip),
    )


def _idle(slot: Slot) -> bool:
    return not slot.placed and not slot.wait and not slot.branch
