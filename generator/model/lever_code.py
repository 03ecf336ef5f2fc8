# SPDX-License-Identifier: BSD-2-Clause
"""Variants made without a lever: their text, the case they are compared on, and their objects."""

import json
import os
import re
import shlex
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from daedalus.dsl.errors import SpecError
from daedalus.generator import count_cases
from daedalus.generator.cli.common import repo_root, run
from daedalus.generator.count_cases import Case
from daedalus.generator.emit import environment
from daedalus.generator.levers import Lever
from daedalus.generator.passes.pipeline import Lowered
from daedalus.generator.registry import Entry
from daedalus.generator.schedule import Schedule, variant_name
from daedalus.generator.variants import make_variant


@dataclass(frozen=True)
class Without:
    """A variant made without a lever, which its text shows."""

    lever: Lever
    entry: Entry
    schedule: Schedule  # the variant's as it is
    case: Case
    text: str  # with the names of the variant

    @property
    def name(self) -> str:
        """The variant."""
        return variant_name(self.entry.kernel.id, self.schedule)

    @property
    def renamed(self) -> str:
        """What it is called where it stands beside the variant as it is."""
        return f"{self.name}_without_{self.lever.name}"

    def instead(self, function: str) -> str:
        """The function that takes the place of one of the variant."""
        return function.replace(self.name.removeprefix("daedalus_"),
                                self.renamed.removeprefix("daedalus_"))  # fmt: skip


def affected(entry: Entry, levers: Iterable[Lever]) -> Iterator[Without]:
    """The prod NEON variants of a kernel that are others without a lever, by lever."""
    levers = list(levers)
    known: Lowered = {}
    for schedule, prod in entry.schedules:
        case = _case(entry.kernel.id, schedule) if prod and schedule.target == "neon" else None
        if case is None:
            continue
        present = _text(entry, schedule, Lever("", ""), known)
        for lever in levers:
            text = _text(entry, schedule, lever, known)
            if text not in (present, ""):
                yield Without(lever, entry, schedule, case, text)


def _text(entry: Entry, schedule: Schedule, lever: Lever, known: Lowered) -> str:
    """A variant's code without a lever, under the variant's own names, and no hash.

    Nothing where the lever is what makes the variant possible: SDOT, where only a class has taps
    that fit.
    """
    other = lever.schedule(schedule)
    try:
        made = make_variant(
            environment(), entry.kernel, other, prod=True, rank=0, spec=entry.spec,
            known=known, levers=lever.off,
        )  # fmt: skip
    except SpecError:
        if other == schedule:
            raise
        return ""
    text = made.text.partition("*/\n/*")[2].partition("*/")[2]  # what the head says differs
    kernel = entry.kernel.id
    return text.replace(f"{kernel}__{other.name}(", f"{kernel}__{schedule.name}(")


def _case(kernel: str, schedule: Schedule) -> Case | None:
    """The case that a variant is for: of the narrowest class that is its own, one with a bar."""
    name = variant_name(kernel, schedule)
    found = []
    for n, case in enumerate(count_cases.cases()):
        suits = bool(case.many) if schedule.items > 1 else case.items
        if case.kernel != kernel or not suits:
            continue
        names = count_cases.variants(case)
        if name in names:
            found.append((names.index(name), case.d3_bar is None, n, case))
    return min(found)[-1] if found else None


# ------------------------------------------------------------------------------- objects


def objects(
    built: Path, made: Iterable[Without], folder: Path, *, renamed: bool
) -> dict[str, Path]:
    """Compiles variants as the library's build compiles them; by `Without.renamed`, the objects.

    `renamed` gives their functions the names by which they stand beside the present ones.
    """
    commands = _commands(built)

    def compiled(w: Without) -> tuple[str, Path]:
        source = folder / w.renamed / f"{w.name}.c"
        source.parent.mkdir(parents=True, exist_ok=True)
        family = repo_root() / "generated" / "src" / w.entry.kernel.family
        text = w.text
        if renamed:
            text = re.sub(rf"\b(daedalus_(?:\w+_)?){w.name.removeprefix('daedalus_')}\(",
                          rf"\1{w.renamed.removeprefix('daedalus_')}(", text)  # fmt: skip
        source.write_text(text)
        target = source.with_suffix(".o")
        # A lever that is off may leave what compilers warn of.
        run([*commands[family / source.name], f"-I{family}", "-w", "-o", target, "-c", source])
        return w.renamed, target

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return dict(pool.map(compiled, made))


def caller(built: Path, w: Without, function: str, folder: Path) -> Path:
    """The family's functions for many items, where one calls a variant without a lever.

    `function` is the variant's that is called. The object takes the place of the library's.
    """
    source = repo_root() / "generated" / "src" / w.entry.kernel.family / "items.c"
    target = folder / w.renamed / "items.o"
    target.parent.mkdir(parents=True, exist_ok=True)
    words = _commands(built)[source]
    run([*words, f"-D{function}={w.instead(function)}", "-o", target, "-c", source])
    return target


def _commands(built: Path) -> dict[Path, list[str]]:
    """What the library's build compiles each source with, up to where the object goes."""
    found = {}
    for c in json.loads((built / "compile_commands.json").read_text()):
        words = shlex.split(c["command"])
        found[Path(c["file"])] = words[: words.index("-o")]
    return found
