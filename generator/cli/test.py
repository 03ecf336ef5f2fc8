# SPDX-License-Identifier: BSD-2-Clause
"""`daedalus test`: the test suite, in layers."""

import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import FrameType

import click

from daedalus.generator.base.console import console, out, tell
from daedalus.generator.base.costs import Costs, duration
from daedalus.generator.base.errors import EXIT_FAILED
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.progress import progress
from daedalus.generator.cli.skips import skips
from daedalus.generator.devices import drm
from daedalus.generator.host import checkout, native
from daedalus.generator.host.steps import Ended, Step, run_steps
from daedalus.generator.verify import drm_faults, stale

MAIN = "daedalus.generator.cli.main"
_SANITIZED = "runtime-sanitize"  # the folder in build/
_PYTEST = [sys.executable, "-m", "pytest", "-rs", "-n", native.JOBS, "--dist", "worksteal",
           "--durations=10"]  # fmt: skip
_MOST_FAILURES = 10  # after which pytest stops
_PROGRAMS = "400"
_MAPPINGS = "60"  # all programs take very long: `v3d mappings` runs them


def _verb(*words: str, wide: bool = False) -> Step:
    return Step(" ".join(words), [sys.executable, "-m", MAIN, *words], wide=wide)


def _c_files() -> list[Path]:
    root = repo_root()
    return sorted(
        p
        for folder in ("runtime", "v3d", "tools", "tests", "examples")
        for p in (root / folder).rglob("*.[ch]")
        if "generated" not in p.name and "fake_generated" not in p.parts
    )


def _lint() -> Iterator[Step]:
    tools = Path(sys.executable).parent
    yield Step("mypy", [tools / "mypy"])
    yield Step("imports", [tools / "lint-imports", "--no-cache"])
    yield Step("clang-format", [tools / "clang-format", "--dry-run", "-Werror", *_c_files()])
    yield Step("ruff check", [tools / "ruff", "check", repo_root()])
    yield Step("ruff format", [tools / "ruff", "format", "--check", repo_root()])


def _unit() -> Iterator[Step]:
    yield _verb("gen", "--check")
    share = f"{stale.today().toordinal() % stale.DAYS + 1}/{stale.DAYS}"
    words = [f"--maxfail={_MOST_FAILURES}", "--share", share]
    yield Step("pytest", [*_PYTEST, *words], wide=True)


def _campaign() -> Iterator[Step]:
    yield Step("pytest campaign", [*_PYTEST, "-m", "campaign or costly"], wide=True)
    yield from _ctest("long tests, ", "host", False, "-L", "campaign")
    for arch, sanitize in _others():
        yield from _ctest("all tests, ", arch, sanitize, "-LE", "consumer")
    yield _verb("oracle", "--items", "2000")
    yield _verb("stream", "--threads", "4", wide=True)
    yield _verb("stream", "--damaged", "500", wide=True)
    yield _verb("count", "--clips", wide=True)
    yield _verb("count", "--clips", "--cycles", wide=True)
    yield _verb("v3d", "fuzz", "--seconds", "20")
    day = str(stale.today().toordinal())  # other programs each day
    yield _verb("fuzz", "--target", "qpu", "--programs", _PROGRAMS, "--seed", day, wide=True)
    yield _verb("v3d", "mappings", "--sample", _MAPPINGS, "--seed", day, wide=True)
    for fault in drm_faults.FAULTS:
        yield _verb("check", "--target", "qpu", "--device", drm.SIMULATED, "--frame",
                    "--fault", fault, wide=True)  # fmt: skip


def _c() -> Iterator[Step]:
    """The runtime's own tests: plain, and by the day under sanitizers or on arm64."""
    yield from _ctest("", "host", False, "-LE", "consumer|campaign")
    others = _others()
    arch, sanitize = others[stale.today().toordinal() % len(others)]
    yield from _ctest("", arch, sanitize, "-LE", "consumer|long")


