# SPDX-License-Identifier: BSD-2-Clause
"""How a stage reaches memory, of kernels small enough to say it by hand."""

from daedalus.dsl.ir import Kernel, Op
from daedalus.dsl.lang import KernelBuilder, kernel, u8
from daedalus.dsl.ranges import place_ranges
from daedalus.generator.targets.gpu.plan import StagePlan
from daedalus.generator.targets.qpu.plan import QpuPlan


@kernel(clause="none: a test")
def test_planned(k: KernelBuilder) -> None:
    """Stores the sums of two bytes, and in two of four places where a parameter says so."""
    src = k.plane("src", u8, rows=(0, 1), cols=(0, 24), access="in")
    dst = k.plane("dst", u8, rows=(0, 1), cols=(0, 16), access="out")
    a, b = k.param("a", u8, 0, 20), k.param("b", u8, 0, 20)
    with k.stage(x=4) as x:
        for n in range(4):
            value = (src[0, 4 * x + n] + src[0, 4 * x + n + 3]) >> 1
            if n < 2:
                dst[0, 4 * x + n] = value
            else:
                with k.when((a if n == 2 else b) > 3):
                    dst[0, 4 * x + n] = value


def _made() -> Kernel:
    return test_planned.kernels()[0]


def test_loads_take_fields_of_words_and_of_windows() -> None:
    """In aligned words every byte lies where it lies in memory; a window begins with the first
    byte that is wanted, and is as long as what is wanted."""
    made = _made()
    loads = [n for n in made.stages[0].nodes() if n.op is Op.LOAD]
    for shifted in (False, True):
        plan = StagePlan(made, made.stages[0], words=True, shifted=shifted)
        found = [plan.field(n) for n in loads]
        assert sorted({f.byte for f in found}) == [0, 1, 2, 3, 4, 5, 6]
        assert all(f.in_words and f.bit == 8 * (f.byte % 4) for f in found)
        runs = {(f.run.begin, f.run.size, f.run.window) for f in found}
        assert runs == ({(0, 7, True)} if shifted else {(0, 4, False), (4, 4, False)})


def test_elements_alone_where_memory_has_any_alignment() -> None:
    made = _made()
    plan = StagePlan(made, made.stages[0], words=False, shifted=False)
    assert all(u.size == 1 for u in plan.units)
    assert all(plan.field(n).whole for n in made.stages[0].nodes() if n.op is Op.LOAD)


def test_units_of_several_conditions() -> None:
    """GLSL asks for all of them; the QPU wants one that implies the others, or has elements."""
    made = _made()
    (unit,) = StagePlan(made, made.stages[0], words=True, shifted=False).units
    assert (unit.size, len(unit.masks), unit.alike) == (4, 2, False)
    ranges = place_ranges(made)
    plan = QpuPlan(made, made.stages[0], ranges, words=True, shifted=False, single=False)
    assert [u.size for u in plan.units] == [1] * 4
