# SPDX-License-Identifier: BSD-2-Clause
"""How the points of an item's stages are spread over invocations.

Neighbouring invocations do an item: as many as the largest stage has points left after the pass
`points`, rounded up to a power of two. An invocation's number among them gives its coordinates, the
last axis fastest. Stages with fewer points leave the last invocations idle.
"""

from collections.abc import Mapping as Mapping_
from dataclasses import dataclass

from daedalus.dsl.ir import Kernel, Stage
from daedalus.generator.targets.gpu import device


@dataclass(frozen=True)
class Mapping:
    """invocations  that do an item, a power of two."""

    invocations: int

    @property
    def shift(self) -> int:
        """Its logarithm."""
        return self.invocations.bit_length() - 1


def mapping(kernel: Kernel) -> Mapping:
    """The mapping of a lowered kernel. Raises NotLowerable where no workgroup holds an item."""
    most = max((s.lanes for s in kernel.stages), default=1)
    invocations = 1 << (most - 1).bit_length()
    device.limited(
        "maxComputeWorkGroupInvocations", invocations, device.INVOCATIONS,
        "invocations that do an item", kernel.loc, kernel.id,
    )  # fmt: skip
    return Mapping(invocations)


def coordinates(stage: Stage, m: Mapping, names: Mapping_[str, str]) -> list[str]:
    """Declares a stage's axes, by these names, from the invocation's number `lane`."""
    lines: list[str] = []
    left, inner = stage.lanes, 1
    axes = [d for d in stage.dims if d[1] > 1]
    for axis, extent in reversed(axes):
        left //= extent
        text = "lane"
        if inner > 1:
            power = inner & (inner - 1) == 0
            text = f"{text} >> {inner.bit_length() - 1}" if power else f"{text} / {inner}u"
        whole = left == 1 and stage.lanes == m.invocations
        if not whole:
            power = extent & (extent - 1) == 0
            text = f"{text} & {extent - 1}u" if power else f"({text}) % {extent}u"
        lines.insert(0, f"const int {names.get(axis, axis)} = int({text});")
        inner *= extent
    return lines
