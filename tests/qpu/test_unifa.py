# SPDX-License-Identifier: BSD-2-Clause
"""What is the same for all elements, read by unifa: its meaning, its rules, and who may ask."""

import random
import re
from collections.abc import Callable, Sequence

import numpy as np
import pytest

from daedalus.generator.base.errors import UserError
from daedalus.generator.compile.registry import find, load
from daedalus.generator.options import QPU, options_of
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.qpu import depend, loop, machine, slot
from daedalus.generator.targets.qpu.agree import compare
from daedalus.generator.targets.qpu.builder import Builder
from daedalus.generator.targets.qpu.interpret import Memory, interpret
from daedalus.generator.targets.qpu.item import RECORDS
from daedalus.generator.targets.qpu.loop import NoSchedule
from daedalus.generator.targets.qpu.nodes import UNIFA, Node
from daedalus.generator.targets.qpu.random_attempts import compile_somehow
from daedalus.generator.targets.qpu.random_programs import Case, make
from daedalus.generator.targets.qpu.schedule import Scheduler
from daedalus.generator.targets.qpu.text import assembly
from daedalus.generator.targets.qpu.verify import IllegalProgram
from daedalus.generator.targets.qpu.virtual import Load, LoadUnifa, Program, Uniform
from daedalus.generator.targets.qpu.words import check
from daedalus.generator.verify.qpu_trial import selected

_IN, _OUT, _TRIPS = 0x1000, 0x8000, 5


def _case(b: Builder) -> Case:
    rng = np.random.default_rng(3)
    memory = {_IN: rng.integers(0, 256, 1024, dtype=np.uint8), _OUT: np.zeros(1024, np.uint8)}
    words = {"in": _IN, "out": _OUT, "end": _OUT + 64 * _TRIPS}
    uniforms = {Uniform("value", n): w for n, w in words.items()}
    return Case(0, b.program(), Memory(memory), uniforms, 1)


def test_all_elements_get_the_words_at_the_first_ones_address() -> None:
    b = Builder("meaning")
    own = b.op("add", b.uniform("in"), b.op("shl", b.element(), 3))
    for n, x in enumerate(b.load_unifa(own, 3, space="in")):
        at = b.op("add", b.uniform("out"), b.op("shl", b.element(), 2))
        b.store(b.op("add", at, 64 * n), [x], space="out")
    case = _case(b)
    assert "v5, v6, v7 = unifa in[v4]" in str(case.program)
    memory = case.memory.copy()
    interpret(case.program, memory, case.uniforms)
    want = memory.buffers[_IN].view("<u4")[:3]
    assert (memory.buffers[_OUT].view("<u4")[:48].reshape(3, 16) == want[:, None]).all()
    assert compare(case, 2, 200).differing == 0


def test_an_address_between_words_is_none() -> None:
    b = Builder("odd")
    (x,) = b.load_unifa(b.op("add", b.uniform("in"), 2), 1, space="in")
    b.store(b.uniform("out"), [x], space="out")
    case = _case(b)
    with pytest.raises(ValueError, match="0x00001002 is no word's address"):
        interpret(case.program, case.memory, case.uniforms)


def test_what_the_program_stores_is_not_read_so() -> None:
    b = Builder("stale")
    at = b.uniform("in")
    (x,) = b.load_unifa(at, 1, space="in")
    b.store(at, [x], space="in")
    with pytest.raises(IllegalProgram, match=r"v2 = unifa in\[v1\]`: unifa does not see stores"):
        b.program()
    b = Builder("nothing")
    b.load_unifa(b.uniform("in"), 0, space="in")
    with pytest.raises(IllegalProgram, match="it reads no words"):
        b.program()


# ------------------------------------------------------------------ schedules


def _reads_ahead(b: Builder, *, words: int, chains: int) -> None:
    """A trip reads words at places that the one before has found, and stores a sum."""
    with b.before_loop():
        lane = b.op("shl", b.element(), 2)
        first = b.op("add", b.uniform("out"), lane)
    with b.loop(ahead=True) as loop:
        at, place = loop.carried(first), loop.carried(b.uniform("in"))
        total = b.element()
        for n in range(chains):
            for x in b.load_unifa(b.op("add", place, 4 * n), words, space="in"):
                total = b.op("add", total, x)
        b.store(at, [total], space="out")
        after = b.op("add", at, 64)
        loop.next(place, b.op("add", place, 12))
        loop.next(at, after)
        loop.repeat(b.flag("pushc", "sub", after, b.op("add", b.uniform("end"), lane)), "anya")


@pytest.mark.parametrize("threads", [2, 4])
@pytest.mark.parametrize(("words", "chains"), [(1, 1), (5, 1), (2, 3), (8, 2)])
def test_loops_compute_what_they_mean(words: int, chains: int, threads: int) -> None:
    b = Builder("ahead")
    _reads_ahead(b, words=words, chains=chains)
    verdict = compare(_case(b), threads, 400)
    assert verdict.assembly is not None and verdict.differing == 0
    assert verdict.assembly.text.count("ldunifarf") >= words * chains


