# SPDX-License-Identifier: BSD-2-Clause
"""Which programs are legal. Run on every spec, and in the tests after every pass.

- every index stays inside its buffer's bounds, on every lane;
- temps are read only where an earlier stage wrote;
- two lanes never write one element, and no lane reads what another lane of its stage writes;
- what is stored lies inside what the item owns;
- nodes are well formed: operands of the right kind, lanes of this stage only.
"""

import numpy as np

from daedalus.dsl.errors import Loc, VerifyError
from daedalus.dsl.ir import Affine, Buffer, Index, Kernel, Node, Op, Stage, Store, walk
from daedalus.dsl.ranges import Ranges, check_ranges

_ARITY = {
    Op.CONST: 0, Op.PARAM: 0, Op.LOAD: 0, Op.SHR: 1, Op.RSHR: 1, Op.ABS: 1, Op.CLIP: 1,
    Op.WRAP: 1, Op.ASSUME: 1, Op.NOT: 1, Op.SELECT: 3,
}  # fmt: skip


def verify(kernel: Kernel) -> Ranges:
    """Raises VerifyError or RangeError where the kernel breaks a rule; returns its ranges."""
    written: dict[str, np.ndarray] = {t.name: np.zeros(t.size, dtype=bool) for t in kernel.temps}
    for stage in kernel.stages:
        _well_formed(kernel, stage)
        _in_bounds(kernel, stage)
        _initialised(kernel, stage, written)
        _lanes_independent(kernel, stage)
        _owned(kernel, stage)
        for s in stage.stores:
            if s.buffer in written:
                written[s.buffer][flat_index(kernel.buffer(s.buffer), s.index, stage)] = True
    for b in (*kernel.buffers, *kernel.temps):
        if b.access != "in" and not any(
            s.buffer == b.name for st in kernel.stages for s in st.stores
        ):
            what = "a temp" if b.kind == "temp" else b.access
            raise VerifyError(
                "unused", f"{b.name} is {what}, but is never stored", b.loc, kernel.id
            )
    return check_ranges(kernel)


def flat_index(buffer: Buffer, index: Index, stage: Stage) -> np.ndarray:
    """The element number inside the item, per point of the stage's lane domain."""
    grid = stage.grid()
    flat: np.ndarray = np.zeros(stage.lanes, dtype=np.int64)
    for affine, (lo, hi) in zip(index, buffer.shape, strict=True):
        flat = flat * (hi - lo) + (affine.at(grid) - lo)
    return flat


def _well_formed(kernel: Kernel, stage: Stage) -> None:
    for n in stage.nodes():
        wanted = _ARITY.get(n.op, 2)
        if n.op not in (Op.TABLE, Op.DOT) and len(n.args) != wanted:
            raise VerifyError("arity", f"{n.op} takes {wanted} operands", n.loc, kernel.id)
        for at, a in enumerate(n.args):
            boolean = n.op in (Op.AND, Op.OR, Op.NOT) or (n.op is Op.SELECT and at == 0)
            if a.is_bool != boolean:
                kinds = ("an integer", "a boolean")
                raise VerifyError(
                    "kind", f"operand {at} of {n.op} is {kinds[a.is_bool]}, not {kinds[boolean]}",
                    n.loc, kernel.id,
                )  # fmt: skip
        if n.op is Op.LOAD:
            _known_lanes(kernel, stage, n.index, n.loc)
    for s in stage.stores:
        _known_lanes(kernel, stage, s.index, s.loc)
        if s.value.is_bool:
            raise VerifyError("kind", f"stores a boolean into {s.buffer}", s.loc, kernel.id)
        if s.mask is not None and not s.mask.is_bool:
            raise VerifyError("mask", "the mask of a store is not boolean", s.loc, kernel.id)


def _known_lanes(kernel: Kernel, stage: Stage, index: Index, loc: Loc) -> None:
    for affine in index:
        for lane, _ in affine.terms:
            if lane not in stage.extents:
                raise VerifyError("lane", f"lane {lane} is not of this stage", loc, kernel.id)


def _axis_name(buffer: Buffer, axis: int) -> str:
    return ("row", "column")[axis] if buffer.kind == "plane" else f"axis {axis}"


def _in_bounds(kernel: Kernel, stage: Stage) -> None:
    uses: list[tuple[str, Index, Loc, str]] = [
        (n.attr[0], n.index, n.loc, "reads") for n in stage.nodes() if n.op is Op.LOAD
    ]
    uses += [(s.buffer, s.index, s.loc, "writes") for s in stage.stores]
    for name, index, loc, verb in uses:
        buffer = kernel.buffer(name)
        for axis, (affine, (lo, hi)) in enumerate(zip(index, buffer.shape, strict=True)):
            low, high = affine.bounds(stage.extents)
            if low < lo or high >= hi:
                raise VerifyError(
                    "bounds",
                    f"{verb} {name} at {_axis_name(buffer, axis)} {low}..{high},"
                    f" declared {lo}..{hi - 1}",
                    loc,
                    kernel.id,
                    hint=f"declare {name} larger, or change the index",
                )


