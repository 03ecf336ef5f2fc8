# SPDX-License-Identifier: BSD-2-Clause
"""One instruction as it fills up: which nodes go together."""

from dataclasses import dataclass, field

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.nodes import UNIFA, Node, NodeForm
from daedalus.generator.targets.qpu.virtual import Uniform

_ADDRESSED = {"ldtmu", "ldunif", "ldunifa"}  # node kinds whose signal names a destination
# By node kind.
SIGNALS = {"ldtmu": "ldtmu", "ldunif": "ldunifrf", "ldunifa": "ldunifarf", "thrsw": "thrsw"}
TMUWT = NodeForm("tmuwt", (), True, False, False)
TMUWT_ONLY = (TMUWT,)


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
    silent: bool = False  # an immediate takes the place of signals
    _uniform: bool = False  # it consumes a word of the stream, or of the one of unifa
    _peripheral: bool = False  # it writes a TMU register, or asks the SFU
    _addressed: bool = False  # a signal names a destination, in place of conditions

    def nodes(self) -> list[Node]:
        """All that it does."""
        return [p.node for p in self.placed] + self.signals

    def fit(self, node: Node) -> NodeForm | None:
        """The form in which an operation can join, or None."""
        if self.branch or len(self.placed) + self.wait == 2:
            return None
        if node.uniform is not None and self._uniform:
            return None
        for form in TMUWT_ONLY if node.kind == "tmuwt" else node.forms:
            if form.immediate and (self.signals or self.silent):
                continue
            if self._peripheral and _is_peripheral(node, form):
                continue
            if self._joins(node, form):
                return form
        return None

    def put(self, node: Node, form: NodeForm) -> None:
        """Adds an operation that fit() has found to fit."""
        self.placed.append(Placed(node, form))
        self.silent = self.silent or form.immediate
        self._peripheral = self._peripheral or _is_peripheral(node, form)
        self._uniform = self._uniform or node.uniform is not None

    def put_signal(self, node: Node) -> None:
        """Adds a signal that fit_signal() has found to fit."""
        self.signals.append(node)
        self._addressed = self._addressed or node.kind in _ADDRESSED
        self._uniform = self._uniform or _streams(node)

    def fit_wait(self) -> bool:
        """Whether a tmuwt can join."""
        if self.branch or self.wait or len(self.placed) == 2:
            return False
        self.wait = True
        fits = self._arrange() is not None
        self.wait = False
        return fits

    def fit_signal(self, node: Node) -> bool:
        """Whether a signal can join."""
        if self.branch or self.silent or (_streams(node) and self._uniform):
            return False
        if self.signals:
            names = frozenset(SIGNALS[n.kind] for n in (*self.signals, node))
            if len(names) <= len(self.signals) or names not in machine.description().signals:
                return False
        return node.kind not in _ADDRESSED or all(p.node.condition == "none" for p in self.placed)

    def settle(self) -> None:
        """Decides which operation stands on which ALU."""
        arranged = self._arrange()
        assert arranged is not None
        self.add, self.mul = arranged

    def consumes(self) -> list[Uniform]:
        """The words of the uniform stream that it consumes, of which there is at most one."""
        return [n.uniform for n in self.nodes() if n.uniform is not None]

    def _joins(self, node: Node, form: NodeForm) -> bool:
        """Whether there is an ALU for it beside what is there."""
        if self.placed:
            there, other = self.placed[0].form, self.placed[0].node.condition
            on_add = form.add and there.mul and self._may_be(node.condition, other)
            return on_add or (form.mul and there.add and self._may_be(other, node.condition))
        on_add = form.add and not self.wait and self._may_be(node.condition, "none")
        return on_add or (form.mul and self._may_be("none", node.condition))

    def _may_be(self, add: str, mul: str) -> bool:
        """Whether the condition field can say this."""
        if add == mul == "none":
            return True
        return not self._addressed and (add, mul) in machine.description().conditions

    def _arrange(self) -> tuple[Placed | None, Placed | None] | None:
        """Who stands on the add ALU and who on the mul ALU; None if they cannot."""
        one, two = (*self.placed, None, None)[:2]
        orders = ((two, one), (one, two)) if two is None else ((one, two), (two, one))
        for add, mul in orders:
            if (add is not None and (self.wait or not add.form.add)) or (
                mul is not None and not mul.form.mul
            ):
                continue
            conditions = (p.node.condition if p is not None else "none" for p in (add, mul))
            if self._may_be(*conditions):
                return add, mul
        return None


def _is_peripheral(node: Node, form: NodeForm) -> bool:
    """Whether it writes a TMU register, or asks the SFU."""
    return (node.write not in ("", UNIFA)) or form.sfu


def _streams(node: Node) -> bool:
    """Whether a signal takes a word of either stream."""
    return node.kind == "ldunifa" or node.uniform is not None
