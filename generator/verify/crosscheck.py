# SPDX-License-Identifier: BSD-2-Clause
"""Compares every variant with the reference interpreter, bit for bit.

A *device* is a way to run a target here: C natively, NEON under qemu (natively on arm64) and
natively through SIMDe, GLSL on Vulkan devices (vulkan/check.py). For each kernel and kind of items
one job is written; a small C program runs all variants of a device on it; what they leave in memory
is compared element by element, guards included. Functions for many items are in
crosscheck_items.py.
"""

import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np

from daedalus.dsl import interp, vectors
from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import Kernel
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.base.paths import build_dir, repo_root
from daedalus.generator.compile import layout
from daedalus.generator.devices.validation import complaints
from daedalus.generator.devices.vulkan import GpuDevice
from daedalus.generator.host import native
from daedalus.generator.options import GPU_TARGETS, Options, parse_variant
from daedalus.generator.verify import part
from daedalus.v3d import tools
from daedalus.v3d.comparison import failed_jobs

# What is drawn, and beside it how it is laid out: neighbours are conformant items without guards
# between them, withheld ones conformant items without the buffers that they do not touch.
KINDS = ("conformant", "boundary", "hostile", "neighbours")
WITHHELD = "withheld"
WITNESS = "witness"  # a further kind: items that tell lowerings from plainer ones (witness.py)
_PATIENCE = 1800  # seconds for one program; emulated and sanitized ones are slow

# Items drawn for each one asked for, per class: a few more conformant ones than asked for, since a
# variant that takes more for granted than the standard says compares only those that grant it.
SHARES = {"conformant": 1.1, "boundary": 0.2, "hostile": 0.2, "neighbours": 0.1}

_WITHOUT = 64  # items that a buffer is withheld from
_GROUP = 8  # times that a witness stands in a row: a multiple of what a variant does side by side


@dataclass(frozen=True)
class Device:
    """A way to run a target: its name in reports, and the build that does it.

    gpu  how a program of that build is given a Vulkan device; None: it runs as it is
    """

    name: str
    target: str
    arch: str
    gpu: GpuDevice | None = None

    def run(self, words: Sequence[str | Path]) -> subprocess.CompletedProcess[str]:
        """Runs a program of the build, which is the first word."""
        if self.gpu is not None:
            if self.gpu.log is not None:
                self.gpu.log.unlink(missing_ok=True)
            return self.gpu.run(words, timeout=_PATIENCE)
        argv = [*native.runner(self.arch), *map(str, words)]
        return subprocess.run(argv, capture_output=True, text=True, timeout=_PATIENCE)

    def complaint(self, said: str) -> str:
        """What makes runs worthless in which the program's standard error has that."""
        if self.gpu is None:
            return ""
        told = complaints(self.gpu.log) if self.gpu.log is not None else []
        if told:
            return f"the validation layers: {told[0]}"
        jobs = failed_jobs(said) if self.gpu.simulated else []
        return f"the simulated device reports: {jobs[0]}" if jobs else ""


def devices(targets: tuple[str, ...]) -> list[Device]:
    """Every way to run the targets on this machine."""
    if native.is_arm():
        found = [Device("native", t, "host") for t in ("c", "vector", "neon")]
    else:
        found = [
            Device("native", "c", "host"),
            Device("native", "vector", "host"),
            Device(f"qemu {native.CPU}", "neon", "aarch64"),
            Device("simde", "neon", "simde"),
        ]
    return [d for d in found if d.target in targets]


@dataclass
class Outcome:
    """One variant on one device: the report's line."""

    kernel: str
    target: str
    variant: str
    device: str
    items: int = 0
    conformant: int = 0
    mismatches: int = 0
    out_of_bounds: int = 0
    wanted: int = 1  # conformant items below which nothing was shown
    asked: int = 1  # conformant items of a variant that were asked for
    failures: list[str] = field(default_factory=list)
    compiler: str = ""  # what made it, where C was compiled for the device: its version line

    @property
    def good(self) -> bool:
        enough = self.conformant >= self.wanted
        return enough and self.mismatches == 0 and self.out_of_bounds == 0

    def record(self) -> dict[str, object]:
        """The fixed fields of `check --json`."""
        return {
            "kernel": self.kernel, "target": self.target, "variant": self.variant,
            "device": self.device, "items": self.items, "conformant": self.conformant,
            "mismatches": self.mismatches, "out_of_bounds": self.out_of_bounds,
        }  # fmt: skip


