# SPDX-License-Identifier: BSD-2-Clause
"""Registers for a block whose instructions have their times.

A life begins with the first write of a web and ends with the last read of it; a write may go to a
register that the same instruction reads for the last time. Webs that hold something at both ends of
a loop's body have one register, which others may have in between.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from daedalus.generator.targets.qpu.block import Block
from daedalus.generator.targets.qpu.schedule import Schedule


@dataclass(frozen=True)
class Compiled:
    """A block with times and registers."""

    block: Block
    schedule: Schedule
    register: Mapping[int, int]  # by web

    def cost(self) -> tuple[int, int]:
        """Less is better."""
        return len(self.schedule.slots), self.schedule.most_live


@dataclass(frozen=True)
class Life:
    """A register is taken from the write in `begin` (-1: it was before) to the read in `end`
    (`length`: it is afterwards)."""

    web: int
    begin: int
    end: int


def lives(block: Block, schedule: Schedule) -> list[Life]:
    """The lives of a block's webs, by their beginnings."""
    begin: dict[tuple[int, int], int] = {life: -1 for life in block.lives_in()}
    end: dict[tuple[int, int], int] = {}
    for cycle, slot in enumerate(schedule.slots):
        for node in slot.nodes():
            for value in node.reads:
                end[block.life_of_read(node, value)] = cycle
            result = block.life_of_result(node)
            if result is not None:
                begin.setdefault(result, cycle)
    for life in block.lives_out():
        end[life] = len(schedule.slots)
    found = [Life(life[0], begin[life], at) for life, at in end.items()]
    return sorted(found, key=lambda x: (x.begin, x.end, x.web))


def allocate(
    block: Block, schedule: Schedule, fixed: Mapping[int, int], avoid: frozenset[int] = frozenset()
) -> dict[int, int] | None:
    """A register for each web; None if they do not suffice, or if two fixed webs are alive in one
    register at once.

    fixed  webs whose registers are given
    avoid  registers that others may not have at all
    """
    length = len(schedule.slots)
    register = dict(fixed)
    # For each register the cycles in which it is taken, as bits; bit 0 is before the first one.
    taken = dict.fromkeys(range(block.registers), 0)
    for r in avoid:
        taken[r] = _bits(-1, length)
    own: dict[int, list[Life]] = {}
    for life in lives(block, schedule):
        own.setdefault(life.web, []).append(life)
    for web, given in fixed.items():
        wanted = _cycles(own.pop(web, []))
        if taken[given] & wanted:
            return None
        taken[given] |= wanted
    # Those that are alive at an end first: their registers are then free in the middle only.
    order = sorted(own, key=lambda w: (not _at_end(own[w], length), own[w][0].begin, w))
    for web in order:
        wanted = _cycles(own[web])
        best = _best(taken, wanted, own[web][0].begin)
        if best is None:
            return None
        register[web] = best
        taken[best] |= wanted
    return register


def _best(taken: Mapping[int, int], wanted: int, begin: int) -> int | None:
    """A register that is free then: the one that was taken last before leaves the others whole."""
    below = (1 << begin + 1) - 1
    free = [r for r, bits in taken.items() if not bits & wanted]
    return max(free, key=lambda r: (taken[r] & below).bit_length()) if free else None


def _at_end(found: list[Life], length: int) -> bool:
    return any(x.begin == -1 or x.end == length for x in found)


def _cycles(found: list[Life]) -> int:
    """The cycles of all lives of a web."""
    bits = 0
    for life in found:
        bits |= _bits(life.begin, life.end)
    return bits


def _bits(begin: int, end: int) -> int:
    """The cycles of a life; in its last one another may begin."""
    return ((1 << end - begin) - 1) << begin + 1
