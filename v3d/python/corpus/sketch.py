# SPDX-License-Identifier: BSD-2-Clause
"""Puts a shader together: buffers, values of the invocation, statements, and random operations.

Values are GLSL variables that are assigned once.  A new one comes from a random operation on
earlier ones; every operation is defined for all operands (divisors are not zero, shifts are below
32, fields lie inside a word, no overflow of a signed division).
"""

import random
import struct

from daedalus.v3d.corpus.model import Exact, Input, Kernel, Output, Program, Rule

LOCAL_SIZES = (
    (1, 1, 1), (8, 1, 1), (16, 1, 1), (24, 1, 1), (32, 1, 1), (64, 1, 1), (100, 1, 1), (256, 1, 1),
    (8, 8, 1), (16, 4, 1), (3, 5, 1), (16, 16, 1), (4, 4, 4), (5, 3, 7), (2, 3, 4), (1, 1, 16),
)  # fmt: skip
EDGES = (0, 1, 2, 3, 31, 32, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0xFFFFFF, 0x1000000,
         0x55555555, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xAAAAAAAA, 0xFFFFFFFE,
         0xFFFFFFFF)  # fmt: skip

# Result type, text, operand types (u uint, i int, b bool), the helper it calls.
_OPERATIONS: tuple[tuple[str, str, str, str], ...] = (
    *((t, f"{{}} {o} {{}}", t + t, "") for t in "ui" for o in ("+", "-", "*", "&", "|", "^")),
    *((t, f"{{}} {o} int({{}} & 31u)", t + "u", "") for t in "ui" for o in ("<<", ">>")),
    *((t, f"{f}({{}}, {{}})", t + t, "") for t in "ui" for f in ("min", "max")),
    *((t, "{} ? {} : {}", "b" + t + t, "") for t in "ui"),
    *(("b", f"{{}} {o} {{}}", t + t, "")
      for t in "ui" for o in ("<", "<=", ">", ">=", "==", "!=")),
    *(("b", f"{{}} {o} {{}}", "bb", "") for o in ("&&", "||", "^^")),
    *((t, "clamp({}, {lo}, {hi})", t, "") for t in "ui"),
    *((t, "bitfieldExtract({}, {at}, {bits})", t, "") for t in "ui"),
    *((t, "bitfieldInsert({}, {}, {at}, {bits})", t + t, "") for t in "ui"),
    *((t, "bitfieldReverse({})", t, "") for t in "ui"),
    *(("i", f"{f}({{}})", t, "") for t in "ui" for f in ("bitCount", "findLSB", "findMSB")),
    ("u", "~{}", "u", ""), ("i", "-{}", "i", ""), ("b", "!{}", "b", ""),
    ("u", "{} / ({} | 1u)", "uu", ""), ("u", "{} % (({} & 0xffu) + 1u)", "uu", ""),
    ("i", "{} / (({} & 0x7fff) + 1)", "ii", ""),
    ("i", "({} & 0x7fffffff) % (({} & 0x3ff) + 1)", "ii", ""),
    ("i", "abs({} >> 1)", "i", ""), ("i", "sign({})", "i", ""),
    ("u", "mulhi({}, {})", "uu", "mulhi"), ("i", "mulhi_s({}, {})", "ii", "mulhi_s"),
    ("u", "carry({}, {})", "uu", "carry"), ("u", "borrow({}, {})", "uu", "borrow"),
    ("u", "uint({})", "i", ""), ("i", "int({})", "u", ""), ("u", "uint({})", "b", ""),
)  # fmt: skip

_HELPERS = {
    "mulhi": "uint mulhi(uint a, uint b) { uint h, l; umulExtended(a, b, h, l); return h ^ l; }",
    "mulhi_s": "int mulhi_s(int a, int b) { int h, l; imulExtended(a, b, h, l); return h ^ l; }",
    "carry": "uint carry(uint a, uint b) { uint c; uint s = uaddCarry(a, b, c); return s * 2u + c; "
    "}",
    "borrow": "uint borrow(uint a, uint b) { uint c; uint s = usubBorrow(a, b, c); "
    "return s * 2u + c; }",
}
_TYPES = {"u": "uint", "i": "int", "b": "bool"}