def _found(seeds: range) -> set[str]:
    """The rules that programs of random attempts break."""
    found = set()
    for seed in seeds:
        program, rng = make(seed, 15).program, random.Random(seed)
        try:
            check(assembly(compile_somehow(program, 2, rng)))
        except NoSchedule:
            continue
        except UserError as e:
            found |= set(re.findall(r"\b[A-Z][A-Z0-9]+_[A-Z0-9_]+\b", e.message))
    return found


def _no_gap(nodes: list[Node]) -> None:
    before: Node | None = None
    for node in nodes:
        if depend.is_unifa(node):
            if before is not None:
                node.after(before, 1)
            before = node


def _in_switch(before: Callable[[Scheduler, Node], bool]) -> Callable[[Scheduler, Node], bool]:
    return lambda self, node: node.write != UNIFA and before(self, node)


def _ends_at_once(self: Scheduler) -> bool:
    last = self._switch + machine.THRSW_SLOTS
    return self._cycle <= last if self._end is None else self._cycle < self._end


def _for_switches_alone(slots: Sequence[slot.Slot], at: int, k: int) -> int:
    switches = k < at and any(n.kind == "thrsw" for n in slots[k].nodes())
    return max(machine.THRSW_SLOTS + 1 - (at - k), 0) if switches else 0


@pytest.mark.parametrize(
    ("where", "name", "other", "rules"),
    [
        (depend, "_unifa", _no_gap, {"UNIFA_TOO_EARLY"}),
        (Scheduler, "_in_switch", _in_switch(Scheduler._in_switch), {"UNIFA_SWITCH"}),
        # A write in a branch's slots comes too early for the next trip's first load, too.
        (Scheduler, "_may_point", lambda *_: True,
         {"UNIFA_BRANCH", "UNIFA_IN_BRANCH", "UNIFA_TOO_EARLY"}),
        (Scheduler, "_must_go_on", _ends_at_once, {"UNIFA_TOO_EARLY"}),
        (loop, "_missing", _for_switches_alone, {"UNIFA_BRANCH"}),
        (slot, "_streams", lambda node: node.uniform is not None, {"UNIFORM_TWICE"}),
    ],
    ids=["gap", "switch", "branch", "entry", "append", "stream"],
)  # fmt: skip
def test_each_rule_is_kept_by_what_keeps_it(
    where: object, name: str, other: object, rules: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Schedulers without it break that rule, and no other; the scheduler itself breaks none."""
    seeds = range(60)
    monkeypatch.setattr(where, name, other)
    assert _found(seeds) == rules
    monkeypatch.undo()
    assert _found(seeds) == set()


def test_nothing_stands_beside_it() -> None:
    """As the instruction set's description has it."""
    alone = [names for names in machine.description().signals if "ldunifarf" in names]
    assert alone == [frozenset({"ldunifarf"})]


# ------------------------------------------------------------------ records


def _reads(program: Program) -> list[object]:
    assert program.loop is not None
    blocks = (*program.entry, *program.loop.body)
    return [i for i in blocks if isinstance(i, Load | LoadUnifa) and i.space == RECORDS]


@pytest.mark.parametrize("variant", [("sand128_nv12", 16), ("sand128_p010", 4)])
def test_a_record_is_no_lookup(variant: tuple[str, int]) -> None:
    """Neither where it is needed nor, a trip before, in the entry and the loop."""
    entry = find(load(), variant[0])
    assert entry is not None
    s = selected(entry.kernel, options_of(QPU, points=variant[1], word=True, record_once=True))
    for program, times in zip(s.programs, (1, 2), strict=True):
        found = _reads(program)
        assert len(found) == times and all(isinstance(i, LoadUnifa) for i in found)


def test_an_element_of_an_array_stays_a_lookup() -> None:
    """Which element may differ from lane to lane."""
    entry = find(load(), "h264_deblock_luma_v")
    assert entry is not None
    s = selected(entry.kernel, options_of(QPU, record_once=True))
    assert [type(i) for i in _reads(s.programs[0])] == [LoadUnifa, Load]


def test_several_items_a_trip_have_several_records() -> None:
    entry = find(load(), "sand128_p010")
    assert entry is not None
    with pytest.raises(NotLowerable) as caught:
        selected(entry.kernel, options_of(QPU, points=8, record_once=True))
    error = caught.value
    assert error.message == "unifa reads one record for all elements, and a trip has 2 items"
    assert error.hint is not None and error.hint.startswith("give each element fewer points")
    assert (error.loc, error.kernel) == (entry.kernel.loc, "sand128_p010")
    assert f"sand128.py:{entry.kernel.loc.line}: " in str(error)
