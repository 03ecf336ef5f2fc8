# SPDX-License-Identifier: BSD-2-Clause
"""What the QPU reads and writes together where that is not what GLSL does."""

from daedalus.dsl.ir import Buffer, Kernel, Node, Stage, u8
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.generator.targets.gpu.limits import Limits, conjunction
from daedalus.generator.targets.gpu.plan import StagePlan
from daedalus.generator.targets.gpu.walks import byte_place

_MOST_WORDS = 4  # that a lookup reads


def words_around(length: int) -> int:
    """The most words that so many bytes lie in."""
    return (length + 2) // 4 + 1


class QpuPlan(StagePlan):
    """The loads and stores of a stage.

    ranges  what values reach, whatever the items hold
    single  one element does an item
    """

    nested = True

    def __init__(
        self, kernel: Kernel, stage: Stage, ranges: Ranges, *, words: bool, shifted: bool,
        single: bool,
    ) -> None:  # fmt: skip
        self._single, self._ranges = single, ranges
        super().__init__(kernel, stage, words=words, shifted=shifted)

    def anywhere(self, b: Buffer) -> bool:
        """Bytes alone are shifted."""
        return super().anywhere(b) and b.dtype == u8

    def largest(self, b: Buffer) -> int:
        """Where one element does an item, what it changes is kept in registers from the load to
        the store, so it is better done word by word. Items of a block begin with whole words, or
        are read by elements."""
        assert b.dtype is not None
        if b.kind == "block" and b.size * b.dtype.bytes % 4:
            return b.dtype.bytes
        return 4 if self._single and b.access == "inout" else super().largest(b)

    def limits(self, mask: Node) -> Limits:
        """Conjunctions are known, and sums by all of their terms."""
        return conjunction(mask, self._ranges.form)

    def moved_in_words(self, b: Buffer, n: Node, bytes_: set[int]) -> bool:
        """A window is read as one vector of whole words: wherever it begins, each of them has to
        hold a byte of the buffer's rectangle."""
        if not self.in_units or b.kind != "plane" or b.access != "in" or b.dtype != u8:
            return False
        low = min(bytes_)
        count = words_around(max(bytes_) + 1 - low)
        begin = Interval(low, low)
        for name, c in byte_place(b, n.index)[1].terms:
            if name.startswith("#"):
                r = self._ranges.of(n.args[int(name[1:])])
            else:
                r = Interval(0, self.stage.extents[name] - 1)
            begin = Interval(begin.lo + min(c * r.lo, c * r.hi), begin.hi + max(c * r.lo, c * r.hi))
        last = begin.hi // 4 * 4 + 4 * (count - 1)
        inside = begin.lo >= b.shape[1][0] and last < b.shape[1][1]
        return len(bytes_) > 1 and count <= _MOST_WORDS and inside
