# SPDX-License-Identifier: BSD-2-Clause
"""Assembly text to words, by the C toolkit: assembled, validated, run on the simulator."""

import re
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from daedalus.generator.base.errors import EXIT_FAILED, UserError
from daedalus.generator.targets.qpu.interpret import Memory
from daedalus.generator.targets.qpu.text import Assembly, uniform_words
from daedalus.generator.targets.qpu.virtual import Uniform
from daedalus.v3d import tools


@dataclass(frozen=True)
class Run:
    """What a job took by the timing model."""

    clocks: int
    ns: int


# Workgroups of a supergroup, by threads a QPU: two are all threads at two of these, three at four.
_SUPERGROUP = {2: 12, 4: 16}


@cache
def _program() -> str:
    return str(tools.program())


def _command(arguments: Sequence[str], text: str, name: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run([_program(), *arguments], input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise UserError(
            f"{name}: daedalus-v3d {arguments[0]} refuses what the scheduler has made\n"
            + done.stderr.strip()
            + done.stdout.strip(),
            "this is a fault of generator/targets/qpu: please report the program",
            EXIT_FAILED,
        )
    return done


def check(assembly: Assembly, *, flags_stay: bool = True) -> None:
    """Validates it strictly; a finding is a fault of the scheduler's. `flags_stay`: it may count
    on flags at thread switches."""
    text = _with_uniforms(assembly, {u: 0 for u in assembly.uniforms})
    arguments = ["check", "--threads", str(assembly.threads)]
    _command(arguments + ([] if flags_stay else ["--flags-lost"]), text, assembly.name)


def words(assembly: Assembly, *, flags_stay: bool = True) -> list[int]:
    """The instructions' words, validated as `check` does."""
    check(assembly, flags_stay=flags_stay)
    text = _with_uniforms(assembly, {u: 0 for u in assembly.uniforms})
    return [int(w, 16) for w in _command(["asm"], text, assembly.name).stdout.split()]


def execute(
    assembly: Assembly,
    memory: Memory,
    uniforms: Mapping[Uniform, int],
    threads: int = 1,
    *,
    timed: bool = False,
    trace: Path | None = None,
) -> Run:
    """Runs it strictly on the simulator, in workgroups of one thread; writes memory.

    trace  a file that gets counts and modelled times, with their intervals, as JSON
    """
    text = _with_uniforms(assembly, dict(uniforms))
    with tempfile.TemporaryDirectory(prefix="daedalus-") as folder:
        arguments = ["exec", "--strict", "-n", str(assembly.threads), "-g", str(threads)]
        arguments += ["-m", str(min(threads, _SUPERGROUP[assembly.threads]))]
        files = {}
        for base, data in memory.buffers.items():
            files[base] = Path(folder) / f"{base:08x}"
            files[base].write_bytes(data.tobytes())
            arguments += ["-b", f"{base},{len(data)},{files[base]}", "-o", f"{base},{files[base]}"]
        arguments += ["--timed"] if timed else []
        arguments += ["--intervals", "--trace", str(trace)] if trace else []
        done = _command(arguments, text, assembly.name)
        for base, file in files.items():
            memory.buffers[base][:] = np.frombuffer(file.read_bytes(), np.uint8)
    found = re.search(r"(\d+) clocks, (\d+) ns", done.stderr)
    return Run(int(found[1]), int(found[2])) if found else Run(0, 0)


def _with_uniforms(assembly: Assembly, values: dict[Uniform, int]) -> str:
    stream = uniform_words(assembly.uniforms, values)
    return "".join(f".uniform 0x{w:08x}\n" for w in stream) + assembly.text
