# SPDX-License-Identifier: BSD-2-Clause
"""What Mesa's driver makes of the GLSL variants on V3D 7.1: instructions, registers, spills.

Each shader is compiled by a process of its own: what the driver makes of it depends a little on
what it compiled before.
"""

import os
import re
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from daedalus.generator.base import records
from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.compile.variants import Variant
from daedalus.generator.targets.glsl.spirv import compile_shader
from daedalus.v3d import dumps, vkrun

LANES = 16  # invocations that an instruction is for
_SUMMARY = re.compile(
    r"(\d+) inst, (\d+) threads, (\d+) loops, (\d+) uniforms, (\d+) max-temps, (\d+):(\d+) spills"
)


@dataclass(frozen=True)
class Statistics:
    """Figures of a compiled shader; lookups are instructions that start one in the TMU.

    an_item  instructions of a batch of 16 invocations, by the items that these do
    memory   whether it keeps values in memory of its own: spilled ones, or arrays
    """

    input_hash: str
    workgroup: int
    instructions: int
    an_item: float
    threads: int
    temps: int
    uniforms: int
    spills: int
    fills: int
    lookups: int
    stored_words: int
    loaded_words: int
    nops: int
    memory: bool


def driver(device: vkrun.Device) -> str:
    """The driver that compiles, with its version."""
    words = [*device.prefix, str(vkrun.program(device.arch)), "--list"]
    env = {**os.environ, **device.environment}
    said = subprocess.run(words, capture_output=True, text=True, env=env).stdout
    found = re.search(r"driver (.+?);", said)
    return found[1].replace("Mesa Mesa", "Mesa") if found else "unknown"


def measure(device: vkrun.Device, v: Variant, workgroup: int = 0) -> Statistics:
    """Compiles a variant with the driver. Raises UserError where it cannot."""
    assert v.shader is not None
    size = workgroup or v.shader.workgroup
    with tempfile.TemporaryDirectory(prefix="daedalus-stats-") as name:
        folder = Path(name)
        (folder / "shader.spv").write_bytes(compile_shader(v.text, v.file))
        case = f"case {v.name}\npipeline p shader.spv spec 0 {size}\nend\n"
        without = dumps.collect(device, {v.name: case}, folder, folder)
        if without:
            raise UserError(f"{v.name}: {without[v.name]}", exit_code=EXIT_FAILED)
        text = (folder / f"{v.name}.qpu").read_text()
    return read(text, v, size)


def read(text: str, v: Variant, workgroup: int) -> Statistics:
    """The statistics in what the driver prints; the last program is the one it takes."""
    assert v.shader is not None
    *_, last = _SUMMARY.findall(text)
    count, threads, _, uniforms, temps, spills, fills = map(int, last)
    code = [line for line in text.splitlines() if line.startswith("0x")][-count:]

    def uses(what: str) -> int:
        return sum(what in line for line in code)

    return Statistics(
        input_hash=v.input_hash,
        workgroup=workgroup,
        instructions=count,
        an_item=round(count * v.shader.invocations / LANES, 1),
        threads=threads,
        temps=temps,
        uniforms=uniforms,
        spills=spills,
        fills=fills,
        lookups=uses("tmua"),
        stored_words=uses("tmud"),
        loaded_words=uses("ldtmu"),
        nops=sum(re.search(r"nop\s+; nop", line) is not None for line in code),
        memory=bool(uses("spill_offset")),
    )


def record(kernel: str, name: str, found: dict[str, Statistics]) -> None:
    """Writes those of all of a kernel's variants."""
    data = {"driver": name, "variants": {n: asdict(s) for n, s in found.items()}}
    records.write(kernel, records.STATS, data if found else {})
