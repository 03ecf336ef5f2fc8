# SPDX-License-Identifier: BSD-2-Clause
"""Puts what a store makes of one value right behind that value.

Authors compute all outputs of a transform and then store them: so all are alive at once. With what
a store makes of an output behind it, each is done with as soon as it is there.
"""

from collections import Counter
from dataclasses import replace

from daedalus.dsl.build import Builder
from daedalus.dsl.ir import Kernel, Node, Op, Stage

LEAVES = (Op.CONST, Op.PARAM, Op.TABLE, Op.LOAD, Op.LANE)  # which cost no register for long


def tails_early(kernel: Kernel, stage: Stage) -> Stage:
    """The stage with its values in such an order."""
    nodes = [x for x in stage.nodes() if x.op not in LEAVES]
    users: dict[Node, list[Node]] = {x: [] for x in nodes}
    for x in nodes:
        for a in set(x.args) & users.keys():
            users[a].append(x)
    uses = Counter({x: len(found) for x, found in users.items()})
    uses.update(stage.roots())
    stored = {s.value for s in stage.stores if s.mask is None}
    tails: set[Node] = set()
    for x in reversed(nodes):
        own = sum(a in users for a in set(x.args))
        if own == 1 and uses[x] == 1 and (x in stored or any(u in tails for u in users[x])):
            tails.add(x)

    builder, new = Builder({t.name: t for t in kernel.tables}), dict[Node, Node]()

    def make(x: Node) -> None:
        for a in x.args:
            if a not in new:
                make(a)
        if x.op is Op.CONST:
            new[x] = builder.const(x.value, x.loc)
        else:
            new[x] = builder.make(x.op, tuple(new[a] for a in x.args), x.attr, x.loc, x.name)
        for u in users.get(x, []):
            if u in tails and u not in new and all(a in new or a.op in LEAVES for a in u.args):
                make(u)

    for x in (*(n for n in nodes if n not in tails), *stage.roots()):
        if x not in new:
            make(x)
    return replace(
        stage,
        stores=tuple(
            replace(s, value=new[s.value], mask=None if s.mask is None else new[s.mask])
            for s in stage.stores
        ),
        guard=None if stage.guard is None else new[stage.guard],
        given=None if stage.given is None else new[stage.given],
        limits=tuple((axis, new[n]) for axis, n in stage.limits),
    )
