# SPDX-License-Identifier: BSD-2-Clause
"""Turns a Python function into a lane program.

The function runs with a `KernelBuilder`; every operation on the values it hands out becomes a node
that remembers its source line. Loops, recursion and helpers are plain Python. `spec.py` runs it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any, NoReturn

from daedalus.dsl.build import Builder
from daedalus.dsl.errors import Loc, TraceError
from daedalus.dsl.ir import (
    DTYPES,
    Affine,
    Assumption,
    Buffer,
    DType,
    ItemClass,
    Node,
    Op,
    Param,
    Stage,
    Store,
    Table,
    i32,
)
from daedalus.dsl.source import here
from daedalus.dsl.values import (
    BufferRef,
    LaneIndex,
    ParamsRef,
    Scalar,
    TableRef,
    UpTo,
    Value,
    is_integer,
)  # fmt: skip
from daedalus.dsl.words import OF_SHADERS, TAKEN

_TYPES = f"element types are {', '.join(map(str, DTYPES))}"

_IMPLIED = ("_off", "_stride", "_step")  # names that a plane's brings into the C interface

Over = LaneIndex | Sequence[LaneIndex]


class KernelBuilder:
    """What a spec's function gets: declarations, stages, masks."""

    def __init__(self, kernel_id: str, orientation: str | None) -> None:
        self.id = kernel_id
        self.orientation = orientation
        self._buffers: list[Buffer] = []
        self._temps: list[Buffer] = []
        self._params: list[Param] = []
        self._tables: dict[str, Table] = {}
        self._assumptions: list[Assumption] = []
        self._classes: list[ItemClass] = []
        self._stages: list[Stage] = []
        self._shared = Builder(self._tables)
        self._builder: Builder | None = None
        self._stores: list[Store] = []
        self._masks: list[Value] = []
        self._lanes: dict[str, int] = {}
        self._announced: tuple[str, Loc] | None = None
        self._turned: set[str] = set()  # planes whose axes are exchanged for this orientation

    # -- declarations
    def plane(
        self,
        name: str,
        dtype: DType,
        *,
        rows: tuple[int, int] | None = None,
        cols: tuple[int, int] | None = None,
        across: tuple[int, int] | None = None,
        along: tuple[int, int] | None = None,
        access: str = "in",
        lo: int | None = None,
        hi: int | None = None,
        owns: str | tuple[tuple[int, int], tuple[int, int]] | None = None,
        note: str = "",
    ) -> BufferRef:
        """A plane with a stride; bounds are half open, around the item's origin.

        With `across` and `along` the kernel's orientation decides: "v" filters down a column, so
        `across` runs over rows; "h" filters along a row. `owns="all"` lets the item rewrite
        anything inside the bounds.
        """
        swapped = False
        if across is not None and along is not None:
            if self.orientation is None:
                self._fail(
                    "declaration", f"plane {name}: across and along need an orientation",
                    'declare it: @kernel(axes={"orientation": ("v", "h")}, ...)',
                )  # fmt: skip
            swapped = self.orientation == "h"
            if swapped:
                self._turned.add(name)
            rows, cols = (along, across) if swapped else (across, along)
        if rows is None or cols is None:
            self._fail("declaration", f"plane {name} needs rows and cols, or across and along")
        for bounds in (rows, cols):
            self._bounds(f"plane {name}", bounds)
        box = (rows, cols) if owns == "all" else owns
        if isinstance(box, str):
            self._fail("declaration", f'plane {name}: owns is "all" or bounds of rows and columns')
        for whole, own in zip((rows, cols), box or (), strict=False):
            self._bounds(f"plane {name}: owns", own)
            if not whole[0] <= own[0] <= own[1] <= whole[1]:
                self._fail(
                    "declaration", f"plane {name}: owns {own} of {whole}: more than declared"
                )
        decl = self._buffer(name, "plane", dtype, (rows, cols), access, lo, hi, box, note)
        return BufferRef(self, decl, swapped)

    def block(
        self,
        name: str,
        dtype: DType,
        shape: tuple[int, ...],
        *,
        access: str = "in",
        lo: int | None = None,
        hi: int | None = None,
        note: str = "",
    ) -> BufferRef:
        """Items packed one after another; the last axis is contiguous."""
        bounds = self._extents(f"block {name}", shape)
        return BufferRef(
            self, self._buffer(name, "block", dtype, bounds, access, lo, hi, None, note), False
        )

    def _buffer(
        self,
        name: str,
        kind: str,
        dtype: DType,
        shape: tuple[tuple[int, int], ...],
        access: str,
        lo: int | None,
        hi: int | None,
        owns: tuple[tuple[int, int], tuple[int, int]] | None,
        note: str,
    ) -> Buffer:
        self._fresh(name, *(f"{name}{end}" for end in _IMPLIED if kind == "plane"))
        self._element_type(name, dtype)
        if access not in ("in", "out", "inout"):
            self._fail("declaration", f'{name}: access is "in", "out" or "inout", not {access!r}')
        if any(a >= b for a, b in shape):
            self._fail("declaration", f"{name}: empty bounds {shape}")
        low, high = dtype.lo if lo is None else lo, dtype.hi if hi is None else hi
        self._integers(name, low, high)
        if not dtype.lo <= low <= high <= dtype.hi:
            self._fail("declaration", f"{name}: [{low}, {high}] is not a range within {dtype}")
        decl = Buffer(name, kind, dtype, shape, access, here(), low, high, owns, note)
        self._buffers.append(decl)
        return decl

    def temp(self, name: str, shape: tuple[int, ...], *, init: int | None = None) -> BufferRef:
        """A tile-local array between stages; its element width follows from what is stored.

        With `init` every element holds that before the first stage.
        """
        self._fresh_temp(name)
        bounds = self._extents(f"temp {name}", shape)
        decl = Buffer(name, "temp", None, bounds, "inout", here(), init=init)
        self._temps.append(decl)
        return BufferRef(self, decl, False)

    # -- across lanes, for later stages
    def sum(
        self, name: str, value: Scalar, *, over: Over | None = None, start: int = 0
    ) -> BufferRef:
        """The sum of all lanes' values and `start`, as a temp for later stages.

        With `over`, a lane or several, of these lanes alone: the temp has the others as its axes.
        """
        return self._reduced(name, value, over, start, "add")

    def smallest(
        self, name: str, value: Scalar, *, start: int, over: Over | None = None
    ) -> BufferRef:
        """The smallest of all lanes' values and `start`; `over` as of sum()."""
        return self._reduced(name, value, over, start, "min")

    def largest(
        self, name: str, value: Scalar, *, start: int, over: Over | None = None
    ) -> BufferRef:
        """The largest of all lanes' values and `start`; `over` as of sum()."""
        return self._reduced(name, value, over, start, "max")

    def _reduced(
        self, name: str, value: Scalar, over: Over | None, start: int, how: str
    ) -> BufferRef:
        if self._builder is None:
            self._fail("stage", f"{name}: there are lanes only inside a stage")
        self._integers(f"{name}: start", start)
        wanted = over if isinstance(over, tuple | list) else (over,)
        gone = set(self._lanes) if over is None else {self._single_lane(name, x) for x in wanted}
        left = {lane: n for lane, n in self._lanes.items() if lane not in gone}
        self._fresh_temp(name, inside=True)
        bounds = tuple((0, n) for n in left.values()) or ((0, 1),)
        decl = Buffer(name, "temp", None, bounds, "inout", here(), init=start)
        self._temps.append(decl)
        made = BufferRef(self, decl, False)
        made.accumulate(tuple(LaneIndex(Affine(0, ((x, 1),))) for x in left) or 0, value, how)
        return made

    def _single_lane(self, name: str, x: object) -> str:
        """The lane that an index is."""
        terms = x.affine.terms if isinstance(x, LaneIndex) else ()
        if not isinstance(x, LaneIndex) or x.uniforms or x.affine != Affine(0, terms[:1]):
            self._fail("index", f"{name}: over= takes a lane of this stage, or several")
        lane, by = terms[0] if terms else ("", 0)
        if by != 1 or lane not in self._lanes:
            self._fail("index", f"{name}: over= takes a lane of this stage, or several")
        return lane

    def params(
        self, name: str, dtype: DType, count: int, lo: int, hi: int, *, why: str = ""
    ) -> ParamsRef:
        """An array of values per item, in the meta; index it with lanes or integers."""
        self.param(name, dtype, lo, hi, why=why)
        if not is_integer(count) or count < 2:
            self._fail("declaration", f"{name}: an array has at least 2 elements, not {count!r}")
        self._params[-1] = replace(self._params[-1], count=count)
        return ParamsRef(self, self._params[-1])

    def param(self, name: str, dtype: DType, lo: int, hi: int, *, why: str = "") -> Value:
        """A value per item, in the meta; [lo, hi] is what the standard allows."""
        self._fresh(name)
        self._element_type(name, dtype)
        self._integers(name, lo, hi)
        if not dtype.lo <= lo <= hi <= dtype.hi:
            self._fail("declaration", f"{name}: [{lo}, {hi}] is not a range within {dtype}")
        if hi > i32.hi:
            self._fail(
                "declaration", f"{name}: {hi} is more than a parameter's 32 signed bits hold",
                "split it into two parameters",
            )  # fmt: skip
        self._params.append(Param(name, dtype, lo, hi, here(), why))
        node = self._shared.make(Op.PARAM, (), (name,), here(), name)
        return Value(self, node, self._shared)

    def table(self, name: str, dtype: DType, rows: Sequence[int | Sequence[int]]) -> TableRef:
        """A constant table; one or two dimensions."""
        self._fresh(name)
        self._element_type(name, dtype)
        vector = all(isinstance(r, int) for r in rows)
        full = tuple(tuple(r) if isinstance(r, Sequence) else (r,) for r in rows)
        if not all(is_integer(x) for r in full for x in r):
            self._fail("declaration", f"table {name}: an entry is not an integer")
        if not full or not full[0] or len({len(r) for r in full}) != 1:
            self._fail("declaration", f"table {name}: rows must be of one, non-zero length")
        if any(not dtype.lo <= x <= dtype.hi for r in full for x in r):
            self._fail("declaration", f"table {name}: an entry does not fit {dtype}")
        decl = Table(name, dtype, full, here(), vector)
        self._tables[name] = decl
        return TableRef(self, decl)

    def assumption(
        self, name: str, lo: int, hi: int, *, why: str, default: bool = True
    ) -> Callable[[Scalar], Value]:
        """A named bound; call the result on a value to state it there.

        With `default` every conformant item meets it (the standard says so). Otherwise a variant
        may switch it on, and its variants hold for items that meet it.
        """
        if not (name.isascii() and name.isalnum()):
            self._fail("declaration", f"assumption {name!r}: letters and digits only")
        self._integers(f"assumption {name}", lo, hi)
        if lo > hi:
            self._fail("declaration", f"assumption {name}: [{lo}, {hi}] is empty")
        if any(a.name == name for a in self._assumptions):
            self._fail("declaration", f"assumption {name!r} is declared twice")
        self._assumptions.append(Assumption(name, why, default, here()))

        def state(x: Scalar) -> Value:
            return self._op(Op.ASSUME, x, attr=(name, lo, hi))

        return state

    def item_class(
        self,
        name: str,
        *,
        nonzero: Mapping[str, tuple[int, ...]] | None = None,
        why: str = "",
        **when: tuple[int, int],
    ) -> None:
        """A precondition that makes a cheaper variant possible; declare the narrowest first."""
        plain = name.isascii() and name.isalnum()
        taken = ("full", "buffers", "params", "classes", "variants")
        if not plain or name in taken or any(c.name == name for c in self._classes):
            self._fail("declaration", f"class {name!r}: a fresh name of letters and digits")
        known = {p.name: p for p in self._params}
        if not when:
            self._fail(
                "declaration", f"class {name}: nothing tells its items from others",
                "state a range of a parameter, as in eob=(1, 1)",
            )  # fmt: skip
        for p, bounds in when.items():
            if p in known and known[p].count > 1:
                self._fail(
                    "declaration", f"class {name}: {p} is an array, of which no element decides",
                    "add a parameter that tells the items apart",
                )  # fmt: skip
            if p not in known:
                self._fail(
                    "declaration", f"class {name}: no parameter {p}",
                    f"declared before it are {', '.join(known) or 'none'}",
                )  # fmt: skip
            if not (
                isinstance(bounds, tuple)
                and len(bounds) == 2
                and all(map(is_integer, bounds))
                and known[p].lo <= bounds[0] <= bounds[1] <= known[p].hi
            ):
                self._fail(
                    "declaration", f"class {name}: {p}={bounds!r} is not a range (lo, hi) within"
                    f" [{known[p].lo}, {known[p].hi}]",
                )  # fmt: skip
        if all((known[p].lo, known[p].hi) == bounds for p, bounds in when.items()):
            self._fail(
                "declaration", f"class {name}: its ranges hold for every item",
                "narrow one: the full class is what every item meets",
            )  # fmt: skip
        for b, extents in (nonzero or {}).items():
            decl = next((x for x in self._buffers if x.name == b and x.kind == "block"), None)
            if decl is None or len(extents) != len(decl.shape):
                self._fail("declaration", f"class {name}: {b} is not a block of that many axes")
            if any(not 0 <= n <= full for n, full in zip(extents, decl.extents, strict=True)):
                self._fail(
                    "declaration", f"class {name}: {b} is only {decl.extents}, not {extents}"
                )
        self._classes.append(
            ItemClass(
                name,
                tuple((p, lo, hi) for p, (lo, hi) in when.items()),
                tuple((nonzero or {}).items()),
                here(),
                why,
            )
        )

    # -- stages
    def stage(
        self, *, given: Value | None = None, **dims: int | UpTo
    ) -> AbstractContextManager[Any]:
        """A lane domain, outermost axis first: `with k.stage(y=8, x=8) as (y, x)`.

        With `given` the stage runs only for items where that condition, which must not depend on
        lanes, holds: nothing is read otherwise. An axis of `k.upto(n, most)` has as many
        coordinates as the value n says.
        """
        self._announce("stage")
        return self._enter_stage(given, dims)

    def upto(self, count: Value, most: int) -> UpTo:
        """The extent of an axis that a parameter decides: 0..most."""
        if not isinstance(count, Value) or count.node.is_bool or count.home is not self._shared:
            self._fail("stage", "upto() takes a value computed of parameters", "use a number")
        return UpTo(count, most)

    def lane(self, index: LaneIndex) -> Value:
        """A lane, or a sum of lanes, as a value."""
        if not isinstance(index, LaneIndex) or index.uniforms:
            self._fail("lane-value", "lane() takes a lane or a sum of lanes")
        self._check_lanes((index.affine,))
        out: Value | None = None
        for name, c in index.affine.terms:
            one = self._make(Op.LANE, (), (name,)) * c
            out = one if out is None else out + one
        if out is None:
            self._fail("lane-value", "lane() takes a lane or a sum of lanes")
        return out + index.affine.const

    @contextmanager
    def _enter_stage(self, given: Value | None, wanted: Mapping[str, int | UpTo]) -> Iterator[Any]:
        self._announced = None
        dims = {n: e.most if isinstance(e, UpTo) else e for n, e in wanted.items()}
        limits = tuple((n, e.count.node) for n, e in wanted.items() if isinstance(e, UpTo))
        if given is not None and (
            not isinstance(given, Value) or not given.node.is_bool or given.home is not self._shared
        ):
            self._fail("stage", "given= takes a comparison of parameters", "use when() for lanes")
        if self._builder is not None:
            self._fail("stage", "stages do not nest", "end the first, with a temp between them")
        if not all(is_integer(n) for n in dims.values()):
            self._fail("stage", "the extent of an axis is an integer, or k.upto(value, most)")
        if not dims or any(n < 1 for n in dims.values()):
            self._fail("stage", "a stage needs at least one lane axis of at least one lane")
        for name in dims:
            self._fresh(name)  # a lane is a variable beside what is declared
        loc = here()
        self._builder = Builder(self._tables, self._shared)
        self._lanes = dict(dims)
        self._stores = []
        lanes = [LaneIndex(Affine(0, ((name, 1),))) for name in dims]
        try:
            yield lanes[0] if len(lanes) == 1 else tuple(lanes)
            if not self._stores:
                self._fail("stage", "this stage stores nothing")
            decided = None if given is None else given.node
            self._stages.append(
                Stage(tuple(dims.items()), tuple(self._stores), loc, None, decided, limits)
            )
        finally:
            self._builder = None
            self._lanes = {}

    def when(self, mask: Value) -> AbstractContextManager[None]:
        """Stores inside happen only where `mask` holds."""
        self._announce("when")
        if not isinstance(mask, Value) or not mask.node.is_bool:
            self._fail("mask", "when() needs a comparison or a combination of comparisons")
        self._lift(mask)
        return self._enter_when(mask)

    def _announce(self, what: str) -> None:
        """Notes that a `with` has to follow; refuses when the last one did not."""
        self._check_announced()
        self._announced = (what, here())

    def _check_announced(self) -> None:
        if self._announced is not None:
            what, loc = self._announced
            hint = f"write: with k.{what}(...):"
            raise TraceError("with", f"{what}() does nothing by itself", loc, self.id, hint)

    @contextmanager
    def _enter_when(self, mask: Value) -> Iterator[None]:
        self._announced = None
        self._masks.append(mask)
        try:
            yield
        finally:
            self._masks.pop()

    # -- node making, for the language's own modules
    def _fail(self, rule: str, message: str, hint: str = "") -> NoReturn:
        raise TraceError(rule, message, here(), self.id, hint)

    def _fresh(self, name: str, *implied: str, inside: bool = False) -> None:
        """Refuses a name that is taken; `implied` ones come with it into the C interface."""
        names = [b.name for b in (*self._buffers, *self._temps)]
        names += [p.name for p in self._params] + list(self._tables)
        names += list(self._lanes) if inside else []
        planes = [b.name for b in self._buffers if b.kind == "plane"]
        names += [f"{b}{end}" for b in planes for end in _IMPLIED]
        for wanted in (name, *implied):
            if wanted in names:
                self._fail("declaration", f"{wanted} is declared twice")
        self._plain(name)
        if self._builder is not None and not inside:
            self._fail("declaration", f"declare {name} outside the stages")

    def _fresh_temp(self, name: str, inside: bool = False) -> None:
        self._fresh(name, inside=inside)
        if name in OF_SHADERS:
            self._fail("declaration", f"{name} means something else in shaders")

    def _plain(self, name: str) -> None:
        if not (name.isascii() and name.isidentifier()) or name.startswith("_"):
            self._fail("declaration", f"{name!r} is not a plain identifier")
        if name in TAKEN or name.startswith(("reserved", "n_")):
            self._fail("declaration", f"{name} means something else in C or in generated code")

    def _element_type(self, name: str, dtype: object) -> None:
        if not isinstance(dtype, DType):
            self._fail("declaration", f"{name}: {dtype!r} is not an element type", _TYPES)

    def _integers(self, what: str, *values: object) -> None:
        for v in values:
            if not is_integer(v):
                said = "a traced value" if isinstance(v, Value) else repr(v)
                self._fail("declaration", f"{what}: {said} is not an integer")

    def _bounds(self, what: str, bounds: object) -> None:
        if not (isinstance(bounds, tuple) and len(bounds) == 2 and all(map(is_integer, bounds))):
            self._fail("declaration", f"{what}: {bounds!r} is not (first, one past the last)")

    def _extents(self, what: str, shape: object) -> tuple[tuple[int, int], ...]:
        if not (isinstance(shape, tuple) and shape and all(is_integer(n) and n > 0 for n in shape)):
            self._fail("declaration", f"{what}: shape {shape!r} is not a tuple of sizes, as (8, 8)")
        assert isinstance(shape, tuple)
        return tuple((0, n) for n in shape)

    def _shift(self, n: object) -> int:
        if not isinstance(n, int) or not is_integer(n) or not 0 <= n <= 31:
            shown = n if isinstance(n, int | float) else "a value known only when the kernel runs"
            self._fail("shift", f"cannot shift by {shown}", "shift amounts are 0..31")
        assert isinstance(n, int)
        return n

    def _lift(self, x: object) -> Node:
        if isinstance(x, Value):
            if x.home is not self._shared and x.home is not self._builder:
                self._fail(
                    "stage", "this value was computed in another stage",
                    "store it in a temp there, or compute it again here",
                )  # fmt: skip
            return x.node
        if isinstance(x, int) and is_integer(x):
            return (self._builder or self._shared).const(x, here())
        if isinstance(x, LaneIndex):
            self._fail(
                "lane-value", "a lane is an index, not a value", "k.lane(...) makes a value of it"
            )
        self._fail(
            "operand", f"{type(x).__name__} is not an integer value",
            "operands are integers, parameters, elements of buffers, and what is computed of them",
        )  # fmt: skip
        raise AssertionError

    def _make(self, op: Op, args: tuple[Node, ...], attr: tuple[Any, ...] = ()) -> Value:
        home = self._builder or self._shared
        return Value(self, home.make(op, args, attr, here()), home)

    def _op(self, op: Op, *args: Scalar, attr: tuple[Any, ...] = ()) -> Value:
        nodes = tuple(self._lift(a) for a in args)
        wants_bool = op in (Op.AND, Op.OR, Op.NOT)
        for n, node in enumerate(nodes):
            wanted = wants_bool or (op is Op.SELECT and n == 0)
            if node.is_bool and not wanted:
                self._fail("boolean", f"{op} takes integers, not a comparison", "use select()")
            if wanted and not node.is_bool:
                self._fail("boolean", f"{op} takes comparisons, not integers", "compare first")
        return self._make(op, nodes, attr)

    def _load(
        self, decl: Buffer, index: tuple[Affine, ...], uniforms: tuple[Value, ...] = ()
    ) -> Value:
        if self._builder is None:
            self._fail("stage", f"{decl.name} can be read only inside a stage")
        if decl.access == "out":
            self._fail(
                "access", f"{decl.name} is declared out, and is read here",
                'declare it with access="inout"',
            )  # fmt: skip
        self._check_lanes(index)
        return self._make(Op.LOAD, tuple(self._lift(u) for u in uniforms), (decl.name, index))

    def _store(
        self, decl: Buffer, index: tuple[Affine, ...], value: Scalar, combine: str = ""
    ) -> None:
        if self._builder is None:
            self._fail("stage", f"{decl.name} can be written only inside a stage")
        if decl.access == "in":
            self._fail(
                "access", f"{decl.name} is declared in, and is written here",
                'declare it with access="out", or "inout" where it is read as well',
            )  # fmt: skip
        self._check_announced()
        self._check_lanes(index)
        node = self._lift(value)
        if node.is_bool:
            self._fail("boolean", "a comparison cannot be stored", "use select()")
        mask: Value | None = None
        for m in self._masks:
            mask = m if mask is None else mask & m
        self._stores.append(
            Store(decl.name, index, node, None if mask is None else mask.node, here(), combine)
        )

    def _param_element(self, decl: Param, index: Affine) -> Value:
        self._check_lanes((index,))
        low, high = index.bounds(self._lanes)
        if low < 0 or high >= decl.count:
            message = f"reads {decl.name} at {low}..{high} of {decl.count} elements"
            self._fail("bounds", message, "declare it larger, or change the index")
        return self._make(Op.PARAM, (), (decl.name, (index,)))

    def _check_lanes(self, index: tuple[Affine, ...]) -> None:
        for a in index:
            for lane, _ in a.terms:
                if lane not in self._lanes and not lane.startswith("#"):
                    self._fail("index", f"lane {lane} belongs to another stage")
