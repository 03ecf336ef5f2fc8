# SPDX-License-Identifier: BSD-2-Clause
"""A compute shader of a lowered kernel.

Loads and arithmetic of an invocation whose item does not exist are those of the last item there is,
so that only what it stores in buffers is under a condition; barriers are under none.
"""

from dataclasses import dataclass

from daedalus.dsl.errors import Loc
from daedalus.dsl.ir import Kernel, Node, Op, Stage, Store, walk
from daedalus.dsl.ranges import Ranges
from daedalus.generator.targets.glsl import device
from daedalus.generator.targets.glsl.access import Places, View, Views
from daedalus.generator.targets.glsl.device import NotLowerable
from daedalus.generator.targets.glsl.mapping import Mapping, coordinates, mapping
from daedalus.generator.targets.glsl.names import names
from daedalus.generator.targets.glsl.record import INDEX, Record, parameter, record
from daedalus.generator.targets.glsl.tables import Tables
from daedalus.generator.targets.glsl.temps import TempLayout
from daedalus.generator.targets.glsl.values import Values
from daedalus.generator.targets.shell import (
    fixed_names,
    meta_fields,
    stage_remark,
    used_buffers,
    used_params,
)


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
    def extensions(self) -> list[str]:
        """What the device must offer beyond Vulkan 1.1, as GLSL names it."""
        return [f"GL_EXT_shader_{f.removeprefix('STORAGE')}bit_storage" for f in self.features]


def emit(kernel: Kernel) -> Shader:
    """The shader of a kernel lowered for GLSL. Raises NotLowerable where there is none."""
    _refuse_unknown(kernel)
    return _Emitter(kernel).shader()


