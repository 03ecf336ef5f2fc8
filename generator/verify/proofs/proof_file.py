# SPDX-License-Identifier: BSD-2-Clause
"""Records of proofs: the goals of a kernel that are proven to have no witness.

    {"variant function": {"of": hash, "proven": [goal, ...]}}

The hash is of all that the proofs are about and done with: the lowered program, what was selected
for every stage, and the code that asks the questions, without comments. Where it is another, the
records are stale and count for nothing. `./daedalus witness --prove` writes them.
"""

import ast
import hashlib
from functools import cache
from importlib.resources import files
from inspect import getsource

from daedalus.dsl import ir, ranges
from daedalus.dsl.show import show
from daedalus.generator.base import records
from daedalus.generator.targets.neon.rules import limits
from daedalus.generator.targets.neon.simulate import Part, operand_widths
from daedalus.generator.verify.goals import Goal, Plan, lane_limits

# What asks the questions, and says what machine operations are: whole files,
_SOURCES = (
    *(
        f"generator/verify/proofs/{name}.py"
        for name in (
            "equivalence", "goal_proofs", "lane_questions", "lane_terms", "lane_walk", "symbolic"
        )
    ),
    "generator/targets/neon/ops.py",
    "dsl/bit_ranges.py", "dsl/weighted.py",
)  # fmt: skip
# and of files that hold much else, what says what values are. The data that a kernel is made of
# need not be here: what it holds is hashed.
_PARTS = (
    ir.Affine, ir.evaluate, ir.smallest_dtype, ranges.Interval, ranges.Ranges, ranges.table_rows,
    ranges._product, lane_limits, limits, operand_widths,
)  # fmt: skip


def missing(kernel: str) -> str:
    """What is to be said of a goal of a kernel that is to be proven, and has no record."""
    return f"no proof on record that holds for this code: run ./daedalus witness --prove {kernel}"


def key(plan: Plan, goal: Goal) -> str:
    """A goal among those of its function: stage, lowering by its place in the order, and what it
    is; of several lowerings all places."""
    order = plan.stages[goal.stage].order
    at = ", ".join(str(order.index(n)) for n in (goal.need, *goal.alike))
    return f"stage {goal.stage}, lowering {at}: {goal.text}"


def recorded(plan: Plan) -> frozenset[str]:
    """The keys of a function's goals that are proven; none where the record is stale."""
    found = records.read(plan.kernel.id, records.PROOFS).get(place(plan))
    if found is None or found["of"] != digest(plan):
        return frozenset()
    return frozenset(found["proven"])


def write(plan: Plan, proven: list[Goal]) -> None:
    """Puts a function's proven goals in place of what is on record of it."""
    found = records.read(plan.kernel.id, records.PROOFS)
    found.pop(place(plan), None)
    if proven:
        found[place(plan)] = {"of": digest(plan), "proven": [key(plan, g) for g in proven]}
    records.write(plan.kernel.id, records.PROOFS, dict(sorted(found.items())))


def keep(kernel: str, plans: list[Plan]) -> None:
    """Drops what is on record of other functions of a kernel: those there no longer are."""
    found = records.read(kernel, records.PROOFS)
    places = [place(p) for p in plans]
    records.write(kernel, records.PROOFS, {p: r for p, r in found.items() if p in places})


def digest(plan: Plan) -> str:
    """The hash of what proofs about a function rest on."""
    parts = [show(plan.lowered), *map(_selected, plan.stages), *_sources()]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def place(plan: Plan) -> str:
    """A function among those of its kernel."""
    return f"{plan.name} {plan.function}"


def _selected(part: Part) -> str:
    """A stage as vectors do it: its values, and the operation chosen for every form."""
    number = {node: n for n, node in enumerate(part.vector.nodes())}
    lines = [show(part.selection.kernel), f"{part.axis!r} {part.lanes}"]
    for name, needs in (("root", part.selection.roots), ("computed", part.order)):
        for node, demand in needs:
            c = part.selection.chosen[node, demand]
            inputs = [(number[n], *d) for n, d in c.inputs]
            scalars = [number[n] for n in c.scalars]
            lines.append(
                f"{name} {number[node]} {(*demand,)}: {c.rule} {c.op} {inputs} {scalars} {c.imm}"
            )
    return "\n".join(lines)


@cache
def _sources() -> tuple[str, ...]:
    root = files("daedalus")
    texts = [(root / name).read_text() for name in _SOURCES]
    texts += [getsource(p) for p in _PARTS]
    return tuple(_code(t) for t in texts)


def _code(text: str) -> str:
    """Source without imports, comments that stand alone, docstrings and empty lines."""
    dropped: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            dropped.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            continue
        first = node.body[0] if node.body else None
        own_lines = first is not None and (
            isinstance(node, ast.Module) or first.lineno > node.lineno
        )
        if own_lines and isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
            dropped.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    return "\n".join(
        line.rstrip()
        for n, line in enumerate(text.splitlines(), 1)
        if n not in dropped and line.strip() and not line.lstrip().startswith("#")
    )
