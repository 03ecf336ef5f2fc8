# SPDX-License-Identifier: BSD-2-Clause
"""Any other kernel as a dataflow graph, laid out by Graphviz: a box a value, a frame a stage."""

import textwrap
from collections import Counter

from daedalus.dsl.ir import Op, Store
from daedalus.generator.report.graph.dot import Dot
from daedalus.generator.report.graph.flow import FONT, GREY, INK
from daedalus.generator.report.graph.model import Edge, Graph, Vertex
from daedalus.generator.report.graph.words import number, place_text, then

INPUT, VALUE, OUTPUT, MASK = "#e8f0fe", "#ffffff", "#e6f4ea", "#fef7e0"
LINE = 34  # characters of a box's line
COLORS = {"input": INPUT, "sum": VALUE, "op": VALUE, "output": OUTPUT}


def dataflow_graph(graphs: list[Graph], titles: list[str], heading: str, legend: str) -> str:
    """DOT text of a kernel; stages that only move elements are lines of text."""
    dot = Dot(
        rankdir="LR", bgcolor="white", fontname=FONT, label=f"{heading}\n{legend}", labelloc="b",
        fontsize=11, fontcolor=GREY, nodesep="0.12", ranksep="0.5", newrank="true",
    )  # fmt: skip
    dot.default("node", fontname=FONT, fontsize=11, color=GREY, fontcolor=INK, shape="box",
                style="rounded,filled", height=0.25, margin="0.08,0.03")  # fmt: skip
    dot.default("edge", color=INK, penwidth=0.8, arrowsize=0.5, fontname=FONT, fontsize=9)
    moves = [
        f"{title}: {_moved(s)}"
        for g, title in zip(graphs, titles, strict=True)
        if g.trivial
        for s in g.stage.stores
    ]
    if moves:
        dot.node(label="\n".join(moves) + "\n", left=True, shape="note", style="filled",
                 fillcolor=INPUT)  # fmt: skip
    for n, (g, title) in enumerate(zip(graphs, titles, strict=True)):
        if not g.trivial:
            _stage(dot, g, n, title)
    return dot.text()


def _moved(s: Store) -> str:
    value = number(s.value.value) if s.value.op is Op.CONST else ""
    if s.value.op is Op.LOAD:
        value = place_text(s.value.attr[0], s.value.index)
    return f"{place_text(s.buffer, s.index)} = {value}"


def _stage(dot: Dot, g: Graph, n: int, title: str) -> None:
    with dot.frame(f"cluster_{n}", label=title, fontname=FONT, fontsize=12, color=GREY,
                   style="rounded", labelloc="t"):  # fmt: skip
        known = _names(g)
        names = {v: _vertex(dot, g, v, known) for v in g.vertices}
        dot.same_rank([names[v] for v in g.vertices if v.kind == "output"])
        for e in g.edges:
            label = ["where"] if e.mask else []
            if e.mask or e.head.kind != "op":  # else the head's formula says it
                label += [] if e.head.kind == "sum" else e.steps
            dot.edge(
                names[e.tail], names[e.head],
                label=f" {' '.join(label)} " if label else None,
                style="dashed" if e.tail.boolean else None, color=GREY if e.mask else INK,
            )  # fmt: skip


def _names(g: Graph) -> dict[Vertex, str]:
    """What others call a vertex: the author's name if it is the only one, or the value's number."""
    often = Counter(v.name for v in g.vertices)
    return {
        v: v.name if v.name and often[v.name] == 1 else f"{v.name}%{v.number}"
        for v in g.vertices
        if v.kind != "output"
    }


def _vertex(dot: Dot, g: Graph, v: Vertex, known: dict[Vertex, str]) -> str:
    text = v.text if v.kind in ("input", "output") else _formula(g, v, known)
    if v.kind != "output":
        text = f"{known[v]} = {text}"
    lines = textwrap.wrap(text, LINE, subsequent_indent="  ", break_long_words=False)
    color = MASK if v.boolean else COLORS[v.kind]
    return dot.node(label="\n".join(lines) + "\n" * (len(lines) > 1), left=len(lines) > 1,
                    fillcolor=color, tooltip=v.tip or v.text)  # fmt: skip


def _formula(g: Graph, v: Vertex, known: dict[Vertex, str]) -> str:
    """What a vertex computes, in its operands' names."""
    edges = [e for e in g.into(v) if not e.mask]
    if v.kind == "sum":
        text = ""
        for e in edges:
            text += f" {'−' if e.sign < 0 else '+'} {_operand(e, known)}"
        text = f"−{text[3:]}" if text.startswith(" −") else text[3:]
    else:
        text = v.text.format(**{e.role: _operand(e, known) for e in edges})
    return then(text, v.steps)


def _operand(e: Edge, known: dict[Vertex, str]) -> str:
    name = known[e.tail]
    return f"{e.factor}·{name}" if e.factor else then(name, e.steps)
