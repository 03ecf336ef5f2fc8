# SPDX-License-Identifier: BSD-2-Clause
"""The passes that reshape stages, by meaning: the interpreter says the same before and after, on
programs that they change, and they leave alone what they must not change."""

from collections.abc import Callable

import numpy as np
import pytest
from spec_support import kernel_of, spec_text

from daedalus.dsl import interp, vectors
from daedalus.dsl.ir import Kernel, Op, Stage
from daedalus.dsl.ranges import Ranges
from daedalus.generator.passes.bias import bias_sums
from daedalus.generator.passes.compare import compare_operands
from daedalus.generator.passes.copies import read_originals
from daedalus.generator.passes.forward import drop_unread
from daedalus.generator.passes.guard import by_lane_alone, find_guard, select_old
from daedalus.generator.passes.settle import settle_stages
from daedalus.generator.passes.specialise import specialise
from daedalus.generator.passes.tile import choose_vectors, divide_axis
from daedalus.generator.passes.unroll import unroll_outer

ITEMS = 300


def same(before: Kernel, after: Kernel, class_name: str = "full") -> None:
    """Both compute the same for all items of the class, conformant or not."""
    for kind in ("conformant", "boundary"):
        items = vectors.make_items(before, ITEMS, 1, kind)
        mine = interp.in_class(before, class_name, items)
        assert mine.any()
        want, got = interp.run(before, items), interp.run(after, items)
        for name, values in want.buffers.items():
            assert np.array_equal(values[mine], got.buffers[name][mine]), name


@pytest.fixture
def spec(tmp_path):
    """A kernel from the body of a spec."""

    def make(body: str) -> Kernel:
        return kernel_of(tmp_path, spec_text(body))

    return make


Make = Callable[[str], Kernel]


# ------------------------------------------------------------------ tile


def shape(stage: Stage) -> tuple[list[int], int]:
    return [n for _, n in stage.dims], stage.vector


@pytest.mark.parametrize(
    ("axes", "rows", "extents", "vector"),
    [
        ("y=4, x=4", 1, [4, 4], 2),  # 16 lanes: half-filled vectors are joined
        ("y=8, x=8", 1, [8, 8], 1),
        ("y=8, x=8", 2, [4, 2, 8], 2),
        ("y=2, x=8", 2, [2, 8], 2),  # the whole axis
        ("y=6, x=8", 4, [6, 8], 1),  # 4 does not divide it
        ("y=6, x=8", 2, [3, 2, 8], 2),
        ("y=3, x=4", 1, [3, 4], 1),  # not a power of two
        ("y=8, x=3", 2, [8, 3], 1),
        ("y=8, x=4", 1, [8, 4], 1),  # 32 lanes would be too many
        ("z=2, y=2, x=2", 1, [2, 2, 2], 3),
        ("z=4, y=2, x=4", 2, [2, 2, 2, 4], 3),
        ("y=k.upto(p, 4), x=4", 2, [4, 4], 1),  # a limited axis is a loop
        ("y=4, x=k.upto(p, 4)", 2, [4, 4], 1),
    ],
)
def test_axes_that_share_a_vector(spec: Make, axes, rows, extents, vector):
    names = [part.split("=")[0].strip() for part in axes.replace("k.upto(p, 4)", "4").split(",")]
    row = " + ".join(f"{2 if n == 'z' else 1} * {n}" for n in names[:-1])
    kernel = spec(
        f"""
        with k.stage({axes}) as ({", ".join(names)}):
            px[{row}, x] = clip_u8(px[{row}, x] + k.lane({row} - x) + c[{row}, x])
        """
    )
    made = choose_vectors(kernel, rows)
    assert shape(made.stages[0]) == (extents, vector)
    same(kernel, made)
    same(kernel, unroll_outer(made))


def test_points_of_a_divided_axis_beyond_its_end_are_in_the_ranges(spec: Make):
    kernel = spec(
        """
        with k.stage(x=7) as x:
            c2 = k.lane(x)
            px[0, x] = c2
        """
    )
    cut = divide_axis(kernel, kernel.stages[0], "x", 4)
    assert [n for _, n in cut.dims] == [2, 4]
    (store,) = cut.stores
    found = Ranges(Kernel(**{**vars(kernel), "stages": (cut,)})).of(store.value)
    assert (found.lo, found.hi) == (0, 7)


def test_a_part_of_an_axis_gets_a_name_of_its_own(spec: Make):
    kernel = spec(
        """
        with k.stage(y=8, y_in=8) as (y, y_in):
            px[y, y_in] = 255 - px[y, y_in]
        """
    )
    made = choose_vectors(kernel, 2)
    assert len({name for name, _ in made.stages[0].dims}) == 3
    same(kernel, made)


# ------------------------------------------------------------------ unroll


