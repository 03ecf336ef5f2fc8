# SPDX-License-Identifier: BSD-2-Clause
"""Which condition implies others: found of random ones, and held against all values."""

import itertools
import random
from collections.abc import Callable
from functools import partial

import pytest

from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.lang import KernelBuilder, kernel, u8
from daedalus.dsl.ranges import Ranges
from daedalus.generator.targets.gpu.limits import Limits, comparison, conjunction, strongest


def _kernel(seed: int) -> Kernel:
    """A kernel whose stores have random conditions on two parameters and a lane."""
    rng = random.Random(seed)

    @kernel(clause="none: a test")
    def test_limited(k: KernelBuilder) -> None:
        """Stores under conditions."""
        dst = k.plane("dst", u8, rows=(0, 1), cols=(0, 16), access="out")
        a, b = k.param("a", u8, 0, 20), k.param("b", u8, 0, 20)
        with k.stage(x=4) as x:
            place = k.lane(x)
            for n in range(4):
                mask = rng.choice([a, b]) > 4 * place + rng.randint(0, 5)
                if rng.random() < 0.4:
                    mask = mask & (rng.choice([a, b]) > 4 * place + rng.randint(0, 5))
                with k.when(mask):
                    dst[0, 4 * x + n] = n

    return test_limited.kernels()[0]


def _holds(n: Node, values: dict[str, int]) -> int:
    args = [_holds(a, values) for a in n.args]
    match n.op:
        case Op.CONST:
            return n.value
        case Op.PARAM | Op.LANE:
            return values[n.attr[0]]
        case Op.ADD:
            return args[0] + args[1]
        case Op.MUL:
            return args[0] * args[1]
        case Op.GT:
            return int(args[0] > args[1])
        case Op.AND:
            return int(args[0] and args[1])
    raise AssertionError(n.op)


@pytest.mark.parametrize(("of", "least"), [(comparison, 0), (conjunction, 5)])
def test_the_strongest_conditions_imply_the_others(of: Callable[..., Limits], least: int) -> None:
    """What is found holds only where all do; often one comparison is enough, but not always. GLSL
    takes comparisons as they are written, the QPU conjunctions by ranges' forms."""
    alone = fewer = 0
    for seed in range(40):
        made = _kernel(seed)
        ranges = Ranges(made, hostile=True, declared_params=True)
        masks = [s.mask for s in made.stages[0].stores]
        best = strongest(masks, comparison if of is comparison else partial(of, form=ranges.form))
        values = [
            dict(zip("abx", v, strict=True))
            for v in itertools.product(range(0, 21, 1), range(0, 21, 3), range(4))
        ]
        alone += len(best) == 1
        fewer += len(best) < len(set(masks))
        for v in values:
            assert all(_holds(m, v) for m in best) == all(_holds(m, v) for m in masks if m)
    assert least <= alone < 40 and fewer > 5


def test_no_condition_is_the_weakest() -> None:
    made = _kernel(1)
    first = made.stages[0].stores[0].mask
    assert strongest([None, None], comparison) == []
    assert strongest([None, first], comparison) == [first]
