# SPDX-License-Identifier: BSD-2-Clause
"""What is measured: `daedalus-tune` (runtime/tune), fed with points, a line at a time.

The variants of all points are generated into a folder below build/, and the program is built of
them, for points of the CPU once a compiler. One point is measured at a time, so that nothing else
runs beside it; the program appends results to the journal itself.
"""

import json
import os
import selectors
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from daedalus.generator.base.console import console
from daedalus.generator.base.errors import EXIT_FAILED, EXIT_MISSING, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.compile.registry import Entry
from daedalus.generator.devices import vulkan as devices
from daedalus.generator.devices.vulkan import GpuDevice
from daedalus.generator.host import native
from daedalus.generator.measure.gpu import bench_data
from daedalus.generator.options import QPU
from daedalus.generator.options import Options as VariantOptions
from daedalus.generator.tuning import cpu_spills, generated, journal
from daedalus.generator.tuning.entries import OK, Described, Result, now, result_key
from daedalus.generator.tuning.fingerprint import Fingerprint, generator_hash
from daedalus.generator.tuning.journal import Terms, parse_line
from daedalus.generator.tuning.point import Point, parse_point
from daedalus.generator.tuning.task import Known, Task

ITEMS = 32640  # a sample, as `bench` has it
BATCH = 4  # points that are measured in turns, so that what changes meanwhile meets all of them
TERMS = Terms(10, 0.01, 3)  # of a time, as daedalus-tune has them unless it is told
SEEDS = (1, 2, 3)  # of the files of items; the first one's are timed
DISTINCT = 256  # items of a class in a file
_IDLE = 0.2  # seconds that an engine with nothing under way takes to end
_ENDING = 10.0  # seconds that one may take that is told to
_CPU = "cpu"
_GPU = "gpu"
KINDS = {"cpu": (_CPU,), "gpu": (_GPU,), "board": (_CPU, _GPU)}


def targets_of(kind: str) -> tuple[str, ...]:
    """What a device measures here: of the CPU, NEON, or vectors of portable C where there is none;
    of the GPU, machine code where it is V3D."""
    arm = native.is_arm()
    cpu = ("c", "neon" if arm else "vector")
    gpu = ("glsl", QPU) if arm else ("glsl",)
    return tuple(t for part in KINDS[kind] for t in (cpu if part == _CPU else gpu))


@dataclass(frozen=True)
class Options:
    """How points are measured.

    vulkan   name of the Vulkan device, of `check`'s; "": as the runtime chooses
    samples  of a point at least; 0: what the engine does
    """

    vulkan: str = ""
    items: int = ITEMS
    samples: int = 0
    point_seconds: float = 0


def compilers_here() -> tuple[str, ...]:
    """Which compile what is measured here: gcc, and clang where it is."""
    return ("gcc", *(("clang",) if shutil.which(native.CLANG) else ()))


