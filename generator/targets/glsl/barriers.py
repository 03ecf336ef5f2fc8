# SPDX-License-Identifier: BSD-2-Clause
"""Where the invocations of an item have to wait for each other.

A stage waits where it touches what an earlier one touched since the last wait, and one of the two
writes it. Parts of a temp that have no element in common are filled without waiting, and so are
those of which an item fills the one or the other: under a condition and under its opposite.
Temps that lie in one place are as one.
"""

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from daedalus.dsl.ir import Kernel, Node, Op, Stage


class Barriers:
    """The waits of a shader, for its stages in order.

    handed  buffers in which an invocation may touch what another one stored
    """

    def __init__(
        self, kernel: Kernel, invocations: int, places: Mapping[str, str] | None = None
    ) -> None:
        """`places`: of temps, as of TempLayouts."""
        self._places = places or {}
        self._temps = {t.name: t for t in kernel.temps}
        self._alone = invocations == 1
        self._since: list[_Access] = []
        self.handed: set[str] = set()
        # Who gives an element its first value is not who needs it.
        self._filled = {t.name for t in kernel.temps if t.init is not None}

    def before(self, stage: Stage) -> list[str]:
        """The statements that wait before a stage."""
        access = _Access(stage, self._places)
        disputed = {name for a in self._since for name in self._disputed(a, access)}
        disputed |= self._filled & (access.read | access.written)
        if self._alone or not disputed:
            self._since.append(access)
            return []
        self._since, self._filled = [access], set()
        self.handed |= disputed - self._temps.keys()
        if disputed <= self._temps.keys():
            return ["barrier();"]
        return ["memoryBarrierBuffer();", "barrier();"]

    def _disputed(self, a: "_Access", b: "_Access") -> set[str]:
        """What two stages touch, one of them as its writer."""
        both = (a.written & b.read) | (a.read & b.written)
        for name in (a.written & b.written) - both:
            if name not in self._temps or self._overlap(name, a, b):
                both.add(name)
        return both

    def _overlap(self, name: str, a: "_Access", b: "_Access") -> bool:
        """Whether some item writes an element of a temp in both stages."""
        if {a.own(name), b.own(name)} != {name}:
            return True  # of two temps in one place
        if _opposite(a.stage.given, b.stage.given):
            return False
        shape = self._temps[name].shape
        origin, extents = [lo for lo, _ in shape], [hi - lo for lo, hi in shape]
        hit = np.zeros(extents, dtype=bool)
        hit[a.elements(name, origin)] = True
        return bool(hit[b.elements(name, origin)].any())


class _Access:
    """What a stage reads and writes."""

    def __init__(self, stage: Stage, places: Mapping[str, str]) -> None:
        self.stage, self._places = stage, places
        self.read = {self._place(n.attr[0]) for n in stage.nodes() if n.op is Op.LOAD}
        self.written = {self._place(s.buffer) for s in stage.stores}

    def _place(self, buffer: str) -> str:
        return self._places.get(buffer, buffer)

    def own(self, place: str) -> str:
        """The buffer that is written in a place."""
        return next(s.buffer for s in self.stage.stores if self._place(s.buffer) == place)

    @cached_property
    def _grid(self) -> dict[str, np.ndarray]:
        return self.stage.grid()

    def elements(self, name: str, origin: list[int]) -> tuple[np.ndarray, ...]:
        """Coordinates of the elements written of a temp, one array an axis."""
        places = [
            [
                np.broadcast_to(i.at(self._grid) - lo, (self.stage.lanes,))
                for i, lo in zip(s.index, origin, strict=True)
            ]
            for s in self.stage.stores
            if s.buffer == name
        ]
        return tuple(np.concatenate(axis) for axis in zip(*places, strict=True))


def _opposite(a: Node | None, b: Node | None) -> bool:
    """Whether two conditions are opposites. Those of stages are the item's: no lane of it has
    another one, and no stage changes them."""
    if a is None or b is None:
        return False
    for x, y in ((a, b), (b, a)):
        if x.op is Op.NOT and _alike(x.args[0], y):
            return True
        if x.op is Op.GT and y.op is Op.LE and _all_alike(x.args, y.args):
            return True
    return False


def _alike(a: Node, b: Node) -> bool:
    """Whether two conditions or values of different stages are the same one."""
    return a.op is b.op and a.attr == b.attr and _all_alike(a.args, b.args)


def _all_alike(a: tuple[Node, ...], b: tuple[Node, ...]) -> bool:
    return len(a) == len(b) and all(_alike(x, y) for x, y in zip(a, b, strict=True))
