# SPDX-License-Identifier: BSD-2-Clause
"""Compares variants in machine code with the reference interpreter, on the simulator alone.

The items are those of GLSL variants (vulkan/check.py), and besides: items that do not touch a
buffer, without that buffer; and the witnesses that were found for NEON variants, as inputs like any
other. Threads are as many as a board runs at once, and other numbers; jobs have whole batches and
cut ones. Where a variant has no form of instructions that is uncertain, some kinds are also run
with every setting that no public source settles the other way.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from daedalus.dsl import interp, vectors
from daedalus.dsl.interp import Items
from daedalus.dsl.ir import Kernel
from daedalus.generator.compile import layout
from daedalus.generator.compile.variants import Variant
from daedalus.generator.options import QPU
from daedalus.generator.targets.qpu.machine import QPUS
from daedalus.generator.verify.crosscheck import (
    WITHHELD,
    WITNESS,
    Batch,
    Device,
    Outcome,
    compare,
    execute,
    withheld,
)
from daedalus.generator.verify.gpu_check import Align, by_name, chosen_items

SIMULATOR = Device("simulator", QPU, "host")
DEVICES = (SIMULATOR.name,)
# Kind of items -> how many threads do them, and by which settings. Below 0: so many times as many
# as a board runs at once.
_WAYS = {
    "conformant": ((-1, "default"),),
    "boundary": ((1, "default"), (-1, "other")),
    "hostile": ((-1, "default"), (5, "other")),
    "neighbours": ((2, "default"), (7, "default"), (-2, "default")),
    WITHHELD: ((-1, "default"),),
    WITNESS: ((3, "default"),),
}


def further(
    kernel: Kernel, batches: Sequence[Batch], align: Align, witnesses: Items, seed: int
) -> list[Batch]:
    """What is run besides the batches of an alignment: items without a buffer, and witnesses."""
    out = withheld(kernel, batches[0].placed.items, seed, by_name(kernel, align))
    if witnesses.count:
        rng = np.random.default_rng([seed, 96])
        items = vectors.in_range(kernel, witnesses)
        placed = layout.place(kernel, items, rng, upwards=False, align=by_name(kernel, align))
        out.append(Batch(WITNESS, placed, interp.run(kernel, placed.items)))
    return out


# Forms of which the other settings leave what they count on as it is: tools/check/simulator.c.
_KEPT = frozenset({"FLAGS_SWITCH"})


def check_kernel(
    kernel: Kernel, variants: Sequence[Variant], program: Path, batches: Sequence[Batch], seed: int
) -> list[Outcome]:
    """Runs variants of one alignment."""
    outcomes = {v.name: Outcome(kernel.id, QPU, v.name, SIMULATOR.name) for v in variants}
    for batch in batches:
        rng = np.random.default_rng([seed, 99])
        runs = [
            (v, f"{v.name} simulate {threads} {settings}", chosen_items(kernel, v, batch, rng))
            for v in variants
            for threads, settings in ways(v, batch.kind)
            if settings == "default" or not set(forms(v)) - _KEPT
        ]
        results = execute(program, SIMULATOR, batch, [(name, chosen) for _, name, chosen in runs])
        for (v, _, chosen), images in zip(runs, results, strict=True):
            compare(kernel, batch, outcomes[v.name], chosen, images, seed)
    return list(outcomes.values())


def ways(v: Variant, kind: str) -> list[tuple[int, str]]:
    """How many threads do items of a kind, and by which settings."""
    in_flight = QPUS * v.options.threads
    return [(n if n > 0 else -n * in_flight, settings) for n, settings in _WAYS[kind]]


def forms(v: Variant) -> tuple[str, ...]:
    """The uncertain forms of instructions that it has."""
    assert v.code is not None
    return v.code.forms
