# SPDX-License-Identifier: BSD-2-Clause
"""What a point takes by the models, one sample: an interval, or why there is none.

A CPU variant is compared with the interpreter under qemu, traced, and modelled by llvm-mca
(docs/neon-model.md); a program for the QPU is compared on the simulator, strictly, and modelled by
its timing model (docs/v3d-timing.md). No time counts of a point that was not compared.
"""

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from daedalus.dsl import vectors
from daedalus.generator.base.errors import EXIT_MISSING, UserError, WrongOutput
from daedalus.generator.base.paths import build_dir
from daedalus.generator.compile.manifest import input_hashes
from daedalus.generator.compile.registry import Entry, find, load
from daedalus.generator.measure.gpu import bench_data, compare, glsl, qpu
from daedalus.generator.measure.gpu.qpu import Layout
from daedalus.generator.measure.gpu.taken import Taken
from daedalus.generator.measure.neon import llvm
from daedalus.generator.measure.neon.corrections import corrected
from daedalus.generator.measure.neon.llvm import Llvm
from daedalus.generator.measure.neon.text import Line, activations, stack
from daedalus.generator.measure.trace import Call
from daedalus.generator.options import GPU_TARGETS, QPU, Options
from daedalus.generator.targets.qpu.machine import QPUS
from daedalus.generator.targets.qpu.text import assembly
from daedalus.generator.tuning import cpu_program, made, spills
from daedalus.generator.tuning.cpu_program import ITEMS, SEEDS
from daedalus.generator.tuning.space import Candidate
from daedalus.generator.verify.qpu_trial import Scheduled, trial

QPU_ITEMS = 32640  # of a dispatch: the 8x8 blocks of 1920x1088, as `bench --qpu` has it
DISTINCT = 256  # items a class, each of which stands in a dispatch many times
ERROR = 0.10  # of llvm-mca's cycles, where nothing else is known of the kernel
# What a tool says that had no room or was ended, by SIGKILL or SIGTERM: nothing of the point. One
# that another signal ends, as an abort, does so because of the point.
_PASSING = re.compile(
    r"exit status -(9|15)\b|Killed signal|No space left on device|Cannot allocate memory"
    "|virtual memory exhausted"
)
_MODELLED = 20_000  # instructions that llvm-mca repeats a trace to, about


@dataclass(frozen=True)
class Figures:
    """Of an item, in ns: by the default settings, and within what the model leaves open.

    gpu, empty  of a dispatch: the GPU's own part, and what a dispatch of nothing takes
    """

    median: float
    low: float
    high: float
    gpu: float | None = None
    empty: float | None = None


@dataclass(frozen=True)
class Modelled:
    """What became of a point; figures only with the verdict "ok"."""

    verdict: str
    reason: str = ""
    figures: Figures | None = None
    verified: bool = False


def items_of(target: str) -> int:
    """Of a sample."""
    return QPU_ITEMS if target in GPU_TARGETS else ITEMS


def input_hash(kernel_id: str, options: Options) -> str:
    """The hash of a variant; "" where the back end refuses it."""
    entry = entry_of(kernel_id)
    try:
        if options.target == QPU:
            return made.machine_code(entry, options).input_hash
        return made.text_variant(entry, options).input_hash
    except made.Refused:
        return ""


def model(kernel_id: str, candidate: Candidate) -> Modelled:
    """Compares and models a point."""
    by_target = {QPU: _on_qpu, "glsl": _by_vulkan}
    try:
        return by_target.get(candidate.options.target, _on_cpu)(entry_of(kernel_id), candidate)
    except made.Refused as e:
        return Modelled("refused", str(e))
    except subprocess.TimeoutExpired as e:
        return Modelled("timeout", f"{e.cmd[0]}: not done after {e.timeout:.0f} s")
    except WrongOutput as e:
        return Modelled("wrong", _first(e.message))
    except UserError as e:
        reason = _first(e.message)
        passing = e.exit_code == EXIT_MISSING or _PASSING.search(e.message) is not None
        return Modelled("unavailable" if passing else "failed", reason)


def _first(message: str) -> str:
    """What went wrong, in a line: of a compiler's output the first error as well."""
    lines = [line.strip() for line in message.splitlines() if line.strip()] or ["it failed"]
    errors = [line for line in lines[1:] if "error" in line]
    return "; ".join([lines[0], *errors[:1]])[:400]


def entry_of(kernel_id: str) -> Entry:
    """A kernel that there is."""
    entry = find(load(), kernel_id)
    assert entry is not None, kernel_id
    return entry


# ------------------------------------------------------------------ CPU


