# SPDX-License-Identifier: BSD-2-Clause
"""What a spec computes with: traced values, lanes, buffers and tables.

Operators build nodes through the `KernelBuilder` of the kernel being traced. What Python would do
with them silently or obscurely is refused, with a hint.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

from daedalus.dsl.build import Builder
from daedalus.dsl.errors import TraceError
from daedalus.dsl.ir import Affine, Buffer, Node, Op, Param, Table
from daedalus.dsl.source import here


class Tracer(Protocol):
    """What values, buffers and tables ask of the `KernelBuilder` that they belong to."""

    def _op(self, op: Op, *args: "Scalar", attr: tuple[Any, ...] = ()) -> "Value": ...
    def _shift(self, n: object) -> int: ...
    def _load(
        self, decl: Buffer, index: tuple[Affine, ...], uniforms: "tuple[Value, ...]" = ()
    ) -> "Value": ...
    def _store(
        self, decl: Buffer, index: tuple[Affine, ...], value: "Scalar", combine: str = ""
    ) -> None: ...
    def _param_element(self, decl: Param, index: Affine) -> "Value": ...
    def _element_type(self, name: str, dtype: object) -> None: ...
    def _fail(self, rule: str, message: str, hint: str = "") -> NoReturn: ...


def _no(what: str, hint: str, subject: str = "a traced value") -> Callable[..., Any]:
    def refuse(self: object, *_: object) -> Any:
        raise TraceError("data-dependent-python", f"{subject} has no {what}", here(), hint=hint)

    return refuse


def is_integer(x: object) -> bool:
    """A plain Python integer; True and False are none."""
    return isinstance(x, int) and not isinstance(x, bool)


class Value:
    """A traced integer or boolean. Operators build nodes; Python control flow cannot look inside.

    `home` is the builder that made it: a stage's, or the one of what all stages share.
    """

    __slots__ = ("_k", "home", "node")

    def __init__(self, k: Tracer, node: Node, home: Builder) -> None:
        self._k, self.node, self.home = k, node, home

    # -- arithmetic
    def __add__(self, o: "Scalar") -> "Value":
        if isinstance(o, LaneIndex):
            return NotImplemented  # an index: LaneIndex does it
        return self._k._op(Op.ADD, self, o)

    def __radd__(self, o: int) -> "Value":
        return self._k._op(Op.ADD, o, self)

    def __sub__(self, o: "Scalar") -> "Value":
        if isinstance(o, LaneIndex):
            return NotImplemented  # an index: LaneIndex does it
        return self._k._op(Op.SUB, self, o)

    def __rsub__(self, o: int) -> "Value":
        return self._k._op(Op.SUB, o, self)

    def __mul__(self, o: "Scalar") -> "Value":
        return self._k._op(Op.MUL, self, o)

    def __rmul__(self, o: int) -> "Value":
        return self._k._op(Op.MUL, o, self)

    def __neg__(self) -> "Value":
        return self._k._op(Op.SUB, 0, self)

    def __lshift__(self, n: "Scalar") -> "Value":
        if isinstance(n, Value):
            return self._k._op(Op.SHLV, self, n)
        return self._k._op(Op.MUL, self, 1 << self._k._shift(n))

    def __rlshift__(self, o: int) -> "Value":
        return self._k._op(Op.SHLV, o, self)

    def __rshift__(self, n: "Scalar") -> "Value":
        if isinstance(n, Value):
            return self._k._op(Op.SHRV, self, n)
        return self._k._op(Op.SHR, self, attr=(self._k._shift(n),))

    def __rrshift__(self, o: int) -> "Value":
        return self._k._op(Op.SHRV, o, self)

    def __pos__(self) -> "Value":
        return self

    def __abs__(self) -> "Value":
        return self._k._op(Op.ABS, self)

    # -- comparisons
    def __le__(self, o: "Scalar") -> "Value":
        return self._k._op(Op.LE, self, o)

    def __gt__(self, o: "Scalar") -> "Value":
        return self._k._op(Op.GT, self, o)

    def __ge__(self, o: "Scalar") -> "Value":
        return self._k._op(Op.LE, o, self)

    def __lt__(self, o: "Scalar") -> "Value":
        return self._k._op(Op.GT, o, self)

    def __eq__(self, o: object) -> "Value":  # type: ignore[override]
        return (self <= o) & (self >= o)  # type: ignore[operator]

    def __ne__(self, o: object) -> "Value":  # type: ignore[override]
        return ~(self == o)

    # -- of booleans, and of integers bit by bit
    def __and__(self, o: "Scalar") -> "Value":
        return self._joined(Op.AND, Op.BITAND, o)

    def __or__(self, o: "Scalar") -> "Value":
        return self._joined(Op.OR, Op.BITOR, o)

    def __xor__(self, o: "Scalar") -> "Value":
        if self.node.is_bool:
            self._k._fail(
                "boolean", "^ takes integers, not a comparison",
                "of comparisons (a & ~b) | (~a & b) is the same",
            )  # fmt: skip
        return self._k._op(Op.BITXOR, self, o)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def _joined(self, of_booleans: Op, of_integers: Op, o: "Scalar") -> "Value":
        if isinstance(o, bool):
            raise TraceError(
                "data-dependent-python", "a traced value has no boolean from Python beside it",
                here(), hint="select() and & | take comparisons",
            )  # fmt: skip
        boolean = self.node.is_bool or (isinstance(o, Value) and o.node.is_bool)
        return self._k._op(of_booleans if boolean else of_integers, self, o)

    def __invert__(self) -> "Value":
        if self.node.is_bool:
            return self._k._op(Op.NOT, self)
        return self._k._op(Op.SUB, -1, self)

    # -- what Python would like to do with it, and must not
    __bool__ = _no(
        "truth at tracing time", "use select(), when(), & | ~ instead of if, and, or, not"
    )
    __index__ = _no("integer at tracing time", "only lanes, constants and table lookups index")
    __int__ = _no("integer at tracing time", "only lanes, constants and table lookups index")
    __float__ = _no("float", "kernels compute on integers only")
    __iter__ = _no("elements", "slice the buffer instead, as in px[-4:4, i]")
    __len__ = _no("length", "slice the buffer instead, as in px[-4:4, i]")
    __getitem__ = _no("elements", "only buffers and tables are indexed")
    __contains__ = _no("elements", "only buffers and tables are indexed")
    __truediv__ = __rtruediv__ = _no("fraction", "use >> or round_shift()")
    __floordiv__ = __rfloordiv__ = _no("division", "use >> or round_shift(), or a reciprocal table")
    __mod__ = __rmod__ = _no("remainder", "use wrap() or low_bits(), or x & mask")
    __pow__ = __rpow__ = _no("power", "multiply")
    __round__ = _no("float", "kernels compute on integers only")
    __hash__ = object.__hash__


Scalar = Value | int


_ONE_PROGRAM = (
    "every lane runs the same program: use a stage of fewer lanes, or compare k.lane(...)"
)
_AFFINE = "an index is a sum of lanes, each times an integer; add a lane axis to split one"


class LaneIndex:
    """An affine expression of lanes, and of values known only at run time, as an index."""

    __slots__ = ("affine", "uniforms")

    def __init__(self, affine: Affine, uniforms: "tuple[tuple[Value, int], ...]" = ()) -> None:
        self.affine, self.uniforms = affine, uniforms

    def __add__(self, o: "int | LaneIndex | Value") -> "LaneIndex":
        other = _index(o)
        terms = dict(self.affine.terms)
        for lane, c in other.affine.terms:
            terms[lane] = terms.get(lane, 0) + c
        kept = tuple((lane, c) for lane, c in terms.items() if c)
        affine = Affine(self.affine.const + other.affine.const, kept)
        return LaneIndex(affine, self.uniforms + other.uniforms)

    __radd__ = __add__

    def __mul__(self, n: int) -> "LaneIndex":
        if not is_integer(n):
            raise TraceError(
                "index", f"a lane is multiplied by {type(n).__name__}", here(),
                hint="an index is a sum of lanes, each times an integer",
            )  # fmt: skip
        a = self.affine
        scaled = Affine(a.const * n, tuple((lane, c * n) for lane, c in a.terms if n))
        return LaneIndex(scaled, tuple((u, c * n) for u, c in self.uniforms))

    __rmul__ = __mul__

    def __neg__(self) -> "LaneIndex":
        return self * -1

    def __sub__(self, o: "int | LaneIndex | Value") -> "LaneIndex":
        return self + (_index(o) * -1)

    def __rsub__(self, o: "int | Value") -> "LaneIndex":
        return -self + o

    # -- a lane has no value while tracing: it stands for all of them
    __bool__ = _no("truth at tracing time", _ONE_PROGRAM, "a lane")
    __lt__ = __le__ = __gt__ = __ge__ = _no("order at tracing time", _ONE_PROGRAM, "a lane")
    __index__ = __int__ = _no("integer at tracing time", _ONE_PROGRAM, "a lane")
    __float__ = _no("float", "kernels compute on integers only", "a lane")
    __iter__ = _no("elements", "a stage of one axis gives one lane", "a lane")
    __floordiv__ = __mod__ = __rshift__ = __and__ = _no("quotient or bits", _AFFINE, "a lane")
    __truediv__ = __lshift__ = __pow__ = _no("quotient or power", _AFFINE, "a lane")
    __hash__ = object.__hash__

    def __eq__(self, o: object) -> bool:
        raise TraceError(
            "data-dependent-python", "a lane cannot be compared", here(), hint=_ONE_PROGRAM
        )


@dataclass(frozen=True)
class UpTo:
    """The extent of an axis that a value decides; KernelBuilder.upto makes it."""

    count: "Value"
    most: int


def _index(x: object) -> LaneIndex:
    if isinstance(x, LaneIndex):
        return x
    if isinstance(x, int) and is_integer(x):
        return LaneIndex(Affine(x))
    if isinstance(x, Value) and not x.node.is_bool:
        return LaneIndex(Affine(0), ((x, 1),))
    raise TraceError(
        "index", f"cannot index with {type(x).__name__}", here(),
        hint="use a lane, an integer, or an integer value",
    )  # fmt: skip


def _affine(x: object) -> Affine:
    """An index that is known but for the lanes."""
    found = _index(x)
    if found.uniforms:
        raise TraceError(
            "index", "a place known only at run time cannot be stored to", here(),
            hint="store to a place that lanes and constants decide",
        )  # fmt: skip
    return found.affine


class ParamsRef:
    """An array parameter."""

    def __init__(self, k: Tracer, decl: Param) -> None:
        self._k, self.decl = k, decl

    __iter__ = _no("elements to run through", "index it with a lane or an integer", "an array")
    __len__ = _no("length at tracing time", "take the number it was declared with", "an array")

    def __getitem__(self, key: object) -> Value:
        return self._k._param_element(self.decl, _affine(key))


class BufferRef:
    """A buffer in the spec's own axes; indexing loads, assigning stores."""

    def __init__(self, k: Tracer, decl: Buffer, swapped: bool) -> None:
        self._k, self.decl, self._swapped = k, decl, swapped

    def _indices(self, key: object) -> "list[Place] | Place":
        """All indices a key with one slice names, or the single index."""
        keys = key if isinstance(key, tuple) else (key,)
        shape = self.decl.shape[::-1] if self._swapped else self.decl.shape
        if len(keys) != len(shape):
            raise TraceError(
                "index", f"{self.decl.name} has {len(shape)} axes, {len(keys)} given", here()
            )
        slices = [n for n, x in enumerate(keys) if isinstance(x, slice)]
        if len(slices) > 1:
            raise TraceError("index", "only one axis can be a slice", here())
        if not slices:
            return self._order(tuple(_index(x) for x in keys))
        at = slices[0]
        s = keys[at]
        assert isinstance(s, slice)
        lo, hi = shape[at]
        start, stop, step = s.start, s.stop, s.step
        if not all(x is None or is_integer(x) for x in (start, stop, step)) or step == 0:
            raise TraceError(
                "index", f"a slice of {self.decl.name} needs integers, and a step other than 0",
                here(), hint="a lane stands alone in its axis; add to it inside a Python loop",
            )  # fmt: skip
        span = range(lo if start is None else start, hi if stop is None else stop, step or 1)
        return [
            self._order(tuple(_index(p if n == at else x) for n, x in enumerate(keys)))
            for p in span
        ]

    def _order(self, index: "Place") -> "Place":
        return index[::-1] if self._swapped else index

    # Python would otherwise count an index up for ever.
    __iter__ = _no("elements to run through", "slice it, as in px[-4:4, i]", "a buffer")
    __len__ = _no("length at tracing time", "its bounds are the ones declared", "a buffer")

    def _load(self, place: "Place") -> Value:
        """Loads; values in the index become arguments, named "#0", "#1", ... in it."""
        uniforms: list[Value] = []
        index = []
        for part in place:
            terms = list(part.affine.terms)
            for value, c in part.uniforms:
                terms.append((f"#{len(uniforms)}", c))
                uniforms.append(value)
            index.append(Affine(part.affine.const, tuple(terms)))
        return self._k._load(self.decl, tuple(index), tuple(uniforms))

    def __getitem__(self, key: object) -> Any:
        where = self._indices(key)
        return [self._load(i) for i in where] if isinstance(where, list) else self._load(where)

    def __setitem__(self, key: object, value: Any) -> None:
        where = self._indices(key)
        if not isinstance(where, list):
            self._k._store(self.decl, tuple(map(_affine, where)), value)
            return
        values = list(value) if isinstance(value, Sequence) else [value] * len(where)
        if len(values) != len(where):
            raise TraceError("index", f"{len(values)} values for {len(where)} elements", here())
        for i, v in zip(where, values, strict=True):
            self._k._store(self.decl, tuple(map(_affine, i)), v)

    def accumulate(self, key: object, value: Scalar, how: str = "add") -> None:
        """Merges the values of all lanes that name an element: "add", "min" or "max"."""
        if how not in ("add", "min", "max") or self.decl.kind != "temp":
            raise TraceError(
                "accumulate", "accumulate() adds, or takes the min or max, into a temp", here(),
                hint='temp.accumulate(index, value, "add")',
            )  # fmt: skip
        where = self._indices(key)
        if isinstance(where, list):
            raise TraceError("index", "accumulate into one element at a time", here())
        self._k._store(self.decl, tuple(map(_affine, where)), value, how)


Place = tuple[LaneIndex, ...]


class TableRef:
    def __init__(self, k: Tracer, decl: Table) -> None:
        self._k, self.decl = k, decl

    __iter__ = _no("elements to run through", "index it with what you know", "a table")
    __len__ = _no("length at tracing time", "take that of the Python list it came from", "a table")

    def __getitem__(self, key: Scalar | tuple[Scalar, Scalar]) -> Value:
        keys = key if isinstance(key, tuple) else (key,)
        if len(keys) != (1 if self.decl.vector else 2):
            raise TraceError("index", f"table {self.decl.name}: wrong number of indices", here())
        return self._k._op(Op.TABLE, *keys, attr=(self.decl.name,))
