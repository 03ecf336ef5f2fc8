# SPDX-License-Identifier: BSD-2-Clause
"""What programs put around our functions for a decoder: calls told apart by class, and a pixel that
is spoiled on purpose."""

import re
from dataclasses import dataclass

from daedalus.dsl.decoders import DecoderEntry
from daedalus.dsl.ir import Buffer, Kernel
from daedalus.generator.compile.classes import classes_of
from daedalus.generator.compile.decoders import function_name, known_values
from daedalus.generator.compile.signatures import Signature, read_signature


@dataclass(frozen=True)
class Wrapped:
    """One of our functions.

    short      its name without what all of a decoder have
    classes    that items can have, and what tells each from those behind it, in C
    spoil      a statement that changes an element of what it writes
    """

    kernel: Kernel
    entry: DecoderEntry
    signature: Signature
    short: str
    function: str
    classes: tuple[tuple[str, str], ...]
    spoil: str

    @property
    def declaration(self) -> str:
        """Its arguments."""
        return ", ".join(self.signature.arguments)

    @property
    def call(self) -> str:
        """The arguments, passed on."""
        return ", ".join(self.signature.names)

    @property
    def class_index(self) -> str:
        """The number of a call's class, in C."""
        text = str(len(self.classes) - 1)
        for n, (_, condition) in reversed(list(enumerate(self.classes[:-1]))):
            text = f"{condition} ? {n} : {text}"
        return text


def wrapped(kernel: Kernel, entry: DecoderEntry) -> Wrapped:
    """The function of an entry."""
    signature = read_signature(kernel, entry)
    name = function_name(kernel, entry)
    classes = classes_of(kernel, known_values(kernel, signature))
    if len(classes) == 1:
        classes = _cases(signature) or classes
    return Wrapped(
        kernel, entry, signature, name.removeprefix(f"daedalus_{entry.decoder}_"), name,
        tuple(classes), _spoil(kernel, signature),
    )  # fmt: skip


def _cases(signature: Signature) -> list[tuple[str, str]]:
    """Kinds of calls that the description tells apart, in the entry's words."""
    if not signature.pointers:
        return []
    function = signature.pointers[0].function
    own = {a.name: name for a, name in zip(function.arguments, signature.names, strict=True)}

    def renamed(condition: str) -> str:
        return re.sub(r"\b[A-Za-z_]\w*\b", lambda m: own.get(m[0], m[0]), condition)

    return [(name, renamed(condition)) for name, condition in function.cases]


def _spoil(kernel: Kernel, signature: Signature) -> str:
    """Changes an element near the middle: in the first rows, as an item may have few of them."""
    written = [b for b in kernel.buffers if b.access != "in"]
    planes = [b for b in written if b.kind == "plane"]
    if not planes:
        return f"{written[0].name}[0] ^= 1;"
    b = planes[0]
    assert b.dtype is not None
    (r0, r1), (c0, c1) = b.shape
    row, column = r0 + min(2, (r1 - r0 - 1) // 2), c0 + min(3, (c1 - c0 - 1) // 2)
    stride = signature.values[f"{b.name}.stride"]
    return f"((uint8_t *){_name(b, signature)})[{row} * {stride} + {column * b.dtype.bytes}] ^= 1;"


def _name(b: Buffer, signature: Signature) -> str:
    return f"{b.name}_bytes" if b.name in signature.casts else b.name
