# SPDX-License-Identifier: BSD-2-Clause
"""Partial evaluation for a class: what its precondition makes zero or constant is not computed.

Parameters of which only one value is left become that value; loads outside a block's non-zero
region become 0. A lane whose every store into a temp then folds
to a constant is dropped from the end of its axis, and the temp's readers get the constant.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from daedalus.dsl.build import Builder, at_lanes, fix_lanes, rewrite_stage
from daedalus.dsl.ir import FULL, Kernel, Node, Op, Param, Stage
from daedalus.dsl.verify import flat_index, unconditional

# temp -> value per element; NaN where it is not a known constant
Known = dict[str, np.ndarray]


def specialise(kernel: Kernel, class_name: str) -> Kernel:
    """`kernel` under the precondition of one of its classes; itself for the full class."""
    if class_name == FULL:
        return replace(kernel, classes=())
    chosen = kernel.item_class(class_name)
    bounds = {name: (lo, hi) for name, lo, hi in chosen.when}
    params = tuple(_narrowed(p, *bounds[p.name]) if p.name in bounds else p for p in kernel.params)
    kernel = replace(kernel, params=params, classes=())
    nonzero = dict(chosen.nonzero)
    known: Known = {}
    stages: list[Stage] = []
    for n, stage in enumerate(kernel.stages):
        later = kernel.stages[n + 1 :]
        stages.append(_stage(kernel, stage, later, nonzero, known))
        _forget(kernel, stages[-1], known)
        for s in stage.stores:
            nonzero.pop(s.buffer, None)  # from now on it holds what the stage stored
    return replace(kernel, stages=tuple(stages))


def _narrowed(p: Param, lo: int, hi: int) -> Param:
    """The parameter as items of the class have it."""
    return replace(p, lo=max(p.lo, lo), hi=min(p.hi, hi), declared=(p.lo, p.hi))


def _fold(
    kernel: Kernel,
    stage: Stage,
    nonzero: Mapping[str, tuple[int, ...]],
    known: Known,
    fixed: Mapping[str, int],
) -> Stage:
    """The stage with zero loads folded; lanes in `fixed` take one value."""
    builder = Builder({t.name: t for t in kernel.tables})

    def change(node: Node, args: tuple[Node, ...]) -> Node | None:
        if node.op is Op.PARAM:
            p = kernel.param(node.attr[0])
            return builder.const(p.lo, node.loc) if p.lo == p.hi else None
        if node.op in (Op.LE, Op.GT):
            return _decided(kernel, node, builder)
        if node.op is not Op.LOAD:
            return at_lanes(node, args, fixed, builder)
        name, index = node.attr[0], fix_lanes(node.index, fixed)
        if name in nonzero and not node.args:
            buffer = kernel.buffer(name)
            for affine, (lo, _), n in zip(index, buffer.shape, nonzero[name], strict=True):
                rest = {k: v for k, v in stage.extents.items() if k not in fixed}
                if affine.bounds(rest)[0] >= lo + n:
                    return builder.const(0, node.loc)
        if name in known and not node.args:
            where = flat_index(kernel.buffer(name), index, stage)
            values = np.unique(known[name][where])
            if len(values) == 1 and not np.isnan(values[0]):
                return builder.const(int(values[0]), node.loc)
        return at_lanes(node, args, fixed, builder)

    return rewrite_stage(stage, builder, change)


def _decided(kernel: Kernel, node: Node, builder: Builder) -> Node | None:
    """A comparison of a parameter with a constant, where the class's range decides it."""
    a, b = node.args
    if a.op is not Op.PARAM or a.index or b.op is not Op.CONST:
        return None
    p = kernel.param(a.attr[0])
    if p.lo <= b.value < p.hi:
        return None
    zero = builder.const(0, node.loc)
    same = (p.hi <= b.value) is (node.op is Op.LE)
    return builder.make(Op.LE if same else Op.GT, (zero, zero), (), node.loc)


def _stage(
    kernel: Kernel,
    stage: Stage,
    later: tuple[Stage, ...],
    nonzero: Mapping[str, tuple[int, ...]],
    known: Known,
) -> Stage:
    """The stage folded, and cut to the lanes that are not constant anyway."""
    temps = {t.name for t in kernel.temps}
    dims = dict(stage.dims)
    if all(s.buffer in temps and unconditional(stage, s) for s in stage.stores):
        for lane, extent in stage.dims:
            kept = extent
            while kept > 1:
                one = _fold(kernel, stage, nonzero, known, {lane: kept - 1})
                if not all(s.value.op is Op.CONST for s in one.stores):
                    break
                kept -= 1
            if kept < extent and _note_constants(
                kernel, stage, later, nonzero, known, lane, kept, extent
            ):
                dims[lane] = kept
    cut = replace(stage, dims=tuple(dims.items()))
    single = {lane: 0 for lane, n in cut.dims if n == 1}
    return _fold(kernel, cut, nonzero, known, single)


def _forget(kernel: Kernel, stage: Stage, known: Known) -> None:
    """What a stage stores is no longer the constant it was."""
    for s in stage.stores:
        if s.buffer in known:
            known[s.buffer][flat_index(kernel.buffer(s.buffer), s.index, stage)] = np.nan


def _note_constants(
    kernel: Kernel,
    stage: Stage,
    later: tuple[Stage, ...],
    nonzero: Mapping[str, tuple[int, ...]],
    known: Known,
    lane: str,
    kept: int,
    extent: int,
) -> bool:
    """Records what the dropped lanes would have stored.

    False if a later stage needs such a constant in memory: where it mixes both kinds in one load,
    or may leave the constant standing.
    """
    trial = {name: values.copy() for name, values in known.items()}
    for at in range(kept, extent):
        one = _fold(kernel, stage, nonzero, known, {lane: at})
        for s in one.stores:
            buffer = kernel.buffer(s.buffer)
            values = trial.setdefault(s.buffer, np.full(buffer.size, np.nan))
            values[flat_index(buffer, fix_lanes(s.index, {lane: at}), stage)] = s.value.value
    seen = {name: values.copy() for name, values in trial.items()}
    for reader in later:
        for n in reader.nodes():
            if n.op is Op.LOAD and n.attr[0] in seen:
                if n.args:
                    return False  # it may look anywhere
                got = seen[n.attr[0]][flat_index(kernel.buffer(n.attr[0]), n.index, reader)]
                constant = ~np.isnan(got)
                if constant.any() and (not constant.all() or len(np.unique(got)) > 1):
                    return False
        for s in reader.stores:
            if s.buffer in seen and not unconditional(reader, s):
                where = flat_index(kernel.buffer(s.buffer), s.index, reader)
                if not np.isnan(seen[s.buffer][where]).all():
                    return False
        _forget(kernel, reader, seen)
    known.update(trial)
    return True
