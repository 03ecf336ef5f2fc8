# SPDX-License-Identifier: BSD-2-Clause
"""How C calls a decoder's function with an item of our kernel: for programs that compare.

An item is what tools/oracle/oracle.h says: planes, one stride, a block and numbers. The calls come
from the spec's signature and the description of the decoder's table.
"""

from dataclasses import dataclass

from daedalus.codecs.decoders.tables import Pointer
from daedalus.dsl.decoders import DecoderEntry, Part
from daedalus.dsl.ir import Buffer, Kernel, Param
from daedalus.generator.compile.signatures import (
    BUFFER,
    PART,
    STRIDE,
    VALUE,
    Signature,
    read_signature,
)

_PLAIN = ("uint8_t *", "const uint8_t *")


@dataclass(frozen=True)
class Call:
    """A decoder's function, as a program calls it with an `oracle_item *item`.

    setup       statements before the call
    expression  the arguments
    after       statements behind it
    switches    numbers of `item->params`: bit n of the target's number is set where the nth is 0
    """

    setup: tuple[str, ...]
    expression: str
    after: tuple[str, ...]
    switches: tuple[int, ...]


@dataclass(frozen=True)
class Called:
    """One of our functions for a decoder, and theirs.

    targets  theirs; of those that arguments decide between, as Call.switches counts
    """

    kernel: Kernel
    entry: DecoderEntry
    signature: Signature
    targets: tuple[Pointer, ...]
    call: Call
    in_place: "InPlace | None"

    @property
    def pointer(self) -> Pointer:
        """Where theirs is taken from."""
        return self.targets[0]


@dataclass(frozen=True)
class InPlace:
    """The same of a function that changes the memory of a plane that is read.

    source   the number of that plane
    static   declarations
    prepare  statements for item i, before all calls
    call     the arguments for item i
    rows, bytes  of what is written, from row 0 and column 0 on
    """

    source: int
    static: tuple[str, ...]
    prepare: tuple[str, ...]
    expression: str
    rows: int
    bytes: int


def called(kernel: Kernel, entry: DecoderEntry) -> list[Called]:
    """How the decoder's functions for an entry are called, for each pointer where ours can stand.

    None of an entry for a decoder without a description.
    """
    signature = read_signature(kernel, entry)
    return [_called(kernel, entry, signature, p) for p in signature.pointers]


def _called(kernel: Kernel, entry: DecoderEntry, signature: Signature, first: Pointer) -> Called:
    by_argument = {
        a.name: of
        for a, (role, of) in zip(first.function.arguments, signature.roles, strict=True)
        if role == VALUE
    }
    switches = [a for a, _ in first.switches() if a in by_argument]
    targets = [first]
    for argument in switches:
        targets += [dict(t.switches())[argument] for t in targets]
    places = _Places(kernel, entry, signature)
    call = Call(
        tuple(places.setup()),
        places.arguments(),
        tuple(places.after()),
        tuple(places.first[by_argument[a]] for a in switches),
    )
    return Called(kernel, entry, signature, tuple(targets), call, places.in_place())


