# SPDX-License-Identifier: BSD-2-Clause
"""What a back end is to the campaign of random programs, and what it says of them."""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Self

from daedalus.dsl.ir import Kernel
from daedalus.generator.options import Options
from daedalus.generator.verify.fuzz.programs import Program


@dataclass(frozen=True)
class Failure:
    """What went wrong with a program, and in which ways to run it, as its back end names them."""

    number: int
    kind: str
    text: str
    ways: tuple[Any, ...] = ()


@dataclass
class Tally(ABC):
    """What was run, and what came of it; what JSON prints has the fields' names.

    programs            that were drawn, of so many `operations` together
    conformant          items that were compared; `other_items` for memory safety only
    programs_excluded   programs whose assumptions no item met
    without_conformant  comparisons in which no item was conformant
    """

    form: ClassVar[str]  # what a program needs to be compared

    programs: int = 0
    operations: int = 0
    conformant: int = 0
    other_items: int = 0
    programs_excluded: int = 0
    without_conformant: int = 0
    failures: list[Failure] = field(default_factory=list)

    def add(self, o: Self) -> None:
        """Takes in another tally."""
        for f in fields(self):
            setattr(self, f.name, getattr(self, f.name) + getattr(o, f.name))

    def figures(self) -> dict[str, object]:
        """What JSON prints."""
        found = {f.name: getattr(self, f.name) for f in fields(self)}
        found = {k: dict(sorted(v.items())) if isinstance(v, Counter) else v
                 for k, v in found.items()}  # fmt: skip
        failures = [{"program": f.number, "kind": f.kind, "text": f.text} for f in self.failures]
        return found | {"failures": failures}

    @abstractmethod
    def lines(self, seconds: float) -> list[str]:
        """What people are told."""

    @property
    @abstractmethod
    def compared(self) -> int:
        """0 if nothing was."""

    def nothing(self) -> str:
        """Why nothing was compared, if so."""
        if self.compared:
            return ""
        why = f"no program had {self.form}"
        return f"{why} and items that it does not exclude" if self.programs_excluded else why


def suited(kernel: Kernel, options: Options) -> bool:
    """Whether a kernel has what options are about; one made smaller may not."""
    known = {a.name for a in kernel.assumptions}
    return known >= set(options.assume) and options.class_name in kernel.class_names


class BackEnd(ABC):
    """Lowers programs, runs them, and compares with the reference interpreter.

    batch    programs that a worker does at once
    tally    of what it does
    targets  of the command line
    """

    batch: ClassVar[int]
    tally: ClassVar[type[Tally]]
    targets: tuple[str, ...]
    sanitize: bool = False

    @property
    def name(self) -> str:
        return ",".join(self.targets)

    @abstractmethod
    def run(self, programs: Sequence[Program], items: int, again: Failure | None = None) -> Tally:
        """Runs programs on so many items a class; `again`: only in the ways that failed there, as
        far as a smaller program has them. Whatever goes wrong is a failure in the tally."""
