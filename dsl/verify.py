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
from daedalus.dsl.params import MOST_CASES, over_parameters
from daedalus.dsl.ranges import Ranges, check_ranges, place_ranges

_ARITY = {
    Op.CONST: 0, Op.PARAM: 0, Op.LANE: 0, Op.SHR: 1, Op.RSHR: 1, Op.ABS: 1, Op.CLIP: 1,
    Op.WRAP: 1, Op.ASSUME: 1, Op.NOT: 1, Op.SELECT: 3,
}  # fmt: skip


def verify(kernel: Kernel) -> Ranges:
    """Raises VerifyError or RangeError where the kernel breaks a rule; returns its ranges."""
    written = _Written(kernel)
    for stage in kernel.stages:
        _well_formed(kernel, stage)
        _decided_alike(kernel, stage)
    hostile = _reach(kernel)
    for stage in kernel.stages:
        _in_bounds(kernel, stage, hostile)
        _initialised(kernel, stage, written, hostile)
        _lanes_independent(kernel, stage)
        _owned(kernel, stage)
        written.note(stage)
    for b in (*kernel.buffers, *kernel.temps):
        if b.access != "in" and not any(
            s.buffer == b.name for st in kernel.stages for s in st.stores
        ):
            what = "a temp" if b.kind == "temp" else b.access
            raise VerifyError(
                "unused", f"{b.name} is {what}, but is never stored", b.loc, kernel.id
            )
    return check_ranges(kernel)


def _reach(kernel: Kernel) -> Ranges | None:
    """What hostile items make of values, where such values say which element is read."""
    if any(n.op is Op.LOAD and n.args for stage in kernel.stages for n in stage.nodes()):
        return place_ranges(kernel)
    return None


def check_places(kernel: Kernel, variant: str) -> None:
    """Raises VerifyError where a lowered kernel may read outside a buffer.

    That it does not was shown of the spec; but passes narrow the conformant ranges, these decide
    the width that values are computed and kept in, and that what a hostile item makes of them.
    """
    hostile = _reach(kernel)
    if hostile is None:
        return
    try:
        for stage in kernel.stages:
            _in_bounds(kernel, stage, hostile)
    except VerifyError as e:
        raise VerifyError(
            e.rule, f"as {variant} computes it, an item that is not conformant {e.message}", e.loc,
            kernel.id, hint="clip() the value that decides the place",
        ) from e  # fmt: skip