def test_limited_axes_stay_loops(spec: Make):
    kernel = spec(
        """
        with k.stage(z=2, y=k.upto(p >> 4, 3), x=8, given=p > 9) as (z, y, x):
            px[4 * z + y, x] = clip_u8(px[4 * z + y, x] + k.lane(z + 2 * y) * 3)
        """
    )
    made = unroll_outer(kernel)
    (stage,) = made.stages
    assert [name for name, _ in stage.dims] == ["y", "x"]
    assert len(stage.stores) == 2 and stage.given is not None and len(stage.limits) == 1
    same(kernel, made)


# ------------------------------------------------------------------ settle

DECIDED = """
    k.item_class("none", p=(0, 0))
    k.item_class("three", p=(3, 3))
    with k.stage(y=k.upto(p, 8), x=8, given=p > 0) as (y, x):
        px[y, x] = 255 - px[y, x]
"""


def test_known_conditions_and_extents_go(spec: Make):
    kernel = spec(DECIDED)
    assert settle_stages(specialise(kernel, "none")).stages == ()
    three = settle_stages(specialise(kernel, "three"))
    (stage,) = three.stages
    assert stage.given is None and stage.limits == () and stage.extents == {"y": 3, "x": 8}
    same(kernel, three, "three")
    (stage,) = settle_stages(specialise(kernel, "full")).stages
    assert stage.given is not None and stage.limits


def test_an_extent_beyond_the_declared_one_is_cut(spec: Make):
    kernel = spec(
        """
        k.item_class("much", p=(50, 50))
        with k.stage(y=k.upto(p, 8), x=8) as (y, x):
            px[y, x] = 255 - px[y, x]
        """
    )
    made = settle_stages(specialise(kernel, "much"))
    assert made.stages[0].extents == {"y": 8, "x": 8}
    same(kernel, made, "much")


def test_a_kernel_that_does_nothing_has_no_guard(spec: Make):
    empty = settle_stages(specialise(spec(DECIDED), "none"))
    assert find_guard(empty).stages == ()


# ------------------------------------------------------------------ copies

HALVES = """
    t = k.temp("t", (6, 8))
    with k.stage(y=3, x=8) as (y, x):
        t[y, x] = c[y + 1, x]
    {between}
    with k.stage(y=3, x=8) as (y, x):
        t[y + 3, x] = {second}
    with k.stage(y=5, x=8) as (y, x):
        px[y, x] = clip_u8(t[y + 1, x] + t[clip(p, 1, 5), x])
    {after}
"""


def halves(
    spec: Make, *, second: str = "c[y + 4, x]", between: str = "", after: str = ""
) -> Kernel:
    return spec(HALVES.format(second=second, between=between, after=after))


def read_of(kernel: Kernel) -> set[str]:
    return {n.attr[0] for s in kernel.stages for n in s.nodes() if n.op is Op.LOAD}


def test_a_copy_made_in_two_parts_is_read_at_its_origin(spec: Make):
    kernel = halves(spec)
    made = drop_unread(read_originals(kernel))
    assert made.temps == () and len(made.stages) == 1 and read_of(made) == {"c"}
    same(kernel, made)


LATER = """
    with k.stage(x=8) as x:
        t[0, x] = c[1, x]
    with k.stage(x=8) as x:
        px[7, x] = clip_u8(t[0, x])
"""
MASKED = """
    with k.stage(x=8) as x:
        with k.when(c[1, x] > 5):
            t[1, x] = c[2, x]
"""


@pytest.mark.parametrize(
    "change",
    [
        {"second": "c[y + 3, x]"},  # another distance
        {"second": "c[y + 4, 7 - x]"},  # turned around
        {"second": "c[y + 4, x] + 1"},
        {"second": "px[y, x]"},  # two originals, one of them written
        {"between": MASKED},
        {"after": LATER},
        {"between": "with k.stage(x=8) as x:\n        px[7, x] = clip_u8(t[1, x])"},  # read early
    ],
)
def test_what_is_no_copy_stays(spec: Make, change):
    kernel = halves(spec, **change)
    made = read_originals(kernel)
    assert "t" in read_of(made)
    same(kernel, made)


def test_an_original_that_changes_is_not_read_later(spec: Make):
    kernel = spec(
        """
        t = k.temp("t", (1, 8))
        with k.stage(x=8) as x:
            t[0, x] = px[0, x]
        with k.stage(x=8) as x:
            px[0, x] = 255 - px[0, x]
        with k.stage(x=8) as x:
            px[1, x] = t[0, x]
        """
    )
    made = read_originals(kernel)
    assert "t" in read_of(made)
    same(kernel, made)


def test_a_copy_of_a_part_leaves_first_values_elsewhere(spec: Make):
    kernel = spec(
        """
        t = k.temp("t", (2, 8), init=7)
        with k.stage(x=8) as x:
            t[0, x] = c[1, x]
        with k.stage(y=2, x=8) as (y, x):
            px[y, x] = clip_u8(t[y, x])
        """
    )
    made = read_originals(kernel)
    assert "t" in read_of(made)
    same(kernel, made)


