# SPDX-License-Identifier: BSD-2-Clause
"""The lanes of a vector: items side by side, in each the points of a stage's vector axes.

What the lanes of a load or a store touch is a list of places, one a lane; how it is loaded follows
from the list alone: runs of neighbours, or elements that repeat.
"""

from dataclasses import dataclass
from itertools import product

from daedalus.dsl.along import differing, moves
from daedalus.dsl.build import fix_lanes
from daedalus.dsl.ir import Affine, Buffer, Index, Node, Stage, walk
from daedalus.generator.targets.c.emit import flat


@dataclass(frozen=True)
class Place:
    """One lane's element: whose item, and where in it (loops' axes may be left in the index)."""

    item: int
    index: Index


@dataclass(frozen=True)
class Lanes:
    """The vector axes of a stage, for `items` items."""

    stage: Stage
    items: int

    @property
    def axes(self) -> tuple[tuple[str, int], ...]:
        """The axes that run across the vector, outermost first."""
        return self.stage.dims[len(self.stage.dims) - self.stage.vector :]

    @property
    def loops(self) -> tuple[tuple[str, int], ...]:
        """The axes that are loops around it."""
        return self.stage.dims[: len(self.stage.dims) - self.stage.vector]

    @property
    def count(self) -> int:
        """Lanes of an item that mean something."""
        n = 1
        for _, extent in self.axes:
            n *= extent
        return n

    @property
    def padded(self) -> int:
        """Lanes an item takes in a vector: a power of two, at least 4."""
        n = 4
        while n < self.count:
            n *= 2
        return n

    @property
    def whole(self) -> bool:
        """Whether no lane is padding."""
        return self.count == self.padded

    @property
    def single(self) -> str | None:
        """The axis, where the stage has no other."""
        return self.axes[0][0] if len(self.stage.dims) == 1 else None

    def points(self) -> list[dict[str, int]]:
        """The coordinates of an item's lanes, padding not included."""
        names = [name for name, _ in self.axes]
        ranges = (range(n) for _, n in self.axes)
        return [dict(zip(names, at, strict=True)) for at in product(*ranges)]

    def places(self, index: Index) -> list[Place | None]:
        """What every lane touches, padding lanes nothing."""
        padding = [None] * (self.padded - self.count)
        points = self.points()
        return [
            place
            for item in range(self.items)
            for place in [*(Place(item, fix_lanes(index, p)) for p in points), *padding]
        ]

    def uniform(self, node: Node) -> bool:
        """Whether the value is the same on all lanes of an item."""
        across = self._across
        return not any(moves(n, across) for n in walk((node,)))

    def uniform_nodes(self) -> set[Node]:
        """The stage's values that are the same on all lanes of an item."""
        return {*self.stage.nodes()} - differing(self.stage, self._across)

    @property
    def _across(self) -> set[str]:
        return {name for name, _ in self.axes}


def _position(b: Buffer | None, place: Place) -> tuple[object, int]:
    """What neighbours have in common, and the number that differs by one between them."""
    if b is None or b.kind == "plane":
        *before, last = place.index
        return (place.item, tuple(before), last.terms), last.const
    a: Affine = flat(b, place.index)
    return (place.item, a.terms), a.const


def run_length(b: Buffer | None, places: list[Place | None]) -> int:
    """The largest power of two n so that every n lanes from the first are neighbours in memory."""
    n = len(places)
    while n > 1:
        if all(_is_run(b, places[k : k + n]) for k in range(0, len(places), n)):
            return n
        n //= 2
    return 1


def _is_run(b: Buffer | None, places: list[Place | None]) -> bool:
    if any(p is None for p in places):
        return False
    found = [_position(b, p) for p in places if p is not None]
    (common, first) = found[0]
    return all(got == (common, first + k) for k, got in enumerate(found))


def repeat_length(places: list[Place | None]) -> int:
    """The largest power of two n so that every n lanes from the first are the same element."""
    n = len(places)
    while n > 1:
        groups = (places[k : k + n] for k in range(0, len(places), n))
        if all(g[0] is not None and all(p == g[0] for p in g) for g in groups):
            return n
        n //= 2
    return 1
