# SPDX-License-Identifier: BSD-2-Clause
"""Lane programs: the types, the nodes, and the one statement of the integer semantics.

A **kernel** is a function on one *item*. It declares buffers, parameters, constant tables and
temps, and runs **stages** in order. A stage runs one straight-line program on every point of its
lane domain (`dims`). All loads of a stage see the state before it, its stores apply at its end.

**Values are mathematical integers.** No operation wraps or saturates unless that is its meaning:

| op       | attr          | value                                                             |
|----------|---------------|-------------------------------------------------------------------|
| CONST    | value         | value                                                             |
| PARAM    | name, index   | the item's parameter; of an array, the element at index           |
| LANE     | name          | the lane's coordinate on an axis                                  |
| LOAD     | buffer, index | the element at index before this stage                            |
| TABLE    | table         | table[args]; an index outside is clamped to the nearest row       |
| ADD, SUB, MUL |          | a + b, a - b, a * b                                               |
| SHR      | n >= 0        | floor(a / 2**n)                                                   |
| RSHR     | n >= 1        | floor((a + 2**(n-1)) / 2**n): rounds half up                      |
| SHRV     |               | floor(a / 2**b); for a b outside [0, 31], with some other in it    |
| SHLV     |               | a * 2**b, likewise                                                |
| BITAND, BITOR, BITXOR |  | bit by bit, of numbers whose sign bit goes on to the left for ever |
| MIN, MAX |               | the smaller, the larger                                           |
| ABS      |               | abs(a)                                                            |
| ABSDIFF  |               | abs(a - b)                                                        |
| CLIP     | lo, hi        | min(max(a, lo), hi)                                               |
| WRAP     | dtype         | the member of dtype congruent to a modulo 2**bits                 |
| ASSUME   | name, lo, hi  | a; an item for which a is outside [lo, hi] is not conformant      |
| DOT      | table         | sum of table[args[0]][k] * args[1+k]                              |
| SELECT   |               | b if a else c (a boolean)                                         |
| LE, GT   |               | a <= b, a > b (booleans)                                          |
| AND, OR, NOT |           | on booleans                                                       |

Every value must be proven to fit 32 bits, signed or unsigned (`ranges.py`), under the assumptions
in force; in a kernel that is declared wide, 63 bits signed, while elements in memory keep to 32.
Nothing here has a width: widths are chosen by a back end, per use.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from daedalus.dsl.decoders import DecoderEntry
from daedalus.dsl.errors import Loc

# ------------------------------------------------------------------ element types


@dataclass(frozen=True)
class DType:
    """An element type in memory."""

    name: str
    bits: int
    signed: bool

    @property
    def lo(self) -> int:
        return -(1 << (self.bits - 1)) if self.signed else 0

    @property
    def hi(self) -> int:
        return (1 << (self.bits - (1 if self.signed else 0))) - 1

    @property
    def bytes(self) -> int:
        return self.bits // 8

    @property
    def c(self) -> str:
        """Its name in C."""
        return f"{'' if self.signed else 'u'}int{self.bits}_t"

    def __str__(self) -> str:
        return self.name


u8, i8 = DType("u8", 8, False), DType("i8", 8, True)
u16, i16 = DType("u16", 16, False), DType("i16", 16, True)
u32, i32 = DType("u32", 32, False), DType("i32", 32, True)
DTYPES = (u8, i8, u16, i16, u32, i32)


def smallest_dtype(lo: int, hi: int) -> DType | None:
    """The narrowest element type that holds [lo, hi]; signed where both do."""
    for pair in ((i8, u8), (i16, u16), (i32, u32)):
        for t in pair:
            if t.lo <= lo and hi <= t.hi:
                return t
    return None


# ------------------------------------------------------------------ nodes


class Op(StrEnum):
    CONST = "const"
    PARAM = "param"
    LANE = "lane"
    LOAD = "load"
    TABLE = "table"
    ADD = "add"
    SUB = "sub"
    MUL = "mul"
    SHR = "shr"
    RSHR = "rshr"
    SHRV = "shrv"
    SHLV = "shlv"
    BITAND = "bitand"
    BITOR = "bitor"
    BITXOR = "bitxor"
    MIN = "min"
    MAX = "max"
    ABS = "abs"
    ABSDIFF = "absdiff"
    CLIP = "clip"
    WRAP = "wrap"
    ASSUME = "assume"
    DOT = "dot"
    SELECT = "select"
    LE = "le"
    GT = "gt"
    AND = "and"
    OR = "or"
    NOT = "not"


BITWISE = (Op.BITAND, Op.BITOR, Op.BITXOR)
COMMUTATIVE = frozenset({Op.ADD, Op.MUL, Op.MIN, Op.MAX, Op.ABSDIFF, Op.AND, Op.OR, *BITWISE})
BOOLEAN = frozenset({Op.LE, Op.GT, Op.AND, Op.OR, Op.NOT})


@dataclass(frozen=True)
class Affine:
    """An index: const + sum of coefficient * lane.

    In the index of a LOAD, the term "#0" is the node's first argument, "#1" the second: values
    known only at run time, which may differ between lanes.
    """

    const: int
    terms: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        parts = [lane if c == 1 else f"{c}*{lane}" for lane, c in self.terms]
        if self.const or not parts:
            parts.append(str(self.const))
        return " + ".join(parts).replace("+ -", "- ")

    def coefficient(self, lane: str) -> int:
        return dict(self.terms).get(lane, 0)

    def at(self, lanes: Mapping[str, Any]) -> Any:
        """The value where the lanes have the given values (ints or arrays)."""
        return self.const + sum(c * lanes[lane] for lane, c in self.terms)

    def bounds(self, extents: Mapping[str, int]) -> tuple[int, int]:
        """Smallest and largest value over the lane domain."""
        lo = self.const + sum(min(0, c * (extents[ln] - 1)) for ln, c in self.terms)
        hi = self.const + sum(max(0, c * (extents[ln] - 1)) for ln, c in self.terms)
        return lo, hi


Index = tuple[Affine, ...]


@dataclass(frozen=True, eq=False)
class Node:
    """A value of a stage. Identity is equality: equal nodes of a stage are one object."""

    op: Op
    args: tuple["Node", ...]
    attr: tuple[Any, ...]
    loc: Loc
    seq: int  # creation order, which is the author's order
    name: str = ""  # the author's name for it, where it has one

    @property
    def is_bool(self) -> bool:
        return self.op in BOOLEAN

    @property
    def value(self) -> int:
        """The value of a CONST."""
        assert self.op is Op.CONST
        return int(self.attr[0])

    @property
    def inverted(self) -> "Node | None":
        """The value whose bits this one has inverted, -1 less the value; None if it is no such."""
        minus_one = self.op is Op.SUB and self.args[0].op is Op.CONST and self.args[0].value == -1
        return self.args[1] if minus_one else None

    @property
    def index(self) -> Index:
        """The index of a LOAD, or of an element of an array parameter."""
        assert self.op in (Op.LOAD, Op.PARAM)
        index: Index = self.attr[1] if len(self.attr) > 1 else ()
        return index


def evaluate(op: Op, attr: tuple[Any, ...], args: tuple[Any, ...]) -> Any:
    """The meaning of every operation but CONST, PARAM, LANE, LOAD, TABLE and DOT.

    Works on integers and, element-wise, on integer and boolean arrays.
    """
    match op:
        case Op.ADD:
            return args[0] + args[1]
        case Op.SUB:
            return args[0] - args[1]
        case Op.MUL:
            return args[0] * args[1]
        case Op.SHR:
            return args[0] >> attr[0]
        case Op.RSHR:
            return (args[0] + (1 << (attr[0] - 1))) >> attr[0]
        case Op.SHRV:
            return args[0] >> np.clip(args[1], 0, 31)
        case Op.SHLV:
            return args[0] << np.clip(args[1], 0, 31)
        case Op.BITAND:
            return args[0] & args[1]
        case Op.BITOR:
            return args[0] | args[1]
        case Op.BITXOR:
            return args[0] ^ args[1]
        case Op.MIN:
            return np.minimum(args[0], args[1])
        case Op.MAX:
            return np.maximum(args[0], args[1])
        case Op.ABS:
            return abs(args[0])
        case Op.ABSDIFF:
            return abs(args[0] - args[1])
        case Op.CLIP:
            return np.minimum(np.maximum(args[0], attr[0]), attr[1])
        case Op.WRAP:
            t: DType = attr[0]
            return ((args[0] - t.lo) & ((1 << t.bits) - 1)) + t.lo
        case Op.ASSUME:
            return args[0]
        case Op.SELECT:
            return np.where(args[0], args[1], args[2])
        case Op.LE:
            return args[0] <= args[1]
        case Op.GT:
            return args[0] > args[1]
        case Op.AND:
            return np.logical_and(args[0], args[1])
        case Op.OR:
            return np.logical_or(args[0], args[1])
        case Op.NOT:
            return np.logical_not(args[0])
    raise AssertionError(f"{op} needs its context to be evaluated")


def walk(roots: Iterator[Node] | tuple[Node, ...] | list[Node]) -> Iterator[Node]:
    """Every node below the roots once, arguments before their users."""
    seen: set[Node] = set()
    for root in roots:
        stack = [(root, False)]
        while stack:
            node, done = stack.pop()
            if done:
                yield node
            elif node not in seen:
                seen.add(node)
                stack.append((node, True))
                stack.extend((a, False) for a in reversed(node.args) if a not in seen)


def parts(node: Node, op: Op = Op.AND) -> list[Node]:
    """What an associative operation puts together, in order: of a mask, its conjuncts."""
    return [p for a in node.args for p in parts(a, op)] if node.op is op else [node]


# ------------------------------------------------------------------ declarations


@dataclass(frozen=True)
class Buffer:
    """A buffer of the item, or a temp between stages.

    kind   "plane" (two axes, row and column, around the item's origin), "block" (packed items,
           last axis contiguous) or "temp" (lives inside one item).
    shape  half-open bounds of each axis.
    access "in", "out" or "inout".
    lo, hi what a conformant item holds; for a temp, unset until ranges are known.
    owns   half-open bounds the item may rewrite with unchanged values besides what it stores.
    """

    name: str
    kind: str
    dtype: DType | None
    shape: tuple[tuple[int, int], ...]
    access: str
    loc: Loc
    lo: int = 0
    hi: int = 0
    owns: tuple[tuple[int, int], ...] | None = None
    note: str = ""
    init: int | None = None  # of a temp: what every element holds before the first stage

    @property
    def extents(self) -> tuple[int, ...]:
        return tuple(hi - lo for lo, hi in self.shape)

    @property
    def size(self) -> int:
        return int(np.prod(self.extents))

    @property
    def one_row(self) -> bool:
        """A plane whose stride does not matter."""
        return self.kind == "plane" and self.shape[0] == (0, 1)


@dataclass(frozen=True)
class Param:
    name: str
    dtype: DType
    lo: int
    hi: int
    loc: Loc
    why: str = ""
    count: int = 1  # elements; more than one makes it an array in the meta
    # What items of any class have, where `lo` and `hi` are those of one class.
    declared: tuple[int, int] | None = None

    @property
    def any_class(self) -> "Param":
        """The parameter as items that lie about their class have it."""
        if self.declared is None:
            return self
        return replace(self, lo=self.declared[0], hi=self.declared[1], declared=None)


@dataclass(frozen=True)
class Table:
    """A constant table of one or two dimensions (rows of equal length)."""

    name: str
    dtype: DType
    rows: tuple[tuple[int, ...], ...]
    loc: Loc
    vector: bool = False  # one-dimensional: a single column, indexed by the row alone


@dataclass(frozen=True)
class Assumption:
    """A named bound that the standard, or the libraries' practice, gives to some values."""

    name: str
    why: str
    default: bool
    loc: Loc


