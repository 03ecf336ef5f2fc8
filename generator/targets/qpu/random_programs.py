# SPDX-License-Identifier: BSD-2-Clause
"""Random virtual programs: the scheduler's test is that what it makes of them computes the same.

Each is made from a seed: a loop over items, an element each, which reads words of the item and of
a table, computes, decides by flags, and writes words of the item.
"""

from dataclasses import dataclass
from random import Random

import numpy as np

from daedalus.generator.targets.qpu.builder import Builder
from daedalus.generator.targets.qpu.interpret import Memory
from daedalus.generator.targets.qpu.virtual import Flag, Program, Uniform, Value

ITEM_BYTES = 64  # of an item in each of its buffers
TABLE_WORDS = 64
UNIFA_WORDS = 8  # that are read at once, at most; a power of two
BASES = {"src": 0x10000, "io": 0x200000, "dst": 0x300000}
_TABLE = 0x400000

_BINARY = (
    ["add", "sub"] * 4
    + ["min", "max", "umin", "umax", "and", "or", "xor", "shl", "shr", "asr", "ror"]
    + ["vadd", "vsub", "vpack", "v8pack", "smul24", "umul24", "smul24", "rot", "shuffle", "rotq"]
    + ["v8dot"]
)
_UNARY = ["mov", "not", "neg", "clz"]
_UNPACKS = ["ul", "uh", "il", "ih"]
_TYPES = ["u32", "vec2", "vec3", "vec4", "u8", "s8", "u16", "s16"]
_SIZES = {"u8": 1, "s8": 1, "u16": 2, "s16": 2, "u32": 4, "vec2": 8, "vec3": 12, "vec4": 16}


@dataclass(frozen=True)
class Case:
    """A program, and what to run it with."""

    seed: int
    program: Program
    memory: Memory
    uniforms: dict[Uniform, int]
    threads: int  # that share the items


