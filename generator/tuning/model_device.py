# SPDX-License-Identifier: BSD-2-Clause
"""The model as a device: points side by side, as many as there are cores."""

import hashlib
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from daedalus.generator.base.errors import EXIT_MISSING, UserError
from daedalus.generator.base.paths import repo_root
from daedalus.generator.host import native
from daedalus.generator.measure.gpu import qpu
from daedalus.generator.options import QPU, TARGETS
from daedalus.generator.tuning import journal, model_points
from daedalus.generator.tuning.cpu_program import CALLER, SEEDS
from daedalus.generator.tuning.entries import Result, now, result_key
from daedalus.generator.tuning.fingerprint import NONE, Fingerprint, generator_hash, of_model
from daedalus.generator.tuning.journal import Terms
from daedalus.generator.tuning.task import Known, Task
from daedalus.generator.tuning.workers import Lost, Workers
from daedalus.v3d import driver

CHIP = "BCM2712"
# What decides a modelled time besides the code: the timing model and its profiles, what traces and
# corrects, and what is drawn.
_MODEL = (
    *CALLER, "v3d/profiles", "v3d/simulator",
    "tools/bench/qpu.toml", "tools/bench/layout.c", "runtime/tune/work.c",
    "generator/measure/neon", "generator/measure/gpu/glsl.py", "generator/measure/gpu/qpu.py",
    "generator/measure/gpu/taken.py", "generator/measure/trace.py", "generator/verify/qpu_trial.py",
    "generator/tuning/cpu_program.py", "generator/tuning/model_points.py",
    "generator/tuning/spills.py", "codecs/spills.toml", "dsl/vectors.py",
)  # fmt: skip


class ModelDevice:
    """C and NEON by llvm-mca, programs for the QPU by the timing model of the simulator, and by it
    what Mesa makes of GLSL."""

    # Vectors of portable C are for processors without NEON, which the modelled one is not.
    targets: tuple[str, ...] = tuple(t for t in TARGETS if t != "vector")
    listed = ("glsl",)  # of which those variants are done that stand in generated/
    writes = False
    batch = 2

    def __init__(self, jobs: int = 0) -> None:
        self.fingerprints = (fingerprint(),)
        self._workers: Workers[Task, Result | Known] = Workers(jobs or os.cpu_count() or 1, do)
        model_points.clean()

    def fingerprint(self, compiler: str) -> Fingerprint:
        """The model's."""
        return self.fingerprints[0]

    def is_here(self, target: str) -> bool:
        """Whether its tools are: Mesa's driver, or compilers for arm64, qemu and llvm-mca.

        What lays items out for the QPU is built here, before all workers ask for it at once; raises
        UserError where that cannot be.
        """
        if target == "glsl":
            return driver.built() is not None
        if target == QPU:
            return qpu.program().is_file()
        return bool(_cpu_tools())

    def scenario(self, target: str) -> str:
        """A sample of so many items."""
        return f"model items={model_points.items_of(target)}"

    def holds(self, result: Result) -> bool:
        """A modelled time stays as it is."""
        return journal.settled(result, Terms())

    @property
    def free(self) -> bool:
        return self._workers.free

    @property
    def busy(self) -> bool:
        return self._workers.busy

    def start(self, task: Task) -> None:
        """Has a process do it."""
        self._workers.start(task)

    def done(self, patience: float) -> Iterator[tuple[Task, Result | Known]]:
        """The results; a process that ended gives "lost"."""
        for task, result in self._workers.done(patience):
            if isinstance(result, Lost):
                yield task, _result(task, "", model_points.Modelled("lost", str(result)))
            else:
                yield task, result

    def end(self) -> None:
        """Ends the processes."""
        self._workers.end()


def do(task: Task) -> Result | Known:
    """Models a point."""
    options = task.candidate.options
    input_hash = model_points.input_hash(task.kernel, options)
    key = result_key(str(task.point), task.scenario, input_hash)
    if key in task.known:
        return Known(key, input_hash)
    return _result(task, input_hash, model_points.model(task.kernel, task.candidate))


def _result(task: Task, input_hash: str, found: model_points.Modelled) -> Result:
    f = found.figures
    point = str(task.point)
    return Result(
        fingerprint=task.fingerprint,
        key=result_key(point, task.scenario, input_hash),
        point=point,
        scenario=task.scenario,
        verdict=found.verdict,
        reason=found.reason,
        modelled=True,
        median=_ns(f.median if f else None),
        mad=0.0 if f else None,
        low=_ns(f.low if f else None),
        high=_ns(f.high if f else None),
        samples=1 if f else 0,
        empty=_ns(f.empty if f else None),
        gpu=_ns(f.gpu if f else None),
        items=model_points.items_of(task.candidate.options.target),
        seeds=SEEDS,
        verified_before=found.verified,
        verified_after=found.verified,
        input_hash=input_hash,
        when=now(),
    )


def _ns(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def fingerprint() -> Fingerprint:
    """Of modelled results: what models, what compiles, and the generated code."""
    root = repo_root()
    digest = hashlib.sha256()
    for name in _MODEL:
        path = root / name
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            if file.is_file() and "__pycache__" not in file.parts:
                digest.update(_named(file, root))
    return of_model(
        CHIP, f"timing model {digest.hexdigest()[:16]}", "; ".join(_cpu_tools()) or NONE,
        generator_hash(root),
    )  # fmt: skip


@cache
def _cpu_tools() -> tuple[str, ...]:
    """Versions of what decides a CPU variant's time; none where one of the tools is not here."""
    try:
        native.runner("aarch64")
        tools = model_points.tools()
        compilers = [native.compiler("aarch64"), native.tool(native.CLANG)]
        return *map(native.version_of, compilers), f"llvm-mca {tools.version} {tools.cpu}"
    except UserError as e:
        if e.exit_code != EXIT_MISSING:
            raise
        return ()


def _named(file: Path, root: Path) -> bytes:
    return str(file.relative_to(root)).encode() + b"\0" + file.read_bytes() + b"\0"
