# SPDX-License-Identifier: BSD-2-Clause
"""Compiles and times, in one run: vector variants, scalar ones, and other people's functions."""

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import geometric_mean

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.process import run as run_program
from daedalus.generator.base.progress import say
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.compile.variants import file_name
from daedalus.generator.host import level, native
from daedalus.generator.measure.native import items
from daedalus.generator.measure.native.cases import CASES
from daedalus.generator.measure.native.items import Case
from daedalus.generator.options import Options, options_of, variant_name
from daedalus.generator.verify import oracle, part

COMPILERS = ("gcc", native.CLANG)
# What is compiled how: the target of the variants, and flags beside -O3 and the processor's.
BUILDS = {
    "vector": ("vector", ()),
    "auto": ("c", ()),  # scalar C, and what the compiler vectorises of it
    "scalar": ("c", ("-fno-tree-vectorize", "-fno-tree-slp-vectorize")),
}
BAR = 3.0  # times the scalar build


@dataclass(frozen=True)
class Figure:
    """Nanoseconds an item: the median of all rounds, and the median deviation from it."""

    median: float
    deviation: float


@dataclass(frozen=True)
class Row:
    """A case: what each contender took; `wrong` are those whose output was not right."""

    case: Case
    variant: str
    figures: dict[str, Figure]
    wrong: tuple[str, ...]

    def ratio(self, slow: str, fast: str) -> float | None:
        """How many times faster the one is than the other."""
        if slow not in self.figures or fast not in self.figures:
            return None
        return self.figures[slow].median / self.figures[fast].median


def measure(text: str, rounds: int, count: int) -> list[Row]:
    """The cases of the kernels whose ids contain the text, `count` items each."""
    wanted = [c for c in CASES if text in c.kernel]
    if not wanted:
        known = ", ".join(dict.fromkeys(c.kernel for c in CASES))
        raise UserError(f"no kernel {text} is measured natively", f"these are: {known}")
    level.require()
    entries = load()
    found = []
    for case in wanted:
        entry = find(entries, case.kernel)
        if entry is None:
            raise UserError(f"there is no kernel {case.kernel}", "cases.py of the bench names it")
        found.append((case, entry))
    libraries = {
        (compiler, kind): _library(compiler, kind, found)
        for compiler in COMPILERS
        for kind in BUILDS
    }
    with native.alone(part.lock(oracle.PART)):
        own = list({e.kernel.id: e for _, e in found}.values())
        generated = part.generate(own, oracle.PART)
        return [_measured(c, e, libraries, rounds, count, generated) for c, e in found]


def _measured(
    case: Case, entry: Entry, libraries: dict[tuple[str, str], Path], rounds: int, count: int,
    generated: Path,
) -> Row:  # fmt: skip
    """What a case takes by ours in each library, and by theirs."""
    say(f"{case.kernel}: drawing items")
    job = build_dir() / "native_bench" / f"{case.kernel}.job"
    theirs = _theirs(case)
    drawn = items.draw(entry.kernel, case, count)
    job.write_bytes(items.job(entry.kernel, drawn, theirs))
    program = _program(case.theirs or oracle.PLAIN, theirs, generated)
    say(f"{case.kernel}: measuring")
    contenders = list(_ours(case, entry, libraries))
    if theirs:
        contenders += [f"{mode}={mode}:{theirs.name}" for mode in ("c", "asm")]
    said = run_program([program, job, str(rounds), *contenders], what="the native bench")
    return _row(case, variant_name(entry.kernel.id, _vector(case, entry)), said)


def mean_gain(rows: Sequence[Row], slow: str, fast: str) -> float | None:
    """The geometric mean over the decoder kernels; None unless all of them were measured."""
    counted = [r for r in rows if r.case.counts]
    gains = [g for r in counted if (g := r.ratio(slow, fast)) is not None]
    if len(gains) < sum(c.counts for c in CASES):
        return None
    return geometric_mean(gains)


