# SPDX-License-Identifier: BSD-2-Clause
"""Column-tiled frames natively: our conversions beside memcpy of as many bytes as they write.

NEON variants run as they are on arm64, elsewhere through SIMDe. A time counts only if what that run
left is right to the last byte, which the program sees to (`codecs/timed.toml`).
"""

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from daedalus.codecs.data import data
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.outputs import refresh
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.progress import say
from daedalus.generator.host import fetch, level, native

LAYOUT: dict[str, str] = data("timed.toml")["layout"]
ROUNDS = 21
BYTES = 4 << 20  # that a time is of, at least
COPY = "memcpy"


@dataclass(frozen=True)
class Speed:
    """A way to write a frame; rates are of the bytes that it writes."""

    kernel: str
    frame: str  # width x height
    way: str  # a variant's function, or memcpy
    order: str  # by columns: a call a column; by rows: a call for the tiles of two rows
    written: int  # bytes a run
    gb_per_s: float  # median of the rounds
    spread: float  # median distance from it
    of_copy: float  # of the rate of memcpy, median of the rounds


@dataclass(frozen=True)
class Speeds:
    """All ways of one run, and what they were compiled with."""

    compiler: str
    flags: str
    rounds: int
    rows: tuple[Speed, ...]


def measure(rounds: int = ROUNDS, size: int = BYTES) -> Speeds:
    """Builds and runs the program."""
    program, flags = _program()
    say("measuring conversions of column-tiled frames")
    done = subprocess.run([program, str(rounds), str(size)], capture_output=True, text=True)
    if done.returncode != 0:
        raise UserError(done.stderr.strip() or f"{program} failed", exit_code=EXIT_FAILED)
    compiler = native.version_of(native.compiler("host"))
    return Speeds(compiler, " ".join(flags), rounds, tuple(rates(done.stdout)))


def rates(text: str) -> Iterator[Speed]:
    """Of what the program printed, a line a way."""
    for line in text.splitlines():
        kernel, width, height, way, order, size, *figures = line.split("\t")
        yield Speed(kernel, f"{width}x{height}", way, order, int(size), *map(float, figures))


def _program() -> tuple[Path, list[str]]:
    """The program, and the flags that decide what code it is."""
    root = repo_root()
    manifest = json.loads((root / "generated" / "manifest.json").read_text())
    variants = [
        (k["id"], v)
        for k in manifest["kernels"]
        if k["codec"] == LAYOUT["codec"]
        for v in k["variants"]
        if v["prod"] and v["target"] not in ("glsl", "qpu")
    ]
    place = build_dir() / "layout_bench"
    names = [(k, v["name"].replace("daedalus_", "daedalus_items_", 1)) for k, v in variants]
    text = "".join(f"{kernel.rpartition('_')[2].upper()}({name})\n" for kernel, name in names)
    refresh(place / "functions.h", text)
    flags = ["-O2", "-DDAEDALUS_HAVE_NEON=1"]
    system: list[Path] = []
    if not native.is_arm():
        flags += ["-fwrapv", *level.flags()]  # the first as in cmake/DaedalusLibrary.cmake
        simde = fetch.ensure("simde", "all") / "usr" / "include"
        system = [root / "tools" / "simde", simde]
    program = native.compile_program(
        "host",
        place / "layout_bench",
        [
            root / LAYOUT["program"],
            root / LAYOUT["plain"],
            *(root / "runtime" / "tune" / f"{name}.c" for name in ("base", "samples")),
            *(root / "generated" / file for file in {v["file"]: 0 for _, v in variants}),
        ],
        includes=[
            place,
            root / "runtime",
            *native.library_includes(),
            root / "generated" / "src" / LAYOUT["codec"],
        ],
        system_includes=system,
        flags=flags,
        static=False,
    )
    return program, flags
