# SPDX-License-Identifier: BSD-2-Clause
"""Dot products of neighbouring bytes in random programs: what the DOT instructions are for, and now
and then what just is not for them."""

import random
from collections.abc import Mapping
from dataclasses import replace

from daedalus.dsl import lang
from daedalus.dsl.ir import Affine, i8, i16, u8
from daedalus.dsl.trace import KernelBuilder
from daedalus.dsl.values import BufferRef, LaneIndex, TableRef, Value
from daedalus.generator.verify.fuzz.decided import Decided
from daedalus.generator.verify.fuzz.memory import Places
from daedalus.generator.verify.fuzz.values import Expressions

_ODD = 0.08  # of every respect in which a product may not suit


class Windows:
    """Draws them for one program: a plane of bytes, and a table of taps with equal sums."""

    LANES = (8, 8, 8, 16, 16, 16, 24, 32, 64, 4, 13, 37)  # of stages: mostly whole windows

    def __init__(self, k: KernelBuilder, rng: random.Random, *, on: bool) -> None:
        self.k, self.rng = k, rng
        self.on = on and rng.random() < 0.3
        self._found: tuple[BufferRef, TableRef, Value] | None = None

    def declare(self, stages: list[dict[str, int]]) -> None:
        """The plane, with room for every stage's lanes, the table, and a parameter for its row."""
        if not self.on:
            return
        rng, k = self.rng, self.k
        taps, rows = rng.choice((4, 4, 8, 8, 3)), rng.randint(1, 6)
        down = max(list(s.values())[-2] if len(s) > 1 else 1 for s in stages) + rng.choice(
            (0, 1, 3)
        )
        right = max(list(s.values())[-1] for s in stages) + taps - 1 + rng.choice((0, 0, 1, 9))
        top, left = -rng.choice((0, 1, down)), -rng.choice((0, 3, right))
        hi = rng.choice((255, 255, 200, 1))
        src = k.plane("win", u8, rows=(top, top + down), cols=(left, left + right), hi=hi)
        table = k.table("window_taps", rng.choice((i8, i16)), self._rows(taps, rows))
        self._found = src, table, k.param("which", u8, 0, rows + rng.choice((-1, -1, 0, 3)))

    def _rows(self, taps: int, rows: int) -> list[list[int]]:
        """Rows of signed bytes, nearly always of one sum: each moves amounts about in another."""
        rng = self.rng
        first = [rng.choice((i8.lo, i8.hi, rng.randint(i8.lo, i8.hi), rng.randint(-9, 9)))
                 for _ in range(taps)]  # fmt: skip
        found = [first]
        while len(found) < rows:
            row = rng.sample(rng.choice(found), taps)
            for _ in range(rng.choice((0, 1, 4))):
                a, b = rng.sample(range(taps), 2)
                most = min(row[a] - i8.lo, i8.hi - row[b])
                amount = rng.choice((most, rng.randint(0, most)))
                row[a], row[b] = row[a] - amount, row[b] + amount
            found.append(row)
        if rng.random() < _ODD:
            found[-1][0] -= 1 if found[-1][0] > 0 else -1
        return found

    def values(
        self, x: Expressions, places: Places, dims: Mapping[str, int], decided: Decided
    ) -> None:
        """Adds a stage's dot products to its values, as they are and brought back to bytes."""
        rng = self.rng
        if self._found is None or rng.random() < 0.15:
            return
        src, table, which = self._found
        taps = len(table.decl.rows[0])
        (top, bottom), (left, right) = src.decl.shape
        *outer, (lane, n) = dims.items()
        down = outer[-1][1] if outer else 1
        for _ in range(rng.choice((1, 2))):
            across = LaneIndex(Affine(rng.randint(left, right - (n - 1) - taps), ((lane, 1),)))
            along = LaneIndex(
                Affine(rng.randint(top, bottom - down), tuple((o, 1) for o, _ in outer[-1:]))
            )
            firsts = replace(src.decl, shape=((top, bottom), (left, right - (taps - 1))))
            key = decided.place(x, places, firsts, (along, across)) or (along, across)
            order = list(range(taps))
            if rng.random() < _ODD:
                rng.shuffle(order)
            pixels = [src[key[0], key[1] + m] for m in order]
            if rng.random() < _ODD:
                pixels[rng.randrange(taps)] = x.pick() if x.ints else pixels[0]
            row = rng.choice(x.uniform) if rng.random() < 0.2 and x.uniform else which
            value = lang.dot(table, row, pixels)
            x.add(value)
            if rng.random() < 0.6:
                x.add(lang.clip_u8(lang.round_shift(value, rng.choice((5, 6, 7, 8)))))
