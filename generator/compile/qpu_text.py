# SPDX-License-Identifier: BSD-2-Clause
"""What the template of a variant in machine code lays out: its assembly."""

import textwrap

from daedalus.dsl.ir import Kernel
from daedalus.generator.targets.gpu.record import INDEX
from daedalus.generator.targets.qpu.emit import Emitted
from daedalus.generator.targets.qpu.machine import LANES, registers
from daedalus.generator.targets.shell import meta_fields

_WIDTH = 98  # of a comment's text


def facts(kernel: Kernel, code: Emitted) -> list[str]:
    """What a reader of the assembly is told first."""
    f = code.figures
    elements = LANES // code.items
    each = "an element" if elements == 1 else f"{elements} neighbouring elements"
    items = f"{code.items} items, {each} an item" if code.items > 1 else "one item"
    sentences = [
        f"A thread has {LANES} elements. A trip of its loop does {items}; what it loads for the"
        " next trip counts with it.",
        f"{f.trip} instructions a trip, {f.an_item:g} an item; {f.bound} at least for all it does.",
        f"{f.registers} of the {registers(f.threads)} registers that {f.threads} threads a QPU"
        " leave each.",
        f"Lookups a trip: {f.loads} load {f.loaded_words} words, {f.stores} store"
        f" {f.stored_words}.",
        f"Record: {', '.join(_record(kernel, code))}.",
    ]
    if code.scratch_bytes:
        sentences.append(f"Scratch memory: {code.scratch_bytes} bytes a thread.")
    return [line for s in sentences for line in textwrap.wrap(s, _WIDTH)]


def _record(kernel: Kernel, code: Emitted) -> list[str]:
    """The words of a record, by the members of the meta that they hold."""
    fields, _ = meta_fields(kernel)
    out = []
    for word in code.record.words:
        held = [
            f.name for f in fields
            if f.offset // 4 == word and not f.name.startswith("reserved")
        ]  # fmt: skip
        out.append("index" if word == INDEX else " and ".join(held) or f"word {word}")
    return out


def uniform_lines(code: Emitted) -> list[tuple[str, str]]:
    """The words of the stream, and what they are."""
    return [(f"0x{w.bits:08x}", w.says) for w in code.uniforms]
