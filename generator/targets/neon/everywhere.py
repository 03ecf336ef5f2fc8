# SPDX-License-Identifier: BSD-2-Clause
"""What a stage is where the condition of its innermost branch holds on all lanes.

Then all that is chosen among is known, and what nobody chooses need not be computed.
"""

from dataclasses import replace

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.ir import Kernel, Node, Op, Stage, parts, walk
from daedalus.generator.targets.neon.masks import follows

_WORTH = 60  # values that a test and the same code once more are worth saving


def everywhere(kernel: Kernel, stage: Stage) -> Stage | None:
    """The stage under the condition that decides most, which is its guard; None where that is not
    worth it."""
    if stage.guard is None:
        return None
    masks = dict.fromkeys(n.args[0] for n in stage.nodes() if n.op is Op.SELECT)
    made = [s for mask in masks if (s := _decided(kernel, stage, mask)) is not None]
    best = min(made, key=lambda s: len(list(s.nodes())), default=None)
    if best is None or len(list(stage.nodes())) - len(list(best.nodes())) < _WORTH:
        return None
    return best


def _decided(kernel: Kernel, stage: Stage, mask: Node) -> Stage | None:
    """The stage where a mask holds; None where others still choose."""
    given = parts(mask)

    def change(node: Node, args: tuple[Node, ...]) -> Node | None:
        decided = node.op is Op.SELECT and follows(node.args[0], given)
        return args[1] if decided else None

    builder = Builder({t.name: t for t in kernel.tables})
    own = rewrite_stage(replace(stage, guard=mask), builder, change)
    left = any(n.op is Op.SELECT for s in own.stores for n in walk((s.value,)))
    return None if left or any(s.mask is not None for s in own.stores) else own
