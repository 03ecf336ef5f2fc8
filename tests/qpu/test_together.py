# SPDX-License-Identifier: BSD-2-Clause
"""Large stages: what several stores need comes first, and stores wait for nothing they need not."""

from pathlib import Path

import pytest
from orders import reordered
from spec_support import HEAD, kernel_of

from daedalus.dsl import vectors
from daedalus.dsl.ir import Kernel
from daedalus.generator.options import Options, options_of
from daedalus.generator.targets.qpu.together import MANY
from daedalus.generator.targets.qpu.virtual import Value
from daedalus.generator.verify.qpu_trial import selected, trial

PLAIN, WORDS = options_of("qpu"), options_of("qpu", word=True)
ALONE = options_of("qpu", points=1, word=True)
ITEMS = 4
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


def _check(kernel: Kernel, options: Options = PLAIN) -> None:
    """That a variant does what the spec says, in whatever order it is executed."""
    items = vectors.make_items(kernel, ITEMS, 1)
    outcome = trial(kernel, options, items, 1, upwards=True, run=reordered)
    assert outcome.good, outcome.first


def test_a_transform_of_32_points_leaves_registers_to_others(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, HEAD + POINTS_32)
    assert _alive(kernel) <= MANY
    _check(kernel)


def _plane(name: str = "d", access: str = "inout", *, dtype: str = "u8", more: str = "") -> str:
    of = f"rows=(0, 96), cols=(0, 32), access={access!r}{more}"
    return f"    {name} = k.plane({name!r}, {dtype}, {of})\n"


def _stage(*does: str, lanes: str = "x=16", loop: str = "y in range(48)") -> str:
    """With 48 stores of bytes it is a large one."""
    lines = [f"with k.stage({lanes}) as {lanes[0]}:", f"    for {loop}:"]
    return "".join(f"    {line}\n" for line in (*lines, *(f"        {line}" for line in does)))


D, E = _plane(), _plane("e", "out")


# By the last one a lane meets its own stores on another way through the plane, where x is 15.
@pytest.mark.parametrize("source", ["(y + 1) % 48, x", "47 - y, x", "y, x", "(y + 1) % 48, 30 - x"])
def test_stores_of_a_large_stage_leave_others_what_they_read(tmp_path: Path, source: str) -> None:
    """Whatever places a stage reads of what it writes: it reads what was there before."""
    _check(kernel_of(tmp_path, HEAD + D + _stage(f"d[y, x] = d[{source}] ^ 85")))


@pytest.mark.parametrize("more", ["", ", owns='all'"], ids=["stores bytes", "writes words back"])
def test_a_large_stage_reads_words_as_they_were(tmp_path: Path, more: str) -> None:
    does = "d[y, 4 * x + 1] = d[(y + 1) % 48, 4 * x + 1] ^ d[47 - y, 4 * x + 2]"
    _check(kernel_of(tmp_path, HEAD + _plane(more=more) + _stage(does, lanes="x=8")), WORDS)


def test_a_temp_is_read_as_it_was_before_a_large_stage(tmp_path: Path) -> None:
    """What is stored beside it makes the stage a large one."""
    text = D + E + '    t = k.temp("t", (48, 16))\n'
    text += _stage("t[y, x] = d[y, x]")
    text += _stage("t[y, x] = t[(y + 1) % 48, x] ^ 85", "e[y, x] = 7")
    _check(kernel_of(tmp_path, HEAD + text + _stage("d[y, x] = t[y, x]")))


P = '    p = k.param("p", u8, 48, 95)\n'
OWNED, HALVES = (_plane(dtype=t, more=", owns='all'") for t in ("u8", "u16"))
SEVEN, LOWER = _stage("d[y, x] = 7"), _stage("d[y, x] = 7", loop="y in range(48, 96)")
BETWEEN = _stage("d[y, x] = 9", loop="y in range(47, 49)")
MEETING = {
    "read, then written": (PLAIN, D + E + _stage("e[y, x] = d[y, x + 1]") + SEVEN),
    "read at a place of run time": (PLAIN, D + E + P + _stage("e[y, x] = d[p, x]") + LOWER),
    "columns": (PLAIN, D + SEVEN + _stage("d[y, x] = 9", lanes="y=16", loop="x in range(32)")),
    "last column": (PLAIN, D + SEVEN + _stage("d[y, x + 15] = 9")),
    "last row": (PLAIN, D + SEVEN + BETWEEN),
    "first row": (PLAIN, D + LOWER + BETWEEN),
    "bytes of a word": (
        WORDS,
        OWNED
        + _stage("d[y, n] = n", lanes="y=16", loop="n in range(3)")
        + _stage("d[y, x + 3] = 7"),
    ),
    "halves of a word": (
        WORDS,
        HALVES
        + _stage("d[y, n] = d[y, n] + 1 & 255", lanes="y=16", loop="n in range(1)")
        + _stage("d[y, x + 1] = 7"),
    ),
    "a word and its byte": (
        ALONE,
        D
        + _stage("d[0, n] = 7", lanes="x=1", loop="n in range(4)")
        + _stage("d[0, n] = 9", lanes="x=1", loop="n in range(1, 2)"),
    ),
}


@pytest.mark.parametrize("case", MEETING)
def test_stages_that_meet_wait_for_each_other(tmp_path: Path, case: str) -> None:
    """They touch one place, or one word that a stage writes back: no order turns them round."""
    options, text = MEETING[case]
    _check(kernel_of(tmp_path, HEAD + text), options)


TURNED = "d[y, x] = d[y, x] ^ 85"
HIGH, LOW = _stage(TURNED), _stage(TURNED, loop="y in range(48, 96)")
RIGHT = _stage(TURNED.replace("x", "x + 16"))
APART = {
    "parts of one that is cut": _stage(TURNED, lanes="x=32"),
    "below": HIGH + LOW, "above": LOW + HIGH, "on the right": HIGH + RIGHT,
    "on the left": RIGHT + HIGH,
}  # fmt: skip


@pytest.mark.parametrize("case", APART)
def test_large_stages_that_do_not_meet_store_each_value_at_once(tmp_path: Path, case: str) -> None:
    """So that few are alive. (Between the stages all stores are waited for.)"""
    kernel = kernel_of(tmp_path, HEAD + D + APART[case])
    assert _alive(kernel) <= MANY
    _check(kernel)
