# SPDX-License-Identifier: BSD-2-Clause
"""Temps in shared memory: the items of a workgroup one after the other, an element a word."""

from daedalus.dsl.ir import Affine, Buffer, Kernel
from daedalus.generator.targets.c.emit import flat


class TempLayout:
    """Where the elements of temps lie."""

    def __init__(self, kernel: Kernel) -> None:
        self._temps = kernel.temps

    def flat(self, t: Buffer, index: tuple[Affine, ...]) -> Affine:
        """The word of an element inside its item's part."""
        return flat(t, index)

    def words(self, t: Buffer) -> int:
        """Words that an item's part of a temp takes."""
        return t.size

    @property
    def bytes_an_item(self) -> int:
        """Shared memory that an item takes."""
        return 4 * sum(self.words(t) for t in self._temps)
