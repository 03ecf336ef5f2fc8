# SPDX-License-Identifier: BSD-2-Clause
"""Virtual instructions to nodes: lookups become writes of TMU registers and pops of results, what
comes by unifa a write of the pointer and a load for each word."""

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace

from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.nodes import TMUA, TMUAU, TMUD, UNIFA, Node, NodeForm
from daedalus.generator.targets.qpu.virtual import (
    MASK,
    Compute,
    Flag,
    FlagMask,
    Form,
    Immediate,
    Instruction,
    Load,
    LoadUnifa,
    LoadUniform,
    Operand,
    Payload,
    Program,
    Source,
    Store,
    Uniform,
    Value,
    WaitStores,
)

# Forms that are equal for all operands; the mul ALU has add and sub but not the operation itself.
SAME = {"neg": 0, "not": MASK}  # operation -> what its source is subtracted from


def without_dead(program: Program) -> Program:
    """The program without instructions whose results nobody reads."""
    loop = program.loop
    needed: set[Value] = set()
    flags: set[int] = set()
    body: tuple[Instruction, ...] = ()
    if loop is not None:
        flags.add(loop.repeat.number)
        needed.update(c.next for c in loop.carried)
        body = _alive(loop.body, needed, flags)
        needed.update(c.first for c in loop.carried)
        loop = replace(loop, body=body)
    entry = _alive(program.entry, needed, flags)
    return replace(program, entry=entry, loop=loop)


def _alive(
    block: Sequence[Instruction], needed: set[Value], flags: set[int]
) -> tuple[Instruction, ...]:
    kept = []
    for i in reversed(block):
        effect = isinstance(i, Store | WaitStores) or (
            isinstance(i, Compute) and i.result is None and i.flag is None
        )
        made = isinstance(i, Compute) and i.flag is not None and i.flag.number in flags
        if not (effect or made or needed.intersection(i.results())):
            continue
        if isinstance(i, Compute) and i.result is not None and i.result not in needed:
            i = replace(i, result=None)  # the flag alone is wanted
        needed.update(i.reads())
        flags.update(f.number for f in i.flags_read())
        kept.append(i)
    return tuple(reversed(kept))


def uses_of(program: Program) -> Counter[Value]:
    """How often values are read, by instructions and by the loop."""
    loop = program.loop
    blocks = [*program.entry, *(loop.body if loop is not None else ())]
    count = Counter(v for i in blocks for v in _read_often(i))
    if loop is not None:
        count.update(v for c in loop.carried for v in (c.first, c.next))
    return count


def _read_often(i: Instruction) -> Iterable[Value]:
    return (*i.data, i.address) if isinstance(i, Store) else i.reads()