class EngineDevice:
    """A processor or a GPU that is here."""

    writes = True
    batch = BATCH

    def __init__(
        self, kind: str, wanted: Sequence[tuple[Entry, Sequence[VariantOptions]]], path: Path,
        options: Options, say: Callable[[str], None], *, folder: str = "",
        compilers: Sequence[str] = (),
    ) -> None:  # fmt: skip
        """`folder`: below build/tune, "": the kind's; `compilers`: none: those that are here."""
        self.targets = targets_of(kind)
        self._path, self._options, self._say = path, options, say
        self.terms = Terms(
            options.samples or TERMS.samples, TERMS.precision,
            options.point_seconds or TERMS.seconds,
        )  # fmt: skip
        self._folder = build_dir() / "tune" / (folder or kind)
        self._made = generated.generate(wanted, self._folder / "generated", say)
        self._data = self._write_data([e for e, _ in wanted], say)
        compilers = compilers or (compilers_here() if _CPU in KINDS[kind] else ("gcc",))
        self._programs = {c: self._build(c) for c in compilers}
        self._spills = {c: cpu_spills.Spills(p) for c, p in self._programs.items()}
        self._running: dict[str, _Engine] = {}
        self._under_way: dict[str, Task] = {}  # by the point's text
        self._asked = ""  # whose program measures them
        self._given: list[Task] = []  # that no program has been told of
        self._ready: list[tuple[Task, Result | Known]] = []

    # ------------------------------------------------------------------ what it is

    def fingerprint(self, compiler: str) -> Fingerprint:
        """As the engine describes itself, built by a compiler; by the first for one not here."""
        return self._fingerprints.get(compiler) or next(iter(self._fingerprints.values()))

    @cached_property
    def fingerprints(self) -> tuple[Fingerprint, ...]:
        """Those of all that may be measured."""
        return tuple(self._fingerprints.values())

    @cached_property
    def _fingerprints(self) -> dict[str, Fingerprint]:
        return {c: self._ask(p) for c, p in self._programs.items()}

    def scenario(self, target: str) -> str:
        """M3 on one core, or M2."""
        return f"{'m2' if target in ('glsl', QPU) else 'm3'} items={self._options.items}"

    def input_hash(self, task: Task) -> str:
        """Of the variant that was generated; "" where it was refused."""
        return self._made.hashes.get(task.point.variant, "")

    def holds(self, result: Result) -> bool:
        """Whether a known result is as good as this run would have it; no time of what spills."""
        if not journal.settled(result, self.terms):
            return False
        return result.verdict != OK or not self._spilling(parse_point(result.point))

    def _spilling(self, point: Point) -> str:
        """Why a point of the CPU spills; "" for all others."""
        program = self._spills.get(point.compiler)
        return program.reason(point.variant) if program else ""

    # ------------------------------------------------------------------ points

    @property
    def free(self) -> bool:
        return not self._under_way and len(self._given) + len(self._ready) < BATCH

    @property
    def busy(self) -> bool:
        return bool(self._under_way or self._given or self._ready)

    def start(self, task: Task) -> None:
        """Has the engine measure it, with others; what was not generated, or spills, is a result at
        once."""
        why, verdict = self._made.refused.get(task.point.variant), "refused"
        compiler = task.candidate.compiler
        if compiler and compiler not in self._programs:
            why, verdict = f"{compiler} is not here", "unavailable"
        if why is None and (spilling := self._spilling(task.point)):
            why, verdict = spilling, "spills"
        if why is not None:
            result = _refused(task, self.input_hash(task), why, self._options.items, verdict)
            journal.append(self._path, result)
            self._ready.append((task, result))
            return
        self._given.append(task)

    def done(self, patience: float) -> Iterator[tuple[Task, Result | Known]]:
        """Results, as the engine tells them."""
        ready, self._ready = self._ready, []
        yield from ready
        if not self._under_way and self._given:
            # Those that one program measures: on a line, so that it does them in turns.
            first = self._compiler(self._given[0])
            together = [t for t in self._given if self._compiler(t) == first]
            self._given = [t for t in self._given if t not in together]
            self._engine(first).write(" ".join(str(t.point) for t in together))
            self._under_way = {str(t.point): t for t in together}
            self._asked = first
        if ready or not self._under_way:
            return
        line = self._engine(self._asked).read(patience)
        if line is not None:
            yield self._told(line)

    def end(self) -> None:
        """Has the engines stop."""
        for engine in self._running.values():
            engine.end()
        self._running, self._under_way, self._given = {}, {}, []

    def _compiler(self, task: Task) -> str:
        """Whose program measures it."""
        return task.candidate.compiler or next(iter(self._programs))

    def _told(self, line: bytes) -> tuple[Task, Result]:
        data: dict[str, Any] = json.loads(line)
        task = self._under_way.pop(str(data.get("point")), None)
        if task is not None and data.get("type") == "refused":
            # No point of the program, or one that the files have no items of: no line of its own.
            result = _refused(task, self.input_hash(task), data["reason"], self._options.items)
            journal.append(self._path, result)
            return task, result
        entry = parse_line(line)
        if not isinstance(entry, Result) or task is None:
            raise UserError(
                f"daedalus-tune answered with {line[:200]!r}", "remove build/tune", EXIT_FAILED
            )
        return task, entry

    # ------------------------------------------------------------------ both at once

    @property
    def variants(self) -> Container[str]:
        """Names of those that were generated."""
        return self._made.hashes

    def mixed(self, words: Sequence[str], budget: float = 0) -> int:
        """Runs a job of M4, whose lines go into the journal; the program's exit status.

        Raises UserError where it cannot be done. `budget`: seconds, after which nothing is begun.
        """
        program = next(iter(self._programs.values()))
        every = [*self._words(program, self._path), *words]
        every += ["--budget", f"{budget:g}"] if budget else []
        with subprocess.Popen(
            every, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            env=self._environment, start_new_session=True,
        ) as process:  # fmt: skip
            assert process.stdout is not None
            try:
                for line in process.stdout:
                    self._say(line.rstrip())
                status = process.wait()
            except BaseException:
                _stop(process)
                raise
        if status not in (0, EXIT_FAILED):
            raise UserError(
                f"daedalus-tune, of M4: exit status {status}", "what it said stands above", status
            )
        return status

    # ------------------------------------------------------------------ programs

    def _build(self, compiler: str) -> Path:
        options = [
            f"-DDAEDALUS_GENERATED_DIR={self._made.folder}", "-DDAEDALUS_TUNE=ON",
            "-DDAEDALUS_ALLOW_UNVERIFIED=ON",
        ]  # fmt: skip
        if compiler == "clang":
            options += [f"-DCMAKE_C_COMPILER={native.CLANG}", "-DDAEDALUS_WERROR=OFF"]
            options += [f"-DDAEDALUS_MCPU={native.CLANG_CPU}"] if native.is_arm() else []
        folder = native.build_library(
            "host", targets=("daedalus-tune",), options=options,
            folder=str(self._folder.relative_to(build_dir()) / f"build-{compiler}"),
        )  # fmt: skip
        return folder / "daedalus-tune"

    def _write_data(self, entries: Sequence[Entry], say: Callable[[str], None]) -> list[Path]:
        out = []
        for seed in SEEDS:
            path = self._folder / f"items-{seed}"
            say(f"drawing items, seed {seed}")
            kernels = [(e.kernel, _assumed(e)) for e in entries]
            bench_data.write(path, kernels, DISTINCT, seed)
            out.append(path)
        return out

    def _words(self, program: Path, journal_file: Path) -> list[str]:
        o = self._options
        words = [*self._place.prefix, str(program), "--journal", str(journal_file)]
        words += [w for path in self._data for w in ("--data", str(path))]
        words += ["--items", str(o.items), "--generator", generator_hash(repo_root())]
        words += ["--samples", str(o.samples)] if o.samples else []
        return words + (["--point-seconds", str(o.point_seconds)] if o.point_seconds else [])

    @cached_property
    def _place(self) -> GpuDevice:
        """What stands before the program, and its environment."""
        name = self._options.vulkan
        if not name:
            return GpuDevice("here", "host")
        found, skips = devices.find([name], lambda arch: next(iter(self._programs.values())))
        if not found:
            raise UserError(f"{name}: {skips[0].reason}", exit_code=EXIT_MISSING)
        return found[0]

    @cached_property
    def _environment(self) -> dict[str, str]:
        return {**os.environ, **self._place.environment}

    def is_here(self, target: str) -> bool:
        """Whether points of a target can be measured: the engine lists some."""
        return target in self._listed

    @cached_property
    def _listed(self) -> set[str]:
        program = next(iter(self._programs.values()))
        words = [*self._place.prefix, str(program), "--list"]
        done = subprocess.run(words, capture_output=True, text=True, env=self._environment)
        return {parse_point(line).target for line in done.stdout.split()}

    def _ask(self, program: Path) -> Fingerprint:
        return told(lambda path: [*self._words(program, path), "--points", "-"], self._environment)

    def _engine(self, compiler: str) -> "_Engine":
        if compiler not in self._running:
            words = self._words(self._programs[compiler], self._path)
            self._running[compiler] = _Engine([*words, "--points", "-"], self._environment)
        return self._running[compiler]


