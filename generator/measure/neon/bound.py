# SPDX-License-Identifier: BSD-2-Clause
"""What stands between modelled cycles and what the ports need, by modelling with less in the way.

From d3 on dispatch is widened, to four micro-operations a cycle and to any number; what is left
above the ports is told by the port that got more than its share, and by what llvm-mca itself says
of waiting.
"""

from dataclasses import dataclass

from daedalus.generator.measure.neon.figures import Figures, lines_of
from daedalus.generator.measure.neon.llvm import Llvm, Waits
from daedalus.generator.measure.trace import Call

_TIMES = 100
_DISPATCH = 3
NEAR = 0.03  # of the bound: what is less is not worth a word


@dataclass(frozen=True)
class Gap:
    """The parts of d3 above the port bound; their sum, with the bound, is d3. In cycles.

    three   that dispatch of three, not four, micro-operations a cycle costs
    four    that dispatch of four, not any number, costs
    uneven  that operations which may go to several ports go to one that has more to do
    rest    what is left with dispatch free: waiting for results, and ports in turns
    floor   not a part: cycles that dispatch needs at least, micro-operations by three
    waits   what llvm-mca says of d3
    freed   and of what is left with dispatch free, where the window is always full
    """

    figures: Figures
    three: float
    four: float
    uneven: float
    rest: float
    floor: float
    waits: Waits
    freed: Waits

    @property
    def ratio(self) -> float:
        """d3, of the bound."""
        return self.figures.d3 / self.figures.port_bound

    @property
    def words(self) -> str:
        """The parts that matter, the largest first."""
        results = self.freed.dependencies >= self.freed.ports
        left = "results waited for" if results else "ports wanted at the same time"
        parts = [
            (self.three, "dispatch of three"),
            (self.four, "dispatch of four"),
            (self.uneven, "uneven ports"),
            (self.rest, left),
        ]
        told = [
            f"{text} {cycles:.1f}"
            for cycles, text in sorted(parts, key=lambda p: -p[0])
            if cycles > NEAR * self.figures.port_bound
        ]
        return "; ".join(told) or "nothing: the ports are busy"


def gap(llvm: Llvm, calls: tuple[Call, ...], figures: Figures) -> Gap:
    """What stands between the figures of a piece of work and its port bound."""
    lines = lines_of(llvm, calls)
    free = llvm.free(lines, times=_TIMES)
    busiest = min(max(free.pressure.values()), free.a_time)
    uneven = max(0.0, busiest - figures.port_bound)
    waits = llvm.waits(lines, dispatch=_DISPATCH, times=_TIMES)
    return Gap(
        figures,
        three=figures.d3 - figures.d4,
        four=figures.d4 - free.a_time,
        uneven=uneven,
        rest=free.a_time - figures.port_bound - uneven,
        floor=waits.micro_ops / _DISPATCH,
        waits=waits,
        freed=llvm.waits(lines, times=_TIMES),
    )
