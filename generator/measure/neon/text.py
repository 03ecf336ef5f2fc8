# SPDX-License-Identifier: BSD-2-Clause
"""Reads arm64 assembly text as LLVM writes it: which registers a line reads and writes.

Only as much as the figures need; what is not known to write its first operand is a store, a
comparison or a branch.
"""

import re
from dataclasses import dataclass
from functools import cache

_REGISTER = re.compile(r"\b([xwvqdshb])(\d+)\b|\b(sp)\b")
_READS_ALL = re.compile(r"(st[0-9rpu]|cmp|cmn|tst|ccmp|ccmn|cb|tb|br|blr|ret|prfm|dc)")
_WRITES_TWO = re.compile(r"ldn?p")
_SAVED = range(8, 16)  # d8-d15 belong to the caller


@dataclass(frozen=True)
class Line:
    """One instruction."""

    text: str

    @property
    def name(self) -> str:
        return self.text.split("\t", 1)[0]

    @property
    def operands(self) -> str:
        return self.text.split("\t", 1)[1] if "\t" in self.text else ""

    @property
    def address(self) -> str:
        """What stands in brackets; empty where memory is not touched."""
        found = re.search(r"\[((?:x\d+|sp)[^\]]*)\]", self.operands)
        return found[1] if found else ""

    def general(self) -> tuple[frozenset[int], frozenset[int]]:
        """The general registers that it reads, and those that it writes."""
        return _general(self)

    @property
    def registers(self) -> tuple[tuple[str, int], ...]:
        """The registers that it names, by letter and number; the stack pointer is none."""
        return _registers(self)


# Traces have the same lines again and again.
@cache
def _general(line: Line) -> tuple[frozenset[int], frozenset[int]]:
    words = [w.strip() for w in re.split(r",(?![^{]*})", line.operands)]
    written = 0 if _READS_ALL.match(line.name) else 2 if _WRITES_TWO.match(line.name) else 1
    reads: set[int] = set()
    writes: set[int] = set()
    for place, word in enumerate(words):
        found = {int(n) for kind, n, _ in _REGISTER.findall(word) if kind in ("x", "w")}
        changed = place < written and "[" not in word and word[:1] in ("x", "w")
        (writes if changed else reads).update(found)
    base = re.search(r"\[x(\d+)[^\]]*\](!|, [#x])", line.operands)
    if base and line.address:
        writes.add(int(base[1]))
    return frozenset(reads), frozenset(writes)


@cache
def _registers(line: Line) -> tuple[tuple[str, int], ...]:
    return tuple((kind, int(n)) for kind, n, _ in _REGISTER.findall(line.operands) if n)


def arguments(lines: list[Line]) -> list[int]:
    """Which of x0 to x7 are read before they are written: what the caller handed over."""
    found: set[int] = set()
    written: set[int] = set()
    for line in lines:
        reads, writes = line.general()
        found |= reads - written
        written |= writes
    return sorted(n for n in found if n < 8)


def mentioned(lines: list[Line]) -> set[int]:
    """The general registers that occur at all."""
    return {
        int(n)
        for line in dict.fromkeys(lines)
        for kind, n, _ in _REGISTER.findall(line.text)
        if n and kind in "xw"
    }


@dataclass(frozen=True)
class Stack:
    """Vector registers that went to the stack."""

    saved: int  # of d8 to d15, which belong to the caller
    spilled: int  # of others: values of the function's own, and arrays that it keeps there


def activations(trace: list[Line]) -> list[list[Line]]:
    """A trace, parted into what each call of a function executed, less what that called: each
    saves the caller's registers anew."""
    found: list[list[Line]] = [[]]
    open_ = [found[0]]
    for line in trace:
        open_[-1].append(line)
        if line.name in ("bl", "blr"):
            found.append([])
            open_.append(found[-1])
        elif line.name == "ret" and len(open_) > 1:
            open_.pop()
    return found


def stack(lines: list[Line]) -> Stack:
    """Counts stores of vector registers below the stack pointer that the function was given.

    The lines are those of one function, as it stands or as it was executed once.
    """
    pointers = {"sp"}
    used: set[int] = set()
    saved = spilled = 0
    for line in lines:
        vectors = [(kind, n) for kind, n in line.registers if kind in "vqdshb"]
        base = line.address.split(",")[0].strip()
        if line.name.startswith("st") and base in pointers:
            for kind, n in vectors:
                if kind == "d" and n in _SAVED and n not in used:
                    saved += 1
                else:
                    spilled += 1
        used |= {n for _, n in vectors}
        _, writes = line.general()
        pointers -= {f"x{n}" for n in writes} - ({base} if base in pointers else set())
        derived = re.fullmatch(r"(?:mov|add|sub)\t(x\d+), (sp|x\d+)(?:, #\d+)?", line.text)
        if derived and derived[2] in pointers:
            pointers.add(derived[1])
    return Stack(saved, spilled)
