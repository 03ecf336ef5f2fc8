# SPDX-License-Identifier: BSD-2-Clause
"""Programs in QPU code on the items of tools/bench, on the simulator alone: modelled.

The items lie in memory as tools/bench lays them out for the Vulkan route, so both routes read and
write the same bytes at the same distances. What a program leaves is compared to the last byte.
"""

import json
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from daedalus.dsl.interp import Array
from daedalus.generator.base.errors import WrongOutput
from daedalus.generator.base.process import run
from daedalus.generator.measure.gpu import bench
from daedalus.generator.measure.gpu.taken import Taken, taken
from daedalus.generator.targets.qpu.machine import LANES, QPUS
from daedalus.generator.targets.qpu.select import Selected
from daedalus.generator.targets.qpu.text import Assembly
from daedalus.generator.targets.qpu.words import Run, execute
from daedalus.generator.verify import qpu_trial

QPUS_A_SLICE = 4


@dataclass(frozen=True)
class Buffer:
    """A kernel's buffer with all items in it."""

    name: str
    given: Array
    expected: Array | None  # of an output
    origin: int  # byte of element 0
    stride: int


@dataclass(frozen=True)
class Layout:
    """Items of a class in memory."""

    kernel: str
    class_name: str
    items: int
    unique_bytes: int  # that they read, and write
    meta: Array  # words of an item
    buffers: tuple[Buffer, ...]


@cache
def program() -> Path:
    """tools/bench, built once."""
    return bench.program("host")


def layout(kernel: str, class_name: str, data: Path, items: int, folder: Path) -> Layout:
    """Has tools/bench lay so many items out."""
    run([program(), "--data", data, "--kernels", kernel, "--items", str(items),
         "--lay-out", folder], what="laying items out")  # fmt: skip
    path = folder / f"{kernel}.{class_name}"
    about = json.loads(path.with_name(f"{path.name}.json").read_text())
    raw = np.fromfile(path.with_name(f"{path.name}.bin"), np.uint8)
    at = about["items"] * about["meta_size"]
    meta = raw[:at].view("<u4").reshape(about["items"], -1)
    buffers = []
    for b in about["buffers"]:
        size = b["bytes"]
        given, at = raw[at : at + size], at + size
        expected = None
        if b["output"]:
            expected, at = raw[at : at + size], at + size
        buffers.append(Buffer(b["name"], given, expected, b["origin"], b["stride"]))
    return Layout(
        kernel, class_name, about["items"], about["unique_bytes"], meta, tuple(buffers)
    )  # fmt: skip


def model(variant: str, s: Selected, code: Assembly, items: Layout) -> Taken:
    """What a program takes on a device all of whose threads it occupies, with its intervals.

    Raises WrongOutput where what it leaves is wrong.
    """
    with tempfile.TemporaryDirectory(prefix="daedalus-") as folder:
        trace = Path(folder) / "trace.json"
        _execute(variant, s, code, items, trace)
        found: dict[str, Any] = json.loads(trace.read_text())
    return taken(variant, items.items, LANES, found["counts"], found["interval"])


def clocks(variant: str, s: Selected, code: Assembly, items: Layout) -> int:
    """The same by the default settings alone, in a ninth of the time."""
    return _execute(variant, s, code, items, None).clocks


def in_order(items: int, batch: int, threads: int) -> Array:
    """Numbers of items in the order of their records: a part of them for each group of threads that
    share a TMU, as runtime/gpu/records.c has it."""
    numbers = np.arange(items, dtype="<u4")
    group = QPUS_A_SLICE if threads % QPUS_A_SLICE == 0 else threads
    trips = items // (batch * threads)
    whole = trips * batch * threads
    by_group = numbers[:whole].reshape(threads // group, trips, batch * group)
    return np.concatenate([by_group.swapaxes(0, 1).reshape(-1), numbers[whole:]])


def _execute(variant: str, s: Selected, code: Assembly, items: Layout, trace: Path | None) -> Run:
    threads = min(QPUS * code.threads, -(-items.items // s.items))
    numbers = in_order(items.items, s.items, threads)
    buffers = ((b.name, b.given, b.origin, b.stride) for b in items.buffers)
    passed = qpu_trial.in_memory(s, buffers, items.meta, numbers, threads)
    done = execute(code, passed.memory, passed.uniforms, threads, timed=True, trace=trace)
    for b in items.buffers:
        if b.expected is None:
            continue
        left = passed.memory.buffers[passed.at[b.name]][: len(b.expected)]
        if not np.array_equal(left, b.expected):
            where = int(np.argmax(left != b.expected))
            raise WrongOutput(
                f"{variant}: byte {where} of {b.name} is {left[where]}, not {b.expected[where]}",
                "no time counts",
            )
    return done
