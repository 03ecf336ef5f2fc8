# SPDX-License-Identifier: BSD-2-Clause
"""Sums, smallest and largest values over lanes: what they mean, and what is refused."""

from pathlib import Path

import numpy as np
import pytest
from spec_support import in_stage, kernel_of, refusal, spec_text

from daedalus.dsl import vectors
from daedalus.dsl.interp import run
from daedalus.dsl.ranges import Interval, Ranges
from daedalus.dsl.show import show

HEAD = """
out = k.plane("out", i32, rows=(0, 4), cols=(0, 8), access="out")
src = k.plane("src", i16, rows=(0, 4), cols=(0, 8), lo=-500, hi=500)
"""


def _out(folder: Path, stage: str, stored: str) -> tuple[np.ndarray, np.ndarray]:
    """The source of some items, and what is stored for every y and x."""
    text = HEAD + stage + (
        "with k.stage(y=4, x=8) as (y, x):\n    px[y, x] = 1\n"
        f"    out[y, x] = {stored}\n"
    )  # fmt: skip
    kernel = kernel_of(folder, spec_text(text))
    items = vectors.make_items(kernel, 50, 3)
    return items.buffers["src"], run(kernel, items).buffers["out"]


def _stage(reduced: str) -> str:
    return f"with k.stage(y=4, x=8) as (y, x):\n    v = src[y, x]\n    t = {reduced}\n"


@pytest.mark.parametrize(
    ("reduced", "stored", "axes"),
    [('k.sum("t", v)', "t[0]", (1, 2)), ('k.sum("t", v, over=x)', "t[y]", 2),
     ('k.sum("t", v, over=[y])', "t[x]", 1), ('k.sum("t", v, over=(y, x))', "t[0]", (1, 2)),
     ('k.sum("t", v, start=-9)', "t[0] + 9", (1, 2))],
)  # fmt: skip
def test_sums(reduced: str, stored: str, axes: object, tmp_path: Path) -> None:
    src, got = _out(tmp_path, _stage(reduced), stored)
    want = np.broadcast_to(src.sum(axis=axes, keepdims=True), got.shape)  # type: ignore[arg-type]
    assert np.array_equal(got, want)


def test_smallest_and_largest_begin_at_a_value(tmp_path: Path) -> None:
    src, got = _out(tmp_path, _stage('k.smallest("t", v, start=-100, over=x)'), "t[y]")
    assert np.array_equal(got[:, :, 0], np.minimum(src.min(axis=2), -100))
    src, got = _out(tmp_path / "2", _stage('k.largest("t", v, start=7)'), "t[0]")
    assert np.array_equal(got[:, 0, 0], np.maximum(src.max(axis=(1, 2)), 7))


def test_conditions_leave_lanes_out(tmp_path: Path) -> None:
    stage = (
        "with k.stage(y=4, x=8) as (y, x):\n    v = src[y, x]\n"
        '    with k.when(v > 0):\n        t = k.sum("t", v, over=x)\n'
    )
    src, got = _out(tmp_path, stage, "t[y]")
    assert np.array_equal(got[:, :, 3], np.where(src > 0, src, 0).sum(axis=2))


def test_it_is_what_accumulate_says(tmp_path: Path) -> None:
    reduced = _stage('k.largest("t", v, over=x, start=3)')
    written = 't = k.temp("t", (4,), init=3)\n' + _stage("src[y, x]").replace(
        "    t = src[y, x]\n", '    t.accumulate(y, v, "max")\n'
    )
    stored = "with k.stage(y=4) as y:\n    px[y, 0] = 1\n    out[y, 0] = t[y]\n"
    one, other = (
        kernel_of(tmp_path / str(n), spec_text(HEAD + s + stored))
        for n, s in enumerate((reduced, written))
    )
    assert show(one) == show(other)
    assert Ranges(one).temps["t"] == Interval(-500, 500)


REFUSED = {
    "outside": (
        't = k.sum("t", p)  # <-\n' + in_stage("pass"), "stage",
        "t: there are lanes only inside a stage",
    ),
    "no lane": (
        in_stage('t = k.sum("t", px[y, x], over=p)  # <-'), "index",
        "t: over= takes a lane of this stage, or several",
    ),
    "a number": (
        in_stage('t = k.sum("t", px[y, x], over=0)  # <-'), "index",
        "t: over= takes a lane of this stage, or several",
    ),
    "two lanes added": (
        in_stage('t = k.sum("t", px[y, x], over=x + y)  # <-'), "index",
        "t: over= takes a lane of this stage, or several",
    ),
    "a lane and a number": (
        in_stage('t = k.sum("t", px[y, x], over=x + 1)  # <-'), "index",
        "t: over= takes a lane of this stage, or several",
    ),
    "twice a lane": (
        in_stage('t = k.sum("t", px[y, x], over=2 * x)  # <-'), "index",
        "t: over= takes a lane of this stage, or several",
    ),
    "another stage's lane": (
        "with k.stage(z=8) as z:\n    px[0, z] = 1\n"
        + in_stage('t = k.sum("t", px[y, x], over=z)  # <-'), "index",
        "t: over= takes a lane of this stage, or several",
    ),
    "a name twice": (
        in_stage('t = k.sum("t", px[y, x])\nu = k.sum("t", px[y, x])  # <-'), "declaration",
        "t is declared twice",
    ),
    "a lane's name": (
        in_stage('t = k.sum("x", px[y, x])  # <-'), "declaration", "x is declared twice",
    ),
    "start": (
        in_stage('t = k.sum("t", px[y, x], start=0.5)  # <-'), "declaration",
        "t: start: 0.5 is not an integer",
    ),
    "traced start": (
        in_stage('t = k.sum("t", px[y, x], start=p)  # <-'), "declaration",
        "t: start: a traced value is not an integer",
    ),
    "no start": (
        in_stage('t = k.largest("t", px[y, x])  # <-'), "python",
        "TypeError: KernelBuilder.largest() missing 1 required keyword-only argument: 'start'",
    ),
    "a comparison": (
        in_stage('t = k.sum("t", px[y, x] > 3)  # <-'), "boolean", "a comparison cannot be stored",
    ),
    "in the same stage": (
        in_stage('t = k.sum("t", px[y, x])\npx[y, x] = clip_u8(t[0])  # <-'), "race",
        "reads t, into which this stage accumulates",
    ),
    "too wide": (
        in_stage('t = k.sum("t", (px[y, x] << 22) * 3)')
        + "with k.stage(i=8) as i:\n    px[0, i] = low_bits(t[0], 8)  # <-\n", "range",
        "load t can be [0, 205353123840]: more than 32 bits",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused(case: str, tmp_path: Path) -> None:
    body, rule, message = REFUSED[case]
    error = refusal(tmp_path, spec_text(body))
    assert error.rule == rule
    assert message in error.message


def test_the_hint_says_how_it_is_written(tmp_path: Path) -> None:
    error = refusal(tmp_path, spec_text(REFUSED["no start"][0]))
    assert error.hint == "write k.largest(name, value, *, start, over=None)"
