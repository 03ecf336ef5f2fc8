# SPDX-License-Identifier: BSD-2-Clause
"""The interpreter: stages, masks, tables, and which items count as conformant."""

from pathlib import Path

import numpy as np
from spec_support import kernel_of, spec_text

from daedalus.dsl.interp import Items, Result, in_class, run
from daedalus.dsl.ir import Kernel
from daedalus.generator.compile.registry import load


def _run(folder: Path, body: str, count: int = 3) -> tuple[Kernel, Items, Result]:
    """Runs a spec on a plane that holds 8 * row + column (+ item), a block of minus that."""
    kernel = kernel_of(folder, spec_text(body))
    plane = np.arange(64).reshape(1, 8, 8) + np.arange(count).reshape(-1, 1, 1)
    items = Items({"px": plane, "c": -plane}, {"p": np.arange(count) * 10})
    return kernel, items, run(kernel, items)


def test_loads_see_the_state_before_the_stage(tmp_path: Path) -> None:
    body = (
        "with k.stage(i=8) as i:\n    px[1, i] = 200\n    px[0, i] = px[1, i]\n"
        "with k.stage(i=8) as i:\n    px[2, i] = px[1, i]\n"
    )
    _, items, got = _run(tmp_path, body)
    px = got.buffers["px"]
    assert np.array_equal(px[:, 0], items.buffers["px"][:, 1])
    assert (px[:, 1:3] == 200).all()
    assert np.array_equal(px[:, 3:], items.buffers["px"][:, 3:])


def test_masked_stores_leave_the_rest(tmp_path: Path) -> None:
    body = (
        "with k.stage(y=8, x=8) as (y, x):\n    with k.when(px[y, x] > 20):\n"
        "        with k.when(p > 5):\n            px[y, x] = 255\n"
    )
    _, items, got = _run(tmp_path, body)
    before = items.buffers["px"]
    hit = (before > 20) & (items.params["p"] > 5)[:, None, None]
    assert np.array_equal(got.buffers["px"], np.where(hit, 255, before))
    assert np.array_equal(got.written["px"], hit)
    assert not hit[0].any() and hit[1].any() and not hit.all()


def test_inputs_are_not_changed(tmp_path: Path) -> None:
    body = "with k.stage(y=8, x=8) as (y, x):\n    px[y, x] = 9\n"
    _, items, got = _run(tmp_path, body)
    assert (got.buffers["px"] == 9).all() and items.buffers["px"][0, 7, 7] == 63
    assert set(got.buffers) == {"px"}


def test_tables_clamp_their_index(tmp_path: Path) -> None:
    body = (
        't = k.table("t", u8, [[1, 2], [3, 4], [5, 6]])\n'
        "with k.stage(i=8) as i:\n"
        "    px[0, i] = t[p, 0]\n    px[1, i] = t[p - 11, p]\n    px[2, i] = t[px[0, i] - 3, 1]\n"
    )
    _, _, got = _run(tmp_path, body)
    px = got.buffers["px"]
    assert [list(px[n, 0, :1]) for n in range(3)] == [[1], [5], [5]]  # p = 0, 10, 20
    assert [list(px[n, 1, :1]) for n in range(3)] == [[1], [2], [6]]
    assert list(px[0, 2]) == [2, 2, 2, 2, 4, 6, 6, 6]


def test_dot_takes_the_items_row(tmp_path: Path) -> None:
    body = (
        't = k.table("t", i8, [[1, 0], [-3, 7]])\n'
        "with k.stage(i=8) as i:\n    px[0, i] = clip_u8(dot(t, p >> 3, [px[0, i], px[1, i]]))\n"
    )
    _, items, got = _run(tmp_path, body)
    a, b = items.buffers["px"][:, 0], items.buffers["px"][:, 1]
    want = [a[0], *(np.clip(-3 * a[n] + 7 * b[n], 0, 255) for n in (1, 2))]
    assert np.array_equal(got.buffers["px"][:, 0], want)


def test_conformance_is_per_item_and_assumption(tmp_path: Path) -> None:
    body = (
        'a = k.assumption("a", 0, 64, why="a test")\n'
        'b = k.assumption("b", -63, 0, why="a test", default=False)\n'
        "with k.stage(y=8, x=8) as (y, x):\n"
        "    px[y, x] = clip_u8(a(px[y, x]) + b(c[y, x]))\n"
    )
    kernel, items, got = _run(tmp_path, body)
    # px reaches 63, 64, 65; c reaches -63, -64, -65
    assert list(got.broken["a"]) == [False, False, True]
    assert list(got.broken["b"]) == [False, True, True]
    assert list(got.conformant(kernel.defaults)) == [True, True, False]
    assert list(got.conformant(frozenset({"a", "b"}))) == [True, False, False]
    assert list(got.conformant(frozenset())) == [True, True, True]
    assert got.buffers["px"][2, 7, 7] == 0  # computed all the same: 65 - 65


def test_inputs_out_of_range_are_not_conformant(tmp_path: Path) -> None:
    body = "with k.stage(y=8, x=8) as (y, x):\n    px[y, x] = 9\n"
    kernel, items, _ = _run(tmp_path, body, 5)
    items.params["p"][:] = [0, 100, 101, -1, 0]
    items.buffers["px"][1, 3, 3] = 256
    items.buffers["px"][4, 3, 3] = -1
    got = run(kernel, items)
    assert list(got.conformant(frozenset())) == [True, False, False, False, False]


def test_classes_are_preconditions() -> None:
    kernel = next(e.kernel for e in load() if e.kernel.id == "vp9_idct8")
    coeffs = np.zeros((6, 8, 8), dtype=np.int64)
    coeffs[:, 0, 0] = 5
    coeffs[2, 3, 3] = coeffs[3, 4, 0] = coeffs[4, 0, 4] = 1
    eob = np.array([1, 2, 12, 12, 12, 13])
    items = Items({"coeffs": coeffs, "dst": np.zeros((6, 8, 8), dtype=np.int64)}, {"eob": eob})
    assert list(in_class(kernel, "dc", items)) == [True] + [False] * 5
    assert list(in_class(kernel, "eob12", items)) == [False, True, True, False, False, False]
    assert in_class(kernel, "full", items).all()


def test_items_can_be_taken() -> None:
    items = Items({"a": np.arange(6).reshape(3, 2)}, {"p": np.arange(3)})
    some = items.take(np.array([True, False, True]))
    assert some.count == 2 and list(some.params["p"]) == [0, 2]
    assert np.array_equal(some.buffers["a"], [[0, 1], [4, 5]])
