# SPDX-License-Identifier: BSD-2-Clause
"""One CPU variant as a program of its own for arm64: compiled, compared, traced.

tools/tune/point.c calls it; what it is given and how its output is compared is as in `check`, what
it executes is traced as in `bench --model`.
"""

import fcntl
import hashlib
import re
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

from daedalus.dsl import interp
from daedalus.dsl.interp import Array
from daedalus.dsl.ir import Kernel
from daedalus.generator.base.errors import EXIT_FAILED, UserError, WrongOutput
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.base.process import run
from daedalus.generator.compile import layout, sources
from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.variants import Variant
from daedalus.generator.host import native
from daedalus.generator.measure import trace
from daedalus.generator.verify import crosscheck
from daedalus.generator.verify.crosscheck import Batch, Device, Outcome

ITEMS = 8  # of a traced call: as many as a vector's lanes can be divided into
SEEDS = (1, 2)  # of the items that a variant is compared on before it counts
COMPARED = 24  # conformant items a class and seed; a fifth as many of the other kinds
# What calls a variant is compiled of, from the repository's root.
CALLER = (
    "tools/tune/point.c", "tools/check/job.c", "tools/check/job.h", "runtime/tune/base.c",
    "runtime/tune/base.h",
)  # fmt: skip
_TIMES = 3  # that the call is traced; the first may differ
_ARCH = "aarch64"
_ARRAY = re.compile(r"^( *)((?:u?int\d+_t) \w+(?:\[\d+\])+;)$", re.MULTILINE)


@dataclass(frozen=True)
class Made:
    """A variant compiled.

    program  that calls it
    arrays   the same with arrays of its own apart from the stack, so that what is stored there is
             what no register was left for; the program itself where it has no arrays
    """

    program: Path
    arrays: Path


