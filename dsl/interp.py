# SPDX-License-Identifier: BSD-2-Clause
"""The reference interpreter: the definition of every kernel's result.

Runs all items of a batch at once; apart from that it does what `ir.py` says, step by step, in
64-bit integers. An item that breaks an assumption is computed all the same and flagged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from daedalus.dsl.ir import Index, Kernel, Node, Op, Panels, Stage, Table, evaluate, walk

Array = np.ndarray[Any, np.dtype[Any]]


@dataclass(frozen=True)
class Items:
    """The inputs of a batch.

    buffers  name -> int64 array [items, *extents], axes in the buffer's declared bounds
    params   name -> int64 array [items]
    """

    buffers: Mapping[str, Array]
    params: Mapping[str, Array]

    @property
    def count(self) -> int:
        return len(next(iter((*self.buffers.values(), *self.params.values()))))

    def take(self, which: Array | slice) -> "Items":
        """The items selected by an index or boolean array, or by a slice."""
        return Items(
            {n: a[which] for n, a in self.buffers.items()},
            {n: a[which] for n, a in self.params.items()},
        )


@dataclass(frozen=True)
class Result:
    """What a batch gives.

    buffers   name -> int64 array as in Items, for every buffer that is not `in`
    written   name -> bool array [items, *extents]: which elements were stored
    broken    assumption -> bool array [items]: the items that do not meet it
    """

    buffers: Mapping[str, Array]
    written: Mapping[str, Array]
    broken: Mapping[str, Array] = field(default_factory=dict)
    in_range: Array = field(default_factory=lambda: np.zeros(0, dtype=bool))

    def conformant(self, assume: frozenset[str]) -> Array:
        """Per item: inputs in their ranges, no false class, and every named assumption met."""
        ok: Array = self.in_range.copy()
        for name in assume:
            ok &= ~self.broken[name]
        return ok


class StageRun:
    """Evaluates one stage: loads see `state`, the results are stored by the caller.

    With `brief`, values are kept only as long as something is made of them, but for what stores
    and conditions need: of large stages, all of them are more than caches and memory hold.
    """

    def __init__(
        self,
        kernel: Kernel,
        stage: Stage,
        items: Items,
        state: Mapping[str, Array],
        broken: dict[str, Array],
        *,
        brief: bool = False,
    ) -> None:
        self.kernel, self.stage, self.items, self.state = kernel, stage, items, state
        self.grid = stage.grid()
        self.values: dict[Node, Array] = {}
        # What decides whether the stage runs is computed even where it does not.
        deciding = set(walk([n for n in (stage.given, *dict(stage.limits).values()) if n]))
        # Where an assumption is broken, and whether that counts where the stage does not run.
        outside: dict[tuple[str, bool], Array] = {}
        last = _last_uses(stage) if brief else {}
        for node in stage.nodes():
            self.values[node] = self._node(node)
            if node.op is Op.ASSUME and node.attr[0]:  # a fact found by a pass has no name
                x, key = self.values[node], (node.attr[0], node in deciding)
                if key not in outside:
                    outside[key] = np.zeros((items.count, stage.lanes), dtype=bool)
                outside[key] |= (x < node.attr[1]) | (x > node.attr[2])
            for used in last.get(node, ()):
                del self.values[used]
        on = self.active()
        for (name, always), where in outside.items():
            broken[name] |= (where if always else where & on).any(axis=1)

    def places(self, buffer: str, index: Index) -> list[Array]:
        """Per axis of a buffer, where every lane is: shape [lanes]."""
        shape = self.kernel.buffer(buffer).shape
        at = [affine.at(self.grid) - lo for affine, (lo, _) in zip(index, shape, strict=True)]
        return [np.broadcast_to(a, (self.stage.lanes,)) for a in at]

    def where(
        self, buffer: str, index: Index, args: tuple[Array, ...] = ()
    ) -> tuple[Array | slice | int, ...]:
        """Selects the elements of all items at every lane: shape [items, lanes].

        With `args` (indices known only at run time), places outside the declared bounds, of items
        that are not conformant, are moved inside.
        """
        shape = self.kernel.buffer(buffer).shape
        if not args:
            # The same for all items, which are evaluated a few at a time: the stage keeps it.
            kept: dict[Any, Any] = vars(self.stage).setdefault("_where", {})
            if (index, shape) not in kept:
                kept[index, shape] = (slice(None), *_plainly(self.places(buffer, index)))
            found: tuple[Array | slice | int, ...] = kept[index, shape]
            return found
        known = {**self.grid, **{f"#{n}": a for n, a in enumerate(args)}}
        places = [
            np.clip(affine.at(known) - lo, 0, hi - lo - 1)
            for affine, (lo, hi) in zip(index, shape, strict=True)
        ]
        return (np.arange(self.items.count)[:, None], *places)

    def active(self) -> Array:
        """Where the stage runs: bool [items, lanes]."""
        lanes = (self.items.count, self.stage.lanes)
        on = np.ones(lanes, dtype=bool)
        if self.stage.given is not None:
            on &= self.values[self.stage.given]
        for lane, limit in self.stage.limits:
            on &= self.grid[lane][None, :] < self.values[limit]
        return on

    def outcomes(self) -> list[Array]:
        """Which way every comparison goes, and where every limit binds."""
        found: list[Array] = []
        for n in self.stage.nodes():
            args = [self.values[a] for a in n.args]
            if n.op in (Op.LE, Op.GT):
                found.append(self.values[n])
            elif n.op is Op.CLIP:
                found += [args[0] < n.attr[0], args[0] > n.attr[1]]
            elif n.op in (Op.MIN, Op.MAX):
                found.append(args[0] < args[1])
        return found

    def _node(self, n: Node) -> Array:
        args = tuple(self.values[a] for a in n.args)
        match n.op:
            case Op.CONST:
                return np.array([[n.value]], dtype=np.int64)
            case Op.PARAM:
                values = self.items.params[n.attr[0]]
                if values.ndim == 1:
                    return values[:, None]
                at = np.broadcast_to(n.index[0].at(self.grid), (self.stage.lanes,))
                return values[:, at]
            case Op.LANE:
                return self.grid[n.attr[0]][None, :]
            case Op.LOAD:
                return self.state[n.attr[0]][self.where(n.attr[0], n.index, args)]
            case Op.TABLE:
                return _lookup(self.kernel.table(n.attr[0]), args)
            case Op.DOT:
                table = self.kernel.table(n.attr[0])
                rows = np.array(table.rows, dtype=np.int64)[
                    np.clip(args[0], 0, len(table.rows) - 1)
                ]
                return np.asarray(sum(rows[..., k] * x for k, x in enumerate(args[1:])))
        return np.asarray(evaluate(n.op, n.attr, args))


def _last_uses(stage: Stage) -> dict[Node, list[Node]]:
    """Per value, those that nothing behind it needs."""
    ends = {n for s in stage.stores for n in (s.value, s.mask) if n is not None}
    ends |= {n for n in (stage.given, *dict(stage.limits).values()) if n is not None}
    last = {used: node for node in stage.nodes() for used in node.args if used not in ends}
    found: dict[Node, list[Node]] = {}
    for used, node in last.items():
        found.setdefault(node, []).append(used)
    return found


def _plainly(at: list[Array]) -> list[Array | slice | int]:
    """Places as a slice of one axis, which numpy is fastest with, where they are one."""
    moving = [n for n, a in enumerate(at) if a[0] != a[-1]]
    if len(moving) == 1 and all((a == a[0]).all() for n, a in enumerate(at) if n != moving[0]):
        a = at[moving[0]]
        step = int(a[1] - a[0])
        if step > 0 and (np.diff(a) == step).all():
            along = slice(int(a[0]), int(a[-1]) + 1, step)
            return [along if n == moving[0] else int(x[0]) for n, x in enumerate(at)]
    return list(at)


def _lookup(table: Table, index: tuple[Array, ...]) -> Array:
    rows = np.array(table.rows, dtype=np.int64)
    row = np.clip(index[0], 0, rows.shape[0] - 1)
    col = np.clip(index[1], 0, rows.shape[1] - 1) if len(index) > 1 else np.zeros_like(row)
    out: Array = rows[row, col]
    return out


@dataclass(frozen=True)
class Decisions:
    """What a stage decided: bool arrays [items, lanes].

    outcomes  of every comparison and limit, in program order
    stored    where any store took place
    active    where the stage runs
    """

    outcomes: list[Array]
    stored: Array
    active: Array


_TOGETHER = 1024  # items evaluated at once, at most
_LANES = 1 << 14  # values at once, at most: what a stage is busy with then stays in caches
_FEWEST = 64


def portions(kernel: Kernel, items: Items) -> list[Items]:
    """The items in order, as many at a time as are evaluated at once."""
    lanes = max((s.lanes for s in kernel.stages), default=1)
    each = min(_TOGETHER, max(_FEWEST, _LANES // lanes))
    return [
        items.take(slice(at, min(at + each, items.count)))
        for at in range(0, max(items.count, 1), each)
    ]


def _joined(parts: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    return {name: np.concatenate([p[name] for p in parts]) for name in parts[0]}


def run(kernel: Kernel, items: Items) -> Result:
    """The result of every item."""
    if kernel.panels is not None:
        return _run_panels(kernel, kernel.panels, items)
    parts = [_run(kernel, portion, None) for portion in portions(kernel, items)]
    return Result(
        _joined([p.buffers for p in parts]),
        _joined([p.written for p in parts]),
        _joined([p.broken for p in parts]),
        np.concatenate([p.in_range for p in parts]),
    )


def _run_panels(kernel: Kernel, panels: Panels, items: Items) -> Result:
    """What its panels give, each run by itself."""
    one = replace(kernel, panels=None)
    outputs = [b for b in kernel.buffers if b.access != "in"]
    after = {b.name: items.buffers[b.name].astype(np.int64) for b in outputs}
    written = {b.name: np.zeros(after[b.name].shape, bool) for b in outputs}
    found: list[Result] = []
    for n in range(panels.count):
        columns = {
            b.name: slice(n * panels.lanes, n * panels.lanes + b.extents[-1])
            for b in kernel.buffers
            if b.name in panels.planes
        }
        own = {name: a[..., columns.get(name, slice(None))] for name, a in items.buffers.items()}
        found.append(run(one, Items(own, items.params)))
        for b in outputs:
            at = (..., columns.get(b.name, slice(None)))
            after[b.name][at] = found[-1].buffers[b.name]
            written[b.name][at] |= found[-1].written[b.name]
    broken = {a: np.any([r.broken[a] for r in found], axis=0) for a in found[0].broken}
    return Result(after, written, broken, np.all([r.in_range for r in found], axis=0))


def untouched(kernel: Kernel, items: Items) -> dict[str, Array]:
    """Per buffer that is only read: the items for which no stage that runs reads it."""
    names = [b.name for b in kernel.buffers if b.access == "in"]
    read = [{n.attr[0] for n in s.nodes() if n.op is Op.LOAD} & set(names) for s in kernel.stages]
    always = {
        name for s, of in zip(kernel.stages, read, strict=True) for name in of
        if s.given is None and not s.limits
    }  # fmt: skip
    found = {name: np.full(items.count, name not in always) for name in names}
    if any(set(of) - always for of in read):
        ran = [
            [s.active.any(axis=1) for s in decisions(kernel, p)] for p in portions(kernel, items)
        ]
        for of, active in zip(read, map(np.concatenate, zip(*ran, strict=True)), strict=True):
            for name in of - always:
                found[name] &= ~active
    return found


def decisions(kernel: Kernel, items: Items) -> list[Decisions]:
    """The decisions of every stage."""
    log: list[Decisions] = []
    _run(kernel, items, log)
    return log


def first_state(kernel: Kernel, items: Items) -> dict[str, Array]:
    """What buffers and temps hold before the first stage: name -> [items, *extents]."""
    state: dict[str, Array] = {}
    for b in (*kernel.buffers, *kernel.temps):
        given = items.buffers.get(b.name)
        empty = np.full((items.count, *b.extents), b.init or 0, np.int64)
        state[b.name] = empty if given is None else given.astype(np.int64)
    return state


def stored(
    ran: StageRun, values: list[Array], written: Mapping[str, Array] | None = None
) -> dict[str, Array]:
    """What the buffers hold that a stage stores to, if its stores store these values.

    `written` takes note of the elements: name -> bool [items, *extents].
    """
    count, lanes = ran.items.count, (ran.items.count, ran.stage.lanes)
    on = ran.active()
    after: dict[str, Array] = {}
    for s, got in zip(ran.stage.stores, values, strict=True):
        at = ran.where(s.buffer, s.index)
        target = after.setdefault(s.buffer, ran.state[s.buffer].copy())
        value = np.broadcast_to(got, lanes)
        mask = on if s.mask is None else on & ran.values[s.mask]
        if s.combine:
            places = [np.arange(count)[:, None], *ran.places(s.buffer, s.index)]
            full = np.broadcast_arrays(*places)
            _COMBINE[s.combine].at(target, tuple(a[mask] for a in full), value[mask])
        elif mask.all():
            target[at] = value
        else:
            target[at] = np.where(mask, value, target[at])
        if written is not None and s.buffer in written:
            written[s.buffer][at] |= mask
    return after


def _run(kernel: Kernel, items: Items, log: list[Decisions] | None) -> Result:
    count = items.count
    state = first_state(kernel, items)
    outputs = [b.name for b in kernel.buffers if b.access != "in"]
    written = {n: np.zeros(state[n].shape, dtype=bool) for n in outputs}
    broken = {a.name: np.zeros(count, dtype=bool) for a in kernel.assumptions}
    for stage in kernel.stages:
        ran = StageRun(kernel, stage, items, state, broken, brief=log is None)
        state.update(stored(ran, [ran.values[s.value] for s in stage.stores], written))
        if log is not None:
            lanes, on = (count, stage.lanes), ran.active()
            masks = [on if s.mask is None else on & ran.values[s.mask] for s in stage.stores]
            any_stored = np.zeros(lanes, dtype=bool)
            for mask in masks:
                any_stored |= mask
            outcomes = [np.broadcast_to(o, lanes) for o in ran.outcomes()]
            log.append(Decisions(outcomes, any_stored, on))
    return Result({n: state[n] for n in outputs}, written, broken, _in_range(kernel, items))


_COMBINE = {"add": np.add, "min": np.minimum, "max": np.maximum}


def _in_range(kernel: Kernel, items: Items) -> Array:
    ok = np.ones(items.count, dtype=bool)
    for b in kernel.buffers:
        if b.access != "out":
            a = items.buffers[b.name].reshape(items.count, -1)
            ok &= ((a >= b.lo) & (a <= b.hi)).all(axis=1)
    for p in kernel.params:
        values = items.params[p.name].reshape(items.count, -1)
        ok &= ((values >= p.lo) & (values <= p.hi)).all(axis=1)
    for c in kernel.classes:  # an item must not claim a class that its data does not meet
        claims = np.ones(items.count, dtype=bool)
        for name, lo, hi in c.when:
            claims &= (items.params[name] >= lo) & (items.params[name] <= hi)
        ok &= ~claims | in_class(kernel, c.name, items)
    return ok


def in_class(kernel: Kernel, class_name: str, items: Items) -> Array:
    """Per item: does it meet the precondition of the class? True for the full class."""
    ok = np.ones(items.count, dtype=bool)
    found = [c for c in kernel.classes if c.name == class_name]
    for c in found:
        for p, lo, hi in c.when:
            ok &= (items.params[p] >= lo) & (items.params[p] <= hi)
        for name, extents in c.nonzero:
            outside = items.buffers[name].copy()
            outside[(slice(None), *(slice(0, n) for n in extents))] = 0
            ok &= ~outside.reshape(items.count, -1).any(axis=1)
    return ok
