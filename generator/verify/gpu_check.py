# SPDX-License-Identifier: BSD-2-Clause
"""Compares GPU variants with the reference interpreter, on a device, through the runtime.

The items are those of crosscheck.py, with two differences: their parameters lie in the declared
ranges, since the runtime refuses others before any variant sees them; and planes are aligned as a
variant wants them, as the runtime gives it no others. A variant gets the batches of its own
alignment, with its own size of workgroups and with others, copied by the runtime and in place.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from daedalus.dsl import interp, vectors
from daedalus.dsl.interp import Array
from daedalus.dsl.ir import Kernel
from daedalus.dsl.verify import written_box
from daedalus.generator.compile import layout
from daedalus.generator.compile.variants import Variant
from daedalus.generator.targets.gpu import device as limits
from daedalus.generator.verify.crosscheck import (
    DISPATCH,
    KINDS,
    Batch,
    Device,
    Outcome,
    compare,
    drawn,
    execute,
)

FRAME = "frame"
_WIDTH, _HEIGHT = 1920, 1088  # of a frame's luma plane
_DISTINCT = 4096  # items drawn for a frame; each stands in it several times
_MOST = 131072  # items of a frame; one of 4x4 blocks has 130,560

_THREADS = (1, 7, 24)  # that do a job in machine code, besides all that there are

Align = tuple[int, ...]  # of every buffer, in bytes


@dataclass(frozen=True)
class Way:
    """How a variant is run: see tools/check/gpu.h."""

    workgroup: int  # invocations, of machine code threads; 0: the variant's own
    memory: str

    def name(self, variant: str) -> str:
        return f"{variant} {self.workgroup} {self.memory}"


COPY, PLACE, WHOLE = "copy", "place", "whole"


def workgroups(variant: Variant) -> list[int]:
    """Sizes of workgroups that every device can run the variant with; of machine code, threads."""
    if variant.code is not None:
        return list(_THREADS)
    shader = variant.shader
    assert shader is not None
    most = limits.INVOCATIONS
    if shader.shared_bytes:
        most = min(most, limits.SHARED_BYTES // shader.shared_bytes * shader.invocations)
    sizes = [1 << n for n in range(4, 9)]
    return [s for s in sizes if shader.invocations <= s <= most] or [shader.workgroup]


def ways(variant: Variant, kind: str) -> list[Way]:
    """How a variant does the items of a kind: most of them as a caller would have it."""
    sizes = workgroups(variant)
    if kind == "conformant":
        return [Way(0, COPY)]
    if kind == "boundary":
        return [Way(0, PLACE), Way(sizes[0], COPY)]
    if kind == "hostile":
        return [Way(0, PLACE), Way(sizes[-1], PLACE)]
    if kind == FRAME:
        return [Way(0, WHOLE)]
    return [Way(size, (PLACE, COPY)[n % 2]) for n, size in enumerate(sizes)]


# ------------------------------------------------------------------------------ batches


def prepare(kernel: Kernel, aligns: Sequence[Align], count: int, seed: int) -> dict[
    Align, list[Batch]
]:  # fmt: skip
    """The batches of each alignment; the items are the same for all, but for neighbours."""
    found = []
    for kind in KINDS:
        items = vectors.in_range(kernel, drawn(kernel, count, seed, kind))
        found.append((kind, items, None if kind == "neighbours" else interp.run(kernel, items)))
    out: dict[Align, list[Batch]] = {}
    for align in dict.fromkeys(aligns):
        out[align] = []
        for kind, items, result in found:
            rng = np.random.default_rng([seed, KINDS.index(kind)])
            placed = layout.place(
                kernel, items, rng, upwards=kind == "boundary", close=result is None,
                align=by_name(kernel, align),
            )  # fmt: skip
            out[align].append(Batch(kind, placed, result or interp.run(kernel, placed.items)))
    return out


def prepare_frame(kernel: Kernel, align: Align, class_name: str, seed: int) -> Batch:
    """As many items of a class as a frame of 1920x1088 has, side by side in raster order."""
    across, down = frame_grid(kernel)
    count = min(across * down, _MOST)
    items = vectors.in_range(kernel, vectors.make_items(kernel, _DISTINCT, seed))
    items = items.take(np.flatnonzero(interp.in_class(kernel, class_name, items)))
    chosen = np.random.default_rng(seed).integers(0, items.count, count)
    placed = layout.place(
        kernel, items.take(chosen), np.random.default_rng([seed, 97]), upwards=False, close=True,
        align=by_name(kernel, align), across=across,
    )  # fmt: skip
    return Batch(FRAME, placed, interp.run(kernel, placed.items))


def frame_grid(kernel: Kernel) -> tuple[int, int]:
    """How many items lie side by side, and one below another, in a frame of 1920x1088."""
    rows, columns = _cell(kernel)
    return _WIDTH // columns, _HEIGHT // rows


def _cell(kernel: Kernel) -> tuple[int, int]:
    """Rows and columns of the frame that an item stands for: those that it writes in a plane."""
    boxes = [written_box(kernel, b) for b in kernel.buffers if b.kind == "plane"]
    sizes = [(box[0][1] - box[0][0], box[1][1] - box[1][0]) for box in boxes if box]
    rows, columns = max(sizes, key=lambda s: s[0] * s[1]) if sizes else (8, 8)
    return rows, max(columns, 4)


def by_name(kernel: Kernel, align: Align) -> dict[str, int]:
    """Alignments by the buffers' names."""
    return {b.name: a for b, a in zip(kernel.buffers, align, strict=True)}


