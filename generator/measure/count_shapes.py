# SPDX-License-Identifier: BSD-2-Clause
"""How functions are called with the work of tools/count/count.h: in C, from specs and descriptions.

A shape is a way to call. What a kernel's functions for one item take follows from the kernel, and
what a decoder's function takes from its table; other shapes stand in tools/count/cases.toml.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from daedalus.codecs.decoders.reading import described
from daedalus.codecs.decoders.tables import Pointer
from daedalus.dsl.decoders import DecoderEntry, Part
from daedalus.dsl.ir import FULL, Buffer, Kernel
from daedalus.generator.compile.classes import classes_of
from daedalus.generator.compile.decoder_calls import (
    Words,
    arguments,
    arrays,
    offset,
    packed_copies,
    packed_parts,
)
from daedalus.generator.compile.decoders import function_name
from daedalus.generator.compile.registry import load
from daedalus.generator.compile.signatures import read_signature
from daedalus.generator.compile.text import tidy
from daedalus.generator.targets import shell

_STARTS = "start.pixels + MIDDLE"
_WORKS = "w->pixels + MIDDLE"


@cache
def kernels() -> dict[str, Kernel]:
    """All of them by id."""
    return {e.kernel.id: e.kernel for e in load()}


def entry_of(kernel: str, oracle: str, params: Mapping[str, int]) -> DecoderEntry | None:
    """The decoder's function for a kernel with these parameters; None where it has none."""
    for entry in kernels()[kernel].decoders:
        fixed = read_signature(kernels()[kernel], entry).fixed
        if entry.decoder == oracle and all(params[p] == v for p, v in fixed.items()):
            return entry
    return None


def entry_name(kernel: str, entry: DecoderEntry) -> str:
    """Our function for it."""
    return function_name(kernels()[kernel], entry)


def theirs(kernel: str, entry: DecoderEntry) -> str:
    """The hand-written function: its name for arm64, or its place where no name leads to it."""
    pointer = read_signature(kernels()[kernel], entry).pointers[0]
    return next(iter(pointer.symbols("arm64")), pointer.place)


def item_shape(kernel: str) -> str:
    """The way to call a kernel's functions for one item."""
    return f"{kernel} item"


class _Writer:
    """The text of one kernel's shapes."""

    def __init__(self, kernel: Kernel, number: int) -> None:
        self.kernel, self.number = kernel, number
        self.at = {p.name: n for n, p in enumerate(kernel.params)}

    def _arrays(self) -> list[str]:
        return arrays(self.kernel.params, lambda p, _: f"parameters[{self.at[p.name]}]")

    def _words(self) -> Words:
        """Where the program has what decoders' functions get."""

        def lines(b: Buffer, part: Part) -> str:
            assert b.dtype is not None
            return offset(_STARTS, part.at[0], part.at[1] * b.dtype.bytes, "STRIDE")

        return Words(
            "STRIDE", lambda b: self._plane(b.name), "w->block",
            lambda p: f"parameters[{self.at[p.name]}]",
            lambda name: f"packed_{self.number}_{name}", lines,
        )  # fmt: skip

    def _plane(self, name: str) -> str:
        return _STARTS if self.kernel.buffer(name).access == "in" else _WORKS

    def pixel_bytes(self) -> int:
        """Of the samples of its planes."""
        return max(b.dtype.bytes for b in self.kernel.buffers if b.kind == "plane" and b.dtype)

    def item(self) -> str:
        words = []
        for b in self.kernel.buffers:
            if b.kind == "plane":
                words += [f"({shell.pointer(b).strip()})({self._plane(b.name)})", "STRIDE"]
            else:
                words.append(f"({shell.pointer(b).strip()})w->block")
        for p in self.kernel.params:
            words.append(p.name if p.count > 1 else f"(int32_t)parameters[{self.at[p.name]}]")
        arguments = ", ".join(shell.item_arguments(self.kernel)) or "void"
        return self._function("item", f"void item_fn_{self.number}({arguments})",
                              f"item_fn_{self.number}", words)  # fmt: skip

    def entry(self, entry: DecoderEntry, number: int) -> str:
        signature = read_signature(self.kernel, entry)
        words = arguments(self.kernel, entry, signature, self._words())
        name = f"entry_fn_{self.number}_{number}"
        declaration = signature.pointers[0].function.declaration(name)
        return self._function(f"entry_{number}", declaration, name, words)

    def _function(self, what: str, declaration: str, name: str, words: Sequence[str]) -> str:
        body = [*self._arrays(), f"(({name} *)fn)({', '.join(words)});"]
        used = any("w->" in line for line in body)
        lines = "\n".join(body if used else ["(void)w;", *body])
        return (
            f"typedef {declaration};\n"
            f"static void call_{self.number}_{what}(any_fn *fn, work *w) {{\n{lines}\n}}\n"
        )

    def prepare(self) -> str:
        """Coefficients as the class of the case has them, and parts of planes that are packed."""
        lines, statics = [], []
        for b in (b for b in self.kernel.buffers if b.kind == "block"):
            assert b.dtype is not None
            rows, columns = (*b.extents, 1)[:2] if len(b.extents) > 1 else (1, b.extents[0])
            for index, (name, condition) in enumerate(classes_of(self.kernel, {})):
                nonzero = {} if name == FULL else dict(self.kernel.item_class(name).nonzero)
                limit = nonzero.get(b.name, b.extents)
                height, width = (*limit, 1)[:2] if len(limit) > 1 else (1, limit[0])
                for p, n in self.at.items():
                    condition = _word(condition, p, f"parameters[{n}]")
                lines.append(
                    f"{'else ' if index else ''}{f'if ({condition}) ' if condition else ''}{{"
                )
                lines.append(
                    f"make_coefficients({rows * columns}, {columns}, {height}, {width},"
                    f" {b.dtype.bytes});"
                )
                lines.append("}")
        words = self._words()
        for entry in self.kernel.decoders:
            for name, (plane, rows, stride) in packed_parts(self.kernel, entry).items():
                assert plane.dtype is not None
                statics.append(f"static {plane.dtype.c} {words.packed(name)}[{rows}][{stride}];")
            lines += packed_copies(self.kernel, entry, words)
        if not lines:
            return ""
        head = "\n".join(dict.fromkeys(statics))
        body = "\n".join(lines)
        return f"{head}\nstatic void prepare_{self.number}(void) {{\n{body}\n}}\n"


