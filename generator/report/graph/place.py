# SPDX-License-Identifier: BSD-2-Clause
"""Places the vertices of a flow graph as textbooks do: a row a wire, a column a step.

A vertex takes over the row of one of its operands, as a transform in place does: the results of a
butterfly stand where its operands came in. Rows are found backwards from the outputs, which stand
in order; so it is the inputs that appear permuted.
"""

from dataclasses import dataclass

from daedalus.generator.report.graph.model import Graph, Vertex


@dataclass
class Placement:
    """column and row of every vertex, and the inputs that are drawn beside their only user."""

    column: dict[Vertex, int]
    row: dict[Vertex, int]
    beside: dict[Vertex, Vertex]  # an input -> its user

    @property
    def rows(self) -> int:
        return max(self.row.values(), default=-1) + 1

    @property
    def columns(self) -> int:
        return max(self.column.values(), default=-1) + 1


def place(graph: Graph) -> Placement:
    """Columns and rows of a linear stage's vertices."""
    beside = _beside(graph)
    column = _columns(graph, beside)
    placed = Placement(column, {}, beside)
    outputs = [v for v in graph.vertices if v.kind == "output"]
    taken: set[tuple[int, int]] = set()  # (row, column) with a vertex or a wire in it
    for n, v in enumerate(outputs):
        placed.row[v] = n
        taken.add((n, column[v]))
    others = [v for v in graph.vertices if v.kind != "output" and v not in beside]
    for c in range(placed.columns - 1, -1, -1):
        _assign(graph, [v for v in others if column[v] == c], placed, taken)
    return placed


def _beside(graph: Graph) -> dict[Vertex, Vertex]:
    """Inputs that are drawn beside the sum that alone takes them: a prediction's elements.

    That is an input of an element that is stored in the same place in the end, or the only input
    among a sum's operands.
    """
    found: dict[Vertex, Vertex] = {}
    for v in graph.vertices:
        out = graph.out_of(v)
        if v.kind != "input" or len(out) != 1 or out[0].head.kind != "sum":
            continue
        tails = [e.tail for e in graph.into(out[0].head)]
        lonely = sum(t.kind == "input" for t in tails) == 1
        if len(tails) > 1 and (lonely or _end(graph, out[0].head) == v.text):
            found[v] = out[0].head
    return found


def _end(graph: Graph, v: Vertex) -> str:
    """The element that a vertex's value ends in; empty where it goes several ways."""
    while v.kind != "output":
        out = graph.out_of(v)
        if len(out) != 1:
            return ""
        v = out[0].head
    return v.text


def _columns(graph: Graph, beside: dict[Vertex, Vertex]) -> dict[Vertex, int]:
    """As early as operands allow; what ends a row stands as late as the output lets it."""
    column: dict[Vertex, int] = {}
    for v in graph.vertices:  # operands stand before their users
        before = [column[e.tail] for e in graph.into(v) if e.tail not in beside]
        column[v] = max(before, default=-1) + 1
    last = max(column.values(), default=0)
    for v in reversed(graph.vertices):
        heads = [e.head for e in graph.out_of(v)]
        if v.kind == "output":
            column[v] = last
        elif v.kind != "input" and _end(graph, v):
            column[v] = column[heads[0]] - 1
    return {k: c for k, c in column.items() if k not in beside}


def _assign(
    graph: Graph, column: list[Vertex], placed: Placement, taken: set[tuple[int, int]]
) -> None:
    """Rows for the vertices of one column: each the row of a user, as far as they go round."""
    wishes = {v: _wishes(graph, v, placed, taken) for v in column}
    owner: dict[int, Vertex] = {}

    def settle(v: Vertex, tried: set[int]) -> bool:
        """Finds v a row it wishes, moving others to their next wish (bipartite matching)."""
        for r in wishes[v]:
            if r in tried:
                continue
            tried.add(r)
            if r not in owner or settle(owner[r], tried):
                owner[r] = v
                return True
        return False

    left = [v for v in column if not settle(v, set())]
    for r, v in owner.items():
        _take(graph, v, r, placed, taken)
    for v in left:
        near = min((placed.row[e.head] for e in graph.out_of(v)), default=0)
        free = (r for n in range(1000) for r in (near + n, near - n) if r >= 0)
        row = next(r for r in free if not _span(graph, v, r, placed) & taken)
        _take(graph, v, row, placed, taken)


def _wishes(graph: Graph, v: Vertex, placed: Placement, taken: set[tuple[int, int]]) -> list[int]:
    """Rows of users that v's wire can run in: for a first operand the first one's first."""
    edges = graph.out_of(v)
    leads = bool(edges) and graph.into(edges[0].head)[0].tail is v
    rows = [placed.row[e.head] for e in (edges if leads else reversed(edges))]
    return [r for r in dict.fromkeys(rows) if not _span(graph, v, r, placed) & taken]


def _span(graph: Graph, v: Vertex, row: int, placed: Placement) -> set[tuple[int, int]]:
    """The places that v and its wire need in a row: up to the column before its last user."""
    end = max((placed.column[e.head] for e in graph.out_of(v)), default=0)
    first = placed.column[v]
    return {(row, c) for c in range(first, max(end, first + 1))}


def _take(
    graph: Graph, v: Vertex, row: int, placed: Placement, taken: set[tuple[int, int]]
) -> None:
    placed.row[v] = row
    taken |= _span(graph, v, row, placed)
