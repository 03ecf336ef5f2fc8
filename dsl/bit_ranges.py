# SPDX-License-Identifier: BSD-2-Clause
"""The smallest and the largest value of an AND, OR or XOR of two intervals, exactly.

Results are compared from the highest bit down, so the best one is found bit by bit: of all
beginnings of both operands that their intervals allow, those are kept that give the wanted bit, or
all if none does. A beginning is told from others by whether it is still that of an interval's ends.
"""

from collections.abc import Callable
from functools import lru_cache
from operator import and_, or_, xor

from daedalus.dsl.ir import Op

_OF_BITS: dict[Op, Callable[[int, int], int]] = {
    Op.BITAND: and_, Op.BITOR: or_, Op.BITXOR: xor,
}  # fmt: skip
Ends = tuple[int, int]
_State = tuple[bool, bool, bool, bool]  # at the first operand's low and high end, the second's


@lru_cache(maxsize=4096)
def bitwise_bounds(op: Op, a: Ends, b: Ends) -> Ends:
    """The smallest and largest result of operands between these ends."""
    return _best(_OF_BITS[op], a, b, 0), _best(_OF_BITS[op], a, b, 1)


def _best(of_bits: Callable[[int, int], int], a: Ends, b: Ends, wanted: int) -> int:
    """The largest result where 1 is wanted, the smallest where 0 is."""
    bits = 1 + max(x.bit_length() for x in (*a, *b))
    half = 1 << (bits - 1)
    # With the sign bit flipped, numbers have the order of their bits.
    ends = tuple(x + half for x in (*a, *b))
    states: set[_State] = {(True, True, True, True)}
    found = 0
    for at in range(bits - 1, -1, -1):
        flip = int(at == bits - 1)
        edge = [(x >> at) & 1 for x in ends]
        after: tuple[set[_State], set[_State]] = (set(), set())
        for low_a, high_a, low_b, high_b in states:
            for x in range(edge[0] if low_a else 0, (edge[1] if high_a else 1) + 1):
                for y in range(edge[2] if low_b else 0, (edge[3] if high_b else 1) + 1):
                    made = of_bits(x ^ flip, y ^ flip) ^ flip
                    after[made].add(
                        (
                            low_a and x == edge[0], high_a and x == edge[1],
                            low_b and y == edge[2], high_b and y == edge[3],
                        )
                    )  # fmt: skip
        got = wanted if after[wanted] else 1 - wanted
        states = after[got]
        found = 2 * found + got
    return found - half