@dataclass(frozen=True)
class Batch:
    """Items of one kind in memory, and what the interpreter makes of them."""

    kind: str
    placed: layout.Placed
    result: interp.Result


@lru_cache(maxsize=len(KINDS))
def drawn(kernel: Kernel, count: int, seed: int, kind: str) -> Items:
    """The items of a kind. Kept of one kernel, as the GPU's variants are given the same; so none of
    their arrays may be written to."""
    n = max(16, int(count * len(kernel.class_names) * SHARES[kind]))
    close = kind == "neighbours"
    items = vectors.make_items(kernel, n, seed + close, "conformant" if close else kind)
    for array in (*items.buffers.values(), *items.params.values()):
        array.flags.writeable = False
    return items


def prepare(kernel: Kernel, count: int, seed: int, witnesses: Items | None = None) -> list[Batch]:
    """The batches of a kernel; `witnesses` are one, if there are any.

    Boundary items lie in planes whose rows run upwards; neighbours touch, or share what they read.
    Where conditional stages leave some items a buffer unread, these get a batch without it.
    """
    out = []
    for kind in KINDS:
        items, close = drawn(kernel, count, seed, kind), kind == "neighbours"
        rng = np.random.default_rng([seed, KINDS.index(kind)])
        placed = layout.place(kernel, items, rng, upwards=kind == "boundary", close=close)
        out.append(Batch(kind, placed, interp.run(kernel, placed.items)))
    if witnesses is not None and witnesses.count:
        # Each has whole groups, so it is in every place of them, whichever class they are of. And
        # twice: once for the call that does several items, once for those that do one.
        once = np.repeat(np.arange(witnesses.count), _GROUP)
        items = witnesses.take(np.concatenate([once, once]))
        rng = np.random.default_rng([seed, len(KINDS)])
        placed = layout.place(kernel, items, rng, upwards=False)
        out.append(Batch(WITNESS, placed, interp.run(kernel, items)))
    return out + withheld(kernel, out[0].placed.items, seed)


def withheld(
    kernel: Kernel, items: Items, seed: int, align: Mapping[str, int] | None = None
) -> list[Batch]:
    """For every buffer that some items do not touch: some of these, and nothing where it was."""
    out = []
    for name, spared in interp.untouched(kernel, items).items():
        chosen = items.take(np.flatnonzero(spared)[:_WITHOUT])
        if chosen.count:
            rng = np.random.default_rng([seed, 98])
            placed = layout.place(kernel, chosen, rng, upwards=False, withheld=name, align=align)
            out.append(Batch(WITHHELD, placed, interp.run(kernel, placed.items)))
    return out


def exclusions(kernel: Kernel, batches: list[Batch]) -> list[str]:
    """A line per assumption: how many items it keeps out of the comparison."""
    lines = []
    for a in kernel.assumptions:
        kind = "boundary" if a.default else "conformant"
        broken = next(b.result.broken[a.name] for b in batches if b.kind == kind)
        lines.append(
            f"{kernel.id}: assumption {a.name} excludes {100 * broken.mean():.1f} % of the"
            f" {kind} items" + ("" if a.default else " where a variant takes it for granted")
        )
    return lines


def check_kernel(
    kernel: Kernel,
    variants: list[str],
    device: Device,
    program: Path,
    batches: list[Batch],
    seed: int,
) -> list[Outcome]:
    """Runs variants of one target on one device and compares."""
    outcomes = {v: Outcome(kernel.id, device.target, v, device.name) for v in variants}
    for batch in batches:
        items = batch.placed.items
        rng = np.random.default_rng([seed, 99])
        runs = []
        for v in variants:
            mine = interp.in_class(kernel, options_in(v).class_name, items)
            if batch.kind == "hostile":  # also items that lie about their class
                mine = np.ones_like(mine)
            order = np.flatnonzero(mine)
            runs.append((v, order if batch.kind == WITNESS else rng.permutation(order)))
        for (variant, chosen), images in zip(
            runs, execute(program, device, batch, runs), strict=True
        ):
            compare(kernel, batch, outcomes[variant], chosen, images, seed)
    return list(outcomes.values())


