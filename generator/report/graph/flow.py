# SPDX-License-Identifier: BSD-2-Clause
"""A transform as a signal flow graph: wires from left to right, sums as dots, gains on edges."""

from collections import Counter

from daedalus.generator.report.graph.dot import Dot
from daedalus.generator.report.graph.model import Edge, Graph, Vertex
from daedalus.generator.report.graph.place import Placement, place

# Points of 1/72 inch.
ROW = 44.0  # between two wires
FAN, STEEP = 54.0, 9.0  # where edges cross: at least, and more for each row they cross
GAP = 16.0  # between a vertex and what stands beside it
CROWD = 60.0  # more of it where gains are many: for each that a row has beyond one
STAGE_GAP, TOP, BOTTOM = 70.0, 46.0, 34.0
CHAR, SMALL_CHAR = 6.4, 5.6  # about what a character takes, at sizes 11 and 9
# How far along an edge its label may stand, best first; on slanting ones near the head, where edges
# into one vertex are apart from those into the next.
STRAIGHT = (0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78, 0.16, 0.84)
SLANTING = (0.7, 0.62, 0.78, 0.54, 0.84, 0.46, 0.38, 0.3, 0.22)
FONT = "Helvetica,Arial,sans-serif"
GREY, INK, MINUS = "#777777", "#202020", "#b00020"


def flow_graph(graphs: list[Graph], titles: list[str], heading: str, legend: str) -> str:
    """DOT text, with positions, of a kernel whose stages are all linear."""
    dot = Dot(splines="line", outputorder="edgesfirst", bgcolor="white", pad="0.2")
    dot.default("node", fontname=FONT, fontsize=11, fontcolor=INK, color=INK)
    dot.default("edge", color=INK, penwidth=0.9, arrowsize=0.5)
    x = 0.0
    lowest = 0.0
    for g, title in zip(graphs, titles, strict=True):
        stage = _Stage(dot, g, x)
        x = stage.draw(title) + STAGE_GAP
        lowest = max(lowest, stage.spacing * (stage.placed.rows - 1))
    middle, y = (x - STAGE_GAP) / 2, -lowest - BOTTOM
    _text(dot, middle, y, heading, size=11, color=GREY)
    _text(dot, middle, y - 16, legend, size=11, color=GREY)
    return dot.text()


def _text(
    dot: Dot, x: float, y: float, text: str, *, size: int, color: str = INK, tip: str = "",
    back: bool = False,
) -> None:  # fmt: skip
    """Text around a point, on white where it stands on a line (`back`)."""
    dot.node(
        label=text, shape="box" if back else "plaintext", margin="0.015,0", width=0, height=0,
        fontsize=size, fontcolor=color, pos=f"{x:.1f},{y:.1f}!", penwidth=0,
        style="filled" if back else None, fillcolor="white" if back else None, tooltip=tip or text,
    )  # fmt: skip


