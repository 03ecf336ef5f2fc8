# SPDX-License-Identifier: BSD-2-Clause
"""What each lever of the lowering to NEON saves: variants as they are, and made without it.

Both are compiled alike, traced and modelled in the same run, on the case that the variant is for.
What is made without a lever is compared with the interpreter before, as `check` does.
"""

import os
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from daedalus.generator import count, crosscheck, native, registry
from daedalus.generator.cli.progress import say
from daedalus.generator.count import Compiler, Counter, Traced
from daedalus.generator.count_cases import Case, Work
from daedalus.generator.crosscheck import Batch, Device
from daedalus.generator.levers import Lever
from daedalus.generator.model.figures import Quick, quick
from daedalus.generator.model.lever_code import Without, affected, caller, objects
from daedalus.generator.model.llvm import Llvm

ITEMS = 300  # conformant ones a class that a variant without a lever is checked on
_ARCH = "aarch64"


@dataclass(frozen=True)
class LeverRow:
    """A variant as it is and without a lever, by one compiler."""

    made: Without
    compiler: str
    function: str
    present: Quick
    without: Quick
    right: bool = True  # whether it computes the same without the lever

    @property
    def ratio(self) -> float:
        """What the lever leaves of the modelled cycles, as d3: below 1 where it saves."""
        return self.present.d3 / self.without.d3


@dataclass(frozen=True)
class LeverComparison:
    """What was compared; `wrong` has a line for everything that was not computed right."""

    compilers: dict[str, Compiler]
    rows: list[LeverRow]
    wrong: list[str]


def compare(
    llvm: Llvm, wanted: tuple[str, ...], levers: tuple[Lever, ...], compilers: Iterable[str]
) -> LeverComparison:
    """Checks and models the wanted kernels' prod variants without each of the levers."""
    made = []
    for entry in registry.load():
        if entry.kernel.id in wanted:
            say(f"making {entry.kernel.id} without each lever")
            made += list(affected(entry, levers))
    done = LeverComparison({}, [], [])
    if not made:
        return done
    with _folder() as folder:
        unlike = _check(made, folder)
        done.wrong.extend(line for lines in unlike.values() for line in lines)
        for name in compilers:
            done.compilers[name], rows, wrong = _modelled(llvm, made, name, folder / name)
            done.rows.extend(replace(r, right=r.right and not unlike[r.made.renamed]) for r in rows)
            done.wrong.extend(wrong)
    return done


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="daedalus-levers-") as folder:
        yield Path(folder)


# ------------------------------------------------------------------------------- right


def _check(made: list[Without], folder: Path) -> dict[str, list[str]]:
    """What is wrong with each variant without a lever, by the interpreter."""
    library = count.build()[0]
    compiled = objects(library.parent, made, folder / "check", renamed=False)
    device = Device(f"qemu {native.CPU}", "neon", _ARCH)
    batches: dict[str, list[Batch]] = {}
    programs: dict[str, Path] = {}
    for w in made:
        kernel = w.entry.kernel
        if kernel.id not in batches:
            say(f"drawing items of {kernel.id}")
            batches[kernel.id] = crosscheck.prepare(kernel, ITEMS, 1)
        if w.lever.name not in programs:
            say(f"checking without {w.lever.name}")
            own = [compiled[x.renamed] for x in made if x.lever.name == w.lever.name]
            programs[w.lever.name] = native.compile_program(
                _ARCH,
                folder / "check" / f"check-{w.lever.name}",
                crosscheck.sources(),
                includes=native.library_includes(),
                libraries=[*own, library],  # what comes first takes the place of the present ones
            )

    def checked(w: Without) -> list[str]:
        kernel, program = w.entry.kernel, programs[w.lever.name]
        (outcome,) = crosscheck.check_kernel(
            kernel, [w.name], device, program, batches[kernel.id], 1
        )
        said = outcome.failures or [f"{outcome.conformant} conformant items: too few"]
        return [] if outcome.good else [f"without {w.lever.name}: {said[0]}"]

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        return dict(zip((w.renamed for w in made), pool.map(checked, made), strict=True))


# ------------------------------------------------------------------------------- fast


def _modelled(
    llvm: Llvm, made: list[Without], compiler: str, folder: Path
) -> tuple[Compiler, list[LeverRow], list[str]]:
    """Rows by one compiler, and what left other pixels than the hand-written function."""
    clang = compiler == "clang"
    wanted = tuple(dict.fromkeys(w.entry.kernel.id for w in made))
    present = count.programs(wanted, clang=clang)
    libraries = count.build(clang=clang)
    say(f"compiling {len(made)} variants by {compiler}")
    compiled = objects(libraries[0].parent, made, folder, renamed=True)
    # One program for each oracle; another where the library's function calls the variant.
    jobs: list[tuple[Without, Work, Work, Counter]] = []
    shared: dict[str, Counter] = {}
    beside = {w.renamed: _works(present.work, w) for w in made}
    for w in made:
        work, changed = beside[w.renamed]
        if work.whose == "many":
            called = work.function + w.name.removeprefix(f"daedalus_{w.entry.kernel.id}")
            own = caller(libraries[0].parent, w, called, folder)
            counter = count.counter(
                w.case.oracle, [own, compiled[w.renamed], *libraries], [changed],
                folder / w.renamed,
            )  # fmt: skip
        elif w.case.oracle in shared:
            counter = shared[w.case.oracle]
        else:
            others = [
                (compiled[o.renamed], beside[o.renamed][1])
                for o in made
                if o.case.oracle == w.case.oracle and beside[o.renamed][0].whose != "many"
            ]
            counter = shared[w.case.oracle] = count.counter(
                w.case.oracle, [*(o for o, _ in others), *libraries], [c for _, c in others],
                folder / w.case.oracle,
            )  # fmt: skip
        jobs.append((w, work, changed, counter))
    say(f"modelling {len(made)} variants by {compiler}")
    theirs = {w.case.key: present.of(w).trace(w) for w in present.work if w.whose == "theirs"}

    def modelled(job: tuple[Without, Work, Work, Counter]) -> tuple[LeverRow, list[str]]:
        w, work, changed, counter = job
        both = present.of(work).trace(work), counter.trace(changed)
        with_it, without = (quick(llvm, t.calls) for t in both)
        unlike = _other_pixels(w, theirs[work.case.key], both[1])
        return LeverRow(w, compiler, work.function, with_it, without, not unlike), unlike

    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        found = list(pool.map(modelled, jobs))
    return present.compiler, [r for r, _ in found], [x for _, said in found for x in said]


def _works(work: list[Work], w: Without) -> tuple[Work, Work]:
    """What calls a variant on its case, the whole work where there is a choice; and without."""
    found = [x for x in work if x.case.key == w.case.key and _calls(x, w.case, w.name)]
    best = max(found, key=lambda x: x.whole)
    if best.whose == "many":  # by the same name, in a program of its own
        return best, best
    return best, replace(best, function=w.instead(best.function))


def _calls(work: Work, case: Case, variant: str) -> bool:
    return work.whose == "many" if case.many else work.variant == variant


def _other_pixels(w: Without, theirs: Traced, ours: Traced) -> list[str]:
    said = count.difference(ours.pixels, theirs.pixels)
    return (
        [f"{w.renamed}, {w.case.name}: other pixels than {w.case.theirs}: {said}"] if said else []
    )
