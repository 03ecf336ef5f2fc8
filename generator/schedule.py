# SPDX-License-Identifier: BSD-2-Clause
"""What may vary without changing results, and the names of the variants that follow.

A schedule's name is a function of its choices, and `parse_variant` reads it back.
"""

import re
from dataclasses import dataclass

QPU = "qpu"  # machine code of V3D 7.1
TARGETS = ("c", "vector", "neon", "glsl", QPU)
GPU_TARGETS = ("glsl", QPU)
CPU_TARGETS = ("c", "vector", "neon")
VECTOR_TARGETS = ("vector", "neon")  # registers of lanes, lowered alike
PLAIN_TARGETS = ("c", "neon")  # what a kernel gets that no schedules.toml speaks of
ITEMS = (1, 2, 4, 8)  # what a vector's lanes can be divided into
ROWS = (1, 2, 4, 8)
POINTS = (1, 2, 4, 8, 16)  # of a stage's domain, one invocation of a GPU

GPU_FLAGS = ("word", "shift", "swar", "mask", "pack")  # words of a GLSL schedule
# Words of its schedules.
QPU_FLAGS = ("word", "shift", "pack", "dot", "pair", "shuffle", "line", "unifa", "t4")
THREADS = (2, 4)  # that a QPU runs at once


@dataclass(frozen=True, order=True)
class Schedule:
    """One point of the tuning space.

    target      back end; portable C has no choices but the class and the assumptions
    class_name  the items' class it is specialised for
    items       items side by side in a vector, one of ITEMS
    rows        points of the next outer axis side by side in a vector, one of ROWS
    assume      assumptions taken for granted beyond the standard's, in alphabetical order
    dot         dot products with taps of 8 bits by the DOT instructions
    branch      skip what only some lanes want where no lane wants it
    early_out   skip the rest of an item when no lane of it stores anything; of a GPU, the stores
    points      points of a stage that one invocation does, one of POINTS
    word        words of 32 bits where memory is aligned, instead of elements
    shift       the same, but planes that are only read may lie anywhere
    swar        sums of bytes that two points make alike are made in the halves of one word
    mask        conditions as integers, of which the sign counts
    pack        several elements of a temp in a word of shared memory, where their range allows
    pair        neighbouring elements as two halves of a register
    shuffle     temps in registers that move between the elements of the QPU which do an item
    line        neighbouring elements of the QPU read blocks together, and words move between them
    unifa       the record of an item that all elements of a batch do is read once for all of them
    t4          four threads a QPU, with half the registers each, instead of two
    """

    target: str
    class_name: str = "full"
    items: int = 1
    rows: int = 1
    assume: tuple[str, ...] = ()
    dot: bool = False
    branch: bool = False
    early_out: bool = False
    points: int = 1
    word: bool = False
    shift: bool = False
    swar: bool = False
    mask: bool = False
    pack: bool = False
    pair: bool = False
    shuffle: bool = False
    line: bool = False
    unifa: bool = False
    t4: bool = False

    @property
    def threads(self) -> int:
        """That a QPU runs at once, one of THREADS."""
        return THREADS[self.t4]

    @property
    def needs(self) -> tuple[str, ...]:
        """What a processor must have beyond the target itself."""
        return ("dotprod",) if self.dot and self.target != QPU else ()

    @property
    def reads_anything(self) -> bool:
        """Whether memory that is aligned to elements alone will do."""
        return not (self.word or self.shift)

    @property
    def plain(self) -> bool:
        """Whether it is machine code for all items and any memory, and without words: every kernel
        has such variants, and one of them has no uncertain forms (targets/qpu/forms.py)."""
        return self == Schedule(QPU, points=self.points)

    @property
    def name(self) -> str:
        """For instance `neon_full_x2_r2_givensum16_early`."""
        parts = [self.target, self.class_name]
        if self.items > 1:
            parts.append(f"x{self.items}")
        if self.rows > 1:
            parts.append(f"r{self.rows}")
        if self.points > 1:
            parts.append(f"p{self.points}")
        parts += [f"given{a}" for a in self.assume]
        if self.dot:
            parts.append("dot")
        if self.branch:
            parts.append("branch")
        if self.word:
            parts.append("word")
        if self.shift:
            parts.append("shift")
        if self.swar:
            parts.append("swar")
        if self.mask:
            parts.append("mask")
        if self.pack:
            parts.append("pack")
        if self.pair:
            parts.append("pair")
        if self.shuffle:
            parts.append("shuffle")
        if self.line:
            parts.append("line")
        if self.unifa:
            parts.append("unifa")
        if self.early_out:
            parts.append("early")
        if self.t4:
            parts.append("t4")
        return "_".join(parts)


