# SPDX-License-Identifier: BSD-2-Clause
"""Random kernels for property tests: any mixture of operations, lanes, temps and masks that the
language's checks accept.
"""

import numpy as np

from daedalus.dsl.errors import SpecError
from daedalus.dsl.interp import Items
from daedalus.dsl.ir import Kernel
from daedalus.dsl.lang import (
    KernelBuilder,
    Value,
    absdiff,
    bit,
    clip,
    dot,
    i8,
    i16,
    kernel,
    max,
    min,
    round_shift,
    select,
    u8,
    u16,
    wrap,
)  # fmt: skip
from daedalus.dsl.verify import verify

TYPES = (u8, i8, i16, u16)


def weighted(a: Value, b: Value, m: Value) -> Value:
    """a and b by weights that add up to 64, rounded."""
    m = clip(m, 0, 64)
    return round_shift(clip(a, 0, 255) * (64 - m) + clip(b, 0, 255) * m, 6)


class _Values:
    """Draws operations on the values made so far; wide ones are brought back."""

    def __init__(self, rng: np.random.Generator, leaves: list[Value], taps: object) -> None:
        self.rng, self.known, self.masks, self.taps = rng, list(leaves), [], taps

    def pick(self) -> Value:
        return self.known[int(self.rng.integers(len(self.known)))]

    def small(self, bits: int = 12) -> Value:
        """A value of few bits, so that what follows stays within 32."""
        return clip(self.pick(), -(1 << bits), (1 << bits) - 1)

    def mask(self, otherwise: Value) -> Value:
        """A mask drawn before, if there is one."""
        if not self.masks:
            return otherwise > 3
        return self.masks[int(self.rng.integers(len(self.masks)))]

    def grow(self) -> None:
        """Adds one value."""
        rng, a, b = self.rng, self.small(), self.small()
        n, c = int(rng.integers(1, 9)), int(rng.integers(-300, 300))
        if self.rng.random() < 0.3:
            self.masks.append(a <= b if rng.random() < 0.5 else a > c)
            if len(self.masks) > 1 and rng.random() < 0.5:
                m, k = self.masks[-1], self.masks[-2]
                self.masks.append((m & k) if rng.random() < 0.5 else (m | ~k))
        ways = [
            lambda: a + b, lambda: a - b, lambda: a * b, lambda: a * c, lambda: a + c,
            lambda: a >> n, lambda: round_shift(a, n), lambda: a >> clip(b, 0, 15),
            lambda: min(a, b), lambda: max(a, c), lambda: abs(a), lambda: absdiff(a, b),
            lambda: clip(a, -abs(c), abs(c) + n), lambda: wrap(a, TYPES[n % 4]),
            lambda: dot(self.taps, clip(b, -1, 3), [a, b, self.small()]),
            lambda: -a, lambda: a * 2, lambda: a << 1,
            lambda: a & b, lambda: a | b, lambda: a ^ b, lambda: a & c, lambda: a | (c & 255),
            lambda: a & ~b, lambda: ~a, lambda: bit(a, n), lambda: bit(a, clip(b, 0, 15)),
            lambda: weighted(a, b, self.pick()), lambda: weighted(self.pick(), a, b),
            lambda: a << clip(b, 0, 7), lambda: 1 << (b & 15),
        ]  # fmt: skip
        if self.masks:
            mask = self.masks[int(rng.integers(len(self.masks)))]
            ways += [lambda: select(mask, a, b)] * 3
        self.known.append(ways[int(rng.integers(len(ways)))]())


