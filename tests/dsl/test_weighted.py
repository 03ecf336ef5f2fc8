# SPDX-License-Identifier: BSD-2-Clause
"""Sums of products with common factors: their intervals hold, and are those of all corners."""

import itertools
import random
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from spec_support import kernel_of, refusal, spec_text

from daedalus.dsl.build import Builder
from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import Affine, Buffer, Kernel, Node, Op, Param, Stage, Store, i32
from daedalus.dsl.ranges import Interval, Ranges

AT = Loc("spec.py", 1)


class Program:
    """Parameters of given ranges, and what is computed of them."""

    def __init__(self, **params: tuple[int, int]) -> None:
        self.build = Builder({})
        self.params = {n: Param(n, i32, lo, hi, AT) for n, (lo, hi) in params.items()}

    def node(self, expression: Any) -> Node:
        """Of names, integers, and (op, a, b)."""
        if isinstance(expression, int):
            return self.build.const(expression, AT)
        if isinstance(expression, str):
            return self.build.make(Op.PARAM, (), (expression,), AT)
        op, *args = expression
        return self.build.make(op, tuple(self.node(a) for a in args), (), AT)

    def interval(self, expression: Any) -> Interval:
        node = self.node(expression)
        store = Store("out", (Affine(0),), node, None, AT)
        stage = Stage((("i", 1),), (store,), AT)
        out = Buffer("out", "block", i32, ((0, 1),), "out", AT, i32.lo, i32.hi)
        kernel = Kernel(
            "a_b", "a", "c", "d", AT, (out,), tuple(self.params.values()), (), (), (), (), (stage,)
        )
        return Ranges(kernel).of(node)


def add(a: Any, b: Any) -> Any:
    return Op.ADD, a, b


def sub(a: Any, b: Any) -> Any:
    return Op.SUB, a, b


def mul(a: Any, b: Any) -> Any:
    return Op.MUL, a, b


def blend(a: Any, b: Any, m: Any, total: int) -> Any:
    return add(mul(a, sub(total, m)), mul(b, m))


