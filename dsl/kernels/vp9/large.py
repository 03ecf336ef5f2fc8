# SPDX-License-Identifier: BSD-2-Clause
"""VP9's inverse ADST of 16 values, and its inverse DCT of any size."""

from daedalus.dsl.kernels.vp9.cosines import COS64
from daedalus.dsl.kernels.vp9.small import (
    Bound,
    Steps,
    Transform1,
    flipped,
    inverse_dct4,
    inverse_dct8,
)  # fmt: skip
from daedalus.dsl.lang import Value, rotate

# Which T comes out at each place: the output permutation of 8.7.1.5 for n = 4. Then 8.7.1.8
# negates some places.
OUTPUT = (0, 8, 12, 4, 6, 14, 10, 2, 3, 11, 15, 7, 5, 13, 9, 1)
NEGATED = (1, 3, 13, 15)


def inverse_adst16(fits: Bound, sums: Bound) -> Transform1:
    """The ADST of 16 values; fits and sums as of Steps."""
    steps = Steps(fits, sums)

    def add(a: list[Value], b: list[Value]) -> tuple[list[Value], list[Value]]:
        """Sums and differences (H)."""
        return ([fits(x + y) for x, y in zip(a, b, strict=True)],
                [fits(x - y) for x, y in zip(a, b, strict=True)])  # fmt: skip

    def last(pair: list[Value], negative: bool) -> list[Value]:
        """The rotation by 48 (negative), or by 112."""
        a, b = pair
        x, y = (-(a + b), a - b) if negative else (a + b, b - a)
        return [steps.half(x), steps.half(y)]

    def half(t: list[Value], negative: bool) -> list[Value]:
        """The last rotations of T's lower or upper half."""
        a, b = add(t[:2], t[2:4])
        c, d = steps.merge(flipped(t[4], t[5], 24), flipped(t[7], t[6], 8)[::-1])
        return [*a, *last(b, negative), *c, *last(d, not negative)]

    def iadst16(x: list[Value]) -> list[Value]:
        low, high = list[Value](), list[Value]()
        for n in range(4):  # what meets, one behind the other: few values are alive at a time
            pair = steps.merge(
                flipped(x[15 - 2 * n], x[2 * n], 31 - 4 * n),
                flipped(x[7 - 2 * n], x[8 + 2 * n], 15 - 4 * n),
            )
            low, high = low + pair[0], high + pair[1]
        first = steps.merge(flipped(high[0], high[1], 28), flipped(high[5], high[4], 4)[::-1])
        second = steps.merge(flipped(high[2], high[3], 12), flipped(high[7], high[6], 20)[::-1])
        a, b = add(low[:4], low[4:])
        c, d = first[0] + second[0], first[1] + second[1]
        t = half(a + b, True) + half(c + d, False)
        return [fits(-t[n]) if at in NEGATED else t[n] for at, n in enumerate(OUTPUT)]

    return iadst16


def _reversed_bits(n: int, bits: int) -> int:
    return sum((n >> k & 1) << (bits - 1 - k) for k in range(bits))


def inverse_dct(fits: Bound, sums: Bound) -> Transform1:
    """The DCT of 4, 8, 16 or 32 values; fits and sums as of Steps.

    Even inputs go through the transform of half the size. The odd half is made layer by layer:
    what is done to one block of a layer does not depend on the others.
    """
    steps = Steps(fits, sums)
    small = {4: inverse_dct4(fits, sums), 8: inverse_dct8(fits, sums)}

    def join(t: list[Value], first: int, size: int) -> None:
        """Butterflies and rotations of the places from `first` on, so many, and those opposite."""
        n = len(t)
        blocks, which = n // (2 * size), first // size
        angle = 16 // blocks * (1 + 4 * _reversed_bits(which // 2, blocks.bit_length() - 2))
        pairs = []
        for k in range(size // 2):
            kept, left = first + k, first + size - 1 - k
            if which % 2:
                kept, left = left, kept
            up, over = n - 1 - kept, n - 1 - left
            t[kept], t[left] = steps.butterfly(t[kept], t[left])
            t[up], t[over] = steps.butterfly(t[up], t[over])
            pairs.append((over, left))
        for over, left in pairs:
            if blocks == 1:
                t[over], t[left] = steps.halves(t[over], t[left])
            elif which % 2:
                c, s = COS64[32 - angle], COS64[angle]
                t[over], t[left] = map(fits, rotate(t[left], t[over], -s, -c, 14))
            else:
                t[left], t[over] = steps.turn(t[over], t[left], 32 - angle)

    def odd_half(x: list[Value]) -> list[Value]:
        """T's upper half, as it is before it meets the lower one."""
        n = len(x)
        t = list(x)
        for place in range(n // 2):
            at = _reversed_bits(place, n.bit_length() - 1)
            turned = steps.turn(x[at], x[n - 1 - at], 32 - (1 + 2 * at) * 16 // n)
            t[place], t[n - 1 - place] = turned
        for size in (2 << k for k in range(n.bit_length() - 2)):
            for first in range(0, n // 2, size):
                join(t, first, size)
        return t

    def idct(x: list[Value]) -> list[Value]:
        if len(x) in small:
            return small[len(x)](x)
        n = len(x) // 2
        even, odd = idct(x[::2]), odd_half(x[1::2])
        y = {}
        for k in range(n):
            y[k], y[2 * n - 1 - k] = steps.butterfly(even[k], odd[n - 1 - k])
        return [y[k] for k in range(2 * n)]

    return idct
