# SPDX-License-Identifier: BSD-2-Clause
"""What a spec says of a decoder's own functions: their arguments, and how a plane is put together.

generator/compile/decoders.py makes functions with these signatures, and refuses what does not
suit the kernel.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from daedalus.dsl.errors import Loc
from daedalus.dsl.source import here

_WORD = re.compile(r"[a-z][a-z0-9]*")
_AT_PLACE = re.compile(r"([^\s(]+)\((.*)\)", re.DOTALL)  # place(arguments)

Bounds = tuple[int, int]


@dataclass(frozen=True)
class Part:
    """A rectangle of a plane that the decoder has somewhere of its own.

    rows, cols  half-open, around the item's origin
    pointer     the argument that it is read through
    at          row and column of the plane at which the pointer stands
    stride      the argument that is the pointer's stride; or how many elements a row has, where
                rows are packed
    given       a parameter, and bits of it that must all be set for the part to exist; it is not
                read otherwise
    """

    rows: Bounds
    cols: Bounds
    pointer: str
    at: tuple[int, int]
    stride: str | int
    given: tuple[str, int] | None
    loc: Loc

    def __str__(self) -> str:
        (r0, r1), (c0, c1) = self.rows, self.cols
        return f"rows {r0}..{r1 - 1}, columns {c0}..{c1 - 1}"


@dataclass(frozen=True)
class DecoderEntry:
    """One function: `signature` is its arguments in the decoder's order, as `@kernel` says.

    `place` names the pointers of the decoder's tables where it can stand (docs/decoders.md); "" of
    a decoder without a description.
    """

    signature: str
    planes: tuple[tuple[str, tuple[Part, ...]], ...]
    loc: Loc | None  # None: the kernel's
    decoder: str = ""
    suffix: str = ""
    place: str = ""

    def __str__(self) -> str:
        return f"{self.place}({self.signature})" if self.place else self.signature


def part(
    rows: Bounds,
    cols: Bounds,
    pointer: str,
    *,
    stride: str | int,
    at: tuple[int, int] = (0, 0),
    given: tuple[str, int] | None = None,
) -> Part:
    """A rectangle of a plane that is put together; see `Part`."""
    return Part(rows, cols, pointer, at, stride, given, here())


def entry(signature: str, **planes: Sequence[Part]) -> DecoderEntry:
    """A function whose decoder has no such plane: `planes` says where their parts are."""
    return DecoderEntry(signature, tuple((n, tuple(p)) for n, p in planes.items()), here())


# A decoder's function: its signature, or one with planes put together.
Declared = str | DecoderEntry


def decoder_entries(
    decoders: Mapping[str, Declared | Mapping[str, Declared]],
    refuse: Callable[[str], None],
    text: Callable[[str], str],
) -> tuple[DecoderEntry, ...]:
    """The functions that `@kernel(decoders=...)` names; `refuse` raises what is wrong.

    `text` fills in names and signatures, which are patterns where the spec has axes.
    """
    found = []
    for decoder, declared in decoders.items():
        if not _WORD.fullmatch(decoder):
            refuse(f"decoder {decoder!r}: lower-case letters and digits only")
        functions = declared if isinstance(declared, Mapping) else {"": declared}
        if not functions:
            refuse(f"decoder {decoder!r} has no functions")
        for pattern, function in functions.items():
            suffix = text(pattern)
            if isinstance(declared, Mapping) and not _WORD.fullmatch(suffix):
                refuse(f"{decoder}, function {suffix!r}: lower-case letters and digits only")
            if not isinstance(function, str | DecoderEntry):
                refuse(f"{decoder}: {function!r} is no signature; write a text, or entry(...)")
            e = DecoderEntry(function, (), None) if isinstance(function, str) else function
            place, signature = _split(text(e.signature))
            found.append(DecoderEntry(signature, e.planes, e.loc, decoder, suffix, place))
    return tuple(found)


def _split(text: str) -> tuple[str, str]:
    """Place and arguments of `place(arguments)`; of arguments alone the place is ""."""
    match = _AT_PLACE.fullmatch(text.strip())
    return (match[1], match[2]) if match else ("", text)
