# SPDX-License-Identifier: BSD-2-Clause
"""How C calls a decoder's function with an item of our kernel: for programs that compare or count.

The calls come from the spec's signature and the description of the decoder's table; `Words` says
where a program has what it passes on. For an item as tools/oracle/oracle.h has it (planes, one
stride, a block and numbers) `called` makes all that stands around a call, too.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

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
class Words:
    """Where a program has what it passes on, in C.

    stride  bytes from row to row, of every plane
    plane   an item's origin in a plane, a uint8_t *
    block   the coefficients, an int16_t *
    number  a parameter of one value
    packed  a part that is packed: its rows, by the name of its pointer
    lines   a part in rows that are as far apart as the planes'
    """

    stride: str
    plane: Callable[[Buffer], str]
    block: str
    number: Callable[[Param], str]
    packed: Callable[[str], str]
    lines: Callable[[Buffer, Part], str]


def arguments(kernel: Kernel, entry: DecoderEntry, signature: Signature, words: Words) -> list[str]:
    """Those of a call of the decoder's function. Array parameters are arrays of their names."""
    parts = [(kernel.buffer(n), p) for n, ps in entry.planes for p in ps]
    found = []
    theirs, passed = signature.pointers[0].function.arguments, signature.pointers[0].passed
    for (role, of), argument in zip(signature.roles, theirs, strict=True):
        kind = argument.type
        if role == BUFFER and kernel.buffer(of).kind == "plane":
            found.append(_cast(kind, words.plane(kernel.buffer(of)), _PLAIN))
        elif role == BUFFER:
            found.append(_cast(kind, words.block, ("int16_t *",)))
        elif role == STRIDE:
            found.append(f"({kind}){words.stride}")
        elif of in signature.packed and role == VALUE:
            bits = signature.packed[of]
            values = [f"(int){of}[{n}] << {n * bits}" for n in range(kernel.param(of).count)]
            found.append(" | ".join(values))
        elif role == VALUE and kernel.param(of).count > 1:
            found.append(of)
        elif role == VALUE:
            found.append(f"({kind}){words.number(kernel.param(of))}")
        elif role == PART:
            b, part = next((b, p) for b, p in parts if p.pointer == of)
            assert b.dtype is not None
            if isinstance(part.stride, int):
                found.append(f"(const {b.dtype.c}(*)[{part.stride}]){words.packed(of)}")
            else:
                found.append(words.lines(b, part))
        else:
            found.append(str(passed.get(argument.name, 0)))
    return found


def _cast(kind: str, text: str, has: tuple[str, ...]) -> str:
    return text if kind in has else f"({kind})(void *)({text})"


def arrays(params: Sequence[Param], value: Callable[[Param, int], str]) -> list[str]:
    """Those of array parameters, of these values.

    One store fills one: what reads the numbers as one would wait for several.
    """
    lines = []
    for p in (p for p in params if p.count > 1):
        bits, size = 8 * p.dtype.bytes, p.count * p.dtype.bytes
        if size not in (4, 8):
            values = ", ".join(f"({p.dtype.c}){value(p, k)}" for k in range(p.count))
            lines.append(f"{p.dtype.c} {p.name}[{p.count}] = {{{values}}};")
            continue
        word = f"uint{8 * size}_t"
        values = " | ".join(
            f"({word})(uint{bits}_t){value(p, k)} << {bits * k}" for k in range(p.count)
        )
        lines += [
            f"{p.dtype.c} {p.name}[{p.count}];",
            f"const {word} packed_{p.name} = {values};",
            f"memcpy({p.name}, &packed_{p.name}, sizeof({p.name}));",
        ]
    return lines


def packed_parts(kernel: Kernel, entry: DecoderEntry) -> dict[str, tuple[Buffer, int, int]]:
    """Of each pointer to packed rows: the plane, how many rows, and elements from row to row."""
    found: dict[str, tuple[Buffer, int, int]] = {}
    for name, parts in entry.planes:
        for p in parts:
            if isinstance(p.stride, int):
                _, rows, _ = found.get(p.pointer, (None, 0, 0))
                rows = max(rows, p.rows[1] - p.at[0])
                found[p.pointer] = kernel.buffer(name), rows, p.stride
    return found


def packed_copies(kernel: Kernel, entry: DecoderEntry, words: Words) -> Iterator[str]:
    """Statements that take packed rows out of the planes that they are parts of."""
    for name, parts in entry.planes:
        b = kernel.buffer(name)
        assert b.dtype is not None
        for p in (p for p in parts if isinstance(p.stride, int)):
            for row in range(*p.rows):
                to = f"{words.packed(p.pointer)}[{row - p.at[0]}][{p.cols[0] - p.at[1]}]"
                start = offset(words.plane(b), row, p.cols[0] * b.dtype.bytes, words.stride)
                yield f"memcpy(&{to}, {start}, {_bytes(b, p)});"


def offset(name: str, rows: int, right: int, stride: str) -> str:
    """A pointer to bytes, moved by rows and bytes."""
    text = name
    for n, unit in ((rows, f" * {stride}"), (right, "")):
        if n:
            text += f" {'-' if n < 0 else '+'} {abs(n)}{unit}"
    return text


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
        places.arguments(places.words()),
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

    def words(self) -> Words:
        return Words(
            "item->stride", self._plane, "item->block", lambda p: f"p[{self.first[p.name]}]",
            lambda name: name, lambda _, part: part.pointer,
        )  # fmt: skip

    def _in_place_words(self, source: int) -> Words:
        """All planes' memory is that of one."""
        plane = f"item->plane[{source}]"

        def lines(b: Buffer, part: Part) -> str:
            assert b.dtype is not None
            return offset(plane, part.at[0], part.at[1] * b.dtype.bytes, "item->stride")

        return Words(
            "item->stride", lambda _: plane, "item->block",
            lambda p: f"p[{self.first[p.name]}]", lambda name: f"kept_{name}[i]", lines,
        )  # fmt: skip

    def _plane(self, b: Buffer) -> str:
        return f"item->plane[{self.number[b.name]}]"

    def arguments(self, words: Words) -> str:
        return ", ".join(arguments(self.kernel, self.entry, self.signature, words))

    # ------------------------------------------------------------------------- what is set up

    def setup(self) -> list[str]:
        params = given_params(self.kernel, self.signature)
        lines = arrays(params, lambda p, k: f"p[{self.first[p.name] + k}]")
        for n, (b, part) in enumerate(self._kept()):
            lines += self._save(n, b, part)
        for own in self._scratch().values():
            lines += own
        for b, part in self.parts:
            lines += self._copy(b, part)
        return lines

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
        return offset(name, down, right, "item->stride")

    def _from(self, b: Buffer, p: Part, row: int) -> str:
        assert b.dtype is not None
        return offset(self._plane(b), row, p.cols[0] * b.dtype.bytes, "item->stride")

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
        words = self._in_place_words(source)
        static = [
            f"static {b.dtype.c} kept_{name}[MOST][{rows}][{stride}];"
            for name, (b, rows, stride) in packed_parts(self.kernel, self.entry).items()
            if b.dtype is not None
        ]
        prepare = packed_copies(self.kernel, self.entry, replace(words, plane=self._plane))
        (out,) = written
        assert out.dtype is not None
        rows, columns = out.shape[0][1], out.shape[1][1]
        return InPlace(
            source, tuple(static), tuple(prepare), self.arguments(words), rows,
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