def told(words: Callable[[Path], Sequence[str]], environment: Mapping[str, str]) -> Fingerprint:
    """What an engine says that it measures on. It runs without points, with a journal of its own,
    which then describes it; `words` gives the call with such a journal."""
    with tempfile.TemporaryDirectory(prefix="daedalus-tune-") as folder:
        path = Path(folder, "journal")
        done = subprocess.run(
            words(path), stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment
        )
        found = [e for e in journal.read(path).entries if isinstance(e, Described)]
    if not found:
        raise UserError(
            f"daedalus-tune: exit status {done.returncode}\n{done.stderr.strip()[-2000:]}",
            exit_code=EXIT_FAILED,
        )
    return found[0].fingerprint


class _Engine:
    """A running daedalus-tune. An interrupt of the terminal is for who drives it alone."""

    def __init__(self, words: Sequence[str], environment: dict[str, str]) -> None:
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment,
            start_new_session=True,
        )  # fmt: skip
        self._left = b""
        self._ready = selectors.DefaultSelector()
        assert self._process.stdout is not None
        self._ready.register(self._process.stdout, selectors.EVENT_READ)

    def write(self, point: str) -> None:
        """Gives it a point."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(f"{point}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            self._ended()

    def read(self, patience: float) -> bytes | None:
        """The next line; None where there is none yet."""
        assert self._process.stdout is not None
        if b"\n" not in self._left and self._ready.select(patience):
            data = os.read(self._process.stdout.fileno(), 65536)
            if not data:
                self._ended()
            self._left += data
        line, newline, rest = self._left.partition(b"\n")
        if not newline:
            return None
        self._left = rest
        return line

    def _ended(self) -> None:
        status = self._process.wait()
        raise UserError(
            f"daedalus-tune ended with status {status}", "what it said stands above", EXIT_FAILED
        )

    def end(self) -> None:
        """Has it finish: at once where a point is under way."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(_IDLE)
        except subprocess.TimeoutExpired:
            _stop(self._process)
        if self._process.stdout is not None:
            self._process.stdout.close()
        self._ready.close()