def _others() -> list[tuple[str, bool]]:
    """Builds in which tests take several times as long as on the host, and whether sanitized."""
    return [("host", True), *([] if native.is_arm() else [("aarch64", False)])]


def _ctest(title: str, arch: str, sanitize: bool, *which: str) -> Iterator[Step]:
    build = _build_c(arch, sanitize)
    yield build
    folder = build_dir() / (_SANITIZED if sanitize else arch)
    yield Step(
        f"ctest ({title}{folder.name})",
        ["ctest", "--test-dir", folder, "-j", native.JOBS, "--output-on-failure",
         "--no-tests=error", *which],
        after=(build.name,), wide=True,
    )  # fmt: skip


def _build_c(arch: str, sanitize: bool) -> Step:
    """Sanitized, generated code is left out: `check --sanitize` has it, and its folder. Nor is
    anything optimised as what is installed: that takes longer to compile than the tests to run."""
    options = ["-DDAEDALUS_SANITIZE_GENERATED=OFF", "-DCMAKE_C_FLAGS_RELEASE=-O1",
               "-DDAEDALUS_GENERATED_FLAGS=-O0"]  # fmt: skip
    wish = f"folder={_SANITIZED!r},options={options}," * sanitize
    code = (
        "from daedalus.generator.host import native;"
        f"native.build_library({arch!r}, {sanitize}, {wish}targets=('all', 'daedalus_variants'))"
    )
    sanitized = ", sanitizers" if sanitize else ""
    name = f"build C tests ({arch}{sanitized})"
    return Step(name, [sys.executable, "-c", code], wide=True)


def _consumers() -> Iterator[Step]:
    build = _build_c("host", False)
    yield build
    script = repo_root() / "tests/consumers/run.sh"
    yield Step("consumers", ["sh", script, build_dir() / "host"], after=(build.name,))


def _check() -> Iterator[Step]:
    # Of 10,000 items each is what generated/records/ has: `check --record`.
    yield _verb("check", "--items", "500", "--seed", "3")
    yield _verb("check", "--sanitize", "--items", "200", "--seed", "2")
    yield _verb("witness", "--sample")


def _oracle() -> Iterator[Step]:
    yield _verb("oracle", "--items", "200", "--sample")  # by itself: all, 10,000


def _fuzz() -> Iterator[Step]:
    yield _verb("fuzz", "--target", "c,vector,neon,glsl,qpu", "--programs", "24", wide=True)


def _stream() -> Iterator[Step]:
    yield _verb("stream", "--sample", wide=True)
    yield _verb("stream", "--substrate", "qpu", "--device", "lavapipe-8", wide=True)


# In the order in which they are run: those that need one processor beside each other, and of these
# the long ones first.
LAYERS: dict[str, tuple[str, Callable[[], Iterator[Step]]]] = {
    "lint": ("format and types of all sources", _lint),
    "unit": ("language, generator, goldens", _unit),
    "c": ("the runtime, by the day with sanitizers or on arm64", _c),
    "check": ("what has no record, and a day's sample, against the interpreter", _check),
    "oracle": ("a day's sample: the interpreter against other decoders", _oracle),
    "consumers": ("projects that use the installed library", _consumers),
    "fuzz": ("random programs", _fuzz),
    "count": ("executed instructions beside hand-written ones",
              lambda: iter([_verb("count", wide=True)])),
    "stream": ("real video, frame by frame", _stream),
    "campaign": ("long tests, all costly ones, random programs and faults; by name alone",
                 _campaign),
}  # fmt: skip
# Seconds that the layers take on two cores, until this checkout knows what its steps take.
_SECONDS = {"lint": 40, "unit": 500, "c": 180, "check": 260, "oracle": 130, "consumers": 50,
            "fuzz": 60, "count": 60, "stream": 70, "campaign": 4500}  # fmt: skip
_BY_NAME_ALONE = ("campaign",)


