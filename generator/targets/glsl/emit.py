# SPDX-License-Identifier: BSD-2-Clause
"""A compute shader of a lowered kernel.

Loads and arithmetic of an invocation whose item does not exist are those of the last item there is,
so that only what it stores in buffers is under a condition; barriers are under none.
"""

from dataclasses import dataclass

from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import Buffer, Kernel, Node, Op, Stage, walk
from daedalus.dsl.ranges import place_ranges
from daedalus.generator.targets.glsl.barriers import Barriers
from daedalus.generator.targets.glsl.mapping import Mapping, coordinates, mapping
from daedalus.generator.targets.glsl.memory import StageMemory
from daedalus.generator.targets.glsl.names import names
from daedalus.generator.targets.glsl.pointers import Bases
from daedalus.generator.targets.glsl.signs import SignValues
from daedalus.generator.targets.glsl.tables import Tables
from daedalus.generator.targets.glsl.values import DECLARED_ZERO, Values, constant
from daedalus.generator.targets.glsl.views import View, Views
from daedalus.generator.targets.gpu import device
from daedalus.generator.targets.gpu.device import NotLowerable
from daedalus.generator.targets.gpu.record import INDEX, Record, parameter, record
from daedalus.generator.targets.gpu.temps import TempLayouts
from daedalus.generator.targets.shell import fixed_names, meta_fields, stage_remark, used_params


@dataclass(frozen=True)
class Shader:
    """A shader's text in parts, and what the runtime has to know of it (daedalus_gpu_code)."""

    views: tuple[View, ...]
    shared: tuple[str, ...]
    lines: tuple[str, ...]
    push: tuple[str, ...]
    record: Record
    constants: tuple[int, ...]
    align: tuple[int, ...]
    invocations: int
    shared_bytes: int
    features: tuple[str, ...]

    @property
    def workgroup(self) -> int:
        """Invocations of a workgroup where nothing says otherwise."""
        most = device.INVOCATIONS
        if self.shared_bytes:
            most = device.SHARED_BYTES // self.shared_bytes * self.invocations
        size = max(device.WORKGROUP, self.invocations)
        while size > most:
            size //= 2
        return size

    @property
    def workgroup_min(self) -> int:
        """The fewest invocations that it is worth having: those that V3D runs at once."""
        return min(max(self.invocations, device.SUBGROUP), self.workgroup)

    @property
    def extensions(self) -> list[str]:
        """What the device must offer beyond Vulkan 1.1, as GLSL names it."""
        return [f"GL_EXT_shader_{f.removeprefix('STORAGE')}bit_storage" for f in self.features]


@dataclass(frozen=True)
class Choices:
    """What of a variant is the back end's.

    words     reads and writes aligned words, where elements are neighbours
    shifted   reads planes that are only read in words although their items lie anywhere
    signs     has conditions as integers
    packed    has as many elements of a temp in a word as their range allows
    narrowed  parameters of which the class knows more than the runtime checks of every item: where
              they decide which memory is touched they are kept in their range
    """

    words: bool = False
    shifted: bool = False
    signs: bool = False
    packed: bool = False
    narrowed: frozenset[str] = frozenset()


def emit(kernel: Kernel, choices: Choices = Choices()) -> Shader:  # noqa: B008 - it is frozen
    """The shader of a kernel lowered for GLSL. Raises NotLowerable where there is none."""
    _refuse_unknown(kernel)
    return _Emitter(kernel, choices).shader()


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
            "glsl", f"{what} no GLSL form", loc, kernel.id,
            hint=f"leave {kernel.id} without glsl variants in options.toml",
        )  # fmt: skip
    for name, needed, most, meaning in (
        (
            "maxPerStageDescriptorStorageBuffers", len(kernel.buffers) + 2, device.STORAGE_BUFFERS,
            "storage buffers, with records and constants",
        ),
        (
            "maxPushConstantsSize", 8 + 8 * len(kernel.buffers), device.PUSH_BYTES,
            "bytes of push constants",
        ),
    ):  # fmt: skip
        device.limited(name, needed, most, meaning, kernel.loc, kernel.id)