# ------------------------------------------------------------------------------ comparing


def check_kernel(
    kernel: Kernel,
    variants: Sequence[Variant],
    device: Device,
    program: Path,
    batches_of: Callable[[Align, str], Sequence[Batch]],
    seed: int,
) -> list[Outcome]:
    """Runs GPU variants on a device, each on the batches of its alignment and class."""
    outcomes = {v.name: Outcome(kernel.id, device.target, v.name, device.name) for v in variants}
    groups: dict[tuple[Align, str], list[Variant]] = {}
    for v in variants:
        groups.setdefault((alignment(v), v.options.class_name), []).append(v)
    for (align, class_name), mine in groups.items():
        for batch in batches_of(align, class_name):
            rng = np.random.default_rng([seed, 99])
            runs = [(v, way, chosen_items(kernel, v, batch, rng)) for v in mine
                    for way in ways(v, batch.kind)]  # fmt: skip
            names = [(way.name(v.name), chosen) for v, way, chosen in runs]
            results = execute(program, device, batch, names)
            for (v, _, chosen), images in zip(runs, results, strict=True):
                compare(kernel, batch, outcomes[v.name], chosen, images, seed)
    return list(outcomes.values())


def check_dispatch(
    kernel: Kernel,
    device: Device,
    program: Path,
    batches: Sequence[Batch],
    seed: int,
) -> Outcome:
    """All items for the GPU as the runtime chooses variants: by class and by alignment."""
    outcome = Outcome(kernel.id, device.target, DISPATCH, device.name)
    for n, batch in enumerate(batches):
        if batch.kind != "hostile":
            everything = np.arange(batch.placed.items.count)
            way = Way(0, (COPY, PLACE)[n % 2])
            (images,) = execute(program, device, batch, [(way.name(DISPATCH), everything)])
            compare(kernel, batch, outcome, everything, images, seed)
    return outcome


def alignment(variant: Variant) -> Align:
    """What every buffer has to be aligned to for a variant, in bytes."""
    arguments = variant.code or variant.shader
    assert arguments is not None
    return arguments.align


def chosen_items(kernel: Kernel, v: Variant, batch: Batch, rng: np.random.Generator) -> Array:
    """The items of the variant's class; of hostile ones all, as items may lie about it."""
    mine = interp.in_class(kernel, v.options.class_name, batch.placed.items)
    if batch.kind == "hostile":
        mine = np.ones_like(mine)
    order = np.flatnonzero(mine)
    return order if batch.kind == FRAME else rng.permutation(order)
