# SPDX-License-Identifier: BSD-2-Clause
"""Runs virtual programs: the meaning that every schedule of one has to keep.

Threads run one after the other, each its trips in order; a program whose result depends on more
than that is none that may be scheduled.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from daedalus.generator.targets.qpu import machine, semantics
from daedalus.generator.targets.qpu.semantics import Vector
from daedalus.generator.targets.qpu.virtual import (
    Compute,
    Flag,
    FlagMask,
    Form,
    Immediate,
    Instruction,
    Load,
    LoadUnifa,
    LoadUniform,
    Payload,
    Program,
    Source,
    Store,
    Uniform,
    Value,
)

UNDEFINED = 0xA5A5A5A5  # what elements that take no part in a load get, as on the simulator
MAX_TRIPS = 1 << 16


@dataclass
class Memory:
    """Device memory: byte arrays at addresses."""

    buffers: dict[int, NDArray[np.uint8]] = field(default_factory=dict)

    def find(self, address: int, n: int) -> NDArray[np.uint8]:
        """The n bytes at an address, as a view. Raises IndexError outside of every buffer."""
        for base, data in self.buffers.items():
            if base <= address and address + n <= base + len(data):
                return data[address - base : address - base + n]
        raise IndexError(f"{n} bytes at 0x{address:08x} are in no buffer")

    def copy(self) -> "Memory":
        """The same contents, independent of these."""
        return Memory({base: data.copy() for base, data in self.buffers.items()})


BYTES = {"u8": 1, "s8": 1, "u16": 2, "s16": 2}  # of an element of less than a word


def joined(rule: str, before: NDArray[np.bool_], bit: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A flag after an update by and, andn, nor or norn: the second n inverts the bit."""
    bit = ~bit if rule in ("andn", "norn") else bit
    return before & bit if rule.startswith("and") else ~(before | bit)


