# SPDX-License-Identifier: BSD-2-Clause
"""Coverage-guided fuzzing of the V3D toolkit: builds libFuzzer targets with clang, and runs them.

A target is a file fuzz_<name>.c below tests/c/v3d; CMake makes it daedalus_v3d_fuzz_<name>. What it
has found interesting is kept as its corpus in build/v3d-fuzz/<name>, so that the next run goes on
from there; inputs that fail are kept in build/v3d-fuzz/findings.
"""

import os
import re
import shlex
import subprocess
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.host import native

SANITIZERS = "address,undefined"
_TESTS = Path("tests", "c", "v3d")


@dataclass(frozen=True)
class _Manner:
    """How a target is run, where that is not as for all."""

    max_len: int = 1024  # bytes of an input
    seeds: tuple[str, ...] = ()  # folders of inputs to begin with, below tests/c/v3d
    dictionary: str = ""


_MANNERS = {
    "text": _Manner(4096, ("mesa", "golden"), "fuzz/v3d.dict"),
    "program": _Manner(1500),
    "words": _Manner(512),
    "requests": _Manner(512),
}


@dataclass(frozen=True)
class Campaign:
    """What a run of a target came to."""

    target: str
    executions: int
    seconds: float  # wall time
    coverage: int  # edges of the control flow graph that the corpus takes
    corpus: int  # inputs
    finding: Path | None  # the input that failed
    replay: str  # the command that runs it again
    said: str  # the end of what the target said of it


def targets() -> dict[str, Path]:
    """The targets' sources by name."""
    found = (repo_root() / _TESTS).rglob("fuzz_*.c")
    return {p.stem.removeprefix("fuzz_"): p for p in sorted(found)}


@cache
def compiler() -> str:
    """A clang that links libFuzzer and the sanitizers."""
    for name in (native.CLANG, "clang"):
        argv = [name, f"-fsanitize=fuzzer,{SANITIZERS}", "-x", "c", "-", "-o", os.devnull]
        source = "int LLVMFuzzerTestOneInput(const char *p, unsigned long n) { return !p && n; }"
        try:
            done = subprocess.run(argv, input=source, capture_output=True, text=True)
        except FileNotFoundError:
            continue
        if done.returncode == 0:
            return name
    packages = f"{native.CLANG} and libclang-rt-{native.CLANG.removeprefix('clang-')}-dev"
    raise UserError(
        "no clang with libFuzzer is installed",
        f"apt-get install {packages}, or ./daedalus setup",
        EXIT_MISSING,
    )


def build(names: list[str]) -> dict[str, Path]:
    """Builds targets; returns their programs by name."""
    folder = native.build_library(
        "host",
        folder="host-fuzz",
        targets=[f"daedalus_v3d_fuzz_{n}" for n in names],
        options=[
            f"-DCMAKE_C_COMPILER={compiler()}",
            f"-DDAEDALUS_SANITIZE={SANITIZERS},fuzzer-no-link",
        ],
    )
    below = folder / _TESTS
    return {n: next(below.rglob(f"daedalus_v3d_fuzz_{n}")) for n in names}


def run(target: str, program: Path, seconds: int, seed: int) -> Campaign:
    """Fuzzes for a time, or until an input fails."""
    manner = _MANNERS.get(target, _Manner())
    tests = repo_root() / _TESTS
    place = build_dir() / "v3d-fuzz"
    corpus, findings = place / target, place / "findings"
    corpus.mkdir(parents=True, exist_ok=True)
    findings.mkdir(exist_ok=True)
    before = _written(findings, target)
    argv = [
        str(program), f"-seed={seed}", f"-max_total_time={seconds}", f"-max_len={manner.max_len}",
        "-len_control=0", "-timeout=10", "-print_final_stats=1",
        f"-artifact_prefix={findings / target}-",
    ]  # fmt: skip
    if manner.dictionary:
        argv.append(f"-dict={tests / manner.dictionary}")
    argv += [str(corpus), *(str(tests / s) for s in manner.seeds)]
    started = time.monotonic()
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True)
    took = time.monotonic() - started
    text = done.stderr.decode(errors="replace")
    log = place / f"{target}.log"
    log.write_text(text)
    fresh = sorted(path for path, _ in _written(findings, target) - before)
    if done.returncode != 0 and not fresh:
        tail = "\n".join(text.strip().splitlines()[-5:])
        raise UserError(
            f"{program.name}: exit status {done.returncode}\n{tail}",
            f"the whole output is in {log}",
            EXIT_FAILED,
        )
    return Campaign(
        target,
        _last_number(r"stat::number_of_executed_units: +(\d+)", text),
        took,
        _last_number(r"\bcov: (\d+)", text),
        sum(1 for _ in corpus.iterdir()),
        fresh[0] if done.returncode != 0 else None,
        shlex.join([str(program), str(fresh[0])]) if done.returncode != 0 else "",
        _failure(text) if done.returncode != 0 else "",
    )


def _written(findings: Path, target: str) -> set[tuple[Path, int]]:
    """A target's findings and when they were written: one that is met again is written again."""
    return {(path, path.stat().st_mtime_ns) for path in findings.glob(f"{target}-*")}


def _last_number(pattern: str, text: str) -> int:
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def _failure(text: str) -> str:
    """What a target said when an input failed, without the progress before it."""
    lines = text.splitlines()
    begin = next((i for i, line in enumerate(lines) if "ERROR:" in line or "runtime error" in line),
                 len(lines))  # fmt: skip
    return "\n".join(lines[max(0, begin - 3) : begin + 12])