def _vector(case: Case, entry: Entry) -> Options:
    """The first vector variant of the class itself."""
    for options, prod in entry.listed:
        if prod and (options.target, options.class_name) == ("vector", case.class_name):
            return options
    raise UserError(
        f"{case.kernel} has no prod vector variant of class {case.class_name}",
        "list one in its options.toml, and run gen", EXIT_FAILED,
    )  # fmt: skip


def _options(kind: str, case: Case, entry: Entry) -> Options:
    vector = BUILDS[kind][0] == "vector"
    return _vector(case, entry) if vector else options_of("c", case.class_name)


def _library(compiler: str, kind: str, found: list[tuple[Case, Entry]]) -> Path:
    """The variants of one kind as a shared library."""
    if shutil.which(compiler) is None:
        raise UserError(f"{compiler} is not installed", "run ./daedalus setup", EXIT_MISSING)
    source = repo_root() / "generated" / "src"
    names = {(e.kernel.codec, file_name(e.kernel.id, _options(kind, c, e))): 0 for c, e in found}
    files = [source / codec / name for codec, name in names]
    missing = [f.name for f in files if not f.is_file()]
    if missing:
        raise UserError(f"generated/ lacks {missing[0]}", "run ./daedalus gen", EXIT_FAILED)
    say(f"compiling {kind} by {compiler}")
    clang = compiler == native.CLANG
    # Conditions are joined by & and | on purpose: lanes have no jumps.
    quiet = ["-Wno-bitwise-instead-of-logical"] if clang else []
    return native.compile_program(
        "host", build_dir() / "native_bench" / f"{kind}-{compiler}.so", files,
        includes=[*native.library_includes(), source],
        flags=["-O3", *level.flags(), *BUILDS[kind][1], *quiet, "-shared", "-fPIC"],
        static=False, clang=clang,
    )  # fmt: skip


def _theirs(case: Case) -> oracle.Entry | None:
    """The function that a case is compared with; None where it names nobody's."""
    for program in oracle.programs():
        for entry in program.entries:
            same = all(case.fixed.get(name) == value for name, value in entry.fixed.items())
            if (program.oracle, entry.kernel) == (case.theirs, case.kernel) and same:
                return entry
    if case.theirs:
        raise UserError(
            f"{case.theirs} has no function for {case.kernel} as codecs/timed.toml asks for it",
            "the kernel's spec says in decoders= what is fixed in which function",
            EXIT_FAILED,
        )
    return None


def _program(name: str, theirs: oracle.Entry | None, generated: Path) -> Path:
    """The C program, with one function of an oracle, and of ours the generated ones."""
    (wanted,) = (p for p in oracle.programs() if p.oracle == name)
    if theirs is not None:
        wanted = wanted.only([theirs])
    folder = repo_root() / "tools" / "native_bench"
    sources = [folder / "main.c", folder / "theirs.c", repo_root() / "tools" / "check" / "job.c"]
    sources += [repo_root() / "runtime" / "tune" / f"{n}.c" for n in ("base", "samples")]
    return oracle.build(
        wanted, "host", path=build_dir() / "native_bench" / name, sources=sources,
        includes=[repo_root() / "runtime"], flags=["-no-pie", "-ldl"], generated=generated,
    )  # fmt: skip


def _ours(case: Case, entry: Entry, libraries: dict[tuple[str, str], Path]) -> Iterator[str]:
    for (compiler, kind), library in libraries.items():
        name = variant_name(entry.kernel.id, _options(kind, case, entry))
        yield f"{compiler} {kind}={library}:{name}"


def _row(case: Case, variant: str, said: str) -> Row:
    figures: dict[str, Figure] = {}
    wrong = []
    for line in said.splitlines():
        label, state, median, deviation = line.split("\t")
        if state == "right":
            figures[label] = Figure(float(median), float(deviation))
        else:
            wrong.append(f"{label} ({state})")
    return Row(case, variant, figures, tuple(wrong))