class Sketch:
    """A shader in the making."""

    def __init__(self, rng: random.Random, local: tuple[int, int, int], features: set[str]) -> None:
        self.rng = rng
        self.local = local
        self.features = features
        self.extensions: set[str] = set()
        self.declarations: list[str] = []
        self.functions: dict[str, str] = {}
        self.lines: list[str] = []
        self.values: dict[str, list[str]] = {"u": [], "i": [], "b": []}
        self.loaded: list[str] = []  # values from inputs; every digest depends on one
        self.inputs: list[Input] = []
        self.outputs: list[Output] = []
        self.layout = "local_size_x = {}, local_size_y = {}, local_size_z = {}".format(*local)
        self.push: tuple[int, ...] = ()
        self.specialization: tuple[tuple[int, int], ...] = ()
        self.subgroups = False  # whether results depend on which invocations share a subgroup
        self._indent = 1
        self._names = 0

    @property
    def items(self) -> int:
        """Invocations of a workgroup."""
        return self.local[0] * self.local[1] * self.local[2]

    # ---- text ----

    def line(self, text: str) -> None:
        """A statement of main()."""
        self.lines.append("  " * self._indent + text)

    def open(self, text: str) -> None:
        """A statement that begins a block."""
        self.line(text + " {")
        self._indent += 1

    def close(self, text: str = "}") -> None:
        """The end of a block, or a text that ends one and begins another."""
        self._indent -= 1
        self.line(text)
        self._indent += text.endswith("{")

    def fresh(self, prefix: str = "t") -> str:
        """A name that was not used."""
        self._names += 1
        return f"{prefix}{self._names}"

    # ---- buffers ----

    def input(
        self, name: str, data: bytes, element: str = "uint", *, uniform: bool = False
    ) -> None:
        """A buffer to read: `name`[...] of `element`."""
        binding = len(self.inputs) + len(self.outputs)
        self.inputs.append(Input(name, binding, data, uniform))
        if uniform:
            size = len(data) // 16
            self.declarations.append(
                f"layout(binding = {binding}, std140) uniform Block_{name} "
                f"{{ {element} {name}[{size}]; }};"
            )
        else:
            self.declarations.append(
                f"layout(binding = {binding}, std430) readonly buffer Block_{name} "
                f"{{ {element} {name}[]; }};"
            )

    def output(
        self,
        name: str,
        element: str = "uint",
        *,
        per_item: int = 0,
        per_group: int = 0,
        fixed: int = 0,
        initial: int = 0,
        rule: Rule | None = None,
        qualifier: str = "",
    ) -> None:
        """A buffer to write, see `Output`; the sizes are in 32-bit words whatever the element."""
        binding = len(self.inputs) + len(self.outputs)
        self.outputs.append(
            Output(name, binding, per_item, per_group, fixed, initial, rule or Exact())
        )
        self.declarations.append(
            f"layout(binding = {binding}, std430) {qualifier} buffer Block_{name} "
            f"{{ {element} {name}[]; }};"
        )

    # ---- values ----

    def identity(self) -> None:
        """`item`, the invocation's number in the dispatch, `local`, in the workgroup; `group`."""
        self.line("uint local = gl_LocalInvocationIndex;")
        self.line(
            "uint group = (gl_WorkGroupID.z * gl_NumWorkGroups.y + gl_WorkGroupID.y) * "
            "gl_NumWorkGroups.x + gl_WorkGroupID.x;"
        )
        self.line(f"uint item = group * {self.items}u + local;")
        self.values["u"] += ["item", "local"]

    def let(self, kind: str, text: str) -> str:
        """A value of an expression: u, i or b."""
        name = self.fresh()
        self.line(f"{_TYPES[kind]} {name} = {text};")
        self.values[kind].append(name)
        return name

    def load(self, name: str, words: int, *, count: int = 1) -> None:
        """Values from an input of that many words, at the item's place and elsewhere."""
        for k in range(count):
            at = self.rng.choice((f"item + {k}u", f"item * {k + 1}u", f"(item ^ {k}u) + {k}u"))
            self.loaded.append(self.let("u", f"{name}[({at}) % {words}u]"))

    def literal(self, kind: str) -> str:
        """A constant."""
        value = self.rng.choice((self.rng.randrange(1 << 32), self.rng.randrange(100),
                                 self.rng.choice(EDGES)))  # fmt: skip
        if kind == "u":
            return f"{value}u"
        return f"int({value}u)" if kind == "i" else self.rng.choice(("true", "false"))

    def pick(self, kind: str) -> str:
        """An earlier value, late ones more often, or sometimes a constant."""
        known = self.values[kind]
        if not known:
            return self.literal(kind)
        if kind != "b" and self.rng.random() < 0.12:
            return self.literal(kind)
        late = known[-6:]
        return self.rng.choice(late if self.rng.random() < 0.7 else known)

    def operation(self, kind: str = "") -> tuple[str, str]:
        """A random operation's result type and text."""
        choices = [o for o in _OPERATIONS if not kind or o[0] == kind]
        result, text, operands, helper = self.rng.choice(choices)
        if helper:
            self.functions[helper] = _HELPERS[helper]
        at = self.rng.randrange(32)
        bits = self.rng.randrange(1, 33 - at)
        low, high = sorted(self.rng.randrange(1 << 31) for _ in range(2))
        suffix = "u" if result == "u" else ""
        filled = text.format(
            *(self.pick(o) for o in operands),
            at=at, bits=bits, lo=f"{low}{suffix}", hi=f"{high}{suffix}",
        )  # fmt: skip
        return result, filled

    def mix(self, n: int, kind: str = "") -> None:
        """Values of n random operations."""
        for _ in range(n):
            result, text = self.operation(kind)
            self.let(result, text)

    def scope(self) -> dict[str, int]:
        """Where the values end now; for `leave`."""
        return {kind: len(names) for kind, names in self.values.items()}

    def leave(self, scope: dict[str, int]) -> None:
        """Forgets the values of a block that was closed."""
        for kind, n in scope.items():
            del self.values[kind][n:]

    def digest(self, last: int = 8) -> str:
        """An expression that depends on the last values of every kind, and on an input."""
        parts = list(self.values["u"][-last:])
        loaded = [v for v in self.loaded if v not in parts]
        parts += [f"{self.rng.choice(loaded)} * 0x85ebca6bu"] if loaded else []
        parts += [f"uint({v}) * 0x9e3779b9u" for v in self.values["i"][-last:]]
        parts += [f"(uint({v}) << {k % 32})" for k, v in enumerate(self.values["b"][-last:])]
        return " ^ ".join(parts)

    def store(self, name: str, values: list[str], *, at: str = "item") -> None:
        """Writes words side by side."""
        for k, value in enumerate(values):
            self.line(f"{name}[{at} * {len(values)}u + {k}u] = {value};")

    # ---- the whole ----

    def kernel(self) -> Kernel:
        """The shader as it is now."""
        extensions = [f"#extension {e} : require" for e in sorted(self.extensions)]
        text = [
            "#version 450",
            *extensions,
            f"layout({self.layout}) in;",
            *self.declarations,
            *self.functions.values(),
            "void main() {",
            *self.lines,
            "}",
            "",
        ]
        return Kernel("\n".join(text), self.specialization, self.push)

    def next_kernel(self) -> None:
        """Begins another shader on the same buffers."""
        self.lines, self.functions, self.loaded = [], {}, []
        self.values = {"u": [], "i": [], "b": []}

    def program(
        self,
        name: str,
        kernels: list[Kernel],
        *,
        limit: int = 2048,
        subgroup: int = 0,
        indirect: bool = False,
    ) -> Program:
        """The program of these kernels, in two or three shapes of `limit` invocations at most."""
        return Program(
            name, frozenset(self.features), self.local, shapes(self.rng, self.items, limit),
            tuple(kernels), tuple(self.inputs), tuple(self.outputs), subgroup, indirect,
        )  # fmt: skip


def shapes(rng: random.Random, items: int, limit: int) -> tuple[tuple[int, int, int], ...]:
    """One workgroup, and one or two other numbers of them."""
    most = max(1, min(96, limit // items))
    found = [(1, 1, 1)]
    wanted = min(3, most)
    while len(found) < wanted:
        x = rng.randrange(1, most + 1)
        y = rng.randrange(1, most // x + 1)
        z = rng.randrange(1, most // (x * y) + 1)
        shape = rng.choice(((x, y, z), (y, z, x), (z, x, y)))
        if shape not in found:
            found.append(shape)
        elif most < 4:
            wanted -= 1
    return tuple(found)


def random_words(rng: random.Random, n: int) -> bytes:
    """Words of all sizes, and every fifth a special one."""
    words = []
    for _ in range(n):
        word = rng.getrandbits(32) >> rng.choice((0, 0, 0, 8, 16, 24, 28))
        if rng.random() < 0.2:
            word = rng.choice(EDGES)
        elif rng.random() < 0.15:
            word = (-word) & 0xFFFFFFFF
        words.append(word)
    return struct.pack(f"<{n}I", *words)