@click.command("test", help="Runs the LAYERS (default: all) and says what passed.\n\n\b\n"
               + "\n".join(f"{name:10} {what}" for name, (what, _) in LAYERS.items()))  # fmt: skip
@click.argument("layers", nargs=-1, type=click.Choice(list(LAYERS)))
def command(layers: tuple[str, ...]) -> None:
    """See the help text above."""
    chosen: dict[str, tuple[str, Step]] = {}  # a step that two layers have is run once
    for layer in LAYERS:
        wanted = layer in layers or (not layers and layer not in _BY_NAME_ALONE)
        for step in LAYERS[layer][1]() if wanted else ():
            chosen.setdefault(step.name, (layer, step))
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _interrupt)
    started, before = time.monotonic(), checkout.changed(repo_root())
    failed = _run(chosen) + _unclean(before)
    if failed:
        tell(f"failed: {', '.join(failed)}")
    passed = len(chosen) + (before is not None) - len(failed)
    took = duration(time.monotonic() - started)
    click.echo(f"{passed} passed, {len(failed)} failed, in {took}")
    if failed:
        sys.exit(EXIT_FAILED)


def _run(chosen: dict[str, tuple[str, Step]]) -> list[str]:
    """Runs the steps, tells what becomes of each and about how long it goes on; which failed."""
    costs, failed, left = _costs(chosen), [], dict(chosen)

    def about() -> str:
        return f"about {duration(sum(map(costs.about, map(_cost, left))))}"

    processors = int(native.JOBS)
    tell(f"{len(chosen)} steps, {about()}")
    with progress(len(chosen), quiet=not console.is_terminal) as shown:
        steps = [step for _, step in chosen.values()]
        running = run_steps(
            steps, repo_root(), processors,
            lambda names: shown.say(f"{', '.join(names)} ({about()} left)"),
        )  # fmt: skip
        with closing(running):
            for ended in running:
                name = f"{left.pop(ended.step.name)[0]}: {ended.step.name}"
                _tell(name, ended)
                failed += [name] if ended.failure else []
                if not ended.failure:  # a step that shares the processors costs a share
                    share = 1 if ended.step.wide else processors
                    costs.note(_cost(ended.step.name), ended.seconds / share)
                shown.advance(1)
                if left and not console.is_terminal:
                    done = len(chosen) - len(left)
                    tell(f"{done} of {len(chosen)} done, {about()} left")
    return failed


def _cost(step: str) -> str:
    return f"test: {step}"


def _costs(chosen: dict[str, tuple[str, Step]]) -> Costs:
    """What the steps take; each of a layer the same, until it has run."""
    layers = [layer for layer, _ in chosen.values()]
    measured = {_cost(s): _SECONDS[la] / layers.count(la) for s, (la, _) in chosen.items()}
    return Costs(build_dir() / "costs.json", measured)


def _unclean(before: dict[str, str] | None) -> list[str]:
    """The step after all others: no file of the checkout is another one than before."""
    after = checkout.changed(repo_root())
    if before is None or after is None:
        console.print("no git checkout: whether files were changed is not looked at")
        return []
    found = checkout.traces(before, after)
    out.print(f"{'FAILED' if found else 'ok    '} clean: no file of the checkout was changed")
    for path in found:
        tell(f"changed while the tests ran: {path}")
    return ["clean"] if found else []


def _interrupt(number: int, frame: FrameType | None) -> None:
    """The steps are in process groups of their own, so whoever ends this has to end them."""
    raise KeyboardInterrupt


def _tell(name: str, ended: Ended) -> None:
    word = "FAILED" if ended.failure else "ok    "
    took = f"{ended.seconds:.0f} s, {ended.processor:.0f} s of processor time"
    left_out = "" if ended.failure else skips(ended.said)
    more = f", {left_out}" if left_out else ""
    out.print(f"{word} {name} ({took}{more})", markup=False, soft_wrap=True)
    if ended.failure:
        tell(ended.failure)
