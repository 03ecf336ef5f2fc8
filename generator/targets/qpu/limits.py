# SPDX-License-Identifier: BSD-2-Clause
"""Places that values decide, kept where the kernel may read, whatever an item holds.

Rules are chosen by what conformant items reach. What others make of a value can therefore be
anything: an element outside its declared range, a temp that holds more than its type, a parameter
of another class where a caller asks for a class's variant by name. A place made of such a value is
limited where it is used.
"""

from dataclasses import replace

from daedalus.dsl.errors import VerifyError
from daedalus.dsl.ir import Kernel, Node, Op, walk
from daedalus.dsl.ranges import Interval, place_ranges
from daedalus.dsl.verify import check_places
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.rules import INT, UINT, Case, rule
from daedalus.generator.targets.qpu.values import Values

# What is made of them is right modulo 2**32 wherever the operands are, by dot products too; of an
# ASSUME it is its operand.
_PLAIN = (Op.ADD, Op.SUB, Op.SELECT, Op.ASSUME)


class PlaceLimits:
    """The places of a kernel. Raises NotLowerable where they may lie outside of a buffer: forms
    that pairs are made of have wider ranges.

    ranges   what conformant items reach: rules are chosen by it
    hostile  what any item reaches with parameters in their declared ranges, whatever its class
    """

    def __init__(self, kernel: Kernel) -> None:
        try:
            check_places(kernel, kernel.id)
        except VerifyError as e:
            raise NotLowerable("qpu", e.message, e.loc, kernel.id) from e
        self._kernel = kernel
        self._own = place_ranges(kernel)
        assert self._own.conformant is not None
        self.ranges = self._own.conformant
        self.hostile = self._own
        if any(p.declared for p in kernel.params):
            any_class = tuple(p.any_class for p in kernel.params)
            self.hostile = place_ranges(replace(kernel, params=any_class))
        self._sure: dict[Node, bool] = {}

    def deciding(self) -> set[Node]:
        """The values that places, and which points of a stage are done, are made of."""
        roots = [limit for s in self._kernel.stages for _, limit in s.limits]
        for n in (n for s in self._kernel.stages for n in s.nodes()):
            if n.op in (Op.LOAD, Op.TABLE):
                roots += n.args
            elif n.op is Op.DOT:
                roots.append(n.args[0])
        return set(walk(roots))

    def args(self, load: Node, values: Values) -> list[Argument]:
        """The values that decide where a LOAD reads."""
        return [self.within(a, self._own.of(a), values) for a in load.args]

    def within(self, x: Node, limits: Interval, values: Values) -> Argument:
        """A value kept inside of what is allowed."""
        if x.op is Op.CONST:
            return min(max(x.value, limits.lo), limits.hi)
        value, e = values.argument(x), values.e
        r = self.hostile.of(x) if self._right(x) else Interval(*INT)
        if r.lo < limits.lo:
            value = e.op("max", value, limits.lo)
        if r.hi > limits.hi:
            value = e.op("umin" if limits.lo == 0 else "min", value, limits.hi)
        return value

    def _right(self, n: Node) -> bool:
        """Whether a value as it is computed here, modulo 2**32, is one of its hostile range."""
        if n not in self._sure:
            self._sure[n] = self._is_right(n)
        return self._sure[n]

    def _is_right(self, n: Node) -> bool:
        r = self.hostile.of(n)
        if r.lo <= INT[0] and r.hi >= INT[1]:
            return True
        if not (r.within(*INT) or r.within(*UINT)):
            return False
        match n.op:
            case Op.CONST | Op.LANE | Op.PARAM:
                return True
            case Op.LOAD:
                return self._kernel.buffer(n.attr[0]).kind != "temp"
            case Op.DOT:
                return False
        if not all(self._right(a) for a in n.args if not a.is_bool):
            return False
        return n.op in (*_PLAIN, Op.TABLE) or self._same_rule(n)

    def _same_rule(self, n: Node) -> bool:
        """Whether what conformant items have chosen does the same for all."""
        last = n.args[-1]
        const = last.value if len(n.args) > 1 and last.op is Op.CONST else None
        cases = [
            Case(r.of(n.args[0]), r.of(last), n.attr, const, kept=True)
            for r in (self.ranges, self.hostile)
        ]
        conformant, hostile = (rule(n.op, c) for c in cases)
        if conformant is None or conformant is not hostile:
            return False
        return bool(conformant.makes(cases[0]) == conformant.makes(cases[1]))
