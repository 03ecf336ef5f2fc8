# SPDX-License-Identifier: BSD-2-Clause
"""How values move between the elements of a group by shuffles.

What is wanted is given by its places: of each wanted register, for each lane of the group, the
source register and the lane there whose value it is (None: any). Groups are a power of two of
neighbouring elements, and all do the same. A plan is an expression of each wanted register:

    Source       a register that there is
    Moved        another one's values, taken from other lanes of the group: a shuffle
    Chosen       of two others, by the lane: a conditional mov

Two ways are tried, and that of fewer operations is taken. *By bits*: lane bit after lane bit, a
register is made of two, one of which gives the lanes where the bit is 0 and one the others; what is
taken from the half that it is in needs no shuffle. A transpose takes two operations a register and
bit so, since registers that are wanted share what they are made of. *Directly*: every source of a
register is shuffled by itself.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

Place = tuple[int, int]  # source register, lane
Places = tuple[Place | None, ...]  # of a wanted register, by lane


@dataclass(frozen=True)
class Source:
    """A register by its number."""

    number: int


@dataclass(frozen=True)
class Moved:
    """Lane l has what lane lanes[l] of another register has (None: anything)."""

    of: "Plan"
    lanes: tuple[int | None, ...]


@dataclass(frozen=True)
class Chosen:
    """Lane l has what `yes` has where where[l] holds, else what `no` has (None: either)."""

    yes: "Plan"
    no: "Plan"
    where: tuple[bool | None, ...]


Plan = Source | Moved | Chosen


def plan(wanted: Sequence[Places]) -> list[Plan]:
    """An expression of each wanted register; registers that share a source share what they can."""
    found: list[Plan | None] = [None] * len(wanted)
    for numbers in components(wanted):
        for n, p in zip(numbers, _best([wanted[n] for n in numbers]), strict=True):
            found[n] = p
    return [p for p in found if p is not None]


def operations(plans: Sequence[Plan]) -> int:
    """Instructions of all of them, what is alike counted once."""
    return sum(not isinstance(p, Source) for p in set(nodes(plans)))


def nodes(plans: Sequence[Plan]) -> Iterator[Plan]:
    """What expressions are made of, innermost first, some repeatedly."""
    for p in plans:
        match p:
            case Moved():
                yield from nodes([p.of])
            case Chosen():
                yield from nodes([p.yes, p.no])
        yield p


def components(wanted: Sequence[Places]) -> list[list[int]]:
    """Numbers of registers that share sources."""
    groups: list[tuple[set[int], list[int]]] = []
    for n, places in enumerate(wanted):
        sources, numbers = {p[0] for p in places if p is not None}, [n]
        for group in [g for g in groups if g[0] & sources]:
            groups.remove(group)
            sources |= group[0]
            numbers = group[1] + numbers
        groups.append((sources, sorted(numbers)))
    return [numbers for _, numbers in groups]


def _best(wanted: Sequence[Places]) -> list[Plan]:
    lanes = len(wanted[0])
    bits = [1 << n for n in range(lanes.bit_length() - 1)]
    ways = [found for order in permutations(bits) if (found := _by_bits(wanted, order)) is not None]
    return min([*ways, [_directly(w) for w in wanted]], key=operations)


# ------------------------------------------------------------------ directly


def _directly(places: Places) -> Plan:
    """One shuffle for each source."""
    made: Plan | None = None
    for source in dict.fromkeys(p[0] for p in places if p is not None):
        lanes = tuple(p[1] if p is not None and p[0] == source else None for p in places)
        one = _moved(Source(source), lanes)
        if made is None:
            made = one
        else:
            where = tuple(None if p is None else p[0] == source for p in places)
            made = Chosen(one, made, where)
    return Source(0) if made is None else made


def _moved(of: Plan, lanes: tuple[int | None, ...]) -> Plan:
    stays = all(source in (None, lane) for lane, source in enumerate(lanes))
    return of if stays else Moved(of, lanes)


# ------------------------------------------------------------------ by bits


def _by_bits(wanted: Sequence[Places], order: Sequence[int]) -> list[Plan] | None:
    """Plans that move by the last bit of `order` at last; None where there are none."""
    if not order:
        found = [_single(places) for places in wanted]
        return [p for p in found if p is not None] if None not in found else None
    bit = order[-1]
    halves: list[tuple[Places, Places]] = []
    for places in wanted:
        split = _halves(places, bit)
        if split is None:
            return None
        halves.append(split)
    before = _merged([h for pair in halves for h in pair], bit)
    made = _by_bits(list(dict.fromkeys(before.values())), order[:-1])
    if made is None:
        return None
    plans = dict(zip(dict.fromkeys(before.values()), made, strict=True))
    return [
        _joined(places, [plans[before[h]] for h in pair], bit)
        for places, pair in zip(wanted, halves, strict=True)
    ]


def _single(places: Places) -> Source | None:
    """The source whose lanes all stay where they are."""
    sources = {p[0] for p in places if p is not None}
    stay = all(p is None or p[1] == lane for lane, p in enumerate(places))
    if not stay or len(sources) > 1:
        return None
    return Source(next(iter(sources), 0))


def _halves(places: Places, bit: int) -> tuple[Places, Places] | None:
    """What is needed before the move by a bit: for lanes without the bit, and for those with it.
    Each is wanted in that half of the lanes that has it; None where one is in both halves."""
    out = []
    for own in (0, bit):
        half: list[Place | None] = [None] * len(places)
        mine = [(lane, p) for lane, p in enumerate(places) if lane & bit == own and p is not None]
        if len({p[1] & bit for _, p in mine}) > 1:
            return None
        for lane, p in mine:
            half[lane & ~bit | p[1] & bit] = p
        out.append(tuple(half))
    return out[0], out[1]


def _merged(halves: Sequence[Places], bit: int) -> dict[Places, Places]:
    """Of each half the register that has it: those of both halves of the lanes that take the same
    sources, else that agree, are one."""
    different = list(dict.fromkeys(halves))
    out: dict[Places, Places] = {}
    for alike in (True, False):
        for h in different:
            if h in out:
                continue
            other = next((o for o in different if o not in out and _goes(h, o, bit, alike)), None)
            if other is not None:
                out[h] = out[other] = tuple(a or b for a, b in zip(h, other, strict=True))
    return {h: out.get(h, h) for h in different}


def _goes(h: Places, other: Places, bit: int, alike: bool) -> bool:
    """Whether two halves go into one register: of other lanes, or with what is the same; alike
    are those that take the same sources' other half."""
    if h is other or any(a and b and a != b for a, b in zip(h, other, strict=True)):
        return False
    if not alike:
        return True
    return all(p is None or other[lane ^ bit] == (p[0], p[1] ^ bit) for lane, p in enumerate(h))


def _joined(places: Places, halves: Sequence[Plan], bit: int) -> Plan:
    """A register of what its halves are in before the move."""
    parts: list[Plan | None] = []
    for own, made in zip((0, bit), halves, strict=True):
        lanes = tuple(
            lane & ~bit | p[1] & bit if lane & bit == own and p is not None else None
            for lane, p in enumerate(places)
        )
        nothing = all(x is None for x in lanes)
        parts.append(None if nothing else _moved(made, lanes))
    no, yes = parts
    if no is None or yes is None:
        return no or yes or Source(0)
    if no == yes:
        return no
    if isinstance(no, Moved) and isinstance(yes, Moved) and no.of == yes.of:
        both = (b if a is None else a for a, b in zip(no.lanes, yes.lanes, strict=True))
        return Moved(no.of, tuple(both))
    where = tuple(None if p is None else lane & bit != 0 for lane, p in enumerate(places))
    return Chosen(yes, no, where)
