# SPDX-License-Identifier: BSD-2-Clause
"""One instruction as it fills up: which nodes go together."""

from dataclasses import dataclass, field

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.nodes import Node, NodeForm
from daedalus.generator.targets.qpu.virtual import Uniform

_ADDRESSED = {"ldtmu", "ldunif"}  # node kinds whose signal names a destination
SIGNALS = {"ldtmu": "ldtmu", "ldunif": "ldunifrf", "thrsw": "thrsw"}  # by node kind
NOP = NodeForm("nop", (), True, True, False)
TMUWT = NodeForm("tmuwt", (), True, False, False)


@dataclass
class Placed:
    """An operation on one of the ALUs."""

    node: Node
    form: NodeForm


@dataclass
class Slot:
    """An instruction. `add` and `mul` are decided by settle()."""

    placed: list[Placed] = field(default_factory=list)
    signals: list[Node] = field(default_factory=list)
    wait: bool = False  # tmuwt, which no node asked for, on the add ALU
    branch: bool = False
    add: Placed | None = None
    mul: Placed | None = None

    def nodes(self) -> list[Node]:
        """All that it does."""
        return [p.node for p in self.placed] + self.signals

    def fit(self, node: Node) -> NodeForm | None:
        """The form in which an operation can join, or None."""
        operations = len(self.placed) + self.wait
        if self.branch or operations == 2:
            return None
        forms = (TMUWT,) if node.kind == "tmuwt" else node.forms
        for form in forms:
            if self._takes(form) and self._arrange([*self.placed, Placed(node, form)]) is not None:
                if self._peripheral() and self._is_peripheral(node, form):
                    continue
                if node.uniform is not None and self._uniforms():
                    continue
                return form
        return None

    def put(self, node: Node, form: NodeForm) -> None:
        """Adds an operation that fit() has found to fit."""
        self.placed.append(Placed(node, form))

    def fit_wait(self) -> bool:
        """Whether a tmuwt can join."""
        if self.branch or self.wait or len(self.placed) == 2:
            return False
        self.wait = True
        fits = self._arrange(self.placed) is not None
        self.wait = False
        return fits

    def fit_signal(self, node: Node) -> bool:
        """Whether a signal can join."""
        if self.branch or any(p.form.immediate for p in self.placed):
            return False
        names = {SIGNALS[n.kind] for n in (*self.signals, node)}
        if len(names) <= len(self.signals) or frozenset(names) not in machine.description().signals:
            return False
        if node.uniform is not None and self._uniforms():
            return False
        return node.kind not in _ADDRESSED or all(_class(p.node) == "none" for p in self.placed)

    def settle(self) -> None:
        """Decides which operation stands on which ALU."""
        arranged = self._arrange(self.placed)
        assert arranged is not None
        self.add, self.mul = arranged

    def consumes(self) -> list[Uniform]:
        """The words of the uniform stream that it consumes, of which there is at most one."""
        return [n.uniform for n in self.nodes() if n.uniform is not None]

    def _takes(self, form: NodeForm) -> bool:
        if not form.immediate:
            return True
        return not self.signals and not any(p.form.immediate for p in self.placed)

    def _uniforms(self) -> bool:
        return any(n.uniform is not None for n in self.nodes())

    def _peripheral(self) -> bool:
        return any(self._is_peripheral(p.node, p.form) for p in self.placed)

    @staticmethod
    def _is_peripheral(node: Node, form: NodeForm) -> bool:
        return bool(node.write) or machine.description().operations[form.op].sfu

    def _arrange(self, placed: list[Placed]) -> tuple[Placed | None, Placed | None] | None:
        """Who stands on the add ALU and who on the mul ALU; None if they cannot."""
        free = not any(n.kind in _ADDRESSED for n in self.signals)
        one, two = (*placed, None, None)[:2]
        orders = ((two, one), (one, two)) if two is None else ((one, two), (two, one))
        for add, mul in orders:
            if (add is not None and (self.wait or not add.form.add)) or (
                mul is not None and not mul.form.mul
            ):
                continue
            classes = _class(add.node if add else None), _class(mul.node if mul else None)
            if classes != ("none", "none") and (
                not free or classes not in machine.description().conditions
            ):
                continue
            return add, mul
        return None


def _class(node: Node | None) -> str:
    """What of the condition field a node takes."""
    if node is None:
        return "none"
    if node.when is not None:
        return "cond"
    if not node.change:
        return "none"
    return "push" if node.change.startswith("push") else "update"
