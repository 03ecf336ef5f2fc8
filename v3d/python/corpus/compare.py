# SPDX-License-Identifier: BSD-2-Clause
"""Compares what two devices left in a program's buffers, by the rules that the program states."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from daedalus.v3d.corpus import precision
from daedalus.v3d.corpus.commands import Commands
from daedalus.v3d.corpus.model import Bounded, Exact, ExactFloat, Program, Rule
from daedalus.v3d.corpus.plans import sizes

Words = NDArray[np.uint32]


@dataclass(frozen=True)
class Difference:
    """Where a buffer is not what it should be: the first word, and how many there are."""

    program: str
    buffer: str
    word: int
    expected: str
    found: str
    count: int

    def __str__(self) -> str:
        return (
            f"{self.program}: {self.buffer}[{self.word}] is {self.found}; {self.expected} is "
            f"expected ({self.count} words differ)"
        )


def read_buffers(program: Program | Commands, file: Path) -> dict[str, Words]:
    """The buffers of a case, as vkrun wrote them."""
    data = np.fromfile(file, dtype="<u4")
    found, at = {}, 0
    for name, size in sizes(program):
        found[name] = data[at : at + size // 4]
        at += size // 4
    if at != len(data):
        raise ValueError(f"{file} has {4 * len(data)} bytes; {4 * at} are expected")
    return found


def compare(
    program: Program | Commands, expected: dict[str, Words], found: dict[str, Words]
) -> list[Difference]:
    """Differences beyond the rules; inputs must be as they were.

    Bounded results are compared with the true value, and so are those of the device compared with.
    """
    differences = []
    for name, words in found.items():
        rule = _rule(program, name)
        if isinstance(program, Program) and isinstance(rule, Bounded):
            differences += _bounded(program, name, rule, words)
            differences += _bounded(program, f"{name} expected", rule, expected[name])
            continue
        differs = words != expected[name]
        if isinstance(rule, ExactFloat):
            differs &= ((words | expected[name]) & 0x7FFFFFFF) != 0
        differences += _first(program, name, differs, expected[name], words)
    return differences


def _rule(program: Program | Commands, buffer: str) -> Rule:
    """An output is named after the shape that it is of: `r-0`."""
    outputs = program.outputs if isinstance(program, Program) else ()
    return next((o.rule for o in outputs if o.name == buffer.rpartition("-")[0]), Exact())


def _first(
    program: Program | Commands,
    name: str,
    differs: NDArray[np.bool_],
    expected: Words,
    found: Words,
) -> list[Difference]:
    at = np.flatnonzero(differs)
    if not len(at):
        return []
    k = int(at[0])
    words = (f"0x{int(expected[k]):08x}", f"0x{int(found[k]):08x}")
    return [Difference(program.name, name, k, *words, len(at))]


def _bounded(program: Program, name: str, rule: Bounded, words: Words) -> list[Difference]:
    data = {i.name: np.frombuffer(i.data, dtype="<f4") for i in program.inputs}
    values = words.view(np.float32)
    n = len(rule.operations)
    differences = []
    for k, operation in enumerate(rule.operations):
        got = values[k::n]
        x, y = (data[i][np.arange(len(got)) % len(data[i])] for i in rule.inputs)
        wrong = np.flatnonzero(precision.outside(operation, x, y, got))
        if len(wrong):
            at = int(wrong[0])
            wanted = f"{operation} of {x[at]!r}, {y[at]!r} within its bound"
            at_word = at * n + k
            differences.append(
                Difference(program.name, name, at_word, wanted, repr(got[at]), len(wrong))
            )
    return differences