def _on_cpu(entry: Entry, candidate: Candidate) -> Modelled:
    variant = made.text_variant(entry, candidate.options)
    with _folder() as folder:
        program = cpu_program.build(variant, candidate.compiler, folder)
        difference = cpu_program.wrong(variant, program.program)
        if difference:
            return Modelled("wrong", difference.splitlines()[0])
        work = cpu_program.work_of(
            entry.kernel, candidate.options.class_name, frozenset(candidate.options.assume)
        )
        call = cpu_program.traced(variant, program.program, work)
        apart = call
        if program.arrays != program.program:
            apart = cpu_program.traced(variant, program.arrays, work)
    group = (entry.kernel.id, candidate.options.class_name, candidate.options.target)
    why = spills.reason(group, _spilled(apart), len(apart.words), ITEMS)
    if why:
        return Modelled("spills", why, verified=True)
    lines = corrected(_text(call))
    times = max(2, _MODELLED // len(lines))
    d3, d4 = (tools().total(lines, dispatch=d, times=times) / ITEMS for d in (3, 4))
    slow, fast, error = max(d3, d4), min(d3, d4), error_of(entry.kernel.id)
    ghz = compare.NEON_GHZ
    figures = Figures(d3 / ghz, fast / ghz / (1 + error), slow / ghz * (1 + error))
    return Modelled("ok", figures=figures, verified=True)


def error_of(kernel_id: str) -> float:
    """By how much modelled cycles may be off."""
    return next((w.spread for w in compare.wishes() if w.kernel == kernel_id), ERROR)


@cache
def tools() -> Llvm:
    """LLVM's."""
    return llvm.find()


def _text(call: Call) -> list[str]:
    """The instructions of a call, each different one disassembled once."""
    words = tuple(dict.fromkeys(call.words))
    texts = dict(zip(words, tools().disassemble(words), strict=True))
    return [texts[w] for w in call.words]


def _spilled(call: Call) -> int:
    functions = activations([Line(text) for text in _text(call)])
    return sum(stack(lines).spilled for lines in functions)


# ------------------------------------------------------------------ QPU


def _on_qpu(entry: Entry, candidate: Candidate) -> Modelled:
    options = candidate.options
    code = made.machine_code(entry, options)
    in_flight = QPUS * options.threads
    run = Scheduled(options.threads, lambda programs, threads: code.code)
    for seed in SEEDS:
        for batch in cpu_program.batches(entry.kernel, seed):
            lying = batch.kind == "hostile"
            items = vectors.in_range(entry.kernel, batch.placed.items)
            o = trial(
                entry.kernel, options, items, seed, threads=in_flight, lying=lying, run=run,
                upwards=batch.kind == "boundary", s=code.selected,
            )  # fmt: skip
            if o.mismatches or o.strayed:
                return Modelled("wrong", f"{batch.kind} items, seed {seed}: {o.first}")
    laid_out = _layout(entry, options.class_name)
    taken = qpu.model(options.name, code.selected, assembly(code.code), laid_out)
    return Modelled("ok", figures=figures_of(taken), verified=True)


def figures_of(taken: Taken) -> Figures:
    """Of an item of a modelled dispatch."""
    ns = [t.dispatch_ns / taken.items for t in taken.by.values()]
    base = taken.base
    return Figures(
        base.dispatch_ns / taken.items, min(ns), max(ns), gpu=base.ns / taken.items,
        empty=float(base.dispatch_ns - base.ns),
    )  # fmt: skip


@cache
def _layout(entry: Entry, class_name: str) -> Layout:
    """A dispatch of a class in memory, as tools/bench lays it out."""
    with _folder() as folder:
        return qpu.layout(entry.kernel.id, class_name, _items(entry, folder), QPU_ITEMS, folder)


def _items(entry: Entry, folder: Path) -> Path:
    """The file of what stands in a dispatch."""
    path = folder / "items"
    path.write_bytes(_item_bytes(entry))
    return path


@cache
def _item_bytes(entry: Entry) -> bytes:
    with _folder() as folder:
        bench_data.write(folder / "items", [(entry.kernel, frozenset())], DISTINCT, SEEDS[0])
        return (folder / "items").read_bytes()


# ------------------------------------------------------------------ GLSL


def _by_vulkan(entry: Entry, candidate: Candidate) -> Modelled:
    """A variant of generated/ through Mesa's driver; tools/bench compares every byte it leaves."""
    variant = made.text_variant(entry, candidate.options)
    if input_hashes().get(variant.name) != variant.input_hash:
        return Modelled(
            "failed", "it does not stand in generated/ as the specs give it: run ./daedalus gen"
        )
    with _folder() as folder:
        taken = glsl.model(
            entry.kernel.id, candidate.options.class_name, variant.name, candidate.workgroup,
            _items(entry, folder), QPU_ITEMS, folder / "jobs",
        )  # fmt: skip
    return Modelled("ok", figures=figures_of(taken), verified=True)


@contextmanager
def _folder() -> Iterator[Path]:
    """For files of one point; beside those of other processes."""
    place = _work() / str(os.getpid())
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield Path(folder)


def _work() -> Path:
    return build_dir() / "tune" / "work"


def clean() -> None:
    """Removes what points have left whose processes were killed."""
    for folder in _work().glob("*"):
        if not Path("/proc", folder.name).exists():
            shutil.rmtree(folder, ignore_errors=True)
