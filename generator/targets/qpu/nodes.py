# SPDX-License-Identifier: BSD-2-Clause
"""What the scheduler gives a time: halves of instructions and signals, and what they wait for."""

from dataclasses import dataclass, field

from daedalus.generator.targets.qpu.virtual import Flag, Operand, Source, Uniform

# Destinations that are no values.
TMUD, TMUA, TMUAU = "tmud", "tmua", "tmuau"
UNIFA = "unifa"


@dataclass(frozen=True)
class NodeForm:
    """An operation as it may stand in an instruction."""

    op: str
    sources: tuple[Source, ...]
    add: bool  # may stand on the add ALU
    mul: bool
    immediate: bool  # takes the place of the signals
    sfu: bool = False  # its result comes one slot later, by a unit of its own

    values: tuple[int, ...] = field(init=False, compare=False)  # numbers of those that it reads

    def __post_init__(self) -> None:
        numbers = tuple(s.value.number for s in self.sources if isinstance(s, Operand))
        object.__setattr__(self, "values", numbers)


@dataclass(eq=False)
class Node:
    """One thing to schedule. Values and flags go by their numbers."""

    kind: str  # "alu", "ldtmu", "ldunif", "ldunifa", "thrsw" or "tmuwt" (an add operation)
    order: int  # place in the block as it is written
    forms: tuple[NodeForm, ...] = ()  # of "alu"
    value: int | None = None  # that it defines
    write: str = ""  # TMUD, TMUA, TMUAU or UNIFA, where it writes that
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
    # What follows from the others: values that it reads, whichever form it takes; flags; what of
    # the condition field it takes.
    reads: tuple[int, ...] = field(init=False, repr=False)
    flags_read: tuple[int, ...] = field(init=False, repr=False)
    condition: str = field(init=False, repr=False)  # "none", "cond", "push" or "update"

    def __post_init__(self) -> None:
        self._find_reads()
        found = [f.number for f in (self.when, self.mask) if f is not None]
        self.flags_read = tuple(found + ([self.updates] if self.updates is not None else []))
        if self.when is not None:
            self.condition = "cond"
        elif not self.change:
            self.condition = "none"
        else:
            self.condition = "push" if self.change.startswith("push") else "update"

    def _find_reads(self) -> None:
        seen = [v for form in self.forms for v in form.values]
        self.reads = tuple(dict.fromkeys(seen + ([self.old] if self.old is not None else [])))

    def goes_on_with(self, old: int) -> None:
        """It goes on with the register of another value than it did."""
        self.old = old
        self._find_reads()

    def computes(self, forms: tuple[NodeForm, ...]) -> None:
        """It has other forms than it had."""
        self.forms = forms
        self._find_reads()

    def copy(self, *, stage: int | None = None, lookup: int | None = None) -> "Node":
        """The same, as yet waiting for nothing."""
        made = object.__new__(Node)
        made.__dict__.update(self.__dict__)
        made.preds = {}
        if stage is not None:
            made.stage = stage
        if lookup is not None:
            made.lookup = lookup
        return made

    def after(self, other: "Node", slots: int) -> None:
        """This comes at least so many slots after the other one."""
        if self.preds.get(other, -1) < slots:
            self.preds[other] = slots
