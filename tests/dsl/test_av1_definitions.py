# SPDX-License-Identifier: BSD-2-Clause
"""AV1 specs against the standard's own wording."""

import numpy as np
import pytest
from av1_standard import SGR_PARAMS, cdef_direction, cdef_filter, self_guided

from daedalus.dsl import interp, vectors
from daedalus.dsl.interp import Items
from daedalus.dsl.ir import Kernel, Op
from daedalus.generator.compile.registry import load

KERNELS = {e.kernel.id: e.kernel for e in load()}
CDEF, DIR, SGR = (KERNELS[n] for n in ("av1_cdef8", "av1_cdef_dir", "av1_sgr8"))


def _assumed(kernel: Kernel) -> dict[str, int]:
    """Assumption -> its upper end."""
    nodes = (n for s in kernel.stages for n in s.nodes() if n.op is Op.ASSUME)
    return {n.attr[0]: n.attr[2] for n in nodes}


def _check_directions(blocks: np.ndarray) -> np.ndarray:
    """Compares what the spec finds in blocks [items, 8, 8]; returns it, [items, 2]."""
    found = np.zeros((len(blocks), 2), dtype=np.int64)
    got = interp.run(DIR, Items({"src": blocks, "found": found}, {}))
    y_dir, var = cdef_direction(blocks)
    assert got.buffers["found"][:, 0].tolist() == y_dir.tolist()
    assert got.buffers["found"][:, 1].tolist() == var.tolist()
    assert got.conformant(DIR.defaults).all()  # the assumption follows from 8-bit pixels
    return got.buffers["found"]


@pytest.mark.parametrize("kind", ["conformant", "boundary", "hostile"])
def test_direction_search_is_the_standards(kind: str) -> None:
    found = _check_directions(vectors.make_items(DIR, 3000, 2, kind).buffers["src"])
    assert set(found[:, 0].tolist()) == set(range(8))


