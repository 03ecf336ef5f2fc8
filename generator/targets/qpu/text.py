# SPDX-License-Identifier: BSD-2-Clause
"""Assembly text of a scheduled program, and the layout of its uniform stream."""

from collections.abc import Sequence
from dataclasses import dataclass

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.allocate import Compiled
from daedalus.generator.targets.qpu.compile import Code
from daedalus.generator.targets.qpu.nodes import Node
from daedalus.generator.targets.qpu.slot import SIGNALS, Placed, Slot
from daedalus.generator.targets.qpu.virtual import Flag, Immediate, Source, Uniform

_COLUMN = 64  # of comments
# What marks the last thread switch and ends the program after it (rules NO_LAST_THRSW, END_*).
_END = ("thrsw", "thrsw", "nop", "nop", "thrsw", "nop", "nop")
_SIGNAL_ORDER = ("thrsw", "ldtmu", "ldunif", "ldunifa")
_MASKS = {("a", False): "vfla", ("a", True): "vflna", ("b", False): "vflb", ("b", True): "vflnb"}
_BRANCHES = {
    ("a0", False): "a0",
    ("a0", True): "na0",
    ("anya", False): "anya",
    ("anya", True): "anyna",
    ("alla", False): "alla",
    ("alla", True): "allna",
}


@dataclass(frozen=True)
class Assembly:
    """A program as text, and what goes with it."""

    name: str
    threads: int  # a QPU, as it is to be started
    text: str
    uniforms: tuple[Uniform, ...]  # the stream, word by word
    instructions: int
    trip: int  # instructions of a trip of the loop, the branch and its slots included
    bound: int  # instructions that a trip takes at least, by its operations
    live: int  # registers in use at most


def assembly(code: Code) -> Assembly:
    """The text of a scheduled program."""
    lines: list[str] = [f"# {code.program.name}, for {code.threads} threads a QPU"]
    uniforms = _consumed(code.entry)
    lines += _block(code, code.entry, "")
    trip = bound = live = 0
    pending = code.entry.schedule.pending
    if code.loop is not None:
        lines.append("loop:")
        inside = _consumed(code.loop)
        jump = ""
        if inside:
            inside.insert(_before_branch(code.loop), _jump(len(inside) + 1))
            jump = ", r:unif"
        uniforms += inside
        lines += _block(code, code.loop, jump)
        trip, bound = len(code.loop.schedule.slots), code.bound
        live = code.loop.schedule.most_live
        pending = code.loop.schedule.pending
    lines += [_line("ldtmu.-", "looked up for a trip that there is not")] * pending
    lines += [_line(text, "") for text in _END]
    total = sum(1 for text in lines if text.startswith(" "))
    return Assembly(
        code.program.name,
        code.threads,
        "\n".join(lines) + "\n",
        tuple(uniforms),
        total,
        trip,
        bound,
        max(live, code.entry.schedule.most_live),
    )


def _jump(words: int) -> Uniform:
    """What the branch adds to the stream's place: back to the first of the loop's words."""
    return Uniform("constant", "back to the loop's first word", -4 * words & 0xFFFFFFFF)


def _consumed(block: Compiled) -> list[Uniform]:
    return [u for slot in block.schedule.slots for u in slot.consumes()]


def _before_branch(block: Compiled) -> int:
    before = block.schedule.slots[: block.schedule.branch_at]
    return sum(len(slot.consumes()) for slot in before)


def _block(code: Code, block: Compiled, jump: str) -> list[str]:
    lines = []
    for slot in block.schedule.slots:
        if slot.branch:
            assert code.program.loop is not None
            loop = code.program.loop
            condition = _BRANCHES[loop.condition, loop.repeat.inverse]
            lines.append(_line(f"b{'u' if jump else ''}.{condition} loop{jump}", "next trip"))
            continue
        nodes = [p.node for p in (slot.add, slot.mul) if p is not None] + slot.signals
        notes = dict.fromkeys(n.note for n in nodes if n.note)
        uniforms = [f"uniform {_name(u)}" for u in slot.consumes()]
        lines.append(_line(_instruction(slot, block), " | ".join([*notes, *uniforms])))
    return lines


def _name(uniform: Uniform) -> str:
    return str(uniform) + (
        f" ({uniform.name})" if uniform.kind == "constant" and uniform.name else ""
    )


def _line(text: str, comment: str) -> str:
    return f"    {text:<{_COLUMN - 1}} # {comment}".rstrip() if comment else f"    {text}"


def _instruction(slot: Slot, block: Compiled) -> str:
    add = "tmuwt -" if slot.wait else _operation(slot.add, block)
    parts = [add, _operation(slot.mul, block)]
    if not parts[1]:
        parts = [parts[0] or "nop"]
    elif not parts[0]:
        parts[0] = "nop"
    for node in sorted(slot.signals, key=lambda n: _SIGNAL_ORDER.index(n.kind)):
        parts.append(
            SIGNALS[node.kind] + ("" if node.kind == "thrsw" else f".{_place(node, block)}")
        )
    return " ; ".join(parts)


def _operation(placed: Placed | None, block: Compiled) -> str:
    if placed is None:
        return ""
    node, form = placed.node, placed.form
    op = form.op
    if node.mask is not None:
        op = _MASKS[block.schedule.places[node, node.mask.number], node.mask.inverse]
    suffix = _condition(node, node.when, block) if node.when is not None else node.change
    text = op + (f".{suffix}" if suffix else "")
    if "no_dest" in machine.description().operations[op].traits:
        return text
    place = _place(node, block) + (f".{node.pack}" if node.pack else "")
    return f"{text} {', '.join([place, *(_source(s, block) for s in form.sources)])}"


def _condition(node: Node, flag: Flag, block: Compiled) -> str:
    return f"if{'n' if flag.inverse else ''}{block.schedule.places[node, flag.number]}"


def _place(node: Node, block: Compiled) -> str:
    if node.write:
        return node.write
    web = None if node.value is None else block.block.web.get(node.value)
    # A web that nobody reads has no register.
    return "-" if web is None or web not in block.register else f"rf{block.register[web]}"


def _source(source: Source, block: Compiled) -> str:
    if isinstance(source, Immediate):
        return str(source)
    register = block.register[block.block.web[source.value.number]]
    return f"rf{register}" + (f".{source.unpack}" if source.unpack else "")


def uniform_words(uniforms: Sequence[Uniform], values: dict[Uniform, int]) -> list[int]:
    """The stream with the runtime's values in it."""
    return [u.bits if u.kind == "constant" else values[u] for u in uniforms]
