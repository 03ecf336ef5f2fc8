# SPDX-License-Identifier: BSD-2-Clause
"""VP9 loop filters; an item is an edge segment of 8 positions, or of twice as many."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from daedalus.dsl.kernels.vp9.depth import DEPTHS, Bits, Depth
from daedalus.dsl.lang import (
    KernelBuilder,
    Value,
    absdiff,
    all_le,
    any_gt,
    kernel,
    min,
    round_shift,
    select,
    u8,
)  # fmt: skip


@dataclass(frozen=True)
class Edge:
    """How many taps 8 positions have, or the first 8 and the second 8."""

    taps: tuple[int, ...]

    @property
    def most(self) -> int:
        return max(self.taps)

    @property
    def pair(self) -> bool:
        """Whether the two have limits of their own."""
        return len(self.taps) == 2 and self.most < 16

    def __str__(self) -> str:
        return "".join(map(str, self.taps))

    @property
    def says(self) -> str:
        return ", then the ".join(f"{n}-tap filter on 8 positions" for n in self.taps)

    def entries(self, orientation: str, depth: Depth) -> dict[str, dict[str, str]]:
        of = "".join(f"[{n}]" for n in self.taps) if self.most < 16 or len(self.taps) == 1 else ""
        field = "mix2" if self.pair else 8 * len(self.taps)
        limits = "blimit/8 limit/8 thresh/8" if self.pair else "blimit limit thresh"
        return depth.entries(
            f"loop_filter_{field}{of}", {"": f"[{orientation}](dst dst.stride {limits} bits)"}
        )


EDGES = tuple(Edge(t) for t in ((4,), (8,), (16,), (16, 16), (4, 4), (4, 8), (8, 4), (8, 8)))


def averages(p: list[Value], q: list[Value], bits: int) -> Iterator[Value]:
    """What the wide filter of 2 << bits taps puts beside the edge, from p's side to q's. Every sum
    is the one before, with two samples leaving and two entering."""
    n = (1 << bits) // 2 - 1
    row = [p[n]] * n + p[n - 1 :: -1] + q[:n] + [q[n]] * n
    total = n * p[n] + 2 * p[n - 1]
    for x in [*p[: n - 1][::-1], q[0]]:
        total = total + x
    for at in range(2 * n):
        yield round_shift(total, bits)
        if at < 2 * n - 1:
            total = total + (row[at + n + 1] + row[at + 2 * n + 1] - row[at] - row[at + n])


@kernel(
    id="vp9_lpf{edge}{depth.end}_{orientation}",
    clause="VP9 8.8.2 (edge loop filter process), with the filter mask, narrow and wide filter"
    " processes that it invokes, BitDepth {depth}",
    axes={"edge": EDGES, "depth": DEPTHS, "orientation": ("v", "h")}, bare="h", items="edges",
    decoders=lambda edge, orientation, depth: edge.entries(orientation, depth),
)  # fmt: skip
def vp9_lpf(k: KernelBuilder, edge: Edge, depth: Depth) -> None:
    """The {edge.says}{depth.end_says}.

    16 taps are where both sides are flat far out, 8 where they are flat near the edge, 4 elsewhere.
    Limits are those for 8 bits: the filter scales them, and flatness.
    """
    halves, reach = len(edge.taps), 8 if edge.most == 16 else 4
    px = k.plane(
        "dst", depth.type, across=(-reach, reach), along=(0, 8 * halves), access="inout",
        hi=depth.white, owns="all",
    )  # fmt: skip

    def given(name: str, hi: int, why: str) -> Callable[[Any], Value]:
        """By the number of the half."""
        if edge.pair:
            return k.params(name, u8, 2, 0, hi, why=why).__getitem__
        value = k.param(name, u8, 0, hi, why=why)
        return lambda part: value

    limits = (
        given("blimit", 254, "2 * (63 + 2) + 63 = 193; must stay below 255"),
        given("limit", 63, "from the filter level and sharpness"),
        given("thresh", 15, "level >> 4"),
    )
    bits = Bits(k, depth)

    def limited(value: Value) -> Value:
        return bits.limited(value)

    with k.stage(part=2, i=8) if halves == 2 else k.stage(i=8) as lanes:
        part, at = (lanes[0], 8 * lanes[0] + lanes[1]) if halves == 2 else (lanes, lanes)
        blimit, limit, thresh = (of(part) << bits.more for of in limits)
        p, q = px[-reach:0, at][::-1], px[0:reach, at]
        steps = [absdiff(s[n + 1], s[n]) for s in (p, q) for n in range(3)]
        fm = all_le(steps, limit)
        fm = fm & (2 * absdiff(p[0], q[0]) + (absdiff(p[1], q[1]) >> 1) <= blimit)
        hev = any_gt([absdiff(p[1], p[0]), absdiff(q[1], q[0])], thresh)
        f = bits.signed(3 * (q[0] - p[0]) + select(hev, bits.signed(p[1] - q[1]), 0))
        f1, f2 = (min(f + n, bits.half - 1) >> 3 for n in (4, 3))
        g = round_shift(f1, 1)
        if edge.most == 4:
            with k.when(fm):
                px[-1, at], px[0, at] = limited(p[0] + f2), limited(q[0] - f1)
                with k.when(~hev):
                    px[-2, at], px[1, at] = limited(p[1] + g), limited(q[1] - g)
            return

        def flat_at(*far: int) -> Value:
            return all_le([absdiff(s[n], s[0]) for s in (p, q) for n in far], 1 << bits.more)

        flat = flat_at(1, 2, 3)
        if 4 in edge.taps:
            flat = flat & (k.lane(part) == edge.taps.index(8))
        g = select(hev, 0, g)
        moved = [limited(x) for x in (p[1] + g, p[0] + f2, q[0] - f1, q[1] - g)]
        near = [select(flat, *x) for x in zip(averages(p, q, 3), [p[2], *moved, q[2]], strict=True)]
        if edge.most == 8:
            with k.when(fm):
                px[-3:3, at] = near
            return
        far = flat & flat_at(4, 5, 6, 7)
        for n, wide in zip(range(-7, 7), averages(p, q, 4), strict=True):
            with k.when(fm if -3 <= n < 3 else fm & far):
                px[n, at] = select(far, wide, near[n + 3]) if -3 <= n < 3 else wide


@vp9_lpf.inputs
def _near_limits(
    rng: np.random.Generator, count: int, edge: Edge, depth: Depth
) -> dict[str, np.ndarray]:
    """Not for both halves of a pair. A third are slopes about as steep as the limits let through,
    with a jump at the edge: there the clips of the narrow filter bind. A third are flat, up to a
    noise about as strong as flatness allows; the others are noise."""
    if edge.pair:
        return {}
    limit, blimit = rng.integers(0, 64, count), rng.integers(0, 255, count)
    drawn = {"limit": limit, "blimit": blimit}
    bits = np.full(count, 8)
    if depth.high:
        drawn["bits"] = bits = rng.choice([10, 12], count)
    scale, white = ((1 << n)[:, None, None] - d for n, d in ((bits - 8, 0), (bits, 1)))
    reach, along = (8 if edge.most == 16 else 4), 8 * len(edge.taps)
    away = np.arange(2 * reach)[None, :, None] - reach + 0.5
    steep, flat = (rng.integers(0, 3, (count, 1, 1)) == n for n in (0, 1))
    rises = (rng.uniform(-5, 5, (count, 1, 1)) * limit[:, None, None] * scale for _ in range(2))
    slope = np.where(steep, np.where(away < 0, *rises), 0)
    jump = rng.uniform(-2, 2, (count, 1, 1)) * np.where(flat, 6, blimit[:, None, None]) / 2
    noise = rng.normal(0, 1, (count, 2 * reach, along)) * np.where(
        steep,
        3,
        np.where(flat, rng.choice([0.3, 1], (count, 1, 1)), rng.choice([2, 8, 32], (count, 1, 1))),
    )
    base = rng.uniform(0.2, 0.8, (count, 1, 1)) * white
    dst = base + slope * (away - np.sign(away) / 2) + (jump * np.sign(away) + noise) * scale
    return {**drawn, "dst": np.clip(np.rint(dst), 0, white).astype(np.int64)}
