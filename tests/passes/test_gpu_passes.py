# SPDX-License-Identifier: BSD-2-Clause
"""The passes before GLSL: several points a lane, sums in pairs, biases and choices moved."""

from pathlib import Path

import pytest
from random_programs import accepted_kernels, random_items
from spec_support import load_text, spec_text
from test_meaning import assert_same

from daedalus.dsl.ir import Kernel, Node, Op, walk
from daedalus.dsl.verify import verify
from daedalus.generator.compile.registry import find, load
from daedalus.generator.options import POINTS, options_of
from daedalus.generator.passes.late_bias import subtract_late
from daedalus.generator.passes.masked_terms import choose_terms
from daedalus.generator.passes.pairs import pair_sums
from daedalus.generator.passes.pipeline import lower
from daedalus.generator.passes.points import give_points

RANDOM = accepted_kernels(12)


def kernel_of(name: str) -> Kernel:
    entry = find(load(), name)
    assert entry is not None
    return entry.kernel


def nodes_of(kernel: Kernel) -> list[Node]:
    return list(walk([r for stage in kernel.stages for r in stage.roots()]))


@pytest.mark.parametrize("points", POINTS[1:])
@pytest.mark.parametrize("kernel", RANDOM, ids=lambda k: k.id)
def test_random_programs_by_points(kernel: Kernel, points: int) -> None:
    lowered = lower(kernel, options_of("c"))
    changed = give_points(lowered, points)
    verify(changed)
    assert_same(kernel, changed, random_items(kernel, 48, 5), f"{points} points")
    for before, after in zip(lowered.stages, changed.stages, strict=True):
        assert before.lanes // points <= after.lanes <= before.lanes


@pytest.mark.parametrize("kernel", RANDOM, ids=lambda k: k.id)
def test_random_programs_in_every_way(kernel: Kernel) -> None:
    """All that a GLSL variant can ask for, together."""
    options = options_of(
        "glsl", points=4, **dict.fromkeys(("word", "unaligned", "swar", "signs", "pack"), True)
    )
    items = random_items(kernel, 48, 6)

    def watch(name: str, changed: Kernel) -> None:
        verify(changed)
        assert_same(kernel, changed, items, f"after {name}")

    lower(kernel, options, watch)


def test_points_beyond_a_limit_store_nothing_and_rows_stay(tmp_path: Path) -> None:
    """Columns that a parameter limits are divided, with a condition a point; rows are not."""
    text = spec_text(
        "with k.stage(y=k.upto(p, 8), x=8) as (y, x):\n"
        "    px[y, x] = clip_u8(px[y, x] + c[y, x])\n"
    )
    (entry,) = load_text(tmp_path, text)
    (stage,) = give_points(entry.kernel, 16).stages
    assert stage.dims == (("y", 8),) and len(stage.stores) == 8
    assert all(s.mask is None for s in stage.stores) and dict(stage.limits).keys() == {"y"}

    (entry,) = load_text(tmp_path / "2", text.replace("y=k.upto(p, 8), x=8", "y=8, x=k.upto(p, 8)"))
    (stage,) = give_points(entry.kernel, 4).stages
    assert dict(stage.dims) == {"y": 8, "x": 2} and len(stage.stores) == 4
    assert all(s.mask is not None and s.mask.op is Op.GT for s in stage.stores)


# ------------------------------------------------------------------ sums in pairs


def multiplications(kernel: Kernel) -> int:
    """Products of bytes, or of pairs of them, with something else."""
    return sum(
        n.op is Op.MUL and n.args[1].op is not Op.CONST
        and any(x.op is Op.LOAD for x in walk((n,))) for n in nodes_of(kernel)
    )  # fmt: skip


def test_pairs_halve_the_products() -> None:
    kernel = kernel_of("vp9_mc_8h")
    plain = lower(kernel, options_of("glsl", points=8))
    paired = lower(kernel, options_of("glsl", points=8, swar=True))
    assert (multiplications(plain), multiplications(paired)) == (64, 32)
    assert paired.modular and not plain.modular


ROWS = "with k.stage(y=8, x=4) as (y, x):\n    px[y, x] = clip_u8(({}) >> 4)\n"


@pytest.mark.parametrize(
    ("sum_of_bytes", "paired"),
    [
        ("9 * px[y, x] + 7 * px[y, x + 4]", True),
        ("9 * px[y, x] - 7 * px[y, x + 4]", True),  # with a bias
        ("px[y, x] + px[y, x + 4] * p", True),
        ("200 * px[y, x] + 57 * px[y, x + 4]", True),  # up to 65535
        ("200 * px[y, x] + 58 * px[y, x + 4]", False),  # one more
        ("300 * px[y, x] - 20 * px[y, x + 4]", False),
        ("9 * px[y, x] + px[y, x + 4] * px[y, x]", False),  # no linear form
        ("9 * px[y, x] + 7 * px[0, x]", False),  # two rows
        ("9 * px[y, x] + c[y, x]", False),  # not only bytes
    ],
)
def test_what_is_paired(sum_of_bytes: str, paired: bool, tmp_path: Path) -> None:
    body = ROWS.format(sum_of_bytes).replace("px[y, x] = ", "out[y, x] = ")
    body = 'out = k.plane("out", u8, rows=(0, 8), cols=(0, 4), access="out")\n' + body
    text = spec_text(body).replace('access="inout"', 'access="in"')
    (entry,) = load_text(tmp_path, text)
    kernel = give_points(lower(entry.kernel, options_of("c")), 4)
    changed = pair_sums(kernel)
    assert (changed != kernel) == paired
    verify(changed)
    assert_same(kernel, changed, random_items(kernel, 200, 3), "pairs")


def test_pairs_are_the_same_on_every_run() -> None:
    """Nothing depends on where objects lie in memory."""
    made = [
        [
            (n.op, n.attr, n.seq)
            for n in nodes_of(lower(kernel_of(name), options_of("glsl", points=8, swar=True)))
        ]
        for name in ("vp9_mc_8h", "h264_qpel_mc20") * 2
    ]
    assert made[:2] == made[2:]


# ------------------------------------------------------------------ moved operations


def test_a_bias_is_taken_away_after_the_clip() -> None:
    kernel = lower(kernel_of("h264_qpel_mc20"), options_of("glsl", points=8, swar=True))
    for s in kernel.stages[-1].stores:
        assert s.value.op is Op.SUB and s.value.args[0].op is Op.CLIP
        assert s.value.args[0].attr == (80, 335) and s.value.args[1].value == 80
    same = lower(kernel_of("h264_qpel_mc20"), options_of("c"))
    assert subtract_late(same).stages[-1].stores[0].value.op is Op.CLIP


def test_choices_move_to_the_terms_that_they_concern() -> None:
    """Of the filters that add something to a pixel, no choice between pixels is left."""
    kernel = lower(kernel_of("h264_deblock_luma_v"), options_of("glsl", points=4, word=True))
    assert sum(s.value.op is Op.SELECT for s in kernel.stages[-1].stores) == 16
    changed = choose_terms(kernel)
    verify(changed)
    assert all(s.value.op is Op.CLIP for s in changed.stages[-1].stores)
    zero = [n.args[2] for n in nodes_of(changed) if n.op is Op.SELECT]
    assert all(n.op is Op.CONST and n.value == 0 for n in zero)