class Thread:
    """A thread's values and flags."""

    def __init__(self, number: int, uniforms: Mapping[Uniform, int], memory: Memory) -> None:
        self.number = number
        self.uniforms = uniforms
        self.memory = memory
        self.values: dict[Value, Vector] = {}
        self.flags: dict[int, NDArray[np.bool_]] = {}
        self.mode = ""

    def run(self, block: Sequence[Instruction]) -> None:
        for i in block:
            try:
                self.step(i)
            except (IndexError, ValueError) as e:
                raise type(e)(f"thread {self.number}: `{i}`: {e}") from e

    def holds(self, flag: Flag | None) -> NDArray[np.bool_]:
        if flag is None:
            return np.ones(16, bool)
        bits = self.flags[flag.number]
        return ~bits if flag.inverse else bits

    def step(self, i: Instruction) -> None:
        if isinstance(i, Compute):
            self.compute(i)
        elif isinstance(i, FlagMask):
            self.values[i.result] = self.holds(i.flag).astype(np.uint32) * np.uint32(0x00010001)
        elif isinstance(i, Load):
            self.load(i)
        elif isinstance(i, LoadUnifa):
            self.load_unifa(i)
        elif isinstance(i, Store):
            self.store(i)
        elif isinstance(i, LoadUniform):
            bits = i.uniform.bits if i.uniform.kind == "constant" else self.uniforms[i.uniform]
            self.values[i.result] = np.full(16, bits, np.uint32)
        elif isinstance(i, Payload):
            self.values[i.result] = np.full(16, self.number, np.uint32)

    def operand(self, source: Source) -> Vector:
        if isinstance(source, Immediate):
            return np.full(16, source.bits, np.uint32)
        return semantics.UNPACKS[source.unpack](self.values[source.value])

    def evaluate(self, form: Form) -> tuple[Vector, list[Vector]]:
        sources = [self.operand(s) for s in form.sources]
        with np.errstate(over="ignore", invalid="ignore"):
            if form.op in semantics.BINARY:
                return semantics.BINARY[form.op](*sources), sources
            if form.op in semantics.UNARY:
                return semantics.UNARY[form.op](*sources), sources
        if form.op == "eidx":
            return np.arange(16, dtype=np.uint32), sources
        if form.op == "v8dot":
            return semantics.dot(sources[0], sources[1], self.mode), sources
        raise ValueError(f"there are no semantics of {form.op}")

    def compute(self, i: Compute) -> None:
        if i.forms[0].op.startswith("setnnmode_"):
            self.mode = i.forms[0].op.removeprefix("setnnmode_")
            return
        result, sources = self.evaluate(i.forms[0])
        for other in i.forms[1:]:
            if not np.array_equal(self.evaluate(other)[0], result):
                raise ValueError(f"`{other}` and `{i.forms[0]}` differ")
        if i.flag is not None:
            self.flags[i.flag.number] = self.changed(i, result, sources)
        if i.pack:
            raise ValueError("there are no semantics of a result's .l and .h")
        if i.result is not None:
            if i.when is not None and i.old is not None:
                result = np.where(self.holds(i.when), result, self.values[i.old])
            self.values[i.result] = result

    def changed(self, i: Compute, result: Vector, sources: list[Vector]) -> NDArray[np.bool_]:
        what = i.change[-1]
        bit: NDArray[np.bool_]
        if what == "z":
            bit = result == 0
        elif what == "n":
            bit = (result >> np.uint32(31)) != 0
        else:
            bit = semantics.carry(i.forms[0].op, result, sources[0], sources[1])
        if i.updates is None:
            return bit
        return joined(i.change[:-1], self.flags[i.updates.number], bit)

    def load(self, i: Load) -> None:
        _, n = machine.CONFIGS[i.type]
        out = np.full((n, 16), UNDEFINED, np.uint32)
        size = BYTES.get(i.type, 4 * n)
        for lane in np.flatnonzero(self.holds(i.when)):
            data = self.memory.find(int(self.values[i.address][lane]), size).tobytes()
            if i.type in BYTES:
                number = int.from_bytes(data, "little", signed=i.type.startswith("s"))
                out[0, lane] = number & 0xFFFFFFFF
            else:
                out[:, lane] = np.frombuffer(data, "<u4")
        for value, row in zip(i.words, out, strict=True):
            self.values[value] = row

    def load_unifa(self, i: LoadUnifa) -> None:
        address = int(self.values[i.address][0])
        if address % 4:
            raise ValueError(f"0x{address:08x} is no word's address")
        for n, value in enumerate(i.words):
            data = self.memory.find(address + 4 * n, 4)
            self.values[value] = np.full(16, data.view("<u4")[0], np.uint32)

    def store(self, i: Store) -> None:
        size = BYTES.get(i.type, 4 * len(i.data))
        for lane in np.flatnonzero(self.holds(i.when)):
            words = np.array([self.values[d][lane] for d in i.data], "<u4")
            place = self.memory.find(int(self.values[i.address][lane]), size)
            place[:] = words.view(np.uint8)[:size]


def interpret(
    program: Program, memory: Memory, uniforms: Mapping[Uniform, int], threads: int = 1
) -> int:
    """Runs the program in threads of workgroups 0, 1, ...; returns how many trips all made.

    memory  is read and written
    uniforms  words for the uniforms that are no constants
    """
    trips = 0
    for number in range(threads):
        thread = Thread(number, uniforms, memory)
        thread.run(program.entry)
        loop = program.loop
        if loop is None:
            continue
        for c in loop.carried:
            thread.values[c.value] = thread.values[c.first]
        for trip in range(MAX_TRIPS):
            trips += 1
            thread.run(loop.body)
            holds = thread.holds(loop.repeat)
            again = {"a0": holds[0], "anya": holds.any(), "alla": holds.all()}[loop.condition]
            after = [thread.values[c.next] for c in loop.carried]
            for c, value in zip(loop.carried, after, strict=True):
                thread.values[c.value] = value
            if not again:
                break
            if trip + 1 == MAX_TRIPS:
                raise ValueError(f"{program.name}: more than {MAX_TRIPS} trips")
    return trips
