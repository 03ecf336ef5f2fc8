# SPDX-License-Identifier: BSD-2-Clause
"""The C of a stream program that puts our functions into a decoder's tables."""

import re
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from daedalus.codecs.clips import Decoder as Decoding
from daedalus.codecs.clips import tables_of
from daedalus.codecs.decoders.tables import CALL, Decoder, Filled, Pointer, Table
from daedalus.generator.base.errors import UserError
from daedalus.generator.base.outputs import refresh
from daedalus.generator.compile.decoder_wrappers import Wrapped, wrapped
from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.registry import load
from daedalus.generator.compile.text import tidy


class _Program:
    """What stands where: our functions, and what is made of them."""

    def __init__(self, decoder: Decoder, tables: Sequence[tuple[Table, Filled]]) -> None:
        self.decoder, self.tables = decoder, tables
        filled = [f for _, f in tables]
        kernels = [e.kernel for e in load()]
        every = [wrapped(k, d) for k in kernels for d in k.decoders if d.decoder == decoder.name]
        self.functions: list[Wrapped] = [
            w for w in every if any(p.filled in filled for p in w.signature.pointers)
        ]
        self.direct = {
            p.place: n for n, w in enumerate(self.functions) for p in w.signature.pointers
        }
        self.ways: list[list[str]] = [[w.signature.pointers[0].field.name] for w in self.functions]
        self.made: list[tuple[Pointer, str, str]] = []  # pointer, its body, where it holds
        for one in filled:
            for pointer in decoder.every_pointer(one):
                text, when = pointer.body
                if text and pointer.place not in self.direct:
                    body = self._body(pointer, text)
                    if body:
                        self.made.append((pointer, body, when))

    def _body(self, pointer: Pointer, text: str) -> str:
        """The body with calls of ours; "" where one of the pointers is not ours."""
        numbers = []
        for place in CALL.findall(text):
            (called,) = self.decoder.pointers(f"{pointer.filled.name}.{place}")
            if called.place not in self.direct:
                return ""
            numbers.append(self.direct[called.place])
        label = f"within {pointer.field.name}"
        calls = iter(numbers)

        def call(match: re.Match[str]) -> str:
            number = next(calls)
            if label not in self.ways[number]:
                self.ways[number].append(label)
            return (
                f"(n_way = {self.ways[number].index(label)}, ours_{self.functions[number].short})("
            )

        return CALL.sub(call, text)

    @property
    def fields(self) -> list[str]:
        """Of the tables: those where something is ours."""
        direct = [p for w in self.functions for p in w.signature.pointers]
        filled = [f for _, f in self.tables]
        every = [*direct, *(p for p, _, _ in self.made)]
        return sorted({p.field.name for p in every if p.filled in filled})

    def table(self, table: Table, one: Filled) -> dict[str, object]:
        """What the template needs of a table."""
        slots = []
        stands: list[Pointer] = []
        for w in self.functions:
            for p in (q for q in w.signature.pointers if q.filled is one):
                slots.append({"slot": p.slot, "function": f"ours_{w.short}", "when": ""})
                stands.append(p)
        for n, (p, _, when) in enumerate(self.made):
            if p.filled is one:
                slots.append({"slot": p.slot, "function": f"made_{n}", "when": when})
                stands.append(p)
        ours = {s["slot"] for s in slots}
        every = {p.slot: p.place for p in table.pointers(one)}
        left = [place for slot, place in every.items() if slot not in ours]
        if table.whole and left:
            raise UserError(
                f"{table.loc.file}:{table.loc.line}: {one.name} is said to be whole, and at"
                f" {len(left)} of its places nothing is ours: {', '.join(left[:5])}",
                "name these places in decoders= of a spec, or take `whole` out",
            )
        name = table.init_name
        return {
            "name": one.name,
            "type": table.type,
            "count": table.count,
            "trial": one.call.replace(name, f"__real_{name}", 1),
            "arguments": table.init.partition("(")[2].removesuffix(")"),
            "names": table.init_arguments,
            "when": one.when or "1",
            "whole": table.whole,
            "every": list(every.values()),
            "slots": slots,
            "places": sorted((p.slot, p.field.name) for p in stands),
            "occupants": {
                a: [(p.slot, s) for p in stands for s in p.symbols(a)] for a in ("arm64", "amd64")
            },
        }


def _init(table: Table) -> dict[str, object]:
    """What the template needs of an init function."""
    name = table.init_name
    return {
        "real": table.init.replace(name, f"__real_{name}", 1),
        "wrap": table.init.replace(name, f"__wrap_{name}", 1),
        "call": f"__real_{name}({', '.join(table.init_arguments)})",
    }


def source(decoding: Decoding) -> str:
    """The program's file for a codec."""
    decoder, tables = tables_of(decoding)
    program = _Program(decoder, tables)
    text = environment().get_template("stream.c.j2")
    return tidy(
        text.render(
            decoder=decoder,
            symbol=decoding.symbol,
            entries=list(zip(program.functions, program.ways, strict=True)),
            fields=program.fields,
            made=[(p.function.declaration(f"made_{n}"), body)
                  for n, (p, body, _) in enumerate(program.made)],
            inits=[
                {**_init(own[0][0]), "tables": [program.table(t, f) for t, f in own]}
                for _, group in groupby(tables, key=lambda pair: pair[0].init)
                for own in [list(group)]
            ],
        )
    )  # fmt: skip


def write(decoding: Decoding, place: Path) -> Path:
    """The file in the folder, written anew where its text is another one."""
    path = place / f"{decoding.name}_tables.c"
    refresh(path, source(decoding))
    return path
