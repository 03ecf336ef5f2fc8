# SPDX-License-Identifier: BSD-2-Clause
"""What legal specs mean: the same text computes the same on traced values as on Python's integers,
and declarations arrive in the kernel as they were written.
"""

import builtins
from pathlib import Path

import numpy as np
import pytest
from spec_support import HEAD, in_stage, kernel_of, load_text, spec_text

from daedalus.dsl import vectors
from daedalus.dsl.interp import Items, run
from daedalus.dsl.ir import Affine, DType, Op, i8, i16, u8
from daedalus.dsl.ranges import Ranges

# a is a pixel, b a coefficient in [-3, 250], p a parameter
EXPRESSIONS = [
    "a + b", "7 + a", "a - b", "7 - a", "a * b", "3 * b", "b * 3", "-b", "+b", "a << 3",
    "b >> 2", "b >> 0", "b >> clip(a, 0, 31)", "500 >> clip(a, 0, 31)", "abs(b)", "min(a, b)",
    "max(7, b)", "absdiff(a, b)", "absdiff(b, 9)", "clip(b, -1, 100)", "clip_u8(b)", "clip_s8(b)",
    "wrap(b, i8)", "wrap(b - 10, u8)", "round_shift(b, 3)", "round_shift(b, 0)",
    "select(a <= b, 1, 2)", "select(a < b, a, 2)", "select(a >= b, 1, b)", "select(a > b, 1, 2)",
    "select(a == b, 1, 2)", "select(a != b, 1, 2)", "select(3 < a, 1, 2)", "select(3 == a, 1, 2)",
    "select((a > 3) & (b > 3), 1, 2)", "select((a > 3) | (b > 3), 1, 2)",
    "select(~(a > 3), 1, 2)", "select(all_le([a, b], 5), 1, 2)", "select(any_gt([a, b], 5), 1, 2)",
    "rotate(a, b, 3, 5, 2)[0]", "rotate(a, b, 3, 5, 2)[1]", "sum([a, b, a])",
    "a * a - b * b", "(a + b) * (a - b)", "a + p - p * b",
]  # fmt: skip


