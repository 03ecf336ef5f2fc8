# SPDX-License-Identifier: BSD-2-Clause
"""What constraints ask of a kernel: what its passes leave for a variant, before any back end.

Passes go from IR to IR and are quick; what several variants begin with is done once.
"""

from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from daedalus.dsl.ir import Kernel, Op, Stage, i8, u8
from daedalus.dsl.ranges import Ranges
from daedalus.generator.options import POINTS, ROWS, Options, options_of
from daedalus.generator.passes.pipeline import Lowered, lower, passes
from daedalus.generator.targets.gpu.device import SHARED_BYTES, NotLowerable
from daedalus.generator.targets.gpu.temps import TempLayouts
from daedalus.generator.targets.neon.lanes import Lanes
from daedalus.generator.targets.neon.strips import walks_of
from daedalus.generator.targets.qpu.dots import FEWEST
from daedalus.generator.targets.qpu.lines import shared
from daedalus.generator.targets.qpu.machine import LANES
from daedalus.generator.targets.qpu.select import makes_pairs, select_for

_SEVERAL = 3  # values, from which a test and a jump are worth it

T = TypeVar("T")
Shape = tuple[tuple[tuple[tuple[str, int], ...], int], ...]  # of every stage, axes and vector axes


class Facts:
    """A kernel as variants see it. Every question is answered once."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self._known: Lowered = {}
        self._answers: dict[object, object] = {}

    def _once(self, key: object, make: Callable[[], T]) -> T:
        if key not in self._answers:
            self._answers[key] = make()
        return self._answers[key]  # type: ignore[return-value]

    def after(self, options: Options, last: str) -> Kernel:
        """The kernel after a pass of a variant; after the one before it where it has none."""
        done: tuple[object, ...] = ()
        kernel = self.kernel
        names = [name for name, _ in passes(kernel, options)]
        wanted = names.index(last) if last in names else -1
        for number, (_, step) in enumerate(passes(kernel, options)):
            if number > wanted:
                break
            done = (*done, step)
            if done not in self._known:
                self._known[done] = step(kernel)  # type: ignore[index]
            kernel = self._known[done]  # type: ignore[index]
        return kernel

    # ------------------------------------------------------------------ all targets

    def takes(self, options: Options) -> bool:
        """Whether every assumption that it takes for granted is still there under its class."""
        bare = options_of(options.target, options.class_name, assume=options.assume)

        def find() -> bool:
            kernel = self.after(bare, "specialise")
            there = {n.attr[0] for s in kernel.stages for n in s.nodes() if n.op is Op.ASSUME}
            return set(options.assume) <= there

        return self._once(("takes", bare), find)

    def dots(self, options: Options) -> bool:
        """Whether dot products are left to the back end."""
        bare = _only(options, "dot", "unaligned")
        return self._once(
            ("dots", bare),
            lambda: _any(self.after(bare, "expand_dot"), Op.DOT),
        )

    def guarded(self, options: Options) -> bool:
        """Whether the stores of the last stage share a condition."""
        bare = _only(options, "early_out", "rows")

        def find() -> bool:
            stages = self.after(bare, "guard").stages
            return bool(stages) and stages[-1].guard is not None

        return self._once(("guarded", bare), find)

    # ------------------------------------------------------------------ NEON

    def vectors(self, options: Options) -> Shape:
        """How stages are laid out across vectors."""
        bare = _only(options, "rows", "dot")
        return self._once(("vectors", bare), lambda: _shape(self.after(bare, "tile")))

    def rows_change(self, options: Options) -> bool:
        """Whether no fewer rows give the same layout."""
        fewer = [r for r in ROWS if r < options.choice("rows")]
        own = self.vectors(options)
        return all(self.vectors(options.with_choice("rows", r)) != own for r in fewer)

    def together(self, options: Options) -> bool:
        """Whether items side by side always do the same: no conditions, limits and strips."""
        bare = _only(options, "rows")

        def find() -> bool:
            _, walks = walks_of(self.after(bare, "unroll"))
            return not any(w.axis or w.point.given is not None or w.limits for w in walks)

        return self._once(("together", bare), find)

    def lanes(self, options: Options) -> int:
        """Lanes of the widest stage, of all items side by side, padding included."""
        bare = _only(options, "rows", "dot")

        def find() -> int:
            stages = self.after(bare, "unroll").stages
            return max((Lanes(s, 1).padded for s in stages), default=4)

        return self._once(("lanes", bare), find) * int(options.choice("items"))

    def sample_bytes(self) -> int:
        """Of what planes hold, the most."""
        planes = [b for b in self.kernel.buffers if b.kind == "plane"]
        return max((b.dtype.bytes for b in planes if b.dtype is not None), default=1)

    def branches(self, options: Options) -> bool:
        """Whether several values come from elsewhere under one condition beside the guard."""
        bare = _only(options, "early_out", "rows")

        def find() -> bool:
            stages = self.after(bare, "select_old").stages
            masks = Counter(
                n.args[0] for s in stages for n in s.nodes()
                if n.op is Op.SELECT and n.args[0] is not s.guard
            )  # fmt: skip
            return max(masks.values(), default=0) >= _SEVERAL

        return self._once(("branches", bare), find)

    def selects(self, options: Options) -> bool:
        """Whether some values are chosen among others by a condition."""
        bare = _only(options)
        return self._once(
            ("selects", bare), lambda: _any(self.after(bare, "select_old"), Op.SELECT)
        )

    # ------------------------------------------------------------------ both GPU targets

    def points_change(self, options: Options) -> bool:
        """Whether no fewer points an invocation leave it as many points."""
        fewer = [p for p in POINTS if p < options.choice("points")]
        own = self.points(options)
        return all(self.points(options.with_choice("points", p)) != own for p in fewer)

    def points(self, options: Options) -> Shape:
        """The stages' axes when points are given to invocations."""
        bare = _only(options, "points")
        return self._once(("points", bare), lambda: _shape(self.after(bare, "points")))

    def invocations(self, options: Options) -> int:
        """That do an item, or elements."""
        bare = _only(options, "points")

        def find() -> int:
            most = max((s.lanes for s in self.after(bare, "cut").stages), default=1)
            return 1 << (most - 1).bit_length()

        return self._once(("invocations", bare), find)

    def cut_in_vain(self, options: Options, most: int) -> bool:
        """Whether stages are cut into parts of so many lanes, and more points leave fewer lanes."""

        def lanes(points: int) -> int:
            bare = _only(options.with_choice("points", points), "points")
            return self._once(
                ("uncut", bare), lambda: max(s.lanes for s in self.after(bare, "points").stages)
            )

        own = lanes(options.choice("points"))
        more = [p for p in POINTS if p > options.choice("points")]
        return own > most and any(lanes(p) < own for p in more)

    def narrow(self, *, read_only: bool) -> bool:
        """Whether a buffer, or a plane that is only read, has elements of less than 32 bits."""
        found = [b for b in self.kernel.buffers if b.dtype is not None and b.dtype.bits < 32]
        if read_only:
            found = [b for b in found if b.kind == "plane" and b.access == "in"]
        return bool(found)

    # ------------------------------------------------------------------ GLSL

    def pairs(self, options: Options) -> bool:
        """Whether sums can be made in the halves of a word."""
        bare = _only(options, "points", "swar", "word", "unaligned")
        return self._once(("pairs", bare), lambda: self.after(bare, "pairs").modular)

    def compares(self, options: Options) -> bool:
        """Whether there are conditions."""
        bare = _only(options)

        def find() -> bool:
            kernel = self.after(bare, "expand_dot")
            return any(n.is_bool for s in kernel.stages for n in s.nodes())

        return self._once(("compares", bare), find)

    def shared_bytes(self, options: Options) -> int:
        """Of shared memory that an item takes."""
        bare = _only(options, "points", "pack")

        def find() -> int:
            kernel = self.after(bare, "scalars")
            packed = options.choice("pack")
            found = TempLayouts(kernel, Ranges(kernel), packed=packed, most=SHARED_BYTES)
            return found.bytes_an_item

        return self._once(("shared", bare), find)

    def packs(self, options: Options) -> bool:
        """Whether temps in shared memory get smaller by packing."""
        return self.shared_bytes(options) < self.shared_bytes(options.with_choice("pack", False))

    # ------------------------------------------------------------------ QPU

    def fills_trip(self, options: Options) -> bool:
        """Whether an item takes all elements of a trip."""
        return self.invocations(options) == LANES

    def keeps(self, options: Options) -> bool:
        """Whether one element does an item that has temps between its stages."""
        bare = _only(options)
        temps = self._once(("temps", bare), lambda: bool(self.after(bare, "forward").temps))
        return temps and self.invocations(options) == 1

    def moves(self, options: Options) -> bool:
        """Whether several elements do an item that has temps, all at places that are known."""
        bare = _only(options, "points")

        def find() -> bool:
            kernel = self.after(bare, "scalars")
            temps = {t.name for t in kernel.temps}
            loads = [
                n for s in kernel.stages for n in s.nodes()
                if n.op is Op.LOAD and n.attr[0] in temps
            ]  # fmt: skip
            return bool(loads) and not any(n.args for n in loads)

        return self._once(("moves", bare), find) and self.invocations(options) > 1

    def lines(self, options: Options) -> bool:
        """Whether elements can read a block together that they would read one by one."""
        bare, elements = _only(options, "points"), self.invocations(options)

        def find() -> bool:
            kernel = self.after(bare, "cut")
            return any(
                shared(kernel, s, b, elements) for s in kernel.stages for b in kernel.buffers
            )

        return options.choice("word") and self._once(("lines", bare), find)

    def sets_aside(self, options: Options) -> bool:
        """Whether values are set aside: what only the back end can tell. With more lanes an
        element there are more values, and other words are for what registers hold."""
        bare = _only(options, "points", "word", "unaligned", "aside")
        if options != bare or options.choice("points") > 1:
            return False

        def find() -> bool:
            try:
                made = select_for(lower(self.kernel, bare, known=self._known), "", bare)
            except NotLowerable:
                return False
            return all(p.aside for p in made.programs)

        return self._once(("aside", bare), find)

    def sums_bytes(self, options: Options) -> bool:
        """Whether there are dot products, or sums of bytes with weights of 8 bits."""
        if self.dots(options):
            return True
        bare = _only(options)

        def find() -> bool:
            kernel = self.after(bare, "expand_dot")
            ranges = Ranges(kernel)
            return any(_sums(kernel, ranges, s) for s in kernel.stages)

        return self._once(("sums", bare), find)

    def halves(self, options: Options) -> bool:
        """Whether words of neighbouring elements are made as halves of registers: what only the
        back end can tell, where stores fill words. Threads change nothing of it."""
        stages = _only(options, "points")
        bare = options.with_choice("four_threads", False)

        def fills() -> bool:
            return any(_fills_words(self.kernel, s) for s in self.after(stages, "points").stages)

        if not self._once(("fills", stages), fills):
            return False

        def find() -> bool:
            try:
                return makes_pairs(lower(self.kernel, bare, known=self._known), bare)
            except NotLowerable:
                return False

        return self._once(("halves", bare), find)