def check_dispatch(
    kernel: Kernel, device: Device, program: Path, batches: list[Batch], seed: int
) -> Outcome:
    """All items of a batch through the public dispatch: classes are told apart by the runtime.

    Hostile items are left out, since the runtime refuses parameters outside their range.
    """
    outcome = Outcome(kernel.id, device.target, DISPATCH, device.name)
    for batch in batches:
        if batch.kind != "hostile":
            everything = np.arange(batch.placed.items.count)
            (images,) = execute(program, device, batch, [(DISPATCH, everything)])
            compare(kernel, batch, outcome, everything, images, seed)
    return outcome


# Stand for a variant's name where the runtime chooses, item by item, and where the public
# functions for many items do.
DISPATCH = "dispatch"
ITEMS = "items"


def options_in(variant: str) -> Options:
    """Of a variant's name; a plain one where the runtime or a public function chooses."""
    return Options() if variant in (DISPATCH, ITEMS) else parse_variant(variant)[1]


def sources() -> list[Path]:
    """Of the check program."""
    shared = repo_root() / "runtime" / "tune" / "base.c"
    return [*sorted((repo_root() / "tools" / "check").glob("*.c")), shared]


def includes(generated: Path | None = None) -> list[Path]:
    """Where they find headers; `generated` ones elsewhere than in this checkout, if given."""
    return [repo_root() / "runtime", *native.library_includes(generated)]


def program(
    arch: str, *, sanitize: bool = False, loads: bool = False, simulates: bool = False,
    generated: Path | None = None,
) -> Path:  # fmt: skip
    """The check program for a build, linked with all variants, or with those in a folder that is
    `generated` for some kernels alone (part.py).

    One that `loads` can open a Vulkan driver, and needs the C library of where it runs. One that
    `simulates` has the simulator of V3D.
    """
    # SIMDe's inlined code under the address sanitizer takes gcc ten times as long as clang.
    clang = sanitize and arch == "simde" and native.clang_sanitizes()
    folder = native.build_library(
        arch,
        sanitize,
        clang=clang,
        targets=("daedalus_variants",),
        options=("-DDAEDALUS_ALLOW_UNVERIFIED=ON", *(part.options(generated) if generated else ())),
        folder=f"{generated.parent.name}/{_build(arch, sanitize, clang)}" if generated else "",
    )
    folders, libraries = (
        includes(generated and generated / "include"),
        [folder / "libdaedalus_variants.a"],
    )
    flags = ["-fsanitize=address,undefined"] if sanitize else ["-ldl"] if loads else []
    if simulates:
        folders.append(repo_root() / "v3d" / "include")
        libraries.append(tools.simulator(sanitize=sanitize))
        flags.append("-DCHECK_SIMULATOR=1")
    name = "check-simulator" if simulates else "check-vulkan" if loads else "check"
    return native.compile_program(
        arch,
        build_dir() / ("check-part/bin" if generated else "check") / folder.name / name,
        sources(),
        includes=folders,
        libraries=libraries,
        flags=flags,
        static=not (sanitize or loads),
        clang=clang,
    )


def _build(arch: str, sanitize: bool, clang: bool) -> str:
    return arch + ("-sanitize" if sanitize else "") + ("-clang" if clang else "")


Images = list[Array] | str  # one an output buffer, or what went wrong

# What tools/check/main.c says of a run that went wrong.
_OUTCOMES = {
    1: "wrote to a buffer it may only read",
    2: "the library does not contain it",
    3: "touched memory outside its buffers",
    4: "the append refused the items",
    5: "the GPU did not do it, or wrote outside of its memory",
    6: "did not clear the items' blocks, and no others",
}
_EXPLAINED = (_OUTCOMES[4], _OUTCOMES[5])  # by what the program printed


def execute(exe: Path, device: Device, batch: Batch, runs: list[tuple[str, Array]]) -> list[Images]:
    """The memory after each run; when a run ends the program, the remaining are done anew."""
    results: list[Images] = []
    with tempfile.TemporaryDirectory(prefix="daedalus-check-") as folder:
        job, answer = Path(folder, "job"), Path(folder, "result")
        while len(results) < len(runs):
            left = runs[len(results) :]
            job.write_bytes(layout.job(batch.placed, left, at_start=batch.kind == "boundary"))
            answer.unlink(missing_ok=True)
            done = device.run([exe, job, answer])
            said = done.stderr.strip()[-3000:]
            if done.returncode in (2, 4) or not answer.is_file():
                raise UserError(f"{exe.name} on {device.name}: {said}", exit_code=EXIT_FAILED)
            got = _read_answer(answer.read_bytes(), batch, len(left))
            if done.returncode not in (0, 3) and len(got) < len(left):
                got.append(f"ended the program (status {done.returncode})\n{said}")
            complaint = device.complaint(done.stderr)
            if complaint:
                got = [complaint for _ in got]
            got = [f"{g}\n{said}" if g in _EXPLAINED else g for g in got]
            if not got:
                raise UserError(
                    f"{exe.name} on {device.name}: no result\n{said}", exit_code=EXIT_FAILED
                )
            results += got
    return results


