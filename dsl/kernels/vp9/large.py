# SPDX-License-Identifier: BSD-2-Clause
"""VP9's inverse transforms of 16 and 32 points, with few values alive at a time.

No spec of the library uses them yet.
"""

from daedalus.dsl.kernels.vp9.cosines import COS64
from daedalus.dsl.kernels.vp9.iadst import NEGATED, OUTPUT
from daedalus.dsl.kernels.vp9.idct import Bound, Transform1, inverse_dct4, inverse_dct8
from daedalus.dsl.lang import Value, rotate, round_shift


def inverse_adst16(fits: Bound, sums: Bound) -> Transform1:
    """The transform of 16 values; fits and sums as of inverse_dct8."""

    def turn(a: Value, b: Value, angle: int) -> list[Value]:
        """The flipped rotation, unrounded (SB); S needs its 24 + BitDepth bits here, no more."""
        cos, sin = COS64[angle], COS64[32 - angle]
        return [a * sin + b * cos, a * cos - b * sin]

    def merge(a: list[Value], b: list[Value]) -> tuple[list[Value], list[Value]]:
        """Sums and differences, rounded (SH)."""
        return ([fits(round_shift(x + y, 14)) for x, y in zip(a, b, strict=True)],
                [fits(round_shift(x - y, 14)) for x, y in zip(a, b, strict=True)])  # fmt: skip

    def add(a: list[Value], b: list[Value]) -> tuple[list[Value], list[Value]]:
        """Sums and differences (H)."""
        return ([fits(x + y) for x, y in zip(a, b, strict=True)],
                [fits(x - y) for x, y in zip(a, b, strict=True)])  # fmt: skip

    def last(pair: list[Value], negative: bool) -> list[Value]:
        """The rotation by 48 (negative), or by 112."""
        a, b = pair
        x, y = (-(a + b), a - b) if negative else (a + b, b - a)
        return [fits(round_shift(sums(v) * COS64[16], 14)) for v in (x, y)]

    def half(t: list[Value], negative: bool) -> list[Value]:
        """The last rotations of T's lower or upper half."""
        a, b = add(t[:2], t[2:4])
        c, d = merge(turn(t[4], t[5], 24), turn(t[7], t[6], 8)[::-1])
        return [*a, *last(b, negative), *c, *last(d, not negative)]

    def iadst16(x: list[Value]) -> list[Value]:
        low, high = list[Value](), list[Value]()
        for n in range(4):  # what meets, one behind the other: few values are alive at a time
            pair = merge(
                turn(x[15 - 2 * n], x[2 * n], 31 - 4 * n),
                turn(x[7 - 2 * n], x[8 + 2 * n], 15 - 4 * n),
            )
            low, high = low + pair[0], high + pair[1]
        a, b = add(low[:4], low[4:])
        first = merge(turn(high[0], high[1], 28), turn(high[5], high[4], 4)[::-1])
        second = merge(turn(high[2], high[3], 12), turn(high[7], high[6], 20)[::-1])
        c, d = first[0] + second[0], first[1] + second[1]
        t = half(a + b, True) + half(c + d, False)
        return [fits(-t[n]) if at in NEGATED else t[n] for at, n in enumerate(OUTPUT)]

    return iadst16


def _reversed_bits(n: int, bits: int) -> int:
    return sum((n >> k & 1) << (bits - 1 - k) for k in range(bits))


def inverse_dct(fits: Bound, sums: Bound) -> Transform1:
    """The transform of 4, 8, 16 or 32 values; fits and sums as of inverse_dct8.

    Even inputs go through the transform of half the size. The odd half is made block by block, as
    its places depend on each other, so that few values are alive at a time.
    """

    def turn(a: Value, b: Value, angle: int) -> tuple[Value, Value]:
        x, y = rotate(a, b, COS64[angle], COS64[32 - angle], 14)
        return fits(x), fits(y)

    def halves(a: Value, b: Value) -> tuple[Value, Value]:
        return (fits(round_shift(sums(a + b) * COS64[16], 14)),
                fits(round_shift(sums(a - b) * COS64[16], 14)))  # fmt: skip

    def butterfly(a: Value, b: Value) -> tuple[Value, Value]:
        return fits(a + b), fits(a - b)

    def odd_block(x: list[Value], first: int, size: int) -> dict[int, Value]:
        """Of T's upper half, which x are the inputs of: places from `first` on, so many, and those
        opposite, as they are before they meet others."""
        n = len(x)
        if size == 1:
            at = 1 + 2 * _reversed_bits(first, n.bit_length() - 1)
            low, high = x[at // 2], x[n - 1 - at // 2]
            return dict(
                zip((first, n - 1 - first), turn(low, high, 32 - at * 16 // n), strict=True)
            )
        t = odd_block(x, first, size // 2) | odd_block(x, first + size // 2, size // 2)
        blocks = n // (2 * size)
        which = first // size
        angle = 16 // blocks * (1 + 4 * _reversed_bits(which // 2, blocks.bit_length() - 2))
        for k in range(size // 2):
            kept, left = first + k, first + size - 1 - k
            if which % 2:
                kept, left = left, kept
            t[kept], t[left] = butterfly(t[kept], t[left])
            up, over = n - 1 - kept, n - 1 - left
            t[up], t[over] = butterfly(t[up], t[over])
            if blocks == 1:
                t[over], t[left] = halves(t[over], t[left])
            elif which % 2:
                c, s = COS64[32 - angle], COS64[angle]
                t[over], t[left] = map(fits, rotate(t[left], t[over], -s, -c, 14))
            else:
                t[left], t[over] = turn(t[over], t[left], 32 - angle)
        return t

    def idct(x: list[Value]) -> list[Value]:
        n = len(x) // 2
        if n <= 4:
            return {2: inverse_dct4, 4: inverse_dct8}[n](fits, sums)(x)
        even, odd = idct(x[::2]), odd_block(x[1::2], 0, n // 2)
        y = {}
        for k in range(n):
            y[k], y[2 * n - 1 - k] = butterfly(even[k], odd[n - 1 - k])
        return [y[k] for k in range(2 * n)]

    return idct