class _Stage:
    """One stage, its left end at x."""

    def __init__(self, dot: Dot, graph: Graph, x: float) -> None:
        self.dot, self.graph, self.left = dot, graph, x
        self.placed: Placement = place(graph)
        self.spacing = self._spacing()
        self.fans: list[float] = []  # of each column, where edges leave for the next one
        self.x = self._columns()
        self.names: dict[Vertex, str] = {}
        self.wires = self._wires()
        self.labels: list[tuple[float, float, float]] = []  # of edges: x, y, half the width

    # ------------------------------------------------------------------ where things are

    def _columns(self) -> list[float]:
        """The x of every column: what stands after a vertex has room before the edges fan out."""
        xs: list[float] = []
        at = self.left
        for c in range(self.placed.columns):
            own = [v for v in self.graph.vertices if self.placed.column.get(v) == c]
            at += max((len(v.text) for v in own if v.kind == "input"), default=0) * CHAR
            xs.append(at)
            steps = max((max(len(" ".join(v.steps)), len(v.name)) for v in own
                          if v.kind != "output"), default=0)  # fmt: skip
            self.fans.append(at + GAP + steps * SMALL_CHAR)
            at = self.fans[-1] + self._fan_width(c + 1)
        return xs

    def _into(self, c: int) -> list[Edge]:
        """The edges into a column's vertices."""
        edges = [e for e in self.graph.edges if self.placed.column.get(e.head) == c]
        return [e for e in edges if e.tail not in self.placed.beside]

    def _fan_width(self, c: int) -> float:
        """The room that edges into a column need, for crossing and for their labels."""
        edges = self._into(c)
        beside = [u for u in self.placed.beside.values() if self.placed.column[u] == c]
        spans = [abs(self._row(e.tail) - self._row(e.head)) for e in edges]
        labels = max((len(e.gain) for e in edges), default=0) * SMALL_CHAR
        # Labels need more room the more of them there are.
        crowd = sum(bool(e.gain) for e in edges) / self.placed.rows
        width = FAN + STEEP * max(spans) + CROWD * max(0, crowd - 1) if any(spans) else GAP
        names = [len(v.text) for v in self.graph.vertices if v in self.placed.beside]
        return max(width + labels, max(names, default=0) * SMALL_CHAR + 2 * GAP if beside else 0)

    def _row(self, v: Vertex) -> int:
        return self.placed.row[v]

    def _y(self, v: Vertex) -> float:
        return -self.spacing * self._row(v)

    def _spacing(self) -> float:
        """Between rows: more where many edges with gains meet."""
        meeting = Counter(e.head for e in self.graph.edges
                          if e.gain and e.tail not in self.placed.beside)  # fmt: skip
        return ROW + 12 * max(0, max(meeting.values(), default=0) - 2)

    # ------------------------------------------------------------------ drawing

    def draw(self, title: str) -> float:
        """Draws the stage; returns the x of its right end."""
        placed = [v for v in self.graph.vertices if v in self.placed.row]
        self.names = {v: self._vertex(v) for v in placed}
        for v in self.graph.vertices:
            if v in self.placed.beside:
                self._beside(v, self.placed.beside[v])
        for (tail, head), gain in self.wires.items():
            self._edge(tail, head, gain)
        outputs = [v for v in placed if v.kind == "output"]
        right = self.x[-1] + GAP + max(len(v.text) for v in outputs) * CHAR
        _text(self.dot, (self.left + right) / 2, TOP, title, size=12)
        return right

    def _vertex(self, v: Vertex) -> str:
        x, y = self.x[self.placed.column[v]], self._y(v)
        at, tip = f"{x:.1f},{y:.1f}!", v.tip or v.text
        if v.kind in ("input", "output"):
            side = -1 if v.kind == "input" else 1
            _text(self.dot, x + side * (7 + len(v.text) * CHAR / 2), y, v.text, size=11, tip=tip)
            return self.dot.node(label="", shape="point", width=0.05, pos=at, tooltip=tip)
        if v.kind == "op":  # what is done to a value that others take as well
            text = v.text.replace("{a}", "").strip()
            text = " ".join([text, *v.steps]).strip()
            return self.dot.node(label=text, shape="box", height=0.2, margin="0.04,0.02",
                                 fontsize=9, style="filled", fillcolor="white", pos=at,
                                 tooltip=tip)  # fmt: skip
        for text, offset, color in ((" ".join(v.steps), 7, INK), (v.name, -7, GREY)):
            if text:
                middle = x + 9 + len(text) * SMALL_CHAR / 2
                _text(self.dot, middle, y + offset, text, size=9, color=color, tip=tip)
        return self.dot.node(label="+", shape="circle", width=0.17, height=0.17, fixedsize="true",
                             margin=0, style="filled", fillcolor="white", pos=at,
                             tooltip=tip)  # fmt: skip

    def _beside(self, v: Vertex, user: Vertex) -> None:
        """An input that only this vertex takes, just before it, above the wire."""
        x, y = self.x[self.placed.column[user]], self._y(user)
        half = len(v.text) * SMALL_CHAR / 2
        _text(self.dot, x - 16 - half, y + 16, v.text, size=9, tip=v.tip)
        self.dot.edge(self._point(x - 15, y + 15), self.names[user])

    def _wires(self) -> dict[tuple[Vertex, Vertex], str]:
        """Tail and head -> gain; of a value that a sum takes twice, both gains."""
        gains: dict[tuple[Vertex, Vertex], list[str]] = {}
        for e in self.graph.edges:
            if e.tail not in self.placed.beside:
                gains.setdefault((e.tail, e.head), []).append(e.gain)
        return {
            ends: ", ".join(g or "1" for g in found) if len(found) > 1 else found[0]
            for ends, found in gains.items()
        }

    def _edge(self, tail: Vertex, head: Vertex, gain: str) -> None:
        first, last = self.names[tail], self.names[head]
        c = self.placed.column[head]
        x0, x1, y0, y1 = self.fans[c - 1], self.x[c], self._y(tail), self._y(head)
        arrow = "none" if head.kind == "output" else "normal"
        color = MINUS if gain.startswith("−") else INK
        if y0 == y1:
            self.dot.edge(first, last, arrowhead=arrow)
        else:
            bend = self._point(x0, y0)
            self.dot.edge(first, bend, arrowhead="none")
            self.dot.edge(bend, last, arrowhead=arrow, color=color)
        if gain:
            shares = STRAIGHT if y0 == y1 else SLANTING
            points = [(x0 + (x1 - x0) * s, y0 + (y1 - y0) * s) for s in shares]
            half = len(gain) * SMALL_CHAR / 2 + 1
            x, y = min(points, key=lambda p: self._hidden((tail, head), p, half))
            self.labels.append((x, y, half))
            _text(self.dot, x, y, gain, size=9, color=color, back=True)

    def _hidden(
        self, own: tuple[Vertex, Vertex], point: tuple[float, float], half: float
    ) -> int:  # fmt: skip
        """How much a label around a point would cover; labels weigh more than other edges."""
        x, y = point
        c = self.placed.column[own[1]]
        left, right = self.fans[c - 1], self.x[c]
        count = sum(
            3 for lx, ly, other in self.labels if abs(y - ly) < 11 and abs(x - lx) < half + other
        )
        for tail, head in self.wires:
            if (tail, head) == own or self.placed.column[head] != c:
                continue
            slope = (self._y(head) - self._y(tail)) / (right - left)
            ends = [self._y(tail) + slope * (at - left) for at in (x - half, x + half)]
            count += min(ends) < y + 6 and max(ends) > y - 6
        return count

    def _point(self, x: float, y: float) -> str:
        return self.dot.node(label="", shape="point", width=0.01, pos=f"{x:.1f},{y:.1f}!")
