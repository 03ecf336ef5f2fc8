# SPDX-License-Identifier: BSD-2-Clause
"""The C of an oracle program: calls of a decoder's functions, as it is described."""

from collections.abc import Sequence
from pathlib import Path

from daedalus.codecs.decoders.tables import Decoder, Pointer
from daedalus.generator.base.outputs import refresh
from daedalus.generator.base.paths import build_dir
from daedalus.generator.compile.decoder_calls import Called
from daedalus.generator.compile.decoder_wrappers import wrapped
from daedalus.generator.compile.decoders import function_name
from daedalus.generator.compile.emit import environment
from daedalus.generator.compile.text import tidy


def short_name(one: Called) -> str:
    """What the program calls a function: the name of ours without its first words.

    Where ours can stand in several places of theirs, it is with the place.
    """
    name = function_name(one.kernel, one.entry).removeprefix(f"daedalus_{one.entry.decoder}_")
    return name if len(one.signature.pointers) == 1 else f"{name}@{one.pointer.place}"


def source(decoder: Decoder, wanted: Sequence[Called]) -> str:
    """The program's file for these functions."""
    used = dict.fromkeys(t.filled.name for e in wanted for t in e.targets)
    filled = decoder.filled()
    stands = list(dict.fromkeys(t for e in wanted for t in e.targets))
    symbols = dict.fromkeys(
        s for p in stands for a in ("c", "arm64", "amd64") for s in p.symbols(a)
    )
    functions = {e.entry: wrapped(e.kernel, e.entry) for e in wanted}
    numbers = {entry: n for n, entry in enumerate(functions)}
    text = environment().get_template("oracle.c.j2").render(
        decoder=decoder,
        functions=list(functions.values()),
        tables=[
            {"name": n, "count": filled[n][0].count, "call": filled[n][1].call,
             "init": filled[n][0].init}
            for n in used
        ],
        symbols=list(symbols),
        checks=[_check(p) for p in stands],
        entries=[{**_entry(n, e), "spoiled": numbers[e.entry]} for n, e in enumerate(wanted)],
    )  # fmt: skip
    return tidy(text)


def _check(p: Pointer) -> dict[str, object]:
    def names(architecture: str) -> str:
        return "".join(f"{s}, " for s in p.symbols(architecture))

    return {
        "table": p.filled.name, "slot": p.slot, "place": p.place, "plain": names("c"),
        "arm64": names("arm64"), "amd64": names("amd64"), "file": Path(p.table.loc.file).name,
    }  # fmt: skip


def _entry(n: int, e: Called) -> dict[str, object]:
    target = " | ".join(
        f"(size_t)(p[{at}] == 0) << {bit}" for bit, at in enumerate(e.call.switches)
    )
    lines = [*e.call.setup, *e.call.after, e.call.expression, target]
    return {
        "name": short_name(e),
        "type": e.pointer.function.declaration(f"function_{n}"),
        "call": e.call,
        "target": target or "0",
        "reads_params": any("p[" in line for line in lines),
        "targets": [{"table": t.filled.name, "slot": t.slot} for t in e.targets],
        "ours": function_name(e.kernel, e.entry),
        "in_place": e.in_place,
    }


def write(decoder: Decoder, wanted: Sequence[Called], folder: Path | None = None) -> Path:
    """The file in build/, written anew where its text is another one."""
    place = (folder or build_dir() / "oracle") / f"{decoder.name}.c"
    refresh(place, source(decoder, wanted))
    return place
