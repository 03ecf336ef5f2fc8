# SPDX-License-Identifier: BSD-2-Clause
"""Runs decoders' own test programs, checkasm, with our functions in their tables.

The program is the decoder's, from its source package; a file made from the descriptions and the
specs puts ours into the tables while the decoder may use extensions of the processor, so that
checkasm compares them with the decoder's C.
"""

import os
import subprocess
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from daedalus.codecs import oracles
from daedalus.codecs.decoders.reading import all_described
from daedalus.codecs.decoders.tables import Decoder, Table
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.outputs import refresh
from daedalus.generator.base.paths import build_dir
from daedalus.generator.base.progress import say
from daedalus.generator.compile.decoder_wrappers import Wrapped, wrapped
from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.registry import load
from daedalus.generator.compile.text import tidy
from daedalus.generator.host import native

_CHECK = "checkasm_check_func"
_SECONDS = 600  # that one run may take

# What our functions may use, and what tells the program: those that choose by themselves have all
# that the processor has, or "none" of what not every one has; others are what the library fills a
# table with for the features that it is told (DAEDALUS_FEATURE_..., core.h).
KINDS: dict[str, dict[str, str]] = {
    "all": {},
    "none": {"CHECKASM_FEATURES": "0"},
    "filled: dotprod": {"CHECKASM_FILL": "3"},
    "filled: neon": {"CHECKASM_FILL": "1"},
    "filled: plain": {"CHECKASM_FILL": "0"},
}


@dataclass(frozen=True)
class Program:
    """A decoder's checkasm for an architecture, with our functions."""

    decoder: Decoder
    arch: str  # of host/native.py
    path: Path
    functions: tuple[Wrapped, ...]

    def of_table(self, table: Table) -> dict[str, str]:
        """Our pointers in a table, by place, and the function of each."""
        return {
            p.place: w.function for w in self.functions
            for p in w.signature.pointers if p.table is table
        }  # fmt: skip

    def untested(self, table: Table) -> dict[str, str]:
        """Those of them that its test does not look at, and why."""
        return {
            p.place: p.field.untested for w in self.functions
            for p in w.signature.pointers if p.table is table and p.field.untested
        }  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    """One run: a test with a seed.

    features  what our functions may use: one of KINDS
    reached   place of ours -> the names that checkasm checks it by
    same      other places of ours -> the place that was checked, where the decoder's C is the same
    """

    decoder: str
    test: str
    architecture: str
    features: str
    seed: int
    passed: bool
    reached: dict[str, list[str]] = field(default_factory=dict)
    same: dict[str, str] = field(default_factory=dict)
    said: str = ""


def decoders() -> list[Decoder]:
    """Those with a test program."""
    return [d for d in all_described() if any(t.test for t in d.tables)]


def architectures() -> tuple[str, ...]:
    """What can be run here."""
    return ("aarch64",) if native.is_arm() else ("aarch64", "host")


def kinds(arch: str) -> tuple[str, ...]:
    """Those of KINDS that are not the same on an architecture."""
    return tuple(KINDS) if arch == "aarch64" else ("all", "filled: plain")


def source(decoder: Decoder, functions: Sequence[Wrapped]) -> str:
    """The file that puts our functions into the tables."""
    stands = [(p, n) for n, w in enumerate(functions) for p in w.signature.pointers]
    tables = []
    for table in decoder.tables:
        filled = []
        for one in table.filled:
            slots = [(p.slot, n) for n, (p, _) in enumerate(stands) if p.filled is one]
            if slots:
                fill = f"daedalus_{decoder.name}_fill_{one.name}"
                filled.append({"when": one.when, "slots": slots, "fill": fill})
        if filled:
            name = table.init_name
            tables.append({
                "real": table.init.replace(name, f"__real_{name}", 1),
                "wrap": table.init.replace(name, f"__wrap_{name}", 1),
                "call": f"__real_{name}({', '.join(table.init_arguments)})",
                "table": table.init_arguments[0], "count": table.count,
                "filled": filled,
            })  # fmt: skip
    text = environment().get_template("checkasm.c.j2")
    places = [{"place": p.place, "of": n} for p, n in stands]
    return tidy(text.render(decoder=decoder, entries=functions, places=places, tables=tables))


def build(decoder: Decoder, arch: str) -> Program:
    """The program, with the library as `gen` left it."""
    functions = tuple(
        wrapped(e.kernel, d) for e in load() for d in e.kernel.decoders if d.decoder == decoder.name
    )
    debian = native.debian_arch(arch)
    folder = build_dir() / "checkasm" / debian
    place = folder / f"{decoder.name}.c"
    refresh(place, source(decoder, functions))
    objects, archives = oracles.tests(decoder.name, debian)
    system, _ = oracles.linked(decoder.name, debian)
    library = native.build_library(arch, options=("-DDAEDALUS_ALLOW_UNVERIFIED=ON",))
    wraps = [_CHECK, *(t.init_name for t in decoder.tables)]
    path = native.compile_program(
        arch, folder / f"{decoder.name}-checkasm", [place],
        includes=native.library_includes(), system_includes=system,
        libraries=[*objects, library / "libdaedalus.a", *archives],
        flags=[*(f"-Wl,--wrap={w}" for w in wraps), "-Wl,-z,noexecstack", "-ldl"],
    )  # fmt: skip
    return Program(decoder, arch, path, functions)


