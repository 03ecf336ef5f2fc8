# SPDX-License-Identifier: BSD-2-Clause
"""VP9 intra prediction, from the samples above a block and left of it.

Edges are as decoders prepare them. `top` begins above the block's first column; column -1 is the
corner. `left` begins beside the lowest row: the corner and `top` go on behind it. But for hor_up
it begins beside the first. What blocks of 8 and more have above to the right is equal to the last
sample above them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from daedalus.dsl.kernels.vp9.depth import DEPTHS, Bits, Depth
from daedalus.dsl.lang import (
    BufferRef,
    KernelBuilder,
    LaneIndex,
    Value,
    i8,
    kernel,
    max,
    min,
    round_shift,
)

Samples = Callable[..., object]


def halves(line: BufferRef, first: int = 0) -> Samples:
    """Round2(a + b, 1) of neighbours."""
    return lambda i: round_shift(line[i + first] + line[i + first + 1], 1)


def thirds(line: BufferRef, first: int = 0) -> Samples:
    """Round2(a + 2 * b + c, 2) of neighbours."""

    def of(i: LaneIndex) -> Value:
        a, b, c = (line[i + first + n] for n in range(3))
        return round_shift(((a + c) >> 1) + b, 1)

    return of


class Block:
    """A block of n x n samples, the lines beside it, and lines made of these."""

    def __init__(self, k: KernelBuilder, n: int, depth: Depth) -> None:
        self.k, self.n, self.depth = k, n, depth
        self.dst = self.edge("dst", n, rows=n, access="out")

    def edge(
        self, name: str, end: int, first: int = 0, rows: int = 1, access: str = "in"
    ) -> BufferRef:
        return self.k.plane(
            name, self.depth.type, rows=(0, rows), cols=(first, end), access=access,
            hi=self.depth.white,
        )  # fmt: skip

    def line(self, name: str, *pieces: tuple[int, Samples]) -> BufferRef:
        """So many samples of each piece, by their number in it."""
        line, at = self.k.temp(name, (sum(n for n, _ in pieces),)), 0
        for n, samples in pieces:
            with self.k.stage(i=n) as i:
                line[at + i] = samples(i)
            at += n
        return line

    def around(self) -> BufferRef:
        """Left from 1 on, corner, and top; samples 0 and 2 * n + 2 on do not matter."""
        left, top, n = self.edge("left", self.n), self.edge("top", self.n, -1), self.n
        return self.line(
            "around", (1, lambda i: left[0, i]), (n, lambda i: left[0, i]),
            (n, lambda i: top[0, i - 1]), (2, lambda i: top[0, n - 1]),
        )  # fmt: skip

    def on(self, name: str, n: int) -> BufferRef:
        """The n samples of an edge, and twice more the last."""
        edge = self.edge(name, n)
        return self.line("on", (n, lambda i: edge[0, i]), (2, lambda i: edge[0, n - 1]))

    def fill(self, sample: Samples) -> None:
        with self.k.stage(y=self.n, x=self.n) as (y, x):
            self.dst[y, x] = sample(y, x)

    def pairs(self, even: BufferRef, odd: BufferRef, first: int, step: int) -> None:
        """Rows 2 * y and 2 * y + 1 are those lines from first + step * y on."""
        with self.k.stage(y=self.n // 2, x=self.n) as (y, x):
            self.dst[2 * y, x] = even[first + step * y + x]
            self.dst[2 * y + 1, x] = odd[first + step * y + x]


def vert(b: Block) -> None:
    top = b.edge("top", b.n)
    b.fill(lambda y, x: top[0, x])


def hor(b: Block) -> None:
    left = b.edge("left", b.n)
    b.fill(lambda y, x: left[0, b.n - 1 - y])


def mean(b: Block, *names: str) -> None:
    edges = [b.edge(name, b.n) for name in names]
    count = b.n * len(edges)
    with b.k.stage(i=b.n) as i:
        total = b.k.sum(
            "total", sum((e[0, i] for e in edges[1:]), edges[0][0, i]), start=count // 2
        )
    b.fill(lambda y, x: total[0] >> (count.bit_length() - 1))


def no_edge(b: Block) -> None:
    more = b.k.param("more", i8, -1, 1, why="than half of the range")
    value = Bits(b.k, b.depth).half + more
    b.fill(lambda y, x: value)


def tm(b: Block) -> None:
    left, top, n = b.edge("left", b.n), b.edge("top", b.n, -1), b.n
    white = Bits(b.k, b.depth).white
    b.fill(lambda y, x: min(max(left[0, n - 1 - y] - top[0, -1] + top[0, x], 0), white))


def down_left(b: Block) -> None:
    n, some = (8, 6) if b.n == 4 else (b.n, b.n)
    line = b.on("top", n)
    made = b.line("made", (some, thirds(line)), (2 * b.n - some, lambda i: line[n - 1]))
    b.fill(lambda y, x: made[y + x])


def vert_left(b: Block) -> None:
    n = 8 if b.n == 4 else b.n
    line = b.on("top", n)
    behind = b.n // 2, lambda i: line[n - 1]
    even, odd = b.line("even", (n, halves(line)), behind), b.line("odd", (n, thirds(line)), behind)
    b.pairs(even, odd, 0, 1)


def down_right(b: Block) -> None:
    line, n = b.around(), b.n
    made = b.line("made", (2 * n, thirds(line, 1)))
    b.fill(lambda y, x: made[n - 1 - y + x])


def vert_right(b: Block) -> None:
    line, n, half = b.around(), b.n, b.n // 2
    beside = b.line("beside", (n, thirds(line)))
    even, odd = (b.k.temp(name, (n + half,)) for name in ("even", "odd"))
    with b.k.stage(i=half) as i:
        odd[i], even[i] = beside[2 * i], beside[2 * i + 1]
    with b.k.stage(i=n) as i:
        even[half + i] = halves(line, n + 1)(i)
        odd[half + i] = thirds(line, n)(i)
    b.pairs(even, odd, half, -1)


def in_turn(b: Block, line: BufferRef, first: int, last: Samples) -> BufferRef:
    """Averages of two and of three from `first` on, and n samples behind."""
    n = b.n
    made = b.k.temp("made", (3 * n,))
    with b.k.stage(i=n) as i:
        made[2 * i] = halves(line, first)(i)
        made[2 * i + 1] = thirds(line, first)(i)
    with b.k.stage(i=n) as i:
        made[2 * n + i] = last(i)
    return made


def hor_down(b: Block) -> None:
    line, n = b.around(), b.n
    made = in_turn(b, line, 1, thirds(line, n + 1))
    b.fill(lambda y, x: made[2 * n - 2 - 2 * y + x])


def hor_up(b: Block) -> None:
    line = b.on("left", b.n)
    made = in_turn(b, line, 0, lambda i: line[b.n])
    b.fill(lambda y, x: made[2 * y + x])


@dataclass(frozen=True)
class Mode:
    """A mode: what makes the block, and FFmpeg's functions."""

    name: str
    make: Callable[[Block], None]
    says: str
    functions: Mapping[str, str]

    def __str__(self) -> str:
        return self.name


