# SPDX-License-Identifier: BSD-2-Clause
"""Each pass does what it is for: counted on the built-in kernels, and on small ones."""

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from random_programs import random_items
from spec_support import kernel_of, spec_text

from daedalus.dsl import interp
from daedalus.dsl.ir import Kernel, Op
from daedalus.dsl.ranges import Ranges
from daedalus.generator.compile.registry import load
from daedalus.generator.options import options_of
from daedalus.generator.passes.assume import keep_assumptions
from daedalus.generator.passes.expand_dot import expand_dot
from daedalus.generator.passes.fold_rounding import fold_rounding
from daedalus.generator.passes.forward import forward_temps
from daedalus.generator.passes.guard import find_guard, select_old
from daedalus.generator.passes.max_tree import merge_limits
from daedalus.generator.passes.pipeline import passes
from daedalus.generator.passes.specialise import specialise
from daedalus.generator.passes.split_products import split_products
from daedalus.generator.passes.unroll import unroll_outer

KERNELS = {e.kernel.id: e.kernel for e in load()}
IDCT, LPF = KERNELS["vp9_idct8"], KERNELS["vp9_lpf4_v"]


def ops(kernel: Kernel, stage: int | None = None) -> Counter[Op]:
    """How often each operation occurs."""
    chosen = kernel.stages if stage is None else (kernel.stages[stage],)
    return Counter(n.op for s in chosen for n in s.nodes())


# ------------------------------------------------------------------ assume


def test_assumptions_out_of_force_go() -> None:
    assert {a for s in IDCT.stages for n in s.nodes() if n.op is Op.ASSUME for a in n.attr[:1]} == {
        "t16", "sum16"
    }  # fmt: skip
    strict = keep_assumptions(IDCT, frozenset({"t16"}))
    names = {n.attr[0] for s in strict.stages for n in s.nodes() if n.op is Op.ASSUME}
    assert names == {"t16"} == {a.name for a in strict.assumptions}
    assert ops(keep_assumptions(IDCT, frozenset()))[Op.ASSUME] == 0


def test_assumptions_in_force_hold_by_default() -> None:
    given = keep_assumptions(IDCT, frozenset({"t16", "sum16"}))
    assert given.defaults == {"t16", "sum16"}
    assert ops(given) == ops(IDCT)


# ------------------------------------------------------------------ specialise


def test_the_full_class_is_left_alone() -> None:
    full = specialise(IDCT, "full")
    assert ops(full) == ops(IDCT) and not full.classes and full.params == IDCT.params


def test_eob12_computes_four_columns_of_half_the_inputs() -> None:
    """4 of 8 lanes, 4 of 8 coefficients in the first pass and of 8 rows in the second."""
    some = specialise(IDCT, "eob12")
    assert [dict(s.dims) for s in some.stages] == [{"v": 4}, {"x": 8}]
    for stage, name in ((0, "coeffs"), (1, "rows")):
        loads = [n for n in some.stages[stage].nodes() if n.op is Op.LOAD and n.attr[0] == name]
        assert len(loads) == 4
        # A rotation with one input is 2 multiplications for 4; the halves need 2 less in all.
        assert ops(IDCT, stage)[Op.MUL] == 16
        assert ops(some, stage)[Op.MUL] == 9
        assert ops(some, stage).total() < ops(IDCT, stage).total()
    assert (some.param("eob").lo, some.param("eob").hi) == (2, 12)


def test_dc_computes_one_product_a_pass() -> None:
    dc = specialise(IDCT, "dc")
    assert [dict(s.dims) for s in dc.stages] == [{"v": 1}, {"x": 8}]
    assert [ops(dc, n)[Op.MUL] for n in (0, 1)] == [1, 1]
    assert ops(dc, 0)[Op.LOAD] == 1
    assert (dc.param("eob").lo, dc.param("eob").hi) == (1, 1)


def test_lanes_stay_where_a_reader_mixes_constants_and_others(tmp_path: Path) -> None:
    body = (
        'k.item_class("few", p=(0, 1), nonzero={"c": (8, 4)})\nt = k.temp("t", (8, 8))\n'
        "with k.stage(x=8) as x:\n    t[:, x] = [c[y, x] for y in range(8)]\n"
        "with k.stage(x=8) as x:\n    px[0, x] = clip_u8(%s)\n"
    )
    mixed = specialise(kernel_of(tmp_path / "a", spec_text(body % "t[0, x]")), "few")
    apart = specialise(kernel_of(tmp_path / "b", spec_text(body % "t[x, 0] + t[x, 7]")), "few")
    assert [s.lanes for s in mixed.stages] == [8, 8]
    assert [s.lanes for s in apart.stages] == [4, 8]
    assert ops(apart, 1)[Op.LOAD] == 1  # t[x, 7] is 0


# ------------------------------------------------------------------ forward


