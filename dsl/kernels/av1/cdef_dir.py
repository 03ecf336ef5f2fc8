# SPDX-License-Identifier: BSD-2-Clause
"""AV1 constrained directional enhancement filter: direction search, 8 bit."""

from daedalus.dsl.lang import KernelBuilder, i32, kernel, low_bits, select, u8, u16

# Div_Table: 840 by the pixels of a line, for each line of a direction
DIAGONAL = (840, 420, 280, 210, 168, 140, 120, 105, 120, 140, 168, 210, 280, 420, 840)
SLANTED = (420, 210, 140, 105, 105, 105, 105, 105, 140, 210, 420, 0, 0, 0, 0)
STRAIGHT = (105,) * 8 + (0,) * 7
WEIGHTS = (DIAGONAL, SLANTED, STRAIGHT, SLANTED) * 2


@kernel(clause="AV1 7.15.2 (CDEF direction process), 8 bit")
def av1_cdef_dir(k: KernelBuilder) -> None:
    """Finds the direction along which an 8x8 block varies least, and by how much.

    found[0] is yDir, found[1] is var.
    """
    src = k.plane("src", u8, rows=(0, 8), cols=(0, 8))
    found = k.block("found", i32, (2,), access="out", lo=0, note="yDir, var")
    weights = k.table("weights", u16, WEIGHTS)
    line_cost = k.assumption(
        "line", 0, 8 * 128**2 * 840, why="follows from the table: a line of n pixels sums to at"
        " most 128 * n, and its square is weighted by 840 / n",
    )  # fmt: skip
    partial = k.temp("partial", (8, 15), init=0)
    cost = k.temp("cost", (8,), init=0)
    best = k.temp("best", (1,), init=0)
    direction = k.temp("direction", (1,), init=7)

    with k.stage(y2=4, y1=2, x2=4, x1=2) as (y2, y1, x2, x1):
        y, x = 2 * y2 + y1, 2 * x2 + x1
        lines = (y + x, y + x2, y, 3 + y - x2, 7 + y - x, 3 - y2 + x, x, y2 + x)
        px = src[y, x] - 128
        for at, line in enumerate(lines):
            partial.accumulate((at, line), px)
    with k.stage(d=8, n=15) as (d, n):
        p = partial[d, n]
        cost.accumulate(d, line_cost(p * p * weights[k.lane(d), k.lane(n)]))
    with k.stage(d=8) as d:
        best.accumulate(0, cost[d], "max")
    with k.stage(d=8) as d:  # of equal ones the first
        direction.accumulate(0, select(cost[d] >= best[0], k.lane(d), 7), "min")
    with k.stage(i=1):
        across = cost[low_bits(direction[0] + 4, 3)]
        found[0] = direction[0]
        found[1] = (best[0] - across) >> 10
