# SPDX-License-Identifier: BSD-2-Clause
"""VP9's inverse transforms of 4 and 8 values, and the steps that transforms of all sizes consist
of."""

from collections.abc import Callable
from dataclasses import dataclass

from daedalus.dsl.kernels.vp9.cosines import COS64
from daedalus.dsl.lang import Value, rotate, round_shift

Bound = Callable[[Value], Value]
Transform1 = Callable[[list[Value]], list[Value]]

# sinpi_k_9, k = 1..4: VP9 8.7.1.6
SINPI = (0, 5283, 9929, 13377, 15212)


@dataclass(frozen=True)
class Steps:
    """What transforms consist of. fits states what T may hold, sums that of a + b before a
    multiplication by cos64(16)."""

    fits: Bound
    sums: Bound

    def turn(self, a: Value, b: Value, angle: int) -> tuple[Value, Value]:
        """The rotation (B)."""
        x, y = rotate(a, b, COS64[angle], COS64[32 - angle], 14)
        return self.fits(x), self.fits(y)

    def half(self, _sum: Value) -> Value:
        """The rotation by 16, of a sum or a difference. Code gives the argument no name."""
        return self.fits(round_shift(self.sums(_sum) * COS64[16], 14))

    def halves(self, a: Value, b: Value) -> tuple[Value, Value]:
        """The rotation by 16."""
        return self.half(a + b), self.half(a - b)

    def butterfly(self, a: Value, b: Value) -> tuple[Value, Value]:
        """The sum and the difference (H)."""
        return self.fits(a + b), self.fits(a - b)

    def merge(self, a: list[Value], b: list[Value]) -> tuple[list[Value], list[Value]]:
        """Sums and differences of what `flipped` makes, rounded (SH)."""
        return ([self.fits(round_shift(x + y, 14)) for x, y in zip(a, b, strict=True)],
                [self.fits(round_shift(x - y, 14)) for x, y in zip(a, b, strict=True)])  # fmt: skip


def flipped(a: Value, b: Value, angle: int) -> list[Value]:
    """The flipped rotation, unrounded (SB); S needs its 24 + BitDepth bits here, no more."""
    cos, sin = COS64[angle], COS64[32 - angle]
    return [a * sin + b * cos, a * cos - b * sin]


def inverse_dct8(fits: Bound, sums: Bound) -> Transform1:
    """The DCT of 8 values; fits and sums as of Steps."""
    steps = Steps(fits, sums)

    def idct8(x: list[Value]) -> list[Value]:
        s0, s1 = steps.halves(x[0], x[4])
        s2, s3 = steps.turn(x[2], x[6], 24)
        s4, s7 = steps.turn(x[1], x[7], 28)
        s5, s6 = steps.turn(x[5], x[3], 12)
        e0, e3 = steps.butterfly(s0, s3)
        e1, e2 = steps.butterfly(s1, s2)
        o4, o5 = steps.butterfly(s4, s5)
        o7, o6 = steps.butterfly(s7, s6)
        m6, m5 = steps.halves(o6, o5)
        y0, y7 = steps.butterfly(e0, o7)
        y1, y6 = steps.butterfly(e1, m6)
        y2, y5 = steps.butterfly(e2, m5)
        y3, y4 = steps.butterfly(e3, o4)
        return [y0, y1, y2, y3, y4, y5, y6, y7]

    return idct8


def inverse_dct4(fits: Bound, sums: Bound) -> Transform1:
    """The DCT of 4 values; fits and sums as of Steps."""
    steps = Steps(fits, sums)

    def idct4(x: list[Value]) -> list[Value]:
        s0, s1 = steps.halves(x[0], x[2])
        low, high = steps.turn(x[1], x[3], 24)
        return [fits(s0 + high), fits(s1 + low), fits(s1 - low), fits(s0 - high)]

    return idct4


def inverse_adst4(fits: Bound, _sums: Bound) -> Transform1:
    """The ADST of 4 values; fits states what T may hold."""

    def iadst4(x: list[Value]) -> list[Value]:
        s0 = x[0] * SINPI[1] + x[2] * SINPI[4] + x[3] * SINPI[2]
        s1 = x[0] * SINPI[2] - x[2] * SINPI[1] - x[3] * SINPI[4]
        s2 = (x[0] - x[2] + x[3]) * SINPI[3]
        s3 = x[1] * SINPI[3]
        return [fits(round_shift(s, 14)) for s in (s0 + s3, s1 + s3, s2, s0 + s1 - s3)]

    return iadst4


def inverse_adst8(fits: Bound, sums: Bound) -> Transform1:
    """The ADST of 8 values; fits and sums as of Steps."""
    steps = Steps(fits, sums)

    def iadst8(x: list[Value]) -> list[Value]:
        s = [y for n in range(4) for y in flipped(x[7 - 2 * n], x[2 * n], 30 - 8 * n)]
        t = sum(steps.merge(s[:4], s[4:]), list[Value]())
        t0, t1 = fits(t[0] + t[2]), fits(t[1] + t[3])
        t2, t3 = fits(t[0] - t[2]), fits(t[1] - t[3])
        (t4, t5), (t6, t7) = steps.merge(flipped(t[4], t[5], 24), flipped(t[7], t[6], 8)[::-1])
        return [t0, fits(-t4), steps.half(t6 + t7), fits(-steps.half(t2 + t3)),
                steps.half(t2 - t3), fits(-steps.half(t6 - t7)), t5, fits(-t1)]  # fmt: skip

    return iadst8


def inverse_wht4(fits: Bound, shift: int) -> Transform1:
    """The Walsh-Hadamard transform of 4 values, which are shifted first."""

    def iwht4(x: list[Value]) -> list[Value]:
        a, c, d, b = (v >> shift for v in x)
        a, d = a + c, d - b
        e = (a - d) >> 1
        b, c = e - b, e - c
        return [fits(v) for v in (a - b, b, c, d + c)]

    return iwht4
