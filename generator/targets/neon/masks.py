# SPDX-License-Identifier: BSD-2-Clause
"""What conditions say of each other."""

from collections.abc import Collection

from daedalus.dsl.ir import Node, Op, parts


def follows(mask: Node, given: Collection[Node]) -> bool:
    """Whether a mask holds where all these hold."""
    return all(any(_implies(g, p) for g in given) for p in parts(mask))


def _implies(a: Node, b: Node) -> bool:
    """Whether a comparison that holds makes another one hold: of a maximum of more values."""
    if a is b:
        return True
    if not a.op is b.op is Op.LE or a.args[1] is not b.args[1]:
        return False
    return set(parts(b.args[0], Op.MAX)) <= set(parts(a.args[0], Op.MAX))
