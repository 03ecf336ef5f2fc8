# SPDX-License-Identifier: BSD-2-Clause
"""Reads the signature of a decoder's function, and refuses what does not suit the kernel.

The words of a signature are listed at `@kernel` (dsl/spec.py).
"""

import re
from dataclasses import dataclass, field

from daedalus.codecs.decoders.reading import described
from daedalus.codecs.decoders.tables import Argument, BadPlace, Pointer
from daedalus.dsl.decoders import DecoderEntry, Part
from daedalus.dsl.errors import Loc, SpecError
from daedalus.dsl.ir import Buffer, Kernel
from daedalus.generator.compile.pieces import Steps, steps_differ, uncut

_PACKED = re.compile(r"(\w+)/(\d+)")
_STEPS = re.compile(r"(?P<position>\w+)\+(?P<step>\w+)@(?P<plane>\w+)/(?P<parts>\d+)")
_TYPE = re.compile(r"[a-z_][a-z0-9_]*\*?")

# What an argument is: what kind, and of which buffer, parameter or pointer.
BUFFER, STRIDE, VALUE, PART, UNUSED = "buffer", "stride", "value", "part", "unused"
Role = tuple[str, str]


@dataclass
class Signature:
    """A function of a decoder, in C.

    arguments declarations, in the decoder's order; `names` are their names
    roles     what each is
    pointers  of the decoder's tables where it can stand; none where no description tells
    ranges    parameters of which the decoder's callers have some values only: the ends
    casts     buffer -> its type in C, where the argument has another
    packed    array parameter -> bits of each of its values, where one argument holds them all, the
              first in its lowest bits
    values    buffer, plane's stride or parameter -> what a call passes for it
    unused    arguments that do not matter
    cleared   blocks that are zeroed afterwards
    fixed     parameters that are no arguments, and their values
    pieces    the parameter that may count more rows than an item has
    steps     of the rows of such pieces, where planes do not all move as the rows do
    """

    arguments: list[str] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    roles: list[Role] = field(default_factory=list)
    pointers: tuple[Pointer, ...] = ()
    ranges: dict[str, tuple[int, int]] = field(default_factory=dict)
    casts: dict[str, str] = field(default_factory=dict)
    packed: dict[str, int] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    unused: list[str] = field(default_factory=list)
    cleared: list[str] = field(default_factory=list)
    fixed: dict[str, int] = field(default_factory=dict)
    pieces: str = ""
    steps: Steps | None = None


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
        self.lines = {f"{b.name}.stride" for b in kernel.buffers if b.one_row}
        self.made = {name for name, _ in entry.planes}
        self.pointers = {
            p.pointer: (self.buffers.get(plane), p)
            for plane, parts in entry.planes
            for p in parts
            if p.pointer not in self.buffers
        }
        self.given: set[str] = set()
        self.type = ""  # that the word at hand gives
        self.declared: list[tuple[str, str]] = []  # each argument's name, and its type before it
        self.out = Signature()
        words = [w.partition(":")[0] for w in entry.signature.split()]
        self.stepped = next((m for w in words if (m := _STEPS.fullmatch(w))), None)

    def read(self) -> Signature:
        for word in self.entry.signature.split():
            self._word(word)
        for stride in self.lines - self.given:
            self.out.values[stride] = "0"
        wanted = (set(self.buffers) | set(self.params) | self.strides - self.lines) - {
            x for plane in self.made for x in (plane, f"{plane}.stride")
        }
        missing = (wanted | set(self.pointers)) - self.given
        if missing:
            raise self._refuse(f"{', '.join(sorted(missing))} is missing")
        self._follow_description()
        if self.out.steps is not None:
            self._check_steps(self.out.steps)
        names = [*self.out.names, *self.out.casts, *self.made]
        twice = sorted({n for n in names if names.count(n) > 1})
        if twice:
            raise self._refuse(f"two arguments would be {twice[0]} in C")
        return self.out

    def _check_steps(self, steps: Steps) -> None:
        rows = self.out.pieces
        if not rows:
            raise self._refuse(f"{steps.position} moves with rows, and nothing counts them")
        if steps_differ(self.kernel, rows, steps):
            raise self._refuse(
                f"rows of {steps.plane} in steps of {steps.step} from {steps.position} on are not"
                " what the kernel reads: items of fewer rows, one below the other, differ"
            )

    # ---------------------------------------------------------------- as the description has it

    def _follow_description(self) -> None:
        """Gives the arguments the types that the decoder's table has; refuses others."""
        decoder = described(self.entry.decoder)
        if decoder is None:
            if self.entry.place:
                raise self._refuse(f"no description in codecs/decoders has {self.entry.place}")
            return
        if not self.entry.place:
            raise SpecError(
                "decoder", f"{self.entry.decoder}: names no pointer of its tables",
                self.entry.loc or self.kernel.loc, self.kernel.id,
                hint=f"write place({self.entry.signature}), as docs/decoders.md says",
            )  # fmt: skip
        try:
            self.out.pointers = tuple(decoder.pointers(self.entry.place))
        except BadPlace as e:
            raise SpecError(
                "decoder", f"{self.entry.decoder}: {e.args[0]}",
                self.entry.loc or self.kernel.loc, self.kernel.id, hint=e.args[1],
            ) from None  # fmt: skip
        function = self.out.pointers[0].function
        if function.returns != "void":
            raise self._refuse(f"{self.entry.place} returns {function.returns}, and no entry does")
        typed = [w for w in self.entry.signature.split() if ":" in w]
        if typed:
            raise self._refuse(f"{typed[0]!r}: the description has the types of {self.entry.place}")
        theirs = function.arguments
        if len(theirs) != len(self.declared):
            names = " ".join(a.name for a in theirs)
            raise self._refuse(
                f"{self.entry.place} takes {len(theirs)} arguments ({names}), and"
                f" {len(self.declared)} are named"
            )
        for n, ((name, kind), argument) in enumerate(zip(self.declared, theirs, strict=True)):
            self._take_type(n, name, kind, argument)
            cleared = self.out.roles[n][1] in self.out.cleared
            if cleared != (argument.name == function.clears):
                does = "does not clear" if cleared else "clears"
                raise self._refuse(f"{self.entry.place} {does} {argument.name}: write {name}"
                                   f"{'' if cleared else '!'}")  # fmt: skip
        self._take_ranges()

    def _take_type(self, n: int, name: str, kind: str, argument: Argument) -> None:
        own = " ".join(kind.split())
        deep = self.out.pointers[0].filled.depth > 8
        role, of = self.out.roles[n]
        if role == UNUSED and argument.pointer:
            self.out.arguments[n] = argument.declared.format(name)
            return
        same = own.removeprefix("const ") == argument.type.removeprefix("const ")
        if argument.type.startswith("const ") and not own.startswith("const ") and role == BUFFER:
            raise self._refuse(
                f"{self.entry.place} has {argument.type} for {name}, which is written"
            )
        if argument.pointer != ("*" in own) or (argument.pointer and not same and not deep):
            raise self._refuse(f"{self.entry.place} has {argument.type} for {name}, not {own}")
        if role in (VALUE, STRIDE) and (role == STRIDE) != argument.stride:
            what = "a stride" if argument.stride else "no stride"
            raise self._refuse(f"{self.entry.place} has {what}, {argument.name}, for {name}")
        if argument.pointer and not same:
            if role != BUFFER:
                raise self._refuse(f"{self.entry.place} has {argument.type} for {name}, not {own}")
            self.out.casts[of] = own
            name = f"{name}_bytes"
        self.out.arguments[n] = argument.declared.format(name)
        self.out.names[n] = name

    def _take_ranges(self) -> None:
        for n, argument in enumerate(self.out.pointers[0].function.arguments):
            role, of = self.out.roles[n]
            known = [p.ranges.get(argument.name) for p in self.out.pointers]
            ends = [r for r in known if r is not None]
            if role != VALUE or len(ends) < len(known) or self.params[of].count > 1:
                continue
            if of == self.out.pieces:  # the last piece has any height
                continue
            p = self.params[of]
            lo, hi = max(p.lo, min(r[0] for r in ends)), min(p.hi, max(r[1] for r in ends))
            if lo > hi:
                raise self._refuse(
                    f"{self.entry.place} is called with other values of {of} than the kernel's"
                )
            self.out.ranges[of] = lo, hi

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
            self._declare((UNUSED, name), name, "int ")
        elif len(others) == 1 and others[0].removeprefix("-").isdecimal():
            self._fixed(word, first, int(others[0]))
        elif others:
            if not {first, *others} <= self.strides:
                raise self._refuse(f"{word!r}: only planes' strides can be one argument")
            self._stride(first, others)
        elif word.endswith("+"):
            self._rows(word)
        elif match := _PACKED.fullmatch(word):
            self._packed(word, match[1], int(match[2]))
        elif self.stepped is not None and word == self.stepped[0]:
            position, step, plane, parts = self.stepped.groups()
            self._steps(word, Steps(position, step, plane, int(parts)))
        elif word in self.strides:
            self._stride(word, [])
        elif word in self.params:
            self._take(word)
            p = self.params[word]
            self._argument(VALUE, word, f"const {p.dtype.c} *" if p.count > 1 else "int ")
        elif word in self.pointers:
            self._pointer(word)
        else:
            self._buffer(word)

    def _declare(self, role: Role, name: str, kind: str) -> None:
        """An argument of this type, or of the one that the word gives."""
        if self.type:
            kind = self.type.replace("*", " *") if self.type.endswith("*") else f"{self.type} "
        self._add(role, name, kind, f"{kind}{name}")

    def _add(self, role: Role, name: str, kind: str, declaration: str) -> None:
        self.out.arguments.append(declaration)
        self.out.roles.append(role)
        self.out.names.append(name)
        self.declared.append((name, kind))

    def _argument(self, role: str, name: str, kind: str) -> None:
        self._declare((role, name), name, kind)
        self.out.values[name] = name

    def _stride(self, first: str, others: list[str]) -> None:
        text = first.replace(".", "_")
        for name in (first, *others):
            self._take(name)
            self.out.values[name] = text
        self._declare((STRIDE, first.removesuffix(".stride")), text, "ptrdiff_t ")

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
        reason = "a plane is put together" if self.made else ""
        if self.stepped is None:
            reason = reason or uncut(self.kernel, name)
        if reason:
            raise self._refuse(f"{word!r}: higher items cannot be done in pieces: {reason}")
        self._take(name)
        self._argument(VALUE, name, "int ")
        self.out.pieces = name

    def _packed(self, word: str, name: str, bits: int) -> None:
        p = self.params.get(name)
        if p is None or p.count == 1 or p.lo < 0 or p.hi >> bits or p.count * bits > 31:
            raise self._refuse(
                f"{word!r}: only an array parameter of numbers of {bits} bits, which an int holds"
            )
        self._take(name)
        self._declare((VALUE, name), f"{name}_packed", "int ")
        self.out.values[name] = name
        self.out.packed[name] = bits

    def _steps(self, word: str, steps: Steps) -> None:
        """The parameter of a position, as an argument."""
        names = (steps.position, steps.step)
        if any(n not in self.params or self.params[n].count > 1 for n in names):
            raise self._refuse(f"{word!r}: {' and '.join(names)} must be parameters of one value")
        plane = self.buffers.get(steps.plane)
        if plane is None or plane.kind != "plane" or plane.access != "in":
            raise self._refuse(f"{word!r}: {steps.plane} is no plane that is only read")
        position = self.params[steps.position]
        if (position.lo, position.hi) != (0, steps.parts - 1):
            raise self._refuse(f"{word!r}: {position.name} must be in 0..{steps.parts - 1}")
        self._take(position.name)
        self._argument(VALUE, position.name, "int ")
        self.out.steps = steps

    def _pointer(self, name: str) -> None:
        plane, p = self.pointers[name]
        if name in self.params or f"{name}.stride" in self.strides or not name.isidentifier():
            raise self._refuse(f"{name!r} is no name for a pointer here")
        self._take(name)
        assert plane is not None and plane.dtype is not None
        kind = f"const {plane.dtype.c}"
        if isinstance(p.stride, int):
            packed = f"{kind} (*{{}})[{p.stride}]"
            self._add((PART, name), name, packed.format(""), packed.format(name))
        else:
            self._declare((PART, name), name, f"{kind} *")

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
        self._argument(BUFFER, name, f"{const}{b.dtype.c} *")
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
