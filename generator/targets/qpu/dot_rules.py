# SPDX-License-Identifier: BSD-2-Clause
"""Rules of sums of neighbouring bytes with weights, four at a time by v8dot, as data.

Bytes are unsigned, weights are not, and which letter of setnnmode_us stands for which operand is
not known of the hardware. So both are taken as signed: the bytes less 128, and 128 times the sum of
the weights is added again.

Expressions are as in rules.py. Where the bytes do not begin with a word, the weights are moved, up
by `phase` bytes, which all windows with the same offset share, and not the bytes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from daedalus.dsl.ir import i8
from daedalus.generator.targets.qpu.rules import Expression, amount

Rows = Sequence[Sequence[int]]  # of weights: one of them is taken


@dataclass(frozen=True)
class DotRule:
    """The sum of `product` over the words, and `more`.

    mode     of v8dot
    word     of "a", four bytes: what all products with them share
    product  of "a", such a word, and "b", four weights
    """

    name: str
    mode: str
    when: Callable[[Rows], bool]
    word: Expression
    product: Expression
    more: Callable[[Rows], int]


def _signed_with_one_sum(rows: Rows) -> bool:
    return all(i8.lo <= w <= i8.hi for r in rows for w in r) and len({sum(r) for r in rows}) == 1


DOTS: tuple[DotRule, ...] = (
    DotRule(
        "bytes less 128, signed weights", "ss", _signed_with_one_sum,
        ("xor", "a", 0x80808080), ("v8dot", "a", "b"), lambda rows: 128 * sum(rows[0]),
    ),
)  # fmt: skip


def dot_rule(rows: Rows) -> DotRule | None:
    return next((r for r in DOTS if r.when(rows)), None)


def moved(count: int, phase: int) -> list[Expression]:
    """The words of so many weights, moved: of word k "b" is that of the weights as they are, "a"
    the one before."""
    if phase == 0:
        return ["b"] * -(-count // 4)
    down, up = ("shr", "a", amount(32 - 8 * phase)), ("shl", "b", amount(8 * phase))
    between = [("add", down, up)] * ((count - 1) // 4)
    return [up, *between, *([down] if (count - 1) % 4 + phase > 3 else [])]


def words_of(weights: Sequence[int], phase: int = 0) -> list[int]:
    """Weights that are known as words, moved."""
    data = [0] * phase + [w & 255 for w in weights]
    data += [0] * (-len(data) % 4)
    return [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data), 4)]
