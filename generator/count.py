# SPDX-License-Identifier: BSD-2-Clause
"""Counts the instructions that a call of a function executes, under qemu's arm64 emulation.

The count is of the whole program, by a plugin of qemu where it takes plugins and by its log where
not; both give the same number.  A program is run with N and with 2N calls, and once more with a
function that does nothing, so that only the call itself remains.  What is compared with what
stands in tools/count/cases.toml.
"""

import functools
import hashlib
import json
import os
import subprocess
import tempfile
import tomllib
from dataclasses import dataclass
from pathlib import Path

from daedalus.generator import fetch, native
from daedalus.generator.cli.common import EXIT_FAILED, UserError, build_dir, repo_root, run

_ARCH = "aarch64"
_CALLS = 16


@dataclass(frozen=True)
class Case:
    """A piece of work, and who does it."""

    name: str
    kernel: str
    shape: str
    params: dict[str, int]
    entry: str
    theirs: str
    anchor: int
    bar: float | None = None


@dataclass(frozen=True)
class Count:
    """What one call of a function executes, its return included."""

    case: Case
    function: str
    whose: str  # "entry", "variant", "theirs"
    executed: int
    difference: str  # the first pixel that is not as theirs leaves it; empty when all are


def cases() -> tuple[str, list[Case]]:
    """The oracle that the hand-written functions come from, and the cases."""
    data = tomllib.loads((repo_root() / "tools" / "count" / "cases.toml").read_text())
    return data["oracle"], [Case(**c) for c in data["case"]]


@functools.cache
def _qemu() -> str:
    return native.tool("qemu-aarch64")


@functools.cache
def _plugin() -> Path | None:
    """The counting plugin, or None where qemu was built without plugins."""
    if "-plugin" not in run([_qemu(), "--help"]):
        return None
    return native.compile_program(
        "host",
        build_dir() / "count" / "plugin.so",
        [repo_root() / "tools" / "count" / "plugin.c"],
        flags=["-shared", "-fPIC"],
        static=False,
    )


def executed(argv: list[str]) -> int:
    """How many instructions an arm64 program executes from start to end."""
    plugin = _plugin()
    if plugin is None:
        return _executed_by_log(argv)
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "count")
        run([_qemu(), "-cpu", native.CPU, "-plugin", f"{plugin},out={result}", *argv])
        text = result.read_text().strip() if result.is_file() else ""
    if not text.isdecimal():
        raise UserError(
            f"{' '.join(argv)}: the counting plugin wrote no number",
            f"{plugin} does not suit this qemu, or the disk is full",
            EXIT_FAILED,
        )
    return int(text)


def _executed_by_log(argv: list[str]) -> int:
    """The same by qemu's log of executed blocks, one instruction each."""
    single = "-one-insn-per-tb" if "-one-insn-per-tb" in run([_qemu(), "--help"]) else "-singlestep"
    words = [_qemu(), "-cpu", native.CPU, single, "-d", "exec,nochain", *argv]
    process = subprocess.Popen(
        words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, errors="replace", text=True
    )
    assert process.stderr is not None
    with process:
        count = sum(line.startswith("Trace ") for line in process.stderr)
    if process.returncode != 0 or count == 0:
        raise UserError(f"{' '.join(words)}: no instructions counted", "", EXIT_FAILED)
    return count


def _difference(program: Path, case: Case, function: str) -> str:
    """Where one call of the function and one of theirs leave different pixels, in words."""
    words = [case.shape, function, case.theirs, *(str(p) for p in case.params.values())]
    done = subprocess.run(
        [*native.runner(_ARCH), str(program), *words], capture_output=True, text=True
    )
    if done.returncode not in (0, 1):
        raise UserError(f"{program.name} {' '.join(words)}: {done.stderr.strip()}", "", EXIT_FAILED)
    return done.stdout.strip() if done.returncode else ""


def per_call(program: Path, shape: str, function: str, params: list[int]) -> int:
    """Instructions of one call, exactly: the loop around it is subtracted."""
    loop = _per_round(program, shape, "nothing", params) - 1  # `nothing` is one return
    return _per_round(program, shape, function, params) - loop


