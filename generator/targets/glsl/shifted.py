# SPDX-License-Identifier: BSD-2-Clause
"""Windows of rows that begin at any byte, read in words: the words that they lie in, shifted."""

from dataclasses import dataclass
from itertools import pairwise

from daedalus.dsl.ir import Buffer
from daedalus.generator.targets.c.scalar import Names
from daedalus.generator.targets.glsl.pointers import plus
from daedalus.generator.targets.glsl.views import Views


@dataclass(frozen=True)
class Windows:
    """Reads windows by statements that are put at the end of `lines`."""

    views: Views
    names: Names
    lines: list[str]

    def read(self, b: Buffer, place: str, length: int) -> list[str]:
        """Locals that hold so many bytes, of which the first element is at a place, counted in
        elements; four in each."""
        assert b.dtype is not None
        count = -(-length // 4)
        scale = b.dtype.bytes
        begin, by = self._fresh(b, "begin"), self._fresh(b, "by")
        text = place if scale == 1 else f"({place}) * {scale}"
        self.lines.extend([f"const int {begin} = {text};", f"const int {by} = {begin} << 3;"])
        view = self.views.of(b, 4).name
        first = f"{begin} >> 2"
        if count > 1:
            first = self._fresh(b, "first")
            self.lines.append(f"const int {first} = {begin} >> 2;")
        raw = []
        for n in range(count + 1):
            # The last only where the window reaches into it: else there may be nothing.
            at = plus(first, n) if n < count else f"({begin} + {length - 1}) >> 2"
            raw.append(self._local(b, "word", f"{view}[{at}]"))
        return self._shifted(b, raw, by)

    def _shifted(self, b: Buffer, raw: list[str], by: str) -> list[str]:
        """Of each two words the bytes that are one.

        Shifts count modulo 32, as V3D does it: Mesa drops `& 31`. Only one of its two units
        shifts, so where there are several, the upper parts are products with a power of two; it is
        2**32, so 0, where the window begins with a word. A single one is joined bit by bit: where
        it begins with a word, that word is also its last.
        """
        if len(raw) == 2:
            text = f"{raw[0]} >> ({by} & 31) | {raw[1]} << (32 - {by} & 31)"
            return [self._local(b, "bytes", text)]
        up = self._local(b, "up", f"1u << (31 - {by} & 31) << 1")
        return [
            self._local(b, "bytes", f"({low} >> ({by} & 31)) + {high} * {up}")
            for low, high in pairwise(raw)
        ]

    def _local(self, b: Buffer, what: str, text: str) -> str:
        name = self._fresh(b, what)
        self.lines.append(f"const uint {name} = {text};")
        return name

    def _fresh(self, b: Buffer, what: str) -> str:
        return self.names.fresh(f"{b.name}_{what}")
