# SPDX-License-Identifier: BSD-2-Clause
"""Questions to the solver about one lane of a stage: what is known of its inputs, and whether a
claim follows from that."""

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

import z3

from daedalus.dsl.ir import Affine, Kernel, Node, Op, Stage
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.generator.targets.neon.simulate import Part
from daedalus.generator.verify.proofs.lane_terms import Names, Terms
from daedalus.generator.verify.proofs.symbolic import Truth

ALL = 1000  # operations below others: all of them
QUICK = ("simplify", "bit-blast", "sat")
_THOROUGH = (
    "simplify", "propagate-values", "solve-eqs", "elim-uncnstr", "max-bv-sharing", "bit-blast",
    "aig", "sat",
)  # fmt: skip
_SHORT = 4  # seconds for a question on the way
A_SECOND = 4_000_000  # of z3's work, about: so that answers do not depend on how busy a machine is
_NARROW, _WIDE = 40, 80  # bits of terms: products of two lanes of 16, or of 32 bits, and shifts fit
_SPARE = 4  # bits that a value does not take of a term


class Questions:
    """What is known of a variant: its lowered program and the selections of its stages.

    seconds   work for the last and widest question of a proof, in units of A_SECOND: what an idle
              machine does in about a second; no clock is looked at
    width     bits of every term: products of two lanes, lanes shifted by their width, and all
              values fit
    short     as much for a question on the way
    """

    # Questions, as texts with declarations, are the same for many lanes and variants.
    _proven: ClassVar[dict[str, bool]] = {}
    _given_up: ClassVar[dict[str, float]] = {}  # after so many seconds

    def __init__(self, kernel: Kernel, stages: list[Part], seconds: float = 20) -> None:
        self.kernel, self.stages = kernel, stages
        self.seconds, self.short = seconds, min(_SHORT, seconds)
        self.ranges = stages[0].selection.ranges if stages else Ranges(kernel)
        lanes = [need[1].width for part in stages for need in part.order]
        values = [
            max(abs(r.lo), abs(r.hi)).bit_length() + 1 + _SPARE
            for part in stages
            for r in map(self.ranges.of, part.vector.nodes())
        ]
        narrow = max(lanes, default=0) <= 16 and max(values, default=0) <= _NARROW
        self.width = _NARROW if narrow else _WIDE
        assert max(values, default=0) <= self.width, "no value is so wide where lanes have 32 bits"

    # -------------------------------------------------------------- what is known of inputs

    def terms(self, stage: int, names: Names | None = None) -> Terms:
        """Terms of a stage on which a question is to be asked; of another copy of a lane in the
        same question, with the names of that."""
        return Terms(self, stage, names or Names())

    def range_of(self, node: Node) -> Interval:
        return self.ranges.of(node)

    def loaded(self, stage: int, node: Node) -> list[Interval]:
        """What a LOAD can give: of a temp, what the stores give that reach its place, and what it
        holds at first."""
        temp = next((t for t in self.kernel.temps if t.name == node.attr[0]), None)
        if temp is None or self._accumulated(temp.name):
            return [self.range_of(node)]
        found = [
            self.range_of(s.value)
            for n in range(stage)
            for s in self.stages[n].vector.stores
            if s.buffer == temp.name and self.meet(stage, node, n, s.index)
        ]
        if temp.init is not None:
            found.append(Interval(temp.init, temp.init))
        return found or [self.range_of(node)]

    def _accumulated(self, temp: str) -> bool:
        """Whether what a temp holds is more than one store's value."""
        stores = (s for part in self.stages for s in part.vector.stores)
        return any(s.buffer == temp and s.combine for s in stores)

    def meet(self, stage: int, load: Node, writer: int, index: tuple[Affine, ...]) -> bool:
        """Whether a load can get what a store of an earlier stage has put."""
        if self.stages[stage].axis or self.stages[writer].axis:
            return True
        into = _box(index, self.stages[writer].vector, [])
        args = [self.range_of(a) for a in load.args]
        out = _box(load.index, self.stages[stage].vector, args)
        return all(a.lo <= b.hi and b.lo <= a.hi for a, b in zip(into, out, strict=True))

    def open_assumptions(self, terms: Terms, stage: int, *roots: Node) -> None:
        """Makes all of what is below the roots known, and all that a stage assumes."""
        terms.opened |= opened(roots, ALL)
        for a in self.stages[stage].vector.nodes():
            if a.op is Op.ASSUME:
                terms.opened |= opened([a], ALL)
                terms.value(a)

    # -------------------------------------------------------------- answers

    def holds(self, known: list[Truth], claim: Any, seconds: float) -> bool:
        """Whether a claim is proven to follow, from what does not contradict itself; with that
        much work (`seconds` above)."""
        claim = z3.simplify(claim)
        if z3.is_true(claim):
            return True
        facts = [k.term for k in known]
        text = _text([*facts, z3.Not(claim)])
        if text in self._proven:
            return self._proven[text]
        if self._given_up.get(text, 0) >= seconds:
            return False
        found = self._asked([*facts, z3.Not(claim)], seconds)
        if found == z3.unknown:
            self._given_up[text] = seconds
            return False
        # From a contradiction everything follows: such facts are an error, or of code never run.
        self._proven[text] = found == z3.unsat and self._asked(facts, seconds) == z3.sat
        return self._proven[text]

    def _asked(self, goal: list[Any], seconds: float) -> Any:
        """Whether there are inputs like that: z3's answer."""
        tactics = (QUICK,) if seconds <= self.short else (QUICK, _THOROUGH)
        found = z3.unknown
        for n, names in enumerate(tactics):
            solver = z3.Then(*names).solver()
            most = self.short if n + 1 < len(tactics) else seconds
            solver.set("rlimit", int(most * A_SECOND))
            solver.add(*goal)
            found = solver.check()
            if found != z3.unknown:
                break
        return found


def _text(goal: list[Any]) -> str:
    """A question as text, with its inputs' declarations: how wide they are is part of it."""
    solver = z3.Solver()
    solver.add(*goal)
    return str(solver.sexpr())


def _box(index: tuple[Affine, ...], stage: Stage, args: list[Interval]) -> Iterator[Interval]:
    """The places that an index can be, axis by axis."""
    known = {axis: Interval(0, n - 1) for axis, n in stage.dims}
    known |= {f"#{n}": r for n, r in enumerate(args)}
    for affine in index:
        ends = [sorted((c * known[x].lo, c * known[x].hi)) for x, c in affine.terms]
        yield Interval(
            affine.const + sum(e[0] for e in ends), affine.const + sum(e[1] for e in ends)
        )


def opened(roots: Iterable[Node], depth: int) -> set[Node]:
    """The nodes at most so far below the roots."""
    found: set[Node] = set()
    level = set(roots)
    for _ in range(depth + 1):
        found |= level
        level = {a for n in level for a in n.args} - found
        if not level:
            break
    return found