class Lowering:
    """The nodes of a block, in the order in which it is written."""

    def __init__(self, block: Sequence[Instruction], uses: Counter[Value]) -> None:
        self.nodes: list[Node] = []
        self._lookups = 0
        self._folded = _foldable(block, uses)
        for i in block:
            self._add(i)

    def _add(self, i: Instruction) -> None:
        if isinstance(i, Compute):
            if i.result is None or i.result not in self._folded:
                self._node(self._compute(i))
        elif isinstance(i, FlagMask):
            self._node(Node("alu", 0, (_form("vfla"),), i.result.number, mask=i.flag, note=i.note))
        elif isinstance(i, Load):
            self._load(i)
        elif isinstance(i, LoadUnifa):
            self._load_unifa(i)
        elif isinstance(i, Store):
            self._store(i)
        elif isinstance(i, WaitStores):
            self._node(Node("tmuwt", 0, note=i.note))
        elif isinstance(i, LoadUniform):
            self._node(Node("ldunif", 0, (), i.result.number, uniform=i.uniform, note=i.note))
        elif isinstance(i, Payload):
            raise TypeError("the entry takes the payload apart")

    def _node(self, node: Node) -> Node:
        node.order = len(self.nodes)
        self.nodes.append(node)
        return node

    def _compute(self, i: Compute) -> Node:
        return Node(
            "alu",
            0,
            _forms(i.forms, plain=not i.change),
            None if i.result is None else i.result.number,
            old=None if i.old is None else i.old.number,
            when=i.when,
            pack=i.pack,
            change=i.change,
            flag=None if i.flag is None else i.flag.number,
            updates=None if i.updates is None else i.updates.number,
            latency=max(machine.description().operations[f.op].latency for f in i.forms),
            note=i.note,
        )

    def _write(self, value: Value, where: str, when: Flag | None, note: str) -> Node:
        """The write of a register that is none of the file's, by the operation that computes the
        value if it can."""
        folded = self._folded.get(value)
        forms = folded.forms if folded is not None else (Form("mov", (Operand(value),)),)
        node = Node("alu", 0, _forms(forms, plain=True), write=where, when=when, note=note)
        node.lookup = -1 if where == UNIFA else self._lookups
        return self._node(node)

    def _address(self, i: Load | Store) -> Node:
        config, _ = machine.CONFIGS[i.type]
        plain = i.type == "u32"
        node = self._write(i.address, TMUA if plain else TMUAU, i.when, i.note)
        if not plain:
            # Its other bytes, all ones, are what a thread begins with: they serve later lookups.
            node.uniform = Uniform("constant", i.type, 0xFFFFFF00 | config)
        return node

    def _load(self, i: Load) -> None:
        address = self._address(i)
        address.words = len(i.words)
        for word in i.words:
            pop = self._node(Node("ldtmu", 0, (), word.number, lookup=self._lookups, note=i.note))
            pop.after(address, 1)
        self._lookups += 1

    def _load_unifa(self, i: LoadUnifa) -> None:
        self._write(i.address, UNIFA, None, i.note)
        for word in i.words:
            self._node(Node("ldunifa", 0, (), word.number, note=i.note))

    def _store(self, i: Store) -> None:
        nodes = [self._write(d, TMUD, None, i.note) for d in i.data]
        nodes.append(self._address(i))
        for before, node in itertools.pairwise(nodes):
            node.after(before, 1)
        for node in nodes:
            node.store = True
        self._lookups += 1


def _foldable(block: Sequence[Instruction], uses: Counter[Value]) -> dict[Value, Compute]:
    """Operations whose result goes to one such register and nowhere else."""
    operations = machine.description().operations
    plain = {
        i.result: i
        for i in block
        if isinstance(i, Compute)
        and i.result is not None
        and not i.change
        and i.old is None
        and uses[i.result] == 1
        and not any(operations[f.op].sfu for f in i.forms)
    }
    wanted = {v for i in block if isinstance(i, Load | LoadUnifa | Store) for v in i.reads()}
    return {v: i for v, i in plain.items() if v in wanted}


def _form(op: str) -> NodeForm:
    return _forms((Form(op, ()),), plain=False)[0]


def _forms(forms: Sequence[Form], plain: bool) -> tuple[NodeForm, ...]:
    """As they may stand in instructions; plain forms, which leave flags alone, have equals."""
    operations = machine.description().operations
    out = list(forms)
    for form in forms:
        unpacked = any(isinstance(s, Operand) and s.unpack for s in form.sources)
        if plain and form.op in SAME and not unpacked and isinstance(form.sources[0], Operand):
            out.append(Form("sub", (Immediate(SAME[form.op]), form.sources[0])))
    return tuple(
        NodeForm(
            f.op,
            f.sources,
            operations[f.op].add,
            operations[f.op].mul,
            any(isinstance(s, Immediate) for s in f.sources),
            operations[f.op].sfu,
        )
        for f in dict.fromkeys(out)
    )


def renamed(i: Instruction, names: dict[Value, Value]) -> Instruction:
    """An instruction that reads other values."""

    def source(s: Source) -> Source:
        return replace(s, value=names.get(s.value, s.value)) if isinstance(s, Operand) else s

    def value(v: Value) -> Value:
        return names.get(v, v)

    match i:
        case Compute():
            forms = tuple(Form(f.op, tuple(map(source, f.sources))) for f in i.forms)
            return replace(i, forms=forms, old=None if i.old is None else value(i.old))
        case Load() | LoadUnifa():
            return replace(i, address=value(i.address))
        case Store():
            return replace(i, address=value(i.address), data=tuple(map(value, i.data)))
    return i
