# SPDX-License-Identifier: BSD-2-Clause
"""How the lanes of an item's stages are spread over the 16 elements.

Neighbouring elements do an item: as many as the largest stage has lanes left after the pass
`points`, rounded up to a power of two. A trip is as many items as that leaves room for. Elements
beyond a smaller stage's lanes compute what another lane computes, and store nothing.
"""

from dataclasses import dataclass

from daedalus.dsl.ir import Kernel, Stage
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.qpu.emitter import Emitter, amount
from daedalus.generator.targets.qpu.machine import LANES
from daedalus.generator.targets.qpu.virtual import Value


@dataclass(frozen=True)
class Mapping:
    """elements  that do an item, a power of two up to 16."""

    elements: int

    @property
    def shift(self) -> int:
        """Its logarithm."""
        return self.elements.bit_length() - 1

    @property
    def items(self) -> int:
        """Items a trip."""
        return LANES // self.elements


def mapping(kernel: Kernel) -> Mapping:
    """The mapping of a lowered kernel. Raises NotLowerable where an item needs more elements."""
    most = max((s.lanes for s in kernel.stages), default=1)
    if most > LANES:
        raise NotLowerable(
            "mapping", f"a stage has {most} lanes, and a trip {LANES} elements", kernel.loc,
            kernel.id, hint="give each element more lanes (p2, p4, ...)",
        )  # fmt: skip
    return Mapping(1 << (most - 1).bit_length())


def coordinates(stage: Stage, m: Mapping, lane: Value, e: Emitter) -> dict[str, Value]:
    """A stage's axes, those of more than one point, from the element's number in its item."""
    found: dict[str, Value] = {}
    inner = 1
    for axis, extent in reversed([d for d in stage.dims if d[1] > 1]):
        value = divided(lane, inner, e)
        if extent * inner < m.elements:
            whole = divided(value, extent, e)
            power = extent & (extent - 1) == 0
            value = (
                e.op("and", value, extent - 1)
                if power
                else e.op("sub", value, e.op("umul24", whole, extent))
            )
        found[axis] = value
        inner *= extent
    return found


def point(stage: Stage, lane: int) -> dict[str, int]:
    """The point of a stage that an element of an item computes: what coordinates() makes."""
    found: dict[str, int] = {}
    for axis, extent in reversed(stage.dims):
        found[axis] = lane % extent
        lane //= extent
    return found


def divided(number: Value, by: int, e: Emitter) -> Value:
    """A number below 16 divided by a number up to 16, rounded down."""
    if by & (by - 1) == 0:
        return e.op("shr", number, amount(by.bit_length() - 1)) if by > 1 else number
    reciprocal = LANES * LANES // by + 1
    assert all(n * reciprocal >> 8 == n // by for n in range(LANES))
    return e.op("shr", e.op("umul24", number, reciprocal), 8)