def run(
    program: Program, table: Table, seed: int, *, features: str = "all", spoil: str = ""
) -> Outcome:
    """One test with one seed; with `spoil` a function and class, `name:class`, is made wrong."""
    environment_of = {k: v for k, v in os.environ.items() if not k.startswith("CHECKASM_")}
    environment_of |= KINDS[features]
    if spoil:
        environment_of["CHECKASM_SPOIL"] = spoil
    argv = [*native.runner(program.arch), str(program.path), f"--test={table.test}", str(seed)]
    architecture = native.debian_arch(program.arch)
    try:
        done = subprocess.run(
            argv, capture_output=True, text=True, errors="replace", env=environment_of,
            timeout=_SECONDS, stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired as e:
        last = [str(out or b"", errors="replace") for out in (e.stdout, e.stderr)]
        late = "\n".join([*"".join(last).splitlines()[-12:], f"it did not end in {_SECONDS} s"])
        return Outcome(
            program.decoder.name, table.test, architecture, features, seed, False, said=late
        )
    reached: dict[str, list[str]] = {}
    same: dict[str, str] = {}
    said = []
    for line in (done.stdout + done.stderr).splitlines():
        words = line.split()
        if words[:1] == ["ours"] and len(words) == 3:
            reached.setdefault(words[1], []).append(words[2])
        elif words[:1] == ["same"] and len(words) == 3:
            same[words[1]] = words[2]
        else:
            said.append(line)
    return Outcome(
        program.decoder.name, table.test, architecture, features, seed,
        done.returncode == 0, reached, same, "\n".join(said[-12:]),
    )  # fmt: skip


def failures(program: Program, table: Table, outcomes: Sequence[Outcome]) -> list[str]:
    """What is wrong with the runs of a test: in words."""
    found = []
    for o in outcomes:
        where = f"{o.decoder}, {o.test}, {o.architecture}, features {o.features}, seed {o.seed}"
        if not o.passed:
            found.append(f"{where}: checkasm fails:\n{o.said}")
        own = program.of_table(table)
        same = {place for place, other in o.same.items() if other in o.reached}
        untested = set(program.untested(table))
        missing = set(own) - set(o.reached) - same - untested
        if missing:
            found.append(f"{where}: checkasm checks no name of {', '.join(sorted(missing))}")
        if tested := untested & set(o.reached):
            found.append(f"{where}: {', '.join(sorted(tested))} is checked, though said not to be")
        others = set(o.reached) - set(own)
        if others:
            found.append(f"{where}: {', '.join(sorted(others))} is not of this table")
    return found


def chosen(decoder: str, test: str) -> list[tuple[Decoder, list[Table]]]:
    """The decoders and tables of that name ("": all)."""
    known = decoders()
    if decoder and decoder not in (d.name for d in known):
        raise UserError(
            f"no decoder {decoder} has a test program",
            f"these have: {', '.join(d.name for d in known)}",
        )
    found = []
    for d in known:
        tables = [t for t in d.tables if t.test and test in ("", t.test)]
        if decoder in ("", d.name) and tables:
            found.append((d, tables))
    if not found:
        tests = ", ".join(t.test for d in known for t in d.tables if t.test)
        raise UserError(f"there is no test {test}", f"tests with functions of ours: {tests}")
    return found


def _runs(program: Program, table: Table, seeds: range, features: str) -> list[Outcome]:
    with ThreadPoolExecutor(int(native.JOBS)) as pool:
        return list(pool.map(lambda seed: run(program, table, seed, features=features), seeds))


def check(
    decoder: str, test: str, seeds: int, first: int
) -> tuple[list[Outcome], list[str], dict[tuple[str, str], str]]:
    """Runs the tests with so many seeds, with and without what only some processors have; with
    what is wrong, and what no test looks at: by decoder and place the reason."""
    outcomes: list[Outcome] = []
    wrong: list[str] = []
    untested: dict[tuple[str, str], str] = {}
    for d, tables in chosen(decoder, test):
        for arch in architectures():
            program = build(d, arch)
            for table in tables:
                if not program.of_table(table):
                    continue
                untested |= {(d.name, p): why for p, why in program.untested(table).items()}
                for features in kinds(arch):
                    say(f"checkasm: {d.name}, {table.test}, {native.debian_arch(arch)}, {features}")
                    some = _runs(program, table, range(first, first + seeds), features)
                    outcomes += some
                    wrong += failures(program, table, some)
    if not outcomes:
        raise UserError("none of our functions is in these tables", "", EXIT_FAILED)
    return outcomes, wrong, untested
