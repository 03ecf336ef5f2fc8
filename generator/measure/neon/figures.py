# SPDX-License-Identifier: BSD-2-Clause
"""Figures of a trace: instructions, modelled cycles, ports, spills."""

from dataclasses import dataclass

from daedalus.generator.measure.neon.corrections import corrected
from daedalus.generator.measure.neon.llvm import Llvm
from daedalus.generator.measure.neon.text import Line, stack
from daedalus.generator.measure.trace import Call

_TIMES = 100


@dataclass(frozen=True)
class Figures:
    """What a piece of work takes, returns included; cycles are modelled."""

    executed: int
    d3: float  # cycles, repeated, three micro-operations dispatched a cycle
    d4: float  # four
    latency: int  # cycles from start to end of a single one; dispatch as d3
    port_bound: float  # cycles that the busiest ports need
    pressure: dict[str, float]  # cycles, by port
    saved: int  # of d8 to d15, put on the stack and back
    spilled: int  # other vector registers stored to the stack

    @property
    def busiest(self) -> str:
        """The busiest port, and for how many cycles."""
        port = max(self.pressure, key=lambda p: self.pressure[p])
        return f"{port} {self.pressure[port]:.0f}"


@dataclass(frozen=True)
class Quick:
    """The figures that show a change, at a quarter of the time; as those of `Figures`."""

    executed: int
    d3: float
    spilled: int


def quick(llvm: Llvm, calls: tuple[Call, ...]) -> Quick:
    """Models a piece of work; d3 is that of `figures`."""
    texts = [llvm.disassemble(call.words) for call in calls]
    lines = _lines(texts)
    return Quick(
        executed=sum(len(call.words) for call in calls),
        d3=llvm.cycles(lines, dispatch=3, times=_TIMES).a_time,
        spilled=sum(stack([Line(line) for line in text]).spilled for text in texts),
    )


def lines_of(llvm: Llvm, calls: tuple[Call, ...]) -> list[str]:
    """The lines that are modelled."""
    return _lines([llvm.disassemble(call.words) for call in calls])


def _lines(texts: list[list[str]]) -> list[str]:
    return [line for text in texts for line in corrected(text)]


def figures(llvm: Llvm, calls: tuple[Call, ...]) -> Figures:
    """Models a piece of work, which may be several calls."""
    texts = [llvm.disassemble(call.words) for call in calls]
    lines = _lines(texts)
    d3 = llvm.cycles(lines, dispatch=3, times=_TIMES)
    on_stack = [stack([Line(line) for line in text]) for text in texts]
    return Figures(
        executed=sum(len(call.words) for call in calls),
        d3=d3.a_time,
        d4=llvm.cycles(lines, dispatch=4, times=_TIMES).a_time,
        latency=round(llvm.cycles(lines, dispatch=3, times=1).a_time),
        port_bound=llvm.port_bound(lines),
        pressure=d3.pressure,
        saved=sum(s.saved for s in on_stack),
        spilled=sum(s.spilled for s in on_stack),
    )