BYTES = {n: (0, 255) for n in "abcd"}
WEIGHED = {
    "two of a mask": (BYTES | {"m": (0, 64)}, blend("a", "b", "m", 64), (0, 255 * 64)),
    "weights of a part": (BYTES | {"m": (16, 32)}, blend("a", "b", "m", 64), (0, 255 * 64)),
    "other ends": ({"a": (3, 10), "b": (-5, 4), "m": (0, 8)}, blend("a", "b", "m", 8), (-40, 80)),
    "weights below 0": (BYTES | {"m": (0, 72)}, blend("a", "b", "m", 64), (-8 * 255, 72 * 255)),
    "four in both axes": (
        BYTES | {"m": (0, 8), "n": (0, 8)},
        blend(blend("a", "b", "m", 8), blend("c", "d", "m", 8), "n", 8), (0, 255 * 64),
    ),
    "three": (
        BYTES | {"m": (0, 32), "n": (0, 32)},
        add(add(mul("a", "m"), mul("b", "n")), mul("c", sub(sub(64, "m"), "n"))), (0, 255 * 64),
    ),
    "a difference weighted": (
        BYTES | {"m": (0, 64)}, add(mul("a", 64), mul(sub("b", "a"), "m")), (0, 255 * 64),
    ),
    "a constant times a blend": (
        BYTES | {"m": (0, 64)}, sub(mul(blend("a", "b", "m", 64), 3), 7), (-7, 255 * 192 - 7),
    ),
    "two blends that share nothing": (
        BYTES | {"m": (0, 64), "n": (0, 64)},
        add(blend("a", "b", "m", 64), blend("c", "d", "n", 64)), (0, 2 * 255 * 64),
    ),
    "what is taken away again": (
        BYTES | {"m": (0, 64)}, sub(blend("a", "b", "m", 64), mul("b", "m")), (0, 255 * 64),
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", WEIGHED)
def test_weights_that_add_up(case: str) -> None:
    params, expression, want = WEIGHED[case]
    assert Program(**params).interval(expression) == Interval(*want)


def value(expression: Any, at: dict[str, int]) -> int:
    if isinstance(expression, int):
        return expression
    if isinstance(expression, str):
        return at[expression]
    op, a, b = expression
    x, y = value(a, at), value(b, at)
    return x + y if op is Op.ADD else x - y if op is Op.SUB else x * y


def _drawn(rng: random.Random, depth: int, names: str) -> Any:
    """Of some names; products of what has none in common, unless all of them can be anywhere."""
    if depth == 0 or not names or rng.random() < 0.15:
        return rng.choice([*names, rng.randint(-4, 9)])
    op = rng.choice((add, sub, mul, mul))
    left = right = names
    if op is mul and names != EVERYWHERE:
        left = "".join(n for n in names if rng.random() < 0.5)
        right = "".join(n for n in names if n not in left)
    return op(_drawn(rng, depth - 1, left), _drawn(rng, depth - 1, right))


EVERYWHERE = "abmna"  # a name twice, so that it is told from the four apart


@pytest.mark.parametrize("names", ["abmn", EVERYWHERE])
def test_any_sum_of_products_stays_inside(names: str) -> None:
    """And where no value is multiplied by itself, all ends are reached."""
    for seed in range(300):
        rng = random.Random(seed)
        params = {n: tuple(sorted((rng.randint(-3, 3), rng.randint(-3, 3)))) for n in "abmn"}
        expression = (
            rng.choice((Op.ADD, Op.SUB)), _drawn(rng, 3, names), _drawn(rng, 3, names),
        )  # fmt: skip
        got = Program(**params).interval(expression)
        every = [range(lo, hi + 1) for lo, hi in params.values()]
        values = [
            value(expression, dict(zip(params, at, strict=True)))
            for at in itertools.product(*every)
        ]
        assert got.lo <= min(values) and max(values) <= got.hi, seed
        if names != EVERYWHERE:
            assert (got.lo, got.hi) == (min(values), max(values)), seed


def test_a_power_is_a_value_of_its_own() -> None:
    """m * m and m are not known to belong together, but a square is not negative."""
    k = Program(m=(-3, 4), a=(0, 2))
    assert k.interval(sub(mul("a", mul("m", "m")), mul("a", 5))) == Interval(-10, 22)


@pytest.mark.parametrize(("count", "want"), [(7, (0, 560)), (12, (-960, 1920))])
def test_of_too_many_values_together_the_parts_tell(count: int, want: tuple[int, int]) -> None:
    """x*(8 - m) + x*(m - n) for each x: eight values occur more than once, or more."""
    names = [f"x{n}" for n in range(count)]
    k = Program(**dict.fromkeys(names, (0, 10)), m=(0, 8), n=(0, 8))
    down = reduce(add, [mul(x, sub(8, "m")) for x in names])
    up = reduce(add, [mul(x, sub("m", "n")) for x in names])
    assert k.interval(add(down, up)) == Interval(*want)


BODY = """
m = k.param("m", u8, 0, {most})
with k.stage(i=8) as i:
    px[0, i] = round_shift(px[0, i] * (64 - m) + px[1, i] * m, 6)  # <-
"""


def test_a_blend_fits_its_element_without_a_limit(tmp_path: Path) -> None:
    kernel = kernel_of(tmp_path, spec_text(BODY.format(most=64)))
    (store,) = kernel.stages[0].stores
    assert Ranges(kernel).of(store.value) == Interval(0, 255)


def test_weights_that_can_be_negative_are_told(tmp_path: Path) -> None:
    error = refusal(tmp_path, spec_text(BODY.format(most=65)))
    assert (error.rule, error.message) == ("range", "stores [-4, 259] into px of u8")
