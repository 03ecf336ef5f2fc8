# SPDX-License-Identifier: BSD-2-Clause
"""Tables of taps as bytes, where what is read of them are rows of taps of 8 bits.

Rows that no item selects may hold others: of these the low bits are kept. So an item that is not
conformant still finds a row.
"""

from dataclasses import replace

from daedalus.dsl.ir import Kernel, Op, i8
from daedalus.dsl.ranges import Ranges


def narrow_taps(kernel: Kernel) -> Kernel:
    """`kernel` with the tables of 16 bits that only dot products read, of rows of bytes, in 8."""
    readers = [n for s in kernel.stages for n in s.nodes() if n.op in (Op.TABLE, Op.DOT)]
    if not readers:
        return kernel
    ranges = Ranges(kernel)
    tables = []
    for t in kernel.tables:
        own = [n for n in readers if n.attr[0] == t.name]
        fits = all(
            n.op is Op.DOT and all(i8.lo <= x <= i8.hi for r in ranges.rows(n) for x in r)
            for n in own
        )
        if own and fits and t.dtype.signed:
            rows = tuple(tuple((x - i8.lo) % 256 + i8.lo for x in r) for r in t.rows)
            t = replace(t, dtype=i8, rows=rows)
        tables.append(t)
    return replace(kernel, tables=tuple(tables))
