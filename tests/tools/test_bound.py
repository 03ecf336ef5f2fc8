# SPDX-License-Identifier: BSD-2-Clause
"""What stands between modelled cycles and the port bound, on lines of which it is known."""

import pytest

from daedalus.generator.measure.neon import llvm
from daedalus.generator.measure.neon.bound import NEAR, Gap, gap
from daedalus.generator.measure.neon.figures import Figures, figures
from daedalus.generator.measure.neon.llvm import Waits
from daedalus.generator.measure.trace import Call


@pytest.fixture(scope="module")
def tools() -> llvm.Llvm:
    return llvm.find()


def _gap(tools: llvm.Llvm, words: list[int]) -> Gap:
    calls = (Call(tuple(range(len(words))), tuple(words)),)
    return gap(tools, calls, figures(tools, calls))


def _add(to: int, left: int, right: int) -> int:
    """add vTO.8h, vLEFT.8h, vRIGHT.8h"""
    return 0x4E608400 | right << 16 | left << 5 | to


def _integer(to: int) -> int:
    """add xTO, xTO, #1"""
    return 0x91000400 | to << 5 | to


CHAIN = [_add(0, 0, 1)] * 50
BUSY = [_add(n % 8 + 8, 0, 1) for n in range(48)]  # two ports, nothing waits
# Each cycle's worth of the two vector ports beside as much of the three integer ones.
MIXED = [word for n in range(12) for word in (*BUSY[:2], *(_integer(9 + k) for k in range(3)))]


def test_parts_add_up_to_the_cycles(tools: llvm.Llvm) -> None:
    for words in (CHAIN, BUSY, MIXED):
        g = _gap(tools, words)
        parts = g.three + g.four + g.uneven + g.rest
        assert g.figures.port_bound + parts == pytest.approx(g.figures.d3, abs=1e-6)
        assert min(g.three, g.four, g.uneven, g.rest) > -0.5  # more room never takes longer


def test_a_chain_waits_for_results(tools: llvm.Llvm) -> None:
    g = _gap(tools, CHAIN)
    assert g.ratio == pytest.approx(4, rel=0.05)  # two cycles each, and two ports
    assert g.words.startswith("results waited for 7")
    assert g.freed.dependencies > g.freed.ports


def test_busy_ports_are_said_to_be(tools: llvm.Llvm) -> None:
    g = _gap(tools, BUSY)
    assert g.ratio < 1 + NEAR
    assert g.words == "nothing: the ports are busy"


def test_dispatch_is_told_from_the_rest(tools: llvm.Llvm) -> None:
    g = _gap(tools, MIXED)  # 60 micro-operations: 20 cycles of three, 15 of four, 12 for ports
    assert g.floor == pytest.approx(20)
    assert g.three == pytest.approx(5, abs=0.2)
    assert g.four == pytest.approx(3, abs=0.4)
    assert g.words.startswith("dispatch of three 5.0; dispatch of four ")


def test_what_is_left_is_named_after_the_larger_share() -> None:
    some = Figures(100, 60.0, 60.0, 70, 50.0, {"V0": 50.0}, 0, 0)
    none, ports = Waits(100, 0, 0, 0, 0), Waits(100, 0, 0, 0.1, 0.2)
    found = Gap(
        some, three=0.0, four=0.0, uneven=1.0, rest=9.0, floor=33.3, waits=none, freed=ports
    )
    assert found.words == "ports wanted at the same time 9.0"  # 1 of 50 is not worth a word