def _read_answer(data: bytes, batch: Batch, expected: int) -> list[Images]:
    outputs = [b for b in batch.placed.buffers if b.buffer.access != "in"]
    images: list[Images] = []
    at = 0
    while at < len(data) and len(images) < expected:
        outcome = int.from_bytes(data[at : at + 8], "little")
        at += 8
        if outcome in (2, 3):
            images.append(_OUTCOMES[outcome])
            continue
        got: list[Array] = []
        for b in outputs:
            raw = np.frombuffer(data[at : at + len(b.bytes)], np.uint8)
            got.append(raw.view(layout.numpy_type(b.buffer)))
            at += len(b.bytes)
        images.append(got if outcome == 0 else _OUTCOMES[outcome])
    return images


def compare(
    kernel: Kernel, batch: Batch, outcome: Outcome, chosen: Array, images: Images, seed: int
) -> None:
    """Adds one run to a variant's outcome."""
    options = options_in(outcome.variant)
    assume = kernel.defaults | set(options.assume)
    in_class = interp.in_class(kernel, options.class_name, batch.placed.items)
    conformant = (batch.result.conformant(assume) & in_class)[chosen]
    outcome.items += len(chosen)
    if isinstance(images, str):
        outcome.out_of_bounds += 1
        outcome.failures.append(
            f"{outcome.variant} on {outcome.device}, {batch.kind} items: {images}"
        )
        return
    outcome.conformant += int(conformant.sum())
    outputs = [b for b in batch.placed.buffers if b.buffer.access != "in"]
    wrong_items = np.zeros(len(chosen), dtype=bool)
    for b, image in zip(outputs, images, strict=True):
        want = batch.result.buffers[b.buffer.name][chosen]
        got = image[b.where[chosen]].astype(np.int64)
        wrong = (want != got) & conformant.reshape(-1, *[1] * (want.ndim - 1))
        if wrong.any():
            outcome.failures += _describe(batch, b, outcome, chosen, wrong, want, got, seed)
        wrong_items |= wrong.any(axis=tuple(range(1, wrong.ndim)))
        allowed = layout.may_write(kernel, b)
        untouched = np.setdiff1d(np.arange(batch.placed.items.count), chosen)
        allowed[b.where[untouched].ravel()] = False
        strayed = (image != b.elements) & ~allowed
        if strayed.any():
            first = int(np.argmax(strayed))
            outcome.out_of_bounds += int(strayed.sum())
            outcome.failures.append(
                f"{outcome.variant} on {outcome.device}, {batch.kind} items: wrote"
                f" {int(strayed.sum())} elements of {b.buffer.name} outside its items,"
                f" first at element {first} of the image: {b.elements[first]} became {image[first]}"
            )
    outcome.mismatches += int(wrong_items.sum())


def _describe(
    batch: Batch, b: layout.PlacedBuffer, outcome: Outcome, chosen: Array, wrong: Array,
    want: Array, got: Array, seed: int,
) -> list[str]:  # fmt: skip
    """The first wrong elements: item, position, expected, got."""
    lines = []
    for place in np.argwhere(wrong)[:3]:
        position = ", ".join(
            str(int(p) + lo) for p, (lo, _) in zip(place[1:], b.buffer.shape, strict=True)
        )
        item = int(chosen[place[0]])
        params = ", ".join(f"{n}={a[item].tolist()}" for n, a in batch.placed.items.params.items())
        lines.append(
            f"{outcome.variant} on {outcome.device}, {batch.kind} item {item} (seed {seed}"
            f"{'; ' if params else ''}{params}): {b.buffer.name}[{position}]"
            f" expected {int(want[tuple(place)])}, got {int(got[tuple(place)])}"
        )
    return lines


def replay_command(outcome: Outcome, seed: int) -> str:
    """The command that shows the same failure again."""
    device = f" --device {outcome.device}" if outcome.target in GPU_TARGETS else ""
    return (
        f"./daedalus check {outcome.kernel} --target {outcome.target}{device}"
        f" --items {outcome.asked} --seed {seed}"
    )
