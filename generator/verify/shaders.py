# SPDX-License-Identifier: BSD-2-Clause
"""Runs generated shaders without the runtime: through v3d/tools/vkrun, on any of its devices.

The batches are those of the cross-check, and so is the comparison. Many variants, of several
kernels too, are run by one process.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from daedalus.dsl import interp
from daedalus.dsl.interp import Array
from daedalus.dsl.ir import Kernel
from daedalus.generator.compile import layout
from daedalus.generator.compile.variants import Variant
from daedalus.generator.targets.glsl.spirv import compile_shader
from daedalus.generator.targets.gpu.record import INDEX
from daedalus.generator.verify import crosscheck
from daedalus.generator.verify import gpu_check as check
from daedalus.generator.verify.crosscheck import Batch, Outcome
from daedalus.v3d import vkrun

_SLACK, _PATTERN = 64, 0xA5  # bytes of a pattern behind each buffer


def _padded(data: bytes) -> bytes:
    return data + bytes([_PATTERN]) * (_SLACK + -len(data) % 4)


def _records(v: Variant, batch: Batch, chosen: Array) -> bytes:
    assert v.shader is not None
    size = len(batch.placed.meta) // batch.placed.items.count
    words = np.frombuffer(batch.placed.meta, "<u4").reshape(-1, size // 4)
    columns = [
        chosen.astype("<u4") if w == INDEX else words[chosen, w] for w in v.shader.record.words
    ]
    return np.stack(columns, axis=1).astype("<u4").tobytes()


def case(
    v: Variant, batch: Batch, chosen: Array, folder: Path, name: str, workgroup: int, first: int = 0
) -> str:
    """Writes a case's files to a folder; returns its lines of a plan."""
    shader = v.shader
    assert shader is not None
    (folder / f"{v.name}.spv").write_bytes(compile_shader(v.text, v.file))
    lines = [f"case {name}"]
    push = [first, len(chosen)]
    for n, b in enumerate(batch.placed.buffers):
        data = _padded(b.bytes.tobytes())
        (folder / f"{name}.{n}").write_bytes(data)
        lines.append(f"buffer b{n} {len(data)} file {name}.{n}")
        push += [b.origin & 0xFFFFFFFF, b.stride & 0xFFFFFFFF]
    data = bytes(4 * first * len(shader.record.words)) + _records(v, batch, chosen)
    extra = [("records", _padded(data))]
    if shader.constants:
        extra.append(("constants", _padded(struct.pack(f"<{len(shader.constants)}I",
                                                       *shader.constants))))  # fmt: skip
    for what, data in extra:
        (folder / f"{name}.{what}").write_bytes(data)
        lines.append(f"buffer {what} {len(data)} file {name}.{what}")
    lines.append(f"pipeline p {v.name}.spv spec 0 {workgroup}")
    buffers = [f"b{n}" for n in range(len(batch.placed.buffers))] + [what for what, _ in extra]
    lines += [f"bind p {n} {b}" for n, b in enumerate(buffers)]
    lines.append("push p 0 " + " ".join(map(str, push)))
    items = workgroup // shader.invocations
    lines += [f"dispatch p {-(-len(chosen) // items) + 1} 1 1", "end\n"]
    return "\n".join(lines)


def images(v: Variant, batch: Batch, data: bytes) -> list[Array] | str:
    """What a case left of the buffers that the kernel writes, from vkrun's output; of one that
    wrote beyond a buffer the message."""
    found, at = [], 0
    for b in batch.placed.buffers:
        size = len(_padded(b.bytes.tobytes()))
        raw = np.frombuffer(data[at : at + size], np.uint8)
        if not (raw[len(b.bytes) :] == _PATTERN).all():
            return f"{v.name} wrote beyond {b.buffer.name}"
        if b.buffer.access != "in":
            found.append(raw[: len(b.bytes)].copy().view(layout.numpy_type(b.buffer)))
        at += size
    return found


@dataclass
class Runs:
    """Cases that are collected, and then run together.

    failed  of variants what became of their cases, where these did not run
    """

    folder: Path
    seed: int = 1
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    _cases: dict[str, str] = field(default_factory=dict)
    _made: list[tuple[str, Kernel, Variant, Batch, Array]] = field(default_factory=list)

    def add(
        self, kernel: Kernel, variants: Sequence[Variant], items: int,
        workgroups: Sequence[int] = (64,),
    ) -> None:  # fmt: skip
        """Variants of a kernel, with so many items a class."""
        self.folder.mkdir(parents=True, exist_ok=True)
        rng = np.random.default_rng(self.seed)
        laid = check.prepare(kernel, [check.alignment(v) for v in variants], items, self.seed)
        for v in variants:
            assert v.shader is not None
            self.outcomes[v.name] = Outcome(kernel.id, "glsl", v.name, "")
            for batch in laid[check.alignment(v)]:
                mine = interp.in_class(kernel, v.options.class_name, batch.placed.items)
                chosen = rng.permutation(np.flatnonzero(mine))
                if not len(chosen):
                    continue
                assert _aligned(v, batch)
                for workgroup in {max(w, v.shader.invocations) for w in workgroups}:
                    name = f"{v.name}-{batch.kind}-{workgroup}"
                    text = case(v, batch, chosen, self.folder, name, workgroup, first=3)
                    self._cases[name] = text
                    self._made.append((name, kernel, v, batch, chosen))

    def run(self, device: vkrun.Device) -> dict[str, Outcome]:
        """What came of each variant on a device."""
        if not self._cases:
            return self.outcomes
        done = vkrun.run_cases(device, self._cases, self.folder, timeout_s=600)
        for name, kernel, v, batch, chosen in self._made:
            outcome = self.outcomes[v.name]
            outcome.device = device.name
            if done[name].verdict != "ok":
                self.failed[v.name] = f"{name}: {done[name].verdict} {done[name].detail}"
                continue
            left = (self.folder / device.name / f"{name}.bin").read_bytes()
            got = images(v, batch, left)
            crosscheck.compare(kernel, batch, outcome, chosen, got, self.seed)
        return self.outcomes


def _aligned(v: Variant, batch: Batch) -> bool:
    """Whether the batch lies as the variant needs it."""
    assert v.shader is not None
    size = len(batch.placed.meta) // batch.placed.items.count
    meta = np.frombuffer(batch.placed.meta, "<u4").reshape(-1, size // 4)
    planes = 0
    for b, align in zip(batch.placed.buffers, v.shader.align, strict=True):
        offsets = np.zeros(1, dtype=np.uint32)
        if b.buffer.kind == "plane":
            offsets, planes = meta[:, planes], planes + 1
        if b.origin % align or b.stride % align or (offsets % align).any():
            return False
    return True
