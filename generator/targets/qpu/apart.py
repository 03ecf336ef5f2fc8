# SPDX-License-Identifier: BSD-2-Clause
"""Which accesses of a buffer cannot meet, so that none of them has to wait for another."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from daedalus.dsl.ir import Buffer, Index, Node, Op, Stage
from daedalus.generator.targets.gpu.walks import walk_of


def stages_of(stages: Sequence[Stage], b: Buffer) -> list[Stage]:
    """Those that read or write the buffer."""
    return [s for s in stages if any(True for _ in _accesses(s, b))]


def alike(stage: Stage, b: Buffer) -> bool:
    """Whether a stage's accesses differ by constants alone, at places that no value decides.

    Then a lane meets what it has stored itself only at the very same place. What another lane
    writes it never reads (dsl/verify.py), nor writes back (gpu/windows.py).
    """
    return len({walk_of(b, index)[0] for index in _accesses(stage, b)}) == 1


def disjoint(stages: Sequence[Stage], b: Buffer) -> bool:
    """Whether no two of the stages touch one place, as parts of a stage that was cut.

    A stage that owns what lies around its places may write whole words: others' places too.
    """
    of = stages_of(stages, b)
    if b.owns and len(of) > 1:
        return False
    boxes = [_box(s, b) for s in of]
    return all(
        any(low > last or high < first for (first, last), (low, high) in zip(x, y, strict=True))
        for x, y in combinations(boxes, 2)
    )


def loads(stage: Stage, b: Buffer) -> Iterator[Node]:
    """The values that a stage reads of a buffer."""
    return (n for n in stage.nodes() if n.op is Op.LOAD and n.attr[0] == b.name)


def _accesses(stage: Stage, b: Buffer) -> Iterator[Index]:
    yield from (s.index for s in stage.stores if s.buffer == b.name)
    yield from (n.index for n in loads(stage, b))


def _box(stage: Stage, b: Buffer) -> list[tuple[int, int]]:
    """The first and the last place along each axis. Where a value has a part in an index, it may
    be any of the buffer."""
    if any(n.args for n in loads(stage, b)):
        return [(-(2**31), 2**31) for _ in b.shape]
    boxes = [[i.bounds(stage.extents) for i in index] for index in _accesses(stage, b)]
    return [
        (min(lo for lo, _ in axis), max(hi for _, hi in axis)) for axis in zip(*boxes, strict=True)
    ]
