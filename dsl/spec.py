# SPDX-License-Identifier: BSD-2-Clause
"""`@kernel`: runs a spec's function and makes kernels of what it did.

The function runs once for each member of the family (`members.py`) with a `KernelBuilder`. Its
variables, and those of functions in modules beside it, give the values their names.
"""

import functools
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from daedalus.dsl.decoders import Declared, DecoderEntry, decoder_entries
from daedalus.dsl.errors import Loc, SpecError, TraceError
from daedalus.dsl.ir import Kernel, Node, Op, Sampler
from daedalus.dsl.members import (
    ORIENTATION,
    Axes,
    BadAxes,
    Member,
    check,
    members,
    pattern_of,
    takes,
)
from daedalus.dsl.source import here, python_error, source_name
from daedalus.dsl.trace import KernelBuilder
from daedalus.dsl.values import Value

_R = TypeVar("_R")
_F = TypeVar("_F", bound=Callable[..., "dict[str, np.ndarray]"])

# Frames of their own up to Python 3.11 only: in what names values get, versions have to agree.
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")
KERNEL_ID = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")


def _name_values(names: dict[int, str], kept: list[Node], frame_locals: Mapping[str, Any]) -> None:
    """Notes the author's variable names; the outermost function, which returns last, decides.

    Named nodes stay in `kept`: the id of one that is gone could become another's.

    Of several variables with one value the shortest name is taken: what order Python has them in
    depends on its version.
    """
    own: dict[int, str] = {}

    def note(value: Value, name: str) -> None:
        kept.append(value.node)
        known = own.get(id(value.node), name)
        own[id(value.node)] = min(known, name, key=lambda n: (len(n), n))

    for name, value in frame_locals.items():
        if name.startswith("_"):
            continue
        if isinstance(value, Value):
            note(value, name)
        elif isinstance(value, list | tuple) and value and all(isinstance(v, Value) for v in value):
            for n, v in enumerate(value):
                note(v, f"{name}{n}")
    names |= own


def _trace(fn: Callable[..., None], k: KernelBuilder, member: Member) -> None:
    """Runs the spec and names its values after the variables of its functions, and of those that it
    takes from modules in its own folder."""
    folder = os.path.dirname(fn.__code__.co_filename)
    names: dict[int, str] = {}
    kept: list[Node] = []
    before = sys.getprofile()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "return" and code.co_name not in _COMPREHENSIONS and beside(code.co_filename):
            _name_values(names, kept, frame.f_locals)

    @functools.cache
    def beside(file: str) -> bool:
        return os.path.dirname(file) == folder

    sys.setprofile(watch)
    try:
        member.call(fn, k)
    finally:
        sys.setprofile(before)
    for stage in k._stages:
        for node in reversed(stage.nodes()):
            name = names.get(id(node), "")
            if node.op is Op.ASSUME and name:  # the name is the value's, not the remark's
                names[id(node.args[0])] = name
            elif not node.name and name and node.op is not Op.CONST:
                object.__setattr__(node, "name", name)


Decoders = Mapping[str, Declared | Mapping[str, Declared]]


@dataclass(frozen=True)
class Declaration:
    """What `kernel` is called with."""

    clause: str
    id: str
    axes: Axes
    without: Callable[..., bool] | None
    bare: str
    items: str
    decoders: Decoders | Callable[..., Decoders]
    wide: bool | Callable[..., bool]
    loc: Loc


class KernelSpec:
    """What `@kernel` makes of a function: a family, whose members are kernels."""

    def __init__(self, fn: Callable[..., None], declared: Declaration) -> None:
        self.fn, self.declared = fn, declared
        self.sampler: Callable[..., dict[str, np.ndarray]] | None = None
        code = fn.__code__
        self.loc = Loc(source_name(code.co_filename), code.co_firstlineno)

    def inputs(self, sampler: _F) -> _F:
        """Decorates a function that draws typical inputs: (rng, count) -> name -> array.

        Only needed where random data would miss what conformant streams hold. What it does not
        name is drawn as usual. It may take axes of the spec by name. Planes that are declared by
        across and along are drawn as such, [items, across, along].
        """
        try:
            takes(self.declared.axes, sampler, 2)
        except BadAxes as e:
            raise TraceError("declaration", e.args[0], here(), hint=e.args[1]) from None
        self.sampler = sampler
        return sampler

    def kernels(self) -> list[Kernel]:
        """Traces the function for each member; raises SpecError with the line that is wrong."""
        found: dict[str, Kernel] = {}
        for member in self._run(members, self.declared.axes, self.declared.without):
            made = self._one(member)
            if made.id in found:
                raise self._refused(
                    f"two members are called {made.id}", "name every axis in the pattern of the id"
                )
            found[made.id] = made
        if not found:
            raise self._refused("no member is left: `without` leaves out every combination")
        return list(found.values())

    def _run(self, call: Callable[..., _R], *args: Any, kernel_id: str = "") -> _R:
        """Calls what runs functions of the spec; what Python raises in these is a SpecError."""
        code = self.fn.__code__
        try:
            return call(*args)
        except SpecError as e:
            e.kernel = e.kernel or kernel_id
            raise
        except Exception as e:
            raise python_error(e, code.co_filename, code.co_firstlineno, kernel_id) from e

    def _refused(self, message: str, hint: str = "", kernel_id: str = "") -> TraceError:
        where = self.declared.loc
        return TraceError("declaration", f"@kernel: {message}", where, kernel_id, hint)

    def _one(self, member: Member) -> Kernel:
        d = self.declared
        try:
            kernel_id = member.text(d.id)
            clause, doc = member.text(d.clause), member.text((self.fn.__doc__ or "").strip())
        except BadAxes as e:
            raise self._refused(*e.args) from None
        if not KERNEL_ID.fullmatch(kernel_id):
            raise self._refused(
                f"{kernel_id} is not a name like <codec>_<operation>, in lower case",
                "write id= as a pattern of what names the axes' values",
            )
        k = KernelBuilder(kernel_id, member.orientation)
        self._run(_trace, self.fn, k, member, kernel_id=kernel_id)
        wide = self._run(member.call, d.wide, kernel_id=kernel_id) if callable(d.wide) else d.wide
        k._check_announced()
        if not k._stages:
            raise TraceError("stage", "the kernel has no stage", self.loc, kernel_id)
        bare = d.bare != "" and member.orientation == d.bare
        return Kernel(
            id=kernel_id,
            codec=kernel_id.split("_")[0],
            clause=clause,
            doc=doc or clause,
            loc=self.loc,
            buffers=tuple(k._buffers),
            params=tuple(k._params),
            tables=tuple(k._tables.values()),
            temps=tuple(k._temps),
            assumptions=tuple(k._assumptions),
            classes=tuple(k._classes),
            stages=tuple(k._stages),
            aliases=(kernel_id.removesuffix(f"_{d.bare}"),) if bare else (),
            decoders=self._entries(member, kernel_id),
            item_noun=d.items,
            sampler=_turned(self.sampler, member, frozenset(k._turned)),
            wide=bool(wide),
            family=self.fn.__name__,
            member=member.words,
        )

    def _entries(self, member: Member, kernel_id: str) -> tuple[DecoderEntry, ...]:
        """The decoders' functions that a member is."""

        def refuse(message: str) -> None:
            raise self._refused(message, kernel_id=kernel_id)

        said = self.declared.decoders
        if callable(said):
            said = self._run(member.call, said, kernel_id=kernel_id)
        if not isinstance(said, Mapping):
            raise self._refused(f"decoders={said!r} is no table of decoders", kernel_id=kernel_id)
        try:
            return decoder_entries(said, refuse, member.text)
        except BadAxes as e:
            raise self._refused(*e.args) from None


