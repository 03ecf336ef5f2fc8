# SPDX-License-Identifier: BSD-2-Clause
"""Words of neighbouring elements, made of pairs: two values as the halves of one register.

Of four bytes that one word stores, the first and the third are computed at once, and the second and
the fourth; of two elements of 16 bits both. A pair is followed down while both sides are the same
operation and pair_rules.py has a rule for it. What both sides have in common is one value in both
halves; elements that are halves of a word in memory are taken out of it at once; other values are
computed one by one, and packed. First is found what there is to compute, as steps of which each is
made once; if these are fewer than the values that they replace would take, they are written, pairs
of a unit side by side.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from daedalus.dsl.ir import Buffer, Node, Op, Store
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.dsl.show import node_kind
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.memory import StageMemory
from daedalus.generator.targets.qpu.pair_rules import (
    ANY,
    HALF,
    SCALAR,
    Biases,
    Case,
    Taken,
    both,
    elements,
    packed,
    pair_rule,
    spread,
    stored,
)
from daedalus.generator.targets.qpu.rules import Expression
from daedalus.generator.targets.qpu.values import Values
from daedalus.generator.targets.qpu.virtual import Value

# Operations that a value takes by itself, where it takes more than one.
_COST = {Op.ABSDIFF: 3, Op.ABS: 2, Op.CLIP: 2, Op.RSHR: 2}
_LINEAR = {Op.ADD: 1, Op.SUB: -1}


@dataclass(frozen=True, eq=False)
class Step:
    """What is computed once: forms of the same result, of steps, words of 32 bits and nodes.

    Besides operations of the machine: ("value", n), a value in a register; ("word", f), the word
    that a field lies in; ("pack", n, m), two values as halves; ("select", n, x, y).
    """

    forms: tuple[tuple[Any, ...], ...]
    node: Node
    at: tuple[int, int]  # its place in the author's order, and the pair

    @property
    def operands(self) -> list["Step"]:
        """The steps that it reads."""
        return [
            x for x in dict.fromkeys(y for f in self.forms for y in f[1:]) if isinstance(x, Step)
        ]


Register = Step | int
Halves = tuple[Node, Node]


@dataclass
class Words:
    """The words of a unit, the stores that each is made of, and the steps in order."""

    words: dict[tuple[Store, ...], Step]
    steps: tuple[Step, ...]


@dataclass
class Pairs:
    """The pairs of a unit, as they are found."""

    ranges: Ranges
    memory: StageMemory
    always: bool = False  # also where they are no gain
    pairs: int = 0  # begun
    replaced: set[Node] = field(default_factory=set)
    _steps: dict[tuple[tuple[Any, ...], ...], Step] = field(default_factory=dict)
    _made: dict[Halves, tuple[Register, int]] = field(default_factory=dict)
    _uses: Counter[Halves] = field(default_factory=Counter)
    _order: dict[Node, int] = field(default_factory=dict)

    def words(self, unit: Sequence[tuple[Buffer, tuple[Store, ...]]]) -> Words | None:
        """The words of a unit; None where pairs are no gain."""
        found = {stores: self._word(b, stores) for b, stores in unit}
        # Of a step with several forms, and of those that the last ones need.
        needed = _needed(found.values())
        done = [s for s in needed if s.forms[0][0] not in ("value", "word")]
        if not self.always and len(done) >= sum(_COST.get(n.op, 1) for n in self.replaced):
            return None
        return Words(found, _in_order(needed))

    def _word(self, b: Buffer, stores: tuple[Store, ...]) -> Step:
        assert b.dtype is not None
        values = [s.value for s in stores]
        if b.dtype.bits == 16:
            pairs = [self._root(values[0], values[1])]
        else:
            pairs = [self._root(values[0], values[2]), self._root(values[1], values[3])]
        made = stored(b.dtype, *(k for _, k in pairs))
        return self._step_of(self._expression(made, [x for x, _ in pairs], values[-1]), values[-1])

    def _root(self, low: Node, high: Node) -> tuple[Register, int]:
        """The pair of two values that are stored."""
        self._order = {n: k for k, n in enumerate(sorted(_below(low), key=lambda n: n.seq))}
        self._count(low, high, set())
        made = self._pair(low, high, 0)
        self.pairs += 1
        return made

    def _count(self, low: Node, high: Node, seen: set[Halves]) -> None:
        """Counts by how many pairs each is used."""
        if low is high or (low, high) in seen:
            return
        seen.add((low, high))
        for x, y in zip(low.args, high.args, strict=False):
            self._uses[x, y] += 1
            self._count(x, y, seen)

    # ------------------------------------------------------------------ operands

    def _taken(self, x: Halves, taken: Taken) -> tuple[Register, int]:
        """An operand as a rule takes it, and its bias."""
        low, high = x
        if taken is SCALAR:
            return self._scalar(low), 0
        hint = taken.best if isinstance(taken, Biases) else None
        made, k = self._free(x, hint or 0) if _is_free(x) else self._pair(low, high, hint)
        if isinstance(taken, Biases) and k not in taken:
            assert hint is not None
            return self._moved(made, hint - k, low), hint
        return made, k

    def _free(self, x: Halves, k: int) -> tuple[Register, int]:
        """What has any bias for nothing, or once an item: a number, a value in both halves."""
        low, high = x
        if low.op is Op.CONST and high.op is Op.CONST:
            return (low.value + k + HALF * (high.value + k)) & 0xFFFFFFFF, k
        one = self._scalar(low)
        each = self._expression(spread(self._range(x)), [one], low)
        return self._moved(each, k, low), k

    def _scalar(self, n: Node) -> Register:
        if n.op is Op.CONST:
            return n.value
        return self._step((("value", n),), n)

    def _moved(self, x: Register, by: int, n: Node) -> Register:
        """A register with another bias."""
        if by % (1 << 32) == 0:
            return x
        if isinstance(x, int):
            return (x + both(by)) & 0xFFFFFFFF
        return self._step((("add", x, both(by)),), n)

    # ------------------------------------------------------------------ pairs

    def _pair(self, low: Node, high: Node, want: int | None) -> tuple[Register, int]:
        """Two values and their bias, which is the wanted one if that costs nothing."""
        x = (low, high)
        if _is_free(x):
            return self._free(x, want or 0)
        if x not in self._made:
            self._made[x] = self._new(low, high, want)
        return self._made[x]

    def _new(self, low: Node, high: Node, want: int | None) -> tuple[Register, int]:
        if low.op is not high.op or len(low.args) != len(high.args):
            return self._packed(low, high)
        if low.op is Op.LOAD:
            return self._loaded(low, high)
        if low.op is Op.SELECT and low.args[0] is high.args[0]:
            self.replaced |= {low, high}
            return self._selected(low, high, want)
        if low.attr != high.attr:
            return self._packed(low, high)
        args = list(zip(low.args, high.args, strict=True))
        found = pair_rule(low.op, self._case(low, args, want)) if args else None
        if found is None:
            return self._packed(low, high)
        self.replaced |= {low, high}
        one, taken = found
        got = self._operands(low.op, args, taken, want)
        biases = tuple(k for _, k in got)
        case = self._case(low, args, want)
        made = self._expression(one.makes(case, biases), [r for r, _ in got], low)
        return made, one.gives(case, biases)

    def _case(self, n: Node, args: list[Halves], want: int | None) -> Case:
        ranges = [self._range(x) for x in args]
        last = args[-1]
        shared = last[0] is last[1]
        const = last[0].value if len(args) > 1 and shared and last[0].op is Op.CONST else None
        return Case(ranges[0], ranges[-1], n.attr, const, shared, want)

    def _range(self, x: Halves) -> Interval:
        return self.ranges.of(x[0]) | self.ranges.of(x[1])

    def _operands(
        self, on: Op, args: list[Halves], taken: tuple[Taken, ...], want: int | None
    ) -> list[tuple[Register, int]]:
        """The operands of a rule, each at a bias that it takes."""
        if on in _LINEAR:
            return self._terms(_LINEAR[on], args[0], args[1], want)
        if len(taken) == 2 and taken[0] == taken[1] and isinstance(taken[0], Biases):
            first = 1 if _is_free(args[0]) else 0
            got = self._taken(args[first], taken[first])
            other = self._taken(args[1 - first], Biases(got[1], got[1]))
            return [got, other] if first == 0 else [other, got]
        return [self._taken(x, t) for x, t in zip(args, taken, strict=False)]

    def _terms(self, sign: int, a: Halves, b: Halves, want: int | None) -> list[Any]:
        """Operands of a sum (sign 1) or difference, so that it has the wanted bias if there is one
        that this costs nothing of, or that has other uses."""
        if want is None:
            return [self._taken(a, ANY), self._taken(b, ANY)]
        if _is_free(b):
            x = self._pair(*a, None)
            return [x, self._free(b, (want - x[1]) * sign)]
        y = self._pair(*b, None)
        if _is_free(a):
            return [self._free(a, want - sign * y[1]), y]
        x = self._pair(*a, want - sign * y[1])
        left = want - x[1] - sign * y[1]
        if left and self._uses[a] != self._uses[b]:
            if self._uses[a] > self._uses[b]:
                x = self._moved(x[0], left, a[0]), x[1] + left
            else:
                y = self._moved(y[0], left * sign, b[0]), y[1] + left * sign
        return [x, y]

    def _selected(self, low: Node, high: Node, want: int | None) -> tuple[Register, int]:
        """A choice that is the same in both halves."""
        yes, no = ((low.args[k], high.args[k]) for k in (1, 2))
        first, second = (no, yes) if _is_free(yes) else (yes, no)
        x, k = self._pair(*first, want)
        y, _ = self._taken(second, Biases(k, k))
        if first is no:
            x, y = y, x
        return self._step((("select", low.args[0], x, y),), low), k

    def _loaded(self, low: Node, high: Node) -> tuple[Register, int]:
        """Two elements of one word."""
        b, c = self.memory.plan.in_words(low), self.memory.plan.in_words(high)
        if b is None or c is None or (b.run, b.word) != (c.run, c.word):
            return self._packed(low, high)
        if c.bit - b.bit != 16 or b.bit > 8:
            return self._packed(low, high)
        self.replaced |= {low, high}
        word = self._step((("word", b.run, b.word),), low, (("word", b),))
        made, k = elements(b.type, odd=b.bit != 0)
        return self._expression(made, [word], low), k

    def _packed(self, low: Node, high: Node) -> tuple[Register, int]:
        """Two values that have nothing in common."""
        x, y = self._scalar(low), self._scalar(high)
        return self._expression(packed(self._range((low, high))), [x, y], low), 0

    # ------------------------------------------------------------------ steps

    def _expression(self, x: Expression, operands: list[Register], n: Node) -> Register:
        if isinstance(x, int):
            return x
        if isinstance(x, str):
            return operands["ab".index(x)]
        forms = x[1:] if x[0] == "|" else (x,)
        return self._step(
            tuple((f[0], *(self._expression(y, operands, n) for y in f[1:])) for f in forms), n
        )

    def _step(
        self, key: tuple[tuple[Any, ...], ...], n: Node,
        forms: tuple[tuple[Any, ...], ...] | None = None,
    ) -> Step:  # fmt: skip
        if key not in self._steps:
            forms = forms or key
            self._steps[key] = Step(forms, n, (self._order.get(n, -1), self.pairs))
        return self._steps[key]

    def _step_of(self, x: Register, n: Node) -> Step:
        return x if isinstance(x, Step) else self._step((("mov", x),), n)


def _is_free(x: Halves) -> bool:
    """Whether both sides are numbers, or one value."""
    return x[0] is x[1] or (x[0].op is Op.CONST and x[1].op is Op.CONST)


def _below(n: Node) -> set[Node]:
    found, stack = set[Node](), [n]
    while stack:
        x = stack.pop()
        if x not in found:
            found.add(x)
            stack += x.args
    return found


def _needed(last: Iterable[Step]) -> list[Step]:
    """The steps that these need, and they; operands first."""
    found: dict[Step, None] = {}

    def visit(s: Step) -> None:
        if s not in found:
            for x in s.operands:
                visit(x)
            found[s] = None

    for s in last:
        visit(s)
    return list(found)


class StagePairs:
    """The units of a stage that are made of pairs; `used` if there are any."""

    def __init__(self, ranges: Ranges, memory: StageMemory, *, always: bool) -> None:
        self._memory = memory
        self._units: dict[Store, Words] = {}
        for unit in memory.units():
            found = Pairs(ranges, memory, always).words(unit)
            if found is not None:
                self._units.update((s, found) for stores in found.words for s in stores)
        self.used = bool(self._units)

    def made(self, s: Store, values: Values, e: Emitter) -> bool:
        """Whether what is stored is made so; the unit's is, before its first store."""
        words = self._units.get(s)
        if words is not None and not words.words.keys() <= self._memory.paired.keys():
            write(words, values, self._memory, e)
        return words is not None