def test_a_copy_under_a_condition_stays(spec: Make):
    """For other items the original is not there to be read."""
    kernel = spec(
        """
        t = k.temp("t", (1, 8))
        with k.stage(x=8, given=p > 5) as x:
            t[0, x] = c[1, x]
        with k.stage(x=8, given=~(p > 5)) as x:
            t[0, x] = c[1, x]
        with k.stage(x=8) as x:
            px[0, x] = clip_u8(t[0, x])
        """
    )
    assert "t" in read_of(read_originals(kernel))


# ------------------------------------------------------------------ compare


def test_differences_beside_zero_are_compared_as_they_are(spec: Make):
    kernel = spec(
        """
        with k.stage(x=8) as x:
            a, b = c[0, x], c[1, x]
            px[0, x] = select(a - b <= 0, 1, 0)
            px[1, x] = select(a - b > 0, 1, 0)
            px[2, x] = select(a - b >= 0, 1, 0)
            px[3, x] = select(a - b < 0, 1, 0)
            px[4, x] = select(a - b > 1, 1, 0)
            px[5, x] = select(a + b > 0, 1, 0)
        """
    )
    made = compare_operands(kernel)
    left = [n for s in made.stages for n in s.nodes() if n.op is Op.SUB]
    assert len(left) == 1  # of the comparison with 1
    same(kernel, made)


# ------------------------------------------------------------------ bias


def filter_of(*taps: int) -> str:
    sums = " + ".join(f"px[0, x + {n}] * {t}" for n, t in enumerate(taps))
    return f"""
        with k.stage(x=4) as x:
            s = {sums}
            px[1, x] = clip_u8(round_shift(s, 7))
            px[2, x] = clip_u8((s - 5) >> 6)
    """


def biased(made: Kernel) -> int:
    return sum(
        n.op in (Op.RSHR, Op.SHR) and n.args[0].op is Op.SUB and n.args[0].args[0].op is Op.ASSUME
        for s in made.stages
        for n in s.nodes()
    )


@pytest.mark.parametrize(
    ("taps", "wanted"),
    [
        ((-3, -6, 150, -10, 1), 2),  # [-4845, 38505]: needs the bias, and 16 bits hold it
        ((-64, -64, 100, 28), 0),  # below 2^15: signed does
        ((64, 64, 100, 28), 1),  # never negative: unsigned does; but for the one less 5
        ((-90, 130, -60, 100), 0),  # spans more than 2^16
        ((-1, 128, 0, 128), 2),  # spans 2^16 - 1: the most there may be
        ((-1, 129, 0, 128), 0),
    ],
)
def test_sums_are_lifted_where_that_saves_them(spec: Make, taps, wanted):
    kernel = spec(filter_of(*taps))
    made = bias_sums(kernel)
    assert biased(made) == wanted
    ranges = Ranges(made)
    for stage in made.stages:
        for n in stage.nodes():
            if n.op is Op.ASSUME:  # what the pass states is so, and fits
                assert n.attr[1:] == (0, n.attr[2]) and n.attr[2] < 1 << 16
                assert ranges.of(n.args[0]).within(*n.attr[1:])
    same(kernel, made)


# ------------------------------------------------------------------ masks


def test_conditions_on_lanes_stay_and_others_select(spec: Make):
    kernel = spec(
        """
        with k.stage(x=8) as x:
            with k.when(k.lane(x) < p):
                px[0, x] = 1
            with k.when(px[2, x] > 3):
                px[1, x] = 2
            with k.when((k.lane(x) < p) & (px[2, x] > 3) & (p > 7)):
                px[2, x] = 3
            with k.when((k.lane(x) < p) | (px[4, x] > 3)):
                px[3, x] = 4
        """
    )
    made = select_old(kernel)
    masks = [s.mask for s in made.stages[0].stores]
    assert [m is None for m in masks] == [False, True, False, True]
    assert all(by_lane_alone(m) for m in masks if m is not None)
    assert made.stages[0].stores[2].value.op is Op.SELECT
    same(kernel, made)


@pytest.mark.parametrize(
    "store",
    ["t.accumulate((v, 3), c[0, v])", "with k.when(c[0, v] > 5):\n            t[v, 3] = c[1, v]"],
)
def test_what_a_store_may_leave_is_wanted(spec: Make, store: str):
    """The elements of a temp that a later masked store may keep, or adds to, are there."""
    kernel = spec(
        f"""
    t = k.temp("t", (4, 4))
    with k.stage(n=4) as n:
        for r in range(4):
            t[r, n] = c[r, n]
    with k.stage(v=4) as v:
        {store}
    with k.stage(v=4) as v:
        px[0, v] = clip_u8(t[2, v])
    """
    )
    made = drop_unread(kernel)
    assert len(made.stages[0].stores) == 4
    same(kernel, made)
