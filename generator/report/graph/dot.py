# SPDX-License-Identifier: BSD-2-Clause
"""Text for Graphviz, and Graphviz's drawing of it."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from daedalus.generator.base.outputs import refuse_special, write_output
from daedalus.generator.base.process import run
from daedalus.generator.host.native import tool


def quoted(text: object, *, left: bool = False) -> str:
    """A string of the DOT language; lines are centred, or begin on the left."""
    escaped = str(text).replace("\\", "\\\\").replace('"', '\\"')
    return '"' + escaped.replace("\n", "\\l" if left else "\\n") + '"'


def attributes(given: dict[str, object], *, left: bool = False) -> str:
    """An attribute list, in the order given; what is None is left out."""
    return ", ".join(f"{k}={quoted(v, left=left)}" for k, v in given.items() if v is not None)


class Dot:
    """Collects the statements of a graph."""

    def __init__(self, **graph: object) -> None:
        self.lines = ["digraph lanes {", f"graph [{attributes(graph)}];"]
        self._count = 0

    def default(self, what: str, **given: object) -> None:
        self.lines.append(f"{what} [{attributes(given)}];")

    def node(self, *, left: bool = False, **given: object) -> str:
        """Declares a node; returns its name. `left`: the lines of its label begin on the left."""
        name = f"n{self._count}"
        self._count += 1
        self.lines.append(f"{name} [{attributes(given, left=left)}];")
        return name

    def edge(self, tail: str, head: str, **given: object) -> None:
        self.lines.append(f"{tail} -> {head} [{attributes(given)}];")

    def same_rank(self, nodes: list[str]) -> None:
        self.lines.append(f"{{ rank=same; {'; '.join(nodes)} }}")

    @contextmanager
    def frame(self, name: str, **given: object) -> Iterator[None]:
        """What is declared inside is drawn in a frame."""
        self.lines += [f"subgraph {name} {{", f"graph [{attributes(given)}];"]
        yield
        self.lines.append("}")

    def text(self) -> str:
        return "\n".join([*self.lines, "}"]) + "\n"


def render(text: str, file: Path, *, placed: bool) -> None:
    """Draws a graph as SVG into the file; `placed` if its nodes have positions already.

    Raises UserError where Graphviz is missing (exit code 3) or the file cannot be written.
    """
    refuse_special(file)
    program = tool("dot")
    engine = ["-Kneato", "-n2"] if placed else ["-Kdot"]
    with tempfile.TemporaryDirectory(prefix="daedalus-graph-") as folder:
        source, drawing = Path(folder, "graph.dot"), Path(folder, "graph.svg")
        source.write_text(text, encoding="utf-8")
        run([program, *engine, "-Tsvg", "-o", drawing, source], what="drawing the graph")
        drawn = drawing.read_bytes()
    write_output(file, drawn)
