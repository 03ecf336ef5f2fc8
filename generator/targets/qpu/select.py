# SPDX-License-Identifier: BSD-2-Clause
"""From a lowered kernel to a virtual program: a loop whose trips do items.

Thread t of T does trips t, t + T, ... Elements whose item does not exist compute what the last
item's do, and store nothing.
"""

from dataclasses import dataclass, replace

from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import Kernel, Node, Op, Stage, Store
from daedalus.dsl.ranges import Interval
from daedalus.generator.options import Options
from daedalus.generator.passes.relative import relate_values
from daedalus.generator.passes.signed_limits import limit_differences
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.gpu.record import Record
from daedalus.generator.targets.qpu import machine
from daedalus.generator.targets.qpu.alus import least
from daedalus.generator.targets.qpu.aside import with_aside
from daedalus.generator.targets.qpu.builder import Argument
from daedalus.generator.targets.qpu.conditions import Condition, Flags, Test
from daedalus.generator.targets.qpu.dots import Dots
from daedalus.generator.targets.qpu.emitter import Emitter
from daedalus.generator.targets.qpu.fuse import fuse
from daedalus.generator.targets.qpu.item import Items
from daedalus.generator.targets.qpu.lanes import coordinates, mapping
from daedalus.generator.targets.qpu.limits import PlaceLimits
from daedalus.generator.targets.qpu.memory import StageMemory
from daedalus.generator.targets.qpu.pairs import StagePairs
from daedalus.generator.targets.qpu.prune import prune
from daedalus.generator.targets.qpu.shuffled import ShuffledTemps
from daedalus.generator.targets.qpu.tables import Tables
from daedalus.generator.targets.qpu.temps import RegisterTemps, ScratchTemps
from daedalus.generator.targets.qpu.together import MANY, first_of_all
from daedalus.generator.targets.qpu.values import Values, greater
from daedalus.generator.targets.qpu.virtual import Program, Value


@dataclass(frozen=True)
class Selected:
    """Virtual programs, and what the runtime has to know of them.

    programs  that compute the same: reading records when they are needed, and a trip before
    record   the words of an item's record
    align    of every buffer, what its address, stride and offsets are multiples of, in bytes
    items    a trip
    scratch  bytes of scratch memory a thread, for temps
    paired   whether words are made of pairs
    """

    programs: tuple[Program, ...]
    record: Record
    align: tuple[int, ...]
    items: int
    scratch: int
    paired: bool = False


@dataclass(frozen=True)
class How:
    """What select() is asked for: the words of a variant.

    words    reads and writes aligned words, where elements are neighbours
    packed   temps in registers take as many elements a word as their range allows
    shifted  reads planes that are only read in words although their items lie anywhere
    dots     makes sums of bytes by dot products
    pairs    makes neighbouring elements as halves of registers, where that is less to do
    always   makes them so wherever it can (no variant asks for that: random programs do)
    shuffled temps stay in registers, and are moved between the elements that do an item
    lined    neighbouring elements read blocks together, and words are moved between them
    unifa    reads the record of a trip's only item once for all elements
    aside    sets values aside in scratch memory, where so many registers do not hold them; 0: none
    """

    words: bool = False
    packed: bool = False
    shifted: bool = False
    dots: bool = False
    pairs: bool = False
    always: bool = False
    shuffled: bool = False
    lined: bool = False
    unifa: bool = False
    aside: int = 0


def how(options: Options) -> How:
    """What a variant asks for."""
    return How(
        words=options.choice("word"), packed=options.choice("keep"),
        shifted=options.choice("unaligned"), dots=options.choice("dot"),
        pairs=options.choice("pair"), shuffled=options.choice("shuffle"),
        lined=options.choice("joint_reads"), unifa=options.choice("record_once"),
        aside=machine.registers(options.threads) if options.choice("aside") else 0,
    )  # fmt: skip


def select(kernel: Kernel, asked: How, *, name: str = "") -> Selected:
    """The program of a kernel lowered for the QPU. Raises NotLowerable where there is none."""
    _refuse_unknown(kernel)
    if asked.pairs and _pays(kernel, asked):
        made = _programs(_related(kernel), name or kernel.id, asked)
    else:
        made = _programs(kernel, name or kernel.id, replace(asked, pairs=False))
    return _less_alive(made, asked.aside) if asked.aside else made


def _less_alive(made: Selected, registers: int) -> Selected:
    """The same with values set aside, few of them first."""
    found = [x for p in made.programs for x in with_aside(p, made.scratch, registers)]
    return replace(made, programs=tuple(sorted(found, key=lambda p: p.aside)))