def _python() -> dict[str, object]:
    """The vocabulary on plain integers, written anew."""

    def wrap(x: int, t: DType) -> int:
        return (x - t.lo) % 2**t.bits + t.lo

    def round_shift(x: int, n: int) -> int:
        return (x + 2**n // 2) // 2**n

    def clip(x: int, lo: int, hi: int) -> int:
        return sorted((lo, x, hi))[1]

    return {
        "min": builtins.min, "max": builtins.max, "wrap": wrap, "round_shift": round_shift,
        "clip": clip, "absdiff": lambda a, b: abs(a - b), "clip_u8": lambda x: clip(x, 0, 255),
        "clip_s8": lambda x: clip(x, -128, 127), "select": lambda m, a, b: a if m else b,
        "all_le": lambda xs, c: all(x <= c for x in xs), "i8": i8, "u8": u8,
        "any_gt": lambda xs, c: any(x > c for x in xs), "sum": builtins.sum,
        "rotate": lambda a, b, c, s, n: tuple(
            round_shift(x, n) for x in (a * c - b * s, a * s + b * c)
        ),
    }  # fmt: skip


A = np.arange(0, 256, 9)
B = np.arange(-3, 251, 5)[: len(A)]


@pytest.mark.parametrize("text", EXPRESSIONS)
def test_expression(text: str, tmp_path: Path) -> None:
    body = (
        'q = k.block("q", i16, (8,), lo=-3, hi=250)\nw = k.block("w", i32, (8,), access="out")\n'
        f"with k.stage(i=8) as i:\n    a, b = px[0, i], q[i]\n    px[0, i] = 1\n    w[i] = {text}\n"
    )
    kernel = kernel_of(tmp_path, spec_text(body))
    count = len(A)
    px = np.zeros((count, 8, 8), dtype=np.int64)
    px[:, 0] = A[:, None]
    q = np.repeat(B[:, None], 8, axis=1)
    p = np.arange(count) % 101
    items = Items({"px": px, "c": np.zeros((count, 8, 8), dtype=np.int64), "q": q}, {"p": p})
    got = run(kernel, items).buffers["w"][:, 0]
    names = _python()
    plain = text.replace("~(a > 3)", "not (a > 3)")
    want = [
        int(eval(plain, names | {"a": int(x), "b": int(y), "p": int(z)}))
        for x, y, z in zip(A, B, p, strict=True)
    ]
    assert got.tolist() == want
    stored = Ranges(kernel).of(kernel.stages[0].stores[-1].value)
    assert stored.within(-(2**31), 2**31 - 1)


def test_slices_name_coordinates(tmp_path: Path) -> None:
    body = (
        'f = k.plane("f", u8, rows=(-2, 3), cols=(-4, 4), access="inout")\n'
        "with k.stage(i=4) as i:\n"
        "    m2, m1 = f[-2:0, i]\n    zero, two = f[::2, i - 4][1:]\n"
        "    f[1:, i] = [m1, m2]\n    f[0, i - 4] = two\n    px[0:2, i] = 5\n"
    )
    stage = kernel_of(tmp_path, spec_text(body)).stages[0]
    index = [(s.buffer, s.index[0].const, s.index[1]) for s in stage.stores]
    lane = (("i", 1),)
    assert index == [
        ("f", 1, Affine(0, lane)), ("f", 2, Affine(0, lane)), ("f", 0, Affine(-4, lane)),
        ("px", 0, Affine(0, lane)), ("px", 1, Affine(0, lane)),
    ]  # fmt: skip
    loads = [n.index[0].const for n in (stage.stores[0].value, stage.stores[2].value)]
    assert loads == [-1, 2]


def test_lanes_make_affine_indices(tmp_path: Path) -> None:
    body = (
        "with k.stage(y=2, x=4) as (y, x):\n"
        "    px[7 - y, 2 * x + y] = px[y * 2 - 1 + 1, -x + 3 + 0 * y]\n"
    )
    (store,) = kernel_of(tmp_path, spec_text(body)).stages[0].stores
    assert store.index == (Affine(7, (("y", -1),)), Affine(0, (("x", 2), ("y", 1))))
    assert store.value.index == (Affine(0, (("y", 2),)), Affine(3, (("x", -1),)))


def test_masks_combine_and_end(tmp_path: Path) -> None:
    body = (
        "with k.stage(i=8) as i:\n    with k.when(p > 1):\n        px[0, i] = 1\n"
        "        with k.when(p > 2):\n            px[1, i] = 1\n"
        "        px[2, i] = 1\n    px[3, i] = 1\n"
    )
    masks = [s.mask for s in kernel_of(tmp_path, spec_text(body)).stages[0].stores]
    assert masks[0] is masks[2] and masks[3] is None
    assert masks[1] is not None and masks[1].op is Op.AND and masks[1].args[0] is masks[0]


def test_values_carry_the_authors_names_and_lines(tmp_path: Path) -> None:
    body = (
        "def half(v):\n    inner = v >> 1\n    return inner\n"
        "with k.stage(i=8) as i:\n    first = px[0, i]\n    second = half(first)\n"
        "    several = [first + 1, first + 2]\n    px[0, i] = second\n"
        "    px[1, i] = clip_u8(several[0] * several[1])\n"
    )
    text = spec_text(body)
    nodes = {n.name: n for n in kernel_of(tmp_path, text).stages[0].nodes() if n.name}
    assert set(nodes) == {"first", "second", "several0", "several1"}
    lines = text.splitlines()
    assert "first = px" in lines[nodes["first"].loc.line - 1]
    assert "inner = v >> 1" in lines[nodes["second"].loc.line - 1]


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        # A variable of a comprehension ends with it.
        (("one, edge = px[0, i] + 1, px[0, i] + 2",
          "found = [x + n for n in (1, 2) for x in (one * 2, edge * 3)]",
          "px[0, i] = clip_u8(found[0] + found[3])"), {"one", "edge", "found0", "found3"}),
        # Of two variables with a value, the shorter name, whichever Python has last.
        (("a = px[0, i] + 2", "later = a", "px[0, i] = clip_u8(later)"), {"a"}),
        (("earlier = px[0, i] + 2", "b = earlier", "px[0, i] = clip_u8(b)"), {"b"}),
    ],
)  # fmt: skip
def test_names_do_not_depend_on_pythons_version(
    lines: tuple[str, ...], wanted: set[str], tmp_path: Path
) -> None:
    body = "with k.stage(i=8) as i:\n" + "".join(f"    {line}\n" for line in lines)
    names = {n.name for n in kernel_of(tmp_path, spec_text(body)).stages[0].nodes() if n.name}
    assert names == wanted