_VARIANT = re.compile(r"daedalus_(?P<kernel>[a-z0-9_]+?)__(?P<schedule>[A-Za-z0-9_]+)")


def variant_name(kernel_id: str, schedule: Schedule) -> str:
    """The name of the variant: its function's, its file's and the tables'."""
    return f"daedalus_{kernel_id}__{schedule.name}"


def parse_variant(name: str) -> tuple[str, Schedule]:
    """The kernel and the schedule that a variant's name stands for.

    Raises ValueError for a text that is no variant's name.
    """
    match = _VARIANT.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is not the name of a variant: daedalus_<kernel>__<schedule>")
    target, *rest = match["schedule"].split("_")
    if target not in TARGETS or not rest:
        raise ValueError(
            f"{name!r}: the schedule begins with a target ({', '.join(TARGETS)}) and a class"
        )
    numbers, assume, flags = {"x": 1, "r": 1, "p": 1}, [], set()
    for word in rest[1:]:
        if re.fullmatch(r"[xrp][1-9][0-9]*", word):
            numbers[word[0]] = int(word[1:])
        elif word in ("dot", "branch", *GPU_FLAGS, *QPU_FLAGS, "early"):
            flags.add(word)
        elif word.startswith("given") and word != "given":
            assume.append(word[5:])
        else:
            raise ValueError(f"{name!r}: unknown choice {word!r}")
    items, rows, points = numbers.values()
    if items not in ITEMS:
        raise ValueError(f"{name!r}: {items} items side by side; possible are {ITEMS[1:]}")
    if rows not in ROWS:
        raise ValueError(f"{name!r}: {rows} rows side by side; possible are {ROWS[1:]}")
    if points not in POINTS:
        raise ValueError(f"{name!r}: {points} points an invocation; possible are {POINTS[1:]}")
    if target == "c" and (items > 1 or rows > 1 or points > 1 or flags):
        raise ValueError(f"{name!r}: portable C has one lane at a time and no early-out")
    if target == QPU and (items > 1 or rows > 1 or flags - set(QPU_FLAGS)):
        raise ValueError(f"{name!r}: the QPU has p, {', '.join(QPU_FLAGS)} and given")
    if target == "vector" and "dot" in flags:
        raise ValueError(f"{name!r}: portable C in vectors has no dot, which is an instruction")
    own = {"dot", "branch", "early"} if target in VECTOR_TARGETS else {*GPU_FLAGS, "early"}
    foreign = flags - own
    if (target in VECTOR_TARGETS and (points > 1 or foreign)) or (
        target == "glsl" and (items > 1 or rows > 1 or foreign)
    ):
        raise ValueError(
            f"{name!r}: x, r, dot and branch are for vectors, p, {', '.join(GPU_FLAGS)} GLSL's,"
            " pair the QPU's"
        )
    schedule = Schedule(
        target, rest[0], items, rows, tuple(sorted(set(assume))),
        dot="dot" in flags, branch="branch" in flags, early_out="early" in flags,
        points=points, word="word" in flags, shift="shift" in flags,
        swar="swar" in flags, mask="mask" in flags, pack="pack" in flags,
        pair="pair" in flags, shuffle="shuffle" in flags, line="line" in flags,
        unifa="unifa" in flags, t4="t4" in flags,
    )  # fmt: skip
    if schedule.name != match["schedule"]:
        raise ValueError(
            f"{name!r}: the choices are out of order or repeated; write {schedule.name!r}"
        )
    return match["kernel"], schedule
