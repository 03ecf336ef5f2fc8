# SPDX-License-Identifier: BSD-2-Clause
"""How operations are written in drawings."""

from collections.abc import Sequence
from dataclasses import replace

from daedalus.dsl.ir import DTYPES, Index, Node, Op
from daedalus.dsl.show import index_text

# What a value of several operands is, by their roles.
FORMS = {
    Op.ADD: "{a} + {b}", Op.SUB: "{a} − {b}", Op.MUL: "{a} × {b}", Op.SHRV: "{a} ≫ {b}",
    Op.SHLV: "{a} ≪ {b}",
    Op.BITAND: "{a} & {b}", Op.BITOR: "{a} | {b}", Op.BITXOR: "{a} ^ {b}",
    Op.MIN: "min({a}, {b})", Op.MAX: "max({a}, {b})", Op.ABSDIFF: "|{a} − {b}|",
    Op.SELECT: "{a} ? {b} : {c}", Op.LE: "{a} ≤ {b}", Op.GT: "{a} > {b}",
    Op.AND: "{a} and {b}", Op.OR: "{a} or {b}", Op.NOT: "not {a}", Op.ABS: "|{a}|",
}  # fmt: skip
ROLES = "abcdefghijklmnopqrstuvwxyz"


def number(value: int) -> str:
    return str(value).replace("-", "−")


def place_text(buffer: str, index: Index) -> str:
    """An element; values in its index by their numbers, as #0, when nothing better is known."""
    return buffer + index_text(index).replace("-", "−")


def load_text(node: Node, uniforms: list[str]) -> str:
    """The element that a LOAD reads, with the texts of the values in its index."""
    names = {f"#{n}": t for n, t in enumerate(uniforms)}
    index = tuple(
        replace(a, terms=tuple((names.get(t, t), c) for t, c in a.terms)) for a in node.index
    )
    return place_text(node.attr[0], index)


def form_of(node: Node) -> str:
    """The text of an operation, with {a}, {b}, ... for its operands."""
    if node.op in (Op.TABLE, Op.DOT):
        if node.op is Op.DOT:
            return f"Σ {node.attr[0]}[{{a}}]"
        keys = ", ".join(f"{{{r}}}" for r in ROLES[: len(node.args)])
        return f"{node.attr[0]}[{keys}]"
    return FORMS.get(node.op) or f"{{a}} {step_text(node, 0, '')}"


def enclosed(text: str) -> str:
    """In parentheses, unless it stands by itself anyway."""
    return text if " " not in text or text.endswith(("|", ")", "]")) else f"({text})"


def then(text: str, steps: Sequence[str]) -> str:
    """The text with what is done to the value afterwards, as a formula."""
    for step in steps:
        word, _, rest = step.partition(" ")
        match word:
            case "not":
                text = f"not {enclosed(text)}"
            case "abs":
                text = f"|{text}|"
            case "negated":
                text = f"−{enclosed(text)}"
            case "from":
                text = f"{rest} − {enclosed(text)}"
            case "min" | "max":
                text = f"{word}({text}, {rest})"
            case _:
                text = f"{enclosed(text)} {step}"
    return text


def step_text(node: Node, at: int, other: str) -> str:
    """What an operation does to its operand number `at`, the other one being a known text."""
    match node.op:
        case Op.ASSUME:
            return ""
        case Op.SHR:
            return f"≫{node.attr[0]}"
        case Op.RSHR:
            return f"≫{node.attr[0]}r"
        case Op.CLIP:
            lo, hi = node.attr
            known = (t.name for t in DTYPES if (t.lo, t.hi) == (lo, hi))
            return f"clip {next(known, f'{number(lo)}..{number(hi)}')}"
        case Op.WRAP:
            return f"wrap {node.attr[0]}"
        case Op.ABS:
            return "abs"
        case Op.NOT:
            return "not"
        case Op.MUL:
            return f"×{other}"
        case Op.ADD:
            return f"+{other}".replace("+−", "−")
        case Op.SUB if at == 0:
            return f"−{other}".replace("−−", "+")
        case Op.SUB:
            return "negated" if other == "0" else f"from {other}"
        case Op.LE:
            return f"≤ {other}" if at == 0 else f"≥ {other}"
        case Op.GT:
            return f"> {other}" if at == 0 else f"< {other}"
        case Op.MIN | Op.MAX | Op.AND | Op.OR:
            return f"{node.op} {other}"
        case Op.ABSDIFF:
            return f"distance to {other}"
        case Op.BITAND | Op.BITOR | Op.BITXOR:
            return FORMS[node.op].format(a="", b=other).strip()
        case Op.SHRV:
            return f"≫ {other}" if at == 0 else f"shifts {other} ≫"
        case Op.SHLV:
            return f"≪ {other}" if at == 0 else f"shifts {other} ≪"
        case Op.TABLE:
            return f"in {node.attr[0]}" + (f" beside {other}" if other else "")
    raise AssertionError(f"{node.op} is no step")