class _Places:
    """Where in an item what stands."""

    def __init__(self, kernel: Kernel, entry: DecoderEntry, signature: Signature) -> None:
        self.kernel, self.entry, self.signature = kernel, entry, signature
        self.planes = [b for b in kernel.buffers if b.kind == "plane"]
        self.number = {b.name: n for n, b in enumerate(self.planes)}
        self.first: dict[str, int] = {}  # parameter -> its first number
        at = 0
        for p in given_params(kernel, signature):
            self.first[p.name] = at
            at += p.count
        self.parts = [(kernel.buffer(n), p) for n, ps in entry.planes for p in ps]

    def _cast(self, n: int, text: str) -> str:
        kind = self.signature.pointers[0].function.arguments[n].type
        return text if kind in _PLAIN else f"({kind})(void *){text}"

    def arguments(self, *, in_place: int = -1) -> str:
        """The call's; with `in_place` the number of the plane that all planes' memory is."""
        words = []
        for n, (role, of) in enumerate(self.signature.roles):
            if role == BUFFER:
                words.append(self._buffer(n, self.kernel.buffer(of), in_place))
            elif role == STRIDE:
                words.append(self._number(n, "item->stride"))
            elif role == VALUE and self.kernel.param(of).count > 1:
                words.append(of)
            elif role == VALUE:
                words.append(self._number(n, f"p[{self.first[of]}]"))
            elif role == PART:
                words.append(self._part(of, in_place))
            else:
                words.append("0")
        return ", ".join(words)

    def _number(self, n: int, text: str) -> str:
        kind = self.signature.pointers[0].function.arguments[n].type
        return text if kind in ("int", "ptrdiff_t") and "stride" not in text else f"({kind}){text}"

    def _buffer(self, n: int, b: Buffer, in_place: int) -> str:
        if b.kind != "plane":
            kind = self.signature.pointers[0].function.arguments[n].type
            return "item->block" if kind == "int16_t *" else f"({kind})(void *)item->block"
        return self._cast(n, f"item->plane[{self.number[b.name] if in_place < 0 else in_place}]")

    def _part(self, name: str, in_place: int) -> str:
        (plane, part), *_ = [(b, p) for b, p in self.parts if p.pointer == name]
        assert plane.dtype is not None
        if isinstance(part.stride, int):
            own = name if in_place < 0 else f"kept_{name}[i]"
            return f"(const {plane.dtype.c}(*)[{part.stride}]){own}"
        if in_place < 0:
            return name
        text = f"item->plane[{in_place}] + {part.at[0]} * item->stride"
        return f"{text} + {part.at[1] * plane.dtype.bytes}" if part.at[1] else text

    # ------------------------------------------------------------------------- what is set up

    def setup(self) -> list[str]:
        lines = []
        for p in given_params(self.kernel, self.signature):
            if p.count > 1:
                lines += self._packed(p)
        for n, (b, part) in enumerate(self._kept()):
            lines += self._save(n, b, part)
        for own in self._scratch().values():
            lines += own
        for b, part in self.parts:
            lines += self._copy(b, part)
        return lines

    def _packed(self, p: Param) -> list[str]:
        """One store: what reads the numbers as one would wait for several."""
        bits = 8 * p.dtype.bytes
        first, size = self.first[p.name], p.count * p.dtype.bytes
        if size not in (4, 8):
            values = ", ".join(f"({p.dtype.c})p[{first + k}]" for k in range(p.count))
            return [f"{p.dtype.c} {p.name}[{p.count}] = {{{values}}};"]
        word = f"uint{8 * size}_t"
        values = " | ".join(
            f"({word})(uint{bits}_t)p[{first + k}] << {bits * k}" for k in range(p.count)
        )
        return [
            f"{p.dtype.c} {p.name}[{p.count}];",
            f"const {word} packed_{p.name} = {values};",
            f"memcpy({p.name}, &packed_{p.name}, sizeof({p.name}));",
        ]

    def _in_argument(self, part: Part) -> bool:
        return part.pointer in self.number

    def _kept(self) -> list[tuple[Buffer, Part]]:
        """Parts in a plane that is written, beside what the kernel may write."""
        return [
            (b, p) for b, p in self.parts
            if self._in_argument(p) and not _inside(self.kernel.buffer(p.pointer), p)
        ]  # fmt: skip

    def _save(self, n: int, b: Buffer, p: Part) -> list[str]:
        size = _bytes(b, p)
        rows = p.rows[1] - p.rows[0]
        lines = [f"uint8_t before{n}[{rows}][{size}];"]
        return lines + [
            f"memcpy(before{n}[{row - p.rows[0]}], {self._there(b, p, row)}, {size});"
            for row in range(*p.rows)
        ]

    def _scratch(self) -> dict[str, list[str]]:
        """Memory of its own for each pointer that is no plane's."""
        found: dict[str, list[str]] = {}
        for b, p in self.parts:
            if self._in_argument(p) or p.pointer in found:
                continue
            assert b.dtype is not None
            own = [q for _, q in self.parts if q.pointer == p.pointer]
            first = min(q.rows[0] - q.at[0] for q in own)
            last = max(q.rows[1] - q.at[0] for q in own)
            if isinstance(p.stride, int):
                found[p.pointer] = [
                    f"static _Alignas(64) {b.dtype.c} {p.pointer}[{last}][{p.stride}];"
                ]
                continue
            found[p.pointer] = [
                f"static _Alignas(64) uint8_t lines_{p.pointer}[{last - first + 1} *"
                " ORACLE_MAX_STRIDE];",
                f"uint8_t *{p.pointer} = lines_{p.pointer} + 64 + {-first} * item->stride;",
            ]
        return found

    def _there(self, b: Buffer, p: Part, row: int) -> str:
        """Where a row of a part lies as the function gets it, in C."""
        assert b.dtype is not None
        down, right = row - p.at[0], (p.cols[0] - p.at[1]) * b.dtype.bytes
        if isinstance(p.stride, int):
            return f"&{p.pointer}[{down}][{p.cols[0] - p.at[1]}]"
        name = f"item->plane[{self.number[p.pointer]}]" if self._in_argument(p) else p.pointer
        return _offset(name, down, right)

    def _from(self, b: Buffer, p: Part, row: int) -> str:
        assert b.dtype is not None
        name = f"item->plane[{self.number[b.name]}]"
        return _offset(name, row, p.cols[0] * b.dtype.bytes)

    def _copy(self, b: Buffer, p: Part) -> list[str]:
        lines = [
            f"memcpy({self._there(b, p, row)}, {self._from(b, p, row)}, {_bytes(b, p)});"
            for row in range(*p.rows)
        ]
        # What a plane does not have beside the item is not there; elsewhere it does no harm.
        if p.given is not None and self._in_argument(p):
            return [f"if ({self._condition(p)}) {{", *lines, "}"]
        return lines

    def _condition(self, p: Part) -> str:
        assert p.given is not None
        name, bits = p.given
        return f"(p[{self.first[name]}] & {bits}) == {bits}"

    def after(self) -> list[str]:
        """Puts back what was there, unless it was written, which must be seen."""
        lines: list[str] = []
        for n, (b, p) in enumerate(self._kept()):
            size = _bytes(b, p)
            if p.given is not None:
                lines.append(f"if ({self._condition(p)}) {{")
            for row in range(*p.rows):
                there, own = self._there(b, p, row), self._from(b, p, row)
                lines += [
                    f"if (memcmp({there}, {own}, {size}) == 0) {{",
                    f"memcpy({there}, before{n}[{row - p.rows[0]}], {size});",
                    "}",
                ]
            lines += ["}"] if p.given is not None else []
        return lines

    # ------------------------------------------------------------------------------ in place

    def in_place(self) -> InPlace | None:
        """None of a function that gets each plane whole, or that writes several."""
        written = [b for b in self.planes if b.access != "in"]
        if not self.parts or len(written) != 1:
            return None
        (plane, _), *_ = self.parts
        source = self.number[plane.name]
        prepare = []
        high: dict[str, tuple[Buffer, Part, int]] = {}  # of each packed pointer: its rows
        for b, p in self.parts:
            if isinstance(p.stride, int):
                _, _, rows = high.get(p.pointer, (b, p, 0))
                high[p.pointer] = b, p, max(rows, p.rows[1] - p.at[0])
                prepare += [
                    f"memcpy(&kept_{p.pointer}[i][{row - p.at[0]}][{p.cols[0] - p.at[1]}],"
                    f" {self._from(b, p, row)}, {_bytes(b, p)});"
                    for row in range(*p.rows)
                ]
        static = []
        for name, (b, p, rows) in high.items():
            assert b.dtype is not None
            static.append(f"static {b.dtype.c} kept_{name}[MOST][{rows}][{p.stride}];")
        (out,) = written
        assert out.dtype is not None
        rows, columns = out.shape[0][1], out.shape[1][1]
        return InPlace(
            source, tuple(static), tuple(prepare), self.arguments(in_place=source), rows,
            columns * out.dtype.bytes,
        )  # fmt: skip


def given_params(kernel: Kernel, signature: Signature) -> list[Param]:
    """The parameters that an item of the programs has: all but those that are fixed."""
    return [p for p in kernel.params if p.name not in signature.fixed]


def _inside(b: Buffer, p: Part) -> bool:
    return all(
        lo <= first and last <= hi
        for (lo, hi), (first, last) in zip(b.shape, (p.rows, p.cols), strict=True)
    )


def _bytes(b: Buffer, p: Part) -> int:
    assert b.dtype is not None
    return (p.cols[1] - p.cols[0]) * b.dtype.bytes


def _offset(name: str, rows: int, right: int) -> str:
    text = name
    for n, unit in ((rows, " * item->stride"), (right, "")):
        if n:
            text += f" {'-' if n < 0 else '+'} {abs(n)}{unit}"
    return text