def _stop(process: subprocess.Popen[Any]) -> None:
    """Has an engine end cleanly, which takes it a second; harder where it does not."""
    process.send_signal(signal.SIGTERM)  # it may have been begun with SIGINT ignored
    try:
        process.wait(_ENDING)
    except subprocess.TimeoutExpired:
        console.print(f"daedalus-tune did not end in {_ENDING} s: it is killed")
        process.kill()
        process.wait()


def _assumed(entry: Entry) -> frozenset[str]:
    """What variants take for granted: all items keep to it, so that every point has the same."""
    return frozenset(a.name for a in entry.kernel.assumptions)


def _refused(
    task: Task, input_hash: str, reason: str, items: int, verdict: str = "refused"
) -> Result:
    place = str(task.point), task.fingerprint, task.scenario
    return unmeasured(*place, input_hash, reason, items, verdict)


def unmeasured(
    point: str, fingerprint: str, scenario: str, input_hash: str, reason: str, items: int,
    verdict: str,
) -> Result:  # fmt: skip
    """The result of a point that nothing is measured of."""
    return Result(
        fingerprint=fingerprint, key=result_key(point, scenario, input_hash),
        point=point, scenario=scenario, verdict=verdict, reason=reason, modelled=False,
        samples=0, items=items, seeds=SEEDS, verified_before=False, verified_after=False,
        input_hash=input_hash, when=now(),
    )  # fmt: skip
