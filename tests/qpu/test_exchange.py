# SPDX-License-Identifier: BSD-2-Clause
"""Values that move between elements: what plans make, evaluated and as instructions, is what was
asked for, of index maps of many kinds; and transposes cost what they should."""

import random
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from daedalus.dsl.ir import Stage
from daedalus.generator.compile.registry import find, load
from daedalus.generator.options import options_of
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.qpu import moves
from daedalus.generator.targets.qpu.agree import compare
from daedalus.generator.targets.qpu.conditions import Flags
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.exchange import (
    Chosen,
    Moved,
    Place,
    Places,
    Plan,
    Source,
    nodes,
    operations,
    plan,
)
from daedalus.generator.targets.qpu.interpret import Memory, interpret
from daedalus.generator.targets.qpu.lanes import Mapping, coordinates, point
from daedalus.generator.targets.qpu.lines import shared
from daedalus.generator.targets.qpu.machine import LANES
from daedalus.generator.targets.qpu.random_programs import Case
from daedalus.generator.targets.qpu.virtual import Uniform
from daedalus.generator.verify.qpu_trial import selected

_IN, _OUT = 0x1000, 0x8000


def _any(rng: random.Random, lanes: int) -> list[Places]:
    """Any values from anywhere, some of them of no matter."""
    sources = rng.randint(1, 5)

    def place() -> Place | None:
        here = (rng.randrange(sources), rng.randrange(lanes))
        return here if rng.random() < 0.9 else None

    return [tuple(place() for _ in range(lanes)) for _ in range(rng.randint(1, 5))]


def _bits(rng: random.Random, lanes: int) -> list[Places]:
    """The bits of register and lane in another order, some inverted."""
    lane_bits = lanes.bit_length() - 1
    all_bits = lane_bits + rng.randint(0, 3)
    order, flip = rng.sample(range(all_bits), all_bits), rng.randrange(1 << all_bits)

    def source(to: int) -> Place:
        at = sum((to >> order[n] & 1) << n for n in range(all_bits)) ^ flip
        return at >> lane_bits, at % lanes

    registers = 1 << (all_bits - lane_bits)
    return [tuple(source(r * lanes + lane) for lane in range(lanes)) for r in range(registers)]


def _affine(rng: random.Random, lanes: int) -> list[Places]:
    """Rows that are stored by lane, read at sums of lane and register: windows, broadcasts."""
    by_lane, by_register, shift = (rng.randint(0, 3) for _ in range(3))
    return [
        tuple(
            divmod((by_lane * lane + by_register * r + shift) % (4 * lanes), lanes)
            for lane in range(lanes)
        )
        for r in range(rng.randint(1, 6))
    ]


KINDS = (_any, _bits, _affine)


def _cases(kind: int, count: int, seed: int) -> list[list[Places]]:
    rng = random.Random(f"{kind} {seed}")
    return [KINDS[kind](rng, rng.choice((1, 2, 4, 8, 16))) for _ in range(count)]


def _value(p: Plan, lane: int) -> Place | None:
    match p:
        case Source():
            return p.number, lane
        case Moved():
            source = p.lanes[lane]
            return None if source is None else _value(p.of, source)
        case Chosen():
            where = p.where[lane]
            return None if where is None else _value(p.yes if where else p.no, lane)


def _same(wanted: Sequence[Places], plans: Sequence[Plan]) -> bool:
    return all(
        w is None or _value(p, lane) == w
        for places, p in zip(wanted, plans, strict=True)
        for lane, w in enumerate(places)
    )


@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_plans_make_what_is_wanted(kind: int) -> None:
    for wanted in _cases(kind, 300, 1):
        assert _same(wanted, plan(wanted)), wanted


def _program(wanted: Sequence[Places]) -> Case:
    """Reads registers, moves them, and stores what was wanted."""
    e = Emitter("exchange")
    base, out = e.uniform("in"), e.uniform("out")
    own = e.op("shl", e.element(), 2)
    count = max((p[0] for w in wanted for p in w if p is not None), default=0) + 1
    sources = {
        n: e.b.load(e.op("add", e.op("add", base, own), e.value(64 * n)), space="in")[0]
        for n in range(count)
    }
    made = moves.emit(plan(wanted), sources, e, Flags(e))
    for n, value in enumerate(made):
        e.b.store(e.op("add", e.op("add", out, own), e.value(64 * n)), [value], space="out")
    data = np.arange(1, 16 * count + 1, dtype="<u4").view(np.uint8).copy()
    memory = Memory({_IN: data, _OUT: np.zeros(64 * len(wanted), np.uint8)})
    uniforms = {Uniform("value", "in"): _IN, Uniform("value", "out"): _OUT}
    return Case(0, e.program(), memory, uniforms, 1)


def _left(wanted: Sequence[Places]) -> bool:
    """Whether the program leaves what is wanted, in every group."""
    case = _program(wanted)
    memory = case.memory.copy()
    interpret(case.program, memory, case.uniforms)
    found = memory.buffers[_OUT].view("<u4").reshape(-1, LANES)
    return all(
        w is None or found[n, first + lane] == 16 * w[0] + first + w[1] + 1
        for n, places in enumerate(wanted)
        for lane, w in enumerate(places)
        for first in range(0, LANES, len(places))
    )


