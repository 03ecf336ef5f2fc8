# SPDX-License-Identifier: BSD-2-Clause
"""What may vary without changing results: the options of a variant, one class for each target.

A class is the table of its target: fields in the order of the name, each with its word, meaning and
what it needs. Names, the parser, the tuning space and docs/options.md follow from these tables.
"""

# ruff: noqa: RUF009 (what is called there makes fields)
import re
from collections.abc import Iterator
from dataclasses import astuple, dataclass, field, fields, replace
from typing import Any, ClassVar, Self

QPU = "qpu"  # machine code of V3D 7.1
TARGETS = ("c", "vector", "neon", "glsl", QPU)
GPU_TARGETS = ("glsl", QPU)
CPU_TARGETS = ("c", "vector", "neon")
VECTOR_TARGETS = ("vector", "neon")  # registers of lanes, lowered alike
PLAIN_TARGETS = ("c", "neon")  # what a kernel gets that no options.toml speaks of
ITEMS = (1, 2, 4, 8)  # what a vector's lanes can be divided into
ROWS = (1, 2, 4, 8)
POINTS = (1, 2, 4, 8, 16)  # of a stage's domain, one invocation of a GPU
THREADS = (2, 4)  # that a QPU runs at once

# Words of earlier versions, by target, and what says the same now.
OLDER = {
    "c": {}, "vector": {}, "neon": {},
    "glsl": {"shift": "word_unaligned", "mask": "signs"},
    QPU: {"shift": "unaligned", "pack": "keep", "line": "jointreads", "unifa": "recordonce",
          "t4": "threads4"},
}  # fmt: skip


class OlderWord(ValueError):
    """A name has a word of an earlier version."""


@dataclass(frozen=True)
class Word:
    """A row of a target's table.

    word     in the name; of a number the letter before it
    field    of the class
    meaning  what is done where it is said
    values   of a number, the first is left out of names; () of a switch
    needs    the field that must be chosen as well; "" for none
    """

    word: str
    field: str
    meaning: str
    values: tuple[int, ...] = ()
    needs: str = ""


def _switch(word: str, meaning: str, needs: str = "") -> Any:
    return field(default=False, metadata={"word": Word(word, "", meaning, (), needs)})


def _number(letter: str, meaning: str, values: tuple[int, ...]) -> Any:
    return field(default=values[0], metadata={"word": Word(letter, "", meaning, values)})


@dataclass(frozen=True)
class Options:
    """Of every target.

    class_name  the items' class it is specialised for
    assume      assumptions taken for granted beyond the standard's, in alphabetical order
    """

    target: ClassVar[str] = ""  # of none: what the library does by itself
    class_name: str = "full"
    assume: tuple[str, ...] = ()

    @classmethod
    def words(cls) -> tuple[Word, ...]:
        """The target's table."""
        return tuple(
            Word(w.word, f.name, w.meaning, w.values, w.needs)
            for f in fields(cls)
            for w in (f.metadata.get("word"),)
            if w is not None
        )

    def choice(self, name: str) -> Any:
        """A field, or what stands for it on a target that has no such choice."""
        return getattr(self, name, 1 if name in ("items", "rows", "points") else False)

    def with_choice(self, name: str, value: object) -> Self:
        """The same with one of the choices made otherwise."""
        choice: Any = {name: value}
        return replace(self, **choice)

    @property
    def threads(self) -> int:
        """That a QPU runs at once, one of THREADS."""
        return THREADS[self.choice("four_threads")]

    @property
    def needs(self) -> tuple[str, ...]:
        """What a processor must have beyond the target itself."""
        return ()

    @property
    def reads_anything(self) -> bool:
        """Whether memory that is aligned to elements alone will do."""
        return not (self.choice("word") or self.choice("unaligned"))

    @property
    def plain(self) -> bool:
        """Whether it is machine code for all items and any memory, and without words: every kernel
        has such variants, and one of them has no uncertain forms (targets/qpu/forms.py)."""
        return self == QpuOptions(points=self.choice("points"))

    @property
    def lacks(self) -> tuple[str, str] | None:
        """The words of a choice, and of the one that it needs and that is not made."""
        by_field = {w.field: w.word for w in self.words()}
        for w in self.words():
            if w.needs and self.choice(w.field) and not self.choice(w.needs):
                return w.word, by_field[w.needs]
        return None

    @property
    def name(self) -> str:
        """For instance `neon_full_assumesum16_x2_r2_early`."""
        parts = [self.target, self.class_name, *(f"assume{a}" for a in self.assume)]
        for w in self.words():
            value = self.choice(w.field)
            if value != (w.values or (False,))[0]:
                parts.append(f"{w.word}{value}" if w.values else w.word)
        return "_".join(parts)

    def __lt__(self, other: "Options") -> bool:
        return (self.target, *astuple(self)) < (other.target, *astuple(other))