def _only(options: Options, *kept: str) -> Options:
    """The variant with target, class, assumptions and these choices alone."""
    own = {w.field for w in options.words()}
    chosen = {name: options.choice(name) for name in kept if name in own}
    made: Options = options_of(options.target, options.class_name, assume=options.assume, **chosen)
    return made


def _fills_words(kernel: Kernel, stage: Stage) -> bool:
    """Whether a stage has computed values for as many elements of a buffer as a word holds."""
    made = Counter(s.buffer for s in stage.stores if s.value.op not in (Op.LOAD, Op.CONST))
    buffers = {b.name: b.dtype for b in kernel.buffers}
    return any(
        t is not None and t.bits < 32 and count * t.bits >= 32
        for name, count in made.items()
        for t in (buffers.get(name),)
    )


def _any(kernel: Kernel, op: Op) -> bool:
    return any(n.op is op for s in kernel.stages for n in s.nodes())


def _shape(kernel: Kernel) -> Shape:
    return tuple((s.dims, s.vector) for s in kernel.stages)


def _sums(kernel: Kernel, ranges: Ranges, stage: Stage) -> bool:
    """Whether a sum of the stage is one of several bytes of planes."""
    planes = {b.name for b in kernel.buffers if b.kind == "plane" and b.dtype == u8}
    for n in stage.nodes():
        if n.op not in (Op.ADD, Op.SUB):
            continue
        form = {x: c for x, c in ranges.form(n).items() if x is not None}
        bytes_ = all(x.op is Op.LOAD and x.attr[0] in planes for x in form)
        if bytes_ and len(form) >= FEWEST and all(i8.lo <= c <= i8.hi for c in form.values()):
            return True
    return False