def test_forward_removes_the_first_stage_for_dc() -> None:
    dc = forward_temps(specialise(IDCT, "dc"))
    assert len(dc.stages) == 1 and dc.temps == ()
    loads = {n.attr[0] for n in dc.stages[0].nodes() if n.op is Op.LOAD}
    assert loads == {"coeffs", "dst"} and ops(dc)[Op.MUL] == 2


@pytest.mark.parametrize("class_name", ["eob12", "full"])
def test_forward_keeps_what_differs_between_lanes(class_name: str) -> None:
    kernel = specialise(IDCT, class_name)
    same = forward_temps(kernel)
    assert [ops(same, n) for n in (0, 1)] == [ops(kernel, n) for n in (0, 1)]
    assert same.temps == kernel.temps


def test_forward_drops_what_nobody_reads(tmp_path: Path) -> None:
    body = (
        't = k.temp("t", (8,))\nu = k.temp("u", (8,))\n'
        "with k.stage(x=8) as x:\n    t[x] = c[0, x]\n    u[x] = c[1, x]\n"
        "with k.stage(x=8) as x:\n    px[0, x] = clip_u8(u[x])\n"
    )
    kernel = forward_temps(kernel_of(tmp_path, spec_text(body)))
    assert [t.name for t in kernel.temps] == ["u"]
    assert [s.buffer for s in kernel.stages[0].stores] == ["u"]


def test_forward_does_not_carry_a_load_past_a_store(tmp_path: Path) -> None:
    body = (
        't = k.temp("t", (1,))\n'
        "with k.stage(z=1) as z:\n    t[0] = px[0, 0]\n"
        "with k.stage(x=8) as x:\n    px[0, x] = 9\n"
        "with k.stage(x=8) as x:\n    px[1, x] = t[0]\n"
    )
    kernel = kernel_of(tmp_path, spec_text(body))
    items = random_items(kernel, 20, 1)
    want = interp.run(kernel, items).buffers["px"]
    assert (want[:, 1, 0] == items.buffers["px"][:, 0, 0]).all()
    assert np.array_equal(interp.run(forward_temps(kernel), items).buffers["px"], want)


def test_forward_needs_one_value_on_all_lanes(tmp_path: Path) -> None:
    body = (
        't = k.temp("t", (2,))\n'
        "with k.stage(z=1) as z:\n    t[0] = clip_u8(c[0, 0])\n    t[1] = p\n"
        "with k.stage(x=2) as x:\n    px[1, x] = t[x]\n    px[2, x] = t[1]\n"
    )
    kernel = kernel_of(tmp_path, spec_text(body))
    forwarded = forward_temps(kernel)
    first, second = forwarded.stages[-1].stores
    assert (first.value.op, second.value.op) == (Op.LOAD, Op.PARAM)
    items = random_items(kernel, 20, 1)
    for name, want in interp.run(kernel, items).buffers.items():
        assert np.array_equal(interp.run(forwarded, items).buffers[name], want)


# ------------------------------------------------------------------ max_tree


def test_limits_merge() -> None:
    merged = merge_limits(LPF)
    before, after = ops(LPF), ops(merged)
    assert before[Op.LE] == 7 and after[Op.LE] == 3  # of six against limit, one; blimit's; ~hev
    assert before[Op.GT] == 2 and after[Op.GT] == 1
    assert before[Op.NOT] == 1 and after[Op.NOT] == 0
    assert after[Op.MAX] == before[Op.MAX] + 5 + 1


def test_different_limits_and_directions_stay_apart(tmp_path: Path) -> None:
    body = (
        "with k.stage(x=8) as x:\n    a, b = px[0, x], px[1, x]\n"
        "    with k.when((a <= p) & (b <= 9) & (a > p)):\n        px[0, x] = 1\n"
        "    with k.when((a <= 7) | (b <= 7)):\n        px[1, x] = 1\n"
    )
    kernel = kernel_of(tmp_path, spec_text(body))
    assert ops(merge_limits(kernel)) == ops(kernel)


# ------------------------------------------------------------------ expand_dot and unroll


def test_dot_becomes_sums_with_the_rows_bounds(tmp_path: Path) -> None:
    body = (
        't = k.table("t", i8, [[-1, 2], [3, -4]])\n'
        "with k.stage(x=8) as x:\n    px[0, x] = clip_u8(dot(t, p, [px[0, x], px[1, x]]))\n"
    )
    kernel = kernel_of(tmp_path, spec_text(body))
    expanded = expand_dot(kernel)
    assert ops(expanded)[Op.DOT] == 0
    assert (ops(expanded)[Op.MUL], ops(expanded)[Op.TABLE]) == (2, 2)
    (fact,) = [n for n in expanded.stages[0].nodes() if n.op is Op.ASSUME]
    assert fact.attr == ("", -4 * 255, 3 * 255)  # not [-5 * 255, 5 * 255]
    assert Ranges(expanded).of(fact).within(-1020, 765)


