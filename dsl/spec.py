# SPDX-License-Identifier: BSD-2-Clause
"""`@kernel`: runs a spec's function and makes kernels of what it did.

The function runs once per orientation with a `KernelBuilder`; its variables give the values their
names.
"""

import re
import sys
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import numpy as np

from daedalus.dsl.decoders import Declared, DecoderEntry, decoder_entries
from daedalus.dsl.errors import Loc, SpecError, TraceError
from daedalus.dsl.ir import Kernel, Op, Sampler
from daedalus.dsl.source import here, python_error, source_name
from daedalus.dsl.trace import KernelBuilder
from daedalus.dsl.values import Value

# Frames of their own up to Python 3.11 only: in what names values get, versions have to agree.
_COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>")
KERNEL_ID = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)+")


def _name_values(names: dict[int, str], frame_locals: Mapping[str, Any]) -> None:
    """Notes the author's variable names; the outermost function, which returns last, decides.

    Of several variables with one value the shortest name is taken: what order Python has them in
    depends on its version.
    """
    own: dict[int, str] = {}

    def note(value: Value, name: str) -> None:
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


def _trace(fn: Callable[[KernelBuilder], None], k: KernelBuilder) -> None:
    """Runs the spec and names its values after the variables of its functions."""
    spec_file = fn.__code__.co_filename
    names: dict[int, str] = {}
    before = sys.getprofile()

    def watch(frame: FrameType, event: str, _: Any) -> None:
        own = frame.f_code.co_filename == spec_file and frame.f_code.co_name not in _COMPREHENSIONS
        if event == "return" and own:
            _name_values(names, frame.f_locals)

    sys.setprofile(watch)
    try:
        fn(k)
    finally:
        sys.setprofile(before)
    for stage in k._stages:
        for node in reversed(stage.nodes()):
            name = names.get(id(node), "")
            if node.op is Op.ASSUME and name:  # the name is the value's, not the remark's
                names[id(node.args[0])] = name
            elif not node.name and name and node.op is not Op.CONST:
                object.__setattr__(node, "name", name)


class KernelSpec:
    """What `@kernel` makes of a function: one kernel, or one per orientation."""

    def __init__(
        self,
        fn: Callable[[KernelBuilder], None],
        clause: str,
        axes: tuple[str, ...],
        bare: str,
        items: str,
        decoders: tuple[DecoderEntry, ...],
        wide: bool,
    ) -> None:
        self.fn, self.clause, self.axes, self.bare = fn, clause, axes, bare
        self.items, self.decoders, self.wide = items, decoders, wide
        self.sampler: Sampler | None = None
        code = fn.__code__
        self.loc = Loc(source_name(code.co_filename), code.co_firstlineno)

    def inputs(self, sampler: Sampler) -> Sampler:
        """Decorates a function that draws typical inputs: (rng, count) -> name -> array.

        Only needed where random data would miss what conformant streams hold. What it does not
        name is drawn as usual. Planes of a spec with axes are drawn as it declares them, [items,
        across, along].
        """
        self.sampler = sampler
        return sampler

    def kernels(self) -> list[Kernel]:
        """Traces the function; raises SpecError with the line that is wrong."""
        base = self.fn.__name__
        if not self.axes:
            return [self._one(base, None, ())]
        return [
            self._one(f"{base}_{axis}", axis, (base,) if axis == self.bare else ())
            for axis in self.axes
        ]

    def _one(self, kernel_id: str, axis: str | None, aliases: tuple[str, ...]) -> Kernel:
        k = KernelBuilder(kernel_id, axis)
        try:
            _trace(self.fn, k)
        except SpecError as e:
            e.kernel = e.kernel or kernel_id
            raise
        except Exception as e:
            code = self.fn.__code__
            raise python_error(e, code.co_filename, code.co_firstlineno, kernel_id) from e
        k._check_announced()
        if not k._stages:
            raise TraceError("stage", "the kernel has no stage", self.loc, kernel_id)
        return Kernel(
            id=kernel_id,
            family=kernel_id.split("_")[0],
            clause=self.clause,
            doc=(self.fn.__doc__ or "").strip() or self.clause,
            loc=self.loc,
            buffers=tuple(k._buffers),
            params=tuple(k._params),
            tables=tuple(k._tables.values()),
            temps=tuple(k._temps),
            assumptions=tuple(k._assumptions),
            classes=tuple(k._classes),
            stages=tuple(k._stages),
            aliases=aliases,
            decoders=self.decoders,
            item_noun=self.items,
            sampler=_turned(self.sampler, frozenset(k._turned)),
            wide=self.wide,
        )


def _turned(sampler: Sampler | None, planes: frozenset[str]) -> Sampler | None:
    """The sampler with these planes' two axes exchanged, as the orientation does it."""
    if sampler is None or not planes:
        return sampler

    def turned(rng: np.random.Generator, count: int) -> dict[str, np.ndarray]:
        drawn = sampler(rng, count)
        return {n: a.swapaxes(1, 2) if n in planes else a for n, a in drawn.items()}

    return turned


def kernel(
    *,
    clause: str,
    axes: tuple[str, ...] = (),
    bare: str = "",
    items: str = "blocks",
    decoders: Mapping[str, Declared | Mapping[str, Declared]] | None = None,
    wide: bool = False,
) -> Callable[[Callable[[KernelBuilder], None]], KernelSpec]:
    """Declares a kernel; its id is the function's name.

    clause    the normative text it computes
    axes      ("v", "h"): one spec, two kernels, `<name>_v` and `<name>_h`
    bare      which of them the name without orientation means
    items     what an item is called in the C interface: n_<items>
    decoders  decoder -> its function, or name -> function where it has several; a function is the
              arguments of the decoder's table entry in their order, separated by spaces:
                p, p.stride    pointer at the item in plane p; its stride
                p.stride=q.stride  one stride for both
                b, b!          pointer at the item's block; with `!` it is cleared afterwards
                x, x=3         a parameter's value; 3, and no argument
                x+             a number of rows, which may be more than an item has
                -              an int that does not matter
                word:type      the same, of another type in C than is usual for it
              `entry` is for functions whose decoder has a plane in parts
    wide      values between memory and memory may take up to 63 bits instead of 32, as some
              products of high bit depths do; back ends with lanes of 32 bits refuse those
    """

    def refuse(message: str) -> None:
        raise TraceError("declaration", f"@kernel: {message}", here())

    if not clause.strip():
        refuse("name the normative clause that it computes")
    if set(axes) - {"v", "h"} or len(set(axes)) != len(axes):
        refuse(f'axes are "v" and "h", not {axes!r}')
    if bare and bare not in axes:
        refuse(f"bare={bare!r} is none of its axes")
    if not items.isidentifier():
        refuse(f"items={items!r} is not a plain identifier")
    functions = decoder_entries(decoders or {}, refuse)

    def wrap(fn: Callable[[KernelBuilder], None]) -> KernelSpec:
        if not KERNEL_ID.fullmatch(fn.__name__):
            refuse(f"{fn.__name__} is not a name like <codec>_<operation>, in lower case")
        return KernelSpec(fn, clause, axes, bare, items, functions, wide)

    return wrap
