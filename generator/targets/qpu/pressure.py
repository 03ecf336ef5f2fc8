# SPDX-License-Identifier: BSD-2-Clause
"""Registers in use while a block's nodes are put in order, one after the other."""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

Life = TypeVar("Life", bound=Hashable)


class LifeTable:
    """Which lives nodes read and begin; lives go by numbers, nodes by their orders.

    reads    of each node the lives that it reads
    results  of each node the life that it begins or goes on with, or -1
    left     of each life how many nodes read it, and whether it is read behind the block
    readers  of each life the sum modulo 2 (xor) of its readers' orders plus 1: of a single one
             that number, and 0 of who reads behind the block
    first    lives that are in use at the beginning
    """

    def __init__(
        self,
        reads: Sequence[Iterable[Life]],
        results: Sequence[Life | None],
        alive: Iterable[Life],
        kept: Iterable[Life],
    ) -> None:
        number: dict[Life, int] = {}
        self.reads = [
            [number.setdefault(life, len(number)) for life in dict.fromkeys(lives)]
            for lives in reads
        ]
        behind = [number.setdefault(life, len(number)) for life in kept]
        self.left, self.readers = [0] * len(number), [0] * len(number)
        for order, lives in enumerate(self.reads):
            for life in lives:
                self.left[life] += 1
                self.readers[life] ^= order + 1
        for life in behind:
            self.left[life] += 1
        # What nobody reads takes no register.
        self.results = [-1 if r is None else number.get(r, -1) for r in results]
        self.first = [number[life] for life in alive if life in number]


class Pressure:
    """What is in use after some nodes."""

    def __init__(self, table: LifeTable) -> None:
        self._reads, self._results = table.reads, table.results
        self._left, self._readers = list(table.left), list(table.readers)
        self._ends = [0] * len(table.reads)  # lives that end with each node, as it stands
        self._live = bytearray(len(table.left))
        for life in table.first:
            self._live[life] = 1
        self.used = len(table.first)  # registers
        for life, left in enumerate(self._left):
            if left == 1 and self._readers[life]:
                self._ends[self._readers[life] - 1] += 1

    def growth(self, node: int) -> int:
        """By how many registers more are in use after a node."""
        result = self._results[node]
        if result >= 0 and not self._live[result] and self._left[result]:
            return 1 - self._ends[node]
        return -self._ends[node]

    def place(self, node: int) -> None:
        """A node is the next one."""
        left = self._left
        for life in self._reads[node]:
            left[life] -= 1
            self._readers[life] ^= node + 1
            if left[life] == 1:
                if self._readers[life]:
                    self._ends[self._readers[life] - 1] += 1
            elif not left[life] and self._live[life]:
                self._live[life] = 0
                self.used -= 1
        result = self._results[node]
        if result >= 0 and left[result] and not self._live[result]:
            self._live[result] = 1
            self.used += 1
