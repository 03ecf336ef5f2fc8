# SPDX-License-Identifier: BSD-2-Clause
"""Reads the signature of a decoder's function, and refuses what does not suit the kernel.

The words of a signature are listed at `@kernel` (dsl/spec.py).
"""

import re
from dataclasses import dataclass, field

from daedalus.dsl.decoders import DecoderEntry, Part
from daedalus.dsl.errors import Loc, SpecError
from daedalus.dsl.ir import Buffer, Kernel
from daedalus.generator.compile.pieces import uncut

_TYPE = re.compile(r"[a-z_][a-z0-9_]*\*?")


@dataclass
class Signature:
    """A function of a decoder, in C.

    values    buffer, plane's stride or parameter -> what a call passes for it
    unused    arguments that do not matter
    cleared   blocks that are zeroed afterwards
    fixed     parameters that are no arguments, and their values
    pieces    the parameter that may count more rows than an item has
    """

    arguments: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    cleared: list[str] = field(default_factory=list)
    fixed: dict[str, int] = field(default_factory=dict)
    pieces: str = ""


def refuse(kernel: Kernel, entry: DecoderEntry, message: str, loc: Loc | None = None) -> SpecError:
    """What is wrong with an entry, at its line."""
    parts = [f"{b.name} {b.name}.stride" if b.kind == "plane" else b.name for b in kernel.buffers]
    parts += [p.name for p in kernel.params]
    where = entry.decoder + (f", {entry.suffix}" if entry.suffix else "")
    return SpecError(
        "decoder", f"{where}: {message}", loc or entry.loc or kernel.loc, kernel.id,
        hint=f"its arguments, in the decoder's order, are: {' '.join(parts)}",
    )  # fmt: skip


class _Reader:
    """Takes the words of one signature in turn."""

    def __init__(self, kernel: Kernel, entry: DecoderEntry) -> None:
        self.kernel, self.entry = kernel, entry
        self.buffers = {b.name: b for b in kernel.buffers}
        self.params = {p.name: p for p in kernel.params}
        self.strides = {f"{b.name}.stride" for b in kernel.buffers if b.kind == "plane"}
        self.made = {name for name, _ in entry.planes}
        self.pointers = {
            p.pointer: (self.buffers.get(plane), p)
            for plane, parts in entry.planes
            for p in parts
            if p.pointer not in self.buffers
        }
        self.given: set[str] = set()
        self.type = ""  # that the word at hand gives
        self.out = Signature()

    def read(self) -> Signature:
        for word in self.entry.signature.split():
            self._word(word)
        wanted = (set(self.buffers) | set(self.params) | self.strides) - {
            x for plane in self.made for x in (plane, f"{plane}.stride")
        }
        missing = (wanted | set(self.pointers)) - self.given
        if missing:
            raise self._refuse(f"{', '.join(sorted(missing))} is missing")
        return self.out

    def _refuse(self, message: str) -> SpecError:
        return refuse(self.kernel, self.entry, message)

    def _take(self, name: str) -> None:
        if name in self.given:
            raise self._refuse(f"{name} is named twice")
        if name in self.made or name.removesuffix(".stride") in self.made:
            raise self._refuse(f"{name} is put together, and no argument")
        self.given.add(name)

    def _word(self, whole: str) -> None:
        word, typed, self.type = whole.partition(":")
        if typed and not _TYPE.fullmatch(self.type):
            raise self._refuse(f"{whole!r}: {self.type!r} is no plain type of C")
        first, *others = word.split("=")
        if word == "-":
            name = f"unused{len(self.out.unused)}"
            self.out.unused.append(name)
            self._declare(name, "int ")
        elif len(others) == 1 and others[0].removeprefix("-").isdecimal():
            self._fixed(word, first, int(others[0]))
        elif others:
            if not {first, *others} <= self.strides:
                raise self._refuse(f"{word!r}: only planes' strides can be one argument")
            self._stride(first, others)
        elif word.endswith("+"):
            self._rows(word)
        elif word in self.strides:
            self._stride(word, [])
        elif word in self.params:
            self._take(word)
            p = self.params[word]
            self._argument(word, f"const {p.dtype.c} *" if p.count > 1 else "int ")
        elif word in self.pointers:
            self._pointer(word)
        else:
            self._buffer(word)

    def _declare(self, name: str, kind: str) -> None:
        """An argument of this type, or of the one that the word gives."""
        if self.type:
            kind = self.type.replace("*", " *") if self.type.endswith("*") else f"{self.type} "
        self.out.arguments.append(f"{kind}{name}")

    def _argument(self, name: str, kind: str) -> None:
        self._declare(name, kind)
        self.out.values[name] = name

    def _stride(self, first: str, others: list[str]) -> None:
        text = first.replace(".", "_")
        for name in (first, *others):
            self._take(name)
            self.out.values[name] = text
        self._declare(text, "ptrdiff_t ")

    def _fixed(self, word: str, name: str, value: int) -> None:
        p = self.params.get(name)
        if p is None or p.count > 1:
            raise self._refuse(f"{word!r}: only a parameter of one value can be fixed")
        if not p.lo <= value <= p.hi:
            raise self._refuse(f"{word!r}: {name} is in {p.lo}..{p.hi}")
        self._take(name)
        if self.type:
            raise self._refuse(f"{word!r} is no argument, and has no type")
        self.out.fixed[name] = value
        self.out.values[name] = str(value)

    def _rows(self, word: str) -> None:
        name = word.removesuffix("+")
        if name not in self.params or self.params[name].count > 1 or self.out.pieces:
            raise self._refuse(f"{word!r}: one parameter can count rows")
        reason = "a plane is put together" if self.made else uncut(self.kernel, name)
        if reason:
            raise self._refuse(f"{word!r}: higher items cannot be done in pieces: {reason}")
        self._take(name)
        self._argument(name, "int ")
        self.out.pieces = name

    def _pointer(self, name: str) -> None:
        plane, p = self.pointers[name]
        if name in self.params or f"{name}.stride" in self.strides or not name.isidentifier():
            raise self._refuse(f"{name!r} is no name for a pointer here")
        self._take(name)
        assert plane is not None and plane.dtype is not None
        kind = f"const {plane.dtype.c}"
        if isinstance(p.stride, int):
            self.out.arguments.append(f"{kind} (*{name})[{p.stride}]")
        else:
            self._declare(name, f"{kind} *")

    def _buffer(self, word: str) -> None:
        name = word.removesuffix("!")
        b = self.buffers.get(name)
        if word != name and (b is None or b.kind != "block"):
            raise self._refuse(f"{word!r}: only a block can be cleared")
        if b is None:
            raise self._refuse(f"{word!r} is no buffer, plane's stride or parameter")
        self._take(name)
        assert b.dtype is not None
        const = "const " if b.access == "in" and word == name else ""
        self._argument(name, f"{const}{b.dtype.c} *")
        if word != name:
            self.out.cleared.append(name)