def test_declarations_arrive(tmp_path: Path) -> None:
    body = (
        'k.plane("q", u8, rows=(-1, 2), cols=(0, 8), access="inout", lo=1, hi=99, owns="all",'
        ' note="a note")\n'
        't = k.table("t", i8, [[1, -2], [3, 4]])\n'
        'k.assumption("std", 0, 9, why="it says so")\n'
        'k.assumption("off", 0, 9, why="handy", default=False)\n'
        'k.item_class("few", p=(1, 5), nonzero={"c": (2, 8)}, why="often")\n'
    ) + in_stage("q = 0")
    text = spec_text(body).replace("def test_it(k):", 'def test_it(k):\n    """Says what."""')
    with pytest.raises(Exception, match="q is inout, but is never stored"):
        kernel_of(tmp_path, text)
    kernel = kernel_of(tmp_path / "2", text.replace('"inout", lo', '"in", lo'))
    q = kernel.buffer("q")
    assert (q.kind, q.dtype, q.shape, q.lo, q.hi) == ("plane", u8, ((-1, 2), (0, 8)), 1, 99)
    assert q.owns == q.shape and q.note == "a note" and q.extents == (3, 8) and q.size == 24
    assert kernel.buffer("c").dtype == i16 and (kernel.buffer("c").lo, kernel.param("p").hi) == (
        -32768, 100,
    )  # fmt: skip
    assert kernel.table("t").rows == ((1, -2), (3, 4)) and not kernel.table("t").vector
    assert kernel.defaults == {"std"} and kernel.class_names == ("few", "full")
    few = kernel.item_class("few")
    assert (few.when, few.nonzero, few.why) == ((("p", 1, 5),), (("c", (2, 8)),), "often")
    assert (kernel.id, kernel.codec, kernel.clause, kernel.doc) == (
        "test_it", "test", "a test", "Says what.",
    )  # fmt: skip


def test_one_spec_two_orientations(tmp_path: Path) -> None:
    head = HEAD.replace(
        '"a test"', '"a test", axes={"orientation": ("v", "h")}, bare="h", items="edges"'
    )
    body = (
        '    f = k.plane("f", u8, across=(-4, 4), along=(0, 8), access="inout")\n'
        "    with k.stage(i=8) as i:\n        f[-1, i] = f[2, i]\n"
    )
    v, h = (e.kernel for e in sorted(load_text(tmp_path, head + body), key=lambda e: e.kernel.id,
                                     reverse=True))  # fmt: skip
    assert (v.id, v.aliases, h.id, h.aliases) == ("test_it_v", (), "test_it_h", ("test_it",))
    assert v.buffer("f").shape == ((-4, 4), (0, 8)) and h.buffer("f").shape == ((0, 8), (-4, 4))
    lane = Affine(0, (("i", 1),))
    assert v.stages[0].stores[0].index == (Affine(-1), lane)
    assert h.stages[0].stores[0].index == (lane, Affine(-1))
    assert h.item_noun == "edges" and h.doc == "a test"


def test_a_value_without_loads_is_shared_by_stages(tmp_path: Path) -> None:
    body = (
        "twice = p * 2\nwith k.stage(i=8) as i:\n    px[0, i] = twice\n"
        "with k.stage(i=8) as i:\n    px[1, i] = twice + 1\n"
    )
    first, second = kernel_of(tmp_path, spec_text(body)).stages
    assert first.stores[0].value in second.nodes()


def test_samplers_draw_planes_in_the_specs_own_axes(tmp_path: Path) -> None:
    """[items, across, along] for both orientations; blocks and parameters are as they are."""
    text = """
import numpy as np
from daedalus.dsl.lang import *

@kernel(clause="a test", axes={"orientation": ("v", "h")})
def test_it(k):
    px = k.plane("px", u8, across=(-2, 2), along=(0, 8), access="inout")
    c = k.block("c", u8, (4, 8))
    p = k.param("p", u8, 0, 9)
    with k.stage(i=8) as i:
        px[0, i] = min(px[-1, i], c[1, i] + p)

@test_it.inputs
def drawn(rng, count):
    one = np.arange(32).reshape(4, 8)
    return {"px": np.stack([one] * count), "c": np.stack([one] * count), "p": np.full(count, 7)}
"""
    kernels = {e.kernel.id: e.kernel for e in load_text(tmp_path, text)}
    one = np.arange(32).reshape(4, 8)
    for name, px in (("test_it_v", one), ("test_it_h", one.T)):
        items = vectors.make_items(kernels[name], 3, 1, "typical")
        assert np.array_equal(items.buffers["px"][0], px)
        assert np.array_equal(items.buffers["c"][0], one)
        assert items.params["p"].tolist() == [7, 7, 7]