@dataclass(frozen=True)
class ItemClass:
    """A precondition: parameter ranges, and where a block buffer may be non-zero.

    `nonzero` maps a buffer to the leading extents, per axis, outside of which it is zero.
    """

    name: str
    when: tuple[tuple[str, int, int], ...]
    nonzero: tuple[tuple[str, tuple[int, ...]], ...]
    loc: Loc
    why: str = ""


@dataclass(frozen=True)
class Store:
    """combine  "" replaces the element; "add", "min" or "max" merge the values of several lanes."""

    buffer: str
    index: Index
    value: Node
    mask: Node | None
    loc: Loc
    combine: str = ""


@dataclass(frozen=True)
class Stage:
    """A lane domain, outermost axis first, and what every point of it stores.

    given   the stage runs only for items where this (the same on all lanes) holds
    limits  axis -> how many of its coordinates exist, the same on all lanes; at most the extent
    guard   set by a pass: a lane for which it is false stores nothing that differs from before, so
           where it is false on all lanes the stage may be skipped.
    vector  set by a pass: how many axes, the last ones, run across a vector; the others are loops
    loops   set by a pass: those of the others that stay loops although nothing limits them
    """

    dims: tuple[tuple[str, int], ...]
    stores: tuple[Store, ...]
    loc: Loc
    guard: Node | None = None
    given: Node | None = None
    limits: tuple[tuple[str, Node], ...] = ()
    vector: int = 1
    loops: tuple[str, ...] = ()

    @property
    def extents(self) -> dict[str, int]:
        return dict(self.dims)

    @property
    def lanes(self) -> int:
        return int(np.prod([n for _, n in self.dims]))

    def roots(self) -> list[Node]:
        """Masks and values of the stores, in order, and what decides where the stage runs."""
        roots = [n for s in self.stores for n in (s.value, s.mask)]
        roots += [self.guard, self.given, *(n for _, n in self.limits)]
        return [n for n in roots if n is not None]

    def nodes(self) -> tuple[Node, ...]:
        """All nodes, in the author's order."""
        return self._nodes

    @cached_property
    def _nodes(self) -> tuple[Node, ...]:
        return tuple(sorted(walk(self.roots()), key=lambda n: n.seq))

    def grid(self) -> dict[str, np.ndarray]:
        """Each lane's value at every point of the domain, flattened, last axis fastest."""
        axes = np.indices([n for _, n in self.dims]).reshape(len(self.dims), -1)
        return {name: axes[k] for k, (name, _) in enumerate(self.dims)}