class _Maker:
    def __init__(self, seed: int, size: int) -> None:
        self.random = Random(seed)
        self.also = Random(f"also {seed}")  # what it decides changes nothing else that is drawn
        self.b = Builder(f"random_{seed}")
        self.size = size
        self.values: list[Value] = []
        self.flags: list[Flag] = []  # A and, behind it, B
        self.stored: set[str] = set()

    def value(self) -> Value:
        """One of the values, rather a late one."""
        n = len(self.values)
        return self.values[min(n - 1, int(n * self.random.random() ** 0.6))]

    def argument(self) -> Value | int:
        choice = self.random.random()
        if choice < 0.15:
            return self.random.randrange(-16, 16)
        if choice < 0.2:
            return self.random.choice([255, 0x00FF00FF, 0x8000, 0x01010101, -30000])
        return self.value()

    def step(self) -> None:
        """One or a few instructions."""
        b, random = self.b, self.random
        kind = random.random()
        if kind < 0.5:
            self.values.append(b.op(random.choice(_BINARY), self.value(), self.argument()))
        elif kind < 0.6:
            op = random.choice(_UNARY)
            x = self.value()
            unpack = op == "mov" and random.random() < 0.7
            self.values.append(b.op(op, x.unpacked(random.choice(_UNPACKS)) if unpack else x))
        elif kind < 0.7:
            self.push()
        elif kind < 0.75 and self.flags:
            name, change = self.change(random.choice(["and", "andn", "nor", "norn"]))
            self.flags[0] = b.update(self.flags[0], change, name, self.value(), self.value())
        elif kind < 0.9 and self.flags:
            self.conditional()
        elif kind < 0.93:
            x = self.value()
            self.values.append(b.either(("shl", x, 1), ("add", x, x)))
        else:
            self.load()

    def change(self, rule: str) -> tuple[str, str]:
        letter = self.random.choice("znc")
        ops = ["sub", "add", "min"] if letter == "c" else ["sub", "xor", "and", "max", "vadd"]
        return self.random.choice(ops), rule + letter

    def push(self) -> None:
        name, change = self.change("push")
        sources = self.value(), self.value()
        if self.random.random() < 0.3:
            value, flag = self.b.value_and_flag(change, name, *sources)
            self.values.append(value)
        else:
            flag = self.b.flag(change, name, *sources)
        self.flags = [flag, *self.flags[:1]]

    def any_flag(self) -> Flag:
        flag = self.random.choice(self.flags)
        return ~flag if self.random.random() < 0.5 else flag

    def conditional(self) -> None:
        random = self.random
        if random.random() < 0.15:
            self.values.append(self.b.mask(self.any_flag()))
            return
        name = random.choice(["mov", "add", "sub", "max", "xor", "smul24"])
        sources: list[Value | int] = [self.value()]
        sources += [] if name == "mov" else [self.argument()]
        made = self.b.op(name, *sources, when=self.any_flag(), old=self.value())
        self.values.append(made)

    def load(self) -> None:
        b, random = self.b, self.random
        if self.also.random() < 0.2:
            self.load_unifa()
        type = random.choice(_TYPES)
        space = random.choice(["src", "src", "io", "table"])
        when = self.any_flag() if self.flags and random.random() < 0.2 else None
        if space == "table":
            index = b.op("shl", b.op("and", self.value(), TABLE_WORDS - 4), 2)
            address = b.op("add", self.table, index)
        else:
            if space in self.stored:
                b.wait_stores()
                self.stored.clear()
            address = self.place(space, _SIZES[type])
        words = b.load(address, type, space=space, when=when)
        if when is not None:  # the others' elements mean nothing
            words = tuple(b.op("mov", w, when=when, old=self.value()) for w in words)
        self.values += words

    def load_unifa(self) -> None:
        """A few words of the table, or of the first element's item."""
        b, random = self.b, self.also
        words = random.randrange(1, UNIFA_WORDS + 1)
        if random.random() < 0.5:
            index = b.op("and", random.choice(self.values), TABLE_WORDS - UNIFA_WORDS)
            at, space = b.op("add", self.table, b.op("shl", index, 2)), "table"
        else:
            offset = random.randrange(0, ITEM_BYTES - 4 * words + 1, 4)
            at, space = b.op("add", self.bases["src"], offset), "src"
        self.values += b.load_unifa(at, words, space=space)

    def place(self, space: str, size: int) -> Value:
        unit = min(size, 4)
        offset = self.random.randrange(0, ITEM_BYTES - size + 1, unit)
        return self.b.op("add", self.bases[space], offset) if offset else self.bases[space]

    def store(self) -> None:
        random = self.random
        type = random.choice(_TYPES)
        space = random.choice(["dst", "dst", "io"])
        data = [self.argument() for _ in range(max(1, _SIZES[type] // 4))]
        when = self.any_flag() if self.flags and random.random() < 0.3 else None
        self.b.store(self.place(space, _SIZES[type]), data, type, space=space, when=when)
        self.stored.add(space)

    def make(self, ahead: bool) -> Program:
        b, random = self.b, self.random
        b.state(f"setnnmode_{random.choice(['uu', 'su', 'us', 'ss'])}")
        starts = {s: b.uniform(s) for s in BASES}
        items, threads = b.uniform("items"), b.uniform("threads")
        words = [random.getrandbits(32) for _ in range(TABLE_WORDS)]
        self.table = b.table("numbers", words)
        first = b.op("add", b.op("shl", b.workgroup(), 4), b.element())
        last = b.op("sub", items, 1)
        step = b.op("shl", threads, 4)
        sums = [b.op("add", b.element(), k) for k in range(random.randrange(3))]
        with b.loop(ahead=ahead) as loop:
            item = loop.carried(first, "item")
            carried = [loop.carried(random.choice([s, first])) for s in sums]
            at = b.op("shl", b.op("umin", item, last), 6)
            self.bases = {s: b.op("add", start, at) for s, start in starts.items()}
            self.values = [item, *carried, b.element(), items]
            for _ in range(random.randrange(1, 4)):
                self.load()
            for _ in range(random.randrange(self.size)):
                self.step()
                if random.random() < 0.08:
                    self.store()
            self.store()
            for c in carried:
                made = b.op(random.choice(["add", "xor", "sub"]), c, self.value())
                loop.next(c, made)
            after = b.op("add", item, step)
            loop.next(item, after)
            loop.repeat(b.flag("pushc", "sub", after, items), random.choice(["a0", "anya", "alla"]))
        return b.program()


def make(seed: int, size: int = 30) -> Case:
    """The case of a seed; its body has about up to `size` operations."""
    maker = _Maker(seed, size)
    program = maker.make(ahead=maker.random.random() < 0.8)
    threads = maker.random.randrange(1, 4)
    trips = threads + maker.random.randrange(0, 5)  # each thread has one at least
    items = 16 * trips
    numbers = np.random.default_rng(seed)
    buffers = {}
    for base in BASES.values():
        data = numbers.integers(0, 256, items * ITEM_BYTES, dtype=np.uint8)
        # Ends of ranges decide more than the middle does.
        ends = numbers.choice([0, 1, 127, 128, 255], items * ITEM_BYTES).astype(np.uint8)
        buffers[base] = np.where(numbers.random(items * ITEM_BYTES) < 0.3, ends, data)
    buffers[_TABLE] = np.array(program.tables["numbers"], "<u4").view(np.uint8).copy()
    uniforms = {Uniform("value", s): base for s, base in BASES.items()}
    uniforms[Uniform("value", "items")] = items
    uniforms[Uniform("value", "threads")] = threads
    uniforms[Uniform("table", "numbers")] = _TABLE
    return Case(seed, program, Memory(buffers), uniforms, threads)