class _Emitter:
    """What the stages of a shader share."""

    def __init__(self, kernel: Kernel, choices: Choices) -> None:
        self.kernel, self.choices = kernel, choices
        self.bases = Bases(kernel)
        self.hostile = place_ranges(kernel)
        assert self.hostile.conformant is not None
        self.ranges = self.hostile.conformant
        self.mapping: Mapping = mapping(kernel)
        self.record = record(kernel)
        self.views, self.temps = (
            Views(kernel),
            TempLayouts(kernel, self.ranges, packed=choices.packed, most=device.SHARED_BYTES),
        )
        self.tables = Tables(kernel, self.ranges, self.hostile)
        places = [a for s in kernel.stages for n in s.nodes() if n.op is Op.LOAD for a in n.args]
        places += [limit for s in kernel.stages for _, limit in s.limits]
        self.deciding = set(walk(places))
        self.negates = False  # whether some stage does
        tables = [n for s in kernel.stages for n in s.nodes() if n.op is Op.TABLE]
        rows = [a for n in tables for a in n.args]
        self.deciding |= set(walk([a for n in tables if self.tables.in_memory(n) for a in n.args]))
        self.kept_params = choices.narrowed & {
            n.attr[0] for n in walk(places + rows) if n.op is Op.PARAM
        }

    def shader(self) -> Shader:
        lines = self._first_values()
        barriers = Barriers(self.kernel, self.mapping.invocations, self.temps.places)
        for n, stage in enumerate(self.kernel.stages):
            lines += barriers.before(stage)
            self.views.stage = n
            lines += [stage_remark(self.kernel, n).replace("/* ", "// ").removesuffix(" */")]
            lines += ["{", *self._stage(stage), "}"]
        self.views.make_coherent(barriers.handed)
        self.views.find_aliased()
        shared = self.temps.bytes_an_item
        device.limited(
            "maxComputeSharedMemorySize", shared, device.SHARED_BYTES,
            "bytes of shared memory an item", self.kernel.loc, self.kernel.id,
        )  # fmt: skip
        return Shader(
            tuple(self.views.used.values()),
            tuple(
                f"shared {'int' if self.temps.of(t).each == 1 else 'uint'} {t.name}"
                f"[ITEMS * {self.temps.room(t.name)}];"
                for t in self.kernel.temps
                if self.temps.places[t.name] == t.name
            ),
            (*self._item(), *lines),
            tuple(b.name for b in self.kernel.buffers),
            self.record,
            tuple(self.tables.words),
            tuple(self.views.align(b) for b in self.kernel.buffers),
            self.mapping.invocations,
            shared,
            self.views.features,
        )

    def _first_values(self) -> list[str]:
        """Gives temps the values that they hold before the first stage."""
        lines, each = [], self.mapping.invocations
        for t in self.kernel.temps:
            if t.init is None:
                continue
            lines.append(f"// before the first stage; fills {t.name}")
            for at in range(0, t.size, each):
                place = f"{t.name}[{t.name}_at{f' + {at}' if at else ''}" + (
                    " + int(lane)]" if each > 1 else "]"
                )
                line = f"{place} = {t.init};"
                lines += [line] if at + each <= t.size else [
                    f"if (lane < {t.size - at}u) {{", line, "}"
                ]  # fmt: skip
        return lines

    def _item(self) -> list[str]:
        """Which item is done, its record, its parameters and where its buffers begin."""
        shift = self.mapping.shift
        lines = ["const uint own = gl_LocalInvocationID.x;"]
        if shift:
            lines.append(f"const uint lane = own & {self.mapping.invocations - 1}u;")
        if self.kernel.temps:
            lines.append(f"const int slot = int(own >> {shift});" if shift else
                         "const int slot = int(own);")  # fmt: skip
        number = f"gl_GlobalInvocationID.x >> {shift}" if shift else "gl_GlobalInvocationID.x"
        lines += [
            f"const uint number = {number};",
            "const bool live = number < push.n_items;",
            "const uint record = push.first + min(number, push.n_items - 1u);",
            *self.record.lines(),
            *([DECLARED_ZERO] if self.negates else []),
        ]
        offsets = {f.name: f.offset for f in meta_fields(self.kernel)[0]}
        for name, unit in self.bases.used:
            lines += self._base(self.kernel.buffer(name), unit, offsets)
        for place in dict.fromkeys(self.temps.places.values()):
            lines.append(f"const int {place}_at = slot * {self.temps.room(place)};")
        for name in used_params(self.kernel):
            p = self.kernel.param(name)
            if p.count == 1:
                text = parameter(self.kernel, p, self.record)
                kind = "uint" if p.hi >= 2**31 else "int"
                if name in self.kept_params:
                    text = f"clamp({text}, {constant(p.lo, kind)}, {constant(p.hi, kind)})"
                lines.append(f"const {kind} {self._param(name)} = {text};")
        return lines

    def _base(self, b: Buffer, unit: int, offsets: dict[str, int]) -> list[str]:
        """Where an item begins in a buffer, and the stride, in units of so many bytes."""
        assert b.dtype is not None
        down = unit.bit_length() - 1
        by = f" >> {down}" if down else ""
        if b.kind == "plane":
            word = self.record.word(offsets[f"{b.name}_off"] // 4)
            at = f"push.{b.name}_base + int({word})"
            return [
                f"const int {self.bases.start(b, unit)} = {f'({at})' if by else at}{by};",
                f"const int {self.bases.stride(b, unit)} = push.{b.name}_stride{by};",
            ]
        base = f"push.{b.name}_base"
        size = b.size * b.dtype.bytes
        index = f"int({self.record.word(INDEX)})"
        text = f"{f'({base}{by})' if by else base} + {index} * {size // unit}"
        return [f"const int {self.bases.start(b, unit)} = {text};"]

    @staticmethod
    def _param(name: str) -> str:
        """How a parameter is spelled: some names are the language's."""
        return f"{name}_"

    def _stage(self, stage: Stage) -> list[str]:
        """What an invocation does of a stage."""
        own = fixed_names(self.kernel)
        started = (f"{x}_at{u}" for x in own for u in ("", 2, 4, 8, 16))
        fresh = names((*own, *stage.extents, *started, *map(self._param, own)))
        memory = StageMemory(
            self.kernel, stage, self.views, self.bases, self.temps, fresh,
            words=self.choices.words, shifted=self.choices.shifted,
        )  # fmt: skip
        values = (SignValues if self.choices.signs else Values)(
            self.kernel, self.ranges, self.hostile, fresh,
            lambda n, v: self._read(n, v, memory, stage), self.deciding, memory.is_pair,
        )  # fmt: skip
        outer = [] if stage.given is None else [stage.given]
        outer += [limit for _, limit in stage.limits]
        values.emit(outer)
        outer_lines, values.lines = values.lines, []
        # An invocation beyond a limit that lets some be does what the last of these does, but
        # stores nothing: cheaper than to have all of it under a condition.
        near = {
            axis: fresh.fresh(f"{axis}_own")
            for axis, limit in stage.limits
            if stage.extents[axis] > 1 and self.hostile.of(limit).lo >= 1
        }
        lines = [*coordinates(stage, self.mapping, near), *outer_lines]
        conditions, storing = [], ["live"]
        if stage.lanes < self.mapping.invocations:
            conditions.append(f"lane < {stage.lanes}u")
        if stage.given is not None:
            conditions.append(values.condition(stage.given))
        for axis, limit in stage.limits:
            most = values.operand(limit, "int")
            if values.kind(limit) == "uint":  # more than an int holds is as good as all
                most = f"int(min({values.text(limit)}, {stage.extents[axis]}u))"
            if axis in near:
                lines.append(f"const int {axis} = min({near[axis]}, {most} - 1);")
                storing.append(f"{near[axis]} < {most}")
            else:
                conditions.append(f"{axis if stage.extents[axis] > 1 else '0'} < {most}")
        values.emit([n for s in stage.stores for n in (s.value, s.mask) if n is not None])
        if stage.guard is not None:
            values.emit([stage.guard])
            storing.append(values.condition(stage.guard))
        stored = memory.stores(values, storing)
        self.negates |= values.negates
        body = [*values.lines, *stored]
        return [*lines, f"if ({' && '.join(conditions)}) {{", *body, "}"] if conditions else [
            *lines, *body
        ]  # fmt: skip

    def _read(self, n: Node, values: Values, memory: StageMemory, stage: Stage) -> str:
        if memory.is_pair(n):
            return memory.read_pair(n, values)
        match n.op:
            case Op.LANE:
                return str(n.attr[0]) if stage.extents[n.attr[0]] > 1 else "0"
            case Op.TABLE:
                return self.tables.read(n, values)
            case Op.PARAM:
                p = self.kernel.param(n.attr[0])
                if not n.index:
                    return self._param(p.name)
                at = n.index[0]
                element: int | str = at.const if not at.terms else str(at)
                return parameter(self.kernel, p, self.record, element)
        return memory.read(n, values)