def random_kernel(seed: int, *, size: int = 12) -> Kernel:
    """A verified kernel of five stages: one of a single lane, one that accumulates as parameters
    say, one in two dimensions, then one that rewrites what they stored and what they read, and one
    that reads where a parameter says and stores under masks.
    """
    rng = np.random.default_rng(seed)

    def spec(k: KernelBuilder) -> None:
        px = k.plane("px", u8, rows=(0, 4), cols=(0, 8), access="inout")
        block = k.block("c", i16, (4, 8), lo=-2000, hi=2000)
        wide = k.block("wide", i16, (4, 8), access="out")
        p = k.param("p", u8, 0, 20)
        taps = k.table("taps", i8, [[1, -2, 3], [0, 64, 0], [-5, 70, -1]])
        k.item_class("few", p=(0, 3), nonzero={"c": (2, 3)})
        q = k.params("q", i8, 8, -100, 100)
        t, one, sums = k.temp("t", (4, 8)), k.temp("one", (2,)), k.temp("sums", (8,), init=-3)

        def grown(leaves: list[Value]) -> _Values:
            made = _Values(rng, leaves, taps)
            for _ in range(size):
                made.grow()
            return made

        with k.stage(z=1) as z:
            one[0] = grown([block[0, 0], px[0, 0], p, k.lane(z + 3), q[z + 7]]).small()
            one[z + 1] = q[z] + k.lane(z)
        with k.stage(y=k.upto(p, 4), x=8, given=p > 1) as (y, x):
            made = grown([block[y, x], q[x], k.lane(y + x)])
            sums.accumulate(x, made.small(), "add")
            top = k.largest("top", made.small(), over=y, start=-5)
        with k.stage(y=4, x=8) as (y, x):
            t[y, x] = grown([block[y, x], block[y, x], px[y, x], p]).small()
        with k.stage(x=8) as x:
            made = grown([t[0, x], t[3, x], px[0, x], p])
            with k.when(made.mask(p)):
                t[3, x] = made.small()
            t[0, x] = made.small()
            px[0, x] = clip(made.small(), 0, 255)
        with k.stage(x=8) as x:
            far = block[clip(one[1], 0, 3), x]
            made = grown([*t[:, x], *px[:, x], one[0], p, sums[x] + top[x], far, q[x], k.lane(x)])
            for row in range(4):
                with k.when(made.mask(p)):
                    px[row, x] = clip(made.small(), 0, 255)
                wide[row, x] = one[0] if row == 0 else made.small()

    spec.__name__ = f"random_k{seed}"
    made = kernel(clause="random")(spec).kernels()[0]
    verify(made)
    return made


def accepted_kernels(count: int, *, size: int = 12) -> list[Kernel]:
    """That many random kernels; seeds whose program the checks refuse are passed over."""
    found: list[Kernel] = []
    for seed in range(10 * count):
        try:
            found.append(random_kernel(seed, size=size))
        except SpecError:
            continue
        if len(found) == count:
            return found
    raise AssertionError("too few random programs are legal")


def random_items(k: Kernel, count: int, seed: int, class_name: str = "full") -> Items:
    """Items within the declared ranges that meet a class's precondition; ends are frequent."""
    rng = np.random.default_rng(seed)

    def draw(lo: int, hi: int, shape: tuple[int, ...]) -> np.ndarray:
        values = rng.integers(lo, hi + 1, shape)
        ends = rng.choice([lo, hi, min_abs(lo, hi)], shape)
        return np.where(rng.random(shape) < 0.3, ends, values)

    buffers = {b.name: draw(b.lo, b.hi, (count, *b.extents)) for b in k.buffers}
    params = {
        p.name: draw(p.lo, p.hi, (count,) if p.count == 1 else (count, p.count)) for p in k.params
    }
    for c in k.classes:
        if c.name != class_name:
            continue
        for name, lo, hi in c.when:
            params[name] = draw(lo, hi, (count,))
        for name, extents in c.nonzero:
            inside = np.zeros_like(buffers[name])
            region = (slice(None), *(slice(0, n) for n in extents))
            inside[region] = buffers[name][region]
            buffers[name] = inside
    return Items(buffers, params)


def min_abs(lo: int, hi: int) -> int:
    """The member of [lo, hi] next to zero."""
    return sorted((lo, 0, hi))[1]