def _per_round(program: Path, shape: str, function: str, params: list[int]) -> int:
    words = [str(p) for p in params]
    once, twice = (
        executed([str(program), shape, function, str(n), *words]) for n in (_CALLS, 2 * _CALLS)
    )
    if (twice - once) % _CALLS != 0:
        raise UserError(
            f"{function}: a call does not always execute the same instructions",
            "count a function whose path does not depend on what it did before",
            EXIT_FAILED,
        )
    return (twice - once) // _CALLS


# ------------------------------------------------------------------------------- what to count


def _symbols(library: Path) -> set[str]:
    """The functions that a static library defines."""
    nm = native.tool("nm" if native.is_arm() else "aarch64-linux-gnu-nm")
    lines = run([nm, "--defined-only", "-g", library], what=f"reading {library.name}").splitlines()
    return {line.split()[-1] for line in lines if " T " in line}


def not_counted() -> list[str]:
    """Kernels without a case."""
    known = {c.kernel for c in cases()[1]}
    manifest = json.loads((repo_root() / "generated" / "manifest.json").read_text())
    return [k["id"] for k in manifest["kernels"] if not known & {k["id"], *k["aliases"]}]


def _item_functions(case: Case, symbols: set[str]) -> list[str]:
    """The item functions of the NEON variants that may do the case's work."""
    manifest = json.loads((repo_root() / "generated" / "manifest.json").read_text())
    found = []
    for kernel in manifest["kernels"]:
        if case.kernel not in (kernel["id"], *kernel["aliases"]):
            continue
        conditions = {c["name"]: c["when"] for c in kernel["classes"]}
        for variant in kernel["variants"]:
            name = variant["name"].replace("daedalus_", "daedalus_item_", 1)
            when = conditions[variant["class"]]
            fits = all(lo <= case.params[p] <= hi for p, (lo, hi) in when.items())
            if variant["target"] == "neon" and fits and name in symbols:
                found.append(name)
    return found


def count_all(wanted: tuple[str, ...] = ()) -> list[Count]:
    """Counts every case of the wanted kernels (none named: all)."""
    oracle, everything = cases()
    chosen = [c for c in everything if not wanted or c.kernel in wanted]
    if not chosen:
        raise UserError(
            f"nothing to count for {', '.join(wanted)}",
            f"kernels with a hand-written counterpart: "
            f"{', '.join(sorted({c.kernel for c in everything}))}",
        )
    folder = native.build_library(_ARCH, targets=("daedalus", "daedalus_variants"))
    libraries = [folder / "libdaedalus_variants.a", folder / "libdaedalus.a"]
    symbols = _symbols(libraries[0]) | _symbols(libraries[1])
    work: list[tuple[Case, str, str]] = []
    for case in chosen:
        work += [(case, name, "variant") for name in _item_functions(case, symbols)]
        work += [(case, case.entry, "entry"), (case, case.theirs, "theirs")]
    program = _program(oracle, libraries, list(dict.fromkeys(name for _, name, _ in work)))
    return [
        Count(
            case,
            name,
            whose,
            per_call(program, case.shape, name, list(case.params.values())),
            _difference(program, case, name),
        )
        for case, name, whose in work
    ]


def _program(oracle: str, libraries: list[Path], functions: list[str]) -> Path:
    """Builds the program that calls them; functions.h names them, and each list has a folder."""
    text = "".join(f"FUNCTION({name})\n" for name in functions)
    place = build_dir() / "count" / hashlib.sha256(text.encode()).hexdigest()[:16]
    place.mkdir(parents=True, exist_ok=True)
    fresh = place / f"functions.{os.getpid()}.new"
    fresh.write_text(text)
    fresh.replace(place / "functions.h")
    _, archives = fetch.archives(oracle, "arm64")
    return native.compile_program(
        _ARCH,
        place / "count",
        [repo_root() / "tools" / "count" / "main.c"],
        includes=[place],
        libraries=[*libraries, *archives],
    )