def _initialised(kernel: Kernel, stage: Stage, written: dict[str, np.ndarray]) -> None:
    for n in stage.nodes():
        if n.op is Op.LOAD and n.attr[0] in written:
            where = flat_index(kernel.buffer(n.attr[0]), n.index, stage)
            if not written[n.attr[0]][where].all():
                raise VerifyError(
                    "uninitialised",
                    f"reads {n.attr[0]} where no earlier stage wrote",
                    n.loc,
                    kernel.id,
                    hint="a stage's own stores take effect at its end",
                )
    for s in stage.stores:
        if s.buffer in written and s.mask is not None:
            where = flat_index(kernel.buffer(s.buffer), s.index, stage)
            if not written[s.buffer][where].all():
                raise VerifyError(
                    "uninitialised",
                    f"a masked store may leave {s.buffer} unwritten",
                    s.loc,
                    kernel.id,
                    hint="store a select() instead",
                )


def _point(stage: Stage, flat: int) -> str:
    grid = stage.grid()
    return "(" + ", ".join(f"{name}={int(grid[name][flat])}" for name, _ in stage.dims) + ")"


def _lanes_independent(kernel: Kernel, stage: Stage) -> None:
    """No element is written by two lanes or twice, nor read by one lane and written by another."""
    for name in dict.fromkeys(s.buffer for s in stage.stores):
        buffer = kernel.buffer(name)
        writer = np.full(buffer.size, -1, dtype=np.int64)
        by: list[Store] = [s for s in stage.stores if s.buffer == name]
        for s in by:
            where = flat_index(buffer, s.index, stage)
            if len(np.unique(where)) != len(where):
                raise VerifyError(
                    "race", f"several lanes write one element of {name}", s.loc, kernel.id,
                    hint="every lane of the stage must appear in the index",
                )  # fmt: skip
            if (writer[where] >= 0).any():
                raise VerifyError(
                    "race", f"an element of {name} is stored twice in this stage", s.loc, kernel.id,
                    hint="combine the two stores with select()",
                )  # fmt: skip
            writer[where] = np.arange(len(where))
        for n in stage.nodes():
            if n.op is not Op.LOAD or n.attr[0] != name:
                continue
            where = flat_index(buffer, n.index, stage)
            other = (writer[where] >= 0) & (writer[where] != np.arange(len(where)))
            if other.any():
                lane = int(np.argmax(other))
                raise VerifyError(
                    "race",
                    f"lane {_point(stage, lane)} reads an element of {name} that lane"
                    f" {_point(stage, int(writer[where][lane]))} writes",
                    n.loc,
                    kernel.id,
                    hint="put a stage boundary with a temp between them",
                )


def _owned(kernel: Kernel, stage: Stage) -> None:
    for s in stage.stores:
        buffer = kernel.buffer(s.buffer)
        if buffer.owns is None:
            continue
        for axis, (affine, (lo, hi)) in enumerate(zip(s.index, buffer.owns, strict=True)):
            low, high = affine.bounds(stage.extents)
            if low < lo or high >= hi:
                raise VerifyError(
                    "ownership",
                    f"writes {s.buffer} at {_axis_name(buffer, axis)} {low}..{high}, but the item"
                    f" owns {lo}..{hi - 1}",
                    s.loc,
                    kernel.id,
                )


def uniform(node: Node) -> bool:
    """Whether the value is the same on all lanes of an item."""
    return not any(n.op is Op.LOAD and any(a.terms for a in n.index) for n in walk((node,)))


def touched(kernel: Kernel, buffer: Buffer, *, stores: bool) -> tuple[tuple[int, int], ...] | None:
    """The half-open bounds of what is read or written of a buffer; None when nothing is."""
    boxes: list[list[tuple[int, int]]] = []
    for stage in kernel.stages:
        uses: list[tuple[Affine, ...]] = (
            [s.index for s in stage.stores if s.buffer == buffer.name]
            if stores
            else [n.index for n in stage.nodes() if n.op is Op.LOAD and n.attr[0] == buffer.name]
        )
        # A masked store may be done by rewriting the old value, which reads it.
        if not stores:
            uses += [
                s.index for s in stage.stores if s.buffer == buffer.name and s.mask is not None
            ]
        boxes += [[a.bounds(stage.extents) for a in index] for index in uses]
    if not boxes:
        return None
    return tuple(
        (min(b[axis][0] for b in boxes), max(b[axis][1] for b in boxes) + 1)
        for axis in range(len(buffer.shape))
    )
