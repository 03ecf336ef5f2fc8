# SPDX-License-Identifier: BSD-2-Clause
"""Conditions as integers: their signs, for all operands near zero and at the ends of ranges.

The texts are of +, -, &, | and ~ alone, which mean the same in Python as long as nothing wraps:
that nothing does is what ranges show.
"""

from itertools import product
from pathlib import Path

import pytest
from spec_support import load_text, spec_text

from daedalus.dsl.ir import Kernel, Node, Op, evaluate, walk
from daedalus.dsl.ranges import Ranges
from daedalus.generator.targets.glsl.names import names
from daedalus.generator.targets.glsl.signs import SignValues
from daedalus.generator.targets.glsl.values import ZERO

CONDITIONS = (
    "c[0, 0] <= c[0, 1]", "c[0, 0] > c[0, 1]", "c[0, 0] <= 7", "c[0, 0] > 7", "3 <= c[0, 0]",
    "absdiff(c[0, 0], c[0, 1]) <= c[0, 2]", "absdiff(c[0, 0], c[0, 1]) > c[0, 2]",
    "c[0, 2] <= absdiff(c[0, 0], c[0, 1])", "c[0, 2] > absdiff(c[0, 0], c[0, 1])",
    "absdiff(c[0, 0], c[0, 1]) <= 5", "absdiff(c[0, 0], c[0, 1]) > 5",
    "c[0, 0] > 0", "0 > c[0, 0]", "absdiff(c[0, 0], c[0, 1]) > 0",
    "(c[0, 0] <= c[0, 1]) & (c[0, 1] > c[0, 2])", "(c[0, 0] <= c[0, 1]) | (c[0, 1] > c[0, 2])",
    "~((c[0, 0] <= c[0, 1]) & (c[0, 1] > c[0, 2]))",
)  # fmt: skip
NEAR = (*range(-7, 8), -32768, -32767, 32766, 32767)


def condition(kernel: Kernel) -> tuple[Node, SignValues]:
    (stage,) = kernel.stages
    mask = stage.stores[0].mask
    assert mask is not None
    hostile = Ranges(kernel, hostile=True)
    assert hostile.conformant is not None

    def read(n: Node, values: SignValues) -> str:
        return f"x{n.index[1].const}"

    return mask, SignValues(kernel, hostile.conformant, hostile, names(), read)


@pytest.mark.parametrize("text", CONDITIONS)
def test_the_sign_is_the_condition(text: str, tmp_path: Path) -> None:
    body = f"with k.stage(i=8) as i:\n    with k.when({text}):\n        px[0, i] = 1\n"
    (entry,) = load_text(tmp_path, spec_text(body))
    mask, values = condition(entry.kernel)
    values.emit([mask])
    locals_ = [line.removeprefix("const int ").removesuffix(";") for line in values.lines]
    code = compile("\n".join([*locals_, f"result = {values.text(mask)}"]), text, "exec")
    reads = sorted({n.index[1].const for n in walk((mask,)) if n.op is Op.LOAD})
    assert reads
    for operands in product(NEAR, repeat=len(reads)):
        scope = {ZERO: 0} | {f"x{n}": v for n, v in zip(reads, operands, strict=True)}
        known = dict(zip(reads, operands, strict=True))
        of: dict[Node, object] = {}
        for n in walk((mask,)):
            if n.op is Op.CONST:
                of[n] = n.value
            elif n.op is Op.LOAD:
                of[n] = known[n.index[1].const]
            else:
                of[n] = evaluate(n.op, n.attr, tuple(of[a] for a in n.args))
        exec(code, scope)
        assert (scope["result"] < 0) == bool(of[mask]), operands
        assert -(2**31) <= scope["result"] < 2**31


def test_differences_of_more_than_32_bits_are_compared(tmp_path: Path) -> None:
    body = (
        'w = k.block("w", i32, (8,))\n'
        "with k.stage(i=8) as i:\n    with k.when(w[0] <= c[0, 0]):\n        px[0, i] = 1\n"
    )
    (entry,) = load_text(tmp_path, spec_text(body))
    mask, values = condition(entry.kernel)
    values._read = lambda n, v: "x"
    values.emit([mask])
    assert any("<= x ? -1 : 0" in line for line in values.lines)