@dataclass(frozen=True)
class _OnPoint(Device):
    """How crosscheck runs such a program."""

    outputs: str = ""

    def run(self, words: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
        argv = [*native.runner(self.arch), *map(str, words), self.outputs]
        return subprocess.run(argv, capture_output=True, text=True, timeout=300)


def compiler(name: str) -> list[str]:
    """gcc or clang, with the flags of the library's build for a Raspberry Pi 5."""
    flags = ["-std=c11", "-O2", "-fPIC", "-fvisibility=hidden"]
    if name == "gcc":
        return [native.compiler(_ARCH), *flags, f"-mcpu={native.CPU}"]
    cross = ["--target=aarch64-linux-gnu"] if native.is_cross(_ARCH) else []
    return [native.tool(native.CLANG), *cross, *flags, f"-mcpu={native.CLANG_CPU}"]


def build(variant: Variant, name: str, folder: Path) -> Made:
    """Compiles a variant by "gcc" or "clang" in a folder. Raises UserError where it does not."""
    folder.mkdir(parents=True, exist_ok=True)
    codec = variant.kernel.codec
    text = environment().get_template("variants.h.j2").render(codec=codec, variants=[variant])
    (folder / "variants.h").write_text(text)
    alone = sources.text(environment(), [replace(variant, prod=True)])
    program = _linked(variant, name, folder, "point", alone)
    apart = arrays_apart(alone)
    if apart == alone:
        return Made(program, program)
    return Made(program, _linked(variant, name, folder, "apart", apart))


def arrays_apart(text: str) -> str:
    """A variant's text with arrays of its own apart from the stack; as it is where it has none."""
    return _ARRAY.sub(r"\1static \2", text)


def _linked(variant: Variant, name: str, folder: Path, what: str, text: str) -> Path:
    source, made = folder / f"{what}.c", folder / what
    source.write_text(text)
    includes = [f"-I{i}" for i in (folder, *native.library_includes())]
    run([*compiler(name), *includes, "-c", source, "-o", f"{made}.o"], what=f"compiling {what}.c")
    words: list[str | Path] = [native.compiler(_ARCH), "-static", _caller(), f"{made}.o"]
    run([*words, f"-Wl,--defsym=point_function={variant.name}", "-o", made], what="linking")
    return made


@cache
def _caller() -> Path:
    """CALLER as one object, made anew where that changed."""
    files = [repo_root() / name for name in CALLER]
    sources = [f for f in files if f.suffix == ".c"]
    words = [native.compiler(_ARCH), *native.WARNINGS, *trace.FLAGS, "-r"]
    words += [f"-I{i}" for i in (repo_root() / "runtime", *native.library_includes())]
    text = "".join(p.read_text() for p in files)
    made_of = f"{words} {native.version_of(words[0])} {text}"
    key = hashlib.sha256(made_of.encode()).hexdigest()[:16]
    made = build_dir() / "tune" / f"point-{key}.o"
    made.parent.mkdir(parents=True, exist_ok=True)
    with (made.parent / "point.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.is_file():
            fresh = made.with_suffix(".new")
            run([*words, *sources, "-o", fresh], what="compiling tools/tune/point.c")
            fresh.replace(made)
    return made


# ------------------------------------------------------------------ comparing


@cache
def batches(kernel: Kernel, seed: int) -> list[Batch]:
    """The items that a kernel's variants are compared on, of a seed."""
    return crosscheck.prepare(kernel, COMPARED, seed)


def wrong(variant: Variant, program: Path) -> str:
    """What a variant computes that the reference interpreter does not, in words; "" for nothing."""
    kernel = variant.kernel
    device = _OnPoint("qemu", variant.options.target, _ARCH, outputs=_outputs(kernel))
    outcome = Outcome(kernel.id, variant.options.target, variant.name, device.name)
    for seed in SEEDS:
        for batch in batches(kernel, seed):
            items = batch.placed.items
            mine = interp.in_class(kernel, variant.options.class_name, items)
            if batch.kind == "hostile":  # also items that lie about their class
                mine = np.ones_like(mine)
            chosen = np.random.default_rng([seed, 99]).permutation(np.flatnonzero(mine))
            (images,) = crosscheck.execute(program, device, batch, [(variant.name, chosen)])
            crosscheck.compare(kernel, batch, outcome, chosen, images, seed)
            if outcome.failures:
                return outcome.failures[0]
    if not outcome.good:
        return f"{variant.name}: no conformant item was compared"
    return ""


def _outputs(kernel: Kernel) -> str:
    return "".join("r" if b.access == "in" else "w" for b in kernel.buffers)


# ------------------------------------------------------------------ tracing


@dataclass(frozen=True)
class Work:
    """What a traced call does: a batch, and those of its items that are done."""

    batch: Batch
    chosen: Array


@cache
def work_of(kernel: Kernel, class_name: str, assume: frozenset[str]) -> Work:
    """Conformant items of a class, of those that the dispatcher leaves for it where there are any.

    They keep to the assumptions as well. Raises UserError where none was drawn.
    """
    found = batches(kernel, SEEDS[0])[0]
    items = found.placed.items
    fit = found.result.conformant(kernel.defaults | assume)
    fit &= interp.in_class(kernel, class_name, items)
    left = fit.copy()
    for narrower in kernel.class_names[: kernel.class_names.index(class_name)]:
        left &= ~interp.in_class(kernel, narrower, items)
    chosen = np.flatnonzero(left if left.any() else fit)
    if not len(chosen):
        raise UserError(f"{kernel.id}: no conformant items of class {class_name} were drawn")
    some = items.take(np.resize(chosen, ITEMS))
    placed = layout.place(kernel, some, np.random.default_rng(SEEDS[0]), upwards=False)
    batch = Batch("conformant", placed, interp.run(kernel, placed.items))
    return Work(batch, np.arange(ITEMS))


def traced(variant: Variant, program: Path, work: Work) -> trace.Call:
    """What a call executes that does all items, its return included.

    Raises UserError where calls differ, WrongOutput where they leave something wrong.
    """
    kernel, placed = variant.kernel, work.batch.placed
    with tempfile.TemporaryDirectory(prefix="daedalus-tune-") as folder:
        job = Path(folder, "job")
        job.write_bytes(layout.job(placed, [(variant.name, work.chosen)], at_start=False))
        found = trace.work(program, [str(job), "trace", _outputs(kernel), str(_TIMES)])
    _, *later = found.pieces
    if any(piece != later[0] for piece in later) or len(later[0]) != 1:
        raise UserError(
            f"{variant.name}: a call does not always execute the same instructions",
            exit_code=EXIT_FAILED,
        )
    outcome = Outcome(kernel.id, variant.options.target, variant.name, "qemu")
    crosscheck.compare(
        kernel, work.batch, outcome, work.chosen, _images(found.pixels, placed), SEEDS[0]
    )
    if outcome.failures:
        raise WrongOutput(outcome.failures[0])
    return later[0][0]


def _images(data: bytes, placed: layout.Placed) -> list[Array]:
    out, at = [], 0
    for b in placed.buffers:
        if b.buffer.access != "in":
            raw = np.frombuffer(data[at : at + len(b.bytes)], np.uint8)
            out.append(raw.view(layout.numpy_type(b.buffer)))
            at += len(b.bytes)
    return out
