# SPDX-License-Identifier: BSD-2-Clause
"""What the scheduler gives a time: halves of instructions and signals, and what they wait for."""

from dataclasses import dataclass, field

from daedalus.generator.targets.qpu.virtual import Flag, Operand, Source, Uniform

# Destinations that are no values.
TMUD, TMUA, TMUAU = "tmud", "tmua", "tmuau"


@dataclass(frozen=True)
class NodeForm:
    """An operation as it may stand in an instruction."""

    op: str
    sources: tuple[Source, ...]
    add: bool  # may stand on the add ALU
    mul: bool
    immediate: bool  # takes the place of the signals

    values: tuple[int, ...] = field(init=False, compare=False)  # numbers of those that it reads

    def __post_init__(self) -> None:
        numbers = tuple(s.value.number for s in self.sources if isinstance(s, Operand))
        object.__setattr__(self, "values", numbers)


@dataclass(eq=False)
class Node:
    """One thing to schedule. Values and flags go by their numbers."""

    kind: str  # "alu", "ldtmu", "ldunif", "thrsw" or "tmuwt" (an add operation)
    order: int  # place in the block as it is written
    forms: tuple[NodeForm, ...] = ()  # of "alu"
    value: int | None = None  # that it defines
    write: str = ""  # TMUD, TMUA or TMUAU, where it writes that
    old: int | None = None  # the value whose register it goes on with
    when: Flag | None = None
    pack: str = ""
    change: str = ""
    flag: int | None = None  # that it makes
    updates: int | None = None  # that it replaces
    mask: Flag | None = None  # read as data: the operation is vfla or the like
    uniform: Uniform | None = None  # a word of the stream that it consumes
    lookup: int = -1  # the lookup it belongs to, by the order of lookups in the block
    words: int = 0  # of a TMU write that starts a load: how many it returns
    store: bool = False  # belongs to a lookup that writes
    latency: int = 1
    note: str = ""
    stage: int = 1  # 0: belongs to the trip after the one of stage 1
    preds: dict["Node", int] = field(default_factory=dict, repr=False)  # -> slots after them

    @property
    def reads(self) -> tuple[int, ...]:
        """Values that it reads, whichever form it takes."""
        if len(self.forms) == 1 and self.old is None:
            return tuple(dict.fromkeys(self.forms[0].values))
        seen = [v for form in self.forms for v in form.values]
        return tuple(dict.fromkeys(seen + ([self.old] if self.old is not None else [])))

    @property
    def flags_read(self) -> tuple[int, ...]:
        """Flags that it reads."""
        found = [f.number for f in (self.when, self.mask) if f is not None]
        return tuple(found + ([self.updates] if self.updates is not None else []))

    def after(self, other: "Node", slots: int) -> None:
        """This comes at least so many slots after the other one."""
        if self.preds.get(other, -1) < slots:
            self.preds[other] = slots
