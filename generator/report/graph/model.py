# SPDX-License-Identifier: BSD-2-Clause
"""What is drawn of a stage: its values, gathered as people draw them.

A sum of many terms is one vertex, with gains on its edges; what is done to a single value (shift,
limit, multiplication by a constant) is a step, written beside the vertex that makes the value, or
on the edge where the value has other uses. Constants, parameters and what is briefly computed of
them are part of the text.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from daedalus.dsl.ir import Kernel, Node, Op, Stage, Store, walk
from daedalus.dsl.ranges import Ranges
from daedalus.dsl.show import index_text
from daedalus.generator.report.graph.words import (
    ROLES,
    enclosed,
    form_of,
    load_text,
    number,
    place_text,
    step_text,
)

# Operations of a stage that is drawn as a flow graph: sums and what is done to single values.
_LINEAR = frozenset({Op.CONST, Op.PARAM, Op.LOAD, Op.ADD, Op.SUB, Op.MUL, Op.SHR, Op.RSHR, Op.CLIP,
                     Op.WRAP, Op.ASSUME})  # fmt: skip
_JOINED = frozenset({Op.AND, Op.OR, Op.MIN, Op.MAX})  # whose chains are one vertex
_SUMS = (Op.ADD, Op.SUB)
_BRIEF = 28  # characters of an expression of parameters that is written out where it is used


@dataclass(eq=False)
class Vertex:
    """kind is input, sum, op or output.

    text   what an input, an output, or an operation with {a}, {b}, ... for its operands is
    steps  what is done to the value one after the other
    number of the value, after its steps, in the texts of `explain`
    tip    range and line, shown where the pointer rests
    """

    kind: str
    text: str
    name: str = ""
    steps: list[str] = field(default_factory=list)
    number: int = -1
    tip: str = ""
    boolean: bool = False


@dataclass(frozen=True)
class Edge:
    """sign and steps: what happens on the way; role: the operand's place in the head's text."""

    tail: Vertex
    head: Vertex
    steps: tuple[str, ...] = ()
    sign: int = 1
    role: str = ""
    mask: bool = False  # tells where the head is stored

    @property
    def gain(self) -> str:
        """Sign and steps as one label: 11585, −1, −≫1."""
        gain = self.factor or " ".join(self.steps)
        if self.sign > 0:
            return gain
        return gain[1:] if gain.startswith("−") else f"−{gain or 1}"

    @property
    def factor(self) -> str:
        """The constant, where nothing but a multiplication happens on the way."""
        alone = len(self.steps) == 1 and self.steps[0].startswith("×")
        return self.steps[0][1:] if alone else ""


@dataclass
class Graph:
    """A stage: vertices in the author's order, outputs last."""

    stage: Stage
    vertices: list[Vertex]
    edges: list[Edge]
    linear: bool
    condition: str  # under which the stage runs; empty where there is none

    @property
    def trivial(self) -> bool:
        """Whether the stage only moves elements."""
        return all(s.value.op in (Op.LOAD, Op.CONST) and not s.mask for s in self.stage.stores)

    def into(self, v: Vertex) -> list[Edge]:
        return [e for e in self.edges if e.head is v]

    def out_of(self, v: Vertex) -> list[Edge]:
        return [e for e in self.edges if e.tail is v]


def graph_of(kernel: Kernel, stage: Stage, ranges: Ranges) -> Graph:
    """The drawing of one stage."""
    return _Gather(kernel, stage, ranges).graph()


Term = tuple[Vertex, tuple[str, ...]]  # where a value comes from, and the steps on the way


