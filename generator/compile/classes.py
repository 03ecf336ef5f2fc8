# SPDX-License-Identifier: BSD-2-Clause
"""Which classes items can have, by what is known of their parameters."""

from collections.abc import Mapping

from daedalus.dsl.ir import FULL, Kernel
from daedalus.generator.compile.pieces import counted

# Parameters -> their ends, as far as anything is known of them.
Known = Mapping[str, tuple[int, int]]


def of_whole_rows(kernel: Kernel) -> list[str]:
    """The classes that items of a block of more rows than an item has can have: those with all
    rows. None where no decoder's function has such blocks."""
    rows = counted(kernel)
    if not rows:
        return []
    known = {p.name: (p.lo, p.hi) for p in kernel.params if p.count == 1}
    most = kernel.param(rows).hi
    return [name for name, _ in classes_of(kernel, known | {rows: (most, most)})]


def classes_of(kernel: Kernel, known: Known) -> list[tuple[str, str]]:
    """The classes that items can have, and what tells each from those behind it, in C.

    The last one has no condition.
    """
    found: list[tuple[str, str]] = []
    before: list[dict[str, tuple[int, int]]] = []
    for name in kernel.class_names:
        when = {} if name == FULL else {p: (a, b) for p, a, b in kernel.item_class(name).when}
        left = _left(when, known)
        if left is None or any(_holds(b, when, known) for b in before):
            continue  # it excludes what is known, or is a part of a class before it
        before.append(when)
        found.append((name, " && ".join(left)))
        if not left:
            break
    return found


def _left(when: Mapping[str, tuple[int, int]], known: Known) -> list[str] | None:
    """The conditions in C that what is known leaves open; None where it excludes the class."""
    left = []
    for p, (lo, hi) in when.items():
        first, last = known.get(p, (lo - 1, hi + 1))
        if hi < first or last < lo:
            return None
        if lo == hi and first < lo and hi < last:
            left.append(f"{p} == {lo}")
            continue
        left += [f"{p} >= {lo}"] if first < lo else []
        left += [f"{p} <= {hi}"] if hi < last else []
    return left


def _holds(
    outer: Mapping[str, tuple[int, int]], inner: Mapping[str, tuple[int, int]], known: Known
) -> bool:
    """Whether what meets the inner conditions meets the outer ones."""
    for p, (lo, hi) in outer.items():
        ends = [r for r in (inner.get(p), known.get(p)) if r is not None]
        if not ends or max(r[0] for r in ends) < lo or hi < min(r[1] for r in ends):
            return False
    return True
