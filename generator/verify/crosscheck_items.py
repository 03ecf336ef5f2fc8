# SPDX-License-Identifier: BSD-2-Clause
"""Compares functions for many items with the reference interpreter: those of variants and the
public ones, `daedalus_items_<kernel>` and `daedalus_clearing_items_<kernel>`.

Conformant items are compared bit for bit. Hostile ones, whose parameters are anything, need only
leave all other memory alone: both kinds of functions are run on them as well.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np

from daedalus.dsl import interp, vectors
from daedalus.dsl.interp import Array, Items
from daedalus.dsl.ir import Kernel
from daedalus.generator.compile import layout
from daedalus.generator.compile.classes import of_whole_rows
from daedalus.generator.compile.clearing import cleared_blocks
from daedalus.generator.compile.pieces import counted
from daedalus.generator.verify.crosscheck import (
    ITEMS,
    SHARES,
    Batch,
    Device,
    Outcome,
    compare,
    execute,
    options_in,
)

ROW, COLUMN, HOSTILE_ROW = REGULAR = ("row", "column", "hostile row")  # prepare_regular()
TALL = "tall"  # where decoders have blocks of more rows than an item has
CLEARING = "clearing"
_EQUAL = (1, 2, 3, 16)  # items below each other in tall blocks; calls take half of them
HOSTILE_CLEARING = f"hostile {CLEARING}"  # what lies about its class may be cleared in part


def prepare_regular(kernel: Kernel, count: int, seed: int) -> list[Batch]:
    """Batches of items that are laid out regularly, for the functions that do many of them.

    In a row items touch, so far as they may; in a column there is a guard between them, rows run
    upwards, and three items in turn are the same. Of a hostile row every other item has the
    parameters of a conformant one, so that all classes are taken for items that may lie about them.
    Tall blocks are items with all rows and no gap, of which 1 to 16 in turn are the same; in the
    second batch of these, rows run upwards.
    """
    out: list[Batch] = []
    n = max(16, int(count * len(kernel.class_names) * SHARES["neighbours"]))
    for number, kind in enumerate(REGULAR):
        drawn = "hostile" if kind == HOSTILE_ROW else "conformant"
        items = vectors.make_items(kernel, n, seed + 2 + number, drawn)
        if kind == COLUMN:
            items = items.take(np.repeat(np.arange(-(-n // 3)), 3))
        if kind == HOSTILE_ROW:
            items = _claiming(items, out[0].placed.items)
        rng = np.random.default_rng([seed, 97, number])
        close, across = kind != COLUMN, 1 if kind == COLUMN else items.count
        placed = layout.place(kernel, items, rng, upwards=not close, close=close, across=across)
        out.append(Batch(kind, placed, interp.run(kernel, placed.items)))
    return [*out, *_prepare_tall(kernel, n, seed)]


def _prepare_tall(kernel: Kernel, count: int, seed: int) -> list[Batch]:
    rows = counted(kernel)
    if not rows:
        return []
    most = kernel.param(rows).hi
    items = vectors.make_items(kernel, count, seed + 2 + len(REGULAR), "conformant")
    whole = np.flatnonzero(items.params[rows] == most)
    if not len(whole):
        raise AssertionError(f"{kernel.id}: no item of {count} has all {most} rows")
    out = []
    for n, upwards in enumerate((False, True)):
        rng = np.random.default_rng([seed, 97 + n, len(REGULAR)])
        equal = rng.choice(_EQUAL, len(whole))
        some = items.take(np.repeat(whole, equal)[: -(-count // 2)])
        placed = layout.place(kernel, some, rng, upwards=upwards, close=True, across=1, down=most)
        out.append(Batch(TALL, placed, interp.run(kernel, placed.items)))
    return out


def _claiming(items: Items, others: Items) -> Items:
    """The items, of which every other one has the parameters of another."""
    params = {name: values.copy() for name, values in items.params.items()}
    for name, values in params.items():
        values[::2] = others.params[name][::2]
    return replace(items, params=params)


def check_items(
    kernel: Kernel, variants: list[tuple[str, bool]], device: Device, program: Path,
    batches: list[Batch], seed: int, outcomes: list[Outcome],
) -> Outcome:  # fmt: skip
    """Runs the functions for many items of variants of one target, and the public ones.

    With a variant's name comes whether it is a `prod` one, which has functions that clear. What
    they do counts in the `outcomes` of the variants; that of the public ones is returned.
    """
    public = Outcome(kernel.id, device.target, ITEMS, device.name)
    by_name = {o.variant: o for o in outcomes}
    clears = cleared_blocks(kernel)
    for batch in batches:
        hostile, tall = batch.kind == HOSTILE_ROW, batch.kind == TALL
        whole = np.arange(batch.placed.items.count)
        runs: list[tuple[str, Array, Outcome]] = []
        for v, prod in variants:
            mine = interp.in_class(kernel, options_in(v).class_name, batch.placed.items)
            chosen = whole if hostile else np.flatnonzero(mine)
            if tall and options_in(v).class_name not in of_whole_rows(kernel):
                continue
            ways = _items_ways(batch.kind, clears if prod else ())
            runs += [(f"{v} {way}", chosen, by_name[v]) for way in ways]
        ways = [] if tall else _items_ways(batch.kind, clears)  # the public ones are for any
        runs += [(f"{kernel.id} {way}", whole, public) for way in ways]
        results = execute(program, device, batch, [(name, chosen) for name, chosen, _ in runs])
        for (name, chosen, outcome), images in zip(runs, results, strict=True):
            wanted = _zeroed(batch, clears) if f" {CLEARING} " in name else batch
            compare(kernel, wanted, outcome, chosen, images, seed)
    return public


def _items_ways(kind: str, clears: tuple[str, ...]) -> list[str]:
    """How tools/check runs functions for many items on a batch of the kind: see items.h there."""
    if kind == TALL:
        return ["tall"]
    ways = ["items"]
    if kind == COLUMN:
        ways.append("items one")
    if clears:
        way = HOSTILE_CLEARING if kind == HOSTILE_ROW else CLEARING
        ways.append(f"{way} {' '.join(clears)}")
    return ways


def _zeroed(batch: Batch, names: tuple[str, ...]) -> Batch:
    """The batch, of which these blocks are to be zero where they are stored to as well."""
    known = batch.result.buffers
    zeros = {n: np.zeros_like(known[n]) for n in names if n in known}
    return replace(batch, result=replace(batch.result, buffers={**known, **zeros}))