def _refuse_unknown(kernel: Kernel) -> None:
    """What the language has and this back end does not do is an error at its line."""
    found: list[tuple[str, Loc]] = []
    if kernel.wide:
        found.append(("values of more than 32 bits have", kernel.loc))
    found += [("a temp with a first value has", t.loc) for t in kernel.temps if t.init is not None]
    for stage in kernel.stages:
        found += [("accumulation has", s.loc) for s in stage.stores if s.combine]
    if found:
        what, loc = found[0]
        raise NotLowerable(
            "glsl", f"{what} no GLSL form", loc, kernel.id,
            hint=f"leave {kernel.id} without glsl variants in schedules.toml",
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

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.hostile = Ranges(kernel, hostile=True, declared_params=True)
        assert self.hostile.conformant is not None
        self.ranges = self.hostile.conformant
        self.mapping: Mapping = mapping(kernel)
        self.record = record(kernel)
        self.views, self.temps = Views(kernel), TempLayout(kernel)
        self.tables = Tables(kernel, self.ranges, self.hostile)
        places = [a for s in kernel.stages for n in s.nodes() if n.op is Op.LOAD for a in n.args]
        places += [limit for s in kernel.stages for _, limit in s.limits]
        self.deciding = set(walk(places))

    def shader(self) -> Shader:
        lines = self._item()
        written: set[str] = set()  # temps and buffers stored to since the last barrier
        read: set[str] = set()
        for n, stage in enumerate(self.kernel.stages):
            loads = {x.attr[0] for x in stage.nodes() if x.op is Op.LOAD}
            stores = {s.buffer for s in stage.stores}
            if self.mapping.invocations > 1 and (loads & written or stores & (written | read)):
                temps = {t.name for t in self.kernel.temps}
                lines += ["barrier();"] if loads & written <= temps else [
                    "memoryBarrierBuffer();", "barrier();"
                ]  # fmt: skip
                written, read = set(), set()
            written, read = written | stores, read | loads
            lines += [stage_remark(self.kernel, n).replace("/* ", "// ").removesuffix(" */")]
            lines += ["{", *self._stage(stage), "}"]
        shared = self.temps.bytes_an_item
        device.limited(
            "maxComputeSharedMemorySize", shared, device.SHARED_BYTES,
            "bytes of shared memory an item", self.kernel.loc, self.kernel.id,
        )  # fmt: skip
        bits = {v.type for v in self.views.used.values()}
        features = [f"STORAGE{n}" for n in (8, 16) if any(str(n) + "_t" in t for t in bits)]
        return Shader(
            tuple(self.views.used.values()),
            tuple(
                f"shared int {t.name}[ITEMS * {self.temps.words(t)}];" for t in self.kernel.temps
            ),
            tuple(lines),
            tuple(b.name for b in self.kernel.buffers),
            self.record,
            tuple(self.tables.words),
            tuple(b.dtype.bytes for b in self.kernel.buffers if b.dtype is not None),
            self.mapping.invocations,
            shared,
            tuple(features),
        )

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
        ]
        offsets = {f.name: f.offset for f in meta_fields(self.kernel)[0]}
        for b in used_buffers(self.kernel):
            assert b.dtype is not None
            down = b.dtype.bytes.bit_length() - 1
            by = f" >> {down}" if down else ""
            if b.kind == "plane":
                word = self.record.word(offsets[f"{b.name}_off"] // 4)
                at = f"push.{b.name}_base + int({word})"
                lines.append(f"const int {b.name}_at = {f'({at})' if by else at}{by};")
                lines.append(f"const int {b.name}_stride = push.{b.name}_stride{by};")
            else:
                index = f"int({self.record.word(INDEX)}) * {b.size}"
                base = f"push.{b.name}_base"
                lines.append(
                    f"const int {b.name}_at = {f'({base}{by})' if by else base} + {index};"
                )
        for t in self.kernel.temps:
            lines.append(f"const int {t.name}_at = slot * {self.temps.words(t)};")
        for name in used_params(self.kernel):
            p = self.kernel.param(name)
            if p.count == 1:
                text = parameter(self.kernel, p, self.record)
                kind = "uint" if p.hi >= 2**31 else "int"
                lines.append(f"const {kind} {self._param(name)} = {text};")
        return lines

    @staticmethod
    def _param(name: str) -> str:
        """How a parameter is spelled: some names are the language's."""
        return f"{name}_"

    def _stage(self, stage: Stage) -> list[str]:
        """What an invocation does of a stage."""
        taken = (*fixed_names(self.kernel), *stage.extents, *(
            f"{x}_at" for x in fixed_names(self.kernel)), *map(self._param, fixed_names(self.kernel)
        ))  # fmt: skip
        places = Places(self.kernel, self.temps, names(taken))
        fresh = places._names
        values = Values(
            self.kernel, self.ranges, self.hostile, fresh,
            lambda n, v: self._read(n, v, places, stage), self.deciding,
        )  # fmt: skip
        lines = coordinates(stage, self.mapping)
        outer = [] if stage.given is None else [stage.given]
        outer += [limit for _, limit in stage.limits]
        values.emit(outer)
        lines += values.lines
        values.lines = []
        conditions = []
        if stage.lanes < self.mapping.invocations:
            conditions.append(f"lane < {stage.lanes}u")
        if stage.given is not None:
            conditions.append(values.operand(stage.given))
        extents = stage.extents
        for axis, limit in stage.limits:
            at = axis if extents[axis] > 1 else "0"
            conditions.append(f"{at} < {values.operand(limit, 'int')}")
        places.prepare(stage)
        body = places.lines
        values.emit([n for s in stage.stores for n in (s.value, s.mask) if n is not None])
        body = body + values.lines + self._stores(stage, values, places)
        return [*lines, f"if ({' && '.join(conditions)}) {{", *body, "}"] if conditions else [
            *lines, *body
        ]  # fmt: skip

    def _read(self, n: Node, values: Values, places: Places, stage: Stage) -> str:
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
        b = self.kernel.buffer(n.attr[0])
        place = places.at(b, n.index, n.args, values)
        if b.kind == "temp":
            return f"{b.name}[{place}]"
        return f"{values.kind(n)}({self.views.of(b)}[{place}])"

    def _stores(self, stage: Stage, values: Values, places: Places) -> list[str]:
        """The stores, those under one condition together."""
        lines: list[str] = []
        groups: list[tuple[str, list[Store]]] = []
        temps = {t.name for t in self.kernel.temps}
        for s in stage.stores:
            conditions = [] if s.buffer in temps else ["live"]
            conditions += [] if s.mask is None else [values.operand(s.mask)]
            condition = " && ".join(conditions)
            if not groups or groups[-1][0] != condition:
                groups.append((condition, []))
            groups[-1][1].append(s)
        for condition, stores in groups:
            body = [self._store(s, values, places) for s in stores]
            lines += [f"if ({condition}) {{", *body, "}"] if condition else body
        return lines

    def _store(self, s: Store, values: Values, places: Places) -> str:
        b = self.kernel.buffer(s.buffer)
        place = places.at(b, s.index)
        if b.kind == "temp":
            return f"{b.name}[{place}] = {values.operand(s.value, 'int')};"
        view = self.views.of(b, write=True)
        kind = self.views.used[view].type
        return f"{view}[{place}] = {kind}({values.text(s.value)});"