def read_signature(kernel: Kernel, entry: DecoderEntry) -> Signature:
    """The entry's signature in C. Raises SpecError with the entry's line."""
    names = {b.name for b in kernel.buffers if b.kind == "plane" and b.access == "in"}
    for plane, parts in entry.planes:
        if plane not in names:
            raise refuse(kernel, entry, f"{plane} is no plane that is only read")
        _check_parts(kernel, entry, kernel.buffer(plane), parts)
    signature = _Reader(kernel, entry).read()
    for plane, parts in entry.planes:
        for p in parts:
            _check_arguments(kernel, entry, plane, p, signature)
    return signature


# ------------------------------------------------------------------ planes that are put together


def _check_parts(
    kernel: Kernel, entry: DecoderEntry, plane: Buffer, parts: tuple[Part, ...]
) -> None:
    """Every element of the plane has one place to come from; no pointer has two strides."""
    origin: dict[tuple[int, int], Part] = {}
    strides: dict[str, str | int] = {}
    for p in parts:
        inside = [
            b0 <= lo < hi <= b1
            for (lo, hi), (b0, b1) in zip((p.rows, p.cols), plane.shape, strict=True)
        ]
        if not all(inside):
            raise refuse(kernel, entry, f"{p} do not lie in {plane.name}", p.loc)
        if strides.setdefault(p.pointer, p.stride) != p.stride:
            raise refuse(kernel, entry, f"{p.pointer} has two strides", p.loc)
        packed = (p.rows[0] - p.at[0], p.cols[0] - p.at[1], p.cols[1] - p.at[1])
        if isinstance(p.stride, int) and (min(packed) < 0 or packed[2] > p.stride):
            raise refuse(
                kernel, entry, f"{p} do not lie in {p.pointer}, packed by {p.stride}", p.loc
            )
        for place in ((r, c) for r in range(*p.rows) for c in range(*p.cols)):
            if place in origin:
                raise refuse(
                    kernel, entry, f"row {place[0]}, column {place[1]} of {plane.name} comes from"
                    f" two parts", p.loc,
                )  # fmt: skip
            origin[place] = p
    (r0, r1), (c0, c1) = plane.shape
    for place in ((r, c) for r in range(r0, r1) for c in range(c0, c1)):
        if place not in origin:
            raise refuse(
                kernel, entry, f"row {place[0]}, column {place[1]} of {plane.name} comes from no"
                " part",
            )  # fmt: skip


def _check_arguments(
    kernel: Kernel, entry: DecoderEntry, plane: str, p: Part, signature: Signature
) -> None:
    """What a part is read through is there, and of the plane's type."""
    if p.pointer in signature.values:
        b = kernel.buffer(p.pointer)
        if b.kind != "plane" or b.dtype != kernel.buffer(plane).dtype:
            raise refuse(kernel, entry, f"{p.pointer} is no plane of {plane}'s type", p.loc)
    if isinstance(p.stride, str) and not (
        p.stride.endswith(".stride") and p.stride in signature.values
    ):
        raise refuse(kernel, entry, f"{p.stride!r} is no stride of this function", p.loc)
    if p.given is not None:
        name, bits = p.given
        if not any(q.name == name and q.count == 1 for q in kernel.params):
            raise refuse(kernel, entry, f"given: {name} is no parameter of one value", p.loc)
        if not 0 < bits <= kernel.param(name).hi:
            raise refuse(kernel, entry, f"given: {name} cannot have the bits {bits}", p.loc)