def mode(name: str, make: Callable[[Block], None], says: str, edges: str) -> Mode:
    return Mode(name, make, says, {"": f"[{name}](dst dst.stride {edges})"})


ONE = {"left": "[dc_left](dst dst.stride edge -)", "top": "[dc_top](dst dst.stride - edge)"}
NONE = {f"dc{128 + n}": f"[dc_{128 + n}](dst dst.stride - - more={n} bits)" for n in (-1, 0, 1)}
MODES = (
    mode("vert", vert, "V_PRED", "- top"),
    mode("hor", hor, "H_PRED", "left -"),
    mode("dc", lambda b: mean(b, "left", "top"), "DC_PRED", "left top"),
    Mode("dc_edge", lambda b: mean(b, "edge"), "DC_PRED where one edge is there", ONE),
    Mode("dc_none", no_edge, "what is predicted where no edge is there", NONE),
    mode("tm", tm, "TM_PRED", "left top bits"),
    mode("down_left", down_left, "D45_PRED", "- top"),
    mode("down_right", down_right, "D135_PRED", "left top"),
    mode("vert_right", vert_right, "D117_PRED", "left top"),
    mode("hor_down", hor_down, "D153_PRED", "left top"),
    mode("vert_left", vert_left, "D63_PRED", "- top"),
    mode("hor_up", hor_up, "D207_PRED", "left -"),
)


@kernel(
    id="vp9_intra_{mode}{size}{depth.end}",
    axes={"mode": MODES, "size": (4, 8, 16, 32), "depth": DEPTHS},
    clause="VP9 8.5.1 (intra prediction process), {mode.says}, BitDepth {depth}",
    decoders=lambda mode, size, depth: depth.entries(f"intra_pred[{size}]", mode.functions),
)  # fmt: skip
def vp9_intra(k: KernelBuilder, mode: Mode, size: int, depth: Depth) -> None:
    """A block of {size}x{size}, {mode.says}; {depth} bits a sample."""
    mode.make(Block(k, size, depth))