def test_only_the_innermost_axis_is_left(tmp_path: Path) -> None:
    body = "with k.stage(z=2, y=4, x=8) as (z, y, x):\n    px[4 * z + y, x] = 2\n"
    kernel = unroll_outer(kernel_of(tmp_path, spec_text(body)))
    assert kernel.stages[0].dims == (("x", 8),)
    assert [s.index[0].const for s in kernel.stages[0].stores] == list(range(8))
    assert unroll_outer(LPF).stages == LPF.stages


# ------------------------------------------------------------------ guard, select_old, products


def test_the_guard_is_what_all_masks_share() -> None:
    guarded = find_guard(LPF)
    guard = guarded.stages[-1].guard
    masks = [s.mask for s in guarded.stages[-1].stores]
    assert guard is not None and guard in masks and None not in masks
    assert find_guard(IDCT) is IDCT  # it stores unconditionally


def test_no_guard_where_masks_share_nothing(tmp_path: Path) -> None:
    body = (
        "with k.stage(x=8) as x:\n    with k.when(px[0, x] > 1):\n        px[0, x] = 1\n"
        "    with k.when(px[1, x] > 1):\n        px[1, x] = 1\n"
    )
    kernel = kernel_of(tmp_path, spec_text(body))
    assert find_guard(kernel) is kernel


def test_old_values_are_selected() -> None:
    selected = select_old(LPF)
    stores = selected.stages[-1].stores
    assert all(s.mask is None and s.value.op is Op.SELECT for s in stores)
    for s in stores:
        old = s.value.args[2]
        assert old.op is Op.LOAD and old.attr == (s.buffer, s.index)
    assert select_old(IDCT).stages == IDCT.stages


def test_products_of_wide_sums_are_split() -> None:
    strict = keep_assumptions(IDCT, IDCT.defaults)

    def wide(kernel: Kernel) -> int:
        of = Ranges(kernel).of
        products = [n for st in kernel.stages for n in st.nodes() if n.op is Op.MUL]
        return sum(not of(n.args[0]).within(-(2**15), 2**15 - 1) for n in products)

    assert wide(strict) == 2 * 4  # (a + b) and (a - b), twice a pass
    assert wide(split_products(strict)) == 0
    assert ops(split_products(strict))[Op.MUL] == ops(strict)[Op.MUL]  # both share a*c and b*c
    given = keep_assumptions(IDCT, IDCT.defaults | {"sum16"})
    assert ops(split_products(given)) == ops(given)


@pytest.mark.parametrize("target", ["c", "neon"])
def test_the_order_of_the_passes(target: str) -> None:
    """As far as one relies on another."""
    names = [n for n, _ in passes(IDCT, options_of(target))]
    at = names.index
    assert names[0] == "assume" and len(set(names)) == len(names)
    assert at("specialise") < at("forward")
    assert at("max_tree") >= 0 and at("expand_dot") >= 0
    assert ("unroll" in names) == ("pack" in names) == (target == "neon")
    assert target == "c" or at("expand_dot") < at("unroll") < at("pack")


@pytest.mark.parametrize("items", [1, 2, 4])
def test_packing_only_counts(items: int) -> None:
    pack = dict(passes(LPF, options_of("neon", items=items)))["pack"]
    packed = pack(LPF)
    assert packed.items_per_vector == items and packed.stages == LPF.stages


# ------------------------------------------------------------------ fold_rounding


def test_rounding_is_added_once_to_what_all_sums_share() -> None:
    """All outputs of the last stage hold the lowest frequency: one addition instead of eight."""
    before, after = ops(KERNELS["h264_idct8"], 1), ops(fold_rounding(KERNELS["h264_idct8"]), 1)
    assert before[Op.RSHR] == after[Op.SHR] - before[Op.SHR] == 8
    assert after[Op.RSHR] == 0
    assert after[Op.ADD] == before[Op.ADD] + 1


def test_a_term_that_is_rounded_itself_takes_the_rounding_in() -> None:
    """VP9's even half begins with two products: their rounding constants grow."""
    before, after = ops(IDCT, 1), ops(fold_rounding(IDCT), 1)
    assert before[Op.RSHR] - after[Op.RSHR] == 8 + 2  # the outputs, and the two terms
    assert after[Op.ADD] - before[Op.ADD] == 2


def test_rounding_stays_where_another_value_sees_the_term(tmp_path: Path) -> None:
    """Here one of the two sums is stored unrounded as well."""
    body = """
        with k.stage(y=8) as y:
            a = px[y, 0] + px[y, 1]
            px[y, 0] = round_shift(a, 1)
            px[y, 1] = clip_u8(round_shift(px[y, 0] - px[y, 1], 1))
            px[y, 2] = %s
    """
    free, bound = (
        kernel_of(tmp_path / name, spec_text(body % text))
        for name, text in (("free", "px[y, 3]"), ("bound", "clip_u8(a)"))
    )
    assert ops(fold_rounding(free))[Op.RSHR] == 0
    assert ops(fold_rounding(bound)) == ops(bound)
