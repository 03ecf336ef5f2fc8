# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus test`: the whole test suite, in layers."""

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from daedalus.generator import native
from daedalus.generator.cli.common import EXIT_FAILED, build_dir, console, out, repo_root

SHOWN_LINES = 60  # of a failing step's output

Words = list[str | Path]


@dataclass(frozen=True)
class Step:
    """One command of a layer."""

    name: str
    argv: Words


def _verb(name: str, *words: str) -> Step:
    return Step(" ".join((name, *words)), [sys.executable, "-m", MAIN, name, *words])


MAIN = "daedalus.generator.cli.main"


def _c_files() -> list[Path]:
    root = repo_root()
    return sorted(
        p
        for folder in ("runtime", "tools", "tests", "examples")
        for p in (root / folder).rglob("*.[ch]")
        if "generated" not in p.name and "fake_generated" not in p.parts
    )


def _lint() -> Iterator[Step]:
    tools = Path(sys.executable).parent
    yield Step("ruff check", [tools / "ruff", "check", repo_root()])
    yield Step("ruff format", [tools / "ruff", "format", "--check", repo_root()])
    yield Step("mypy", [tools / "mypy"])
    yield Step("clang-format", [tools / "clang-format", "--dry-run", "-Werror", *_c_files()])


def _unit() -> Iterator[Step]:
    yield _verb("gen", "--check")
    yield Step("pytest", [sys.executable, "-m", "pytest", "-x", "--durations=5"])


def _c() -> Iterator[Step]:
    """The runtime's own tests: plain, under sanitizers, and on arm64."""
    builds = [("host", False), ("host", True)] + ([] if native.is_arm() else [("aarch64", False)])
    for arch, sanitize in builds:
        yield _build_c(arch, sanitize)
        folder = build_dir() / (arch + ("-sanitize" if sanitize else ""))
        yield Step(
            f"ctest ({folder.name})",
            ["ctest", "--test-dir", folder, "--output-on-failure", "-LE", "consumer"],
        )


def _build_c(arch: str, sanitize: bool) -> Step:
    code = (
        "from daedalus.generator import native;"
        f"native.build_library({arch!r}, {sanitize}, targets=('all',))"
    )
    sanitized = ", sanitizers" if sanitize else ""
    return Step(f"build C tests ({arch}{sanitized})", [sys.executable, "-c", code])


def _consumers() -> Iterator[Step]:
    yield _build_c("host", False)
    yield Step("consumers", ["sh", repo_root() / "tests/consumers/run.sh", build_dir() / "host"])


def _check() -> Iterator[Step]:
    yield _verb("check")
    yield _verb("check", "--sanitize", "--items", "2000", "--seed", "2")


def _stream() -> Iterator[Step]:
    yield _verb("stream")
    yield _verb("stream", "--substrate", "qpu", "--device", "lavapipe-8")


def _fuzz() -> Iterator[Step]:
    yield _verb("fuzz")
    yield _verb("v3d", "fuzz", "--seconds", "5")


LAYERS: dict[str, tuple[str, Callable[[], Iterator[Step]]]] = {
    "lint": ("format and types of all sources", _lint),
    "unit": ("language, generator, goldens", _unit),
    "c": ("the runtime, with sanitizers and on arm64", _c),
    "consumers": ("projects that use the installed library", _consumers),
    "check": ("every variant against the interpreter", _check),
    "fuzz": ("random programs", _fuzz),
    "oracle": ("the interpreter against FFmpeg", lambda: iter([_verb("oracle")])),
    "count": ("executed instructions beside hand-written ones", lambda: iter([_verb("count")])),
    "stream": ("real video, frame by frame", _stream),
}


@click.command("test", help="Runs the LAYERS (default: all) and says what passed.\n\n\b\n"
               + "\n".join(f"{name:10} {what}" for name, (what, _) in LAYERS.items()))  # fmt: skip
@click.argument("layers", nargs=-1, type=click.Choice(list(LAYERS)))
def command(layers: tuple[str, ...]) -> None:
    """See the help text above."""
    passed, failed = 0, []
    for layer in layers or tuple(LAYERS):
        for step in LAYERS[layer][1]():
            seconds, output = _run(step)
            if output is None:
                passed += 1
                out.print(f"ok     {layer}: {step.name} ({seconds:.0f} s)", markup=False)
            else:
                failed.append(f"{layer}: {step.name}")
                out.print(f"FAILED {layer}: {step.name} ({seconds:.0f} s)", markup=False)
                console.print(output, markup=False, soft_wrap=True)
    if failed:
        console.print(f"failed: {', '.join(failed)}", markup=False)
    click.echo(f"{passed} passed, {len(failed)} failed")
    if failed:
        sys.exit(EXIT_FAILED)


def _run(step: Step) -> tuple[float, str | None]:
    """Seconds taken, and the end of the output if it failed."""
    started = time.monotonic()
    try:
        done = subprocess.run(
            [str(w) for w in step.argv],
            cwd=repo_root(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    except FileNotFoundError as e:
        return time.monotonic() - started, f"{e.filename} is not installed: run ./daedalus setup"
    lines = done.stdout.splitlines()[-SHOWN_LINES:]
    failed = "\n".join(lines) or f"exit status {done.returncode}"
    return time.monotonic() - started, failed if done.returncode else None