FULL = "full"  # the class of every conformant item


@dataclass(frozen=True)
class Panels:
    """An item that is done in parts, one beside the other, by the same stages.

    count, lanes  how many, and columns from one to the next
    planes        those that move on by so many columns; others are the same to all parts
    """

    count: int
    lanes: int
    planes: tuple[str, ...]


# (generator, count) -> buffer or parameter -> values, as interp.Items has them
Sampler = Callable[[np.random.Generator, int], Mapping[str, np.ndarray]]


@dataclass(frozen=True)
class Kernel:
    id: str
    codec: str
    clause: str
    doc: str
    loc: Loc
    buffers: tuple[Buffer, ...]
    params: tuple[Param, ...]
    tables: tuple[Table, ...]
    temps: tuple[Buffer, ...]
    assumptions: tuple[Assumption, ...]
    classes: tuple[ItemClass, ...]  # narrowest first; the full class is implied
    stages: tuple[Stage, ...]
    aliases: tuple[str, ...] = ()
    decoders: tuple[DecoderEntry, ...] = ()
    item_noun: str = "blocks"
    sampler: Sampler | None = None  # typical inputs, where random ones would not be
    wide: bool = False  # values may take more than 32 bits
    family: str = ""  # the function that declares it
    member: tuple[tuple[str, str], ...] = ()  # axis and value: which of the family's it is
    items_per_vector: int = field(default=1)  # set by the packing pass
    modular: bool = False  # set by a pass: sums may leave 32 bits on the way, and come back
    branches: bool = False  # set by a pass: what no lane wants is to be branched around
    panels: Panels | None = None  # set by a pass: buffers and stages are those of one panel

    def buffer(self, name: str) -> Buffer:
        return next(b for b in (*self.buffers, *self.temps) if b.name == name)

    def param(self, name: str) -> Param:
        return next(p for p in self.params if p.name == name)

    def table(self, name: str) -> Table:
        return next(t for t in self.tables if t.name == name)

    def item_class(self, name: str) -> ItemClass:
        return next(c for c in self.classes if c.name == name)

    @property
    def class_names(self) -> tuple[str, ...]:
        return (*(c.name for c in self.classes), FULL)

    @property
    def defaults(self) -> frozenset[str]:
        """The assumptions that every conformant item meets."""
        return frozenset(a.name for a in self.assumptions if a.default)