@dataclass(frozen=True)
class COptions(Options):
    """Portable C has no choices but the class and the assumptions."""

    target: ClassVar[str] = "c"


@dataclass(frozen=True)
class VectorOptions(Options):
    """Portable C in vectors."""

    target: ClassVar[str] = "vector"
    items: int = _number("x", "items side by side in a vector", ITEMS)
    rows: int = _number("r", "points of the next outer axis side by side in a vector", ROWS)
    branch: bool = _switch("branch", "what only some lanes want is skipped where no lane wants it")
    early_out: bool = _switch(
        "early", "the rest of an item is skipped where nothing of it would be stored"
    )


@dataclass(frozen=True)
class NeonOptions(VectorOptions):
    """NEON."""

    target: ClassVar[str] = "neon"
    dot: bool = _switch("dot", "sums of bytes times weights of 8 bits by dot product instructions")

    @property
    def needs(self) -> tuple[str, ...]:
        """SDOT is an extension."""
        return ("dotprod",) if self.dot else ()


@dataclass(frozen=True)
class GpuOptions(Options):
    """Both GPU targets."""

    points: int = _number("p", "points of a stage that one invocation does", POINTS)
    word: bool = _switch("word", "words of 32 bits, in aligned memory, instead of elements")
    unaligned: bool = _switch(
        "unaligned", "planes that are only read are read in words wherever they lie"
    )


@dataclass(frozen=True)
class GlslOptions(GpuOptions):
    """Shaders."""

    target: ClassVar[str] = "glsl"
    unaligned: bool = _switch(
        "unaligned", "planes that are only read are read in words wherever they lie", "word"
    )
    swar: bool = _switch(
        "swar", "sums of bytes that two points make alike are made in the halves of one word"
    )
    signs: bool = _switch("signs", "conditions are integers, of which the sign counts")
    pack: bool = _switch(
        "pack", "several elements of a temp in a word of shared memory, where their range allows"
    )
    early_out: bool = _switch(
        "early", "the rest of an item is skipped where nothing of it would be stored"
    )


@dataclass(frozen=True)
class QpuOptions(GpuOptions):
    """Machine code of the QPU."""

    target: ClassVar[str] = QPU
    dot: bool = _switch("dot", "sums of bytes times weights of 8 bits by dot product instructions")
    keep: bool = _switch("keep", "temps are kept in registers, several elements in one")
    pair: bool = _switch("pair", "neighbouring elements are two halves of a register")
    shuffle: bool = _switch(
        "shuffle", "temps in registers move between the elements of the QPU which do an item"
    )
    joint_reads: bool = _switch(
        "jointreads",
        "neighbouring elements of the QPU read blocks together, and words move between them",
    )
    record_once: bool = _switch(
        "recordonce", "the record of an item that all elements of a batch do is read once for all"
    )
    four_threads: bool = _switch(
        "threads4", "four threads a QPU, with half the registers each, instead of two"
    )


