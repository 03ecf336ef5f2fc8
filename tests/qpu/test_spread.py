# SPDX-License-Identifier: BSD-2-Clause
"""Accumulation, first values and domains of any size on the QPU, beside the interpreter."""

from itertools import product
from pathlib import Path

import pytest
from lane_specs import BODIES, SIZES, lanes_kernel, sized_kernel

from daedalus.dsl.ir import Kernel
from daedalus.generator.options import options_of
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.targets.qpu.best import WAYS
from daedalus.generator.verify.fuzz.programs import Program
from daedalus.generator.verify.fuzz.qpu import Form, Qpu, QpuTally

SCHEDULER = {"no schedule of its loop does with n registers"}  # what selection has no part in
ORDER = tuple(product((0, 1), WAYS))


def ran(kernel: Kernel, *ways: dict[str, object]) -> QpuTally:
    """A kernel by variants with these choices, each compared."""
    total = QpuTally()
    for n, way in enumerate(ways):
        form = Form(options_of("qpu", **way), 1 + n % 3, False, True, n, ORDER)
        total.add(Qpu().run([Program(1, n, kernel, (), (form,))], 48))
    return total


@pytest.mark.parametrize("name", BODIES)
def test_lanes_merge_look_up_and_store_by_themselves(name: str, tmp_path: Path) -> None:
    kernel = lanes_kernel(tmp_path, BODIES[name], f"by_{name}")
    tally = ran(kernel, {"points": 1}, {"points": 4, "word": True}, {"points": 16})
    assert [f.text for f in tally.failures] == []
    assert tally.ran >= 2 and set(tally.forms_refused) <= SCHEDULER
    assert tally.without_conformant == 0


@pytest.mark.parametrize("name", SIZES)
def test_domains_of_any_size(name: str, tmp_path: Path) -> None:
    kernel = sized_kernel(tmp_path, name)
    ways = [{"points": 1}, {"points": 4, "word": True}]
    if "large" in name:  # what one element does of them is long
        ways = [{"points": 8}]
    tally = ran(kernel, *ways)
    assert [f.text for f in tally.failures] == []
    assert tally.ran == len(ways) and not tally.forms_refused
    assert all(s.lanes <= 16 for w in ways for s in lower(kernel, options_of("qpu", **w)).stages)


def test_what_is_accumulated_once_needs_no_stage_in_front(tmp_path: Path) -> None:
    kernel = sized_kernel(tmp_path, "large_sum")
    lowered = lower(kernel, options_of("qpu", points=16))
    assert not any(s.combine for stage in lowered.stages for s in stage.stores)
    assert all(t.init is None for t in lowered.temps)
    first = lowered.stages[0].stores
    assert [s.buffer for s in first] == ["s_part"]
