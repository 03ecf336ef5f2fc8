# SPDX-License-Identifier: BSD-2-Clause
"""Large stages: what several stores need comes first, and stores wait for nothing they need not."""

from pathlib import Path

import pytest
from spec_support import HEAD, kernel_of

from daedalus.dsl import vectors
from daedalus.dsl.ir import Kernel
from daedalus.generator.options import options_of
from daedalus.generator.targets.qpu.together import MANY
from daedalus.generator.targets.qpu.virtual import Load, Value
from daedalus.generator.targets.qpu.virtual import Store as StoreWords
from daedalus.generator.verify.qpu_trial import interpreted, selected, trial

PLAIN = options_of("qpu")
POINTS_32 = """
    from daedalus.dsl.kernels.vp9.large import inverse_dct
    d = k.plane("d", u8, rows=(0, 32), cols=(0, 32), access="inout")
    c = k.block("c", i16, (32, 32))
    fits = k.assumption("t16", i16.lo, i16.hi, why="a test")
    rows = k.temp("rows", (32, 32))
    with k.stage(v=32) as v:
        rows[v, :] = inverse_dct(fits, fits)(c[:, v])
    with k.stage(x=32) as x:
        for y, residual in enumerate(inverse_dct(fits, fits)(rows[:, x])):
            d[y, x] = clip_u8(d[y, x] + round_shift(residual, 6))
"""


def _alive(kernel: Kernel) -> int:
    """The most values of a program's loop that are alive at once, as it is written."""
    program = selected(kernel, PLAIN).programs[0]
    assert program.loop is not None
    body, last = program.loop.body, dict[Value, int]()
    for n, i in enumerate(body):
        last |= dict.fromkeys(i.reads(), n)
    born = {v: n for n, i in enumerate(body) for v in i.results() if v in last}
    return max(sum(born[v] <= n < last[v] for v in born) for n in range(len(body)))


def test_a_transform_of_32_points_leaves_registers_to_others(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, HEAD + POINTS_32)
    assert _alive(kernel) <= MANY
    items = vectors.make_items(kernel, 4, 1)
    assert trial(kernel, PLAIN, items, 1, upwards=True, run=interpreted).good


PLANE = '    d = k.plane("d", u8, rows=(0, 48), cols=(0, 32), access="inout")\n'
LANES = "    with k.stage(x=16) as x:\n        for y in range(48):\n            "
COLUMNS = "    with k.stage(y=16) as y:\n        for x in range(32):\n            "


# By the last one a lane meets its own stores on another way through the plane, where x is 15.
@pytest.mark.parametrize("source", ["(y + 1) % 48, x", "47 - y, x", "y, x", "(y + 1) % 48, 30 - x"])
def test_stores_of_a_large_stage_leave_others_what_they_read(tmp_path: Path, source: str) -> None:
    """Whatever places a stage reads of what it writes: it reads what was there before."""
    kernel = kernel_of(tmp_path, f"{HEAD}{PLANE}{LANES}d[y, x] = d[{source}] ^ 85\n")
    items = vectors.make_items(kernel, 20, 1)
    assert trial(kernel, PLAIN, items, 1, upwards=True, run=interpreted).good


def test_a_temp_is_read_as_it_was_before_a_large_stage(tmp_path: Path) -> None:
    temp = '    t = k.temp("t", (48, 16))\n'
    stages = [f"t[y, x] = d[y, x]\n{LANES}t[y, x] = t[(y + 1) % 48, x] ^ 85", "d[y, x] = t[y, x]"]
    text = "".join(f"{LANES}{s}\n" for s in stages)
    kernel = kernel_of(tmp_path, HEAD + PLANE + temp + text)
    items = vectors.make_items(kernel, 20, 1)
    assert trial(kernel, PLAIN, items, 1, upwards=True, run=interpreted).good


@pytest.mark.parametrize(
    "stages",
    [
        [f"{LANES}e[y, x] = d[y, x + 1]", f"{LANES}d[y, x] = 7"],
        [f"{LANES}d[y, x] = 7", f"{COLUMNS}d[y, x] = 9"],
    ],
    ids=["read by one, written by the next", "written by both"],
)
def test_stages_that_meet_wait_for_each_other(tmp_path: Path, stages: list[str]) -> None:
    """Their lookups are in one space, so that no schedule turns them round."""
    other = '    e = k.plane("e", u8, rows=(0, 48), cols=(0, 32), access="out")\n'
    planes = PLANE + (other if "e[y" in stages[0] else "")
    kernel = kernel_of(tmp_path, HEAD + planes + "\n".join(stages) + "\n")
    program = selected(kernel, PLAIN).programs[0]
    assert program.loop is not None
    lookups = [i for i in program.loop.body if isinstance(i, Load | StoreWords)]
    assert {i.space for i in lookups if i.space.split()[0] == "d"} == {"d"}


def test_parts_of_a_large_stage_do_not_wait_for_each_other(tmp_path: Path) -> None:
    lanes = LANES.replace("x=16", "x=32")
    kernel = kernel_of(tmp_path, f"{HEAD}{PLANE}{lanes}d[y, x] = d[y, x] ^ 85\n")
    program = selected(kernel, PLAIN).programs[0]
    assert program.loop is not None
    lookups = [i for i in program.loop.body if isinstance(i, Load | StoreWords)]
    spaces = {i.space for i in lookups if i.space.split()[0] == "d"}
    assert spaces and "d" not in spaces