def test_directions_of_stripes() -> None:
    """Worked out by hand: lines of one brightness are found along themselves, across all others."""
    y, x = np.indices((8, 8))
    lines = (y + x, y + x // 2, y, 3 + y - x // 2, 7 + y - x, 3 - y // 2 + x, x, y // 2 + x)
    stripes = np.stack([np.where(line & 2, 255, 0) for line in lines])
    assert _check_directions(stripes)[:, 0].tolist() == list(range(8))
    assert (_check_directions(stripes)[:, 1] > 1000).all()


def test_direction_of_flat_blocks() -> None:
    """All costs are equal: the first direction, and no variance; 0 is the worst line there is."""
    flat = np.broadcast_to(np.arange(256)[:, None, None], (256, 8, 8))
    assert not _check_directions(flat).any()
    assert _assumed(DIR)["line"] == (8 * 128) ** 2 * 105


def _available(edges: int) -> np.ndarray:
    """CdefAvailable around a block: 1 left, 2 right, 4 top, 8 bottom."""
    there = np.ones((12, 12), dtype=bool)
    there[:, :2] &= bool(edges & 1)
    there[:, 10:] &= bool(edges & 2)
    there[:2] &= bool(edges & 4)
    there[10:] &= bool(edges & 8)
    return there


@pytest.mark.parametrize("pri", range(16))
def test_cdef_is_the_standards(pri: int) -> None:
    """Every strength, damping and direction, on noise, on extremes and near one level; edges at
    random. Limits that the spec leaves out with one kind of taps are in the standard's wording."""
    rng = np.random.default_rng(pri)
    choices = [(s, d, way) for s in (0, 1, 2, 4) for d in range(2, 7) for way in range(8)]
    for edges in (15, int(rng.integers(0, 15))):
        level = rng.integers(0, 256, (3, 1, 1))
        near = np.clip(level + rng.integers(-12, 13, (3, 12, 12)), 0, 255)
        noise, extreme = rng.integers(0, 256, (2, 12, 12)), rng.choice([0, 255], (2, 12, 12))
        single = np.where(rng.random((3, 12, 12)) < 0.2, level ^ 1, level)
        frame = np.concatenate([near, noise, extreme, single])
        count, n = len(frame), len(choices)
        sec, damping, way = (np.repeat(c, count) for c in zip(*choices, strict=True))
        params = {
            "pri": np.full(count * n, pri), "sec": sec, "damping": damping, "dir": way,
            "edges": np.full(count * n, edges),
        }  # fmt: skip
        src = np.tile(frame, (n, 1, 1))
        dst = np.zeros((count * n, 8, 8), dtype=np.int64)
        got = interp.run(CDEF, Items({"dst": dst, "src": src}, params)).buffers["dst"]
        for k, (s, d, direction) in enumerate(choices):
            want = cdef_filter(frame, _available(edges), pri, s, d, direction)
            mine = got[k * count : (k + 1) * count]
            assert np.array_equal(mine, want), (pri, s, d, direction, edges)


def _check_restored(items: Items) -> None:
    got = interp.run(SGR, items)
    for chosen in range(16):
        mine = np.flatnonzero(items.params["set"] == chosen)
        one = items.take(mine)
        want = self_guided(one.buffers["src"], 3, chosen, (one.params["w0"], one.params["w1"]))
        assert np.array_equal(got.buffers["dst"][mine], want)
    assert not any(broken.any() for broken in got.broken.values())  # they follow from 8-bit pixels


@pytest.mark.parametrize("kind", ["conformant", "boundary"])
def test_self_guided_filter_is_the_standards(kind: str) -> None:
    _check_restored(vectors.make_items(SGR, 1500, 4, kind))


def test_self_guided_filter_on_every_set_and_texture() -> None:
    """Each set on noise of each strength, on two levels only, and on edges; weights at random."""
    rng = np.random.default_rng(5)
    count = 16 * 3 * 40
    chosen = np.arange(count) % 16
    strength = 2.0 ** rng.uniform(-1, 8, (count, 1, 1))
    noise = rng.integers(0, 256, (count, 1, 1)) + rng.normal(0, 1, (count, 13, 14)) * strength
    extreme = rng.choice([0, 255], (count, 13, 14))
    split = np.where(np.arange(14) < rng.integers(1, 14, (count, 1, 1)), 255, 0)
    texture = (np.arange(count) // 16 % 3)[:, None, None]
    src = np.choose(texture, [np.clip(noise, 0, 255).astype(np.int64), extreme, split])
    w0, w1 = rng.integers(-96, 32, count), rng.integers(-32, 96, count)
    dst = np.zeros((count, 8, 8), dtype=np.int64)
    _check_restored(Items({"src": src, "dst": dst}, {"set": chosen, "w0": w0, "w1": w1}))


def test_self_guided_filter_leaves_flat_areas() -> None:
    """The mean of equal pixels is the pixel, whatever the weights: 1/n and a2 may cost one level,
    which no set, level and extreme weight here exceeds."""
    level, chosen, ends = (a.ravel() for a in np.meshgrid(np.arange(256), np.arange(16), [0, 1]))
    src = np.broadcast_to(level[:, None, None], (len(level), 13, 14))
    w0, w1 = np.where(ends, 31, -96), np.where(ends, 95, -32)
    dst = np.zeros((len(level), 8, 8), dtype=np.int64)
    params = {"set": chosen, "w0": w0, "w1": w1}
    got = interp.run(SGR, Items({"src": src, "dst": dst}, params)).buffers["dst"]
    assert np.abs(got - level[:, None, None]).max() <= 1


def test_bounds_of_variance_are_attained() -> None:
    """n times the sum of squares less the square of the sum, by all counts of white pixels."""
    for n, name in ((25, "variance25"), (9, "variance9")):
        spread = [n * white * 255**2 - (white * 255) ** 2 for white in range(n + 1)]
        assert max(spread) == _assumed(SGR)[name]
    largest = max((2**20 + 81 * e // 2) // (81 * e) for _, _, r, e in SGR_PARAMS if r)
    assert 2**31 < _assumed(SGR)["variance9"] * largest < 2**32  # 32 bits, but not signed ones