def _word(text: str, name: str, other: str) -> str:
    return " ".join(other if w == name else w for w in text.split(" "))


_HEAD = """\
/* SPDX-License-Identifier: BSD-2-Clause */
/* Generated by `./daedalus count` from the specs and codecs/decoders. Do not edit. */
#include <string.h>

#include "count.h"

/* Small ones in the upper left corner of each block; in the first place of one alone more. */
__attribute__((unused)) static void make_coefficients(int size, int columns, int rows, int width,
int bytes) {
for (int i = 0; i < COEFFICIENTS; i++) {
const int at = i % size;
if (at % columns < width && at / columns < rows) {
const int32_t value = rows * width == 1 ? 100 : i * 37 % 61 - 30;
if (bytes == 4) {
memcpy((int32_t *)(void *)start.block + i, &value, sizeof(value));
} else {
start.block[i] = (int16_t)value;
}
}
}
}
"""


def source(oracle: str, names: Sequence[str], others: Sequence[Mapping[str, Any]],
           tables: Sequence[str]) -> str:  # fmt: skip
    """The file of shapes for these kernels, of other shapes, and of functions at places."""
    texts, list_ = [_HEAD], []
    for number, name in enumerate(names):
        writer = _Writer(kernels()[name], number)
        prepared = writer.prepare()
        texts.append(prepared)
        ready = f"prepare_{number}" if prepared else "NULL"
        pixel = writer.pixel_bytes()
        texts.append(writer.item())
        list_.append(f'{{"{item_shape(name)}", {pixel}, {ready}, call_{number}_item, NULL}},')
        own = [d for d in writer.kernel.decoders if d.decoder == oracle]
        for k, entry in enumerate(own):
            texts.append(writer.entry(entry, k))
            shape = entry_name(name, entry)
            list_.append(f'{{"{shape}", {pixel}, {ready}, call_{number}_entry_{k}, NULL}},')
    for other in others:
        texts.append(other["text"])
        for one in other["shapes"]:
            list_.append(
                f'{{"{one["name"]}", 1, {one.get("prepare", "NULL")}, {one["call"]}, NULL}},'
            )
    texts.append(
        "const shape shapes[] = {\n" + "\n".join(list_) + "\n{NULL, 0, NULL, NULL, NULL},\n};"
    )
    texts.append(_of_tables(oracle, tables))
    return tidy("\n".join(texts))


def _of_tables(oracle: str, places: Sequence[str]) -> str:
    """Functions that no symbol names: they are taken from the decoder's tables."""
    decoder = described(oracle)
    lines = ["any_fn *function_of_table(const char *name) {"]
    head = []
    if decoder is not None and places:
        head.append(decoder.declare.strip())
        pointers: list[Pointer] = [decoder.pointers(p)[0] for p in places]
        for one in dict.fromkeys(p.filled for p in pointers):
            table = next(p.table for p in pointers if p.filled is one)
            head.append(f"{table.init};")
            lines.append(f"static any_fn *{one.name}[{table.count}];")
        lines.append(decoder.best)
        for p in pointers:
            lines += [
                f'if (strcmp(name, "{p.place}") == 0) {{',
                f"any_fn **table = {p.filled.name};",
                f"{p.filled.call};",
                f"return table[{p.slot}];",
                "}",
            ]
    else:
        lines.append("(void)name;")
    return "\n".join([*head, *lines, "return NULL;", "}"])
