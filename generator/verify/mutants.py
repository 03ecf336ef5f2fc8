# SPDX-License-Identifier: BSD-2-Clause
"""Mutants of generated NEON code: one intrinsic, constant or comparison replaced by its neighbour.

All mutants of a variant are one C file: where a mutation applies stands a choice by the number in
the environment variable DAEDALUS_MUTANT (0: none), so that they are compiled once.

Mutations: a saturating operation wraps; a rounding one cuts off (and a halving rounds); a shift or
a constant is one more or one less; a comparison takes or leaves equality.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

CHOICE = "daedalus_mutant"
_HEAD = f"""#include <stdlib.h>
static int {CHOICE};
__attribute__((constructor)) static void choose_mutant(void) {{
  const char *text = getenv("DAEDALUS_MUTANT");
  {CHOICE} = text == NULL ? 0 : atoi(text);
}}
"""

_CALL = re.compile(r"\bv[a-z0-9_]+\(")
_FUNCTION = re.compile(r"\bstatic inline void (\w+)\(")
_ASSIGNED = re.compile(r"(\w+) = [^;{}]*$")
_CONSTANTS = re.compile(r"static const u?int\d+_t (\w+)_values\[\d+\] = \{([^}]*)\};")


@dataclass(frozen=True)
class Mutant:
    """Number, the call as it was, and as it became; and the function, and the variable that gets
    its value there ("" if none does)."""

    number: int
    before: str
    after: str
    function: str = ""
    variable: str = ""

    def __str__(self) -> str:
        return f"{self.before} -> {self.after}"


@dataclass
class Mutated:
    """A C file that is all mutants of a variant."""

    text: str = ""
    mutants: list[Mutant] = field(default_factory=list)


def mutate(text: str) -> Mutated:
    """All mutants of a generated file."""
    found = Mutated()
    constants = {
        m[1]: [int(v) for v in m[2].split(",")] for m in _CONSTANTS.finditer(text)
    }  # fmt: skip
    head, brace, rest = text.partition("static inline")
    found.text = head + _HEAD + _rewritten(brace + rest, constants, found, None)
    return found


def _place(before: str) -> tuple[str, str]:
    """Function and variable of a call, by the text before it."""
    functions = _FUNCTION.findall(before)
    assigned = _ASSIGNED.search(before, max(before.rfind(c) for c in ";{}") + 1)
    return functions[-1] if functions else "", assigned[1] if assigned else ""


def _rewritten(
    text: str, constants: dict[str, list[int]], found: Mutated, place: tuple[str, str] | None
) -> str:
    """The text with a choice at every call that has mutants; calls in calls, too, which are at the
    `place` of the outer one."""
    out, at = "", 0
    while m := _CALL.search(text, at):
        here = place or _place(text[: m.start()])
        end = _closing(text, m.end() - 1)
        name, inside = text[m.start() : m.end() - 1], text[m.end() : end]
        out += text[at : m.start()]
        call = f"{name}({_rewritten(inside, constants, found, here)})"
        choice = ""
        plain = " ".join(text[m.start() : end + 1].split())
        for after in dict.fromkeys(_mutations(name, _arguments(inside), constants)):
            found.mutants.append(Mutant(len(found.mutants) + 1, plain, after, *here))
            choice += f"{CHOICE} == {found.mutants[-1].number} ? {after} : "
        out += f"({choice}{call})" if choice else call
        at = end + 1
    return out + text[at:]


def _closing(text: str, opening: int) -> int:
    depth = 0
    for n in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[n], 0)
        if depth == 0:
            return n
    raise ValueError("unbalanced parentheses in generated code")


def _arguments(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for n, c in enumerate(text):
        depth += {"(": 1, "{": 1, "[": 1, ")": -1, "}": -1, "]": -1}.get(c, 0)
        if c == "," and depth == 0:
            parts.append(text[start:n])
            start = n + 1
    return [" ".join(p.split()) for p in (*parts, text[start:])]


# ------------------------------------------------------------------ what becomes what

# Name -> name of the same type and operands: `#` is what both have in common.
_RENAMED: list[tuple[str, str]] = [
    (r"vq(add|sub|shl)(q?(?:_n)?_[us]\d+)", r"v\1\2"),
    (r"vq(movn|shrn|rshrn)((?:_high)?(?:_n)?_[us]\d+)", r"v\1\2"),
    (r"vqr(shru?n(?:_high)?_n_[us]\d+)", r"vq\1"),
    (r"vr(shrn(?:_high)?_n_[us]\d+|shrq?_n_[us]\d+|haddq?_[us]\d+)", r"v\1"),
    (r"vhadd(q?_[us]\d+)", r"vrhadd\1"),
    (r"vqr(dmulhq?_.*)", r"vq\1"),
    (r"vcge(q?_[us]\d+)", r"vcgt\1"),
    (r"vcgt(q?_[us]\d+)", r"vcge\1"),
]


def _mutations(name: str, args: list[str], constants: dict[str, list[int]]) -> Iterator[str]:
    """The calls that a call becomes, of the same type."""
    for old, new in _RENAMED:
        if m := re.fullmatch(old, name):
            yield f"{m.expand(new)}({', '.join(args)})"
    if m := re.fullmatch(r"vsqadd(q?)_u(\d+)", name):  # unsigned plus signed
        yield f"vadd{m[1]}_u{m[2]}({args[0]}, vreinterpret{m[1]}_u{m[2]}_s{m[2]}({args[1]}))"
    if m := re.fullmatch(r"vq(mov|shr|rshr)un(_high)?(_n)?_s(\d+)", name):  # signed to unsigned
        half, n = int(m[4]) // 2, m[3] or ""
        rest = list(args)
        if m[2]:
            rest[0] = f"vreinterpret_s{half}_u{half}({args[0]})"
        q = "q" if m[2] else ""
        plain = f"v{m[1]}n{m[2] or ''}{n}_s{m[4]}({', '.join(rest)})"
        yield f"vreinterpret{q}_u{half}_s{half}({plain})"
    if re.search(r"_n_[us]\d+$", name) and args[-1].isdigit():
        yield from _shifts(name, args)
    if m := re.fullmatch(r"vdup(q?)_n_[us]\d+", name):
        yield from _constant(name, args[0])
    if m := re.fullmatch(r"v\w+_laneq_([us])(\d+)", name):
        sign, width = m[1], int(m[2])
        vector, lane = args[-2], args[-1]
        if vector in constants:
            value = constants[vector][int(lane)]
            ctype = f"{'u' if sign == 'u' else ''}int{width}_t"
            for other in (value - 1, value + 1):
                made = f"vdupq_n_{sign}{width}(({ctype}){other})"
                yield f"{name}({', '.join([*args[:-2], made, '0'])})"


def _shifts(name: str, args: list[str]) -> Iterator[str]:
    """A shift by one more or less, where the architecture has it."""
    m = re.search(r"_[us](\d+)$", name)
    assert m is not None
    width = int(m[1])
    lowest, highest = (0, width - 1) if "shl" in name else (1, width)
    if "shrn" in name or "shrun" in name:
        highest = width // 2
    for n in (int(args[-1]) - 1, int(args[-1]) + 1):
        if lowest <= n <= highest:
            yield f"{name}({', '.join([*args[:-1], str(n)])})"


def _constant(name: str, text: str) -> Iterator[str]:
    """A constant broadcast that is one more or less."""
    m = re.fullmatch(r"\((u?int\d+_t)\)\((-?\d+)\)", text)
    if m:
        for n in (int(m[2]) - 1, int(m[2]) + 1):
            yield f"{name}(({m[1]})({n}))"


def unknown(text: str) -> set[str]:
    """Saturating and rounding intrinsics of a generated file that no mutation knows."""
    names = {m[0][:-1] for m in _CALL.finditer(text)}
    lossy = {n for n in names if re.match(r"v(s?q(?!dmul|tbl)|r(?!einterpret|ev|bit))", n)}
    return {n for n in lossy if not any(_mutations(n, ["a", "b", "c"], {}))}