def makes_pairs(lowered: Kernel, options: Options) -> bool:
    """Whether the program of a variant has words that are made of pairs."""
    return bool(options.choice("pair")) and _pays(lowered, how(options))


def _pays(kernel: Kernel, asked: How) -> bool:
    """Whether a trip has less to do with pairs."""
    try:
        paired = _programs(_related(kernel), kernel.id, asked, (False,))
    except NotLowerable:
        return False  # relations widen ranges
    if asked.always or not paired.paired:
        return paired.paired
    plain = _programs(kernel, kernel.id, replace(asked, pairs=False), (False,))
    return least(paired.programs[0]) < least(plain.programs[0])


def _related(kernel: Kernel) -> Kernel:
    """The kernel in the form that pairs are made of."""
    return relate_values(limit_differences(kernel))


def _programs(
    kernel: Kernel, name: str, asked: How, early: tuple[bool, ...] = (False, True)
) -> Selected:
    """The programs that read records when they are needed, a trip before, or both."""
    selectors = [_Selector(kernel, name, asked, early=x) for x in early]
    made = [s.selected() for s in selectors]
    if asked.dots and not any(s.dotted for s in selectors):
        # Nothing to ask for another mode of v8dot for.
        return _programs(kernel, name, replace(asked, dots=False), early)
    return replace(
        made[0], programs=tuple(p for s in made for p in s.programs),
        paired=any(s.paired for s in selectors),
    )  # fmt: skip


def select_for(
    lowered: Kernel, name: str, options: Options, *, always_pairs: bool = False
) -> Selected:
    """The program of a kernel lowered for a variant of the QPU, as that says."""
    return select(lowered, replace(how(options), always=always_pairs), name=name)


def _refuse_unknown(kernel: Kernel) -> None:
    """What the language has and this back end does not do is an error at its line."""
    found: list[tuple[str, Loc]] = []
    if kernel.wide:
        found.append(("values of more than 32 bits have", kernel.loc))
    temps = {t.name for t in kernel.temps}
    for stage in kernel.stages:
        found += [
            ("accumulation in a buffer has", s.loc)
            for s in stage.stores
            if s.combine and s.buffer not in temps
        ]
    if found:
        what, loc = found[0]
        raise NotLowerable(
            "qpu", f"{what} no QPU form", loc, kernel.id,
            hint=f"leave {kernel.id} without qpu variants in options.toml",
        )  # fmt: skip


def _anywhere(kernel: Kernel) -> bool:
    """Whether temps are read at places that are known only at run time."""
    temps = {t.name for t in kernel.temps}
    return any(
        n.op is Op.LOAD and n.args and n.attr[0] in temps for s in kernel.stages for n in s.nodes()
    )


