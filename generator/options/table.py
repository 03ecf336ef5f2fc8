# SPDX-License-Identifier: BSD-2-Clause
"""What a row of a target's table says, and what all options have."""

# ruff: noqa: RUF009 (what is called there makes fields)
from dataclasses import astuple, dataclass, field, fields, replace
from typing import Any, ClassVar, Self

THREADS = (2, 4)  # that a QPU runs at once


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


def switch(word: str, meaning: str, needs: str = "") -> Any:
    return field(default=False, metadata={"word": Word(word, "", meaning, (), needs)})


def number(letter: str, meaning: str, values: tuple[int, ...]) -> Any:
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
        return False

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
