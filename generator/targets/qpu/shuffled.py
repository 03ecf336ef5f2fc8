# SPDX-License-Identifier: BSD-2-Clause
"""Temps between stages that stay in registers although several elements do an item.

A temp's element lies in the register of a store, at the element of the item that stored it. Where a
stage reads it elsewhere it is moved, by a plan (exchange.py) of all that the stage reads of what
lies together. Which points an element computes is known, so the indices are evaluated, lane by
lane.
"""

from dataclasses import dataclass

from daedalus.dsl.ir import Buffer, Index, Kernel, Node, Op, Stage
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.conditions import Condition, both
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.exchange import Place, Places, components, plan
from daedalus.generator.targets.qpu.lanes import Mapping, point
from daedalus.generator.targets.qpu.moves import emit
from daedalus.generator.targets.qpu.values import Values
from daedalus.generator.targets.qpu.virtual import Value

Element = tuple[int, ...]  # of a temp: its index
Elements = tuple[Element, ...]  # by lane


@dataclass(frozen=True)
class _Stored:
    """A store of the stage."""

    temp: str
    elements: Elements
    value: Argument


class ShuffledTemps:
    """Temps of a kernel of which several elements do an item, in registers."""

    scratch_bytes = 0

    def __init__(self, kernel: Kernel, m: Mapping, e: Emitter) -> None:
        self._kernel, self._e, self._lanes = kernel, e, m.elements
        for n in (n for s in kernel.stages for n in s.nodes() if n.op is Op.LOAD and n.args):
            if kernel.buffer(n.attr[0]).kind == "temp":
                raise NotLowerable(
                    "qpu", f"the temp {n.attr[0]} is read at places that are known at run time, and"
                    " in registers", n.loc, kernel.id, hint="leave out shuffle",
                )  # fmt: skip
        self._registers: list[Argument] = []
        self._held: dict[str, dict[Element, list[Place]]] = {t.name: {} for t in kernel.temps}
        self._stored: list[_Stored] = []
        self._points: list[dict[str, int]] = []
        self._wanted: dict[str, list[Elements]] = {}
        self._found: dict[tuple[str, Elements], Argument] = {}

    def begin(self, stage: Stage, lanes: dict[str, Value], when: list[Condition]) -> None:
        """Opens a stage, of which only elements in which all of these hold matter."""
        self._points = [point(stage, lane) for lane in range(self._lanes)]
        self._found, self._wanted = {}, {}
        for n in stage.nodes():
            if n.op is Op.LOAD and n.attr[0] in self._held:
                self._want(n.attr[0], n.index)
        for s in stage.stores:
            if s.buffer in self._held and (s.mask is not None or stage.given or stage.limits):
                self._want(s.buffer, s.index)

    def _want(self, temp: str, index: Index) -> None:
        elements = self._elements(index)
        if elements not in self._wanted.setdefault(temp, []):
            self._wanted[temp].append(elements)

    def _elements(self, index: Index) -> Elements:
        """The element of each lane."""
        return tuple(tuple(a.at(p) for a in index) for p in self._points)

    def read(self, t: Buffer, n: Node, values: Values) -> Argument:
        """An element as it was before the stage."""
        return self._before(t, self._elements(n.index), values)

    def _before(self, t: Buffer, elements: Elements, values: Values) -> Argument:
        key = (t.name, elements)
        if key not in self._found:
            self._exchange(t, elements, values)
        return self._found[key]

    def _exchange(self, t: Buffer, elements: Elements, values: Values) -> None:
        """Finds what the stage wants of a temp and shares registers with these elements."""
        wanted = list(dict.fromkeys([*self._wanted.get(t.name, ()), elements]))
        places = [self._places(t, w) for w in wanted]
        own = wanted.index(elements)
        together = next(c for c in components(places) if own in c)
        constants = [self._constant(places[n]) for n in together]
        some = [n for n, c in zip(together, constants, strict=True) if c is None]
        self._found.update(
            ((t.name, wanted[n]), c)
            for n, c in zip(together, constants, strict=True)
            if c is not None
        )
        numbers = sorted({p[0] for n in some for p in places[n] if p is not None})
        sources = {n: self._e.value(self._registers[n]) for n in numbers}
        made = emit(plan([places[n] for n in some]), sources, self._e, values.flags)
        self._found.update(((t.name, wanted[n]), v) for n, v in zip(some, made, strict=True))

    def _constant(self, places: Places) -> int | None:
        """The number that all lanes want; 0 if they want nothing that there is."""
        found = {self._registers[p[0]] for p in places if p is not None} or {0}
        (first, *more) = found
        return first if isinstance(first, int) and not more else None

    def _places(self, t: Buffer, elements: Elements) -> Places:
        """Where they lie, each as near as there is one."""
        held = self._held[t.name]
        out: list[Place | None] = []
        for lane, element in enumerate(elements):
            if element in held:
                out.append(min(held[element], key=lambda p: ((p[1] ^ lane).bit_count(), p)))
            elif t.init is not None:
                out.append((self._register(t.init), lane))
            else:
                out.append(None)
        return tuple(out)

    def _register(self, value: Argument) -> int:
        """Its number."""
        if value not in self._registers:
            self._registers.append(value)
        return self._registers.index(value)

    def store(
        self, t: Buffer, index: Index, value: Argument, when: list[Condition], values: Values
    ) -> None:
        """Stores an element; seen from the next stage on."""
        elements = self._elements(index)
        if when:
            old = self._before(t, elements, values)
            value = self._e.select(values.flags.flag(both(*when)), value, old)
        self._stored.append(_Stored(t.name, elements, value))

    def end(self) -> None:
        """Closes a stage."""
        for s in self._stored:
            register, held = self._register(s.value), self._held[s.temp]
            for element in s.elements:
                held[element] = []
            for lane, element in enumerate(s.elements):
                held[element].append((register, lane))
        self._stored = []