class _Selector:
    """What the stages of a program share."""

    def __init__(self, kernel: Kernel, name: str, how: How, *, early: bool) -> None:
        self.kernel, self.how = kernel, how
        self.limits = PlaceLimits(kernel)
        self.ranges = self.limits.ranges
        self.e = Emitter(name, kernel.loc.file)
        self.mapping = mapping(kernel)
        self.items = Items(kernel, self.mapping, self.e, early=early, unifa=how.unifa)
        self.tables = Tables(kernel, self.limits, self.e)
        self.temps = self._temps()
        self.align: dict[str, int] = {}
        self.stored: set[str] = set()  # buffers, since all stores were waited for
        self.dotted = False  # whether a dot product was made
        self.paired = False  # whether a word was made of pairs
        self.deciding = self.limits.deciding()

    def _temps(self) -> RegisterTemps | ShuffledTemps | ScratchTemps:
        kernel, e = self.kernel, self.e
        if self.mapping.elements == 1 and not _anywhere(kernel):
            return RegisterTemps(kernel, self.ranges, e, packed=self.how.packed)
        if self.how.shuffled:
            return ShuffledTemps(kernel, self.mapping, e)
        return ScratchTemps(kernel, self.items, self.limits, e)

    def selected(self) -> Selected:
        e = self.e
        if self.how.dots:
            e.dot_mode("ss")
        with e.b.loop(ahead=True) as loop:
            with e.note("the item's record"):
                self.items.begin(loop)
            flags = Flags(e)
            for number, stage in enumerate(self.kernel.stages, 1):
                e.stage = number if len(self.kernel.stages) > 1 else 0
                with e.note(e.where(stage.loc, "stage")):
                    self._stage(stage, flags)
            with e.note("whether there is a trip more"):
                self.items.end(loop)
        return Selected(
            (prune(fuse(prune(e.program()))),),
            self.items.record,
            tuple(
                max(self.align.get(b.name, 1), b.dtype.bytes if b.dtype else 1)
                for b in self.kernel.buffers
            ),
            self.mapping.items,
            self.temps.scratch_bytes,
        )

    def _stage(self, stage: Stage, flags: Flags) -> None:
        """What a trip does of a stage."""
        e, own = self.e, self.items.lane
        lanes: dict[str, Value] = {}
        if own is not None and stage.lanes > 1:
            lanes = coordinates(stage, self.mapping, own, e)
        memory = StageMemory(
            self.kernel,
            stage,
            self.items,
            lanes,
            e,
            words=self.how.words,
            shifted=self.how.shifted,
            lined=self.how.lined,
            live=self.items.live,
            limits=self.limits,
        )

        def read(n: Node, values: Values) -> Argument:
            return self._read(n, values, memory, lanes, stage)

        dots = Dots(self.kernel, self.ranges, memory, self.tables, e) if self.how.dots else None
        values = Values(
            self.kernel, self.ranges, e, flags, read, self.deciding, dots.sum if dots else None
        )
        # Whether the stage is done at all depends on no condition, those before it included.
        self.tables.begin([])
        loading, storing, within = memory.loading, list[Condition](), list[Condition]()
        if stage.lanes < self.mapping.elements:
            assert own is not None
            within.append(Condition(Test("sub", (own, stage.lanes), "c")))
        if stage.given is not None:
            loading.append(values.condition(stage.given))
        for axis, limit in stage.limits:
            # Where an item makes another limit of it, points stay inside the stage all the same.
            most, r = values.argument(limit), self.limits.hostile.of(limit)
            number = lanes.get(axis, 0)
            exists = greater(most, r, number, Interval(0, stage.extents[axis] - 1), e)
            if exists is None:
                raise NotLowerable("qpu", f"a limit of {r}", limit.loc, self.kernel.id)
            if axis in lanes and r.lo >= 1:
                # Beyond the limit an element does what the last one within does.
                storing.append(exists)
                lanes[axis] = e.op("umin", number, e.op("sub", e.value(most), 1))
            else:
                loading.append(exists)
        buffers = [*loading, *within, *storing]
        memory.storing += buffers
        # Elements beyond the stage's points compute what others do: in registers that is as good.
        temps = buffers if isinstance(self.temps, ScratchTemps) else [*loading, *storing]
        if any(memory.reads(b) for b in self.kernel.buffers if b.name in self.stored):
            e.b.wait_stores()
            self.stored.clear()
        self.temps.begin(stage, lanes, loading)
        self.tables.begin(loading)
        pairs: StagePairs | None = None
        if self.how.pairs:
            pairs = StagePairs(self.ranges, memory, always=self.how.always)
        first = first_of_all(self.ranges, stage) if pairs is None else []
        if first or len(memory.plan.units) > MANY:
            memory.soon = True
            if isinstance(self.temps, ScratchTemps):
                self.temps.soon = True
        values.emit(*first)
        for s in stage.stores:
            if pairs is None or not pairs.made(s, values, e):
                values.emit(s.value)
            with e.note(e.where(s.loc, f"store {s.buffer}")):
                self._store(s, temps, memory, values)
        memory.end(values)
        self.paired = self.paired or (pairs is not None and pairs.used)
        self.dotted = self.dotted or (dots is not None and dots.used)
        self.stored |= {s.buffer for s in stage.stores} - {t.name for t in self.kernel.temps}
        self.temps.end()
        for name, unit in memory.align.items():
            self.align[name] = max(self.align.get(name, 1), unit)

    def _store(self, s: Store, temps: list[Condition], memory: StageMemory, values: Values) -> None:
        """A store, to a temp where the conditions `temps` hold."""
        b = self.kernel.buffer(s.buffer)
        if b.kind != "temp":
            memory.store(s, values)
            return
        when = [*temps, *([] if s.mask is None else [values.condition(s.mask)])]
        value = values.argument(s.value)
        if isinstance(self.temps, RegisterTemps):
            self.temps.store(b, s.index, value, when, values, s.combine)
        else:
            self.temps.store(b, s.index, value, when, values)

    def _read(
        self, n: Node, values: Values, memory: StageMemory, lanes: dict[str, Value], stage: Stage
    ) -> Argument:
        match n.op:
            case Op.LANE:
                return lanes.get(n.attr[0], 0)
            case Op.TABLE:
                return self.tables.read(n, values)
            case Op.PARAM:
                index = n.index[0] if n.index else None
                return self.items.parameter(self.kernel.param(n.attr[0]), index, lanes)
            case Op.LOAD:
                b = self.kernel.buffer(n.attr[0])
                if b.kind == "temp":
                    return self.temps.read(b, n, values)
                return memory.read(n, values)
        raise NotLowerable("qpu", f"{n.op} has no QPU form", n.loc, self.kernel.id)
