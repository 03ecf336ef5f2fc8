# SPDX-License-Identifier: BSD-2-Clause
"""`bench --native`: what is timed is right, or has no time; the bar counts what it says."""

from dataclasses import replace

import numpy as np
import pytest

from daedalus.dsl import interp
from daedalus.generator.base.errors import UserError
from daedalus.generator.cli import bench_native
from daedalus.generator.compile import layout
from daedalus.generator.compile.registry import find, load
from daedalus.generator.measure.native import items, measure
from daedalus.generator.measure.native.cases import CASES
from daedalus.generator.measure.native.measure import Figure, Row

NINE = {
    "vp9_idct8", "vp9_lpf4_h", "vp9_mc_8h", "vp9_lpf8_h", "av1_cdef8", "h264_idct4", "h264_idct8",
    "h264_deblock_luma_v", "h264_qpel_mc20",
}  # fmt: skip


def test_the_nine_decoder_kernels_count_once_each() -> None:
    counted = [c.kernel for c in CASES if c.counts]
    assert sorted(counted) == sorted(NINE)


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.kernel}-{c.what}")
def test_items_are_of_the_case_and_apart(case: items.Case) -> None:
    entry = find(load(), case.kernel)
    assert entry is not None
    kernel = entry.kernel
    drawn = items.draw(kernel, case, 16)
    assert drawn.count == 16
    assert interp.in_class(kernel, case.class_name, drawn).all()
    assert interp.run(kernel, drawn).conformant(kernel.defaults).all()
    placed = items.place(kernel, drawn)
    strides = {b.stride for b in placed.buffers if b.buffer.kind == "plane"}
    assert len(strides) == 1 and min(strides) % 16 == 0
    for b in placed.buffers:
        assert (b.elements[b.where] == drawn.buffers[b.buffer.name]).all()
        assert len(np.unique(b.where)) == b.where.size, "items overlap"
        if b.buffer.kind == "plane":
            offsets = np.frombuffer(placed.meta, np.uint8).reshape(16, -1)
            (field,) = [
                f for f in layout.meta_fields(kernel)[0] if f.name == f"{b.buffer.name}_off"
            ]
            at = offsets[:, field.offset : field.offset + 4].copy().view("<u4")
            assert (at % 16 == 0).all()


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.kernel}-{c.what}")
def test_a_case_s_function_is_found_or_missed(case: items.Case) -> None:
    found = measure._theirs(case)
    assert (found is not None) == bool(case.theirs)
    if found is not None:
        with pytest.raises(UserError, match=f"{case.theirs} has no function for gone"):
            measure._theirs(replace(case, kernel="gone"))


def _row(gain: float, case: items.Case) -> Row:
    return Row(
        case, "v",
        {f"{c} {kind}": Figure(10.0 * (gain if kind == "scalar" else 1.0), 0.1)
         for c in measure.COMPILERS for kind in measure.BUILDS},
        (),
    )  # fmt: skip


def test_the_mean_is_geometric_and_of_the_nine() -> None:
    rows = [_row(2.0 if n % 2 else 8.0, c) for n, c in enumerate(c for c in CASES if c.counts)]
    other = [_row(100.0, c) for c in CASES if not c.counts]
    mean = measure.mean_gain([*rows, *other], "gcc scalar", "gcc vector")
    assert mean == pytest.approx((2.0**4 * 8.0**5) ** (1 / 9))
    assert measure.mean_gain(rows[1:], "gcc scalar", "gcc vector") is None


@pytest.mark.parametrize(
    ("gain", "wrong", "status"), [(4.0, (), 0), (2.9, (), 1), (4.0, ("gcc vector (wrong)",), 1)]
)
def test_exit_status(
    gain: float, wrong: tuple[str, ...], status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [replace(_row(gain, c), wrong=wrong) for c in CASES]
    monkeypatch.setattr(bench_native, "measure", lambda *_: rows)
    if not status:
        bench_native.run("", 1, as_json=True)
        return
    with pytest.raises(SystemExit) as e:
        bench_native.run("", 1, as_json=True)
    assert e.value.code == status