def _turned(
    sampler: Callable[..., dict[str, np.ndarray]] | None, member: Member, planes: frozenset[str]
) -> Sampler | None:
    """The sampler for a member, with these planes' two axes exchanged."""
    if sampler is None:
        return None

    def drawn(rng: np.random.Generator, count: int) -> dict[str, np.ndarray]:
        found: dict[str, np.ndarray] = member.call(sampler, rng, count)
        return {n: a.swapaxes(1, 2) if n in planes else a for n, a in found.items()}

    return drawn


def kernel(
    *,
    clause: str,
    id: str = "",
    axes: Axes | None = None,
    without: Callable[..., bool] | None = None,
    bare: str = "",
    items: str = "blocks",
    decoders: Decoders | Callable[..., Decoders] | None = None,
    wide: bool | Callable[..., bool] = False,
) -> Callable[[Callable[..., None]], KernelSpec]:
    """Declares a family: a kernel for each combination of its axes, one where there are none.

    With axes, `id`, `clause`, the function's docstring and texts of `decoders` are patterns of
    `str.format` with the axes' values by name. `without`, `decoders` and `wide` may be functions;
    they, the spec's function and its sampler get those axes that they take as arguments.

    clause    the normative text it computes
    id        of the kernels; the function's name and the axes' values, with _ between them, if ""
    axes      axis -> values; {"orientation": ("v", "h")} decides what across and along of a plane
              are
    without   says which combinations there are no kernels for
    bare      the orientation that the name without one means
    items     what an item is called in the C interface: n_<items>
    decoders  decoder -> its function, or name -> function where it has several; a function is
              place(arguments): the pointers of the decoder's tables where it can stand, such as
              vp9dsp.mc[8][*][put][1][0] (docs/decoders.md), and the arguments in their order,
              separated by spaces. Types are those of the decoder:
                p, p.stride    pointer at the item in plane p; its stride
                p.stride=q.stride  one stride for both
                b, b!          pointer at the item's block; with `!` it is cleared afterwards
                x, x=3         a parameter's value; 3, and no argument
                x+             a number of rows, which may be more than an item has
                -              an int that does not matter
              Of a decoder without a description there are the arguments alone, and
                word:type      the same, of another type in C than is usual for it
              `entry` is for functions whose decoder has a plane in parts
    wide      values between memory and memory may take up to 63 bits instead of 32, as some
              products of high bit depths do; back ends with lanes of 32 bits make those that
              are sums of products by constants before a shift, and refuse others
    """

    def refuse(message: str, hint: str = "") -> None:
        raise TraceError("declaration", f"@kernel: {message}", here(), hint=hint)

    if not clause.strip():
        refuse("name the normative clause that it computes")
    if not items.isidentifier():
        refuse(f"items={items!r} is not a plain identifier")
    where = here()

    def wrap(fn: Callable[..., None]) -> KernelSpec:
        own = axes if axes is not None else {}
        try:
            check(own, fn)
            for what, given in (("without", without), ("decoders", decoders), ("wide", wide)):
                if callable(given):
                    takes(own, given, 0, what)
        except BadAxes as e:
            refuse(*e.args)
        if bare and bare not in own.get(ORIENTATION, ()):
            refuse(f"bare={bare!r} is none of its orientations")
        pattern = id or pattern_of(fn.__name__, own)
        if bare and not pattern.endswith("_{orientation}"):
            refuse(f"bare={bare!r}, and the id {pattern!r} does not end with the orientation")
        if not KERNEL_ID.fullmatch(fn.__name__):
            refuse(f"{fn.__name__} is not a name like <codec>_<operation>, in lower case")
        return KernelSpec(
            fn,
            Declaration(clause, pattern, own, without, bare, items, decoders or {}, wide, where),
        )

    return wrap
