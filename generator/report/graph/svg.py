# SPDX-License-Identifier: BSD-2-Clause
"""A kernel's lane program as an SVG: a flow graph for transforms, else a dataflow graph."""

from pathlib import Path

from daedalus.dsl.ir import Kernel
from daedalus.dsl.ranges import Ranges
from daedalus.generator.report.graph.dataflow import dataflow_graph
from daedalus.generator.report.graph.dot import render
from daedalus.generator.report.graph.flow import flow_graph
from daedalus.generator.report.graph.model import Graph, graph_of

LEGEND = (
    "≫n shifts right, ≫nr rounds half up; on an edge: what it multiplies by or does, a, b: both are"
    " added; ranges and source lines show under the pointer"
)


def draw(kernel: Kernel, file: Path, variant: str = "") -> None:
    """Writes the drawing; raises UserError as `render` does.

    `variant` is named in it, where the kernel is not as its author wrote it.
    """
    text, placed = graph_text(kernel, variant)
    render(text, file, placed=placed)


def graph_text(kernel: Kernel, variant: str = "") -> tuple[str, bool]:
    """The drawing in the DOT language, and whether it has positions."""
    ranges = Ranges(kernel)
    graphs = [graph_of(kernel, s, ranges) for s in kernel.stages]
    titles = [_title(n, g, len(graphs)) for n, g in enumerate(graphs, 1)]
    heading = f"{kernel.id}{f', {variant}' if variant else ''}: {kernel.clause}"
    linear = all(g.linear for g in graphs)
    layout = flow_graph if linear else dataflow_graph
    return layout(graphs, titles, heading, LEGEND), linear


def _title(number: int, graph: Graph, count: int) -> str:
    dims = ", ".join(f"{axis} = 0..{n - 1}" for axis, n in graph.stage.dims)
    where = f", where {graph.condition}" if graph.condition else ""
    return f"stage {number} of {count}: {dims}{where}" if count > 1 else f"{dims}{where}"