class _Written:
    """Which elements of temps hold something, under which condition.

    What is known of an element is a row of truths, one for each case: for all values together of
    the parameters that say how many rows of a stage there are.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._counts = counts_by_case(kernel)
        self._cases = next((len(n) for n in self._counts.values()), 1)
        self._always = {
            t.name: np.full((self._cases, t.size), t.init is not None) for t in kernel.temps
        }
        self._where: dict[tuple[str, str], np.ndarray] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._always

    def _lanes(self, stage: Stage, unknown: bool) -> np.ndarray:
        """The lanes that exist, by case: [cases, lanes]; `unknown` where that is not known."""
        on: np.ndarray = np.ones((self._cases, stage.lanes), dtype=bool)
        for axis, limit in stage.limits:
            many = self._counts.get(limit)
            on &= unknown if many is None else stage.grid()[axis][None, :] < many[:, None]
        return on

    def note(self, stage: Stage) -> None:
        """Adds what a stage stores; two stages of opposite conditions store always."""
        on = self._lanes(stage, unknown=False)
        for s in stage.stores:
            if s.buffer not in self._always:
                continue
            at = flat_index(self._kernel.buffer(s.buffer), s.index, stage)
            always = self._always[s.buffer]
            if stage.given is None:
                _mark(always, at, on)
                continue
            condition, opposite = _condition(stage.given)
            mine = self._where.setdefault((s.buffer, condition), np.zeros_like(always))
            _mark(mine, at, on)
            other = self._where.get((s.buffer, opposite))
            if other is not None:
                always |= mine & other

    def everywhere(self, name: str, stage: Stage, places: np.ndarray, *, any_lane: bool) -> bool:
        """Whether all elements that the stage's lanes name are written for certain when it runs:
        `places` has one a lane, or those that any lane may name."""
        known = self._always[name]
        if stage.given is not None:
            same = self._where.get((name, _condition(stage.given)[0]))
            known = known if same is None else known | same
        on = self._lanes(stage, unknown=True)
        if any_lane:
            on = np.repeat(on.any(axis=1, keepdims=True), len(places), axis=1)
        return bool((known[:, places] | ~on).all())


def _mark(known: np.ndarray, at: np.ndarray, on: np.ndarray) -> None:
    """Notes, case by case, the elements of the lanes that exist."""
    for case, lanes in zip(known, on, strict=True):
        case[at[lanes]] = True


def counts_by_case(kernel: Kernel) -> dict[Node, np.ndarray]:
    """What says how many rows a stage has, for all values that parameters can have: as many
    numbers for each. None of those that are no small computation of parameters."""
    wanted = list(dict.fromkeys(limit for s in kernel.stages for _, limit in s.limits))
    return over_parameters(kernel, wanted) if wanted else {}


def _condition(node: Node) -> tuple[str, str]:
    """A condition and its opposite, as texts that are equal for equal conditions."""

    def text(n: Node) -> str:
        return f"{n.op}{n.attr}({', '.join(text(a) for a in n.args)})"

    opposite = {Op.LE: Op.GT, Op.GT: Op.LE}.get(node.op)
    if opposite is not None:
        rest = text(node).removeprefix(node.op)
        return text(node), f"{opposite}{rest}"
    if node.op is Op.NOT:
        return text(node), text(node.args[0])
    return text(node), f"{Op.NOT}()({text(node)})"


def _decided_alike(kernel: Kernel, stage: Stage) -> None:
    """Where a stage runs is decided by values that are the same on all lanes."""
    for n in (stage.given, *(limit for _, limit in stage.limits)):
        if n is not None and not uniform(n):
            raise VerifyError(
                "uniform", "this decides where a stage runs, and differs between lanes", n.loc,
                kernel.id, hint="use select() or when() for what lanes decide",
            )  # fmt: skip


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
        if n.op not in (Op.TABLE, Op.DOT, Op.LOAD) and len(n.args) != wanted:
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
            if lane not in stage.extents and not lane.startswith("#"):
                raise VerifyError("lane", f"lane {lane} is not of this stage", loc, kernel.id)


def _axis_name(buffer: Buffer, axis: int) -> str:
    return ("row", "column")[axis] if buffer.kind == "plane" else f"axis {axis}"


def load_bounds(
    kernel: Kernel, stage: Stage, load: Node, ranges: Ranges | None
) -> list[tuple[int, int]]:
    """Smallest and largest place a load can name, per axis, whatever the item holds."""
    places = []
    for affine in load.index:
        low, high = Affine(
            affine.const, tuple(t for t in affine.terms if not t[0].startswith("#"))
        ).bounds(stage.extents)
        for name, c in affine.terms:
            if name.startswith("#"):
                assert ranges is not None
                r = ranges.of(load.args[int(name[1:])])
                low, high = low + min(c * r.lo, c * r.hi), high + max(c * r.lo, c * r.hi)
        places.append((low, high))
    return places


def _in_bounds(kernel: Kernel, stage: Stage, ranges: Ranges | None) -> None:
    uses = [
        (n.attr[0], load_bounds(kernel, stage, n, ranges), n.loc, "reads")
        for n in stage.nodes()
        if n.op is Op.LOAD
    ]
    uses += [
        (s.buffer, [a.bounds(stage.extents) for a in s.index], s.loc, "writes")
        for s in stage.stores
    ]
    for name, places, loc, verb in uses:
        buffer = kernel.buffer(name)
        for axis, ((low, high), (lo, hi)) in enumerate(zip(places, buffer.shape, strict=True)):
            if low < lo or high >= hi:
                raise VerifyError(
                    "bounds",
                    f"{verb} {name} at {_axis_name(buffer, axis)} {low}..{high},"
                    f" declared {lo}..{hi - 1}",
                    loc,
                    kernel.id,
                    hint=f"declare {name} larger, or {_nearer(stage, name)}",
                )


def _nearer(stage: Stage, name: str) -> str:
    """How a place comes inside."""
    loads = [n for n in stage.nodes() if n.op is Op.LOAD and n.attr[0] == name]
    if any(n.args for n in loads):
        return "clip() the value that decides the place"
    return "change the index"


def _initialised(kernel: Kernel, stage: Stage, written: _Written, ranges: Ranges | None) -> None:
    for n in stage.nodes():
        if n.op is Op.LOAD and n.attr[0] in written:
            places = _places(kernel, stage, n, ranges)
            if not written.everywhere(n.attr[0], stage, places, any_lane=bool(n.args)):
                raise VerifyError(
                    "uninitialised",
                    f"reads {n.attr[0]} where no earlier stage wrote",
                    n.loc,
                    kernel.id,
                    hint=_unwritten(kernel, n.attr[0]),
                )
    for s in stage.stores:
        if s.buffer in written and (s.mask is not None or s.combine):
            where = flat_index(kernel.buffer(s.buffer), s.index, stage)
            if not written.everywhere(s.buffer, stage, where, any_lane=False):
                message = (
                    f"a masked store may leave {s.buffer} unwritten"
                    if not s.combine
                    else f"accumulates into {s.buffer}, which nothing has written"
                )
                raise VerifyError(
                    "uninitialised",
                    message,
                    s.loc,
                    kernel.id,
                    hint="store a select() instead, or declare the temp with init=...",
                )


def _unwritten(kernel: Kernel, name: str) -> str:
    """What to do where a temp is read that may not hold anything."""
    writers = [st for st in kernel.stages if any(s.buffer == name for s in st.stores)]
    limits = [limit for st in writers for _, limit in st.limits]
    if any(n not in counts_by_case(kernel) for n in limits):
        return (
            f"what upto() counts has to be computed of parameters that have {MOST_CASES} values"
            " together at most; give them narrower ranges"
        )
    if limits:
        return "the stage before needs as many rows more as are read, as in upto(rows + 7, 15)"
    return "a stage's own stores take effect at its end"


def _places(kernel: Kernel, stage: Stage, load: Node, ranges: Ranges | None) -> np.ndarray:
    """Element numbers that a load can name on some lane; all of a box for run-time indices."""
    buffer = kernel.buffer(load.attr[0])
    if not load.args:
        return flat_index(buffer, load.index, stage)
    box = np.ones(buffer.extents, dtype=bool)
    inside = np.zeros(buffer.extents, dtype=bool)
    places = load_bounds(kernel, stage, load, ranges)
    spans = tuple(
        slice(low - lo, high - lo + 1)
        for (low, high), (lo, _) in zip(places, buffer.shape, strict=True)
    )
    inside[spans] = box[spans]
    return np.flatnonzero(inside)


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
            if s.combine:
                if any(o.buffer == name and o.combine != s.combine for o in by):
                    raise VerifyError(
                        "race", f"{name} is stored in different manners in this stage", s.loc,
                        kernel.id, hint="accumulate in one manner a stage",
                    )  # fmt: skip
                writer[where] = -2  # no lane's own
                continue
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
            if n.args:
                raise VerifyError(
                    "race", f"reads {name}, which this stage writes, at a place known only at run"
                    " time", n.loc, kernel.id, hint="put a stage boundary between them",
                )  # fmt: skip
            where = flat_index(buffer, n.index, stage)
            other = (writer[where] != -1) & (writer[where] != np.arange(len(where)))
            if other.any() and (writer[where] == -2).any():
                raise VerifyError(
                    "race", f"reads {name}, into which this stage accumulates", n.loc, kernel.id,
                    hint="put a stage boundary between them",
                )  # fmt: skip
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


def unconditional(stage: Stage, store: Store) -> bool:
    """Whether the store replaces its element on every lane of every item."""
    return store.mask is None and not store.combine and stage.given is None and not stage.limits


def uniform(node: Node) -> bool:
    """Whether the value is the same on all lanes of an item."""
    return not any(
        n.op is Op.LANE
        or (
            n.op in (Op.LOAD, Op.PARAM)
            and any(not name.startswith("#") for a in n.index for name, _ in a.terms)
        )
        for n in walk((node,))
    )


def is_read(kernel: Kernel, buffer: Buffer) -> bool:
    """Whether anything is read of a buffer; a masked store may rewrite what it has read."""
    return any(
        any(n.op is Op.LOAD and n.attr[0] == buffer.name for n in stage.nodes())
        or any(s.buffer == buffer.name and s.mask is not None for s in stage.stores)
        for stage in kernel.stages
    )


def written_box(kernel: Kernel, buffer: Buffer) -> tuple[tuple[int, int], ...] | None:
    """The half-open bounds of what is written of a buffer; None when nothing is."""
    boxes = [
        [a.bounds(stage.extents) for a in s.index]
        for stage in kernel.stages
        for s in stage.stores
        if s.buffer == buffer.name
    ]
    if not boxes:
        return None
    return tuple(
        (min(b[axis][0] for b in boxes), max(b[axis][1] for b in boxes) + 1)
        for axis in range(len(buffer.shape))
    )