BY_TARGET: dict[str, type[Options]] = {
    t.target: t for t in (COptions, VectorOptions, NeonOptions, GlslOptions, QpuOptions)
}


def options_of(target: str, class_name: str = "full", **choices: Any) -> Any:
    """The options of a target that makes these choices: one of BY_TARGET."""
    return BY_TARGET[target](class_name, **choices)


_VARIANT = re.compile(r"daedalus_(?P<kernel>[a-z0-9_]+?)__(?P<options>[A-Za-z0-9_]+)")


def variant_name(kernel_id: str, options: Options) -> str:
    """The name of the variant: its function's, its file's and the tables'."""
    return f"daedalus_{kernel_id}__{options.name}"


def parse_variant(name: str) -> tuple[str, Options]:
    """The kernel and the options that a variant's name stands for.

    Raises ValueError for a text that is no variant's name, OlderWord where it was one once.
    """
    match = _VARIANT.fullmatch(name)
    if match is None:
        raise ValueError(f"{name!r} is not the name of a variant: daedalus_<kernel>__<options>")
    target, *rest = match["options"].split("_")
    if target not in TARGETS or not rest:
        raise ValueError(
            f"{name!r}: options begin with a target ({', '.join(TARGETS)}) and a class"
        )
    refuse_older(name)
    kind, chosen, assume = BY_TARGET[target], {}, set()
    for text in rest[1:]:
        if text.startswith("assume") and text != "assume":
            assume.add(text.removeprefix("assume"))
            continue
        found = next((w for w in kind.words() if _says(w, text)), None)
        if found is None:
            words = ", ".join(f"{w.word}<n>" if w.values else w.word for w in kind.words())
            raise ValueError(
                f"{name!r}: unknown option {text!r}; {target} has assume<name>"
                + (f", {words}" if words else "")
            )
        value = int(text.removeprefix(found.word)) if found.values else True
        if found.values and value not in found.values:
            raise ValueError(f"{name!r}: {value} {found.field}; possible are {found.values[1:]}")
        chosen[found.field] = value
    options: Options = options_of(target, rest[0], assume=tuple(sorted(assume)), **chosen)
    if options.name != match["options"]:
        raise ValueError(
            f"{name!r}: the options are out of order or repeated; write {options.name!r}"
        )
    if options.lacks is not None:
        raise ValueError(f"{name!r}: {options.lacks[0]} needs {options.lacks[1]}")
    return match["kernel"], options


def _says(word: Word, text: str) -> bool:
    pattern = rf"{word.word}[1-9][0-9]*" if word.values else word.word
    return re.fullmatch(pattern, text) is not None


def refuse_older(name: str) -> None:
    """Raises OlderWord where a variant's name has a word of an earlier version."""
    target, _, rest = name.partition("__")[2].partition("_")
    for text in rest.split("_")[1:]:
        new = OLDER.get(target, {}).get(text)
        if text.startswith("given") and text != "given":
            new = f"assume{text.removeprefix('given')}"
        if new is not None:
            raise OlderWord(
                f"{name!r} is of an earlier version: {text!r} is {new!r} now (docs/options.md);"
                " what was measured under such names is measured anew by ./daedalus tune"
            )


def table(target: str) -> Iterator[str]:
    """The lines of a target's table in docs/options.md."""
    yield "| in the name | field | meaning | needs |"
    yield "|---|---|---|---|"
    kind = BY_TARGET[target]
    yield "| *class* | `class_name` | the items' class that it is made for | |"
    yield "| `assume<name>` | `assume` | an assumption that the standard does not grant | |"
    by_field = {w.field: w.word for w in kind.words()}
    for w in kind.words():
        word = ", ".join(f"`{w.word}{n}`" for n in w.values[1:]) or f"`{w.word}`"
        needs = f"`{by_field[w.needs]}`" if w.needs else ""
        yield f"| {word} | `{w.field}` | {w.meaning} | {needs} |".replace("|  |", "| |")