def _in_order(steps: list[Step]) -> tuple[Step, ...]:
    """Steps, operands first, in the author's order, but for those that are the only ones to read an
    operand: they come as soon as they can, and their operand needs no register any more."""
    uses = Counter(x for s in steps for x in s.operands)
    at: dict[Step, tuple[int, int]] = {}
    for s in steps:
        soon = max((at[x] for x in s.operands), default=s.at)
        at[s] = soon if any(uses[x] == 1 for x in s.operands) else max(soon, s.at)
    return tuple(sorted(steps, key=lambda s: at[s]))


def write(words: Words, values: Values, memory: StageMemory, e: Emitter) -> None:
    """Writes a unit's steps, and tells memory its words."""
    known: dict[Step, Argument] = {}
    for s in words.steps:
        if s.forms[0][0] != "value":  # where they are needed
            with e.note(e.where(s.node.loc, s.node.name or node_kind(s.node))):
                known[s] = _written(s, known, values, memory, e)
    for stores, s in words.words.items():
        memory.paired[stores] = e.value(known[s])


def _written(
    s: Step, known: dict[Step, Argument], values: Values, memory: StageMemory, e: Emitter
) -> Value:
    def argument(x: Any) -> Argument:
        if not isinstance(x, Step):
            return int(x)
        return values.argument(x.forms[0][1]) if x.forms[0][0] == "value" else known[x]

    op, *args = s.forms[0]
    if op == "word":
        return memory.word(args[0], values)
    if op == "select":
        yes, no = argument(args[1]), argument(args[2])
        return e.select(values.flags.flag(values.condition(args[0])), yes, no)
    forms = []
    for name, *operands in s.forms:
        sources = [argument(x) for x in operands]
        if all(isinstance(x, int) for x in sources):
            sources[0] = e.value(sources[0])
        forms.append((name, *sources))
    return e.either(*forms)