class _Gather:
    def __init__(self, kernel: Kernel, stage: Stage, ranges: Ranges) -> None:
        self.kernel, self.stage, self.ranges = kernel, stage, ranges
        self.vertices: list[Vertex] = []
        self.edges: list[Edge] = []
        self.at: dict[Node, Term] = {}
        self.number = {n: k for k, n in enumerate(stage.nodes())}
        self.texts: dict[Node, str] = {}  # of what is written out where it is used
        stored = [n for s in stage.stores for n in (s.value, s.mask) if n is not None]
        self.nodes = sorted(walk(stored), key=lambda n: n.seq)
        self.users: dict[Node, list[Node | Store]] = {}
        for n in self.nodes:
            for a in dict.fromkeys(n.args):
                self.users.setdefault(a, []).append(n)
        for s in stage.stores:
            for x in (s.value, s.mask):
                if x is not None:
                    self.users.setdefault(x, []).append(s)

    def graph(self) -> Graph:
        for n in self.nodes:
            text = self._written(n)
            if text is not None:
                self.texts[n] = text
        for n in self.nodes:
            if n not in self.texts and not self._inside(n):
                self._gather(n)
        for s in self.stage.stores:
            self._output(s)
        linear = all(
            n.op in _LINEAR and (n.op is not Op.MUL or len(self._drawn(n)) < 2) for n in self.nodes
        ) and not any(s.mask for s in self.stage.stores)
        return Graph(self.stage, self.vertices, self.edges, linear, self._condition())

    # ------------------------------------------------------------------ what is written out

    def _written(self, n: Node) -> str | None:
        """The text of a constant, parameter or lane, or of what is briefly computed of them."""
        if n.op is Op.CONST:
            return number(n.value)
        if n.op is Op.PARAM:
            return str(n.attr[0]) + (index_text(n.index) if n.index else "")
        if n.op is Op.LANE:
            return str(n.attr[0])
        if n.op is Op.LOAD or any(a not in self.texts for a in n.args):
            return None
        text = self._expression(n)
        short = len(text) <= _BRIEF and not n.is_bool
        return text if short and all(isinstance(u, Node) for u in self.users[n]) else None

    def _expression(self, n: Node) -> str:
        """A value of operands that are all written out."""
        operands = {r: self._operand(a) for r, a in zip(ROLES, n.args, strict=False)}
        return form_of(n).format(**operands).strip()

    def _operand(self, n: Node) -> str:
        return enclosed(self.texts[n])

    def _condition(self) -> str:
        """What decides whether the stage runs, in the author's names."""

        def text(n: Node) -> str:
            if n.name:
                return n.name
            if n.op in (Op.CONST, Op.PARAM):
                return self._written(n) or ""
            operands = {r: enclosed(text(a)) for r, a in zip(ROLES, n.args, strict=False)}
            return form_of(n).format(**operands)

        parts = [] if self.stage.given is None else [text(self.stage.given)]
        parts += [f"{lane} < {text(n)}" for lane, n in self.stage.limits]
        return " and ".join(parts)

    # ------------------------------------------------------------------ values

    def _drawn(self, n: Node) -> list[Node]:
        return [a for a in n.args if a not in self.texts]

    def _single(self, n: Node) -> bool:
        return len(self.users.get(n, ())) == 1

    def _inside(self, n: Node) -> bool:
        """Whether a value is drawn as part of the vertex of its only user."""
        if not self._single(n) or n.name or len(self._drawn(n)) < 2:
            return False
        (user,) = self.users[n]
        if not isinstance(user, Node) or len(self._drawn(user)) < 2:
            return False
        return (n.op in _SUMS and user.op in _SUMS) or (n.op in _JOINED and user.op is n.op)

    def _gather(self, n: Node) -> None:
        drawn = self._drawn(n)
        if n.op is Op.LOAD:
            uniforms = [self._uniform(a) for a in n.args]
            v = self._new(n, "input", load_text(n, uniforms))
            for a in drawn:
                self._edge(a, v)
        elif not drawn:
            self._new(n, "op", self._expression(n))
        elif len(drawn) == 1 and n.op not in (Op.SELECT, Op.DOT):
            self._step(n, drawn[0])
        elif n.op in _SUMS:
            v = self._new(n, "sum", "+")
            for term, sign in self._terms(n, 1):
                self._add(v, term, sign)
        elif n.op in _JOINED:
            self._join(n)
        else:
            self._operation(n)

    def _uniform(self, n: Node) -> str:
        """The text of a value in an index."""
        return self.texts[n] if n in self.texts else self.at[n][0].name or "·"

    def _new(self, n: Node, kind: str, text: str) -> Vertex:
        v = Vertex(kind, text, n.name, [], self.number[n], self._tip(n), n.is_bool)
        self.vertices.append(v)
        self.at[n] = (v, ())
        return v

    def _tip(self, n: Node, what: str = "") -> str:
        parts = [n.name or what, "" if n.is_bool else str(self.ranges.of(n)), str(n.loc)]
        return " ".join(p for p in parts if p)

    def _edge(self, n: Node, head: Vertex, role: str = "", *, mask: bool = False) -> None:
        tail, steps = self.at[n]
        self.edges.append(Edge(tail, head, steps, role=role, mask=mask))

    def _step(self, n: Node, x: Node) -> None:
        """An operation on a single value: a step after its vertex, on its edge, or its own."""
        at = n.args.index(x)
        other = ", ".join(self._operand(a) for a in n.args if a is not x)
        text = step_text(n, at, other)
        tail, steps = self.at[x]
        if not text:  # an assumption changes nothing
            self.at[n] = (tail, steps)
            if not steps:
                tail.name = tail.name or n.name
        elif self._single(x) and not steps and tail.kind in ("sum", "op"):
            tail.steps.append(text)
            tail.name, tail.number, tail.boolean = n.name or tail.name, self.number[n], n.is_bool
            tail.tip += f"\n{self._tip(n, text)}"
            self.at[n] = (tail, ())
        elif (self._single(n) and not n.name) or self._gain(n):
            self.at[n] = (tail, (*steps, text))
        else:
            v = self._new(n, "op", "{a}")
            v.steps.append(text)
            self._edge(x, v, "a")

    def _gain(self, n: Node) -> bool:
        """Whether a value is a product with a constant that is only added: a gain on each edge."""
        users = self.users[n]
        sums = all(isinstance(u, Node) and u.op in _SUMS for u in users)
        return n.op is Op.MUL and n.args[1].op is Op.CONST and not n.name and sums

    # ------------------------------------------------------------------ vertices of many operands

    def _terms(self, n: Node, sign: int) -> Iterator[tuple[Node, int]]:
        """The terms of a sum, through sums that are part of it."""
        for k, a in enumerate(n.args):
            s = -sign if n.op is Op.SUB and k == 1 else sign
            if a not in self.texts and self._inside(a):
                yield from self._terms(a, s)
            else:
                yield a, s

    def _add(self, v: Vertex, term: Node, sign: int) -> None:
        if term in self.texts:
            v.steps.append(f"{'+' if sign > 0 else '−'}{self._operand(term)}".replace("−−", "+"))
        else:
            tail, steps = self.at[term]
            self.edges.append(Edge(tail, v, steps, sign))

    def _chain(self, n: Node) -> Iterator[Node]:
        for a in n.args:
            if a not in self.texts and self._inside(a):
                yield from self._chain(a)
            else:
                yield a

    def _join(self, n: Node) -> None:
        """min(a, b, ...), or conditions with one word between them."""
        operands = list(self._chain(n))
        parts = [self.texts.get(a, f"{{{r}}}") for r, a in zip(ROLES, operands, strict=False)]
        word = f"{n.op}({', '.join(parts)})" if not n.is_bool else f" {n.op} ".join(parts)
        v = self._new(n, "op", word)
        for r, a in zip(ROLES, operands, strict=False):
            if a not in self.texts:
                self._edge(a, v, r)

    def _operation(self, n: Node) -> None:
        """A vertex whose operands have roles."""
        kept = {r: f"{{{r}}}" for r in ROLES}
        shown = {r: self._operand(a) for r, a in zip(ROLES, n.args, strict=False)
                 if a in self.texts}  # fmt: skip
        v = self._new(n, "op", form_of(n).format(**(kept | shown)))
        for r, a in zip(ROLES, n.args, strict=False):
            if a not in self.texts:
                self._edge(a, v, r)

    def _output(self, s: Store) -> None:
        v = Vertex("output", place_text(s.buffer, s.index), tip=str(s.loc))
        if s.combine:
            v.text += f" {s.combine}="
        if s.value in self.texts:
            v.text += f" = {self.texts[s.value]}"
        else:
            self._edge(s.value, v)
        self.vertices.append(v)
        if s.mask is not None:
            self._edge(s.mask, v, mask=True)
