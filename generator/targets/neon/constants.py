# SPDX-License-Identifier: BSD-2-Clause
"""Constant multipliers as lanes of a vector: none needs a register of its own."""

from daedalus.generator.targets.c.scalar import Names
from daedalus.generator.targets.neon.vectors import ByLane


class ConstantLanes:
    """Collects the constants of a body; each gets a lane of one of its constant vectors."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._vectors: dict[tuple[str, int], list[list[int]]] = {}
        self._text: dict[tuple[str, int, int], str] = {}

    def lane(self, value: int, sign: str, width: int) -> ByLane:
        """Where a constant stands; 128/width of them share a vector."""
        wrapped = value & ((1 << width) - 1)
        vectors = self._vectors.setdefault((sign, width), [])
        for n, vector in enumerate(vectors):
            if wrapped in vector:
                return ByLane(self._text[sign, width, n], vector.index(wrapped))
        if not vectors or len(vectors[-1]) == 128 // width:
            vectors.append([])
            n = len(vectors) - 1
            self._text[sign, width, n] = self._names.fresh(f"multipliers{width}")
        vectors[-1].append(wrapped)
        return ByLane(self._text[sign, width, len(vectors) - 1], len(vectors[-1]) - 1)

    def declarations(self) -> list[str]:
        """Statements that load the vectors."""
        out = []
        for (sign, width), vectors in self._vectors.items():
            elem = f"{'u' if sign == 'u' else ''}int{width}_t"
            for n, vector in enumerate(vectors):
                name = self._text[sign, width, n]
                shown = [
                    v - (1 << width) if sign == "s" and v >> (width - 1) else v for v in vector
                ]
                shown += [0] * (128 // width - len(shown))
                entries = ", ".join(map(str, shown))
                out.append(f"static const {elem} {name}_values[{128 // width}] = {{{entries}}};")
                vtype = f"{elem[:-2]}x{128 // width}_t"
                load = f"vld1q_{sign}{width}({name}_values)"
                out.append(f"{vtype} {name} = daedalus_whole_{sign}{width}({load});")
        return out
