# SPDX-License-Identifier: BSD-2-Clause
"""Values that move between elements: plans of exchange.py as virtual instructions.

A shuffle whose distance is the same everywhere is a rotation, which needs no register that says
from where. Any other order of elements is a value of the entry, and so is what tells lanes apart.
"""

import operator
from collections.abc import Callable, Mapping, Sequence

from daedalus.generator.targets.qpu.conditions import Condition, Flags, Test
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.exchange import Chosen, Moved, Plan, Source, nodes
from daedalus.generator.targets.qpu.machine import LANES
from daedalus.generator.targets.qpu.virtual import Value

_BY_NUMBER: dict[str, Callable[[int, int], int]] = {
    "xor": operator.xor, "and": operator.and_, "or": operator.or_,
}  # fmt: skip


def emit(
    plans: Sequence[Plan], sources: Mapping[int, Value], e: Emitter, flags: Flags
) -> list[Value]:  # fmt: skip
    """The values of plans.

    Choices by the same lanes come together, as they ask for the same flags; and those that share
    what they are made of follow each other, so that few values wait.
    """
    writer = _Writer(list(dict.fromkeys(nodes(plans))), sources, e, flags)
    for p in sorted(writer.wanted, key=_level):
        if not isinstance(p, Moved) or p in plans:
            writer.write(p)
    return [writer.made[p] for p in plans]


class _Writer:
    """Writes what plans are made of."""

    def __init__(
        self, wanted: list[Plan], sources: Mapping[int, Value], e: Emitter, flags: Flags
    ) -> None:
        self.wanted, self._sources, self._e, self._flags = wanted, sources, e, flags
        self.made: dict[Plan, Value] = {}
        self._moves: dict[Plan, list[Moved]] = {}  # of each register
        self._choices: dict[Plan, list[Chosen]] = {}  # between each and another one
        for p in wanted:
            if isinstance(p, Moved):
                self._moves.setdefault(p.of, []).append(p)
            elif isinstance(p, Chosen):
                self._choices.setdefault(p.yes, []).append(p)
                self._choices.setdefault(p.no, []).append(p)

    def write(self, p: Plan) -> Value:
        """The value of an expression."""
        if p not in self.made:
            match p:
                case Source():
                    self.made[p] = self._sources[p.number]
                case Moved():
                    self.made[p] = moved(self.write(p.of), p.lanes, self._e)
                case Chosen():
                    self._choose(p)
        return self.made[p]

    def _choose(self, p: Chosen) -> None:
        yes, no = self.write(p.yes), self.write(p.no)
        others = [m for m in self._moves.get(p.no, ()) if m not in self.made]
        for m in others:  # before the choice takes the register
            self.write(m)
        flag = self._flags.flag(_condition(p.where, self._e))
        self.made[p] = self._e.select(flag, yes, no)
        for m in self._moves.get(p.no, ()):
            for c in self._choices.get(m, ()):
                if c.yes in self.made or c.no in self.made:
                    self.write(c)


def _level(p: Plan) -> int:
    """Odd of what is moved, even of what is chosen; more than that of what it is made of."""
    match p:
        case Moved():
            return _level(p.of) + 1
        case Chosen():
            return (max(_level(p.yes), _level(p.no)) // 2 + 1) * 2
    return 0


def moved(x: Value, lanes: Sequence[int | None], e: Emitter) -> Value:
    """The value with the elements of each group in another order."""
    of = everywhere(lanes)
    found = [(lane, source) for lane, source in enumerate(of) if source is not None]
    steps = {(source - lane) % LANES for lane, source in found}
    if len(steps) == 1:
        (step,) = steps
        return e.op("rot", x, step if step < LANES // 2 else step - LANES)
    quads = {(source - lane) % 4 for lane, source in found}
    if len(quads) == 1 and all(source // 4 == lane // 4 for lane, source in found):
        return e.op("rotq", x, quads.pop())
    return e.op("shuffle", x, _order(of, e))


def everywhere(lanes: Sequence[int | None]) -> list[int | None]:
    """The same for all groups."""
    size = len(lanes)
    return [
        None if lanes[n % size] is None else n // size * size + (lanes[n % size] or 0)
        for n in range(LANES)
    ]


def _order(of: Sequence[int | None], e: Emitter) -> Value:
    """A register that says for each element where it takes from: four bits count."""
    element = e.element()
    found = [(lane, source) for lane, source in enumerate(of) if source is not None]
    for name, makes in _BY_NUMBER.items():
        for n in range(LANES):
            if all(makes(lane, n) == source for lane, source in found):
                return e.op(name, element, n)
    # Four bits each in two words: shifts take five bits of their amount.
    low, high = (
        sum((source or 0) << 4 * n for n, source in enumerate(of[half : half + LANES // 2]))
        for half in (0, LANES // 2)
    )
    by = e.op("shl", element, 2)
    first = e.op("shr", e.value(low), by)
    if low == high:
        return first
    upper = e.op("asr", e.op("shl", element, 28 - 32), 31 - 32)  # all bits, of elements 8 to 15
    change = e.op("and", upper, e.op("shr", e.value(low ^ high), by))
    return e.op("xor", first, change)


def _condition(where: Sequence[bool | None], e: Emitter) -> Condition:
    """Where the lanes of each group are those."""
    element = e.element()
    told = [(lane, w) for lane, w in enumerate(where) if w is not None]
    for bit in (1, 2, 4, 8):
        for inverse in (False, True):
            if all(w == ((lane & bit == 0) == inverse) for lane, w in told):
                clear = Condition(Test("and", (element, bit), "z"))
                return clear if inverse else ~clear
    mask = sum(1 << n for n in range(LANES) if where[n % len(where)])
    own = e.op("shl", e.value(1), element)
    return ~Condition(Test("and", (own, mask), "z"))
