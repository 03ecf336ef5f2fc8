# SPDX-License-Identifier: BSD-2-Clause
"""Adds what makes shifts round where the fewest additions do it.

round_shift(x, n) is floor((x + h) / 2**n) with h = 2**(n-1). Where sums of which x is one have
terms in common, h may be added to these instead: if each of the sums that a stage rounds by n bits
holds exactly one of some terms, once and positively, then adding h to these terms serves all of
them (all outputs of a transform hold the lowest frequency). A term that is itself a rounding shift
takes it into the number that it adds anyway. Exact on integers.
"""

from collections import defaultdict
from dataclasses import replace

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.ir import Kernel, Node, Op, Stage

_LINEAR = (Op.ADD, Op.SUB, Op.ASSUME)


def fold_rounding(kernel: Kernel) -> Kernel:
    """`kernel` with fewer additions for rounding."""
    return replace(kernel, stages=tuple(_stage(kernel, s) for s in kernel.stages))


def _stage(kernel: Kernel, stage: Stage) -> Stage:
    shifts = {n.attr[0] for n in stage.nodes() if n.op is Op.RSHR}
    forms = _forms(stage)
    for n in sorted(shifts):
        for roots in _groups(stage, n, forms):
            terms = _terms(roots, forms)
            if terms is not None and len(terms) < len(roots):
                moved = _moved(stage, terms, roots, 1 << (n - 1))
                if moved is not None:
                    stage = _rebuilt(kernel, stage, moved, set(roots))
                    return _stage(kernel, stage)
    return stage


Form = dict[Node, int]  # a sum: term -> coefficient


def _forms(stage: Stage) -> dict[Node, Form]:
    """All values as sums."""
    forms: dict[Node, Form] = {}
    for node in stage.nodes():
        if node.op in (Op.ADD, Op.SUB):
            form = dict(forms[node.args[0]])
            for term, c in forms[node.args[1]].items():
                form[term] = form.get(term, 0) + (c if node.op is Op.ADD else -c)
            forms[node] = form
        elif node.op is Op.ASSUME:
            forms[node] = forms[node.args[0]]
        else:
            forms[node] = {node: 1}
    return forms


def _groups(stage: Stage, n: int, forms: dict[Node, Form]) -> list[list[Node]]:
    """The sums rounded by n bits, those together that have terms in common."""
    groups: list[tuple[list[Node], set[Node]]] = []
    for root in stage.nodes():
        if root.op is not Op.RSHR or root.attr[0] != n:
            continue
        terms = {t for t, c in forms[root.args[0]].items() if c and t.op is not Op.CONST}
        roots = [root]
        apart = []
        for others, theirs in groups:
            if theirs & terms:
                roots, terms = [*others, *roots], terms | theirs
            else:
                apart.append((others, theirs))
        groups = [*apart, (roots, terms)]
    return [roots for roots, _ in groups if len(roots) > 1]


def _terms(roots: list[Node], all_forms: dict[Node, Form]) -> list[Node] | None:
    """Terms of which each root holds exactly one, once and positively; the most shared first."""
    forms = {r: all_forms[r.args[0]] for r in roots}
    holders: dict[Node, set[Node]] = defaultdict(set)
    bad: set[Node] = set()
    for r, form in forms.items():
        for term, c in form.items():
            if c == 1 and term.op is not Op.CONST:
                holders[term].add(r)
            elif c:
                bad.add(term)
    left, chosen = set(roots), list[Node]()
    for term in sorted(holders, key=lambda t: (-len(holders[t]), t.seq)):
        if term not in bad and holders[term] <= left:
            chosen.append(term)
            left -= holders[term]
    return None if left else chosen


def _moved(stage: Stage, terms: list[Node], roots: list[Node], by: int) -> dict[Node, int] | None:
    """By how much each value grows; None where another value than the roots would see it."""
    moved: dict[Node, int] = dict.fromkeys(terms, by)
    for node in stage.nodes():
        if node in moved or node.op not in _LINEAR:
            continue
        deltas = [moved.get(a, 0) for a in node.args]
        total = deltas[0] - deltas[1] if node.op is Op.SUB else sum(deltas)
        if total:
            moved[node] = total
    seen = set(roots)
    outside = [n for n in stage.roots() if n in moved]
    for node in stage.nodes():
        if node in seen:
            if moved.get(node.args[0]) != by:
                return None
        elif node.op not in _LINEAR:
            outside += [a for a in node.args if a in moved]
        elif node not in moved:
            continue  # what its operands grow by cancels
    return None if outside else moved


def _rebuilt(kernel: Kernel, stage: Stage, moved: dict[Node, int], roots: set[Node]) -> Stage:
    builder = Builder({t.name: t for t in kernel.tables})

    def change(node: Node, args: tuple[Node, ...]) -> Node | None:
        if node in roots:
            return builder.make(Op.SHR, args, node.attr, node.loc, node.name)
        if node not in moved:
            return None
        if node.op is Op.ASSUME:
            _, lo, hi = node.attr
            fact = ("", lo + moved[node], hi + moved[node])
            return builder.make(Op.ASSUME, args, fact, node.loc, node.name)
        if node.op in _LINEAR:
            return None
        if node.op is Op.RSHR:
            n = node.attr[0]
            total = builder.const((moved[node] << n) + (1 << (n - 1)), node.loc)
            sum_ = builder.make(Op.ADD, (args[0], total), (), node.loc)
            return builder.make(Op.SHR, (sum_,), (n,), node.loc, node.name)
        same = builder.make(node.op, args, node.attr, node.loc, node.name)
        return builder.make(Op.ADD, (same, builder.const(moved[node], node.loc)), (), node.loc)

    return rewrite_stage(stage, builder, change)
