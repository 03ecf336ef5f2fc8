# SPDX-License-Identifier: BSD-2-Clause
"""What is taken away before a clip is taken away after it: clip(x - k) is clip(x) - k.

Between bounds that are k higher. Several values that are stored in one word then lose their biases
in one subtraction.
"""

from daedalus.dsl.build import Builder, rewrite
from daedalus.dsl.ir import Kernel, Node, Op


def subtract_late(kernel: Kernel) -> Kernel:
    """`kernel` with clips of differences from constants as differences of clips."""

    def change(node: Node, args: tuple[Node, ...], b: Builder) -> Node | None:
        if node.op is not Op.CLIP or args[0].op is not Op.SUB:
            return None
        x, k = args[0].args
        if k.op is not Op.CONST:
            return None
        bounds = (node.attr[0] + k.value, node.attr[1] + k.value)
        clipped = b.make(Op.CLIP, (x,), bounds, node.loc, node.name)
        return b.make(Op.SUB, (clipped, k), (), node.loc)

    return rewrite(kernel, change)
