# SPDX-License-Identifier: BSD-2-Clause
"""Makes a failing program smaller while it still fails.

Stores and stages are left out, and values are replaced by one of their operands or by a constant,
as long as the program stays legal and the failure persists.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from daedalus.dsl.build import Builder, rewrite_stage
from daedalus.dsl.errors import SpecError
from daedalus.dsl.ir import Kernel, Node, Op
from daedalus.dsl.verify import verify

Fails = Callable[[Kernel], bool]


def shrink(kernel: Kernel, fails: Fails, *, tries: int) -> Kernel:
    """The smallest failing program found with so many calls of `fails`."""
    progress = True
    while progress and tries > 0:
        progress = False
        for smaller in _smaller(kernel):
            if not _legal(smaller):
                continue
            tries -= 1
            if fails(smaller):
                kernel, progress = smaller, True
                break
            if tries <= 0:
                break
    return kernel


def _legal(kernel: Kernel) -> bool:
    try:
        verify(kernel)
    except SpecError:
        return False
    return True


def _smaller(kernel: Kernel) -> Iterator[Kernel]:
    """Programs a step smaller, big steps first."""
    for n in range(len(kernel.stages)):
        if len(kernel.stages) > 1:
            yield _pruned(replace(kernel, stages=kernel.stages[:n] + kernel.stages[n + 1 :]))
    for n, stage in enumerate(kernel.stages):
        size = len(stage.stores)
        for part in (size // 2, 1) if size > 2 else (1,):
            for at in range(0, size if size > 1 else 0, max(part, 1)):
                left = stage.stores[:at] + stage.stores[at + part :]
                if left:
                    yield _with_stage(kernel, n, replace(stage, stores=left))
        if stage.given is not None or stage.limits:
            yield _with_stage(kernel, n, replace(stage, given=None, limits=()))
        masked = tuple(replace(s, mask=None) for s in stage.stores)
        if masked != stage.stores:
            yield _with_stage(kernel, n, replace(stage, stores=masked))
    for n, stage in enumerate(kernel.stages):
        for node in reversed(stage.nodes()):
            for k, a in enumerate(node.args):
                if a.is_bool == node.is_bool:
                    yield _replaced(kernel, n, node, k)
            if not node.is_bool and node.op is not Op.CONST:
                yield _replaced(kernel, n, node, None)


def _with_stage(kernel: Kernel, n: int, stage: object) -> Kernel:
    stages = list(kernel.stages)
    stages[n] = stage  # type: ignore[call-overload]
    return _pruned(replace(kernel, stages=tuple(stages)))


def _replaced(kernel: Kernel, n: int, gone: Node, operand: int | None) -> Kernel:
    """With one value replaced by its operand of that number, or by zero."""
    builder = Builder({t.name: t for t in kernel.tables})

    def change(node: Node, args: tuple[Node, ...]) -> Node | None:
        if node is not gone:
            return None
        return builder.const(0, node.loc) if operand is None else args[operand]

    return _with_stage(kernel, n, rewrite_stage(kernel.stages[n], builder, change))


def _pruned(kernel: Kernel) -> Kernel:
    """Without temps, outputs, tables, parameters and assumptions that are no longer used."""
    nodes = [n for s in kernel.stages for n in s.nodes()]
    stored = {s.buffer for stage in kernel.stages for s in stage.stores}
    named = {n.attr[0] for n in nodes if n.op in (Op.LOAD, Op.PARAM, Op.TABLE, Op.DOT, Op.ASSUME)}
    kept = {p for c in kernel.classes for p, _, _ in c.when}
    blocks = {b for c in kernel.classes for b, _ in c.nonzero}
    return replace(
        kernel,
        temps=tuple(t for t in kernel.temps if t.name in stored | named),
        buffers=tuple(b for b in kernel.buffers if b.name in stored | named | blocks),
        tables=tuple(t for t in kernel.tables if t.name in named),
        params=tuple(p for p in kernel.params if p.name in named | kept),
        assumptions=tuple(a for a in kernel.assumptions if a.name in named),
    )