@pytest.mark.parametrize("kind", range(len(KINDS)))
def test_instructions_do_what_plans_say(kind: int) -> None:
    """On the interpreter; some of them scheduled, on the simulator, strictly."""
    for n, wanted in enumerate(_cases(kind, 60, 2)):
        assert _left(wanted), wanted
        if n < 8:
            verdict = compare(_program(wanted), 2)
            assert verdict.assembly is not None and verdict.differing == 0, wanted


def test_another_exchange_is_noticed() -> None:
    """The comparisons above can fail: of a transpose with two lanes swapped they do."""
    wanted = [tuple((lane, r) for lane in range(4)) for r in range(4)]
    other = [(w[1], w[0], *w[2:]) for w in wanted]
    assert _same(wanted, plan(wanted)) and not _same(wanted, plan(other))


@pytest.mark.parametrize("lanes", [2, 4, 8, 16])
def test_a_transpose_is_two_operations_a_register_and_bit(lanes: int) -> None:
    """One of them a shuffle, by a rotation each."""
    wanted = [tuple((lane, r) for lane in range(lanes)) for r in range(lanes)]
    plans, bits = plan(wanted), lanes.bit_length() - 1
    assert operations(plans) == 2 * lanes * bits
    assert sum(isinstance(p, Moved) for p in set(nodes(plans))) == lanes * bits
    text = str(_program(wanted).program)
    assert text.count("rot ") == lanes * bits and "shuffle" not in text


def test_what_all_lanes_want_is_one_shuffle() -> None:
    assert operations(plan([((2, 3),) * 8])) == 1
    assert operations(plan([tuple((0, lane) for lane in range(8))])) == 0


@pytest.mark.parametrize(
    "dims", [(("x", 8),), (("y", 2), ("x", 4)), (("x", 3),), (("y", 2), ("x", 3)), (("x", 1),),
             (("y", 3), ("x", 5)), (("z", 2), ("y", 1), ("x", 8))],
)  # fmt: skip
def test_points_are_what_coordinates_make(dims: tuple[tuple[str, int], ...]) -> None:
    """Also of elements that a stage has no point for."""
    entry = find(load(), "h264_idct4")
    assert entry is not None
    stage = Stage(dims, (), entry.kernel.loc)
    for elements in (1 << n for n in range(5) if 1 << n >= stage.lanes):
        e = Emitter("points")
        lane = e.op("and", e.element(), elements - 1)
        made = coordinates(stage, Mapping(elements), lane, e)
        out = e.op("add", e.uniform("out"), e.op("shl", e.element(), 2))
        axes = list(made)
        for n, axis in enumerate(axes):
            e.b.store(e.op("add", out, e.value(64 * n)), [made[axis]], space="out")
        memory = Memory({_OUT: np.zeros(64 * max(len(axes), 1), np.uint8)})
        interpret(e.program(), memory, {Uniform("value", "out"): _OUT})
        found = memory.buffers[_OUT].view("<u4").reshape(-1, LANES)
        for k in range(LANES):
            there = point(stage, k % elements)
            assert [there[a] for a in axes] == list(found[: len(axes), k]), (dims, elements, k)


def test_temps_at_places_of_run_time_are_refused() -> None:
    """CDEF's tile: with the line that reads it, and what to leave out."""
    entry = find(load(), "av1_cdef8")
    assert entry is not None
    with pytest.raises(NotLowerable) as refused:
        selected(entry.kernel, options_of("qpu", points=4, shuffle=True))
    text = str(refused.value)
    assert "is read at places that are known at run time, and in registers" in text
    assert "leave out shuffle" in text
    spec = Path(entry.kernel.loc.file).read_text().splitlines()
    (tile,) = entry.kernel.temps
    assert f"the temp {tile.name} " in text
    assert f"{tile.name}[" in spec[refused.value.loc.line - 1]


@pytest.mark.parametrize(("name", "points", "group", "vector"), [
    ("vp9_idct8", 8, 2, 4), ("vp9_idct8", 4, 2, 4), ("vp9_idct8", 2, 4, 4), ("h264_idct4", 4, 2, 4),
])  # fmt: skip
def test_blocks_are_read_side_by_side(name: str, points: int, group: int, vector: int) -> None:
    """The elements of a group read whole runs of memory, each item's words once."""
    entry = find(load(), name)
    assert entry is not None
    kernel = lower(entry.kernel, options_of("qpu", points=points, word=True, joint_reads=True))
    b = kernel.buffer("coeffs")
    assert b.dtype is not None
    elements = max(s.lanes for s in kernel.stages)
    found = shared(kernel, kernel.stages[0], b, elements)
    assert found is not None and (found.group, found.vector) == (group, vector)
    places = [p for own in found.wanted.values() for p in own]
    assert len(set(places)) == len(places) == b.size * b.dtype.bytes // 4 * found.items


@pytest.mark.parametrize(("name", "points"), [("vp9_idct8", 1), ("h264_deblock_luma_v", 8)])
def test_other_blocks_are_not(name: str, points: int) -> None:
    """Elements alone, and kernels without blocks."""
    entry = find(load(), name)
    assert entry is not None
    kernel = lower(entry.kernel, options_of("qpu", points=points, word=True))
    elements = max(s.lanes for s in kernel.stages)
    assert not any(shared(kernel, s, b, elements) for s in kernel.stages for b in kernel.buffers)
