# SPDX-License-Identifier: BSD-2-Clause
"""What values computed of parameters come to, for all that the parameters can be."""

from collections.abc import Sequence

import numpy as np

from daedalus.dsl.ir import Kernel, Node, Op, evaluate, walk

MOST_CASES = 4096  # combinations of parameters that are tried one by one
_UNKNOWN = {Op.LOAD, Op.LANE, Op.DOT}


def over_parameters(kernel: Kernel, roots: Sequence[Node]) -> dict[Node, np.ndarray]:
    """Of values what they are, one number for each combination of what parameters can be, in the
    same order for all of them. Values that are not there depend on more than can be tried."""
    found: dict[Node, np.ndarray] = {}
    params = dict.fromkeys(
        (n.attr[0], n.index) for n in walk(list(roots)) if n.op is Op.PARAM and _scalar(n)
    )
    spans = [(kernel.param(name).lo, kernel.param(name).hi) for name, _ in params]
    if np.prod([float(hi - lo + 1) for lo, hi in spans]) > MOST_CASES:
        return found
    axes = np.meshgrid(*(np.arange(lo, hi + 1) for lo, hi in spans), indexing="ij")
    given = {key: axis.ravel() for key, axis in zip(params, axes, strict=True)}
    count = len(next(iter(given.values()))) if given else 1
    for n in walk(list(roots)):
        if n.op is Op.CONST:
            found[n] = np.full(count, n.value, dtype=np.int64)
        elif n.op is Op.PARAM and _scalar(n):
            found[n] = given[n.attr[0], n.index]
        elif n.op is Op.TABLE and all(a in found for a in n.args):
            rows = np.array(kernel.table(n.attr[0]).rows, dtype=np.int64)
            at = [np.clip(found[a], 0, k - 1) for a, k in zip(n.args, rows.shape, strict=False)]
            found[n] = rows[tuple(at)] if len(at) == 2 else rows[at[0], 0]
        elif n.args and n.op not in _UNKNOWN and all(a in found for a in n.args):
            found[n] = np.asarray(evaluate(n.op, n.attr, tuple(found[a] for a in n.args)))
    return found


def _scalar(n: Node) -> bool:
    """A parameter, or an element of an array whose place is known."""
    return not any(a.terms for a in n.index)
